"""Whatever a host hands over, no callback raises, nothing opens, nobody else is locked out, and the state stays readable."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plan_mode.host import capabilities
from plan_mode.modes.builtin import BUILTIN, PLAN
from plan_mode.policy.catalogue import ALIASES, CATALOGUE
from plan_mode.policy.decide import could_allow
from plan_mode.state.sessions import MOST_KEYS
from tests.fake_host import Cli, FakeContext, Machine, load
from tests.fixtures import write_without_fsync
from tests.garbage import LINES, MADE, SHAPES, TYPED, VERBS, kwargs_for, made, names_of, walked

ALLOWED = frozenset(name for name in (*CATALOGUE, *ALIASES) if could_allow(PLAN, name))
MOST_OF_A_REPLY = 20_000
MOST_REMEMBERED = 32
RESULT = '{"success": true}'


class Callback(NamedTuple):
    """One of the callbacks that were registered; its number among those of the same name."""

    kind: str
    name: str
    number: int = 0


def registered(context: FakeContext) -> dict[Callback, Callable[..., Any]]:
    """Everything that the host may call while sessions run."""
    several = {"hook": context.hooks, "middleware": context.middleware}
    single: dict[str, dict[str, Callable[..., Any]]] = {"command": dict(context.commands), "tool": dict(context.tools)}
    return {Callback(kind, name, number): callback for kind, table in several.items() for name, callbacks in table.items()
            for number, callback in enumerate(callbacks)} | {
        Callback(kind, name): callback for kind, table in single.items() for name, callback in table.items()}


def calls() -> st.SearchStrategy[tuple[Callback, Any]]:
    """One call of any callback: its keyword arguments, or the line that a command is handed."""
    return st.one_of([st.tuples(st.just(callback), _told(callback, function))
                      for callback, function in registered(load(None)).items()])


def _told(callback: Callback, function: Callable[..., Any]) -> st.SearchStrategy[Any]:
    if callback.kind == "command":
        return LINES
    if callback.kind == "tool":
        return st.tuples(SHAPES, kwargs_for(function).map(lambda told: {key: told[key] for key in told if key != "args"}))
    return kwargs_for(function)


class Called(NamedTuple):
    """What a callback gave, and how often it went on to what it is wrapped around."""

    given: Any
    went_on: int


def call(context: FakeContext, callback: Callback, told: Any) -> Called:
    """Call it as the host would. Whatever it raises fails the test."""
    function, ran = registered(context)[callback], 0

    def go_on(final: Any) -> str:
        nonlocal ran
        ran += 1
        return RESULT

    if callback.kind == "command":
        return Called(function(told), 0)
    if callback.kind == "tool":
        args, kwargs = told
        return Called(function(args, **kwargs), 0)
    wraps = {"next_call": go_on} if callback.name.endswith("_execution") else {}
    return Called(function(**told, **wraps), ran)


def decides(callback: Callback, told: Any) -> bool:
    """Whether a person turns a mode on or off by it."""
    if callback.kind != "command" or type(told) is not str:
        return False
    verb, *rest = told.replace("\u2060", "").lower().split() or [""]
    if verb == "approve":
        return not rest or "--mode" in told or ".md" in told
    return verb in ("on", "off") or (callback.name == "mode" and bool({verb, *rest[:1]} & {*BUILTIN}))


def check_form(callback: Callback, told: Any, called: Called) -> None:
    """What holds in every state."""
    given = called.given
    assert called.went_on <= 1
    if callback.kind == "command":
        assert type(given) is str
        assert 0 < len(given) <= MOST_OF_A_REPLY, len(given)
        given.encode()
        assert type(told) is not str or not given.startswith("plan-mode failed"), given
    elif callback.kind == "tool":
        assert {"error", "result"} & set(json.loads(given))
    elif callback.kind == "hook":
        assert given is None or type(given) in (dict, str)
    elif callback.name.endswith("_execution"):
        assert called.went_on or "error" in json.loads(given)


def check_denied(callback: Callback, told: Any, called: Called, *, hook_decides: bool) -> None:
    """What holds while planning."""
    if callback.kind not in ("hook", "middleware") or _names_an_allowed_tool(told):
        return
    if callback.name == "pre_tool_call":
        assert called.given["action"] == "block"
        assert re.search(r"\[[a-z-]+\]", called.given["message"])
    elif callback.name == "tool_execution" and not hook_decides:
        assert not called.went_on
        assert re.search(r"\[[a-z-]+\]", json.loads(called.given)["error"])


def _names_an_allowed_tool(told: dict[str, Any]) -> bool:
    name = told.get("tool_name")
    return type(name) is str and name in ALLOWED


def check_untouched(callback: Callback, told: Any, called: Called, before: list[Any]) -> None:
    """What holds for whoever never turned anything on."""
    if callback.kind in ("hook", "middleware"):
        assert walked(told) == before
        if callback.name.endswith("_execution"):
            assert called == (RESULT, 1)
        else:
            assert called.given is None


# -- the three states

@pytest.fixture(scope="module", autouse=True)
def patched() -> Iterator[None]:
    """No log either: it would be what takes the longest."""
    with pytest.MonkeyPatch.context() as patch:
        write_without_fsync(patch)
        logging.disable()
        yield
        logging.disable(logging.NOTSET)


SEATS: dict[str, Callable[[Machine], Cli]] = {
    "cli": lambda machine: machine.cli("A"),
    "tab": lambda machine: machine.server().tab("A", "T"),
    "chat": lambda machine: machine.server().chat("k", "A", "u"),
}


def fresh(root: str, patch: pytest.MonkeyPatch, *, hook_decides: bool = False) -> Machine:
    machine = Machine(Path(root))
    machine.enter(patch)
    patch.setattr(capabilities, "hook_decides", lambda manager, hook: hook_decides)
    return machine


class Watcher:
    """Makes calls at one seat, and checks after each what its state promises."""

    def __init__(self, seat: Cli, *, planning: bool, hook_decides: bool = False) -> None:
        self.seat, self.planning, self.hook_decides = seat, planning, hook_decides

    def call(self, callback: Callback, told: Any) -> None:
        if decides(callback, told):
            return
        before = [] if self.planning else walked(told)
        with self.seat.acting():
            called = call(self.seat.context, callback, told)
        check_form(callback, told, called)
        if self.planning:
            check_denied(callback, told, called, hook_decides=self.hook_decides)
        else:
            check_untouched(callback, told, called, before)


def planning(machine: Machine, where: str) -> Cli:
    """A session in plan mode that has written a plan."""
    seat = SEATS[where](machine)
    seat.type("/planmode on")
    seat.turn()
    seat.write_plan()
    return seat


def check_still_planning(seat: Cli, where: str) -> None:
    seat.turn()
    assert seat.restricted
    assert "Plan mode is on since " in seat.type("/planmode status")
    seat.kill()
    assert SEATS[where](seat.machine).restricted, "after a restart"
    assert len(seat.machine.files()) <= 12


PLAUSIBLE: dict[str, Any] = {
    "tool_name": "terminal", "args": {"command": "ls"}, "session_id": "A", "tool_call_id": "c1", "task_id": "default",
    "platform": "cli", "model": "m", "provider": "p", "turn_id": "t1", "user_message": "go", "conversation_history": [],
    "request": {"model": "m", "messages": [{"role": "user", "content": "go"}], "tools": []}, "response_text": "done",
    "pattern_key": "plugin_rule:x", "choice": "once", "reason": "session_boundary", "status_code": 404,
    "parent_session_id": "A", "child_session_id": "child", "child_goal": "x",
}
"""What hosts do hand over, in which one thing is garbage."""


def one_by_one(callback: Callback, function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Each hostile value in each place among plausible ones, and in all places at once; with words for what it is."""
    for value in MADE:
        if callback.kind == "command":
            yield f"{value} as the line", value.make()
            continue
        names = names_of(function)
        for places in (*([name] for name in names), names):
            told = {**PLAUSIBLE, **{name: value.make() for name in places}}
            yield f"{value} as {', '.join(places)}", (told.pop("args"), told) if callback.kind == "tool" else told


def lines() -> Iterator[tuple[str, str]]:
    return ((f"{verb} TYPED[{number}]", f"{verb} {rest}") for verb in VERBS for number, rest in enumerate(TYPED))


def check_one_by_one(watcher: Watcher) -> None:
    """All of them, and then every failure at once."""
    failures = []
    for callback, function in registered(watcher.seat.context).items():
        for what, told in chain(one_by_one(callback, function), lines() if callback.kind == "command" else ()):
            try:
                watcher.call(callback, told)
            except Exception as exc:  # noqa: BLE001 (whatever a callback lets through)
                failures.append(f"{callback.name}: {what}: {type(exc).__name__}")
        watcher.seat.turn()
    assert not failures, "\n".join(failures)


def test_plan_mode_holds_against_each_hostile_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seat = planning(fresh(str(tmp_path), monkeypatch), "cli")
    check_one_by_one(Watcher(seat, planning=True))
    check_still_planning(seat, "cli")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(where=st.sampled_from(sorted(SEATS)), hook_decides=st.booleans(), steps=st.lists(calls(), min_size=1, max_size=5))
def test_plan_mode_holds(where: str, hook_decides: bool, steps: list[tuple[Callback, Any]]) -> None:
    with TemporaryDirectory() as root, pytest.MonkeyPatch.context() as patch:
        seat = planning(fresh(root, patch, hook_decides=hook_decides), where)
        watcher = Watcher(seat, planning=True, hook_decides=hook_decides)
        for callback, garbage in steps:
            watcher.call(callback, made(garbage))
            seat.turn()
        check_still_planning(seat, where)


@contextmanager
def untouched(root: str, patch: pytest.MonkeyPatch, where: str, *, elsewhere: bool) -> Iterator[Watcher]:
    """A session that never turned anything on, beside one of another process that did or didn't."""
    machine = fresh(root, patch)
    seat, other = SEATS[where](machine), machine.cli("B")
    if elsewhere:
        other.type("/planmode on")
        other.turn()
    files = machine.files()
    yield Watcher(seat, planning=False)
    assert machine.files() == files
    assert other.restricted is elsewhere


def test_nobody_else_is_concerned_by_each_hostile_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with untouched(str(tmp_path), monkeypatch, "tab", elsewhere=True) as watcher:
        check_one_by_one(watcher)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(where=st.sampled_from(sorted(SEATS)), elsewhere=st.booleans(), steps=st.lists(calls(), min_size=1, max_size=5))
def test_nobody_else_is_concerned(where: str, elsewhere: bool, steps: list[tuple[Callback, Any]]) -> None:
    with TemporaryDirectory() as root, pytest.MonkeyPatch.context() as patch, \
            untouched(root, patch, where, elsewhere=elsewhere) as watcher:
        for callback, garbage in steps:
            watcher.call(callback, made(garbage))


# -- growth

def test_many_calls_leave_little_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call speaks of another conversation, of another tool and of another person."""
    monkeypatch.setattr("plan_mode.memory._MOST_REMEMBERED", MOST_REMEMBERED)
    machine = fresh(str(tmp_path), monkeypatch)
    server = machine.server()
    seats = [server.tab("A", "T"), server.chat("k", "C", "u"), machine.cli("B")]
    for seat in seats:
        seat.type("/planmode on")
        seat.turn()
    for number, (which, seat) in product(range(60), enumerate(seats)):
        for callback, function in registered(seat.context).items():
            told: Any = dict.fromkeys(names_of(function), f"{which}-{number}")
            told["args"] = {"path": str(machine.plans / f"{number}.md"), "content": "x"}
            told = {"command": f"check {number}", "tool": (told.pop("args"), told)}.get(callback.kind, told)
            with seat.acting():
                call(seat.context, callback, told)
    for seat in seats:
        seat.turn()
        assert seat.restricted
        kept = seat.desk.memory
        assert {name for name in kept.__slots__ if len(getattr(kept, name)) > MOST_REMEMBERED} == set()
    assert len(machine.files("*.json")) == len(seats)
    assert len(machine.files()) <= len(seats) * (1 + MOST_KEYS)
