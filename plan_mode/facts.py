"""Everything ``decide`` needs to know about one call, gathered from disk and host before it is asked."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from . import plans
from .host import registry, skills
from .modes.builtin import PLAN
from .modes.model import Mode
from .policy.catalogue import CATALOGUE, EDITORS, WRITERS, canonical
from .policy.containment import Inside, Outside, absolute, as_path, contain, locate, misread
from .policy.decide import MOST_INNER_CALLS, Facts, Fallback, InnerCall, Target, could_allow
from .policy.options import option_among
from .policy.protected import Protected, protected_places, protecting
from .policy.targets import Unreadable, read_targets, rewritten

_PACKAGE: Final = os.path.dirname(os.path.abspath(__file__))
_CHECKOUT: Final = os.path.dirname(_PACKAGE)
_PLUGIN_FOLDER: Final = _CHECKOUT if os.path.exists(os.path.join(_CHECKOUT, "plugin.yaml")) else _PACKAGE


@dataclass(frozen=True, slots=True)
class Ground:
    """What stays the same for all calls of a session: its mode, project and plan directory, and how to ask for the rest.

    ``remote_files`` and ``extra_tools`` are asked only for calls that they can decide; ``others_plan`` tells whether a
    real path is recorded as another session's plan.
    """

    mode: Mode
    fallback: Fallback | None
    plan_root: str
    remote_files: Callable[[], bool]
    extra_tools: Callable[[], frozenset[str]]
    home: str
    others_plan: Callable[[str], bool]
    project: str = ""


def completed(mode: Mode, tool: str, untrusted_arguments: dict[str, Any], folder: Callable[[], str],
              remote_files: Callable[[], bool]) -> dict[str, Any]:
    """The arguments of an edit with relative paths made absolute, against the ``folder`` that the host would use.

    They stay as they are in plan mode, whose plans have one place; where files lie on another machine; and where no folder
    can be told ("").
    """
    if canonical(tool) not in WRITERS or not mode.restricted or mode.slug == PLAN.slug or remote_files():
        return untrusted_arguments
    base = folder()
    return rewritten(canonical(tool), untrusted_arguments, lambda path: _below(base, path)) if base else untrusted_arguments


def _below(folder: str, untrusted_path: str) -> str:
    if not untrusted_path or os.path.isabs(untrusted_path) or untrusted_path.startswith("~"):
        return untrusted_path
    return os.path.join(folder, untrusted_path)


def gather(ground: Ground, tool: str, untrusted_arguments: object) -> Facts:
    """The facts of one call, those inside a ``tool_call`` included. Looks at the disk and asks the host."""
    name = canonical(tool)
    arguments = _plain(untrusted_arguments)
    server = registry.server_of(tool) if name not in CATALOGUE else ""
    granted = could_allow(ground.mode, name, server)
    foreign = granted and _is_foreign(tool, name)
    return Facts(
        targets=_targets(ground, name, arguments) if name in WRITERS else (),
        plan_root=ground.plan_root,
        extra_tools=frozenset() if granted and not foreign else ground.extra_tools(),
        option=option_among(name, untrusted_arguments),
        inline_shell=skills.inline_shell() if name == "skill_view" else True,
        foreign=foreign,
        server=server,
        remote_files=name in EDITORS and ground.remote_files(),
        fallback=ground.fallback,
        inner=_inner_calls(ground, arguments) if name == "tool_call" else (),
    )


def _is_foreign(tool: str, name: str) -> bool:
    """Whether the name belongs to somebody else, as it was given or as the host would complete it."""
    row = CATALOGUE.get(name)
    owners = {registry.toolset_of(each) for each in {tool, name}} - {None}
    return row is not None and not owners <= row.toolsets


def _targets(ground: Ground, name: str, arguments: Mapping[str, Any]) -> tuple[Target, ...] | Unreadable:
    named = read_targets(name, arguments)
    if isinstance(named, Unreadable):
        return named
    fault = plans.directory_fault(ground.plan_root) if ground.plan_root else ""
    targets = tuple(_target(ground, fault, untrusted) for untrusted in named)
    entangled = _entangled(targets)
    return Unreadable(entangled) if entangled else targets


def _entangled(targets: tuple[Target, ...]) -> str:
    """Why what is done to one file of a patch may decide where another one lies; "" where it can't."""
    inside = [target for target in targets if isinstance(target.judged, Inside)] if len(targets) > 1 else []
    if any(os.path.islink(target.shown) for target in inside):
        return "one of its several files is a symbolic link"
    reals = {target.judged.real for target in inside if isinstance(target.judged, Inside)}
    if any(not reals.isdisjoint(map(str, PurePath(real).parents)) for real in reals):
        return "one of its files is a folder of another one"
    return ""


def _target(ground: Ground, directory_fault: str, untrusted_path: object) -> Target:
    shown = untrusted_path if isinstance(untrusted_path, str) else f"<{type(untrusted_path).__name__}>"
    rule = ground.mode.grants.edit_rule
    if rule is None:
        judged = _anywhere(untrusted_path)
    elif rule.root == "project":
        judged = locate(untrusted_path, ground.project)
    else:
        judged = Outside("plan-directory", directory_fault) if directory_fault else contain(untrusted_path, ground.plan_root)
    real = judged.real if isinstance(judged, Inside) else _real(untrusted_path)
    return Target(
        shown=shown,
        judged=judged,
        protected_by=protector_of(real, ground.home, ground.project or _project_of(ground.plan_root)) if real else None,
        others_plan=isinstance(judged, Inside) and ground.others_plan(judged.real),
    )


def _anywhere(untrusted_path: object) -> Inside | Outside:
    """A target of a mode that lets every file be written that isn't protected: so it must be known which one it is."""
    path = absolute(untrusted_path)
    if isinstance(path, Outside):
        return path
    real = _real(path)
    if not real:
        return Outside("unreadable-path", f"{path!r} can't be followed to its end")
    if os.path.isdir(real):  # older hosts move a file into it
        return Outside("not-a-file", f"{real!r} isn't a regular file")
    return misread(path, real) or Inside(real, os.path.exists(real))


def _real(untrusted_path: object) -> str:
    """The real path of an absolute target, for the sake of a better reason; "" where there is none to be had."""
    path = as_path(untrusted_path)
    if isinstance(path, Outside) or not os.path.isabs(path):
        return ""
    try:
        return os.path.realpath(path)
    except (OSError, RecursionError):
        return ""


def protector_of(real: str, home: str, project: str) -> str | None:
    """The protected place that a real path lies in; None where it is free."""
    return protecting(real, _protected(home, project))


def _project_of(plan_root: str) -> str:
    return os.path.dirname(os.path.dirname(plan_root))


@functools.lru_cache(maxsize=64)
def _protected(home: str, project: str) -> Protected:
    return protected_places(home, project, _PLUGIN_FOLDER)


def _inner_calls(ground: Ground, arguments: Mapping[str, Any]) -> tuple[InnerCall, ...] | Unreadable:
    """The calls in a wrapper: ``{"calls": [{name, arguments}]}``, on older hosts ``{name, arguments}``.

    Each host reads one of the two, so where both are given both are judged.
    """
    calls = [] if arguments.get("calls") is None else arguments["calls"]
    alone = [arguments] if arguments.get("name") else []
    if type(calls) is not list or not 0 < len(calls) + len(alone) <= MOST_INNER_CALLS:
        return Unreadable(f"it must hold a list of 1 to {MOST_INNER_CALLS} calls")
    inner: list[InnerCall] = []
    for call in map(_plain, calls + alone):
        name = call.get("name")
        if type(name) is not str or not name:
            return Unreadable("one of them names no tool")
        if canonical(name) == "tool_call":
            return Unreadable("one of them is tool_call itself")
        untrusted = call.get("arguments")
        if type(untrusted) is str:  # as hosts read it
            try:
                untrusted = json.loads(untrusted)
            except (ValueError, RecursionError):
                return Unreadable("the arguments of one of them can't be read")
        inner.append(InnerCall(name, gather(ground, name, untrusted)))
    return tuple(inner)


def _plain(untrusted: object) -> Mapping[str, Any]:
    """What JSON makes of an object, or nothing: another mapping may show one value here and another to the tool."""
    return untrusted if type(untrusted) is dict else {}
