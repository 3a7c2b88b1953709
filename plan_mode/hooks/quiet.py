"""The guard around callbacks that deny nothing: what fails in one stands in the log, and the host gets None."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

log: Final = logging.getLogger(__name__)

_Told = ParamSpec("_Told")
_Given = TypeVar("_Given")


def quiet(callback: Callable[_Told, _Given]) -> Callable[_Told, _Given | None]:
    """The callback, which never raises. Not for one that decides: there a failure is a denial."""
    @functools.wraps(callback)
    def call(*args: _Told.args, **told: _Told.kwargs) -> _Given | None:
        try:
            return callback(*args, **told)
        except Exception:
            log.exception("plan-mode: %s failed", callback.__qualname__)
            return None
    return call
