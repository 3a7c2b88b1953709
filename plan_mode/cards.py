"""What a person is shown before they say yes: their own facts first, then the agent's words, marked as such.

Text of the agent and of files is bounded, and nothing in it is obeyed: neither by a terminal, nor by a chat that takes
paths for attachments, nor as a line that could pass for one of ours.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Final

from .host.consent import Wording
from .modes.builtin import PLAN
from .modes.exchange import granted
from .modes.model import INHERIT, Mode, grants_more
from .modes.registry import Known
from .plans import PlanText
from .state.identity import API, CLI, EDITOR
from .state.record import PlanFile
from .text import one_line, shorten, unattached, visible

MOST_OF_A_HEADLINE: Final = 190
"""Characters: chats that have no buttons cut the rest off."""

MOST_OF_A_PATH: Final = 400
MOST_OF_A_NAME: Final = 80
MOST_OF_GRANTS: Final = 300
MOST_OF_A_REASON: Final = 300
MOST_OF_A_SUMMARY: Final = 500
MOST_GOALS: Final = 10

PLAN_SHOWN: Final = {CLI: 100, "tui": 3500, "desktop": 3500, API: 3500, EDITOR: 3500}
"""Characters of a plan that a surface bears; CLI panels are drawn again at every key, and show one line."""
PLAN_SHOWN_IN_CHATS: Final = 250

_QUOTED: Final = "│ "
_TO_READ_ALL: Final = "To read all of it first: say no, type /planmode show, then /planmode approve."
_BOM: Final = "\ufeff"
_LINES_SEARCHED: Final = 400
_NOBODY_MENTIONED: Final = "@\u2060"
"""In place of an @ in chats, where everybody could be called by a plan."""
_OURS: Final = str.maketrans({'"': "'", "`": "'", "·": "-"})
_BY_LINES: Final = frozenset({"tui", "desktop", API})
"""Surfaces that show a text line by line as it is: neither in a panel's one line, nor as a chat's Markdown."""
_ROOMY: Final = _BY_LINES | {EDITOR}
"""Surfaces that show a whole path."""
_HEADING: Final = re.compile(r" {0,3}#{1,6}[ \t]")

def of_a_switch(surface: str, current: Mode | None, known: Known, reason: str, extra: Iterable[str] = ()) -> Wording:
    """The agent asks for another mode. ``extra``: tools that the operator's settings add to it, and that are denied now."""
    target = known.mode
    lines = [*_provenance(known), _added(current, target, extra), *_besides(target), *_says("reason", reason, MOST_OF_A_REASON)]
    return _wording(surface, f"Switch from {_name(current)} to {_name(target)}?", lines)


def of_a_plan(surface: str, plan: PlanFile, text: PlanText, summary: str, following: str) -> Wording:
    """The agent submits a plan. ``following`` says what comes after a yes."""
    path = (one_line(text.path, MOST_OF_A_PATH) if surface in _ROOMY else
            one_line(os.path.basename(text.path), MOST_OF_A_NAME))
    lines = [
        following,
        f"{path}, revision {plan.revision}: {text.size} bytes, {text.digest[:12]}",
        *_says("summary", summary, MOST_OF_A_SUMMARY),
        *_quoted(surface, text.text),
    ]
    return _wording(surface, f"Approve the plan \"{_theirs(title_of(text.text), 80)}\"?", lines)


def of_a_delegation(surface: str, current: Mode | None, wanted: Mapping[str, Known], tasks: Mapping[str, str]) -> Wording:
    """The agent wants to hand goals to sub-agents that may do more than it may itself. ``tasks``: what each is told, by goal."""
    modes = {known.mode.slug: known for known in wanted.values()}
    lines = [" ".join([f"{known.mode.title}: {_added(current, known.mode)}", *_provenance(known)]) for known in modes.values()]
    lines += [f"The agent's goal: {_theirs(tasks.get(goal, goal), MOST_OF_A_REASON)}" for goal in list(wanted)[:MOST_GOALS]]
    hidden = len(wanted) - MOST_GOALS
    lines += [f"and {hidden} more that {'is' if hidden == 1 else 'are'} not shown"] if hidden > 0 else []
    who = f"{len(wanted)} sub-agents" if len(wanted) > 1 else "a sub-agent"
    return _wording(surface, f"Let {who} work in {', '.join(_name(known.mode) for known in modes.values())}?", lines)


def title_of(text: str) -> str:
    """The first heading of a plan, else its first line."""
    lines = [line for line in text.removeprefix(_BOM).splitlines()[:_LINES_SEARCHED] if line.strip()]
    heading = next((line for line in lines if _HEADING.match(line)), None)
    return (heading.strip().strip("#").strip() if heading else next(iter(lines), "").strip()) or "plan"


def _wording(surface: str, headline: str, lines: list[str]) -> Wording:
    shown, details = f"[plan-mode] {headline}", "\n".join(filter(None, lines))
    if surface not in PLAN_SHOWN:
        shown, details = (unattached(text).replace("@", _NOBODY_MENTIONED) for text in (shown, details))
    return Wording(shortened(shown), details)


def shortened(headline: str) -> str:
    return headline if len(headline) <= MOST_OF_A_HEADLINE else f"{headline[:MOST_OF_A_HEADLINE - 1]}…"


def _name(mode: Mode | None) -> str:
    return "no mode" if mode is None else f"{mode.title} mode ({mode.slug})" if mode.title.lower() != mode.slug.lower() \
        else f"{mode.title} mode"


def _added(current: Mode | None, target: Mode, extra: Iterable[str] = ()) -> str:
    """What the target lets the agent do that it can't do now."""
    added = ", ".join(map(visible, sorted(extra)))
    more = f"By your settings it would also allow: {added}." if added else ""
    if current is None or not current.restricted or not grants_more(current, target):
        return more or "It would allow nothing that isn't allowed now."
    if not target.restricted:
        return "It would allow everything: every tool, every file."
    new, everything = ", ".join(_new(current, target)), shorten(granted(target), MOST_OF_GRANTS)
    return f"New: {new}. All that it allows: {everything}. {more}".strip()


def _new(current: Mode, target: Mode) -> list[str]:
    """In words, by group and tool; what can't be told in words are other files, or tools of MCP servers."""
    mine, theirs = current.grants, target.grants
    if target.slug == PLAN.slug:
        return ["reading, and plan files"]
    new = sorted(theirs.groups - mine.groups) + sorted(theirs.allow - mine.allow)
    new += [f"{name}, which is denied now" for name in sorted(mine.deny - theirs.deny)]
    new += ["MCP tools that your setting mcp_allowed names"] if target.extra_servers and not current.extra_servers else []
    if mine.edit_rule is not None and mine.edit_rule != theirs.edit_rule and "edit" in theirs.groups:
        new.append("files that can't be written now")
    return list(map(visible, new)) or ["files that can't be written now"]


def _besides(target: Mode) -> list[str]:
    """What a mode chooses beside its tools."""
    model = [f"Model: {visible(target.model.model)}."] if target.model is not None else []
    child = [f"Its sub-agents would work in {visible(target.child_mode)} mode."] if target.child_mode not in ("", INHERIT) else []
    return model + child


def _provenance(known: Known) -> list[str]:
    if known.origin == "built-in":
        return []
    whose = " (this project's text, not yours)" if known.origin == "project" and not known.vouched else ""
    return [f"Defined in {one_line(known.file, MOST_OF_A_PATH)}{whose}."]


def _says(what: str, untrusted_text: str, most: int) -> list[str]:
    return [f"The agent's {what}: {_theirs(untrusted_text, most)}"] if untrusted_text.strip() else []


def _theirs(untrusted_text: str, most: int) -> str:
    """Words of the agent on one line, without the signs by which ours begin and end."""
    return one_line(untrusted_text.translate(_OURS), most)


def _quoted(surface: str, untrusted_text: str) -> list[str]:
    """As much of a text as the surface bears, with a mark before each line that no line of ours has."""
    most, plain = PLAN_SHOWN.get(surface, PLAN_SHOWN_IN_CHATS), untrusted_text.removeprefix(_BOM)
    if surface == CLI:
        return [f"{_QUOTED}{_theirs(plain[:most * 8], most)}", _TO_READ_ALL]
    shown = shorten(plain, most)
    return [f"{_QUOTED}{line}" for line in visible(shown if surface in _BY_LINES else shown.translate(_OURS)).splitlines()]
