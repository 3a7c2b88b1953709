"""Where are we? Facts about surface, process and conversation, as the host tells them."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from .seams import seam


class Bound(NamedTuple):
    """What the host binds in the context of a session; "" where it doesn't."""

    session_key: str = ""
    tab_id: str = ""
    platform: str = ""
    source: str = ""
    profile: str = ""
    user: str = ""
    cron: str = ""


VARIABLES: Final = Bound(
    "HERMES_SESSION_KEY", "HERMES_UI_SESSION_ID", "HERMES_SESSION_PLATFORM", "HERMES_SESSION_SOURCE", "HERMES_SESSION_PROFILE",
    "HERMES_SESSION_USER_ID", "HERMES_CRON_SESSION")
"""The host's names for them. HERMES_SESSION_ID is never read, since it may be another chat's."""

NOTHING_BOUND: Final = Bound()

_REVIEW: Final = "bg-review"
"""The host's name for the thread in which it looks back on a turn."""


class _Variables:
    """The host's variables in our order. Looked up once for as long as its table is the same: this runs at every call."""

    def __init__(self) -> None:
        self._table: Any = None
        self._found: list[Any] = []

    def __call__(self) -> list[Any]:
        table = seam("bound_session")
        if table is not self._table:
            self._found = [table.get(name) for name in VARIABLES] if isinstance(table, Mapping) else []
            self._table = table
        return self._found


_variables: Final = _Variables()


def bound() -> Bound:
    """The session variables that are bound in this context. ``os.environ`` never counts."""
    variables = _variables()
    if not variables:
        return NOTHING_BOUND
    try:
        values = [variable.get("") if variable is not None else "" for variable in variables]
    except Exception:  # variables of another kind
        return NOTHING_BOUND
    return Bound(*[value if type(value) is str else "" for value in values])


_ISOLATED: Final = bool(os.environ.get("HERMES_PLUGIN_HOST_PROCESS"))
"""Read once: the child process is started with it, and reading the environment at every call costs more than all else here."""


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


def tab_of(session_key: str) -> str:
    """The one live tab of this process whose session has that key; "" where it can't be told."""
    try:
        found = [tab for tab, live in list(seam("tabs").items()) if live["session_key"] == session_key]
    except Exception:  # no tabs here, or a host that keeps them in another way
        return ""
    return found[0] if len(found) == 1 and isinstance(found[0], str) else ""


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
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return spec is not None and getattr(spec, "name", "") == "tui_gateway.slash_worker"


def is_isolated() -> bool:
    """Whether the host runs this plugin in a child process."""
    return _ISOLATED


def in_background_review() -> bool:
    """Whether this thread looks back on a turn: older hosts let it speak in the conversation's own name."""
    return threading.current_thread().name == _REVIEW


def serves_other_sessions() -> bool:
    return bool(os.environ.get("HERMES_GATEWAY_SESSION"))
