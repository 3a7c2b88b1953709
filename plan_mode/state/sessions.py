"""Which record is this session's? Find, add a key, park, restore, branch, reset.

One record, many keys. Nothing is guessed between sessions: the kind of lineage decides, and where it can't be read
the stricter answer holds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Final

from ..errors import StateError
from .identity import Place, conversation_key, plan_key
from .kin import Kind, KinOf, ancestry, selected
from .process import is_alive
from .record import MOST_PLANS, NOTHING, Damaged, SessionRecord, new_id
from .store import Folder, Writer

MOST_KEYS: Final = 64
"""Of one session, beside those of its plans."""


@dataclass(frozen=True, slots=True)
class Owned:
    """A record with the folder it lies in."""

    folder: Folder
    record: SessionRecord


def _copy_of(origin: Owned) -> Owned:
    """A record like that one, of no place yet."""
    return Owned(origin.folder, replace(
        origin.record, id=new_id(), activation=new_id(), keys=(), owed=NOTHING, holder=None, conversation="", begun_in="",
        copied=True))


class Arrival:
    """One command or main turn that arrives at its session, under the lock of ``writer``.

    ``strictness`` ranks records; of two that meet in one place the stricter wins.
    """

    def __init__(self, writer: Writer, place: Place, kin_of: KinOf, strictness: Callable[[SessionRecord | Damaged], int]) -> None:
        self._writer, self.place, self._kin_of, self._strictness = writer, place, kin_of, strictness
        self.akin = ""
        """The conversation whose record holds here without being this one's, because it or the lineage can't be read."""

    def session(self) -> Owned | Damaged | None:
        """The record of this place, parked, restored, branched or given a key as the lineage says.

        A damaged key or record is handed back as it is. Raises StateError when a change can't be stored.
        """
        self.akin = ""
        held = self._find(self.place.carrier) if self.place.carrier else None
        if isinstance(held, Damaged):
            return held
        named = self._named()
        if isinstance(named, Damaged):
            return named
        if not self.place.conversation:
            return held or named
        return self._continue(held, named) if held else self._arrive(named)

    def _named(self) -> Owned | Damaged | None:
        """The record that the names of this place lead to; where they lead to several, the stricter takes both."""
        best: Owned | None = None
        for key in self.place.names:
            found = self._find(key)
            if isinstance(found, Damaged):
                return found
            if found is None or not selected(found.record, self.place.process):
                continue
            best = found if best is None or best.record.id == found.record.id else self._merge(best, found)
        return best

    def recorded(self, record_id: str) -> Owned | None:
        """The record of that id, as it is."""
        for folder in self._writer.folders:
            found = self._writer.load(folder, record_id)
            if isinstance(found, SessionRecord):
                return Owned(folder, found)
        return None

    def drop_damaged(self, record_id: str) -> bool:
        """Remove the record of that id if it is there and can't be read; whether it was."""
        return any(isinstance(self._writer.load(folder, record_id), Damaged) and self._writer.drop_record(folder, record_id)
                   for folder in self._writer.folders)

    def at_hand(self) -> list[Owned]:
        """The records that the keys of this place lead to, as they are."""
        return [
            Owned(folder, found) for folder in self._writer.folders for key in self.place.keys
            if isinstance(found := self._writer.follow(folder, folder.hashed(key)), SessionRecord)
            and selected(found, self.place.process)
        ]

    def is_here(self, owned: Owned) -> bool:
        """Whether the record is that of this place's conversation, as far as it is known."""
        return not self.place.conversation or owned.record.conversation in ("", self._here(owned.folder))

    def is_free(self, owned: Owned) -> bool:
        """Whether no other live process has the session open as well."""
        return owned.record.holder in (None, self.place.process) or is_alive(owned.record.holder) is False

    def _here(self, folder: Folder) -> str:
        """The hashed key of this conversation; "" where it isn't known."""
        return folder.hashed(conversation_key(self.place.conversation)) if self.place.conversation else ""

    def _continue(self, held: Owned, named: Owned | None) -> Owned | Damaged | None:
        """This process has a record; is the conversation still the same?"""
        if named is not None and named.record.id == held.record.id:
            return self._bind(held)
        here, last = self._here(held.folder), held.record.conversation
        if not last:
            if held.record.begun_in not in ("", here) and self._kin_of(self.place.conversation).fresh:
                self.clear(held)
                return None
            return self._merge(held, named) if named else held
        kind = "compression" if last == here else self._path_to(last, held.folder)
        if kind == "unreadable":
            if held.record.mode is not None:
                return self._store(held, replace(held.record, unresolved=True))
            kind = "none" if named else "compression"  # nothing is in force that another conversation could suffer from
        if kind == "compression":
            return self._merge(held, named) if named else self._bind(held)
        arrived = self._arrive(named)
        self.park(held)  # last, so that at no moment this process is without a record it should have
        return arrived

    def _arrive(self, named: Owned | None) -> Owned | Damaged | None:
        """Nothing was carried here. What a chat is called goes on in another conversation, which may bring its own record."""
        if named is None:
            return self._inherit()
        here = self._here(named.folder)
        if named.record.conversation == here or self._writer.find(named.folder, here) is not None:
            return self._restore(named)
        brought = self._inherit()
        if isinstance(brought, Damaged):
            return brought
        if brought is None or brought.record.id == named.record.id:
            return self._restore(named)
        if brought.record.unresolved:
            return max((named, brought), key=lambda owned: self._strictness(owned.record))
        return self._merge(named, brought)

    def _path_to(self, ancestor: str, folder: Folder) -> Kind:
        """The kind of lineage between this conversation and an ancestor, by its hashed key; "none" if unrelated."""
        for step in ancestry(self.place.conversation, self._kin_of):
            if step.kind == "unreadable" or folder.hashed(conversation_key(step.ancestor)) == ancestor:
                return step.kind
        return "none"

    def _inherit(self) -> Owned | Damaged | None:
        """This conversation has no record; has one that it continues or branches from?

        Where it can't be told whether it does, that one holds as it is, and is marked as unresolved.
        """
        if not self._writer.folders:
            return None
        for step in ancestry(self.place.conversation, self._kin_of):
            found = self._find(conversation_key(step.ancestor)) if step.ancestor else None
            if isinstance(found, Damaged) and found.is_record and step.kind == "compression":
                self.akin = step.ancestor
                return found
            if isinstance(found, Owned):
                if not step.holds(found.record) or (step.kind == "unreadable" and found.record.mode is None):
                    return None
                if step.kind == "unreadable":
                    self.akin = step.ancestor
                    return Owned(found.folder, replace(found.record, unresolved=True))
                if step.kind == "branch":
                    return self._branch(found)
                return self._restore(found) if selected(found.record, self.place.process) else None
        return None

    def _merge(self, held: Owned, named: Owned) -> Owned:
        """Two keys that met: the stricter record takes both, and the plans; the other goes.

        Who owned the conversation that was gone to goes on owning it: nobody gets hold of a session by coming there.
        """
        winner, loser = sorted((held, named), key=lambda owned: self._strictness(owned.record), reverse=True)
        if loser.folder == winner.folder:
            plans = {plan.path: plan for plan in (*loser.record.plans, *winner.record.plans)}
            together = replace(winner.record, plans=tuple(plans.values())[-MOST_PLANS:],
                               owner=named.record.owner or held.record.owner)
            merged = self._bind(Owned(winner.folder, together), extra=loser.record.keys)
        else:
            merged = self._bind(winner)
        self._writer.drop_record(loser.folder, loser.record.id)
        return merged

    def _restore(self, owned: Owned) -> Owned:
        """A parked record comes back: to a live process, or to another tab than the model was told in."""
        record = owned.record
        if record.mode is None or not self._comes_back(owned):
            return self._bind(owned)
        return self._bind(Owned(owned.folder, replace(record, owed=replace(record.owed, restored=True))))

    def _comes_back(self, owned: Owned) -> bool:
        if self.place.process is not None:
            return owned.record.holder != self.place.process
        carrier = self.place.carrier
        return bool(carrier and owned.record.told) and owned.folder.hashed(carrier) not in owned.record.keys

    def _branch(self, origin: Owned) -> Owned | None:
        return self._bind(_copy_of(origin)) if origin.record.mode is not None else None

    def part(self, owned: Owned) -> Owned:
        """A copy that is this place's own from now on; the record it was made of goes on waiting for its conversation."""
        own = self._bind(_copy_of(owned))
        if self.place.carrier and owned.folder.hashed(self.place.carrier) in owned.record.keys:
            self.park(owned)
        return own

    def _bind(self, owned: Owned, extra: Iterable[str] = ()) -> Owned:
        """Give the record this place: its holder, its conversation and the keys to both.

        The key of a conversation that another live process has open as well stays with that one's record.
        """
        folder, before, here = owned.folder, owned.record, self._here(owned.folder)
        own = [hashed for hashed in map(folder.hashed, self.place.keys)
               if hashed != here or not self._is_held_elsewhere(folder, here)]
        stale = [folder.hashed(before.holder.key)] if before.holder and is_alive(before.holder) is False else []
        keys = [key for key in (*before.keys, *extra) if key not in (*own, *stale)]
        dropped = self._too_many(folder, before, keys, len(own))
        record = replace(
            before, holder=self.place.process or (None if stale else before.holder), unresolved=False,
            conversation=here or before.conversation,
            keys=tuple(dict.fromkeys((*(key for key in keys if key not in dropped), *own))),
        )
        if set(record.keys) == set(before.keys):
            record = replace(record, keys=before.keys)
        stored = self._store(owned, record)
        self._drop_keys(folder, [*stale, *dropped], record.id)
        return stored

    @staticmethod
    def _too_many(folder: Folder, record: SessionRecord, keys: list[str], more: int) -> list[str]:
        """The oldest keys that a session can do without: a chat goes through many conversations, a conversation many tabs."""
        plans = {folder.hashed(plan_key(plan.path)) for plan in record.plans}
        others = [key for key in dict.fromkeys(keys) if key not in plans]
        return others[:max(0, len(others) + more - MOST_KEYS)]

    def _is_held_elsewhere(self, folder: Folder, hashed: str) -> bool:
        found = self._writer.follow(folder, hashed)
        return found is not None and not selected(found, self.place.process)

    def begin(self, record: SessionRecord) -> Owned:
        """Store the first record of this place, then its keys.

        A conversation of a CLI without a message may still be left for another one: which it is, is learnt at the first turn.
        """
        folder = self._writer.folder
        try:
            kin = self._kin_of(self.place.conversation) if self.place.process and self.place.conversation else None
            if self.place.process is None or (kin is not None and not kin.fresh and kin.kind != "unreadable"):
                return self._bind(Owned(folder, record))
            begun = replace(record, holder=self.place.process, keys=(folder.hashed(self.place.process.key),),
                            begun_in=self._here(folder))
            return self._store(Owned(folder, record), begun)
        except StateError:
            self._writer.drop_record(folder, record.id)
            raise

    def take_conversation(self, owned: Owned) -> Owned:
        """Bind the conversation of a main turn to the record, once."""
        return owned if owned.record.conversation == self._here(owned.folder) else self._bind(owned)

    def _store(self, owned: Owned, record: SessionRecord) -> Owned:
        """Write the record, then the keys that don't point to it yet.

        A key that was missing before, and isn't of this place, may go on missing: leaving must not wait for it.
        """
        folder = owned.folder
        if record != owned.record or not os.path.exists(folder.record_path(record.id)):
            self._writer.put_record(folder, record)
        optional = set(owned.record.keys) - {folder.hashed(key) for key in self.place.keys}
        for hashed in record.keys:
            if self._writer.pointed_to(folder, hashed) != record.id:
                with suppress(StateError) if hashed in optional else nullcontext():
                    self._writer.put_key(folder, hashed, record.id)
        return Owned(folder, record)

    def save(self, owned: Owned, record: SessionRecord) -> Owned:
        """Store a changed record. Plans that are new in it get a key, and those that it has no longer lose theirs."""
        before, after = ([owned.folder.hashed(plan_key(plan.path)) for plan in each.plans] for each in (owned.record, record))
        gone = set(before) - set(after)
        keys = (*(key for key in record.keys if key not in gone), *(key for key in after if key not in before))
        stored = self._store(owned, replace(record, keys=tuple(dict.fromkeys(keys))))
        self._drop_keys(owned.folder, gone, record.id)
        return stored

    def park(self, owned: Owned) -> None:
        """Take the record from its process or tab; it waits for its conversation. One without a conversation goes."""
        folder, record = owned.folder, owned.record
        if not record.conversation:
            self.clear(owned)
            return
        own = folder.hashed(self.place.carrier)
        free = [record.conversation] if self._writer.pointed_to(folder, record.conversation) is None else []
        keys = tuple(dict.fromkeys(key for key in (*record.keys, *free) if key != own))
        holder = None if self.place.process else record.holder
        self._store(owned, replace(record, holder=holder, unresolved=False, keys=keys))
        self._drop_keys(folder, [own], record.id)

    def depart(self, owned: Owned, own: str) -> bool:
        """A seat leaves the session for a new one; whether nothing of it holds there any more. Works on a full disk.

        Where no other seat has a key, the record goes. ``own`` is the seat's own key, "" if it can't be told: then one key
        is taken for it.
        """
        folder, record = owned.folder, owned.record
        plans = {folder.hashed(plan_key(plan.path)) for plan in record.plans}
        others = set(record.keys) - plans - {folder.hashed(own), record.conversation, record.begun_in}
        few = 0 if own else 1
        if len(others) <= few or len(others - self._earlier(folder)) <= few:
            return self.clear(owned)
        if not own:
            return True
        holder = None if self.place.process else record.holder
        self._store(owned, replace(record, holder=holder, keys=tuple(key for key in record.keys if key != folder.hashed(own))))
        self._drop_keys(folder, [folder.hashed(own)], record.id)
        return True

    def _earlier(self, folder: Folder) -> set[str]:
        """The hashed keys of the conversations that this one continues: they are no seats of others."""
        return {folder.hashed(conversation_key(step.ancestor)) for step in ancestry(self.place.conversation, self._kin_of)
                if step.kind == "compression"}

    def clear(self, owned: Owned) -> bool:
        """Remove the record, then its keys; whether the record is gone. Works on a full disk."""
        gone = self._writer.drop_record(owned.folder, owned.record.id)
        if gone:
            self._drop_keys(owned.folder, owned.record.keys, owned.record.id)
        return gone

    def _drop_keys(self, folder: Folder, keys: Iterable[str], record_id: str) -> None:
        """Remove those keys that still point to this record."""
        for hashed in keys:
            if hashed and self._writer.pointed_to(folder, hashed) in (record_id, None):
                self._writer.drop_key(folder, hashed)

    def clear_damage(self) -> bool:
        """Remove the damaged records of this place, and its keys that are damaged or lead to one; whether it is free of them.

        Those of the conversation that it continues are its own as well.
        """
        free, keys = True, [*self.place.keys, *([conversation_key(self.akin)] if self.akin else [])]
        for folder in self._writer.folders:
            for hashed in map(folder.hashed, keys):
                if isinstance(self._writer.follow(folder, hashed), Damaged):
                    record_id = self._writer.pointed_to(folder, hashed)
                    if record_id:
                        self._writer.drop_record(folder, record_id)
                    free = self._writer.drop_key(folder, hashed) and free
        return free

    def _find(self, key: str) -> Owned | Damaged | None:
        """The strictest record of a key. A well-formed key without its record means nothing, and is removed."""
        best: Owned | None = None
        for folder in self._writer.folders:
            found = self._writer.find(folder, folder.hashed(key))
            if isinstance(found, Damaged):
                return found
            if found is not None and (best is None or self._strictness(found) > self._strictness(best.record)):
                best = Owned(folder, found)
        return best
