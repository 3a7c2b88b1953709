"""Why a search is judged by its arguments: this host puts its search commands together without a ``--`` before them."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from tools.file_operations import ShellFileOperations

from plan_mode.policy.options import option_among


class Shell:
    """A back-end that has ripgrep and every path, runs nothing, and remembers what it was to run."""

    cwd = "/w"

    def __init__(self) -> None:
        self.commands: list[str] = []

    def execute(self, command: str, **_: Any) -> dict[str, Any]:
        self.commands.append(command)
        return {"output": "yes" if "command -v" in command else "exists", "returncode": 0}


def searched(arguments: dict[str, Any]) -> list[str]:
    """The words of the search command; the last that was to run."""
    shell = Shell()
    ShellFileOperations(shell).search(**arguments)
    return shlex.split(shell.commands[-1])


@pytest.mark.parametrize("arguments", [
    {"pattern": "--pre=x", "path": "."},
    {"pattern": "x", "path": "--pre=x"},
])
def test_what_begins_with_a_dash_reaches_the_program_as_an_option(arguments: dict[str, Any]) -> None:
    words = searched(arguments)
    assert "--pre=x" in words
    assert "--" not in words[:words.index("--pre=x")], "this host ends the options now; its searches need no rule of ours"
    assert option_among("search_files", arguments)


@pytest.mark.parametrize("arguments", [
    {"pattern": "[-]-pre=x", "path": "."},
    {"pattern": " --pre=x", "path": "."},
    {"pattern": "x", "path": "./--pre=x"},
])
def test_other_arguments_reach_it_as_what_they_are(arguments: dict[str, Any]) -> None:
    words = searched(arguments)
    assert arguments["pattern"] in words
    assert "--pre=x" not in words
