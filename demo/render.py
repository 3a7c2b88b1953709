"""Print the transcript: who speaks on the left, what is said on the right, wrapped."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TextIO

from .player import Played
from .story import STORY
from .transcript import Line, Voice

_LABEL = 11
_MOST_ROWS = 9

_BOLD, _DIM, _RED, _GREEN, _CYAN, _MAGENTA = "1", "2", "31", "32", "36", "35"

#: Colours of the label and of the text.
_COLOURS = {
    Voice.YOU: (_BOLD + ";" + _CYAN, _BOLD),
    Voice.HERMES: (_BOLD, ""),
    Voice.PLAN_MODE: (_BOLD + ";" + _MAGENTA, ""),
    Voice.TO_MODEL: (_MAGENTA, _DIM),
    Voice.TOOL: (_DIM, ""),
    Voice.BLOCKED: (_BOLD + ";" + _RED, _RED),
    Voice.FAILED: (_BOLD + ";" + _RED, ""),
    Voice.RAN: (_GREEN, ""),
}

_SIGNS = {Voice.BLOCKED: "✗ ", Voice.FAILED: "! ", Voice.RAN: "✓ "}


@dataclass(frozen=True)
class Renderer:
    """Writes to ``out``, ``width`` columns wide; ``rewrite`` is applied to every text."""

    out: TextIO
    width: int
    colours: bool
    rewrite: Callable[[str], str]

    def heading(self, text: str) -> None:
        self._print(self._paint(text, _BOLD))

    def scene(self, number: int, title: str) -> None:
        head = f"── {number} · {title} "
        self._print("\n" + self._paint(head.ljust(self.width, "─"), _DIM))

    def lines(self, lines: Iterable[Line]) -> None:
        for line in lines:
            self._line(line)

    def summary(self, played: Sequence[Played]) -> None:
        """Print every scene of the story with what was checked, or what failed."""
        self._print("\n" + self._paint("── Summary ".ljust(self.width, "─"), _DIM))
        by_number = {each.number: each for each in played}
        for number, scene in enumerate(STORY, 1):
            self._result(number, scene.title, by_number.get(number))

    def _result(self, number: int, title: str, played: Played | None) -> None:
        if played is None:
            self._print(self._paint(f"· {number}  {title}: not played", _DIM))
            return
        sign, colour = ("✗", _RED) if played.faults else ("✓", _GREEN)
        self._print(f"{self._paint(sign, colour)} {number}  {title}")
        texts = played.faults or tuple(check.sentence for check in played.scene.checks)
        for row in self._wrapped("; ".join(texts), self.width - 5):
            self._print("     " + self._paint(row, _RED if played.faults else _DIM))

    def _line(self, line: Line) -> None:
        label_colour, text_colour = _COLOURS[line.voice]
        label = _SIGNS.get(line.voice, "") + line.voice.value
        rows = self._wrapped(line.text, self.width - _LABEL)
        for row in _shortened(rows) if line.voice is Voice.TO_MODEL else rows:
            head = self._paint(label.ljust(_LABEL), label_colour)
            self._print((head + self._paint(row, text_colour)).rstrip())
            label = ""

    def _wrapped(self, text: str, width: int) -> list[str]:
        """Return the rows of a text; each keeps the indentation of the line it is a part of."""
        rows: list[str] = []
        for line in self.rewrite(text).splitlines():
            indent = " " * (len(line) - len(line.lstrip()))
            rows += textwrap.wrap(
                line,
                width,
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            ) or [""]
        return rows

    def _paint(self, text: str, colour: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self.colours and colour and text else text

    def _print(self, text: str) -> None:
        print(text, file=self.out, flush=True)


def _shortened(rows: list[str]) -> list[str]:
    """Return the rows without the middle of a long text: what matters begins or ends it."""
    missing = len(rows) - _MOST_ROWS
    if missing < 2:
        return rows
    end = _MOST_ROWS // 2
    return [*rows[: _MOST_ROWS - end], f"[{missing} lines left out]", *rows[-end:]]
