"""Which tools the model is offered: none that the mode could never allow. This enforces nothing; the gate does.

A request also comes before any call of a conversation that goes on by another id within a turn, which is why it is met here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ..controller import Desk
from ..host import registry, wire
from ..modes.model import Mode
from ..policy.catalogue import CATALOGUE, canonical
from ..policy.decide import could_allow, is_extra
from .quiet import quiet

_CHOICES: Final = ("tool_choice", "parallel_tool_calls")
"""What a request may say only beside tools."""


class OfferedTools:
    """A callback of ``llm_request``."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @quiet
    def llm_request(self, request: Any = None, session_id: Any = "", **_: Any) -> dict[str, Any] | None:
        """The request with fewer tools, or None where nothing is to be changed. Never raises."""
        if not isinstance(request, Mapping):
            return None
        place = self._desk.where.place(session_id)
        self._desk.follow(place)
        mode = self._desk.judge.standing(place).mode
        if mode is None or not mode.restricted:
            return None
        extra = self._desk.judge.extra_tools(mode)
        changed = offered(request, lambda name: _may_run(mode, name, extra))
        return None if changed is request else {"request": changed}


def offered(request: Mapping[str, Any], may_run: Callable[[str], bool]) -> Mapping[str, Any]:
    """The request without the definitions whose names don't pass, in the same order; the same object if all do.

    Where no tool is left, neither is what may only be said beside tools.
    """
    holder, tools = wire.tools_of(request)
    kept = [each for each in tools if not (name := wire.name_of(each)) or may_run(name)]
    if len(kept) == len(tools):
        return request
    if not any(map(wire.name_of, kept)) and holder is not request:
        return {key: value for key, value in request.items() if key != "toolConfig"}
    if not kept:
        return {key: value for key, value in request.items() if key not in ("tools", *_CHOICES)}
    changed = {**holder, "tools": _marked(tools, kept)}
    return changed if holder is request else {**request, "toolConfig": changed}


def _marked(tools: list[Any], kept: list[Any]) -> list[Any]:
    """The definitions that stay, with the cache's mark on the last of them if it stood on the last of all."""
    mark = tools[-1].get("cache_control") if isinstance(tools[-1], Mapping) else None
    if mark is None or kept[-1] is tools[-1]:
        return kept
    return [*kept[:-1], {**kept[-1], "cache_control": mark}]


def _may_run(mode: Mode, wire_name: str, extra: frozenset[str]) -> bool:
    """Whether the mode could allow it. What goes by a name that neither the host nor we know is left alone."""
    known = [(name, server) for name in wire.meant_by(wire_name)
             if (server := registry.server_of(name)) or canonical(name) in CATALOGUE or registry.toolset_of(name) is not None]
    return not known or any(could_allow(mode, name, server) or is_extra(mode, canonical(name), server, extra)
                            for name, server in known)
