"""What a verb comes to, and what verbs share: the folder and the project that are meant."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..controller import Desk
from ..errors import Refusal
from ..host import capabilities
from ..host.home import home
from ..host.seams import seam
from ..modes.faults import Fault
from ..modes.project import project_root


@dataclass(frozen=True, slots=True)
class Answer:
    """What is printed, and what the program exits with. ``notes`` aren't part of the text and go to standard error."""

    text: str
    code: int = 0
    notes: tuple[str, ...] = ()


Verb = Callable[[Desk, Namespace], Answer]


def folder(named: str | None) -> str:
    """The real path of a folder that was named, else of the current one. Raises Refusal."""
    try:
        path = os.path.realpath(named or os.getcwd())
    except OSError as exc:
        raise Refusal("no-folder", f"The current folder can't be used ({exc.strerror}).", "Go to another one.") from exc
    if not os.path.isdir(path):
        raise Refusal("no-folder", f"{named or path} isn't a folder.", "Name one that is there.")
    return path


def project(named: str | None) -> str:
    """The root of a project: the folder that was named, else that of the project around the current one. Raises Refusal."""
    return folder(named) if named else project_root(folder(None))


def unread_config() -> tuple[str, ...]:
    """A note where there is a config.yaml that didn't count, for verbs whose answer could depend on it."""
    if not os.path.exists(os.path.join(home(), "config.yaml")) or capabilities.read_config() is not None:
        return ()
    why = "Hermes isn't importable here" if seam("config") is None else "Hermes can't read it"
    return (f"config.yaml was not read, because {why}: agent.modes and settings don't count.",)


def as_data(faults: Sequence[Fault]) -> list[dict[str, str | int]]:
    """Faults, or warnings, for programs."""
    return [{"file": fault.file, "line": fault.line, "column": fault.column, "mode": fault.mode, "field": fault.field,
             "message": fault.explained} for fault in faults]
