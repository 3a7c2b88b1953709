"""Sessions in modes, and the way out of one that always works."""

from __future__ import annotations

import time
from argparse import Namespace

from .. import transitions
from ..controller import Desk
from ..errors import Refusal
from ..state.identity import Place
from ..state.record import SessionRecord, is_id
from ..transitions import Leave
from .answer import Answer


def listed(desk: Desk, arguments: Namespace) -> Answer:
    lines = []
    for record in desk.store.records():
        if not isinstance(record, SessionRecord):
            lines.append(f"{record.path}: {record.reason}")
        elif record.mode is not None:
            since = time.strftime("%Y-%m-%d %H:%M", time.localtime(record.since))
            where = record.plan_root or "no plan directory"
            lines.append(f"{record.id}  {record.mode}  since {since}  {where}{'  LOCKED DOWN' if record.lockdown else ''}")
    return Answer("\n".join(lines) or "No session is in a mode.")


def off(desk: Desk, arguments: Namespace) -> Answer:
    record_id: str = arguments.record
    if not is_id(record_id):
        raise Refusal("no-record-id", f"{record_id[:40]!r} isn't the id of a record.", "See hermes plan-mode list.")
    with desk.arriving(Place(None, "")) as (arrival, _):
        owned = arrival.recorded(record_id)
        if owned is None:
            if arrival.drop_damaged(record_id):
                return Answer(f"Removed: the record {record_id} couldn't be read. Its session is in no mode any more.")
            raise Refusal("unknown-record", f"There is no session with the record {record_id}.", "See hermes plan-mode list.")
        if owned.record.mode is None:
            return Answer(f"The session of {record_id} is in no mode.")
        desk.commit(arrival, owned, transitions.apply(owned.record, Leave()), keep=True)
    mode = owned.record.mode.capitalize()
    return Answer(f"{mode} mode is off in that session; nothing was approved. Its agent is told in its next turn.")
