"""The OpenAI chat-completions forms of one answer: a single JSON object, or an event stream."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Name of a tool and its arguments.
Call = tuple[str, Mapping[str, Any]]

_USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


@dataclass(frozen=True)
class Answer:
    """What the model answers to its request ``number``."""

    number: int
    model: str
    text: str
    calls: Sequence[Call]

    @property
    def finish_reason(self) -> str:
        return "tool_calls" if self.calls else "stop"

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        return [
            {
                "id": f"call_{self.number}_{index}",
                "type": "function",
                "function": {"name": tool, "arguments": json.dumps(arguments)},
            }
            for index, (tool, arguments) in enumerate(self.calls)
        ]


def completion(answer: Answer) -> dict[str, Any]:
    """Return the answer as one ``chat.completion`` object."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if answer.calls:
        message["tool_calls"] = answer.tool_calls
    choice = {"index": 0, "message": message, "finish_reason": answer.finish_reason}
    return _envelope(answer, "chat.completion", [choice]) | {"usage": _USAGE}


def event_stream(answer: Answer) -> Iterator[bytes]:
    """Yield the answer as server-sent events, in the small pieces real servers send."""
    yield _chunk(answer, {"role": "assistant", "content": ""})
    for word in re.findall(r"\s*\S+", answer.text):
        yield _chunk(answer, {"content": word})
    for index, call in enumerate(answer.tool_calls):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        opening = {"index": index, **call, "function": {"name": name, "arguments": ""}}
        yield _chunk(answer, {"tool_calls": [opening]})
        rest = {"index": index, "function": {"arguments": arguments}}
        yield _chunk(answer, {"tool_calls": [rest]})
    yield _chunk(answer, {}, answer.finish_reason)
    yield _event(_envelope(answer, "chat.completion.chunk", []) | {"usage": _USAGE})
    yield b"data: [DONE]\n\n"


def _chunk(answer: Answer, delta: Mapping[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _event(_envelope(answer, "chat.completion.chunk", [choice]))


def _event(data: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def _envelope(answer: Answer, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{answer.number}",
        "object": kind,
        "created": 0,
        "model": answer.model,
        "choices": choices,
    }
