"""Does a quantifier repeat a part that can match the same text in two ways?

Then a program that tries one way after the other may need a time that doubles with every few characters. It is told from
an automaton with one state for each place of the pattern that takes a character (Glushkov's construction): by following
two paths at once that take the same characters, from the same state to the same state.

It errs on the side of finding one: look-arounds and ``\\b`` are taken for true, and a counted repetition, unless it is
small, for one of any number. ``^`` and ``$`` take a character of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from .codeunits import END, START, Units
from .tree import Alt, Chars, Edge, Fault, Look, Node, Repeat, Seq

_MOST_COPIES: Final = 16
"""States that a counted repetition may have to be written out; a larger one becomes a loop."""

_MOST_TURNS: Final = 60_000
"""Pairs of states, and ways from one to the next, before the pattern is called too involved: 20 ms."""

_EDGES: Final = {"^": START, "$": END}


def refuse_ambiguity(tree: Node) -> None:
    """Raise a Fault at the first quantifier, innermost first, over a part that can match the same text in two ways.

    Excepted are ``?`` and its like, which repeat nothing, and quantifiers over a single character.
    """
    _Net().build(tree)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of the automaton: whether it can be passed without a character, and the states it begins and ends with."""

    nullable: bool
    first: tuple[int, ...] = ()
    last: tuple[int, ...] = ()


@dataclass(slots=True)
class _Net:
    """States, numbered from the left of the pattern."""

    turns: int = _MOST_TURNS
    """How many are left."""
    units: list[Units] = field(default_factory=list)
    follow: list[set[int]] = field(default_factory=list)
    doubled: int = 0
    """How often two ways without a character led from one place of the pattern to another."""

    def state(self, units: Units) -> _Piece:
        self.units.append(units)
        self.follow.append(set())
        here = (len(self.units) - 1,)
        return _Piece(False, here, here)

    def link(self, ends: Iterable[int], beginnings: Iterable[int]) -> None:
        beginnings = set(beginnings)
        for end in ends:
            self.doubled += not self.follow[end].isdisjoint(beginnings)
            self.follow[end] |= beginnings

    def build(self, node: Node) -> _Piece:
        match node:
            case Chars():
                return self.state(node.units)
            case Edge():
                return self.state(_EDGES[node.kind]) if node.kind in _EDGES else _Piece(True)
            case Look():
                inner = _Net(self.turns)
                inner.build(node.body)
                self.turns = inner.turns
                return _Piece(True)
            case Alt():
                pieces = [self.build(branch) for branch in node.branches]
                self.doubled += sum(piece.nullable for piece in pieces) > 1
                return _Piece(any(piece.nullable for piece in pieces),
                              tuple(state for piece in pieces for state in piece.first),
                              tuple(state for piece in pieces for state in piece.last))
            case Seq():
                return self.row([self.build(item) for item in node.items])
            case Repeat():
                return self.repeat(node)

    def row(self, pieces: Iterable[_Piece]) -> _Piece:
        whole = _Piece(True)
        for piece in pieces:
            self.link(whole.last, piece.first)
            whole = _Piece(whole.nullable and piece.nullable,
                           whole.first + piece.first if whole.nullable else whole.first,
                           piece.last + whole.last if piece.nullable else piece.last)
        return whole

    def repeat(self, node: Repeat) -> _Piece:
        begin, doubled = len(self.units), self.doubled
        piece = self.build(node.body)
        if node.high != 1:
            self.link(piece.last, piece.first)
            if not isinstance(node.body, Chars):
                self.refuse(node, piece, begin, self.doubled > doubled)
            if node.high is not None and (len(self.units) - begin) * node.high <= _MOST_COPIES:
                del self.units[begin:], self.follow[begin:]
                copies = [self.build(node.body) for _ in range(node.high)]
                self.row(copies)
                ends = copies[max(node.low, 1) - 1:]
                return _Piece(node.low == 0, copies[0].first, tuple(state for copy in ends for state in copy.last))
        return _Piece(piece.nullable or node.low == 0, piece.first, piece.last)

    def refuse(self, node: Repeat, body: _Piece, begin: int, doubled: bool) -> None:
        """Raise a Fault if the body, whose states begin there, matches nothing, or one text in two ways."""
        if body.nullable:
            raise Fault(node.at, "the quantifier repeats a part that can match nothing at all",
                        "Make the part match at least one character, or drop one of the quantifiers.")
        if doubled or self.part_and_meet(begin):
            raise Fault(node.at, "the quantifier repeats a part that can match the same text in two ways, so that other programs "
                                 "could take for ever",
                        "Let each repetition end in a character that can't stand elsewhere in it, as in ([^/]+/)*, or drop one "
                        "of the quantifiers.")
        if self.turns < 0:
            raise Fault(node.at, "the quantifier repeats a part that is too involved to tell how long it would take",
                        "Write it shorter, with fewer alternatives that begin alike.")

    def part_and_meet(self, begin: int) -> bool:
        """Whether two paths part at some state and meet at some state, with the same characters between."""
        masks = [0] * begin + _masks(self.units[begin:])
        seen: set[tuple[int, int]] = set()
        fresh = [(state, state) for state in range(begin, len(self.units))]
        while fresh and self.turns >= 0:
            one, other = fresh.pop()
            self.turns -= len(self.follow[one]) * len(self.follow[other]) + 1
            for left in self.follow[one]:
                for right in self.follow[other]:
                    pair = (left, right) if left < right else (right, left)
                    if left == right:
                        if one != other:
                            return True
                    elif masks[left] & masks[right] and pair not in seen:
                        seen.add(pair)
                        fresh.append(pair)
        return False


def _masks(sets: list[Units]) -> list[int]:
    """The sets as numbers whose bits stand for the parts into which all of them cut the units."""
    cuts = sorted({cut for units in set(sets) for first, last in units for cut in (first, last + 1)})
    bit = {cut: 1 << index for index, cut in enumerate(cuts)}
    masks = {units: sum(bit[last + 1] - bit[first] for first, last in units) for units in set(sets)}
    return [masks[units] for units in sets]
