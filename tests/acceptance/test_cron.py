"""Plan mode in scheduled runs, where no person is: only where default_mode names them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.lab import Home, Host, Lab, run_hermes
from tests.acceptance.plays import RAN, STOPPED, made
from tests.acceptance.plays import tries as tries_in
from tests.acceptance.test_cli_flow import first_message, rules
from tests.acceptance.test_webhook import UNRECORDED

pytestmark = pytest.mark.long


def schedule(lab: Lab, home: Home) -> str:
    """Schedule a terminal call and a file outside of the plans for some other hour; return the job's id."""
    lab.script("job", ("terminal", {"command": "touch job"}),
               ("write_file", {"path": str(home.work / "job.py"), "content": "x"}))
    done = run_hermes(home, "cron", "create", "every 2h", "please #S:job", "--deliver", "local")
    assert done.returncode == 0, done.stdout + done.stderr
    return str(json.loads(store_of(home).read_text())["jobs"][0]["id"])


def store_of(home: Home) -> Path:
    return home.hermes_home / "cron" / "jobs.json"


def make_due(home: Home, job: str) -> None:
    """Let the next scheduler that looks run it; a gateway does so when it starts."""
    data = json.loads(store_of(home).read_text())
    due = datetime.now(UTC) - timedelta(seconds=20)
    next(each for each in data["jobs"] if each["id"] == job)["next_run_at"] = due.isoformat()
    store_of(home).write_text(json.dumps(data))


def by_command(lab: Lab, home: Home, job: str) -> None:
    """The person has it run now: in a process of its own."""
    assert run_hermes(home, "cron", "run", job).returncode == 0


def by_gateway(lab: Lab, home: Home, job: str) -> None:
    make_due(home, job)
    lab.gateway(home).process.wait_until(lambda: lab.model.finished("job"), 90, "run of the job")


WAYS = {"command": by_command, "gateway": by_gateway}


def tries(lab: Lab, home: Home, way: str) -> list[str | None]:
    """The rules that stop what a job does; None for what ran."""
    WAYS[way](lab, home, schedule(lab, home))
    return rules(lab, "job")


@pytest.mark.parametrize("way", WAYS)
def test_a_default_that_names_them_is_enforced(lab: Lab, host: Host, way: str) -> None:
    home = lab.home(host, settings={"default_mode": {"cron": "plan"}})
    assert tries(lab, home, way) == UNRECORDED
    assert "[plan-mode]" in first_message(lab, "job")
    assert made(home) == []
    assert list((home.hermes_home / "plugin-data").rglob("*.json")) == [], "nobody comes back to a scheduled run"


@pytest.mark.parametrize("default", ["plan", {"default": "plan", "labchat": "plan"}], ids=["everywhere", "others"])
@pytest.mark.parametrize("way", WAYS)
def test_another_default_leaves_them_alone(lab: Lab, host: Host, way: str, default: Any) -> None:
    home = lab.home(host, settings={"default_mode": default})
    assert tries(lab, home, way) == RAN
    assert "plan-mode" not in first_message(lab, "job")


@pytest.mark.parametrize("planning", ["job", "chat"])
def test_a_chat_of_the_same_gateway_is_another(lab: Lab, host: Host, planning: str) -> None:
    home = lab.home(host, settings={"default_mode": {"cron": "plan"} if planning == "job" else "plan"})
    make_due(home, schedule(lab, home))
    gateway = lab.gateway(home)
    gateway.process.wait_until(lambda: lab.model.finished("job"), 90, "run of the job")
    chat = gateway.chat()
    assert tries_in(lab, home, chat, "chat") == (STOPPED if planning == "chat" else RAN)
    assert rules(lab, "job") == (UNRECORDED if planning == "job" else RAN)
    assert "Plan mode is on" in chat.cmd("/planmode on")
    assert tries_in(lab, home, chat, "again") == STOPPED
    assert "Plan mode is off" in chat.cmd("/planmode off")
    assert tries_in(lab, home, chat, "left") == RAN
