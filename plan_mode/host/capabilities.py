"""What this host can do for enforcement: probed, never concluded from a version."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from .seams import seam

_NO_PERSONALITY: Final = ("", "none", "default", "neutral")
CODEX_RUNTIME: Final = "codex_app_server"


def hook_decides(manager: object, hook: Callable[..., Any]) -> bool:
    """Whether the host asks ``hook`` before each call, and takes its failure for a no.

    Where that isn't so, the execution middleware is the last gate and decides as well.
    """
    if seam("fail_closed_hooks") is None:
        return False
    hooks = getattr(manager, "_hooks", None)
    registered = hooks.get("pre_tool_call", ()) if isinstance(hooks, dict) else ()
    return any(each == hook for each in registered)


def wraps_last(manager: object, middleware: Callable[..., Any]) -> bool:
    """Whether ``middleware`` runs right around the tool, with no other plugin's between; True where that can't be told."""
    middlewares = getattr(manager, "_middleware", None)
    registered = middlewares.get("tool_execution") if isinstance(middlewares, dict) else None
    return not registered or bool(registered[-1] == middleware)


def read_config() -> dict[str, Any] | None:
    """The host's merged configuration, not to be changed; None where it can't be read."""
    load = seam("config")
    try:
        config = load()
    except Exception:  # missing seam or a broken file
        return None
    return config if isinstance(config, dict) else None


def file_backend() -> str | None:
    """Where the configuration lets the terminal and the file tools work: "" where it doesn't say, None if it can't be read."""
    config = read_config()
    if config is None:
        return None
    terminal = config.get("terminal")
    return str(terminal.get("backend") or "") if isinstance(terminal, dict) else ""


def agent_modes() -> Any:
    """What the configuration holds at ``agent.modes``; None where it holds nothing there, or can't be read."""
    agent = (read_config() or {}).get("agent")
    return agent.get("modes") if isinstance(agent, dict) else None


def personality() -> str:
    """The name of the active /personality; "" without one, or where it can't be read."""
    display = (read_config() or {}).get("display")
    name = display.get("personality") if isinstance(display, dict) else None
    return name if isinstance(name, str) and name.strip().lower() not in _NO_PERSONALITY else ""


def bypassing_runtime() -> bool | None:
    """Whether the model runs in the Codex app server, whose own tools no plugin sees; None if it can't be read."""
    config = read_config()
    if config is None:
        return None
    model = config.get("model")
    return isinstance(model, dict) and str(model.get("openai_runtime") or "").strip().lower() == CODEX_RUNTIME


def settings_reader(context: Any) -> Callable[[str, Any], Any] | None:
    """How settings are read: through the plugin context, on older hosts from the merged configuration.

    None where that can't be read now.
    """
    get_config = getattr(context, "get_config", None)
    if callable(get_config):
        return get_config  # type: ignore[no-any-return]
    config = read_config()
    if config is None:
        return None

    def read(key: str, default: Any) -> Any:
        value: Any = config
        for part in ("plugins", "entries", "plan-mode", "settings", *key.split(".")):
            if not isinstance(value, Mapping) or part not in value:
                return default
            value = value[part]
        return value

    return read
