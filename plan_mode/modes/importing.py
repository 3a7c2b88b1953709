"""Modes out of one file into files of their own: what that would change, and the change itself, of all of them or of none.

Imported modes lie at ``modes/<slug>.yaml`` in the Hermes home or in a project's ``.hermes``, their rules in the folder
``rules-<slug>`` beside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ..errors import Refusal
from . import exchange, rulesfiles, schema
from .faults import Fault
from .model import Mode
from .placing import Placed, place
from .registry import read_mode_file
from .schema import FIELDS, ModeFile
from .sources import MOST_BYTES, Scope, is_home_of, read_bytes, sources_of

MOST_FAULTS: Final = 20
"""Faults that are shown."""


@dataclass(frozen=True, slots=True)
class Change:
    """What an import does to one mode: to the ``file`` that will define it, and to the ``folder`` of its rules.

    ``was`` is what the file says now, ``fields`` where that differs, ``lost`` the slugs of other modes in it, ``fault`` why
    it can't be used. ``rules`` are those that are brought along; a folder for which none are stays as it is (``kept``).
    """

    mode: Mode
    file: str
    folder: str
    rules: Mapping[str, str]
    to_file: Literal["new", "same", "other", "broken"]
    to_rules: Literal["none", "new", "same", "other", "kept"]
    was: Mode | None = None
    fields: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    fault: str = ""

    @property
    def overwrites(self) -> bool:
        """Whether anything is there that would be gone."""
        return self.to_file in ("other", "broken") or self.to_rules == "other"


@dataclass(frozen=True, slots=True)
class Import:
    """What the import of a file would do; nothing was written yet."""

    file: str
    scope: Scope
    changes: tuple[Change, ...]
    warnings: tuple[Fault, ...] = ()

    @property
    def overwrites(self) -> bool:
        return any(change.overwrites for change in self.changes)

    @property
    def placed(self) -> tuple[Placed, ...]:
        """What has to be put in its place; rules before the mode that needs them."""
        return tuple(found for change in self.changes for found in _placed(change))


def planned(untrusted_path: str, scope: Scope, trusted_home: str, project: str) -> Import:
    """What the import of that file into the home, or into a project, would change. Reads only.

    Raises Refusal: for any fault of the file at all, and where a target leads elsewhere, is no file, or would be the second
    to define its mode.
    """
    around, folder = _places(scope, trusted_home, project)
    found = _read(untrusted_path)
    _refuse_twins(found)
    elsewhere = _defined(scope, trusted_home, project)
    changes = tuple(_change(mode, found.rules.get(mode.slug, {}), around, folder, elsewhere) for mode in found.modes)
    return Import(untrusted_path, scope, changes, found.warnings)


def carry_out(wanted: Import) -> None:
    """Write it, all of it or nothing. Raises Refusal."""
    place(wanted.placed)


def _placed(change: Change) -> Iterator[Placed]:
    if change.to_rules in ("new", "other"):
        yield Placed(change.folder, change.rules)
    if change.to_file != "same":
        yield Placed(change.file, exchange.exported(change.mode))


def _places(scope: Scope, trusted_home: str, project: str) -> tuple[str, str]:
    """The folder that no target may lead out of, and the one that holds modes and rules."""
    if scope == "home":
        return trusted_home, trusted_home
    if not project:
        raise Refusal("no-project", "Nothing was imported: which project this is can't be told.",
                      "Import it for all projects: global.")
    if is_home_of(trusted_home, project):
        raise Refusal("project-is-home", f"Nothing was imported: {project} has the Hermes home for its .hermes, and no modes of "
                      "its own.", "Import it for all projects: global.")
    return project, os.path.join(project, ".hermes")


# -- the file

def _read(untrusted_path: str) -> ModeFile:
    try:
        data = read_bytes(untrusted_path)
    except (OSError, ValueError) as exc:
        why = getattr(exc, "strerror", None) or exc
        raise Refusal("unreadable-import", f"Nothing was imported: {untrusted_path} can't be read ({why}).",
                      "Name a file of modes, such as /mode export writes.") from exc
    if len(data) > MOST_BYTES:
        raise Refusal("import-too-large", f"Nothing was imported: {untrusted_path} is larger than {MOST_BYTES} bytes.",
                      "Make several files of it.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise Refusal("import-not-text", f"Nothing was imported: {untrusted_path} isn't UTF-8 text.",
                      "Save it as UTF-8.") from exc
    found = schema.read_modes(text, file=untrusted_path, origin=untrusted_path, rules=rulesfiles.check)
    if found.faults:
        raise Refusal("faulty-import", _faulty(found.faults))
    if not found.modes:
        raise Refusal("empty-import", f"Nothing was imported: {untrusted_path} holds no modes.",
                      "Name a file of modes, such as /mode export writes.")
    return found


def _faulty(faults: tuple[Fault, ...]) -> str:
    told = [str(fault) for fault in faults[:MOST_FAULTS]]
    more = [f"and {len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
    count = "a fault" if len(faults) == 1 else f"{len(faults)} faults"
    return "\n".join([f"Nothing was imported, because the file has {count}:", *told, *more])


def _refuse_twins(found: ModeFile) -> None:
    """Two slugs that differ by case are two modes, but on some systems one file."""
    first: dict[str, str] = {}
    for mode in found.modes:
        other = first.setdefault(mode.slug.lower(), mode.slug)
        if other != mode.slug:
            raise Refusal("alike-slugs", f"Nothing was imported: {other} and {mode.slug} would be one file where case doesn't "
                          "count.", "Rename one of them.")


# -- the targets

def _defined(scope: Scope, trusted_home: str, project: str) -> Mapping[str, Mapping[str, None]]:
    """Slug -> the files of that scope that define it, if only with a fault."""
    found: dict[str, dict[str, None]] = {}
    for source in sources_of(trusted_home, project):
        if source.scope == scope and not source.stray:
            file = read_mode_file(source.path)
            for slug in (*(mode.slug for mode in file.modes), *(fault.mode for fault in file.faults)):
                found.setdefault(slug, {})[source.path] = None
    return found


def _change(mode: Mode, rules: Mapping[str, str], around: str, parent: str, defined: Mapping[str, Any]) -> Change:
    file = os.path.join(parent, "modes", f"{mode.slug}.yaml")
    folder = os.path.join(parent, f"rules-{mode.slug}")
    for path in (file, folder):
        _refuse_links(path, around)
    for other in defined.get(mode.slug, ()):
        if other != file:
            raise Refusal("defined-elsewhere", f"Nothing was imported: {mode.slug} is defined in {other}, and would be defined "
                          "twice.", "Remove it there, or give the imported one another slug.")
    return Change(mode, file, folder, rules, to_rules=_to_rules(folder, rules), **_to_file(mode, file))


def _refuse_links(path: str, around: str) -> None:
    real = os.path.realpath(path)
    if real != os.path.join(os.path.realpath(around), os.path.relpath(path, around)):
        raise Refusal("symlink", f"Nothing was imported: {path} leads to {real} by a symbolic link.",
                      "Put a plain file or folder in the place of the link.")


def _to_file(mode: Mode, file: str) -> dict[str, Any]:
    if not os.path.lexists(file):
        return {"to_file": "new"}
    if not os.path.isfile(file):
        raise Refusal("not-a-file", f"Nothing was imported: {file} isn't a plain file.", "Move it away.")
    there = read_mode_file(file)
    was = next((each for each in there.modes if each.slug == mode.slug), None)
    lost = tuple(each.slug for each in there.modes if each.slug != mode.slug)
    if there.faults:
        return {"to_file": "broken", "was": was, "lost": lost, "fault": str(there.faults[0])}
    fields = _differing(was, mode) if was is not None else ()
    same = was is not None and not fields and not lost
    return {"to_file": "same" if same else "other", "was": was, "lost": lost, "fields": fields}


def _differing(was: Mode, now: Mode) -> tuple[str, ...]:
    old, new = exchange.to_data(was), exchange.to_data(now)
    return tuple(name for name in FIELDS if old.get(name) != new.get(name))


def _to_rules(folder: str, rules: Mapping[str, str]) -> Literal["none", "new", "same", "other", "kept"]:
    if not os.path.lexists(folder):
        return "new" if rules else "none"
    if not os.path.isdir(folder):
        raise Refusal("not-a-folder", f"Nothing was imported: {folder} isn't a folder.", "Move it away.")
    there = _files(folder, len(rules))
    if not there:
        return "new" if rules else "none"
    if not rules:
        return "kept"
    same = there == set(rules) and all(_says(os.path.join(folder, name), text) for name, text in rules.items())
    return "same" if same else "other"


def _files(folder: str, most: int) -> set[str]:
    """What lies below a folder, at any depth, with ``/``; of more than ``most`` only some."""
    found: set[str] = set()
    for parent, folders, names in os.walk(folder, onerror=lambda exc: found.add(str(exc.filename))):
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        found.update(os.path.relpath(os.path.join(parent, name), folder).replace(os.sep, "/") for name in (*names, *links))
        if len(found) > most:
            break
    return found


def _says(path: str, text: str) -> bool:
    try:
        return not os.path.islink(path) and read_bytes(path) == text.encode()
    except OSError:
        return False
