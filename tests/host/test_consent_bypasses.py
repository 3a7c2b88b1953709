"""What opens nothing: where nobody sits, what skips the host's approvals, and evidence that isn't a yes to this very call."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from tests.host import kit
from tests.host.kit import IS_OLD, Hermes, Outcome
from tests.host.seats import (
    MODE,
    PATIENT,
    PLAN,
    SERVED,
    SUBMIT,
    SWITCH,
    TOOLS,
    Chat,
    Cli,
    Editor,
    Panel,
    Person,
    Run,
    Seat,
    Tab,
    approval,
    nothing,
    says,
)
from tests.host.test_consent import DECIDED, TAKES_NONE, Row, assert_each, expected, found, turn_over
from tests.host.test_seams import as_gateway

pytestmark = pytest.mark.long


@pytest.fixture
def host(hermes: Callable[..., Hermes], monkeypatch: pytest.MonkeyPatch) -> Hermes:
    """With approvals of its own: those of a process are in its modules."""
    for name in ("_session_yolo", "_session_approved", "_permanent_approved"):
        monkeypatch.setattr(approval(), name, type(getattr(approval(), name))())
    return hermes(settings={"switch_pause_ms": 0}, config={"approvals": {"timeout": PATIENT}})


# -- where nobody sits


class Nobody(Seat):
    """The host has ways to ask, and both would say yes."""

    takes_commands = False

    @contextmanager
    def listening(self, person: Person) -> Iterator[None]:
        def notify(shown: dict[str, Any]) -> None:
            self.shown.append(shown)
            approval().resolve_gateway_approval(self.key, "once")

        def panel(command: str, *_: Any, **__: Any) -> str:
            self.shown.append({"command": command})
            return "once"

        terminal = importlib.import_module("tools.terminal_tool")
        approval().register_gateway_notify(self.key, notify)
        terminal.set_approval_callback(panel)
        try:
            yield
        finally:
            approval().unregister_gateway_notify(self.key)
            terminal.set_approval_callback(None)


class OneShot(Nobody):
    """``hermes chat -q``: a CLI object that nobody types into."""

    surface, platform = "one-shot", "cli"

    def sit_down(self) -> None:
        self.host.cli.session_id, self.host.cli._single_query_mode = self.conversation, True

    def bound(self) -> dict[str, str]:
        return {}


class Script(OneShot):
    """``hermes -z``: there isn't even a CLI object."""

    def sit_down(self) -> None:
        self.host.manager._cli_ref = None


class Job(Nobody):
    """A scheduled run of the gateway, which 0.19 doesn't mark in the context."""

    surface = "cron"

    def bound(self) -> dict[str, str]:
        self.conversation = f"cron_{self.number}"
        return {"platform": ""} if IS_OLD else {"cron_session": "1"}


class Delivery(Nobody):
    surface = "webhook"

    def bound(self) -> dict[str, str]:
        self.key = f"webhook:{self.number}"
        return {"session_key": self.key, "platform": "webhook"}


class PlainRun(Run):
    """A call of the API that can't be asked anything back."""

    @contextmanager
    def listening(self, person: Person) -> Iterator[None]:
        yield


class Worker(Cli):
    """A thread of the CLI's process in which the host approves in nobody's name."""

    @contextmanager
    def callback(self, person: Person) -> Iterator[Callable[..., str]]:
        yield importlib.import_module("tools.delegate_tool")._subagent_auto_approve


class BareWorker(Cli):
    """A thread of the CLI's process that has no panel."""

    @contextmanager
    def listening(self, person: Person) -> Iterator[None]:
        yield


ONE_SHOT = ("[not-interactive] Nothing was changed. There is no interactive CLI in this process, so nobody could approve a plan. "
            "Use the classic CLI (hermes chat --cli), the TUI, Desktop or a chat.")
SCHEDULED = (
    "[gateway-process] Nothing was changed. This process runs the messaging gateway, and nothing tells whose command this is. "
    "Use a Hermes that binds the session around plugin commands (0.22 does), or the classic CLI: hermes chat --cli. "
    "On the machine itself, hermes plan-mode off <record id> always works."
) if IS_OLD else (
    "[cron] Nothing was changed. This is a scheduled run; no person is here to decide. Set default_mode for cron in config.yaml.")
NO_PLAN = ("[nobody] Nobody can approve a plan here: plan mode holds by the operator's setting. Give the plan in the "
           "conversation, and stop.")
NOBODY = ("[nobody] Nobody can be asked here, and no commands reach this session, so its mode can't be changed. The operator can "
          "set default_mode for this surface.")
UNATTENDED = f"No one could be asked. Nothing was changed. {TAKES_NONE} Say so and stop."
REFUSED: dict[type[Seat], tuple[str, str]] = {
    OneShot: (ONE_SHOT, ONE_SHOT), Script: (ONE_SHOT, ONE_SHOT), Job: (SCHEDULED, SCHEDULED),
    Delivery: (NO_PLAN, NOBODY),  # its default mode holds without a record, so it has no plans
}


@pytest.mark.parametrize("make", [OneShot, Script, Job, Delivery, PlainRun, Worker, BareWorker])
def test_where_nobody_sits(host: Hermes, monkeypatch: pytest.MonkeyPatch, make: type[Seat]) -> None:
    if make is Job:
        as_gateway(host, monkeypatch)
    for number, tool in enumerate(TOOLS):
        seat = make(host)
        seat.begins(MODE[tool])
        unreachable = (MODE[tool], REFUSED[make][number]) if make in REFUSED else expected(seat, tool, "unreachable")
        if (make, tool) == (PlainRun, SWITCH):
            unreachable = (MODE[tool], NOBODY)
        assert found(seat, seat.asks(tool, nothing)) == unreachable
        assert seat.shown == []


# -- through the agent's loop


@pytest.mark.parametrize("way", ["loop", "pool"])
def test_through_the_agents_loop(host: Hermes, way: str) -> None:
    for make in (Cli, Chat, Editor):
        seat = make(host)
        seat.begins("plan")
        if way == "loop":
            seat.plan += ".md"
            assert not seat.calls("write_file", {"path": seat.plan, "content": PLAN}, nothing, way).error
        assert found(seat, seat.asks(SUBMIT, says("deny"), way)) == expected(seat, SUBMIT, "declined")
        seat.turn()
        seat.writes(f"{PLAN}2. more\n")
        assert found(seat, seat.asks(SUBMIT, says("once"), way)) == expected(seat, SUBMIT, "accepted")
        assert len(seat.shown) == 2


WRAPPERS: dict[str, Callable[[str, Any], Any]] = {
    "in a list": lambda tool, args: {"calls": [{"name": tool, "arguments": args}]},
    "as notices say": lambda tool, args: {"name": tool, "arguments": args},
}


@pytest.mark.parametrize("wrapper", [
    pytest.param("in a list", marks=pytest.mark.skipif(IS_OLD, reason="0.19 takes no calls, but a name")),
    "as notices say"])
def test_through_the_wrapper(host: Hermes, monkeypatch: pytest.MonkeyPatch, wrapper: str) -> None:
    agent = kit._agent()
    monkeypatch.setattr(agent, "enabled_toolsets", [*agent.enabled_toolsets, "plan-mode"])
    for way, make, tool in (("loop", Cli, SUBMIT), ("pool", Chat, SUBMIT), ("loop", Chat, SWITCH)):
        seat: Seat = make(host)
        seat.begins(MODE[tool])
        outcome = seat.calls("tool_call", WRAPPERS[wrapper](tool, seat.args(tool)), says("once"), way)
        assert found(seat, outcome) == expected(seat, tool, "accepted")
        assert len(seat.shown) == 1


# -- what skips the host's approvals

ALLOWED = [*TOOLS, "plan-mode", "plan-mode:*", "*", *(f"plugin_rule:{each}" for each in (*TOOLS, "plan-mode", "*", ""))]

Bypass = Callable[[Hermes, pytest.MonkeyPatch, Sequence[Seat]], Any]


def approvals(mode: str) -> Bypass:
    def write(host: Hermes, patch: pytest.MonkeyPatch, seats: Sequence[Seat]) -> None:
        host.config["approvals"]["mode"] = mode
        host.write_config()
    return write


def allow_list(host: Hermes, patch: pytest.MonkeyPatch, seats: Sequence[Seat]) -> None:
    host.config["command_allowlist"] = ALLOWED
    host.write_config()
    approval().load_permanent_allowlist()
    for key in ALLOWED:
        approval().approve_permanent(key)
        for seat in seats:
            approval().approve_session(seat.key, key)


BYPASSES: dict[str, Bypass] = {
    "yolo of the process": lambda host, patch, seats: patch.setattr(approval(), "_YOLO_MODE_FROZEN", True),
    "yolo of the session": lambda host, patch, seats: [approval().enable_session_yolo(seat.key) for seat in seats],
    "approvals off": approvals("off"),
    "approvals smart": approvals("smart"),
    "allow list": allow_list,
}
STILL_ASKING = {"approvals smart", "allow list", *(["approvals off"] if IS_OLD else [])}
"""What doesn't keep the host from asking a person before a call of ours: no list can name a key that is made for one call."""


@pytest.mark.parametrize("bypass", BYPASSES)
def test_what_skips_approvals_skips_no_question(host: Hermes, monkeypatch: pytest.MonkeyPatch, bypass: str) -> None:
    seats = [(make(host), tool) for tool in TOOLS for make in SERVED]
    BYPASSES[bypass](host, monkeypatch, [seat for seat, _ in seats])
    assert_each(seats, Row(says("deny"), "declined"))
    alone = PlainRun(host)
    alone.begins("ask")
    for tool in TOOLS:
        seat = Cli(host)
        BYPASSES[bypass](host, monkeypatch, [seat, alone])
        assert_each([(seat, tool)], Row(says("deny"), "declined"))
    alone.sit_down()
    assert found(alone, alone.asks(SWITCH, nothing)) == ("ask", NOBODY)


# -- where only the host's own approval of the call reaches a person


ENVIRONMENT: dict[type[Seat], tuple[str, ...]] = {
    Cli: ("HERMES_INTERACTIVE",), Tab: ("HERMES_GATEWAY_SESSION", "HERMES_EXEC_ASK"), Chat: (), Run: ("HERMES_EXEC_ASK",),
    Editor: ()}
"""What the processes of each kind have there, and their hosts' gates look for."""

WITNESSED = [make for make in ENVIRONMENT if not (IS_OLD and issubclass(make, Panel))]
"""0.19 tells its hooks nothing of what was answered on a panel."""

Make = Callable[[type[Seat], str], Seat]


@pytest.fixture
def directed(host: Hermes, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A seat whose host lacks what the plugin would ask by: its hook has the host ask, before the call."""
    host.without("await_decision")
    host.without("panel")

    def make_seat(make: type[Seat], mode: str) -> Seat:
        for name in ("HERMES_INTERACTIVE", "HERMES_GATEWAY_SESSION", "HERMES_EXEC_ASK"):
            if name in ENVIRONMENT[make]:
                monkeypatch.setenv(name, "1")
            else:
                monkeypatch.delenv(name, raising=False)
        seat = make(host)
        seat.begins(mode)
        return seat

    return make_seat


def blocked(seat: Seat, outcome: Outcome) -> tuple[str, bool, int]:
    """The mode, whether the host let the call run, and how often the person was asked."""
    return seat.mode(), not outcome.error.startswith("BLOCKED: "), len(seat.shown)


class TestADirective:
    @pytest.mark.parametrize("way", ["loop", "pool"])
    def test_a_yes(self, directed: Make, way: str) -> None:
        for make in WITNESSED:
            for tool in TOOLS:
                seat = directed(make, MODE[tool])
                assert found(seat, seat.asks(tool, says("once"), way)) == expected(seat, tool, "accepted")
                assert len(seat.shown) == 1

    @pytest.mark.skipif(not IS_OLD, reason="newer hosts tell")
    def test_a_yes_on_a_panel_of_0_19(self, directed: Make) -> None:
        for make in (Cli, Editor):
            seat = directed(make, "ask")
            assert found(seat, seat.asks(SWITCH, says("once"), "loop")) == expected(seat, SWITCH, "unreachable")
            assert len(seat.shown) == 1

    def test_a_no(self, directed: Make) -> None:
        for make in ENVIRONMENT:
            for tool in TOOLS:
                seat = directed(make, MODE[tool])
                assert blocked(seat, seat.asks(tool, says("deny"), "loop")) == (MODE[tool], False, 1)

    @pytest.mark.parametrize("choice", ["session", "always"])
    def test_a_yes_that_the_host_remembers(self, directed: Make, choice: str) -> None:
        """It is remembered of that one question."""
        seat = directed(Chat, "ask")
        assert found(seat, seat.asks(SWITCH, says(choice), "loop")) == expected(seat, SWITCH, "accepted")
        seat.types("/mode ask")
        assert blocked(seat, seat.asks(SWITCH, says("deny"), "loop")) == ("ask", False, 2)

    @pytest.mark.parametrize("bypass", BYPASSES)
    def test_what_skips_approvals(self, host: Hermes, directed: Make, monkeypatch: pytest.MonkeyPatch, bypass: str) -> None:
        """The host runs the call and tells nobody, so nobody has said yes."""
        for make in ENVIRONMENT:
            for tool in TOOLS:
                seat = directed(make, MODE[tool])
                BYPASSES[bypass](host, monkeypatch, [seat])
                outcome = seat.asks(tool, says("deny"), "loop")
                if bypass in STILL_ASKING:
                    assert blocked(seat, outcome) == (MODE[tool], False, 1)
                else:
                    assert found(seat, outcome) == expected(seat, tool, "unreachable")
                    assert seat.shown == []


# -- evidence


def directive(seat: Seat, tool: str = SWITCH) -> str:
    """The key of the question that the hook has the host put before such a call."""
    said = seat.turns(seat.host.plugins._get_pre_tool_call_directive_details, tool, seat.args(tool))
    assert said.action == "approve"
    key: str = said.rule_key
    return key


def gate(seat: Seat, key: str, choice: str = "once") -> None:
    """The host asks, and is answered; what it makes of that is left out."""
    seat.attended(says(choice), lambda: approval().request_tool_approval(SWITCH, "?", rule_key=key))


def runs(seat: Seat, tool: str = SWITCH, **args: str) -> tuple[str, str]:
    """What comes of the call where the host lets it run, after whatever was asked."""
    return found(seat, seat.calls(tool, seat.args(tool) | args, nothing, skip_pre_tool_call_hook=True))


def guardian(seat: Seat, key: str, patch: pytest.MonkeyPatch) -> None:
    """The host's model approves that key in a person's place."""
    message = SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content="APPROVE"), finish_reason="stop")])
    patch.setattr(importlib.import_module("agent.auxiliary_client"), "call_llm", lambda **_: message)
    pattern = f"plugin_rule:{key}"
    verdict = importlib.import_module("tools.approval_smart")._smart_verdict("ls", "?", pattern, [pattern], seat.key)
    assert verdict == "approve"


WITHDRAWN = "[withdrawn] The question was withdrawn before it was answered, so nothing was changed."


class TestEvidence:
    @pytest.fixture
    def seat(self, directed: Make) -> Seat:
        return directed(Chat, "ask")

    def test_for_this_call(self, seat: Seat) -> None:
        gate(seat, directive(seat))
        assert runs(seat) == expected(seat, SWITCH, "accepted")

    def test_none(self, seat: Seat) -> None:
        assert runs(seat) == expected(seat, SWITCH, "unreachable")
        directive(seat)
        assert runs(seat) == expected(seat, SWITCH, "unreachable")

    def test_of_a_no(self, seat: Seat) -> None:
        gate(seat, directive(seat), "deny")
        assert runs(seat) == expected(seat, SWITCH, "declined")

    def test_for_a_wrong_key(self, seat: Seat) -> None:
        for wrong in ("0" * 16, SWITCH, "plan-mode", f"plugin_rule:{directive(seat)}"):
            gate(seat, wrong)
        assert runs(seat) == expected(seat, SWITCH, "unreachable")

    def test_replayed(self, seat: Seat) -> None:
        key = directive(seat)
        gate(seat, key)
        assert runs(seat) == expected(seat, SWITCH, "accepted")
        seat.types("/mode ask")
        gate(seat, key)
        assert runs(seat) == expected(seat, SWITCH, "unreachable")
        directive(seat)
        gate(seat, key)
        assert runs(seat) == expected(seat, SWITCH, "unreachable")

    def test_of_another_call(self, seat: Seat) -> None:
        gate(seat, directive(seat))
        assert runs(seat, mode_slug="debug") == (
            "ask", "No one could be asked. Nothing was changed. The user can type /mode debug. Say so and stop.")

    def test_of_another_session(self, seat: Seat, directed: Make) -> None:
        other = directed(Chat, "ask")
        gate(other, directive(seat))
        assert runs(other) == expected(other, SWITCH, "unreachable")
        directive(other)
        gate(seat, directive(seat))
        assert runs(other) == expected(other, SWITCH, "unreachable")
        assert runs(seat) == expected(seat, SWITCH, "accepted")

    def test_of_an_earlier_activation(self, seat: Seat) -> None:
        gate(seat, directive(seat))
        seat.types("/mode off")
        seat.types("/mode ask")
        assert runs(seat) == ("ask", DECIDED)

    def test_of_an_earlier_turn(self, seat: Seat) -> None:
        gate(seat, directive(seat))
        seat.turn()
        assert runs(seat) == ("ask", WITHDRAWN)

    def test_of_a_turn_that_is_over(self, seat: Seat) -> None:
        gate(seat, directive(seat))
        turn_over(seat)
        assert runs(seat) == ("ask", WITHDRAWN)

    @pytest.mark.skipif(IS_OLD, reason="0.19 tells its hooks nothing of what its model approves")
    def test_of_a_model(self, seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
        guardian(seat, directive(seat), monkeypatch)
        assert runs(seat) == expected(seat, SWITCH, "unreachable")

    def test_of_a_plan_that_was_changed(self, directed: Make) -> None:
        seat = directed(Chat, "plan")
        gate(seat, directive(seat, SUBMIT))
        seat.writes("# Another\n")
        assert runs(seat, SUBMIT) == (
            "plan", "[changed-meanwhile] What the user looked at was changed meanwhile, so nothing was approved. "
                    "Ask again: the user must see what it says now.")
