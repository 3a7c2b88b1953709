"""Plan mode in deliveries of a webhook: each is a conversation that nobody comes back to."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.lab import Host, Lab
from tests.acceptance.plays import RAN, STOPPED, made, tries
from tests.acceptance.test_cli_flow import first_message, rules

pytestmark = pytest.mark.long

UNRECORDED = ["not-granted", "no-plan-directory"]
"""What stops the same calls where nobody comes back: without a record there is no plan directory either."""


@pytest.mark.parametrize("default", ["plan", {"webhook": "plan"}], ids=["everywhere", "webhook"])
def test_a_default_mode_is_enforced(lab: Lab, host: Host, default: Any) -> None:
    home = lab.home(host, settings={"default_mode": default})
    webhook = lab.webhook(home)
    assert tries(lab, home, webhook, "first") == UNRECORDED
    assert "[plan-mode] Plan mode is on, by the operator's setting" in first_message(lab, "first")
    lab.script("read", ("read_file", {"path": str(home.hermes_home / "SOUL.md")}))
    webhook.turn("read")
    assert rules(lab, "read") == [None]
    assert tries(lab, home, webhook, "second") == UNRECORDED
    assert made(home) == []
    assert list((home.hermes_home / "plugin-data").rglob("*.json")) == [], "nobody comes back to a delivery"


def test_a_chat_of_the_same_gateway_is_free(lab: Lab, host: Host) -> None:
    home = lab.home(host, settings={"default_mode": {"webhook": "plan"}})
    webhook = lab.webhook(home)
    chat = webhook.gateway.chat("c1")
    assert tries(lab, home, chat, "free") == RAN
    assert tries(lab, home, webhook, "delivered") == UNRECORDED
    assert tries(lab, home, chat, "still") == RAN
    assert "plan-mode" not in first_message(lab, "still")
    assert "Plan mode is on." in chat.cmd("/planmode on")
    assert tries(lab, home, chat, "planning") == STOPPED
    assert "Plan mode is off" in chat.cmd("/planmode off")
    assert tries(lab, home, chat, "left") == RAN
    assert tries(lab, home, webhook, "again") == UNRECORDED


def test_a_chat_that_plans_leaves_deliveries_alone(lab: Lab, host: Host) -> None:
    home = lab.home(host, settings={"default_mode": {"labchat": "plan"}})
    webhook = lab.webhook(home)
    assert tries(lab, home, webhook.gateway.chat("c1"), "chat") == STOPPED
    assert tries(lab, home, webhook, "delivered") == RAN
    assert "plan-mode" not in first_message(lab, "delivered")


def test_nobody_gives_commands_there(lab: Lab, host: Host) -> None:
    home = lab.home(host)
    webhook = lab.webhook(home)
    for line in ("/planmode on", "/planmode off", "/mode code"):
        answer = webhook.cmd(line)
        assert "Nobody types commands here." in answer, answer
        assert "Set default_mode for this platform in config.yaml." in answer
    assert tries(lab, home, webhook, "free") == RAN
    assert list((home.hermes_home / "plugin-data").rglob("*.json")) == []


def test_with_yolo(lab: Lab, host: Host) -> None:
    home = lab.home(host, settings={"default_mode": {"webhook": "plan"}}, extra={"approvals": {"mode": "off"}})
    webhook = lab.webhook(home, env=home.env(HERMES_YOLO_MODE="1"))
    assert tries(lab, home, webhook, "yolo") == UNRECORDED
    assert made(home) == []
