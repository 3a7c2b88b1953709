"""Turning a mode on at a place, by whichever door: a command, Hermes' own /plan, a message in a running turn, a setting.

Every way in goes through here, so that every way in refuses for the same reasons. Raises Refusal and StateError.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from . import facts, plans, transitions
from .controller import Desk
from .errors import Refusal
from .host import lineage, workspace
from .host.home import home
from .modes.builtin import PLAN
from .modes.project import project_root
from .modes.registry import Known
from .state.expiry import make_way, sweep
from .state.identity import conversation_key
from .state.record import Damaged, SessionRecord, activation_of, blank, new_id
from .state.sessions import Arrival, Owned
from .state.store import MOST_RECORDS, Folder, Writer
from .text import shorten
from .transitions import Enter, Leave, Situation, Switch
from .whereabouts import Here

MOST_OF_A_TEXT: Final = 4000
"""Characters of a task or of feedback that reach the model."""

MOST_LOOKED_AT: Final = 200
"""Files of the state folder that whoever begins looks into, in search of what may go."""

DECIDED_MEANWHILE: Final = "The mode was changed while the user was asked, so the answer counts for nothing."

_DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What the answer to a question of the agent rests on.

    ``activation`` is the session's as it was when the person was asked, "" where nothing was on; ``stands`` tells whether
    the question was withdrawn meanwhile; ``mark`` is that of the notice which the tool's result will give; ``pin`` names the
    definition of the mode that was shown.
    """

    activation: str
    stands: Callable[[], bool]
    mark: str
    pin: str = ""


@dataclass(frozen=True, slots=True)
class Entered:
    """The record of a session that is in plan mode now, and where it came from."""

    record: SessionRecord
    was: Situation


def enter_plan(desk: Desk, here: Here, task: str = "", asked: Asked | None = None) -> Entered:
    """Plan mode on, for whoever is at this place. ``asked``: the agent wanted it."""
    refuse_where_unenforced(desk, here)
    with desk.arriving(here.place, create=True) as (arrival, writer):
        found = desk.session(arrival)
        if isinstance(found, Damaged):
            raise Refusal("state-damaged", f"Plan mode can't be turned on here, because {found.reason}.",
                          "Type /planmode off to remove that file, then /planmode on.")
        refuse_unresolved(found)
        if asked is not None:
            refuse_stale(found, asked)
        entered = _planning(desk, here, writer, found, task, asked.mark if asked else "")
        if found is None:
            make_room(writer, desk.settings().keep_days)
        if found is None or entered.record != found.record:
            desk.commit(arrival, found, entered.record)
    return entered


def _planning(desk: Desk, here: Here, writer: Writer, found: Owned | None, task: str, said: str = "") -> Entered:
    record = found.record if found else blank()
    was = transitions.situation(record)
    remote = workspace.works_remotely(desk.backend)
    kept = was in ("plan", "lockdown") and record.mode == PLAN.slug
    root = record.plan_root if kept else plan_root(here, remote)
    owner = here.owner(found.folder if found else writer.folder)
    event = Enter(time.time(), new_id(), root, remote, shorten(task, MOST_OF_A_TEXT), owner, project_of(here), said)
    return Entered(transitions.apply(record, event), was)


@dataclass(frozen=True, slots=True)
class Switched:
    """The mode that was chosen, and the session as it is now."""

    known: Known
    record: SessionRecord


def switch(desk: Desk, here: Here, slug: str, asked: Asked | None = None) -> Switched:
    """Another mode than plan on, for whoever is at this place. ``asked``: a person said yes to a question of the agent."""
    refuse_where_unenforced(desk, here)
    with desk.arriving(here.place, create=True) as (arrival, writer):
        found = desk.session(arrival)
        if isinstance(found, Damaged):
            raise Refusal("state-damaged", f"The mode can't be changed, because {found.reason}.", "Type /mode off first.")
        refuse_unresolved(found)
        if asked is not None:
            refuse_stale(found, asked)
        elif found is not None:
            refuse_others(desk, here, found)
        record = found.record if found else blank()
        owner = here.owner(found.folder if found else writer.folder)
        project = project_of(here)
        known, pin = desk.library.choose(slug, project)
        if asked is not None and pin != asked.pin:
            raise Refusal("changed-meanwhile", f"What {known.mode.slug} mode says was changed while the user was asked.",
                          "Nothing was switched. Ask again.")
        said = asked.mark if asked else ""
        switched = transitions.apply(record, Switch(known.mode.slug, time.time(), new_id(), owner, project, pin, said))
        if found is None:
            make_room(writer, desk.settings().keep_days)
        desk.commit(arrival, found, switched)
    return Switched(known, switched)


def begin_by_default(desk: Desk, here: Here, arrival: Arrival, writer: Writer) -> SessionRecord:
    """The record of a new session that starts in the operator's default mode, or has left it already, stored."""
    slug, has_left = desk.judge.default_of(here.place), desk.judge.has_parted(here.place)
    make_room(writer, desk.settings().keep_days, for_a_person=False)
    if slug == PLAN.slug and not has_left:
        record = _planning(desk, here, writer, None, "").record
    else:
        known, pin = desk.library.choose(slug, "")
        record = transitions.apply(blank(), Switch(known.mode.slug, time.time(), new_id(), "", project_of(here), pin))
    record = transitions.apply(record, Leave()) if has_left else replace(record, by_default=True)
    desk.commit(arrival, None, record)
    desk.joined(here.place)
    return record


def plan_root(here: Here, remote: bool) -> str:
    """The plan directory of a session that begins to plan here, made; "" where files lie on another machine."""
    if remote:
        return ""
    root = plans.fix_plan_directory(folder_of(here))
    place = facts.protector_of(os.path.join(root, "plan.md"), home(), os.path.dirname(os.path.dirname(root)))
    if place:
        raise Refusal("protected", f"The plan directory {root} would lie in {place}, which no restricted mode may write.",
                      "Set terminal.cwd in config.yaml to another folder and start Hermes again.")
    return root


def project_of(here: Here) -> str:
    """The root of the project that a session of this place is in; "" where no folder can be told."""
    return project_root(folder_of(here))


def folder_of(here: Here) -> str:
    """The working folder of a session of this place; "" where none can be told."""
    return workspace.session_cwd(in_cli=here.place.process is not None)


# -- refusals


def refuse_nowhere(here: Here) -> None:
    """Raise Refusal where it isn't known whose session a change would concern."""
    if here.refusal is not None:
        raise Refusal(here.refusal.rule, f"Nothing was changed. {here.refusal.reason}", here.refusal.hint)


def refuse_where_unenforced(desk: Desk, here: Here) -> None:
    """Raise Refusal where a mode could be turned on but not be enforced."""
    if here.refusal is not None:
        raise Refusal(here.refusal.rule, f"Nothing was turned on. {here.refusal.reason}", here.refusal.hint)
    bypassed = desk.bypassed()
    if bypassed:
        raise Refusal("own-runtime", f"Nothing was turned on. {bypassed[0].upper()}{bypassed[1:]}.",
                      "Choose another in config.yaml, start Hermes again and type /planmode on.")


def refuse_unresolved(found: Owned | None) -> None:
    """Raise Refusal while it isn't known which session this conversation continues."""
    if found is not None and found.record.unresolved:
        raise Refusal("unresolved",
                      "Where this conversation came from can't be read from the host's session store, so nothing was changed.",
                      "Its ancestor's mode holds until then; /planmode off leaves it.")


def refuse_others(desk: Desk, here: Here, owned: Owned) -> None:
    """Raise Refusal where only who turned the mode on may leave it, and somebody else types."""
    owner = owned.record.owner
    if owner and owner != here.owner(owned.folder) and desk.settings().owner_only:
        raise Refusal("not-owner", "Only the user who turned this mode on can leave it (setting owner_only).",
                      f"The operator can, on the machine itself: hermes plan-mode off {owned.record.id}")


def refuse_stale(found: Owned | None, asked: Asked) -> None:
    """Raise Refusal where the answer to a question comes too late: it was withdrawn, or the session isn't as it was."""
    if not asked.stands():
        raise Refusal("withdrawn", "The question was withdrawn before it was answered, so nothing was changed.")
    if activation_of(found.record if found else None) != asked.activation:
        raise Refusal("decided-meanwhile", DECIDED_MEANWHILE)


def make_room(writer: Writer, keep_days: int, *, for_a_person: bool = True) -> None:
    """Remove what may go; raise Refusal when there are still too many sessions.

    All of the folder is searched only when it is full and a person waits, and only then is the host's whole session store
    read: a session that begins by itself, as every scripted run may, must not hold the lock for so long. In the end a person
    comes before sessions in which nobody ever decided anything: at their next turn they begin by default again.
    """
    oldest = time.time() - keep_days * _DAY
    searches = (partial(sweep, most=MOST_LOOKED_AT), *((sweep, partial(sweep, listed=_listed)) if for_a_person else ()))
    if all(search(writer, oldest) >= MOST_RECORDS for search in searches) and not (for_a_person and make_way(writer)):
        raise Refusal("too-many", f"Nothing was turned on: {MOST_RECORDS} sessions are in modes already.",
                      "Leave some with /planmode off.")


def _listed(folder: Folder) -> frozenset[str] | None:
    conversations = lineage.all_conversations()
    return None if conversations is None else frozenset(folder.hashed(conversation_key(each)) for each in conversations)
