"""Questions for permission, in one form for every surface that asks them by a protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Approval:
    """A question that waits. ``text``: what the person reads; ``choices``: once, session, always, deny,
    as far as they are offered; ``answer(choice)`` ends the wait."""

    text: str
    choices: tuple[str, ...]
    answer: Callable[[str], object]


class Approvals:
    """Hands out each question once. ``asked`` returns all there were so far, oldest first."""

    def __init__(self, asked: Callable[[], Sequence[Approval]]) -> None:
        self._asked = asked
        self._seen = len(asked())

    def next(self) -> Approval | None:
        found = self._asked()
        if len(found) == self._seen:
            return None
        self._seen += 1
        return found[self._seen - 1]

    def answer_all(self, choice: str | None) -> None:
        """Answer what waits; with None leave it waiting."""
        while choice and (approval := self.next()):
            approval.answer(choice)
