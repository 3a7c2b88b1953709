"""One bench: a scripted model, homes and what was started in them, all cleared away at the end."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from .chat_wire import Call
from .cli import Cli
from .home import Home
from .hosts import Host
from .plugins import PLAN_MODE
from .scripted_model import Play, ScriptedModel, Step, ToolResult

KEEP_VARIABLE = "LAB_KEEP"


class Lab:
    """A context manager. With LAB_KEEP=1 the homes of a failure stay, with requests.jsonl in them.

    ``failed`` is set by who knows of a failure that isn't an exception in the block; ``keep``
    keeps the homes in any case.
    """

    def __init__(self) -> None:
        self.model = ScriptedModel()
        self.homes: list[Home] = []
        self.failed = False
        self.keep = False
        self._closing = ExitStack()

    def __enter__(self) -> Lab:
        self.model.start()
        self._closing.callback(self.model.stop)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._closing.close()
        failed = self.failed or kind is not None
        self._clear(keep=self.keep or (failed and os.environ.get(KEEP_VARIABLE) == "1"))

    def _clear(self, *, keep: bool) -> None:
        for home in self.homes:
            if keep:
                self.model.dump(home.user / "requests.jsonl")
                print("kept:", home.user, file=sys.stderr)
            else:
                home.remove()

    def home(
        self,
        host: Host,
        *,
        plugins: Sequence[str] = (PLAN_MODE,),
        sources: Mapping[str, str] | None = None,
        settings: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Home:
        """Make a home whose model is this lab's; see Home."""
        home = Home(
            host,
            self.model.url,
            plugins=plugins,
            sources=sources,
            settings=settings,
            extra=extra,
        )
        self.homes.append(home)
        return home

    def cli(self, home: Home, *arguments: str, env: Mapping[str, str] | None = None) -> Cli:
        """Start a classic CLI and wait for its prompt."""
        cli = Cli(home, self.model, arguments, env=env)
        self._closing.callback(cli.close)
        return cli

    def script(self, name: str, *plays: Call | Play) -> None:
        """Set a script: a bare ``(tool, arguments)`` is a step; its last words are added."""
        steps = [Step(calls=[p]) if isinstance(p, tuple) else p for p in plays]
        self.model.script(name, *steps, Step(f"DONE-{name}"))

    def results(self, script: str) -> list[ToolResult]:
        """Return the calls of a script with the results the model got."""
        return self.model.tool_results(script)
