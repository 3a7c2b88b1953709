"""One line on standard error that says what is going on while nothing else does."""

from __future__ import annotations

from typing import TextIO


class Progress:
    """On a terminal the line vanishes when it is done; elsewhere nothing of it is written."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._live = out.isatty()

    def now(self, what: str) -> None:
        if self._live:
            self._write(f"\r\x1b[K... {what}")

    def done(self) -> None:
        if self._live:
            self._write("\r\x1b[K")

    def failed(self, sentence: str) -> None:
        """Write a sentence that stays, terminal or not."""
        self.done()
        self._write(f"demo: {sentence}\n")

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
