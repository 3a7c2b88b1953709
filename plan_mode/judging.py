"""How is a session judged, and may this call of it run? Takes no lock, and changes nothing on disk."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from . import facts
from .errors import StateError
from .host import workspace
from .host.home import home
from .library import Library
from .memory import Memory
from .modes.builtin import READ_ONLY
from .modes.model import Mode
from .policy.catalogue import canonical
from .policy.decide import Facts, Fallback, Verdict, decide
from .settings import DefaultMode, Settings
from .standing import NO_MODE, Standing, strictness, under
from .state.identity import API, Place, plan_key
from .state.kin import MOST_ANCESTORS, look
from .state.record import Damaged, SessionRecord
from .state.store import Store

log: Final = logging.getLogger(__name__)

NO_SESSION: Final = Fallback(
    "no-session", "this call names no session, and another session of this process is in a restricted mode",
    "It runs when no session of this process is in a restricted mode.")


class Judge:
    """One for each desk. Thread-safe. ``backend`` names where the host's file tools work, "" for this machine."""

    def __init__(self, store: Store, settings: Callable[[], Settings], library: Library, memory: Memory,
                 backend: Callable[[], str]) -> None:
        self._store, self._settings, self._library, self._memory, self._backend = store, settings, library, memory, backend
        self._known_default: DefaultMode | None = None

    def standing(self, place: Place) -> Standing:
        """How calls from this place are judged. Where several records speak, the strictest does.

        Never raises: where the state can't be read, what this process knows as restricted is read-only.
        """
        try:
            found = look(self._store, place)
            if self._memory.akin or self._memory.adrift or self._memory.talks:
                for other in self._also_of(place):
                    found += look(self._store, other)
        except StateError as exc:
            return self._remembered(place, exc)
        if found:
            standing = max((self.of(each) for each in found), key=strictness)
        elif not place.known and place.conversation not in self._memory.akin and self._anything_restricted():
            return Standing(None, READ_ONLY, NO_SESSION)
        else:
            standing = self._by_default(place)
        if self._memory.children:
            standing = self._as_handed(place, standing)
        self.know(place, standing)
        return standing

    def _as_handed(self, place: Place, standing: Standing) -> Standing:
        """The standing of a sub-agent that was handed another mode, as long as its parent's session is as it was then."""
        handed, conversation = None, place.conversation
        for _ in range(MOST_ANCESTORS):
            handed, parent = self._memory.children.get(conversation), self._memory.akin.get(conversation)
            if handed is not None or parent is None:
                break
            conversation = parent.conversation
        if handed is None or standing.fallback is not None or handed.under != under(standing):
            return standing
        return Standing(standing.record, handed.pinned.mode, pinned=handed.pinned, project=handed.project)

    def _also_of(self, place: Place) -> list[Place]:
        """Other places whose records hold here: those of a sub-agent's parents, and where a turn couldn't be stored."""
        also = [Place(place.process, conversation) for conversation in self._memory.adrift] if place.process else []
        if place.surface == API and not place.conversation:
            also += [Place(None, conversation) for key, conversation in list(self._memory.talks) if key == place.session_key]
        for _ in range(MOST_ANCESTORS):
            parent = self._memory.akin.get(place.conversation)
            if parent is None or self.has_parted(place):
                break
            also.append(parent)
            place = parent
        return also

    def _anything_restricted(self) -> bool:
        """Whether any session that this process knows is in a restricted mode at this moment."""
        return any(self.of(found).restricted for place in list(self._memory.restricted) for found in look(self._store, place))

    def _by_default(self, place: Place) -> Standing:
        """The mode of a session that nothing is known of: the operator's, else none."""
        slug = self.default_of(place)
        if not slug or (self._memory.parted and any(map(self.has_parted, (place, *self._also_of(place))))):
            return NO_MODE
        mode = self._library.default(slug)
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
        self._known_default = self._settings().default_mode

    def know(self, place: Place, standing: Standing) -> None:
        if standing.restricted:
            if place not in self._memory.restricted:
                self._memory.keep(self._memory.restricted, place)
        elif self._memory.restricted:
            self._memory.restricted.pop(place, None)

    def unlearn(self, place: Place) -> None:
        """What this process knew of a session counts no more, now that it has changed; that of others still does."""
        keys = set(place.keys)
        for known in list(self._memory.restricted):
            if keys & set(known.keys):
                self._memory.restricted.pop(known, None)

    def of(self, found: SessionRecord | Damaged) -> Standing:
        """The standing that one record alone gives."""
        if isinstance(found, Damaged):
            if found.path in self._memory.left:
                return Standing(None, None)
            return Standing(None, READ_ONLY, Fallback("state-damaged", found.reason))
        if found.mode is None or found.id in self._memory.left:
            return Standing(found, None)
        unstored = self._memory.interfered.get(found.id)
        lockdown = unstored.what if unstored else found.lockdown
        if lockdown:
            return Standing(found, READ_ONLY, Fallback("lockdown", lockdown))
        pinned = self._library.of(found)
        if pinned is None:
            return Standing(found, READ_ONLY, Fallback("mode-missing", f"its mode {found.mode!r} doesn't exist any more"))
        return Standing(found, pinned.mode, pinned=pinned)

    def _remembered(self, place: Place, exc: StateError) -> Standing:
        log.warning("plan-mode: %s", exc)
        keys = set(place.keys)
        if not any(keys & set(each.keys) for each in list(self._memory.restricted)):
            return self._by_default(place)
        return Standing(None, READ_ONLY, Fallback("state-unreadable", f"the state at {exc.path} can't be read ({exc.cause})"))

    def may_be_restricted(self) -> bool:
        """Whether this process knows any session in a restricted mode; asked when something failed."""
        return bool(self._memory.restricted or self._known_default)

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
            extra_tools=lambda: self.extra_tools(mode),
            others_plan=lambda real: self._is_others_plan(record, real),
            project=standing.project or (record.project if record else ""),
        )

    def extra_tools(self, mode: Mode) -> frozenset[str]:
        """What the operator's settings add to what this mode grants, as ``policy.decide.is_extra`` reads it."""
        if mode.extra_tools:
            return frozenset(map(canonical, self._settings().extra_allowed_tools))
        if mode.extra_servers:
            return frozenset(each for name in self._settings().mcp_allowed for each in (name, f"mcp:{name}"))
        return frozenset()

    def _is_others_plan(self, record: SessionRecord | None, real: str) -> bool:
        owners = self._store.look_up(plan_key(real))
        return any(isinstance(owner, Damaged) or record is None or owner.id != record.id for owner in owners)

    def has_parted(self, place: Place) -> bool:
        """Whether this place was left without anything that could be stored to say so."""
        return any(name in self._memory.parted for name in place.names)
