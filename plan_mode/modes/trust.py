"""Which definitions of projects a person has vouched for: by digest, so that another text is another matter."""

from __future__ import annotations

import os
import re
from typing import Final

_DIGEST: Final = re.compile(r"[0-9a-f]{64}\Z")
MOST_BYTES: Final = 1024 * 1024


def is_trusted(trusted_file: str, digest: str) -> bool:
    """Whether a person has said so before. A file that can't be read vouches for nothing."""
    return digest in _digests(trusted_file)


def trust(trusted_file: str, digest: str) -> None:
    """Remember it. One line, appended at once, so that two processes don't lose each other's. Raises OSError."""
    if not _DIGEST.match(digest):
        raise ValueError(f"{digest!r} is no digest")
    if is_trusted(trusted_file, digest):
        return
    os.makedirs(os.path.dirname(trusted_file), exist_ok=True)
    descriptor = os.open(trusted_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        os.write(descriptor, f"\n{digest}\n".encode())  # whatever an interrupted write left before it
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _digests(trusted_file: str) -> frozenset[str]:
    try:
        with open(trusted_file, encoding="ascii", errors="replace") as file:
            return frozenset(line for line in file.read(MOST_BYTES).split("\n") if _DIGEST.match(line))
    except OSError:
        return frozenset()
