"""submit_plan: what may be submitted, what the person is shown, and what comes of the answer."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fake_host import PLAN_TEXT, Cli, Machine
from tests.fixtures import Person

APPROVED = "The user approved the plan at {}. Implement it now."
DIGEST = hashlib.sha256(PLAN_TEXT.encode()).hexdigest()[:12]
WAY_OUT = ("Nothing was changed. The user can type /planmode approve, /planmode reject <feedback> or /planmode off. Say so and "
           "stop. The plan waits at {}.")
DECLINED = "The user declined. Ask the user what to change. Plan mode stays on: revise the plan file, then submit it again."


@pytest.fixture
def planning(cli: Cli) -> Cli:
    cli.type("/planmode on")
    cli.turn()
    return cli


@pytest.fixture
def plan(planning: Cli) -> Path:
    return planning.write_plan()


def submitted(cli: Cli, path: Any, **more: Any) -> dict[str, Any]:
    return cli.ask("submit_plan", {"path": str(path), **more})


# -- a yes

@pytest.mark.parametrize("choice", ["once", "session", "always"])
def test_a_yes_ends_plan_mode_in_the_same_turn(choice: str, planning: Cli, plan: Path, person: Person) -> None:
    person.says(choice)
    said = submitted(planning, plan, summary="One step.")["result"]
    assert said.split("\n")[1:] == [APPROVED.format(plan), "Plan mode is off; no mode is active."]
    assert not planning.restricted
    planning.history.append({"role": "tool", "content": said})
    assert planning.turn() == ""
    assert planning.machine.files("*.json") == [], "nothing is kept of a session that has left and knows it"


def test_what_the_person_sees(planning: Cli, plan: Path, person: Person) -> None:
    person.says("once")
    submitted(planning, plan, summary="One\nstep.")
    [card] = person.asked
    assert card.headline == '[plan-mode] Approve the plan "Plan"?'
    assert card.details.split("\n") == [
        "A yes ends plan mode; the agent then implements it in this turn.",
        f"{plan.name}, revision 1: {len(PLAN_TEXT)} bytes, {DIGEST}",
        "The agent's summary: One step.",
        "│ # Plan 1. do it",
        "To read all of it first: say no, type /planmode show, then /planmode approve.",
    ]


def test_the_mode_that_follows(machine: Machine, person: Person) -> None:
    cli = machine.cli()
    cli.type("/mode debug")
    cli.type("/planmode on")
    cli.turn()
    plan = cli.write_plan()
    person.says("once")
    said = submitted(cli, plan)["result"]
    assert said.split("\n")[1:3] == [APPROVED.format(plan), "Debug mode is on. You are debugging. First make the failure "
                                     "happen, then narrow down where it begins: collect several explanations, pick the likely "
                                     "ones, and let logs, tests or a debugger decide between them. Only when one of them is "
                                     "proven do you repair the cause, with a test that failed before."]
    assert "A yes ends plan mode and turns debug mode on; the agent then implements it in this turn." in person.asked[0].details


def test_a_result_that_got_lost_is_said_again_once(planning: Cli, plan: Path, person: Person) -> None:
    person.says("once")
    submitted(planning, plan)
    assert APPROVED.format(plan) in planning.turn()
    assert planning.turn() == ""


# -- no yes

def test_a_no_keeps_plan_mode(planning: Cli, plan: Path, person: Person) -> None:
    person.says("deny")
    assert submitted(planning, plan) == {"result": DECLINED}
    assert planning.restricted


def test_a_no_with_words(planning: Cli, plan: Path, person: Person) -> None:
    person.says(("deny", "smaller steps"))
    assert submitted(planning, plan)["result"] == (
        "The user declined, and wrote: \"smaller steps\". Plan mode stays on: revise the plan file, then submit it again.")


@pytest.mark.parametrize(("choice", "why"), [
    ("timeout", "The user didn't answer in time."), ("cancelled", "The question was closed without an answer."),
    ("notify_failed", "No one could be asked."), ("", "The question was closed without an answer."),
    ("approved", "The question was closed without an answer."), ("True", "The question was closed without an answer."),
])
def test_without_an_answer_the_plan_waits(choice: str, why: str, planning: Cli, plan: Path, person: Person) -> None:
    person.says(choice)
    assert submitted(planning, plan)["result"] == f"{why} {WAY_OUT.format(plan)}"
    assert planning.restricted
    assert planning.type("/planmode approve").startswith(f"Approved: {plan}")
    assert APPROVED.format(plan) in planning.turn()


def test_a_declined_plan_isnt_asked_again_until_it_changes(planning: Cli, plan: Path, person: Person) -> None:
    person.says("deny", "deny", "once")
    submitted(planning, plan)
    for _ in range(2):
        assert submitted(planning, plan) == {
            "error": "The user has declined exactly this plan. Change the plan file first, or ask the user what should be "
                     "changed.", "rule": "declined-plan"}
        planning.turn()
    planning.write_plan(text="# Another\n")
    submitted(planning, plan)
    planning.write_plan(text="# A third\n")
    assert APPROVED.format(plan) in submitted(planning, plan)["result"]
    assert [card.details.split("\n")[1].split(":")[0] for card in person.asked] == [
        f"{plan.name}, revision {number}" for number in (1, 2, 3)]


def test_a_declined_plan_can_be_approved_by_its_person(planning: Cli, plan: Path, person: Person) -> None:
    person.says("deny")
    submitted(planning, plan)
    assert planning.type("/planmode approve").startswith(f"Approved: {plan}")


# -- what happens while the question is open

def test_a_plan_that_changes_while_it_is_read_is_shown_again(planning: Cli, plan: Path, person: Person) -> None:
    def meanwhile() -> str:
        plan.write_text("# Plan\n\n1. remove everything\n")
        return "once"
    person.says(meanwhile, "once")
    assert APPROVED.format(plan) in submitted(planning, plan, summary="One step.")["result"]
    first, second = person.asked
    assert "do it" in first.details
    assert second.details.split("\n")[2:4] == [
        "The agent's summary: (The file was changed while you looked at it; nothing was approved. This is what it says now.)",
        "│ # Plan 1. remove everything"]


def test_it_is_shown_three_times_at_most(planning: Cli, plan: Path, person: Person) -> None:
    def meanwhile() -> str:
        plan.write_text(f"# Plan {len(person.asked)}\n")
        return "once"
    person.says(meanwhile, meanwhile, meanwhile, meanwhile)
    assert submitted(planning, plan)["rule"] == "asked-enough"
    assert planning.restricted


@pytest.mark.parametrize(("change", "rule"), [
    (lambda plan: plan.unlink(), "plan-unreadable"),
    (lambda plan: plan.write_text(""), "plan-empty"),
    (lambda plan: plan.write_bytes(b"\xff"), "plan-not-text"),
    (lambda plan: os.link(plan, plan.with_name("twin.md")), "plan-not-a-file"),
    (lambda plan: (plan.rename(plan.with_name("b.md")), plan.symlink_to("b.md")), "plan-not-a-file"),
    (lambda plan: (plan.parent.rename(plan.parents[1] / "p"), plan.parent.symlink_to("p")), "plan-not-a-file"),
], ids=["gone", "empty", "no text", "two names", "a link", "in a linked folder"])
def test_a_yes_to_what_isnt_there_any_more(
        change: Callable[[Path], object], rule: str, planning: Cli, plan: Path, person: Person) -> None:
    def meanwhile() -> str:
        change(plan)
        return "once"
    person.says(meanwhile)
    assert submitted(planning, plan)["rule"] == rule
    assert planning.restricted


LATE = {"error": "The mode was changed while the user was asked, so the answer counts for nothing.", "rule": "decided-meanwhile"}


@pytest.mark.parametrize(("lines", "restricted"), [
    (["/planmode off"], False), (["/planmode off", "/planmode on"], True), (["/planmode approve"], False), (["/mode ask"], True),
])
def test_a_yes_after_the_person_decided(lines: list[str], restricted: bool, planning: Cli, plan: Path, person: Person) -> None:
    def meanwhile() -> str:
        for line in lines:
            planning.type(line)
        return "once"
    person.says(meanwhile)
    found = submitted(planning, plan)
    assert found == LATE or found["rule"] == "not-planning"
    assert planning.restricted is restricted


def test_a_no_after_the_person_approved_changes_nothing(planning: Cli, plan: Path, person: Person) -> None:
    def meanwhile() -> str:
        planning.type("/planmode approve")
        return "deny"
    person.says(meanwhile)
    submitted(planning, plan)
    assert not planning.restricted
    assert APPROVED.format(plan) in planning.turn()


def test_a_rejection_by_command_while_it_is_asked(planning: Cli, plan: Path, person: Person) -> None:
    """The feedback waits for the next message, and the yes counts: it came later."""
    def meanwhile() -> str:
        planning.type("/planmode reject too big")
        return "once"
    person.says(meanwhile)
    assert APPROVED.format(plan) in submitted(planning, plan)["result"]


@pytest.mark.parametrize("answer", ["timeout", "deny", "cancelled", "notify_failed"])
def test_no_answer_after_the_person_approved_by_command(answer: str, planning: Cli, plan: Path, person: Person) -> None:
    def meanwhile() -> str:
        planning.type("/planmode approve")
        return answer
    person.says(meanwhile)
    assert submitted(planning, plan) == LATE
    assert APPROVED.format(plan) in planning.turn()


def test_another_mode_is_to_follow_by_now(machine: Machine, person: Person) -> None:
    modes = machine.home / "modes"
    modes.mkdir()

    def grants(*groups: str) -> None:
        (modes / "careful.yaml").write_text(f"{{slug: careful, name: Careful, roleDefinition: x, groups: [{', '.join(groups)}]}}")
    grants("read")
    machine.set(after_approval="careful", switch_pause_ms=0)
    cli = machine.cli()
    cli.type("/planmode on")
    cli.turn()
    plan = cli.write_plan()

    def meanwhile() -> str:
        grants("read", "command")
        return "once"
    person.says(meanwhile)
    assert submitted(cli, plan) == {
        "error": "The mode that follows the plan was changed while the user was asked, so nothing was approved. Submit the plan "
                 "again.", "rule": "changed-meanwhile"}
    assert cli.restricted


def test_the_same_text_by_another_name(planning: Cli, plan: Path, person: Person) -> None:
    person.says("deny")
    submitted(planning, plan)
    planning.turn()
    twin = planning.write_plan("2026-01-01_120001-twin.md")
    assert submitted(planning, twin)["rule"] == "declined-plan"


def test_an_approval_that_was_read_isnt_repeated(planning: Cli, plan: Path, person: Person) -> None:
    """A long turn may push the tool's result out of the conversation; what was approved must not be built twice."""
    person.says("once")
    said = submitted(planning, plan)["result"]
    planning.request({"role": "user", "content": "go"}, {"role": "tool", "content": said})
    planning.history.append({"role": "tool", "content": "[cleared]"})
    assert planning.turn() == ""


@pytest.mark.parametrize(("lines", "then"), [
    (["/planmode on"], "PLAN MODE IS ON"), (["/mode ask"], "Ask mode is on."), (["/mode ask", "/mode off"], ""),
])
def test_what_the_person_does_after_a_told_approval(
        lines: list[str], then: str, planning: Cli, plan: Path, person: Person) -> None:
    person.says("once")
    said = submitted(planning, plan)["result"]
    planning.history.append({"role": "tool", "content": said})
    for line in lines:
        planning.type(line)
    text = planning.turn()
    assert then in text
    assert "approved" not in text


# -- what may be submitted

@pytest.mark.parametrize(("args", "rule"), [
    ({}, "missing-path"), (None, "missing-path"), ({"path": ""}, "missing-path"), ({"path": " "}, "missing-path"),
    ({"path": 7}, "malformed-argument"), ({"path": ["x"]}, "malformed-argument"),
    ({"path": "{plan}", "summary": 7}, "malformed-argument"),
    ({"path": "/etc/hosts"}, "not-this-session's"), ({"path": "{plans}/other.md"}, "not-this-session's"),
    ({"path": "{plan}\0"}, "not-this-session's"), ({"path": "{plan}\ud800"}, "not-this-session's"),
    ({"path": "{name}"}, ""), ({"path": "{plan}", "approved": True}, ""),
])
def test_arguments(args: Any, rule: str, planning: Cli, plan: Path, person: Person) -> None:
    names = {"{plan}": str(plan), "{plans}": str(plan.parent), "{name}": plan.name}
    if args:
        for name, value in names.items():
            args = {key: each.replace(name, value) if isinstance(each, str) else each for key, each in args.items()}
    person.says("deny")
    assert planning.ask("submit_plan", args).get("rule", "") == rule
    assert len(person.asked) == (0 if rule else 1)
    assert planning.restricted


@pytest.mark.parametrize(("change", "rule"), [
    (lambda plan: plan.unlink(), "plan-unreadable"), (lambda plan: plan.write_text(" \n"), "plan-empty"),
    (lambda plan: plan.write_bytes(b"a\xff"), "plan-not-text"),
    (lambda plan: plan.write_text("x" * (1024 * 1024 + 1)), "plan-too-large"),
    (lambda plan: (plan.unlink(), plan.mkdir()), "plan-unreadable"),
])
def test_what_is_no_plan(change: Callable[[Path], object], rule: str, planning: Cli, plan: Path, person: Person) -> None:
    change(plan)
    found = submitted(planning, plan)
    assert found["rule"] in (rule, "plan-not-a-file")
    assert person.asked == []


def test_no_plan_yet(planning: Cli, person: Person) -> None:
    assert submitted(planning, "x.md")["rule"] == "no-plan"


def test_where_plan_mode_holds_without_a_record(machine: Machine, person: Person) -> None:
    machine.set(default_mode="plan")
    hook = machine.server().job("wh1", session_key="webhook:1", platform="webhook")
    assert submitted(hook, "x.md") == {
        "error": "Nobody can approve a plan here: plan mode holds by the operator's setting. Give the plan in the conversation, "
                 "and stop.", "rule": "nobody"}


@pytest.mark.parametrize("line", ["", "/mode ask", "/mode code"])
def test_only_in_plan_mode(line: str, cli: Cli, person: Person) -> None:
    if line:
        cli.type(line)
    assert submitted(cli, "x.md")["rule"] == "not-planning"


def test_another_sessions_plan(planning: Cli, plan: Path, machine: Machine, person: Person) -> None:
    other = machine.cli("B")
    other.type("/planmode on")
    other.turn()
    other.write_plan("2026-01-01_120001-own.md")
    assert submitted(other, plan)["rule"] == "not-this-session's"
    assert person.asked == []


def test_a_sub_agent(planning: Cli, plan: Path, person: Person) -> None:
    planning.fire("subagent_start", parent_session_id="A", child_session_id="child")
    assert planning.ask("submit_plan", {"path": str(plan)}, conversation="child")["rule"] == "sub-agent"


def test_where_files_lie_on_another_machine(machine: Machine, person: Person) -> None:
    machine.config = {"terminal": {"backend": "ssh"}}
    cli = machine.cli()
    cli.type("/planmode on")
    assert submitted(cli, "x.md") == {
        "error": "The file tools work on another machine, so a plan can't be a file here. Give the plan in the conversation; the "
                 "user approves it by typing /planmode approve.", "rule": "remote-files"}
    assert "submit_plan" not in cli.turn()


def test_where_only_one_user_may_decide(machine: Machine, person: Person) -> None:
    machine.set(owner_only=True)
    chat = machine.server().chat("k1", "C", user="u1")
    chat.type("/planmode on")
    chat.turn()
    assert submitted(chat, chat.write_plan())["rule"] == "not-owner"
    assert chat.restricted
    assert person.asked == []


def test_where_no_commands_are_handed_on(machine: Machine, person: Person) -> None:
    """A client of the API server answers in its run; that is the way out there."""
    machine.set(default_mode="plan", switch_pause_ms=0)
    seat = machine.server().job("run-1", session_key="key", platform="api_server")
    seat.turn()
    plan = machine.plans / "2026-01-01_120000-plan.md"
    assert "error" not in seat.call("write_file", {"path": str(plan), "content": PLAN_TEXT})
    person.says("once")
    assert APPROVED.format(plan) in submitted(seat, plan)["result"]
    assert not seat.restricted
    assert "│ 1. do it" in person.asked[0].details.split("\n")
