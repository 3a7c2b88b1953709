"""What both tools share: who may ask, how a person is asked, and the form of a result."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from .. import entry, notices
from ..controller import Desk
from ..entry import DECIDED_MEANWHILE, Asked
from ..errors import PlanModeError, Refusal
from ..host import consent
from ..host.consent import Answer, Wording
from ..notices import new_mark
from ..questions import Pending, Question, Questions
from ..state.record import SessionRecord, activation_of
from ..text import one_line, visible
from ..whereabouts import Here

log: Final = logging.getLogger(__name__)

MOST_OF_AN_ANSWER: Final = 2000
"""Characters of what a person wrote beside a no."""

UNANSWERED: Final = {
    "unreachable": "No one could be asked.",
    "timed-out": "The user didn't answer in time.",
    "cancelled": "The question was closed without an answer.",
}


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a person is asked to say yes to. ``target`` is how a no to it is remembered.

    ``settle`` carries out what was answered, and gives the tool's result, or what has to be asked instead.
    """

    target: str
    wording: Wording
    activation: str
    settle: Settle
    pin: str = ""
    asks: bool = True
    """Whether a person has to say yes."""


Settle = Callable[[Here, Answer, Asked], "str | Proposal"]
Propose = Callable[[Here, dict[str, Any]], Proposal]
"""What a call asks for. Raises PlanModeError where it can't be asked."""


class Tool:
    """One tool: its handler, and what the host's hook is to say before it runs."""

    def __init__(self, desk: Desk, questions: Questions, schema: Mapping[str, Any], propose: Propose) -> None:
        self._desk, self._questions, self.schema, self._propose = desk, questions, schema, propose
        self.name: Final[str] = schema["name"]

    def handle(self, args: Any = None, session_id: Any = "", **_: Any) -> str:
        """The call's result, as JSON. Never raises."""
        try:
            here = self._desk.where.here_asking(session_id)
            _refuse_children(self._desk, here)
            return result(self._asked(here, args if isinstance(args, dict) else {}))
        except PlanModeError as exc:
            return error(exc)
        except Exception as exc:
            log.exception("plan-mode: a tool failed")
            return error(Refusal("internal-error", f"plan-mode failed ({type(exc).__name__}), and nothing was changed."))

    def directive(self, session_id: Any, args: Any) -> dict[str, str] | None:
        """What the hook says where only the host's own approval of the call reaches a person; None: nothing."""
        here = self._desk.where.here_asking(session_id)
        if consent.way_to_a_person(here.place.surface) != "directive":
            return None
        try:
            _refuse_children(self._desk, here)
            proposal = self._propose(here, args if isinstance(args, dict) else {})
            if not proposal.asks:
                return None
            question = self._questions.announce(
                here.session, self._call(args), proposal.target, proposal, here.place.conversation)
        except PlanModeError:
            return None  # the handler says why
        return {"action": "approve", "rule_key": question.nonce,
                "message": f"{proposal.wording.headline}\n{proposal.wording.details}"}

    def _asked(self, here: Here, args: dict[str, Any]) -> str:
        pending = self._questions.evidence(here.session, self._call(args))
        if pending is not None and consent.way_to_a_person(here.place.surface) == "directive":
            return self._by_evidence(here, pending)
        outcome: str | Proposal = self._propose(here, args)
        while not isinstance(outcome, str):
            outcome = self._put(here, outcome)
        return outcome

    def _by_evidence(self, here: Here, pending: Pending) -> str:
        proposal: Proposal = pending.subject
        done = proposal.settle(here, pending.answer or Answer("unreachable", "directive"), _asked_by(pending.question, proposal))
        if isinstance(done, str):
            return done
        raise Refusal("changed-meanwhile", "What the user looked at was changed meanwhile, so nothing was approved.",
                      "Ask again: the user must see what it says now.")

    def _put(self, here: Here, proposal: Proposal) -> str | Proposal:
        if not proposal.asks:
            return proposal.settle(here, Answer("accepted", "nobody"),
                                   Asked(proposal.activation, lambda: True, new_mark("tool"), proposal.pin))
        way = consent.way_to_a_person(here.place.surface)
        if way not in ("prompt", "panel"):
            return proposal.settle(here, Answer("unreachable", way), Asked("", lambda: False, ""))
        if consent.is_busy():
            raise Refusal("being-asked", "The user is being asked something else at this moment.", "Wait for the answer.")
        with self._questions.asking(here.session, proposal.target, here.place.conversation) as question:
            answer = consent.ask(way, proposal.wording, question.nonce)
            if not question.stands() and answer.outcome == "accepted":
                answer = Answer("cancelled", way, answer.choice)
            self._questions.answered(question, answer)
            if activation_of(self._desk.judge.standing(here.place).record) != proposal.activation:
                raise Refusal("decided-meanwhile", DECIDED_MEANWHILE)
            return proposal.settle(here, answer, _asked_by(question, proposal))

    def _call(self, args: Any) -> str:
        """What tells a call from others: the handler isn't told its id."""
        try:
            text = json.dumps(args, sort_keys=True, default=repr)
        except (TypeError, ValueError, RecursionError):
            text = repr(args)
        return f"{self.name}:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def declined(answer: Answer, otherwise: str) -> str:
    """What a no says, in the person's own words where the host hands them over."""
    said = one_line(answer.text, MOST_OF_AN_ANSWER)
    return f'The user declined, and wrote: "{said}".' if said else f"The user declined. {otherwise}"


def unanswered(answer: Answer, here: Here, command: str) -> str:
    """Why nothing came of a question, and what the person can do instead."""
    way_out = (f"The user can type {command}." if here.takes_commands else
               "No commands reach this session; the operator can free it on the machine itself with hermes plan-mode.")
    return f"{UNANSWERED[answer.outcome]} Nothing was changed. {way_out} Say so and stop."


def told_now(desk: Desk, here: Here, record: SessionRecord, mark: str) -> str:
    """The notice of a session's new mode, for the result of the tool that brought it about."""
    desk.memory.keep(desk.memory.awaited, here.place.conversation, mark)
    return notices.due(desk.judge.of(record), record, record.conversation, frozenset(), mark, desk.settings(),
                       partial(desk.library.listing, record.project)).text


def result(text: str) -> str:
    return json.dumps({"result": text}, ensure_ascii=False)


def error(exc: PlanModeError) -> str:
    rule = {"rule": exc.rule} if isinstance(exc, Refusal) else {}
    return json.dumps({"error": visible(str(exc)), **rule}, ensure_ascii=False)


def text_of(args: dict[str, Any], key: str) -> str:
    """An optional text among the arguments. Raises Refusal where it is something else."""
    value = args.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Refusal("malformed-argument", f"{key} must be a text.", "Send it as a string, or leave it out.")
    return value


def refuse_owned(desk: Desk, record: SessionRecord | None) -> None:
    """Raise Refusal where only one user may decide: no host tells who has answered."""
    if record is not None and record.mode is not None and record.owner and desk.settings().owner_only:
        raise Refusal("not-owner", "Only the user who turned this mode on may decide here, and an answer doesn't tell who gave "
                      "it (setting owner_only).", "Tell that user to type /mode or /planmode.")


def _asked_by(question: Question, proposal: Proposal) -> Asked:
    return Asked(proposal.activation, question.stands, new_mark("tool"), proposal.pin)


def _refuse_children(desk: Desk, here: Here) -> None:
    """Raise Refusal where it isn't a person's own conversation that asks."""
    entry.refuse_nowhere(here)
    if not desk.where.is_own(here) or here.place.conversation in desk.memory.children:
        raise Refusal("sub-agent", "A sub-agent can't change the mode or submit a plan.",
                      "Report to the agent that started you; it can ask.")
