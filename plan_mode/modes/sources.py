"""Where mode files may lie, the weakest first: a later one replaces the modes of an earlier one, whole.

Files of the Hermes home are the user's own. Files of a project are somebody else's text.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

MOST_FILES: Final = 256
"""Mode files that are read from one folder."""

MOST_BYTES: Final = 2 * 1024 * 1024

_PROJECT_FILES: Final = (".roomodes", ".hermes-modes.yaml")
_FOLDER: Final = "modes"
_ENDINGS: Final = (".yaml", ".yml", ".json")

Scope = Literal["home", "project"]


@dataclass(frozen=True, slots=True)
class Source:
    """One mode file. ``seen`` identifies its content without reading it; it changes when the file is another one.

    ``stray``: a link leads from a project out of it, so it is nobody's to read in the project's name.
    """

    path: str
    scope: Scope
    seen: tuple[int, ...]
    stray: bool = False


def sources_of(trusted_home: str, project: str) -> tuple[Source, ...]:
    """Every mode file there is for a session in ``project`` ("" without one), in order. Reads none of them.

    Those of the home may be links to anywhere; a project's file that is one out of the project, or lies in a folder that is,
    is stray. The project's are skipped where its ``.hermes`` is the Hermes home itself.
    """
    found = list(_in_folder(os.path.join(trusted_home, _FOLDER), "home"))
    if project and not is_home_of(trusted_home, project):
        for name in _PROJECT_FILES:
            found += _file(os.path.join(project, name), "project", project)
        found += _in_folder(os.path.join(project, ".hermes", _FOLDER), "project", project)
    return tuple(found)


def is_home_of(trusted_home: str, project: str) -> bool:
    """Whether the Hermes home is this project's own ``.hermes``: then nothing in it is the project's."""
    return os.path.realpath(os.path.join(project, ".hermes")) == os.path.realpath(trusted_home)


def is_below(path: str, folder: str) -> bool:
    """Whether a path really lies below a folder, whatever links lead to either."""
    return os.path.realpath(path).startswith(os.path.join(os.path.realpath(folder), ""))


def read_text(path: str) -> str:
    """The text of a mode file, as ``read_bytes`` reads it; what isn't UTF-8 becomes U+FFFD, which is found where it matters."""
    return read_bytes(path).decode("utf-8", "replace")


def read_bytes(path: str) -> bytes:
    """The bytes of a mode file, at most 2 MiB and one; never of anything but a plain file. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it isn't a plain file")
        return file.read(MOST_BYTES + 1)


def _in_folder(folder: str, scope: Scope, around: str = "") -> Iterator[Source]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(_ENDINGS) and not name.startswith("."))
    except OSError:
        return
    for name in names[:MOST_FILES]:
        yield from _file(os.path.join(folder, name), scope, around)


def _file(path: str, scope: Scope, around: str = "") -> Iterator[Source]:
    """The file, if there is one; it is stray where it doesn't lie below ``around`` ("": it may lie anywhere)."""
    try:
        status = os.stat(path)
    except OSError:
        return
    seen = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    yield Source(path, scope, seen, bool(around) and not is_below(path, around))
