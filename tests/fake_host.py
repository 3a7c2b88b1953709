"""A stand-in for the host, for tests that need none: it keeps what is registered and calls it as the classic CLI would.

No plugin state and no ``get_config``, as on an old host: state lies below HERMES_HOME. Each CLI of a machine answers to a
process identity of its own. Imports no pytest, so that scripts started by a test can use it.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from plan_mode import plugin
from plan_mode.controller import Desk
from plan_mode.host import capabilities, home, lineage, profile, session
from plan_mode.state import expiry, kin, sessions
from plan_mode.state import process as process_module
from plan_mode.state.process import ProcessId

PLAN_TEXT = "# Plan\n\n1. do it\n"

_FOREIGN = re.compile(r"(HERMES|TERMINAL)_")


class Machine:
    """A home, a project, and the CLI processes that share them.

    ``kin`` is what the host's session store would tell, ``config`` its merged configuration (None: can't be read);
    ``isolated``: the host runs plugins in a process of their own.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.home = self.root / "home" / ".hermes"
        self.work = self.root / "work"
        self.plans = self.work / ".hermes" / "plans"
        self.state = self.home / home.PLUGIN_DATA
        self.kin: dict[str, tuple[str, str, bool, float]] = {}
        self.used: set[str] = set()
        self.alive: set[ProcessId] = set()
        self.config: dict[str, Any] | None = None
        self.isolated = False
        self._pids = itertools.count(4_200_001)  # above the highest pid of a system
        for folder in (self.home, self.work):
            folder.mkdir(parents=True, exist_ok=True)

    def enter(self, patch: Any) -> None:
        """Make this Python process stand on that machine; ``patch`` is pytest's."""
        for name in [name for name in os.environ if _FOREIGN.match(name)]:
            patch.delenv(name)
        patch.setenv("HOME", str(self.home.parent))
        patch.setenv("HERMES_HOME", str(self.home))
        patch.setenv("TERMINAL_CWD", str(self.work))
        patch.chdir(self.work)
        patch.setattr(lineage, "parentage", self.parentage)
        patch.setattr(session, "bound", lambda: session.NOTHING_BOUND)
        patch.setattr(session, "is_isolated", lambda: self.isolated)
        for module in (sessions, kin, expiry):
            patch.setattr(module, "is_alive", lambda process: process in self.alive)
        patch.setattr(capabilities, "read_config", lambda: self.config)
        patch.setattr(profile, "own_profile", lambda manager: "default")

    def parentage(self, conversation: str) -> tuple[str, str, bool, float]:
        return self.kin.get(conversation, ("none", "", conversation not in self.used, 0.0))

    def set(self, **settings: Any) -> None:
        """The operator's settings, for CLIs that are started from now on."""
        self.config = {"plugins": {"entries": {"plan-mode": {"settings": settings}}}}

    def cli(self, conversation: str = "A") -> Cli:
        """Start one more CLI."""
        return Cli(self, conversation)

    def server(self) -> Server:
        """Start a process that serves tabs or chats."""
        return Server(self)

    def files(self, pattern: str = "*") -> list[Path]:
        """The files in all state folders."""
        return sorted(self.state.glob(f"sessions-*/{pattern}"))


class FakeContext:
    """The plugin context: registrations are kept, and nothing else is there."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager
        self.hooks: dict[str, list[Callable[..., Any]]] = {}
        self.middleware: dict[str, list[Callable[..., Any]]] = {}
        self.commands: dict[str, Callable[[str], str]] = {}
        self.tools: dict[str, Callable[..., str]] = {}

    def register_hook(self, name: str, callback: Callable[..., Any]) -> None:
        self.hooks.setdefault(name, []).append(callback)

    def register_middleware(self, kind: str, callback: Callable[..., Any]) -> None:
        self.middleware.setdefault(kind, []).append(callback)

    def register_command(self, name: str, handler: Callable[[str], str], *, description: str = "", args_hint: str = "") -> None:
        assert description
        assert args_hint
        self.commands[name] = handler

    def register_tool(self, name: str, toolset: str, schema: Mapping[str, Any], handler: Callable[..., str], *,
                      description: str = "") -> None:
        assert (toolset, schema["name"], schema["description"]) == ("plan-mode", name, description)
        self.tools[name] = handler

    def register_cli_command(self, name: str, help: str, setup_fn: Callable[..., Any], handler_fn: Callable[..., Any]) -> None:
        assert (name, bool(help)) == ("plan-mode", True)
        self.operator = (setup_fn, handler_fn)


def load(cli: object) -> FakeContext:
    """plan-mode in a process with that interactive CLI object."""
    context = FakeContext(SimpleNamespace(_cli_ref=cli, _hooks={}))
    plugin.register(context)
    context._manager._hooks = context.hooks
    return context


class Cli:
    """One classic CLI process with plan-mode loaded, in one conversation.

    ``bound`` are the session variables of its context by the names of ``session.VARIABLES``: none in a CLI.
    """

    platform = "cli"
    serves_others = False

    def __init__(self, machine: Machine, conversation: str, process: ProcessId | None = None,
                 context: FakeContext | None = None) -> None:
        self.machine = machine
        self.process = process or ProcessId(next(machine._pids), "1", "boot", "pid:[1]")
        machine.alive.add(self.process)
        self.cli = SimpleNamespace(session_id=conversation)
        self.context = context or load(self.cli)
        self.bound: dict[str, str] = {}
        self.history: list[dict[str, Any]] = []

    @property
    def conversation(self) -> str:
        return str(self.cli.session_id)

    @property
    def desk(self) -> Desk:
        desk: Desk = self.context.hooks["pre_llm_call"][0].__self__._desk
        return desk

    @contextmanager
    def acting(self) -> Iterator[None]:
        """While this lasts, this Python process is that CLI."""
        real, process_module._identify = process_module._identify, lambda pid: self.process
        unbound, session.bound = session.bound, lambda: session.NOTHING_BOUND._replace(**self.bound)
        alone, session.serves_other_sessions = session.serves_other_sessions, lambda: self.serves_others
        try:
            yield
        finally:
            process_module._identify, session.bound, session.serves_other_sessions = real, unbound, alone

    # -- the person

    def type(self, line: str) -> str:
        """The reply to a slash command."""
        name, _, rest = line.removeprefix("/").partition(" ")
        with self.acting():
            reply = self.context.commands[name](rest)
        assert isinstance(reply, str)
        assert reply
        return reply

    def resume(self, conversation: str) -> None:
        """``/resume`` and ``/branch``: no hook tells."""
        self.cli.session_id = conversation
        self.history = []

    def new(self, conversation: str, *, agent: bool = True) -> None:
        """``/new``. Before the first turn there is no agent, and the CLI calls no hook."""
        self.fire("on_session_finalize", session_id=self.conversation, platform="cli", reason="session_boundary", when=agent)
        self.resume(conversation)
        self.fire("on_session_reset", session_id=conversation, platform="cli", reason="new_session", when=agent)

    def exit(self) -> None:
        self.fire("on_session_finalize", session_id=self.conversation, platform="cli", reason="shutdown")
        self.kill()

    def kill(self) -> None:
        self.machine.alive.discard(self.process)

    # -- the host

    def fire(self, hook: str, *, when: bool = True, **kwargs: Any) -> list[Any]:
        """Call a hook as the host would; a callback that raises fails the test."""
        if not when:
            return []
        with self.acting():
            return [callback(**kwargs) for callback in self.context.hooks[hook]]

    def turn(self, *, conversation: str | None = None, platform: str = "", keep: bool = True, said: str = "go",
             **more: Any) -> str:
        """What is added to the user's message of one turn; with ``keep`` the conversation remembers it."""
        own = conversation is None
        found = self.fire("pre_llm_call", session_id=self.conversation if own else conversation,
                          platform=platform or self.platform,
                          conversation_history=list(self.history) if own else [{"role": "user", "content": said}],
                          user_message=said, model="m", **more)[0]
        text = found["context"] if found else ""
        self.machine.used.add(self.conversation if own else str(conversation))
        if own and keep:
            self.history.append({"role": "user", "content": "go", "api_content": f"go\n\n{text}"})
        return str(text)

    def asked(self, tool: str, args: Any = None, *, conversation: str | None = None) -> str:
        """The text of a denial by the hook, "" when the call may run."""
        directive = self.fire("pre_tool_call", tool_name=tool, args={} if args is None else args, tool_call_id="c1",
                              session_id=self.conversation if conversation is None else conversation)[0]
        assert directive is None or directive["action"] == "block"
        return directive["message"] if directive else ""

    def call(self, tool: str, args: Mapping[str, Any], *, conversation: str | None = None) -> Any:
        """One whole call of an old host: hook, then the middleware around the tool. Writes files for real."""
        denied = self.asked(tool, args, conversation=conversation)
        if denied:
            return {"error": denied}

        def execute(final: Any) -> str:
            if tool == "write_file":
                Path(final["path"]).write_text(final["content"])
            return json.dumps({"success": True, "resolved_path": os.path.realpath(final.get("path", ""))})

        with self.acting():
            result = self.context.middleware["tool_execution"][-1](
                tool_name=tool, args=dict(args), next_call=execute, tool_call_id="c1",
                session_id=self.conversation if conversation is None else conversation)
        return json.loads(result)

    def answer(self, text: str = "done") -> str:
        """What the person reads of the model's answer."""
        [changed] = self.fire("transform_llm_output", response_text=text, session_id=self.conversation)
        return text if changed is None else changed

    def request(self, *messages: dict[str, Any]) -> list[dict[str, Any]]:
        """The messages of one request, as they leave for the model."""
        sent = self.sent({"messages": [dict(row) for row in messages]})
        return list(sent["messages"])

    def sent(self, request: dict[str, Any], *, conversation: str | None = None, platform: str = "", model: str = "own",
             provider: str = "p", turn_id: str = "t1") -> dict[str, Any]:
        """One request as it leaves for the model, after all middlewares; the same object where none changed it."""
        [callback] = self.context.middleware["llm_request"]  # some hosts hand the same request to each, and send the last one's
        with self.acting():
            changed = callback(request=request, session_id=self.conversation if conversation is None else conversation,
                               platform=platform or self.platform, model=model, provider=provider, turn_id=turn_id)
        return changed["request"] if changed else request

    def ask(self, tool: str, args: Any = None, *, conversation: str | None = None) -> dict[str, Any]:
        """The result of a call of one of our own tools, which the hook lets through."""
        session_id = self.conversation if conversation is None else conversation
        assert self.asked(tool, args, conversation=conversation) == ""
        with self.acting():
            result = json.loads(self.context.tools[tool]({} if args is None else args, task_id="t", session_id=session_id))
        assert isinstance(result, dict)
        return result

    def write_plan(self, name: str = "2026-01-01_120000-plan.md", text: str = PLAN_TEXT, **where: Any) -> Path:
        """The agent writes a plan file of this session."""
        with self.acting():
            standing = self.desk.judge.standing(self.desk.where.here("", "").place)
        assert standing.record is not None
        path = Path(standing.record.plan_root) / name
        result = self.call("write_file", {"path": str(path), "content": text}, **where)
        assert "error" not in result, result
        return path

    @property
    def restricted(self) -> bool:
        """Whether a call of the CLI's own conversation that isn't reading is denied."""
        return bool(self.asked("terminal", {"command": "true"}))


class Server:
    """One process that serves several sessions at once: a TUI back-end, Desktop, a gateway."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.process = ProcessId(next(machine._pids), "1", "boot", "pid:[1]")
        machine.alive.add(self.process)
        self.context = load(None)

    def tab(self, key: str, tab: str, source: str = "tui") -> Tab:
        """A tab of the TUI, or a Desktop window."""
        return Tab(self, key, source=source, tab_id=tab)

    def chat(self, key: str, conversation: str, user: str = "", platform: str = "telegram") -> Chat:
        return Chat(self, conversation, session_key=key, platform=platform, user=user)

    def job(self, conversation: str, **bound: str) -> Seat:
        """Anything else that the host runs in this process."""
        return Seat(self, conversation, **bound)

    def kill(self) -> None:
        self.machine.alive.discard(self.process)


class Seat(Cli):
    """One session of a server, as its person and its agent see it."""

    serves_others = True

    def __init__(self, server: Server, conversation: str, **bound: str) -> None:
        super().__init__(server.machine, conversation, server.process, server.context)
        self.server = server
        self.bound = {"profile": "default", **bound}


class Tab(Seat):
    """Its session is called by its conversation, and commands don't know the tab."""

    platform = "tui"

    def __init__(self, server: Server, key: str, **bound: str) -> None:
        super().__init__(server, key, session_key=key, **bound)

    def type(self, line: str) -> str:
        tab, self.bound["tab_id"] = self.bound["tab_id"], ""
        try:
            return super().type(line)
        finally:
            self.bound["tab_id"] = tab

    def rotate(self, key: str) -> None:
        """A compression that isn't in place, or a session opened in the same tab."""
        self.resume(key)
        self.bound["session_key"] = key


class Chat(Seat):
    """Its key stays when its conversation changes."""

    platform = "telegram"

    def type(self, line: str) -> str:
        """What a person reads: word joiners are invisible."""
        return super().type(line).replace("\u2060", "")

    def new(self, conversation: str, *, agent: bool = True) -> None:
        """``/new``: the hooks are told both conversations, and nothing is bound."""
        old = self.conversation
        bound, self.bound = self.bound, {}
        told = {"reason": "new_session", "old_session_id": old, "new_session_id": conversation}
        self.fire("on_session_finalize", session_id=old, **told)
        self.resume(conversation)
        self.fire("on_session_reset", session_id=conversation, **told)
        self.bound = bound
