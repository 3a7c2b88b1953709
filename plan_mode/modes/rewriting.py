"""A pattern's tree -> another that gives the same verdict, has no groups but those referred to, and backtracks less.

Each step keeps what a search finds, or doesn't find; none keeps where, or what a group captured. With a live
back-reference only the first step is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product
from typing import Final

from .codeunits import Units, covers, overlap
from .jstree import Alt, Chars, Edge, Fault, Group, Look, Node, Once, Ref, Repeat, Seq, children, joined

_MOST_WORDS: Final = 64
Word = tuple[Units, ...]


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
        case Chars() | Edge() | Ref() | Once():
            return node


def _without_groups(node: Node, alive: set[int]) -> Node:
    changed = _mapped(node, lambda inner: _without_groups(inner, alive))
    return changed.body if isinstance(changed, Group) and changed.number not in alive else changed


def relieve(tree: Node) -> Node:
    """The tree of a search without live references, made to backtrack less."""
    branches = [_row(_cut(_cut(_items(branch), 0), -1), free=True) for branch in _branches(_trimmed(tree))]
    return branches[0] if len(branches) == 1 else Alt(tuple(branches), 0)


def _branches(node: Node) -> list[Node]:
    return [inner for branch in node.branches for inner in _branches(branch)] if isinstance(node, Alt) else [node]


def _items(node: Node) -> list[Node]:
    return list(node.items) if isinstance(node, Seq) else [node]


def _trimmed(node: Node) -> Node:
    """Every look-around without a loop that makes no difference to it: the last one ahead, the first one behind."""
    changed = _mapped(node, _trimmed)
    if not isinstance(changed, Look):
        return changed
    end = -1 if changed.ahead else 0
    branches = [joined(_cut(_items(branch), end)) for branch in _branches(changed.body)]
    return replace(changed, body=branches[0] if len(branches) == 1 else Alt(tuple(branches), changed.at))


def _cut(items: list[Node], end: int) -> list[Node]:
    """Where nothing has to stand on the far side of a loop at that end, its least number of repetitions is enough."""
    if not items or not isinstance(loop := items[end], Repeat) or loop.low == loop.high:
        return items
    least: list[Node] = [] if loop.low == 0 else [loop.body] if loop.low == 1 else [replace(loop, high=loop.low)]
    return least + items[1:] if end == 0 else items[:-1] + least


def _relieved(node: Node) -> Node:
    """The inside of a node, with what may be found once and kept."""
    if isinstance(node, Repeat) and node.high != 1:
        return node
    if isinstance(node, Seq):
        return _row(list(node.items), free=False)
    if isinstance(node, Look) and not node.ahead:
        return node
    return _mapped(node, _relieved)


def _row(items: list[Node], *, free: bool) -> Node:
    """``D*XE*Y`` -> ``(?>D*?X)E*Y`` wherever that says the same.

    It does if D and E are the same set, X consists of a few words made of that set, and none of the words can end
    inside another: then the first X ends first, and E* passes what lies between it and any later one. What X asks of
    the text around it only makes its places fewer. A search for ``XE*Y`` is one for ``E*XE*Y``, begun where a run of
    E begins. And ``X?E*`` is ``E*`` if E* can pass X.
    """
    items = _without_passable(items)
    done: list[Node] = []
    place, before, begin = 0, None, 0
    for at, item in enumerate(items):
        if not _is_open_loop(item):
            done.append(_relieved(item))
            continue
        assert isinstance(item, Repeat)
        if (before is not None or free) and _found_once(items[begin:at], before, item):
            loop = before or replace(item, low=0)
            done[place:] = [Once((loop, *items[begin:at]), before is None)]
        place, before, begin = len(done), item, at + 1
        done.append(item)
    return joined(done)


def _without_passable(items: list[Node]) -> list[Node]:
    """The items without what is optional and could be passed by a loop beside it, whose least number is 0."""
    kept: list[Node] = []
    for item in items:
        if not (kept and _passes(kept[-1], item)):
            while kept and _passes(item, kept[-1]):
                kept.pop()
            kept.append(item)
    return kept


def _passes(loop: Node, item: Node) -> bool:
    if not (_is_open_loop(loop) and isinstance(loop, Repeat) and isinstance(loop.body, Chars) and loop.low == 0):
        return False
    if not (isinstance(item, Repeat) and item.low == 0 and item.high is not None):
        return False  # two such loops in a row are left to be found fault with
    words = words_of(item.body)
    return words is not None and all(covers(loop.body.units, unit) for word in words for unit in word)


def _is_open_loop(node: Node) -> bool:
    return isinstance(node, Repeat) and node.high is None and isinstance(node.body, Chars)


def _found_once(between: list[Node], before: Repeat | None, loop: Repeat) -> bool:
    assert isinstance(loop.body, Chars)
    units = loop.body.units
    if before is not None and isinstance(before.body, Chars) and before.body.units != units:
        return False
    words = words_of(joined(between), anywhere=True)
    return (words is not None and all(words) and all(covers(units, unit) for word in words for unit in word)
            and not any(_inside(word, other) for word in words for other in words))


def _inside(word: Word, other: Word) -> bool:
    """Whether some text holds the word inside the other word, ending earlier."""
    return any(all(overlap(here, there) for here, there in zip(word, other[shift:], strict=False))
               for shift in range(len(other) - len(word)))


def words_of(node: Node, *, anywhere: bool = False) -> tuple[Word, ...] | None:
    """All words, as sets of units, that the node stands for; None if they are many, or depend on what is around.

    ``anywhere``: as if what must be around always were.
    """
    match node:
        case Chars():
            return ((node.units,),)
        case Seq():
            return _rows([words_of(item, anywhere=anywhere) for item in node.items])
        case Alt():
            return _few(words_of(branch, anywhere=anywhere) for branch in node.branches)
        case Repeat() if node.high is not None and node.high <= _MOST_WORDS:
            words = words_of(node.body, anywhere=anywhere)
            return _few(_rows([words] * times) for times in range(node.low, node.high + 1))
        case Edge() | Look() if anywhere:
            return ((),)
    return None


def _few(parts: Iterable[tuple[Word, ...] | None]) -> tuple[Word, ...] | None:
    found: dict[Word, None] = {}
    for words in parts:
        if words is None or len(found) + len(words) > _MOST_WORDS:
            return None
        found.update(dict.fromkeys(words))
    return tuple(found)


def _rows(parts: list[tuple[Word, ...] | None]) -> tuple[Word, ...] | None:
    found: tuple[Word, ...] = ((),)
    for words in parts:
        if words is None or len(found) * len(words) > _MOST_WORDS:
            return None
        found = tuple(sum(pair, ()) for pair in product(found, words))
    return found
