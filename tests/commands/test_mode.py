"""/mode: the same machine, by the mode's name."""

from __future__ import annotations

import pytest

from plan_mode.modes.builtin import BUILTIN
from tests.fake_host import Cli, Machine

MODES = """\
Project: {project}
  {plan} plan  Read, think and write plan files; nothing else until a person approves the plan.
  {code} code  Everything is allowed.
  {architect} architect  Reads everything and writes Markdown: designs, decisions, documentation.
  {ask} ask  Reads and answers; changes nothing.
  {debug} debug  Everything is allowed; the cause comes before the cure.
  {orchestrator} orchestrator  Splits work up and gives it to sub-agents; touches nothing itself.
Next: /mode <slug> switches, /mode off leaves, /mode help says more"""
CODE_ON = "Code mode is on. Everything is allowed.\nNext: go on; /mode off leaves, /planmode on plans first."
NO_MODE = "No mode is active in this session, so there is nothing to turn off.\nNext: /planmode on [task]"


def shown(now: str, cli: Cli) -> str:
    marks = {slug: "*" if slug == now else " " for slug in BUILTIN}
    return f"Mode: {now}\n" + MODES.format(project=cli.machine.work, **marks)


def test_bare_shows_the_mode(cli: Cli) -> None:
    assert cli.type("/mode") == shown("none", cli)
    cli.type("/mode code")
    assert cli.type("/mode") == shown("code", cli)
    cli.type("/mode plan")
    assert cli.type("/mode  ") == shown("plan", cli)


def test_code(cli: Cli) -> None:
    assert cli.type("/mode Code") == CODE_ON
    assert not cli.restricted
    assert cli.type("/mode code") == "This session is already in code mode. Type /mode off to leave it."
    assert cli.turn().split("\n")[1].startswith("Code mode is on. You are implementing.")
    assert cli.turn() == "[plan-mode] Code mode is on."


def test_plan_is_planmode_on(cli: Cli, machine: Machine) -> None:
    first = cli.type("/mode plan Build  it")
    assert first.startswith(f"Plan mode is on.\nPlans: {machine.plans}\n")
    assert "The user's task to plan:\nBuild  it" in cli.turn()
    assert cli.type("/mode plan").startswith("Plan mode is on already; nothing else was changed.\n")
    assert cli.restricted


def test_a_person_may_switch_out_of_plan_mode(cli: Cli) -> None:
    cli.type("/mode plan")
    cli.turn()
    assert cli.type("/mode code") == CODE_ON
    assert not cli.restricted
    text = cli.turn()
    assert "Code mode is on." in text
    assert "approved" not in text


def test_off(cli: Cli) -> None:
    assert cli.type("/mode off") == NO_MODE
    cli.type("/mode code")
    assert cli.type("/mode off") == "Code mode is off.\nNext: go on as you like; /planmode on turns it on again."
    assert cli.type("/mode off") == NO_MODE
    cli.type("/mode plan")
    assert cli.type("/mode OFF").startswith("Plan mode is off; nothing was approved.\n")


def test_leaving_code_mode_says_nothing_of_a_plan(cli: Cli) -> None:
    cli.type("/planmode on")
    cli.turn()
    cli.write_plan()
    cli.type("/planmode approve --mode code")
    assert "The user approved the plan at " in cli.turn()
    cli.type("/mode off")
    assert cli.turn().endswith("\nNo mode is active any more.")


def test_an_approval_outlives_the_mode_that_followed_it(cli: Cli) -> None:
    """approve, then /mode off, before the model was told of either."""
    cli.type("/planmode on")
    cli.turn()
    path = cli.write_plan()
    cli.type("/planmode approve --mode code")
    cli.type("/mode off")
    text = cli.turn()
    assert f"The user approved the plan at {path}. Implement it now." in text
    assert "not approved" not in text
    assert cli.turn() == ""


@pytest.mark.parametrize(("typed", "named"), [("nope", "nope"), ("read-only", "read-only"), ("\x1b[0m", "\\x1b[0m"), ("-", "-")])
def test_a_mode_that_isnt_there(typed: str, named: str, cli: Cli) -> None:
    assert cli.type(f"/mode {typed}") == (
        f"'{named}' isn't a mode. Modes: plan, code, architect, ask, debug, orchestrator.")
    assert cli.type("/mode") == shown("none", cli)


@pytest.mark.parametrize("line", ["/mode code", "/mode plan"])
def test_refused_where_it_couldnt_be_enforced(line: str, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    cli = machine.cli()
    cli.cli._single_query_mode = True
    assert cli.type(line) == ("Nothing was turned on. There is no interactive CLI in this process, so nobody could approve a "
                              "plan. Use the classic CLI (hermes chat --cli), the TUI, Desktop or a chat.")
    assert not machine.files()


def test_damage_is_shown(cli: Cli) -> None:
    cli.type("/mode plan")
    path = cli.machine.files("*.json")[0]
    path.write_text("")
    assert cli.type("/mode") == shown("read-only", cli).replace(
        "Mode: read-only\n", f"Mode: read-only\nOnly reading is possible, because this session's state file {path} is damaged.\n")
    assert cli.type("/mode off").startswith("No mode is active any more: ")


def test_a_mode_that_has_gone(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.type("/mode code")
    monkeypatch.setattr("plan_mode.library.BUILTIN", {})
    assert cli.type("/mode").startswith(
        "Mode: read-only\nOnly reading is possible, because its mode 'code' doesn't exist any more.\n")
    assert "[mode-missing]" in cli.asked("terminal")
    assert not cli.asked("read_file")
    assert cli.type("/mode off").startswith("Code mode is off.")
    assert not cli.restricted
