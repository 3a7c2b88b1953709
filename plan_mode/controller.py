"""The one desk that hooks and commands go to: find this session, apply an event, take what is owed.

It joins state, modes, plans and transitions; it decides nothing itself.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Final, cast

from . import transitions, writes
from .errors import Refusal, StateError
from .host import capabilities, lineage
from .host.home import data_dir_of, home
from .judging import Judge
from .library import Library
from .memory import Handed, Memory
from .models import Models
from .settings import OfConfig, Settings, parse
from .standing import strictness
from .state.identity import API, Place, conversation_key
from .state.kin import Kin, Kind, Kindred, KinOf, kindred, look
from .state.record import NOTHING, Damaged, SessionRecord
from .state.sessions import Arrival, Owned
from .state.store import Store, Writer
from .transitions import Event, Interfere, Repin, Taken
from .whereabouts import Whereabouts

log: Final = logging.getLogger(__name__)


class Desk:
    """One for each profile's plugin. Thread-safe: hooks of several calls come at the same time."""

    def __init__(self, context: Any) -> None:
        self.manager: Any = getattr(context, "_manager", None)
        self.store = Store(data_dir_of(context))
        self.settings = OfConfig(home, lambda: _settings_of(context), Settings(), lambda found: found.complete)
        self.backend = OfConfig(home, capabilities.file_backend, "")
        self.bypassed = OfConfig(home, capabilities.bypassing_runtime, "")
        self.library = Library(data_dir_of(context), home, OfConfig(home, capabilities.agent_modes, None))
        self.models = Models(data_dir_of(context))
        self.memory = Memory()
        self.where = Whereabouts(self.manager, self.memory)
        self.judge = Judge(self.store, self.settings, self.library, self.memory, self.backend)

    def adopt(self, child: object, parent: object, handed: Handed | None = None) -> None:
        """Let the records of a conversation's place speak for its sub-agent as well; called where the parent runs.

        ``handed`` is the mode that a person let it work in, None for its parent's.
        """
        if isinstance(child, str) and isinstance(parent, str) and child and parent and child != parent:
            self.memory.keep(self.memory.akin, child, self.where.place(parent))
            self.memory.keep(self.memory.children, child, handed)

    def renewed(self, arrival: Arrival, owned: Owned) -> Owned:
        """The session with what its mode's files allow without a person: a narrower definition, or one that is back."""
        record = owned.record
        try:
            if self.library.of(record) is None:
                self.library.restored(record)
            elif record.pin:
                pin = self.library.narrowed(record)
                return arrival.save(owned, transitions.apply(record, Repin(pin))) if pin else owned
        except (StateError, Refusal) as exc:
            log.warning("plan-mode: %s", exc)
        return owned

    @contextmanager
    def arriving(self, place: Place, *, create: bool = False) -> Iterator[tuple[Arrival, Writer]]:
        """Hold the state's lock for one command or turn at this place. Raises StateError."""
        with self.store.writing(create=create) as writer:
            yield Arrival(writer, place, self._kin_from(place), lambda found: strictness(self.judge.of(found))), writer

    def session(self, arrival: Arrival) -> Owned | Damaged | None:
        """The session that arrives; one that left here although its file couldn't be removed has left. Raises StateError."""
        found = arrival.session()
        self.memory.adrift = ()
        self._remember_kin(arrival)
        self._learn_what_parted(arrival.place)
        if not isinstance(found, Owned):
            return found
        left = self.memory.left.get(found.record.id)
        return Owned(found.folder, left) if left is not None else self._caught_up(arrival, found)

    def _remember_kin(self, arrival: Arrival) -> None:
        conversation = arrival.place.conversation
        if arrival.akin:
            self.memory.keep(self.memory.akin, conversation, Place(None, arrival.akin))
        elif self.memory.akin:
            self.memory.akin.pop(conversation, None)

    def _learn_what_parted(self, place: Place) -> None:
        """A chat that was left is one conversation of it, which only its turn tells."""
        for name in place.names[:-1] if self.memory.parted and place.conversation else ():
            if name in self.memory.parted:
                self.memory.keep(self.memory.parted, conversation_key(place.conversation))
                self.memory.parted.pop(name, None)

    def _caught_up(self, arrival: Arrival, owned: Owned) -> Owned:
        """Make up for what couldn't be stored when it was seen: a lockdown, and writes whose very bytes stand there."""
        memory, record = self.memory, owned.record
        written = [each for each in list(memory.expected.values())
                   if each.activation == record.activation and writes.has_happened(each)]
        interfered = memory.interfered.get(record.id)
        for event in (*written, *([interfered] if interfered else ())):
            record = transitions.apply(record, event)
        if record != owned.record:
            try:
                owned = arrival.save(owned, record)
            except StateError as exc:
                log.warning("plan-mode: %s", exc)
                return Owned(owned.folder, replace(owned.record, lockdown=record.lockdown))
        for each in written:
            memory.expected.pop(each.plan.path, None)
        memory.interfered.pop(record.id, None)
        return owned

    def note(self, record: SessionRecord, event: Event) -> None:
        """Apply what a hook saw to the record by which a call was judged, if it is still there. Raises StateError.

        Never asks whose the call is: a sub-agent's conversation would be taken for one that this process has gone to.
        """
        try:
            with self.arriving(Place(None, "")) as (arrival, _):
                owned = arrival.recorded(record.id)
                changed = transitions.apply(owned.record, event) if owned else None
                if owned and changed and changed != owned.record:
                    arrival.save(owned, changed)
        except StateError:
            if isinstance(event, Interfere):
                self.memory.keep(self.memory.interfered, record.id, event)
            raise

    def drift(self, place: Place) -> None:
        """Let what speaks for this conversation hold until a turn can be stored again: in a CLI for all of its process."""
        with suppress(StateError):
            known = look(self.store, Place(None, place.conversation))
            kin = "" if known else kindred(self.store, place.conversation, self._kin_from(place)).nearest
            if place.process is not None:
                self.memory.adrift = (place.conversation, kin) if kin else (place.conversation,)
            elif kin:
                self.memory.keep(self.memory.akin, place.conversation, Place(None, kin))

    def follow(self, place: Place) -> None:
        """Let what speaks for a client's conversation hold for the one that it goes on as within a turn."""
        met = place.conversation in self.memory.arrived or place.conversation in self.memory.akin
        if place.surface == API and place.conversation and not met and self.store.folders():
            self.drift(place)

    def kin(self, place: Place) -> Kindred:
        """Whether the record of another conversation concerns this one, of which nothing is known. Raises StateError."""
        return kindred(self.store, place.conversation, self._kin_from(place))

    def commit(self, arrival: Arrival, owned: Owned | None, record: SessionRecord, *, keep: bool = False) -> bool:
        """Store the record of a session that begins, goes on or has left; whether that outlasts this process.

        Leaving works on a full disk: what can't be rewritten is removed, and its notice kept in memory. What can't be
        removed either counts as left in this process. ``keep``: a record that nothing needs any more stays until the
        session's own turn, where it isn't known here in which mode that would begin. Raises StateError where anything else
        can't be stored.
        """
        lasting = self._commit(arrival, owned, record, keep)
        self.judge.unlearn(arrival.place)
        self.memory.interfered.pop(record.id, None)
        self.judge.know(arrival.place, self.judge.of(record))
        return lasting

    def _commit(self, arrival: Arrival, owned: Owned | None, record: SessionRecord, keep: bool) -> bool:
        if owned is None:
            arrival.begin(record)
            for earlier in self.parting(arrival.place):
                self.told(earlier)
            return True
        if transitions.may_go(record) and not keep and not self.judge.default_of(arrival.place):
            gone = arrival.clear(owned)
        else:
            try:
                arrival.save(owned, record)
                self.memory.left.pop(record.id, None)
                return True
            except StateError:
                if record.mode is not None:
                    raise
            self._part(arrival.place)
            gone = arrival.clear(owned)
        if not gone or not transitions.is_spent(record):
            self.memory.keep(self.memory.left, record.id, record)
        return gone and not self.judge.default_of(arrival.place)

    def forget(self, arrival: Arrival, owned: Owned, own: str) -> None:
        """A seat, known by its ``own`` key ("" unknown), begins anew: the record goes, unless others have the session as well.

        One that can't be removed counts as left in this process.
        """
        if not arrival.depart(owned, own):
            left = replace(owned.record, mode=None, lockdown="", owed=NOTHING, told=None)
            self.memory.keep(self.memory.left, left.id, left)
        self.judge.unlearn(arrival.place)

    def leave_here(self, place: Place) -> bool:
        """Leave although nothing can be stored; whether that outlasts this process.

        This conversation's own record is removed; what can't be, or is another's as well, counts as left in this process.
        """
        inherited = place.conversation in self.memory.akin or len(self.memory.adrift) > 1  # whose record stays where it is
        self.judge.unlearn(place)
        self.memory.adrift = ()
        self._part(place)
        lasting = False
        with suppress(StateError):
            at_hand = look(self.store, place)
            for found in at_hand:
                if isinstance(found, SessionRecord):
                    left = transitions.apply(found, transitions.Leave()) if found.mode else found
                    self.memory.keep(self.memory.left, found.id, replace(left, holder=place.process))
                else:
                    self.memory.keep(self.memory.left, found.path)
            with self.arriving(place) as (arrival, _):
                cleared = [arrival.is_here(owned) and arrival.clear(owned) for owned in arrival.at_hand()]
                lasting = all(cleared) and not any(isinstance(found, Damaged) for found in at_hand)
        return lasting and not inherited and not self.judge.default_of(place)

    def _part(self, place: Place) -> None:
        for name in place.names:
            self.memory.keep(self.memory.parted, name)


    def own_from_now(self, arrival: Arrival, owned: Owned) -> Owned:
        """A record of this place's own, where another's holds here because the lineage can't be read. Raises StateError."""
        own = arrival.part(owned)
        self.memory.akin.pop(arrival.place.conversation, None)
        return own

    def joined(self, place: Place) -> None:
        """There is a record of this place now, which says what was only remembered."""
        for name in place.names:
            self.memory.parted.pop(name, None)

    def parting(self, place: Place) -> list[SessionRecord]:
        """Sessions of this place that left while nothing could be stored, and still owe a notice."""
        folders = self.store.folders()
        here = {"", *(folder.hashed(conversation_key(place.conversation)) for folder in folders)}
        keys = {folder.hashed(key) for folder in folders for key in place.keys}
        return [left for left in list(self.memory.left.values())
                if left and left.conversation in here and keys & set(left.keys) and not transitions.is_spent(left)]

    def told(self, left: SessionRecord) -> None:
        """The last notice of a session that has left was given, or is void."""
        self.memory.keep(self.memory.left, left.id, transitions.apply(left, Taken(left.conversation, "")))

    def _kin_from(self, place: Place) -> KinOf:
        """How conversations came from their parents, as seen from this place."""
        def kin_of(conversation: str) -> Kin:
            parted = self.memory.parted
            if conversation_key(conversation) in parted or (conversation == place.conversation and self.judge.has_parted(place)):
                return Kin("none")
            kind, parent, fresh, begun = lineage.parentage(conversation)
            return Kin(cast("Kind", kind), parent, fresh, begun)
        return kin_of


def _settings_of(context: Any) -> Settings | None:
    reader = capabilities.settings_reader(context)
    return parse(reader) if reader is not None else None
