"""What the operator may set: checked, never fatal, and read again only when config.yaml is another file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from plan_mode.settings import SETTINGS, OfConfig, Settings, parse


def reader(settings: Any) -> Callable[[str, Any], Any]:
    """How hosts read a plugin's settings: dotted keys through nested mappings."""
    def read(key: str, default: Any) -> Any:
        value = settings
        for part in key.split("."):
            if not isinstance(value, Mapping) or part not in value:
                return default
            value = value[part]
        return value

    return read


@pytest.mark.parametrize(("settings", "parsed"), [
    ({}, Settings()),
    (None, Settings()),
    ([], Settings()),
    ({"other": 1}, Settings()),
    ({"plan_mode": None}, Settings()),
    ({"plan_mode": {}}, Settings()),
    ({"extra_allowed_tools": []}, Settings()),
    ({"extra_allowed_tools": None}, Settings()),
    ({"extra_allowed_tools": ["a", "mcp_x_y", "a"]}, Settings(frozenset({"a", "mcp_x_y"}))),
    ({"plan_mode": {"extra_allowed_tools": ["a"]}}, Settings(frozenset({"a"}))),
    # Nested wins, as a whole.
    ({"plan_mode": {"extra_allowed_tools": ["a"]}, "extra_allowed_tools": ["b"]}, Settings(frozenset({"a"}))),
    ({"plan_mode": {"extra_allowed_tools": []}, "extra_allowed_tools": ["b"]}, Settings()),
    ({"plan_mode": {"extra_allowed_tools": None}, "extra_allowed_tools": ["b"]}, Settings(frozenset({"b"}))),
    ({"plan_mode": {"keep_days": 7}, "extra_allowed_tools": ["b"]}, Settings(frozenset({"b"}), keep_days=7)),
    ({"after_approval": "code"}, Settings(after_approval="code")),
    ({"after_approval": ""}, Settings()),
    ({"keep_days": 1}, Settings(keep_days=1)),
    ({"keep_days": 3650}, Settings(keep_days=3650)),
])
def test_settings_in_force(settings: Any, parsed: Settings) -> None:
    assert parse(reader(settings)) == parsed


NAMES = "must be a list of tool names"
SLUG = "must be the slug of a mode"
DAYS = "must be a whole number of days from 1 to 3650"


@pytest.mark.parametrize(("settings", "fault"), [
    ({"extra_allowed_tools": "terminal"}, f"extra_allowed_tools {NAMES}; it is 'terminal' and counts as not set"),
    ({"extra_allowed_tools": True}, f"extra_allowed_tools {NAMES}; it is True and counts as not set"),
    ({"extra_allowed_tools": {"a": True}}, f"extra_allowed_tools {NAMES}; it is {{'a': True}} and counts as not set"),
    # One wrong name, and none counts: nobody knows which were meant.
    ({"extra_allowed_tools": ["a", 1]}, f"extra_allowed_tools {NAMES}; it is ['a', 1] and counts as not set"),
    ({"extra_allowed_tools": ["a", ""]}, f"extra_allowed_tools {NAMES}; it is ['a', ''] and counts as not set"),
    ({"extra_allowed_tools": ["a b"]}, f"extra_allowed_tools {NAMES}; it is ['a b'] and counts as not set"),
    ({"extra_allowed_tools": ["a\n"]}, f"extra_allowed_tools {NAMES}; it is ['a\\n'] and counts as not set"),
    ({"extra_allowed_tools": ["a\0"]}, f"extra_allowed_tools {NAMES}; it is ['a\\x00'] and counts as not set"),
    ({"extra_allowed_tools": [["a"]]}, f"extra_allowed_tools {NAMES}; it is [['a']] and counts as not set"),
    ({"extra_allowed_tools": ["x" * 129]},
     f"extra_allowed_tools {NAMES}; it is ['{'x' * 75}... and counts as not set"),
    ({"plan_mode": {"extra_allowed_tools": "a"}}, f"plan_mode.extra_allowed_tools {NAMES}; it is 'a' and counts as not set"),
    # A nested fault doesn't fall back to the flat value.
    ({"plan_mode": {"extra_allowed_tools": 0}, "extra_allowed_tools": ["b"]},
     f"plan_mode.extra_allowed_tools {NAMES}; it is 0 and counts as not set"),
    ({"plan_mode": ["terminal"]}, "plan_mode must be settings by name; it is ['terminal'] and counts as not set"),
    ({"after_approval": 1}, f"after_approval {SLUG}; it is 1 and counts as not set"),
    ({"after_approval": False}, f"after_approval {SLUG}; it is False and counts as not set"),
    ({"after_approval": "co de"}, f"after_approval {SLUG}; it is 'co de' and counts as not set"),
    ({"after_approval": "code\n"}, f"after_approval {SLUG}; it is 'code\\n' and counts as not set"),
    ({"after_approval": "cödé"}, f"after_approval {SLUG}; it is 'cödé' and counts as not set"),
    ({"keep_days": 0}, f"keep_days {DAYS}; it is 0 and counts as not set"),
    ({"keep_days": 3651}, f"keep_days {DAYS}; it is 3651 and counts as not set"),
    ({"keep_days": -1}, f"keep_days {DAYS}; it is -1 and counts as not set"),
    ({"keep_days": True}, f"keep_days {DAYS}; it is True and counts as not set"),
    ({"keep_days": 7.0}, f"keep_days {DAYS}; it is 7.0 and counts as not set"),
    ({"keep_days": "7"}, f"keep_days {DAYS}; it is '7' and counts as not set"),
])
def test_a_fault_is_told_and_counts_as_not_set(settings: Any, fault: str) -> None:
    assert parse(reader(settings)) == Settings(faults=(fault,))


def test_all_faults_are_told_at_once() -> None:
    found = parse(reader({"extra_allowed_tools": 1, "after_approval": 2, "keep_days": 30, "plan_mode": 3}))
    assert found == Settings(keep_days=30, faults=(
        "plan_mode must be settings by name; it is 3 and counts as not set",
        f"extra_allowed_tools {NAMES}; it is 1 and counts as not set",
        f"after_approval {SLUG}; it is 2 and counts as not set",
    ))


def test_a_host_that_cannot_read_its_configuration() -> None:
    def read(key: str, default: Any) -> Any:
        raise OSError("config.yaml is broken")

    faults = tuple(f"plan_mode.{name} can't be read: config.yaml is broken" for name in SETTINGS)
    assert parse(read) == Settings(faults=faults, complete=False)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_default_of_a_row_is_the_default_in_force(name: str) -> None:
    assert getattr(Settings(), name) == SETTINGS[name].default


class Counted:
    """A reader that tells how often the settings were read."""

    def __init__(self) -> None:
        self.times = 0
        self.names = ["first"]

    def __call__(self, key: str, default: Any) -> Any:
        self.times += key == "keep_days"
        return self.names if key == "extra_allowed_tools" else default


@pytest.fixture
def config(tmp_path: Path) -> Path:
    config = tmp_path / "config.yaml"
    config.write_text("a: 1\n")
    return config


def test_settings_are_read_once_for_one_file(config: Path) -> None:
    read = Counted()
    settings = OfConfig(lambda: str(config.parent), lambda: parse(read), Settings())
    assert [settings().extra_allowed_tools for _ in range(3)] == [{"first"}] * 3
    assert read.times == 1


def replace_file(config: Path) -> None:
    new = config.with_name("new")
    new.write_text("a: 1\n")
    new.rename(config)


@pytest.mark.parametrize("change", [
    lambda config: config.write_text("a: 12\n"),
    lambda config: config.unlink(),
    lambda config: os.utime(config, (1, 1)),
    replace_file,
], ids=["another size", "removed", "another time", "another file of the same size"])
def test_settings_are_read_again_when_the_file_is_another(config: Path, change: Callable[[Path], object]) -> None:
    read = Counted()
    settings = OfConfig(lambda: str(config.parent), lambda: parse(read), Settings())
    settings()
    read.names = ["second"]
    change(config)
    assert settings().extra_allowed_tools == {"second"}
    assert read.times == 2


def test_a_failure_is_not_remembered(config: Path) -> None:
    """What was known goes on to count, and the next call asks again, although the file is the same."""
    answers: list[str | None] = [None, "passing", "first", None, "passing", "second"]
    of_config = OfConfig(lambda: str(config.parent), lambda: answers.pop(0), "nothing", lambda found: found != "passing")
    assert [of_config() for _ in range(4)] == ["nothing", "passing", "first", "first"]
    config.write_text("a: 12\n")
    assert [of_config() for _ in range(4)] == ["first", "first", "second", "second"]
    assert not answers


def test_each_profile_has_its_own(tmp_path: Path) -> None:
    read = Counted()
    home = "a"
    settings = OfConfig(lambda: str(tmp_path / home), lambda: parse(read), Settings())
    assert settings().extra_allowed_tools == {"first"}
    home, read.names = "b", ["second"]
    assert settings().extra_allowed_tools == {"second"}
    home, read.names = "a", ["third"]
    assert settings().extra_allowed_tools == {"first"}
