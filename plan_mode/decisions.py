"""What a person decides about a plan, whether by a command or by the answer to a question of the agent.

Raises Refusal and StateError.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from typing import Final

from . import plans, transitions
from .controller import Desk
from .entry import MOST_OF_A_TEXT, Asked, refuse_others, refuse_stale, refuse_unresolved
from .errors import Refusal
from .modes.builtin import PLAN
from .plans import PlanText
from .policy.containment import Outside, as_path
from .state.record import Damaged, PlanFile, SessionRecord, blank, new_id
from .state.sessions import Arrival, Owned
from .text import shorten
from .transitions import Approve, Reject, Showed
from .whereabouts import Here

IN_THE_CONVERSATION: Final = "(given in the conversation)"
"""Where a plan stands that can't be a file."""


@dataclass(frozen=True, slots=True)
class Approved:
    """The session after the approval of the plan at ``path``; ``lasting``: whether that outlasts this process."""

    path: str
    record: SessionRecord
    lasting: bool


@dataclass(frozen=True, slots=True)
class Changed:
    """The plan isn't what was shown, so nothing was approved; this is what it says now, and counts as shown."""

    text: PlanText


@dataclass(frozen=True, slots=True)
class ShownPlan:
    """The bytes of a plan that were shown to a person who said yes to them, and the mode that was to follow, with its pin."""

    path: str
    digest: str
    to: str | None
    pin: str
    asked: Asked


def approve(desk: Desk, here: Here, named: str = "", slug: str = "", shown: ShownPlan | None = None) -> Approved | Changed:
    """End plan mode with the newest plan, the one that is ``named``, or the one that was ``shown`` and approved in an answer.

    ``slug`` is the mode that follows, "" for what the settings say.
    """
    with desk.arriving(here.place) as (arrival, _):
        owned = own(desk, arrival)
        record = owned.record
        refuse_unresolved(owned)
        if shown is not None:
            refuse_stale(owned, shown.asked)
        else:
            refuse_others(desk, here, owned)
        to, pin = mode_after(desk, record, slug)
        if shown is not None and (to, pin) != (shown.to, shown.pin):
            raise Refusal("changed-meanwhile", "The mode that follows the plan was changed while the user was asked, so nothing "
                          "was approved.", "Submit the plan again.")
        event = Approve("", to, time.time(), new_id(), pin, shown.asked.mark if shown else "")
        transitions.apply(record, event)  # refuses outside of plan mode before a plan is looked for
        path = IN_THE_CONVERSATION
        if shown is not None or not record.remote_files:
            plan = chosen_plan(record, shown.path if shown else named)
            text = plans.read_plan(plan.path)
            fault = plans.directory_fault(record.plan_root)
            if fault:
                raise Refusal("plan-directory", f"The plan can't be trusted: {fault}.", "Nothing was approved.")
            if text.digest != (shown.digest if shown else plan.digest):
                remember_shown(arrival, owned, [text])
                return Changed(text)
            path = plan.path
        approved = transitions.apply(record, replace(event, path=path))
        lasting = desk.commit(arrival, owned, approved)
    return Approved(path, approved, lasting)


def reject(desk: Desk, here: Here, feedback: str) -> str:
    """Have the plan changed; the feedback that this takes the place of, "" without any."""
    with desk.arriving(here.place) as (arrival, _):
        owned = own(desk, arrival)
        refuse_unresolved(owned)
        rejected = transitions.apply(owned.record, Reject(shorten(feedback, MOST_OF_A_TEXT)))
        if rejected != owned.record:
            arrival.save(owned, rejected)
    return owned.record.owed.feedback


def remember_shown(arrival: Arrival, owned: Owned, seen: list[PlanText]) -> None:
    """A person has seen these texts: they are what an approval is compared with."""
    record = owned.record
    for each in seen:
        record = transitions.apply(record, Showed(each.path, each.digest))
    if record != owned.record and not record.unresolved:
        arrival.save(owned, record)


def own(desk: Desk, arrival: Arrival) -> Owned:
    """The record of this place. Raises Refusal where there is none, or it can't be read."""
    found = desk.session(arrival)
    if isinstance(found, Damaged):
        raise Refusal("state-damaged", f"Only reading is possible here, because {found.reason}.",
                      "Type /planmode off to remove that file.")
    if found is None:
        transitions.apply(blank(), Reject(""))  # refuses: there is no plan to decide on
    assert found is not None
    return found


def chosen_plan(record: SessionRecord, named: str) -> PlanFile:
    """The newest plan of this session, or the one that was named by path or bare name."""
    if not record.plans:
        planning = transitions.situation(record) == "plan"
        hint = "Ask the agent to write the plan, or leave with /planmode off." if planning else "Type /planmode on to plan."
        raise Refusal("no-plan", "This session has no plan file yet.", hint)
    if not named:
        return max(record.plans, key=lambda plan: plan.written)
    named = named.strip("'\"")
    path = as_path(os.path.join(record.plan_root, named))
    real = "" if isinstance(path, Outside) else os.path.realpath(path)
    for plan in record.plans:
        if plan.path in (named, real) or os.path.basename(plan.path) == named:
            return plan
    raise Refusal("not-this-session's", f"{named!r} isn't a plan file of this session.",
                  "These are: " + ", ".join(os.path.basename(plan.path) for plan in record.plans) + ".")


def mode_after(desk: Desk, record: SessionRecord, slug: str) -> tuple[str | None, str]:
    """The mode that follows an approval, and its pin: the one typed, else the operator's, else the last one that edits."""
    library = desk.library
    for chosen, where in ((slug, "--mode"), (desk.settings().after_approval, "the setting after_approval")):
        if not chosen:
            continue
        following = set(library.listing(record.project).modes) - {PLAN.slug}
        if chosen not in following:
            raise Refusal("unknown-mode", f"{chosen!r}, from {where}, isn't a mode that can follow a plan.",
                          f"Modes: {', '.join(sorted(following))}.")
        return chosen, library.choose(chosen, record.project)[1]
    before = library.of(replace(record, mode=record.previous, pin=record.previous_pin))
    if before is None or not before.mode.edits_freely:
        return None, ""
    return before.mode.slug, record.previous_pin  # as it was, whatever its file says by now
