"""The host's own words around what a person said: its frame for a message to a running turn, and the prompt of its /plan."""

from __future__ import annotations

import re
from typing import Final

from .seams import seam

_TASK: Final = "plan-mode asks where the task stands"


# What a gateway puts before the words of a chat that interrupts a turn, or is steered into one.
_ORIGIN: Final = r"Gateway message origin [^\n]*:\n\{[^\n]*\}\n[^\n]*\n\n"
_INTERRUPTION: Final = re.compile(r"\[Context from the interrupted assistant response\]\n.*\n\n" + _ORIGIN, re.DOTALL)
_WITH_ORIGIN: Final = re.compile(_ORIGIN)


def unframed(text: str) -> str:
    """The words of a person without what the host put around them; the text as it is where that isn't so as a whole."""
    bare = text.strip()
    interruption = _INTERRUPTION.match(bare)
    if interruption is not None:
        return bare[interruption.end():].strip()
    within = _out_of_band(bare)
    if within is None:
        return bare
    origin = _WITH_ORIGIN.match(within)
    return within[origin.end():].strip() if origin else within


def _out_of_band(text: str) -> str | None:
    """What stands in the host's frame for a message to a running turn, where the text is nothing but that frame."""
    opening, closing = seam("out_of_band_open"), seam("out_of_band_close")
    framed = isinstance(opening, str) and isinstance(closing, str) and bool(opening and closing)
    if not framed or not (text.startswith(opening) and text.endswith(closing)):
        return None
    return text[len(opening):-len(closing)].strip()


def appended(text: str) -> str:
    """What stands in that frame at the end of a tool's result, where an older host puts it; "" without one."""
    opening = seam("out_of_band_open")
    at = text.rfind(opening) if isinstance(opening, str) and opening else -1
    return unframed(text[at:]) if at > 0 and _out_of_band(text[at:].strip()) is not None else ""


_SYNTHETIC: Final = ("[ASYNC DELEGATION", "[IMPORTANT:")


def is_synthetic(text: object) -> bool:
    """Whether a message is the host's own, about sub-agents or processes that have ended, and no person's."""
    return isinstance(text, str) and text.lstrip().startswith(_SYNTHETIC)


def is_builtin_plan(text: object) -> bool:
    """Whether a message is the prompt that the host makes of its own /plan, with or without a task."""
    build = seam("plan_prompt")
    if build is None or not isinstance(text, str):
        return False
    try:
        before, _, after = build(_TASK).partition(_TASK)
        empty = build("")
    except Exception:  # a prompt of another kind
        return False
    bare = text.strip()
    framed = bool(before.strip() and after.strip()) and bare.startswith(before.strip()) and bare.endswith(after.strip())
    return framed or (bool(empty) and bare == empty.strip())
