"""Which folder is the project of a session? Found without running git."""

from __future__ import annotations

import os
from typing import Final

MOST_STEPS: Final = 64


def project_root(cwd: str) -> str:
    """The nearest folder, from the real ``cwd`` upwards, that holds ``.git`` and belongs to this user; else ``cwd`` itself.

    A file of that name counts as a folder does: worktrees and submodules have one. "" for a ``cwd`` that isn't a folder.
    Does not: ask whether the repository is a sound one.
    """
    if not cwd or not os.path.isdir(cwd):
        return ""
    start = here = os.path.realpath(cwd)
    for _ in range(MOST_STEPS):
        if _is_marked(here):
            return here
        parent = os.path.dirname(here)
        if parent == here:
            break
        here = parent
    return start


def _is_marked(folder: str) -> bool:
    """Somebody else's folder above, such as /tmp with a .git that anybody may have put there, makes nobody's project."""
    try:
        owners = {os.stat(folder).st_uid, os.lstat(os.path.join(folder, ".git")).st_uid}
    except OSError:
        return False
    return os.name == "nt" or owners == {os.getuid()}
