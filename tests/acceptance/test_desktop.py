"""Plan mode in the Desktop app's back end: windows, profiles, and turns in a process of their own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.acceptance.lab import PROBE, Gate, Host, Lab, Step, facts
from tests.acceptance.lab.desktop import Desktop
from tests.acceptance.lab.tab import Tab
from tests.acceptance.lab.waiting import wait_until
from tests.acceptance.plays import RAN, STOPPED, tries, write_plan
from tests.acceptance.test_cli_flow import APPROVED, FULL_NOTICE, PLAN, SHORT_LINE, first_message, rules
from tests.acceptance.test_tui import REFUSED

OTHER_PROFILE = "This session belongs to the profile 'work'"
CHANGING = ("/planmode on", "/planmode off", "/planmode approve", "/planmode reject shorter", "/mode code", "/mode off")


@pytest.fixture
def binding(host: Host) -> Host:
    """A host that binds the session around plugin commands."""
    if host.version == "0.19":
        pytest.skip("Hermes 0.19 binds no session around a Desktop command")
    return host


def open_tab(desktop: Desktop, profile: str | None = None) -> Tab:
    """A session in a window of its own."""
    return desktop.window().tab(source="desktop", profile=profile)


def records(hermes_home: Path) -> list[Path]:
    """What a profile's plugin has stored of sessions."""
    return sorted((hermes_home / "plugin-data").rglob("*.json"))


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.long
def test_one_window_plans_and_the_other_works(lab: Lab, binding: Host) -> None:
    home = lab.home(binding)
    desktop = lab.desktop(home)
    tab, other = open_tab(desktop), open_tab(desktop)
    assert tab.cmd("/planmode on add a greeting").startswith("Plan mode is on.")
    assert tries(lab, home, tab, "first") == STOPPED
    assert FULL_NOTICE in first_message(lab, "first")
    assert "add a greeting" in first_message(lab, "first")
    assert tries(lab, home, other, "free") == RAN
    assert "plan-mode" not in first_message(lab, "free")
    write_plan(lab, home, tab)
    assert SHORT_LINE in first_message(lab, "write")
    assert PLAN in tab.cmd("/planmode status")
    assert other.cmd("/planmode approve", how="dispatch").startswith("This session isn't in plan mode")
    assert tab.cmd("/planmode approve", how="dispatch").startswith("Approved: ")
    assert tries(lab, home, tab, "implement") == RAN
    assert APPROVED.format(home.plans / PLAN) in first_message(lab, "implement")


@pytest.mark.long
def test_both_ways_to_give_a_command(lab: Lab, binding: Host) -> None:
    home = lab.home(binding)
    desktop = lab.desktop(home)
    for how, back in (("exec", "dispatch"), ("dispatch", "exec")):
        tab = open_tab(desktop)
        assert tab.cmd("/planmode", how=how).startswith("No mode is active in this session.")
        assert tab.cmd("/planmode on", how=how).startswith("Plan mode is on.")
        write_plan(lab, home, tab, f"{how}.md")
        assert f"{how}.md" in tab.cmd("/planmode status", how=back)
        assert "# Plan" in tab.cmd("/planmode show", how=how)
        assert tab.cmd("/planmode reject shorter", how=back).startswith("Your feedback")
        assert tries(lab, home, tab, f"revise-{how}") == STOPPED
        assert "shorter" in first_message(lab, f"revise-{how}")
        assert "Code mode is on" in tab.cmd("/mode code", how=how)
        assert tries(lab, home, tab, f"code-{how}") == RAN
        assert tab.cmd("/planmode on", how=back).startswith("Plan mode is on.")
        assert tries(lab, home, tab, f"again-{how}") == STOPPED
        assert "now in code mode" in tab.cmd("/planmode approve --mode code", how=how)
        assert "off" in tab.cmd("/mode off", how=back)


@pytest.mark.long
def test_a_kill_drops_nothing(lab: Lab, binding: Host) -> None:
    home = lab.home(binding)
    desktop = lab.desktop(home)
    tab, other = open_tab(desktop), open_tab(desktop)
    tab.cmd("/planmode on")
    write_plan(lab, home, tab)
    assert tries(lab, home, other, "free") == RAN
    desktop.kill()

    window = lab.desktop(home).window()
    again, still = window.resume(tab.stored_id), window.resume(other.stored_id)
    assert PLAN in again.cmd("/planmode status")
    assert tries(lab, home, again, "after") == STOPPED
    assert "its mode was restored" in first_message(lab, "after")
    assert tries(lab, home, still, "still") == RAN
    assert again.cmd("/planmode approve").startswith("Approved: ")
    assert tries(lab, home, again, "implement") == RAN


@pytest.mark.long
def test_a_kill_before_the_first_turn(lab: Lab, binding: Host) -> None:
    """A session that nobody has talked in isn't stored by the host: there is nothing to come back to."""
    home = lab.home(binding)
    desktop = lab.desktop(home)
    tab = open_tab(desktop)
    tab.cmd("/planmode on")
    desktop.kill()
    assert tries(lab, home, open_tab(lab.desktop(home)), "new") == RAN


@pytest.mark.long
def test_the_plugin_of_another_profile_changes_nothing(lab: Lab, binding: Host) -> None:
    """slash.exec asks the plugin of the profile that the server was started for."""
    home = lab.home(binding)
    profile = home.add_profile("work")
    desktop = lab.desktop(home)
    tab = open_tab(desktop, "work")
    for line in CHANGING:
        answer = tab.cmd(line)
        assert OTHER_PROFILE in answer, answer
    assert OTHER_PROFILE in tab.cmd("/planmode status")
    assert OTHER_PROFILE in tab.cmd("/mode")
    assert (records(home.hermes_home), records(profile)) == ([], [])
    assert tries(lab, home, tab, "free") == RAN

    own = open_tab(desktop)
    assert own.cmd("/planmode on").startswith("Plan mode is on.")
    assert tries(lab, home, own, "own") == STOPPED
    assert tries(lab, home, tab, "still") == RAN
    assert records(profile) == []


@pytest.mark.long
def test_the_plugin_of_the_sessions_own_profile(lab: Lab, binding: Host) -> None:
    """command.dispatch asks the plugin of the profile that the session belongs to."""
    home = lab.home(binding)
    profile = home.add_profile("work")
    desktop = lab.desktop(home)
    tab, own = open_tab(desktop, "work"), open_tab(desktop)
    assert tab.cmd("/planmode on add a greeting", how="dispatch").startswith("Plan mode is on.")
    assert tries(lab, home, tab, "first") == STOPPED
    assert FULL_NOTICE in first_message(lab, "first")
    assert tries(lab, home, own, "free") == RAN
    write_plan(lab, home, tab)
    assert PLAN in tab.cmd("/planmode status", how="dispatch")
    assert len(records(profile)) == 1
    assert records(home.hermes_home) == []

    for line in CHANGING:
        answer = tab.cmd(line)
        assert OTHER_PROFILE in answer, answer
    assert tries(lab, home, tab, "second") == STOPPED
    assert tab.cmd("/planmode reject shorter", how="dispatch").startswith("Your feedback")
    assert tries(lab, home, tab, "revise") == STOPPED
    assert "shorter" in first_message(lab, "revise")
    desktop.kill()

    again = lab.desktop(home).window().resume(tab.stored_id, profile="work")
    assert tries(lab, home, again, "after") == STOPPED
    assert again.cmd("/planmode approve", how="dispatch").startswith("Approved: ")
    assert tries(lab, home, again, "implement") == RAN
    assert APPROVED.format(home.plans / PLAN) in first_message(lab, "implement")
    assert (records(home.hermes_home), records(profile)) == ([], [])


@pytest.mark.long
def test_turns_in_a_process_of_their_own(lab: Lab, binding: Host) -> None:
    """dashboard.turn_isolation: one process takes the commands, another one runs the tools."""
    home = lab.home(binding, plugins=("plan-mode", PROBE), extra={"dashboard": {"turn_isolation": True}})
    desktop = lab.desktop(home)
    tab = open_tab(desktop)  # the host keeps turns with it whose agent it had built before: at once, then
    assert tab.cmd("/planmode on").startswith("Plan mode is on.")
    assert tries(lab, home, tab, "first") == STOPPED
    assert FULL_NOTICE in first_message(lab, "first")
    assert tries(lab, home, open_tab(desktop), "free") == RAN
    write_plan(lab, home, tab)
    assert PLAN in tab.cmd("/planmode status")
    assert "# Plan" in tab.cmd("/planmode show", how="dispatch")
    assert tab.cmd("/planmode approve", how="dispatch").startswith("Approved: ")
    assert tries(lab, home, tab, "implement") == RAN
    assert APPROVED.format(home.plans / PLAN) in first_message(lab, "implement")

    assert tab.cmd("/planmode on", how="dispatch").startswith("Plan mode is on.")
    assert tries(lab, home, tab, "again") == STOPPED
    assert tab.cmd("/planmode off").startswith("Plan mode is off")
    assert tries(lab, home, tab, "left") == RAN
    tab.cmd("/probe")
    assert {fact["pid"] for fact in facts(home, "command")} == {desktop.process.pid}
    (turns,) = {fact["pid"] for fact in facts(home, "pre_tool_call") if fact["KEY"] == tab.stored_id}
    assert turns != desktop.process.pid
    desktop.close()
    wait_until(lambda: is_gone(turns), 30, "end of the process of the turns, which still writes into the home")


@pytest.mark.long
def test_a_command_in_a_running_turn(lab: Lab, binding: Host) -> None:
    home = lab.home(binding)
    tab = open_tab(lab.desktop(home))
    gate = Gate()
    lab.script("held", ("terminal", {"command": "touch before"}),
               Step(calls=[("terminal", {"command": "touch after"})], gate=gate))
    tab.submit("please #S:held")
    gate.wait_reached()
    assert tab.cmd("/planmode on").startswith("Plan mode is on.")
    gate.release()
    tab.wait_idle()
    assert rules(lab, "held") == [None, "not-granted"]
    assert (home.work / "before").exists()
    assert not (home.work / "after").exists()

    gate = Gate()
    lab.script("again", ("terminal", {"command": "touch held"}),
               Step(calls=[("terminal", {"command": "touch released"})], gate=gate))
    tab.submit("please #S:again")
    gate.wait_reached()
    assert tab.cmd("/planmode off", how="dispatch").startswith("Plan mode is off")
    gate.release()
    tab.wait_idle()
    assert rules(lab, "again") == ["not-granted", None]


@pytest.mark.long
def test_with_yolo(lab: Lab, binding: Host) -> None:
    home = lab.home(binding, extra={"approvals": {"mode": "off"}})
    tab = open_tab(lab.desktop(home, env=home.env(HERMES_YOLO_MODE="1")))
    tab.cmd("/planmode on")
    assert tries(lab, home, tab, "yolo") == STOPPED


@pytest.mark.long
def test_a_branch_is_decided_on_its_own(lab: Lab, binding: Host) -> None:
    home = lab.home(binding)
    desktop = lab.desktop(home)
    tab = open_tab(desktop)
    tab.cmd("/planmode on")
    assert tries(lab, home, tab, "first") == STOPPED
    branch = tab.branch()
    assert tries(lab, home, branch, "branch") == STOPPED
    write_plan(lab, home, branch)
    assert branch.cmd("/planmode approve").startswith("Approved: ")
    assert tries(lab, home, branch, "implement") == RAN
    assert tries(lab, home, tab, "still") == STOPPED
    assert tries(lab, home, open_tab(desktop), "new") == RAN


@pytest.mark.long
def test_a_default_for_this_surface(lab: Lab, host: Host) -> None:
    """Enforced on both hosts; on 0.19 nobody can leave it but the operator."""
    home = lab.home(host, settings={"default_mode": {"desktop": "plan"}})
    tab = open_tab(lab.desktop(home))
    assert tries(lab, home, tab, "first") == STOPPED
    assert FULL_NOTICE in first_message(lab, "first")
    write_plan(lab, home, tab)
    answer = tab.cmd("/planmode approve")
    if host.version == "0.19":
        assert REFUSED in answer
        assert tries(lab, home, tab, "second") == STOPPED
    else:
        assert answer.startswith("Approved: ")
        assert tries(lab, home, tab, "implement") == RAN


@pytest.mark.long
def test_where_nothing_is_bound_it_refuses(lab: Lab, host: Host) -> None:
    if host.version != "0.19":
        pytest.skip("this host binds the session")
    home = lab.home(host)
    tab = open_tab(lab.desktop(home))
    for line in CHANGING:
        answer = tab.cmd(line)
        assert REFUSED in answer, answer
        assert "Use a Hermes that binds the session around plugin commands" in answer
    assert REFUSED in tab.cmd("/planmode status")
    assert tries(lab, home, tab, "free") == RAN
    assert records(home.hermes_home) == []
