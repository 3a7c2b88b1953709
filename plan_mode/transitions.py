"""(situation, event) -> what becomes of the record. A table, and the function that applies it.

``on``, ``approve``, ``reject``, ``off`` and ``/mode`` are events of one machine over modes. Nothing here reads a clock
or a disk: events carry what they need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from .errors import Refusal
from .modes.builtin import PLAN
from .state.record import NOTHING, Owed, PlanFile, SessionRecord, Told

Situation = Literal["out", "mode", "plan", "lockdown"]
SITUATIONS: Final[tuple[Situation, ...]] = ("out", "mode", "plan", "lockdown")


@dataclass(frozen=True, slots=True)
class Enter:
    """Plan mode is turned on. ``at``: seconds since the epoch; ``said`` as in Switch."""

    at: float
    activation: str
    plan_root: str
    remote_files: bool = False
    task: str = ""
    owner: str = ""
    project: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class Switch:
    """A person chose another mode. ``said``: the mark of the notice by which the model is told in the same turn."""

    slug: str
    at: float
    activation: str
    owner: str = ""
    project: str = ""
    pin: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class Approve:
    """A person approved the plan at ``path``; ``to`` is the mode that follows, None for no mode. ``said`` as in Switch."""

    path: str
    to: str | None
    at: float
    activation: str
    pin: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class Repin:
    """The definition of the mode became narrower in its file, and is taken from now on."""

    pin: str


@dataclass(frozen=True, slots=True)
class Reject:
    """A person wants the plan changed."""

    feedback: str


@dataclass(frozen=True, slots=True)
class Submitted:
    """The agent submitted the plan at ``path``, and a person is shown these bytes of it."""

    path: str
    digest: str


@dataclass(frozen=True, slots=True)
class Declined:
    """A person said no to these bytes of a plan."""

    path: str
    digest: str


@dataclass(frozen=True, slots=True)
class Leave:
    """A person left modes altogether."""


@dataclass(frozen=True, slots=True)
class Interfere:
    """A checked call was changed before it ran; ``what`` says how."""

    what: str


@dataclass(frozen=True, slots=True)
class Wrote:
    """A call of this activation has written a plan file."""

    plan: PlanFile
    activation: str


@dataclass(frozen=True, slots=True)
class Removed:
    """A call has deleted or moved away a plan file."""

    path: str


@dataclass(frozen=True, slots=True)
class Showed:
    """A person has seen these bytes of a plan file."""

    path: str
    digest: str


@dataclass(frozen=True, slots=True)
class Taken:
    """The model was told everything that was owed, in a notice that bears ``mark``."""

    conversation: str
    mark: str


Decision = Enter | Switch | Approve | Reject | Leave
"""What only a person does."""

Event = Decision | Repin | Interfere | Wrote | Removed | Showed | Submitted | Declined | Taken


def situation(record: SessionRecord) -> Situation:
    if record.mode is None:
        return "out"
    if record.lockdown:
        return "lockdown"
    return "plan" if record.mode == PLAN.slug else "mode"


def apply(record: SessionRecord, event: Event) -> SessionRecord:
    """The record after the event. Raises Refusal, whose text a command prints, where the table refuses."""
    if record.owed.said and isinstance(event, Decision):  # the model was told in its turn of what is decided anew now
        record = _taken(record, Taken(record.conversation, record.owed.said))
    after = _TABLE[situation(record), type(event)](record, event)
    return replace(after, by_default=False) if after.by_default and isinstance(event, Decision) else after


def is_spent(record: SessionRecord) -> bool:
    """Whether the session has left and nothing is owed to it."""
    return record.mode is None and record.owed == NOTHING and not (record.told and record.told.slug)


def may_go(record: SessionRecord) -> bool:
    """Whether nothing needs the record any more. A branch's copy stays: without it the branch would be copied again."""
    return is_spent(record) and not record.copied


def _enter(record: SessionRecord, event: Enter) -> SessionRecord:
    return replace(
        record, mode=PLAN.slug, previous=record.mode, previous_pin=record.pin, pin="", activation=event.activation,
        since=event.at, lockdown="", plan_root=event.plan_root, project=event.project, remote_files=event.remote_files,
        owed=Owed(task=event.task, said=event.said), owner=_owner(record, event.owner),
    )


def _owner(record: SessionRecord, who: str) -> str:
    """Whose session it is: who first turned a mode on, until it leaves."""
    return record.owner if record.mode is not None and record.owner else who


def _enter_again(record: SessionRecord, event: Enter) -> SessionRecord:
    return replace(record, owed=replace(record.owed, task=event.task)) if event.task else record


def _end_lockdown(record: SessionRecord, event: Enter) -> SessionRecord:
    if record.mode != PLAN.slug:
        return _enter(record, event)
    return _enter_again(replace(record, lockdown=""), event)


def _switch(record: SessionRecord, event: Switch) -> SessionRecord:
    if (record.mode, record.pin) == (event.slug, event.pin):
        raise Refusal("same-mode", f"This session is already in {event.slug} mode.", "Type /mode off to leave it.")
    return replace(
        record, mode=event.slug, previous=record.mode, previous_pin=record.pin, pin=event.pin, activation=event.activation,
        since=event.at, project=event.project, owed=replace(_of_an_approval(record), said=event.said),
        owner=_owner(record, event.owner),
    )


def _approve(record: SessionRecord, event: Approve) -> SessionRecord:
    return replace(record, mode=event.to, previous=None, previous_pin="", activation=event.activation, since=event.at,
                   owed=Owed(approved=event.path, said=event.said), pin=event.pin)


def _reject(record: SessionRecord, event: Reject) -> SessionRecord:
    return replace(record, owed=replace(record.owed, feedback=event.feedback)) if event.feedback else record


def _leave(record: SessionRecord, event: Leave) -> SessionRecord:
    return replace(record, mode=None, previous=None, previous_pin="", lockdown="", pin="", owed=_of_an_approval(record))


def _of_an_approval(record: SessionRecord) -> Owed:
    """What stays owed when the mode that followed an approval is left before the model was told of either."""
    return Owed(approved=record.owed.approved)


def _interfere(record: SessionRecord, event: Interfere) -> SessionRecord:
    return replace(record, lockdown=event.what)


def _wrote(record: SessionRecord, event: Wrote) -> SessionRecord:
    return record.with_plan(event.plan) if event.activation == record.activation else record


def _removed(record: SessionRecord, event: Removed) -> SessionRecord:
    return record.without_plan(event.path)


def _showed(record: SessionRecord, event: Showed) -> SessionRecord:
    return _with(record, event.path, digest=event.digest)


def _submitted(record: SessionRecord, event: Submitted) -> SessionRecord:
    plan = record.plan_at(event.path)
    if plan is None:
        return record
    revision = plan.revision + (plan.submitted != event.digest)
    return _with(record, event.path, digest=event.digest, submitted=event.digest, revision=revision)


def _declined(record: SessionRecord, event: Declined) -> SessionRecord:
    return _with(record, event.path, declined=event.digest)


def _with(record: SessionRecord, path: str, **known: Any) -> SessionRecord:
    """The record with what is known of the plan at ``path``, in its place among the others."""
    return replace(record, plans=tuple(replace(p, **known) if p.path == path else p for p in record.plans))


def _taken(record: SessionRecord, event: Taken) -> SessionRecord:
    told = Told(event.conversation, record.mode or "", record.plan_root, event.mark, record.pin)
    return replace(record, owed=NOTHING, told=told)


def _repin(record: SessionRecord, event: Repin) -> SessionRecord:
    return replace(record, pin=event.pin)


def _keep(record: SessionRecord, event: Event) -> SessionRecord:
    return record


def _refuse(rule: str, reason: str, hint: str) -> Callable[[SessionRecord, Any], SessionRecord]:
    def refuse(record: SessionRecord, event: Event) -> SessionRecord:
        raise Refusal(rule, reason, hint)
    return refuse


_not_planning = _refuse("not-planning", "This session isn't in plan mode, so there is no plan to decide on.",
                        "Turn it on with /planmode on.")
_not_in_mode = _refuse("no-mode", "This session isn't in any mode.", "Turn plan mode on with /planmode on.")
_locked = _refuse("lockdown", "This session is locked down, because a call did something else than what had been checked.",
                  "See /planmode status; then type /planmode on to go on planning, or /planmode off to leave.")

_Transition = Callable[[SessionRecord, Any], SessionRecord]
_ROWS: Final[dict[type, tuple[_Transition, _Transition, _Transition, _Transition]]] = {
    #           out            mode           plan          lockdown
    Enter:     (_enter,        _enter,        _enter_again, _end_lockdown),
    Switch:    (_switch,       _switch,       _switch,      _locked),
    Approve:   (_not_planning, _not_planning, _approve,     _locked),
    Reject:    (_not_planning, _not_planning, _reject,      _locked),
    Leave:     (_not_in_mode,  _leave,        _leave,       _leave),
    Repin:     (_keep,         _repin,        _keep,        _keep),
    Interfere: (_keep,         _interfere,    _interfere,   _keep),
    Wrote:     (_keep,         _keep,         _wrote,       _wrote),
    Removed:   (_removed,      _removed,      _removed,     _removed),
    Showed:    (_showed,       _showed,       _showed,      _showed),
    Submitted: (_keep,         _keep,         _submitted,   _keep),
    Declined:  (_keep,         _keep,         _declined,    _declined),
    Taken:     (_taken,        _taken,        _taken,       _taken),
}
_TABLE: Final = {(where, event): row[i] for event, row in _ROWS.items() for i, where in enumerate(SITUATIONS)}
