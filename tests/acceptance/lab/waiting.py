"""Wait for something to become true, for a bounded time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_POLL = 0.03


class TimedOut(TimeoutError):
    """What was waited for didn't come.

    Attributes: ``what`` was waited for, ``why`` it ended, and ``screen``, the newest lines.
    """

    def __init__(self, what: str, why: str, screen: str) -> None:
        self.what, self.why, self.screen = what, why, screen
        super().__init__(f"no {what}: {why}; the newest lines:\n{screen}")


def _never() -> str:
    return ""


def wait_until(
    condition: Callable[[], T],
    seconds: float,
    what: str,
    *,
    over: Callable[[], str] = _never,
    screen: Callable[[], str] = _never,
) -> T:
    """Poll until the condition is true and return its value.

    ``over`` tells why it can't become true any more, if it can't; ``screen`` what to show then.
    Raises TimedOut.
    """
    end = time.monotonic() + seconds
    while True:
        why = over()
        if value := condition():  # after `over`: what came last still counts
            return value
        if not why and time.monotonic() > end:
            why = f"not in {seconds:g} s"
        if why:
            raise TimedOut(what, why, screen())
        time.sleep(_POLL)
