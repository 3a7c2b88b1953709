"""Where ``on`` refuses: the whole table, row by row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plan_mode.state import identity
from plan_mode.state.identity import Surface, conversation_key, plan_key, where_on_refuses
from plan_mode.state.process import ProcessId

CLI = Surface(ProcessId(7, "1", "boot", "pid:[1]"), interactive_cli=True)

# Facts -> the rule that refuses, None where plan mode can be turned on.
CASES: list[tuple[dict[str, Any], str | None]] = [
    ({}, None),
    ({"interactive_cli": None}, None),
    ({"isolated": True}, "isolated-plugin"),
    ({"slash_worker": True}, "slash-worker"),
    ({"session_key": "agent:main:telegram:dm:1"}, "bound-session"),
    ({"tab_id": "tab"}, "bound-session"),
    ({"gateway_runner": True}, "gateway-process"),
    # The environment is inherited: with a live CLI it says nothing.
    ({"gateway_environment": True}, None),
    ({"gateway_environment": True, "interactive_cli": None}, "gateway-environment"),
    ({"gateway_environment": True, "interactive_cli": False}, "gateway-environment"),
    ({"interactive_cli": False}, "not-interactive"),
    # The first row that applies names the reason.
    ({"isolated": True, "slash_worker": True, "session_key": "k", "interactive_cli": False}, "isolated-plugin"),
    ({"slash_worker": True, "session_key": "k", "gateway_runner": True}, "slash-worker"),
    ({"session_key": "k", "gateway_runner": True, "interactive_cli": False}, "bound-session"),
    ({"gateway_runner": True, "gateway_environment": True, "interactive_cli": False}, "gateway-process"),
]


@pytest.mark.parametrize(("facts", "rule"), CASES)
def test_where_on_refuses(facts: dict[str, Any], rule: str | None) -> None:
    refusal = where_on_refuses(replace(CLI, **facts))
    assert (refusal.rule if refusal else None) == rule


def test_every_row_has_a_case() -> None:
    assert {rule for _, rule in CASES} - {None} == {row[0] for row in identity._REFUSALS}


@pytest.mark.parametrize("row", identity._REFUSALS, ids=lambda row: row[0])
def test_every_row_says_why_and_what_to_do(row: tuple[str, Any, str, str]) -> None:
    rule, _, reason, hint = row
    assert rule.replace("-", "").isalpha()
    assert reason.endswith(".")
    assert hint.endswith(".")


def test_an_inherited_variable_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_EXEC_ASK", "1")
    monkeypatch.setenv("HERMES_SESSION_KEY", "k")
    assert where_on_refuses(CLI) is None


def test_keys_of_one_kind_never_meet_those_of_another() -> None:
    keys = {conversation_key("1:2"), plan_key("1:2"), ProcessId(1, "2", "", "").key}
    assert keys == {"id:1:2", "plan:1:2", "cli:1:2::"}
