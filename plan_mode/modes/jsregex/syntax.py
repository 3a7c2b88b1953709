"""The syntax of JavaScript patterns without flags, with what browsers allow beyond the standard's core (Annex B).

``parse`` makes a tree (``tree``) of a pattern, or raises a Fault.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from .codeunits import DIGIT, DOT, SPACE, WORD, Units, complement, either_case, is_single, one, union
from .tree import Alt, Chars, Edge, Fault, Look, Node, Repeat, Seq, children, is_nullable, joined

MOST_NESTED: Final = 40
MOST_REPEATS: Final = 1024
"""No text is longer: more repetitions than this are as good as any number."""


_CLASSES: Final = {"d": DIGIT, "w": WORD, "s": SPACE,
                   "D": complement(DIGIT), "W": complement(WORD), "S": complement(SPACE)}
_CONTROLS: Final = {"f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_LOOKS: Final = {"(?=": (True, True), "(?!": (True, False), "(?<=": (False, True), "(?<!": (False, False)}

_BRACES: Final = re.compile(r"\{([0-9]+)(,?)([0-9]*)\}")
_HEX: Final = {"x": re.compile(r"[0-9A-Fa-f]{2}"), "u": re.compile(r"[0-9A-Fa-f]{4}")}
_OCTAL: Final = re.compile(r"[0-3][0-7]{0,2}|[4-7][0-7]?")
_NUMBER: Final = re.compile(r"[0-9]+")
_NAMED: Final = re.compile(r"<([^>]*)>")

_NO_GROUP: Final = {
    "P": ("Python's (?P is no JavaScript", "Write (?<name>...) for a named group."),
    ">": ("an atomic group is no JavaScript", "Write (?:...) instead."),
    "#": ("a comment is no JavaScript", "Leave it out."),
    "i": ("(?i) stands elsewhere than at the start of the pattern",
          "Move it to the start, where it covers the whole pattern, or write both cases: [aA]."),
}
_OTHER_GROUP: Final = ("this kind of group is no JavaScript", "Write (?:...), or \\( and \\? for the characters themselves.")

_NOTHING_BEFORE: Final = (
    "A glob such as *.md is written \\.md$ here; .* stands for any characters, and \\* for a star.")
_SECOND_QUANTIFIER: Final = (
    "JavaScript has no possessive quantifiers: leave one of the two signs out, or put (?:...) around what is repeated.")

_REFERENCE: Final = ("a back-reference can't be used in a rule for files", "Write what it refers to once more, or leave it out.")


@dataclass(slots=True)
class Parser:
    """One pass over the code units of a pattern, from the left."""

    text: str
    ignore_case: bool
    at: int = 0
    groups: int = 0
    has_names: bool = False
    seen: set[str] = field(default_factory=set)
    quantified: bool = False

    def parse(self) -> Node:
        self.groups, self.has_names = _groups(self.text, self.at)
        tree = self.disjunction(0)
        if self.at < len(self.text):
            raise Fault(self.at, "there is a ) without its (", "Remove it, or write \\) for the character itself.")
        return tree

    def take(self, sign: str) -> bool:
        found = self.text.startswith(sign, self.at)
        self.at += len(sign) if found else 0
        return found

    def taken(self, shape: re.Pattern[str]) -> re.Match[str] | None:
        found = shape.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found

    def chars(self, units: Units, at: int) -> Chars:
        return Chars(either_case(units) if self.ignore_case else units, at)

    def disjunction(self, depth: int) -> Node:
        at, branches = self.at, [self.alternative(depth)]
        while self.take("|"):
            branches.append(self.alternative(depth))
        return branches[0] if len(branches) == 1 else Alt(tuple(branches), at)

    def alternative(self, depth: int) -> Node:
        items: list[Node] = []
        self.quantified = False
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            items.append(self.term(depth))
        return joined(items)

    def term(self, depth: int) -> Node:
        at, sign = self.at, self.text[self.at]
        if sign in "*+?" or (sign == "{" and _BRACES.match(self.text, at)):
            if self.quantified:
                raise Fault(at, f"{sign} follows another quantifier", _SECOND_QUANTIFIER)
            raise Fault(at, f"there is nothing before {sign} that it could repeat", _NOTHING_BEFORE)
        self.at += 1
        read = _ATOMS.get(sign)
        atom = read(self, at, depth) if read else self.chars(one(ord(sign)), at)
        self.quantified = False
        bare = isinstance(atom, (Edge, Look)) and atom.at == at
        if bare and not (isinstance(atom, Look) and atom.ahead):
            return atom
        return self.repeated(atom)

    def repeated(self, atom: Node) -> Node:
        at = self.at
        if braces := self.taken(_BRACES):
            low = int(braces[1])
            high = (int(braces[3]) if braces[3] else None) if braces[2] else low
        elif at < len(self.text) and self.text[at] in "*+?":
            self.at += 1
            low, high = int(self.text[at] == "+"), 1 if self.text[at] == "?" else None
        else:
            return atom
        self.take("?")
        self.quantified = True
        if high is not None and high < low:
            raise Fault(at, "the numbers of the quantifier are in the wrong order", "Write the smaller number first.")
        return _repeat(atom, low, high, at)

    def edge(self, at: int, depth: int) -> Node:
        return Edge(self.text[at], at)

    def dot(self, at: int, depth: int) -> Node:
        return self.chars(DOT, at)

    def group(self, at: int, depth: int) -> Node:
        if depth == MOST_NESTED:
            raise Fault(at, f"parentheses are nested more than {MOST_NESTED} deep", "Write the pattern with fewer of them.")
        self.at = at
        for sign, (ahead, wanted) in _LOOKS.items():
            if self.take(sign):
                return Look(self.inside(at, depth), ahead, wanted, at)
        if self.take("(?:"):
            return self.inside(at, depth)
        self.at += 1
        if self.take("?"):
            self.name(at)
        return self.inside(at, depth)

    def name(self, at: int) -> None:
        found = self.taken(_NAMED)
        if found is None and not self.text.startswith("<", self.at):
            raise Fault(at, *_NO_GROUP.get(self.text[self.at:self.at + 1], _OTHER_GROUP))
        if found is None or not found[1].replace("$", "_").isidentifier():
            raise Fault(at, "this isn't a name that a group can have",
                        "Write (?<name>...) with letters, digits and _ in the name.")
        if found[1] in self.seen:
            raise Fault(at, f"the name {found[1]} is used for two groups", "Give each group a name of its own.")
        self.seen.add(found[1])

    def inside(self, at: int, depth: int) -> Node:
        body = self.disjunction(depth + 1)
        if not self.take(")"):
            raise Fault(at, "this ( is never closed", "Add the ), or write \\( for the character itself.")
        return body

    def escape(self, at: int, depth: int) -> Node:
        sign = self.text[self.at:self.at + 1]
        if not sign:
            raise Fault(at, "the pattern ends in a lone backslash", "Write \\\\ for the character itself.")
        if sign in "bB":
            self.at += 1
            return Edge(sign, at)
        if sign in _CLASSES:
            self.at += 1
            return self.chars(_CLASSES[sign], at)
        if sign in "123456789":
            found = _NUMBER.match(self.text, self.at)
            assert found is not None
            if int(found[0]) <= self.groups:
                raise Fault(at, *_REFERENCE)
        if sign == "k" and self.has_names:
            raise Fault(at, *_REFERENCE)
        return self.chars(one(self.escaped(at, string.ascii_letters)), at)

    def escaped(self, at: int, after_c: str) -> int:
        """The code unit that an escape stands for. ``after_c`` may follow ``\\c``."""
        sign = self.text[self.at]
        if octal := self.taken(_OCTAL):
            return int(octal[0], 8)
        if sign == "c":
            letter = self.text[self.at + 1:self.at + 2]
            if not letter or letter not in after_c:
                return ord("\\")  # it stands for itself, and the c is read again
            self.at += 2
            return ord(letter) % 32
        if sign == "k" and self.has_names:
            raise Fault(at, "\\k stands in a class, in a pattern with named groups", "Write k.")
        self.at += 1
        if sign in _HEX and (digits := self.taken(_HEX[sign])):
            return int(digits[0], 16)
        return _CONTROLS.get(sign, ord(sign))

    def char_class(self, at: int, depth: int) -> Node:
        negated = self.take("^")
        members: list[Units] = []
        while not self.take("]"):
            here, left = self.at, self.member(at)
            if self.text.startswith("-", self.at) and not self.text.startswith("]", self.at + 1):
                self.at += 1
                right = self.member(at)
                left = self.range(left, right, here)
            members.append(left)
        units = union(*members)
        if self.ignore_case:
            units = either_case(units)
        return Chars(complement(units) if negated else units, at)

    def member(self, at: int) -> Units:
        here, sign = self.at, self.text[self.at:self.at + 1]
        if not sign:
            raise Fault(at, "this [ is never closed", "Add the ], or write \\[ for the character itself.")
        self.at += 1
        if sign != "\\":
            return one(ord(sign))
        escaped = self.text[self.at:self.at + 1]
        if not escaped:
            raise Fault(at, "this [ is never closed", "Add the ]; \\\\ is the backslash itself.")
        if escaped == "b" or escaped in _CLASSES:
            self.at += 1
            return _CLASSES.get(escaped, one(0x08))
        return one(self.escaped(here, string.ascii_letters + string.digits + "_"))

    def range(self, left: Units, right: Units, at: int) -> Units:
        if not (is_single(left) and is_single(right)):
            return union(left, one(ord("-")), right)
        if right[0][0] < left[0][0]:
            raise Fault(at, "the ends of this range are in the wrong order", "Write the smaller character first, as in [a-z].")
        return ((left[0][0], right[0][0]),)


_ATOMS: Final[dict[str, Callable[[Parser, int, int], Node]]] = {
    "^": Parser.edge, "$": Parser.edge, ".": Parser.dot, "(": Parser.group, "[": Parser.char_class, "\\": Parser.escape,
}


def parse(text: str, start: int, ignore_case: bool) -> Node:
    """The tree of the pattern whose code units are ``text[start:]``, or a Fault."""
    return Parser(text, ignore_case, start).parse()


def _repeat(atom: Node, low: int, high: int | None, at: int) -> Node:
    # A repetition that matches nothing doesn't count in JavaScript, unless it is one of the least number.
    if high == 0 or (low == 0 and _is_empty(atom)):
        return Seq()
    if (low, high) == (1, 1) or _is_empty(atom):
        return atom
    if (low, high) == (0, 1) and is_nullable(atom):
        return atom if _is_always_nullable(atom) else Alt((atom, Seq()), at)
    return Repeat(atom, min(low, MOST_REPEATS + 1), high if high is not None and high <= MOST_REPEATS else None, at)


def _is_empty(node: Node) -> bool:
    """Whether the node matches nothing but the empty text."""
    return isinstance(node, (Edge, Look)) or (not isinstance(node, Chars) and all(map(_is_empty, children(node))))


def _is_always_nullable(node: Node) -> bool:
    match node:
        case Alt():
            return any(map(_is_always_nullable, node.branches))
        case Repeat():
            return node.low == 0 or _is_always_nullable(node.body)
        case Seq():
            return all(map(_is_always_nullable, children(node)))
    return False


def _groups(text: str, start: int) -> tuple[int, bool]:
    """How many groups capture, and whether any has a name: what a number and \\k mean depends on those that follow, too."""
    count, has_names, at, in_class = 0, False, start, False
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif in_class:
            in_class = text[at] != "]"
        elif text[at] == "[":
            in_class = True
        elif text[at] == "(":
            named = text.startswith("(?<", at) and not text.startswith(("(?<=", "(?<!"), at)
            count += named or not text.startswith("(?", at)
            has_names = has_names or named
        at += 1
    return count, has_names
