"""Sub-agents: in which mode each works, who was asked about it, and how long that holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.fake_host import Cli, Machine
from tests.fixtures import Person, person

__all__ = ["person"]


def delegated(cli: Cli, args: Any, *, conversation: str | None = None, children: Sequence[str] = ()) -> dict[str, Any]:
    """A call of delegate_task, in which the host starts a sub-agent for each goal, called child1, child2, ..."""
    session_id = cli.conversation if conversation is None else conversation
    denied = cli.asked("delegate_task", args, conversation=session_id)
    if denied:
        return {"error": denied}

    def execute(final: Any) -> str:
        tasks = final.get("tasks") or [final]
        for number, task in enumerate(tasks, 1):
            cli.fire("subagent_start", parent_session_id=session_id, child_session_id=f"child{number}", child_goal=task["goal"])
        return json.dumps({"started": len(tasks)})
    with cli.acting():
        result = json.loads(cli.context.middleware["tool_execution"][-1](
            tool_name="delegate_task", args=args, next_call=execute, tool_call_id="c1", session_id=session_id))
    assert isinstance(result, dict)
    return result


def may(cli: Cli, conversation: str = "child1") -> tuple[bool, bool]:
    """Whether a sub-agent may read, and may use the terminal."""
    return (not cli.asked("read_file", {"path": "/x"}, conversation=conversation),
            not cli.asked("terminal", {"command": "ls"}, conversation=conversation))


EVERYTHING, READING, NOTHING = (True, True), (True, False), (False, False)


@pytest.fixture
def orchestrator(cli: Cli) -> Cli:
    cli.type("/mode orchestrator")
    cli.turn()
    return cli


# -- childMode

def test_two_tasks_that_whoever_is_asked_couldnt_tell_apart(orchestrator: Cli, person: Person) -> None:
    tasks = [{"goal": "tidy up", "context": "format README.md"}, {"goal": "tidy up", "context": "delete everything below /srv"}]
    assert delegated(orchestrator, {"tasks": tasks}) == {
        "error": "Two tasks have the same goal, and their sub-agents may do more than you, so whoever is asked couldn't tell "
                 "them apart. Give each task a goal of its own."}
    assert person.asked == []
    person.says("once")
    assert delegated(orchestrator, {"tasks": [tasks[0], tasks[0]]}) == {"started": 2}
    [card] = person.asked
    assert "format README.md" in card.details


@pytest.mark.parametrize(("answer", "then"), [
    ("once", EVERYTHING), ("session", EVERYTHING), ("always", EVERYTHING),
    ("deny", NOTHING), ("timeout", NOTHING), ("cancelled", NOTHING), ("notify_failed", NOTHING), ("yes", NOTHING),
])
def test_one_question_for_the_whole_delegation(answer: str, then: tuple[bool, bool], orchestrator: Cli, person: Person) -> None:
    person.says(answer)
    assert delegated(orchestrator, {"tasks": [{"goal": "write the parser"}, {"goal": "test it"}]}) == {"started": 2}
    assert [may(orchestrator, child) for child in ("child1", "child2", "A")] == [then, then, NOTHING]
    [card] = person.asked
    assert card.headline == "[plan-mode] Let 2 sub-agents work in Code mode?"
    assert card.details.split("\n") == [
        "Code: It would allow everything: every tool, every file.",
        "The agent's goal: write the parser", "The agent's goal: test it"]


def test_where_nobody_can_be_asked(orchestrator: Cli) -> None:
    assert delegated(orchestrator, {"goal": "write"}) == {"started": 1}
    assert may(orchestrator) == NOTHING


def test_a_child_is_told_its_mode(orchestrator: Cli, person: Person) -> None:
    person.says("once", "deny")
    delegated(orchestrator, {"goal": "write"})
    text = orchestrator.turn(conversation="child1", platform="subagent", parent_session_id="A")
    assert text.startswith("[plan-mode] Code mode is on. You are implementing.")
    delegated(orchestrator, {"goal": "write more"})
    assert orchestrator.turn(conversation="child1", platform="subagent") == "[plan-mode] Orchestrator mode is on."


def test_the_session_itself_isnt_asked_again_in_the_same_words(orchestrator: Cli, person: Person) -> None:
    person.says("deny")
    for _ in range(2):
        delegated(orchestrator, {"goal": "write"})
    assert len(person.asked) == 1


# -- named in the goal

@pytest.mark.parametrize(("mode", "goal", "asked", "then"), [
    ("orchestrator", "[mode: ask] look", True, READING),  # which may read, and orchestrator mayn't
    ("code", "[mode: ask] look", False, READING), ("code", " [MODE:ask]look", False, READING),
    ("code", "look [mode: ask]", False, EVERYTHING), ("code", "[mode ask] look", False, EVERYTHING),
    ("", "[mode: ask] look", False, READING), ("", "look", False, EVERYTHING),
    ("debug", "[mode: architect] look", False, READING),
])
def test_a_goal_that_names_a_mode(mode: str, goal: str, asked: bool, then: tuple[bool, bool], cli: Cli, person: Person) -> None:
    if mode:
        cli.type(f"/mode {mode}")
    person.says("once")
    delegated(cli, {"goal": goal})
    assert may(cli) == then
    assert bool(person.asked) is asked


def test_a_mode_that_isnt_there(orchestrator: Cli, person: Person) -> None:
    found = delegated(orchestrator, {"goal": "[mode: nothing] look"})
    assert found == {"error": "'nothing' isn't a mode. Modes: plan, code, architect, ask, debug, orchestrator."}
    assert person.asked == []


def test_each_task_has_its_own(cli: Cli, person: Person) -> None:
    cli.type("/mode code")
    delegated(cli, {"tasks": [{"goal": "[mode: ask] look"}, {"goal": "write"}, {"goal": "[mode: plan] plan"}]})
    assert [may(cli, f"child{number}") for number in (1, 2, 3)] == [READING, EVERYTHING, READING]
    assert person.asked == []


# -- plan mode isn't left by a sub-agent

@pytest.mark.parametrize("asks", [False, True])
def test_from_plan_mode(asks: bool, machine: Machine, person: Person) -> None:
    machine.set(extra_allowed_tools=["delegate_task"], agent_may_ask_to_leave_plan=asks)
    cli = machine.cli()
    cli.type("/planmode on")
    person.says("once")
    delegated(cli, {"goal": "[mode: code] write"})
    assert may(cli) == (EVERYTHING if asks else READING)
    assert bool(person.asked) is asks


def test_a_call_that_is_denied_asks_nobody(cli: Cli, person: Person) -> None:
    cli.type("/planmode on")
    args = {"goal": "[mode: code] write"}
    with cli.acting():
        cli.context.middleware["tool_execution"][-1](
            tool_name="delegate_task", args=args, next_call=lambda final: "{}", tool_call_id="c1", session_id="A")
    assert person.asked == []


# -- how long it holds

@pytest.mark.parametrize(("line", "then"), [
    ("/mode ask", READING), ("/planmode on", READING), ("/mode off", EVERYTHING), ("/mode code", EVERYTHING),
])
def test_a_change_of_the_parents_mode_reaches_its_children(
        line: str, then: tuple[bool, bool], orchestrator: Cli, person: Person) -> None:
    person.says("once")
    delegated(orchestrator, {"goal": "write"})
    assert may(orchestrator) == EVERYTHING
    orchestrator.type(line)
    assert may(orchestrator) == then


def test_a_grandchild_works_in_its_parents_mode(orchestrator: Cli, person: Person) -> None:
    person.says("once")
    delegated(orchestrator, {"goal": "write"})
    orchestrator.fire("subagent_start", parent_session_id="child1", child_session_id="grandchild", child_goal="x")
    assert may(orchestrator, "grandchild") == EVERYTHING


def test_a_child_cant_hand_on_more_than_it_has(orchestrator: Cli, person: Person) -> None:
    person.says("deny")
    delegated(orchestrator, {"goal": "write"})
    delegated(orchestrator, {"goal": "[mode: code] write"}, conversation="child1")
    assert may(orchestrator) == NOTHING
    assert len(person.asked) == 1


def test_a_new_process_knows_nothing_of_it(orchestrator: Cli, machine: Machine, person: Person) -> None:
    person.says("once")
    delegated(orchestrator, {"goal": "write"})
    orchestrator.exit()
    again = machine.cli("A")
    again.turn()
    assert may(again, "child1") == NOTHING


def test_an_answer_after_the_mode_was_changed(orchestrator: Cli, person: Person) -> None:
    def meanwhile() -> str:
        orchestrator.type("/mode ask")
        return "once"
    person.says(meanwhile)
    delegated(orchestrator, {"goal": "write"})
    assert may(orchestrator) == READING


def test_a_default_mode_that_comes_later_holds_for_children_too(machine: Machine, person: Person) -> None:
    cli = machine.cli()
    cli.turn()
    delegated(cli, {"goal": "[mode: debug] look"})
    assert may(cli) == EVERYTHING
    machine.set(default_mode="ask")
    (machine.home / "config.yaml").write_text("another")
    cli.desk.judge.renew_default()
    assert may(cli) == READING


def test_a_child_of_no_mode_has_its_project(cli: Cli, machine: Machine) -> None:
    cli.turn()
    delegated(cli, {"goal": "[mode: architect] write docs"})
    for name, denied in (("a.md", False), ("a.py", True)):
        args = {"path": str(machine.work / name), "content": "x"}
        assert bool(cli.asked("write_file", args, conversation="child1")) is denied


# -- odd calls

@pytest.mark.parametrize("args", [
    {"action": " SPAWN ", "goal": "[mode: ask] look"}, {"action": "Spawn", "goal": "[mode: ask] look"},
    {"tasks": json.dumps([{"goal": "[mode: ask] look"}])},
])
def test_what_the_host_reads_all_the_same(args: Any, cli: Cli) -> None:
    cli.type("/mode code")

    def execute(final: Any) -> str:
        cli.fire("subagent_start", parent_session_id="A", child_session_id="child1", child_goal="[mode: ask] look")
        return "{}"
    with cli.acting():
        cli.context.middleware["tool_execution"][-1](
            tool_name="delegate_task", args=args, next_call=execute, tool_call_id="c1", session_id="A")
    assert may(cli) == READING


def test_all_that_a_sub_agent_is_told_is_shown(orchestrator: Cli, person: Person) -> None:
    person.says("deny")
    delegated(orchestrator, {"tasks": [{"goal": "tidy the docs", "context": "push them by force"}], "context": "for all"})
    assert person.asked[0].details.endswith("The agent's goal: tidy the docs / push them by force / for all")


@pytest.mark.parametrize("args", [
    {}, {"goal": 7}, {"goal": ""}, {"tasks": "x"}, {"tasks": "[" * 5000}, {"tasks": "7"},
    {"action": 7, "goal": "x"}, {"tasks": [7, None, {}]}, {"action": "list", "goal": "x"},
    {"action": "steer", "subagent_id": "s", "message": "[mode: code] x", "goal": "[mode: code] x"}, {"goal": None, "tasks": None},
])
def test_what_starts_nobody_asks_nobody(args: Any, orchestrator: Cli, person: Person) -> None:
    with orchestrator.acting():
        got = orchestrator.context.middleware["tool_execution"][-1](
            tool_name="delegate_task", args=args, next_call=lambda final: json.dumps(final), tool_call_id="c1", session_id="A")
    assert json.loads(got) == args
    assert person.asked == []


def test_a_failure_of_ours_leaves_children_in_their_parents_mode(
        orchestrator: Cli, person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plan_mode.cards.of_a_delegation", lambda *_: 1 / 0)
    assert delegated(orchestrator, {"goal": "write"}) == {"started": 1}
    assert may(orchestrator) == NOTHING
