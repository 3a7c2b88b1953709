"""From the text of a mode file to its modes, with every fault of the file at once. Never raises on what a file holds.

A mode with a fault isn't used; the others of its file are. Of modes that share a slug none is used: nobody could tell which
one was meant. What is only odd (an unknown key, a pattern that limits nothing) is a warning, and its mode is used.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ..errors import PatternError, YamlError
from . import yaml12
from .document import Document, Path
from .faults import Fault, Place, Reading, Spot, name_of, shown
from .jsregex import Pattern, translate
from .model import GROUPS, WORDS, EditRule, Grants, Mode, ModelChoice

RESERVED: Final = "plan"


@dataclass(frozen=True, slots=True)
class ModeFile:
    """What a file has come to: the modes that can be used, why others can't, and what is odd; each in the file's order."""

    modes: tuple[Mode, ...] = ()
    faults: tuple[Fault, ...] = ()
    warnings: tuple[Fault, ...] = ()
    rules: Mapping[str, Any] = field(default_factory=dict)
    """Slug -> the rules that a usable mode carries with it, where they were asked for."""


_Rules = Callable[[Spot, Any], Any] | None


def read_modes(text: str, *, file: str, origin: str, rules: _Rules = None) -> ModeFile:
    """The modes in the text of a mode file. ``file`` is named by faults, ``origin`` becomes the modes' source.

    ``rules`` checks what stands at ``rulesFiles``, a key that counts at import only. Where the text as it is has faults and
    typographic characters outside of prose replaced by ASCII leaves fewer, that counts.
    """
    try:
        document = yaml12.read(text)
    except YamlError as exc:
        return ModeFile(faults=(Fault(file, exc.reason, exc.line, exc.column, hint=exc.hint),))
    best = _of_document(document, file, origin, rules)
    if best.faults and not document.repaired:
        for repaired in yaml12.repairs(text):
            other = _of_document(repaired, file, origin, rules)
            if len(other.faults) < len(best.faults):
                best = other
    return best


def modes_of(data: Any, *, file: str, origin: str, at: Callable[[Path], Place] = lambda path: (0, 0),
             rules: _Rules = None) -> ModeFile:
    """The modes in plain data: ``{customModes: ...}``, a list of modes, a mapping of slugs to modes, or one mode.

    ``at`` tells line and column of the value at a path. Nothing else of ``data`` is trusted to be what YAML makes.
    """
    reading = Reading(file, origin, at, rules)
    found = [(path, *_mode(reading, path, value, slug)) for path, value, slug in _entries(reading, data)]
    twice = _without_twins(reading, [(path, slug) for path, slug, _ in found])
    return ModeFile(
        tuple(mode for _, _, mode in found if mode is not None and mode.slug not in twice),
        tuple(sorted(reading.faults, key=_in_order)),
        tuple(sorted(reading.warnings, key=_in_order)),
        reading.carried,
    )


def _of_document(document: Document, file: str, origin: str, rules: _Rules) -> ModeFile:
    modes = modes_of(document.data, file=file, origin=origin, at=document.at, rules=rules)
    if not document.repaired:
        return modes
    note = Fault(file, "it could be read only with typographic spaces, dashes or quotes outside of prose replaced by ASCII",
                 hint="Replace them in the file.")
    return replace(modes, warnings=(note, *modes.warnings))


def _in_order(fault: Fault) -> Place:
    return fault.line, fault.column


# -- the modes of a file

_HOLDER: Final = "customModes"
_Entry = tuple[Path, Any, str | None]
_TELLING: Final = ("slug", "roleDefinition", "groups", "toolGroups")
"""Keys that tell a mode from any other mapping."""
_SHAPES: Final = "Write 'customModes:' and below it a list of modes."


def _entries(reading: Reading, data: Any) -> list[_Entry]:
    """(path, value, slug by key) of everything in the file that has to be a mode."""
    spot = Spot(reading, ())
    if data is None:
        return []
    if isinstance(data, list):
        return _listed((), data)
    if not isinstance(data, dict):
        spot.fault("a mode file must be a mapping or a list", shown(data), _SHAPES)
        return []
    if _HOLDER in data:
        _tell_unknown(spot, data, (_HOLDER,))
        return _held(spot / _HOLDER, data[_HOLDER])
    if any(not isinstance(data.get(key, {}), dict) for key in _TELLING):
        return [((), data, None)]
    for key, value in data.items():
        if not _like_a_mode(value):
            (spot / name_of(key)).warn("this key is unknown and ignored", hint=_SHAPES)
    return [((key,), value, key) for key, value in data.items() if _like_a_mode(value)]


def _held(spot: Spot, held: Any) -> list[_Entry]:
    if held is None:
        return []
    if isinstance(held, list):
        return _listed(spot.path, held)
    if isinstance(held, dict):
        return [((*spot.path, key), value, key) for key, value in held.items()]
    spot.fault("this must be a list of modes", shown(held), _SHAPES)
    return []


def _listed(path: Path, values: list[Any]) -> list[_Entry]:
    return [((*path, number), value, None) for number, value in enumerate(values)]


def _like_a_mode(value: Any) -> bool:
    return isinstance(value, dict) and any(key in value for key in _TELLING)


def _without_twins(reading: Reading, found: list[tuple[Path, str]]) -> frozenset[str]:
    """The slugs that stand more than once; each but the first is a fault."""
    first: dict[str, Path] = {}
    twice = set()
    for path, slug in found:
        if slug and first.setdefault(slug, path) != path:
            line = reading.at(first[slug])[0]
            Spot(reading, (*path, "slug"), slug, "slug").fault(
                f"another mode of this file has the same slug{f', in line {line}' if line else ''}; neither is used",
                hint="Rename or remove one of them.")
            twice.add(slug)
    return frozenset(twice)


# -- one mode

def _mode(reading: Reading, path: Path, value: Any, by_key: str | None) -> tuple[str, Mode | None]:
    """The slug as far as it can be told, and the mode; None of one that has a fault, which is then told."""
    number = name_of(by_key) if by_key is not None else f"#{path[-1] + 1}" if path and isinstance(path[-1], int) else "#1"
    if not isinstance(value, dict):
        Spot(reading, path, number).fault("a mode must be a mapping", shown(value), _SHAPES)
        return "", None
    slug = value.get("slug", by_key)
    spot = Spot(reading, path, slug if isinstance(slug, str) and _SLUG.match(slug) else number)
    if any(isinstance(each, str) and each.lower() == RESERVED for each in (slug, by_key)):
        (spot / "slug").fault("the slug 'plan' is taken: plan mode can't be replaced", hint="Choose another slug.")
        return "", None
    faults = len(reading.faults)
    if by_key is not None and slug != by_key:
        (spot / "slug").fault(f"the slug must be the key that the mode stands under, {shown(by_key)}", shown(slug),
                              "Remove the slug, or correct one of the two.")
    given = _renamed(spot, value if by_key is None else {"slug": by_key, **value})
    fields = FIELDS if spot.reading.rules is None else {**FIELDS, _RULES: _Field(spot.reading.rules)}
    found = {key: rule.check(spot / given[key][0], given[key][1]) for key, rule in fields.items() if key in given}
    for key, rule in fields.items():
        if rule.required and key not in given:
            spot.fault(f"{key} is missing", hint=rule.hint)
    _tell_unknown(spot, given, tuple(fields), limits=("tools",))
    if len(reading.faults) > faults:
        return spot.mode if spot.mode == slug else "", None
    if _RULES in found:
        reading.carried[spot.mode] = found[_RULES]
    return spot.mode, _made(spot, found)


def _renamed(spot: Spot, value: Mapping[Any, Any]) -> dict[Any, tuple[Any, Any]]:
    """The fields of a mode by the name they have here: (name in the file, value)."""
    given = {key: (key, inner) for key, inner in value.items()}
    if "toolGroups" in given:
        other = given.pop("toolGroups")
        if "groups" in given:
            (spot / "toolGroups").fault("groups and toolGroups mean the same, and both are there", hint="Keep one of them.")
        given.setdefault("groups", other)
    return given


def _made(spot: Spot, found: Mapping[str, Any]) -> Mode:
    groups, rule = found["groups"]
    allow, deny = found.get("tools", (frozenset(), frozenset()))
    for name in sorted(allow & deny):
        (spot / "tools").warn(f"{name} is both allowed and denied: it is denied")
    return Mode(
        slug=found["slug"], name=found["name"], role_definition=found["roleDefinition"],
        description=found.get("description", ""), when_to_use=found.get("whenToUse", ""),
        custom_instructions=found.get("customInstructions", ""),
        grants=Grants(groups, allow, deny, rule),
        model=found.get("model"), child_mode=found.get("childMode", ""),
        source=spot.reading.origin,
    )


# -- fields: each check tells its faults, and what it returns then isn't looked at

_SLUG: Final = re.compile(r"[a-zA-Z0-9-]+\Z")
_TOOL: Final = re.compile(r"[^\s\x00-\x1f*?]{1,128}\Z")
_SERVER: Final = "mcp:"


def _text(spot: Spot, value: Any) -> Any:
    if not isinstance(value, str):
        spot.fault("this must be text", shown(value),
                   "Remove the key, or write a text." if value is None else "Put it in quotes, or write it in a block after '|'.")
    return value


def _words(spot: Spot, value: Any) -> Any:
    if value == "":
        spot.fault("this must not be empty")
    return _text(spot, value)


def _slug(spot: Spot, value: Any) -> Any:
    if not isinstance(value, str) or not _SLUG.match(value):
        spot.fault("this must be a text of letters a-z, digits and dashes", shown(value))
    elif value.lower() in WORDS:
        spot.warn(f"/mode takes {value} for a word of its own", hint=f"Switch with /mode use {value}, or choose another slug.")
    return value


def _source(spot: Spot, value: Any) -> None:
    if value not in ("global", "project"):
        spot.fault("this must be global or project", shown(value), "Remove it: where the file lies decides.")


def _child_mode(spot: Spot, value: Any) -> Any:
    if not isinstance(value, str) or not _SLUG.match(value):
        spot.fault("this must be inherit or the slug of a mode", shown(value))
    return value


def _model(spot: Spot, value: Any) -> Any:
    if isinstance(value, str):
        return ModelChoice(_words(spot, value))
    if not isinstance(value, dict):
        spot.fault("this must be the name of a model, or {model: name, provider: name}", shown(value))
        return None
    known = ("model", "provider")
    _tell_unknown(spot, value, known)
    if "model" not in value:
        spot.fault("the name of the model is missing", hint="Write {model: name, provider: name}.")
    return ModelChoice(*(_words(spot / key, value[key]) if key in value else "" for key in known))


def _tools(spot: Spot, value: Any) -> tuple[frozenset[str], frozenset[str]]:
    if not isinstance(value, dict):
        spot.fault("this must be {allow: [names], deny: [names]}", shown(value))
        return frozenset(), frozenset()
    known = ("allow", "deny")
    _tell_unknown(spot, value, known, limits=("deny",))
    allow, deny = (_tool_names(spot / key, value[key]) if key in value else frozenset() for key in known)
    return allow, deny


def _tool_names(spot: Spot, value: Any) -> frozenset[str]:
    if not isinstance(value, list):
        spot.fault("this must be a list of tool names", shown(value))
        return frozenset()
    for number, name in enumerate(value):
        if not isinstance(name, str) or not _TOOL.match(name) or name == _SERVER:
            (spot / number).fault("this must be the exact name of a tool, or mcp: and the name of a server", shown(name),
                                  "Patterns like * aren't read: name each tool." if isinstance(name, str) and "*" in name else "")
    return frozenset(name for name in value if isinstance(name, str))


# -- groups

_GROUP_NAMES: Final = (
    "read", "edit", "command", "mcp", "browser", "delegate", "message", "memory", "schedule", "media", "manage", "ui", "modes")
_PAIR: Final = r"Write the group alone, or a list of two: [edit, {fileRegex: '\.md$'}]."
_Limit = tuple[Pattern | None, str]


def _groups(spot: Spot, value: Any) -> tuple[frozenset[str], EditRule | None]:
    if not isinstance(value, list):
        spot.fault("this must be a list of groups", shown(value), "Write [] for none.")
        return frozenset(), None
    limits: dict[str, _Limit] = {}
    for number, entry in enumerate(value):
        name, limit = _group(spot / number, entry)
        if name in limits and name != _LENIENT:
            (spot / number).fault(f"the group {name} stands twice", hint="Keep one of them; join two patterns with |.")
        limits[name] = limit
    pattern, description = limits.get("edit", (None, ""))
    rule = None if pattern is None else EditRule("project", "", description, pattern)
    return frozenset(limits) & GROUPS, rule


_LENIENT: Final = "browser"
"""Roo Code drops this group before it looks at it, so files in use may hold it twice, or with anything beside it."""


def _group(spot: Spot, entry: Any) -> tuple[str, _Limit]:
    name = entry[0] if isinstance(entry, list) and entry else entry
    if not isinstance(name, str) or (isinstance(entry, list) and len(entry) != 2 and name != _LENIENT):
        spot.fault("this must be the name of a group, or a list of a name and its options", shown(entry), _PAIR)
        return "", (None, "")
    if name not in _GROUP_NAMES:
        spot.fault("this isn't a group", shown(name), _alike(name, _GROUP_NAMES) or f"Groups: {', '.join(_GROUP_NAMES)}.")
    if name == _LENIENT and isinstance(entry, list) and entry[1:] not in ([], [{}]):
        spot.warn("options of the group browser are ignored")
    limit = _options(spot / 1, entry[1], name) if isinstance(entry, list) and name != _LENIENT else (None, "")
    return name, limit


def _options(spot: Spot, options: Any, group: str) -> _Limit:
    if not isinstance(options, dict):
        spot.fault("the options of a group must be a mapping", shown(options), _PAIR)
        return None, ""
    known = ("fileRegex", "description")
    _tell_unknown(spot, options, known, limits=("fileRegex",))
    description = _text(spot / "description", options["description"]) if "description" in options else ""
    pattern = _pattern(spot / "fileRegex", options["fileRegex"]) if "fileRegex" in options else None
    if pattern is not None and group != "edit":
        (spot / "fileRegex").warn(f"a pattern limits the group edit only: {group} is granted without a limit")
    return pattern, description


# A file is judged anew when a character of it changes; its patterns are the part of it that takes time.
_translated: Final = functools.lru_cache(maxsize=1024)(translate)
_WRONG: Final = 1024
"""What a refused pattern costs beyond its characters: those that are hard to judge are among them."""


def _pattern(spot: Spot, source: Any) -> Pattern | None:
    if not isinstance(source, str):
        spot.fault("this must be a regular expression", shown(source), r"Write text in single quotes: '\.md$'.")
        return None
    if not source:
        spot.fault("an empty pattern would match every file", hint="Remove the group if nothing may be edited, or fileRegex if "
                   "everything may.")
        return None
    if spot.reading.patience <= 0:
        spot.fault("this pattern wasn't looked at, because those before it are too many, too long, or wrong", shown(source),
                   "Split the file, and mend the patterns that are wrong.")
        return None
    spot.reading.patience -= len(source)
    try:
        pattern = _translated(source)
    except PatternError as exc:
        spot.reading.patience -= _WRONG
        spot.fault(f"{exc.reason}, at character {exc.position + 1}", shown(source), exc.hint)
        return None
    if pattern.note:
        spot.warn(pattern.note.rstrip("."), shown(source))
    return pattern


# -- keys that nobody knows

_RULES: Final = "rulesFiles"
_SPECIAL: Final = {
    _RULES: "Rules are taken over by /mode import; beside a mode file they stand in the folder rules-<slug>.",
    "allowedMcpServers": "Deny servers and tools with tools: {deny: ['mcp:<server>']}.",
}


def _tell_unknown(spot: Spot, value: Mapping[Any, Any], known: tuple[str, ...], limits: tuple[str, ...] = ()) -> None:
    """Unknown keys warn. One that is a limit but for case and signs is a fault: without it more would be allowed."""
    for key in [key for key in value if key not in known]:
        inner = spot / name_of(key)
        meant = next((name for name in limits if _bare(name) == _bare(name_of(key))), "")
        if meant:
            inner.fault("this key is unknown, and without it more would be allowed than is meant", hint=f"Write {meant}.")
        else:
            inner.warn("this key is unknown and ignored", hint=_SPECIAL.get(key) or _alike(name_of(key), known))


def _bare(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def _alike(name: str, known: tuple[str, ...]) -> str:
    by_bare = {_bare(each): each for each in known}
    close = difflib.get_close_matches(_bare(name[:40]), by_bare, 1, 0.75)
    return f"Did you mean {by_bare[close[0]]}?" if close else ""


@dataclass(frozen=True, slots=True)
class _Field:
    check: Callable[[Spot, Any], Any]
    required: bool = False
    hint: str = ""


FIELDS: Final[Mapping[str, _Field]] = {
    "slug": _Field(_slug, True, "Write the word that people switch by: letters, digits and dashes."),
    "name": _Field(_words, True, "Write the name that people see."),
    "roleDefinition": _Field(_words, True, "Write who the agent is in this mode."),
    "description": _Field(_text),
    "whenToUse": _Field(_text),
    "customInstructions": _Field(_text),
    "groups": _Field(_groups, True, "Write [] for a mode that may only talk."),
    "tools": _Field(_tools),
    "model": _Field(_model),
    "childMode": _Field(_child_mode),
    "source": _Field(_source),
}
