"""Would a program that a reading tool starts take one of the call's arguments for an option of its own?

The host's ``search_files`` hands its arguments to ripgrep, grep or find as they are, without the ``--`` that ends the options.
ripgrep's ``--pre`` runs any program on every file of the folder: a pattern alone would then run code, or remove files.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

_FIRST: Final = re.compile(r"-")
# The host takes a path that doesn't exist for several, separated by commas or blanks.
_FIRST_OF_ANY: Final = re.compile(r"(?:.*[\s,])?-\S", re.DOTALL)

PASSED_ON: Final = MappingProxyType({
    "search_files": MappingProxyType({"pattern": _FIRST, "path": _FIRST_OF_ANY, "file_glob": _FIRST}),
    "read_file": MappingProxyType({"path": _FIRST}),
})
"""Tools and their arguments that reach a program, and what an option looks like there."""


def option_among(tool: str, untrusted_arguments: object) -> str:
    """What could be taken for an option, as the subject of a sentence, or "". What isn't plain text could be.

    Source of the rule: how Hermes 0.19 and 0.22 put their search commands together.
    Does not: look at the disk; a dash at the beginning is refused whether or not such a file exists.
    """
    passed_on = PASSED_ON.get(tool)
    if passed_on is None or untrusted_arguments is None:
        return ""
    if type(untrusted_arguments) is not dict:
        return "one of its arguments"
    for name, option in passed_on.items():
        value = untrusted_arguments.get(name)
        if value is not None and (type(value) is not str or option.match(value)):
            return f"its argument {name}"
    return ""
