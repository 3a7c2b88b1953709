"""The tree of a pattern. Every ``at`` is the number of a code unit in the pattern."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .codeunits import Units


@dataclass(frozen=True, slots=True)
class Chars:
    """One code unit out of a set."""

    units: Units
    at: int


@dataclass(frozen=True, slots=True)
class Edge:
    """``^``, ``$``, ``b`` or ``B``."""

    kind: str
    at: int


@dataclass(frozen=True, slots=True)
class Look:
    """Look-ahead or look-behind; ``wanted`` is False for the negative ones."""

    body: Node
    ahead: bool
    wanted: bool
    at: int


@dataclass(frozen=True, slots=True)
class Repeat:
    """``high`` is None for any number. Greedy or lazy makes no difference to whether something matches."""

    body: Node
    low: int
    high: int | None
    at: int


@dataclass(frozen=True, slots=True)
class Seq:
    items: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Alt:
    branches: tuple[Node, ...]
    at: int


Node = Chars | Edge | Look | Repeat | Seq | Alt


def children(node: Node) -> tuple[Node, ...]:
    match node:
        case Look() | Repeat():
            return (node.body,)
        case Seq():
            return node.items
        case Alt():
            return node.branches
        case Chars() | Edge():
            return ()


def is_nullable(node: Node) -> bool:
    """Whether the node can match without a character; ``^`` and ``$`` count as one, because they stand at one place."""
    match node:
        case Chars():
            return False
        case Edge():
            return node.kind in "bB"
        case Look():
            return True
        case Repeat():
            return node.low == 0 or is_nullable(node.body)
        case Alt():
            return any(map(is_nullable, node.branches))
        case Seq():
            return all(map(is_nullable, children(node)))


def joined(items: Iterable[Node]) -> Node:
    """The nodes in a row, with rows among them dissolved."""
    flat: list[Node] = []
    for item in items:
        flat.extend(item.items if isinstance(item, Seq) else (item,))
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))


class Fault(Exception):
    """The pattern can't be used; ``reason`` completes "at position ..."."""

    def __init__(self, at: int, reason: str, hint: str) -> None:
        self.at, self.reason, self.hint = at, reason, hint
        super().__init__(reason)
