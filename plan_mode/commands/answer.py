"""What all commands share: the guard around a handler, how an answer leaves for a chat, and how words are split."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any, Final

from ..controller import Desk
from ..errors import PlanModeError
from ..text import one_line, shorten, unattached, visible
from ..whereabouts import Here

log: Final = logging.getLogger(__name__)

MOST_OF_A_FAILURE: Final = 2000


def answering(desk: Desk, command: str, act: Callable[[Here, str], str]) -> Callable[[Any], str]:
    """The handler of a command: what ``act`` says, with every failure turned into a sentence that says what to do."""
    @functools.wraps(act)
    def answer(raw_args: Any = "") -> str:
        in_chat = True
        try:
            typed = unattached(raw_args, undo=True) if isinstance(raw_args, str) else ""
            here = desk.where.here(command, typed)
            in_chat = bool(here.facts.platform)
            said = act(here, typed)
        except PlanModeError as exc:
            said = shorten(str(exc), MOST_OF_A_FAILURE)
        except Exception as exc:
            log.exception("plan-mode: a command failed")
            said = (f"plan-mode failed ({_named(exc)}). What was in force still is; "
                    "see /planmode status, and please report this with the log.")
        return unattached(visible(said)) if in_chat else visible(said)
    return answer


def _named(exc: Exception) -> str:
    try:
        return one_line(f"{type(exc).__name__}: {exc}", MOST_OF_A_FAILURE)
    except Exception:  # what it is about can't be shown
        return type(exc).__name__


def split_verb(untrusted_text: str) -> tuple[str, str]:
    """The first word in lower case, and the rest as it was typed."""
    text = untrusted_text.strip()
    verb, _, rest = text.partition(" ")
    if "\n" in verb or "\t" in verb:
        verb = text.split(maxsplit=1)[0]
        rest = text[len(verb):]
    return verb.lower(), rest.strip()
