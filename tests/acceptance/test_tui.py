"""Plan mode in the terminal UI's back end: many tabs in one process."""

from __future__ import annotations

import pytest

from tests.acceptance.lab import Gate, Host, Lab, Step
from tests.acceptance.plays import RAN, STOPPED, tries, write_plan
from tests.acceptance.test_cli_flow import APPROVED, FULL_NOTICE, PLAN, SHORT_LINE, first_message, rules

REFUSED = "nothing tells whose command this is"


@pytest.fixture
def binding(host: Host) -> Host:
    """A host that binds the session around plugin commands."""
    if host.version == "0.19":
        pytest.skip("Hermes 0.19 binds no session around a TUI command")
    return host


def test_one_tab_plans_and_the_other_works(lab: Lab, binding: Host) -> None:
    home = lab.home(binding)
    tui = lab.tui(home)
    tab, other = tui.tab(), tui.tab()
    assert tab.cmd("/planmode on add a greeting").startswith("Plan mode is on.")
    assert other.cmd("/planmode").startswith("No mode is active in this session.")

    assert tries(lab, home, tab, "first") == STOPPED
    assert FULL_NOTICE in first_message(lab, "first")
    assert "add a greeting" in first_message(lab, "first")
    assert tries(lab, home, other, "free") == RAN
    assert "plan-mode" not in first_message(lab, "free")
    assert tries(lab, home, tab, "second") == STOPPED
    assert SHORT_LINE in first_message(lab, "second")

    write_plan(lab, home, tab)
    assert PLAN in tab.cmd("/planmode status", how="dispatch")
    assert "# Plan" in tab.cmd("/planmode show")
    assert tab.cmd("/planmode reject shorter").startswith("Your feedback")
    assert other.cmd("/planmode approve").startswith("This session isn't in plan mode")
    assert other.cmd("/planmode off").startswith("No mode is active")
    assert tab.cmd("/planmode approve").startswith("Approved: ")
    assert tries(lab, home, tab, "implement") == RAN
    assert APPROVED.format(home.plans / PLAN) in first_message(lab, "implement")
    assert sorted(path.name for path in home.work.glob("*.py")) == ["free.py", "implement.py"]


@pytest.mark.long
def test_the_agent_build_drops_nothing_and_a_kill_neither(lab: Lab, binding: Host) -> None:
    """The host calls on_session_reset when it builds a session and when it resumes one."""
    home = lab.home(binding)
    tui = lab.tui(home)
    tab = tui.tab()
    tab.cmd("/planmode on", how="dispatch")
    assert tries(lab, home, tab, "before") == STOPPED
    tui.kill()

    again = lab.tui(home).resume(tab.stored_id)
    assert again.cmd("/planmode status").startswith("Plan mode is on since ")
    assert tries(lab, home, again, "after") == STOPPED
    assert "its mode was restored" in first_message(lab, "after")
    assert again.cmd("/planmode off").startswith("Plan mode is off")
    assert tries(lab, home, again, "left") == RAN


@pytest.mark.long
def test_every_command_works_in_another_tab_of_the_session(lab: Lab, binding: Host) -> None:
    home = lab.home(binding)
    first, second = lab.tui(home), lab.tui(home)
    tab = first.tab()
    tab.cmd("/planmode on")
    lab.script("write", ("write_file", {"path": str(home.plans / PLAN), "content": "# Plan\n"}))
    tab.turn("write")
    other = second.resume(tab.stored_id)
    assert PLAN in other.cmd("/planmode status")
    assert other.cmd("/planmode approve").startswith("Approved: ")
    assert tries(lab, home, tab, "implement") == RAN


@pytest.mark.long
def test_a_branch_is_decided_on_its_own(lab: Lab, binding: Host) -> None:
    home = lab.home(binding)
    tui = lab.tui(home)
    tab = tui.tab()
    tab.cmd("/planmode on")
    assert tries(lab, home, tab, "first") == STOPPED
    branch = tab.branch()
    assert tries(lab, home, branch, "branch") == STOPPED
    lab.script("write", ("write_file", {"path": str(home.plans / PLAN), "content": "# Plan\n"}))
    branch.turn("write")
    assert branch.cmd("/planmode approve").startswith("Approved: ")
    assert tries(lab, home, branch, "implement") == RAN
    assert tries(lab, home, tab, "still") == STOPPED
    assert tries(lab, home, tui.tab(), "new") == RAN


@pytest.mark.long
@pytest.mark.parametrize("turned", [False, True])
def test_a_compression_that_changes_the_session(lab: Lab, binding: Host, turned: bool) -> None:
    """compression.in_place: false, also right after /planmode on."""
    home = lab.home(binding, extra={"compression": {"enabled": True, "in_place": False}})
    tui = lab.tui(home)
    tab = tui.tab()
    lab.expects_aux = True  # the host asks for a summary
    for number in range(6):
        lab.script(f"talk-{number}")
        tab.turn(f"talk-{number}", "word " * 3000)
    tab.cmd("/planmode on")
    if turned:
        assert tries(lab, home, tab, "before") == STOPPED
    tab.cmd("/compress", seconds=120)
    assert tui.live()[tab.runtime_id]["session_key"] != tab.stored_id
    assert tab.cmd("/planmode").startswith("Plan mode is on since ")
    assert tries(lab, home, tab, "after") == STOPPED
    assert FULL_NOTICE in first_message(lab, "after")
    assert tab.cmd("/planmode off").startswith("Plan mode is off")


@pytest.mark.long
def test_children_and_side_agents(lab: Lab, binding: Host) -> None:
    home = lab.home(binding)
    tui = lab.tui(home)
    tab = tui.tab()
    gate = Gate()
    lab.script("child", Step(calls=[("terminal", {"command": "touch child"})], gate=gate))
    lab.script("parent", ("delegate_task", {"goal": "do it #K:child"}))
    tab.turn("parent")  # begun before plan mode is on
    gate.wait_reached()
    tab.cmd("/planmode on")
    gate.release()
    tui.rpc.wait_until(lambda: lab.results("child"), 60, "call of the child")
    assert rules(lab, "child") == ["not-granted"]
    lab.script("side", ("terminal", {"command": "touch side"}))
    tab.call("prompt.background", text="please #S:side")
    tui.rpc.wait_until(lambda: lab.results("side"), 60, "call of the side agent")
    assert rules(lab, "side") == ["not-granted"]


@pytest.mark.long
def test_the_hosts_own_plan(lab: Lab, binding: Host) -> None:
    home = lab.home(binding)
    tab = lab.tui(home).tab()
    prompt = tab.call("command.dispatch", name="plan", arg="greet #S:plan")["message"]
    lab.script("plan", ("terminal", {"command": "touch made"}))
    tab.submit(prompt)
    tab._rpc.wait_until(lambda: lab.results("plan"), 60, "call")
    tab.wait_idle()
    assert rules(lab, "plan") == ["not-granted"]
    assert FULL_NOTICE in first_message(lab, "plan")


@pytest.mark.long
def test_with_yolo(lab: Lab, binding: Host) -> None:
    home = lab.home(binding, extra={"approvals": {"mode": "off"}})
    tab = lab.tui(home, env=home.env(HERMES_YOLO_MODE="1")).tab()
    tab.cmd("/planmode on")
    assert tries(lab, home, tab, "yolo") == STOPPED


@pytest.mark.long
def test_where_nothing_is_bound_it_refuses(lab: Lab, host: Host) -> None:
    if host.version != "0.19":
        pytest.skip("this host binds the session")
    home = lab.home(host)
    tab = lab.tui(home).tab()
    for line in ("/planmode on", "/planmode off", "/planmode approve", "/mode code", "/mode off"):
        answer = tab.cmd(line)
        assert REFUSED in answer, answer
        assert "Use a Hermes that binds the session around plugin commands" in answer
    assert REFUSED in tab.cmd("/planmode status")
    assert tries(lab, home, tab, "free") == RAN
    assert not list((home.hermes_home / "plugin-data").rglob("*.json")) if (home.hermes_home / "plugin-data").exists() else True


@pytest.mark.long
def test_in_a_process_of_its_own_it_refuses(lab: Lab, binding: Host) -> None:
    home = lab.home(binding, extra={"plugins": {"isolation": "host"}})
    tab = lab.tui(home).tab()
    assert "plugins.isolation: host" in tab.cmd("/planmode on")
    assert tries(lab, home, tab, "free") == RAN
