"""Where only the host's approval of the call reaches a person: the hook's directive, and the evidence of an answer."""

from __future__ import annotations

from typing import Any

import pytest

from plan_mode.host import registry
from tests.fake_host import Cli, Machine
from tests.fixtures import Person

WAITS = "No one could be asked. Nothing was changed. The user can type /mode code. Say so and stop."


@pytest.fixture
def asked_by_directive(cli: Cli, person: Person, monkeypatch: pytest.MonkeyPatch) -> Cli:
    person.way = "directive"
    monkeypatch.setattr(registry, "toolset_of", lambda tool: "plan-mode" if tool in ("switch_mode", "submit_plan") else None)
    cli.type("/mode ask")
    cli.turn()
    return cli


def directive(cli: Cli, args: Any, tool: str = "switch_mode", conversation: str = "A") -> dict[str, str]:
    """What the hook says before the call."""
    [found] = cli.fire("pre_tool_call", tool_name=tool, args=args, tool_call_id="c1", session_id=conversation)
    assert found is None or found["action"] == "approve"
    return found or {}


def responds(cli: Cli, key: str, choice: Any = "once", **more: Any) -> None:
    cli.fire("post_approval_response", pattern_key=f"plugin_rule:{key}", choice=choice, session_key="", surface="cli", **more)


def runs(cli: Cli, args: Any, tool: str = "switch_mode", conversation: str = "A") -> str:
    """The handler's result, which the host asks for once the call was let through."""
    with cli.acting():
        return str(cli.context.tools[tool](args, session_id=conversation))


def slug_of(cli: Cli) -> str:
    with cli.acting():
        standing = cli.desk.judge.standing(cli.desk.where.place("A"))
    return standing.mode.slug if standing.mode is not None else ""


CODE = {"mode_slug": "code", "reason": "To write."}


@pytest.mark.parametrize("choice", ["once", "session", "always"])
def test_evidence_of_a_yes(choice: str, asked_by_directive: Cli) -> None:
    cli = asked_by_directive
    said = directive(cli, CODE)
    assert said["message"].split("\n") == ["[plan-mode] Switch from Ask mode to Code mode?",
                                           "It would allow everything: every tool, every file.", "The agent's reason: To write."]
    responds(cli, said["rule_key"], choice)
    assert "Code mode is on." in runs(cli, CODE)
    assert slug_of(cli) == "code"


def test_no_two_keys_are_alike(asked_by_directive: Cli) -> None:
    assert directive(asked_by_directive, CODE)["rule_key"] != directive(asked_by_directive, CODE)["rule_key"]


@pytest.mark.parametrize("choice", [
    "deny", "timeout", "cancelled", "notify_failed", "smart_approve", "approve", "", None, 1, True, ["once"]])
def test_any_other_choice_is_no_yes(choice: Any, asked_by_directive: Cli) -> None:
    """Also where the host runs the call all the same."""
    responds(asked_by_directive, directive(asked_by_directive, CODE)["rule_key"], choice)
    assert "is on." not in runs(asked_by_directive, CODE)
    assert slug_of(asked_by_directive) == "ask"


def test_without_evidence(asked_by_directive: Cli) -> None:
    """Yolo, approvals that are off, an allow list: the host runs the call and tells nobody."""
    directive(asked_by_directive, CODE)
    assert WAITS in runs(asked_by_directive, CODE)
    assert slug_of(asked_by_directive) == "ask"


def test_without_a_directive(asked_by_directive: Cli) -> None:
    assert WAITS in runs(asked_by_directive, CODE)


@pytest.mark.parametrize("key", ["", "x", "switch_mode", "0" * 16])
def test_a_wrong_key(key: str, asked_by_directive: Cli) -> None:
    directive(asked_by_directive, CODE)
    responds(asked_by_directive, key)
    assert WAITS in runs(asked_by_directive, CODE)


def test_another_kind_of_key(asked_by_directive: Cli) -> None:
    key = directive(asked_by_directive, CODE)["rule_key"]
    for pattern in (key, f"plugin_rule:{key} ", f"x:plugin_rule:{key}", None, 7):
        asked_by_directive.fire("post_approval_response", pattern_key=pattern, choice="once")
    asked_by_directive.fire("post_approval_response")
    assert WAITS in runs(asked_by_directive, CODE)


def test_a_model_that_approves_in_a_persons_place(asked_by_directive: Cli) -> None:
    responds(asked_by_directive, directive(asked_by_directive, CODE)["rule_key"], decided_by="aux_llm")
    assert WAITS in runs(asked_by_directive, CODE)


def test_evidence_counts_once(asked_by_directive: Cli) -> None:
    cli = asked_by_directive
    key = directive(cli, CODE)["rule_key"]
    responds(cli, key)
    runs(cli, CODE)
    cli.type("/mode ask")
    responds(cli, key)
    assert WAITS in runs(cli, CODE)
    assert slug_of(cli) == "ask"


@pytest.mark.parametrize("then", [
    {"mode_slug": "debug", "reason": "To write."}, {"mode_slug": "code"}, {"mode_slug": "code", "reason": "Else."},
])
def test_evidence_is_for_that_call(then: dict[str, str], asked_by_directive: Cli) -> None:
    responds(asked_by_directive, directive(asked_by_directive, CODE)["rule_key"])
    assert "No one could be asked." in runs(asked_by_directive, then)
    assert slug_of(asked_by_directive) == "ask"


def test_evidence_is_for_that_session(asked_by_directive: Cli, machine: Machine) -> None:
    responds(asked_by_directive, directive(asked_by_directive, CODE)["rule_key"])
    other = machine.cli("B")
    other.type("/mode ask")
    assert WAITS in runs(other, CODE, conversation="B")


@pytest.mark.parametrize("line", ["/mode off", "/mode debug", "/planmode on"])
def test_evidence_is_for_that_stay_in_a_mode(line: str, asked_by_directive: Cli) -> None:
    responds(asked_by_directive, directive(asked_by_directive, CODE)["rule_key"])
    asked_by_directive.type(line)
    assert "decided-meanwhile" in runs(asked_by_directive, CODE)
    assert slug_of(asked_by_directive) != "code"


@pytest.mark.parametrize("over", ["turn", "end"])
def test_evidence_of_an_earlier_turn(over: str, asked_by_directive: Cli) -> None:
    responds(asked_by_directive, directive(asked_by_directive, CODE)["rule_key"])
    if over == "turn":
        asked_by_directive.turn()
    else:
        asked_by_directive.fire("on_session_end", session_id="A")
    assert "withdrawn" in runs(asked_by_directive, CODE)
    assert slug_of(asked_by_directive) == "ask"


@pytest.mark.parametrize("args", [
    {}, None, {"mode_slug": "ask"}, {"mode_slug": "nothing"}, {"mode_slug": 7}, {"mode_slug": "plan"}])
def test_what_needs_nobody_is_put_to_nobody(args: Any, asked_by_directive: Cli) -> None:
    assert directive(asked_by_directive, args) == {}
    assert slug_of(asked_by_directive) == "ask", "a hook changes nothing"


def test_a_sub_agent(asked_by_directive: Cli) -> None:
    asked_by_directive.fire("subagent_start", parent_session_id="A", child_session_id="child")
    assert directive(asked_by_directive, CODE, conversation="child") == {}


def test_somebody_elses_tool_of_that_name(asked_by_directive: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "toolset_of", lambda tool: "theirs")
    [found] = asked_by_directive.fire("pre_tool_call", tool_name="switch_mode", args=CODE, session_id="A")
    assert found["action"] == "block"
    assert "[foreign-tool]" in found["message"]


def test_a_plan(cli: Cli, asked_by_directive: Cli) -> None:
    cli.type("/planmode on")
    cli.turn()
    plan = cli.write_plan()
    args = {"path": str(plan)}
    responds(cli, directive(cli, args, "submit_plan")["rule_key"])
    plan.write_text("# Another\n")
    assert "changed-meanwhile" in runs(cli, args, "submit_plan")
    assert cli.restricted
    responds(cli, directive(cli, args, "submit_plan")["rule_key"])
    assert f"The user approved the plan at {plan}. Implement it now." in runs(cli, args, "submit_plan")
    assert not cli.restricted
