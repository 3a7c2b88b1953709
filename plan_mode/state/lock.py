"""An inter-process lock with a bounded wait."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ..errors import LockTimeout, StateError

WAIT: Final = 1.0
"""Longest wait in seconds."""

_POLL: Final = 0.01
_HELD: Final = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)

if os.name == "nt":  # pragma: no cover - the other half runs in our tests
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def locked(path: str, wait: float = WAIT) -> Iterator[None]:
    """Hold the lock file at ``path``, against other threads and processes alike.

    Raises LockTimeout after ``wait`` seconds, StateError when the file can't be opened or locked. The lock goes with
    the process, however it ends.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as exc:
        raise StateError(path, exc.strerror or str(exc)) from exc
    try:
        _acquire(descriptor, path, wait)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, path: str, wait: float) -> None:
    give_up = time.monotonic() + wait
    while True:
        try:
            return _try_lock(descriptor)
        except OSError as exc:
            if exc.errno not in _HELD:
                raise StateError(path, exc.strerror or str(exc)) from exc
            if time.monotonic() >= give_up:
                raise LockTimeout(path, f"another process has held it for {wait:g} s; nothing was changed, try again") from exc
            time.sleep(_POLL)
