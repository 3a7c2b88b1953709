"""When a session begins anew, its process ends, or it hands work to a sub-agent.

Context variables aren't read here: in these hooks they may be another session's.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from ..controller import Desk
from ..errors import StateError
from ..state.identity import Place
from ..state.process import current_process
from ..state.record import SessionRecord
from ..state.sessions import Arrival, Owned
from .delegation import handed_for
from .quiet import quiet

log: Final = logging.getLogger(__name__)

NEW_SESSION: Final = "new_session"
BOUNDARY: Final = "session_boundary"

RESETTING: Final = frozenset({"new", "reset", "clear", "approve"})
"""Commands of a chat after which it begins anew; the last one confirms."""


@dataclass(frozen=True, slots=True)
class Beginner:
    """Who begins a chat anew, and the chat's own key; "" where it can't be told."""

    user: str = ""
    key: str = ""


@contextmanager
def _logged() -> Iterator[None]:
    """What can't be read or stored stands in the log, in a line."""
    try:
        yield
    except StateError as exc:
        log.warning("plan-mode: %s", exc)


class Lifecycle:
    """The callbacks of ``on_session_reset``, ``on_session_finalize`` and ``subagent_start``."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._ending: Any = ""

    @quiet
    def on_session_reset(self, reason: Any = "", old_session_id: Any = "", **_: Any) -> None:
        """``/new``: the record of the conversation that was left goes. Any other reset is none. Never raises."""
        ending, self._ending = old_session_id or self._ending, ""
        if reason != NEW_SESSION:
            return
        if self._holds(Place(current_process(), "")):
            self._with_own_record(ending, self._clear)
        elif isinstance(old_session_id, str) and old_session_id:
            self._clear_named(old_session_id)

    @quiet
    def on_session_finalize(self, reason: Any = "", session_id: Any = "", **_: Any) -> None:
        """The process ends: its record waits for its conversation. At a boundary the reset that follows decides."""
        if reason == BOUNDARY:
            self._ending = session_id
        elif self._holds(Place(current_process(), "")):
            self._with_own_record("", Arrival.park)

    @quiet
    def subagent_start(self, parent_session_id: Any = "", child_session_id: Any = "", child_goal: Any = "", **_: Any) -> None:
        """A sub-agent is judged by its parent, whatever is bound where it runs, or by the mode that it was handed."""
        self._desk.adopt(child_session_id, parent_session_id, handed_for(child_goal))

    def _clear(self, arrival: Arrival, owned: Owned) -> None:
        if not arrival.is_here(owned):
            arrival.park(owned)  # this process had gone to another conversation, and it isn't known how that came about
        else:
            self._desk.forget(arrival, owned, arrival.place.carrier)

    def _clear_named(self, conversation: str) -> None:
        """A server says which conversation it left: the record that had it goes, unless it isn't the sender's to leave."""
        with _logged():
            if not self._desk.store.folders():
                return
            with self._desk.arriving(Place(None, conversation)) as (arrival, _):
                for owned in arrival.at_hand():
                    beginner = self._who_begins_anew(owned)
                    if arrival.is_free(owned) and self._may_reset(owned, beginner):
                        self._desk.forget(arrival, owned, beginner.key)

    def _who_begins_anew(self, owned: Owned) -> Beginner:
        """Who sent the command after which a chat of this record begins anew, taken once."""
        memory = self._desk.memory
        for key in list(memory.senders):
            if owned.folder.hashed(f"sk:{key}") in owned.record.keys:
                user, command = memory.senders.pop(key, ("", ""))
                return Beginner(user, f"sk:{key}") if command in RESETTING else Beginner()
        return Beginner()

    def _may_reset(self, owned: Owned, beginner: Beginner) -> bool:
        """Whether a chat that begins anew leaves its record: with ``owner_only`` only if its owner sent the command."""
        owner = owned.record.owner
        if not owner or not self._desk.settings().owner_only:
            return True
        return bool(beginner.user) and owned.folder.hashed(beginner.user) == owner

    def _with_own_record(self, conversation: Any, change: Callable[[Arrival, Owned], None]) -> None:
        with _logged():
            place = Place(current_process(), conversation if isinstance(conversation, str) else "")
            with self._desk.arriving(place) as (arrival, _):
                owned = self._desk.session(arrival)
                if isinstance(owned, Owned):
                    change(arrival, owned)
            self._desk.judge.unlearn(place)

    def _holds(self, place: Place) -> bool:
        """Whether this very process has a record."""
        try:
            return bool(self._desk.store.folders()) and isinstance(self._desk.judge.standing(place).record, SessionRecord)
        except Exception:  # an unreadable folder: then nothing can be cleared either
            return False
