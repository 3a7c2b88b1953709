"""Whatever a mode file holds, it is read without an exception, and what is wrong with it is told."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from datetime import date
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from plan_mode.errors import YamlError
from plan_mode.modes import yaml12
from plan_mode.modes.schema import FIELDS, ModeFile, modes_of, read_modes

# Pieces that mean something to YAML, to JSON or to us.
PIECES = st.sampled_from([
    "a", "slug", "name: x", "customModes:", "groups: [read, [edit, {fileRegex: '\\.md$'}]]", "roleDefinition: |\n", "- ", "\n",
    "\n  ", "\n    - ", ": ", "? ", "[", "]", "{", "}", ",", "&a ", "*a", "!!int ", "!x ", "'", '"', "\\", "\\ud83d", "\\x0",
    "|", ">-", "#", "%", "---", "...", "\t", "\r", "\r\n", " ", "012", "1e9", ".inf", "~", "<<: ", "“", "’", "–", "\u00a0",
    "\u200b", "\ufeff", "\u2028", "\x85", "\x00", "\x07", "\ud800", "\U0010fe01", "\U0001f469\u200d\U0001f4bb", "plan",
    "tools: {deny: [x]}", '{"a": 1}',
])
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map("".join))

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.sampled_from(["read", "edit", "browser", "plan", "global", "\\.md$", "[", "", "a", "huge", date(2024, 1, 1), b"x",
                     (1, 2)]),
).map(lambda value: 10 ** 5000 if value == "huge" else value)
KEYS = st.one_of(st.sampled_from([*FIELDS, "toolGroups", "customModes", "fileRegex", "allow", "deny", "x"]), st.text(max_size=3),
                 st.integers(), st.none(), st.booleans())
DATA = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=20)

GOOD: dict[str, Any] = {"slug": "a", "name": "A", "roleDefinition": "r", "groups": ["read"]}


def check(found: ModeFile) -> None:
    for fault in (*found.faults, *found.warnings):
        assert fault.file == "f"
        assert fault.message
        assert fault.line >= 0
        line = str(fault)
        assert line.startswith("f:")
        assert len(line.splitlines()) == 1
        assert len(line) < 3000
        line.encode()
    slugs = [mode.slug for mode in found.modes]
    assert len(set(slugs)) == len(slugs)
    assert "plan" not in slugs


@settings(max_examples=400, deadline=None)
@given(text=TEXTS)
def test_reading_raises_nothing_else(text: str) -> None:
    with suppress(YamlError):
        assert yaml12.read(text).at(()) >= (1, 1)
    for repaired in yaml12.repairs(text):
        assert repaired.repaired
    check(read_modes(text, file="f", origin="o"))


@settings(max_examples=150, deadline=None)
@given(text=TEXTS)
def test_the_slow_scanner_raises_nothing_else(text: str) -> None:
    fast = yaml12._scanner
    try:
        yaml12._scanner = lambda: yaml12._slow_scanner()  # type: ignore[assignment]
        check(read_modes(text, file="f", origin="o"))
    finally:
        yaml12._scanner = fast


@settings(max_examples=300, deadline=None)
@given(data=DATA)
def test_judging_data_raises_nothing(data: Any) -> None:
    check(modes_of(data, file="f", origin="o"))


@settings(max_examples=200, deadline=None)
@given(key=KEYS, value=DATA)
def test_a_good_mode_stays_beside_any_other(key: Any, value: Any) -> None:
    found = modes_of([GOOD, {**GOOD, "slug": "b", key: value}], file="f", origin="o")
    check(found)
    assert found.modes[:1] or (key == "slug" and value == "a")
    assert bool(found.faults) is (len(found.modes) < 2)


# Without those that are refused in any text.
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters=[chr(code) for code in range(0x10FE00, 0x10FE80)])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-10 ** 12, 10 ** 12) | st.text(CHARACTERS, max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab\u00e9 :#\n\"", max_size=6), inner, max_size=4),
    max_leaves=15)


@settings(max_examples=200, deadline=None)
@given(data=st.lists(JSON, max_size=3) | st.dictionaries(st.text(CHARACTERS, max_size=3), JSON, max_size=3),
       ascii_only=st.booleans(), indent=st.sampled_from([None, 2]))
def test_json_is_read_as_json_reads_it(data: Any, ascii_only: bool, indent: int | None) -> None:
    assert yaml12.read(json.dumps(data, ensure_ascii=ascii_only, indent=indent)).data == data


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2 ** 32), cuts=st.integers(1, 6))
def test_a_damaged_file_says_what_is_wrong_or_is_read(seed: int, cuts: int) -> None:
    chance = random.Random(seed)
    text = "customModes:\n" + "\n".join(
        f"  - slug: m-{n}\n    name: M\n    roleDefinition: |\n      You are “m”: {n}.\n    groups:\n      - read\n"
        "      - - edit\n        - fileRegex: '\\.md$'\n" for n in range(4))
    for _ in range(cuts):
        at = chance.randrange(len(text))
        text = text[:at] + chance.choice(["", *"\t\n'\":-{&*\u00a0"]) + text[at + chance.randrange(3):]
    found = read_modes(text, file="f", origin="o")
    check(found)
    assert found.faults or found.modes or found.warnings
