"""Play the story in a real Hermes, scene by scene, and check each before the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.acceptance.lab import Cli, Host, Lab, Step, TimedOut

from .stage import Stage
from .story import PROJECT, STORY, Command, Leave, Scene, Turn


@dataclass(frozen=True)
class Played:
    """A scene that was played; ``faults`` says what didn't go as it should."""

    number: int
    scene: Scene
    faults: tuple[str, ...] = ()


def set_stage(lab: Lab, host: Host) -> Stage:
    """Make the home and the project the story begins with."""
    stage = Stage(lab.home(host), lab.model)
    for name, text in PROJECT.items():
        (stage.home.work / name).write_text(text, encoding="utf-8")
    return stage


def play(cli: Cli, stage: Stage) -> Iterator[Played]:
    """Play scene after scene; stop after the first with a fault."""
    for number, scene in enumerate(STORY, 1):
        played = Played(number, scene, _faults(scene, cli, stage))
        yield played
        if played.faults:
            return


def _faults(scene: Scene, cli: Cli, stage: Stage) -> tuple[str, ...]:
    try:
        _act(scene, cli, stage)
    except TimedOut as error:
        return (f"no {error.what} ({error.why})",)
    return tuple(f"not so: {c.sentence}" for c in scene.checks if not c.fact(stage))


def _act(scene: Scene, cli: Cli, stage: Stage) -> None:
    match scene.act:
        case Command(text):
            stage.answer = cli.cmd(text)
        case Turn(name, text, steps):
            stage.script = name
            stage.model.script(name, *(_filled(step, stage) for step in steps))
            cli.turn(name, text)
        case Leave():
            stage.exit_code = cli.exit()


def _filled(step: Step, stage: Stage) -> Step:
    def fill(arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {key: stage.fill(value) for key, value in arguments.items()}

    return replace(step, calls=[(tool, fill(arguments)) for tool, arguments in step.calls])
