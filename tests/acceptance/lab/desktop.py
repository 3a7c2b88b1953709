"""The Desktop app's back end, `hermes serve`, and windows of it: JSON-RPC over a websocket.

    desktop = lab.desktop(home)
    window = desktop.window()                  # a connection; answers=False: of an app too old to be asked
    tab = window.tab(source="desktop")         # see tab.py; profile="work" for a session of Home.add_profile("work")
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from .home import Home
from .process import Process
from .rpc import Rpc, RpcError
from .scripted_model import ScriptedModel
from .tab import Backend

_TOKEN = "token-of-the-lab"
_READY = re.compile(r"HERMES_(?:BACKEND|DASHBOARD)_READY port=(\d+)")


class Desktop:
    """One running server; ``window`` connects to it."""

    def __init__(
        self,
        home: Home,
        model: ScriptedModel,
        *,
        env: Mapping[str, str] | None = None,
        seconds: float = 90.0,
    ) -> None:
        self._home, self._model = home, model
        self._windows: list[Window] = []
        self.process = Process(
            [home.host.hermes, "serve", "--port", "0", "--skip-build"],
            env={**(env or home.env()), "HERMES_DASHBOARD_SESSION_TOKEN": _TOKEN},
            cwd=home.work,
            log=home.user / "serve.log",
        )
        try:
            ready = self.process.wait_until(
                lambda: _READY.search(self.process.output), seconds, "port of the server"
            )
            assert ready
            self.port = int(ready[1])
        except BaseException:  # also an interrupt: nobody else knows of the process yet
            self.process.close()
            raise

    def window(self, *, answers: bool = True) -> Window:
        """Open a window. One that doesn't say it answers questions is asked none by 0.22."""
        window = Window(self._home, self._model, self.process, self.port, answers=answers)
        self._windows.append(window)
        return window

    def kill(self) -> int:
        """End the server as a crash would; return the exit code."""
        return self.process.kill()

    def close(self) -> None:
        for window in self._windows:
            window.close()
        self.process.close()


class Window(Backend):
    """One connection of the app to the server."""

    def __init__(
        self, home: Home, model: ScriptedModel, server: Process, port: int, *, answers: bool
    ) -> None:
        url = f"ws://127.0.0.1:{port}/api/ws?token={_TOKEN}"
        self._connection = ExitStack()
        self._socket = self._connection.enter_context(
            connect(url, proxy=None, max_size=None, open_timeout=60)
        )
        super().__init__(home, model, Rpc(self._write, over=self._over, screen=server.newest))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if answers:
            with suppress(RpcError):  # 0.19 doesn't know the call, and asks everyone
                self.rpc.call("client.capabilities", {"server_requests": True})

    def close(self) -> None:
        """Close the connection, as closing the window does; its sessions stay for a while."""
        self._connection.close()
        self._reader.join(5)

    def _write(self, line: str) -> None:
        with suppress(ConnectionClosed):
            self._socket.send(line)

    def _over(self) -> str:
        return "" if self._reader.is_alive() else "the connection is closed"

    def _read(self) -> None:
        with suppress(ConnectionClosed):
            for message in self._socket:
                text = message if isinstance(message, str) else message.decode()
                for line in text.splitlines():
                    self.rpc.receive(line)
