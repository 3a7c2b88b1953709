"""What leaves for the provider: which tools a request offers, in the shapes and under the names of the host's adapters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_PREFIXES: Final = (("mcp__", ("", "mcp_")), ("hermes_", ("",)))
"""How adapters begin a name that the provider wouldn't take as it is, and what that may have been before."""

_RENAMED: Final = {"chat_history_lookup": "session_search", "context_notes": "memory"}
"""Names that the host's adapter for subscriptions changes as a whole."""


def tools_of(request: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Any]]:
    """The mapping that holds the definitions of a request as ``tools``, and those; an empty list where there are none."""
    config = request.get("toolConfig")
    holder = config if isinstance(config, Mapping) else request
    tools = holder.get("tools")
    return holder, tools if isinstance(tools, list) else []


def name_of(definition: object) -> str:
    """The name in one definition, whatever its shape; "" for what is no function, as a provider's own tool or a cache mark."""
    if not isinstance(definition, Mapping):
        return ""
    for inner in (definition.get("function"), definition.get("toolSpec")):
        if isinstance(inner, Mapping):
            definition = inner
            break
    else:
        if definition.get("type") not in (None, "function", "custom"):
            return ""
    name = definition.get("name")
    return name if isinstance(name, str) else ""


def meant_by(name: str) -> tuple[str, ...]:
    """The names that the host may know a tool by which leaves under this one; the likeliest first."""
    begun = [(prefix, befores) for prefix, befores in _PREFIXES if name.startswith(prefix)]
    meant = [name, *(before + name[len(prefix):] for prefix, befores in begun for before in befores)]
    return tuple(_RENAMED.get(each, each) for each in meant)
