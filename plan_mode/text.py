"""Text of others, made fit to be shown: bounded, and with nothing in it that a terminal or a reader would obey."""

from __future__ import annotations

import re
from typing import Final

# Control characters but line feed and tab; marks that turn the direction of text; line separators; lone surrogates; the
# tags and selectors of plane 14, in which text can hide that a model reads and nobody sees.
_OBEYED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e0fff]")


def visible(text: str) -> str:
    """The text with every character that would be obeyed written out, as in ``\\x1b``."""
    return _OBEYED.sub(lambda match: _escape(match[0]), text.replace("\r\n", "\n"))


_ATTACHED: Final = re.compile(
    r"MEDIA(?=:)|\[(?=\[)|!(?=\[)|<(?=img\b)|(?<![\w./:])(?:~/|/|[A-Za-z]:[/\\])(?=(?:[\w.-]+[/\\])*[\w.-]+\.\w)", re.IGNORECASE)
_JOINER: Final = "\u2060"


def unattached(text: str, *, undo: bool = False) -> str:
    """The text with a word joiner in all that chats take for a file to send: they would take it out, and send the file.

    That are media tags, images, and the bare paths of files. ``undo``: a text without what this put in, as it is typed again.
    """
    return text.replace(_JOINER, "") if undo else _ATTACHED.sub(lambda found: f"{found[0]}{_JOINER}", text)


def one_line(text: str, most: int) -> str:
    """The text on one line, shortened to ``most`` characters before those that would be obeyed are written out."""
    return visible(shorten(" ".join(text.split()), most))


def shorten(text: str, most: int) -> str:
    """The text, or its first ``most`` characters and a note of how many were cut off."""
    if len(text) <= most:
        return text
    return f"{text[:most].rstrip()} … [{len(text) - most} more characters]"


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
