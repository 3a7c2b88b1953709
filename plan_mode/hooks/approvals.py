"""What the host says of approvals: evidence for the questions that it puts in our name, and when none counts any more."""

from __future__ import annotations

from typing import Any, Final

from ..host.consent import RULE_PREFIX, answer_of
from ..questions import Questions
from .quiet import quiet

_PERSONS: Final = ("", None, "user", "human")
"""Who may have decided, as hosts put it: a model that approves in somebody's place has a name of its own."""


class Approvals:
    """The callbacks of ``post_approval_response`` and ``on_session_end``."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions

    @quiet
    def post_approval_response(self, pattern_key: Any = "", choice: Any = "", decided_by: Any = "", **_: Any) -> None:
        """Take down what a person answered to one of our directives. Never raises."""
        if isinstance(pattern_key, str) and pattern_key.startswith(RULE_PREFIX) and decided_by in _PERSONS:
            self._questions.witness(pattern_key.removeprefix(RULE_PREFIX), answer_of(choice, "directive"))

    @quiet
    def on_session_end(self, session_id: Any = "", **_: Any) -> None:
        """A turn is over: what is still being asked there is answered too late. Never raises."""
        if isinstance(session_id, str):
            self._questions.end_turn(session_id)
