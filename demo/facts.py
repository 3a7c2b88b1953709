"""What can be verified: each function returns a fact, a question to the stage.

Facts look at the file system and at what the model was sent, not at the screen; only what a
command answers is read from there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.acceptance.lab import ToolResult, denial_of, error_of

from .stage import Stage

Fact = Callable[[Stage], bool]


def folder(path: str) -> Fact:
    """The folder exists."""
    return lambda stage: Path(stage.fill(path)).is_dir()


def nothing_at(path: str) -> Fact:
    """Neither a file nor a folder is there."""
    return lambda stage: not Path(stage.fill(path)).exists()


def on_disk(path: str, text: str = "") -> Fact:
    """The file exists and holds that text."""

    def fact(stage: Stage) -> bool:
        file = Path(stage.fill(path))
        return file.is_file() and text in file.read_text(encoding="utf-8")

    return fact


def answered(text: str) -> Fact:
    """The command's answer holds that text, in any case, however the terminal broke its lines."""
    return lambda stage: _flat(stage.fill(text)) in _flat(stage.answer)


def model_was_told(text: str) -> Fact:
    """The turn's user message, as the model got it, holds that text exactly once."""
    return lambda stage: stage.requests[0].user_text.count(stage.fill(text)) == 1


def blocked(tool: str, argument: str, rule: str) -> Fact:
    """The turn's calls of that tool with that argument were all denied by that rule."""

    def fact(stage: Stage) -> bool:
        denials = [denial_of(call.text) for call in _calls(stage, tool, argument)]
        return bool(denials) and all(denial and denial.rule == rule for denial in denials)

    return fact


def ran(tool: str, argument: str, printed: str = "") -> Fact:
    """The turn's calls of that tool with that argument all ran; a result holds that text."""

    def fact(stage: Stage) -> bool:
        calls = _calls(stage, tool, argument)
        failed = any(error_of(call.text) for call in calls)
        return not failed and any(printed in call.text for call in calls)

    return fact


def nothing_unscripted(stage: Stage) -> bool:
    """The model got no request outside the story."""
    return not stage.model.aux()


def ended_well(stage: Stage) -> bool:
    """Hermes ended with exit code 0."""
    return stage.exit_code == 0


def _calls(stage: Stage, tool: str, argument: str) -> list[ToolResult]:
    wanted = stage.fill(argument)
    return [call for call in stage.results if call.tool == tool and wanted in call.arguments]


def _flat(text: str) -> str:
    return "".join(text.split()).casefold()
