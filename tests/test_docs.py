"""The tables of docs/modes.md are those of the code and of the tests; docs/security.md names tests that there are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from plan_mode.modes.model import GROUPS
from plan_mode.modes.schema import FIELDS
from plan_mode.policy.catalogue import ALWAYS, CATALOGUE

TESTS = Path(__file__).parent
MODES = (TESTS.parent / "docs" / "modes.md").read_text(encoding="utf-8")
SECURITY = (TESTS.parent / "docs" / "security.md").read_text(encoding="utf-8")


def deviations() -> dict[str, str]:
    """Every sentence about where we judge otherwise than Roo Code, from the tests that show it, by file and name."""
    found: dict[str, str] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["DEVIATIONS"]:
                found |= {f"{path.stem}: {name}": sentence for name, sentence in ast.literal_eval(node.value).items()}
    return found


TOLD = deviations()


@pytest.mark.parametrize("name", TOLD)
def test_every_deviation_is_told(name: str) -> None:
    assert f"- {TOLD[name]}\n" in MODES


def test_there_are_deviations() -> None:
    assert len(TOLD) > 25


def test_every_group_is_told_with_all_its_tools() -> None:
    told = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", MODES.partition("## The groups")[2].partition("\n## ")[0], re.M))
    assert set(told) == GROUPS
    for group in GROUPS - {"mcp"}:
        names = [name for name, tool in CATALOGUE.items() if tool.group == group]
        assert re.findall(r"`(\w+)`", told[group]) == names, group
    always = {name for name, tool in CATALOGUE.items() if tool.group == ALWAYS}
    assert all(f"`{name}`" in MODES for name in always)


def test_every_field_is_told() -> None:
    told = set(re.findall(r"^\| `(\w+)` \|", MODES.partition("## The fields")[2].partition("\n## ")[0], re.M))
    assert told == set(FIELDS) - {"source"}


def test_every_row_of_the_threats_names_a_test_that_is_there() -> None:
    rows = [line for line in SECURITY.partition("## Ways around")[2].partition("\n## ")[0].splitlines() if line.startswith("| ")]
    assert len(rows) > 30
    for row in rows[1:]:
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row.split("|")[4])
        assert named, row
        for path, name in named:
            tree = ast.parse((TESTS.parent / path).read_text(encoding="utf-8"))
            assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, f"{path}::{name}"
