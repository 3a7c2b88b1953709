"""Plan mode in questions that are asked and answered once (`hermes -z`, `hermes chat -q`): by default_mode."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.lab import Home, Host, Lab, ask
from tests.acceptance.plays import RAN, STOPPED, made
from tests.acceptance.test_cli_flow import FULL_NOTICE, PLAN, first_message, rules

pytestmark = pytest.mark.long

WAYS = {"z": ("-z",), "q": ("chat", "-q"), "Q": ("chat", "-Q", "-q")}
EVERYWHERE, HERE = "plan", {"one-shot": "plan"}
YOLO = {"z": ("--yolo", "-z"), "q": ("chat", "--yolo", "-q")}


def tries(lab: Lab, home: Home, how: tuple[str, ...], script: str = "shot") -> list[str | None]:
    """The rules that stop a terminal call and a file outside of the plans; None for what ran."""
    lab.script(script, ("terminal", {"command": f"touch {script}"}),
               ("write_file", {"path": str(home.work / f"{script}.py"), "content": "x"}))
    ask(home, script, how=how)
    return rules(lab, script)


@pytest.mark.parametrize(("way", "default"), [("z", EVERYWHERE), ("z", HERE), ("q", EVERYWHERE), ("Q", HERE)],
                         ids=["z-everywhere", "z-here", "q-everywhere", "Q-here"])
def test_a_default_mode_is_enforced(lab: Lab, host: Host, way: str, default: Any) -> None:
    home = lab.home(host, settings={"default_mode": default})
    assert tries(lab, home, WAYS[way]) == STOPPED
    assert FULL_NOTICE in first_message(lab, "shot")
    lab.script("write", ("read_file", {"path": str(home.hermes_home / "SOUL.md")}),
               ("write_file", {"path": str(home.plans / PLAN), "content": "# Plan\n"}))
    ask(home, "write", how=WAYS[way])
    assert rules(lab, "write") == [None, None]
    assert FULL_NOTICE in first_message(lab, "write"), "each question is a conversation of its own"
    assert (home.plans / PLAN).read_text() == "# Plan\n"
    assert made(home) == []


@pytest.mark.parametrize(("way", "default"), [("z", EVERYWHERE), ("q", HERE)], ids=["z-everywhere", "q-here"])
def test_no_switch_opens_it(lab: Lab, host: Host, way: str, default: Any) -> None:
    home = lab.home(host, settings={"default_mode": default}, extra={"approvals": {"mode": "off"}})
    assert tries(lab, home, YOLO[way]) == STOPPED
    assert made(home) == []


@pytest.mark.parametrize("way", ["z", "q"])
def test_the_default_of_the_classic_cli_is_another(lab: Lab, host: Host, way: str) -> None:
    home = lab.home(host, settings={"default_mode": {"cli": "plan"}})
    assert tries(lab, home, WAYS[way]) == RAN
    assert "plan-mode" not in first_message(lab, "shot")
    assert not (home.hermes_home / "plugin-data").exists()


@pytest.mark.parametrize("way", ["z", "q"])
def test_a_mode_that_does_not_exist_can_only_read(lab: Lab, host: Host, way: str) -> None:
    home = lab.home(host, settings={"default_mode": "careful"})
    lab.script("shot", ("read_file", {"path": str(home.hermes_home / "SOUL.md")}), ("terminal", {"command": "touch shot"}),
               ("write_file", {"path": str(home.plans / PLAN), "content": "# Plan\n"}))
    ask(home, "shot", how=WAYS[way])
    assert rules(lab, "shot") == [None, "mode-missing", "mode-missing"]
    assert "'careful'" in lab.results("shot")[1].text
    assert made(home) == []


@pytest.mark.parametrize("way", ["z", "q"])
def test_without_settings_nothing_is_touched(lab: Lab, host: Host, way: str) -> None:
    home = lab.home(host)
    assert tries(lab, home, WAYS[way]) == RAN
    assert "plan-mode" not in first_message(lab, "shot")
    assert not (home.hermes_home / "plugin-data").exists()


def test_a_command_as_text_is_not_applied(lab: Lab, host: Host) -> None:
    home = lab.home(host)
    lab.script("shot", ("terminal", {"command": "touch shot"}))
    answer = ask(home, "shot", "/planmode on please")
    assert "did not turn plan mode on" in answer.stdout
    assert rules(lab, "shot") == [None]
