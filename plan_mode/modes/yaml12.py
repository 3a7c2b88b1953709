"""YAML 1.2 as mode files use it, with the place of every value. A library does the scanning; what words mean is said here.

- Only the words of the 1.2 core schema mean something: ``Yes``, ``off``, ``2024-01-01``, ``1:30`` and ``1_000`` are text.
- ``<<`` is a key like any other. Keys are text as written. Unknown tags, keys that stand twice and several documents are
  refused. Size, depth and what aliases add up to are bounded.
- JSON that isn't YAML (pairs of ``\\uD83D`` escapes, say) is read as JSON, and so is any JSON where no library is.

PyYAML is imported when the first text is read, or what newer hosts bring in its place: without either everything else of
the plugin works.
"""

from __future__ import annotations

import functools
import json
import re
import shlex
import sys
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from ..errors import YamlError, YamlMissing
from ..text import one_line
from .document import Building, Document, Node

MOST_BYTES: Final = 2 * 1024 * 1024
PROSE: Final = frozenset({"name", "description", "roleDefinition", "whenToUse", "customInstructions", "content"})
"""Keys whose text is for readers: repairs leave it alone."""

def read(text: str) -> Document:
    """Read one document: as YAML; if that fails, as JSON; if that fails, as YAML with its characters repaired.

    Raises YamlError, which is about the text as it is.
    """
    text = _bounded(text)
    try:
        return _document(_parsed(text))
    except YamlMissing:
        alike = _as_json(text)
        if alike is None:
            raise
        return _document(alike)
    except (_yaml().YAMLError, ValueError) as exc:
        alike = _as_json(text)
        document = next(_repaired(text), None) if alike is None else _document(alike)
        if document is None:
            raise _explained(text, exc) from exc
    return document


def repairs(text: str) -> Iterator[Document]:
    """The document with its characters repaired outside of prose, in each way that changes something and can be read.

    For a text that is YAML as it is but not what was meant: a slug with a typographic dash, a group in curly quotes.
    """
    with suppress(YamlError):
        yield from _repaired(_bounded(text))


def _document(root: Node | None, *, repaired: bool = False) -> Document:
    root = Node(None, 1, 1) if root is None else root
    return Document(root.value, root, repaired)


def _bounded(text: str) -> str:
    """The text without byte order marks before it, if it is one that is looked at at all."""
    if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise YamlError(0, 0, f"it is bigger than {MOST_BYTES:,} bytes", "Split it into several files.")
    text = text.lstrip("\ufeff")
    broken = _BROKEN.search(text)
    if broken is not None:
        raise YamlError(*_place(text, broken.start()), f"the character {broken[0]!a} can't stand in a text",
                        "Remove it, and save the file as UTF-8.")
    return text


def _place(text: str, offset: int) -> tuple[int, int]:
    line_start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, line_start) + 1, offset - line_start + 1


# -- the library

# Halves of characters, and the stand-ins of the table below.
_BROKEN: Final = re.compile("[\ud800-\udfff\U0010fe00-\U0010fe7f]")
# What PyYAML refuses or, as YAML 1.1 did, takes for the end of a line. A stand-in goes through it, and comes back after.
_ODD: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
_STANDS_FOR: Final = {code: chr(0x10FE00 + number) for number, code in enumerate(
    [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, 0xFFFE, 0xFFFF]) if _ODD.match(chr(code))}
_STOOD_FOR: Final = {ord(stand_in): chr(code) for code, stand_in in _STANDS_FOR.items()}


def _yaml() -> Any:
    """PyYAML; without it its descendant ruamel.yaml, where that has the same scanner, which is libyaml's. Raises YamlMissing."""
    with suppress(ImportError):
        import yaml
        return yaml
    with suppress(ImportError):
        import ruamel.yaml
        if hasattr(ruamel.yaml, "CBaseLoader"):
            return ruamel.yaml
    raise YamlMissing(shlex.join([sys.executable or "python3", "-m", "pip", "install", "PyYAML"]))


def _scanner() -> Any:
    """The library's fast scanner; the slow one where PyYAML was built without."""
    return getattr(_yaml(), "CBaseLoader", None) or _slow_scanner()


def _events(text: str) -> Iterator[Any]:
    scanner = _scanner()(text)
    try:
        while scanner.check_event():
            yield scanner.get_event()
    finally:
        scanner.dispose()


@functools.cache
def _slow_scanner() -> Any:
    """PyYAML's own scanner, made to take a tab for a space where the fast one does, and to be less slow."""
    import yaml

    class Scanner(yaml.BaseLoader):
        def scan_to_next_token(self) -> None:
            super().scan_to_next_token()
            while self.peek() == "\t" and (self.flow_level or not self.allow_simple_key):
                self.forward()
                super().scan_to_next_token()

        def forward(self, length: int = 1) -> None:
            passed = self.buffer[self.pointer:self.pointer + length]
            if len(passed) < length or not passed.isprintable():
                super().forward(length)
            else:
                self.pointer += length
                self.index += length
                self.column += length

    return Scanner


def _parsed(text: str) -> Node | None:
    """The root of the text, None of an empty one. Raises what the library does, ValueError, and YamlError for what we refuse."""
    yaml = _yaml()
    odd = _ODD.search(text) is not None
    building = Building()
    for event in _events(text.translate(_STANDS_FOR) if odd else text):
        place = event.start_mark.line + 1, event.start_mark.column + 1
        if isinstance(event, yaml.ScalarEvent):
            words = _whole(event.value.translate(_STOOD_FOR) if odd else event.value, place)
            node = Node(_meaning(event.tag, words, event.implicit[0], place), *place, words)
            node.extent = event.start_mark.index, event.end_mark.index, event.style or ""
            building.scalar(node, event.anchor)
        elif isinstance(event, yaml.AliasEvent):
            building.alias(event.anchor, *place)
        elif isinstance(event, yaml.CollectionStartEvent):
            kind = "map" if isinstance(event, yaml.MappingStartEvent) else "seq"
            if event.tag not in {None, "!", _CORE_TAG + kind}:
                raise _unknown_tag(event.tag, place)
            building.open(Node({} if kind == "map" else [], *place), event.anchor)
        elif isinstance(event, yaml.CollectionEndEvent):
            building.close()
        elif isinstance(event, yaml.DocumentStartEvent) and building.root is not None:
            raise YamlError(*place, "a second document begins here", "Keep one document in a file, and remove the line '---'.")
    return building.root


# -- what words mean

_CORE_TAG: Final = "tag:yaml.org,2002:"
_CORE: Final = re.compile(
    r"(?P<null>|~|null|Null|NULL)|(?P<bool>true|True|TRUE|false|False|FALSE)"
    r"|(?P<int>[-+]?[0-9]+)|(?P<octal>0o[0-7]+)|(?P<hex>0x[0-9a-fA-F]+)"
    r"|(?P<float>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))")
_MEANINGS: Final[dict[str, Any]] = {
    "null": lambda words: None,
    "bool": lambda words: words[0] in "tT",
    "float": lambda words: float(words.replace(".i", "i").replace(".I", "I").replace(".n", "n").replace(".N", "N")),
    # Python refuses to read longer numbers; so long a one is no number anybody counts with.
    "int": lambda words: int(words) if len(words) < 400 else float(words),
    "octal": lambda words: int(words[2:], 8),
    "hex": lambda words: int(words[2:], 16),
}
_TAGGED: Final = {"null": {"null"}, "bool": {"bool"}, "int": {"int", "octal", "hex"}, "float": {"float", "int"}}


def _meaning(tag: str | None, words: str, plain: bool, place: tuple[int, int]) -> Any:
    if tag is None:
        found = _CORE.fullmatch(words) if plain else None
        return words if found is None or found.lastgroup is None else _MEANINGS[found.lastgroup](words)
    if tag in {"!", _CORE_TAG + "str"}:
        return words
    kind = tag.removeprefix(_CORE_TAG)
    if kind == tag or kind not in _TAGGED:
        raise _unknown_tag(tag, place)
    found = _CORE.fullmatch(words)
    if found is None or found.lastgroup not in _TAGGED[kind]:
        raise YamlError(*place, f"the tag !!{kind} says what {one_line(words, 40)!r} isn't", "Remove the tag.")
    value = _MEANINGS[found.lastgroup](words)
    return float(value) if kind == "float" else value


def _whole(words: str, place: tuple[int, int]) -> str:
    """The text with the halves of characters, which escapes can write, joined."""
    if not _BROKEN.search(words):
        return words
    try:
        return words.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError as exc:
        raise YamlError(*place, "half of a character can't stand in a text", "Remove the escape, or write both halves.") from exc


def _unknown_tag(tag: str, place: tuple[int, int]) -> YamlError:
    shown = "!!" + tag.removeprefix(_CORE_TAG) if tag.startswith(_CORE_TAG) else tag
    return YamlError(*place, f"the tag '{one_line(shown, 60)}' means nothing here",
                     "Remove it, or put text that begins with ! in single quotes.")


# -- what is wrong with a text

_TAB: Final = ("a tab stands where only spaces may indent", "Replace it by spaces.")
_SLIPS: Final = tuple((re.compile(problem), reason, hint) for problem, reason, hint in (
    ("escape", "in double quotes a backslash begins an escape, and this one doesn't exist",
     r"Write regular expressions without quotes or in single quotes: '\.md$'."),
    ("^tab|tab character", *_TAB),
    ("scanning an alias", "* begins a reference to another value, and this isn't one",
     r"Put text that begins with * in single quotes. File patterns are regular expressions: \.md$, not *.md."),
    ("scanning an anchor", "& begins the name of a value, and this isn't one", "Put text that begins with & in single quotes."),
    ("cannot start any token", "this character can't begin a value", "Put the value in single quotes."),
    ("mapping values are not allowed", "a key and its colon can't stand here", "Put text that holds a colon in single quotes."),
    ("quoted scalar.*end of stream", "a quotation mark isn't closed",
     "Close it, or put text that holds one in a block after '|'."),
    ("could not find expected ':'", "this line isn't 'key: value', nor does it go on with the text before",
     "Indent it further than the key it belongs to."),
    ("flow (mapping|sequence|node)", "the brackets don't fit: a comma or a closing one is missing",
     "Look at the line before, too."),
    ("expected key|block (mapping|collection|sequence|end)", "this doesn't fit the lines before: its indentation, or a quotation "
     "mark before it", "Let the entries of one list or mapping begin in the same column."),
))


def _explained(text: str, exc: Any) -> YamlError:
    mark = getattr(exc, "problem_mark", None) or getattr(exc, "context_mark", None)
    if mark is None:
        return YamlError(0, 0, f"it isn't YAML: {one_line(str(exc), 120)}")
    line = text.split("\n", mark.line + 1)[mark.line] if text.count("\n") >= mark.line else ""
    indent = line[:len(line) - len(line.lstrip())]
    problem = " ".join(str(part) for part in (exc.context, exc.problem) if part)
    if "\t" in indent and mark.column <= len(indent) and not line[:mark.column].strip():
        problem = "tab"
    for slip, reason, hint in _SLIPS:
        if slip.search(problem):
            return YamlError(mark.line + 1, mark.column + 1, reason, hint)
    return YamlError(mark.line + 1, mark.column + 1, f"it isn't YAML: {one_line(problem, 120)}")


# -- JSON

_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]|[^\s{}\[\],:"]+', re.DOTALL)


def _as_json(text: str) -> Node | None:
    """The root of a JSON object or list; None where the text isn't one. Raises YamlError for what we refuse."""
    if text.lstrip()[:1] not in {"{", "["}:
        return None
    try:
        json.loads(text, parse_constant=float.fromhex)  # which has no name for any of the constants that JSON hasn't
    except (ValueError, RecursionError):
        return None
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    building = Building()
    for token in _TOKEN.finditer(text):
        row = bisect_right(starts, token.start())
        place = row, token.start() - starts[row - 1] + 1
        words = token[0]
        if words in {"{", "["}:
            building.open(Node({} if words == "{" else [], *place))
        elif words in {"}", "]"}:
            building.close()
        else:
            value = _whole(json.loads(words), place) if words[0] == '"' else _meaning(None, words, True, place)
            building.scalar(Node(value, *place, value if isinstance(value, str) else words))
    return building.root


# -- repairs

_SPACES: Final = {"\u00a0": " ", **dict.fromkeys("\ufeff\u200b\u200c\u200d", "")}
_SIGNS: Final = {**dict.fromkeys("\u2018\u2019", "'"), **dict.fromkeys("\u201c\u201d", '"'),
                 **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")}
_REPAIRS: Final = _SPACES | _SIGNS
_INVISIBLE: Final = re.compile(f"[{''.join(_SPACES)}]")
_TYPOGRAPHIC: Final = re.compile(f"[{''.join(_REPAIRS)}]")
_REMOVED: Final = re.compile("[\ufeff\u200b\u200c\u200d]")


def _replaced(which: re.Pattern[str], text: str) -> str:
    return which.sub(lambda match: _REPAIRS[match[0]], text)


def _repaired(text: str) -> Iterator[Document]:
    """The document with invisible characters replaced, then with all typographic ones; what can't be read is left out.

    Prose keeps its own: they are put back into the prose of the repaired text, and where that text still says the same it
    is the one that counts. Where it doesn't, a character couldn't be told from the syntax, and all stay replaced.
    """
    before = text
    for which in (_INVISIBLE, _TYPOGRAPHIC):
        repaired = _replaced(which, text)
        root = None if repaired == before else _parsed_or_none(repaired)
        before = repaired
        if root is not None:
            with_prose = _parsed_or_none(_with_prose(text, repaired, root))
            same = with_prose is not None and _clean(with_prose.value) == _clean(root.value)
            yield _document(with_prose if same else root, repaired=True)


def _parsed_or_none(text: str) -> Node | None:
    try:
        return _parsed(text)
    except (_yaml().YAMLError, ValueError, YamlError):
        return None


def _with_prose(text: str, repaired: str, root: Node) -> str:
    """The repaired text, with the characters of ``text`` put back into its prose."""
    removed = [match.start() - before for before, match in enumerate(_REMOVED.finditer(text))]
    pieces, done = [], 0
    for start, end in sorted(set(_prose(repaired, root))):
        first, last = (at + bisect_right(removed, at) for at in (start, end - 1))
        pieces += [repaired[done:start], text[first:last + 1]]
        done = end
    return "".join([*pieces, repaired[done:]])


def _prose(text: str, root: Node) -> Iterator[tuple[int, int]]:
    """The stretches of prose in a text: without its quotation marks, the head of a block, and the indentation of lines."""
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        named = node.children.items() if isinstance(node.children, dict) else enumerate(node.children)
        for key, child in named:
            waiting.append(child)
            if key in PROSE and child.text:
                yield from _stretches(text, *child.extent)


def _stretches(text: str, start: int, end: int, style: str) -> Iterator[tuple[int, int]]:
    if style in {"'", '"'}:
        start, end = start + 1, end - 1
    elif style in {"|", ">"}:
        start = text.find("\n", start, end) + 1 or end
    for line in re.finditer(r"[^\n\r]+", text[start:end]):
        stripped = line[0].strip(" ")
        if stripped:
            first = start + line.start() + line[0].index(stripped)
            yield first, first + len(stripped)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return _replaced(_TYPOGRAPHIC, value)
    if isinstance(value, dict):
        return {_replaced(_TYPOGRAPHIC, key): _clean(inner) for key, inner in value.items()}
    return [_clean(inner) for inner in value] if isinstance(value, list) else value
