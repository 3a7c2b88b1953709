"""Host facts -> the keys of this session, or why it has none that a command could use. A table of cases.

``CASES`` is asked from the top, and the first case that applies speaks. What is bound in the context counts; the
environment is inherited by every child process and counts for nothing but suspicion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from .process import ProcessId

CRON: Final = "cron"
CLI: Final = "cli"
ONE_SHOT: Final = "one-shot"
_SCHEDULED: Final = "cron_"
"""How the host begins the ids of scheduled runs: an older one puts no mark into their context."""

API: Final = "api_server"
EDITOR: Final = "acp"
NO_COMMANDS: Final = "no-commands"
"""Rule of the surfaces that hand no plugin commands on."""

_DELIVERIES: Final = frozenset({"webhook", "msgraph_webhook"})


class Surface(NamedTuple):
    """What the host tells about where we are. Text is empty, and flags are False, where it tells nothing.

    ``session_key``, ``tab_id``, ``platform``, ``source``, ``profile``, ``user`` and ``cron`` are what is *bound in the
    context*. ``tabs_key`` is the session key of the tab itself, which a side agent of the tab doesn't have.
    ``interactive_cli`` is the live interactive CLI object of this process (None: the host doesn't say); ``engaged``:
    some session was bound in this process once. ``own_profile`` is the one this plugin was registered for.
    """

    process: ProcessId
    session_key: str = ""
    tab_id: str = ""
    tabs_key: str = ""
    platform: str = ""
    source: str = ""
    profile: str = ""
    own_profile: str = ""
    user: str = ""
    cron: bool = False
    engaged: bool = False
    isolated: bool = False
    gateway_runner: bool = False
    gateway_environment: bool = False
    slash_worker: bool = False
    interactive_cli: bool | None = None

    @property
    def bound(self) -> bool:
        return bool(self.session_key or self.tab_id)


class Place(NamedTuple):
    """Where a command, a turn or a call happens: everything by which its session is found.

    ``process`` is the classic CLI or one-shot process, None elsewhere; ``conversation`` the id the host hands to its
    hooks ("" unknown); ``session_key`` and ``tab`` what a server has bound, and ``tabs_key`` the tab's own session key.
    ``surface`` is the name that an operator gives such a place ("" unknown). ``known`` is False where a server handed out
    nothing that belongs to one session only, beside the id that a call may bring.
    """

    process: ProcessId | None
    conversation: str
    session_key: str = ""
    tab: str = ""
    tabs_key: str = ""
    surface: str = ""
    known: bool = True

    @property
    def carrier(self) -> str:
        """The key of what goes from one conversation to another: the CLI process, or the tab; "" where neither is."""
        if self.process is not None:
            return self.process.key
        return f"ui:{self.tab}" if self.tab else ""

    @property
    def names(self) -> tuple[str, ...]:
        """The keys that stay with the session itself: what the server calls it, and its conversation."""
        bound = tuple(f"sk:{key}" for key in dict.fromkeys((self.session_key, self.tabs_key)) if key)
        return (*bound, conversation_key(self.conversation)) if self.conversation else bound

    @property
    def keys(self) -> tuple[str, ...]:
        """All of them, the carrier's first."""
        return ((self.carrier,) if self.carrier else ()) + self.names


@dataclass(frozen=True, slots=True)
class NoSession:
    """Why modes can't be changed here."""

    rule: str
    reason: str
    hint: str


@dataclass(frozen=True, slots=True)
class Case:
    """One row. ``applies``, ``surface`` (the name an operator gives the place in ``default_mode``) and ``place`` are asked
    with the facts. A row with a ``refusal`` still has keys: its calls are judged, its commands refused."""

    name: str
    applies: Callable[[Surface], bool]
    surface: Callable[[Surface], str]
    place: Callable[[Surface, str, str], Place]
    refusal: NoSession | None = None


_OPERATOR: Final = "On the machine itself, hermes plan-mode off <record id> always works."
_ELSEWHERE: Final = "Use the classic CLI (hermes chat --cli), the TUI, Desktop or a chat."
_NEEDS_BINDING: Final = ("Use a Hermes that binds the session around plugin commands (0.22 does), or the classic CLI: "
                         "hermes chat --cli.")


def _by_process(facts: Surface, conversation: str, surface: str) -> Place:
    return Place(facts.process, conversation, facts.session_key, surface=surface)


def _by_conversation(facts: Surface, conversation: str, surface: str) -> Place:
    return Place(None, conversation, surface=surface)


def _unknown(facts: Surface, conversation: str, surface: str) -> Place:
    if conversation.startswith(_SCHEDULED):
        return Place(None, conversation, surface=CRON)
    return Place(None, conversation, surface=surface, known=False)


def _by_key(facts: Surface, conversation: str, surface: str) -> Place:
    return Place(None, conversation, facts.session_key, surface=surface)


def _by_conversation_else_key(facts: Surface, conversation: str, surface: str) -> Place:
    """A client's key says who talks, and not of what: only a call that brings no conversation goes by it."""
    return Place(None, conversation, "" if conversation else facts.session_key, surface=surface)


def _by_tab(facts: Surface, conversation: str, surface: str) -> Place:
    return Place(None, conversation, facts.session_key, facts.tab_id, facts.tabs_key, surface)


def _named(name: str) -> Callable[[Surface], str]:
    return lambda facts: name


CASES: Final[tuple[Case, ...]] = (
    Case("isolated-plugin", lambda s: s.isolated, _named(""), _by_conversation, NoSession(
        "isolated-plugin",
        "This plugin runs in a process of its own (plugins.isolation: host), where it can't see whose command this is.",
        f"Remove plugins.isolation from config.yaml and start Hermes again. {_OPERATOR}")),
    Case("cron", lambda s: s.cron, _named(CRON), _by_conversation, NoSession(
        "cron", "This is a scheduled run; no person is here to decide.", "Set default_mode for cron in config.yaml.")),
    Case("slash-worker", lambda s: s.slash_worker, _named(""), _by_conversation, NoSession(
        "slash-worker", "This command runs in a helper process of the TUI, away from the conversation it should protect.",
        _NEEDS_BINDING)),
    Case("classic CLI", lambda s: bool(s.interactive_cli), _named(CLI), _by_process),
    Case("API server", lambda s: s.bound and s.platform == API, _named(API), _by_conversation_else_key, NoSession(
        NO_COMMANDS, "The API hands no plugin commands on.", "Set default_mode for api_server in config.yaml.")),
    Case("webhook", lambda s: s.bound and s.platform in _DELIVERIES, lambda s: s.platform, _by_key, NoSession(
        NO_COMMANDS, "Nobody types commands here.", "Set default_mode for this platform in config.yaml.")),
    Case("chat", lambda s: bool(s.session_key and s.platform), lambda s: s.platform, _by_key),
    Case("tab", lambda s: bool(s.tab_id or (s.session_key and s.source)), lambda s: s.source or "tui", _by_tab),
    Case("editor", lambda s: bool(s.session_key), _named(EDITOR), _by_key, NoSession(
        NO_COMMANDS, "The editor's protocol hands no plugin commands on.", "Set default_mode for acp in config.yaml.")),
    Case("gateway-process", lambda s: s.gateway_runner, _named("gateway"), _unknown, NoSession(
        "gateway-process", "This process runs the messaging gateway, and nothing tells whose command this is.",
        f"{_NEEDS_BINDING} {_OPERATOR}")),
    Case("gateway-environment", lambda s: s.gateway_environment, _named("tui"), _unknown, NoSession(
        "gateway-environment",
        "This process serves other sessions (HERMES_GATEWAY_SESSION is set), and nothing tells whose command this is.",
        f"{_NEEDS_BINDING} {_OPERATOR}")),
    Case("engaged-process", lambda s: s.engaged and not s.interactive_cli, _named(""), _unknown, NoSession(
        "engaged-process", "This process has served sessions, and nothing tells whose command this is.", _NEEDS_BINDING)),
    Case("one-shot", lambda s: s.interactive_cli is False, _named(ONE_SHOT), _by_process, NoSession(
        "not-interactive", "There is no interactive CLI in this process, so nobody could approve a plan.", _ELSEWHERE)),
    Case("unknown CLI", lambda s: True, _named(CLI), _by_process),
)


def case_of(facts: Surface) -> Case:
    """The case that speaks for these facts: the first that applies, and the last one applies to everything."""
    return next(case for case in CASES if case.applies(facts))


def place_of(facts: Surface, conversation: str) -> Place:
    """Where these facts put a call or a turn of that conversation ("" unknown)."""
    case = case_of(facts)
    return case.place(facts, conversation, case.surface(facts))


def no_session(facts: Surface) -> NoSession | None:
    """Why no command may change a mode here, or None where it may.

    Two profiles whose sessions share a key can't be told apart: what is compared is the name that the host binds.
    """
    refusal = case_of(facts).refusal
    if refusal is not None or facts.interactive_cli or not facts.bound:
        return refusal
    if not facts.own_profile:
        return NoSession("profile-unknown", "It isn't known for which profile this plugin was loaded, so nothing was changed.",
                         "Start Hermes with the profile named: hermes -p <profile>.")
    if facts.profile and facts.profile != facts.own_profile:
        return NoSession(
            "other-profile",
            f"This session belongs to the profile {facts.profile!r}, and the command reached the plan-mode of "
            f"{facts.own_profile!r}, so nothing was changed.",
            f"Start Hermes for that profile: hermes -p {facts.profile}.")
    return None


def conversation_key(session_id: str) -> str:
    """The key of a conversation, on every surface: the id that the host hands to its hooks."""
    return f"id:{session_id}"


def plan_key(real_path: str) -> str:
    """The key of a recorded plan file: one look tells whose it is."""
    return f"plan:{real_path}"


def user_key(platform: str, user: str) -> str:
    """The key of who types, as far as a platform tells; "" where there is but one person."""
    return f"user:{platform}:{user}" if user else ""
