"""/planmode: on, status, show, approve, reject, off."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Final

from .. import decisions, entry, plans, transitions
from ..controller import Desk
from ..entry import MOST_OF_A_TEXT, refuse_nowhere, refuse_others
from ..errors import LockTimeout, Refusal, StateError
from ..host import capabilities, workspace
from ..state.record import Damaged, PlanFile, SessionRecord, blank, new_id
from ..state.sessions import Owned
from ..transitions import Leave, Switch
from ..whereabouts import Here
from . import render
from .answer import answering, split_verb

_MODE_OPTION: Final = re.compile(r"(?:^|\s)--mode(?:\s+|=)(\S+)(?=\s|$)|(?:^|\s)--mode\s*$")

USAGE: Final = """\
/planmode on [task]                      plan mode on; the agent may read, think and write plans
/planmode status                         what is in force, and this session's plans
/planmode show [file]                    the plan as it is on disk
/planmode approve [file] [--mode slug]   approve the plan and leave plan mode
/planmode reject [feedback]              have the plan changed
/planmode off                            leave modes without approving"""


class PlanModeCommand:
    """The handler of ``/planmode``."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.handle = answering(desk, "planmode", self._handle)
        self._verbs: Final[dict[str, Callable[[Here, str], str]]] = {
            "": self._status, "status": self._status, "on": self.turn_on, "show": self._show,
            "approve": self._approve, "reject": self._reject, "off": self._off,
        }

    def _handle(self, here: Here, raw_args: str) -> str:
        verb, rest = split_verb(raw_args)
        act = self._verbs.get(verb)
        return act(here, rest) if act else f"{verb[:40]!r} isn't a word /planmode knows.\n{USAGE}"

    def turn_on(self, here: Here, task: str) -> str:
        entered = entry.enter_plan(self._desk, here, task)
        cut = max(0, len(task) - MOST_OF_A_TEXT)
        return render.entered(entered.record, self._desk.settings(), already=entered.was, cut=cut)

    # -- looking

    def _status(self, here: Here, rest: str) -> str:
        desk, place, settings = self._desk, here.place, self._desk.settings()
        desk.judge.renew_default()
        warnings = render.warnings(
            here.refusal, settings, config_read=capabilities.read_config() is not None, bypassed=desk.bypassed(),
            remote=workspace.works_remotely(desk.backend))
        seen: list[plans.PlanText | render.Unreadable] = []
        if here.refusal is not None:
            return render.status_nowhere(warnings)
        try:
            with desk.arriving(place) as (arrival, _):
                found = desk.session(arrival)
                if isinstance(found, Owned):
                    seen = [_look_at(plan) for plan in found.record.plans]
                    decisions.remember_shown(arrival, found, [each for each in seen if isinstance(each, plans.PlanText)])
        except StateError as exc:
            return render.status(desk.judge.standing(place), seen, [*warnings, str(exc)], settings)
        if isinstance(found, Owned):
            return render.status(desk.judge.of(found.record), seen, warnings, settings)
        return render.status(desk.judge.of(found) if found else desk.judge.standing(place), seen, warnings, settings)

    def _show(self, here: Here, named: str) -> str:
        refuse_nowhere(here)
        desk = self._desk
        with desk.arriving(here.place) as (arrival, _):
            owned = decisions.own(desk, arrival)
            text = plans.read_plan(decisions.chosen_plan(owned.record, named).path)
            decisions.remember_shown(arrival, owned, [text])
        return render.plan_text(text, transitions.situation(owned.record))

    # -- deciding

    def _approve(self, here: Here, rest: str) -> str:
        refuse_nowhere(here)
        named, slug = _split_mode(rest)
        done = decisions.approve(self._desk, here, named, slug)
        if isinstance(done, decisions.Changed):
            return render.changed(done.text)
        return render.approved(done.path, done.record.mode, done.lasting)

    def _reject(self, here: Here, feedback: str) -> str:
        refuse_nowhere(here)
        earlier = decisions.reject(self._desk, here, feedback)
        return render.rejected(feedback, cut=max(0, len(feedback) - MOST_OF_A_TEXT), earlier=earlier)

    def _off(self, here: Here, rest: str) -> str:
        return leave(self._desk, here)


def leave(desk: Desk, here: Here) -> str:
    """Leave modes from this place, whatever state its files are in."""
    refuse_nowhere(here)
    desk.judge.renew_default()
    damage: Damaged | None = None
    try:
        with desk.arriving(here.place, create=bool(desk.judge.default_of(here.place))) as (arrival, _):
            found = desk.session(arrival)
            while isinstance(found, Damaged):  # behind one file there may be that of a conversation which this one continues
                seen, damage = damage, found
                if seen == damage or not arrival.clear_damage():
                    raise StateError(damage.path, "it can't be removed")
                found = desk.session(arrival)
            if isinstance(found, Owned):
                refuse_others(desk, here, found)
                found = desk.own_from_now(arrival, found) if found.record.unresolved else found
            record = found.record if isinstance(found, Owned) else _by_default(desk, here)
            if record is None or record.mode is None:
                return render.freed(damage, True) if damage else render.left_nothing()
            left = transitions.apply(record, Leave())
            lasting = desk.commit(arrival, found if isinstance(found, Owned) else None, left)
            return render.left(record.mode, lasting)
    except LockTimeout:
        raise
    except StateError:
        lasting = desk.leave_here(here.place)
        return render.freed(damage, lasting) if damage else render.left("this session's", lasting)


def _by_default(desk: Desk, here: Here) -> SessionRecord | None:
    """What a session that hasn't begun yet would begin as."""
    slug = desk.judge.default_of(here.place)
    return transitions.apply(blank(), Switch(slug, time.time(), new_id())) if slug else None


def _look_at(plan: PlanFile) -> plans.PlanText | render.Unreadable:
    try:
        return plans.read_plan(plan.path)
    except Refusal as exc:
        return render.Unreadable(plan.path, exc.reason)


def _split_mode(rest: str) -> tuple[str, str]:
    """The file and the slug of ``[file] [--mode slug]``; the file may hold blanks."""
    option = _MODE_OPTION.search(rest)
    if option is None:
        return rest, ""
    if not option[1]:
        raise Refusal("no-slug", "--mode needs the slug of a mode, as in --mode code.")
    return (rest[:option.start()] + rest[option.end():]).strip(), option[1]
