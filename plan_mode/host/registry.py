"""Whose tool is it? The host's registry tells which toolset owns a name."""

from __future__ import annotations

from typing import Final

from .seams import seam

_OF_A_SERVER: Final = "mcp-"
"""How the host begins the toolset of an MCP server."""


def toolset_of(tool: str) -> str | None:
    """The toolset that owns the name here; None where the registry doesn't know it or there is none."""
    registry = seam("registry")
    try:
        toolset = registry.get_entry(tool).toolset
    except Exception:  # no registry, another shape of it, or no such tool
        return None
    return toolset if isinstance(toolset, str) else None


def server_of(tool: str) -> str:
    """The MCP server whose tool this is, by the registry and not by its name; "" where it is none."""
    toolset = toolset_of(tool) or ""
    return toolset[len(_OF_A_SERVER):] if toolset.startswith(_OF_A_SERVER) else ""
