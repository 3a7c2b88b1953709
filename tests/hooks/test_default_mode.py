"""The mode that a new session starts in: on every surface, until a person leaves it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from plan_mode.settings import DefaultMode, Settings, parse
from tests.fake_host import Cli, Machine, Seat

SEATS: dict[str, Callable[[Machine], Cli]] = {
    "cli": lambda machine: machine.cli(),
    "tui": lambda machine: machine.server().tab("K", "T"),
    "desktop": lambda machine: machine.server().tab("K", "T", "desktop"),
    "telegram": lambda machine: machine.server().chat("agent:main:telegram:dm:1", "C"),
    "api_server": lambda machine: machine.server().job("S", session_key="S", platform="api_server"),
    "acp": lambda machine: machine.server().job("S", session_key="S"),
    "webhook": lambda machine: machine.server().job("S", session_key="S", platform="webhook"),
    "one-shot": lambda machine: one_shot(machine),
}


def one_shot(machine: Machine) -> Cli:
    cli = machine.cli()
    cli.cli._single_query_mode = True
    return cli


def cron(machine: Machine) -> Seat:
    return machine.server().job("cron_1", cron="1")


@pytest.mark.parametrize("seat", SEATS.values(), ids=SEATS)
def test_a_new_session_starts_in_it(machine: Machine, seat: Callable[[Machine], Cli]) -> None:
    machine.set(default_mode="plan")
    here = seat(machine)
    assert here.restricted
    text = here.turn()
    assert "lan mode is on" in text or "PLAN MODE IS ON" in text
    assert "[not-granted]: terminal" in here.asked("terminal")
    assert here.asked("read_file", {"path": "/etc/hostname"}) == ""


@pytest.mark.parametrize("seat", [seat for name, seat in SEATS.items() if name != "webhook"])
def test_plans_can_be_written(machine: Machine, seat: Callable[[Machine], Cli]) -> None:
    machine.set(default_mode="plan")
    here = seat(machine)
    here.turn()
    result = here.call("write_file", {"path": str(machine.plans / "p.md"), "content": "# P\n"})
    assert result.get("success"), result


def test_a_delivery_nobody_comes_back_to_leaves_no_record(machine: Machine) -> None:
    machine.set(default_mode="plan")
    hook = SEATS["webhook"](machine)
    assert hook.turn() == ("[plan-mode] Plan mode is on, by the operator's setting: read, think, give the plan in the "
                           "conversation; nothing else runs.")
    assert "[" in hook.asked("write_file", {"path": str(machine.plans / "p.md"), "content": "# P\n"})
    assert not machine.files()


@pytest.mark.parametrize(("setting", "restricted"), [
    ("plan", {"cli", "telegram", "one-shot"}),
    ({"telegram": "plan"}, {"telegram"}),
    ({"default": "plan", "cli": ""}, {"telegram", "one-shot"}),
    ({"cron": "plan"}, {"cron"}),
    ({"default": "plan", "cron": "plan"}, {"cli", "telegram", "one-shot", "cron"}),
    ("code", set()),
    ("", set()),
    ("nope", {"cli", "telegram", "one-shot"}),
    ({"cli": "nope"}, {"cli"}),
])
def test_one_value_or_one_for_each_surface(machine: Machine, setting: Any, restricted: set[str]) -> None:
    machine.set(default_mode=setting)
    seats = {"cli": SEATS["cli"], "telegram": SEATS["telegram"], "one-shot": SEATS["one-shot"], "cron": cron}
    found = set()
    for name, seat in seats.items():
        here = seat(machine)
        here.turn()
        if here.restricted:
            found.add(name)
    assert found == restricted


def test_an_unknown_mode_is_read_only(machine: Machine) -> None:
    machine.set(default_mode="nope")
    cli = machine.cli()
    assert cli.asked("terminal") == (
        "read-only mode [mode-missing]: terminal isn't reading, and only reading is possible because the setting default_mode "
        "names 'nope', which is no mode. The person can end this with /planmode off or /planmode on.")
    assert cli.asked("read_file", {"path": "/etc/hostname"}) == ""
    assert cli.turn() == ("[plan-mode] Only reading is possible, because the setting default_mode names 'nope', which is no "
                          "mode. The user can type /planmode status.")
    assert cli.type("/planmode").startswith("Only reading is possible [mode-missing]")
    assert cli.type("/planmode off").startswith("Nope mode is off.")
    assert not cli.restricted


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("seat", ["cli", "tui", "telegram"])
def test_who_leaves_stays_out(machine: Machine, seat: str, turned: bool) -> None:
    machine.set(default_mode="plan")
    here = SEATS[seat](machine)
    if turned:
        here.turn()
    assert here.type("/planmode off").startswith("Plan mode is off; nothing was approved.")
    assert not here.restricted
    for _ in range(3):
        here.turn()
        assert not here.restricted
    assert here.type("/planmode off").startswith("No mode is active in this session")


def test_an_approval_stays_out(machine: Machine) -> None:
    machine.set(default_mode="plan")
    cli = machine.cli()
    cli.turn()
    cli.write_plan()
    assert cli.type("/planmode approve").startswith("Approved: ")
    assert "Implement it now." in cli.turn()
    cli.turn()
    assert not cli.restricted


def test_new_starts_in_it_again(machine: Machine) -> None:
    machine.set(default_mode="plan")
    cli = machine.cli()
    cli.turn()
    cli.type("/planmode off")
    cli.turn()
    cli.new("B")
    assert cli.restricted
    assert "PLAN MODE IS ON" in cli.turn()


def test_what_was_left_is_left_when_it_is_resumed(machine: Machine) -> None:
    machine.set(default_mode="plan")
    cli = machine.cli()
    cli.turn()
    cli.type("/planmode off")
    cli.turn()
    cli.exit()
    again = machine.cli("A")
    again.turn()
    assert not again.restricted


def test_sub_agents_follow_their_parent(machine: Machine) -> None:
    machine.set(default_mode="plan")
    cli = machine.cli()
    cli.turn()
    assert cli.asked("terminal", conversation="child")
    cli.type("/planmode off")
    assert not cli.asked("terminal", conversation="child")


def test_where_plans_cant_be_kept_it_holds_all_the_same(machine: Machine) -> None:
    machine.set(default_mode="plan")
    (machine.work / ".hermes").symlink_to(machine.home)
    cli = machine.cli()
    assert cli.turn().startswith("[plan-mode] Plan mode is on, by the operator's setting")
    assert cli.restricted
    assert cli.asked("write_file", {"path": str(machine.home / "plans" / "p.md"), "content": "x"})


def test_where_the_state_cant_be_written_it_holds_all_the_same(machine: Machine) -> None:
    machine.set(default_mode="plan")
    machine.state.parent.mkdir(parents=True, exist_ok=True)
    machine.state.write_text("no folder")
    cli = machine.cli()
    assert cli.turn().startswith("[plan-mode] Plan mode is on")
    assert cli.restricted


def test_the_setting_is_read_again_at_each_turn(machine: Machine) -> None:
    cli = machine.cli()
    cli.turn()
    assert not cli.restricted
    machine.set(default_mode="plan")
    (machine.home / "config.yaml").write_text("changed: 1\n")
    assert not cli.restricted
    cli.turn()
    assert cli.restricted


# -- the setting itself

@pytest.mark.parametrize(("value", "found"), [
    ("plan", DefaultMode("plan")),
    ({"cli": "plan", "default": "ask"}, DefaultMode("ask", {"cli": "plan"})),
    ({}, DefaultMode()),
    ("", DefaultMode()),
])
def test_values(value: Any, found: DefaultMode) -> None:
    assert parse(lambda key, default: value if key == "default_mode" else default) == Settings(default_mode=found)


@pytest.mark.parametrize("value", [7, True, ["plan"], {"cli": 7}, {7: "plan"}])
def test_values_of_another_kind(value: Any) -> None:
    found = parse(lambda key, default: value if key == "default_mode" else default)
    assert found.default_mode == DefaultMode()
    assert len(found.faults) == 1
    assert found.faults[0].startswith("default_mode must be the slug of a mode, or such a slug for each surface by name; it is ")
