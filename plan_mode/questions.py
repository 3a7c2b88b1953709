"""What agents ask people in this process: how often, whether a question still stands, and what was answered to a directive.

All of it is forgotten with the process, and then nothing was answered.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from .errors import Refusal
from .host.consent import Answer

MOST_A_TURN: Final = 3
"""Questions that one agent may ask until the person says something."""

_MOST_REMEMBERED: Final = 1024
_MOST_PENDING: Final = 64
"""Each may hold a whole plan."""


@dataclass(slots=True)
class Question:
    """One question. ``target`` is what it asks for; ``nonce`` tells it from every other one; ``conversation`` is where.

    ``held``: somebody waits for its answer. One that the host is to put may never be put, and gives way to the next.
    """

    session: str
    target: str
    held: bool
    conversation: str = ""
    nonce: str = field(default_factory=lambda: secrets.token_hex(8))
    withdrawn: bool = False

    def stands(self) -> bool:
        """Whether an answer to it still counts."""
        return not self.withdrawn


@dataclass(slots=True)
class _Turn:
    """What was asked since the person's last message."""

    asked: int = 0
    declined: set[str] = field(default_factory=set)
    unanswered: bool = False
    open: Question | None = None


@dataclass(slots=True)
class Pending:
    """A question that the host puts to a person before a call runs: what it is about, and the answer if there was one."""

    subject: Any
    question: Question
    answer: Answer | None = None


class Questions:
    """Thread-safe, and bounded: the sessions that were silent for longest are forgotten first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: OrderedDict[str, _Turn] = OrderedDict()
        self._pending: OrderedDict[tuple[str, str], Pending] = OrderedDict()

    def begin_turn(self, session: str) -> None:
        """The person of that session has said something."""
        if session in self._turns:
            with self._lock:
                turn = self._turns.pop(session, None)
                _withdraw(turn)

    def end_turn(self, conversation: str) -> None:
        """Nothing that is still being asked in that conversation counts any more."""
        if self._turns:
            with self._lock:
                for turn in self._turns.values():
                    if turn.open is not None and turn.open.conversation == conversation:
                        _withdraw(turn)

    @contextmanager
    def asking(self, session: str, target: str, conversation: str = "") -> Iterator[Question]:
        """Hold a question open while this lasts. Raises Refusal where none may be asked."""
        question = self._opened(session, target, conversation, held=True)
        try:
            yield question
        finally:
            self._closed(question)

    def answered(self, question: Question, answer: Answer) -> None:
        """A no isn't asked again until the person says something; nor is anything that nobody answered.

        An answer in words that comes late would be taken for one to the question after.
        """
        with self._lock:
            if question.stands():
                self._note(question, answer)

    # -- by the host's directive

    def announce(self, session: str, call: str, target: str, subject: Any, conversation: str = "") -> Question:
        """Open a question that the host will put before that call runs. Raises Refusal where none may be asked."""
        question = self._opened(session, target, conversation, held=False)
        with self._lock:
            self._pending[session, call] = Pending(subject, question)
            self._pending.move_to_end((session, call))
            _bound(self._pending, _MOST_PENDING)
        return question

    def witness(self, nonce: str, answer: Answer) -> None:
        """What the host says was answered; the first answer counts."""
        with self._lock:
            pending = next((each for each in self._pending.values() if each.question.nonce == nonce), None)
            if pending is None or pending.answer is not None:
                return
            pending.answer = answer
            self._note(pending.question, answer)

    def evidence(self, session: str, call: str) -> Pending | None:
        """The question that was put for that call last, with its answer; None without one. Handed out once."""
        with self._lock:
            pending = self._pending.pop((session, call), None)
            if pending is not None:
                self._close(pending.question)
            return pending

    # -- under the lock

    def _note(self, question: Question, answer: Answer) -> None:
        turn = self._turn(question.session)
        if answer.outcome == "declined":
            turn.declined.add(question.target)
        turn.unanswered = turn.unanswered or answer.outcome == "timed-out"

    def _opened(self, session: str, target: str, conversation: str, *, held: bool) -> Question:
        with self._lock:
            turn = self._turn(session)
            if turn.open is not None and turn.open.held:
                raise Refusal("being-asked", "The user is being asked something else at this moment.", "Wait for the answer.")
            if target in turn.declined:
                raise Refusal("declined-before", "The user has declined exactly that already.",
                              "Don't ask again before the user says something; ask in words what should be changed.")
            if turn.unanswered:
                raise Refusal("unanswered-before", "The user didn't answer the last question.",
                              "Say in words what you need, and stop: the answer may come with the user's next message.")
            if turn.asked >= MOST_A_TURN:
                raise Refusal("asked-enough", f"The user was asked {MOST_A_TURN} times in this turn already.",
                              "Say in words what you need, and stop.")
            turn.asked += 1
            _withdraw(turn)
            turn.open = Question(session, target, held, conversation)
            return turn.open

    def _closed(self, question: Question) -> None:
        with self._lock:
            self._close(question)

    def _close(self, question: Question) -> None:
        turn = self._turns.get(question.session)
        if turn is not None and turn.open is question:
            turn.open = None

    def _turn(self, session: str) -> _Turn:
        turn = self._turns.setdefault(session, _Turn())
        self._turns.move_to_end(session)
        _bound(self._turns, _MOST_REMEMBERED)
        return turn


def _withdraw(turn: _Turn | None) -> None:
    if turn is not None and turn.open is not None:
        turn.open.withdrawn = True
        turn.open = None


def _bound(known: OrderedDict[Any, Any], most: int) -> None:
    while len(known) > most:
        known.popitem(last=False)
