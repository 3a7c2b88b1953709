"""Sessions that meet, part, come from others or can't be stored: in tabs, chats and CLIs that know nothing of each other."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from plan_mode import entry, memory
from plan_mode.cli import main
from plan_mode.hooks.turn_context import TurnContext
from plan_mode.host import lineage, session
from plan_mode.state import store
from plan_mode.state.lock import locked
from plan_mode.state.record import checksum
from tests.fake_host import Cli, Machine, Server, Tab
from tests.state.crash_driver import Faults

ONE, TWO = "agent:main:telegram:dm:1", "agent:main:telegram:dm:2"
LATER = 2e12
"""When a branch begins: after everything that happens here."""

SEATS: dict[str, Callable[[Machine, str], Cli]] = {
    "cli": lambda machine, conversation: machine.cli(conversation),
    "tab": lambda machine, conversation: machine.server().tab(conversation, "U"),
    "chat": lambda machine, conversation: machine.server().chat(TWO, conversation),
}
LEFT = "Plan mode is off; nothing was approved.\nNext: go on as you like; /planmode on turns it on again."
LEFT_FOR_NOW = ("This session's mode is off.\nThis holds for this Hermes process only, because the state folder can't be "
                "written.\nNext: go on as you like; /planmode on turns it on again.")


@pytest.fixture
def server(machine: Machine) -> Server:
    return machine.server()


def planning(seat: Cli) -> Cli:
    """It plans, and its model was told."""
    assert seat.type("/planmode on").startswith("Plan mode is on.")
    assert "PLAN MODE IS ON" in seat.turn()
    return seat


def go(seat: Cli, conversation: str) -> None:
    """On in another conversation: a tab is called by it, and nothing else is."""
    if isinstance(seat, Tab):
        seat.rotate(conversation)
    else:
        seat.resume(conversation)


def unwritable(machine: Machine) -> None:
    machine.state.parent.mkdir(parents=True, exist_ok=True)
    machine.state.write_text("no folder")


# -- a conversation that brings its record to where another one is

@pytest.mark.parametrize("kind", ["branch", "compression"])
@pytest.mark.parametrize("own", ["", "/mode code"])
@pytest.mark.parametrize("seat", SEATS)
def test_an_heir_of_a_plan_is_planned_whatever_its_seat_was_in(machine: Machine, seat: str, own: str, kind: str) -> None:
    planning(machine.server().tab("K", "T"))
    here = SEATS[seat](machine, "A")
    here.turn()
    if own:
        here.type(own)
        here.turn()
    machine.kin["B"] = (kind, "K", False, LATER)
    go(here, "B")
    assert "PLAN MODE IS ON" in here.turn()
    assert here.restricted
    assert here.type("/planmode off") == LEFT
    assert not here.restricted


@pytest.mark.parametrize("kind", ["branch", "compression"])
def test_a_chat_that_left_its_default_mode_goes_on_in_an_heir_of_a_plan(machine: Machine, kind: str) -> None:
    machine.set(default_mode={"telegram": "plan"})
    planning(machine.server().tab("K", "T"))
    chat = machine.server().chat(TWO, "A")
    chat.turn()
    chat.type("/planmode off")
    chat.turn()
    machine.kin["B"] = (kind, "K", False, LATER)
    chat.resume("B")
    chat.turn()
    assert chat.restricted


def test_a_chat_that_went_to_an_heir_of_a_plan_before_its_first_turn(machine: Machine) -> None:
    planning(machine.server().tab("K", "T"))
    chat = machine.server().chat(TWO, "A")
    chat.type("/mode code")
    machine.kin["B"] = ("compression", "K", False, LATER)
    chat.resume("B")
    assert "PLAN MODE IS ON" in chat.turn()
    assert chat.restricted


def test_a_chat_that_plans_keeps_its_own_record_in_a_branch_of_another(machine: Machine) -> None:
    planning(machine.server().tab("K", "T"))
    chat = planning(machine.server().chat(TWO, "A"))
    path = chat.write_plan()
    machine.kin["B"] = ("branch", "K", False, LATER)
    chat.resume("B")
    chat.turn()
    assert chat.type("/planmode approve").startswith(f"Approved: {path}\n")
    assert len(machine.files("*.json")) == 2


def test_a_chat_in_its_own_branch_looks_nowhere_else(machine: Machine) -> None:
    chat = planning(machine.server().chat(TWO, "A"))
    machine.kin["B"] = ("branch", "A", False, LATER)
    chat.resume("B")
    chat.turn()
    assert chat.restricted
    assert len(machine.files("*.json")) == 1


@pytest.mark.parametrize("kin", ["K", ""])
def test_a_chat_in_code_mode_in_a_conversation_of_unreadable_origin(machine: Machine, kin: str) -> None:
    tab = planning(machine.server().tab("K", "T"))
    chat = machine.server().chat(TWO, "A")
    chat.type("/mode code")
    chat.turn()
    machine.kin["B"] = ("unreadable", kin, False, 0.0)
    chat.resume("B")
    chat.turn()
    assert chat.restricted is bool(kin)
    machine.kin["B"] = ("reset", "K", False, 0.0)
    chat.turn()
    assert not chat.restricted
    assert tab.restricted


def test_the_plans_of_both_are_there_after_a_meeting(server: Server) -> None:
    first = planning(server.chat(ONE, "A"))
    path = first.write_plan()
    second = planning(server.chat(TWO, "B"))
    second.write_plan("2026-01-02_120000-second.md")
    second.resume("A")
    second.turn()
    assert first.type(f"/planmode approve {path}").startswith(f"Approved: {path}\n")
    assert not second.restricted


def test_nobody_becomes_the_owner_of_anothers_session_by_going_there(machine: Machine) -> None:
    machine.set(owner_only=True)
    server = machine.server()
    alice, bob = planning(server.chat(ONE, "A", "alice")), planning(server.chat(TWO, "B", "bob"))
    bob.resume("A")
    bob.turn()
    assert bob.type("/planmode off").startswith("Only the user who turned this mode on can leave it")
    assert alice.restricted


# -- from one conversation to another, and back

def test_a_tab_back_and_forth(machine: Machine, server: Server) -> None:
    tab = planning(server.tab("A", "T"))
    for _ in range(3):
        go(tab, "B")
        assert tab.turn() == ""
        assert not tab.restricted
        go(tab, "A")
        assert "PLAN MODE IS ON" in tab.turn()
        assert tab.restricted
    go(tab, "B")
    planning(tab)
    go(tab, "A")
    assert tab.type("/planmode off") == LEFT
    assert "No mode is active any more" in tab.turn()
    go(tab, "B")
    assert "PLAN MODE IS ON" in tab.turn()
    assert tab.type("/planmode off") == LEFT
    assert "No mode is active any more" in tab.turn()
    assert not machine.files()


def test_commands_of_a_tab_before_the_turns_that_they_are_for(server: Server) -> None:
    tab = planning(server.tab("A", "T"))
    go(tab, "B")
    tab.type("/planmode on the task of B")
    go(tab, "A")
    tab.type("/planmode off")
    go(tab, "B")
    assert "the task of B" in tab.turn()
    go(tab, "A")
    assert "No mode is active any more" in tab.turn()
    assert not tab.restricted
    go(tab, "B")
    tab.turn()
    assert tab.restricted


@pytest.mark.parametrize("turns", [{1, 2, 3, 4, 5}, {2, 4}, {5}])
@pytest.mark.parametrize("seat", SEATS)
def test_a_chain_of_rotations_and_a_branch_of_a_branch_of_its_end(machine: Machine, seat: str, turns: set[int]) -> None:
    here = planning(SEATS[seat](machine, "K0"))
    for number in range(1, 6):
        machine.kin[f"K{number}"] = ("compression", f"K{number - 1}", False, LATER)
        go(here, f"K{number}")
        if number in turns:
            assert "PLAN MODE IS ON" in here.turn()
            assert here.restricted
    machine.kin |= {"B": ("branch", "K5", False, LATER), "C": ("branch", "B", False, LATER)}
    branch = machine.server().tab("C", "V")
    assert "PLAN MODE IS ON" in branch.turn()
    assert branch.type("/planmode off") == LEFT
    branch.turn()
    assert not branch.restricted
    here.turn()
    assert here.restricted


def test_a_chat_that_begins_anew_before_its_first_turn_plans_on(server: Server) -> None:
    """The host names the conversation that was left, and nothing tells yet that this chat was in it."""
    chat = server.chat(ONE, "A")
    chat.type("/planmode on")
    chat.new("B")
    assert "PLAN MODE IS ON" in chat.turn()
    assert chat.type("/planmode off") == LEFT


# -- a CLI and tabs in one conversation

@pytest.mark.parametrize("default", ["", "plan"])
@pytest.mark.parametrize("seed", range(40))
def test_a_cli_and_tabs_in_one_conversation_are_one_session(machine: Machine, seed: int, default: str) -> None:
    """In any order of commands, turns, starts and ends."""
    if default:
        machine.set(default_mode=default)
    machine.used.add("K")
    chance, numbers = random.Random(seed), iter(range(100))
    server = machine.server()
    tabs, clis = [server.tab("K", "first")], []
    on, done = bool(default), []
    for _ in range(14):
        what = chance.choice(["turn", "/planmode on", "/planmode off", "tab", "server", "cli", "exit", "kill"])
        who = chance.choice([*tabs, *clis])
        done.append(f"{type(who).__name__} {what}")
        if what.startswith("/"):
            who.type(what)
            on = what.endswith("on")
        elif what == "turn":
            who.turn()
        elif what == "tab":
            tabs.append(server.tab("K", f"T{next(numbers)}"))
        elif what == "server":
            server.kill()
            server = machine.server()
            tabs = [server.tab("K", f"T{next(numbers)}")]
        elif what == "cli" and not clis:
            clis.append(machine.cli("K"))
        elif clis and what in ("exit", "kill"):
            getattr(clis.pop(), what)()
        for each in clis:
            each.turn(keep=False)
        assert [each.restricted for each in [*tabs, *clis]] == [on] * (len(tabs) + len(clis)), done
    for each in [*tabs, *clis]:
        each.type("/planmode off")
        each.turn()
    assert len(machine.files("*.json")) == bool(default), done


@pytest.mark.parametrize("leaver", ["cli", "chat"])
def test_who_begins_anew_frees_nobody_else_in_the_conversation(machine: Machine, server: Server, leaver: str) -> None:
    tab = planning(server.tab("X", "T"))
    other = SEATS[leaver](machine, "X")
    other.turn()
    assert other.restricted
    other.new("B")
    assert tab.restricted


# -- where a conversation comes from can't be read

@pytest.mark.parametrize("seat", ["cli", "tab"])
def test_a_turn_that_fails_frees_no_heir(machine: Machine, seat: str, monkeypatch: pytest.MonkeyPatch) -> None:
    planning(machine.server().tab("K", "T"))
    machine.kin["B"] = ("branch", "K", False, LATER)
    heir = SEATS[seat](machine, "B")
    with monkeypatch.context() as patch:
        patch.setattr(TurnContext, "_arrive", lambda *args: 1 / 0)
        assert heir.turn() == ""
        assert heir.restricted
    assert "PLAN MODE IS ON" in heir.turn()
    assert heir.restricted


@pytest.mark.parametrize("seat", ["cli", "tab"])
def test_the_lineage_is_asked_again_until_it_can_be_read(machine: Machine, seat: str) -> None:
    planning(machine.server().tab("K", "T"))
    heir = SEATS[seat](machine, "B")
    machine.kin["B"] = ("unreadable", "", False, 0.0)
    assert heir.turn() == ""
    machine.kin["B"] = ("branch", "K", False, LATER)
    assert "PLAN MODE IS ON" in heir.turn()
    assert heir.restricted


@pytest.mark.parametrize("command", ["/planmode off", "/mode off"])
def test_leaving_where_the_origin_cant_be_read_leaves_the_origin_alone(server: Server, command: str) -> None:
    tab = planning(server.tab("K", "T"))
    server.machine.kin["X"] = ("unreadable", "K", False, 0.0)
    heir = server.tab("X", "U")
    heir.turn()
    assert heir.type(command) == LEFT
    assert not heir.restricted
    assert "No mode is active any more; the plan was not approved." in heir.turn()
    assert heir.turn() == ""
    assert tab.restricted
    server.machine.kin["X"] = ("branch", "K", False, LATER)
    assert heir.turn() == ""
    assert not heir.restricted


def test_leaving_in_a_cli_that_came_to_a_conversation_of_unreadable_origin(machine: Machine) -> None:
    cli = planning(machine.cli("A"))
    machine.kin["B"] = ("unreadable", "", False, 0.0)
    machine.used.add("B")
    cli.resume("B")
    cli.turn()
    assert cli.restricted
    assert cli.type("/planmode off") == LEFT
    assert not cli.restricted
    cli.resume("A")
    assert "PLAN MODE IS ON" in cli.turn()
    assert cli.restricted


def test_leaving_in_a_tab_that_came_to_a_conversation_of_unreadable_origin(server: Server,
                                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    tab = planning(server.tab("K", "T"))
    monkeypatch.setattr(session, "tab_of", lambda key: "T" if key == tab.conversation else "")
    server.machine.kin["L"] = ("unreadable", "", False, 0.0)
    go(tab, "L")
    tab.turn()
    assert tab.restricted
    assert tab.type("/planmode on x") == (
        "Where this conversation came from can't be read from the host's session store, so nothing was changed. "
        "Its ancestor's mode holds until then; /planmode off leaves it.")
    assert tab.type("/planmode off") == LEFT
    assert not tab.restricted
    tab.turn()
    assert not tab.restricted
    go(tab, "K")
    assert "PLAN MODE IS ON" in tab.turn()


@pytest.mark.parametrize(("tabs", "tab"), [
    ({"T": {"session_key": "K"}, "U": {"session_key": "L"}}, "T"),
    ({"T": {"session_key": "K"}, "U": {"session_key": "K"}}, ""),  # nothing tells in which of them it was typed
    ({"T": {"session_key": "L"}}, ""),
    ({}, ""),
    ({"T": {}}, ""),
    ({7: {"session_key": "K"}}, ""),
    (None, ""),
])
def test_the_tab_that_a_command_was_typed_in(monkeypatch: pytest.MonkeyPatch, tabs: object, tab: str) -> None:
    monkeypatch.setattr(session, "seam", {"tabs": tabs}.get)
    assert session.tab_of("K") == tab


def test_what_an_origin_left_is_told_to_nobody_else(server: Server) -> None:
    tab = planning(server.tab("K", "T"))
    tab.type("/planmode off")
    server.machine.kin["X"] = ("unreadable", "K", False, 0.0)
    heir = server.tab("X", "U")
    assert heir.turn() == ""
    planning(heir)
    assert not tab.restricted
    assert "No mode is active any more" in tab.turn()


def test_it_holds_however_many_sub_agents_there_are(server: Server) -> None:
    tab = planning(server.tab("K", "T"))
    server.machine.kin["X"] = ("unreadable", "K", False, 0.0)
    heir = server.tab("X", "U")
    for begin in (0, memory._MOST_REMEMBERED // 2):
        heir.turn()
        for number in range(begin, begin + memory._MOST_REMEMBERED - 10):
            tab.fire("subagent_start", parent_session_id="K", child_session_id=f"child {number}")
        assert heir.restricted
    assert len(tab.desk.memory.akin) <= memory._MOST_REMEMBERED


# -- the state can't be locked or written

@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("own", ["", "/mode code"])
@pytest.mark.parametrize("kind", ["branch", "compression"])
@pytest.mark.parametrize("seat", SEATS)
def test_an_heir_of_a_plan_while_the_lock_is_held(machine: Machine, seat: str, kind: str, own: str) -> None:
    planning(machine.server().tab("K", "T"))
    here = SEATS[seat](machine, "A")
    here.turn()
    if own:
        here.type(own)
        here.turn()
    machine.kin["B"] = (kind, "K", False, LATER)
    go(here, "B")
    with locked(str(machine.state / "sessions.lock")):
        assert here.turn().startswith("[plan-mode] Plan mode is on")
        assert here.restricted
        assert here.asked("terminal", conversation="child") or seat != "cli"
    assert "PLAN MODE IS ON" in here.turn()
    assert here.type("/planmode off") == LEFT
    here.turn()
    assert not here.restricted


@pytest.mark.parametrize("kind", ["branch", "compression"])
@pytest.mark.parametrize("seat", ["cli", "tab"])
def test_an_heir_of_a_plan_leaves_on_a_full_disk(machine: Machine, seat: str, kind: str) -> None:
    origin = planning(machine.server().tab("K", "T"))
    machine.kin["B"] = (kind, "K", False, LATER)
    heir = SEATS[seat](machine, "B")
    with Faults("full", 1):
        assert heir.turn().startswith("[plan-mode] Plan mode is on")
        assert heir.restricted
        heir.type("/planmode off")
        assert not heir.restricted
        assert heir.turn() == ""
    assert not heir.restricted
    heir.turn()
    assert not heir.restricted
    assert origin.restricted


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("seat", SEATS)
def test_the_default_mode_can_be_left_where_nothing_can_be_stored(machine: Machine, seat: str, begun: bool) -> None:
    machine.set(default_mode="plan")
    here = SEATS[seat](machine, "A")
    if begun:
        here.turn()
    else:
        machine.state.mkdir(parents=True)
    with Faults("full", 1):
        here.turn()
        assert here.restricted
        reply = here.type("/planmode off")
        assert "This holds for this Hermes process only, because the state folder can't be written." in reply
        for _ in range(2):
            assert not here.restricted
            here.turn()
    for _ in range(3):
        here.turn()
        assert not here.restricted
    assert here.type("/planmode off").startswith("No mode is active in this session")
    assert [path.suffix for path in machine.files("*.json")] == [".json"], "what was left is stored now"
    if not isinstance(here, Tab):
        here.new("B")
        assert here.restricted, "a new session begins in it"


@pytest.mark.parametrize("seat", SEATS)
def test_the_default_mode_can_be_left_where_there_is_no_folder(machine: Machine, seat: str) -> None:
    machine.set(default_mode="plan")
    unwritable(machine)
    here, other = SEATS[seat](machine, "A"), machine.server().tab("O", "V")
    here.turn()
    assert here.restricted
    assert here.type("/planmode off") == LEFT_FOR_NOW
    assert not here.restricted
    here.turn()
    assert not here.restricted
    assert other.restricted


def test_an_approval_that_couldnt_be_stored_is_told_in_its_own_session_only(machine: Machine, server: Server) -> None:
    machine.config = {"terminal": {"backend": "docker"}}
    first, second = server.chat(ONE, "A"), server.chat(TWO, "B")
    first.type("/planmode on")
    with Faults("full", 1):
        assert first.type("/planmode approve").startswith("Approved: (given in the conversation)\n")
        assert second.turn() == ""
        assert "The user approved the plan at (given in the conversation). Implement it now." in first.turn()
        assert first.turn() == ""


# -- the operator

def test_the_operator_takes_a_session_out_of_its_default_mode_before_its_first_turn(machine: Machine, server: Server) -> None:
    machine.set(default_mode={"telegram": "plan"})
    chat = server.chat(ONE, "A")
    chat.type("/planmode on")
    [path] = machine.files("*.json")
    with machine.cli().acting():
        main(["off", path.stem])
    for _ in range(2):
        chat.turn()
        assert not chat.restricted


def test_what_the_operator_took_out_goes_at_its_next_turn(machine: Machine, server: Server) -> None:
    chat = server.chat(ONE, "A")
    chat.type("/planmode on")
    [path] = machine.files("*.json")
    with machine.cli().acting():
        main(["off", path.stem])
    assert chat.turn() == ""
    assert not machine.files()


def test_sessions_before_their_first_turn_outlast_the_search_for_room(machine: Machine, server: Server,
                                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    """The host doesn't list them yet."""
    chat, tab = server.chat(ONE, "A"), server.tab("K", "T")
    for seat in (chat, tab):
        seat.type("/planmode on")
    monkeypatch.setattr(entry, "MOST_RECORDS", 2)
    monkeypatch.setattr(lineage, "all_conversations", lambda: ["another"])
    assert machine.cli("Q").type("/planmode on") == (
        "Nothing was turned on: 2 sessions are in modes already. Leave some with /planmode off.")
    assert chat.restricted
    assert tab.restricted


def test_a_person_turns_it_on_however_many_runs_began_by_default(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.set(default_mode={"one-shot": "plan"})
    for number in range(5):
        run = machine.cli(f"run {number}")
        run.cli._single_query_mode = True
        run.turn()
        run.exit()
    monkeypatch.setattr(entry, "MOST_RECORDS", 5)
    monkeypatch.setattr(lineage, "all_conversations", lambda: [f"run {number}" for number in range(5)])
    assert machine.cli("Q").type("/planmode on").startswith("Plan mode is on.")


@pytest.mark.xfail(strict=True, reason="what default_mode restricts without a record isn't counted")
def test_a_call_that_names_no_session_beside_a_delivery_in_its_default_mode(machine: Machine, server: Server) -> None:
    machine.set(default_mode={"webhook": "plan"})
    delivery, nobody = server.job("S", session_key="S", platform="webhook"), server.job("")
    nobody.bound = {}
    delivery.turn()
    assert delivery.restricted
    assert "[no-session]" in nobody.asked("terminal")


# -- damage

def newer(text: str) -> str:
    body = text.partition("\n")[0].replace('"version":1}', '"version":2}')
    return f"{body}\n{checksum(body)}\n"


SPOILT: dict[str, tuple[Callable[[str], str], str]] = {
    "damaged": (lambda text: text[: len(text) // 2], "is damaged"),
    "empty": (lambda text: "", "is damaged"),
    "newer": (newer, "was written by a newer plan-mode"),
}


@pytest.mark.parametrize("seat", ["tab", "chat"])
@pytest.mark.parametrize(("spoil", "reason"), SPOILT.values(), ids=SPOILT)
def test_damage_is_its_own_sessions_concern(machine: Machine, server: Server, seat: str, spoil: Callable[[str], str],
                                            reason: str) -> None:
    here, other = planning(SEATS[seat](machine, "A")), server.chat("agent:main:telegram:dm:3", "O")
    [path] = machine.files("*.json")
    beside = planning(server.chat(ONE, "B"))
    spoilt = spoil(path.read_text())
    path.write_text(spoilt)
    assert here.asked("terminal") == (
        f"read-only mode [state-damaged]: terminal isn't reading, and only reading is possible because this session's state file "
        f"{path} {reason}. The person can end this with /planmode off or /planmode on.")
    assert here.asked("read_file", {"path": "/etc/hostname"}) == ""
    assert here.turn() == (f"[plan-mode] Only reading is possible, because this session's state file {path} {reason}. "
                           "The user can type /planmode status.")
    for line in ("/planmode on", "/planmode approve", "/mode code", "/planmode status"):
        here.type(line)
        assert path.read_text() == spoilt, "it is never overwritten"
    assert beside.turn().startswith("[plan-mode] Plan mode is on")
    assert other.turn() == ""
    assert not other.restricted
    assert other.type("/planmode on").startswith("Plan mode is on.")
    assert here.type("/planmode off") == (
        f"No mode is active any more: {path} was removed, because it could not be read.\nNext: /planmode on [task]")
    assert here.turn() == ""
    assert not here.restricted
    assert beside.restricted


@contextmanager
def without_the_right_to_write(folder: Path) -> Iterator[None]:
    folder.chmod(0o500)
    try:
        yield
    finally:
        folder.chmod(0o700)


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("times", [1, 2])
def test_damage_holds_over_a_compression_and_can_be_left(machine: Machine, seat: str, times: int) -> None:
    """In another process, where nothing but the lineage leads to what can't be read."""
    planning(SEATS[seat](machine, "A")).kill()
    for file in machine.files("*.json"):
        file.write_text("")
    other = planning(machine.cli("Z"))
    for number in range(times):
        machine.kin[f"A{number + 1}"] = ("compression", f"A{number or ''}", False, LATER)
    again = SEATS[seat](machine, f"A{times}")
    again.turn()
    assert again.restricted
    assert again.type("/planmode off").startswith("No mode is active any more: ")
    assert not again.restricted
    again.turn()
    assert not again.restricted
    assert other.restricted


@contextmanager
def failing(folder: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, Faults("full", 1):
        patch.setattr(store, "remove", lambda path: False)
        yield


UNWRITABLE = [
    pytest.param(without_the_right_to_write, marks=pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")),
    failing,
]


@pytest.mark.parametrize("unwritable", UNWRITABLE)
@pytest.mark.parametrize("seat", SEATS)
def test_what_can_neither_be_written_nor_removed_is_left_for_this_process(
        machine: Machine, server: Server, seat: str, unwritable: Callable[[Path], AbstractContextManager[None]]) -> None:
    here, beside = planning(SEATS[seat](machine, "A")), planning(server.chat(ONE, "B"))
    with unwritable(machine.files("*.json")[0].parent):
        assert here.type("/planmode off") == LEFT.replace(
            "\n", "\nThis holds for this Hermes process only, because the state folder can't be written.\n")
        assert not here.restricted
        assert "No mode is active any more; the plan was not approved." in here.turn()
        assert here.turn() == ""
        assert beside.restricted
        assert beside.turn().startswith("[plan-mode] Plan mode is on")
        if seat != "cli":
            assert SEATS[seat](machine, "A").restricted, "another process finds it as it was"
    assert here.turn() == ""
    assert len(machine.files("*.json")) == 1, "removed as soon as it can be"
