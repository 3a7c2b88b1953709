"""Are the patterns of mode files what their authors meant? Each is tried on the files that a project really has."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from .jsregex import Pattern

MOST_FILES: Final = 20_000
MOST_SECONDS: Final = 10.0
"""For one pattern; what it wasn't tried on by then isn't counted."""

_MOST_TRIED: Final = 200
"""Matching files that are looked at closely."""

_SKIPPED: Final = frozenset({
    ".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".nox", ".hypothesis", ".gradle",
    ".terraform"})

# An author who begins like this has thought of where a path begins.
_SAYS_WHERE: Final = re.compile(r"(?:\(\?i\))?(?:\^[^|]*\Z|\(*(?:\?:)?\.[*+])")
_LITERAL: Final = re.compile(r"(?:\\?[\w./ -])+/")
_ESCAPED: Final = re.compile(r"\\[^/]|\[(?:\\.|[^\]\\])*\]")
_GLOBS: Final = tuple((re.compile(pattern), told) for pattern, told in (
    (r"/\*", "/* means any number of slashes in a regular expression; any name is /[^/]*, and anything below is /.*"),
    (r"\{(?![\d,]*\})[\w.]+(?:,[\w.]+)+\}", "braces mean how often in a regular expression; one of several is (a|b)"),
    (r"\A/.+/[dgimsuvy]*\Z", "slashes around it belong to the pattern; leave them out, and the letters behind them"),
))


@dataclass(frozen=True, slots=True)
class Files:
    """Paths from the root of a project, with ``/``; ``whole``: there are no others."""

    names: tuple[str, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class Trial:
    """What a pattern does to the files of a project: how many it was tried on, how many match, one of them, and what is odd."""

    tried: int
    matching: int
    example: str
    doubts: tuple[str, ...]


def files_of(project: str) -> Files:
    """The files of a project, without what tools and version control keep there. Follows no links to folders."""
    found: list[str] = []
    for parent, folders, names in os.walk(project):
        folders[:] = sorted(name for name in folders if not _is_skipped(name))
        below = os.path.relpath(parent, project).replace(os.sep, "/")
        found += [name if below == "." else f"{below}/{name}" for name in sorted(names)]
        if len(found) > MOST_FILES:
            return Files(tuple(found[:MOST_FILES]), False)
    return Files(tuple(found), True)


def _is_skipped(folder: str) -> bool:
    return folder in _SKIPPED or (folder.startswith(".") and "cache" in folder)


def tried(pattern: Pattern, files: Files) -> Trial:
    """What comes of trying a pattern on those files."""
    deadline = time.monotonic() + MOST_SECONDS
    count, matching = 0, []
    for name in files.names:
        if time.monotonic() > deadline:
            break
        count += 1
        if pattern.matches(name):
            matching.append(name)
    doubts = [] if matching else [f"it matches none of the {'' if files.whole and count == len(files.names) else 'first '}"
                                  f"{count} files of this project"]
    doubts += islice(_unanchored(pattern, matching), 1)
    bare = _ESCAPED.sub("", pattern.source).replace("\\/", "/")
    doubts += [told for glob, told in _GLOBS if glob.search(bare)]
    return Trial(count, len(matching), matching[0] if matching else "", tuple(doubts))


def _unanchored(pattern: Pattern, matching: list[str]) -> Iterator[str]:
    """A folder that the pattern names matches below any other folder as well, and as the end of another name."""
    if _SAYS_WHERE.match(pattern.source):
        return
    literal = _LITERAL.match(pattern.source)
    for name in (*matching[:_MOST_TRIED], *([literal[0].replace("\\", "") + "x"] if literal else [])):
        shortest = _shortest(pattern, name)
        if "/" in shortest and pattern.matches(f"other/{shortest}") and pattern.matches(f"x{shortest}"):
            yield (f"it isn't anchored: other/{shortest} and x{shortest} match as well; begin it with ^ for a folder at the top, "
                   "with (^|/) for one at any depth")


def _shortest(pattern: Pattern, name: str) -> str:
    """The shortest end of a path, of whole names, that matches by itself; "" where none does."""
    names = name.split("/")
    ends = ("/".join(names[number:]) for number in reversed(range(len(names))))
    return next(filter(pattern.matches, ends), "")
