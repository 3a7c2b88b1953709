"""Which records speak for a place, and which conversation does one continue or branch from?

Takes no lock and changes nothing. The kind of lineage decides; where it can't be read the stricter answer holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from .identity import Place, conversation_key
from .process import ProcessId, is_alive
from .record import Damaged, SessionRecord
from .store import Store

Kind = Literal["compression", "branch", "delegate", "reset", "none", "unreadable"]

MOST_ANCESTORS: Final = 32


@dataclass(frozen=True, slots=True)
class Kin:
    """How a conversation came from its parent. ``fresh``: it has none, and holds no message yet.

    ``begun`` is in seconds since the epoch, 0 where it isn't known.
    """

    kind: Kind
    parent: str = ""
    fresh: bool = False
    begun: float = 0.0


KinOf = Callable[[str], Kin]


def selected(found: SessionRecord | Damaged, here: ProcessId | None) -> bool:
    """Whether a conversation's key selects this record here: in a classic CLI not while another live process holds it.

    Where it can't be told whether that one lives, the stricter answer holds: a container that was started again must
    find its conversation's record.
    """
    if isinstance(found, Damaged) or here is None or found.holder in (None, here):
        return True
    return is_alive(found.holder) is not True


def look(store: Store, place: Place) -> list[SessionRecord | Damaged]:
    """Everything that speaks for this place, without a lock and without changing anything.

    Raises StateError when the folder can't be read.
    """
    found: list[SessionRecord | Damaged] = []
    for folder in store.folders():
        seen: set[str] = set()
        for key in place.keys:
            hashed = folder.hashed(key)
            if seen and store.record_id(folder, hashed) in seen:
                continue
            each = store.follow(folder, hashed)
            if each is None or not (key == place.carrier or selected(each, place.process)):
                continue
            found.append(each)
            if isinstance(each, SessionRecord):
                seen.add(each.id)
    return found


@dataclass(frozen=True, slots=True)
class Kindred:
    """The nearest conversation with a record that another continues or branches from, "" without one.

    ``certain``: the host's session store could be read all the way there.
    """

    nearest: str
    certain: bool


def kindred(store: Store, conversation: str, kin_of: KinOf) -> Kindred:
    """Who has a record that concerns this conversation? Takes no lock.

    Raises StateError when the folder can't be read.
    """
    certain = True
    for step in ancestry(conversation, kin_of):
        certain = step.kind != "unreadable"
        for found in store.look_up(conversation_key(step.ancestor)) if step.ancestor else ():
            if isinstance(found, SessionRecord):
                return Kindred(step.ancestor if step.holds(found) else "", certain)
            if found.is_record and step.kind == "compression":
                return Kindred(step.ancestor, certain)
    return Kindred("", certain)


@dataclass(frozen=True, slots=True)
class Step:
    """One ancestor ("" where it can't be told), the kind of the whole path to it, and when that path left it."""

    kind: Kind
    ancestor: str
    left_at: float = 0.0

    def holds(self, record: SessionRecord) -> bool:
        """Whether the ancestor's record came before the path left it: what began there later is no concern of ours."""
        return not self.left_at or record.since <= self.left_at


def ancestry(conversation: str, kin_of: KinOf) -> Iterator[Step]:
    """The conversations that this one continues or branches from, the nearest first."""
    kind: Kind = "compression"
    for _ in range(MOST_ANCESTORS):
        kin = kin_of(conversation)
        if kin.kind not in ("compression", "branch"):
            if kin.kind == "unreadable":
                yield Step("unreadable", kin.parent)
            return
        kind = "branch" if kin.kind == "branch" else kind
        conversation = kin.parent
        yield Step(kind, conversation, kin.begun)
    yield Step("unreadable", "")
