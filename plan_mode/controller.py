"""The one desk that hooks and commands go to: find this session, apply an event, take what is owed.

It joins state, modes, plans and transitions; it decides nothing itself.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Final, cast

from . import facts, transitions, writes
from .errors import StateError
from .host import capabilities, lineage, session, workspace
from .host.home import data_dir_of, home
from .memory import Memory
from .modes.builtin import BUILTIN, READ_ONLY
from .modes.model import Mode
from .policy.catalogue import canonical
from .policy.decide import Facts, Fallback, Verdict, decide
from .settings import OfConfig, parse
from .standing import NO_MODE, Standing, strictness
from .state.identity import Surface, conversation_key, plan_key
from .state.process import current_process
from .state.record import Damaged, SessionRecord
from .state.sessions import Arrival, Kin, Kind, Owned, Place, kindred, look
from .state.store import Store, Writer
from .transitions import Event, Interfere, Taken

log: Final = logging.getLogger(__name__)


class Desk:
    """One for each profile's plugin. Thread-safe: hooks of several calls come at the same time."""

    def __init__(self, context: Any) -> None:
        self.manager: Any = getattr(context, "_manager", None)
        self.store = Store(data_dir_of(context))
        self.settings = OfConfig(home, lambda: parse(capabilities.settings_reader(context)))
        self._backend = OfConfig(home, capabilities.file_backend)
        self.memory = Memory()

    # -- where are we

    def surface(self) -> Surface:
        return Surface(
            process=current_process(),
            session_key=session.bound("HERMES_SESSION_KEY"),
            tab_id=session.bound("HERMES_UI_SESSION_ID"),
            isolated=session.is_isolated(),
            gateway_runner=session.runs_gateway(),
            gateway_environment=session.serves_other_sessions(),
            slash_worker=session.is_slash_worker(),
            interactive_cli=session.interactive_cli(self.manager),
        )

    def place(self, conversation: object) -> Place:
        """This process, in the conversation whose id a hook was given.

        In a process that serves other sessions the process is nobody's, and only the conversation counts.
        """
        its_own = session.interactive_cli(self.manager) or not (
            session.bound("HERMES_SESSION_KEY") or session.bound("HERMES_UI_SESSION_ID") or session.runs_gateway())
        return Place(current_process() if its_own else None, conversation if isinstance(conversation, str) else "")

    def command_place(self) -> Place:
        """This process, in the conversation its person is looking at. A server binds that conversation's key."""
        if session.interactive_cli(self.manager):
            return self.place(session.current_conversation(self.manager))
        return self.place(session.bound("HERMES_SESSION_KEY") or session.current_conversation(self.manager))

    # -- judging: no lock, nothing changed

    def standing(self, place: Place) -> Standing:
        """How calls from this place are judged. Where several records speak, the strictest does.

        Never raises: where the state can't be read, what this process knows as restricted is read-only.
        """
        try:
            found = look(self.store, place)
            for conversation in self.memory.adrift if place.process else ():
                found += look(self.store, Place(place.process, conversation))
        except StateError as exc:
            return self._remembered(place, exc)
        standing = max((self.judge(each) for each in found), key=strictness, default=NO_MODE) if found else NO_MODE
        self._know(place, standing)
        return standing

    def _know(self, place: Place, standing: Standing) -> None:
        if standing.restricted:
            if place not in self.memory.restricted:
                self.memory.keep(self.memory.restricted, place)
        elif self.memory.restricted:
            self.memory.restricted.pop(place, None)

    def judge(self, found: SessionRecord | Damaged) -> Standing:
        """The standing that one record alone gives."""
        if isinstance(found, Damaged):
            if found.path in self.memory.left:
                return Standing(None, None)
            return Standing(None, READ_ONLY, Fallback("state-damaged", found.reason))
        if found.mode is None or found.id in self.memory.left:
            return Standing(found, None)
        unstored = self.memory.interfered.get(found.id)
        lockdown = unstored.what if unstored else found.lockdown
        if lockdown:
            return Standing(found, READ_ONLY, Fallback("lockdown", lockdown))
        mode = BUILTIN.get(found.mode)
        if mode is None:
            return Standing(found, READ_ONLY, Fallback("mode-missing", f"its mode {found.mode!r} doesn't exist any more"))
        return Standing(found, mode)

    def _remembered(self, place: Place, exc: StateError) -> Standing:
        log.warning("plan-mode: %s", exc)
        known = list(self.memory.restricted)
        if place not in known and (place.process is None or place.process not in {each.process for each in known}):
            return NO_MODE
        return Standing(None, READ_ONLY, Fallback("state-unreadable", f"the state at {exc.path} can't be read ({exc.cause})"))

    def may_be_restricted(self) -> bool:
        """Whether this process knows any session in a restricted mode; asked when something failed."""
        return bool(self.memory.restricted)

    def verdict(self, standing: Standing, tool: str, arguments: object) -> tuple[Verdict, Facts]:
        """May this call run? With the facts that were looked at."""
        assert standing.mode is not None
        known = facts.gather(self._ground(standing, standing.mode), tool, arguments)
        return decide(standing.mode, tool, known), known

    def _ground(self, standing: Standing, mode: Mode) -> facts.Ground:
        record = standing.record
        return facts.Ground(
            mode=mode, fallback=standing.fallback, home=home(),
            plan_root=record.plan_root if record else "",
            remote_files=lambda: bool(record and record.remote_files) or workspace.works_remotely(self._backend),
            extra_tools=self._extra_tools if mode.extra_tools else frozenset,
            others_plan=lambda real: self._is_others_plan(record, real),
        )

    def _extra_tools(self) -> frozenset[str]:
        return frozenset(map(canonical, self.settings().extra_allowed_tools))

    def _is_others_plan(self, record: SessionRecord | None, real: str) -> bool:
        owners = self.store.look_up(plan_key(real))
        return any(isinstance(owner, Damaged) or record is None or owner.id != record.id for owner in owners)

    # -- changing, under the lock

    @contextmanager
    def arriving(self, place: Place, *, create: bool = False) -> Iterator[tuple[Arrival, Writer]]:
        """Hold the state's lock for one command or turn at this place. Raises StateError."""
        with self.store.writing(create=create) as writer:
            yield Arrival(writer, place, self._kin_of, lambda found: strictness(self.judge(found))), writer

    def session(self, arrival: Arrival) -> Owned | Damaged | None:
        """The session that arrives; one that left here although its file couldn't be removed has left. Raises StateError."""
        found = arrival.session()
        self.memory.adrift = ()
        if not isinstance(found, Owned):
            return found
        left = self.memory.left.get(found.record.id)
        return Owned(found.folder, left) if left is not None else self._caught_up(arrival, found)

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
        """Let what speaks for this conversation speak for all of this process, until a turn can be stored again."""
        with suppress(StateError):
            kin = "" if look(self.store, place) else kindred(self.store, place.conversation, self._kin_of)
            self.memory.adrift = (place.conversation, kin) if kin else (place.conversation,)

    def has_kin(self, conversation: str) -> bool:
        """Whether the record of another conversation concerns this one, of which nothing is known. Raises StateError."""
        return bool(kindred(self.store, conversation, self._kin_of))

    def commit(self, arrival: Arrival, owned: Owned | None, record: SessionRecord) -> bool:
        """Store the record of a session that begins, goes on or has left; whether that outlasts this process.

        Leaving works on a full disk: what can't be rewritten is removed, and its notice kept in memory. What can't be
        removed either counts as left in this process. Raises StateError where anything else can't be stored.
        """
        lasting = self._commit(arrival, owned, record)
        self.memory.restricted.clear()
        self.memory.interfered.pop(record.id, None)
        self._know(arrival.place, self.judge(record))
        return lasting

    def _commit(self, arrival: Arrival, owned: Owned | None, record: SessionRecord) -> bool:
        if owned is None:
            arrival.begin(record)
            for earlier in self.parting(arrival.place):
                self.told(earlier)
            return True
        if transitions.may_go(record):
            gone = arrival.clear(owned)
        else:
            try:
                arrival.save(owned, record)
                self.memory.left.pop(record.id, None)
                return True
            except StateError:
                if record.mode is not None:
                    raise
            self.memory.keep(self.memory.parted, arrival.place.conversation)
            gone = arrival.clear(owned)
        if not gone or not transitions.is_spent(record):
            self.memory.keep(self.memory.left, record.id, record)
        return gone

    def leave_here(self, place: Place) -> bool:
        """Leave although nothing can be stored; whether that outlasts this process.

        This conversation's own record is removed; what can't be, or is another's as well, counts as left in this process.
        """
        self.memory.restricted.clear()
        self.memory.adrift = ()
        self.memory.keep(self.memory.parted, place.conversation)
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
        return lasting

    def parting(self, place: Place) -> list[SessionRecord]:
        """Sessions of this place that left while nothing could be stored, and still owe a notice."""
        here = {"", *(folder.hashed(conversation_key(place.conversation)) for folder in self.store.folders())}
        return [left for left in list(self.memory.left.values())
                if left and left.holder == place.process and left.conversation in here and not transitions.is_spent(left)]

    def told(self, left: SessionRecord) -> None:
        """The last notice of a session that has left was given, or is void."""
        self.memory.keep(self.memory.left, left.id, transitions.apply(left, Taken(left.conversation, "")))

    def _kin_of(self, conversation: str) -> Kin:
        if conversation in self.memory.parted:
            return Kin("none")
        kind, parent, fresh, begun = lineage.parentage(conversation)
        return Kin(cast("Kind", kind), parent, fresh, begun)
