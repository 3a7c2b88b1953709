"""Relative paths of edits are made absolute before anybody judges them, against the folder that the host would use.

In plan mode they stay as they are, and are refused: its plans have one place. Where the folder can't be told they stay, too.
"""

from __future__ import annotations

from typing import Any

from ..controller import Desk
from ..facts import completed
from ..host import workspace
from ..policy.catalogue import WRITERS, canonical
from .quiet import quiet


class RelativePaths:
    """The callback of ``tool_request``."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @quiet
    def tool_request(self, tool_name: Any = "", args: Any = None, session_id: Any = "", task_id: Any = "", **_: Any) -> Any:
        """The call's arguments with absolute paths, or None where nothing is to be changed. Never raises."""
        if canonical(str(tool_name)) not in WRITERS or type(args) is not dict:
            return None
        mode = self._desk.judge.standing(self._desk.where.place(session_id)).mode
        if mode is None:
            return None
        task = task_id if isinstance(task_id, str) and task_id else "default"
        changed = completed(mode, str(tool_name), args, lambda: workspace.task_folder(task),
                            lambda: workspace.works_remotely(self._desk.backend))
        return {"args": changed} if changed != args else None
