"""Modes from files in the classic CLI: a project's, the home's, and what a changed file may do to a session."""

from __future__ import annotations

import pytest

from tests.acceptance.lab import HOSTS, Host, Lab, Step
from tests.acceptance.modes import (
    CHANGED,
    EDITING,
    FAST_HELD,
    FAST_NOTICE,
    FAST_OFF,
    FASTER,
    OFF_NOTICE,
    OWN,
    RAN,
    READING,
    Project,
    attempt,
    documents,
    looked,
    only,
    refused_model,
    resumed,
    there_and_back,
    tries,
    widened,
)
from tests.acceptance.test_cli_sessions import conversations


@pytest.mark.parametrize("host", HOSTS[:1], indirect=True)
def test_the_whole_path(lab: Lab, host: Host) -> None:
    """Into a project's mode, which the project widens in the middle of a turn; into one's own with its model; and out."""
    project = Project(lab.home(host))
    cli = lab.cli(project.home)
    assert cli.cmd("/mode docs") == project.docs_on()

    def pulled(messages: object) -> Step:
        project.checkout("wide")
        calls = attempt(project, "pulled").calls
        return Step(calls=[calls[0], calls[-1]])

    lab.script("docs", attempt(project, "docs"), pulled)
    cli.turn("docs")
    docs, held = looked(lab, project, "docs"), project.held("pulled")
    assert docs.errors == [*project.held("docs"), held[0], held[-1]]
    assert docs.made | project.made("pulled") == documents("docs")
    assert docs.notice == project.docs_notice()
    assert cli.cmd("/mode") == project.shown("docs", CHANGED)

    assert cli.cmd("/mode fast") == project.fast_on
    fast = tries(lab, project, cli, "fast")
    assert (fast.errors, fast.made, fast.notice) == (FAST_HELD, set(), FAST_NOTICE)

    assert cli.cmd("/mode off") == FAST_OFF
    lab.script("after")
    cli.turn("after")
    after = looked(lab, project, "after")
    assert after.notice == OFF_NOTICE
    assert {"terminal", "write_file"} < set(after.tools)
    assert [docs.tools, fast.tools] == [only(EDITING, after.tools), only(READING, after.tools)]
    assert [docs.models, fast.models, after.models] == [{OWN}, {FASTER}, {OWN}]


@pytest.mark.long
def test_there_and_back(lab: Lab, host: Host) -> None:
    project = Project(lab.home(host))
    there_and_back(lab, project, lab.cli(project.home))


@pytest.mark.long
def test_a_wider_file_widens_nothing_until_a_person_says_so(lab: Lab, host: Host) -> None:
    project = Project(lab.home(host))
    widened(lab, project, lab.cli(project.home), lambda: project.checkout("wide"))


@pytest.mark.long
@pytest.mark.parametrize(("mode", "end"), [("docs", "kill"), ("fast", "exit")])
def test_a_mode_comes_back_with_its_conversation(lab: Lab, host: Host, mode: str, end: str) -> None:
    project = Project(lab.home(host))
    cli = lab.cli(project.home)
    cli.cmd(f"/mode {mode}")
    tries(lab, project, cli, "before")
    conversation = conversations(project.home)[-1]
    _ = cli.exit() if end == "exit" else cli.kill()
    project.checkout("wide")

    fresh = lab.cli(project.home)
    assert fresh.cmd("/mode") == project.shown("none")
    free = tries(lab, project, fresh, "free")
    assert (free.errors, free.models, free.notice) == (RAN, {OWN}, "")
    fresh.exit()

    resumed(lab, project, lab.cli(project.home, "--resume", conversation), mode)


@pytest.mark.long
def test_a_model_that_the_provider_does_not_have(lab: Lab, host: Host) -> None:
    project = Project(lab.home(host))
    cli = lab.cli(project.home)

    def fails(message: str) -> None:
        cli.submit(message)
        cli.wait_over(lambda: bool(lab.model.refusals))

    # 0.19 has shown the answer before it asks plugins what to add to it.
    refused_model(lab, project, cli, fails, lambda: "\n".join(cli.terminal.lines), is_told=host.version != "0.19")
