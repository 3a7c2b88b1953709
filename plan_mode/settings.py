"""What the operator may set: one table, typed and validated, with every fault reported and none fatal.

Read at ``plugins.entries.plan-mode.settings``: below ``plan_mode.`` first, then flat. A value of the wrong kind is a
fault that ``status`` shows, and counts as not set. Remembered for as long as config.yaml is the same file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")

_SLUG: Final = re.compile(r"[a-zA-Z0-9-]+\Z")
_TOOL: Final = re.compile(r"[^\s\x00-\x1f]{1,128}\Z")


class _Invalid(ValueError):
    """``str()`` completes "must be ..."."""


def _tool_names(value: Any) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) and _TOOL.match(name) for name in value):
        raise _Invalid("a list of tool names")
    return frozenset(value)


def _slug_or_nothing(value: Any) -> str:
    if not isinstance(value, str) or (value and not _SLUG.match(value)):
        raise _Invalid("the slug of a mode")
    return value


def _days(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 3650:
        raise _Invalid("a whole number of days from 1 to 3650")
    return value


@dataclass(frozen=True, slots=True)
class DefaultMode:
    """The mode that a new session starts in: ``everywhere``, unless its surface has one of its own.

    A scheduled run has one only where it is named.
    """

    everywhere: str = ""
    by_surface: Mapping[str, str] = field(default_factory=dict)

    def of(self, surface: str) -> str:
        """The slug for a surface, "" without one."""
        own = self.by_surface.get(surface)
        return own if own is not None else "" if surface == CRON else self.everywhere

    def __bool__(self) -> bool:
        return bool(self.everywhere or self.by_surface)


CRON: Final = "cron"
EVERYWHERE: Final = "default"


def _default_mode(value: Any) -> DefaultMode:
    if isinstance(value, str) and value:
        return DefaultMode(value)
    if isinstance(value, Mapping) and all(isinstance(each, str) for pair in value.items() for each in pair):
        return DefaultMode(value.get(EVERYWHERE, ""), {name: slug for name, slug in value.items() if name != EVERYWHERE})
    if value == "":
        return DefaultMode()
    raise _Invalid("the slug of a mode, or such a slug for each surface by name")


def _milliseconds(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 10_000:
        raise _Invalid("a whole number of milliseconds from 0 to 10000")
    return value


def _yes_or_no(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _Invalid("true or false")
    return value


def _one_of(*words: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in words:
            raise _Invalid(" or ".join(words))
        return value
    return check


@dataclass(frozen=True, slots=True)
class Setting:
    """One row: how a value is checked, what counts without one, and the words that describe it.

    ``type`` is the host's word for it, "" where several kinds of value will do.
    """

    check: Callable[[Any], Any]
    default: Any
    type: str
    description: str


SETTINGS: Final = {
    "extra_allowed_tools": Setting(
        _tool_names, frozenset(), "list",
        "Exact names of further tools that plan mode allows. You vouch that they change nothing."),
    "mcp_allowed": Setting(
        _tool_names, frozenset(), "list",
        "Exact names of MCP tools, or of whole MCP servers, that the built-in modes ask and architect allow."),
    "after_approval": Setting(
        _slug_or_nothing, "", "string",
        "Mode that follows an approved plan. Empty: the mode before, if it may edit, else none."),
    "default_mode": Setting(
        _default_mode, DefaultMode(), "",
        "Mode that a new session starts in: a slug, or a slug by surface (cli, one-shot, tui, desktop, telegram, api_server, "
        "acp, webhook, cron, default). A scheduled run (cron) has one only if named."),
    "enforce_builtin_plan": Setting(
        _yes_or_no, True, "boolean", "Whether Hermes' own /plan turns plan mode on."),
    "owner_only": Setting(
        _yes_or_no, False, "boolean",
        "Whether only the user of a chat who turned a mode on can leave it."),
    "confirm_switches": Setting(
        _one_of("all", "widening"), "all", "string",
        "Which switches that the agent asks for need your yes: all, or only those into a mode that grants more (widening). "
        "Plan mode needs none, unless it allows a tool that is denied now."),
    "agent_may_ask_to_leave_plan": Setting(
        _yes_or_no, False, "boolean",
        "Whether the agent may ask you to leave plan mode for another mode without an approved plan."),
    "switch_pause_ms": Setting(
        _milliseconds, 500, "integer", "Milliseconds that pass after a switch that the agent asked for, before it goes on."),
    "mode_models": Setting(
        _one_of("apply", "suggest"), "apply", "string",
        "What becomes of the model that a mode names: apply uses it for the mode's requests where the session is on the same "
        "provider, suggest only names it to you."),
    "remember_models": Setting(
        _yes_or_no, False, "boolean", "Whether a mode keeps the model that you last chose with /model while it was on."),
    "keep_days": Setting(
        _days, 90, "integer", "Days after which the state of a session that nobody has seen is removed."),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in force, and the faults of those that aren't."""

    extra_allowed_tools: frozenset[str] = frozenset()
    mcp_allowed: frozenset[str] = frozenset()
    after_approval: str = ""
    default_mode: DefaultMode = DefaultMode()
    enforce_builtin_plan: bool = True
    owner_only: bool = False
    confirm_switches: str = "all"
    agent_may_ask_to_leave_plan: bool = False
    switch_pause_ms: int = 500
    mode_models: str = "apply"
    remember_models: bool = False
    keep_days: int = 90
    faults: tuple[str, ...] = ()
    complete: bool = True
    """Whether the configuration could be read."""


_UNSET: Final = object()


def parse(read: Callable[[str, Any], Any]) -> Settings:
    """Settings from ``read(dotted key, default)``. Never raises: what can't be read or used becomes a fault."""
    values: dict[str, Any] = {}
    faults: list[str] = []
    complete = True
    with suppress(Exception):  # told for each key below
        nested = read("plan_mode", None)
        if nested is not None and not isinstance(nested, Mapping):
            faults.append(f"plan_mode must be settings by name; it is {_shown(nested)} and counts as not set")
    for name, setting in SETTINGS.items():
        for key in (f"plan_mode.{name}", name):
            try:
                found = read(key, _UNSET)
                if found is _UNSET or found is None:
                    continue
                values[name] = setting.check(found)
            except _Invalid as exc:
                faults.append(f"{key} must be {exc}; it is {_shown(found)} and counts as not set")
            except Exception as exc:
                faults.append(f"{key} can't be read: {exc}")
                complete = False
            break
    return Settings(**values, faults=tuple(faults), complete=complete)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


class OfConfig(Generic[T]):
    """What ``make`` makes of config.yaml, made again when that is another file than last time.

    What isn't ``lasting`` (a file that couldn't be read for a moment) is never remembered: what was known before goes on
    to count, ``otherwise`` where nothing was, and the next call asks again. Never raises.
    """

    def __init__(self, home: Callable[[], str], make: Callable[[], T | None], otherwise: T,
                 lasting: Callable[[T], bool] = lambda found: True) -> None:
        self._home, self._make, self._otherwise, self._lasting = home, make, otherwise, lasting
        self._known: dict[str, tuple[tuple[int, ...], T]] = {}

    def __call__(self) -> T:
        try:
            path = os.path.join(self._home(), "config.yaml")
        except Exception:  # the host can't say where its home is
            return self._otherwise
        try:
            status = os.stat(path)
            identity: tuple[int, ...] = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        except OSError:
            identity = ()
        known = self._known.get(path)
        if known is not None and known[0] == identity:
            return known[1]
        made = self._make()
        if made is not None and self._lasting(made):
            self._known[path] = (identity, made)
            return made
        if known is not None:
            return known[1]
        return self._otherwise if made is None else made
