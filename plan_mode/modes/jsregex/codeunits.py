"""Sets of UTF-16 code units, which is what a JavaScript pattern without flags is about.

A set is a tuple of ranges ``(first, last)``, sorted and apart. A text is handled as its code units: what lies outside
the basic plane stands as its two halves, so that one character of a Python text is one character of JavaScript.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cache
from typing import Final

Units = tuple[tuple[int, int], ...]

LAST: Final = 0xFFFF
START: Final[Units] = ((LAST + 1, LAST + 1),)
END: Final[Units] = ((LAST + 2, LAST + 2),)
"""Two units that no text has: the analysis reads ``^`` and ``$`` as if they stood around it."""

_ASTRAL: Final = re.compile("[\U00010000-\U0010ffff]")


def as_units(text: str) -> str:
    """The text with every character beyond the basic plane written as its two surrogates."""
    return _ASTRAL.sub(lambda match: _halves(ord(match[0]) - 0x10000), text)


def _halves(offset: int) -> str:
    return chr(0xD800 + (offset >> 10)) + chr(0xDC00 + (offset & 0x3FF))


def offset_of(text: str, unit: int) -> int:
    """Where in the text the code unit with that number stands; the length of the text where there is none."""
    passed = 0
    for offset, character in enumerate(text):
        passed += 2 if character > "\uffff" else 1
        if passed > unit:
            return offset
    return len(text)


def one(unit: int) -> Units:
    return ((unit, unit),)


def union(*sets: Units) -> Units:
    found: list[tuple[int, int]] = []
    for first, last in sorted(unit_range for units in sets for unit_range in units):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return tuple(found)


def complement(units: Units) -> Units:
    """Every unit of a text that isn't in the set."""
    found, start = [], 0
    for first, last in units:
        if start < first:
            found.append((start, first - 1))
        start = last + 1
    if start <= LAST:
        found.append((start, LAST))
    return tuple(found)


def is_single(units: Units) -> bool:
    return len(units) == 1 and units[0][0] == units[0][1]


def _of(characters: str) -> Units:
    return union(*(one(ord(character)) for character in characters))


DIGIT: Final = ((0x30, 0x39),)
WORD: Final = union(DIGIT, ((0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)))
SPACE: Final = union(_of("\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"), ((0x2000, 0x200A),))
DOT: Final = complement(_of("\n\r\u2028\u2029"))
"""As ECMAScript defines them; Python's own classes and dot are others."""


@cache
def either_case(units: Units) -> Units:
    """The set, and every unit that JavaScript takes for the same letter where case doesn't count."""
    if not units or units[-1][1] < 0x80:  # no letter outside of ASCII is the same as one inside
        members = [unit for first, last in units for unit in range(first, last + 1)]
        return union(units, *(one(unit ^ 0x20) for unit in members if chr(unit).isalpha()))
    same, members, capitals = _letters()
    slices = [slice(bisect_left(members, first), bisect_right(members, last)) for first, last in units]
    touched = {capital for part in slices for capital in capitals[part]}
    others = {member for capital in touched for member in same[capital]}.difference(*(members[part] for part in slices))
    return union(units, *map(one, others))


@cache
def _letters() -> tuple[dict[int, list[int]], list[int], list[int]]:
    """Capital -> the units that are the same letter; all these units, sorted; and the capital of each of them.

    Source of the rule: Canonicalize of ECMAScript without the flag u, with the letters that this Python knows. One
    whose capital is several characters, or is in ASCII without being so itself, is like no other.
    """
    same: dict[int, list[int]] = {}
    for unit in range(LAST + 1):
        upper = chr(unit).upper()
        capital = ord(upper) if len(upper) == 1 and upper <= "\uffff" else unit
        same.setdefault(unit if unit >= 0x80 > capital else capital, []).append(unit)
    same = {capital: members for capital, members in same.items() if len(members) > 1}
    of_unit = sorted((member, capital) for capital, members in same.items() for member in members)
    return same, [member for member, _ in of_unit], [capital for _, capital in of_unit]
