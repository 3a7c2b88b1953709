"""Killed at any point, or on a full disk: the old state or the new one, never half of each; and a person can leave.

Killed are real processes, see crash_driver.py; the full disk is one whose calls fail.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fake_host import Cli, Machine
from tests.fixtures import write_without_fsync
from tests.state import crash_driver
from tests.state.crash_driver import ACTIONS, TASK, Faults, found_by, told_by

REPOSITORY = Path(__file__).resolve().parents[2]

NOTHING: list[Any] = []
PLANNING = [["plan", "", "", False, 1]]
APPROVED = [[None, "", "", True, 1]]

# What another process finds in the conversation: before the action, and after it.
STATES: dict[str, tuple[list[Any], list[Any]]] = {
    "on": (NOTHING, [["plan", TASK, "", False, 0]]),
    "approve": (PLANNING, APPROVED),
    "reject": (PLANNING, [["plan", "", "not like this", False, 1]]),
    "off": (PLANNING, [[None, "", "", False, 1]]),
    "park": (PLANNING, PLANNING),
    "take": (APPROVED, NOTHING),
    "write": (PLANNING, [["plan", "", "", False, 2]]),
    "restore": (PLANNING, PLANNING),
    "branch": (NOTHING, PLANNING),
}
LEAVING = ("approve", "off", "take")


def test_killed(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, crash_driver.__file__, str(tmp_path)], check=True, env={"PYTHONPATH": str(REPOSITORY)},
                          capture_output=True, timeout=100)
    survivals = {action: list(rows) for action, rows in itertools.groupby(json.loads(done.stdout), lambda row: row["action"])}
    assert list(survivals) == list(ACTIONS)
    for action, rows in survivals.items():
        check_survivals(action, rows)


def check_survivals(action: str, rows: list[dict[str, Any]]) -> None:
    """The rows of one action: killed in place of the first, second, ... call, and at last not at all."""
    before, after = STATES[action]
    assert [row["killed"] for row in rows] == [True] * (len(rows) - 1) + [False]
    assert len(rows) > 4
    assert (rows[0]["found"], rows[-1]["found"]) == (before, after)
    for row, following in itertools.pairwise(rows):
        assert row["found"] == before or following["found"] == after, row
    for row in rows:
        assert row["found"] in (before, after), row
        assert row["restricted"] is any(found[0] == "plan" for found in row["found"]), row
        assert row["resumed"] is (row["restricted"] or action == "branch"), row
        assert ("The user approved the plan" in row["said"]) is (row["found"] == APPROVED), row
        assert ("not like this" in row["said"]) is (action == "reject" and row["found"] == after), row
        assert row["free"], row
        # A branch's origin waits for its conversation, and the copy stays for as long: both with their keys.
        assert row["files"].count(".json") == (2 if action == "branch" else 0), row
        assert action == "branch" or not row["files"], row


@pytest.mark.parametrize("kind", ["full-once", "full"])
@pytest.mark.parametrize("action", ACTIONS)
def test_on_a_full_disk(action: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_without_fsync(monkeypatch)
    for at in itertools.count(1):
        machine = Machine(tmp_path / str(at))
        machine.enter(monkeypatch)
        machine.used = {"A", "B"}
        before, act = ACTIONS[action]
        cli = machine.cli("A")
        before(cli)
        with Faults(kind, at) as faults:
            said = act(cli)
        check_after_fault(cli, action, said)
        if action != "park":
            with Faults("full", 1):
                # A branch that couldn't be stored has no notice of its own to give.
                leave(cli, told=action != "on" and (action != "branch" or "NOTICE" in said.upper()), left=action in LEAVING)
            cli.exit()
        next_one = told_by(machine, action)
        assert next_one.restricted is (action == "park")
        next_one.type("/planmode off")
        assert not next_one.restricted
        assert not machine.files("*.tmp")
        if faults.count < at:
            assert at > 3 or action == "take"  # which only removes files
            break


def check_after_fault(cli: Cli, action: str, said: Any) -> None:
    child = bool(cli.asked("terminal", conversation="child"))
    if action == "on":
        assert cli.restricted is child is str(said).startswith("Plan mode is on.")
        return
    if action == "park":
        assert cli.restricted
        return
    assert cli.restricted is child is (action not in LEAVING)
    if action == "approve":
        assert said.startswith("Approved: ")
    elif action == "off":
        assert said.startswith("Plan mode is off")
    elif action == "take":
        assert "The user approved the plan" in said
    elif action == "reject":
        assert ("not like this" in cli.turn()) is said.startswith("Your feedback goes to the agent")
    elif action == "write":
        assert cli.type("/planmode show second.md").startswith(f"{said}  ")
    else:
        assert "lan mode is on" in said or "PLAN MODE IS ON" in said


def leave(cli: Cli, *, told: bool, left: bool) -> None:
    """Where no write succeeds: the person leaves, and the model is told so once, if it knew of a mode."""
    reply = cli.type("/planmode off")
    assert reply.startswith(("Plan mode is off; nothing was approved.", "This session's mode is off.", "No mode is active in"))
    assert not cli.restricted
    assert not cli.asked("terminal", conversation="child")
    told_once = [cli.turn(), cli.turn()]
    assert told_once[1] == ""
    if told and not left:
        assert "No mode is active any more; the plan was not approved." in told_once[0]


def test_approving_needs_no_write(cli: Cli) -> None:
    ACTIONS["approve"][0](cli)
    with Faults("full", 1):
        assert cli.type("/planmode approve").startswith("Approved: ")
        assert "Plan mode is off; no mode is active." in cli.turn()
        assert cli.turn() == ""
    cli.exit()
    assert found_by(cli.machine.cli("A")) == NOTHING


def test_what_a_full_disk_kept_from_being_noted_is_made_up_for(cli: Cli) -> None:
    """The plan was written; that it is this session's couldn't be."""
    cli.turn()
    cli.type("/planmode on")
    cli.turn()
    with Faults("full", 1):
        path = cli.write_plan()
    assert cli.type("/planmode approve") == (
        f"Approved: {path}\nPlan mode is off; no mode is active.\n"
        "Next: send any message, for example go; the agent then implements the plan.")
