"""Small files that are written whole: whoever reads one finds the old content or the new."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress

from .errors import StateError


def write_whole(path: str, text: str) -> None:
    """Write a file beside its place and rename it into it; its folder is made. Raises StateError, and leaves nothing then.

    Does not: keep other processes from doing the same; the last one's content stays.
    """
    temporary = f"{path}.{secrets.token_hex(4)}.tmp"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(temporary, "x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as exc:
        with suppress(OSError):
            os.unlink(temporary)
        raise StateError(path, exc.strerror or str(exc)) from exc


def sync_folder(path: str) -> None:
    """Make a rename last. Some systems can't open a folder; there the rename lasts when the system says so."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
