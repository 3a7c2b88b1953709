"""/planmode: on, status, show, approve, reject, off."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from typing import Final

from .. import facts, plans, transitions
from ..controller import Desk
from ..errors import LockTimeout, Refusal, StateError
from ..host import capabilities, workspace
from ..host.home import home
from ..modes.builtin import BUILTIN, PLAN
from ..state.record import Damaged, PlanFile, SessionRecord, blank, new_id
from ..state.sessions import Arrival, Owned, Place
from ..text import shorten
from ..transitions import Approve, Enter, Leave, Reject, Showed
from . import render
from .answer import answering, split_verb
from .guards import make_room, own, refuse_unresolved, refuse_where_unenforced

MOST_OF_A_TEXT: Final = 4000
"""Characters of a task or of feedback that reach the model."""

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
        self.handle = answering(self._handle)
        self._verbs: Final[dict[str, Callable[[str], str]]] = {
            "": self._status, "status": self._status, "on": self._on, "show": self._show,
            "approve": self._approve, "reject": self._reject, "off": self._off,
        }

    def _handle(self, raw_args: str) -> str:
        verb, rest = split_verb(raw_args)
        act = self._verbs.get(verb)
        return act(rest) if act else f"{verb[:40]!r} isn't a word /planmode knows.\n{USAGE}"

    # -- on

    def _on(self, task: str) -> str:
        desk = self._desk
        refuse_where_unenforced(desk)
        remote = workspace.works_remotely(capabilities.file_backend)
        with desk.arriving(desk.command_place(), create=True) as (arrival, writer):
            found = desk.session(arrival)
            if isinstance(found, Damaged):
                raise Refusal("state-damaged", f"Plan mode can't be turned on here, because {found.reason}.",
                              "Type /planmode off to remove that file, then /planmode on.")
            refuse_unresolved(found)
            was = transitions.situation(found.record) if found else "out"
            record = found.record if found else blank()
            root = record.plan_root if was in ("plan", "lockdown") and record.mode == PLAN.slug else self._plan_root(remote)
            entered = transitions.apply(record, Enter(time.time(), new_id(), root, remote, shorten(task, MOST_OF_A_TEXT)))
            if found is None:
                make_room(writer, desk.settings().keep_days)
            if found is None or entered != record:
                desk.commit(arrival, found, entered)
        return render.entered(entered, desk.settings(), already=was, cut=max(0, len(task) - MOST_OF_A_TEXT))

    def _plan_root(self, remote: bool) -> str:
        if remote:
            return ""
        root = plans.fix_plan_directory(workspace.session_cwd(in_cli=True))
        place = facts.protector_of(os.path.join(root, "plan.md"), home(), root)
        if place:
            raise Refusal("protected", f"The plan directory {root} would lie in {place}, which no restricted mode may write.",
                          "Set terminal.cwd in config.yaml to another folder and start Hermes again.")
        return root

    # -- looking

    def _status(self, rest: str) -> str:
        desk, place, settings = self._desk, self._desk.command_place(), self._desk.settings()
        warnings = render.warnings(desk.surface(), capabilities.read_config(), settings)
        seen: list[plans.PlanText | render.Unreadable] = []
        try:
            with desk.arriving(place) as (arrival, _):
                found = desk.session(arrival)
                if isinstance(found, Owned):
                    seen = [_look_at(plan) for plan in found.record.plans]
                    self._remember_shown(arrival, found, seen)
        except StateError as exc:
            return render.status(desk.standing(place), seen, [*warnings, str(exc)], settings)
        if isinstance(found, Owned):
            return render.status(desk.judge(found.record), seen, warnings, settings)
        return render.status(desk.judge(found) if found else desk.standing(place), seen, warnings, settings)

    def _show(self, named: str) -> str:
        desk = self._desk
        with desk.arriving(desk.command_place()) as (arrival, _):
            owned = own(desk, arrival)
            text = plans.read_plan(_choose(owned.record, named).path)
            self._remember_shown(arrival, owned, [text])
        return render.plan_text(text, transitions.situation(owned.record))

    def _remember_shown(self, arrival: Arrival, owned: Owned, seen: list[plans.PlanText | render.Unreadable]) -> None:
        record = owned.record
        for each in seen:
            if isinstance(each, plans.PlanText):
                record = transitions.apply(record, Showed(each.path, each.digest))
        if record != owned.record:
            arrival.save(owned, record)

    # -- deciding

    def _approve(self, rest: str) -> str:
        named, slug = _split_mode(rest)
        desk = self._desk
        with desk.arriving(desk.command_place()) as (arrival, _):
            owned = own(desk, arrival)
            record = owned.record
            refuse_unresolved(owned)
            to = _mode_after(record, slug, desk.settings().after_approval)
            event = Approve("", to, time.time(), new_id())
            transitions.apply(record, event)  # refuses outside of plan mode before a plan is looked for
            path = "(given in the conversation)"
            if not record.remote_files:
                plan = _choose(record, named)
                text = plans.read_plan(plan.path)
                fault = plans.directory_fault(record.plan_root)
                if fault:
                    raise Refusal("plan-directory", f"The plan can't be trusted: {fault}.", "Nothing was approved.")
                if text.digest != plan.digest:
                    self._remember_shown(arrival, owned, [text])
                    return render.changed(text)
                path = plan.path
            approved = transitions.apply(record, Approve(path, to, event.at, event.activation))
            lasting = desk.commit(arrival, owned, approved)
        return render.approved(path, to, lasting)

    def _reject(self, feedback: str) -> str:
        desk = self._desk
        with desk.arriving(desk.command_place()) as (arrival, _):
            owned = own(desk, arrival)
            refuse_unresolved(owned)
            rejected = transitions.apply(owned.record, Reject(shorten(feedback, MOST_OF_A_TEXT)))
            if rejected != owned.record:
                arrival.save(owned, rejected)
            earlier = owned.record.owed.feedback
        return render.rejected(feedback, cut=max(0, len(feedback) - MOST_OF_A_TEXT), earlier=earlier)

    def _off(self, rest: str) -> str:
        desk = self._desk
        return leave(desk, desk.command_place())


def leave(desk: Desk, place: Place) -> str:
    """Leave modes from this place, whatever state its files are in."""
    damage: Damaged | None = None
    try:
        with desk.arriving(place) as (arrival, _):
            found = desk.session(arrival)
            if isinstance(found, Damaged):
                damage = found
                if not arrival.clear_damage():
                    raise StateError(damage.path, "it can't be removed")
                found = desk.session(arrival)
            if not isinstance(found, Owned) or found.record.mode is None:
                return render.freed(damage, True) if damage else render.left_nothing()
            lasting = desk.commit(arrival, found, transitions.apply(found.record, Leave()))
            return render.left(found.record.mode, lasting)
    except LockTimeout:
        raise
    except StateError:
        lasting = desk.leave_here(place)
        return render.freed(damage, lasting) if damage else render.left("this session's", lasting)


def _choose(record: SessionRecord, named: str) -> PlanFile:
    """The newest plan of this session, or the one that was named by path or bare name."""
    if not record.plans:
        raise Refusal("no-plan", "This session has no plan file yet.",
                      "Ask the agent to write the plan, or leave with /planmode off.")
    if not named:
        return max(record.plans, key=lambda plan: plan.written)
    named = named.strip("'\"")
    for plan in record.plans:
        real = os.path.realpath(os.path.join(record.plan_root, named.replace("\0", "")))
        if plan.path in (named, real) or os.path.basename(plan.path) == named:
            return plan
    raise Refusal("not-this-session's", f"{named!r} isn't a plan file of this session.",
                  "These are: " + ", ".join(os.path.basename(plan.path) for plan in record.plans) + ".")


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


def _mode_after(record: SessionRecord, slug: str, after_approval: str) -> str | None:
    """The mode that follows an approval: the one typed, else the operator's, else the one before if it may edit."""
    for chosen, where in ((slug, "--mode"), (after_approval, "the setting after_approval")):
        if chosen and (chosen not in BUILTIN or chosen == PLAN.slug):
            raise Refusal("unknown-mode", f"{chosen!r}, from {where}, isn't a mode that can follow a plan.",
                          "Modes: " + ", ".join(sorted(set(BUILTIN) - {PLAN.slug})) + ".")
        if chosen:
            return chosen
    before = BUILTIN.get(record.previous or "")
    return before.slug if before is not None and before.edits_freely else None
