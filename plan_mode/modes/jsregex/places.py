"""Whether a pattern is found in a text: every way of matching is followed at once, so nothing is ever tried twice.

A place lies before, between or behind the code units of a text. A set of places is a number whose bits stand for them, and
a part of a pattern leads from the places where it may begin to those where it may then end. Which way led to a place makes
no difference to where the rest can lead, as long as no back-reference asks.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from operator import or_
from typing import Final

from .codeunits import WORD, Units
from .syntax import MOST_REPEATS
from .tree import Alt, Chars, Edge, Fault, Look, Node, Repeat, Seq, children

MOST_STEPS: Final = 200_000
"""What a search may take, by ``_work``. No step took more than 0.4 µs with CPython 3.11: that makes 80 ms at the very most."""

_PLACES: Final = MOST_REPEATS + 1
_COPIES: Final = MOST_REPEATS + 2


def is_found(tree: Node, text: str) -> bool:
    """Whether the pattern matches somewhere in the text."""
    forwards, backwards = _Reading(text, True), _Reading(text[::-1], False)
    forwards.other, backwards.other = backwards, forwards
    return forwards.ends(tree, forwards.everywhere) != 0


def refuse_work(tree: Node) -> None:
    """Raise a Fault, with the quantifier, if ``is_found`` could take more than MOST_STEPS on a text of the greatest length."""
    taken = 0
    for steps, at in _work(tree, 1, 1, 0):
        taken += steps
        if taken > MOST_STEPS:
            raise Fault(at, "what this quantifier repeats is so long that a match could take too long",
                        "Repeat less of the pattern, or fewer times.")


def _work(node: Node, times: int, copies: int, at: int) -> Iterator[tuple[int, int]]:
    """(steps, quantifier) for each part of the pattern; ``times``: how often ``ends`` is asked for this one at most.

    A loop is never begun twice at the same place, whatever is around it; each of its ``copies``, that is.
    """
    match node:
        case Look():
            yield times, at
            yield from _work(node.body, 1, 1, at)
        case Repeat(body=Chars()):
            yield times * (3 + 3 * sum(map(int.bit_length, (node.low, node.high - node.low if node.high else 0)))), node.at
        case Repeat():
            within = times * node.high if node.high else times * node.low + _PLACES * copies
            yield 2 * (times + within), node.at
            yield from _work(node.body, within, copies * (node.high or max(node.low, 1)), node.at)
        case _:
            yield times * max(len(children(node)), 1), at
            for child in children(node):
                yield from _work(child, times, copies, at)


@dataclass
class _Reading:
    """A text that is read in one direction; its places are counted from where the reading begins."""

    text: str
    forwards: bool
    known: dict[int, int] = field(default_factory=dict)
    """The ``at`` of a node -> where it holds, if nothing that stands before it makes a difference to that."""
    begun: dict[tuple[int, int], int] = field(default_factory=dict)
    """Loop and copy -> where a repetition has begun. Where that leads has been told to all that follows the loop."""
    copy: int = 0
    """Which of the counted repetitions around it this is: a loop in each is a loop of its own."""
    other: _Reading = field(init=False, repr=False)
    """The same text, read in the other direction."""

    @cached_property
    def everywhere(self) -> int:
        return (2 << len(self.text)) - 1

    @cached_property
    def counted(self) -> tuple[list[int], list[int]]:
        """The units of the text, sorted, and before each of them and after the last: where those stand that come before it."""
        found: dict[int, int] = {}
        for place, unit in enumerate(map(ord, self.text)):
            found[unit] = found.get(unit, 0) | 1 << place
        units = sorted(found)
        return units, list(accumulate((found[unit] for unit in units), or_, initial=0))

    def ends(self, node: Node, places: int) -> int:
        """Where the node may end if it begins at one of the places. What its loops have told before may be left out."""
        match node:
            case Chars():
                return (places & self.where(node)) << 1
            case Seq():
                for item in node.items if self.forwards else reversed(node.items):
                    if not places:
                        break
                    places = self.ends(item, places)
                return places
            case Alt():
                found = 0
                for branch in node.branches:
                    found |= self.ends(branch, places)
                return found
            case Repeat():
                return self.repeated(node, places)
        assert isinstance(node, Edge | Look), "groups and back-references are gone"
        return places & self.where(node)

    def repeated(self, node: Repeat, places: int) -> int:
        body, low, high, outer = node.body, node.low, node.high, self.copy
        if isinstance(body, Chars):
            return _passed(places, self.where(body), low, high)
        if high is None and low < 2:
            return self.looped(node, places)
        found = 0 if low else places
        for count in range(1, low if high is None else high + 1):
            if not places:
                break
            self.copy = outer * _COPIES + count
            places = self.ends(body, places) & ~found
            if count >= low:
                found |= places
        if high is None:
            self.copy = outer * _COPIES + low
            found = self.looped(node, places)
        self.copy = outer
        return found

    def looped(self, node: Repeat, places: int) -> int:
        """Where any number of repetitions may end; 0 is one, unless the node has a lower number."""
        loop, found = (node.at, self.copy), 0 if node.low else places
        begun = self.begun.get(loop, 0)
        places &= ~begun
        while places:
            self.begun[loop] = begun = begun | places
            led = self.ends(node.body, places)
            found |= led
            places = led & ~begun
        return found

    def where(self, node: Chars | Edge | Look) -> int:
        """Where the unit stands, or the condition holds."""
        found = self.known.get(node.at)
        if found is None:
            found = self.known[node.at] = self.worked_out(node)
        return found

    def worked_out(self, node: Chars | Edge | Look) -> int:
        match node:
            case Chars():
                return self.of(node.units)
            case Look():
                # What is ahead must be read from its far end to tell where it begins.
                reading = self if self.forwards != node.ahead else self.other
                found = reading.ends(node.body, reading.everywhere)
                if reading is not self:
                    found = int(f"{found:0{len(self.text) + 1}b}"[::-1], 2)
                return found if node.wanted else self.everywhere ^ found
            case Edge("^" | "$"):
                return 1 if (node.kind == "^") is self.forwards else 1 << len(self.text)
            case Edge():
                words = self.of(WORD)
                edges = words ^ words << 1
                return edges if node.kind == "b" else self.everywhere ^ edges

    def of(self, units: Units) -> int:
        listed, before = self.counted
        found = 0
        for first, last in units:
            found |= before[bisect_right(listed, last)] ^ before[bisect_left(listed, first)]
        return found


def _passed(places: int, units: int, low: int, high: int | None) -> int:
    """Where as many of the units lead that stand in a row."""
    if low:
        places = (places & _spread(0, units, low)[1]) << low
    if high is not None:
        return _spread(places, units, high - low)[0]
    # From each place the sum carries on to the end of the row of units that it stands before.
    return places | ((places & units) + units ^ units)


def _spread(places: int, units: int, most: int) -> tuple[int, int]:
    """Where at most so many units in a row lead, and the places before so many."""
    if most < 2:
        return (places | (places & units) << 1, units) if most else (places, -1)
    half = most // 2
    rest = most - half
    found, row = _spread(places, units, half)
    rest_of_row = row if rest == half else row & units >> half
    return found | (found & rest_of_row) << rest, row & rest_of_row >> half
