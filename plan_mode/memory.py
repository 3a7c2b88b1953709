"""What this process knows beside the disk: needed only while the disk fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from .models import Own
from .pins import Pinned
from .state.identity import Place
from .state.record import SessionRecord
from .transitions import Interfere, Wrote

_MOST_REMEMBERED: Final = 1024


@dataclass(frozen=True, slots=True)
class Handed:
    """The mode that a sub-agent works in instead of its parent's, for as long as the parent's session is as it was then.

    ``under`` is what ``standing.under`` says of that; ``project`` is the root of the project, "" where none can be told.
    """

    pinned: Pinned
    under: tuple[str, str]
    project: str


@dataclass(slots=True)
class Memory:
    """Bounded; changed by several threads."""

    restricted: dict[Place, None] = field(default_factory=dict)
    adrift: tuple[str, ...] = ()
    """Conversations that speak for all of this process, because the turn that arrived there couldn't be stored."""
    akin: dict[str, Place] = field(default_factory=dict)
    """Where the records lie that speak for a conversation as well: its parent's place, an ancestor of unreadable kind."""
    children: dict[str, Handed | None] = field(default_factory=dict)
    """Sub-agents by conversation, and the mode that each was handed, None for its parent's."""
    given: dict[str, None] = field(default_factory=dict)
    """Marks of notices that tools gave, and that were seen in a request: the model has read them, whatever is left of them."""
    awaited: dict[str, str] = field(default_factory=dict)
    """Marks of notices that tools gave and that weren't seen yet, by conversation."""
    talks: dict[tuple[str, str], None] = field(default_factory=dict)
    """Conversations of an API client, with its key: what runs inside of a call brings nothing but that key."""
    senders: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Who sent the last command of a chat, and which, by session key."""
    heard: dict[str, str] = field(default_factory=dict)
    """The digest of the last command that was read in the messages of a running turn, by conversation."""
    unsaid: dict[str, str] = field(default_factory=dict)
    """What the person must read below the answer of this turn, by conversation."""
    shown: dict[tuple[str, str], str] = field(default_factory=dict)
    """The digest of what a person was shown of a project's mode, by project and slug."""
    models: dict[str, Own] = field(default_factory=dict)
    """The sessions' own models, by conversation, for as long as a mode is on."""
    left: dict[str, SessionRecord | None] = field(default_factory=dict)
    """Sessions that have left though their record stays on disk, or whose last notice couldn't be stored, by record id;
    and files that are damaged and can't be removed, by path."""
    parted: dict[str, None] = field(default_factory=dict)
    """Names of places that were left while nothing could be stored: neither a lineage nor a default mode counts there."""
    taken: dict[str, tuple[SessionRecord, SessionRecord]] = field(default_factory=dict)
    """Records whose notices were handed out without being stored: as on disk, and as they should be."""
    expected: dict[str, Wrote] = field(default_factory=dict)
    """Plan files that a call was allowed to write and wasn't yet seen to have written, by path."""
    interfered: dict[str, Interfere] = field(default_factory=dict)
    """Lockdowns that couldn't be stored, by record id."""
    arrived: dict[str, None] = field(default_factory=dict)
    """Conversations whose lineage was looked at."""

    @staticmethod
    def keep(known: dict[Any, Any], key: Any, value: Any = None) -> None:
        """Remember one thing more as the newest, and forget the oldest ones. Other threads may do the same."""
        for oldest in list(known)[:max(0, len(known) + 1 - _MOST_REMEMBERED)]:
            known.pop(oldest, None)
        known.pop(key, None)
        known[key] = value
