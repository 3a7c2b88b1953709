"""One bench: a scripted model, homes and what was started in them, all cleared away at the end."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .acp import Acp
from .api import Api
from .chat_wire import Call
from .cli import Cli
from .gateway import Gateway
from .home import Home
from .hosts import Host
from .plugins import PLAN_MODE
from .scripted_model import Play, ScriptedModel, Step, ToolResult, last_words
from .tui import Tui
from .webhook import Webhook

if TYPE_CHECKING:
    from .desktop import Desktop

KEEP_VARIABLE = "LAB_KEEP"


class Lab:
    """A context manager. With LAB_KEEP=1 the homes of a failure stay, with requests.jsonl in them.

    ``failed`` is set by who knows of a failure that isn't an exception in the block; ``keep``
    keeps the homes in any case; ``expects_aux`` says that the host asks the model things of its own.
    """

    def __init__(self) -> None:
        self.model = ScriptedModel()
        self.homes: list[Home] = []
        self.failed = False
        self.keep = False
        self.expects_aux = False
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

    def tui(self, home: Home, *, env: Mapping[str, str] | None = None) -> Tui:
        """Start the terminal UI's back end; see Tab for its sessions."""
        tui = Tui(home, self.model, env=env)
        self._closing.callback(tui.close)
        return tui

    def desktop(self, home: Home, *, env: Mapping[str, str] | None = None) -> Desktop:
        """Start the Desktop app's back end; see Tab for its sessions."""
        from .desktop import Desktop  # its websocket library is there for tests, not for the demo

        desktop = Desktop(home, self.model, env=env)
        self._closing.callback(desktop.close)
        return desktop

    def gateway(self, home: Home, *, env: Mapping[str, str] | None = None) -> Gateway:
        """Start the messaging gateway, with a chat platform; see Chat for its conversations."""
        gateway = Gateway(home, self.model, env=env)
        self._closing.callback(gateway.close)
        return gateway

    def api(self, home: Home, *, env: Mapping[str, str] | None = None) -> Api:
        """Start the API server."""
        api = Api(home, env=env)
        self._closing.callback(api.close)
        return api

    def acp(self, home: Home, *, env: Mapping[str, str] | None = None) -> Acp:
        """Start the agent of an editor."""
        acp = Acp(home, env=env)
        self._closing.callback(acp.close)
        return acp

    def webhook(
        self,
        home: Home,
        *,
        toolsets: Sequence[str] = ("file", "terminal"),
        env: Mapping[str, str] | None = None,
    ) -> Webhook:
        """Start the gateway with a webhook."""
        webhook = Webhook(home, self.model, toolsets=toolsets, env=env)
        self._closing.callback(webhook.close)
        return webhook

    def script(self, name: str, *plays: Call | Play) -> None:
        """Set a script: a bare ``(tool, arguments)`` is a step; its last words are added."""
        steps = [Step(calls=[p]) if isinstance(p, tuple) else p for p in plays]
        self.model.script(name, *steps, Step(last_words(name)))

    def results(self, script: str) -> list[ToolResult]:
        """Return the calls of a script with the results the model got."""
        return self.model.tool_results(script)
