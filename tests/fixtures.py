"""Fixtures around the stand-in for the host; a folder of tests takes them into its conftest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.fake_host import Cli, Machine


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path)
    made.enter(monkeypatch)
    write_without_fsync(monkeypatch)
    return made


@pytest.fixture
def cli(machine: Machine) -> Cli:
    """One classic CLI in a conversation "A" that has no message yet."""
    return machine.cli()


def write_without_fsync(patch: pytest.MonkeyPatch) -> None:
    """For tests of many writes that pull no plug."""
    patch.setattr(os, "fsync", lambda descriptor: None)
