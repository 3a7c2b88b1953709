"""The last look at a file edit: the host asks an approver with the final arguments, right before it writes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from .seams import seam

log: Final = logging.getLogger(__name__)

Judge = Callable[[str, Mapping[str, Any]], bool]


def has_last_look() -> bool:
    """Whether this host has the seam."""
    return seam("edit_approval") is not None and seam("edit_approval_reset") is not None


@contextmanager
def last_look(judge: Judge) -> Iterator[None]:
    """Let ``judge(tool, final arguments)`` say whether an edit may be written, while the block runs.

    An approver that was bound already (an editor's) is asked after ours. Only call where ``has_last_look()``.
    Raises whatever the host raises while the approver is bound; the block doesn't run then.
    The proposal's own list of paths is never used: it misses headers that the host's parser takes.
    """
    current = seam("edit_approval_current")
    earlier = current.get() if current is not None else None

    def approve(proposal: Any) -> bool:
        return judge(proposal.tool_name, proposal.arguments) and (earlier is None or bool(earlier(proposal)))

    token = seam("edit_approval")(approve)
    try:
        yield
    finally:
        try:
            seam("edit_approval_reset")(token)
        except Exception:  # the approver stays bound to this context, and judges by the mode that then is
            log.exception("plan-mode: the approver of an edit couldn't be taken back")
