"""Sessions that the host itself binds, many in one process: through its own variables, threads and hooks."""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tests.host.kit import IS_OLD, Hermes, rule_of
from tests.host.test_seams import bind

CHAT = "agent:main:labchat:dm:{}"


@pytest.fixture
def server(cli: Hermes, monkeypatch: pytest.MonkeyPatch) -> Hermes:
    """The same host without an interactive CLI, and with a live gateway."""
    cli.manager._cli_ref = None
    runner = SimpleNamespace()
    monkeypatch.setattr(importlib.import_module("gateway.run"), "_gateway_runner_ref", lambda: runner)
    return cli


def chat(number: int) -> contextvars.Context:
    return bind(session_key=CHAT.format(number), platform="labchat", chat_id=str(number), user_id="u1")


def denied(server: Hermes, context: contextvars.Context, conversation: str) -> str:
    return rule_of(context.copy().run(server.asked, "terminal", {"command": "ls"}, session_id=conversation))


def test_two_chats(server: Hermes) -> None:
    one, two = chat(1), chat(2)
    assert "Plan mode is on." in one.run(server.type, "/planmode on")
    assert denied(server, one, "A") == "not-granted"
    assert denied(server, two, "B") == ""
    assert "PLAN MODE IS ON" in one.run(server.turn, session_id="A", platform="labchat")
    assert two.run(server.turn, session_id="B", platform="labchat") == ""
    assert "Plan mode is off" in one.run(server.type, "/planmode off")
    assert denied(server, one, "A") == ""


def in_a_thread(context: contextvars.Context, target: Callable[[], Any]) -> Any:
    """What ``target`` returns in a worker thread of the host, started from that context."""
    propagate = importlib.import_module("tools.thread_context").propagate_context_to_thread
    found: list[Any] = []
    worker = threading.Thread(target=context.run(propagate, lambda: found.append(target())))
    worker.start()
    worker.join(30)
    assert found
    return found[0]


@pytest.mark.skipif(IS_OLD, reason="0.19 has no _pre_tool_block")
def test_the_entry_that_the_concurrent_executor_uses(server: Hermes) -> None:
    one, two = chat(1), chat(2)
    one.run(server.type, "/planmode on")
    executor = importlib.import_module("agent.tool_executor")
    agent = SimpleNamespace(session_id="A", _current_turn_id="t1", _current_api_request_id="r1")

    def block() -> str:
        ref = executor._ToolCallRef(name="terminal", args={"command": "ls"}, task_id="default", call_id="c1", trace=[])
        message, _ = executor._pre_tool_block(agent, ref)
        return message or ""

    assert rule_of(in_a_thread(one, block)) == "not-granted"
    agent.session_id = "B"
    assert in_a_thread(two, block) == ""


@pytest.mark.skipif(not IS_OLD, reason="newer hosts have an entry of their own")
def test_the_entry_that_an_old_executor_uses(server: Hermes) -> None:
    one, two = chat(1), chat(2)
    one.run(server.type, "/planmode on")
    ask = server.plugins.get_pre_tool_call_block_message
    assert rule_of(in_a_thread(one, lambda: ask("terminal", {"command": "ls"}, session_id="A"))) == "not-granted"
    assert not in_a_thread(two, lambda: ask("terminal", {"command": "ls"}, session_id="B"))


def test_inner_calls_of_code_know_their_session_by_what_is_bound(server: Hermes) -> None:
    """They bring no session id."""
    one, two = chat(1), chat(2)
    one.run(server.type, "/planmode on")
    assert one.copy().run(server.call, "terminal", {"command": "ls"}, "inner").rule == "not-granted"
    assert two.copy().run(server.call, "terminal", {"command": "true"}, "inner").rule == ""


def test_an_api_run_has_a_key_of_its_own_each_time(cli: Hermes, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.config["plugins"]["entries"] = {"plan-mode": {"settings": {"default_mode": {"api_server": "plan"}}}}
    cli.write_config()
    cli.manager._cli_ref = None
    for number in range(3):
        run = bind(session_key=f"run_{number}", platform="api_server")
        text = run.run(cli.turn, session_id="S", platform="api_server")
        assert ("PLAN MODE IS ON" if not number else "[plan-mode] Plan mode is on") in text
        assert denied(cli, run, "S") == "not-granted"
    assert len(list(cli.home.rglob("sessions-*/*.json"))) == 1


class Gateway:
    """What ``pre_gateway_dispatch`` is handed."""

    def __init__(self, server: Hermes) -> None:
        self.server = server
        self.replies: list[str] = []

    def _session_key_for_source(self, source: Any) -> str:
        return CHAT.format(source.chat_id)

    async def receive(self, text: str, number: int) -> None:
        """As an old host: the hook and the command's handler in one task, nothing bound."""
        try:
            events = importlib.import_module("gateway.platforms.event")
        except ImportError:
            events = importlib.import_module("gateway.platforms.base")
        source = SimpleNamespace(chat_id=number, user_id="u1", platform=SimpleNamespace(value="labchat"))
        event = events.MessageEvent(text=text, message_type=events.MessageType.TEXT, source=source, message_id="m")
        self.server.plugins.invoke_hook("pre_gateway_dispatch", event=event, gateway=self, session_store=None)
        await asyncio.sleep(0)
        self.replies.append(self.server.type(text.replace("/planmode@bot", "/planmode")))


def test_a_chat_is_known_by_its_message_where_nothing_is_bound(server: Hermes) -> None:
    gateway = Gateway(server)

    async def both() -> None:
        await asyncio.gather(*(asyncio.create_task(gateway.receive(text, number)) for text, number in
                               (("/planmode on", 1), ("/planmode status", 2), ("/planmode@bot on", 3))))

    contextvars.Context().run(asyncio.run, both())
    assert [reply.splitlines()[0] for reply in gateway.replies] == [
        "Plan mode is on.", "No mode is active in this session.", "Plan mode is on."]
    assert [denied(server, chat(number), "ABCD"[number]) for number in (1, 2, 3)] == ["not-granted", "", "not-granted"]


def test_in_the_host_own_slash_worker_and_gateway_inherited_identity_counts_for_nothing(
    server: Hermes, monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HERMES_SESSION_KEY", "HERMES_UI_SESSION_ID", "HERMES_SESSION_PLATFORM", "HERMES_SESSION_SOURCE"):
        monkeypatch.setenv(name, "inherited")
    answer = contextvars.Context().run(server.type, "/planmode on")
    assert answer.startswith("Nothing was turned on. This process runs the messaging gateway")


@pytest.mark.skipif(IS_OLD, reason="0.19 puts no mark into the context of a scheduled run")
@pytest.mark.parametrize("mark", ["1", ""])
def test_a_cron_run_is_no_session_of_this_process(cli: Hermes, mark: str) -> None:
    """Its mark is read from the context: "" there masks one in the environment."""
    assert "Plan mode is on" in cli.type("/planmode on")
    job = contextvars.copy_context()
    job.run(importlib.import_module("gateway.session_context")._VAR_MAP["HERMES_CRON_SESSION"].set, mark)
    found = rule_of(job.run(cli.asked, "terminal", {"command": "ls"}, session_id="cron_job_1"))
    assert found == ("" if mark else "not-granted")


def test_a_cron_mark_in_the_environment_is_nobodys(cli: Hermes, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Plan mode is on" in cli.type("/planmode on")
    monkeypatch.setenv("HERMES_CRON_SESSION", "1")
    assert rule_of(cli.asked("terminal", {"command": "ls"})) == "not-granted"
