"""Back-references: which of them are alive, and what becomes of a pattern with a live one.

Such a pattern is written anew for Python's ``re``, which tries one way after the other, and refused if that could take too
long. Nothing of the pattern's own text reaches ``re``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from .codeunits import as_python, overlap
from .syntax import MOST_REPEATS
from .tree import Alt, Chars, Edge, Fault, Group, Look, Node, Ref, Repeat, Seq, children, joined

MOST_NANOSECONDS: Final = 100_000_000
"""What the longest search may take, by the prices below."""

_UNIT, _TRY, _COMPARE = 3, 8, 500
"""Nanoseconds, measured with CPython 3.11: to pass a character, to try one more way, and to compare with a group's text."""

_LENGTH: Final = MOST_REPEATS + 1

# ASCII: \b means what it means in JavaScript. DOTALL: the dot is what ``codeunits`` writes for any unit at all.
_FLAGS: Final = re.ASCII | re.DOTALL
_EDGES: Final = {"^": r"\A", "$": r"\Z", "b": r"\b", "B": r"(?!\b)"}


def settle_references(tree: Node, any_case: bool) -> tuple[Node, bool]:
    """The tree with each back-reference that is always empty removed, and whether others are left.

    JavaScript: a group that isn't set matches the empty text, and a repetition starts with its groups unset. So a
    reference is alive only behind its group. One whose value Python would see otherwise is a Fault.
    """
    alive: set[int] = set()
    settled, _ = _settle(tree, {}, any_case, False, alive)
    return _without_groups(settled, alive), bool(alive)


def _settle(node: Node, seen: dict[int, bool], any_case: bool, repeated: bool, alive: set[int]) -> tuple[Node, dict[int, bool]]:
    """``seen``: group that may be set here -> whether Python sees the same. Returns those set by the node, too."""
    def within(inner: Node, seen: dict[int, bool], repeated: bool = repeated) -> tuple[Node, dict[int, bool]]:
        return _settle(inner, seen, any_case, repeated, alive)

    match node:
        case Ref():
            if node.number not in seen:
                return Seq(), {}
            _refuse_reference(node, clear=seen[node.number], any_case=any_case)
            alive.add(node.number)
        case Group():
            body, inner = within(node.body, seen)
            return replace(node, body=body), {**inner, node.number: not repeated}
        case Look() if not node.ahead:
            _refuse_references_behind(node.body, node)
            return node, dict.fromkeys(_numbers(node.body), False) if node.wanted else {}
        case Look():
            body, inner = within(node.body, seen)
            return replace(node, body=body), inner if node.wanted else {}
        case Repeat():
            body, inner = within(node.body, seen, repeated or node.high != 1)
            return replace(node, body=body), inner
        case Alt():
            branches = [within(branch, seen) for branch in node.branches]
            settled_branches = tuple(branch for branch, _ in branches)
            return replace(node, branches=settled_branches), {k: v for _, inner in branches for k, v in inner.items()}
        case Seq():
            items, found = [], dict[int, bool]()
            for item in node.items:
                settled, inner = within(item, {**seen, **found})
                items.append(settled)
                found.update(inner)
            return joined(items), found
    return node, {}


def _refuse_reference(node: Ref, *, clear: bool, any_case: bool) -> None:
    if not clear:
        raise Fault(node.at, "this refers to a group inside a repeated part or a look-behind",
                    "Refer to a group that stands outside of them, or write the pattern without the reference.")
    if any_case:
        raise Fault(node.at, "a back-reference can't be used together with (?i)", "Write both cases instead, as in [aA].")


def _refuse_references_behind(node: Node, look: Look) -> None:
    for inner in children(node):
        _refuse_references_behind(inner, look)
    if isinstance(node, Ref):
        raise Fault(node.at, "a back-reference stands inside a look-behind", "Write what it refers to once more.")


def _numbers(node: Node) -> set[int]:
    inner = {number for child in children(node) for number in _numbers(child)}
    return inner | {node.number} if isinstance(node, Group) else inner


def _mapped(node: Node, change: Callable[[Node], Node]) -> Node:
    """The node with its children changed."""
    match node:
        case Look() | Group() | Repeat():
            return replace(node, body=change(node.body))
        case Seq():
            return joined(map(change, node.items))
        case Alt():
            return replace(node, branches=tuple(map(change, node.branches)))
        case Chars() | Edge() | Ref():
            return node


def _without_groups(node: Node, alive: set[int]) -> Node:
    changed = _mapped(node, lambda inner: _without_groups(inner, alive))
    return changed.body if isinstance(changed, Group) and changed.number not in alive else changed


def compiled(tree: Node) -> re.Pattern[str]:
    """The pattern for ``re``, or a Fault if a search could take longer than allowed on a text of the greatest length.

    ``refuse_ambiguity`` must have passed.
    """
    _, price = _cost(tree)
    if price * (1 if _stands_first(tree) else _LENGTH) > MOST_NANOSECONDS:
        at = next(node.at for node in _within(tree) if isinstance(node, Ref))
        raise Fault(at, "with this back-reference, a match could take too long on a long path",
                    "Begin the pattern with ^, use fewer of .* and .+, or let them pass less, as in [^/]+.")
    for node in _within(tree):
        if isinstance(node, Look) and not node.ahead:
            _refuse_widths(node)
    return re.compile(_written(tree), _FLAGS)


def _refuse_widths(behind: Look) -> None:
    try:
        re.compile(_written(behind), _FLAGS)
    except re.error:
        raise Fault(behind.at, "together with a back-reference, this look-behind can't match texts of several lengths",
                    "Look ahead from the start instead, as in ^(?!.*test), or leave the back-reference out.") from None


def _cost(node: Node, after: Node | None = None) -> tuple[int, int]:
    """In how many ways the node can match from one place, at most, and the nanoseconds to try them all."""
    match node:
        case Chars() | Edge():
            return 1, _UNIT
        case Ref():
            return 1, _COMPARE
        case Group():
            return _cost(node.body, after)
        case Look():
            return 1, _TRY + _cost(node.body)[1]  # once it holds, it isn't tried in another way
        case Seq():
            ways, price = 1, 0
            for item, beside in zip(node.items, (*node.items[1:], after), strict=False):
                more, once = _cost(item, beside)
                ways, price = ways * more, price + ways * once
            return ways, price
        case Alt():
            costs = [_cost(branch, after) for branch in node.branches]
            return sum(ways for ways, _ in costs), sum(_TRY + price for _, price in costs)
        case Repeat(body=Chars(units)):
            ends = (_LENGTH if node.high is None else node.high) - node.low + 1
            decided = isinstance(after, Chars) and not overlap(units, after.units)  # it can end only where it can't go on
            return 1 if decided else ends, _UNIT * node.low + _TRY * ends
        case Repeat() if node.high == 1:
            ways, price = _cost(node.body, after)
            return ways + 1, price + _TRY
        case Repeat():
            # No two ways lead through it to one place, and none passes a part of it twice at one place, but for how often
            # they pass ^ and $.
            parts = list(_within(node.body))
            ways = _LENGTH * (1 + sum(isinstance(part, Edge) for part in parts)) ** 2
            return ways, ways * sum(_cost(part)[1] if isinstance(part, Look) else _TRY for part in parts)


def _stands_first(node: Node) -> bool:
    """Whether the node can match at the start of a text only."""
    match node:
        case Edge():
            return node.kind == "^"
        case Seq():
            return bool(node.items) and _stands_first(node.items[0])
        case Alt():
            return all(map(_stands_first, node.branches))
        case Group():
            return _stands_first(node.body)
    return False


def _within(node: Node) -> Iterator[Node]:
    yield node
    for child in children(node):
        yield from _within(child)


def _written(node: Node) -> str:
    """The node in the syntax of ``re``."""
    match node:
        case Chars():
            return as_python(node.units)
        case Edge():
            return _EDGES[node.kind]
        case Seq():
            return "".join(map(_written, node.items))
        case Alt():
            return f"(?:{'|'.join(map(_written, node.branches))})"
        case Look():
            return f"(?{'' if node.ahead else '<'}{'=' if node.wanted else '!'}{_written(node.body)})"
        case Group():
            return f"(?P<g{node.number}>{_written(node.body)})"
        case Ref():
            # A group that isn't set matches the empty text in JavaScript, and nothing in Python.
            return f"(?(g{node.number})(?P=g{node.number}))"
        case Repeat():
            counts = {(0, None): "*", (1, None): "+", (0, 1): "?"}
            count = counts.get((node.low, node.high), f"{{{node.low},{'' if node.high is None else node.high}}}")
            body = _written(node.body)
            return (body if isinstance(node.body, Chars) else f"(?:{body})") + count
