"""Modes from files in the terminal UI's back end, where another tab may be the one that changes the file."""

from __future__ import annotations

import pytest

from tests.acceptance.lab import Host, Lab, Step
from tests.acceptance.modes import (
    FAST_HELD,
    FAST_NOTICE,
    FAST_OFF,
    FASTER,
    OFF_NOTICE,
    OWN,
    RAN,
    READING,
    Project,
    only,
    refused_model,
    resumed,
    there_and_back,
    tries,
    widened,
)
from tests.acceptance.test_cli_flow import rules
from tests.acceptance.test_tui import REFUSED, binding

__all__ = ["binding"]
pytestmark = pytest.mark.long


def test_there_and_back(lab: Lab, binding: Host) -> None:
    project = Project(lab.home(binding))
    tui = lab.tui(project.home)
    tab, other = tui.tab(), tui.tab()
    there_and_back(lab, project, tab)
    assert other.cmd("/mode") == project.shown("none")


def test_what_another_tab_makes_wider_widens_nothing_until_a_person_says_so(lab: Lab, binding: Host) -> None:
    project = Project(lab.home(binding))
    tui = lab.tui(project.home)
    tab, other = tui.tab(), tui.tab()

    def widen() -> None:
        lab.script("pull", ("terminal", {"command": f"git -C {project.folder} checkout -q wide"}))
        other.turn("pull")
        assert rules(lab, "pull") == [None]

    widened(lab, project, tab, widen)
    assert tries(lab, project, other, "other").errors == RAN


def test_modes_come_back_with_their_sessions(lab: Lab, binding: Host) -> None:
    project = Project(lab.home(binding))
    tui = lab.tui(project.home)
    tabs = {"docs": tui.tab(), "fast": tui.tab()}
    for mode, tab in tabs.items():
        tab.cmd(f"/mode {mode}")
        tries(lab, project, tab, f"in-{mode}")
    tui.kill()
    project.checkout("wide")

    tui = lab.tui(project.home)
    fresh = tui.tab()
    assert fresh.cmd("/mode") == project.shown("none")
    free = tries(lab, project, fresh, "free")
    assert (free.errors, free.models, free.notice) == (RAN, {OWN}, "")
    for mode, tab in tabs.items():
        resumed(lab, project, tui.resume(tab.stored_id), mode)


def test_each_tab_has_the_modes_of_its_own_project(lab: Lab, binding: Host) -> None:
    project = Project(lab.home(binding))
    elsewhere, below = project.home.user / "elsewhere", project.folder / "docs"
    elsewhere.mkdir()
    below.mkdir()
    tui = lab.tui(project.home)
    inside, outside = tui.tab(cwd=below), tui.tab(cwd=elsewhere)
    assert inside.cmd("/mode docs") == project.docs_on()
    assert inside.cmd("/mode") == project.shown("docs")
    assert "'docs' isn't a mode." in outside.cmd("/mode docs")
    assert f"\nProject: {elsewhere}\n" in outside.cmd("/mode")

    lab.script("inside", Step(calls=[("write_file", {"path": path, "content": "x"}) for path in (
        "below.md", "docs/twice.md", "../above.md", str(below / "whole.md"))]))
    inside.turn("inside")
    assert rules(lab, "inside") == [None, None, "dot-dot", None]
    assert project.made("below") | project.made("twice") == {"docs/below.md", "docs/docs/twice.md"}
    assert tries(lab, project, outside, "outside").errors == RAN


def test_a_model_that_the_provider_does_not_have(lab: Lab, binding: Host) -> None:
    project = Project(lab.home(binding))
    tui = lab.tui(project.home)
    tab = tui.tab()

    def fails(message: str) -> None:
        tab.submit(message)
        tui.rpc.wait_until(tab.answers, 60, "end of the turn")
        tab.wait_idle()

    refused_model(lab, project, tab, fails, lambda: "\n".join(tab.answers()))


def test_where_nothing_is_bound_no_file_says_more(lab: Lab, host: Host) -> None:
    if host.version != "0.19":
        pytest.skip("this host binds the session")
    project = Project(lab.home(host))
    tab = lab.tui(project.home).tab()
    for line in ("/mode docs", "/mode fast", "/mode model fast quick-model"):
        assert REFUSED in tab.cmd(line)
    free = tries(lab, project, tab, "free")
    assert (free.errors, free.models, free.notice) == (RAN, {OWN}, "")


def test_a_default_mode_of_the_home(lab: Lab, host: Host) -> None:
    project = Project(lab.home(host, settings={"default_mode": "fast"}))
    tab = lab.tui(project.home).tab()
    seen = tries(lab, project, tab, "first")
    assert (seen.errors, seen.made, seen.models) == (FAST_HELD, set(), {FASTER})
    assert seen.notice == FAST_NOTICE
    assert "read_file" in seen.tools
    assert seen.tools == only(READING, seen.tools)
    if host.version == "0.19":
        assert REFUSED in tab.cmd("/mode off")
    else:
        assert tab.cmd("/mode off") == FAST_OFF
        assert tries(lab, project, tab, "left").notice == OFF_NOTICE


def test_a_default_mode_is_never_a_projects(lab: Lab, host: Host) -> None:
    project = Project(lab.home(host, settings={"default_mode": "docs"}))
    tab = lab.tui(project.home).tab()
    lab.script("first", ("write_file", {"path": str(project.folder / "docs" / "a.md"), "content": "x"}),
               ("terminal", {"command": "true"}))
    tab.turn("first")
    assert rules(lab, "first") == ["mode-missing", "mode-missing"]
