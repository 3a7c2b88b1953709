"""``fileRegex``: a JavaScript pattern, matched by search, with JavaScript's verdict and in bounded time.

A pattern is parsed as JavaScript without flags (``jssyntax``), refused if it isn't that, made easier to match
(``rewriting``), refused if a match could still take too long (``backtracking``), and written anew for Python's ``re``.
Nothing of the pattern's own text reaches ``re``, and both sides see UTF-16 code units (``codeunits``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from ..errors import PatternError
from .backtracking import refuse_ambiguity, refuse_slowness
from .codeunits import as_python, as_units, offset_of
from .jssyntax import MOST_REPEATS, parse
from .jstree import Alt, Chars, Edge, Fault, Group, Look, Node, Once, Ref, Repeat, Seq
from .rewriting import Word, relieve, settle_references, words_of

MOST_OF_A_PATTERN: Final = 512
MOST_OF_A_PATH: Final = MOST_REPEATS
"""Characters as JavaScript counts them: one beyond the basic plane counts as two."""

_ANY_CASE: Final = "(?i)"
_EXTENSION: Final = "(?i) isn't JavaScript, and other programs may refuse it; here it means that case doesn't count."

# ASCII: \b means what it means in JavaScript. DOTALL: the dot is what ``codeunits`` writes for any unit at all.
_FLAGS: Final = re.ASCII | re.DOTALL
_EDGES: Final = {"^": r"\A", "$": r"\Z", "b": r"\b", "B": r"(?!\b)"}


@dataclass(frozen=True, slots=True)
class Pattern:
    """A JavaScript pattern, ready to be matched. Equal when the text is. ``note``: what its author should know."""

    source: str
    compiled: re.Pattern[str] = field(compare=False, repr=False)
    note: str = field(default="", compare=False)

    def matches(self, path: str) -> bool:
        """Whether JavaScript's ``new RegExp(source).test(path)`` says so.

        A path of more than MOST_OF_A_PATH characters matches nothing, so that its edit is denied.
        Does not: change the path, which should be relative to the project root and have ``/`` between names.
        """
        if len(path) > MOST_OF_A_PATH:
            return False
        units = as_units(path)
        return len(units) <= MOST_OF_A_PATH and self.compiled.search(units) is not None


def translate(source: str) -> Pattern:
    """The pattern, or a PatternError that names the place and says what to write instead.

    Source of the rules: ECMAScript with its Annex B, as Node.js 20 carries it out; a leading ``(?i)`` is our extension.
    Does not: refuse the empty pattern, which matches everything.
    """
    units = as_units(source)
    if len(units) > MOST_OF_A_PATTERN:
        raise PatternError(source, offset_of(source, MOST_OF_A_PATTERN),
                           f"it goes beyond the {MOST_OF_A_PATTERN} characters that a pattern may have", "Say it more briefly.")
    any_case = units.startswith(_ANY_CASE)
    try:
        tree, referring = settle_references(parse(units, len(_ANY_CASE) if any_case else 0, any_case), any_case)
        refuse_ambiguity(tree)
        tree = tree if referring else relieve(tree)
        refuse_slowness(tree)
        written = _written(tree)
    except Fault as fault:
        raise PatternError(source, offset_of(source, fault.at), fault.reason, fault.hint) from None
    return Pattern(source, re.compile(written, _FLAGS), _EXTENSION if any_case else "")


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
            return f"(?{'=' if node.wanted else '!'}{_written(node.body)})" if node.ahead else _behind(node)
        case Group():
            return f"(?P<g{node.number}>{_written(node.body)})"
        case Ref():
            # A group that isn't set matches the empty text in JavaScript, and nothing in Python.
            return f"(?(g{node.number})(?P=g{node.number}))"
        case Once():
            return _once(node)
        case Repeat():
            return _repeat(node)


def _repeat(node: Repeat) -> str:
    body = _written(node.body)
    counts = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    count = counts.get((node.low, node.high), f"{{{node.low},{'' if node.high is None else node.high}}}")
    return (body if isinstance(node.body, Chars) else f"(?:{body})") + count


def _once(node: Once) -> str:
    loop, *rest = node.items
    assert isinstance(loop, Repeat)
    begin = f"(?<!{_written(loop.body)})" if node.free else ""
    return f"{begin}(?>{_repeat(loop)}?{''.join(map(_written, rest))})"


def _behind(look: Look) -> str:
    """A look-behind: one for each width, because Python's have but one; a Fault if the widths can't be counted up."""
    branches = look.body.branches if isinstance(look.body, Alt) else (look.body,)
    if any(_width(branch) is None for branch in branches):
        words = words_of(look.body)
        if words is None:
            raise Fault(look.at, "this look-behind could match texts of many lengths",
                        "Look ahead from the start instead, as in ^(?!.*test), or look behind for a few fixed words.")
        behind = [_word(word) for word in words]
    else:
        behind = [_written(branch) for branch in branches]
    if not look.wanted:
        return "".join(f"(?<!{text})" for text in behind)
    return f"(?:{'|'.join(f'(?<={text})' for text in behind)})"


def _word(word: Word) -> str:
    return "".join(map(as_python, word))


def _width(node: Node) -> int | None:
    """How many units the node matches, if that is always the same number."""
    match node:
        case Chars():
            return 1
        case Edge() | Look():
            return 0
        case Seq():
            return _sum(map(_width, node.items))
        case Alt():
            widths = set(map(_width, node.branches))
            return widths.pop() if len(widths) == 1 else None
        case Repeat() if node.low == node.high:
            width = _width(node.body)
            return None if width is None else width * node.low
    return None


def _sum(widths: Iterable[int | None]) -> int | None:
    found = list(widths)
    return None if None in found else sum(width for width in found if width is not None)
