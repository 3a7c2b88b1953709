"""Which model a mode works with, and what is known of the session's own."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from plan_mode.errors import StateError
from plan_mode.models import MOST_CHARACTERS, Models, Own, is_name
from plan_mode.modes.builtin import ASK, CODE
from plan_mode.modes.model import ModelChoice

OWN, OTHER, THIRD = ModelChoice("own", "p"), ModelChoice("other", "p"), ModelChoice("third", "q")


@pytest.fixture
def models(tmp_path: Path) -> Models:
    return Models(lambda: str(tmp_path / "data"))


@pytest.mark.parametrize(("text", "is_one"), [
    ("m", True), ("vendor/model-4.5:free", True), ("модель", True), ("m" * MOST_CHARACTERS, True),
    ("", False), ("m" * (MOST_CHARACTERS + 1), False), ("a b", False), ("a\n", False), ("\x1b[m", False), ("a\x7f", False),
    (None, False), (1, False),
])
def test_names(text: object, is_one: bool) -> None:
    assert is_name(text) is is_one


def test_what_a_person_gave_comes_first(models: Models) -> None:
    named = replace(ASK, model=OTHER)
    assert (models.of(ASK), models.of(named)) == (None, OTHER)
    models.choose("ask", ModelChoice("mine"))
    assert (models.of(ASK), models.of(named), models.of(CODE)) == (ModelChoice("mine"), ModelChoice("mine"), None)
    models.choose("ask", THIRD)
    assert models.of(named) == THIRD
    models.choose("ask", None)
    models.choose("ask", None)
    assert (models.of(ASK), models.of(named)) == (None, OTHER)


@pytest.mark.parametrize("text", [
    "", "null", "[]", "{}", '{"model": "m"}', '{"model": "", "provider": ""}', '{"model": 1, "provider": ""}', "\xff",
    '{"model": "a b", "provider": ""}', '{"model": "m", "provider": 1}', '{"model": "m", "provider": "a\\nb"}', "[" * 4000,
])
def test_a_file_that_is_something_else_names_none(models: Models, tmp_path: Path, text: str) -> None:
    models.choose("ask", OTHER)
    [file] = (tmp_path / "data" / "models").iterdir()
    file.write_bytes(text.encode("latin-1"))
    assert models.chosen("ask") is None


def test_nothing_is_left_where_it_cant_be_written(models: Models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    models.choose("ask", OTHER)
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(StateError, match="No space left on device"):
        models.choose("ask", THIRD)
    assert [path.name for path in (tmp_path / "data" / "models").iterdir()] == ["ask.json"]
    assert models.chosen("ask") == OTHER


@pytest.mark.parametrize(("requests", "is_chosen"), [
    ([(OWN, "t1")], False),
    ([(OTHER, "t2")], True),  # between two turns only a person chooses
    ([(OTHER, "t1")], False),  # within one the host went over to it
    ([(OTHER, "t1"), (OTHER, "t2")], False),  # and stays there
    ([(OTHER, "t1"), (OWN, "t2")], False),
    ([(OTHER, "t1"), (THIRD, "t2")], True),
    ([(OTHER, "t2"), (OTHER, "t2")], True),
    ([(OTHER, "t2"), (OWN, "t3")], False),  # back to the model that the mode began with
    ([(OTHER, "t2"), (THIRD, "t2")], False),
])
def test_who_changed_the_sessions_own_model(requests: list[tuple[ModelChoice, str]], is_chosen: bool) -> None:
    own = Own("a", "docs", OWN, OWN, "t1")
    for current, turn in requests:
        own = own.then(current, turn)
    assert own.is_chosen is is_chosen
