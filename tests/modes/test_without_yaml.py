"""Where neither PyYAML nor ruamel.yaml is installed: the plugin works, JSON is read, and YAML files say what is missing.

In a process of its own, in which neither can be imported from the beginning.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

# What runs there: each line is typed, or a tool whose denial is asked for, or "turn"; the answers are printed as JSON.
SCRIPT = """
import json, os, sys
for name in ("yaml", "_yaml", "ruamel", "ruamel.yaml"):
    sys.modules[name] = None
from pathlib import Path
from plan_mode.host import lineage
from tests.fake_host import Machine
machine = Machine(Path(sys.argv[1]))
os.environ |= {"HERMES_HOME": str(machine.home), "TERMINAL_CWD": str(machine.work), "HOME": str(machine.home.parent)}
os.chdir(machine.work)
lineage.parentage = machine.parentage
cli = machine.cli()
answers = []
for line in json.load(sys.stdin):
    if line == "turn":
        answers.append(cli.turn())
    elif isinstance(line, str):
        answers.append(cli.type(line))
    else:
        answers.append(cli.asked(*line))
json.dump(answers, sys.stdout)
"""

DOCS: dict[str, Any] = {"slug": "docs", "name": "Docs", "roleDefinition": "You write.",
                        "groups": ["read", ["edit", {"fileRegex": r"^docs/.*\.md$"}]]}
YAML = "customModes:\n  - slug: tester\n    name: Tester\n    roleDefinition: r\n    groups: [read]\n"


class Place:
    """A home and a project, and what a session without a library answers there."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.work = self.root / "work"
        self.home = self.root / "home" / ".hermes"
        (self.work / ".git").mkdir(parents=True)
        (self.home / "modes").mkdir(parents=True)

    def say(self, *lines: Any) -> list[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("HERMES_", "TERMINAL_"))}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(self.root)], input=json.dumps(lines), capture_output=True, text=True, timeout=60,
            env=environment | {"PYTHONPATH": str(ROOT)}, check=False)
        assert done.returncode == 0, done.stderr
        answers: list[str] = json.loads(done.stdout)
        return answers

    def edit(self, path: str) -> tuple[str, dict[str, str]]:
        return "write_file", {"path": str(self.work / path), "content": "x"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_plan_mode_and_the_built_in_modes_work(place: Place) -> None:
    (place.work / ".roomodes").write_text(YAML)
    planning, told, run, read, ask, told_ask, edit, code, free = place.say(
        "/planmode on", "turn", ("terminal", {"command": "ls"}), ("read_file", {"path": "x"}),
        "/mode ask", "turn", place.edit("a.md"), "/mode code", ("terminal", {"command": "ls"}))
    assert planning.startswith("Plan mode is on.")
    assert "PLAN MODE IS ON" in told
    assert run.startswith("plan mode [not-granted]: ")
    assert ask.startswith("Ask mode is on.")
    assert "Ask mode is on." in told_ask
    assert edit.startswith("ask mode [not-granted]: ")
    assert code.startswith("Code mode is on.")
    assert (read, free) == ("", "")


def test_a_yaml_file_says_what_is_missing(place: Place) -> None:
    (place.work / ".roomodes").write_text(YAML)
    (place.home / "modes" / "a.yaml").write_text("- {slug: a, name: A, roleDefinition: r, groups: [read]}")
    shown, loaded, switched, off = place.say("/mode", "/mode reload", "/mode tester", "/mode off")
    assert "2 faults in mode files; /mode reload shows them" in shown
    for path in (place.home / "modes" / "a.yaml", place.work / ".roomodes"):
        assert (f"{path}: mode files can't be read, because PyYAML isn't installed. Install it into Hermes' environment: "
                f"{sys.executable} -m pip install PyYAML") in loaded
    assert loaded.startswith("6 modes: ")
    assert switched.startswith("'tester' isn't a mode. Modes: plan, code, ")
    assert off.startswith("No mode is active in this session")


def test_json_is_read(place: Place) -> None:
    """Whole, with its faults in their places; in .roomodes as well, which is JSON for some."""
    text = json.dumps({"customModes": [{**DOCS, "slug": "theirs"}, {**DOCS, "slug": "bad", "groups": ["nope"]}]}, indent=1)
    line = text[:text.index("nope")].count("\n") + 1
    (place.work / ".roomodes").write_text(text)
    (place.home / "modes" / "a.json").write_text(json.dumps([DOCS]))
    loaded, switched, told, inside, outside, theirs = place.say(
        "/mode reload", "/mode docs", "turn", place.edit("docs/a.md"), place.edit("src/a.md"), "/mode theirs")
    assert loaded.startswith("8 modes: plan, code, architect, ask, debug, orchestrator, docs, theirs.\n")
    assert f"{place.work}/.roomodes:{line}:5: mode bad: groups[0]: this isn't a group; it is 'nope'" in loaded
    assert switched.startswith("Docs mode is on.")
    assert "Docs mode is on. You write." in told
    assert inside == ""
    assert outside.startswith("docs mode [file-restriction]: ")
    assert theirs.startswith("Docs mode is on.\n")  # which is the name of it


MISSING = ": mode files can't be read, because PyYAML isn't installed"
FAULTS = {
    '{"customModes": [],}': MISSING,
    '{"customModes": [] /* none */}': MISSING,
    '{"customModes": [], "customModes": []}': ":1:21: the key 'customModes' stands twice",
    '{"customModes": "x"}': ":1:17: customModes: this must be a list of modes; it is 'x'",
    "[" * 100 + "]" * 100: ":1:65: this is nested more than 64 deep",
    '{"customModes": [{"slug": "\\ud800"}]}': ":1:27: half of a character can't stand in a text",
    '{"customModes": [{"slug": "a‑b", "name": "N", "roleDefinition": "r", "groups": []}]}':
        ":1:27: mode #1: slug: this must be a text of letters a-z, digits and dashes; it is 'a‑b'",
}
"""Texts of mode files, and where each is at fault."""


def test_what_json_may_not_hold(place: Place) -> None:
    for number, text in enumerate(FAULTS):
        (place.home / "modes" / f"{number}.json").write_text(text)
    [loaded] = place.say("/mode reload")
    assert loaded.startswith("6 modes: ")
    assert len(loaded.split("\n")) == 1 + len(FAULTS) + 1
    for number, fault in enumerate(FAULTS.values()):
        assert f"{place.home}/modes/{number}.json{fault}" in loaded


def test_a_session_in_a_mode_of_a_yaml_file_keeps_it(place: Place) -> None:
    """It was switched with PyYAML; what it was switched with is kept as JSON."""
    (place.home / "modes" / "a.json").write_text(json.dumps([DOCS]))
    place.say("/mode docs", "turn")
    (place.home / "modes" / "a.json").rename(place.home / "modes" / "a.yaml")
    (place.home / "modes" / "a.yaml").write_text(YAML)
    record = next((place.home / "plugin-data").glob("*/sessions-*/*.json"))
    assert record.exists()
    told, outside = place.say("turn", place.edit("src/a.md"))
    assert "Docs mode is on." in told
    assert outside.startswith("docs mode [file-restriction]: ")
