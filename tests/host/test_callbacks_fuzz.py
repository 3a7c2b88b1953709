"""Garbage through the host's own ways of calling plugins: plan mode holds, others aren't concerned, and nothing raises."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.garbage import SEVERAL, SHAPES, TYPED, kwargs_for, made
from tests.host.kit import Hermes, rule_of

DENIED = ("terminal", "delegate_task", "nobody_knows_it", "memory", "TERMINAL", "read_file\n", "")
HARMLESS = ("reject", "show", "status", "info", "check", "trust", "model", "export", "import", "reload", "help", "nothing")
MOST_OF_A_REPLY = 20_000
EXAMPLES = 30
IDS = [name for name in SEVERAL if name not in ("tool_name", "args", "request")]
SUCCESS = '{"success": true}'


class Round:
    """One round of garbage for what this host calls; ``planning`` tells what must come of it."""

    def __init__(self, cli: Hermes, data: st.DataObject, *, planning: bool) -> None:
        self.cli, self.data, self.planning = cli, data, planning
        self.middleware = importlib.import_module("hermes_cli.middleware")

    def drawn(self, strategy: st.SearchStrategy[Any]) -> Any:
        return made(self.data.draw(strategy))

    def hook(self) -> None:
        hooks = self.cli.manager._hooks
        name = self.drawn(st.sampled_from(sorted({*hooks} - {"pre_tool_call"})))
        given = self.cli.plugins.invoke_hook(name, **self.drawn(kwargs_for(hooks[name][-1])))
        assert self.planning or given == []

    def call(self) -> None:
        """Whoever asks whether a tool may run, or runs it."""
        tool, ids = self.drawn(st.sampled_from(DENIED)), self.drawn(st.dictionaries(st.sampled_from(IDS), SHAPES, max_size=3))
        args = self.drawn(SHAPES)
        directives = self.cli.plugins.invoke_hook("pre_tool_call", **{**self.cli.ids(), **ids, "tool_name": tool, "args": args})
        assert [(each["action"], bool(rule_of(each["message"]))) for each in directives] == [("block", True)] * self.planning
        ran: list[Any] = []
        result = self.middleware.run_tool_execution_middleware(
            tool, args, lambda final: ran.append(final) or SUCCESS, **{**self.cli.ids(), **ids})
        hook_decides = self.cli.part("host.capabilities").hook_decides(self.cli.manager, self.cli.hooks("pre_tool_call")[0])
        assert len(ran) == (not self.planning or hook_decides)
        assert result == SUCCESS if ran else rule_of(result)

    def request(self) -> None:
        request = {"model": "m", "messages": [], **self.drawn(st.dictionaries(
            st.sampled_from(["messages", "tools", "input", "toolConfig"]), SHAPES, max_size=3))}
        result = self.middleware.apply_llm_request_middleware(
            request, **self.drawn(st.dictionaries(st.sampled_from(IDS), SHAPES, max_size=3)))
        assert self.planning or not result.changed

    def command(self) -> None:
        name, verb, rest = (self.drawn(st.sampled_from(each)) for each in (("planmode", "mode"), HARMLESS, TYPED))
        reply = self.cli.type(f"/{name} {verb} {rest}")
        assert 0 < len(reply) <= MOST_OF_A_REPLY
        assert not reply.startswith("plan-mode failed"), reply

    def tool(self) -> None:
        name = self.drawn(st.sampled_from(["switch_mode", "submit_plan"]))
        entry = importlib.import_module("tools.registry").registry.get_entry(name)
        result = entry.handler(self.drawn(SHAPES), **self.drawn(st.dictionaries(st.sampled_from(IDS), SHAPES, max_size=3)))
        assert '"error"' in result or '"result"' in result


KINDS: tuple[Callable[[Round], None], ...] = (Round.hook, Round.hook, Round.call, Round.request, Round.command, Round.tool)


@pytest.fixture
def raised(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the host logs of callbacks that failed. Nothing else is logged: it would take the most time."""
    found: list[str] = []

    def note(self: logging.Logger, level: int, message: object, args: Any, **_: Any) -> None:
        if self.name == "hermes_cli.plugins" and "raised" in str(message):
            found.append(f"{message}: {args[:2]}")
    monkeypatch.setattr(logging.Logger, "_log", note)
    return found


def fuzz(cli: Hermes, raised: list[str], *, planning: bool) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(data=st.data(), kind=st.sampled_from(KINDS))
    def check(data: st.DataObject, kind: Callable[[Round], None]) -> None:
        kind(Round(cli, data, planning=planning))
        cli.turn()
        assert not raised
    check()


def test_plan_mode_holds(cli: Hermes, raised: list[str]) -> None:
    cli.type("/planmode on")
    cli.turn()
    fuzz(cli, raised, planning=True)
    assert rule_of(cli.asked("terminal", {"command": "ls"})) == "not-granted"
    cli.restart()
    assert rule_of(cli.asked("terminal", {"command": "ls"})) == "not-granted"
    assert cli.type("/planmode off").startswith("Plan mode is off")
    assert not cli.asked("terminal", {"command": "ls"})


def test_who_never_turned_it_on_isnt_concerned(cli: Hermes, raised: list[str]) -> None:
    fuzz(cli, raised, planning=False)
    assert not list(cli.home.rglob("sessions-*/*"))
