"""When a session begins anew or its process ends.

Context variables aren't read here: in these hooks they may be another session's.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from ..controller import Desk
from ..errors import StateError
from ..state.process import current_process
from ..state.record import NOTHING, SessionRecord
from ..state.sessions import Arrival, Owned, Place

log: Final = logging.getLogger(__name__)

NEW_SESSION: Final = "new_session"
BOUNDARY: Final = "session_boundary"


class Lifecycle:
    """The callbacks of ``on_session_reset`` and ``on_session_finalize``."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._ending: Any = ""

    def on_session_reset(self, reason: Any = "", old_session_id: Any = "", **_: Any) -> None:
        """``/new``: this process's record goes, if it is that of the conversation that was left. Any other reset is none."""
        ending, self._ending = old_session_id or self._ending, ""
        if reason == NEW_SESSION:
            self._with_own_record(ending, self._clear)

    def on_session_finalize(self, reason: Any = "", session_id: Any = "", **_: Any) -> None:
        """The process ends: its record waits for its conversation. At a boundary the reset that follows decides."""
        if reason == BOUNDARY:
            self._ending = session_id
        else:
            self._with_own_record("", Arrival.park)

    def _clear(self, arrival: Arrival, owned: Owned) -> None:
        if not arrival.is_here(owned):
            arrival.park(owned)  # this process had gone to another conversation, and it isn't known how that came about
        else:
            self._desk.commit(arrival, owned, replace(owned.record, mode=None, lockdown="", owed=NOTHING, told=None))

    def _with_own_record(self, conversation: Any, change: Callable[[Arrival, Owned], None]) -> None:
        try:
            process = current_process()
            if not self._desk.store.folders() or not self._holds(Place(process, "")):
                return
            place = Place(process, conversation if isinstance(conversation, str) else "")
            with self._desk.arriving(place) as (arrival, _):
                owned = self._desk.session(arrival)
                if isinstance(owned, Owned):
                    change(arrival, owned)
            self._desk.memory.restricted.clear()
        except StateError as exc:
            log.warning("plan-mode: %s", exc)
        except Exception:
            log.exception("plan-mode: a session hook failed")

    def _holds(self, place: Place) -> bool:
        standing = self._desk.standing(place)
        return isinstance(standing.record, SessionRecord)
