"""The path a person takes in the classic CLI, on real Hermes processes."""

from __future__ import annotations

import re

import pytest

from tests.acceptance.lab import Cli, Home, Host, Lab, denial_of

PLAN = "2026-01-02_030405-rename.md"
APPROVED = "The user approved the plan at {}. Implement it now."
FULL_NOTICE = "PLAN MODE IS ON"
SHORT_LINE = "[plan-mode] Plan mode is on"


def rules(lab: Lab, script: str) -> list[str | None]:
    """The rule that denied each call of a script; None for a call that ran."""
    return [denial.rule if (denial := denial_of(result.text)) else None for result in lab.results(script)]


def first_message(lab: Lab, script: str) -> str:
    """The user's message of a turn, with everything that was added to it."""
    return lab.model.of(script)[0].user_text


def new_session(cli: Cli) -> None:
    """Type /new; one host prints its answer above the echo of the command, so the answer itself is waited for."""
    def begun() -> int:
        return len(re.findall(r"new[ ._]session", "\n".join(cli.terminal.lines), re.IGNORECASE))

    before = begun()
    cli.submit("/new")
    cli.terminal.wait_until(lambda: begun() > before, 30, "a new session")


def write_plan(lab: Lab, cli: Cli, home: Home, script: str = "write", text: str = "# Rename\n\n1. do it\n") -> None:
    lab.script(script, ("write_file", {"path": str(home.plans / PLAN), "content": text}))
    cli.turn(script)
    assert rules(lab, script) == [None]


def test_the_whole_flow(lab: Lab, host: Host) -> None:
    """On before the first prompt, blocked, planned, rejected, revised, approved, implemented."""
    home = lab.home(host)
    cli = lab.cli(home)
    plan, outside = home.plans / PLAN, home.work / "app.py"

    answer = cli.cmd("/planmode on Rename  The thing")
    assert str(home.plans) in answer
    assert "/planmode off" in answer

    lab.script(
        "explore",
        ("read_file", {"path": str(home.hermes_home / "SOUL.md")}),
        ("terminal", {"command": "touch made-by-terminal"}),
        ("write_file", {"path": str(outside), "content": "x = 1\n"}),
        ("write_file", {"path": ".hermes/plans/relative.md", "content": "x"}),
        ("patch", {"mode": "patch", "patch": f"***Add File: {outside}\n+x = 1\n"}),
        ("execute_code", {"code": "open('made-by-code', 'w')"}),
        ("delegate_task", {"goal": "touch it"}),
        ("write_file", {"path": str(plan), "content": "# Rename\n\n1. do it\n"}),
    )
    cli.turn("explore")
    assert rules(lab, "explore") == [
        None,
        "not-granted",
        "outside-plans",
        "not-absolute",
        "outside-plans",
        "not-granted",
        "not-granted",
        None,
    ]
    assert sorted(path.name for path in home.work.iterdir()) == [".hermes"]
    assert plan.read_text() == "# Rename\n\n1. do it\n"
    assert FULL_NOTICE in first_message(lab, "explore")
    assert "Rename  The thing" in first_message(lab, "explore")

    status = cli.cmd("/planmode status")
    assert PLAN in status
    assert re.search(r"\b[0-9a-f]{12}\b", status)
    assert "1. do it" in cli.cmd("/planmode show")
    assert "next message" in cli.cmd("/planmode reject Use  SQLite, not files")

    lab.script(
        "revise",
        ("read_file", {"path": str(plan)}),
        ("patch", {"mode": "replace", "path": str(plan), "old_string": "do it", "new_string": "do it in SQLite"}),
    )
    cli.turn("revise")
    assert rules(lab, "revise") == [None, None]
    assert "Use  SQLite, not files" in first_message(lab, "revise")

    assert str(plan) in cli.cmd("/planmode approve")
    lab.script(
        "implement",
        ("terminal", {"command": "touch made-by-terminal"}),
        ("write_file", {"path": str(outside), "content": "x = 1\n"}),
    )
    cli.turn("implement")
    assert rules(lab, "implement") == [None, None]
    assert (home.work / "made-by-terminal").exists()
    assert outside.read_text() == "x = 1\n"
    notice = first_message(lab, "implement")
    assert notice.count(APPROVED.format(plan)) == 1
    assert FULL_NOTICE not in notice

    lab.script("later", ("terminal", {"command": "true"}))
    cli.turn("later")
    assert "plan-mode" not in first_message(lab, "later")
    assert cli.exit() == 0


@pytest.mark.long
def test_new_clears(lab: Lab, host: Host) -> None:
    """/new is a new session: after a turn, and before the first one."""
    home = lab.home(host)
    cli = lab.cli(home)
    cli.cmd("/planmode on")
    lab.script("planning", ("terminal", {"command": "touch planned"}))
    cli.turn("planning")
    assert rules(lab, "planning") == ["not-granted"]
    new_session(cli)
    lab.script("fresh", ("terminal", {"command": "touch fresh"}))
    cli.turn("fresh")
    assert rules(lab, "fresh") == [None]
    assert "plan-mode" not in first_message(lab, "fresh")

    early = lab.cli(home)
    early.cmd("/planmode on")
    new_session(early)
    lab.script("early", ("terminal", {"command": "touch early"}))
    early.turn("early")
    assert rules(lab, "early") == [None]


@pytest.mark.long
def test_reminders_are_short_and_notices_come_once(lab: Lab, host: Host) -> None:
    home = lab.home(host)
    cli = lab.cli(home)
    cli.cmd("/planmode on")
    for script in ("one", "two"):
        lab.script(script, ("read_file", {"path": str(home.hermes_home / "SOUL.md"), "limit": len(script)}))
        cli.turn(script)
    assert first_message(lab, "one").count(FULL_NOTICE) == 1
    assert FULL_NOTICE not in first_message(lab, "two")
    assert SHORT_LINE in first_message(lab, "two")
    cli.cmd("/planmode off")
    cli.cmd("/planmode on")
    lab.script("three", ("read_file", {"path": str(home.hermes_home / "SOUL.md"), "limit": 9}))
    cli.turn("three")
    assert FULL_NOTICE not in first_message(lab, "three"), "a flip that the model never saw is no news"
    cli.cmd("/planmode off")
    lab.script("four", ("terminal", {"command": "true"}))
    cli.turn("four")
    assert rules(lab, "four") == [None]
    assert "No mode is active any more" in first_message(lab, "four")


@pytest.mark.long
def test_modes_share_one_machine(lab: Lab, host: Host) -> None:
    """/mode drives the same machine: code before plan is where an approval leads back to."""
    home = lab.home(host)
    cli = lab.cli(home)
    assert "Code mode is on" in cli.cmd("/mode code")
    assert "* code" in cli.cmd("/mode")
    cli.cmd("/planmode on")
    write_plan(lab, cli, home)
    assert "now in code mode" in cli.cmd("/planmode approve")
    lab.script("implement", ("terminal", {"command": "touch made"}))
    cli.turn("implement")
    assert rules(lab, "implement") == [None]
    assert "Code mode is on" in first_message(lab, "implement")
    assert "off" in cli.cmd("/mode off")


@pytest.mark.long
def test_a_changed_plan_is_shown_before_it_is_approved(lab: Lab, host: Host) -> None:
    home = lab.home(host)
    cli = lab.cli(home)
    cli.cmd("/planmode on")
    write_plan(lab, cli, home)
    (home.plans / PLAN).write_text("# Rename\n\nsomething else\n")
    assert "something else" in cli.cmd("/planmode approve")
    lab.script("still", ("terminal", {"command": "true"}))
    cli.turn("still")
    assert rules(lab, "still") == ["not-granted"]
    assert "Approved" in cli.cmd("/planmode approve")
