"""The one desk that hooks and commands go to: find this session, apply an event, take what is owed.

It joins state, modes, plans and transitions; it decides nothing itself.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from . import facts, transitions, writes
from .errors import Refusal, StateError
from .host import capabilities, lineage, profile, session, workspace
from .host.home import data_dir_of, home
from .library import Library
from .memory import Handed, Memory
from .models import Models
from .modes.builtin import READ_ONLY
from .modes.model import Mode
from .policy.catalogue import canonical
from .policy.decide import Facts, Fallback, Verdict, decide
from .settings import DefaultMode, OfConfig, Settings, parse
from .standing import NO_MODE, Standing, strictness, under
from .state.identity import (
    API,
    NO_COMMANDS,
    NoSession,
    Place,
    Surface,
    conversation_key,
    no_session,
    place_of,
    plan_key,
    user_key,
)
from .state.process import current_process
from .state.record import NOTHING, Damaged, SessionRecord
from .state.sessions import MOST_ANCESTORS, Arrival, Kin, Kind, Kindred, KinOf, Owned, kindred, look
from .state.store import Folder, Store, Writer
from .transitions import Event, Interfere, Repin, Taken

log: Final = logging.getLogger(__name__)

_SIDE_AGENTS: Final = ("bg_", "btw_", "preview_")
"""How the host begins the ids of agents that work beside a conversation."""

RESETTING: Final = frozenset({"new", "reset", "clear", "approve"})
"""Commands of a chat after which it begins anew; the last one confirms."""

NO_SESSION: Final = Fallback(
    "no-session", "this call names no session, and another session of this process is in a restricted mode",
    "It runs when no session of this process is in a restricted mode.")


@dataclass(frozen=True, slots=True)
class Here:
    """Where a command was typed, a turn that may bring one, or the agent asks. ``manager``: the host's, of this profile.

    ``asking``: the agent asks, by a tool; then it doesn't matter that a surface hands no commands on.
    """

    facts: Surface
    place: Place
    manager: object
    asking: bool = False

    @property
    def session(self) -> str:
        """What questions of this session are kept by, while this process lasts: a compression gives it another conversation."""
        return self.place.carrier or self.place.session_key or self.place.conversation

    @property
    def takes_commands(self) -> bool:
        """Whether a person could type a command here."""
        return replace(self, asking=False).refusal is None

    @property
    def refusal(self) -> NoSession | None:
        """Why nothing may be changed from here; None: it may. Asks the host for the profile, which a mere turn needn't."""
        found = no_session(self.facts._replace(own_profile=profile.own_profile(self.manager)))
        return None if self.asking and found is not None and found.rule == NO_COMMANDS else found

    def owner(self, folder: Folder) -> str:
        """Who types, hashed; "" where the surface knows of no users."""
        user = user_key(self.facts.platform, self.facts.user)
        return folder.hashed(user) if user else ""


@dataclass(frozen=True, slots=True)
class Beginner:
    """Who begins a chat anew, and the chat's own key; "" where it can't be told."""

    user: str = ""
    key: str = ""


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
        self._known_default: DefaultMode | None = None

    # -- where are we

    def surface(self) -> Surface:
        """The facts that decide whose call or turn this is."""
        bound = session.bound()
        tab, key = bound.tab_id, bound.session_key
        cli = session.interactive_cli(self.manager)
        alone = not (cli or key or tab)  # the rest is asked only where nothing better tells
        return Surface(
            process=current_process(),
            session_key=key,
            tab_id=tab,
            tabs_key=session.key_of_tab(tab) if tab else "",
            platform=bound.platform,
            source=bound.source,
            profile=bound.profile,
            user=bound.user,
            cron=bool(bound.cron),
            engaged=alone and session.was_engaged(),
            isolated=session.is_isolated(),
            gateway_runner=alone and session.runs_gateway(),
            gateway_environment=alone and session.serves_other_sessions(),
            slash_worker=session.is_slash_worker(),
            interactive_cli=cli,
        )

    def place(self, conversation: object) -> Place:
        """Where a call or a turn of that conversation happens."""
        facts = self.surface()
        place = place_of(facts, conversation if isinstance(conversation, str) else "")
        if place.surface == API and place.conversation:
            self.memory.keep(self.memory.talks, (facts.session_key, place.conversation))
        return place

    def here(self, command: str, arguments: str) -> Here:
        """Where a person has typed that command. What a chat sent in this task is taken by its handler, once."""
        facts, sent = self.surface(), session.take_message(command, arguments)
        if sent is not None and not facts.session_key and not facts.interactive_cli:
            facts = facts._replace(session_key=sent.session_key, platform=sent.platform, user=sent.user)
        if facts.session_key and not (facts.tab_id or facts.platform or facts.interactive_cli):
            facts = facts._replace(tab_id=session.tab_of(facts.session_key))  # the host binds it in turns only
        return self.here_of(facts, self._conversation_of(facts))

    def _conversation_of(self, facts: Surface) -> str:
        """The conversation that the person is looking at. A tab's session is called by it, a chat's isn't."""
        if facts.session_key and not facts.interactive_cli:
            return "" if facts.platform else facts.session_key
        return session.current_conversation(self.manager)

    def here_of(self, facts: Surface, conversation: str) -> Here:
        """The same for a turn that brings a command."""
        return Here(facts, place_of(facts, conversation), self.manager)

    def here_asking(self, conversation: object) -> Here:
        """Where a call of one of our own tools runs."""
        facts = self.surface()
        return Here(facts, place_of(facts, conversation if isinstance(conversation, str) else ""), self.manager, asking=True)

    def is_own(self, here: Here) -> bool:
        """Whether it is a person's own conversation that runs there, and not one of an agent beside it.

        Sub-agents are known by ``memory.children``, unless a person has opened what was theirs.
        """
        facts, place = here.facts, here.place
        if place.surface == API:  # where clients choose the names
            return bool(place.conversation)
        if not place.conversation or place.conversation.startswith(_SIDE_AGENTS):
            return False
        if place.process is None:
            return facts.tabs_key in ("", facts.session_key)
        return self._is_continued_by(session.current_conversation(self.manager), place.conversation)

    def _is_continued_by(self, current: str, conversation: str) -> bool:
        """Whether a CLI that is in ``current`` ("" unknown) is in that one: it learns of a compression after the turn only."""
        for _ in range(MOST_ANCESTORS):
            if current in ("", conversation):
                return True
            kind, conversation, *_ = lineage.parentage(conversation)
            if kind != "compression":
                break
        return False

    def adopt(self, child: object, parent: object, handed: Handed | None = None) -> None:
        """Let the records of a conversation's place speak for its sub-agent as well; called where the parent runs.

        ``handed`` is the mode that a person let it work in, None for its parent's.
        """
        if isinstance(child, str) and isinstance(parent, str) and child and parent and child != parent:
            self.memory.keep(self.memory.akin, child, self.place(parent))
            self.memory.keep(self.memory.children, child, handed)

    def who_begins_anew(self, owned: Owned) -> Beginner:
        """Who sent the command after which a chat of this record begins anew, taken once."""
        for key in list(self.memory.senders):
            if owned.folder.hashed(f"sk:{key}") in owned.record.keys:
                user, command = self.memory.senders.pop(key, ("", ""))
                return Beginner(user, f"sk:{key}") if command in RESETTING else Beginner()
        return Beginner()

    def may_reset(self, owned: Owned, beginner: Beginner) -> bool:
        """Whether a chat that begins anew leaves its record: with ``owner_only`` only if its owner sent the command."""
        owner = owned.record.owner
        if not owner or not self.settings().owner_only:
            return True
        return bool(beginner.user) and owned.folder.hashed(beginner.user) == owner

    # -- judging: no lock, nothing changed

    def standing(self, place: Place) -> Standing:
        """How calls from this place are judged. Where several records speak, the strictest does.

        Never raises: where the state can't be read, what this process knows as restricted is read-only.
        """
        try:
            found = look(self.store, place)
            if self.memory.akin or self.memory.adrift or self.memory.talks:
                for other in self._also_of(place):
                    found += look(self.store, other)
        except StateError as exc:
            return self._remembered(place, exc)
        if found:
            standing = max((self.judge(each) for each in found), key=strictness)
        elif not place.known and place.conversation not in self.memory.akin and self._anything_restricted():
            return Standing(None, READ_ONLY, NO_SESSION)
        else:
            standing = self._by_default(place)
        if self.memory.children:
            standing = self._as_handed(place, standing)
        self._know(place, standing)
        return standing

    def _as_handed(self, place: Place, standing: Standing) -> Standing:
        """The standing of a sub-agent that was handed another mode, as long as its parent's session is as it was then."""
        handed, conversation = None, place.conversation
        for _ in range(MOST_ANCESTORS):
            handed, parent = self.memory.children.get(conversation), self.memory.akin.get(conversation)
            if handed is not None or parent is None:
                break
            conversation = parent.conversation
        if handed is None or standing.fallback is not None or handed.under != under(standing):
            return standing
        return Standing(standing.record, handed.pinned.mode, pinned=handed.pinned, project=handed.project)

    def _also_of(self, place: Place) -> list[Place]:
        """Other places whose records hold here: those of a sub-agent's parents, and where a turn couldn't be stored."""
        also = [Place(place.process, conversation) for conversation in self.memory.adrift] if place.process else []
        if place.surface == API and not place.conversation:
            also += [Place(None, conversation) for key, conversation in list(self.memory.talks) if key == place.session_key]
        for _ in range(MOST_ANCESTORS):
            parent = self.memory.akin.get(place.conversation)
            if parent is None or self.has_parted(place):
                break
            also.append(parent)
            place = parent
        return also

    def _anything_restricted(self) -> bool:
        """Whether any session that this process knows is in a restricted mode at this moment."""
        return any(self.judge(found).restricted for place in list(self.memory.restricted) for found in look(self.store, place))

    def _by_default(self, place: Place) -> Standing:
        """The mode of a session that nothing is known of: the operator's, else none."""
        slug = self.default_of(place)
        if not slug or (self.memory.parted and any(map(self.has_parted, (place, *self._also_of(place))))):
            return NO_MODE
        mode = self.library.default(slug)
        if mode is None:
            why = f"the setting default_mode names {slug!r}, which is no mode"
            return Standing(None, READ_ONLY, Fallback("mode-missing", why))
        return Standing(None, mode)

    def default_of(self, place: Place) -> str:
        """The slug of the mode that a new session starts in at this place; "" without one."""
        if self._known_default is None:
            self.renew_default()
        return self._known_default.of(place.surface) if self._known_default else ""

    def renew_default(self) -> None:
        """Read default_mode again. Asked at each turn and command: a call must not cost the reading of a file."""
        self._known_default = self.settings().default_mode

    def _know(self, place: Place, standing: Standing) -> None:
        if standing.restricted:
            if place not in self.memory.restricted:
                self.memory.keep(self.memory.restricted, place)
        elif self.memory.restricted:
            self.memory.restricted.pop(place, None)

    def unlearn(self, place: Place) -> None:
        """What this process knew of a session counts no more, now that it has changed; that of others still does."""
        keys = set(place.keys)
        for known in list(self.memory.restricted):
            if keys & set(known.keys):
                self.memory.restricted.pop(known, None)

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
        pinned = self.library.of(found)
        if pinned is None:
            return Standing(found, READ_ONLY, Fallback("mode-missing", f"its mode {found.mode!r} doesn't exist any more"))
        return Standing(found, pinned.mode, pinned=pinned)

    def _remembered(self, place: Place, exc: StateError) -> Standing:
        log.warning("plan-mode: %s", exc)
        keys = set(place.keys)
        if not any(keys & set(each.keys) for each in list(self.memory.restricted)):
            return self._by_default(place)
        return Standing(None, READ_ONLY, Fallback("state-unreadable", f"the state at {exc.path} can't be read ({exc.cause})"))

    def may_be_restricted(self) -> bool:
        """Whether this process knows any session in a restricted mode; asked when something failed."""
        return bool(self.memory.restricted or self._known_default)

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
            remote_files=lambda: bool(record and record.remote_files) or workspace.works_remotely(self.backend),
            extra_tools=lambda: self.extra_tools(mode),
            others_plan=lambda real: self._is_others_plan(record, real),
            project=standing.project or (record.project if record else ""),
        )

    def extra_tools(self, mode: Mode) -> frozenset[str]:
        """What the operator's settings add to what this mode grants, as ``policy.decide.is_extra`` reads it."""
        if mode.extra_tools:
            return frozenset(map(canonical, self.settings().extra_allowed_tools))
        if mode.extra_servers:
            return frozenset(each for name in self.settings().mcp_allowed for each in (name, f"mcp:{name}"))
        return frozenset()

    def _is_others_plan(self, record: SessionRecord | None, real: str) -> bool:
        owners = self.store.look_up(plan_key(real))
        return any(isinstance(owner, Damaged) or record is None or owner.id != record.id for owner in owners)

    # -- changing, under the lock

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
            yield Arrival(writer, place, self._kin_from(place), lambda found: strictness(self.judge(found))), writer

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
        self.unlearn(arrival.place)
        self.memory.interfered.pop(record.id, None)
        self._know(arrival.place, self.judge(record))
        return lasting

    def _commit(self, arrival: Arrival, owned: Owned | None, record: SessionRecord, keep: bool) -> bool:
        if owned is None:
            arrival.begin(record)
            for earlier in self.parting(arrival.place):
                self.told(earlier)
            return True
        if transitions.may_go(record) and not keep and not self.default_of(arrival.place):
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
        return gone and not self.default_of(arrival.place)

    def forget(self, arrival: Arrival, owned: Owned, own: str) -> None:
        """A seat, known by its ``own`` key ("" unknown), begins anew: the record goes, unless others have the session as well.

        One that can't be removed counts as left in this process.
        """
        if not arrival.depart(owned, own):
            left = replace(owned.record, mode=None, lockdown="", owed=NOTHING, told=None)
            self.memory.keep(self.memory.left, left.id, left)
        self.unlearn(arrival.place)

    def leave_here(self, place: Place) -> bool:
        """Leave although nothing can be stored; whether that outlasts this process.

        This conversation's own record is removed; what can't be, or is another's as well, counts as left in this process.
        """
        inherited = place.conversation in self.memory.akin or len(self.memory.adrift) > 1  # whose record stays where it is
        self.unlearn(place)
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
        return lasting and not inherited and not self.default_of(place)

    def _part(self, place: Place) -> None:
        for name in place.names:
            self.memory.keep(self.memory.parted, name)

    def has_parted(self, place: Place) -> bool:
        """Whether this place was left without anything that could be stored to say so."""
        return any(name in self.memory.parted for name in place.names)

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
            if conversation_key(conversation) in parted or (conversation == place.conversation and self.has_parted(place)):
                return Kin("none")
            kind, parent, fresh, begun = lineage.parentage(conversation)
            return Kin(cast("Kind", kind), parent, fresh, begun)
        return kin_of


def _settings_of(context: Any) -> Settings | None:
    reader = capabilities.settings_reader(context)
    return parse(reader) if reader is not None else None
