"""The model that a mode names, in the requests of its sessions; and who comes before it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.fake_host import Cli, Machine

MODE: dict[str, Any] = {"slug": "docs", "name": "Docs", "roleDefinition": "You write.", "groups": ["read"]}
REQUEST: dict[str, Any] = {"model": "own", "messages": []}


def modes(machine: Machine, *found: dict[str, Any], project: bool = False) -> None:
    folder = machine.work / ".hermes" / "modes" if project else machine.home / "modes"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a.yaml").write_text(json.dumps({"customModes": found}))


@pytest.fixture
def docs(machine: Machine) -> dict[str, Any]:
    mode = {**MODE, "model": {"model": "big", "provider": "p"}}
    modes(machine, mode)
    return mode


def model(cli: Cli, current: str = "own", **more: Any) -> str:
    """The model that a request of the session leaves for."""
    return str(cli.sent({**REQUEST, "model": current}, model=current, **more)["model"])


def test_it_is_asked_for_while_the_mode_is_on(cli: Cli, docs: dict[str, Any]) -> None:
    assert model(cli) == "own"
    assert cli.type("/mode docs").splitlines()[2] == "Model: big, where the session is on p."
    assert [model(cli, turn_id=turn) for turn in ("t1", "t1", "t2")] == ["big"] * 3
    assert cli.type("/mode").splitlines()[2] == "Model: big, where the session is on p."
    cli.type("/mode code")
    assert model(cli) == "own"
    cli.type("/mode docs")
    assert model(cli) == "big"
    cli.type("/mode off")
    assert model(cli) == "own"


def test_without_one_the_request_is_untouched(cli: Cli) -> None:
    cli.type("/mode code")
    assert cli.sent(REQUEST) is REQUEST


def test_only_the_model_is_another(cli: Cli, docs: dict[str, Any]) -> None:
    cli.type("/mode docs")
    request = {**REQUEST, "temperature": 0.5, "tools": []}
    assert cli.sent(request, model="own") == {**request, "model": "big"}
    assert request["model"] == "own"


def test_another_providers_model_is_suggested_once(cli: Cli, docs: dict[str, Any]) -> None:
    cli.type("/mode docs")
    assert [model(cli, provider="q", turn_id=turn) for turn in ("t1", "t1", "t2")] == ["own"] * 3
    assert cli.answer() == ("done\n\n[plan-mode] Docs mode names the model big of p, and this session is on q; "
                            "type /model to change that.")
    assert cli.answer() == "done"
    cli.type("/mode code")
    cli.type("/mode docs")
    model(cli, provider="q")
    assert "names the model" in cli.answer()


def test_suggest(machine: Machine, docs: dict[str, Any]) -> None:
    machine.set(mode_models="suggest")
    cli = machine.cli()
    assert cli.type("/mode docs").splitlines()[2] == "Model: big of p; type /model to use it."
    assert model(cli) == "own"
    assert cli.answer() == "done"


@pytest.mark.parametrize("provider", ["p", "q"])
def test_what_a_person_chooses_comes_first(cli: Cli, docs: dict[str, Any], provider: str) -> None:
    cli.type("/mode docs")
    assert model(cli, turn_id="t1") == "big"
    assert model(cli, "mine", provider=provider, turn_id="t2") == "mine"
    assert model(cli, "mine", provider=provider, turn_id="t3") == "mine"
    assert cli.answer() == "done"


def test_so_does_a_fallback(machine: Machine, docs: dict[str, Any]) -> None:
    machine.set(remember_models=True)
    cli = machine.cli()
    cli.type("/mode docs")
    assert model(cli, turn_id="t1") == "big"
    assert [model(cli, "spare", provider="q", turn_id=turn) for turn in ("t1", "t2")] == ["spare", "spare"]
    assert model(cli, turn_id="t3") == "big"
    assert not list((machine.home / "plugin-data").rglob("models/*"))


def test_a_mode_keeps_the_model_that_was_chosen_in_it(machine: Machine, docs: dict[str, Any]) -> None:
    machine.set(remember_models=True)
    cli = machine.cli()
    cli.type("/mode docs")
    model(cli, turn_id="t1")
    model(cli, "mine", turn_id="t2")
    cli.type("/mode code")
    assert model(cli, "own", turn_id="t3") == "own"
    cli.type("/mode docs")
    assert model(cli, "own", turn_id="t4") == "mine"
    other = machine.cli("B")
    other.type("/mode docs")
    assert model(other) == "mine"
    assert cli.type("/mode model docs clear") == "Model: big, where the session is on p.\nNext: /mode docs"
    assert model(cli, "own", turn_id="t5") == "big"


def test_nothing_is_remembered_unless_that_is_set(cli: Cli, docs: dict[str, Any]) -> None:
    cli.type("/mode docs")
    model(cli, turn_id="t1")
    model(cli, "mine", turn_id="t2")
    cli.type("/mode code")
    model(cli)
    cli.type("/mode docs")
    assert model(cli) == "big"


def test_the_command(cli: Cli, docs: dict[str, Any]) -> None:
    cli.type("/mode docs")
    assert cli.type("/mode model docs vendor/mine:free") == (
        "Model: vendor/mine:free, of the session's own provider.\nNext: /mode docs")
    assert model(cli, provider="anybody") == "vendor/mine:free"
    assert cli.type("/mode model docs mine --provider q") == "Model: mine, where the session is on q.\nNext: /mode docs"
    assert cli.type("/mode model docs mine —provider q") == "Model: mine, where the session is on q.\nNext: /mode docs"
    assert cli.type("/mode model docs mine q") == "Model: mine, where the session is on q.\nNext: /mode docs"
    assert model(cli) == "own"
    assert cli.type("/mode model plan deep") == "Model: deep, of the session's own provider.\nNext: /mode plan"
    assert cli.type("/mode model plan clear") == "plan mode names no model; the session keeps its own.\nNext: /mode plan"


@pytest.mark.parametrize(("command", "answer"), [
    ("/mode model", "Name a mode. Modes: plan, code, architect, ask, debug, orchestrator, docs."),
    ("/mode model nothing m", "'nothing' isn't a mode. Modes: plan, code, architect, ask, debug, orchestrator, docs."),
    ("/mode model docs", "Name a model, of at most 256 characters, and its provider if it counts only there. "
                         "As in /mode model docs <model>, or /mode model docs clear."),
    ("/mode model docs a b c", "Name a model, of at most 256 characters, and its provider if it counts only there. "
                               "As in /mode model docs <model>, or /mode model docs clear."),
])
def test_what_the_command_refuses(cli: Cli, docs: dict[str, Any], command: str, answer: str) -> None:
    assert cli.type(command) == answer


@pytest.mark.parametrize("error", [{"reason": "model_not_found"}, {"status_code": 404}, {"reason": "model_entitlement"}])
def test_a_model_that_the_provider_doesnt_have_is_used_no_more(cli: Cli, docs: dict[str, Any], error: dict[str, Any]) -> None:
    cli.type("/mode docs")
    assert model(cli) == "big"
    for _ in range(2):
        cli.fire("api_request_error", session_id=cli.conversation, platform="cli", **error)
    assert model(cli) == "own"
    assert cli.answer() == ("done\n\n[plan-mode] The provider has no model big, which Docs mode names. The session's own model "
                            "is used from now on; /mode model names another.")
    assert cli.answer() == "done"
    told = "Model: big, which the provider doesn't have; the session's own is used."
    assert told in cli.type("/mode").splitlines()
    cli.type("/mode model docs other")
    assert model(cli) == "other"
    assert told not in cli.type("/mode").splitlines()


@pytest.mark.parametrize(("named", "provider"), [("own", "p"), ("big", "q")])
def test_the_sessions_own_model_is_no_mode_s(cli: Cli, machine: Machine, named: str, provider: str) -> None:
    """Neither one of the same name, nor one of another provider, was asked for."""
    modes(machine, {**MODE, "model": {"model": named, "provider": provider}})
    cli.type("/mode docs")
    assert model(cli) == "own"
    cli.answer()
    cli.fire("api_request_error", session_id=cli.conversation, reason="model_not_found")
    assert cli.answer() == "done"


def test_a_model_that_is_given_to_one_mode_touches_no_session_in_another(cli: Cli, docs: dict[str, Any]) -> None:
    cli.type("/mode docs")
    assert (model(cli, turn_id="t1"), model(cli, "mine", turn_id="t2")) == ("big", "mine")
    cli.type("/mode model ask other")
    assert model(cli, "mine", turn_id="t3") == "mine"
    cli.type("/mode model docs other")
    assert model(cli, "mine", turn_id="t4") == "other"


@pytest.mark.parametrize("error", [{}, {"reason": "rate_limit", "status_code": 429}, {"status_code": 500}, {"reason": None}])
def test_other_failures_change_nothing(cli: Cli, docs: dict[str, Any], error: dict[str, Any]) -> None:
    cli.type("/mode docs")
    model(cli)
    cli.fire("api_request_error", session_id=cli.conversation, **error)
    assert (model(cli), cli.answer()) == ("big", "done")


def test_the_sessions_own_model_may_fail_as_it_likes(cli: Cli, docs: dict[str, Any]) -> None:
    cli.type("/mode docs")
    model(cli, turn_id="t1")
    model(cli, "mine", turn_id="t2")
    cli.fire("api_request_error", session_id=cli.conversation, reason="model_not_found")
    assert cli.answer() == "done"


def test_a_sub_agent_has_its_own(cli: Cli, docs: dict[str, Any]) -> None:
    cli.type("/mode docs")
    cli.turn()
    cli.fire("subagent_start", child_session_id="child", parent_session_id=cli.conversation)
    assert model(cli, conversation="child", platform="subagent") == "own"


def test_a_projects_mode_chooses_no_model_until_it_is_trusted(machine: Machine) -> None:
    modes(machine, {**MODE, "model": {"model": "theirs"}}, project=True)
    (machine.work / ".git").mkdir()
    cli = machine.cli()
    cli.type("/mode docs")
    assert model(cli) == "own"
    cli.type("/mode model docs mine")
    assert model(cli) == "mine"


@pytest.mark.parametrize("request_", [None, 1, {}, {"model": ""}, {"modelId": "m"}])
def test_a_request_without_a_model_is_left_alone(cli: Cli, docs: dict[str, Any], request_: Any) -> None:
    cli.type("/mode docs")
    assert cli.sent(request_) is request_


def test_two_sessions_know_nothing_of_each_other(machine: Machine, docs: dict[str, Any]) -> None:
    one, two = machine.cli("A"), machine.cli("B")
    one.type("/mode docs")
    assert (model(one), model(two)) == ("big", "own")
    two.type("/mode docs")
    model(one, "mine", turn_id="t2")
    assert (model(one, "mine", turn_id="t2"), model(two, turn_id="t2")) == ("mine", "big")
