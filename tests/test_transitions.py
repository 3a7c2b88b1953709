"""Situation x event -> what becomes of the record: the whole table, and what holds for all of it."""

from __future__ import annotations

import itertools
from dataclasses import fields, replace
from typing import Any, get_args

import pytest

from plan_mode import transitions
from plan_mode.errors import Refusal
from plan_mode.state.process import ProcessId
from plan_mode.state.record import NOTHING, Owed, PlanFile, SessionRecord, Told, blank
from plan_mode.transitions import (
    SITUATIONS,
    Approve,
    Declined,
    Enter,
    Event,
    Interfere,
    Leave,
    Reject,
    Removed,
    Repin,
    Showed,
    Submitted,
    Switch,
    Taken,
    Wrote,
    apply,
    is_spent,
    may_go,
    situation,
)

OLD, NEW = PlanFile("/p/a.md", "old", 1.0), PlanFile("/p/b.md", "new", 2.0)
TOLD = Told("c", "plan", "/p", "abcdef")
OWED = Owed("an earlier task", "earlier feedback", "", True)

OUT = SessionRecord(id="0" * 16, mode=None, activation="one", since=1.0, previous=None, plan_root="/p", plans=(OLD,),
                    owed=NOTHING, told=TOLD, conversation="c", begun_in="b", keys=("k",), holder=ProcessId(1, "1", "b", "n"))
MODE = replace(OUT, mode="mine", previous="other", pin="pin1", previous_pin="pin0", project="/w", owner="me",
               owed=Owed(approved="/p/a.md"))
PLAN = replace(OUT, mode="plan", previous="mine", previous_pin="pin1", project="/w", owner="me", owed=OWED)
LOCKDOWN = replace(PLAN, lockdown="changed")
RECORDS = {"out": OUT, "mode": MODE, "plan": PLAN, "lockdown": LOCKDOWN}

ENTER = Enter(9.0, "two", "/q", True, "a task", "you", "/v", "abcdef")
SWITCH = Switch("architect", 9.0, "two", "you", "/v", "pin2")
APPROVE = Approve("/p/a.md", "theirs", 9.0, "two", "pin3")
WROTE = Wrote(NEW, "one")

KEPT: dict[str, Any] = {}
PLANNED = {"mode": "plan", "activation": "two", "since": 9.0, "plan_root": "/q", "remote_files": True, "lockdown": "",
           "project": "/v", "pin": "", "owed": Owed(task="a task", said="abcdef")}
LEFT = {"mode": None, "previous": None, "lockdown": "", "pin": "", "previous_pin": "", "owed": NOTHING}
SWITCHED = {"mode": "architect", "activation": "two", "since": 9.0, "pin": "pin2", "project": "/v", "owed": NOTHING}
YOURS = {"owner": "you"}
STILL_APPROVED = {"owed": Owed(approved="/p/a.md")}
ADDED = {"plans": (OLD, NEW)}
GONE: dict[str, Any] = {"plans": ()}
SEEN = {"plans": (replace(OLD, digest="seen"),)}
SUBMITTED = {"plans": (replace(OLD, digest="sent", submitted="sent", revision=1),)}
DECLINED = {"plans": (replace(OLD, declined="sent"),)}


def told(mode: str, pin: str = "") -> dict[str, Any]:
    return {"owed": NOTHING, "told": Told("c2", mode, "/p", "fedcba", pin)}


# Event -> per situation the fields that change, or the rule of the refusal.
EXPECTED: dict[Event, tuple[dict[str, Any] | str, ...]] = {
    #          out                            mode
    ENTER: (PLANNED | YOURS, PLANNED | {"previous": "mine", "previous_pin": "pin1"},
            #  plan                           lockdown
            {"owed": replace(OWED, task="a task")}, {"owed": replace(OWED, task="a task"), "lockdown": ""}),
    SWITCH: (SWITCHED | YOURS, SWITCHED | {"previous": "mine", "previous_pin": "pin1"} | STILL_APPROVED,
             SWITCHED | {"previous": "plan", "previous_pin": ""}, "lockdown"),
    APPROVE: ("not-planning", "not-planning", {"mode": "theirs", "previous": None, "pin": "pin3", "previous_pin": "",
                                               "activation": "two", "since": 9.0} | STILL_APPROVED, "lockdown"),
    Reject("no"): ("not-planning", "not-planning", {"owed": replace(OWED, feedback="no")}, "lockdown"),
    Leave(): ("no-mode", LEFT | STILL_APPROVED, LEFT, LEFT),
    Repin("pin4"): (KEPT, {"pin": "pin4"}, KEPT, KEPT),
    Interfere("another"): (KEPT, {"lockdown": "another"}, {"lockdown": "another"}, KEPT),
    WROTE: (KEPT, KEPT, ADDED, ADDED),
    Removed(OLD.path): (GONE, GONE, GONE, GONE),
    Showed(OLD.path, "seen"): (SEEN, SEEN, SEEN, SEEN),
    Submitted(OLD.path, "sent"): (KEPT, KEPT, SUBMITTED, KEPT),
    Declined(OLD.path, "sent"): (KEPT, KEPT, DECLINED, DECLINED),
    Taken("c2", "fedcba"): (told(""), told("mine", "pin1"), told("plan"), told("plan")),
}


REFUSED = {
    "not-planning": ("This session isn't in plan mode, so there is no plan to decide on.", "Turn it on with /planmode on."),
    "no-mode": ("This session isn't in any mode.", "Turn plan mode on with /planmode on."),
    "lockdown": ("This session is locked down, because a call did something else than what had been checked.",
                 "See /planmode status; then type /planmode on to go on planning, or /planmode off to leave."),
}


@pytest.mark.parametrize("where", SITUATIONS)
@pytest.mark.parametrize("event", EXPECTED, ids=lambda event: type(event).__name__)
def test_the_table(event: Event, where: str) -> None:
    before, expected = RECORDS[where], EXPECTED[event][SITUATIONS.index(where)]  # type: ignore[arg-type]
    assert situation(before) == where
    if isinstance(expected, str):
        with pytest.raises(Refusal) as refused:
            apply(before, event)
        assert (refused.value.rule, refused.value.reason, refused.value.hint) == (expected, *REFUSED[expected])
    else:
        assert apply(before, event) == replace(before, **expected)


def test_every_event_and_every_situation_is_in_the_table() -> None:
    kinds = set(get_args(Event))
    assert {type(event) for event in EXPECTED} == kinds
    assert set(transitions._TABLE) == set(itertools.product(SITUATIONS, kinds))
    assert set(RECORDS) == set(SITUATIONS)


# What each event may touch; everything else is the state's affair, or the past.
TOUCHES: dict[type, set[str]] = {
    Enter: {"mode", "previous", "pin", "previous_pin", "activation", "since", "plan_root", "remote_files", "lockdown", "owed",
            "owner", "project"},
    Switch: {"mode", "previous", "pin", "previous_pin", "activation", "since", "owed", "owner", "project"},
    Approve: {"mode", "previous", "pin", "previous_pin", "activation", "since", "owed"},
    Reject: {"owed"},
    Leave: {"mode", "previous", "pin", "previous_pin", "lockdown", "owed"},
    Repin: {"pin"},
    Interfere: {"lockdown"},
    Wrote: {"plans"},
    Removed: {"plans"},
    Showed: {"plans"},
    Submitted: {"plans"},
    Declined: {"plans"},
    Taken: {"owed", "told"},
}
OF_THE_AGENT = (Interfere, Wrote, Removed, Submitted, Taken)


@pytest.mark.parametrize("before", RECORDS.values(), ids=RECORDS)
@pytest.mark.parametrize("event", EXPECTED, ids=lambda event: type(event).__name__)
def test_what_holds_for_all(event: Event, before: SessionRecord) -> None:
    try:
        after = apply(before, event)
    except Refusal:
        return
    changed = {field.name for field in fields(before) if getattr(before, field.name) != getattr(after, field.name)}
    assert changed <= TOUCHES[type(event)]
    if type(event) in OF_THE_AGENT:
        assert after.mode == before.mode, "only a person changes the mode"
        assert not before.lockdown or after.lockdown, "only a person ends a lockdown"
    if isinstance(event, Leave):
        assert situation(after) == "out"
    if before.mode == "plan" and after.mode != "plan":
        assert isinstance(event, Leave | Approve | Switch)
    if not isinstance(event, Approve):
        assert not after.owed.approved or before.owed.approved, "nothing but an approval says so"


@pytest.mark.parametrize("before", [record for where, record in RECORDS.items() if where != "out"])
def test_a_person_can_always_leave(before: SessionRecord) -> None:
    assert apply(before, Leave()).mode is None


# -- single events

def test_on_again_without_a_task_changes_nothing() -> None:
    assert apply(PLAN, replace(ENTER, task="")) is PLAN


def test_on_ends_a_lockdown_in_another_mode() -> None:
    locked = replace(MODE, lockdown="changed")
    assert apply(locked, ENTER) == replace(MODE, **PLANNED, previous="mine", previous_pin="pin1")


def test_a_switch_to_the_same_mode_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        apply(MODE, replace(SWITCH, slug="mine", pin="pin1"))
    assert refused.value.rule == "same-mode"
    assert apply(MODE, replace(SWITCH, slug="mine")).pin == "pin2", "another definition of the same name is another mode"


def test_a_switch_to_the_same_mode_says_so() -> None:
    with pytest.raises(Refusal) as refused:
        apply(MODE, replace(SWITCH, slug="mine", pin="pin1"))
    assert str(refused.value) == "This session is already in mine mode. Type /mode off to leave it."


def test_whose_a_session_is() -> None:
    """Who turned it on first, until it leaves; nobody's where the surface knows of no users."""
    assert apply(replace(OUT, owner="me"), ENTER).owner == "you"
    assert apply(replace(MODE, owner="me"), ENTER).owner == "me"
    assert apply(replace(MODE, owner=""), ENTER).owner == "you"


@pytest.mark.parametrize("event", EXPECTED, ids=lambda event: type(event).__name__)
def test_only_a_persons_decision_ends_that_it_is_by_default(event: Event) -> None:
    before = replace(MODE if isinstance(event, Switch) else PLAN, by_default=True)
    decided = isinstance(event, Enter | Switch | Approve | Reject | Leave)
    assert apply(before, event).by_default is not decided


def test_a_decision_takes_what_a_tool_has_told_already() -> None:
    before = replace(MODE, owed=Owed(approved="/p/a.md", said="abcdef"), conversation="c")
    assert apply(before, SWITCH).told == Told("c", "mine", "/p", "abcdef", "pin1")


def test_approved_to_no_mode() -> None:
    after = apply(PLAN, replace(APPROVE, to=None))
    assert (after.mode, after.owed) == (None, Owed(approved="/p/a.md"))
    assert not is_spent(after)


def test_a_rejection_without_words_keeps_the_earlier_ones() -> None:
    assert apply(PLAN, Reject("")) == PLAN
    assert apply(apply(PLAN, Reject("first")), Reject("second")).owed.feedback == "second"


def test_a_write_of_an_earlier_activation_is_no_plan_of_this_one() -> None:
    assert apply(PLAN, replace(WROTE, activation="before")) is PLAN


def test_each_text_that_is_submitted_is_a_revision() -> None:
    record = PLAN
    for digest, revision in (("first", 1), ("first", 1), ("second", 2), ("first", 3)):
        record = apply(record, Submitted(OLD.path, digest))
        [plan] = record.plans
        assert (plan.digest, plan.submitted, plan.revision) == (digest, digest, revision)


def test_what_was_said_to_a_plan_outlasts_its_next_text() -> None:
    before = apply(apply(PLAN, Submitted(OLD.path, "sent")), Declined(OLD.path, "sent"))
    [plan] = apply(before, Wrote(PlanFile(OLD.path, "newer", 5.0), "one")).plans
    assert plan == PlanFile(OLD.path, "newer", 5.0, 1, "sent", "sent")


@pytest.mark.parametrize(("event", "owed"), [
    (replace(APPROVE, said="abcdef"), Owed(approved="/p/a.md", said="abcdef")),
    (replace(SWITCH, said="abcdef"), Owed(said="abcdef")),
])
def test_a_notice_that_a_tool_gave_stays_known(event: Event, owed: Owed) -> None:
    after = apply(PLAN, event)
    assert after.owed == owed
    assert apply(after, Taken("c", "abcdef")).owed == NOTHING


def test_an_approval_that_a_tool_told_isnt_told_again_with_the_next_mode() -> None:
    approved = apply(PLAN, replace(APPROVE, said="abcdef"))
    assert apply(approved, SWITCH).owed == NOTHING
    assert apply(approved, Leave()).owed == NOTHING


def test_a_plan_that_is_written_again_moves_the_reference() -> None:
    again = apply(PLAN, Wrote(replace(OLD, digest="newer", written=5.0), "one"))
    assert again.plans == (PlanFile(OLD.path, "newer", 5.0),)


@pytest.mark.parametrize("event", [Showed("/p/another.md", "x"), Showed(OLD.path, OLD.digest), Removed("/p/another.md"),
                                   Submitted("/p/another.md", "x"), Declined("/p/another.md", "x")])
def test_nothing_new(event: Event) -> None:
    assert apply(PLAN, event) == PLAN


@pytest.mark.parametrize(("record", "spent"), [
    (blank(), True),
    (replace(OUT, told=None), True),
    (replace(OUT, told=replace(TOLD, slug="")), True),
    (OUT, False),  # the model still believes in plan mode
    (replace(OUT, told=None, owed=Owed(approved="p")), False),
    (MODE, False),
    (PLAN, False),
])
def test_when_a_record_may_go(record: SessionRecord, spent: bool) -> None:
    assert is_spent(record) is spent
    assert may_go(record) is spent
    assert not may_go(replace(record, copied=True))


def test_off_and_on_again_owes_nothing() -> None:
    """The model knows of this very mode: the reminder is enough."""
    again = apply(apply(PLAN, Leave()), Enter(9.0, "two", "/p"))
    assert (again.mode, again.owed, again.told) == ("plan", NOTHING, TOLD)
