"""The automaton of a pattern: one state for each place that consumes a character (Glushkov's construction).

A state holds the characters it takes; ``^`` and ``$`` take a character of their own. A repetition is a loop,
whatever its numbers, unless they are small; look-arounds and ``\\b`` are taken for true.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from .codeunits import ANY, END, NOTHING, START, Units
from .jstree import Alt, Chars, Edge, Fault, Group, Look, Node, Once, Ref, Repeat, Seq, children

FRONT: Final = 0
"""The state in front of a whole pattern, where there is one."""

_EDGES: Final = {"^": START, "$": END}
_MOST_COPIES: Final = 16
"""States that a counted repetition may have to be written out; a larger one becomes a loop."""

_MOST_PAIRS: Final = 400_000
"""Pairs of states to follow before the pattern is called too involved: about 0.2 s."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the automaton: whether it can be passed without a character, and the states it begins and ends with."""

    nullable: bool
    first: tuple[int, ...] = ()
    last: tuple[int, ...] = ()


@dataclass(slots=True)
class Net:
    """States, numbered from the left of the pattern. A look-around or ``\\b`` is one that nothing can enter, only pass."""

    units: list[Units] = field(default_factory=list)
    follow: list[set[int]] = field(default_factory=list)
    loop: dict[int, int] = field(default_factory=dict)
    """State -> the outermost loop it is in, named by its first state."""
    sign: dict[int, Repeat] = field(default_factory=dict)
    """Loop -> where it is written."""
    looks: dict[int, Look] = field(default_factory=dict)
    capped: dict[int, int] = field(default_factory=dict)
    """State -> another whose number of paths it can't exceed."""
    doubled: set[int] = field(default_factory=set)
    """States that two loops, one in the other, lead to from the same state."""

    def state(self, units: Units) -> Piece:
        self.units.append(units)
        self.follow.append(set())
        here = (len(self.units) - 1,)
        return Piece(False, here, here)

    def link(self, ends: Iterable[int], beginnings: Iterable[int]) -> None:
        beginnings = set(beginnings)
        for end in ends:
            self.doubled |= self.follow[end] & beginnings
            self.follow[end] |= beginnings

    def build(self, node: Node) -> Piece:
        match node:
            case Chars():
                return self.state(node.units)
            case Edge():
                return self.state(_EDGES[node.kind]) if node.kind in _EDGES else Piece(True, self.state(NOTHING).first)
            case Look():
                piece = self.state(NOTHING)
                self.looks[piece.first[0]] = node
                return Piece(True, piece.first)
            case Ref():
                return self.repeat(Repeat(Chars(ANY, node.at), 0, None, node.at))
            case Group():
                return self.build(node.body)
            case Alt():
                pieces = [self.build(branch) for branch in node.branches]
                return Piece(any(piece.nullable for piece in pieces),
                              tuple(state for piece in pieces for state in piece.first),
                              tuple(state for piece in pieces for state in piece.last))
            case Seq():
                return self.row(node.items)
            case Once():
                # A free one scans where a search would begin anyway.
                return self.row(node.items[1:] if node.free else node.items)
            case Repeat():
                return self.repeat(node)

    def row(self, items: Iterable[Node]) -> Piece:
        whole = Piece(True)
        kept: int | None = None
        for item in items:
            begin = len(self.units)
            piece = self.build(item)
            if kept is not None and piece.first:
                self.capped[piece.first[0]] = kept
            kept = None
            if isinstance(item, Once):
                kept = FRONT if item.free else begin
            self.link(whole.last, piece.first)
            whole = Piece(whole.nullable and piece.nullable,
                           whole.first + piece.first if whole.nullable else whole.first,
                           piece.last + whole.last if piece.nullable else piece.last)
        return whole

    def repeat(self, node: Repeat) -> Piece:
        if node.high is not None and node.high > 1 and (size := _size(node.body)) and size * node.high <= _MOST_COPIES:
            return self.copies(node, node.high)
        begin = len(self.units)
        piece = self.build(node.body)
        if node.high != 1:
            self.link(piece.last, piece.first)
            self.loop.update(dict.fromkeys(range(begin, len(self.units)), begin))
            self.sign[begin] = node
        return Piece(piece.nullable or node.low == 0, piece.first, piece.last)

    def copies(self, node: Repeat, high: int) -> Piece:
        pieces = [self.build(node.body) for _ in range(high)]
        for one, other in pairwise(pieces):
            self.link(one.last, other.first)
        ends = pieces[max(node.low, 1) - 1:]
        return Piece(node.low == 0, pieces[0].first, tuple(state for piece in ends for state in piece.last))

    def twice(self, beginnings: Iterable[int]) -> set[int]:
        """The states that some text reaches over two paths."""
        masks = _masks(self.units)
        found = set(self.doubled)
        pairs: set[tuple[int, int]] = set()
        fresh: list[tuple[int, int]] = []
        left = _MOST_PAIRS

        def advance(ones: Iterable[int], others: Iterable[int], *, same: bool) -> None:
            """Note the pairs that one character leads to; ``same``: one path leads here, and may part here."""
            for one in ones:
                mask = masks[one]
                for other in others:
                    if not mask & masks[other]:
                        continue
                    pair = (one, other) if one < other else (other, one)
                    if one != other and pair not in pairs:
                        pairs.add(pair)
                        fresh.append(pair)
                    elif one == other and not same:
                        found.add(one)

        advance(beginnings, beginnings, same=True)
        fresh += [(state, state) for state in range(len(self.units))]
        while fresh:
            one, other = fresh.pop()
            left -= len(self.follow[one]) * len(self.follow[other]) + 1
            if left < 0:
                raise Fault(0, "the pattern is too involved to tell how long it would take",
                            "Write it shorter, with fewer alternatives that begin alike.")
            advance(self.follow[one], self.follow[other], same=one == other)
        for state in list(found):
            self._spread(state, found)
        return found

    def _spread(self, state: int, found: set[int]) -> None:
        fresh = [state]
        while fresh:
            new = self.follow[fresh.pop()] - found
            found |= new
            fresh.extend(new)


def _size(node: Node) -> int:
    return 1 if isinstance(node, Chars) else sum(map(_size, children(node)))


def _masks(sets: list[Units]) -> list[int]:
    """The sets as numbers whose bits stand for the parts into which all of them cut the units."""
    cuts = sorted({cut for units in sets for first, last in units for cut in (first, last + 1)})
    bit = {cut: 1 << index for index, cut in enumerate(cuts)}
    return [sum(bit[last + 1] - bit[first] for first, last in units) for units in sets]
