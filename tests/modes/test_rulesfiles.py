"""``rulesFiles`` of an import: which paths are taken, and what is said of the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from plan_mode.modes import rulesfiles
from plan_mode.modes.faults import Fault
from plan_mode.modes.schema import ModeFile, modes_of, read_modes

MODE = {"slug": "docs", "name": "Docs", "roleDefinition": "r", "groups": ["read"]}


def read(value: Any) -> ModeFile:
    return modes_of([{**MODE, "rulesFiles": value}], file="f", origin="o", rules=rulesfiles.check)


def check(*entries: Any) -> Mapping[str, str]:
    found = read(list(entries))
    assert not found.faults
    rules: Mapping[str, str] = found.rules["docs"]
    return rules


def faults(value: Any) -> list[str]:
    found = read(value)
    assert not found.modes
    assert not found.rules
    return [f"{fault.field}: {fault.explained}" for fault in found.faults]


def entry(path: Any, content: Any = "x") -> dict[str, Any]:
    return {"relativePath": path, "content": content}


@pytest.mark.parametrize(("path", "becomes"), [
    ("a.md", "a.md"), ("a..b.md", "a..b.md"), ("deep/er/a.md", "deep/er/a.md"), ("deep\\er\\a.md", "deep/er/a.md"),
    ("./a.md", "a.md"), ("b//./a.md", "b/a.md"), ("b/", "b"), ("rules-old/a.md", "a.md"), ("rules/a.md", "a.md"),
    ("rules-old\\b\\a.md", "b/a.md"), ("rules-old/rules-older/a.md", "rules-older/a.md"), ("rules-/a.md", "a.md"),
    ("rules", "rules"), ("rules-old", "rules-old"), ("rulesets/a.md", "rulesets/a.md"), ("a/rules-x/b.md", "a/rules-x/b.md"),
    ("Rules of ours.md", "Rules of ours.md"), ("é …/ü.md", "é …/ü.md"), ("...", None), ("10:30.md", "10:30.md"),
    ("a.log.md", "a.log.md"),
])
def test_a_path(path: str, becomes: str | None) -> None:
    if becomes is None:
        assert faults([entry(path)])
    else:
        assert check(entry(path, "text")) == {becomes: "text"}


OUT, ABSOLUTE, DOT = "it leads out of the folder of rules", "it is absolute", "what begins with a dot is left out"
LEFT, CONTROL = "what ends like this is left out, as other programs leave it behind", "a control character stands in it"


@pytest.mark.parametrize(("path", "why"), [
    ("../a.md", OUT), ("..", OUT), ("a/../../b.md", OUT), ("a/../b.md", OUT), ("..\\a.md", OUT), ("rules-x/../a.md", OUT),
    ("rules-x/..", OUT), ("/etc/passwd", ABSOLUTE), ("\\\\server\\a.md", ABSOLUTE), ("C:\\a.md", ABSOLUTE), ("c:a.md", ABSOLUTE),
    ("//a", ABSOLUTE), ("/", "it names no file"), ("", "it names no file"), (".", "it names no file"), ("./", "it names no file"),
    (".hidden.md", DOT),
    ("a/.git/x", DOT), (".roo/rules-x/a.md", DOT), ("a.tmp", LEFT), ("A.BAK", LEFT), ("b/a.md~", LEFT), ("a\0.md", CONTROL),
    ("a\nb.md", CONTROL), ("a\tb.md", CONTROL), ("a\u202eb.md", CONTROL), ("x" * 256, "a name in it is too long"),
    ("é" * 128 + "/a.md", "a name in it is too long"),
])
def test_a_path_that_isnt_taken(path: str, why: str) -> None:
    [fault] = read([entry("fine.md"), entry(path)]).faults
    assert (fault.mode, fault.field) == ("docs", "rulesFiles[1].relativePath")
    assert fault.message == f"no file of rules can have this path, because {why}"


SHAPE = "Write a list of {relativePath: a path below the folder of rules, content: the text}."


@pytest.mark.parametrize(("value", "told"), [
    (None, [f"rulesFiles: this must be a list of rules; it is nothing. {SHAPE}"]),
    ({"a.md": "x"}, [f"rulesFiles: this must be a list of rules; it is a mapping of 1. {SHAPE}"]),
    (["a.md"], [f"rulesFiles[0]: this must be a file of rules; it is 'a.md'. {SHAPE}"]),
    ([{"relativePath": "a.md"}], [f"rulesFiles[0].content: this must be the text of a file of rules; it is nothing. {SHAPE}"]),
    ([{"content": "x"}], [f"rulesFiles[0].relativePath: this must be the path of a file of rules; it is nothing. {SHAPE}"]),
    ([entry(1), entry("a.md", 2)], [
        f"rulesFiles[0].relativePath: this must be the path of a file of rules; it is the number 1. {SHAPE}",
        f"rulesFiles[1].content: this must be the text of a file of rules; it is the number 2. {SHAPE}"]),
    ([entry("a.md"), entry("A.MD")], [
        "rulesFiles[1]: another file of rules is called 'a.md'; it is 'A.MD'. Rename one of them."]),
    ([entry("a.md"), entry("rules-x/a.md")], [
        "rulesFiles[1]: another file of rules is called 'a.md'; it is 'a.md'. Rename one of them."]),
    ([entry("a/b/c.md"), entry("A")], ["rulesFiles: 'A' can't be a file, because 'a/b/c.md' lies below it. Rename one of them."]),
    ([entry(f"{number}.md") for number in range(201)], [
        "rulesFiles: a mode can't have more than 200 files of rules; it is a list of 201. Join some of them."]),
    ([entry("a.md", "x" * 65537)], [
        "rulesFiles[0].content: a file of rules can't be longer than 65536 characters. Make several files of it."]),
    ([entry(f"{number}.md", "x" * 65536) for number in range(5)], [
        "rulesFiles: the rules of a mode can't be longer than 262144 characters in all. Shorten them."]),
])
def test_what_isnt_taken(value: Any, told: list[str]) -> None:
    assert faults(value) == told


def test_as_much_as_can_be() -> None:
    assert len(check(*(entry(f"{number}.md", "x" * 65536) for number in range(4)))) == 4
    assert len(check(*(entry(f"{number}.md") for number in range(200)))) == 200
    assert check() == {}


def test_another_key_is_told() -> None:
    found = read([{**entry("a.md"), "mode": 0o755}])
    assert [str(warning) for warning in found.warnings] == ["f: mode docs: rulesFiles[0].mode: this key is unknown and ignored."]
    assert found.rules == {"docs": {"a.md": "x"}}


def test_rules_of_several_modes_and_the_place_of_a_fault() -> None:
    text = ("customModes:\n"
            "  - {slug: a, name: A, roleDefinition: r, groups: [], rulesFiles: [{relativePath: x.md, content: 'of a'}]}\n"
            "  - {slug: b, name: B, roleDefinition: r, groups: []}\n"
            "  - slug: c\n    name: C\n    roleDefinition: r\n    groups: []\n"
            "    rulesFiles:\n      - content: x\n        relativePath: %s\n")
    found = read_modes(text % "y.md", file="f", origin="o", rules=rulesfiles.check)
    assert found.rules == {"a": {"x.md": "of a"}, "c": {"y.md": "x"}}
    found = read_modes(text % "../y.md", file="f", origin="o", rules=rulesfiles.check)
    assert [str(fault) for fault in found.faults] == [
        "f:10:23: mode c: rulesFiles[0].relativePath: no file of rules can have this path, because it leads out of the folder of "
        "rules; it is '../y.md'. Write another."]


def test_a_repair_leaves_the_text_of_rules_alone() -> None:
    text = ("customModes:\n  - slug: a\u2013b\n    name: A\n    roleDefinition: r\n    groups: []\n"
            "    rulesFiles:\n      - relativePath: x.md\n        content: one \u2013 “two”\n")
    found = read_modes(text, file="f", origin="o", rules=rulesfiles.check)
    assert found.rules == {"a-b": {"x.md": "one \u2013 “two”"}}
    assert [type(warning) for warning in found.warnings] == [Fault]
