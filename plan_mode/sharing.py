"""Modes carried from one machine to another, by whichever door: a command, or the operator's terminal.

What is told of it is told here as well, so that both doors say the same. Raises Refusal.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from .controller import Desk
from .errors import Refusal
from .host.home import home
from .modes import exchange, importing
from .modes.importing import MOST_FAULTS, Change, Import
from .modes.sources import Scope
from .text import visible

SCOPES: Final[dict[str, Scope]] = {"global": "home", "project": "project"}
"""Where an import goes to, in the words that people type."""


@dataclass(frozen=True, slots=True)
class Exported:
    """The text of a file with one mode, and what of the mode isn't in it."""

    slug: str
    text: str
    notes: tuple[str, ...] = ()


def export(desk: Desk, slug: str, project: str) -> Exported:
    """One mode as it counts in a project, with the rules that belong to its definition: a project's own, else the home's."""
    known = desk.library.named(slug, project)
    mode, theirs = known.mode, known.origin == "project"
    rules = desk.library.rules(mode.slug, project if theirs else "")
    notes = rules.faults
    if theirs and not known.vouched:
        notes = ("A model, and a mode for sub-agents, that its file may name aren't trusted, and left out.", *notes)
    own = [rule for rule in rules.texts if rule.scope == ("project" if theirs else "home")]
    return Exported(mode.slug, exchange.exported(mode, own), notes)


def write_new(path: str, text: str) -> None:
    """Write a file that isn't there yet."""
    made = False
    try:
        with open(path, "x", encoding="utf-8", newline="") as file:
            made = True
            file.write(text)
    except FileExistsError as exc:
        raise Refusal("file-exists", f"Nothing was written: {path} is there already.", "Name another file.") from exc
    except (OSError, ValueError) as exc:
        if made:
            with suppress(OSError):
                os.unlink(path)
        raise Refusal("not-written", f"Nothing was written: {path} can't be made ({getattr(exc, 'strerror', None) or exc}).",
                      "Name a file in a folder that is there and has room.") from exc


def bring_in(untrusted_path: str, scope: Scope, project: str, *, force: bool = False, try_only: bool = False) -> str:
    """Import a file into the home or into a project, and tell what was done; with ``try_only`` what would be."""
    wanted = importing.planned(untrusted_path, scope, home(), project)
    if wanted.overwrites and not force:
        raise Refusal("would-overwrite", "\n".join([
            "Nothing was imported, because it would take the place of what is there:", *_told(wanted),
            "Next: the same with --force"]))
    if not try_only:
        importing.carry_out(wanted)
    return _imported(wanted, try_only)


def _imported(wanted: Import, try_only: bool) -> str:
    into = "for all your projects" if wanted.scope == "home" else "into this project"
    file, following = visible(wanted.file), f"Next: /mode {wanted.changes[0].mode.slug}"
    if not wanted.placed:
        head = f"Nothing to import: all that {file} holds is there already."
    elif try_only:
        head, following = f"This would be imported from {file}, {into}:", "Next: the same without --dry-run"
    else:
        head = f"Imported from {file}, {into}:"
    told = [head, *_told(wanted)]
    if wanted.scope == "project":
        told.append("They are this project's text now, and untrusted as all of it: they choose no model, and one that could "
                    "allow more than a mode of yours waits for /mode trust.")
    return "\n".join([*told, following])


def _told(wanted: Import) -> list[str]:
    told = [line for change in wanted.changes for line in (
        _of_file(change), *_grants(change), *_asks(change), *_lost(change), *_rules(change))]
    notes = [f"Note: {visible(str(warning))}" for warning in wanted.warnings[:MOST_FAULTS]]
    more = [f"and {len(wanted.warnings) - MOST_FAULTS} more notes"] if len(wanted.warnings) > MOST_FAULTS else []
    return [*told, *notes, *more]


def _of_file(change: Change) -> str:
    file = visible(change.file)
    what = {
        "new": f"new, in {file}",
        "same": f"as it is in {file}",
        "other": f"replaces what {file} says of {', '.join(change.fields)}" if change.fields else f"replaces {file}",
        "broken": f"replaces {file}, which has faults: {visible(change.fault)}",
    }[change.to_file]
    return f"  {change.mode.slug}: {what}"


def _grants(change: Change) -> list[str]:
    now = exchange.granted(change.mode)
    before = exchange.granted(change.was) if change.was is not None else now
    if change.to_file == "same":
        return []
    return [f"    grants: {now}" if now == before else f"    grants until now: {before}; then: {now}"]


def _asks(change: Change) -> list[str]:
    """What else the mode decides: it is easily overlooked, and may cost money."""
    model, child = change.mode.model, change.mode.child_mode
    if change.to_file == "same":
        return []
    told = [f"    asks for the model {visible(model.model)}" + (f" of {visible(model.provider)}" if model.provider else "")
            ] if model else []
    return told + ([f"    sub-agents work in: {visible(child)}"] if child else [])


def _lost(change: Change) -> list[str]:
    return [f"    lost, because that file defines them too: {', '.join(change.lost)}"] if change.lost else []


def _rules(change: Change) -> list[str]:
    folder = visible(change.folder)
    count = "1 file" if len(change.rules) == 1 else f"{len(change.rules)} files"
    told = {
        "new": f"{count}, new in {folder}",
        "same": f"as they are in {folder}",
        "other": f"{count}, in the place of all that {folder} holds",
        "kept": f"{folder} stays as it is, because the import brings none",
    }.get(change.to_rules)
    return [f"    rules: {told}"] if told else []
