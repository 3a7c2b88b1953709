"""Key files and record files in one folder: atomic, bounded, cached.

The folder's name ends in the salt of its hashes, so the salt can't be lost apart from the records. A key file names
its record; a record is one file, written whole and renamed into place. One rename is one transition: a full disk or a
kill leaves the old state or the new one. Reading takes no lock.
"""

from __future__ import annotations

import errno
import functools
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, cast

from ..disk import sync_folder
from ..errors import StateError
from .lock import locked
from .record import MOST_BYTES, Damaged, SessionRecord, checksum, from_text, is_id, to_text

MOST_RECORDS: Final = 4000

_FOLDER: Final = "sessions-"
_IS_FOLDER: Final = re.compile(_FOLDER + r"([0-9a-f]{32})\Z")
_LOCK: Final = "sessions.lock"
_YOUNG_NS: Final = 50_000_000  # two writes in one tick of a file system's clock leave the same times
_MOST_CACHED: Final = 4096
_GONE: Final = (errno.ENOENT, errno.ENOTDIR)
_TRIES: Final = 3
_NOTED_FOR: Final = 86_400

Found = SessionRecord | Damaged | None


@dataclass(frozen=True, slots=True)
class Folder:
    """One state folder; ``hashed`` turns a key into the name of its key file."""

    path: str
    salt: bytes

    def hashed(self, key: str) -> str:
        return _hash(self.salt, key)

    def key_path(self, hashed: str) -> str:
        return f"{self.path}{os.sep}{hashed}.key"

    def record_path(self, record_id: str) -> str:
        return f"{self.path}{os.sep}{record_id}.json"


@functools.lru_cache(maxsize=_MOST_CACHED)
def _hash(salt: bytes, key: str) -> str:
    return blake2b(key.encode("utf-8", "surrogatepass"), key=salt, digest_size=16).hexdigest()


class Store:
    """The records of one profile. ``data_dir`` is asked at every call, since the profile may be another one.

    Thread-safe: caches hold immutable values, and every write happens under the inter-process lock.
    """

    def __init__(self, data_dir: Callable[[], str]) -> None:
        self._data_dir = data_dir
        self._folders: dict[str, tuple[tuple[int, ...], tuple[Folder, ...]]] = {}
        self._files: dict[str, tuple[tuple[int, ...], Any]] = {}

    def folders(self) -> tuple[Folder, ...]:
        """The state folders that exist: none before the first ``on``, else one (two, if somebody copied a home).

        Raises StateError when the data folder can't be read.
        """
        data_dir = self._data_dir()
        try:
            seen = _signature(os.stat(data_dir))
        except OSError as exc:
            _raise_unless_gone(data_dir, exc)
            return ()
        cached = self._folders.get(data_dir)
        if cached is not None and cached[0] == seen:
            return cached[1]
        found = _list_folders(data_dir)
        if _is_settled(seen):
            self._folders[data_dir] = (seen, found)
        return found

    def look_up(self, key: str) -> list[SessionRecord | Damaged]:
        """What ``key`` points to: nothing, or a record or what is damaged of it in each folder. Takes no lock.

        Raises StateError when the folder can't be read.
        """
        found = (self.follow(folder, folder.hashed(key)) for folder in self.folders())
        return [each for each in found if each is not None]

    def record_id(self, folder: Folder, hashed: str) -> str | None:
        """The record id in a key file; None where there is no such file, "" when it is damaged."""
        return cast("str | None", self._read(folder.key_path(hashed), _parse_key))

    def follow(self, folder: Folder, hashed: str) -> Found:
        """The record that a key file of one folder points to."""
        for _ in range(_TRIES):  # without the lock, a key may be pointed to another record, and the first removed, meanwhile
            record_id = self.record_id(folder, hashed)
            if record_id is None:
                return None
            if not record_id:
                return Damaged(folder.key_path(hashed), "damaged")
            found = self.load(folder, record_id)
            if found is not None:
                return found
        return None

    def load(self, folder: Folder, record_id: str) -> Found:
        """The record of that id, None when there is no such file."""
        path = folder.record_path(record_id)
        return cast("Found", self._read(path, lambda text: from_text(text, path)))

    def was_noted(self, folder: Folder, record_id: str) -> bool:
        """Whether it is noted already that this session was seen today."""
        try:
            return time.time() - os.stat(folder.record_path(record_id)).st_mtime <= _NOTED_FOR
        except OSError:
            return False

    def records(self) -> list[SessionRecord | Damaged]:
        """All records there are, for people to look at. Raises StateError when the folder can't be read."""
        found: list[SessionRecord | Damaged] = []
        for folder in self.folders():
            for name in sorted(os.listdir(folder.path)):
                each = self.load(folder, name[:-5]) if name.endswith(".json") else None
                if each is not None:
                    found.append(each)
        return found

    def _read(self, path: str, parse: Callable[[str], Any]) -> Any:
        """What is in a file, None where there is none. What is there and can't be read is damaged, as is no plain file."""
        try:
            seen = _signature(os.stat(path, follow_symlinks=False))
        except OSError as exc:
            _raise_unless_gone(path, exc)
            return None
        cached = self._files.get(path)
        if cached is not None and cached[0] == seen:
            return cached[1]
        try:
            seen, text = _read_file(path)
        except OSError as exc:
            return None if exc.errno in _GONE else parse("")
        value = parse(text)
        if _is_settled(seen):
            if len(self._files) >= _MOST_CACHED:
                self._files.clear()
            self._files[path] = (seen, value)
        return value

    @contextmanager
    def writing(self, *, create: bool = False) -> Iterator[Writer]:
        """Hold the lock and write. ``create`` makes the folder where there is none; without, there may be nothing to lock.

        Raises LockTimeout after a bounded wait, StateError when the folder can't be made or written.
        """
        data_dir = self._data_dir()
        if create:
            _make(data_dir)
        elif not self.folders():
            yield Writer(self, ())
            return
        with locked(os.path.join(data_dir, _LOCK)):
            folders = _list_folders(data_dir)
            if create and not folders:
                _make(os.path.join(data_dir, _FOLDER + secrets.token_hex(16)))
                folders = _list_folders(data_dir)
            yield Writer(self, folders)


class Writer:
    """Changes to the state, under its lock. Everything is written to a file of its own and renamed into place."""

    def __init__(self, store: Store, folders: tuple[Folder, ...]) -> None:
        self._store = store
        self.folders = folders

    @property
    def folder(self) -> Folder:
        """Where new records go."""
        return self.folders[0]

    def find(self, folder: Folder, hashed: str) -> Found:
        """The record a key points to. A well-formed key without its record means nothing, and is removed."""
        found = self._store.follow(folder, hashed)
        if found is None:
            remove(folder.key_path(hashed))
        return found

    def follow(self, folder: Folder, hashed: str) -> Found:
        return self._store.follow(folder, hashed)

    def load(self, folder: Folder, record_id: str) -> Found:
        return self._store.load(folder, record_id)

    def touch(self, folder: Folder, record_id: str) -> None:
        """Note that a session was seen, at most once a day."""
        if not self._store.was_noted(folder, record_id):
            with suppress(OSError):
                os.utime(folder.record_path(record_id))

    def pointed_to(self, folder: Folder, hashed: str) -> str | None:
        """The record id in a key file, whether or not there is such a record; None without a well-formed key."""
        return self._store.record_id(folder, hashed) or None

    def put_record(self, folder: Folder, record: SessionRecord) -> None:
        """Store the record. Raises StateError, and leaves the old one as it was, when that fails."""
        path, text = folder.record_path(record.id), to_text(record)
        if len(text) > MOST_BYTES:
            raise StateError(path, f"the record would be larger than {MOST_BYTES} bytes")
        _write_whole(path, text)

    def put_key(self, folder: Folder, hashed: str, record_id: str) -> None:
        """Let a key point to a record. Raises StateError."""
        _write_whole(folder.key_path(hashed), f"{record_id}\n{checksum(record_id)}\n")

    def drop_record(self, folder: Folder, record_id: str) -> bool:
        return remove(folder.record_path(record_id))

    def drop_key(self, folder: Folder, hashed: str) -> bool:
        return remove(folder.key_path(hashed))


def remove(path: str) -> bool:
    """Unlink a file; whether it is gone now. Works on a full disk."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _read_file(path: str) -> tuple[tuple[int, ...], str]:
    """Signature and text of a file, bounded, through no link and without waiting for a pipe's other end."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        return _signature(status), ""
    with os.fdopen(descriptor, "rb") as file:
        return _signature(status), file.read(MOST_BYTES + 1).decode("utf-8", "replace")


def _parse_key(text: str) -> str:
    """The record id of a key file; "" when it is damaged."""
    lines = text.split("\n")
    well_formed = len(lines) == 3 and not lines[2] and is_id(lines[0]) and checksum(lines[0]) == lines[1]
    return lines[0] if well_formed else ""


def _write_whole(path: str, text: str) -> None:
    temporary = f"{path}.{secrets.token_hex(4)}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            _write_all(descriptor, text.encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
        sync_folder(os.path.dirname(path))
    except OSError as exc:
        remove(temporary)
        raise StateError(path, exc.strerror or str(exc)) from exc


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data):]


def _make(path: str) -> None:
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
    except OSError as exc:
        raise StateError(path, exc.strerror or str(exc)) from exc


def _list_folders(data_dir: str) -> tuple[Folder, ...]:
    try:
        names = sorted(os.listdir(data_dir))
    except OSError as exc:
        _raise_unless_gone(data_dir, exc)
        return ()
    return tuple(Folder(os.path.join(data_dir, name), match[1].encode()) for name in names if (match := _IS_FOLDER.match(name)))


def _raise_unless_gone(path: str, exc: OSError) -> None:
    if exc.errno not in _GONE:
        raise StateError(path, exc.strerror or str(exc)) from exc


def _signature(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _is_settled(signature: tuple[int, ...]) -> bool:
    """Whether a file with these times is old enough for a later write to show in them."""
    return time.time_ns() - max(signature[3], signature[4]) > _YOUNG_NS
