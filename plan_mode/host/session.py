"""Where are we? Facts about surface, process and conversation, as the host tells them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from .seams import seam

VARIABLES: Final = MappingProxyType({
    "session_key": "HERMES_SESSION_KEY",
    "tab_id": "HERMES_UI_SESSION_ID",
    "platform": "HERMES_SESSION_PLATFORM",
    "source": "HERMES_SESSION_SOURCE",
    "profile": "HERMES_SESSION_PROFILE",
    "user": "HERMES_SESSION_USER_ID",
    "cron": "HERMES_CRON_SESSION",
})
"""What the host binds in the context of a session; HERMES_SESSION_ID is never read, since it may be another chat's."""

NOTHING_BOUND: Final = MappingProxyType(dict.fromkeys(VARIABLES, ""))


def bound() -> Mapping[str, str]:
    """The session variables that are bound in this context; "" where one isn't. ``os.environ`` never counts."""
    variables = seam("bound_session")
    if variables is None:
        return NOTHING_BOUND
    found: dict[str, str] = {}
    for fact, name in VARIABLES.items():
        try:
            value = variables[name].get("")
        except (TypeError, KeyError, LookupError, AttributeError):
            value = ""
        found[fact] = value if isinstance(value, str) else ""
    return found


def was_engaged() -> bool:
    """Whether a session was ever bound in this process."""
    engaged = seam("engaged")
    try:
        return bool(engaged is not None and engaged())
    except Exception:  # of another kind: somebody made it, so assume the worse
        return True


def key_of_tab(tab_id: str) -> str:
    """The session key of a live tab of this process; "" where it can't be told."""
    try:
        key = seam("tabs")[tab_id]["session_key"]
    except Exception:  # no such tab, or a host that keeps them in another way
        return ""
    return key if isinstance(key, str) else ""


@dataclass(frozen=True, slots=True)
class Message:
    """A command as it came from a chat, before the host dispatched it."""

    command: str
    arguments: str
    session_key: str
    platform: str
    user: str


_message: Final[ContextVar[Message | None]] = ContextVar("plan_mode_message", default=None)


def read_message(event: Any, gateway: Any) -> Message | None:
    """What a chat sent, in which session and by whom; None where that can't be told."""
    try:
        key = gateway._session_key_for_source(event.source)
        text = event.text if isinstance(event.text, str) else ""
        platform = getattr(event.source.platform, "value", event.source.platform)
        command, arguments = (event.get_command() or "", event.get_command_args() or "") if text.startswith("/") else ("", "")
    except Exception:  # a host of another kind: what it binds itself has to do
        return None
    if not isinstance(key, str) or not key:
        return None
    return Message(str(command).replace("_", "-"), str(arguments).strip(), key, str(platform or ""),
                   str(getattr(event.source, "user_id", "") or ""))


def keep_message(message: Message | None) -> None:
    """Remember it in this task until its handler takes it, or the next message comes."""
    _message.set(message)


def take_message(command: str, arguments: str) -> Message | None:
    """The message whose handler is asked now, once; None where what came last in this task was another one."""
    message = _message.get()
    _message.set(None)
    if message is None or (message.command, message.arguments) != (command, arguments.strip()):
        return None
    return message


def interactive_cli(manager: object) -> bool | None:
    """Whether this process has a live interactive CLI; None where the host doesn't say.

    A single-query run has a CLI object too, and isn't one.
    """
    missing = object()
    cli = getattr(manager, "_cli_ref", missing)
    if cli is missing:
        return None
    return cli is not None and not getattr(cli, "_single_query_mode", False) and not getattr(cli, "is_slash_worker", False)


def current_conversation(manager: object) -> str:
    """The conversation that the interactive CLI of this process is in; "" where it can't be told."""
    session_id = getattr(getattr(manager, "_cli_ref", None), "session_id", "")
    return session_id if isinstance(session_id, str) else ""


def runs_gateway() -> bool:
    """Whether a gateway runner lives in this process. Having imported its module proves nothing."""
    reference = seam("gateway_runner")
    if reference is None:
        return False
    try:
        return (reference() if callable(reference) else reference) is not None
    except Exception:  # a reference of another kind: somebody set it, so a runner was started
        return True


def is_slash_worker() -> bool:
    """Whether this process is the TUI's helper for slash commands."""
    return _main_module() == "tui_gateway.slash_worker"


def is_isolated() -> bool:
    """Whether the host runs this plugin in a child process."""
    return bool(os.environ.get("HERMES_PLUGIN_HOST_PROCESS"))


def serves_other_sessions() -> bool:
    return bool(os.environ.get("HERMES_GATEWAY_SESSION"))


def _main_module() -> str:
    main: Any = sys.modules.get("__main__")
    return getattr(getattr(main, "__spec__", None), "name", "") or ""
