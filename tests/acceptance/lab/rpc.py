"""JSON-RPC 2.0 between equals, one message a line, whatever carries the lines.

    rpc.call("session.create", {"cols": 80})       # -> the result; raises RpcError
    rpc.notices                                    # what the other side told us, oldest first
    rpc.questions                                  # what it asked us; question.answer({...})
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from .process import Process
from .waiting import wait_until

T = TypeVar("T")

Params = Mapping[str, Any]


class RpcError(RuntimeError):
    """The other side refused a call. Attributes: ``method``, ``code`` and ``text``."""

    def __init__(self, method: str, code: int, text: str) -> None:
        self.method, self.code, self.text = method, code, text
        super().__init__(f"{method}: {text} ({code})")


@dataclass(frozen=True)
class Notice:
    """A message that asks for no answer."""

    method: str
    params: Params


class Question:
    """A call the other side made. ``answered``: it got its answer."""

    def __init__(self, rpc: Rpc, number: object, method: str, params: Params) -> None:
        self.method, self.params = method, params
        self.answered = False
        self._rpc, self._number = rpc, number

    def answer(self, result: Params) -> None:
        self.answered = True
        self._rpc.send({"id": self._number, "result": result})


class Rpc:
    """One end of a connection.

    ``write`` sends a line; who reads lines hands them to ``receive``. ``over`` tells why no more
    will come, if so, and ``screen`` what to show then: both as in ``wait_until``.
    """

    def __init__(
        self, write: Callable[[str], None], *, over: Callable[[], str], screen: Callable[[], str]
    ) -> None:
        self.notices: list[Notice] = []
        self.questions: list[Question] = []
        self._write, self._over, self._screen = write, over, screen
        self._replies: dict[str, Mapping[str, Any]] = {}
        self._numbers = itertools.count(1)
        self._counting = threading.Lock()

    def send(self, message: Mapping[str, Any]) -> None:
        self._write(json.dumps({"jsonrpc": "2.0", **message}))

    def receive(self, line: str) -> None:
        """Take in one line; what isn't JSON-RPC is passed over."""
        try:
            message = json.loads(line)
        except ValueError:
            return
        if not isinstance(message, dict):
            return
        method, params = message.get("method"), message.get("params") or {}
        if method is None:
            self._replies[str(message.get("id"))] = message
        elif "id" in message:
            self.questions.append(Question(self, message["id"], method, params))
        else:
            self.notices.append(Notice(method, params))

    def start(self, method: str, params: Params | None = None) -> str:
        """Send a call and return its number, for ``result``."""
        with self._counting:
            number = f"r{next(self._numbers)}"
        self.send({"id": number, "method": method, "params": params or {}})
        return number

    def has_result(self, number: str) -> bool:
        return number in self._replies

    def result(self, number: str, method: str, seconds: float = 60.0) -> dict[str, Any]:
        """Wait for the answer to a call and return its result.

        Raises RpcError if it was refused, TimedOut if there is none.
        """
        self.wait_until(lambda: self.has_result(number), seconds, f"answer to {method}")
        reply = self._replies.pop(number)
        if error := reply.get("error"):
            details = error.get("data")
            text = f"{error.get('message')}" + (f": {details}" if details else "")
            raise RpcError(method, int(error.get("code") or 0), text)
        return dict(reply.get("result") or {})

    def call(self, method: str, params: Params | None = None, seconds: float = 60.0) -> dict[str, Any]:
        return self.result(self.start(method, params), method, seconds)

    def wait_until(self, condition: Callable[[], T], seconds: float, what: str) -> T:
        """Poll until the condition is true and return its value; raises TimedOut."""
        return wait_until(condition, seconds, what, over=self._over, screen=self._screen)


def rpc_with(process: Process) -> Rpc:
    """Return the connection with a program that talks on its standard streams."""
    rpc = Rpc(process.write, over=process.over, screen=process.newest)
    process.listen(rpc.receive)
    return rpc
