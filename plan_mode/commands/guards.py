"""The refusals that several commands share."""

from __future__ import annotations

import time
from typing import Final

from .. import transitions
from ..controller import Desk
from ..errors import Refusal
from ..host import capabilities, lineage
from ..state.expiry import sweep
from ..state.identity import conversation_key, where_on_refuses
from ..state.record import Damaged, blank
from ..state.sessions import Arrival, Owned
from ..state.store import MOST_RECORDS, Folder, Writer
from ..transitions import Reject

_DAY: Final = 86_400.0


def refuse_where_unenforced(desk: Desk) -> None:
    """Raise Refusal where a mode could be turned on but not be enforced."""
    nowhere = where_on_refuses(desk.surface())
    if nowhere is not None:
        raise Refusal(nowhere.rule, f"Nothing was turned on. {nowhere.reason}", nowhere.hint)
    if capabilities.bypassing_runtime(capabilities.read_config()):
        raise Refusal("codex-runtime",
                      "Nothing was turned on. The model runs in the Codex app server, whose own tools no plugin sees.",
                      "Remove model.openai_runtime from config.yaml, start Hermes again and type /planmode on.")


def refuse_unresolved(found: Owned | None) -> None:
    """Raise Refusal while it isn't known which session this conversation continues."""
    if found is not None and found.record.unresolved:
        raise Refusal("unresolved",
                      "Where this conversation came from can't be read from the host's session store, so nothing was changed.",
                      "Its ancestor's mode holds until then; /planmode off leaves it.")


def own(desk: Desk, arrival: Arrival) -> Owned:
    """The record of this place. Raises Refusal where there is none, or it can't be read."""
    found = desk.session(arrival)
    if isinstance(found, Damaged):
        raise Refusal("state-damaged", f"Only reading is possible here, because {found.reason}.",
                      "Type /planmode off to remove that file.")
    if found is None:
        transitions.apply(blank(), Reject(""))  # refuses: there is no plan to decide on
    assert found is not None
    return found


def _listed(folder: Folder) -> frozenset[str] | None:
    conversations = lineage.all_conversations()
    return None if conversations is None else frozenset(folder.hashed(conversation_key(each)) for each in conversations)


def make_room(writer: Writer, keep_days: int) -> None:
    """Remove what may go; raise Refusal when there are still too many sessions.

    What the host doesn't list any more is looked for only then, since that reads its whole session store.
    """
    oldest = time.time() - keep_days * _DAY
    if sweep(writer, oldest) >= MOST_RECORDS and sweep(writer, oldest, _listed) >= MOST_RECORDS:
        raise Refusal("too-many", f"Nothing was turned on: {MOST_RECORDS} sessions are in modes already.",
                      "Leave some with /planmode off.")
