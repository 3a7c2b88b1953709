"""``hermes plan-mode ...`` and ``python -m plan_mode ...``: what the operator can do on the machine itself.

Whoever has a terminal here owns the files; nothing asks who they are.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, Final

from . import transitions
from .controller import Desk
from .errors import PlanModeError, Refusal
from .state.identity import Place
from .state.record import SessionRecord, is_id
from .text import visible
from .transitions import Leave

HELP: Final = "Sessions in modes, and the way out of one"


class Cli:
    """The operator's commands."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Describe the verbs to a parser that is Hermes' or our own."""
        verbs = parser.add_subparsers(dest="verb", metavar="verb")
        verbs.add_parser("list", help="the sessions that are in a mode")
        off = verbs.add_parser("off", help="take a session out of its mode, whoever turned it on")
        off.add_argument("record", metavar="record-id", help="the id that /planmode status and the list show")
        parser.set_defaults(verb="list")

    def run(self, arguments: Any) -> int:
        """Carry out a verb and print; exit with 1 where it is refused."""
        try:
            print(visible(self._off(arguments.record) if arguments.verb == "off" else self._list()))
        except PlanModeError as exc:
            print(visible(str(exc)))
            raise SystemExit(1) from exc
        return 0

    def _list(self) -> str:
        lines = []
        for record in self._desk.store.records():
            if not isinstance(record, SessionRecord):
                lines.append(f"{record.path}: {record.reason}")
            elif record.mode is not None:
                since = time.strftime("%Y-%m-%d %H:%M", time.localtime(record.since))
                where = record.plan_root or "no plan directory"
                lines.append(f"{record.id}  {record.mode}  since {since}  {where}{'  LOCKED DOWN' if record.lockdown else ''}")
        return "\n".join(lines) or "No session is in a mode."

    def _off(self, record_id: str) -> str:
        if not is_id(record_id):
            raise Refusal("no-record-id", f"{record_id[:40]!r} isn't the id of a record.", "See hermes plan-mode list.")
        desk = self._desk
        with desk.arriving(Place(None, "")) as (arrival, _):
            owned = arrival.recorded(record_id)
            if owned is None:
                if arrival.drop_damaged(record_id):
                    return f"Removed: the record {record_id} couldn't be read. Its session is in no mode any more."
                raise Refusal("unknown-record", f"There is no session with the record {record_id}.", "See hermes plan-mode list.")
            if owned.record.mode is None:
                return f"The session of {record_id} is in no mode."
            desk.commit(arrival, owned, transitions.apply(owned.record, Leave()), keep=True)
        mode = owned.record.mode.capitalize()
        return f"{mode} mode is off in that session; nothing was approved. Its agent is told in its next turn."


def main(arguments: list[str] | None = None) -> int:
    """The same without Hermes in front: on the home that HERMES_HOME names."""
    cli = Cli(Desk(None))
    parser = argparse.ArgumentParser(prog="python -m plan_mode", description=HELP)
    cli.add_arguments(parser)
    return cli.run(parser.parse_args(arguments))
