"""What leaves for the model, through the host's own middleware chain and in the shapes of its own adapters."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.host.kit import Hermes


def chat(tools: list[dict[str, Any]]) -> dict[str, Any]:
    return {"model": "own", "messages": [], "tools": tools}


def responses(tools: list[dict[str, Any]]) -> dict[str, Any]:
    convert = importlib.import_module("agent.codex_responses_adapter")._responses_tools
    return {"model": "own", "input": [], "tools": convert(tools)}


def anthropic(tools: list[dict[str, Any]], *, is_oauth: bool = False) -> dict[str, Any]:
    build = importlib.import_module("agent.anthropic_adapter").build_anthropic_kwargs
    built: dict[str, Any] = build("own", [{"role": "user", "content": "x"}], tools, 100, None, is_oauth=is_oauth)
    return built


def subscription(tools: list[dict[str, Any]]) -> dict[str, Any]:
    return anthropic(tools, is_oauth=True)


def bedrock(tools: list[dict[str, Any]]) -> dict[str, Any]:
    convert = importlib.import_module("agent.bedrock_adapter").convert_tools_to_converse
    return {"modelId": "own", "messages": [], "toolConfig": {"tools": convert(tools)}}


WIRES: tuple[Callable[[list[dict[str, Any]]], dict[str, Any]], ...] = (chat, responses, anthropic, subscription, bedrock)


def registered(cli: Hermes) -> list[dict[str, Any]]:
    """The definitions of all tools that this host has registered."""
    registry = importlib.import_module("tools.registry").registry
    schema = {"type": "object", "properties": {}}
    return [{"type": "function", "function": {"name": name, "description": name, "parameters": schema}}
            for name in sorted(registry.get_all_tool_names())]


def names(cli: Hermes, request: Mapping[str, Any]) -> list[str]:
    wire = cli.part("host.wire")
    return [wire.name_of(each) for each in wire.tools_of(request)[1]]


def sent(cli: Hermes, request: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A request after all middlewares."""
    about = {"task_id": "default", "turn_id": "t1", "api_request_id": "t1:api:1", "session_id": cli.cli.session_id,
             "platform": "cli", "model": "own", "provider": "p", "base_url": "", "api_mode": "chat_completions",
             "api_call_count": 1}
    result = importlib.import_module("hermes_cli.middleware").apply_llm_request_middleware(request, **about | more)
    payload: dict[str, Any] = result.payload
    return payload


@pytest.mark.parametrize("build", WIRES)
def test_exactly_what_a_mode_could_allow_is_offered(hermes: Callable[..., Hermes], build: Callable[..., dict[str, Any]]) -> None:
    cli = hermes(bundled=True)
    definitions = registered(cli)
    every = [each["function"]["name"] for each in definitions]
    request = build(definitions)
    on_the_wire = dict(zip(every, names(cli, request), strict=True))
    could_allow, builtin = cli.part("policy.decide").could_allow, cli.part("modes.builtin").BUILTIN
    server_of = cli.part("host.registry").server_of
    for slug in ("plan", "ask", "architect", "orchestrator", "code"):
        cli.type(f"/mode {slug}")
        cli.turn()
        expected = [on_the_wire[name] for name in every if could_allow(builtin[slug], name, server_of(name))]
        assert names(cli, sent(cli, request)) == expected, slug
        assert len(expected) == len(every) if slug == "code" else 0 < len(expected) < len(every)


@pytest.mark.parametrize("build", WIRES)
def test_without_a_mode_nothing_is_changed(cli: Hermes, build: Callable[..., dict[str, Any]]) -> None:
    request = build(registered(cli))
    before = copy.deepcopy(request)
    assert sent(cli, request) == before
    cli.type("/mode ask")
    cli.turn()
    assert sent(cli, request) != before
    cli.type("/mode off")
    assert sent(cli, request) == before
    assert request == before


def test_a_modes_model_and_what_its_provider_says_of_it(cli: Hermes) -> None:
    modes = cli.home / "modes"
    modes.mkdir()
    (modes / "a.yaml").write_text("slug: docs\nname: Docs\nroleDefinition: r\ngroups: [read]\nmodel: {model: big, provider: p}\n")
    cli.type("/mode docs")
    cli.turn()
    request = chat(registered(cli))
    assert sent(cli, request)["model"] == "big"
    assert sent(cli, request, provider="q")["model"] == "own"
    assert sent(cli, request)["model"] == "big"
    cli.plugins.invoke_hook("api_request_error", session_id=cli.cli.session_id, platform="cli", model="own", provider="p",
                            status_code=404, reason="model_not_found", request={})
    assert sent(cli, request)["model"] == "own"
    [answer] = cli.plugins.invoke_hook("transform_llm_output", response_text="done", session_id=cli.cli.session_id)
    assert "[plan-mode] The provider has no model big" in answer
