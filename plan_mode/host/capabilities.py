"""What this host can do for enforcement: probed, never concluded from a version."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from .seams import seam

_NO_PERSONALITY: Final = ("", "none", "default", "neutral")
_ACP_PROVIDERS: Final = frozenset({"copilot-acp", "github-copilot-acp", "copilot-acp-agent"})
_ACP_ADDRESSES: Final = ("acp:", "acp+")
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


def bypassing_runtime() -> str | None:
    """Why no plugin sees all tools of the model, as a clause that names the setting; "" where it does, None if it can't be read.

    Such programs bring tools of their own: the Codex app server runs commands, an ACP client writes files.
    Does not: see a /model that a person types later on.
    """
    config = read_config()
    if config is None:
        return None
    found = next(_own_programs(config), "")
    return f"the model runs in a program with tools of its own, which no plugin sees ({found})" if found else ""


def _own_programs(config: Mapping[str, Any]) -> Iterator[str]:
    for where, entry in _entries(config, "model", "fallback_model", "fallback_providers"):
        if _word(entry, "openai_runtime") == CODEX_RUNTIME:
            yield f"{where}: openai_runtime {CODEX_RUNTIME}"
        if _word(entry, "provider") in _ACP_PROVIDERS or _word(entry, "base_url").startswith(_ACP_ADDRESSES):
            yield f"{where}: {_word(entry, 'provider') or _word(entry, 'base_url')}"
    for where, entry in _entries(config, "custom_providers", "providers"):
        if CODEX_RUNTIME in (_word(entry, "api_mode"), _word(entry, "transport")):
            yield f"{where}: {CODEX_RUNTIME}"


def _entries(config: Mapping[str, Any], *names: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What describes models and providers at these names: a mapping, several by name, or a list."""
    for name in names:
        held = config.get(name)
        each = held if isinstance(held, list) else [held, *held.values()] if isinstance(held, dict) else []
        yield from ((name, entry) for entry in each if isinstance(entry, dict))


def _word(entry: Mapping[str, Any], name: str) -> str:
    return str(entry.get(name) or "").strip().lower()


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
