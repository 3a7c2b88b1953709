"""Several files and folders put in their places at once: all of them, or none.

Everything is written beside its place first, so that what remains are renames on one file system; if one fails, those
before it are undone. Each file is always whole. A crash in between can leave some in their places and others not, and what
was to be replaced by a folder under a name that begins with a dot and ends in ``.tmp``.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from ..disk import sync_folder
from ..errors import Refusal


@dataclass(frozen=True, slots=True)
class Placed:
    """What shall stand at ``path``: a file with this text, or a folder with these files (path below it, text) and no others."""

    path: str
    content: str | Mapping[str, str]


def place(wanted: Sequence[Placed]) -> None:
    """Put everything in its place, in this order, and take away what stands there now.

    Raises Refusal if that fails; then nothing has changed, or it says what has.
    Does not: look where links lead, or keep another process from writing at the same time.
    """
    mark = secrets.token_hex(4)
    asides: list[str] = []
    stuck: dict[str, str] = {}
    path = ""
    try:
        with ExitStack() as undo:
            ready = []
            for each in wanted:
                path = each.path
                _make_folders(os.path.dirname(path), undo)
                ready.append(_beside(path, f"{mark}.new"))
                undo.callback(_remove, ready[-1])
                _write(ready[-1], each.content)
            for each, new in zip(wanted, ready, strict=True):
                path = each.path
                if os.path.lexists(path):
                    asides.append(_beside(path, f"{mark}.old"))
                    _set_aside(path, asides[-1], undo, stuck)
                os.replace(new, path)
                undo.callback(_remove, path)
            for folder in {os.path.dirname(each.path) for each in wanted}:
                sync_folder(folder)
            undo.pop_all()
    except OSError as exc:
        raise _refusal(path, exc, stuck) from exc
    for aside in asides:
        _remove(aside)


def _beside(path: str, mark: str) -> str:
    """A name in the same folder that nobody takes for a mode file or for rules."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.{mark}.tmp")


def _make_folders(folder: str, undo: ExitStack) -> None:
    folder = os.path.abspath(folder)
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for each in reversed(missing):
        os.mkdir(each)
        undo.callback(_remove_folder, each)


def _write(path: str, content: str | Mapping[str, str]) -> None:
    if isinstance(content, str):
        with open(path, "x", encoding="utf-8", newline="") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return
    os.mkdir(path)
    for name, text in content.items():
        inner = os.path.join(path, *name.split("/"))
        os.makedirs(os.path.dirname(inner), exist_ok=True)
        _write(inner, text)


def _set_aside(path: str, aside: str, undo: ExitStack, stuck: dict[str, str]) -> None:
    """Keep what stands at a place under another name; a file stays in its place as well, where the file system can do that."""
    def put_back() -> None:
        try:
            os.replace(aside, path)
        except OSError:
            stuck[path] = aside
        else:
            _remove(aside)  # a rename between two names of one file leaves both
    try:
        os.link(path, aside, follow_symlinks=False)
    except OSError:
        os.replace(path, aside)
    undo.callback(put_back)


def _remove(path: str) -> None:
    with suppress(OSError):
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)


def _remove_folder(path: str) -> None:
    with suppress(OSError):
        os.rmdir(path)


def _refusal(path: str, exc: OSError, stuck: Mapping[str, str]) -> Refusal:
    why = f"{path} can't be written ({exc.strerror or exc})"
    if not stuck:
        return Refusal("not-written", f"Nothing was changed: {why}.", "Make room, or have the folder writable, and try again.")
    return Refusal("not-undone", f"It was broken off, because {why}, and not all of it could be undone.",
                   " ".join(f"What was {before} is {aside} now: rename it." for before, aside in stuck.items()))
