"""The whole rule on one screen: mode + call + facts -> verdict.

Order: protected > explicit deny > own rule of the tool > always available > extra tools > sub-agents of another mode >
granted > deny. The first rule that has an answer gives it. Nothing here opens a file or asks the host; ``Facts`` were
gathered before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from ..errors import FileRestrictionError
from ..modes.model import INHERIT, Mode
from ..text import visible
from .catalogue import ALWAYS, ASKING, CATALOGUE, EDITORS, OTHER_NAMES, WRITERS, canonical
from .containment import Inside, Outside
from .options import PASSED_ON
from .targets import Unreadable

MOST_INNER_CALLS: Final = 64


@dataclass(frozen=True, slots=True)
class Target:
    """One file a call would write: as it was named, as it was judged, and what speaks against it.

    ``protected_by`` is the protected place it lies in; ``others_plan`` tells that it is another session's plan.
    """

    shown: str
    judged: Inside | Outside
    protected_by: str | None = None
    others_plan: bool = False


@dataclass(frozen=True, slots=True)
class Fallback:
    """Why a session is judged by the read-only mode instead of its own; ``reason`` completes "because ..."."""

    rule: str
    reason: str
    hint: str = "The person can end this with /planmode off or /planmode on."


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything ``decide`` needs beside mode and tool name; gathered before it is called."""

    targets: tuple[Target, ...] | Unreadable = ()
    plan_root: str = ""
    extra_tools: frozenset[str] = frozenset()
    """What the operator's own setting for this mode names: tools, or MCP servers as ``mcp:<server>``."""
    inline_shell: bool = True
    """Whether the host may run shell code while it shows a skill; True when it can't be told."""
    option: str = ""
    """What a program behind a reading tool could take for an option of its own, as the subject of a sentence."""
    foreign: bool = False
    """Whether the host's registry gives this name to somebody else's tool."""
    server: str = ""
    """The MCP server that the host's registry gives this name to."""
    remote_files: bool = False
    """Whether the host's file tools work on another machine."""
    fallback: Fallback | None = None
    inner: tuple[InnerCall, ...] | Unreadable = ()


@dataclass(frozen=True, slots=True)
class InnerCall:
    """One call inside ``tool_call``."""

    tool: str
    facts: Facts = field(default_factory=Facts)


@dataclass(frozen=True, slots=True)
class Verdict:
    """``rule`` is a stable identifier, ``reason`` is for a person and the model, ``hint`` is the way out.

    ``ask``: the call may run because it changes nothing by itself; what it asks for happens only if a person says yes to it.
    """

    effect: Literal["allow", "deny", "ask"]
    rule: str
    reason: str = ""
    hint: str = ""

    @property
    def allowed(self) -> bool:
        return self.effect == "allow"

    @property
    def denied(self) -> bool:
        return self.effect == "deny"

    def told(self, tool: str, slug: str) -> str:
        """The same in words, for a person who asks about a call and makes none."""
        if self.allowed:
            return f"{visible(tool)} may run in {slug} mode [{self.rule}]. Nothing was run."
        may = "may not run" if self.denied else "asks a person"
        return f"{visible(tool)} {may} in {slug} mode [{self.rule}]: {visible(self.reason)}. {self.hint}".strip()


def decide(mode: Mode, tool: str, facts: Facts) -> Verdict:
    """Judge one call. Total: every input gets a verdict, and what no rule knows is denied in a restricted mode."""
    if not mode.restricted:
        return Verdict("allow", "unrestricted")
    name = canonical(tool)
    for rule in _RULES:
        verdict = rule(mode, name, facts)
        if verdict is not None:
            return verdict
    return _not_granted(mode, name, facts)


def could_allow(mode: Mode, tool: str, server: str = "") -> bool:
    """Whether some arguments could make ``decide`` allow this tool; extra tools are the caller's to add.

    ``server``: the MCP server that the tool is of, by the host's registry and not by its name.
    """
    if not mode.restricted:
        return True
    names = _names(canonical(tool), server)
    if names & mode.grants.deny:
        return False
    row = CATALOGUE.get(canonical(tool))
    group = row.group if row is not None else "mcp" if server else ""
    return bool(names & mode.grants.allow) or group == ALWAYS or group in mode.grants.groups


def _names(name: str, server: str) -> frozenset[str]:
    """What a mode may call a tool: by its name, or by its server's."""
    return frozenset({name, f"mcp:{server}"} if server else {name, *OTHER_NAMES.get(name, ())})


def _protected(mode: Mode, name: str, facts: Facts) -> Verdict | None:
    if isinstance(facts.targets, Unreadable):
        return None
    for target in facts.targets:
        if target.protected_by is not None:
            reason = f"{target.shown!r} lies in {target.protected_by}, which no restricted mode may write"
            return Verdict("deny", "protected", reason, _way_out(mode))
    return None


def _explicit_deny(mode: Mode, name: str, facts: Facts) -> Verdict | None:
    if _names(name, facts.server) & mode.grants.deny:
        return Verdict("deny", "explicit-deny", f"{mode.title} mode denies {name} by name", _way_out(mode))
    return None


def _own_rule(mode: Mode, name: str, facts: Facts) -> Verdict | None:
    rule = _OWN_RULES.get(name)
    if rule is None or not could_allow(mode, name) or facts.foreign:
        return None
    return rule(mode, name, facts)


def _edit(mode: Mode, name: str, facts: Facts) -> Verdict | None:
    rule = mode.grants.edit_rule
    if rule is not None and facts.remote_files:
        return _PLANS_ELSEWHERE if rule.root == "plans" else _FILES_ELSEWHERE
    hint = _edit_hint(mode, facts)
    if isinstance(facts.targets, Unreadable) or not facts.targets:
        why = facts.targets.reason if isinstance(facts.targets, Unreadable) else "it names none"
        return Verdict("deny", "unreadable-targets", f"the files it would write can't be told, because {why}", hint)
    refused = _misplaced(mode, name, facts)
    if refused is not None:
        return refused
    return None if rule is None else Verdict("allow", "plan-file" if rule.root == "plans" else "edit-rule")


def _misplaced(mode: Mode, name: str, facts: Facts) -> Verdict | None:
    """What speaks against the first file that may not be written."""
    hint = _edit_hint(mode, facts)
    if facts.targets and name in WRITERS - EDITORS and mode.grants.edit_rule is not None:
        return Verdict("deny", "unreadable-targets", f"{name} may write other files beside the one that is named", hint)
    for target in facts.targets if isinstance(facts.targets, tuple) else ():
        if isinstance(target.judged, Outside):
            return Verdict("deny", target.judged.rule, target.judged.reason, hint)
        limited = _limit(mode, name, target, target.judged, facts)
        if limited is not None:
            return limited
    return None


def _limit(mode: Mode, name: str, target: Target, judged: Inside, facts: Facts) -> Verdict | None:
    """What the mode's edit rule says against a file that lies where files may lie."""
    rule = mode.grants.edit_rule
    if rule is None:
        return None
    if rule.root == "plans":
        if not judged.real.lower().endswith(rule.suffix):
            return Verdict("deny", "not-markdown", f"{target.shown!r} doesn't end in {rule.suffix}", _edit_hint(mode, facts))
        if target.others_plan:
            return Verdict("deny", "others-plan", f"{target.shown!r} is the plan of another session",
                           f"Write a new file in {facts.plan_root}.")
        return None
    if rule.pattern is not None and not (judged.names and all(map(rule.pattern.matches, judged.names))):
        fault = FileRestrictionError(mode.slug, name, rule.pattern.source, rule.description, target.shown)
        return Verdict("deny", "file-restriction", str(fault), _way_out(mode))
    return None


_PLANS_ELSEWHERE: Final = Verdict(
    "deny", "remote-files", "the file tools of this session work on another machine, where plan files can't be checked",
    "Give the plan in the conversation; the person approves it there with /planmode approve.")
_FILES_ELSEWHERE: Final = Verdict(
    "deny", "remote-files",
    "the file tools of this session work on another machine, where the mode's rule for files can't be checked",
    "The person can switch with /mode.")


def _edit_hint(mode: Mode, facts: Facts) -> str:
    rule = mode.grants.edit_rule
    if rule is not None and rule.root == "plans" and facts.plan_root:
        return f"Write {rule.description}: {facts.plan_root}"
    return _way_out(mode)


def _reading(mode: Mode, name: str, facts: Facts) -> Verdict | None:
    if not facts.option:
        return None
    return Verdict("deny", "option-argument", f"{facts.option} could be taken for an option by the program that {name} starts",
                   "Begin a path with ./ or /, and write a dash at the beginning of a pattern as [-].")


def _skill_view(mode: Mode, name: str, facts: Facts) -> Verdict | None:
    if not facts.inline_shell:
        return None
    return Verdict("deny", "inline-shell", "reading a skill may run shell code here: skills.inline_shell is on, or can't be read",
                   "Read the skill's file with read_file instead.")


def _inner_calls(mode: Mode, name: str, facts: Facts) -> Verdict | None:
    if isinstance(facts.inner, Unreadable) or not facts.inner:
        why = facts.inner.reason if isinstance(facts.inner, Unreadable) else "there are none"
        return Verdict("deny", "unreadable-calls", f"the calls inside it can't be read, because {why}",
                       'Send {"calls": [{"name": ..., "arguments": {...}}]}.')
    verdicts = [decide(mode, call.tool, call.facts) for call in facts.inner]
    denied = next((verdict for verdict in verdicts if verdict.denied), None)
    return denied or next((verdict for verdict in verdicts if not verdict.allowed), None)


def _asking(mode: Mode, name: str, facts: Facts) -> Verdict | None:
    if facts.fallback is not None:
        return _not_granted(mode, name, facts)
    return Verdict("ask", "person-decides", f"what {name} asks for happens only when a person says yes", _way_out(mode))


def _always(mode: Mode, name: str, facts: Facts) -> Verdict | None:
    row = CATALOGUE.get(name)
    if row is None or row.group != ALWAYS or facts.foreign:
        return None
    return Verdict("allow", "always-available")


def _extra(mode: Mode, name: str, facts: Facts) -> Verdict | None:
    if not is_extra(mode, name, facts.server, facts.extra_tools):
        return None
    return _misplaced(mode, name, facts) or Verdict("allow", "extra-tool")


def is_extra(mode: Mode, name: str, server: str, extra_tools: frozenset[str]) -> bool:
    """Whether the operator's setting for this mode names a tool; one with a rule of its own keeps that."""
    if name in _OWN_RULES:
        return False
    return (mode.extra_tools and name in extra_tools) or (
        mode.extra_servers and bool(server) and bool(_names(name, server) & extra_tools))


def _delegating(mode: Mode, name: str, facts: Facts) -> Verdict | None:
    if name != "delegate_task" or mode.child_mode in ("", INHERIT) or facts.foreign or not could_allow(mode, name):
        return None
    return Verdict("ask", "child-mode", f"its sub-agents work in {mode.child_mode} mode only when a person says yes, else in "
                   f"{mode.title.lower()} mode", _way_out(mode))


def _granted(mode: Mode, name: str, facts: Facts) -> Verdict | None:
    if facts.foreign or not could_allow(mode, name, facts.server):
        return None
    return _misplaced(mode, name, facts) or Verdict("allow", "granted")


def _not_granted(mode: Mode, name: str, facts: Facts) -> Verdict:
    if facts.fallback is not None:
        return Verdict("deny", facts.fallback.rule,
                       f"{name} isn't reading, and only reading is possible because {facts.fallback.reason}",
                       facts.fallback.hint)
    rule, reason = "not-granted", f"{name} isn't available in {mode.title.lower()} mode"
    if facts.foreign:
        rule, reason = "foreign-tool", f"here {name} isn't the host's own tool but somebody else's of that name"
    elif name not in CATALOGUE and not facts.server:
        rule, reason = "unknown-tool", f"{name} isn't a tool that {mode.title.lower()} mode knows to be harmless"
    return Verdict("deny", rule, reason, _way_out(mode))


def _way_out(mode: Mode) -> str:
    if mode.slug == "plan":
        return "Put it in the plan; the person approves with /planmode approve or leaves with /planmode off."
    return "The person can switch with /mode."


_Rule = Callable[[Mode, str, Facts], Verdict | None]
_OWN_RULES: Final[dict[str, _Rule]] = {
    **dict.fromkeys(sorted(EDITORS), _edit), **dict.fromkeys(PASSED_ON, _reading),
    "skill_view": _skill_view, "tool_call": _inner_calls, **dict.fromkeys(ASKING, _asking),
}
_RULES: Final[tuple[_Rule, ...]] = (_protected, _explicit_deny, _own_rule, _always, _extra, _delegating, _granted)
