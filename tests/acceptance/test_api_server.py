"""Plan mode in conversations with the API server, which hands no commands on: by default_mode."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.acceptance.lab import Host, Lab, run_hermes
from tests.acceptance.lab.web import Reply
from tests.acceptance.plays import RAN, STOPPED, made, tries, write_plan
from tests.acceptance.test_cli_flow import FULL_NOTICE, SHORT_LINE, first_message, rules

pytestmark = pytest.mark.long

OFF = "Plan mode is off in that session; nothing was approved. Its agent is told in its next turn."


class ByRuns:
    """A conversation whose turns are runs (/v1/runs)."""

    def __init__(self, conversation: Any) -> None:
        self._conversation = conversation

    def turn(self, script: str) -> str:
        return str(self._conversation.run(script))


@pytest.mark.parametrize("default", ["plan", {"api_server": "plan"}], ids=["everywhere", "api_server"])
def test_a_default_mode_is_enforced(lab: Lab, host: Host, default: Any) -> None:
    home = lab.home(host, settings={"default_mode": default})
    api = lab.api(home)
    talk, other = api.conversation(), api.conversation()
    assert tries(lab, home, talk, "first") == STOPPED
    assert FULL_NOTICE in first_message(lab, "first")
    assert tries(lab, home, talk, "second") == STOPPED
    assert SHORT_LINE in first_message(lab, "second")
    write_plan(lab, home, talk)
    assert tries(lab, home, ByRuns(talk), "run") == STOPPED
    assert tries(lab, home, ByRuns(other), "other-run") == STOPPED
    assert FULL_NOTICE in first_message(lab, "other-run")
    write_plan(lab, home, ByRuns(other), "2026-01-02_030406-other.md")
    assert tries(lab, home, other, "other") == STOPPED
    assert made(home) == []


class Posts:
    """A conversation by another endpoint: ``post`` sends a message there."""

    def __init__(self, post: Callable[[str], Reply]) -> None:
        self._post = post

    def turn(self, script: str) -> str:
        reply = self._post(f"please #S:{script}")
        assert reply.status == 200, reply
        return str(reply.data)


def test_every_endpoint_is_covered(lab: Lab, host: Host) -> None:
    home = lab.home(host, settings={"default_mode": {"api_server": "plan"}})
    site = lab.api(home).site
    history: list[dict[str, str]] = []
    responses: list[str] = []

    def completion(text: str) -> Reply:
        """A client that names no session and keeps the history itself."""
        history.append({"role": "user", "content": text})
        reply = site.post("/v1/chat/completions", {"model": "hermes-agent", "messages": history})
        assert reply.status == 200, reply
        history.append(reply.data["choices"][0]["message"])
        return reply

    def stream(text: str) -> Reply:
        body = {"model": "hermes-agent", "messages": [{"role": "user", "content": text}], "stream": True}
        return site.post("/v1/chat/completions", body, {"X-Hermes-Session-Id": "streamed"})

    def response(text: str) -> Reply:
        before = {"previous_response_id": responses[-1]} if responses else {}
        reply = site.post("/v1/responses", {"model": "hermes-agent", "input": text, **before})
        assert reply.status == 200, reply
        responses.append(reply.data["id"])
        return reply

    def chat(text: str) -> Reply:
        return site.post("/api/sessions/made/chat", {"message": text})

    assert site.post("/api/sessions", {"id": "made"}).status in (200, 201)
    for post in (completion, stream, response, chat):
        name = post.__name__
        assert tries(lab, home, Posts(post), f"{name}-1") == STOPPED
        assert FULL_NOTICE in first_message(lab, f"{name}-1")
        assert tries(lab, home, Posts(post), f"{name}-2") == STOPPED
        kept = post is not completion  # what a client keeps itself holds no notice: it is given again
        assert (SHORT_LINE if kept else FULL_NOTICE) in first_message(lab, f"{name}-2")
    assert made(home) == []


def test_another_default_touches_nothing(lab: Lab, host: Host) -> None:
    home = lab.home(host, settings={"default_mode": {"cli": "plan", "acp": "plan"}})
    talk = lab.api(home).conversation()
    assert tries(lab, home, talk, "free") == RAN
    assert tries(lab, home, ByRuns(talk), "run") == RAN
    assert "plan-mode" not in first_message(lab, "free")
    assert not (home.hermes_home / "plugin-data").exists()


def test_a_command_as_text_is_not_applied(lab: Lab, host: Host) -> None:
    home = lab.home(host)
    talk = lab.api(home).conversation()
    lab.script("said")
    answer = talk.complete("/planmode on please #S:said")
    assert "did not turn plan mode on" in answer
    assert "Set default_mode for api_server in config.yaml." in answer
    assert tries(lab, home, talk, "free") == RAN
    assert "did not turn plan mode on" in talk.start_run("/planmode on please #S:said").wait()
    lab.script("off")
    assert "'/planmode off #S:off' was not carried out" in talk.complete("/planmode off #S:off")
    assert tries(lab, home, ByRuns(talk), "run") == RAN


def test_a_command_as_text_does_not_leave(lab: Lab, host: Host) -> None:
    home = lab.home(host, settings={"default_mode": "plan"})
    talk = lab.api(home).conversation()
    assert tries(lab, home, talk, "first") == STOPPED
    write_plan(lab, home, talk)
    for verb in ("off", "approve"):
        lab.script(verb)
        assert "was not carried out" in talk.complete(f"/planmode {verb} #S:{verb}")
    assert tries(lab, home, talk, "after") == STOPPED


def test_children_are_covered(lab: Lab, host: Host) -> None:
    """The operator lets delegation and code execution through; what they start is still in plan mode."""
    settings = {"default_mode": "plan", "extra_allowed_tools": ["delegate_task", "execute_code"]}
    home = lab.home(host, settings=settings)
    api = lab.api(home, env=home.env(HERMES_YOLO_MODE="1"))  # else the host asks before it runs code
    code = f"from hermes_tools import write_file\nprint(write_file({str(home.work / 'by-code.py')!r}, 'x'))\n"
    for way, talk in enumerate((api.conversation(), ByRuns(api.conversation()))):
        child, parent = f"child-{way}", f"parent-{way}"
        lab.script(child, ("terminal", {"command": "touch by-child"}))
        lab.script(parent, ("execute_code", {"code": code}), ("delegate_task", {"goal": f"do it #K:{child}"}))
        talk.turn(parent)
        api.process.wait_until(lambda child=child: lab.model.finished(child), 60, "end of the child")
        assert rules(lab, parent) == [None, None]
        assert "outside-plans" in lab.results(parent)[0].text
        assert rules(lab, child) == ["not-granted"]
    assert made(home) == []


def test_without_leave_there_are_no_children(lab: Lab, host: Host) -> None:
    home = lab.home(host, settings={"default_mode": "plan"})
    lab.script("parent", ("execute_code", {"code": "open('by-code', 'w')"}), ("delegate_task", {"goal": "do it #K:child"}))
    lab.api(home).conversation().turn("parent")
    assert rules(lab, "parent") == ["not-granted", "not-granted"]
    assert lab.model.of("child") == []
    assert made(home) == []


def test_the_operator_frees_one_conversation(lab: Lab, host: Host) -> None:
    home = lab.home(host, settings={"default_mode": "plan"})
    api = lab.api(home)
    talk, other = api.conversation(), api.conversation()
    assert run_hermes(home, "plan-mode", "list").stdout.strip() == "No session is in a mode."
    assert tries(lab, home, talk, "first") == STOPPED
    listed = run_hermes(home, "plan-mode", "list").stdout
    found = re.search(r"^([0-9a-f]{16})  plan  ", listed, re.MULTILINE)
    assert found, listed
    assert tries(lab, home, other, "other") == STOPPED
    assert len(run_hermes(home, "plan-mode", "list").stdout.strip().splitlines()) == 2

    done = run_hermes(home, "plan-mode", "off", found[1])
    assert (done.returncode, done.stdout.strip().splitlines()[-1]) == (0, OFF)
    assert tries(lab, home, talk, "freed") == RAN
    assert "No mode is active any more" in first_message(lab, "freed")
    assert tries(lab, home, other, "still") == STOPPED
    assert tries(lab, home, ByRuns(talk), "run") == RAN
    assert tries(lab, home, api.conversation(), "new") == STOPPED
    assert found[1] not in run_hermes(home, "plan-mode", "list").stdout


def test_one_conversation_of_a_client_that_has_several(lab: Lab, host: Host) -> None:
    """X-Hermes-Session-Key says who talks, not in which conversation."""
    home = lab.home(host, settings={"default_mode": "plan"})
    api = lab.api(home)
    talk, other = api.conversation("one", key="user-7"), api.conversation("two", key="user-7")
    assert tries(lab, home, talk, "first") == STOPPED
    record = run_hermes(home, "plan-mode", "list").stdout.split()[0]
    assert tries(lab, home, other, "other") == STOPPED
    assert tries(lab, home, talk, "second") == STOPPED
    assert run_hermes(home, "plan-mode", "off", record).returncode == 0
    assert tries(lab, home, talk, "freed") == RAN
    assert tries(lab, home, other, "still") == STOPPED
    assert tries(lab, home, api.conversation("three", key="user-7"), "new") == STOPPED


def test_a_kill_drops_nothing(lab: Lab, host: Host) -> None:
    home = lab.home(host, settings={"default_mode": "plan"})
    api = lab.api(home)
    planning, freed = api.conversation("planning"), api.conversation("freed")
    assert tries(lab, home, freed, "before") == STOPPED
    record = run_hermes(home, "plan-mode", "list").stdout.split()[0]
    assert tries(lab, home, planning, "planning") == STOPPED
    assert run_hermes(home, "plan-mode", "off", record).returncode == 0
    assert tries(lab, home, freed, "left") == RAN
    api.kill()

    api = lab.api(home)
    assert tries(lab, home, api.conversation("planning"), "after") == STOPPED
    assert tries(lab, home, api.conversation("freed"), "free") == RAN


def test_with_yolo(lab: Lab, host: Host) -> None:
    home = lab.home(host, settings={"default_mode": "plan"}, extra={"approvals": {"mode": "off"}})
    talk = lab.api(home, env=home.env(HERMES_YOLO_MODE="1")).conversation()
    assert tries(lab, home, talk, "yolo") == STOPPED
    assert tries(lab, home, ByRuns(talk), "run") == STOPPED
