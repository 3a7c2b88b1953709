"""What a person is shown before they say yes: their own facts first, then the agent's words, marked as such.

Text of the agent and of files is bounded, and nothing in it is obeyed: neither by a terminal, nor by a chat that takes
paths for attachments, nor as a line that could pass for one of ours.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final

from .host.consent import Wording
from .modes.exchange import granted
from .modes.model import Mode, grants_more
from .modes.registry import Known
from .plans import PlanText
from .state.identity import API, CLI, EDITOR
from .state.record import PlanFile
from .text import one_line, shorten, unattached, visible

MOST_OF_A_HEADLINE: Final = 190
"""Characters: chats that have no buttons cut the rest off."""

MOST_OF_A_PATH: Final = 400
MOST_OF_A_REASON: Final = 300
MOST_OF_A_SUMMARY: Final = 500
MOST_GOALS: Final = 4

PLAN_SHOWN: Final = {CLI: 100, "tui": 3500, "desktop": 3500, API: 3500, EDITOR: 3500}
"""Characters of a plan that a surface bears; CLI panels are drawn again at every key, and show one line."""
PLAN_SHOWN_IN_CHATS: Final = 250

_QUOTED: Final = "│ "
_TO_READ_ALL: Final = "To read all of it first: say no, type /planmode show, then /planmode approve."
_BOM: Final = "\ufeff"
_TITLE: Final = re.compile(r"^\s{0,3}#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)


def of_a_switch(surface: str, current: Mode | None, known: Known, reason: str) -> Wording:
    """The agent asks for another mode."""
    target = known.mode
    lines = [_added(current, target), *_provenance(known), *_says("reason", reason, MOST_OF_A_REASON)]
    return _wording(surface, f"Switch from {_name(current)} to {_name(target)}?", lines)


def of_a_plan(surface: str, plan: PlanFile, text: PlanText, summary: str, following: str) -> Wording:
    """The agent submits a plan. ``following`` says what comes after a yes."""
    path = os.path.basename(text.path) if surface == CLI else text.path
    lines = [
        f"{one_line(path, MOST_OF_A_PATH)}, revision {plan.revision}: {text.size} bytes, {text.digest[:12]}",
        following,
        *_says("summary", summary, MOST_OF_A_SUMMARY),
        *_quoted(surface, text.text),
    ]
    return _wording(surface, f"Approve the plan \"{one_line(title_of(text.text), 80)}\"?", lines)


def of_a_delegation(surface: str, current: Mode | None, wanted: Mapping[str, Known]) -> Wording:
    """The agent wants to hand goals to sub-agents that may do more than it may itself."""
    modes = {known.mode.slug: known for known in wanted.values()}
    lines = [f"{known.mode.title}: {_added(current, known.mode)} {' '.join(_provenance(known))}".strip()
             for known in modes.values()]
    goals = list(wanted.items())
    lines += [f"Goal, in the agent's words: {one_line(goal, MOST_OF_A_REASON)}" for goal, _ in goals[:MOST_GOALS]]
    lines += [f"and {len(goals) - MOST_GOALS} more goals"] if len(goals) > MOST_GOALS else []
    who = f"{len(goals)} sub-agents" if len(goals) > 1 else "a sub-agent"
    return _wording(surface, f"Let {who} work in {', '.join(_name(known.mode) for known in modes.values())}?", lines)


def title_of(text: str) -> str:
    """The first heading of a plan, else its first line."""
    plain = text.removeprefix(_BOM)
    heading = _TITLE.search(plain)
    return heading[1] if heading else next(filter(None, map(str.strip, plain.splitlines())), "plan")


def _wording(surface: str, headline: str, lines: list[str]) -> Wording:
    shown, details = f"[plan-mode] {headline}", "\n".join(filter(None, lines))
    if surface not in PLAN_SHOWN:
        shown, details = unattached(shown), unattached(details)
    return Wording(shortened(shown), details)


def shortened(headline: str) -> str:
    return headline if len(headline) <= MOST_OF_A_HEADLINE else f"{headline[:MOST_OF_A_HEADLINE - 1]}…"


def _name(mode: Mode | None) -> str:
    return "no mode" if mode is None else f"{mode.title} mode ({mode.slug})" if mode.title.lower() != mode.slug.lower() \
        else f"{mode.title} mode"


def _added(current: Mode | None, target: Mode) -> str:
    """What the target lets the agent do that it can't do now."""
    if current is None or not current.restricted or not grants_more(current, target):
        return "It would allow nothing that isn't allowed now."
    if not target.restricted:
        return "It would allow everything: every tool, every file."
    more = sorted((target.grants.groups - current.grants.groups) | (target.grants.allow - current.grants.allow))
    added = f" New: {', '.join(map(visible, more))}." if more else " Other files may be written."
    return f"It would allow: {granted(target)}.{added}"


def _provenance(known: Known) -> list[str]:
    if known.origin == "built-in":
        return []
    whose = " (this project's text, not yours)" if known.origin == "project" and not known.vouched else ""
    return [f"Defined in {one_line(known.file, MOST_OF_A_PATH)}{whose}."]


def _says(what: str, untrusted_text: str, most: int) -> list[str]:
    return [f"The agent's {what}: {one_line(untrusted_text, most)}"] if untrusted_text.strip() else []


def _quoted(surface: str, untrusted_text: str) -> list[str]:
    """As much of a text as the surface bears, with a mark before each line that no line of ours has."""
    most, plain = PLAN_SHOWN.get(surface, PLAN_SHOWN_IN_CHATS), untrusted_text.removeprefix(_BOM)
    if surface == CLI:
        return [f"{_QUOTED}{one_line(plain, most)}", _TO_READ_ALL]
    return [f"{_QUOTED}{line}" for line in visible(shorten(plain, most)).splitlines()]
