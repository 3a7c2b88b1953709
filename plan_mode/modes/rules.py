"""A mode's rules: text files in folders named after it, read for the model beside the mode's own instructions."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ..text import visible
from .sources import Scope, is_below, is_home_of

MOST_FILES: Final = 200
MOST_FOLDERS: Final = 500
"""Folders that are looked into below one folder of rules."""

MOST_OF_ONE: Final = 64 * 1024
MOST_OF_ALL: Final = 256 * 1024
"""Characters."""

_LEFT_OUT: Final = (".bak", ".cache", ".crdownload", ".db", ".dmp", ".dump", ".eml", ".lock", ".log", ".old", ".part", ".partial",
                    ".pyc", ".pyo", ".stackdump", ".swo", ".swp", ".temp", ".tmp", "~")
"""Endings of what other programs leave in a folder."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One file of rules. ``name`` is its path below the folder it was found in, with ``/``."""

    name: str
    text: str
    scope: Scope


@dataclass(frozen=True, slots=True)
class Rules:
    """What was found, and what couldn't be read: each fault says which file, why, and what becomes of it."""

    texts: tuple[Rule, ...] = ()
    faults: tuple[str, ...] = ()


_MOST_BYTES_OF_A_NAME: Final = 255
_NEVER_NAMES: Final = tuple((re.compile(pattern), reason) for pattern, reason in (
    (r"\Z", "it names no file"),
    (r"/|[A-Za-z]:", "it is absolute"),
    (r".*\\", "a backslash stands in it"),
    (r"(?:.*/)?\.\.(?:/|\Z)", "it leads out of the folder of rules"),
    (r"(?:.*/)?\.", "what begins with a dot is left out"),
))


def name_fault(untrusted_name: str) -> str:
    """Why no file of rules can have that path below its folder, with ``/``; "" where one can. Completes "because ..."."""
    if visible(untrusted_name) != untrusted_name or any(sign in untrusted_name for sign in "\n\t"):
        return "a control character stands in it"
    for pattern, reason in _NEVER_NAMES:
        if pattern.match(untrusted_name):
            return reason
    if untrusted_name.lower().endswith(_LEFT_OUT):
        return "what ends like this is left out, as other programs leave it behind"
    longest = max(len(name.encode()) for name in untrusted_name.split("/"))
    return "a name in it is too long" if longest > _MOST_BYTES_OF_A_NAME else ""


def folders_of(slug: str, trusted_home: str, project: str) -> tuple[tuple[str, Scope], ...]:
    """The folders of a mode's rules, in the order in which they are read."""
    name = f"rules-{slug}"
    found: list[tuple[str, Scope]] = [(os.path.join(trusted_home, name), "home")]
    if project and not is_home_of(trusted_home, project):
        found += [(os.path.join(project, parent, name), "project") for parent in (".hermes", ".roo")]
    return tuple(found)


def read_rules(slug: str, trusted_home: str, project: str) -> Rules:
    """The rules of a mode: all text files of its folders, by name, those of the home first. Never raises.

    A link that leads out of its folder is not followed; what is too long is cut off, and said to be. It costs little whatever
    lies there: of no file more is read than there is room for, and nothing where none is left.
    """
    texts: list[Rule] = []
    faults: list[str] = []
    room = MOST_OF_ALL
    for folder, scope in folders_of(slug, trusted_home, project):
        if scope == "project" and not is_below(folder, project):
            faults.append(f"{folder} leads out of the project; it is left out.")
            continue
        for path in _files(folder, faults):
            if not room:
                faults.append(f"{path} and all rules after it are left out, because the {MOST_OF_ALL} characters that rules may "
                              "have are used up. Shorten those before it.")
                return Rules(tuple(texts), tuple(faults))
            most = min(room, MOST_OF_ONE)
            try:
                text = _read(path, most + 1)
            except (OSError, UnicodeDecodeError) as exc:
                faults.append(f"{path} can't be read ({_why(exc)}); it is left out.")
                continue
            if len(text) > most:
                faults.append(f"{path} is longer than what is left of {MOST_OF_ALL} characters ({MOST_OF_ONE} a file); "
                              "its end is left out.")
                text = text[:most]
            room -= len(text)  # blank text as well: reading it takes as long
            if text.strip():
                texts.append(Rule(os.path.relpath(path, folder).replace(os.sep, "/"), text, scope))
    return Rules(tuple(texts), tuple(faults))


def _files(folder: str, faults: list[str]) -> Iterator[str]:
    """The files below a folder that hold rules, sorted by their path in it."""
    if not os.path.isdir(folder):
        return
    found: list[str] = []
    unlisted: list[str] = []
    left, crowded = MOST_FOLDERS, False
    for parent, folders, names in os.walk(folder, onerror=lambda exc: unlisted.append(str(exc.filename))):
        known = sorted(name for name in folders if not name.startswith("."))
        folders[:] = known[:left]
        crowded = crowded or len(known) > left
        left -= len(folders)
        found += [os.path.join(parent, name) for name in names
                  if not name.startswith(".") and not name.lower().endswith(_LEFT_OUT)]
        if len(found) > MOST_FILES:
            faults.append(f"{folder} holds more than {MOST_FILES} files; the rest is left out.")
            break
    if crowded:
        faults.append(f"{folder} holds more than {MOST_FOLDERS} folders; the rest is left out.")
    faults += [f"{path} can't be listed; it is left out." for path in unlisted]
    for path in sorted(found)[:MOST_FILES]:
        if is_below(path, folder):
            yield path
        else:
            faults.append(f"{path} leads out of its folder; it is left out.")


def _read(path: str, most: int) -> str:
    """The first ``most`` characters of a plain file. Raises OSError, UnicodeDecodeError."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, encoding="utf-8", newline="") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it isn't a plain file")
        return file.read(most)


def _why(exc: Exception) -> str:
    return "it isn't UTF-8 text" if isinstance(exc, UnicodeDecodeError) else (getattr(exc, "strerror", None) or str(exc))
