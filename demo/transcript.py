"""Who said what in a scene, taken from what the model was sent and what the command printed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from textwrap import indent
from typing import Any

from tests.acceptance.lab import Request, denial_of, error_of

from .stage import Stage
from .story import Command, Leave, Scene, Turn


class Voice(Enum):
    """Who speaks, and so how it is shown."""

    YOU = "you"
    HERMES = "Hermes"
    PLAN_MODE = "plan-mode"
    TO_MODEL = "to Hermes"
    TOOL = "tool"
    BLOCKED = "blocked"
    FAILED = "failed"
    RAN = "ran"


@dataclass(frozen=True)
class Line:
    voice: Voice
    text: str


def transcript(scene: Scene, stage: Stage) -> Iterator[Line]:
    """Yield the lines of a scene that was just played."""
    yield Line(Voice.YOU, scene.act.text)
    match scene.act:
        case Command():
            yield Line(Voice.PLAN_MODE, stage.answer)
        case Turn():
            yield from _turn(scene.act, stage.requests)
        case Leave():
            pass


def _turn(turn: Turn, requests: list[Request]) -> Iterator[Line]:
    if not requests:
        return
    _, _, added = requests[0].user_text.partition(f"#S:{turn.name}")
    if added.strip():
        yield Line(Voice.TO_MODEL, added.strip())
    results = iter(requests[-1].tool_results)
    for step in turn.steps[: len(requests)]:
        yield Line(Voice.HERMES, step.text)
        for result in islice(results, len(step.calls)):
            yield Line(Voice.TOOL, _call(result.tool, result.arguments))
            yield _outcome(result.tool, result.text)


def _call(tool: str, arguments: str) -> str:
    values = json.loads(arguments)
    content = indent(values.get("content", ""), "  ")
    return f"{tool}  {values.get('command') or values.get('path')}\n{content}"


def _outcome(tool: str, result: str) -> Line:
    if denial := denial_of(result):
        return Line(Voice.BLOCKED, f"{denial.mode} mode [{denial.rule}]: {denial.text}")
    if error := error_of(result):
        return Line(Voice.FAILED, error)
    return Line(Voice.RAN, _SUMMARY[tool](json.loads(result)))


def _printed(result: Mapping[str, Any]) -> str:
    output = str(result.get("output") or "").strip()
    return output or f"exit code {result.get('exit_code')}"


#: What a successful result of each tool of the story comes down to.
_SUMMARY: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "terminal": _printed,
    "read_file": lambda result: f"{result.get('total_lines')} lines read",
    "write_file": lambda result: f"{result.get('bytes_written')} bytes written",
}
