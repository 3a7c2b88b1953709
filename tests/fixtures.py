"""Fixtures around the stand-in for the host; a folder of tests takes them into its conftest."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from plan_mode.host import consent
from plan_mode.host.consent import Answer, Way, Wording
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


class Person:
    """Whoever sits at every surface that could have somebody; ``says`` what comes to each question, in turn.

    An answer is a choice of the host's, a choice and a text, or what happens while the question is open and then is one.
    """

    def __init__(self) -> None:
        self.asked: list[Wording] = []
        self.answers: list[str | tuple[str, str] | Callable[[], str]] = []
        self.way: Way = "panel"

    def says(self, *answers: str | tuple[str, str] | Callable[[], str]) -> Person:
        self.answers = list(answers)
        return self

    def ask(self, way: Way, wording: Wording, nonce: str) -> Answer:
        assert way == self.way
        self.asked.append(wording)
        answer = self.answers.pop(0)
        choice, text = answer if isinstance(answer, tuple) else (answer() if callable(answer) else answer, "")
        return consent.answer_of(choice, way, text)


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> Person:
    """A person who can be asked wherever the host could; see tests/host/test_consent.py for the ways to them."""
    here = Person()
    monkeypatch.setattr(consent, "way_to_a_person", lambda surface: "command" if surface in consent.NOBODY else here.way)
    monkeypatch.setattr(consent, "is_busy", lambda: False)
    monkeypatch.setattr(consent, "ask", here.ask)
    return here


def write_without_fsync(patch: pytest.MonkeyPatch) -> None:
    """For tests of many writes that pull no plug."""
    patch.setattr(os, "fsync", lambda descriptor: None)
