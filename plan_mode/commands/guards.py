"""What several commands begin with: whose session is it, and may it be changed from here?"""

from __future__ import annotations

from .. import transitions
from ..controller import Desk
from ..errors import Refusal
from ..state.record import Damaged, blank
from ..state.sessions import Arrival, Owned
from ..transitions import Reject


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
