"""Which files would this call write? Read from the arguments as the host reads them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

MOST_TARGETS: Final = 64

# The host's own header, with its leniency (blanks after *** are optional) and without its backtracking. It reads
# whole lines; so do we, over the whole text: what stands outside Begin/End markers is counted too. So is the "Move to" of
# other programs' patches, though this host passes it over: whoever writes it means that file.
_HEADER: Final = re.compile(
    r"^\*\*\*[^\S\n]*+(?:(Update|Add|Delete|Move)[^\S\n]++File|Move[^\S\n]++to):(.*)$", re.MULTILINE)


_SPEAKER: Final = "text_to_speech"
_SPOKEN: Final = "output_path"
"""Without it the host chooses a place of its own."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The files can't be told from the arguments; ``reason`` completes "because ..."."""

    reason: str


def read_targets(tool: str, untrusted_arguments: Mapping[str, object]) -> tuple[object, ...] | Unreadable:
    """Every file that a ``write_file`` or ``patch`` call names, as untrusted values, or why they can't be read.

    Source of the rule: the host takes ``path`` in replace mode (the default) and the V4A headers in patch mode.
    Values are handed on as they are; containment judges them, their type included.
    Does not: look at the disk, or at tools other than the catalogue's writers.
    """
    if tool == "write_file":
        return _one_path(untrusted_arguments)
    if tool == _SPEAKER:
        path = untrusted_arguments.get(_SPOKEN)
        return () if path in (None, "") else (path,)
    if tool != "patch":
        return Unreadable(f"it isn't known where {tool} writes")
    mode = untrusted_arguments.get("mode", "replace")
    if type(mode) is not str or mode not in ("replace", "patch"):
        return Unreadable("its mode is neither 'replace' nor 'patch'")
    if mode == "replace":
        return _one_path(untrusted_arguments)
    return _headers(untrusted_arguments.get("patch"))


def rewritten(tool: str, untrusted_arguments: Mapping[str, object], change: Callable[[str], str]) -> dict[str, object]:
    """The arguments with every file that ``read_targets`` finds in them changed; what can't be read is left as it is."""
    arguments = dict(untrusted_arguments)
    patch = arguments.get("patch")
    if tool == "patch" and arguments.get("mode") == "patch":
        if type(patch) is str:
            arguments["patch"] = _HEADER.sub(lambda header: _changed(header, change), patch)
        return arguments
    for name in (_SPOKEN,) if tool == _SPEAKER else ("path", "file_path"):
        path = arguments.get(name)
        if type(path) is str:
            arguments[name] = change(path)
    return arguments


def _changed(header: re.Match[str], change: Callable[[str], str]) -> str:
    line, rest = header.group(0), header.group(2)
    named = rest.strip()
    if header.group(1) == "Move":
        ends = _both_ends(named)
        new = " -> ".join(map(change, ends)) if all(ends) else named
    else:
        new = change(named) if named else named
    return f"{line[:len(line) - len(rest)]} {new}"


def _one_path(untrusted_arguments: Mapping[str, object]) -> tuple[object, ...] | Unreadable:
    """The host takes ``path``; what other programs call ``file_path`` must not say something else."""
    path, other = untrusted_arguments.get("path"), untrusted_arguments.get("file_path")
    if type(path) is str and other is not None and (type(other) is not str or other != path):
        return Unreadable("path and file_path name different files")
    return (path,)


def _headers(untrusted_patch: object) -> tuple[str, ...] | Unreadable:
    if type(untrusted_patch) is not str:
        return Unreadable("the patch isn't text")
    found: list[str] = []
    for header in _HEADER.finditer(untrusted_patch):
        action, rest = header.group(1), header.group(2).strip()
        paths = _both_ends(rest) if action == "Move" else (rest,)
        if not all(paths):
            return Unreadable("a file header in the patch names no file")
        found.extend(paths)
        if len(found) > MOST_TARGETS:
            return Unreadable(f"the patch names more than {MOST_TARGETS} files")
    return tuple(found) if found else Unreadable("the patch has no file header")


def _both_ends(move: str) -> tuple[str, str]:
    """The two ends of ``a -> b``; the first arrow that has something before it counts, as it does for the host."""
    arrow = move.find("->", 1)
    return ("", "") if arrow == -1 else (move[:arrow].strip(), move[arrow + 2:].strip())
