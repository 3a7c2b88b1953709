"""Modes and their files: what there is, what is wrong with it, and the way from one machine to another."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from .. import sharing
from ..controller import Desk
from ..errors import Refusal
from ..host.home import home
from ..modes import doctor
from ..modes.registry import Known, Listing, read_mode_file
from ..modes.sources import is_home_of
from ..text import one_line
from .answer import Answer, as_data, project, unread_config
from .printing import holds


def listed(desk: Desk, arguments: Namespace) -> Answer:
    listing = desk.library.listing(project(arguments.project))
    if arguments.json:
        return Answer(json.dumps({
            "modes": [_as_data(known) for known in listing.modes.values()],
            "untrusted": [_as_data(waiting.offered) for waiting in listing.untrusted.values()],
            "faults": as_data(listing.faults), "warnings": as_data(listing.warnings)}), notes=unread_config())
    lines = [f"{slug}  {one_line(known.mode.description or known.mode.name, 100)}  [{_whose(known)}]"
             for slug, known in listing.modes.items()]
    lines += [f"Not used: {slug} in {waiting.offered.file}, which would replace yours and may allow more; in a session, "
              f"/mode trust {slug} vouches for it." for slug, waiting in listing.untrusted.items()]
    return Answer("\n".join(lines), notes=(*unread_config(), *_wrong(listing)))


def _as_data(known: Known) -> dict[str, str | bool]:
    mode = known.mode
    return {"slug": mode.slug, "name": mode.name, "description": mode.description, "origin": known.origin, "file": known.file,
            "trusted": known.vouched}


def _whose(known: Known) -> str:
    return {"built-in": "built-in", "home": f"yours, {known.file}", "project": f"project, {known.file}"}[known.origin]


def _wrong(listing: Listing) -> tuple[str, ...]:
    return tuple(f"Fault: {fault}" for fault in listing.faults) + tuple(f"Warning: {odd}" for odd in listing.warnings)


def validated(desk: Desk, arguments: Namespace) -> Answer:
    files = [read_mode_file(path) for path in arguments.files]
    slugs = [mode.slug for file in files for mode in file.modes]
    faults = [fault for file in files for fault in file.faults]
    warnings = [odd for file in files for odd in file.warnings]
    code = 1 if faults else 0
    if arguments.json:
        return Answer(json.dumps({
            "ok": not faults, "modes": slugs, "faults": as_data(faults), "warnings": as_data(warnings)}), code)
    lines = [*map(str, faults), *(f"Warning: {odd}" for odd in warnings)]
    usable = f"{_count(len(slugs), 'mode')} can be used{': ' if slugs else ''}{', '.join(slugs)}"
    return Answer("\n".join([*lines, f"{_count(len(faults), 'fault') if faults else 'No faults'}; {usable}."]), code)


def _count(number: int, of_what: str) -> str:
    return f"{number} {of_what}{'' if number == 1 else 's'}"


def exported(desk: Desk, arguments: Namespace) -> Answer:
    found = sharing.export(desk, arguments.slug, project(arguments.project))
    notes = tuple(f"Note: {note}" for note in found.notes)
    if arguments.output is None:
        if not holds(found.text, sys.stdout):
            raise Refusal("not-printable", f"Nothing was printed: {sys.stdout.encoding}, which is printed in here, has no sign "
                          "for some of the file.", "Let it be written: -o FILE.")
        return Answer(found.text, notes=notes)
    sharing.write_new(arguments.output, found.text)
    return Answer(f"{found.slug} and its rules are in {arguments.output}.", notes=notes)


def imported(desk: Desk, arguments: Namespace) -> Answer:
    scope = sharing.SCOPES[arguments.scope or ("project" if arguments.project else "global")]
    return Answer(sharing.bring_in(
        arguments.file, scope, project(arguments.project), force=arguments.force, try_only=arguments.dry_run))


def doctored(desk: Desk, arguments: Namespace) -> Answer:
    root = project(arguments.project)
    listing = desk.library.listing(root)
    known = [*listing.modes.values(), *(waiting.offered for waiting in listing.untrusted.values())]
    files = doctor.files_of(root)
    lines, wrong = [], len(listing.faults)
    for each in known:
        rule = each.mode.grants.edit_rule
        if each.origin == "built-in" or rule is None or rule.pattern is None:
            continue
        trial = doctor.tried(rule.pattern, files)
        example = f", {trial.example} for one" if trial.example else ""
        first = "" if files.whole and trial.tried == len(files.names) else "first "
        lines += [f"{each.mode.slug}  {each.file}",
                  f"  {rule.pattern.source}  matches {trial.matching} of the {first}{_count(trial.tried, 'file')}{example}",
                  *(f"  Look at this: {doubt}." for doubt in trial.doubts)]
        wrong += len(trial.doubts)
    if not lines:
        lines.append("No mode of a file limits which files it may write, so there is no pattern to try.")
    if is_home_of(home(), root):
        lines.append(f"{root} has the Hermes home for its .hermes, so it has no mode files of its own.")
    found = f"{_count(wrong, 'thing')} to look at." if wrong else "Nothing to look at."
    return Answer("\n".join([*lines, *_wrong(listing), found]), 1 if wrong else 0)
