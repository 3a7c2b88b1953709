"""Sessions of servers: tabs, windows and chats, many in one process."""

from __future__ import annotations

import os

import pytest

from plan_mode import cli as operator
from plan_mode.errors import StateError
from plan_mode.state import sessions
from plan_mode.state.identity import user_key
from plan_mode.state.store import Store
from tests.fake_host import PLAN_TEXT, Chat, Machine, Server, Tab


@pytest.fixture
def server(machine: Machine) -> Server:
    return machine.server()


@pytest.fixture
def tab(server: Server) -> Tab:
    """A tab whose session plans, before its first turn."""
    tab = server.tab("K", "T")
    assert tab.type("/planmode on").startswith("Plan mode is on.")
    return tab


@pytest.fixture
def chat(server: Server) -> Chat:
    """A chat that plans, before its first turn."""
    chat = server.chat("agent:main:telegram:dm:1", "A")
    assert chat.type("/planmode on").startswith("Plan mode is on.")
    return chat


# -- tabs

def test_a_tab_plans_and_no_other_does(tab: Tab, server: Server) -> None:
    other = server.tab("L", "U")
    assert tab.restricted
    assert not other.restricted
    assert "PLAN MODE IS ON" in tab.turn()
    assert other.turn() == ""
    assert tab.restricted
    assert not other.restricted
    for line in ("/planmode", "/planmode status", "/mode"):
        assert "plan" in tab.type(line).lower()
    assert other.type("/planmode").startswith("No mode is active in this session.")
    assert other.type("/planmode off").startswith("No mode is active in this session")
    assert other.type("/planmode on").startswith("Plan mode is on.")
    assert tab.type("/planmode off").startswith("Plan mode is off")
    assert other.restricted


def test_the_whole_way_in_a_tab(tab: Tab, machine: Machine) -> None:
    tab.turn()
    path = tab.write_plan()
    assert "plan.md" in tab.type("/planmode status")
    assert PLAN_TEXT.strip() in tab.type("/planmode show")
    assert tab.type("/planmode reject shorter").startswith("Your feedback goes to the agent")
    assert "with this feedback; revise the plan file:\nshorter" in tab.turn()
    assert tab.type("/planmode approve").startswith(f"Approved: {path}")
    assert not tab.restricted
    assert f"The user approved the plan at {path}. Implement it now." in tab.turn()
    assert tab.turn() == ""
    assert not machine.files()


def test_every_command_works_in_another_tab_of_the_same_session(tab: Tab, server: Server) -> None:
    tab.turn()
    tab.write_plan()
    other = server.tab("K", "U")
    assert other.restricted
    assert other.type("/planmode").startswith("Plan mode is on since ")
    assert other.type("/planmode show").endswith("/planmode off")
    assert other.type("/planmode approve").startswith("Approved: ")
    assert not tab.restricted
    assert not other.restricted


@pytest.mark.parametrize("turned", [False, True])
def test_resumed_after_a_kill(tab: Tab, server: Server, machine: Machine, turned: bool) -> None:
    if turned:
        tab.turn()
    server.kill()
    again = machine.server().tab("K", "V")
    assert again.restricted
    text = again.turn()
    assert ("This conversation was resumed; its mode was restored." in text) == turned
    assert "PLAN MODE IS ON" in text
    assert again.type("/planmode off").startswith("Plan mode is off")
    assert not again.restricted


def test_another_process_runs_the_turns(tab: Tab, machine: Machine) -> None:
    """dashboard.turn_isolation: commands in one process, tools in another."""
    worker = machine.server().tab("K", "T")
    assert worker.restricted
    assert "PLAN MODE IS ON" in worker.turn()
    worker.write_plan()
    assert tab.type("/planmode approve").startswith("Approved: ")
    assert not worker.restricted
    assert "The user approved the plan" in worker.turn()


def test_a_session_that_somebody_talks_to_each_day_never_expires(tab: Tab, machine: Machine) -> None:
    machine.set(keep_days=7)
    other = machine.cli("Z")
    tab.turn()
    for _ in range(10):
        for file in machine.files():
            os.utime(file, (then := file.stat().st_mtime - 86_500, then))
        assert tab.turn().startswith("[plan-mode] Plan mode is on: ")
    other.type("/planmode on")
    assert tab.restricted


@pytest.mark.parametrize("turned", [False, True])
def test_rotation_keeps_plan_mode(tab: Tab, machine: Machine, turned: bool) -> None:
    """compression.in_place: false."""
    if turned:
        tab.turn()
    machine.kin["K2"] = ("compression", "K", False, 0.0)
    tab.rotate("K2")
    assert tab.type("/planmode").startswith("Plan mode is on since ")
    assert tab.restricted
    assert "PLAN MODE IS ON" in tab.turn()
    assert tab.restricted
    assert tab.type("/planmode off").startswith("Plan mode is off")
    assert not tab.restricted


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("times", [0, 1, 2, 5])
def test_new_in_a_chat_after_compressions_is_new(known: bool, times: int, server: Server, machine: Machine) -> None:
    chat = server.chat("k", "C0", "u")
    chat.type("/planmode on")
    chat.turn()
    for number in range(1, times + 1):
        machine.kin[f"C{number}"] = ("compression", f"C{number - 1}", False, 2e12)
        chat.resume(f"C{number}")
        assert chat.turn()
    memory = chat.desk.memory
    if known:
        memory.keep(memory.senders, "k", (user_key("telegram", "u"), "new"))
    chat.new("D")
    assert not chat.restricted
    assert chat.turn() == ""
    assert machine.files("*.json") == []


def test_rotation_before_anything_was_seen_holds_from_the_turn_on(tab: Tab, machine: Machine) -> None:
    machine.kin["K2"] = ("compression", "K", False, 0.0)
    tab.rotate("K2")
    assert "PLAN MODE IS ON" in tab.turn()
    assert tab.restricted


def test_another_session_in_the_same_tab_is_new(tab: Tab, machine: Machine) -> None:
    tab.turn()
    tab.rotate("L")
    assert tab.type("/planmode").startswith("No mode is active in this session.")
    assert "PLAN MODE" not in tab.turn()
    assert not tab.restricted
    tab.rotate("K")
    assert "PLAN MODE IS ON" in tab.turn()
    assert tab.restricted


def test_a_branch_starts_in_plan_mode_and_goes_its_own_way(tab: Tab, server: Server, machine: Machine) -> None:
    tab.turn()
    tab.write_plan()
    machine.kin["B"] = ("branch", "K", False, 0.0)
    branch = server.tab("B", "U")
    assert "PLAN MODE IS ON" in branch.turn()
    assert branch.restricted
    path = branch.write_plan("2026-01-01_130000-branch.md")
    assert branch.type("/planmode approve").startswith(f"Approved: {path}")
    assert not branch.restricted
    assert tab.restricted


def test_where_the_lineage_cant_be_read_the_parents_mode_holds(tab: Tab, server: Server, machine: Machine) -> None:
    tab.turn()
    machine.kin["X"] = ("unreadable", "K", False, 0.0)
    heir = server.tab("X", "U")
    assert "Plan mode is on" in heir.turn()
    assert heir.restricted
    assert "Unresolved" in heir.type("/planmode status")
    assert heir.type("/planmode approve").startswith("Where this conversation came from can't be read")
    machine.kin["X"] = ("reset", "K", False, 0.0)
    assert heir.turn() == ""
    assert not heir.restricted


def test_a_side_agent_of_a_tab(tab: Tab, server: Server) -> None:
    """/background: bound under its own id, with the tab that it belongs to."""
    tab.turn()
    side = server.job("bg_1", session_key="bg_1", source="tui", tab_id="T")
    assert side.restricted
    assert side.turn() == "[plan-mode] Plan mode is on: read, think, write plans in " \
        f"{tab.machine.plans}; nothing else runs until the user approves."
    assert tab.type("/planmode off").startswith("Plan mode is off")
    assert not side.restricted


def test_sub_agents_are_judged_by_the_mode_their_parent_is_in_now(tab: Tab, server: Server) -> None:
    tab.turn()
    assert tab.asked("terminal", conversation="child")
    assert tab.turn(conversation="child", platform="subagent").startswith("[plan-mode] Plan mode is on")
    # where nothing of the parent is bound
    for child, parent in (("child", "K"), ("grandchild", "child")):
        tab.fire("subagent_start", parent_session_id=parent, child_session_id=child)
    alone = server.job("grandchild")
    alone.bound = {}
    assert "[not-granted]" in alone.asked("terminal")
    tab.type("/planmode off")
    assert not alone.asked("terminal")
    tab.type("/planmode on")
    assert "[not-granted]" in alone.asked("terminal")


def test_a_call_that_names_no_session(tab: Tab, server: Server) -> None:
    """Denied while anything in its process is in a restricted mode, scheduled runs excepted."""
    nobody, cron = server.job(""), server.job("cron_1", cron="1")
    nobody.bound = {}
    assert tab.restricted
    assert nobody.asked("terminal") == (
        "read-only mode [no-session]: terminal isn't reading, and only reading is possible because this call names no session, "
        "and another session of this process is in a restricted mode. It runs when no session of this process is in a "
        "restricted mode.")
    assert nobody.asked("read_file", {"path": "/etc/hostname"}) == ""
    assert not cron.asked("terminal")
    assert not server.machine.server().job("").asked("terminal")
    tab.type("/planmode off")
    assert not nobody.asked("terminal")


# -- chats

def test_a_chat_plans_and_no_other_does(chat: Chat, server: Server) -> None:
    other = server.chat("agent:main:telegram:dm:2", "B")
    assert chat.restricted
    assert not other.restricted
    assert "PLAN MODE IS ON" in chat.turn()
    assert other.turn() == ""
    path = chat.write_plan()
    assert not other.restricted
    assert other.type("/planmode approve").startswith("This session isn't in plan mode")
    assert chat.type("/planmode approve").startswith(f"Approved: {path}")
    assert not chat.restricted


def test_new_in_a_chat_is_new(chat: Chat) -> None:
    chat.turn()
    chat.new("B")
    assert not chat.restricted
    assert chat.turn() == ""
    assert not chat.machine.files()


def test_any_other_reset_is_none(chat: Chat) -> None:
    """The TUI fires one when a session is built, and an idle chat goes to another conversation without a word."""
    chat.turn()
    for reason in ("", "resume", None):
        chat.fire("on_session_reset", session_id="A", old_session_id="A", reason=reason)
    assert chat.restricted
    chat.resume("B")
    assert chat.restricted
    assert "PLAN MODE IS ON" in chat.turn()
    assert chat.restricted


def test_a_chat_goes_through_many_conversations(chat: Chat) -> None:
    for number in range(sessions.MOST_KEYS + 10):
        chat.resume(f"c{number}")
        chat.turn()
    assert chat.restricted
    assert len(chat.machine.files("*.key")) <= sessions.MOST_KEYS
    chat.type("/planmode off")
    chat.turn()
    assert not chat.machine.files()


def test_a_group_is_a_session_for_each_user(server: Server) -> None:
    alice = server.chat("agent:main:telegram:group:g1:alice", "A", "alice")
    bob = server.chat("agent:main:telegram:group:g1:bob", "B", "bob")
    alice.type("/planmode on")
    assert alice.restricted
    assert not bob.restricted


def test_in_two_processes(chat: Chat, machine: Machine) -> None:
    """The gateway was restarted."""
    chat.turn()
    chat.server.kill()
    again = machine.server().chat("agent:main:telegram:dm:1", "A")
    assert again.restricted
    assert again.type("/planmode off").startswith("Plan mode is off")
    assert not again.restricted


def test_what_one_session_does_is_no_reason_to_forget_another(
    chat: Chat, server: Server, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only what this process knows holds where the state can't be read, and for calls that name no session."""
    other, nobody = server.chat("agent:main:telegram:dm:2", "B"), server.job("")
    nobody.bound = {}
    assert chat.restricted
    for line in ("/planmode on", "/planmode off"):
        other.type(line)
        assert nobody.restricted
    with monkeypatch.context() as patch:
        patch.setattr(Store, "folders", unreadable)
        assert "[state-unreadable]" in chat.asked("terminal")
        assert not other.restricted
    chat.type("/planmode off")
    with monkeypatch.context() as patch:
        patch.setattr(Store, "folders", unreadable)
        assert not chat.restricted
        assert not nobody.restricted


def unreadable(store: Store) -> None:
    raise StateError("/state", "Input/output error")


# -- clients of the API server

def test_a_clients_conversations_are_sessions_of_their_own(machine: Machine) -> None:
    """Its key says who talks. What runs inside of a call brings nothing else, and is judged by the strictest of them."""
    machine.set(default_mode="plan")
    server = machine.server()
    one, two = (server.job(name, session_key="user-7", platform="api_server") for name in ("one", "two"))
    for talk in (one, two):
        talk.turn(platform="api_server")
        assert talk.restricted
    assert len(machine.files("*.json")) == 2
    inner = server.job("", session_key="user-7", platform="api_server")
    assert inner.restricted
    with one.acting():
        found = one.desk.judge.standing(one.desk.where.place("one")).record
    assert found is not None
    operator.main(["off", found.id])
    assert not one.restricted
    assert two.restricted
    assert inner.restricted
    assert server.job("three", session_key="user-7", platform="api_server").restricted
