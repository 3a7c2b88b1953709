"""Host facts -> the keys of this session, or why it has none that ``on`` could use. A table of cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from .process import ProcessId


@dataclass(frozen=True, slots=True)
class Surface:
    """What the host tells about where we are. Text is empty, and flags are False, where it tells nothing.

    ``session_key`` and ``tab_id`` are what is *bound in the context*; the environment never counts for them.
    ``interactive_cli`` is the live interactive CLI object of this process (None: the host doesn't say).
    """

    process: ProcessId
    session_key: str = ""
    tab_id: str = ""
    isolated: bool = False
    gateway_runner: bool = False
    gateway_environment: bool = False
    slash_worker: bool = False
    interactive_cli: bool | None = None


@dataclass(frozen=True, slots=True)
class NoSession:
    """Why plan mode can't be turned on here."""

    rule: str
    reason: str
    hint: str


_USE_CLI: Final = "Use the classic CLI: hermes chat --cli."

# First row that applies refuses. Nothing here looks at HERMES_EXEC_ASK: it is inherited, and proves nothing.
_REFUSALS: Final[tuple[tuple[str, Callable[[Surface], bool], str, str], ...]] = (
    ("isolated-plugin", lambda s: s.isolated,
     "This plugin runs in a process of its own (plugins.isolation: host), where it can't see whose command this is.",
     "Remove plugins.isolation from config.yaml for plan-mode."),
    ("slash-worker", lambda s: s.slash_worker,
     "This command runs in a helper process of the TUI, away from the conversation it should protect.", _USE_CLI),
    ("bound-session", lambda s: bool(s.session_key or s.tab_id),
     "This is a session of a server (TUI, Desktop, a chat); this release enforces plan mode in the classic CLI only.", _USE_CLI),
    ("gateway-process", lambda s: s.gateway_runner,
     "This process runs the messaging gateway, and nothing tells whose command this is.", _USE_CLI),
    ("gateway-environment", lambda s: s.gateway_environment and not s.interactive_cli,
     "This process serves other sessions (HERMES_GATEWAY_SESSION is set), and nothing tells whose command this is.", _USE_CLI),
    ("not-interactive", lambda s: s.interactive_cli is False,
     "There is no interactive CLI in this process, so nobody could approve a plan.", _USE_CLI),
)


def where_on_refuses(surface: Surface) -> NoSession | None:
    """Why ``on`` must refuse here, or None in the interactive classic CLI."""
    for rule, applies, reason, hint in _REFUSALS:
        if applies(surface):
            return NoSession(rule, reason, hint)
    return None


def conversation_key(session_id: str) -> str:
    """The key of a conversation, on every surface: the id that the host hands to its hooks."""
    return f"id:{session_id}"


def plan_key(real_path: str) -> str:
    """The key of a recorded plan file: one look tells whose it is."""
    return f"plan:{real_path}"
