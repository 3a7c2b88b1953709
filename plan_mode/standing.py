"""How a session is judged now: which mode is in force, and why that may be the read-only fallback."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .modes.builtin import PLAN
from .modes.model import Mode
from .pins import Pinned
from .policy.decide import Fallback
from .state.record import SessionRecord, activation_of


@dataclass(frozen=True, slots=True)
class Standing:
    """How a session is judged now: its record, the mode in force, and why that may be the read-only fallback.

    ``pinned`` is where that mode's definition came from, with its rules.
    """

    record: SessionRecord | None
    mode: Mode | None
    fallback: Fallback | None = None
    pinned: Pinned | None = None
    project: str = ""
    """The root of a sub-agent's project, where its parent's session is in none that is recorded."""

    @property
    def restricted(self) -> bool:
        return self.mode is not None and self.mode.restricted


NO_MODE: Final = Standing(None, None)


def under(standing: Standing) -> tuple[str, str]:
    """What tells a session's stay in its mode from every other one: its activation, and the mode's slug; "" without."""
    return activation_of(standing.record), standing.mode.slug if standing.mode is not None else ""


def strictness(standing: Standing) -> int:
    """Rank of a standing: where several records speak for a session, the highest holds."""
    if standing.mode is None:
        return 0
    if standing.fallback is not None:
        return 4
    if not standing.mode.restricted:
        return 1
    return 3 if standing.mode.slug == PLAN.slug else 2
