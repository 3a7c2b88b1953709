"""switch_mode: the agent asks for another mode."""

from __future__ import annotations

import re
import time
from collections.abc import Collection
from typing import Any, Final

from .. import cards, entry
from ..controller import Desk
from ..entry import Asked
from ..errors import Refusal
from ..host import consent, registry
from ..host.consent import Answer, Wording
from ..modes.builtin import PLAN
from ..modes.exchange import granted
from ..modes.model import INHERIT, Mode, grants_more
from ..modes.registry import Known
from ..policy.decide import could_allow
from ..questions import Questions
from ..state.record import activation_of
from ..whereabouts import Here
from .asking import Proposal, Settle, Tool, declined, refuse_owned, text_of, told_now, unanswered

SCHEMA: Final[dict[str, Any]] = {
    "name": "switch_mode",
    "description": "Ask the user to switch this session to another mode (a working role with its own tools and file limits). "
                   "Nothing changes until the user says yes; plan mode is entered at once.",
    "parameters": {
        "type": "object",
        "properties": {
            "mode_slug": {"type": "string", "description": "The mode to switch to, e.g. code, ask, architect, plan."},
            "reason": {"type": "string", "description": "Why, in one or two sentences. The user reads it."},
        },
        "required": ["mode_slug"],
    },
}

_SLUG: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}\Z")


class SwitchMode(Tool):
    """The handler of ``switch_mode``."""

    def __init__(self, desk: Desk, questions: Questions) -> None:
        super().__init__(desk, questions, SCHEMA, self._proposed)

    def _proposed(self, here: Here, args: dict[str, Any]) -> Proposal:
        desk = self._desk
        slug, reason = _slug_of(args), text_of(args, "reason")
        entry.refuse_where_unenforced(desk, here)
        _refuse_without_a_way_out(here)
        standing, project = desk.judge.standing(here.place), entry.project_of(here)
        known = desk.library.named(slug, project)
        slug = known.mode.slug
        current = standing.mode
        if standing.fallback is not None:
            raise Refusal(standing.fallback.rule, f"Only reading is possible, because {standing.fallback.reason}.",
                          standing.fallback.hint)
        if current is not None and current.slug == slug:
            raise Refusal("same-mode", f"This session is already in {slug} mode.", "Go on working.")
        if current is not None and current.slug == PLAN.slug and not desk.settings().agent_may_ask_to_leave_plan:
            raise Refusal("plan-mode", "Plan mode ends with an approved plan.", "Write the plan and submit it with submit_plan"
                          + ("; the user can also type /planmode off." if here.takes_commands else "."))
        if slug != PLAN.slug:
            refuse_owned(desk, standing.record)
        return Proposal(f"mode:{slug}", self._wording(here, current, known, reason),
                        activation_of(standing.record), self._settled(slug), desk.library.pin_now(slug, project),
                        self._needs_a_person(current, known))

    def _wording(self, here: Here, current: Mode | None, known: Known, reason: str) -> Wording:
        return cards.of_a_switch(here.place.surface, current, known, reason, self._extra(current, known.mode))

    def _needs_a_person(self, current: Mode | None, known: Known) -> bool:
        """Planning needs nobody, unless the agent could do more with it than write plans.

        What a mode chooses beside its tools, and a project's own words, need a person in any case.
        """
        target = known.mode
        if target.slug == PLAN.slug:
            return bool(_denied_now(current, PLAN.grants.allow) or self._extra(current, PLAN))
        widens = (current is not None and grants_more(current, target)) or bool(self._extra(current, target))
        chooses = target.model is not None or target.child_mode not in ("", INHERIT) or not known.vouched
        return widens or chooses or self._desk.settings().confirm_switches == "all"

    def _extra(self, current: Mode | None, target: Mode) -> frozenset[str]:
        """Tools that the operator's settings add to a mode, and that are denied now."""
        return _denied_now(current, {name for name in self._desk.judge.extra_tools(target) if not name.startswith("mcp:")})

    def _settled(self, slug: str) -> Settle:
        def settle(here: Here, answer: Answer, asked: Asked) -> str:
            if answer.outcome == "accepted":
                return self._switch(here, slug, asked)
            if answer.outcome == "declined":
                return declined(answer, "Nothing was changed; ask the user what to do instead.")
            return unanswered(answer, here, f"/mode {slug}")
        return settle

    def _switch(self, here: Here, slug: str, asked: Asked) -> str:
        if slug == PLAN.slug:
            record, grants = entry.enter_plan(self._desk, here, asked=asked).record, ""
        else:
            switched = entry.switch(self._desk, here, slug, asked)
            record, grants = switched.record, f"\nIt grants: {granted(switched.known.mode)}."
        self._pause()
        return told_now(self._desk, here, record, asked.mark) + grants

    def _pause(self) -> None:
        time.sleep(self._desk.settings().switch_pause_ms / 1000)


def _refuse_without_a_way_out(here: Here) -> None:
    """Raise Refusal where nobody could be asked about the next switch, nor could type one: that would be a trap."""
    if not here.takes_commands and consent.way_to_a_person(here.place.surface) == "command":
        raise Refusal("nobody", "Nobody can be asked here, and no commands reach this session, so its mode can't be changed.",
                      "The operator can set default_mode for this surface.")


def _denied_now(current: Mode | None, tools: Collection[str]) -> frozenset[str]:
    return frozenset(tool for tool in tools if current is not None and not could_allow(current, tool, registry.server_of(tool)))


def _slug_of(args: dict[str, Any]) -> str:
    """The slug that is asked for. Raises Refusal."""
    slug = args.get("mode_slug")
    if slug is None or slug == "":
        raise Refusal("missing-slug", "mode_slug is missing.", 'Send {"mode_slug": "<slug>", "reason": "<why>"}.')
    if not isinstance(slug, str) or not _SLUG.match(slug.strip()):
        raise Refusal("malformed-slug", "mode_slug must be the slug of a mode: letters, digits and dashes.",
                      'As in {"mode_slug": "code"}.')
    return slug.strip()
