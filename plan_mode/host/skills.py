"""Whether showing a skill may run shell code."""

from __future__ import annotations

from .seams import seam


def inline_shell() -> bool:
    """The host's own answer, asked at call time; True when it can't be told."""
    load = seam("skills_config")
    try:
        config = load()
    except Exception:  # missing or raising: the same answer
        return True
    return not isinstance(config, dict) or bool(config.get("inline_shell"))
