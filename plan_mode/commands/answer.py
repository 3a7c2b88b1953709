"""What all commands share: the guard around a handler, and how words are split."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any, Final

from ..errors import PlanModeError
from ..text import visible

log: Final = logging.getLogger(__name__)


def answering(handler: Callable[[str], str]) -> Callable[[Any], str]:
    """The handler, with every failure turned into a sentence that says what happened and what to do."""
    @functools.wraps(handler)
    def answer(raw_args: Any = "") -> str:
        try:
            return visible(handler(raw_args if isinstance(raw_args, str) else ""))
        except PlanModeError as exc:
            return visible(str(exc))
        except Exception as exc:
            log.exception("plan-mode: a command failed")
            return visible(f"plan-mode failed ({type(exc).__name__}: {exc}). What was in force still is; "
                           "see /planmode status, and please report this with the log.")
    return answer


def split_verb(untrusted_text: str) -> tuple[str, str]:
    """The first word in lower case, and the rest as it was typed."""
    text = untrusted_text.strip()
    verb, _, rest = text.partition(" ")
    if "\n" in verb or "\t" in verb:
        verb = text.split(maxsplit=1)[0]
        rest = text[len(verb):]
    return verb.lower(), rest.strip()
