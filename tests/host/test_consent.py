"""What the agent asks a person, in every kind of session, by the host's own approvals: each answer, and what comes of it."""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.host.kit import IS_OLD, Hermes, Outcome
from tests.host.seats import (
    IMPATIENT,
    LONG,
    MODE,
    PATIENT,
    PLAN,
    SERVED,
    SUBMIT,
    SWITCH,
    TOOLS,
    Chat,
    Cli,
    Desktop,
    Editor,
    Person,
    Run,
    Seat,
    Tab,
    approval,
    nothing,
    says,
    says_after,
)

pytestmark = pytest.mark.long


@pytest.fixture
def host(hermes: Callable[..., Hermes]) -> Hermes:
    return hermes(settings={"switch_pause_ms": 0}, config={"approvals": {"timeout": PATIENT}})


# -- what comes of it

TYPES = {SUBMIT: "The user can type /planmode approve, /planmode reject <feedback> or /planmode off.",
         SWITCH: "The user can type /mode code."}
TAKES_NONE = "No commands reach this session; the operator can free it on the machine itself with hermes plan-mode."
ACCEPTED = {
    SUBMIT: "[plan-mode notice] Earlier notices about modes are void.\nThe user approved the plan at {plan}. Implement it now.\n"
            "Plan mode is off; no mode is active.",
    SWITCH: "[plan-mode notice] Earlier notices about modes are void.\nCode mode is on. You are implementing.",
}
DECLINED = {
    SUBMIT: "The user declined. Ask the user what to change. Plan mode stays on: revise the plan file, then submit it again.",
    SWITCH: "The user declined. Nothing was changed; ask the user what to do instead.",
}
WROTE = {
    SUBMIT: "The user declined, and wrote: \"first the tests\". Plan mode stays on: revise the plan file, then submit it again.",
    SWITCH: "The user declined, and wrote: \"first the tests\".",
}
DECIDED = "[decided-meanwhile] The mode was changed while the user was asked, so the answer counts for nothing."
UNANSWERED = {
    "late": "The user didn't answer in time.", "closed": "The question was closed without an answer.",
    "unreachable": "No one could be asked.",
}


def expected(seat: Seat, tool: str, outcome: str) -> tuple[str, str]:
    """The mode that the session is in then, and what the tool says."""
    if outcome == "accepted":
        return "", ACCEPTED[tool].format(plan=seat.plan)
    if outcome == "decided":
        return "", DECIDED
    texts = {"declined": DECLINED, "wrote": WROTE}.get(outcome)
    if texts is not None:
        return MODE[tool], texts[tool]
    way_out = TAKES_NONE if isinstance(seat, Run | Editor) else TYPES[tool]
    waits = f" The plan waits at {seat.plan}." if tool == SUBMIT else ""
    return MODE[tool], f"{UNANSWERED[outcome]} Nothing was changed. {way_out} Say so and stop.{waits}"


def found(seat: Seat, outcome: Outcome) -> tuple[str, str]:
    """The same, as it is: without the mark of a notice, and without the role of a mode."""
    said = outcome.data.get("result") or f"[{outcome.data.get('rule')}] {outcome.error}"
    said = re.sub(r"(?<=plan-mode notice) t[0-9a-f]{6}", "", said)
    return seat.mode(), said.partition(" Make the change")[0]


# -- the table of answers


def yes_with_a_wrong_key(seat: Seat) -> None:
    for key in ("", "default", "run_0", f"{seat.key}0", seat.key[:-1], seat.record):
        assert approval().resolve_gateway_approval(key, "once", resolve_all=True) == 0


def yes_in_another_session(seat: Seat) -> None:
    """Where the same words are asked."""
    key, asked = f"other {seat.key}", {"pattern_key": "plan-mode:other", "pattern_keys": ["plan-mode:other"], **seat.shown[-1]}
    decided = approval()._await_gateway_decision(
        key, lambda _: approval().resolve_gateway_approval(key, "always", resolve_all=True), asked)
    assert decided["choice"] == "always"


def turn_over(seat: Seat) -> None:
    seat.host.plugins.invoke_hook("on_session_end", session_id=seat.conversation, task_id="default", turn_id=f"t{seat.number}",
                                  completed=False, interrupted=True, model="m", platform=seat.surface)


@dataclass(frozen=True)
class Row:
    """What the person does, and what comes of it: everywhere, but on some surfaces.

    ``then``: what they say after the end. ``patience``: how many seconds the host has.
    """

    person: Person
    outcome: str
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    then: str = ""
    patience: int = PATIENT


ROWS = {
    "once": Row(says("once"), "accepted"),
    "session": Row(says("session"), "accepted"),
    # An editor isn't offered that, and its adapter takes what it didn't offer for a no.
    "always": Row(says("always"), "accepted", {"acp": "declined"}),
    "an unknown word": Row(says("yes"), "closed", {"acp": "declined"}),
    "deny": Row(says("deny"), "declined"),
    # Panels and editors have nowhere to write.
    "deny, with words": Row(says("deny", " first\nthe tests "), "wrote", {"cli": "declined", "acp": "declined"}),
    # What an editor cancels, and what breaks the panel of 0.19, their hosts call a no.
    "closed": Row(lambda seat: seat.closes(), "closed", {"acp": "declined", "cli": "declined" if IS_OLD else "closed"}),
    "no answer, and one too late": Row(nothing, "late", then="once", patience=IMPATIENT),
    "replayed": Row(says("deny"), "declined", then="once"),
    "wrong key": Row(says_after(yes_with_a_wrong_key, "deny"), "declined"),
    "another session": Row(says_after(yes_in_another_session, "deny"), "declined"),
    "left meanwhile": Row(says_after(lambda seat: seat.leaves(), "once"), "decided"),
    "said something meanwhile": Row(says_after(lambda seat: seat.turn(), "once"), "closed"),
    "turn over": Row(says_after(turn_over, "once"), "closed"),
}


def assert_each(seats: Sequence[tuple[Seat, str]], row: Row) -> None:
    """All of them at the same time, so that an answer that went astray would show."""
    for seat, tool in seats:
        seat.host.config["approvals"]["timeout"] = row.patience
        seat.host.write_config()
        seat.begins(MODE[tool])
    with ThreadPoolExecutor(len(seats)) as pool:
        outcomes = list(pool.map(lambda pair: pair[0].asks(pair[1], row.person), seats, timeout=LONG))
    if row.then:
        assert [seat.answers(row.then) for seat, _ in seats] == [0] * len(seats)
    assert [found(seat, outcome) for (seat, _), outcome in zip(seats, outcomes, strict=True)] == [
        expected(seat, tool, row.elsewhere.get(seat.surface, row.outcome)) for seat, tool in seats]
    assert [len(seat.shown) for seat, _ in seats] == [1] * len(seats)


@pytest.mark.parametrize("row", ROWS)
def test_each_answer_on_each_surface(host: Hermes, row: str) -> None:
    for tool in TOOLS:
        assert_each([(Cli(host), tool)], ROWS[row])
    assert_each([(make(host), tool) for tool in TOOLS for make in SERVED], ROWS[row])


@pytest.mark.parametrize("make", SERVED)
def test_a_turn_that_is_stopped_has_declined_nothing(host: Hermes, make: type[Seat]) -> None:
    """The host closes the question; of an editor, it has that cancelled."""
    def stops(seat: Seat) -> None:
        seat.stops()
        if isinstance(seat, Editor):
            seat.closes()

    assert_each([(make(host), tool) for tool in TOOLS], Row(stops, "closed"))


def test_a_yes_after_the_turn_was_stopped(host: Hermes) -> None:
    makes: Sequence[type[Seat]] = (Cli, *SERVED)
    for make in makes:
        assert_each([(make(host), SWITCH)], Row(says_after(lambda seat: seat.stops(), "once"), "closed"))


# -- what they are shown


@pytest.mark.parametrize("make", [Tab, Chat, Run])
def test_an_answer_that_may_be_meant_for_another_question(host: Hermes, make: type[Seat]) -> None:
    """Words go to the oldest question: what a sub-agent's host asks meanwhile may be what the person has read."""
    other = {"command": "rm -r build", "description": "?", "pattern_key": "x", "pattern_keys": ["x"]}
    asking: list[threading.Thread] = []

    def another_is_asked(seat: Seat) -> None:
        wait = approval()._await_gateway_decision
        context = seat.turning.copy()
        asking.append(threading.Thread(target=lambda: context.run(wait, seat.key, lambda data: None, other)))
        asking[-1].start()
        for _ in range(500):
            if len(approval()._gateway_queues.get(seat.key, ())) == 2:
                return
            time.sleep(0.02)
        pytest.fail("the host asked nothing")

    seat = make(host)
    seat.begins("ask")
    outcome = seat.asks(SWITCH, says_after(another_is_asked, "once"))
    approval().resolve_gateway_approval(seat.key, "deny")
    asking[0].join(20)
    assert outcome.data["result"].startswith("The question was closed without an answer.")
    assert seat.mode() == "ask"


def test_the_card(host: Hermes) -> None:
    about = f"revision 1: {len(PLAN)} bytes, {hashlib.sha256(PLAN.encode()).hexdigest()[:12]}"
    follows = "A yes ends plan mode; the agent then implements it in this turn."
    shown: dict[type[Seat], dict[str, Any]] = {}
    plans: dict[type[Seat], str] = {}
    for make in (Cli, Chat, Editor):
        seat = make(host)
        seat.begins("plan")
        seat.asks(SUBMIT, says("deny"), summary="As agreed.")
        [shown[make]], plans[make] = seat.shown, seat.plan
    keys = shown[Chat].pop("pattern_key"), *shown[Chat].pop("pattern_keys")
    assert len(set(keys)) == 1
    assert re.fullmatch("plan-mode:[0-9a-f]{16}", keys[0])
    shown[Chat].pop("request_id", None)
    assert shown == {
        Cli: {
            "command": f'[plan-mode] Approve the plan "Parser"? · {follows} · {os.path.basename(plans[Cli])}, {about} · '
                       "The agent's summary: As agreed. · │ # Parser 1. do it · "
                       "To read all of it first: say no, type /planmode show, then /planmode approve.",
            "description": "plan-mode asks you", "allow_permanent": False},
        Chat: {
            "command": '[plan-mode] Approve the plan "Parser"?',
            "description": f"{follows}\n{os.path.basename(plans[Chat])}, {about}\nThe agent's summary: As agreed.\n"
                           "│ # Parser\n│ \n│ 1. do it",
            "allow_permanent": False, "allow_session": False},
        Editor: {
            "command": f'[plan-mode] Approve the plan "Parser"? · {follows} · {plans[Editor]}, {about} · '
                       "The agent's summary: As agreed. · │ # Parser · │ 1. do it",
            "description": "plan-mode asks you", "options": ["allow_once", "allow_session", "deny", "deny_always"]},
    }


# -- tabs of 0.19, whose commands run where nothing tells whose they are


@pytest.mark.skipif(not IS_OLD, reason="newer hosts bind the session around commands")
class TestTabsOfAnOldHost:
    @pytest.fixture(autouse=True)
    def server(self, host: Hermes, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HERMES_GATEWAY_SESSION", "1")

    @pytest.mark.parametrize("make", [Tab, Desktop])
    def test_a_command_leaves_nothing_meanwhile(self, host: Hermes, make: type[Seat]) -> None:
        typed: list[str] = []
        types = says_after(lambda seat: typed.append(host.type("/mode off")), "once")
        assert_each([(make(host), SWITCH)], Row(types, "accepted"))
        assert [each.partition(" is set")[0] for each in typed] == [
            "Nothing was changed. This process serves other sessions (HERMES_GATEWAY_SESSION"]

    @pytest.mark.xfail(strict=True, reason="the tool can't tell that commands are refused there")
    @pytest.mark.parametrize("make", [Tab, Desktop])
    def test_none_is_offered(self, host: Hermes, make: type[Seat]) -> None:
        seat = make(host)
        seat.begins("ask")
        assert "can type" not in seat.asks(SWITCH, lambda seat: seat.closes()).text
