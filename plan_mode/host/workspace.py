"""The session's folder, and whether the host's file tools work on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

from .seams import seam

LOCAL: Final = frozenset({"", "local"})


def session_cwd(*, in_cli: bool) -> str:
    """The session's working folder as the host resolves it, else TERMINAL_CWD, else the CLI process's own.

    "" where none can be told: a server's own folder is nobody's.
    """
    resolve = seam("cwd")
    if resolve is not None:
        try:
            return str(resolve())
        except Exception:  # a deleted folder, or a host that refuses to say
            return ""
    named = os.environ.get("TERMINAL_CWD", "")
    if os.path.isabs(named) and os.path.isdir(named):
        return named
    if not in_cli:
        return ""
    try:
        return os.getcwd()
    except OSError:
        return ""


def task_folder(task_id: str) -> str:
    """The absolute folder against which the host's file tools resolve the relative paths of a task; "" if it can't be told."""
    resolve = seam("task_folder")
    if resolve is None:
        return ""
    try:
        folder = str(resolve(task_id))
    except Exception:  # a task or a back-end that the host itself can't place
        return ""
    return folder if os.path.isabs(folder) else ""


def works_remotely(configured_backend: Callable[[], str | None]) -> bool:
    """Whether the file tools of this process act on another machine or in a container; the environment wins."""
    named = os.environ.get("TERMINAL_ENV", "") or configured_backend() or ""
    return named.strip().lower() not in LOCAL
