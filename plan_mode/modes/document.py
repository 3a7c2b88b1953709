"""A document that was read: plain data, and the place of every value in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..errors import YamlError
from ..text import one_line

DEEPEST: Final = 64

MOST_WEIGHT: Final = 6 * 1024 * 1024
"""What all values may add up to: 100 for each, and 1 for each character; what an alias repeats counts again."""

_EACH: Final = 100

Path = tuple[str | int, ...]


class Node:
    """One value, where it begins (counted from 1), and the nodes of what it holds."""

    __slots__ = ("children", "column", "extent", "line", "text", "value", "weight")

    def __init__(self, value: Any, line: int, column: int, text: str | None = None) -> None:
        self.value, self.line, self.column, self.text = value, line, column, text
        self.children: dict[str, Node] | list[Node] = {} if type(value) is dict else []
        self.weight = _EACH + len(text or "")
        self.extent: tuple[int, int, str] = (0, 0, "")
        """Of a scalar: the characters from, to, and the sign it is quoted by."""

    def child(self, step: str | int) -> Node | None:
        """What it holds under a key or at an index; None without such."""
        if isinstance(self.children, dict):
            return self.children.get(step) if isinstance(step, str) else None
        return self.children[step] if isinstance(step, int) and 0 <= step < len(self.children) else None


@dataclass(frozen=True, slots=True)
class Document:
    """What a text says: ``data`` of dict, list, str, int, float, bool and None, and the place of each value.

    ``repaired`` tells that it could be read only after typographic characters had been replaced.
    """

    data: Any
    root: Node
    repaired: bool = False

    def at(self, path: Path) -> tuple[int, int]:
        """Line and column, from 1, of the value at ``path``, or of the innermost one around it that is there.

        In a repaired text the column doesn't count characters that were removed before it.
        """
        node = self.root
        for step in path:
            inner = node.child(step)
            if inner is None:
                break
            node = inner
        return node.line, node.column


@dataclass(slots=True)
class _Open:
    """A dict or list that isn't closed yet; ``key`` waits for its value."""

    node: Node
    anchor: str | None
    key: str | None = None


class Building:
    """Nodes put together in the order they are met. Raises YamlError for what no document of ours may hold."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self._open: list[_Open] = []
        self._anchors: dict[str, Node | None] = {}
        self._weight = 0

    def scalar(self, node: Node, anchor: str | None = None) -> None:
        """A value, or a key, that holds nothing."""
        self._put(node)
        if anchor is not None:
            self._anchors[anchor] = node

    def open(self, node: Node, anchor: str | None = None) -> None:
        """A dict or list begins; what comes next belongs to it."""
        if len(self._open) == DEEPEST:
            raise YamlError(node.line, node.column, f"this is nested more than {DEEPEST} deep")
        self._put(node)
        if anchor is not None:
            self._anchors[anchor] = None
        self._open.append(_Open(node, anchor))

    def close(self) -> None:
        """The innermost dict or list ends."""
        closed = self._open.pop()
        if closed.anchor is not None:
            self._anchors[closed.anchor] = closed.node
        if self._open:
            self._open[-1].node.weight += closed.node.weight - _EACH

    def alias(self, anchor: str, line: int, column: int) -> None:
        """The value called ``anchor`` once more."""
        node = self._anchors.get(anchor)
        if node is None:
            which = "the value it stands in" if anchor in self._anchors else "a value that isn't there"
            raise YamlError(line, column, f"'*{one_line(anchor, 40)}' refers to {which}",
                            "Put text that begins with * in single quotes.")
        self._put(node)

    def _put(self, node: Node) -> None:
        self._weight += node.weight
        if self._weight > MOST_WEIGHT:
            raise YamlError(node.line, node.column, "there are more values than a file of modes can hold",
                            "Split it into several files, and write out what aliases repeat.")
        if not self._open:
            self.root = node
            return
        into = self._open[-1]
        holder = into.node
        holder.weight += node.weight
        if isinstance(holder.children, list):
            holder.value.append(node.value)
            holder.children.append(node)
        elif into.key is None:
            into.key = _key(holder, node)
        else:
            holder.value[into.key] = node.value
            holder.children[into.key] = node
            into.key = None


def _key(holder: Node, node: Node) -> str:
    if node.text is None:
        raise YamlError(node.line, node.column, "a key must be text, and this is a list or a mapping",
                        "Put a value that begins with [ or { in single quotes.")
    if node.text in holder.value:
        raise YamlError(node.line, node.column, f"the key '{one_line(node.text, 60)}' stands twice", "Keep one of them.")
    return node.text
