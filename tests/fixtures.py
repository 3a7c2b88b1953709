"""Fixtures around the stand-in for the host; a folder of tests takes them into its conftest."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from plan_mode.state import store
from plan_mode.state.lock import locked
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


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that hold the lock: nobody waits for it long."""
    monkeypatch.setattr(store, "locked", lambda path: locked(path, 0.05))


@pytest.fixture
def lockless(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it, and from then on whoever asks for the lock fails the test."""
    def fail(path: str) -> None:
        pytest.fail("the lock was asked for")
    return lambda: monkeypatch.setattr(store, "locked", fail)


def write_without_fsync(patch: pytest.MonkeyPatch) -> None:
    """For tests of many writes that pull no plug."""
    patch.setattr(os, "fsync", lambda descriptor: None)
