"""When a conversation begins anew or a process ends."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from plan_mode.errors import StateError
from plan_mode.state.lock import locked
from plan_mode.state.store import Store
from tests.fake_host import Cli, Machine

RUBBISH: list[Any] = [None, 7, b"bytes", "x\x00\ud800", [], {}, object()]


@pytest.fixture
def planning(cli: Cli) -> Cli:
    cli.type("/planmode on")
    cli.turn()
    return cli


def test_new_clears(planning: Cli, machine: Machine) -> None:
    planning.write_plan()
    planning.new("B")
    assert machine.files() == []
    assert not planning.restricted
    assert planning.turn() == ""
    planning.resume("A")
    assert not planning.restricted


def test_new_before_the_first_turn(cli: Cli, machine: Machine) -> None:
    """No agent yet: the CLI calls no hook, and the first turn tells."""
    cli.type("/planmode on")
    cli.new("B", agent=False)
    assert cli.restricted
    assert cli.turn() == ""
    assert not cli.restricted
    assert machine.files() == []


def test_new_leaves_others_alone(planning: Cli, machine: Machine) -> None:
    other = machine.cli("B")
    other.type("/planmode on")
    other.turn()
    planning.new("C")
    assert other.restricted
    other.new("D")
    assert machine.files() == []


def test_new_in_a_conversation_that_was_only_passed_through(planning: Cli, machine: Machine) -> None:
    """/resume to B, and /new at once: what A is in is none of B's business."""
    machine.used.add("B")
    planning.resume("B")
    planning.new("C")
    assert not planning.restricted
    assert planning.turn() == ""
    assert machine.cli("A").restricted


def test_new_where_it_isnt_known_how_the_conversation_came(planning: Cli, machine: Machine) -> None:
    machine.kin["B"] = ("unreadable", "", False, 0.0)
    planning.resume("B")
    planning.new("C")
    assert not planning.restricted
    assert machine.cli("A").restricted


def test_new_in_a_branch_keeps_it_from_being_copied_again(planning: Cli, machine: Machine) -> None:
    machine.kin["B"] = ("branch", "A", False, 2e12)
    planning.resume("B")
    planning.turn()
    planning.new("C")
    assert planning.turn() == ""
    planning.resume("B")
    assert planning.turn() == ""
    assert not planning.restricted
    assert machine.cli("A").restricted


@pytest.mark.parametrize("reason", ["", "resume", "build", None, "NEW_SESSION"])
def test_any_other_reset_is_none(reason: Any, planning: Cli) -> None:
    """The TUI calls it whenever a session is built."""
    planning.fire("on_session_reset", session_id="A", platform="cli", reason=reason)
    assert planning.restricted


def test_a_boundary_alone_is_none(planning: Cli) -> None:
    planning.fire("on_session_finalize", session_id="A", platform="cli", reason="session_boundary")
    assert planning.restricted
    assert planning.asked("terminal", conversation="child")


def test_old_ids_are_of_one_boundary_only(planning: Cli, machine: Machine) -> None:
    machine.used.add("B")
    planning.fire("on_session_finalize", session_id="B", platform="cli", reason="session_boundary")
    planning.fire("on_session_reset", session_id="A", platform="cli", reason="other")
    planning.fire("on_session_reset", session_id="C", platform="cli", reason="new_session")
    assert machine.files() == []


def test_a_gateways_old_id_is_nobodys_here(planning: Cli) -> None:
    planning.fire("on_session_reset", session_id="x", old_session_id="A", reason="new_session")
    assert not planning.restricted


def test_exit_parks(planning: Cli, machine: Machine) -> None:
    planning.exit()
    assert len(machine.files("*.key")) == 1
    assert machine.cli("A").restricted
    assert not machine.cli("B").restricted


def test_exit_before_the_first_turn_leaves_nothing(cli: Cli, machine: Machine) -> None:
    cli.type("/planmode on")
    cli.exit()
    assert machine.files() == []


def test_exit_of_another_process_parks_nothing(planning: Cli, machine: Machine) -> None:
    machine.cli("B").exit()
    assert planning.restricted
    assert planning.asked("terminal", conversation="child")


def test_exit_after_leaving_keeps_the_notice(planning: Cli, machine: Machine) -> None:
    planning.type("/planmode off")
    planning.exit()
    assert "No mode is active any more" in machine.cli("A").turn()
    assert machine.files() == []


def test_damage_stays_until_a_person_removes_it(planning: Cli, machine: Machine) -> None:
    machine.files("*.json")[0].write_text("")
    planning.new("B")
    assert planning.asked("terminal")
    assert planning.type("/planmode off").startswith("No mode is active any more: ")


@pytest.mark.usefixtures("impatient")
def test_a_held_lock_is_waited_for_no_longer_than_the_bound(planning: Cli, machine: Machine) -> None:
    with locked(str(machine.state / "sessions.lock")):
        planning.new("B")
    assert planning.restricted, "the stricter answer holds until the first turn"
    assert planning.turn() == ""
    assert not planning.restricted
    assert machine.cli("A").restricted


def test_an_unreadable_state(planning: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Store) -> Any:
        raise StateError("p", "gone bad")
    with monkeypatch.context() as patch:
        patch.setattr(Store, "folders", fail)
        planning.new("B")
        planning.fire("on_session_finalize", reason="shutdown")
    assert planning.restricted


def test_a_failure_of_ours(planning: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Store) -> Any:
        raise ZeroDivisionError
    monkeypatch.setattr(Store, "folders", fail)
    planning.new("B")
    planning.exit()


@pytest.mark.parametrize("in_plan_mode", [False, True])
def test_called_with_nothing_or_rubbish(in_plan_mode: bool, cli: Cli) -> None:
    if in_plan_mode:
        cli.type("/planmode on")
        cli.turn()
    with cli.acting():
        for hook, value, name in itertools.product(("on_session_reset", "on_session_finalize"), RUBBISH,
                                                   ("reason", "session_id", "old_session_id", "platform")):
            callback = cli.context.hooks[hook][0]
            assert callback(**{"reason": "session_boundary", name: value}) is None
            assert callback(**{"reason": "new_session", name: value}) is None
        cli.context.hooks["on_session_reset"][0]()
        cli.context.hooks["on_session_finalize"][0]()


def test_never_used_costs_nothing(machine: Machine) -> None:
    cli = machine.cli()
    cli.turn()
    cli.new("B")
    cli.exit()
    assert not machine.state.exists()
