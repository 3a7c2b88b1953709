"""A model that plays scripts, behind an OpenAI-compatible chat endpoint on loopback.

A user message with the marker ``#S:<name>`` selects a script; the step is the number of assistant
messages since the last marker. Selection has no state, so a retried request gets the same step.
``#K:<name>`` does the same in a conversation without any ``#S:``: for the goals of sub-agents, which
the host quotes to the parent when they are done.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

from .chat_wire import Answer, Call, completion, event_stream
from .waiting import wait_until

Message = Mapping[str, Any]

_MARKERS = (re.compile(r"#S:([A-Za-z0-9_.-]+)"), re.compile(r"#K:([A-Za-z0-9_.-]+)"))


class Gate:
    """Holds a step of the model back, so that a test can do something in the middle of a turn.

    The step is answered after ``release``; or after ``seconds``, lest a failed test leave it open.
    """

    def __init__(self, seconds: float = 120.0) -> None:
        self._seconds = seconds
        self._reached, self._released = threading.Event(), threading.Event()

    def wait_reached(self, seconds: float = 90.0) -> None:
        """Wait until the model was asked for the step; raises TimedOut."""
        wait_until(self._reached.is_set, seconds, "request for the held step")

    def release(self) -> None:
        self._released.set()

    def pass_through(self) -> None:
        """Used by the model: come to the gate and wait until it opens."""
        self._reached.set()
        self._released.wait(self._seconds)


@dataclass(frozen=True)
class Step:
    """What the model does once: says ``text``, makes ``calls``, after ``delay`` seconds.

    With a ``gate`` it does so when the test lets it.
    """

    text: str = ""
    calls: Sequence[Call] = ()
    delay: float = 0.0
    gate: Gate | None = None


#: A step, or a function from the request's messages to a step.
Play = Step | Callable[[Sequence[Message]], Step]

AFTER_THE_END = Step("SCRIPT-END")
UNSCRIPTED = Step("UNSCRIPTED")

_NOT_FOUND = {"error": {"message": "not found"}}
_NO_SUCH_MODEL = {"error": {"message": "The model does not exist.", "code": "model_not_found"}}


@dataclass(frozen=True)
class ToolResult:
    """A call the model made in a script, and the result it got."""

    tool: str
    arguments: str
    text: str


@dataclass(frozen=True)
class Request:
    """One request the model got. ``aux``: it belongs to no script (titles, reviews, ...)."""

    kind: Literal["script", "aux"]
    script: str | None
    step: int
    tools: tuple[str, ...]
    messages: Sequence[Message]
    body: Mapping[str, Any] = field(repr=False)

    @property
    def user_text(self) -> str:
        """The newest user message, with what plugins added to it."""
        users = [m for m in self.messages if m.get("role") == "user"]
        return text_of(users[-1]) if users else ""

    @property
    def turn(self) -> Sequence[Message]:
        """The messages after the one that carries the script's marker."""
        return self.messages[_marked(self.messages)[1] + 1 :]

    @property
    def tool_results(self) -> list[ToolResult]:
        """The calls of this turn that have a result, in order."""
        calls: dict[str, tuple[str, str]] = {}
        results = []
        for message in self.turn:
            for call in message.get("tool_calls") or ():
                calls[call["id"]] = (call["function"]["name"], call["function"]["arguments"])
            if message.get("role") == "tool":
                tool, arguments = calls[message["tool_call_id"]]
                results.append(ToolResult(tool, arguments, text_of(message)))
        return results


def last_words(script: str) -> str:
    """Return what a script of Lab.script ends with."""
    return f"DONE-{script}"


def text_of(message: Message) -> str:
    """Return the text of a chat message, whichever of the two content forms it has."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _marked(messages: Sequence[Message]) -> tuple[str | None, int]:
    """Return the script of the last marker that counts, and the index of the message it is in."""
    for marker in _MARKERS:
        for index in range(len(messages) - 1, -1, -1):
            if messages[index].get("role") == "user":
                names = marker.findall(text_of(messages[index]))
                if names:
                    return names[-1], index
    return None, -1


class ScriptedModel:
    """Serves scripts from ``start`` to ``stop`` and records every request.

    ``requests`` holds chat requests in the order they came; other hits are answered and forgotten. One for a
    model in ``missing`` gets a 404 and is counted in ``refusals`` instead.
    """

    name = "scripted-model"

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.missing: set[str] = set()
        self.refusals: list[str] = []
        self._scripts: dict[str, Sequence[Play]] = {}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def start(self) -> ScriptedModel:
        serve = self._server.serve_forever
        threading.Thread(target=serve, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def script(self, name: str, *steps: Play) -> None:
        """Set what the model does in turns marked ``#S:<name>``."""
        self._scripts[name] = steps

    def of(self, script: str) -> list[Request]:
        """Return the requests of a script so far."""
        return [r for r in list(self.requests) if r.script == script]

    def aux(self) -> list[Request]:
        """Return the requests that belong to no script."""
        return [r for r in list(self.requests) if r.kind == "aux"]

    def tool_results(self, script: str) -> list[ToolResult]:
        """Return the calls and results its newest request shows."""
        requests = self.of(script)
        return requests[-1].tool_results if requests else []

    def finished(self, script: str) -> bool:
        """Tell whether the last step of a script was asked for."""
        last = len(self._scripts[script]) - 1
        return any(r.step >= last for r in self.of(script))

    def answer(self, body: Mapping[str, Any]) -> Answer:
        """Record one chat request and return the answer to it."""
        messages = body.get("messages") or ()
        script, index = _marked(messages)
        # Requests for titles and summaries quote the chat, marker included, but offer no tools.
        if script not in self._scripts or not body.get("tools"):
            script = None
        step = sum(m.get("role") == "assistant" for m in messages[index + 1 :])
        request = Request(
            kind="script" if script else "aux",
            script=script,
            step=step,
            tools=tuple(t.get("function", {}).get("name", "") for t in body.get("tools") or ()),
            messages=messages,
            body=body,
        )
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
        played = self._play(script, step, messages)
        if played.gate:
            played.gate.pass_through()
        time.sleep(played.delay)
        return Answer(number, str(body.get("model") or self.name), played.text, played.calls)

    def _play(self, script: str | None, step: int, messages: Sequence[Message]) -> Step:
        if script is None:
            return UNSCRIPTED
        steps = self._scripts[script]
        play = steps[step] if step < len(steps) else AFTER_THE_END
        return play if isinstance(play, Step) else play(messages)

    def dump(self, path: Path) -> None:
        """Write every request to ``path``, one JSON line each."""
        lines = [json.dumps({"script": r.script, "step": r.step, **r.body}) for r in self.requests]
        path.write_text("\n".join(lines), encoding="utf-8")


def _handler_of(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Stay silent: standard error belongs to the test."""

        def do_GET(self) -> None:
            if self.path.rstrip("/").endswith("/v1/models"):
                entry = {"id": model.name, "object": "model", "context_length": 131072}
                self._send(200, {"object": "list", "data": [entry]})
            else:
                self._send(404, _NOT_FOUND)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
            if not self.path.endswith("/chat/completions"):
                self._send(404, _NOT_FOUND)
                return
            if body.get("model") in model.missing:
                model.refusals.append(body["model"])
                self._send(404, _NO_SUCH_MODEL)
                return
            answer = model.answer(body)
            # A client may be interrupted and leave; its request is recorded all the same.
            with suppress(ConnectionError):
                if body.get("stream"):
                    self._stream(answer)
                else:
                    self._send(200, completion(answer))

        def _stream(self, answer: Answer) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            for event in event_stream(answer):
                self.wfile.write(event)

        def _send(self, status: int, data: Mapping[str, Any]) -> None:
            payload = json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

    return Handler
