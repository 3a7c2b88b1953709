"""A text terminal in memory: what a person sees, and what has scrolled away above it.

Knows the control sequences prompt_toolkit writes and answers its queries. Does not: keep colours,
or know scrolling regions and the alternate screen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

_TOKEN = re.compile(
    r"\x1b\[(?P<parameters>[0-9;:?<>=!]*)[ -/]*(?P<final>[@-~])"
    r"|\x1b\](?P<system>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    r"|\x1b[PX^_].*?\x1b\\"
    r"|\x1b[ -/]*[0-OQ-WYZ\\`-~]"
    r"|\x1b(?=[^\x20-\x7e])"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])"
    r"|(?P<text>[^\x00-\x1f\x7f]+)",
    re.S,
)

_QUERIES = {"c": "\x1b[?62;22c", "?u": "\x1b[?0u"}
_COLOURS = {"10;?": "\x1b]10;rgb:ffff/ffff/ffff\x07", "11;?": "\x1b]11;rgb:0000/0000/0000\x07"}


class Screen:
    """Feed it what a program writes; read ``lines``.

    ``modes`` holds the private modes that are on, e.g. ``?2004``.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self.modes: set[str] = {"?7"}
        self._above: list[str] = []
        self._cells: list[list[str]] = [[] for _ in range(rows)]
        self._row = self._column = 0
        # Rows that continue on the next one; -1 is the newest line of ``_above``.
        self._wrapped: set[int] = set()
        self._pending = ""
        self._replies: list[str] = []
        self._control: dict[str, Callable[[], None]] = {
            "\n": self._line_feed,
            "\r": lambda: self._go(column=0),
            "\b": lambda: self._go(column=self._column - 1),
            "\t": lambda: self._go(column=self._column // 8 * 8 + 8),
        }
        self._final: dict[str, Callable[[int], None]] = {
            "A": lambda n: self._go(row=self._row - (n or 1)),
            "B": lambda n: self._go(row=self._row + (n or 1)),
            "C": lambda n: self._go(column=self._column + (n or 1)),
            "D": lambda n: self._go(column=self._column - (n or 1)),
            "G": lambda n: self._go(column=n - 1),
            "J": self._erase_below,
            "K": self._erase_line,
            "n": self._report,
        }

    def feed(self, text: str) -> str:
        """Show what the program wrote; return what a terminal would answer to it."""
        text = self._pending + text
        end = 0
        for match in _TOKEN.finditer(text):
            if match.start() != end:
                break
            self._obey(match)
            end = match.end()
        self._pending = text[end:]
        if len(self._pending) > 4096:  # no sequence is that long: skip the escape character
            self._pending = self._pending[1:]
        replies, self._replies = "".join(self._replies), []
        return replies

    @property
    def lines(self) -> list[str]:
        """Every line from the first one on, without trailing blanks; wrapped lines are joined."""
        out = list(self._above)
        begun = out.pop() if -1 in self._wrapped else ""
        for number, cells in enumerate(self._cells):
            begun += "".join(cells)
            if number not in self._wrapped:
                out.append(begun.rstrip())
                begun = ""
        out.append(begun.rstrip())
        while out and not out[-1]:
            out.pop()
        return out

    def _obey(self, match: re.Match[str]) -> None:
        if match["text"]:
            self._write(match["text"])
        elif match["control"]:
            self._control.get(match["control"], lambda: None)()
        elif match["system"] in _COLOURS:
            self._replies.append(_COLOURS[match["system"]])
        elif match["final"]:
            self._sequence(match["parameters"], match["final"])

    def _sequence(self, parameters: str, final: str) -> None:
        if parameters + final in _QUERIES:
            self._replies.append(_QUERIES[parameters + final])
        elif parameters.startswith("?") and final in "hl":
            change = self.modes.add if final == "h" else self.modes.discard
            for number in parameters[1:].split(";"):
                change(f"?{number}")
        elif final in "Hf":
            row, _, column = parameters.partition(";")
            self._go(int(row or 1) - 1, int(column or 1) - 1)
        elif final in self._final and (not parameters or parameters.isdigit()):
            self._final[final](int(parameters or 0))

    def _go(self, row: int | None = None, column: int | None = None) -> None:
        if row is not None:
            self._row = max(0, min(row, self.rows - 1))
        if column is not None:
            self._column = max(0, min(column, self.columns - 1))

    def _line_feed(self) -> None:
        if self._row < self.rows - 1:
            self._row += 1
            return
        top = "".join(self._cells.pop(0))
        self._cells.append([])
        if -1 in self._wrapped:
            self._above[-1] += top.rstrip()
        else:
            self._above.append(top.rstrip())
        self._wrapped = {number - 1 for number in self._wrapped if number >= 0}

    def _write(self, text: str) -> None:
        for character in text:
            width = _width(character)
            cells = self._cells[self._row]
            if width == 0:
                if 0 < self._column <= len(cells):
                    cells[self._column - 1] += character
                continue
            if self._column + width > self.columns:
                if "?7" in self.modes:
                    self._wrapped.add(self._row)
                    self._line_feed()
                    self._column = 0
                    cells = self._cells[self._row]
                else:
                    self._column = self.columns - width
            cells.extend(" " * (self._column + width - len(cells)))
            cells[self._column : self._column + width] = [character, ""][:width]
            self._column += width

    def _erase_below(self, which: int) -> None:
        if which == 2:
            self._cells = [[] for _ in range(self.rows)]
            self._wrapped.clear()
        elif which == 0:
            del self._cells[self._row][self._column :]
            for number in range(self._row + 1, self.rows):
                self._cells[number] = []
            self._wrapped = {number for number in self._wrapped if number < self._row}

    def _erase_line(self, which: int) -> None:
        cells = self._cells[self._row]
        if which == 0:
            del cells[self._column :]
        else:
            end = len(cells) if which == 2 else min(self._column + 1, len(cells))
            cells[:end] = " " * end

    def _report(self, what: int) -> None:
        if what == 6:
            column = min(self._column, self.columns - 1)
            self._replies.append(f"\x1b[{self._row + 1};{column + 1}R")


def _width(character: str) -> int:
    """Return how many columns a character takes."""
    if unicodedata.combining(character) or character in "\u200d\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
