"""Plan mode in an editor's agent (ACP), whose protocol hands no plugin commands on: by default_mode."""

from __future__ import annotations

import re

import pytest

from tests.acceptance.lab import AcpSession, Host, Lab, run_hermes
from tests.acceptance.plays import RAN, STOPPED, made, tries, write_plan
from tests.acceptance.test_api_server import OFF
from tests.acceptance.test_cli_enforcement import APPROVES
from tests.acceptance.test_cli_flow import FULL_NOTICE, PLAN, SHORT_LINE, first_message, rules

pytestmark = pytest.mark.long

PLANNING = {"default_mode": {"acp": "plan"}}


class Willing:
    """An editor that grants whatever it is asked for."""

    def __init__(self, session: AcpSession, answer: str) -> None:
        self._session, self._answer = session, answer

    def turn(self, script: str) -> str:
        return self._session.turn(script, approve=self._answer)


def test_a_default_mode_is_enforced(lab: Lab, host: Host) -> None:
    home = lab.home(host, settings=PLANNING)
    acp = lab.acp(home)
    session, other = acp.session(), acp.session()
    assert tries(lab, home, session, "first") == STOPPED
    assert FULL_NOTICE in first_message(lab, "first")
    assert tries(lab, home, session, "second") == STOPPED
    assert SHORT_LINE in first_message(lab, "second")
    write_plan(lab, home, Willing(session, "once"))
    assert tries(lab, home, other, "other") == STOPPED
    assert FULL_NOTICE in first_message(lab, "other")
    assert made(home) == []


def test_the_plans_lie_in_the_editors_folder(lab: Lab, host: Host) -> None:
    """0.19 tells nobody which folder the editor named: there the plans lie in that of the process."""
    home = lab.home(host, settings=PLANNING)
    folder = home.user / "elsewhere"
    folder.mkdir()
    session = lab.acp(home).session(cwd=folder)
    plans, others = folder / ".hermes" / "plans", home.plans
    if host.version == "0.19":
        plans, others = others, plans
    lab.script("write", ("write_file", {"path": str(plans / PLAN), "content": "# Plan\n"}),
               ("write_file", {"path": str(others / PLAN), "content": "# Plan\n"}))
    session.turn("write", approve="once")
    assert rules(lab, "write") == [None, "outside-plans"]
    assert str(plans) in first_message(lab, "write")


def test_another_default_touches_nothing(lab: Lab, host: Host) -> None:
    home = lab.home(host, settings={"default_mode": {"cli": "plan", "api_server": "plan"}})
    session = lab.acp(home).session()
    assert tries(lab, home, Willing(session, "once"), "free") == RAN
    assert "plan-mode" not in first_message(lab, "free")
    assert not (home.hermes_home / "plugin-data").exists()


@pytest.mark.parametrize("answer", ["once", "always"])
def test_the_editors_consent_opens_nothing(lab: Lab, host: Host, answer: str) -> None:
    """Another plugin asks the person about every call, and the person allows all of it."""
    home = lab.home(host, settings=PLANNING, plugins=("approves", "plan-mode"), sources={"approves": APPROVES})
    acp = lab.acp(home)
    editor = Willing(acp.session(), answer)
    assert tries(lab, home, editor, "first") == STOPPED
    write_plan(lab, home, editor)
    assert acp.rpc.questions, "nobody was asked anything"
    assert tries(lab, home, editor, "after") == STOPPED
    assert made(home) == []


def test_a_command_as_text_is_not_applied(lab: Lab, host: Host) -> None:
    home = lab.home(host)
    session = lab.acp(home).session()
    lab.script("said")
    session.submit("/planmode on please #S:said")
    answer = session.wait()
    assert "did not turn plan mode on" in answer
    assert "Set default_mode for acp in config.yaml." in answer
    assert tries(lab, home, Willing(session, "once"), "free") == RAN


def test_a_kill_drops_nothing(lab: Lab, host: Host) -> None:
    home = lab.home(host, settings=PLANNING)
    acp = lab.acp(home)
    session, other = acp.session(), acp.session()
    assert tries(lab, home, session, "first") == STOPPED
    found = re.match(r"([0-9a-f]{16})  plan  ", run_hermes(home, "plan-mode", "list").stdout)
    assert found
    assert tries(lab, home, other, "other") == STOPPED
    done = run_hermes(home, "plan-mode", "off", found[1])
    assert (done.returncode, done.stdout.strip().splitlines()[-1]) == (0, OFF)
    assert tries(lab, home, Willing(session, "once"), "freed") == RAN
    assert "No mode is active any more" in first_message(lab, "freed")
    acp.kill()

    acp = lab.acp(home)
    assert tries(lab, home, acp.load(other.session_id), "after") == STOPPED
    assert tries(lab, home, Willing(acp.load(session.session_id), "once"), "free") == RAN
    assert tries(lab, home, acp.session(), "new") == STOPPED


def test_children_are_covered(lab: Lab, host: Host) -> None:
    """The operator lets delegation and code execution through; what they start is still in plan mode."""
    settings = {"default_mode": "plan", "extra_allowed_tools": ["delegate_task", "execute_code"]}
    home = lab.home(host, settings=settings)
    acp = lab.acp(home)
    session = acp.session()
    code = f"from hermes_tools import write_file\nprint(write_file({str(home.work / 'by-code.py')!r}, 'x'))\n"
    lab.script("child", ("terminal", {"command": "touch by-child"}))
    lab.script("parent", ("execute_code", {"code": code}), ("delegate_task", {"goal": "do it #K:child"}))
    session.turn("parent", approve="once")
    acp.process.wait_until(lambda: lab.model.finished("child"), 60, "end of the child")
    assert rules(lab, "parent") == [None, None]
    assert "outside-plans" in lab.results("parent")[0].text
    assert rules(lab, "child") == ["not-granted"]
    assert made(home) == []


def test_with_yolo(lab: Lab, host: Host) -> None:
    home = lab.home(host, settings=PLANNING, extra={"approvals": {"mode": "off"}})
    session = lab.acp(home, env=home.env(HERMES_YOLO_MODE="1")).session()
    assert tries(lab, home, session, "yolo") == STOPPED
