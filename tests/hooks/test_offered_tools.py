"""Which tools a request offers while a mode is on: on every wire, the same ones each time, and all of them without a mode."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plan_mode.hooks.offered_tools import offered
from plan_mode.host import registry, wire
from tests.fake_host import Cli, Machine

NAMES = ("read_file", "write_file", "terminal", "web_search", "clarify", "todo_list", "mcp_files_put", "my_tool")
OWNERS = {"mcp_files_put": "mcp-files", "my_tool": "mine"}


def chat(*names: str) -> dict[str, Any]:
    return {"model": "m", "messages": [], "tools": [{"type": "function", "function": {"name": name}} for name in names]}


def responses(*names: str) -> dict[str, Any]:
    return {"model": "m", "input": [], "tools": [{"type": "function", "name": name} for name in names]}


def anthropic(*names: str) -> dict[str, Any]:
    return {"model": "m", "messages": [], "tools": [{"name": name, "input_schema": {}} for name in names]}


def bedrock(*names: str) -> dict[str, Any]:
    return {"modelId": "m", "messages": [], "toolConfig": {"tools": [{"toolSpec": {"name": name}} for name in names], "x": 1}}


WIRES = (chat, responses, anthropic, bedrock)


def names(request: dict[str, Any]) -> list[str]:
    return [wire.name_of(each) for each in wire.tools_of(request)[1]]


@pytest.fixture
def owned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "toolset_of", OWNERS.get)


@pytest.mark.parametrize("build", WIRES)
@pytest.mark.parametrize(("mode", "left"), [
    ("plan", ["read_file", "write_file", "web_search", "clarify", "todo_list"]),
    ("ask", ["read_file", "web_search", "clarify", "todo_list"]),
    ("architect", ["read_file", "write_file", "web_search", "clarify", "todo_list"]),
    ("orchestrator", ["clarify", "todo_list"]),
    ("code", list(NAMES)),
    ("debug", list(NAMES)),
])
def test_what_a_mode_could_allow(cli: Cli, owned: None, build: Any, mode: str, left: list[str]) -> None:
    cli.type(f"/mode {mode}")
    cli.turn()
    request = build(*NAMES)
    before = copy.deepcopy(request)
    sent = cli.sent(request)
    assert names(sent) == left
    assert request == before
    assert {key: value for key, value in sent.items() if key not in ("tools", "toolConfig")} == {
        key: value for key, value in before.items() if key not in ("tools", "toolConfig")}
    assert cli.sent(copy.deepcopy(request)) == sent


@pytest.mark.parametrize("build", WIRES)
def test_without_a_restricted_mode_it_is_the_very_same_request(cli: Cli, build: Any) -> None:
    request = build(*NAMES)
    for command in ("/mode", "/mode code", "/mode off", "/planmode on", "/planmode off"):
        cli.type(command)
        if command != "/planmode on":
            assert cli.sent(request) is request


@pytest.mark.parametrize("request_", [
    None, 1, [], "x", {}, {"tools": None}, {"tools": []}, {"tools": "x"}, {"tools": [None, 1, "x", {}]}, {"toolConfig": 1},
    {"tools": [{"type": "web_search"}, {"type": "computer_20250124", "name": "terminal"}]},
    {"tools": [{"cachePoint": {"type": "default"}}]}, {"tools": [{"function": "terminal"}]}, {"tools": [{"name": 1}]},
])
def test_what_is_no_list_of_functions_is_left_alone(cli: Cli, request_: Any) -> None:
    cli.type("/mode ask")
    assert cli.sent(request_) is request_


@pytest.mark.parametrize(("wire_name", "stays"), [
    ("mcp__read_file", True), ("mcp__terminal", False), ("mcp__files_put", False), ("hermes_web_search", True),
    ("hermes_terminal", False), ("chat_history_lookup", True), ("mcp__context_notes", False), ("my_tool", False),
    ("todo", True), ("process", False), ("nobody_knows", True), ("mcp__", True),
])
def test_names_that_a_provider_wants_otherwise(cli: Cli, owned: None, wire_name: str, stays: bool) -> None:
    cli.type("/mode ask")
    assert (names(cli.sent(anthropic("read_file", wire_name))) == ["read_file", wire_name]) is stays


def test_the_operators_own_tools_are_offered(machine: Machine, owned: None) -> None:
    machine.set(extra_allowed_tools=["my_tool", "mcp_files_put"])
    cli = machine.cli()
    cli.type("/planmode on")
    assert names(cli.sent(chat(*NAMES)))[-2:] == ["mcp_files_put", "my_tool"]
    cli.type("/mode ask")
    assert names(cli.sent(chat(*NAMES)))[-1] == "todo_list"


@pytest.mark.parametrize("entry", ["mcp_files_put", "files"])
def test_mcp_tools_that_the_operator_lets_into_ask_and_architect(machine: Machine, owned: None, entry: str) -> None:
    machine.set(mcp_allowed=[entry, "my_tool", "terminal"])
    cli = machine.cli()
    for mode, is_allowed in (("ask", True), ("architect", True), ("orchestrator", False), ("plan", False)):
        cli.type(f"/mode {mode}")
        assert ("mcp_files_put" in names(cli.sent(chat(*NAMES)))) is is_allowed
        assert (cli.asked("mcp_files_put") == "") is is_allowed
        assert "" not in (cli.asked("my_tool"), cli.asked("terminal"))  # neither is of an MCP server


def test_what_can_only_be_said_beside_tools_goes_with_the_last_of_them(cli: Cli) -> None:
    cli.type("/mode ask")
    assert cli.sent({**chat("terminal"), "tool_choice": "auto", "parallel_tool_calls": True}) == {"model": "m", "messages": []}
    assert cli.sent(bedrock("terminal")) == {"modelId": "m", "messages": []}
    marked = bedrock("terminal")
    marked["toolConfig"]["tools"].append({"cachePoint": {"type": "default"}})
    assert cli.sent(marked) == {"modelId": "m", "messages": []}


def test_the_caches_mark_stays_on_the_last_tool(cli: Cli) -> None:
    cli.type("/mode ask")
    request = anthropic("read_file", "clarify", "terminal")
    request["tools"][-1]["cache_control"] = mark = {"type": "ephemeral"}
    assert cli.sent(request)["tools"] == [
        {"name": "read_file", "input_schema": {}}, {"name": "clarify", "input_schema": {}, "cache_control": mark}]


def test_a_sub_agent_is_offered_what_its_parents_mode_grants(cli: Cli) -> None:
    cli.type("/mode ask")
    cli.turn()
    cli.fire("subagent_start", child_session_id="child", parent_session_id=cli.conversation)
    assert names(cli.sent(chat(*NAMES), conversation="child", platform="subagent")) == names(cli.sent(chat(*NAMES)))


@given(st.lists(st.sampled_from([*NAMES, ""]), max_size=12), st.sets(st.sampled_from(NAMES)))
def test_order_is_kept_and_nothing_added(given_names: list[str], passing: set[str]) -> None:
    for build in WIRES:
        request = build(*given_names)
        once = offered(request, passing.__contains__)
        assert [name for name in names(once) if name] == [name for name in given_names if name in passing]
        assert offered(once, passing.__contains__) is once


def test_every_shape_gives_the_same_names() -> None:
    assert {tuple(names(build(*NAMES))) for build in WIRES} == {NAMES}
    assert len({str(build("a")) for build in WIRES}) == len(list(itertools.chain(WIRES)))
