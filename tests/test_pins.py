"""A definition as it was when a person switched: kept once, read back as it was, or not at all."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from plan_mode.errors import StateError
from plan_mode.modes.builtin import BUILTIN
from plan_mode.modes.jsregex import translate
from plan_mode.modes.model import EditRule, Grants, Mode, ModelChoice
from plan_mode.modes.registry import Known
from plan_mode.modes.rules import Rule, Rules
from plan_mode.pins import Pinned, keep, load, name_of, pin_of

DOCS = Mode(
    "docs", "📝 Docs", "You write.\n\tTwice.", Grants(frozenset({"read", "edit"}), frozenset({"mcp:fs"}), frozenset({"x"}),
                                                      EditRule("project", "", "Docs only", translate(r"^docs/"))),
    "d", "w", "c", model=ModelChoice("m", "p"), child_mode="code", source="/p/.roomodes")
PINNED = Pinned(DOCS, "project", "/p/.roomodes", True, (Rule("a.md", "be kind \udc80", "project"),))


@pytest.mark.parametrize("pinned", [PINNED, replace(PINNED, rules=()), *(
    Pinned(mode, "built-in", "", True) for slug, mode in BUILTIN.items() if slug != "plan")])
def test_read_back_as_kept(tmp_path: Path, pinned: Pinned) -> None:
    folder = str(tmp_path / "pins")
    name = keep(folder, pinned)
    assert load(folder, name) == pinned
    assert name == name_of(pinned)
    before = os.stat(tmp_path / "pins" / f"{name}.json")
    assert keep(folder, pinned) == name
    assert os.stat(tmp_path / "pins" / f"{name}.json") == before
    assert len(os.listdir(folder)) == 1


@pytest.mark.parametrize("other", [
    replace(PINNED, mode=replace(DOCS, role_definition="x")), replace(PINNED, rules=()), replace(PINNED, vouched=False),
    replace(PINNED, mode=replace(DOCS, model=None)),
    replace(PINNED, mode=replace(DOCS, grants=replace(DOCS.grants, edit_rule=None))),
])
def test_another_definition_has_another_name(other: Pinned) -> None:
    assert name_of(other) != name_of(PINNED)


@pytest.mark.parametrize("damage", [b"", b"{}", b"null", b"\xff", b"[" * 100_000])
def test_a_file_that_says_something_else_is_none(tmp_path: Path, damage: bytes) -> None:
    name = keep(str(tmp_path), PINNED)
    path = tmp_path / f"{name}.json"
    path.write_bytes(damage)
    assert load(str(tmp_path), name) is None
    assert keep(str(tmp_path), PINNED) == name
    assert load(str(tmp_path), name) == PINNED


@pytest.mark.parametrize("name", ["", "x", "../../etc/passwd", "0" * 31, "0" * 32, "0" * 33, "0" * 32 + "\n"])
def test_names_of_nothing(tmp_path: Path, name: str) -> None:
    assert load(str(tmp_path), name) is None


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "pins").write_text("no folder")
    with pytest.raises(StateError, match="plan-mode can't use its state at"):
        keep(str(tmp_path / "pins"), PINNED)


def test_what_is_pinned_of_a_known_mode() -> None:
    known = Known(DOCS, "project", "/p/.roomodes", False)
    assert pin_of(known, Rules((Rule("a", "b", "home"),), ("fault",))) == Pinned(
        DOCS, "project", "/p/.roomodes", False, (Rule("a", "b", "home"),))
