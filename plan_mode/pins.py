"""Definitions as they were when a person switched: a session goes on with its own, whatever its file says later.

One file for each definition, named by what is in it; it is written once and never changed.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any, Final

from .disk import write_whole
from .errors import StateError
from .modes import schema
from .modes.exchange import to_data
from .modes.model import Mode
from .modes.registry import Known, Origin
from .modes.rules import Rule, Rules

MOST_BYTES: Final = 4 * 1024 * 1024

_NAME: Final = re.compile(r"[0-9a-f]{32}\Z")


@dataclass(frozen=True, slots=True)
class Pinned:
    """A mode as a session has it: the definition, where it came from, and the rules beside it."""

    mode: Mode
    origin: Origin
    file: str
    vouched: bool
    rules: tuple[Rule, ...] = ()


def pin_of(known: Known, rules: Rules) -> Pinned:
    return Pinned(known.mode, known.origin, known.file, known.vouched, rules.texts)


def name_of(pinned: Pinned) -> str:
    """The name of its file, which is a digest of everything in it."""
    return sha256(_text(pinned).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def keep(folder: str, pinned: Pinned) -> str:
    """Store a definition, once; its name. Raises StateError."""
    text, name = _text(pinned), name_of(pinned)
    path = os.path.join(folder, f"{name}.json")
    if len(text) > MOST_BYTES:
        raise StateError(path, f"the definition and its rules are larger than {MOST_BYTES} bytes")
    if load(folder, name) is not None:
        return name
    write_whole(path, text)
    return name


def load(folder: str, name: str) -> Pinned | None:
    """The definition of that name; None where there is none, or its file says something else."""
    if not _NAME.match(name):
        return None
    try:
        with open(os.path.join(folder, f"{name}.json"), encoding="utf-8", errors="surrogatepass") as file:
            text = file.read(MOST_BYTES)
    except (OSError, ValueError):
        return None
    if sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32] != name:
        return None
    return _read(json.loads(text))


def _text(pinned: Pinned) -> str:
    said = {"mode": to_data(pinned.mode), "origin": pinned.origin, "file": pinned.file, "vouched": pinned.vouched,
            "rules": [asdict(rule) for rule in pinned.rules], "extra_servers": pinned.mode.extra_servers}
    return json.dumps(said, sort_keys=True, ensure_ascii=True)


def _read(said: dict[str, Any]) -> Pinned | None:
    found = schema.modes_of([said["mode"]], file=said["file"], origin=said["file"] or "built-in")
    if len(found.modes) != 1:
        return None
    rules = tuple(Rule(**rule) for rule in said["rules"])
    mode = replace(found.modes[0], extra_servers=said.get("extra_servers", False))  # which no file can say
    return Pinned(mode, said["origin"], said["file"], said["vouched"], rules)
