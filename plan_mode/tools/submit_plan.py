"""submit_plan: the agent asks for the approval of its plan."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from .. import cards, decisions, plans, transitions
from ..controller import Desk
from ..decisions import ShownPlan
from ..entry import Asked, refuse_unresolved
from ..errors import Refusal, StateError
from ..host.consent import Answer
from ..modes.builtin import PLAN
from ..plans import PlanText
from ..questions import Questions
from ..state.record import SessionRecord, activation_of
from ..transitions import Declined, Submitted
from ..whereabouts import Here
from .asking import Proposal, Tool, declined, refuse_owned, text_of, told_now, unanswered

SCHEMA: Final[dict[str, Any]] = {
    "name": "submit_plan",
    "description": "In plan mode: show the finished plan file to the user and ask for approval. If the user approves, plan mode "
                   "ends at once and you implement the plan in this turn.",
    "parameters": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Absolute path of the plan file that you wrote in this session."},
            "summary": {"type": "string", "description": "The plan in two or three sentences. The user reads it first."},
        },
        "required": ["path"],
    },
}

_CHANGED: Final = "(The file was changed while you looked at it; nothing was approved. This is what it says now.)"

COMMAND: Final = "/planmode approve, /planmode reject <feedback> or /planmode off"


class SubmitPlan(Tool):
    """The handler of ``submit_plan``."""

    def __init__(self, desk: Desk, questions: Questions) -> None:
        super().__init__(desk, questions, SCHEMA, self._proposed)

    def _proposed(self, here: Here, args: dict[str, Any]) -> Proposal:
        path, summary = text_of(args, "path"), text_of(args, "summary")
        if not path.strip():
            raise Refusal("missing-path", "path is missing.", 'Send {"path": "<absolute path of the plan>", "summary": "..."}.')
        record, text = self._submitted(here, path)
        return self._of(here, record, text, summary)

    def _of(self, here: Here, record: SessionRecord, text: PlanText, summary: str) -> Proposal:
        plan = record.plan_at(text.path)
        assert plan is not None
        to, pin = decisions.mode_after(self._desk, record, "")
        wording = cards.of_a_plan(here.place.surface, plan, text, summary, _following(to))

        def settle(here: Here, answer: Answer, asked: Asked) -> str | Proposal:
            shown = ShownPlan(text.path, text.digest, to, pin, asked)
            done = self._settled(here, record, shown, answer)
            return done if done is not None else self._of(here, *self._submitted(here, text.path), _CHANGED)

        return Proposal(f"plan:{text.digest}", wording, activation_of(record), settle)

    def _submitted(self, here: Here, path: str) -> tuple[SessionRecord, PlanText]:
        """The plan as it is now, noted as submitted. Raises Refusal and StateError."""
        desk = self._desk
        standing = desk.judge.standing(here.place)
        if standing.record is None and standing.mode is not None and standing.mode.slug == PLAN.slug:
            raise Refusal("nobody", "Nobody can approve a plan here: plan mode holds by the operator's setting.",
                          "Give the plan in the conversation, and stop.")
        with desk.arriving(here.place) as (arrival, _):
            owned = decisions.own(desk, arrival)
            record = owned.record
            refuse_unresolved(owned)
            standing = desk.judge.of(record)
            if record.mode != PLAN.slug:
                raise Refusal("not-planning", "This session isn't in plan mode, so there is no plan to submit.", "Go on working.")
            if standing.fallback is not None:
                raise Refusal(standing.fallback.rule, f"Only reading is possible, because {standing.fallback.reason}.",
                              standing.fallback.hint)
            refuse_owned(desk, record)
            if record.remote_files:
                raise Refusal("remote-files", "The file tools work on another machine, so a plan can't be a file here.",
                              "Give the plan in the conversation; the user approves it by typing /planmode approve.")
            plan = decisions.chosen_plan(record, path.strip())
            text = plans.read_plan(plan.path)
            if text.digest in {each.declined for each in record.plans}:
                raise Refusal("declined-plan", "The user has declined exactly this plan.",
                              "Change the plan file first, or ask the user what should be changed.")
            owned = arrival.save(owned, transitions.apply(record, Submitted(plan.path, text.digest)))
        return owned.record, text

    def _settled(self, here: Here, record: SessionRecord, shown: ShownPlan, answer: Answer) -> str | None:
        """The result, None where the plan was changed while a person looked at it."""
        desk = self._desk
        if answer.outcome == "declined":
            with suppress(StateError):  # the person's no counts all the same
                desk.note(record, Declined(shown.path, shown.digest))
            return declined(answer, "Ask the user what to change.") + \
                " Plan mode stays on: revise the plan file, then submit it again."
        if answer.outcome != "accepted":
            return unanswered(answer, here, COMMAND) + f" The plan waits at {shown.path}."
        done = decisions.approve(desk, here, shown=shown)
        if isinstance(done, decisions.Changed):
            return None
        return told_now(desk, here, done.record, shown.asked.mark)


def _following(to: str | None) -> str:
    return f"A yes ends plan mode{f' and turns {to} mode on' if to else ''}; the agent then implements it in this turn."
