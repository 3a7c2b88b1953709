"""What the model is told at the start of a turn: one full notice on a change, else one short line."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final

from .. import entry, notices, transitions
from ..controller import Desk
from ..errors import PlanModeError, StateError
from ..host import prompts, session
from ..questions import Questions
from ..standing import NO_MODE, Standing
from ..state.identity import CRON, Place, conversation_key
from ..state.record import Damaged, SessionRecord
from ..state.sessions import Arrival, Owned
from ..state.store import Writer
from ..transitions import Taken
from ..whereabouts import Here
from .overheard import Overheard, texts_of

log: Final = logging.getLogger(__name__)

_CLI: Final = ("", "cli")
_SUBAGENT: Final = "subagent"

_PASSING: Final = frozenset({CRON, "webhook", "msgraph_webhook"})
"""Surfaces whose sessions nobody comes back to: their default mode holds without a record."""


class TurnContext:
    """The callback of ``pre_llm_call``."""

    def __init__(self, desk: Desk, overheard: Overheard, questions: Questions) -> None:
        self._desk, self._overheard, self._questions = desk, overheard, questions

    def pre_llm_call(self, session_id: Any = "", platform: Any = "", conversation_history: Any = None, user_message: Any = None,
                     parent_session_id: Any = "", **_: Any) -> dict[str, str] | None:
        """Text to add to the user's message of this turn, or None. Never raises."""
        try:
            desk = self._desk
            desk.judge.renew_default()
            facts = desk.where.surface()
            here = desk.where.here_of(facts, session_id if isinstance(session_id, str) else "")
            if platform == _SUBAGENT and session_id not in desk.memory.akin:
                desk.adopt(session_id, parent_session_id)
            said = ""
            if self._is_main_turn(here, platform):
                desk.memory.children.pop(here.place.conversation, None)
                if not prompts.is_synthetic(user_message):
                    self._questions.begin_turn(here.session)
                said = self._overheard.in_message(here, user_message)
                text = self._main_turn(here, conversation_history)
            else:
                text = self._other_turn(here.place)
            text = "\n".join(filter(None, (said, text, self._lost(text))))
        except Exception:
            log.exception("plan-mode: a turn's notice failed")
            with suppress(Exception):  # what this turn continues still holds
                self._desk.drift(self._desk.where.place(session_id))
            return None
        return {"context": text} if text else None

    def _other_turn(self, place: Place) -> str:
        """What a sub-agent or a side agent is told; who was handed a mode of its own gets all that it says."""
        standing = self._desk.judge.standing(place)
        handed = self._desk.memory.children.get(place.conversation)
        if handed is not None and standing.pinned is handed.pinned:
            return notices.of_a_child(standing)
        return notices.reminder(standing)

    def _is_main_turn(self, here: Here, platform: Any) -> bool:
        """Whether this is a turn of a person's own conversation: not a sub-agent's, a side agent's or a scheduled one."""
        if platform == _SUBAGENT or here.facts.isolated or not here.place.known or here.place.surface in _PASSING:
            return False
        if session.in_background_review():
            return False
        return self._desk.where.is_own(here) and (here.place.process is None or platform in _CLI)

    def _lost(self, text: str) -> str:
        """What every turn in a mode must say while the model's runtime goes around plan-mode."""
        bypassed = self._desk.bypassed() if text else ""
        return notices.UNENFORCED.format(bypassed) if bypassed else ""

    def _main_turn(self, here: Here, history: Any) -> str:
        place = here.place
        try:
            if self._is_quiet(place):
                return ""
            standing = self._desk.judge.standing(place)
            if self._is_unchanged(place, standing, history):
                return notices.reminder(standing)
            return self._arrive(here, history)
        except StateError as exc:
            log.warning("plan-mode: %s", exc)
            self._desk.drift(place)
            return notices.reminder(self._desk.judge.standing(place))

    def _is_quiet(self, place: Place) -> bool:
        """Whether nothing is known that could concern this turn: the case of everybody who isn't in a mode."""
        desk, judge = self._desk, self._desk.judge
        if desk.memory.left or judge.standing(place) is not NO_MODE or (judge.has_parted(place) and judge.default_of(place)):
            return False
        if not desk.store.folders() or place.conversation in desk.memory.arrived:
            return True
        kin = desk.kin(place)
        if kin.certain and not kin.nearest:
            desk.memory.keep(desk.memory.arrived, place.conversation)
        return not kin.nearest

    def _is_unchanged(self, place: Place, standing: Standing, history: Any) -> bool:
        """Whether the model knows all of it, and nothing has to be stored."""
        desk, record = self._desk, standing.record
        if record is None or record.unresolved or record.id in desk.memory.taken or record.id in desk.memory.left:
            return False
        if place.process is not None and record.holder != place.process:
            return False
        if not desk.library.is_settled(record):
            return False
        if desk.memory.adrift or place.conversation in desk.memory.akin or record.id in desk.memory.interfered:
            return False
        key = conversation_key(place.conversation)
        here = any(folder.hashed(key) == record.conversation and desk.store.was_noted(folder, record.id)
                   and all(desk.store.record_id(folder, folder.hashed(each)) == record.id for each in place.keys)
                   for folder in desk.store.folders())
        return here and not notices.is_due(record, record.conversation, _marks(history))

    def _arrive(self, here: Here, history: Any) -> str:
        desk, place = self._desk, here.place
        starting = desk.judge.default_of(place)
        with desk.arriving(place, create=bool(starting)) as (arrival, writer):
            owned = desk.session(arrival)
            if isinstance(owned, Damaged):
                return notices.reminder(desk.judge.of(owned))
            if owned is None and starting and desk.library.default(starting) is not None:
                owned = self._begin(here, arrival, writer)
            if owned is None:
                return self._of_the_left(place) or notices.reminder(desk.judge.standing(place))
            if owned.record.unresolved:
                return notices.reminder(desk.judge.of(owned.record))
            owned = desk.renewed(arrival, arrival.take_conversation(owned))
            desk.memory.keep(desk.memory.arrived, place.conversation)
            writer.touch(owned.folder, owned.record.id)
            record, marks = self._as_taken(owned.record), _marks(history)
            if notices.was_given(record, {*(marks or ()), *desk.memory.given}):
                record = transitions.apply(record, Taken(record.conversation, record.owed.said))
            mark = notices.new_mark()
            text = notices.due(desk.judge.of(record), record, record.conversation, marks, mark, desk.settings(),
                               partial(desk.library.listing, record.project))
            taken = transitions.apply(record, Taken(record.conversation, mark)) if text.is_notice else record
            self._store(arrival, owned, taken)
        return text.text

    def _begin(self, here: Here, arrival: Arrival, writer: Writer) -> Owned | None:
        """A new session starts in the operator's mode; without a record of it that mode holds all the same."""
        try:
            entry.begin_by_default(self._desk, here, arrival, writer)
            found = self._desk.session(arrival)
        except PlanModeError as exc:
            log.warning("plan-mode: a session's default mode couldn't be stored: %s", exc)
            return None
        return found if isinstance(found, Owned) else None

    def _as_taken(self, record: SessionRecord) -> SessionRecord:
        """The record, or what it should be where handing out its notices couldn't be stored."""
        stored, meant = self._desk.memory.taken.get(record.id, (None, None))
        if stored is None or meant is None or (stored.owed, stored.told) != (record.owed, record.told):
            return record
        return replace(record, owed=meant.owed, told=meant.told)

    def _store(self, arrival: Any, owned: Owned, taken: SessionRecord) -> None:
        memory = self._desk.memory
        memory.taken.pop(owned.record.id, None)
        if taken == owned.record and not transitions.may_go(taken):
            return
        try:
            self._desk.commit(arrival, owned, taken)
        except StateError as exc:
            log.warning("plan-mode: %s", exc)
            memory.keep(memory.taken, owned.record.id, (owned.record, taken))

    def _of_the_left(self, place: Place) -> str:
        """The last notice of a session of this process that left while nothing could be stored."""
        desk, text = self._desk, ""
        for record in desk.parting(place):
            mark = notices.new_mark()
            text = notices.due(desk.judge.of(record), record, record.conversation, frozenset(), mark, desk.settings(),
                               partial(desk.library.listing, record.project)).text
            desk.told(record)
        return text


def _marks(history: Any) -> frozenset[str] | None:
    """The marks of all notices that the conversation still holds; None where it isn't shown to us."""
    if not isinstance(history, list) or not history:
        return None
    return frozenset(mark for message in history if isinstance(message, Mapping) for mark in _marks_of(message))


def _marks_of(message: Mapping[str, Any]) -> Iterator[str]:
    for content in (message.get("api_content"), message.get("content")):
        for text in texts_of(content):
            yield from notices.marks_in(message.get("role"), text)
