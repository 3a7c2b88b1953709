"""The plan directory and the plan files in it: fix, verify, read, name."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
import unicodedata
from dataclasses import dataclass
from typing import Final

from .errors import Refusal
from .policy.containment import MOST_BYTES_OF_A_NAME, Outside, as_path

MOST_BYTES: Final = 1024 * 1024
MOST_OF_A_TITLE: Final = 256

_FOLDERS: Final = (".hermes", "plans")
_ELSEWHERE: Final = "Remove it, or set terminal.cwd in config.yaml to another folder and start Hermes again."


@dataclass(frozen=True, slots=True)
class PlanText:
    """A plan file as it is on disk. ``modified`` is in seconds since the epoch."""

    path: str
    text: str
    digest: str
    size: int
    modified: float


def fix_plan_directory(cwd: str) -> str:
    """Make ``<real cwd>/.hermes/plans`` and return its real path.

    Raises Refusal when there is no working folder, its name would have every plan denied, a link stands in the way, or
    it can't be made.
    """
    if not cwd or not os.path.isdir(cwd):
        raise Refusal("no-cwd", "The session's working folder isn't known, so there is no place for plans.",
                      "Set terminal.cwd in config.yaml to an existing folder and start Hermes again.")
    root = plan_directory(cwd)
    usable = as_path(os.path.join(root, "x" * MOST_BYTES_OF_A_NAME))
    if isinstance(usable, Outside):
        raise Refusal("plan-directory", f"No plan could be written below {root!r}, because {usable.reason}.",
                      "Set terminal.cwd in config.yaml to another folder and start Hermes again.")
    _refuse_links(root)
    try:
        os.makedirs(root, exist_ok=True)
    except OSError as exc:
        raise Refusal("no-plan-directory", f"The plan directory {root} can't be made: {exc.strerror}.", _ELSEWHERE) from exc
    fault = directory_fault(root)
    if fault:
        raise Refusal("plan-directory", f"Plans can't be kept safely: {fault}.", _ELSEWHERE)
    return root


def plan_directory(cwd: str) -> str:
    """Where the plans of a session in that folder belong. Makes nothing."""
    return os.path.join(os.path.realpath(cwd), *_FOLDERS)


def directory_fault(root: str) -> str:
    """Why the plan directory isn't the one that was fixed, or "". Looked at again before each write."""
    real = os.path.realpath(root)
    if real != root:
        link = next(filter(os.path.islink, (os.path.dirname(root), root)), None)
        return f"{link} is a symbolic link" if link else f"{root} leads to another place, {real}"
    return f"{root} isn't a folder" if os.path.exists(root) and not os.path.isdir(root) else ""


def _refuse_links(root: str) -> None:
    for path in (os.path.dirname(root), root):
        if os.path.islink(path):
            raise Refusal("plan-directory", f"Plans can't be kept safely: {path} is a symbolic link.", _ELSEWHERE)


def read_plan(path: str) -> PlanText:
    """The plan file at ``path``, through no link, at most 1 MiB of valid UTF-8.

    Raises Refusal when it isn't there, isn't such a file, or is empty.
    """
    try:
        if os.path.realpath(path) != path:
            raise Refusal("plan-not-a-file", f"The plan {path} is reached through a symbolic link.",
                          "Ask the agent to write a new plan.")
        with open(path, "rb", opener=_open_plainly) as file:
            status = os.fstat(file.fileno())
            data = file.read(MOST_BYTES + 1) if stat.S_ISREG(status.st_mode) else None
    except OSError as exc:
        raise Refusal("plan-unreadable", f"The plan {path} can't be read: {exc.strerror}.",
                      "Ask the agent to write it again, or name another one.") from exc
    if data is None or status.st_nlink > 1:
        raise Refusal("plan-not-a-file", f"{path} isn't a plain file with one name.", "Ask the agent to write a new plan.")
    if len(data) > MOST_BYTES:
        raise Refusal("plan-too-large", f"The plan {path} is larger than 1 MiB.", "Ask the agent for a shorter one.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise Refusal("plan-not-text", f"The plan {path} isn't valid UTF-8 text.", "Ask the agent to write it again.") from exc
    if not text.removeprefix("\ufeff").strip():
        raise Refusal("plan-empty", f"The plan {path} is empty.", "Ask the agent to write it.")
    return PlanText(path, text, digest_of(data), len(data), status.st_mtime)


def _open_plainly(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def digest_of(data: bytes) -> str:
    """What identifies the bytes of a plan: SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def plan_name(title: str, at: float) -> str:
    """A file name for a plan: local date and time, then words from the beginning of the title."""
    plain = unicodedata.normalize("NFKD", title[:MOST_OF_A_TITLE]).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-") or "plan"
    return time.strftime("%Y-%m-%d_%H%M%S", time.localtime(at)) + f"-{slug}.md"
