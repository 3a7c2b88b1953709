"""Plan mode in chats: many in one process, several people, messages at any moment."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.acceptance.lab import Gate, Host, Lab, Step, run_hermes
from tests.acceptance.lab.gateway import Gateway
from tests.acceptance.plays import RAN, STOPPED, tries, write_plan
from tests.acceptance.test_cli_flow import APPROVED, FULL_NOTICE, PLAN, SHORT_LINE, first_message, rules


def test_one_chat_plans_and_the_other_works(lab: Lab, host: Host) -> None:
    """On 0.19 nothing is bound around a command: the message itself tells whose it is."""
    home = lab.home(host)
    gateway = lab.gateway(home)
    chat, other = gateway.chat("c1"), gateway.chat("c2")
    assert "Plan mode is on." in chat.cmd("/planmode on add a greeting")
    assert "No mode is active in this session." in other.cmd("/planmode status")

    assert tries(lab, home, chat, "first") == STOPPED
    assert FULL_NOTICE in first_message(lab, "first")
    assert "add a greeting" in first_message(lab, "first")
    assert tries(lab, home, other, "free") == RAN
    assert "plan-mode" not in first_message(lab, "free")
    assert tries(lab, home, chat, "second") == STOPPED
    assert SHORT_LINE in first_message(lab, "second")

    write_plan(lab, home, chat)
    assert PLAN in chat.cmd("/planmode status")
    assert "isn't in plan mode" in other.cmd("/planmode approve")
    assert "Approved: " in chat.cmd("/planmode approve")
    assert tries(lab, home, chat, "implement") == RAN
    assert APPROVED.format(home.plans / PLAN) in first_message(lab, "implement")


@pytest.mark.long
def test_a_busy_chat_lends_nobody_its_identity(lab: Lab, host: Host) -> None:
    home = lab.home(host)
    gateway = lab.gateway(home)
    busy, other = gateway.chat("c1"), gateway.chat("c2")
    gate = Gate()
    lab.script("held", Step(calls=[("terminal", {"command": "touch held"})], gate=gate))
    busy.submit("please #S:held")
    gate.wait_reached()
    assert "Plan mode is on." in other.cmd("/planmode on")
    gate.release()
    busy.wait_done()
    assert rules(lab, "held") == [None]
    assert tries(lab, home, other, "planning") == STOPPED
    assert tries(lab, home, busy, "free") == RAN


@pytest.mark.long
def test_new_is_new_and_the_rest_lasts(lab: Lab, host: Host) -> None:
    home = lab.home(host, extra={"approvals": {"destructive_slash_confirm": False}})
    gateway = lab.gateway(home)
    chat = gateway.chat()
    chat.cmd("/planmode on")
    assert tries(lab, home, chat, "before") == STOPPED
    gateway.kill()

    gateway = lab.gateway(home)
    chat = gateway.chat()
    assert "Plan mode is on since " in chat.cmd("/planmode status")
    assert tries(lab, home, chat, "after") == STOPPED
    chat.cmd("/new")
    assert "No mode is active" in chat.cmd("/planmode status")
    assert tries(lab, home, chat, "new") == RAN


@pytest.mark.long
def test_two_users_of_a_group(lab: Lab, host: Host) -> None:
    home = lab.home(host, settings={"owner_only": True})
    gateway = lab.gateway(home)
    alice, bob = (gateway.chat("g1", user=user, group=True) for user in ("alice", "bob"))
    assert "Plan mode is on." in alice.cmd("/planmode on")
    assert tries(lab, home, bob, "bob") == RAN
    assert tries(lab, home, alice, "alice") == STOPPED
    assert "No mode is active" in bob.cmd("/planmode off")
    assert "Plan mode is off" in alice.cmd("/planmode off")


@pytest.mark.long
def test_two_users_of_a_thread(lab: Lab, host: Host) -> None:
    """A thread is one session of all its users: only who turned plan mode on leaves it, or the operator."""
    home = lab.home(host, settings={"owner_only": True}, extra={"approvals": {"destructive_slash_confirm": False}})
    gateway = lab.gateway(home)
    alice, bob = (gateway.chat("g1", user=user, group=True, thread="t9") for user in ("alice", "bob"))
    assert "Plan mode is on." in alice.cmd("/planmode on")
    assert tries(lab, home, bob, "bob") == STOPPED
    answer = bob.cmd("/planmode off")
    assert "Only the user who turned this mode on can leave it" in answer
    bob.cmd("/new")
    assert tries(lab, home, bob, "reset") == STOPPED
    found = re.search(r"hermes plan-mode off ([0-9a-f]{16})", answer)
    assert found
    done = run_hermes(home, "plan-mode", "off", found[1])
    assert (done.returncode, done.stdout.strip().splitlines()[-1]) == (
        0, "Plan mode is off in that session; nothing was approved. Its agent is told in its next turn.")
    assert tries(lab, home, bob, "free") == RAN
    assert "Plan mode is on." in alice.cmd("/planmode on")
    assert tries(lab, home, alice, "again") == STOPPED
    alice.cmd("/new")
    assert tries(lab, home, alice, "left") == RAN


MODES: dict[str, Any] = {"interrupt": "interrupt", "queue": "queue", "steer": "steer"}


@pytest.mark.long
@pytest.mark.parametrize("mode", MODES)
def test_a_command_in_a_running_turn(lab: Lab, host: Host, mode: str) -> None:
    home = lab.home(host, extra={"display": {"busy_input_mode": mode}})
    gateway = lab.gateway(home)
    chat = gateway.chat()
    gate = Gate()
    lab.script("held", Step(calls=[("read_file", {"path": str(home.hermes_home / "SOUL.md")})], gate=gate),
               ("terminal", {"command": "touch held"}))
    chat.submit("please #S:held")
    gate.wait_reached()
    chat.submit("/planmode on", at_once=True)
    gate.release()
    chat.wait_done()
    if (host.version, mode) == ("0.19", "steer"):  # appended to a tool's result, where a tool could write it too
        assert "'/planmode on' was not carried out" in "\n".join(chat.read)
        chat.cmd("/planmode on")
    assert "Plan mode is on since " in chat.cmd("/planmode status")
    assert tries(lab, home, chat, "after") == STOPPED

    gate = Gate()
    lab.script("again", Step(calls=[("read_file", {"path": str(home.hermes_home / "SOUL.md"), "limit": 2})], gate=gate))
    chat.submit("please #S:again")
    gate.wait_reached()
    chat.submit("/planmode off", at_once=True)
    gate.release()
    chat.wait_done()
    assert "Plan mode is on since " in chat.cmd("/planmode status")
    assert "Send it again now." in "\n".join(chat.read)
    assert "Plan mode is off" in chat.cmd("/planmode off")


@pytest.mark.long
def test_children_and_background_tasks(lab: Lab, host: Host) -> None:
    home = lab.home(host)
    gateway = lab.gateway(home)
    chat = gateway.chat()
    gate = Gate()
    lab.script("child", Step(calls=[("terminal", {"command": "touch child"})], gate=gate))
    lab.script("parent", ("delegate_task", {"goal": "do it #K:child"}))
    chat.submit("please #S:parent")
    gate.wait_reached()
    if host.version == "0.22":
        chat.wait_done()
    if host.version == "0.22":
        chat.cmd("/planmode on")
        gate.release()
        gateway.process.wait_until(lambda: lab.results("child"), 60, "call of the child")
        assert rules(lab, "child") == ["not-granted"]
    else:
        gate.release()
        chat.wait_done()
        chat.cmd("/planmode on")
    lab.script("side", ("terminal", {"command": "touch side"}))
    chat.submit("/bg please #S:side")
    gateway.process.wait_until(lambda: lab.results("side"), 60, "call of the background task")
    assert rules(lab, "side") in (["not-granted"], ["no-session"])


@pytest.mark.long
def test_with_yolo(lab: Lab, host: Host) -> None:
    home = lab.home(host, extra={"approvals": {"mode": "off"}})
    chat = lab.gateway(home, env=home.env(HERMES_YOLO_MODE="1")).chat()
    chat.cmd("/planmode on")
    assert tries(lab, home, chat, "yolo") == STOPPED


@pytest.mark.long
def test_the_hosts_own_plan(lab: Lab, host: Host) -> None:
    if host.version == "0.19":
        pytest.skip("Hermes 0.19 has no /plan")
    home = lab.home(host)
    chat = lab.gateway(home).chat()
    lab.script("plan", ("terminal", {"command": "touch made"}))
    chat.cmd("/plan greet #S:plan")
    assert rules(lab, "plan") == ["not-granted"]
    assert FULL_NOTICE in first_message(lab, "plan")


@pytest.mark.long
def test_a_default_for_one_platform(lab: Lab, host: Host) -> None:
    home = lab.home(host, settings={"default_mode": {"labchat": "plan"}})
    gateway: Gateway = lab.gateway(home)
    chat = gateway.chat()
    assert tries(lab, home, chat, "first") == STOPPED
    write_plan(lab, home, chat)
    assert "Approved: " in chat.cmd("/planmode approve")
    assert tries(lab, home, chat, "implement") == RAN
    assert tries(lab, home, gateway.chat("c2"), "other") == STOPPED
