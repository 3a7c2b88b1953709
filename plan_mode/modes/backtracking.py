"""How long may a backtracking matcher take? Judged before it ever runs, from the automaton of the pattern.

A backtracking matcher walks each path of the automaton at most once, so its time is at most the number of paths along
the text, times a price for a step.

1. A repeated part (at most one repetition, and single characters, excepted) must match something, and no text in two
   ways: no state of it may be reached over two paths by the same text, found by following pairs of states. Then the
   number of paths doesn't grow exponentially.
2. Paths are then counted along the pattern: a state that no text reaches in two ways has one; another has the sum of
   those that lead into it; where they lead into a loop, of all moments at which they can. That gives a polynomial in
   the length of the text. A look-around costs what its own automaton costs, each time that a path comes by.

All of it errs on the side of refusal: see ``automaton``, and the greatest numbers of different states are summed up as if
one text could reach them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from .automaton import FRONT, Net
from .codeunits import ANY, END, START, Units, is_single, overlap, union
from .jssyntax import MOST_REPEATS
from .jstree import Alt, Chars, Fault, Look, Node, Repeat, children, is_nullable

MOST_NANOSECONDS: Final = 75_000_000
"""What the longest match may take, by the prices below."""

_LENGTH: Final = MOST_REPEATS + 2
_SCAN, _STEP, _CHOICE, _WAY, _BEGIN = 4, 8, 45, 6, 100
"""Nanoseconds: to pass one character where a loop looks for the next literal, to pass a literal, to try what
follows, for each thing that may follow, and to begin at a place of the text. Measured with CPython 3.11, rounded up."""

_MOST_OF_A_WORD: Final = 32

Polynomial = tuple[float, ...]
"""Numbers of paths: the k-th entry counts texts of length n times n^k / k!, the ways to choose k places in order."""


def refuse_ambiguity(tree: Node) -> None:
    """Raise a Fault at the first quantifier, innermost first, over a part that can match the same text in two ways."""
    _refuse_empty_twins(tree, last=True)
    for node in _inner_first(tree):
        if not isinstance(node, Repeat) or node.high == 1 or isinstance(node.body, Chars):
            continue
        net = Net()
        piece = net.build(node.body)
        if piece.nullable:
            raise Fault(node.at, "the quantifier repeats a part that can match nothing at all",
                        "Make the part match at least one character, or drop one of the quantifiers.")
        net.link(piece.last, piece.first)
        try:
            twice = net.twice(piece.first)
        except Fault as fault:
            raise Fault(node.at, fault.reason, fault.hint) from None
        if twice:
            raise Fault(node.at, "the quantifier repeats a part that can match the same text in two ways, so that a match could "
                                 "take for ever",
                        "Let each repetition end in a character that can't stand elsewhere in it, as in ([^/]+/)*, or drop one "
                        "of the quantifiers.")


def _refuse_empty_twins(node: Node, *, last: bool) -> None:
    """Raise a Fault at alternatives that can both match nothing, unless nothing can follow them."""
    if isinstance(node, Alt):
        empty = [branch for branch in node.branches if is_nullable(branch)]
        if len(empty) > 1 and not last:
            raise Fault(node.at, "two of these alternatives can match nothing at all, which is one text matched in two ways",
                        "Let at most one of them be optional or empty.")
    for child in children(node):
        _refuse_empty_twins(child, last=isinstance(node, Look) or (isinstance(node, Alt) and last))


def refuse_slowness(tree: Node) -> None:
    """Raise a Fault if a search with this pattern could take longer than allowed on any text of the greatest length.

    ``refuse_ambiguity`` must have passed.
    """
    price, worst = _price(tree, search=True)
    if _at_length(price) > MOST_NANOSECONDS:
        raise Fault(worst, "together with the loops before it this one could take too long on a long path",
                    "Begin the pattern with ^, use fewer of .* and .+, or let them pass less, as in [^/]+.")


def _inner_first(node: Node) -> Iterator[Node]:
    for child in children(node):
        yield from _inner_first(child)
    yield node


def _price(tree: Node, *, search: bool) -> tuple[Polynomial, int]:
    """Nanoseconds to look for the pattern anywhere, or at one place; and where the dearest loop is written."""
    net = Net()
    front = net.state(union(ANY, START, END)).first
    net.link(front, net.build(tree).first)
    tally = _Tally(net, False)
    paths = tally.paths()
    if search:
        starts = _Tally(net, True).moments(tally.begun(), (1.0,))
        net.link(front, front)
        net.loop[FRONT] = FRONT
        tally = _Tally(net, True)
        paths = [min(anywhere, _product(starts, ways), key=_at_length)
                 for anywhere, ways in zip(tally.paths(), paths, strict=True)]
    total: Polynomial = (0.0,)
    worst, dearest = 0, 0.0
    for state in (state for state, units in enumerate(net.units) if units):
        here = _times(tally.moments(state, paths[state]), _price_of_step(net, state))
        total = _plus(total, here)
        loop = net.sign.get(net.loop.get(state, -1))
        if loop and _at_length(here) >= dearest:
            worst, dearest = loop.at, _at_length(here)
    for state, look in net.looks.items():
        once, _ = _price(look.body, search=False)
        for before in tally.before[state]:
            total = _plus(total, _product(tally.moments(before, paths[before]), once))
    return total, worst


def _price_of_step(net: Net, state: int) -> float:
    others = net.follow[state] - {state}
    literal = len(others) == 1 and all(is_single(net.units[other]) and other not in net.loop for other in others)
    if state == FRONT:
        return _BEGIN + _WAY * len(others)
    if literal and net.units[next(iter(others))] != END:
        return _SCAN if state in net.follow[state] else _STEP
    return _CHOICE + _WAY * len(others)


@dataclass(slots=True)
class _Tally:
    """Counts paths; ``search``: the text may be entered at any place of it, else at the first one only."""

    net: Net
    search: bool
    before: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.before = [[] for _ in self.net.units]
        for state, after in enumerate(self.net.follow):
            for other in after:
                self.before[other].append(state)

    def paths(self) -> list[Polynomial]:
        """For each state, in how many ways it can be reached at one moment."""
        twice = self.net.twice(())
        paths: list[Polynomial] = []
        for state in range(len(self.net.units)):
            if state not in twice:
                paths.append((1.0,))
            elif state in self.net.capped:
                paths.append(paths[self.net.capped[state]])
            elif state in self.net.loop:
                paths.append(self._entered(self.net.loop[state], paths))
            else:
                paths.append(self._most([(other, paths[other]) for other in self.before[state]]))
        return paths

    def _entered(self, loop: int, paths: list[Polynomial]) -> Polynomial:
        """The ways to be in a loop: one for each moment at which a path could have entered it."""
        inside = {state for state, where in self.net.loop.items() if where == loop}
        doors = {other for state in inside for other in self.before[state]} - inside
        return self._most([(door, self.moments(door, paths[door])) for door in sorted(doors)])

    def _most(self, ways: list[tuple[int, Polynomial]]) -> Polynomial:
        """The sum of the ways that one and the same character may have led to, where that sum is greatest."""
        best: Polynomial = (0.0,)
        for first in {first for state, _ in ways for first, _ in self.net.units[state]}:
            total: Polynomial = (0.0,)
            for other, polynomial in ways:
                if overlap(self.net.units[other], ((first, first),)):
                    total = _plus(total, polynomial)
            best = max(best, total, key=_at_length)
        return best

    def moments(self, state: int, ways: Polynomial) -> Polynomial:
        """The sum of the ways over all moments at which the state can be reached."""
        word: list[Units] = []
        while state != FRONT and state not in self.net.loop and len(word) < _MOST_OF_A_WORD:
            if self.net.units[state] in (START, END):
                return ways  # there is one such moment
            word.insert(0, self.net.units[state])
            if len(self.before[state]) != 1:
                break
            state = self.before[state][0]
        if state == FRONT and not self.search:
            return ways
        apart = _apart(word)
        return _plus(ways, (0.0, *(way / apart for way in ways)))

    def begun(self) -> int:
        """The last of the states in front that every path goes through, one after the other."""
        state = FRONT
        while len(self.net.follow[state]) == 1:
            after = next(iter(self.net.follow[state]))
            if after in self.net.loop or not self.net.units[after] or len(self.before[after]) > 1:
                break
            state = after
        return state


def _apart(word: list[Units]) -> int:
    """The least distance between two places of a text where the word can end."""
    for shift in range(1, len(word)):
        if all(overlap(here, there) for here, there in zip(word, word[shift:], strict=False)):
            return shift
    return max(1, len(word))


def _plus(one: Polynomial, other: Polynomial) -> Polynomial:
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    return tuple(way + (shorter[k] if k < len(shorter) else 0.0) for k, way in enumerate(longer))


def _times(polynomial: Polynomial, factor: float) -> Polynomial:
    return tuple(way * factor for way in polynomial)


def _product(one: Polynomial, other: Polynomial) -> Polynomial:
    """Places chosen in order, and then others behind them."""
    product = [0.0] * (len(one) + len(other) - 1)
    for k, ways in enumerate(one):
        for m, more in enumerate(other):
            product[k + m] += ways * more
    return tuple(product)


def _at_length(polynomial: Polynomial) -> float:
    total, places = 0.0, 1.0
    for k, ways in enumerate(polynomial):
        if k:
            places *= _LENGTH / k
        total += ways * places
    return total
