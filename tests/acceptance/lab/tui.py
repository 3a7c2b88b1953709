"""The terminal UI's back end, started as the Ink TUI starts it: JSON-RPC over its standard streams.

    tui = lab.tui(home)
    tab = tui.tab()           # see tab.py
    tui.exit()                # as closing the TUI; or tui.kill()
"""

from __future__ import annotations

from collections.abc import Mapping

from .home import Home
from .process import Process
from .rpc import rpc_with
from .scripted_model import ScriptedModel
from .tab import Backend


class Tui(Backend):
    """One running ``python -m tui_gateway.entry``."""

    def __init__(
        self,
        home: Home,
        model: ScriptedModel,
        *,
        env: Mapping[str, str] | None = None,
        seconds: float = 90.0,
    ) -> None:
        self.process = Process(
            [home.host.python, "-m", "tui_gateway.entry"],
            env=env or home.env(HERMES_PYTHON=home.host.python),
            cwd=home.work,
            log=home.user / "tui.log",
            talks=True,
        )
        super().__init__(home, model, rpc_with(self.process))
        try:
            self.rpc.wait_until(self._ready, seconds, "gateway.ready")
        except BaseException:  # also an interrupt: nobody else knows of the process yet
            self.process.close()
            raise

    def _ready(self) -> bool:
        return any(notice.params.get("type") == "gateway.ready" for notice in list(self.rpc.notices))

    def exit(self) -> int:
        """End its input, as the TUI does when it closes; return the exit code."""
        return self.process.end_input()

    def kill(self) -> int:
        """End the process as a crash would; return the exit code."""
        return self.process.kill()

    def close(self) -> None:
        self.process.close()
