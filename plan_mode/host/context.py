"""The parts of the host's plugin context that we use, as a Protocol. Any of them may be missing on an older host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class PluginContext(Protocol):
    """What the host hands to ``register``."""

    def register_hook(self, name: str, callback: Callable[..., Any]) -> Any: ...

    def register_middleware(self, kind: str, callback: Callable[..., Any]) -> Any: ...

    def register_command(
        self, name: str, handler: Callable[[str], str], *, description: str = "", args_hint: str = "",
    ) -> Any: ...

    def register_tool(
        self, name: str, toolset: str, schema: Any, handler: Callable[..., str], *, description: str = "",
    ) -> Any: ...

    def register_cli_command(
        self, name: str, help: str, setup_fn: Callable[[Any], Any], handler_fn: Callable[[Any], Any],
    ) -> Any: ...
