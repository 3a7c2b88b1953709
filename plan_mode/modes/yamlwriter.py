"""Plain data as YAML for people to read: texts of several lines stand in blocks, and nothing in it is invisible."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from ..text import visible

_PLAIN: Final = re.compile(r"[^\W\d_](?:[\w ;,.()/'+-]*[\w.)])?\Z")
_WORDS: Final = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
"""Words that mean something else than themselves to one version of YAML or another."""

_UNREADABLE: Final = re.compile("[\ufffe\uffff\U0010fe00-\U0010fe7f]")
"""What ``yaml12`` refuses, or uses, beside what ``visible`` writes out."""


def written(data: dict[str, Any] | list[Any]) -> str:
    """The document that ``yaml12.read`` reads as ``data``, which is made of dict with plain words as keys, list and str.

    Does not: write half a character so that it could be read again.
    """
    head, lines = _value(data)
    return "\n".join(lines or [head]) + "\n"


def _value(value: Any) -> tuple[str, list[str]]:
    """What stands behind a key or a dash, and the lines below it, not indented."""
    if isinstance(value, str):
        return _text(value)
    if not value:
        return ("[]" if isinstance(value, list) else "{}"), []
    lines = []
    if isinstance(value, list):
        for inner in value:
            head, below = _value(inner)
            first, *others = [head, *below] if head else below
            lines += [f"- {first}", *map(_indented, others)]
    else:
        for key, inner in value.items():
            head, below = _value(inner)
            lines += [f"{key}: {head}" if head else f"{key}:", *map(_indented, below)]
    return "", lines


def _indented(line: str) -> str:
    return f"  {line}" if line else ""


def _text(text: str) -> tuple[str, list[str]]:
    if _PLAIN.match(text) and text.lower() not in _WORDS:
        return text, []
    if visible(text) != text or _UNREADABLE.search(text) or text[:1].isspace() or ("\t" in text and "\n" not in text):
        return _escaped(text), []
    if "\n" not in text:
        return "'" + text.replace("'", "''") + "'", []
    content = text.rstrip("\n")
    breaks = len(text) - len(content)
    return {0: "|-", 1: "|"}.get(breaks, "|+"), [*content.split("\n"), *[""] * (breaks - 1)]


def _escaped(text: str) -> str:
    """The text in double quotes, on one line. JSON's escapes and those of ``visible`` are YAML's as well."""
    return _UNREADABLE.sub(lambda match: f"\\U{ord(match[0]):08x}", visible(json.dumps(text, ensure_ascii=False)))
