"""What an edit means for the session: which plan files it wrote, which it took away."""

from __future__ import annotations

import time
from collections.abc import Mapping

from .plans import MOST_BYTES, digest_of
from .policy.containment import Inside
from .policy.decide import Facts
from .policy.targets import Unreadable
from .state.record import PlanFile, SessionRecord
from .transitions import Event, Removed, Wrote


def events_of(facts: Facts, record: SessionRecord) -> list[Event]:
    """The events of a call that succeeded, in the order of its targets. ``record`` is the one it was judged by."""
    found: list[Event] = []
    for path in _paths(facts):
        digest = _digest(path)
        found.append(Wrote(PlanFile(path, digest, time.time()), record.activation) if digest else Removed(path))
    return found


def expected_of(arguments: Mapping[str, object], facts: Facts, record: SessionRecord) -> list[Wrote]:
    """What a ``write_file`` call that is about to run will have written, if it succeeds."""
    content = arguments.get("content")
    if not isinstance(content, str) or len(content) > MOST_BYTES:
        return []
    digest = digest_of(content.encode("utf-8", "replace"))
    return [Wrote(PlanFile(path, digest, time.time()), record.activation) for path in _paths(facts)]


def has_happened(expected: Wrote) -> bool:
    """Whether exactly those bytes stand there now."""
    return _digest(expected.plan.path) == expected.plan.digest


def _paths(facts: Facts) -> list[str]:
    if isinstance(facts.targets, Unreadable):
        return []
    return list(dict.fromkeys(target.judged.real for target in facts.targets if isinstance(target.judged, Inside)))


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return digest_of(file.read(MOST_BYTES + 1))
    except OSError:
        return ""
