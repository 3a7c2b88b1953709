"""switch_mode: what is asked, what is answered, and what comes of it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.fake_host import Cli, Machine
from tests.fixtures import Person

ENFORCED = "PLAN MODE IS ON, and it is enforced"
YES = ("once", "session", "always")

UNANSWERED = {
    "timeout": "The user didn't answer in time.",
    "cancelled": "The question was closed without an answer.",
    "notify_failed": "No one could be asked.",
    "": "The question was closed without an answer.",
    "approve": "The question was closed without an answer.",
    "yes": "The question was closed without an answer.",
    "ONCE": "The question was closed without an answer.",
}
WAY_OUT = "Nothing was changed. The user can type /mode code. Say so and stop."


def slug_of(cli: Cli) -> str:
    with cli.acting():
        standing = cli.desk.judge.standing(cli.desk.where.place(cli.conversation))
    return standing.mode.slug if standing.mode is not None else ""


def asking(cli: Cli, slug: Any = "code", **more: Any) -> dict[str, Any]:
    return cli.ask("switch_mode", {"mode_slug": slug, **more})


@pytest.fixture
def ask_mode(cli: Cli) -> Cli:
    cli.type("/mode ask")
    cli.turn()
    return cli


# -- a yes

@pytest.mark.parametrize("choice", YES)
def test_a_yes_switches_and_the_result_says_what_is_on_now(choice: str, ask_mode: Cli, person: Person) -> None:
    assert ask_mode.restricted
    person.says(choice)
    result = asking(ask_mode, reason="To write the parser.")["result"]
    assert result.startswith("[plan-mode notice t")
    assert "Code mode is on. You are implementing." in result
    assert result.split("\n")[-1] == (
        "It grants: browser, command, delegate, edit, manage, mcp, media, memory, message, read, schedule, ui.")
    assert slug_of(ask_mode) == "code"
    assert not ask_mode.restricted
    [card] = person.asked
    assert card.headline == "[plan-mode] Switch from Ask mode to Code mode?"
    assert card.details == "It would allow everything: every tool, every file.\nThe agent's reason: To write the parser."


def test_what_the_result_said_isnt_said_again(ask_mode: Cli, person: Person) -> None:
    result = person.says("once") and asking(ask_mode)["result"]
    ask_mode.history.append({"role": "tool", "content": f'{{"result": "{result[:40]}"}}'})
    assert ask_mode.turn() == "[plan-mode] Code mode is on."
    assert ask_mode.turn() == "[plan-mode] Code mode is on."


def test_a_result_that_got_lost_is_said_again_once(ask_mode: Cli, person: Person) -> None:
    person.says("once")
    asking(ask_mode)
    assert "Code mode is on. You are implementing." in ask_mode.turn()
    assert ask_mode.turn() == "[plan-mode] Code mode is on."


def test_from_no_mode(cli: Cli, person: Person) -> None:
    person.says("once")
    assert "Architect mode is on." in asking(cli, "architect")["result"]
    [card] = person.asked
    assert card.headline == "[plan-mode] Switch from no mode to Architect mode?"
    assert card.details == "It would allow nothing that isn't allowed now."


def test_the_previous_mode_is_remembered(ask_mode: Cli, person: Person) -> None:
    person.says("once")
    asking(ask_mode)
    with ask_mode.acting():
        record = ask_mode.desk.judge.standing(ask_mode.desk.where.place("A")).record
    assert record is not None
    assert (record.mode, record.previous) == ("code", "ask")


@pytest.mark.parametrize(("slug", "line", "then"), [
    ("architect", "/mode off", "No mode is active any more."), ("plan", "/planmode off", "No mode is active any more"),
    ("architect", "/mode ask", "Ask mode is on. You are answering"), ("architect", "/planmode on", ENFORCED),
])
def test_what_the_person_changes_after_a_told_switch_is_told(slug: str, line: str, then: str, cli: Cli, person: Person) -> None:
    cli.turn()
    person.says("once")
    cli.history.append({"role": "tool", "content": asking(cli, slug)["result"]})
    cli.type(line)
    assert then in cli.turn()


# -- no yes

@pytest.mark.parametrize("choice", ["deny", *UNANSWERED])
def test_anything_else_changes_nothing(choice: str, ask_mode: Cli, person: Person) -> None:
    before = ask_mode.machine.files()
    texts = [file.read_text() for file in before]
    person.says(choice)
    said = asking(ask_mode)["result"]
    assert said == (f"{UNANSWERED[choice]} {WAY_OUT}" if choice != "deny" else
                    "The user declined. Nothing was changed; ask the user what to do instead.")
    assert slug_of(ask_mode) == "ask"
    assert [file.read_text() for file in ask_mode.machine.files()] == texts


def test_a_no_with_words(ask_mode: Cli, person: Person) -> None:
    person.says(("deny", "first\nthe tests \x1b[31m"))
    assert asking(ask_mode)["result"] == r'The user declined, and wrote: "first the tests \x1b[31m".'


def test_where_nobody_is(cli: Cli, machine: Machine, person: Person) -> None:
    server = machine.server()
    hook = server.job("wh1", session_key="webhook:1", platform="webhook")
    for slug in ("ask", "plan"):
        assert hook.ask("switch_mode", {"mode_slug": slug}) == {
            "error": "Nobody can be asked here, and no commands reach this session, so its mode can't be changed. The operator "
                     "can set default_mode for this surface.", "rule": "nobody"}
    assert person.asked == []


@pytest.mark.parametrize("slug", ["plan", "ask"])
def test_a_clients_conversation_that_goes_on_by_another_id_within_the_turn(slug: str, machine: Machine, person: Person) -> None:
    """compression.in_place: false. The key is the client's and not the conversation's, so nothing but the lineage tells."""
    client = machine.server().job("A", platform="api_server", session_key="client")
    client.platform = "api_server"
    client.turn()
    person.says("once")
    client.ask("switch_mode", {"mode_slug": slug})
    assert client.asked("terminal")
    machine.kin["A2"] = ("compression", "A", False, time.time())
    client.sent({"messages": [], "tools": []}, conversation="A2")
    assert client.asked("terminal", conversation="A2")
    assert not client.asked("read_file", {"path": "x"}, conversation="A2")
    client.resume("A2")
    client.turn()
    assert client.asked("terminal")
    client.sent({"messages": [], "tools": []}, conversation="B")
    assert not client.asked("terminal", conversation="B")


# -- how often

def test_what_was_declined_isnt_asked_again_before_the_person_speaks(ask_mode: Cli, person: Person) -> None:
    person.says("deny", "deny", "once")
    asking(ask_mode)
    assert asking(ask_mode) == {
        "error": "The user has declined exactly that already. Don't ask again before the user says something; ask in words what "
                 "should be changed.", "rule": "declined-before"}
    assert "declined" in asking(ask_mode, "debug")["result"]
    assert len(person.asked) == 2
    ask_mode.turn()
    assert "Code mode is on." in asking(ask_mode)["result"]


def test_three_questions_a_turn(ask_mode: Cli, person: Person) -> None:
    person.says("cancelled", "cancelled", "cancelled", "once")
    for _ in range(3):
        assert "was closed" in asking(ask_mode)["result"]
    assert asking(ask_mode)["rule"] == "asked-enough"
    assert len(person.asked) == 3
    ask_mode.turn()
    assert "Code mode is on." in asking(ask_mode)["result"]


def test_after_silence_nothing_is_asked(ask_mode: Cli, person: Person) -> None:
    person.says("timeout", "once")
    asking(ask_mode)
    assert asking(ask_mode, "debug")["rule"] == "unanswered-before"
    ask_mode.turn()
    assert "Code mode is on." in asking(ask_mode)["result"]


@pytest.mark.parametrize("said", ["[ASYNC DELEGATION COMPLETE — x]\ndone", "[IMPORTANT: Background process 1 exited]"])
def test_what_the_host_says_is_no_message_of_the_persons(said: str, ask_mode: Cli, person: Person) -> None:
    person.says("deny", "once")
    asking(ask_mode)
    ask_mode.turn(said=said)
    assert asking(ask_mode)["rule"] == "declined-before"


def test_a_compression_forgets_no_answer(ask_mode: Cli, machine: Machine, person: Person) -> None:
    machine.kin["A2"] = ("compression", "A", False, time.time())
    person.says("deny", "once")
    asking(ask_mode)
    assert ask_mode.ask("switch_mode", {"mode_slug": "code"}, conversation="A2")["rule"] == "declined-before"


def test_another_session_has_its_own_questions(ask_mode: Cli, machine: Machine, person: Person) -> None:
    person.says("deny", "once")
    asking(ask_mode)
    assert "Code mode is on." in asking(machine.cli("B"))["result"]


def test_no_second_question_while_one_is_open(ask_mode: Cli, person: Person) -> None:
    inner: list[dict[str, Any]] = []

    def meanwhile() -> str:
        inner.append(asking(ask_mode, "debug"))
        return "once"
    person.says(meanwhile)
    assert "Code mode is on." in asking(ask_mode)["result"]
    assert inner == [{"error": "The user is being asked something else at this moment. Wait for the answer.",
                      "rule": "being-asked"}]


# -- what happens while the question is open

LATE = {"error": "The mode was changed while the user was asked, so the answer counts for nothing.", "rule": "decided-meanwhile"}


@pytest.mark.parametrize(("line", "ends_in"), [
    ("/mode off", ""), ("/mode debug", "debug"), ("/planmode on", "plan"), ("/mode ask", "ask"),
])
def test_a_yes_after_the_person_changed_the_mode(line: str, ends_in: str, ask_mode: Cli, person: Person) -> None:
    def meanwhile() -> str:
        ask_mode.type(line)
        return "once"
    person.says(meanwhile)
    result = asking(ask_mode)
    assert (result == LATE) is (line != "/mode ask")  # which changes nothing: it is refused
    assert slug_of(ask_mode) == (ends_in if result == LATE else "code")


def test_a_yes_after_the_turn_was_over(ask_mode: Cli, person: Person) -> None:
    def meanwhile() -> str:
        ask_mode.fire("on_session_end", session_id="A")
        return "once"
    person.says(meanwhile)
    assert asking(ask_mode)["result"].startswith("The question was closed without an answer.")
    assert slug_of(ask_mode) == "ask"


def test_a_yes_after_the_next_message(ask_mode: Cli, person: Person) -> None:
    def meanwhile() -> str:
        ask_mode.turn()
        return "once"
    person.says(meanwhile)
    assert asking(ask_mode)["result"].startswith("The question was closed without an answer.")
    assert slug_of(ask_mode) == "ask"


def test_a_definition_that_changes_while_the_person_reads(cli: Cli, machine: Machine, person: Person) -> None:
    file = machine.home / "modes" / "docs.yaml"
    file.parent.mkdir()
    text = "customModes:\n  - slug: docs\n    name: Docs\n    roleDefinition: You write.\n    groups: [{}]\n"
    file.write_text(text.format("read"))
    cli.type("/mode ask")

    def meanwhile() -> str:
        file.write_text(text.format("read, command"))
        return "once"
    person.says(meanwhile)
    assert asking(cli, "docs") == {
        "error": "What docs mode says was changed while the user was asked. Nothing was switched. Ask again.",
        "rule": "changed-meanwhile"}
    assert slug_of(cli) == "ask"


# -- plan mode

def test_plan_mode_is_entered_without_a_person(ask_mode: Cli, person: Person) -> None:
    result = asking(ask_mode, "plan")["result"]
    assert ENFORCED in result
    assert person.asked == []
    assert slug_of(ask_mode) == "plan"
    ask_mode.history.append({"role": "tool", "content": result})
    assert ask_mode.turn().startswith("[plan-mode] Plan mode is on: read, think")


@pytest.mark.parametrize(("answer", "ends_in"), [("once", "plan"), ("deny", "orchestrator"), ("timeout", "orchestrator")])
def test_unless_it_would_let_the_agent_read(answer: str, ends_in: str, cli: Cli, person: Person) -> None:
    """Orchestrator mode can't."""
    cli.type("/mode orchestrator")
    person.says(answer)
    asking(cli, "plan")
    assert slug_of(cli) == ends_in
    assert person.asked[0].headline == "[plan-mode] Switch from Orchestrator mode to Plan mode?"


def test_unless_it_would_bring_an_extra_tool(machine: Machine, person: Person) -> None:
    machine.set(switch_pause_ms=0, extra_allowed_tools=["terminal"])
    cli = machine.cli()
    cli.type("/mode ask")
    person.says("deny")
    asking(cli, "plan")
    assert slug_of(cli) == "ask"
    cli.type("/mode code")
    cli.turn()
    assert ENFORCED in asking(cli, "plan")["result"]


@pytest.mark.parametrize("slug", ["code", "ask", "debug", "architect", "orchestrator"])
def test_plan_mode_is_left_by_a_plan(slug: str, cli: Cli, person: Person) -> None:
    cli.type("/planmode on")
    assert asking(cli, slug) == {
        "error": "Plan mode ends with an approved plan. Write the plan and submit it with submit_plan; the user can also type "
                 "/planmode off.", "rule": "plan-mode"}
    assert person.asked == []
    assert slug_of(cli) == "plan"


@pytest.mark.parametrize(("answer", "ends_in"), [("once", "code"), ("deny", "plan"), ("timeout", "plan")])
def test_unless_the_operator_lets_the_agent_ask(answer: str, ends_in: str, machine: Machine, person: Person) -> None:
    machine.set(switch_pause_ms=0, agent_may_ask_to_leave_plan=True)
    cli = machine.cli()
    cli.type("/planmode on")
    person.says(answer)
    asking(cli)
    assert slug_of(cli) == ends_in
    assert person.asked[0].headline == "[plan-mode] Switch from Plan mode to Code mode?"


# -- confirm_switches: widening

@pytest.mark.parametrize(("before", "slug", "asked"), [
    ("code", "ask", False), ("code", "debug", False), ("", "code", False), ("", "architect", False),
    ("ask", "code", True), ("ask", "architect", True), ("ask", "orchestrator", True), ("architect", "ask", False),
])
def test_only_what_widens_is_asked(before: str, slug: str, asked: bool, machine: Machine, person: Person) -> None:
    machine.set(switch_pause_ms=0, confirm_switches="widening")
    cli = machine.cli()
    if before:
        cli.type(f"/mode {before}")
    person.says("once")
    assert "mode is on" in asking(cli, slug)["result"]
    assert bool(person.asked) is asked
    assert slug_of(cli) == slug


@pytest.mark.parametrize("more", [{"model": {"model": "large"}}, {"childMode": "code"}, {}])
def test_what_a_mode_chooses_beside_its_tools_is_asked(more: dict[str, Any], machine: Machine, person: Person) -> None:
    (machine.home / "modes").mkdir()
    mode = {"slug": "bb", "name": "Bb", "roleDefinition": "x", "groups": ["read"], **more}
    (machine.home / "modes" / "bb.yaml").write_text(json.dumps(mode))
    machine.set(switch_pause_ms=0, confirm_switches="widening")
    cli = machine.cli()
    cli.type("/mode ask")
    person.says("deny")
    asking(cli, "bb")
    assert bool(person.asked) is bool(more)
    if more:
        assert person.asked[0].details.split("\n")[2] in ("Model: large.", "Its sub-agents would work in code mode.")


def test_a_projects_own_words_are_asked(machine: Machine, person: Person) -> None:
    (machine.work / ".roomodes").write_text(json.dumps({"customModes": [
        {"slug": "quiet", "name": "Quiet", "roleDefinition": "x", "groups": ["read"]}]}))
    machine.set(switch_pause_ms=0, confirm_switches="widening")
    cli = machine.cli()
    cli.type("/mode ask")
    person.says("deny")
    asking(cli, "quiet")
    assert person.asked[0].details.startswith(f"Defined in {machine.work}/.roomodes (this project's text, not yours).")


def test_an_extra_tool_is_named(machine: Machine, person: Person) -> None:
    machine.set(switch_pause_ms=0, extra_allowed_tools=["terminal"])
    cli = machine.cli()
    cli.type("/mode ask")
    person.says("deny")
    asking(cli, "plan")
    assert "By your settings it would also allow: terminal." in person.asked[0].details


# -- arguments

@pytest.mark.parametrize(("args", "rule"), [
    ({}, "missing-slug"), (None, "missing-slug"), ([], "missing-slug"), ("code", "missing-slug"),
    ({"mode_slug": ""}, "missing-slug"), ({"mode_slug": None}, "missing-slug"), ({"slug": "code"}, "missing-slug"),
    ({"mode_slug": 7}, "malformed-slug"), ({"mode_slug": ["code"]}, "malformed-slug"), ({"mode_slug": "co de"}, "malformed-slug"),
    ({"mode_slug": "x" * 129}, "malformed-slug"), ({"mode_slug": "../code"}, "malformed-slug"),
    ({"mode_slug": "code\n"}, ""), ({"mode_slug": " code "}, ""), ({"mode_slug": "CODE"}, ""),
    ({"mode_slug": "nothing"}, "unknown-mode"), ({"mode_slug": "off"}, "unknown-mode"),
    ({"mode_slug": "ask"}, "same-mode"), ({"mode_slug": "Ask"}, "same-mode"),
    ({"mode_slug": "code", "reason": 7}, "malformed-argument"), ({"mode_slug": "code", "reason": ["x"]}, "malformed-argument"),
    ({"mode_slug": {"a": 1}, 7: 8}, "malformed-slug"),
    ({"mode_slug": "code", "reason": None}, ""), ({"mode_slug": "code", "reason": ""}, ""),
    ({"mode_slug": "code", "approved": True, "user": "yes"}, ""),
])
def test_arguments(args: Any, rule: str, ask_mode: Cli, person: Person) -> None:
    person.says("deny")
    result = ask_mode.ask("switch_mode", args)
    assert result.get("rule", "") == rule
    assert len(person.asked) == (0 if rule else 1)
    assert slug_of(ask_mode) == "ask"


# -- who may ask

@pytest.mark.parametrize("conversation", ["child", "unheard-of", "bg_1", "btw_2", "preview_3", ""])
def test_only_a_persons_own_conversation(conversation: str, ask_mode: Cli, person: Person) -> None:
    ask_mode.fire("subagent_start", parent_session_id="A", child_session_id="child")
    assert ask_mode.ask("switch_mode", {"mode_slug": "code"}, conversation=conversation) == {
        "error": "A sub-agent can't change the mode or submit a plan. Report to the agent that started you; it can ask.",
        "rule": "sub-agent"}
    assert person.asked == []
    assert slug_of(ask_mode) == "ask"
    assert ask_mode.asked("terminal", conversation=conversation)


def test_a_conversation_of_a_sub_agent_that_its_person_has_opened(ask_mode: Cli, person: Person) -> None:
    ask_mode.fire("subagent_start", parent_session_id="A", child_session_id="K")
    ask_mode.resume("K")
    ask_mode.turn()
    person.says("once")
    assert "Code mode is on." in asking(ask_mode)["result"]


def test_a_client_names_its_conversations_as_it_likes(machine: Machine, person: Person) -> None:
    person.says("once")
    seat = machine.server().job("preview_7", session_key="k", platform="api_server")
    assert "Ask mode is on." in asking(seat, "ask")["result"]


def test_a_conversation_that_was_compressed_in_the_middle_of_a_turn(ask_mode: Cli, machine: Machine, person: Person) -> None:
    """The CLI learns of its new id when the turn is over."""
    machine.kin["A2"] = ("compression", "A", False, time.time())
    person.says("once")
    assert "Code mode is on." in ask_mode.ask("switch_mode", {"mode_slug": "code"}, conversation="A2")["result"]
    assert slug_of(ask_mode) == "code"


def test_where_only_one_user_may_decide(machine: Machine, person: Person) -> None:
    machine.set(owner_only=True)
    chat = machine.server().chat("k1", "C", user="u1")
    chat.type("/mode ask")
    assert asking(chat)["rule"] == "not-owner"
    assert person.asked == []


def test_a_lockdown_is_nothing_to_ask_about(cli: Cli, person: Person) -> None:
    cli.type("/mode ask")
    for file in cli.machine.files("*.json") or cli.machine.files():
        if file.read_text().startswith("{"):
            file.write_text("damaged")
    assert cli.asked("switch_mode", {"mode_slug": "code"}).startswith("read-only mode [state-damaged]")
    with cli.acting():
        assert "state-damaged" in cli.context.tools["switch_mode"]({"mode_slug": "code"}, session_id="A")
    assert person.asked == []


def test_where_the_runtime_goes_around(machine: Machine, person: Person) -> None:
    machine.config = {"model": {"openai_runtime": "codex_app_server"}}
    assert asking(machine.cli(), "ask")["rule"] == "own-runtime"


def test_the_pause(machine: Machine, person: Person) -> None:
    machine.set(switch_pause_ms=120)
    cli = machine.cli()
    person.says("deny", "once")
    began = time.monotonic()
    asking(cli, "ask")
    assert time.monotonic() - began < 0.1
    began = time.monotonic()
    asking(cli, "debug")
    assert time.monotonic() - began >= 0.12


def test_a_failure_is_a_result(ask_mode: Cli, person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plan_mode.cards.of_a_switch", lambda *_: 1 / 0)
    assert asking(ask_mode) == {
        "error": "plan-mode failed (ZeroDivisionError), and nothing was changed.", "rule": "internal-error"}
    assert slug_of(ask_mode) == "ask"
