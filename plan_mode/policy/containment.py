"""Does an untrusted path stay below a trusted folder? Lexically, really, and by link count."""

from __future__ import annotations

import errno
import os
import re
import stat
from dataclasses import dataclass
from typing import Final

MOST_BYTES: Final = 4096
MOST_BYTES_OF_A_NAME: Final = 255
MOST_NAMES: Final = 64
"""Folders that a path may go through; each is looked at, and the time for it is bounded."""

MOST_LINKS: Final = 40
"""Links that a path may follow, one after another: as many as Linux follows."""

_PROC: Final = "/proc"

# Control characters, and the invisible ones that turn text around: none has business in a file name we are handed.
_UNSHOWABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Inside:
    """The target lies below the root. ``real`` is its real path; ``exists`` whether a regular file stands there.

    ``names``: its paths below a project's root, as it was named and as it really is, with ``/``.
    """

    real: str
    exists: bool
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outside:
    """The target must not be written: ``rule`` is the stable name of the reason, ``reason`` completes "because ..."."""

    rule: str
    reason: str


def contain(untrusted_path: object, trusted_root: str) -> Inside | Outside:
    """Judge one write target against ``trusted_root``, an absolute real path.

    Refuses rather than repairs: relative paths, ``..``, links of either kind below the root, special files, dot
    folders, unshowable or over-long names. A link above the root is the user's own affair and is followed.
    Source of the rule: design of the plan directory.
    Does not: promise anything about the moment after it returned; a process that may write below the root can
    swap a folder for a link.
    """
    if not trusted_root or not os.path.isabs(trusted_root):
        return Outside("no-plan-directory", "this session has no plan directory")
    reached = _reached(untrusted_path, trusted_root)
    if isinstance(reached, Outside):
        return reached
    path, real = reached
    if not _is_below(real, trusted_root):
        return Outside("outside-plans", f"{path!r} isn't below {trusted_root}")
    if any(part.startswith(".") for part in real[len(trusted_root):].split(os.sep)[:-1]):
        return Outside("dot-folder", f"{path!r} lies in a folder whose name starts with a dot")
    return judge_entry(real)


def locate(untrusted_path: object, trusted_root: str) -> Inside | Outside:
    """Judge one write target against a project's root, an absolute real path.

    As named and as it really is, the target must lie below the root; links and dot folders there are the project's own
    affair, since a rule sees both paths. Refuses relative paths, ``..``, ways through /proc, hard links and special files.
    Does not: promise anything about the moment after it returned.
    """
    if not trusted_root or not os.path.isabs(trusted_root):
        return Outside("no-project", "this session's project isn't known")
    reached = _reached(untrusted_path, _PROC)
    if isinstance(reached, Outside):
        return reached
    path, real = reached
    named = _name_below(path, trusted_root)
    if named is None or not _is_below(real, trusted_root):
        return Outside("outside-project", f"{path!r} isn't below {trusted_root}")
    judged = judge_entry(real)
    if isinstance(judged, Outside):
        return judged
    return Inside(real, judged.exists, (named, os.path.relpath(real, trusted_root).replace(os.sep, "/")))


def absolute(untrusted_path: object) -> str | Outside:
    """The path, if it is absolute text without ``..``; else why it isn't one that can be judged."""
    path = as_path(untrusted_path)
    if isinstance(path, Outside):
        return path
    if os.sep != "/":
        return Outside("unsupported-system", "only paths of a POSIX system can be checked")
    if not os.path.isabs(path):
        return Outside("not-absolute", f"{path!r} isn't an absolute path")
    if ".." in path.split(os.sep):
        return Outside("dot-dot", f"{path!r} holds '..'")
    return path


def _reached(untrusted_path: object, unlinked: str) -> tuple[str, str] | Outside:
    """The path and where it really leads, without a link below the folder that must have none."""
    path = absolute(untrusted_path)
    if isinstance(path, Outside):
        return path
    try:
        link, real = _follow(path, unlinked)
    except OSError:
        return Outside("unreadable-path", f"{path!r} can't be followed to its end")
    if link is not None:
        return Outside("symlink", f"{link!r} is a symbolic link")
    return misread(path, real) or (path, real)


def misread(path: str, real: str) -> Outside | None:
    """What speaks against the place that a path leads to: some hosts put it into a patch instead, and read that anew."""
    shown = as_path(real)
    if isinstance(shown, Outside):
        return shown
    if (real != real.strip() and path == path.strip()) or ("->" in real and "->" not in path):
        return Outside("unshowable-path", f"{path!r} leads to a name that could be read as another one")
    return None


def _name_below(path: str, trusted_root: str) -> str | None:
    """What an absolute path says of the way from the root on; None where it doesn't lead through the root."""
    names = [name for name in path.split(os.sep) if name not in ("", ".")]
    for number in range(len(names)):
        if os.path.realpath(os.sep + os.sep.join(names[:number])) == trusted_root:
            return "/".join(names[number:])
    return None


def as_path(untrusted_path: object) -> str | Outside:
    """The path as text that the system can be asked about in bounded time, or why it isn't.

    Takes ``str`` itself only: a subclass may show one path here and another to whoever opens it.
    Does not: say where the path leads, or whether it is absolute.
    """
    if type(untrusted_path) is not str or not untrusted_path:
        return Outside("no-path", "the call names no file as text")
    too_long = Outside("path-too-long", "the path or a name in it is too long, or it goes through too many folders")
    if len(untrusted_path) > MOST_BYTES:
        return too_long
    if _UNSHOWABLE.search(untrusted_path):
        return Outside("unshowable-path", "the path holds a control or text-direction character")
    try:
        encoded = untrusted_path.encode()
    except UnicodeEncodeError:
        return Outside("unshowable-path", "the path holds characters that no file name can have")
    names = encoded.split(b"/", MOST_NAMES)
    if len(encoded) > MOST_BYTES or len(names) > MOST_NAMES or max(map(len, names)) > MOST_BYTES_OF_A_NAME:
        return too_long
    return untrusted_path


def _is_below(path: str, trusted_root: str) -> bool:
    return path != trusted_root and os.path.commonpath([path, trusted_root]) == trusted_root


def _follow(path: str, unlinked: str) -> tuple[str | None, str]:
    """The first symbolic link of an absolute path that stands in that folder or below it; else None, and the real path.

    One in /proc counts as well: behind it another process, such as the host's own shell, finds something else. Each step of
    a link's own target is looked at in the same way. Raises OSError where links lead in a circle.
    """
    here, links, ahead = os.sep, 0, path.split(os.sep)[::-1]
    while ahead:
        name = ahead.pop()
        if name in ("", "."):
            continue
        entry = os.path.dirname(here) if name == ".." else os.path.join(here, name)
        if not os.path.islink(entry):
            here = entry
        elif any(here == place or _is_below(here, place) for place in (unlinked, _PROC)):
            return entry, entry
        elif links == MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), entry)
        else:
            links += 1
            target = os.readlink(entry)
            here = os.sep if os.path.isabs(target) else here
            ahead += target.split(os.sep)[::-1]
    return None, here


def judge_entry(real: str) -> Inside | Outside:
    """Whether a real path leads to a file of one name, or to nothing yet. Does not: say where it lies."""
    try:
        entry = os.lstat(real)
    except FileNotFoundError:
        return Inside(real, False)
    except OSError as exc:
        return Outside("unreadable-path", f"{real!r} can't be looked at ({exc.strerror})")
    if not stat.S_ISREG(entry.st_mode):
        return Outside("not-a-file", f"{real!r} isn't a regular file")
    if entry.st_nlink > 1:
        return Outside("hard-link", f"{real!r} has a second name elsewhere (hard link)")
    return Inside(real, True)
