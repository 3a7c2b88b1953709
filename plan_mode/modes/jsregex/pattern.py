"""A pattern from its text to its verdict."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ...errors import PatternError
from .ambiguity import refuse_ambiguity
from .codeunits import as_units, offset_of
from .places import is_found, refuse_work
from .syntax import MOST_REPEATS, parse
from .tree import Fault, Node

MOST_OF_A_PATTERN: Final = 512
MOST_OF_A_PATH: Final = MOST_REPEATS
"""Characters as JavaScript counts them: one beyond the basic plane counts as two."""

_ANY_CASE: Final = "(?i)"
_EXTENSION: Final = "(?i) isn't JavaScript, and other programs may refuse it; here it means that case doesn't count."


@dataclass(frozen=True, slots=True)
class Pattern:
    """A JavaScript pattern, ready to be matched. Equal when the text is. ``note``: what its author should know."""

    source: str
    tree: Node = field(compare=False, repr=False)
    note: str = field(default="", compare=False)

    def matches(self, path: str) -> bool:
        """Whether JavaScript's ``new RegExp(source).test(path)`` says so.

        A path of more than MOST_OF_A_PATH characters matches nothing, so that its edit is denied.
        Does not: change the path, which should be relative to the project root and have ``/`` between names.
        """
        if len(path) > MOST_OF_A_PATH:
            return False
        units = as_units(path)
        return len(units) <= MOST_OF_A_PATH and is_found(self.tree, units)


def translate(source: str) -> Pattern:
    """The pattern, or a PatternError that names the place and says what to write instead.

    Source of the rules: ECMAScript with its Annex B, as Node.js 20 carries it out; a leading ``(?i)`` is our extension.
    Does not: take back-references; refuse the empty pattern, which matches everything.
    """
    units = as_units(source)
    if len(units) > MOST_OF_A_PATTERN:
        raise PatternError(source, offset_of(source, MOST_OF_A_PATTERN),
                           f"it goes beyond the {MOST_OF_A_PATTERN} characters that a pattern may have", "Say it more briefly.")
    any_case = units.startswith(_ANY_CASE)
    try:
        tree = parse(units, len(_ANY_CASE) if any_case else 0, any_case)
        refuse_ambiguity(tree)
        refuse_work(tree)
    except Fault as fault:
        raise PatternError(source, offset_of(source, fault.at), fault.reason, fault.hint) from None
    return Pattern(source, tree, _EXTENSION if any_case else "")
