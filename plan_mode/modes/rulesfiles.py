"""``rulesFiles``: the rules of a mode inside an exported file, in Roo Code's own format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ..errors import Refusal
from ..text import visible
from .faults import Reading, Spot, name_of, shown
from .rules import MOST_FILES, MOST_OF_ALL, MOST_OF_ONE, Rule, name_fault

_PATH: Final = "relativePath"
_TEXT: Final = "content"
_FOLDER: Final = re.compile(r"rules(-.*)?\Z")
_SHAPE: Final = f"Write a list of {{{_PATH}: a path below the folder of rules, {_TEXT}: the text}}."


def to_data(slug: str, rules: Iterable[Rule]) -> list[dict[str, str]]:
    """The value of ``rulesFiles`` from which ``check`` makes the same rules. Raises Refusal for what it wouldn't take.

    Two texts of one name, or of names that differ by case, become one: they go to one folder.
    """
    found: dict[str, dict[str, str]] = {}
    for rule in rules:
        fault = name_fault(rule.name)
        if fault:
            raise Refusal("not-exportable", f"Its rules can't be exported, because of the path '{visible(rule.name)}': {fault}.",
                          "Rename that file.")
        # The first folder would be taken for the one that older exports begin with; this one is, and goes.
        told = f"rules-{slug}/{rule.name}" if _FOLDER.match(rule.name.split("/")[0]) else rule.name
        before = found.get(rule.name.casefold())
        if before is None:
            found[rule.name.casefold()] = {_PATH: told, _TEXT: rule.text}
        else:
            before[_TEXT] += f"\n{rule.text}"
    data = list(found.values())
    _refuse_faults(slug, data)
    return data


def _refuse_faults(slug: str, data: list[dict[str, str]]) -> None:
    """Joining what lies in two folders can make rules that neither of them held: an import of those would be refused."""
    reading = Reading("", "", lambda path: (int(path[0]) + 1, 0) if path else (0, 0))  # the "line" is the number of the entry
    check(Spot(reading, ()), data)
    for fault in reading.faults:
        where = f" of {shown(data[fault.line - 1][_PATH])}" if fault.line else ""
        found = f"; it is {fault.found}" if fault.found else ""
        raise Refusal("not-exportable", f"The rules of {slug} can't be exported, because no import would take them{where}: "
                      f"{fault.message}{found}.", fault.hint)


def check(spot: Spot, value: Any) -> Mapping[str, str]:
    """The rules that a value of ``rulesFiles`` means: path below the folder, with ``/``, and text. Tells every fault."""
    if not isinstance(value, list):
        spot.fault("this must be a list of rules", shown(value), _SHAPE)
        return {}
    if len(value) > MOST_FILES:
        spot.fault(f"a mode can't have more than {MOST_FILES} files of rules", shown(value), "Join some of them.")
        return {}
    found: dict[str, str] = {}
    taken: dict[str, str] = {}
    for number, entry in enumerate(value):
        path, text = _entry(spot / number, entry)
        if not path:
            continue
        key = path.casefold()
        if key in taken:
            (spot / number).fault(f"another file of rules is called {shown(taken[key])}", shown(path), "Rename one of them.")
        taken[key] = path
        found[path] = text
    _tell_collisions(spot, taken)
    if sum(map(len, found.values())) > MOST_OF_ALL:
        spot.fault(f"the rules of a mode can't be longer than {MOST_OF_ALL} characters in all", hint="Shorten them.")
    return found


def _entry(spot: Spot, entry: Any) -> tuple[str, str]:
    """Path and text of one file; a path of "" where it can't be told."""
    if not isinstance(entry, dict):
        spot.fault("this must be a file of rules", shown(entry), _SHAPE)
        return "", ""
    for key in entry:
        if key not in (_PATH, _TEXT):
            (spot / name_of(key)).warn("this key is unknown and ignored")
    untrusted_path, text = entry.get(_PATH), entry.get(_TEXT)
    if not isinstance(text, str):
        (spot / _TEXT).fault("this must be the text of a file of rules", shown(text), _SHAPE)
        text = ""
    if len(text) > MOST_OF_ONE:
        (spot / _TEXT).fault(f"a file of rules can't be longer than {MOST_OF_ONE} characters", hint="Make several files of it.")
    if not isinstance(untrusted_path, str):
        (spot / _PATH).fault("this must be the path of a file of rules", shown(untrusted_path), _SHAPE)
        return "", ""
    path = _plain(untrusted_path)
    fault = name_fault(path)
    if fault:
        (spot / _PATH).fault(f"no file of rules can have this path, because {fault}", shown(untrusted_path), "Write another.")
        return "", ""
    parts = path.split("/")
    return "/".join(parts[1:] if len(parts) > 1 and _FOLDER.match(parts[0]) else parts), text


def _plain(untrusted_path: str) -> str:
    """The path with ``/`` between its names, and without those that mean nothing."""
    first, *others = untrusted_path.replace("\\", "/").split("/")
    names = [name for name in others if name not in ("", ".")]
    return "/".join(names if first == "." else [first, *names])


def _tell_collisions(spot: Spot, taken: Mapping[str, str]) -> None:
    """A path can't be a file and the folder of another one."""
    for key, path in taken.items():
        at = key.find("/")
        while at >= 0:
            if key[:at] in taken:
                spot.fault(f"{shown(taken[key[:at]])} can't be a file, because {shown(path)} lies below it",
                           hint="Rename one of them.")
            at = key.find("/", at + 1)
