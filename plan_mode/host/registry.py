"""Whose tool is it? The host's registry tells which toolset owns a name."""

from __future__ import annotations

from .seams import seam


def toolset_of(tool: str) -> str | None:
    """The toolset that owns the name here; None where the registry doesn't know it or there is none."""
    registry = seam("registry")
    try:
        toolset = registry.get_entry(tool).toolset
    except Exception:  # no registry, another shape of it, or no such tool
        return None
    return toolset if isinstance(toolset, str) else None
