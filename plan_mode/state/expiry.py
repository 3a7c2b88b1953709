"""What may be removed: records that nobody comes back to, keys without a record, files that somebody was killed over."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable
from contextlib import suppress

from .process import is_alive
from .record import SessionRecord
from .store import Folder, Writer, remove


def sweep(writer: Writer, older_than: float, listed: Callable[[Folder], frozenset[str] | None] | None = None, *,
          most: int | None = None) -> int:
    """Remove what may go; how many records are left.

    A record of no live process goes when it was last written before ``older_than`` (seconds since the epoch), when no key
    leads to it any more, or when ``listed`` (the hashed keys of all conversations the host still has; None when it can't
    tell) doesn't hold its conversation, though the model was told there. Keys without a record and unfinished files go with
    them. ``most``: of the files that aren't old, look into so many, whichever they are, since others wait for the lock.
    """
    left = 0
    for folder in writer.folders:
        files = _files(folder)
        looked_at = files if most is None or len(files) <= most else [
            *random.sample(files, most), *(each for each in files if each[1] < older_than)]
        known = listed(folder) if listed else None
        gone = {name for name, written in looked_at
                if name.endswith(".json") and _is_removed(writer, folder, name, written < older_than, known)}
        left += sum(name.endswith(".json") for name, _ in files) - len(gone)
        unfinished = [name for name, _ in files if name.endswith(".tmp")]
        _remove_leftovers(writer, folder, {*unfinished, *(name for name, _ in looked_at)})
    return left


def make_way(writer: Writer) -> int:
    """Remove the older half of the sessions that began by default, of no live process, and that no person ever decided on;
    how many."""
    found = []
    for folder in writer.folders:
        for name, written in _files(folder):
            record = writer.load(folder, name[:-5]) if name.endswith(".json") else None
            if isinstance(record, SessionRecord) and record.by_default and not _may_live(record):
                found.append((written, os.path.join(folder.path, name)))
    return sum(remove(path) for _, path in sorted(found)[:(len(found) + 1) // 2])


def _is_removed(writer: Writer, folder: Folder, name: str, is_old: bool, known: frozenset[str] | None) -> bool:
    record = writer.load(folder, name[:-5])
    may_go = isinstance(record, SessionRecord) and _may_go(writer, folder, record, is_old, known)
    return may_go and remove(os.path.join(folder.path, name))


def _may_live(record: SessionRecord) -> bool:
    return record.holder is not None and is_alive(record.holder) is not False


def _may_go(writer: Writer, folder: Folder, record: SessionRecord, is_old: bool, known: frozenset[str] | None) -> bool:
    alive = is_alive(record.holder) if record.holder else False
    if alive is not False:
        return alive is None and is_old
    if is_old or (known is not None and record.told is not None and record.conversation not in known):
        return True
    of_the_dead = folder.hashed(record.holder.key) if record.holder else ""
    return all(key == of_the_dead or writer.pointed_to(folder, key) != record.id for key in record.keys)


def _remove_leftovers(writer: Writer, folder: Folder, names: Iterable[str]) -> None:
    """Remove keys without a record, and files that somebody was killed over: who writes has the lock, and that's us."""
    for name in names:
        record_id = writer.pointed_to(folder, name[:-4]) if name.endswith(".key") else None
        if name.endswith(".tmp") or (record_id and not os.path.exists(folder.record_path(record_id))):
            remove(os.path.join(folder.path, name))


def _files(folder: Folder) -> list[tuple[str, float]]:
    """Name and time of last writing of every file in a state folder."""
    found = []
    with os.scandir(folder.path) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                found.append((entry.name, entry.stat(follow_symlinks=False).st_mtime))
    return found
