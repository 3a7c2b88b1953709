"""A session outlives its process, and two of them don't mix: exit, kill, resume, branch, damage."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.acceptance.lab import Home, Host, Lab, ask
from tests.acceptance.test_cli_flow import APPROVED, FULL_NOTICE, PLAN, first_message, new_session, rules, write_plan


def conversations(home: Home) -> list[str]:
    """The ids of all conversations of a home, oldest first."""
    with sqlite3.connect(home.hermes_home / "state.db") as store:
        return [row[0] for row in store.execute("SELECT id FROM sessions ORDER BY started_at")]


def state_files(home: Home, pattern: str) -> list[Path]:
    return sorted((home.hermes_home / "plugin-data").rglob(pattern))


@pytest.mark.long
@pytest.mark.parametrize("end", ["exit", "kill"])
def test_plan_mode_comes_back_with_its_conversation(lab: Lab, host: Host, end: str) -> None:
    home = lab.home(host)
    cli = lab.cli(home)
    cli.cmd("/planmode on")
    write_plan(lab, cli, home)
    conversation = conversations(home)[-1]
    _ = cli.exit() if end == "exit" else cli.kill()

    fresh = lab.cli(home)
    lab.script("unrelated", ("terminal", {"command": "touch unrelated"}))
    fresh.turn("unrelated")
    assert rules(lab, "unrelated") == [None]
    fresh.exit()

    resumed = lab.cli(home, "--resume", conversation)
    lab.script("resumed", ("terminal", {"command": "touch resumed"}))
    resumed.turn("resumed")
    assert rules(lab, "resumed") == ["not-granted"]
    assert "was restored" in first_message(lab, "resumed")
    assert PLAN in resumed.cmd("/planmode status")
    assert "Approved" in resumed.cmd("/planmode approve")
    lab.script("implement", ("terminal", {"command": "touch made"}))
    resumed.turn("implement")
    assert rules(lab, "implement") == [None]
    assert APPROVED.format(home.plans / PLAN) in first_message(lab, "implement")
    resumed.exit()
    assert state_files(home, "*.json") == []
    assert state_files(home, "*.key") == []


@pytest.mark.long
def test_a_one_shot_that_resumes_a_plan_stays_in_plan_mode(lab: Lab, host: Host) -> None:
    home = lab.home(host)
    cli = lab.cli(home)
    cli.cmd("/planmode on")
    lab.script("first", ("terminal", {"command": "touch first"}))
    cli.turn("first")
    conversation = conversations(home)[-1]
    cli.exit()
    lab.script("shot", ("terminal", {"command": "touch shot"}))
    ask(home, "shot", how=("chat", "--resume", conversation, "--yolo", "-q"))
    assert rules(lab, "shot") == ["not-granted"]
    lab.script("free", ("terminal", {"command": "touch free"}))
    ask(home, "free", how=("chat", "--yolo", "-q"))
    assert rules(lab, "free") == [None]


@pytest.mark.long
def test_resume_and_branch_in_one_process(lab: Lab, host: Host) -> None:
    home = lab.home(host)
    cli = lab.cli(home)
    lab.script("plain", ("terminal", {"command": "touch plain"}))
    cli.turn("plain")
    plain = conversations(home)[-1]
    new_session(cli)
    cli.cmd("/planmode on")
    write_plan(lab, cli, home)
    planning = conversations(home)[-1]
    assert planning != plain

    cli.cmd(f"/resume {plain}")
    lab.script("back", ("terminal", {"command": "touch back"}))
    cli.turn("back")
    assert rules(lab, "back") == [None]

    cli.cmd(f"/resume {planning}")
    lab.script("again", ("terminal", {"command": "touch again"}))
    cli.turn("again")
    assert rules(lab, "again") == ["not-granted"]

    cli.cmd("/branch")
    lab.script("branched", ("terminal", {"command": "touch branched"}))
    cli.turn("branched")
    assert rules(lab, "branched") == ["not-granted"]
    assert FULL_NOTICE in first_message(lab, "branched")
    assert "Approved" in cli.cmd("/planmode approve")
    lab.script("free", ("terminal", {"command": "touch free"}))
    cli.turn("free")
    assert rules(lab, "free") == [None]

    cli.cmd(f"/resume {planning}")
    lab.script("original", ("terminal", {"command": "touch original"}))
    cli.turn("original")
    assert rules(lab, "original") == ["not-granted"], "approving in a branch left its origin alone"


@pytest.mark.long
@pytest.mark.parametrize("pattern", ["*.json", "*.key"])
def test_damage_is_read_only_until_off(lab: Lab, host: Host, pattern: str) -> None:
    home = lab.home(host)
    cli = lab.cli(home)
    cli.cmd("/planmode on")
    write_plan(lab, cli, home)
    for file in state_files(home, pattern):
        file.write_bytes(file.read_bytes()[:-9])
    lab.script(
        "damaged",
        ("terminal", {"command": "touch damaged"}),
        ("write_file", {"path": str(home.plans / "b.md"), "content": "x"}),
        ("read_file", {"path": str(home.plans / PLAN)}),
    )
    cli.turn("damaged")
    assert rules(lab, "damaged") == ["state-damaged", "state-damaged", None]
    assert "can't be read" in cli.cmd("/planmode status") or "damaged" in cli.cmd("/planmode status")
    assert "No mode is active any more" in cli.cmd("/planmode off")
    lab.script("freed", ("terminal", {"command": "touch freed"}))
    cli.turn("freed")
    assert rules(lab, "freed") == [None]


@pytest.mark.long
def test_two_processes_do_not_mix(lab: Lab, host: Host) -> None:
    home = lab.home(host)
    planning, working = lab.cli(home), lab.cli(home)
    planning.cmd("/planmode on")
    lab.script("work", ("terminal", {"command": "touch work"}))
    working.turn("work")
    assert rules(lab, "work") == [None]
    assert "No mode is active" in working.cmd("/planmode status")
    assert "nothing to turn off" in working.cmd("/planmode off")
    lab.script("plan", ("terminal", {"command": "touch plan"}))
    planning.turn("plan")
    assert rules(lab, "plan") == ["not-granted"]
