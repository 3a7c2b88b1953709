"""Make a transcript the same on every machine and day: paths, dates, digests and durations."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.acceptance.lab import Home

_PLACEHOLDERS = (
    (r"\b\d{4}-\d{2}-\d{2}_\d{6}\b", "YYYY-MM-DD_HHMMSS"),
    (
        r"\b\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2}\b)?",
        "YYYY-MM-DD HH:MM",
    ),
    (r"\b\d{4}-\d{2}-\d{2}\b", "YYYY-MM-DD"),
    (r"\b\d{2}:\d{2}(:\d{2})?\b", "HH:MM"),
    (r"\bnotice [0-9a-f]{4,16}\b", "notice <id>"),
    (r"\bRecord: [0-9a-f]{16}\b", "Record: <id>"),
    (r"\b[0-9a-f]{12,128}\b", "<digest>"),
    (r"\b\d+(\.\d+)?\s?(ms|s|seconds?|min|minutes?)\b", r"N \2"),
)


def at_home(home: Home) -> Callable[[str], str]:
    """Return a function that writes the user's folder as ``~``, as a shell does."""
    return lambda text: text.replace(str(home.user), "~")


def normalised(home: Home) -> Callable[[str], str]:
    """Return a function that also replaces everything that differs from run to run."""

    def normalise(text: str) -> str:
        text = at_home(home)(text)
        for pattern, placeholder in _PLACEHOLDERS:
            text = re.sub(pattern, placeholder, text)
        return text

    return normalise
