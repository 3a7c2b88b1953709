"""What plan-mode does to a request for the model, as one callback of ``llm_request``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Change = Callable[..., dict[str, Any] | None]


def one_after_another(*changes: Change) -> Change:
    """One callback of several, each given what the one before made of the request.

    Some hosts hand the same request to every callback, and send what the last one returned: as callbacks of their own the
    changes would undo each other there.
    """
    def llm_request(request: Any = None, **call: Any) -> dict[str, Any] | None:
        changed: dict[str, Any] | None = None
        for change in changes:
            changed = change(request=changed["request"] if changed else request, **call) or changed
        return changed
    return llm_request
