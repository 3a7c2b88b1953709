"""A person's yes: one interface over the ways that hosts have to ask for it.

``prompt`` is the host's own approval wait of a server's session, ``panel`` the approval panel of a terminal or an editor:
both are asked where the call runs, and neither knows of yolo, allow lists or approvals that are off. ``directive`` is the
host's approval of a call before it runs; what skips that gives no evidence, and without evidence nobody has said yes.
``command``: only what a person types counts. ``nobody``: no yes was needed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from .capabilities import read_config
from .seams import seam

log: Final = logging.getLogger(__name__)

Way = Literal["prompt", "panel", "directive", "command", "nobody"]
Outcome = Literal["accepted", "declined", "unreachable", "timed-out", "cancelled"]

YES: Final = frozenset({"once", "session", "always"})
"""All of them mean yes to this one question: nothing is remembered beyond it."""

_OUTCOMES: Final[dict[object, Outcome]] = {
    **dict.fromkeys(YES, "accepted"), "deny": "declined", "timeout": "timed-out", "cancelled": "cancelled",
    "notify_failed": "unreachable",
}

NOBODY: Final = frozenset({"", "cron", "one-shot", "webhook", "msgraph_webhook", "gateway"})
"""Surfaces where no person waits, whatever the host has registered there."""

_TERMINALS: Final = frozenset({"cli", "acp"})
"""Surfaces whose prompt is a panel of their own."""

_FOR_NOBODY: Final = ("_subagent_auto_", "_bg_review_auto_")
"""How the host begins the names of callbacks that answer in nobody's name."""

_OLDEST_TIMEOUT: Final = 60.0
"""Seconds, of the oldest host we know."""

_BETWEEN_LINES: Final = " · "

PATTERN: Final = "plan-mode"
RULE_PREFIX: Final = "plugin_rule:"
"""How the host begins the key of an approval that a plugin has asked for."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a question. ``way`` and ``choice`` say how, ``text`` what the person wrote beside a no."""

    outcome: Outcome
    way: Way
    choice: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Wording:
    """A question as it is shown: a ``headline`` of one line, and below it what there is to know."""

    headline: str
    details: str


def answer_of(choice: object, way: Way, text: object = "") -> Answer:
    """What a choice means. One that no host of ours gives is nobody's yes."""
    outcome = _OUTCOMES.get(choice) if isinstance(choice, str) else None
    return Answer(outcome or "cancelled", way, str(choice or ""), text.strip() if isinstance(text, str) else "")


def way_to_a_person(surface: str) -> Way:
    """The way to whoever sits at that surface, in the context of their session; asked anew for each question."""
    if surface in NOBODY:
        return "command"
    if surface in _TERMINALS:
        if _called("panel_callback") is not None and seam("panel") is not None:
            return "panel" if _shows_panel() else "command"
        return "directive" if seam("panel") is None else "command"
    if seam("await_decision") is None or seam("notifiers") is None:
        return "directive"
    return "prompt" if _notifier() is not None else "command"


def is_busy() -> bool:
    """Whether this session is being asked something already: an answer in words would be taken for that question's."""
    key = _called("approval_session", "")
    return bool(key) and bool(_called("blocking_approval", key))


def ask(way: Way, wording: Wording, nonce: str) -> Answer:
    """Ask, and wait until there is an answer or the host's own time for one is over. Never raises; failing is no yes.

    ``nonce`` keeps the host from taking two questions for the same one.
    """
    asking = _ASKING.get(way)
    if asking is None:
        return Answer("unreachable", way)
    try:
        answer = asking(wording, nonce)
    except Exception:  # whatever a host's prompt may raise
        log.exception("plan-mode: a person couldn't be asked")
        return Answer("unreachable", way)
    if answer.outcome in ("accepted", "declined") and _called("interrupted"):
        return Answer("cancelled", way, answer.choice)  # hosts that stop a turn answer no in the person's place
    return answer


def _by_prompt(wording: Wording, nonce: str) -> Answer:
    key, notifier = _called("approval_session", ""), _notifier()
    if notifier is None:
        return Answer("unreachable", "prompt")
    pattern = f"{PATTERN}:{nonce}"
    decided = seam("await_decision")(
        key, notifier,
        {"command": _masked(wording.headline), "description": _masked(wording.details),
         "pattern_key": pattern, "pattern_keys": [pattern], "allow_permanent": False, "allow_session": False}, surface=PATTERN)
    if decided.get("notify_failed"):
        return Answer("unreachable", "prompt")
    if decided.get("cancelled"):
        return Answer("cancelled", "prompt", str(decided.get("choice") or ""))
    if not decided.get("resolved"):
        return Answer("timed-out", "prompt")
    if _called("blocking_approval", key):  # answers in words go to the oldest question: it may have been meant for the other
        return Answer("cancelled", "prompt", str(decided.get("choice") or ""))
    return answer_of(decided.get("choice"), "prompt", decided.get("reason"))


def _by_panel(wording: Wording, nonce: str) -> Answer:
    # A panel cuts what it takes for a description, and can show all of what it takes for a command, of which it breaks lines.
    shown = _BETWEEN_LINES.join(filter(_holds_words, (wording.headline, *wording.details.splitlines())))
    began = time.monotonic()
    choice = str(seam("panel")(shown, "plan-mode asks you", allow_permanent=False, approval_callback=_called("panel_callback")))
    if choice == "deny" and time.monotonic() - began >= _seconds_of_a_panel():
        choice = "timeout"  # older hosts don't tell it from a no
    return answer_of(choice, "panel")


def _holds_words(line: str) -> bool:
    return any(map(str.isalnum, line))


def _seconds_of_a_panel() -> float:
    """How long the host's panel waits for an answer."""
    try:
        return int((read_config() or {})["approvals"]["timeout"])  # as the host reads it
    except Exception:  # not there, or no number
        return _OLDEST_TIMEOUT


def _masked(text: str) -> str:
    """The text without secrets, as the host shows its own questions; its panels do that themselves."""
    masked = _called("redact", text)
    return masked if isinstance(masked, str) else text


_ASKING: Final[dict[Way, Callable[[Wording, str], Answer]]] = {"prompt": _by_prompt, "panel": _by_panel}


def _notifier() -> Any:
    """What shows a question to the person of this session; None where nobody listens."""
    try:
        return seam("notifiers").get(_called("approval_session", ""))
    except Exception:  # kept in another way
        return None


def _shows_panel() -> bool:
    name = getattr(_called("panel_callback"), "__name__", "")
    return not (isinstance(name, str) and name.startswith(_FOR_NOBODY))


def _called(name: str, *arguments: Any) -> Any:
    """What the host's function says; None where it is missing or fails."""
    function = seam(name)
    try:
        return function(*arguments) if function is not None else None
    except Exception:  # of another kind
        return None
