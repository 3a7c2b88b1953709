"""Which definitions of projects a person has vouched for: by digest, so that another text is another matter."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_LINE: Final = re.compile(r"(?P<slug>[a-zA-Z0-9-]+) (?P<digest>[0-9a-f]{64})")
MOST_BYTES: Final = 1024 * 1024

Trusted = Mapping[str, frozenset[str]]
"""Slug -> the digests of its definitions that a person has vouched for."""


def trusted(trusted_file: str) -> Trusted:
    """All that a person has vouched for. A file that can't be read vouches for nothing."""
    try:
        with open(trusted_file, encoding="ascii", errors="replace") as file:
            lines = [_LINE.fullmatch(line) for line in file.read(MOST_BYTES).split("\n")]
    except OSError:
        return MappingProxyType({})
    found: dict[str, frozenset[str]] = {}
    for line in filter(None, lines):
        found[line["slug"]] = found.get(line["slug"], frozenset()) | {line["digest"]}
    return MappingProxyType(found)


def trust(trusted_file: str, slug: str, digest: str) -> None:
    """Remember it. One line, appended at once, so that two processes don't lose each other's. Raises OSError."""
    line = f"{slug} {digest}"
    if not _LINE.fullmatch(line):
        raise ValueError(f"{line!r} is no slug and digest")
    if digest in trusted(trusted_file).get(slug, ()):
        return
    os.makedirs(os.path.dirname(trusted_file), exist_ok=True)
    descriptor = os.open(trusted_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        os.write(descriptor, f"\n{line}\n".encode())  # whatever an interrupted write left before it
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
