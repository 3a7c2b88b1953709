"""May this call run? The answer to ``pre_tool_call``, and the execution middleware around the call.

On hosts whose hook fails closed the hook decides, and the middleware only watches edits; elsewhere the middleware is
the last gate and decides as well. The text of a denial is the same either way.
"""

from __future__ import annotations

import copy
import json
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

from .. import writes
from ..controller import Desk
from ..errors import Refusal, StateError
from ..host import capabilities, edits, registry
from ..policy.catalogue import EDITORS, OWN, canonical
from ..policy.containment import Inside
from ..policy.decide import Facts, Fallback, Verdict
from ..policy.targets import Unreadable
from ..standing import Standing
from ..state.identity import Place
from ..text import one_line, visible
from ..transitions import Event, Interfere, Wrote
from .delegation import TOOL, Delegation

log: Final = logging.getLogger(__name__)

INTERNAL: Final = Verdict("deny", "internal-error", "plan-mode failed while it judged this call, so the call didn't run",
                          "The person can see /planmode status and leave with /planmode off.")
MOST_OF_A_REASON: Final = 600
_watched: Final[ContextVar[bool]] = ContextVar("plan_mode_watched", default=False)
"""Whether an outer frame watches this call: some hosts run the middleware again inside of itself."""

Directive = Callable[[Any, Any], dict[str, str] | None]

CHANGED: Final = "its arguments were changed after they had been checked, by another plugin"
_BY_WHOM: Final = " (another plugin changed the call, or another process a folder)"


def denial(mode: str, verdict: Verdict) -> str:
    """What the model reads: mode and rule, why, and the way out."""
    return f"{mode} mode [{verdict.rule}]: {one_line(verdict.reason, MOST_OF_A_REASON)}. {verdict.hint}".strip()


@dataclass(slots=True)
class Watch:
    """One edit under way: what was checked, and what was seen of it right before it was written.

    ``refused`` is the denial by the first check, which the hook repeats; ``stopped`` the one by the last look.
    """

    standing: Standing
    place: Place
    tool: str
    facts: Facts
    refused: str = ""
    pinned: Any = None
    arguments: Any = None
    seen: list[Facts] = field(default_factory=list)
    footings: list[writes.Footing] = field(default_factory=list)
    stopped: str = ""

    @property
    def last_facts(self) -> Facts:
        """What was known of the call when it was judged last."""
        return self.seen[-1] if self.seen else self.facts


class ToolGate:
    """Both callbacks of a tool call. ``wrap`` registers an execution middleware behind those that are there.

    ``directives`` are what the hook says before our own tools run, where a person is reached in that way alone.
    """

    def __init__(self, desk: Desk, wrap: Callable[[Callable[..., Any]], Any], delegation: Delegation,
                 directives: Mapping[str, Directive]) -> None:
        self._desk, self._wrap, self._delegation, self._directives = desk, wrap, delegation, directives

        # The host inspects its hook's signature at every call, and that of a plain function takes a third of the time.
        def pre_tool_call(**call: Any) -> dict[str, str] | None:
            """The host's hook: a block directive with the reason, or None. Never raises."""
            return self._directive(**call)

        self.pre_tool_call = pre_tool_call

    def _directive(self, tool_name: Any = "", args: Any = None, session_id: Any = "", **_: Any) -> dict[str, str] | None:
        tool_name = _exact(tool_name)
        try:
            text = self._denied(self._desk.where.place(session_id), tool_name, args)
            if not text and tool_name in self._directives and registry.toolset_of(tool_name) == OWN:
                return self._directives[tool_name](session_id, args)
        except Exception:
            text = self._failed()
        return {"action": "block", "message": text} if text else None

    def tool_execution(self, tool_name: Any = "", args: Any = None, next_call: Callable[..., Any] | None = None,
                       session_id: Any = "", tool_call_id: Any = "", **_: Any) -> Any:
        """The host's middleware: the call's result, or the reason why it didn't run. Raises only what the call raises."""
        if next_call is None:
            return None
        watch: Watch | None = None
        tool_name = _exact(tool_name)
        try:
            hook_decides = capabilities.hook_decides(self._desk.manager, self.pre_tool_call)
            if canonical(tool_name) in EDITORS:
                watch = self._watch(self._desk.where.place(session_id), tool_name, args)
                # A call with an id comes from the agent's loop, where the hook is still to be asked: its denial is the
                # cleaner one. A call without comes from inside another tool, after the host's last look.
                refusal = watch.refused if watch is not None and not (hook_decides and tool_call_id) else ""
            else:
                refusal = "" if hook_decides else self._denied(self._desk.where.place(session_id), tool_name, args)
        except Exception:
            refusal = self._failed()
        if refusal:
            return _error(f"{refusal} ({CHANGED}.)" if _watched.get() else refusal)
        if tool_name == TOOL:
            return self._delegated(session_id, args, next_call)
        if watch is None or _watched.get():
            return next_call(args)
        return self._watched_call(watch, args, next_call)

    def _delegated(self, session_id: Any, args: Any, next_call: Callable[..., Any]) -> Any:
        try:
            return self._delegation.around(session_id, args, next_call)
        except Refusal as exc:
            return _error(str(exc))

    # -- judging

    def _denied(self, place: Place, tool_name: Any, args: Any) -> str:
        """Why the call must not run; "" when it may."""
        standing = self._desk.judge.standing(place)
        if standing.mode is None or not standing.mode.restricted:
            return ""
        if canonical(tool_name) in EDITORS:
            self._stand_last()
        try:
            verdict, facts = self._desk.judge.verdict(standing, tool_name, args)
            if verdict.allowed and tool_name == "write_file" and standing.record is not None:
                for expected in writes.expected_of(args, facts, standing.record):
                    self._desk.memory.keep(self._desk.memory.expected, expected.plan.path, expected)
        except Exception:
            log.exception("plan-mode: a call couldn't be judged")
            verdict = INTERNAL
        return denial(_mode_shown(standing), verdict) if verdict.denied else ""

    def _failed(self) -> str:
        log.exception("plan-mode: a callback failed")
        return denial("plan", INTERNAL) if self._desk.judge.may_be_restricted() else ""

    def _watch(self, place: Place, tool: str, args: Any) -> Watch | None:
        standing = self._desk.judge.standing(place)
        if standing.mode is None or not standing.mode.restricted:
            return None
        self._stand_last()
        try:
            verdict, facts = self._desk.judge.verdict(standing, tool, args)
        except Exception:
            log.exception("plan-mode: an edit couldn't be judged")
            verdict, facts = INTERNAL, Facts()
        watch = Watch(standing, place, tool, facts, arguments=args)
        if verdict.denied:
            watch.refused = denial(_mode_shown(standing), verdict)
        else:
            watch.footings = writes.footings_of(facts)
        watch.pinned = copy.deepcopy(args)
        return watch

    def _stand_last(self) -> None:
        """Register the middleware once more where another plugin's would run between it and the edit.

        Where the host asks no approver after the middleware, the last one has the last word.
        """
        if not capabilities.wraps_last(self._desk.manager, self.tool_execution):
            self._wrap(self.tool_execution)

    # -- watching an edit

    def _watched_call(self, watch: Watch, args: Any, next_call: Callable[..., Any]) -> Any:
        """The call's result, under the last look; without it where that can't be had, the call doesn't run."""
        with ExitStack() as under_watch:
            try:
                under_watch.enter_context(self._last_look(watch))
            except Exception:
                log.exception("plan-mode: an edit couldn't be watched")
                return _error(denial(_mode_shown(watch.standing), INTERNAL))
            under_watch.callback(_watched.reset, _watched.set(True))
            result = next_call(args)
        return self._after(watch, result)

    def _last_look(self, watch: Watch) -> AbstractContextManager[None]:
        if not edits.has_last_look():
            return nullcontext()

        def judge(tool: str, final_arguments: Mapping[str, Any]) -> bool:
            standing = self._desk.judge.standing(watch.place)
            if not standing.restricted:
                return True
            verdict, facts = self._desk.judge.verdict(standing, tool, final_arguments)
            watch.seen.append(facts)
            if verdict.allowed:
                watch.footings = writes.footings_of(facts)
                return True
            why = denial(_mode_shown(standing), verdict)
            watch.stopped = why if watch.refused else f"{why} ({CHANGED}.)"
            return False

        def judge_or_refuse(tool: str, final_arguments: Mapping[str, Any]) -> bool:
            try:
                return judge(tool, final_arguments)
            except Exception:
                log.exception("plan-mode: the last look at an edit failed")
                watch.stopped = denial(_mode_shown(watch.standing), INTERNAL)
                return False

        return edits.last_look(judge_or_refuse)

    def _after(self, watch: Watch, result: Any) -> Any:
        """The result with our reason in place of the host's; and what it changed is noted. Never raises."""
        try:
            if watch.stopped:
                return _error(watch.stopped)
            escape = self._note(watch, _json(result))
            if escape:
                why = Fallback("lockdown", escape)
                return _error(denial(_mode_shown(watch.standing), Verdict("deny", why.rule, why.reason, why.hint)))
        except Exception:
            log.exception("plan-mode: the result of an edit couldn't be noted")
        return result

    def _note(self, watch: Watch, result: Mapping[str, Any]) -> str:
        """Note what an edit has changed; how something else was written, as a clause, or ""."""
        record, succeeded = watch.standing.record, not result.get("error")
        escape = _changed(watch, result) or (writes.escape_of(watch.footings, watch.tool, watch.pinned) if succeeded else "")
        if record is None:
            return escape
        noted: list[Event] = [Interfere(escape)] if escape else []
        if succeeded and not escape:
            noted += writes.events_of(watch.last_facts, record)
        for event in noted:
            try:
                self._desk.note(record, event)
            except StateError as exc:
                log.warning("plan-mode: %s", exc)
            else:
                if isinstance(event, Wrote):
                    self._desk.memory.expected.pop(event.plan.path, None)
        return escape


def _exact(tool_name: Any) -> str:
    """The name itself; "", which no tool has, for what may show one name here and another to the host."""
    return tool_name if type(tool_name) is str else ""


def _mode_shown(standing: Standing) -> str:
    if standing.mode is not None and standing.fallback is None:
        return standing.mode.slug
    return standing.record.mode if standing.record and standing.record.mode else "read-only"


def _changed(watch: Watch, result: Mapping[str, Any]) -> str:
    """How something else than what was judged last has been written, as a clause that names it; "" where it wasn't."""
    failed = bool(result.get("error"))
    if not failed and not watch.seen and watch.pinned != watch.arguments:
        return CHANGED
    written, targets = _paths_of_a_failure(result) if failed else _written_paths(result), watch.last_facts.targets
    if watch.last_facts.remote_files:  # whose real paths aren't known here
        return ""
    if not isinstance(targets, Unreadable):
        written -= {target.judged.real for target in targets if isinstance(target.judged, Inside)}
    return f"{visible(min(written))} was written instead of what had been checked{_BY_WHOM}" if written else ""


def _written_paths(result: Mapping[str, Any]) -> set[str]:
    """The real paths that the host says it wrote."""
    paths = result.get("files_modified") or [result.get("resolved_path")]
    return {path for path in paths if isinstance(path, str)} if isinstance(paths, list) else set()


def _paths_of_a_failure(result: Mapping[str, Any]) -> set[str]:
    """The same where a patch of several files failed half way: the host lists, in its own words, what it did before."""
    lists = (result.get(f"files_{done}") for done in ("modified", "created", "deleted"))
    named = (path for paths in lists if isinstance(paths, list) for path in paths if isinstance(path, str))
    return {os.path.realpath(end) for path in named for end in path.split(" -> ")}


def _json(result: Any) -> dict[str, Any]:
    try:
        said = json.loads(result) if isinstance(result, str) else result
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _error(text: str) -> str:
    return json.dumps({"error": text}, ensure_ascii=False)
