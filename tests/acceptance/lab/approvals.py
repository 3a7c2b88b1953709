"""Questions for permission, in one form for every surface that asks them by a protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

_CONSENTS = ("always", "session", "once")


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
        """Answer what waits; with None leave it waiting. Where so much isn't offered, the next smaller consent is given."""
        while choice and (approval := self.next()):
            approval.answer(_offered(choice, approval.choices))


def _offered(choice: str, choices: Sequence[str]) -> str:
    smaller = _CONSENTS[_CONSENTS.index(choice) :] if choice in _CONSENTS else ()
    return next((each for each in smaller if each in choices), choice)
