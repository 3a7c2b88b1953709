"""What is wrong with a mode file, told so that a person can mend it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..text import one_line
from .document import Path

Place = tuple[int, int]
"""Line and column, from 1; 0 where there is none."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, or only odd, in a file; ``str()`` shows all of it on one line.

    ``line`` and ``column`` count from 1, and are 0 where there is no place. ``mode`` is a slug or, without one, a number in
    the file as in ``#2``; ``mode`` and ``field`` are "" where the file as a whole is meant. ``found`` is shown as it may be.
    """

    file: str
    message: str
    line: int = 0
    column: int = 0
    mode: str = ""
    field: str = ""
    found: str = ""
    hint: str = ""

    def __str__(self) -> str:
        where = ":".join([one_line(self.file, 200), *(str(number) for number in (self.line, self.column) if number)])
        about = [f"mode {one_line(self.mode, 60)}"] if self.mode else []
        about += [one_line(self.field, 80)] if self.field else []
        return ": ".join([where, *about, self.explained])

    @property
    def explained(self) -> str:
        """What is wrong, what was found instead, and what to do: all but the place."""
        found = f"; it is {self.found}" if self.found else ""
        return f"{self.message}{found}.{' ' if self.hint else ''}{self.hint}"


@dataclass(slots=True)
class Reading:
    """What is found on the way through one file."""

    file: str
    origin: str
    at: Callable[[Path], Place]
    rules: Callable[[Spot, Any], Any] | None = None
    """What checks the rules that a mode carries with it; None where they don't count."""
    carried: dict[str, Any] = field(default_factory=dict)
    """Slug -> its rules, as they were checked."""
    faults: list[Fault] = field(default_factory=list)
    warnings: list[Fault] = field(default_factory=list)
    patience: int = 32_768
    """What the patterns that are still to come may cost: it takes time to find out whether one would take too long."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One value in a file: where it is, whose it is, and the way to say what is wrong with it.

    ``spot / step`` is the spot of the value at a key or an index.
    """

    reading: Reading
    path: Path
    mode: str = ""
    field: str = ""

    def __truediv__(self, step: str | int) -> Spot:
        inner = f"{self.field}[{step}]" if isinstance(step, int) else f"{self.field}.{step}" if self.field else step
        return Spot(self.reading, (*self.path, step), self.mode, inner)

    def fault(self, message: str, found: str = "", hint: str = "") -> None:
        self.reading.faults.append(self._told(message, found, hint))

    def warn(self, message: str, found: str = "", hint: str = "") -> None:
        self.reading.warnings.append(self._told(message, found, hint))

    def _told(self, message: str, found: str, hint: str) -> Fault:
        return Fault(self.reading.file, message, *self.reading.at(self.path), self.mode, self.field, found, hint)


def name_of(key: Any) -> str:
    """A key of a mapping, fit to be shown."""
    return one_line(key, 60) if isinstance(key, str) else shown(key)


def shown(value: Any) -> str:
    """What was found, bounded and fit to be shown; completes "it is ..."."""
    if isinstance(value, str):
        return f"'{one_line(value, 60)}'"
    if isinstance(value, dict | list):
        return f"{'a mapping' if isinstance(value, dict) else 'a list'} of {len(value)}"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"the number {value}" if abs(value) < 1e30 else "a number"
    return one_line(f"a {type(value).__name__}", 60)
