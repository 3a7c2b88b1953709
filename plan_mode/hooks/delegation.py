"""Sub-agents work in their parent's mode, unless a person lets them work in another that may do more.

Which other one: what the goal names at its beginning (``[mode: code] ...``), else the parent's ``childMode``.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, Final

from .. import cards, entry, pins
from ..controller import Desk
from ..errors import PlanModeError, Refusal
from ..host import consent
from ..memory import Handed
from ..modes.builtin import PLAN
from ..modes.model import INHERIT, Mode, grants_more
from ..modes.registry import Known
from ..questions import Questions
from ..standing import Standing, under
from ..whereabouts import Here

log: Final = logging.getLogger(__name__)

TOOL: Final = "delegate_task"
_NAMED: Final = re.compile(r"\s*\[mode:\s*([a-zA-Z0-9_-]{1,128})\s*\]", re.IGNORECASE)
_SPAWNING: Final = ("", "spawn")

_handed: Final[ContextVar[Mapping[str, Handed]]] = ContextVar("plan_mode_handed", default=MappingProxyType({}))
"""What the sub-agents of the delegation under way are handed, by goal."""


def handed_for(goal: object) -> Handed | None:
    """The mode that a sub-agent with this goal was handed, while it starts; None for its parent's."""
    return _handed.get().get(goal) if isinstance(goal, str) else None


class Delegation:
    """What stands around a call of ``delegate_task``."""

    def __init__(self, desk: Desk, questions: Questions) -> None:
        self._desk, self._questions = desk, questions

    def around(self, session_id: Any, args: Any, next_call: Callable[..., Any]) -> Any:
        """Run the call, so that its sub-agents start in their modes. Raises Refusal where a goal names no mode."""
        try:
            modes = self._modes(session_id, args)
        except Refusal:
            raise
        except Exception:  # then they work in their parent's mode
            log.exception("plan-mode: the modes of sub-agents couldn't be told")
            modes = {}
        token = _handed.set(modes)
        try:
            return next_call(args)
        finally:
            _handed.reset(token)

    def _modes(self, session_id: Any, args: Any) -> dict[str, Handed]:
        tasks = tasks_of(args)
        here = self._desk.where.here_asking(session_id)
        standing = self._desk.judge.standing(here.place)
        chosen = {goal: slug for goal in tasks if (slug := _named(goal) or _of_parent(standing.mode))}
        if not chosen or standing.fallback is not None or self._is_denied(standing, args):
            return {}
        project = standing.record.project if standing.record and standing.record.project else entry.project_of(here)
        known = {goal: found for goal, slug in chosen.items() if (found := self._known(slug, project, named=bool(_named(goal))))}
        allowed = self._allowed(here, standing, known, tasks)
        return {goal: self._handed(each, project, standing) for goal, each in allowed.items()}

    def _known(self, slug: str, project: str, *, named: bool) -> Known | None:
        try:
            return self._desk.library.named(slug, project)
        except Refusal:
            if named:
                raise
            return None  # a childMode that isn't there any more: the parent's mode holds

    def _is_denied(self, standing: Standing, args: Any) -> bool:
        """Whether the call won't run anyway: nobody is asked about that."""
        return standing.restricted and self._desk.judge.verdict(standing, TOOL, args)[0].denied

    def _handed(self, known: Known, project: str, standing: Standing) -> Handed:
        return Handed(pins.pin_of(known, self._desk.library.rules(known.mode.slug, project)), under(standing), project)

    def _allowed(self, here: Here, standing: Standing, known: dict[str, Known],
                 tasks: dict[str, tuple[str, ...]]) -> dict[str, Known]:
        """Those that need nobody, and all of them if a person says yes to the others."""
        wider = {goal: each for goal, each in known.items() if _is_wider(standing.mode, each.mode)}
        if any(len(tasks[goal]) > 1 for goal in wider):
            raise Refusal("same-goal", "Two tasks have the same goal, and their sub-agents may do more than you, so whoever is "
                          "asked couldn't tell them apart.", "Give each task a goal of its own.")
        if not wider or self._is_confirmed(here, standing, wider, {goal: told[0] for goal, told in tasks.items()}):
            return known
        return {goal: each for goal, each in known.items() if goal not in wider}

    def _is_confirmed(self, here: Here, standing: Standing, wider: dict[str, Known], tasks: dict[str, str]) -> bool:
        desk, own = self._desk, self._desk.where.is_own(here) and here.place.conversation not in self._desk.memory.children
        planning = standing.mode is not None and standing.mode.slug == PLAN.slug
        if (planning and not desk.settings().agent_may_ask_to_leave_plan) or not own or here.refusal is not None:
            return False
        if standing.record is not None and standing.record.owner and desk.settings().owner_only:
            return False
        way = consent.way_to_a_person(here.place.surface)
        if way not in ("prompt", "panel") or consent.is_busy():
            return False
        target = "delegate:" + hashlib.sha256(repr(sorted(wider)).encode("utf-8", "surrogatepass")).hexdigest()
        try:
            with self._questions.asking(here.session, target, here.place.conversation) as question:
                wording = cards.of_a_delegation(here.place.surface, standing.mode, wider, tasks)
                answer = consent.ask(way, wording, question.nonce)
                self._questions.answered(question, answer)
                now = desk.judge.standing(here.place)
                return (answer.outcome == "accepted" and question.stands() and now.fallback is None
                        and under(now) == under(standing))
        except PlanModeError:
            return False


def tasks_of(args: Any) -> dict[str, tuple[str, ...]]:
    """The goals that a call would start sub-agents for, and all that each sub-agent is told, its goal first."""
    if not isinstance(args, Mapping) or str(args.get("action") or "").strip().lower() not in _SPAWNING:
        return {}
    tasks = args.get("tasks")
    if isinstance(tasks, str):  # the host reads that, too
        try:
            tasks = json.loads(tasks)
        except (ValueError, RecursionError):
            tasks = None
    rows = [args, *tasks] if isinstance(tasks, list) else [args]
    shared = args.get("context")
    found: dict[str, tuple[str, ...]] = {}
    for row in rows:
        goal = row.get("goal") if isinstance(row, Mapping) else None
        if isinstance(goal, str) and goal:
            told = dict.fromkeys(each for each in (goal, row.get("context"), shared) if isinstance(each, str) and each)
            found[goal] = tuple(dict.fromkeys((*found.get(goal, ()), " / ".join(told))))
    return found


def _named(goal: str) -> str:
    found = _NAMED.match(goal)
    return found[1] if found else ""


def _of_parent(mode: Mode | None) -> str:
    return "" if mode is None or mode.child_mode == INHERIT else mode.child_mode


def _is_wider(current: Mode | None, target: Mode) -> bool:
    return current is not None and grants_more(current, target)
