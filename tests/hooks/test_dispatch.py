"""A chat's message before its dispatch: how a host that binds nothing around a command is told whose it is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from plan_mode.host import session
from tests.fake_host import Chat, Machine, Server

KEY = "agent:main:telegram:dm:1"


class Gateway:
    def _session_key_for_source(self, source: Any) -> str:
        return f"agent:main:telegram:dm:{source.chat_id}"


def event(text: str, chat: str = "1", user: str = "u1") -> Any:
    name, _, rest = text.partition(" ")
    return SimpleNamespace(
        text=text, source=SimpleNamespace(chat_id=chat, user_id=user, platform=SimpleNamespace(value="telegram")),
        get_command=lambda: name[1:].lower() if text.startswith("/") else None,
        get_command_args=lambda: rest if text.startswith("/") else text)


@pytest.fixture
def server(machine: Machine) -> Server:
    session.keep_message(None)
    return machine.server()


@pytest.fixture
def task(server: Server) -> Chat:
    """The task of a gateway that dispatches messages: nothing is bound in it."""
    task = server.chat("", "")
    task.bound = {}
    return task


def sends(task: Chat, text: str, **where: str) -> str:
    """A message, dispatched at once: what its handler answers."""
    task.fire("pre_gateway_dispatch", event=event(text, **where), gateway=Gateway(), session_store=None)
    return task.type(text)


def chat(server: Server, number: str = "1") -> Chat:
    return server.chat(f"agent:main:telegram:dm:{number}", f"c{number}")


def test_two_chats(task: Chat, server: Server) -> None:
    assert sends(task, "/planmode on", chat="1").startswith("Plan mode is on.")
    assert chat(server, "1").restricted
    assert not chat(server, "2").restricted
    assert sends(task, "/planmode", chat="2").startswith("No mode is active in this session.")
    assert sends(task, "/planmode on", chat="2").startswith("Plan mode is on.")
    assert sends(task, "/planmode off", chat="1").startswith("Plan mode is off")
    assert not chat(server, "1").restricted
    assert chat(server, "2").restricted


REFUSED = "This process serves other sessions (HERMES_GATEWAY_SESSION is set), and nothing tells whose command this is."


@pytest.mark.parametrize("line", ["/planmode on", "/planmode off", "/planmode approve", "/planmode reject x", "/planmode show",
                                  "/mode off", "/mode code", "/mode plan"])
def test_without_a_message_every_command_is_refused(task: Chat, machine: Machine, line: str) -> None:
    assert REFUSED in task.type(line)
    assert not machine.files()


def test_status_is_read_only_then(task: Chat, server: Server) -> None:
    sends(task, "/planmode on")
    before = [(path, path.stat().st_mtime_ns) for path in task.machine.files()]
    text = task.type("/planmode status")
    assert text.startswith("Which session this is can't be told here, so neither can its mode.\n")
    assert f"Note: plan mode can't be turned on or off here. {REFUSED}" in text
    assert before == [(path, path.stat().st_mtime_ns) for path in task.machine.files()]


def test_a_message_is_taken_once(task: Chat, server: Server) -> None:
    sends(task, "/planmode on")
    assert REFUSED in task.type("/planmode on")


@pytest.mark.parametrize("stored", ["/planmode off", "/planmode on x", "/mode on", "hello", "", "/planmodes on"])
def test_another_message_doesnt_count(task: Chat, stored: str) -> None:
    task.fire("pre_gateway_dispatch", event=event(stored), gateway=Gateway())
    assert REFUSED in task.type("/planmode on")


def test_a_later_message_of_the_task_takes_its_place(task: Chat) -> None:
    task.fire("pre_gateway_dispatch", event=event("/planmode on", chat="1"), gateway=Gateway())
    task.fire("pre_gateway_dispatch", event=event("hello", chat="2"), gateway=Gateway())
    assert REFUSED in task.type("/planmode on")


def test_what_is_bound_beats_what_was_sent(server: Server, task: Chat) -> None:
    task.fire("pre_gateway_dispatch", event=event("/planmode on", chat="1"), gateway=Gateway())
    assert chat(server, "2").type("/planmode on").startswith("Plan mode is on.")
    assert not chat(server, "1").restricted
    assert chat(server, "2").restricted


def test_a_telegram_form_with_underscores(task: Chat, server: Server) -> None:
    task.fire("pre_gateway_dispatch", event=event("/planmode on"), gateway=Gateway())
    assert task.type("/planmode on").startswith("Plan mode is on.")


@pytest.mark.parametrize("kwargs", [
    {}, {"event": None}, {"event": event("/planmode on"), "gateway": None},
    {"event": SimpleNamespace(text=7), "gateway": Gateway()},
    {"event": SimpleNamespace(text="/planmode on", source=None), "gateway": Gateway()},
])
def test_events_of_other_shapes(task: Chat, kwargs: dict[str, Any]) -> None:
    assert task.fire("pre_gateway_dispatch", **kwargs) == [None]
    assert REFUSED in task.type("/planmode on")


# -- who may leave

@pytest.fixture
def owned(machine: Machine) -> Server:
    machine.set(owner_only=True)
    session.keep_message(None)
    server = machine.server()
    alice = server.chat(KEY, "A", "alice")
    assert alice.type("/planmode on").startswith("Plan mode is on.")
    alice.turn()
    alice.write_plan()
    return server


@pytest.mark.parametrize("line", ["/planmode off", "/planmode approve", "/mode off", "/mode code"])
def test_only_the_owner_leaves(owned: Server, line: str) -> None:
    bob, alice = owned.chat(KEY, "A", "bob"), owned.chat(KEY, "A", "alice")
    [path] = owned.machine.files("*.json")
    assert bob.type(line) == ("Only the user who turned this mode on can leave it (setting owner_only). The operator can, on the "
                              f"machine itself: hermes plan-mode off {path.stem}")
    assert owned.chat(KEY, "A").type(line).startswith("Only the user")
    assert bob.restricted
    assert bob.type("/planmode reject no").startswith("Your feedback")
    assert bob.type("/planmode on").startswith("Plan mode is on already")
    assert not alice.type(line).startswith("Only the user")
    assert not alice.restricted


def test_who_it_was_is_stored_as_a_hash(owned: Server) -> None:
    for path in owned.machine.files():
        assert b"alice" not in path.read_bytes()


@pytest.mark.parametrize(("user", "command", "cleared"), [
    ("alice", "/new", True), ("alice", "/reset", True), ("alice", "/approve", True), ("bob", "/new", False),
    ("bob", "/approve", False), ("alice", "/planmode on", False), ("", "/new", False),
])
def test_only_the_owner_resets(owned: Server, user: str, command: str, cleared: bool) -> None:
    alice = owned.chat(KEY, "A", "alice")
    alice.fire("pre_gateway_dispatch", event=event(command, user=user), gateway=Gateway())
    alice.new("B")
    assert alice.restricted != cleared


def test_a_command_counts_for_one_reset(owned: Server) -> None:
    alice = owned.chat(KEY, "A", "alice")
    alice.fire("pre_gateway_dispatch", event=event("/new", user="alice"), gateway=Gateway())
    alice.new("B")
    alice.type("/planmode on")
    alice.turn()
    alice.new("C")  # sent while a turn ran: nobody knows by whom
    assert alice.restricted


def test_without_the_setting_anybody_leaves(machine: Machine) -> None:
    server = machine.server()
    server.chat(KEY, "A", "alice").type("/planmode on")
    assert server.chat(KEY, "A", "bob").type("/planmode off").startswith("Plan mode is off")


def test_where_a_surface_knows_no_users_anybody_leaves(machine: Machine) -> None:
    machine.set(owner_only=True)
    server = machine.server()
    tab = server.tab("K", "T")
    tab.type("/planmode on")
    assert tab.type("/planmode off").startswith("Plan mode is off")


def test_who_turns_it_on_next_owns_it(owned: Server) -> None:
    alice, bob = owned.chat(KEY, "A", "alice"), owned.chat(KEY, "A", "bob")
    alice.type("/planmode off")
    bob.type("/planmode on")
    assert alice.type("/planmode off").startswith("Only the user")
    assert bob.type("/planmode off").startswith("Plan mode is off")
