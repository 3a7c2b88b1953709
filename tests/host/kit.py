"""One classic CLI inside this process: a disposable home, and plan-mode loaded by the host's own plugin manager.

Runs under a host's Python (see run.py). Nothing of the host is replaced: calls go through the agent loop of a real
agent, through ``handle_function_call``, or through the one callable that the host asks before each call.
"""

from __future__ import annotations

import atexit
import compileall
import functools
import importlib
import importlib.util
import itertools
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.manifest import MANIFEST

REPOSITORY = Path(__file__).resolve().parents[2]
CHECKOUT_VARIABLE = "PLAN_MODE_PLUGIN_DIR"
PLAN_MODE = "plan-mode"
CONVERSATION = "20260101_120000_aaaaaa"

# Modules of the host look for a home while they are imported: not the one of whoever runs the tests.
os.environ["HERMES_HOME"] = os.environ["HERMES_BUNDLED_PLUGINS"] = tempfile.mkdtemp(prefix="plan-mode-nowhere-")
atexit.register(shutil.rmtree, os.environ["HERMES_HOME"], ignore_errors=True)

#: What the hosts under test differ in. The tests ask these, the plugin must find out for itself.
IS_OLD = importlib.util.find_spec("hermes_cli.plugins_dispatch") is None
NO_MODIFY = "0.19 has no modify directive"
NO_OUTER_MIDDLEWARE = "0.19 asks its hooks before the execution middleware, not inside of it"

_FOREIGN_VARIABLES = re.compile(r"(HERMES|TERMINAL|ACP|OPENAI|OPENROUTER|ANTHROPIC|NOUS)_|.*_API_KEY$")
_DENIAL = re.compile(r"(?P<mode>\S+) mode \[(?P<rule>[a-z-]+)\]: ")

def rule_of(text: object) -> str:
    """The rule in one of our denials; "" in any other text."""
    found = _DENIAL.search(text) if isinstance(text, str) else None
    return found["rule"] if found else ""


@dataclass(frozen=True)
class Outcome:
    """What the model got for one call: the text as it is, and the parts we look at."""

    text: str

    @property
    def data(self) -> dict[str, Any]:
        found = json.loads(self.text.partition("\n\n[Tool loop warning")[0])
        return found if isinstance(found, dict) else {}

    @property
    def error(self) -> str:
        error = self.data.get("error")
        return error if isinstance(error, str) else ""

    @property
    def rule(self) -> str:
        return rule_of(self.error)


@dataclass(frozen=True)
class Wrapped:
    """What the middleware made of one call: its result, and the arguments that went on (None: it went no further)."""

    result: Any
    passed_on: dict[str, Any] | None


class Hermes:
    """One classic CLI. ``plans`` is where the plan directory of a session in ``work`` lies.

    ``others`` maps the names of a test's own plugins to the text of their ``__init__.py``. The host loads and asks
    plugins in the order of their names: ``aa`` comes before plan-mode, ``zz`` after it.
    """

    _ids = itertools.count(1)

    def __init__(self, root: Path, patch: pytest.MonkeyPatch, *, others: Mapping[str, str] | None = None,
                 settings: Any = None, config: Mapping[str, Any] | None = None, bundled: bool = False) -> None:
        self.root = root.resolve()
        self.home = self.root / "hermes"
        self.work = self.root / "work"
        self.plans = self.work / ".hermes" / "plans"
        for folder in (self.root / "user", self.home / "plugins", self.work, self.root / "no-plugins"):
            folder.mkdir(parents=True, exist_ok=True)
        self._install(others or {})
        self.config: dict[str, Any] = {
            "plugins": {"enabled": [PLAN_MODE, *(others or {})], "auto_update_check_hours": 0},
            "lsp": {"enabled": False}, "security": {"allow_lazy_installs": False, "tirith_enabled": False},
            **(config or {}),
        }
        if settings is not None:
            self.config["plugins"]["entries"] = {PLAN_MODE: {"settings": settings}}
        self.write_config()
        self.patch = patch
        self._enter(patch, bundled=bundled)
        self.cli = SimpleNamespace(session_id=CONVERSATION)
        self.restart()

    def _install(self, others: Mapping[str, str]) -> None:
        shutil.copytree(_compiled(), self.home / "plugins" / PLAN_MODE, copy_function=_link)
        for name, source in others.items():
            other = self.home / "plugins" / name
            other.mkdir()
            (other / "plugin.yaml").write_text(MANIFEST.format(name=name))
            (other / "__init__.py").write_text(source)

    def write_config(self) -> None:
        """Write ``config`` to config.yaml, as a file that the host and the plugin take for another one."""
        path = self.home / "config.yaml"
        path.with_suffix(".new").write_text(json.dumps(self.config))
        os.replace(path.with_suffix(".new"), path)

    def _enter(self, patch: pytest.MonkeyPatch, *, bundled: bool) -> None:
        for name in [name for name in os.environ if _FOREIGN_VARIABLES.match(name)]:
            patch.delenv(name)
        # 0.22 opens no session store below ~/.hermes while tests run.
        patch.setenv("HOME", str(self.root / "user"))
        patch.setenv("HERMES_HOME", str(self.home))
        patch.setenv("HERMES_ENABLE_PROJECT_PLUGINS", "0")
        if bundled:
            patch.delenv("HERMES_BUNDLED_PLUGINS", raising=False)
        else:
            patch.setenv("HERMES_BUNDLED_PLUGINS", str(self.root / "no-plugins"))
        patch.setenv("TERMINAL_CWD", str(self.work))
        patch.chdir(self.work)
        # 0.19 takes the folder of its session store from the first home that it was imported with.
        patch.setattr(importlib.import_module("hermes_state"), "DEFAULT_DB_PATH", self.home / "state.db")
        # Another test of this process may have bound a session.
        patch.setattr(importlib.import_module("gateway.session_context"), "_session_context_engaged", False)

    # -- the plugin manager

    @property
    def plugins(self) -> Any:
        return importlib.import_module("hermes_cli.plugins")

    def unload(self) -> None:
        """Forget the plugin manager and everything that was imported through it, as the end of a process would."""
        if hasattr(self.plugins, "_reset_plugin_managers_for_tests"):
            self.plugins._reset_plugin_managers_for_tests()
        else:
            self.plugins._plugin_manager = None
        for name in [name for name in sys.modules if name.startswith("hermes_plugins.")]:
            del sys.modules[name]

    def restart(self) -> None:
        """A new plugin manager in this process, with nothing in memory."""
        self.unload()
        self.manager: Any = self.plugins.get_plugin_manager()
        self.manager._cli_ref = self.cli
        self.manager.discover_and_load()
        for name in self.config["plugins"]["enabled"]:
            loaded = self.manager._plugins.get(name)
            error = "not discovered" if loaded is None else loaded.error
            assert not error, f"the plugin {name} did not load: {error}"

    def without(self, row: str) -> None:
        """Let this host have none of that row of the plugin's table of seams, until a restart."""
        self._change(row, module="absent", name="absent")

    def failing(self, row: str) -> None:
        """Let that row raise whenever it is called, until a restart."""
        def fail(*_: Any, **__: Any) -> Any:
            raise RuntimeError("the host failed")

        module = ModuleType("a_host_that_fails")
        module.fail = fail  # type: ignore[attr-defined]
        self.patch.setitem(sys.modules, module.__name__, module)
        self._change(row, module=module.__name__, name="fail")

    def _change(self, row: str, **changes: Any) -> None:
        seams = self.part("host.seams")
        self.patch.setattr(seams, "SEAMS", {**seams.SEAMS, row: replace(seams.SEAMS[row], **changes)})

    def part(self, name: str) -> ModuleType:
        """A module of the loaded plugin, such as ``host.seams``."""
        return importlib.import_module(f"hermes_plugins.plan_mode.plan_mode.{name}")

    def hooks(self, name: str) -> list[Callable[..., Any]]:
        """The callbacks of one hook as the manager holds them, ours to change."""
        found: list[Callable[..., Any]] = self.manager._hooks[name]
        return found

    # -- the person

    def type(self, line: str) -> str:
        """What the CLI answers to a slash command of ours."""
        name, _, rest = line.removeprefix("/").partition(" ")
        handler = self.plugins.get_plugin_command_handler(name)
        assert handler is not None, f"no command {name}"
        answer = self.plugins.resolve_plugin_command_result(handler(rest))
        assert isinstance(answer, str)
        return answer

    # -- the conversation

    def turn(self, text: str = "go on", *, history: Any = None, **more: Any) -> str:
        """What the host would add to the message of a turn of the CLI's conversation."""
        about = {"session_id": self.cli.session_id, "task_id": "default", "turn_id": f"t{next(self._ids)}", "user_message": text,
                 "conversation_history": history or [], "is_first_turn": not history, "model": "m", "platform": "cli",
                 "sender_id": ""}
        if not IS_OLD:
            about["parent_session_id"] = ""
        found = self.plugins.invoke_hook("pre_llm_call", **about | more)
        return "\n\n".join(each if isinstance(each, str) else each["context"] for each in found)

    def new(self, conversation: str) -> None:
        """``/new``: the hooks of the CLI, in its order, with what it hands to them."""
        hook = functools.partial(self.plugins.invoke_hook, platform="cli")
        hook("on_session_finalize", session_id=self.cli.session_id, reason="session_boundary")
        self.cli.session_id = conversation
        hook("on_session_reset", session_id=conversation, reason="new_session")

    def exit(self) -> None:
        """The CLI ends."""
        self.plugins.invoke_hook("on_session_finalize", session_id=self.cli.session_id, platform="cli", reason="shutdown")

    @contextmanager
    def sessions(self) -> Iterator[Any]:
        """The host's own session store."""
        store = importlib.import_module("hermes_state").SessionDB()
        try:
            yield store
        finally:
            store.close()

    # -- calls

    def ids(self, **more: str) -> dict[str, str]:
        number = next(self._ids)
        return {"task_id": "default", "session_id": self.cli.session_id, "tool_call_id": f"c{number}", "turn_id": "t1",
                "api_request_id": "r1", **more}

    def asked(self, tool: str, args: Any, **ids: str) -> str:
        """What the host is told by its hooks before a call: the text of a block, or ""."""
        action, message = self.plugins.get_pre_tool_call_directive(tool, args, **self.ids(**ids))
        assert action in (None, "block"), action
        return message or ""

    def wrapped(self, tool: str, args: Any, result: Any = '{"success": true}', **ids: str) -> Wrapped:
        """One call through the execution middleware alone, around a tool that notes its arguments and writes its text."""
        ran: list[Any] = []

        def execute(final: Any) -> Any:
            ran.append(final)
            if tool == "write_file" and "error" not in result:
                Path(final["path"]).parent.mkdir(parents=True, exist_ok=True)
                Path(final["path"]).write_text(final["content"])
            return result

        middleware = importlib.import_module("hermes_cli.middleware")
        got = middleware.run_tool_execution_middleware(tool, args, execute, **self.ids(**ids))
        return Wrapped(got, ran[0] if ran else None)

    def call(self, tool: str, args: Mapping[str, Any], way: str = "loop", **ids: str) -> Outcome:
        """One whole call: hooks, middleware, the host's edit seam, and the real tool.

        ``way``: "loop", the agent's loop; "pool", its threads for several calls at once; "inner", what code run by
        ``execute_code`` uses, which has no ids but the task's.
        """
        if way == "inner":
            nobody = {"task_id": "default"}
            return Outcome(importlib.import_module("model_tools").handle_function_call(tool, dict(args), **nobody | ids))
        return self.batch((tool, args), way=way, **ids)[0]

    def batch(self, *calls: tuple[str, Mapping[str, Any]], way: str = "pool", **ids: str) -> list[Outcome]:
        """Several calls of one message, through the agent's loop or its threads."""
        agent = _agent()
        agent.session_id = ids.pop("session_id", self.cli.session_id)
        agent._tool_guardrails.reset_for_turn()
        called = [SimpleNamespace(id=f"c{next(self._ids)}", type="function",
                                  function=SimpleNamespace(name=tool, arguments=json.dumps(args))) for tool, args in calls]
        messages: list[dict[str, Any]] = []
        executor = importlib.import_module("agent.tool_executor")
        run = executor.execute_tool_calls_concurrent if way == "pool" else executor.execute_tool_calls_sequential
        run(agent, SimpleNamespace(tool_calls=called), messages, ids.get("task_id", "default"), 1)
        assert len(messages) == len(calls), messages
        return [Outcome(message["content"]) for message in messages]

    def write(self, path: Path | str, content: str = "# Plan\n\n1. do it\n", way: str = "loop") -> Outcome:
        return self.call("write_file", {"path": str(path), "content": content}, way)

    # -- what there is on disk

    def files(self) -> dict[str, str]:
        """Every file below the project, with its text; and the decoys that a test put beside it."""
        folders = [self.work, *(folder for folder in [self.root / "outside"] if folder.exists())]
        return {str(path.relative_to(self.root)): path.read_text() for folder in folders
                for path in sorted(folder.rglob("*")) if path.is_file()}


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


@functools.cache
def _compiled() -> Path:
    """The plugin as a clone would hold it, compiled once for all homes of this process."""
    checkout = Path(os.environ.get(CHECKOUT_VARIABLE) or REPOSITORY)
    folder = Path(tempfile.mkdtemp(prefix="plan-mode-plugin-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in ("plugin.yaml", "__init__.py"):
        shutil.copy2(checkout / name, folder / name)
    shutil.copytree(checkout / "plan_mode", folder / "plan_mode", ignore=shutil.ignore_patterns("__pycache__"))
    compileall.compile_dir(folder, quiet=2)
    return folder


@functools.cache
def _agent() -> Any:
    """The agent whose loop runs our calls. It never speaks to a model: the address is one that nobody listens on."""
    run_agent = importlib.import_module("run_agent")
    return run_agent.AIAgent(base_url="http://127.0.0.1:9/v1", api_key="none", model="m", quiet_mode=True, platform="cli",
                             skip_memory=True, skip_context_files=True, session_id=CONVERSATION,
                             enabled_toolsets=["file", "terminal", "todo", "skills", "code_execution"])


@contextmanager
def registered_tools() -> Iterator[None]:
    """The host's tool registry, put back as it was: it belongs to the process, not to a home."""
    importlib.import_module("model_tools")
    registry = importlib.import_module("tools.registry").registry
    before = dict(registry._tools)
    try:
        yield
    finally:
        registry._tools.clear()
        registry._tools.update(before)
        registry._generation += 1
