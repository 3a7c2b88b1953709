"""Sessions of every kind in one process, and the people at them, whom the host asks by its own approvals."""

from __future__ import annotations

import argparse
import asyncio
import contextvars
import functools
import importlib
import itertools
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, TypeVar

from tests.host.kit import IS_OLD, Hermes, Outcome

SUBMIT, SWITCH = TOOLS = "submit_plan", "switch_mode"
MODE = {SUBMIT: "plan", SWITCH: "ask"}
"""In which mode the agent asks."""

PLAN = "# Parser\n\n1. do it\n"
PATIENT, IMPATIENT = 15, 1
"""Seconds that a host waits for an answer; one is the least that it can be told."""
LONG = 30
"""Seconds after which a test gives up."""

T = TypeVar("T")
Person = Callable[["Seat"], Any]


def approval() -> ModuleType:
    return importlib.import_module("tools.approval")


def approval_context() -> ModuleType:
    """Where the approvals of a session are bound; in 0.19 that is the same module."""
    found: ModuleType = getattr(approval(), "approval_context", approval())
    return found


class Seat:
    """One session, bound as its host binds it, and the person at it, who answers by the host's queue of approvals.

    ``surface`` is the name that an operator gives it, ``platform`` what the host calls it in its hooks.
    """

    surface = platform = ""
    takes_commands = True
    _numbers = itertools.count(1)

    def __init__(self, host: Hermes) -> None:
        self.host, self.number = host, next(self._numbers)
        self.conversation = self.key = f"20260101_120000_{self.number:06x}"
        self.plan = str(host.plans / f"{self.number}.md")
        self.record = ""
        self.shown: list[dict[str, Any]] = []
        self._acts: list[Future[Any]] = []
        self._thread = 0
        self.sit_down()
        variables = self.bound()
        self.typing = _bind(variables)
        self.turning = _bind({**variables, **self.bound_in_turns()})
        self.turning.run(self.set_out)

    def sit_down(self) -> None:
        """The process is one for such sessions."""
        self.host.manager._cli_ref = None

    def bound(self) -> dict[str, str]:
        return {"session_key": self.key}

    def bound_in_turns(self) -> dict[str, str]:
        return {}

    def set_out(self) -> None:
        """What the host binds besides."""
        approval_context().set_current_session_key(self.key)

    # -- the session

    def begins(self, mode: str) -> None:
        """The session is in that mode, by what its person types, or by the operator's default where nothing can be typed."""
        before = self._records()
        if self.takes_commands:
            self.types(f"/mode {mode}")
        else:
            set_default(self.host, {self.surface: mode})
        self.turn()
        self.record = "".join(self._records() - before)
        if mode == "plan":
            self.writes(PLAN)

    def _records(self) -> set[str]:
        return {path.stem for path in self.host.home.rglob("sessions-*/*.json")}

    def mode(self) -> str:
        """The mode by which calls are denied; "" where everything is allowed."""
        denied: str = self.turns(self.host.asked, "terminal", {"command": "ls"})
        return denied.partition(" mode [")[0]

    def turn(self) -> str:
        said: str = self.turns(self.host.turn, platform=self.platform or self.surface)
        return said

    def turns(self, run: Callable[..., Any], *args: Any, **more: Any) -> Any:
        """What a function of the host or of the kit says in a turn."""
        return self.turning.copy().run(functools.partial(run, session_id=self.conversation), *args, **more)

    def types(self, line: str) -> str:
        return self.typing.copy().run(self.host.type, line)

    def writes(self, plan: str) -> None:
        """As the real tool would, which takes a quarter of a second."""
        Path(self.plan).parent.mkdir(parents=True, exist_ok=True)
        Path(self.plan).write_text(plan)
        self.turns(self.host.wrapped, "write_file", {"path": self.plan, "content": plan})

    def asks(self, tool: str, person: Person, way: str = "inner", **more: Any) -> Outcome:
        """The agent asks with that tool. ``more``: other arguments."""
        return self.calls(tool, self.args(tool) | more, person, way)

    def args(self, tool: str) -> dict[str, str]:
        return {"path": self.plan} if tool == SUBMIT else {"mode_slug": "code"}

    def calls(self, tool: str, args: Mapping[str, Any], person: Person, way: str = "inner", **more: Any) -> Outcome:
        """What the agent gets for a call. ``more``: for the host."""
        ids = self.host.ids(session_id=self.conversation) if way == "inner" else {"session_id": self.conversation}
        return self.attended(person, lambda: self.host.call(tool, args, way, **ids, **more))

    def attended(self, person: Person, run: Callable[[], T]) -> T:
        """What that gives in a thread of the turn, as every host has one, while the person is there."""
        def turn() -> T:
            self._thread = threading.get_ident()
            try:
                with self.listening(person):
                    return run()
            finally:
                importlib.import_module("tools.interrupt").set_interrupt(False)

        with ThreadPoolExecutor(4) as self._people:
            found = self._people.submit(self.turning.copy().run, turn).result(LONG)
            while self._acts:
                self._acts.pop().result(LONG)
        return found

    # -- the person

    @contextmanager
    def listening(self, person: Person) -> Iterator[None]:
        """While this lasts, the host has somebody to ask."""
        approval().register_gateway_notify(self.key, functools.partial(self.is_shown, person))
        try:
            yield
        finally:
            approval().unregister_gateway_notify(self.key)

    def is_shown(self, person: Person, shown: dict[str, Any]) -> None:
        self.shown.append(shown)
        self._acts.append(self._people.submit(person, self))

    def answers(self, choice: str, text: str = "") -> int:
        """How many questions took this for their answer."""
        found: int = approval().resolve_gateway_approval(self.key, choice, reason=text or None)
        return found

    def closes(self) -> None:
        """The question goes away without an answer."""
        approval().unregister_gateway_notify(self.key)

    def stops(self) -> None:
        """The turn is stopped, as hosts stop their agents."""
        importlib.import_module("tools.interrupt").set_interrupt(True, self._thread)

    def leaves(self) -> None:
        """The mode is left: by a command, else by the operator."""
        if self.takes_commands:
            assert "mode is off" in self.types("/planmode off" if self.mode() == "plan" else "/mode off")
        else:
            operator(self.host, "off", self.record)
        assert self.mode() == ""


class Tab(Seat):
    """0.19 runs the commands of a tab where nothing tells whose they are."""

    surface = "tui"
    takes_commands = not IS_OLD

    def bound(self) -> dict[str, str]:
        return {"session_key": self.key, "source": self.surface, "profile": "default"}

    def bound_in_turns(self) -> dict[str, str]:
        return {"ui_session_id": f"T{self.number}"}


class Desktop(Tab):
    surface = "desktop"


class Chat(Seat):
    surface = "labchat"

    def bound(self) -> dict[str, str]:
        self.key = f"agent:main:labchat:dm:{self.number}"
        return {"session_key": self.key, "platform": "labchat", "chat_id": str(self.number), "user_id": "u1"}


class Run(Seat):
    """A run of the API server."""

    surface = "api_server"
    takes_commands = False

    def bound(self) -> dict[str, str]:
        self.key = f"run_{self.number}"
        return {"session_key": self.key, "platform": "api_server"}


class Panel(Seat):
    """A person who is asked by a callback of the turn's thread."""

    @contextmanager
    def listening(self, person: Person) -> Iterator[None]:
        terminal = importlib.import_module("tools.terminal_tool")
        with self.callback(person) as callback:
            terminal.set_approval_callback(callback)
            try:
                yield
            finally:
                terminal.set_approval_callback(None)

    @contextmanager
    def callback(self, person: Person) -> Iterator[Callable[..., str]]:
        raise NotImplementedError

    def closes(self) -> None:
        self.answers("")


class Cli(Panel):
    """The classic CLI, whose panel waits for a key; "" breaks the terminal."""

    surface = "cli"
    _keys: queue.Queue[str] | None = None

    def sit_down(self) -> None:
        self.host.cli.session_id = self.conversation
        self.host.manager._cli_ref = self.host.cli

    def bound(self) -> dict[str, str]:
        return {}

    @contextmanager
    def callback(self, person: Person) -> Iterator[Callable[..., str]]:
        def wait(command: str, description: str, *, allow_permanent: bool = True, **_: Any) -> str:
            keys = self._keys = queue.Queue()
            self.is_shown(person, {"command": command, "description": description, "allow_permanent": allow_permanent})
            try:
                choice = keys.get(timeout=patience(self.host))
            except queue.Empty:
                return "deny" if IS_OLD else "timeout"  # as that host's own panel says it
            finally:
                self._keys = None
            if not choice:
                raise EOFError
            return choice

        yield wait

    def answers(self, choice: str, text: str = "") -> int:
        if self._keys is None:
            return 0
        self._keys.put(choice)
        return 1


class Editor(Panel):
    """An editor, to which the host's own adapter carries the question; "" cancels it."""

    surface = "acp"
    takes_commands = False
    _permission: Future[str] | None = None

    def set_out(self) -> None:
        super().set_out()
        approval_context().set_hermes_interactive_context(True)

    @contextmanager
    def callback(self, person: Person) -> Iterator[Callable[..., str]]:
        schema = importlib.import_module("acp.schema")

        async def request_permission(session_id: str, tool_call: Any, options: list[Any]) -> Any:
            self._permission = Future()
            self.is_shown(person, {**tool_call.raw_input, "options": [each.option_id for each in options]})
            choice = await asyncio.wrap_future(self._permission)
            if not choice:
                return SimpleNamespace(outcome=schema.DeniedOutcome(outcome="cancelled"))
            option = {"once": "allow_once", "session": "allow_session", "always": "allow_always"}.get(choice, choice)
            return SimpleNamespace(outcome=schema.AllowedOutcome(outcome="selected", option_id=option))

        async def serve() -> None:
            over = asyncio.Event()
            serving.set_result((asyncio.get_running_loop(), over))
            await over.wait()

        serving: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        served = self._people.submit(asyncio.run, serve())
        loop, over = serving.result(LONG)
        try:
            make = importlib.import_module("acp_adapter.permissions").make_approval_callback
            yield make(request_permission, loop, self.conversation, timeout=patience(self.host))
        finally:
            self._permission = None
            loop.call_soon_threadsafe(over.set)
            served.result(LONG)

    def answers(self, choice: str, text: str = "") -> int:
        if self._permission is None or self._permission.done():
            return 0
        self._permission.set_result(choice)
        return 1


SERVED: Sequence[type[Seat]] = (Tab, Desktop, Chat, Run, Editor)


def _bind(variables: Mapping[str, str]) -> contextvars.Context:
    """A context in which the host has bound a session; nothing is bound without variables."""
    context = contextvars.copy_context()
    if variables:
        context.run(importlib.import_module("gateway.session_context").set_session_vars, **variables)
    return context


def set_default(host: Hermes, modes: Any) -> None:
    """The setting default_mode."""
    host.config["plugins"]["entries"]["plan-mode"]["settings"]["default_mode"] = modes
    host.write_config()


def patience(host: Hermes) -> int:
    """The host's approvals.timeout."""
    seconds: int = host.config["approvals"]["timeout"]
    return seconds


def operator(host: Hermes, *arguments: str) -> None:
    """``hermes plan-mode``, in this process."""
    command = host.manager._cli_commands["plan-mode"]
    parser = argparse.ArgumentParser()
    command["setup_fn"](parser)
    command["handler_fn"](parser.parse_args(arguments))


# -- what people do


def nothing(seat: Seat) -> None:
    """They don't answer."""


def says(choice: str, text: str = "") -> Person:
    def act(seat: Seat) -> None:
        assert seat.answers(choice, text) == 1
    return act


def says_after(before: Person, choice: str) -> Person:
    """An answer after something else has happened."""
    def act(seat: Seat) -> None:
        before(seat)
        says(choice)(seat)
    return act
