"""The one place where the operator's program prints."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TextIO

from ..text import visible


def written(text: str, stream: TextIO | None) -> str:
    """Print the text and a line end, with nothing in it that a terminal would obey; why that failed, "" where it didn't.

    What the stream's encoding has no sign for is written out, as in ``\\xe9``. A stream that failed prints nothing any more.
    """
    if stream is None:
        return "it is closed"
    try:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
        stream.write(visible(text if text.endswith("\n") else f"{text}\n"))
        stream.flush()
    except (OSError, ValueError) as exc:
        _give_up(stream)
        return getattr(exc, "strerror", None) or str(exc)
    return ""


def holds(text: str, stream: TextIO | None) -> bool:
    """Whether the stream's encoding has a sign for everything in the text."""
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _give_up(stream: TextIO) -> None:
    """Python writes what is left in the stream once more when it ends, and would fail again, with an exit code of its own."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)
