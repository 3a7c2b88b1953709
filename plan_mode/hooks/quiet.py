"""The guard around hooks that only take note: what fails in one stands in the log, and goes no further."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any, Final

log: Final = logging.getLogger(__name__)


def quiet(callback: Callable[..., Any]) -> Callable[..., Any]:
    """The callback, which never raises."""
    @functools.wraps(callback)
    def call(**told: Any) -> Any:
        try:
            return callback(**told)
        except Exception:
            log.exception("plan-mode: a hook failed")
            return None
    return call
