"""What every surface is put through in the same words: an agent that acts at once, and one that writes a plan."""

from __future__ import annotations

from typing import Protocol

from tests.acceptance.lab import Home, Lab
from tests.acceptance.test_cli_flow import PLAN, rules

STOPPED = ["not-granted", "outside-plans"]
RAN = [None, None]


class Talk(Protocol):
    """Whoever takes a message and plays a turn: a tab, a chat, a conversation."""

    def turn(self, script: str) -> str: ...


def tries(lab: Lab, home: Home, talk: Talk, script: str) -> list[str | None]:
    """The rules that stop a terminal call and a file outside of the plans; None for what ran."""
    lab.script(script, ("terminal", {"command": f"touch {script}"}),
               ("write_file", {"path": str(home.work / f"{script}.py"), "content": "x"}))
    talk.turn(script)
    return rules(lab, script)


def write_plan(lab: Lab, home: Home, talk: Talk, name: str = PLAN) -> None:
    lab.script("write", ("write_file", {"path": str(home.plans / name), "content": "# Plan\n"}))
    talk.turn("write")
    assert rules(lab, "write") == [None]
    assert (home.plans / name).read_text() == "# Plan\n"


def made(home: Home) -> list[str]:
    """What was made outside of the plans."""
    return sorted(path.name for path in home.work.iterdir() if path.name != ".hermes")
