"""The words that a person reads. Each reply ends with what to type next."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..host import edits
from ..host.seams import seam
from ..modes.builtin import PLAN
from ..plans import PlanText
from ..settings import Settings
from ..standing import Standing
from ..state.identity import NoSession
from ..state.record import Damaged, SessionRecord
from ..text import one_line, shorten, visible
from ..transitions import Situation

MOST_SHOWN: Final = 20_000
"""Characters of a plan that are shown."""

DECIDE: Final = "Next: /planmode approve, /planmode reject <feedback>, or /planmode off"

DIGITS: Final = 12
"""Of a digest that are shown."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A plan file that can't be read now."""

    path: str
    reason: str


def entered(record: SessionRecord, settings: Settings, *, already: Situation, cut: int) -> str:
    lines = [{
        "plan": "Plan mode is on already; nothing else was changed.",
        "lockdown": "The lockdown has ended; plan mode is on.",
    }.get(already, "Plan mode is on.")]
    lines.append(f"Plans: {record.plan_root}" if not record.remote_files else
                 "Plans: in the conversation only, because the file tools work on another machine.")
    lines.append("Allowed: reading and searching files, web research, skills, session history, image and page "
                 "analysis, the todo list, questions to you" + (", .md files in that directory." if record.plan_root else "."))
    lines += _extra_tools(settings)
    lines += [f"Setting ignored: {fault}." for fault in settings.faults]
    lines.append("Everything else is blocked until you type /planmode approve or /planmode off.")
    if record.owed.task:
        lines.append(f"Task: {one_line(record.owed.task, 200)}" + (f" ({cut} characters were cut off)" if cut else ""))
        lines.append("Next: send any message, for example go; the task goes with it.")
    else:
        lines.append("Next: say what should be planned.")
    return "\n".join(lines)


def _extra_tools(settings: Settings) -> list[str]:
    names = ", ".join(map(visible, sorted(settings.extra_allowed_tools)))
    return [f"Also allowed, by your setting extra_allowed_tools: {names}."] if names else []


def status(standing: Standing, plans: Sequence[PlanText | Unreadable], warnings: Sequence[str], settings: Settings) -> str:
    lines = _mode_lines(standing)
    record = standing.record
    if record is not None and record.mode is not None:
        lines.append(f"Record: {record.id}")
        if record.plan_root:
            lines.append(f"Plans: {record.plan_root}")
        if standing.mode is not None and standing.mode.extra_tools:
            lines += _extra_tools(settings)
        lines += [_plan_line(plan) for plan in plans]
        lines += _waiting(record)
    lines += [f"Note: {warning}" for warning in warnings]
    lines.append(_next(standing, plans))
    return "\n".join(lines)


def status_nowhere(warnings: Sequence[str]) -> str:
    """Where it isn't known whose session a command concerns."""
    return "\n".join(["Which session this is can't be told here, so neither can its mode.",
                      *(f"Note: {warning}" for warning in warnings), "Next: as the note says"])


def _mode_lines(standing: Standing) -> list[str]:
    if standing.mode is None:
        return ["No mode is active in this session."]
    if standing.fallback is not None:
        return [f"Only reading is possible [{standing.fallback.rule}], because {standing.fallback.reason}."]
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(standing.record.since)) if standing.record else "?"
    return [f"{standing.mode.name} mode is on since {since}."]


def _plan_line(plan: PlanText | Unreadable) -> str:
    name = visible(os.path.basename(plan.path))
    if isinstance(plan, Unreadable):
        return f"  {name}  {plan.reason}"
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(plan.modified))
    return f"  {name}  {at}  {plan.size} bytes  {plan.digest[:DIGITS]}"


def _waiting(record: SessionRecord) -> list[str]:
    owed = record.owed
    waits = [name for name, text in (("the task", owed.task), ("your feedback", owed.feedback)) if text]
    lines = [f"Waiting for your next message: {' and '.join(waits)}."] if waits else []
    if record.unresolved:
        lines.append("Unresolved: where this conversation came from can't be read; its ancestor's mode holds.")
    return lines


def _next(standing: Standing, plans: Sequence[PlanText | Unreadable]) -> str:
    if standing.mode is None:
        return "Next: /planmode on [task]"
    if standing.fallback is not None:
        return "Next: /planmode off, or /planmode on to go on planning" if standing.record else "Next: /planmode off"
    if standing.mode.slug != "plan":
        return "Next: /planmode on [task], or /mode off"
    return DECIDE if plans else "Next: say what should be planned, or /planmode off"


CODEX: Final = ("the model runs in the Codex app server, whose own tools no plugin sees: nothing is enforced there; "
                "remove model.openai_runtime from config.yaml and start Hermes again.")


def warnings(refusal: NoSession | None, settings: Settings, *, config_read: bool, bypassed: bool, remote: bool) -> list[str]:
    """What this place, this host or its settings don't cover."""
    found = [f"setting ignored: {fault}." for fault in settings.faults]
    if refusal is not None:
        found.append(f"plan mode can't be turned on or off here. {refusal.reason} {refusal.hint}")
    if bypassed:
        found.append(CODEX)
    if not config_read:
        found.append("config.yaml can't be read, so the model runtime and the file back-end weren't checked.")
    elif remote:
        found.append("the file tools work on another machine; plan files can't be written.")
    if not edits.has_last_look():
        found.append("this host has no last look at file edits; changes by other plugins are found after the call.")
    if seam("session_store") is None:
        found.append("this host's session store can't be read; after /branch or a compression the stricter mode holds.")
    return found


def plan_text(plan: PlanText, where: Situation) -> str:
    return f"{_header(plan)}\n{_body(plan)}\n{DECIDE if where == 'plan' else 'Next: /planmode status'}"


def changed(plan: PlanText) -> str:
    return (f"Not approved: {plan.path} isn't the text you last saw, or the agent last wrote. This is what it says now:\n"
            f"{_header(plan)}\n{_body(plan)}\nNext: /planmode approve again approves exactly this text")


def _header(plan: PlanText) -> str:
    return f"{visible(plan.path)}  {plan.size} bytes  {plan.digest[:DIGITS]}"


def _body(plan: PlanText) -> str:
    return shorten(visible(plan.text), MOST_SHOWN).rstrip("\n")


def approved(path: str, to: str | None, lasting: bool) -> str:
    where = f"This session is now in {to} mode." if to else "Plan mode is off; no mode is active."
    following = "Next: send any message, for example go; the agent then implements the plan."
    return "\n".join([f"Approved: {path}", where, *_passing(lasting), following])


def rejected(feedback: str, *, cut: int, earlier: str) -> str:
    said = "Your feedback goes to the agent with your next message" if feedback else "Rejected without feedback"
    said += ", in place of what you typed before" if feedback and earlier else ""
    note = f" (its last {cut} characters were cut off)" if cut else ""
    return f"{said}{note}. Plan mode stays on.\nNext: send any message, for example go on."


def left(mode: str, lasting: bool) -> str:
    nothing = "; nothing was approved" if mode == PLAN.slug else ""
    return "\n".join([f"{mode.capitalize()} mode is off{nothing}.", *_passing(lasting),
                      "Next: go on as you like; /planmode on turns it on again."])


def left_nothing() -> str:
    return "No mode is active in this session, so there is nothing to turn off.\nNext: /planmode on [task]"


def freed(found: Damaged, gone: bool) -> str:
    if gone:
        return f"No mode is active any more: {found.path} was removed, because it could not be read.\nNext: /planmode on [task]"
    return (f"No mode is active any more in this Hermes process only, because {found.path} can't be read, and can't be removed "
            "either.\nNext: remove that file yourself, then /planmode status")


def _passing(lasting: bool) -> list[str]:
    return [] if lasting else ["This holds for this Hermes process only, because the state folder can't be written."]
