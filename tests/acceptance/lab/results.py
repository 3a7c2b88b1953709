"""Read tool results as the model got them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_DENIAL = re.compile(r"(?P<mode>[A-Za-z0-9-]+) mode \[(?P<rule>[a-z0-9-]+)\]:\s*(?P<text>.*)", re.S)


@dataclass(frozen=True)
class Denial:
    """A call plan-mode refused: in which mode, by which rule, and why, with the way out."""

    mode: str
    rule: str
    text: str


def error_of(result: str) -> str | None:
    """Return the message of a call that failed (``{"error": message}``), else None."""
    try:
        data = json.loads(result)
    except ValueError:
        return None
    error = data.get("error") if isinstance(data, dict) else None
    return str(error) if error else None


def denial_of(result: str) -> Denial | None:
    """Return plan-mode's refusal; None if the call ran, or failed for another reason."""
    match = _DENIAL.match(error_of(result) or "")
    return Denial(match["mode"], match["rule"], match["text"].strip()) if match else None
