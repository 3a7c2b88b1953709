"""The words that a person reads. Each reply ends with what to type next."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..errors import Refusal
from ..host import edits
from ..host.seams import seam
from ..library import Drift
from ..modes.builtin import PLAN
from ..modes.exchange import granted
from ..modes.model import WORDS, Mode, ModelChoice
from ..modes.registry import Known, Listing, Offered
from ..modes.rules import Rules
from ..plans import PlanText
from ..policy.decide import Verdict
from ..settings import Settings
from ..sharing import Exported
from ..standing import Standing
from ..state.identity import NoSession
from ..state.record import Damaged, SessionRecord
from ..text import one_line, shorten, visible
from ..transitions import Situation

MOST_SHOWN: Final = 20_000
"""Characters of a plan that are shown."""

DECIDE: Final = "Next: /planmode approve, /planmode reject <feedback>, or /planmode off"

MOST_OF_A_TEXT_SHOWN: Final = 2000
"""Characters of one text of a mode."""

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
    return [f"{standing.mode.title} mode is on since {since}."]


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


def warnings(refusal: NoSession | None, settings: Settings, *, config_read: bool, bypassed: str, remote: bool) -> list[str]:
    """What this place, this host or its settings don't cover."""
    found = [f"setting ignored: {fault}." for fault in settings.faults]
    if refusal is not None:
        found.append(f"plan mode can't be turned on or off here. {refusal.reason} {refusal.hint}")
    if bypassed:
        found.append(f"nothing is enforced, because {bypassed}; choose another in config.yaml and start Hermes again.")
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


# -- /mode

MOST_FAULTS: Final = 20


def switched(known: Known, model: str, rules: Sequence[str]) -> str:
    """``rules``: the files of the project that go with it."""
    mode = known.mode
    lines = [f"{mode.title} mode is on. {one_line(mode.description, 300)}".strip()]
    lines += _provenance(known)
    if known.origin == "project" and not known.vouched:
        lines.append(f"It grants: {granted(mode)}.")
    if rules:
        lines.append(f"Rules of this project go with it: {one_line(', '.join(rules), 300)}.")
    lines += [model] if model else []
    return "\n".join([*lines, "Next: go on; /mode off leaves, /planmode on plans first."])


def _provenance(known: Known) -> list[str]:
    if known.origin == "built-in":
        return []
    whose = "this project's, not yours" if known.origin == "project" and not known.vouched else "yours"
    return [f"Defined in {visible(known.file)} ({whose})."]


def modes(standing: Standing, listing: Listing, project: str, drift: Drift, refusal: NoSession | None, model: str,
          personality: str) -> str:
    now = "none" if standing.mode is None else standing.mode.slug
    lines = [f"Mode: {now}"]
    if standing.fallback is not None:
        lines.append(f"Only reading is possible, because {standing.fallback.reason}.")
    if standing.pinned is not None and standing.pinned.file:
        lines.append(f"Defined in {visible(standing.pinned.file)}.")
    lines += {
        "changed": ["Its file says something else now. This session keeps what it was switched with; "
                    f"{switch_by(now)} takes what the file says."],
        "gone": ["It isn't defined anywhere any more. This session keeps what it was switched with."],
    }.get(drift, []) if standing.fallback is None else []
    lines += [model] if model else []
    if personality:
        above = "; the mode's role stands above it" if standing.mode is not None else ""
        lines.append(f"Personality: {one_line(personality, 40)}{above}.")
    lines.append(f"Project: {visible(project) or 'none'}")
    for slug, known in listing.modes.items():
        origin = "" if known.origin == "built-in" else f"  [{'project' if known.origin == 'project' else 'yours'}]"
        about = one_line(known.mode.description or known.mode.name, 100)
        lines.append(f"  {'*' if slug == now else ' '} {slug}  {about}{origin}")
    lines += [f"Not used: the project's own {slug}, which would replace yours and may allow more; /mode info {slug}, then "
              f"/mode trust {slug}" for slug in listing.untrusted]
    lines += _faulty(listing)
    if refusal is not None:
        lines.append(f"Note: the mode can't be changed here. {refusal.reason} {refusal.hint}")
    return "\n".join([*lines, "Next: /mode <slug> switches, /mode off leaves, /mode help says more"])


def _faulty(listing: Listing) -> list[str]:
    if not listing.faults:
        return []
    return [f"{len(listing.faults)} fault{'s' if len(listing.faults) > 1 else ''} in mode files; /mode reload shows them"]


def mode_info(known: Known, rules: Rules, model: str) -> str:
    mode = known.mode
    lines = [f"{mode.title} ({mode.slug})", *_provenance(known), f"Grants: {granted(mode)}."]
    lines += [model] if model else []
    lines += _texts(mode, MOST_OF_A_TEXT_SHOWN)
    lines += [f"Rules: {visible(rule.name)} ({rule.scope})" for rule in rules.texts]
    lines += [f"Note: {visible(fault)}" for fault in rules.faults]
    return "\n".join([*lines, f"Next: {switch_by(mode.slug)}"])


def offered(found: Offered) -> str:
    """All of what a project says of a mode, before a person vouches for it."""
    mode = found.known.mode
    lines = [f"Of {mode.slug} this project says, in {visible(found.known.file)} ({found.digest[:DIGITS]}):",
             f"Grants: {granted(mode)}."]
    if mode.model is not None:
        lines.append(f"Model: {visible(f'{mode.model.model} {mode.model.provider}'.strip())}")
    if mode.child_mode:
        lines.append(f"Sub-agents: {visible(mode.child_mode)}")
    lines += _texts(mode, MOST_SHOWN)
    lines += [f"Rules from {visible(rule.name)}: {shorten(visible(rule.text), MOST_SHOWN)}" for rule in found.rules.texts]
    lines.append("Until you trust it, its words are marked for the model as the project's, it chooses no model, and it takes "
                 "no other mode's place unless it allows less.")
    return "\n".join([*lines, f"Next: /mode trust {mode.slug} vouches for exactly that"])


def _texts(mode: Mode, most: int) -> list[str]:
    return [f"{title}: {shorten(visible(text), most)}" for title, text in (
        ("When", mode.when_to_use), ("Role", mode.role_definition), ("Instructions", mode.custom_instructions)) if text]


def switch_by(slug: str) -> str:
    """What a person types to switch into a mode."""
    return f"/mode use {slug}" if slug.lower() in WORDS else f"/mode {slug}"


def model(choice: ModelChoice | None, settings: Settings, *, refused: bool = False) -> str:
    """The model of a mode, and what becomes of it; "" without one."""
    if choice is None:
        return ""
    name, provider = visible(choice.model), visible(choice.provider)
    if refused:
        return f"Model: {name}, which the provider doesn't have; the session's own is used."
    if settings.mode_models != "apply":
        return f"Model: {name}{f' of {provider}' if provider else ''}; type /model to use it."
    where = f"where the session is on {provider}" if provider else "of the session's own provider"
    return f"Model: {name}, {where}."


def model_chosen(slug: str, choice: ModelChoice | None, settings: Settings) -> str:
    return f"{model(choice, settings) or f'{slug} mode names no model; the session keeps its own.'}\nNext: {switch_by(slug)}"


def checked(tool: str, standing: Standing, verdict: Verdict) -> str:
    return one_line(verdict.told(tool, standing.mode.slug if standing.mode is not None else ""), MOST_OF_A_TEXT_SHOWN)


def trusted(known: Known) -> str:
    return (f"What {visible(known.file)} says of {known.mode.slug} now is trusted, with its rules; another text would not be.\n"
            f"Next: {switch_by(known.mode.slug)}")


def exported(found: Exported) -> str:
    """The text itself, in which what else there is to say is a comment: the whole reply can be saved."""
    if len(found.text) > MOST_SHOWN:
        raise Refusal("too-long", f"{found.slug} and its rules are {len(found.text)} characters, which is too long for a reply.",
                      f"Name a file: /mode export {found.slug} {found.slug}.yaml")
    notes = "".join(f"# Note: {one_line(note, 300)}\n" for note in found.notes)
    return f"{found.text}{notes}# Next: save this as a file; /mode import <file> reads it"


def exported_to(found: Exported, path: str) -> str:
    notes = [f"Note: {one_line(note, 300)}" for note in found.notes]
    return "\n".join([f"{found.slug} and its rules are in {visible(path)}.", *notes,
                      "Next: /mode import and that file, on another machine"])


def reloaded(listing: Listing) -> str:
    told = [str(fault) for fault in (*listing.faults, *listing.warnings)]
    more = [f"and {len(told) - MOST_FAULTS} more"] if len(told) > MOST_FAULTS else []
    return "\n".join([f"{len(listing.modes)} modes: {', '.join(listing.modes)}.", *map(visible, told[:MOST_FAULTS]), *more,
                      "Next: /mode"])
