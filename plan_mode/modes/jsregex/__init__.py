"""``fileRegex``: a JavaScript pattern, matched by search, with JavaScript's verdict and in bounded time.

A pattern is parsed as JavaScript without flags (``syntax``), refused if it isn't that or could take a program for ever
(``ambiguity``), and matched by following all its ways at once (``places``), or, if it compares with what a group matched,
by Python's ``re`` (``references``). Patterns and paths are seen as UTF-16 code units (``codeunits``).
"""

from __future__ import annotations

from .pattern import MOST_OF_A_PATH, MOST_OF_A_PATTERN, Pattern, translate

__all__ = ["MOST_OF_A_PATH", "MOST_OF_A_PATTERN", "Pattern", "translate"]
