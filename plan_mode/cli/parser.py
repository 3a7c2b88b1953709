"""The one parser: Hermes' own, or ours where Hermes isn't in front."""

from __future__ import annotations

import argparse
import sys
from typing import Any, Final

from ..controller import Desk
from ..errors import PlanModeError, Refusal
from ..sharing import SCOPES
from . import modes, sessions
from .answer import Verb
from .check import check
from .printing import written

HELP: Final = "Modes, the sessions that are in them, and the way out of one"

MISUSED: Final = 2
UNPRINTABLE: Final = 2
"""Nobody got the answer, so it must not be taken for one: 1 would be a "no"."""

_MISUSES: Final = frozenset({"unknown-mode", "no-json", "no-folder"})
"""Rules of refusals for a mistake in the command line, as argparse itself would find it."""


class Cli:
    """The operator's commands."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Describe the verbs to a parser that is Hermes' or our own."""
        verbs = parser.add_subparsers(metavar="verb")
        parser.set_defaults(act=sessions.listed)
        _verb(verbs, "list", sessions.listed, "the sessions that are in a mode; this is what no verb means, too")
        off = _verb(verbs, "off", sessions.off, "take a session out of its mode, whoever turned it on")
        off.add_argument("record", metavar="record-id", help="the id that /planmode status and the list show")
        _add_check(_verb(verbs, "check", check, "may a call run in a mode? nothing is run",
                         "Judges one call as a session in that mode would; nothing is run. Exits with 0 if it is allowed, 1 if "
                         "it is denied, 3 if a person would be asked, and 2 if the command line is wrong or the answer can't be "
                         "printed."))
        of_modes = _verb(verbs, "modes", modes.listed, "what modes there are; validate, export and import their files",
                         "What modes there are, and the care of their files. Without a verb: list.")
        of_modes.set_defaults(project=None, json=False)
        _add_modes(of_modes.add_subparsers(metavar="verb"))

    def run(self, arguments: Any) -> int:
        """Carry out a verb and print. Exits with another code than 0 where it is refused or finds something wrong.

        A standard error that is closed is left alone; any other output that can't be written to ends the program with 2.
        """
        try:
            answer = arguments.act(self._desk, arguments)
        except PlanModeError as exc:
            _note(str(exc))
            misused = isinstance(exc, Refusal) and exc.rule in _MISUSES
            raise SystemExit(MISUSED if misused else 1) from exc
        why = written(answer.text, sys.stdout)
        if why:
            _note(f"The answer can't be printed ({why}). Send it to where it can be.")
            raise SystemExit(UNPRINTABLE)
        for note in answer.notes:
            _note(note)
        if answer.code:
            raise SystemExit(answer.code)  # older hosts take no heed of what a command returns
        return 0


def _note(text: str) -> None:
    if sys.stderr is not None and written(text, sys.stderr):
        raise SystemExit(UNPRINTABLE)


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mode", required=True, metavar="SLUG", help="the mode that judges")
    _add_project(parser)
    parser.add_argument("--cwd", metavar="DIR",
                        help="the session's folder, where relative paths begin (default: of --project, else the current one)")
    parser.add_argument("--json", action="store_true", help="print an object of effect, mode, tool, rule and reason")
    parser.add_argument("tool", metavar="TOOL", help="the tool, as in write_file")
    parser.add_argument("arguments", metavar="ARGS", nargs="?", default="{}", help="its arguments: a JSON object (default: {})")


def _add_modes(verbs: Any) -> None:
    listed = _verb(verbs, "list", modes.listed, "the modes of a project, as its sessions have them")
    _add_project(listed)
    listed.add_argument("--json", action="store_true", help="print an object of modes, untrusted, faults and warnings")
    validate = _verb(verbs, "validate", modes.validated, "read mode files, and show what is wrong with them",
                     "Reads mode files, and shows all that is wrong with them. Exits with 1 if any has a fault.")
    validate.add_argument("files", metavar="FILE", nargs="+", help="a mode file, wherever it lies")
    validate.add_argument("--json", action="store_true", help="print an object of ok, modes, faults and warnings")
    export = _verb(verbs, "export", modes.exported, "print a mode and its rules as one file",
                   "Prints a mode and its rules as one file, which Roo Code reads as well; on standard error, what isn't in it.")
    export.add_argument("slug", metavar="SLUG", help="the mode")
    _add_project(export)
    export.add_argument("-o", "--output", metavar="FILE", help="write it there instead; a file that is there already stays")
    take = _verb(verbs, "import", modes.imported, "take over the modes of an exported file: all of them, or none",
                 "Takes over the modes of an exported file: all of them, or none. Each gets a file of its own, and a folder for "
                 "its rules. What is there and says something else is replaced only with --force.")
    take.add_argument("file", metavar="FILE", help="a file that export or Roo Code has written")
    take.add_argument("--scope", choices=sorted(SCOPES),
                      help="for all your projects, or for one (default: project if --project is given, else global)")
    _add_project(take)
    take.add_argument("--force", action="store_true", help="replace what is there")
    take.add_argument("--dry-run", action="store_true", help="only show what would change")
    _add_project(_verb(
        verbs, "doctor", modes.doctored, "try the patterns of mode files on the files of a project",
        "Tries the patterns of mode files on the files of a project. Shows those that match nothing, that match below other "
        "folders as well, or that were meant as globs, and the faults of the mode files. Exits with 1 if there are any."))


def _verb(verbs: Any, name: str, act: Verb, about: str, more: str = "") -> argparse.ArgumentParser:
    description = more or f"{about[:1].upper()}{about[1:]}."
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=about, description=description)
    parser.set_defaults(act=act)
    return parser


def _add_project(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--project", metavar="DIR", help="root of the project (default: that of the current folder)")


def main(arguments: list[str] | None = None) -> int:
    """The same without Hermes in front: on the home that HERMES_HOME names."""
    cli = Cli(Desk(None))
    parser = argparse.ArgumentParser(prog="python -m plan_mode", description=f"{HELP}.")
    cli.add_arguments(parser)
    return cli.run(parser.parse_args(arguments))
