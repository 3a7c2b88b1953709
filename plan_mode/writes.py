"""What an edit means for the session: which plan files it wrote, which it took away, and whether it went elsewhere."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass

from .plans import MOST_BYTES, digest_of
from .policy.containment import Inside, Outside, judge_entry
from .policy.decide import Facts
from .policy.targets import Unreadable
from .state.record import PlanFile, SessionRecord
from .transitions import Event, Removed, Wrote


@dataclass(frozen=True, slots=True)
class Footing:
    """What a target stood on right before its edit: the folder that leads to it, and the file.

    ``folder`` is the nearest one that was there; identities are (device, inode), a file's with its time of change.
    """

    path: str
    folder: str
    folder_id: tuple[int, ...]
    file_id: tuple[int, ...]


def footings_of(facts: Facts) -> list[Footing]:
    """Where the targets of a call stand that is about to run; nothing of files on another machine. Raises OSError."""
    return [] if facts.remote_files else [_footing(path) for path in _paths(facts)]


def escape_of(footings: list[Footing], tool: str, arguments: Mapping[str, object]) -> str:
    """How an edit that succeeded may have gone elsewhere, as a clause that names the file; "" where it went where it should.

    Source of the rule: a folder that another process exchanges between check and write. Hosts write a new file and move
    it into its place, so a ``write_file`` leaves another file there, or the bytes that it was given.
    Does not: see a patch that went through a folder which was exchanged and put back.
    """
    for before in footings:
        if _identity(before.folder)[:2] != before.folder_id:
            return f"the folder {before.folder} was exchanged for another one while {before.path} was written"
        real = os.path.realpath(before.path)
        if real != before.path:
            return f"{before.path} leads to {real} since it was written"
        judged = judge_entry(before.path)
        if isinstance(judged, Outside):
            return f"since it was written, {judged.reason}"
        promised = _promised(arguments)
        if tool == "write_file" and _identity(before.path) == before.file_id and not (
                promised and _digest(before.path) == promised):
            return f"the write to {before.path} succeeded, and its text isn't there"
    return ""


def events_of(facts: Facts, record: SessionRecord) -> list[Event]:
    """The events of a call that succeeded, in the order of its targets. ``record`` is the one it was judged by."""
    found: list[Event] = []
    for path in _paths(facts):
        digest = _digest(path)
        found.append(Wrote(PlanFile(path, digest, time.time()), record.activation) if digest else Removed(path))
    return found


def expected_of(arguments: Mapping[str, object], facts: Facts, record: SessionRecord) -> list[Wrote]:
    """What a ``write_file`` call that is about to run will have written, if it succeeds."""
    digest = _promised(arguments)
    return [Wrote(PlanFile(path, digest, time.time()), record.activation) for path in _paths(facts)] if digest else []


def has_happened(expected: Wrote) -> bool:
    """Whether exactly those bytes stand there now."""
    return _digest(expected.plan.path) == expected.plan.digest


def _paths(facts: Facts) -> list[str]:
    if isinstance(facts.targets, Unreadable):
        return []
    return list(dict.fromkeys(target.judged.real for target in facts.targets if isinstance(target.judged, Inside)))


def _footing(path: str) -> Footing:
    folder = os.path.dirname(path)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return Footing(path, folder, _identity(folder)[:2], _identity(path))


def _identity(path: str) -> tuple[int, ...]:
    """Which file or folder stands there, and when it was changed; () where nothing does."""
    try:
        entry = os.lstat(path)
    except OSError:
        return ()
    return entry.st_dev, entry.st_ino, entry.st_ctime_ns


def _promised(arguments: Mapping[str, object]) -> str:
    """The digest of what a ``write_file`` is to write; "" for what no plan file holds."""
    content = arguments.get("content")
    return digest_of(content.encode("utf-8", "replace")) if isinstance(content, str) and len(content) <= MOST_BYTES else ""


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return digest_of(file.read(MOST_BYTES + 1))
    except OSError:
        return ""
