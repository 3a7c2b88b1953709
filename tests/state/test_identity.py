"""Whose call is it, and where is a command refused: the whole table, row by row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plan_mode.state import identity
from plan_mode.state.identity import CASES, Place, Surface, case_of, conversation_key, no_session, place_of, plan_key, user_key
from plan_mode.state.process import ProcessId

HERE = ProcessId(7, "1", "boot", "pid:[1]")
CLI = Surface(HERE, interactive_cli=True)
SERVER = Surface(HERE, interactive_cli=False, own_profile="default", profile="default")
OWN = HERE.key

TAB = {"session_key": "K", "source": "tui"}
CHAT = {"session_key": "agent:main:telegram:dm:1", "platform": "telegram"}

# Facts -> the surface, the keys of conversation "C", the rule that refuses a command (None: it may change the mode).
TABLE: list[tuple[Surface, dict[str, Any], str, tuple[str, ...], str | None]] = [
    # the classic CLI
    (CLI, {}, "cli", (OWN, "id:C"), None),
    (CLI, {"engaged": True}, "cli", (OWN, "id:C"), None),  # some job in it was bound: never locked out
    (CLI, {"gateway_environment": True}, "cli", (OWN, "id:C"), None),  # inherited from the server that started it
    (CLI, {"gateway_runner": True}, "cli", (OWN, "id:C"), None),
    (CLI, {"session_key": "K", "source": "tui"}, "cli", (OWN, "sk:K", "id:C"), None),  # a later path derives another key
    (CLI, {"profile": "other", "own_profile": "default", "session_key": "K"}, "cli", (OWN, "sk:K", "id:C"), None),
    (CLI, {"cron": True}, "cron", ("id:C",), "cron"),
    (CLI, {"isolated": True}, "", ("id:C",), "isolated-plugin"),
    (CLI, {"interactive_cli": None}, "cli", (OWN, "id:C"), None),  # the host doesn't say
    (CLI, {"interactive_cli": None, "engaged": True}, "", ("id:C",), "engaged-process"),
    (CLI, {"interactive_cli": None, "gateway_environment": True}, "tui", ("id:C",), "gateway-environment"),
    # one-shot: a process of its own without a person
    (SERVER, {}, "one-shot", (OWN, "id:C"), "not-interactive"),
    (SERVER, {"engaged": True}, "", ("id:C",), "engaged-process"),  # a call of an editor's process, outside of its session
    # TUI and Desktop
    (SERVER, TAB, "tui", ("sk:K", "id:C"), None),
    (SERVER, {**TAB, "tab_id": "T"}, "tui", ("ui:T", "sk:K", "id:C"), None),
    (SERVER, {**TAB, "tab_id": "T", "tabs_key": "K"}, "tui", ("ui:T", "sk:K", "id:C"), None),
    (SERVER, {"session_key": "bg_1", "source": "tui", "tab_id": "T", "tabs_key": "K"}, "tui",
     ("ui:T", "sk:bg_1", "sk:K", "id:C"), None),  # a side agent of the tab
    (SERVER, {"session_key": "K", "source": "desktop"}, "desktop", ("sk:K", "id:C"), None),
    (SERVER, {"tab_id": "T"}, "tui", ("ui:T", "id:C"), None),
    (SERVER, {**TAB, "slash_worker": True}, "", ("id:C",), "slash-worker"),
    (SERVER, {**TAB, "profile": "work"}, "tui", ("sk:K", "id:C"), "other-profile"),
    (SERVER, {**TAB, "own_profile": ""}, "tui", ("sk:K", "id:C"), "profile-unknown"),
    (SERVER, {**TAB, "profile": ""}, "tui", ("sk:K", "id:C"), None),  # an old host binds none
    (SERVER, {"gateway_environment": True}, "tui", ("id:C",), "gateway-environment"),  # nothing bound around the command
    # chats
    (SERVER, CHAT, "telegram", ("sk:agent:main:telegram:dm:1", "id:C"), None),
    (SERVER, {**CHAT, "gateway_runner": True, "gateway_environment": True}, "telegram",
     ("sk:agent:main:telegram:dm:1", "id:C"), None),
    (SERVER, {**CHAT, "profile": "work"}, "telegram", ("sk:agent:main:telegram:dm:1", "id:C"), "other-profile"),
    (SERVER, {"gateway_runner": True}, "gateway", ("id:C",), "gateway-process"),
    (SERVER, {"gateway_runner": True, "cron": True}, "cron", ("id:C",), "cron"),
    # surfaces without commands
    (SERVER, {"session_key": "S", "platform": "api_server"}, "api_server", ("id:C",), "no-commands"),  # the key is a client's
    (SERVER, {"session_key": "S", "platform": "webhook"}, "webhook", ("sk:S", "id:C"), "no-commands"),
    (SERVER, {"session_key": "S"}, "acp", ("sk:S", "id:C"), "no-commands"),
    # the first row that applies speaks
    (SERVER, {"isolated": True, "slash_worker": True, "cron": True, **TAB}, "", ("id:C",), "isolated-plugin"),
    (SERVER, {"slash_worker": True, "gateway_runner": True}, "", ("id:C",), "slash-worker"),
    (SERVER, {"gateway_runner": True, "gateway_environment": True}, "gateway", ("id:C",), "gateway-process"),
]


@pytest.mark.parametrize(("base", "facts", "surface", "keys", "rule"), TABLE)
def test_whose_session_it_is(base: Surface, facts: Mapping[str, Any], surface: str, keys: tuple[str, ...],
                             rule: str | None) -> None:
    found = base._replace(**facts)
    place = place_of(found, "C")
    assert (place.surface, place.keys) == (surface, keys)
    refusal = no_session(found)
    assert (refusal.rule if refusal else None) == rule


def test_a_client_of_the_api_is_known_by_its_key_only_where_no_conversation_is_named() -> None:
    client = SERVER._replace(session_key="S", platform="api_server")
    assert place_of(client, "C") == Place(None, "C", "", surface="api_server")
    assert place_of(client, "") == Place(None, "", "S", surface="api_server")


def test_every_case_is_in_the_table() -> None:
    assert {case_of(base._replace(**facts)).name for base, facts, *_ in TABLE} == {case.name for case in CASES}


@pytest.mark.parametrize("refusal", [
    *(case.refusal for case in CASES if case.refusal),
    no_session(SERVER._replace(**TAB, profile="work")), no_session(SERVER._replace(**TAB, own_profile="")),
], ids=lambda refusal: refusal.rule)
def test_every_refusal_says_why_and_what_to_do(refusal: identity.NoSession) -> None:
    assert refusal.rule.replace("-", "").isalpha()
    assert refusal.reason.endswith(".")
    assert refusal.hint.endswith(".")


def test_another_profile_is_named() -> None:
    refusal = no_session(SERVER._replace(**TAB, profile="work"))
    assert refusal is not None
    assert refusal.reason == ("This session belongs to the profile 'work', and the command reached the plan-mode of 'default', "
                              "so nothing was changed.")
    assert refusal.hint == "Start Hermes for that profile: hermes -p work."


def test_who_types() -> None:
    assert user_key("telegram", "7") == "user:telegram:7"
    assert user_key("telegram", "") == ""


def test_keys_of_one_kind_never_meet_those_of_another() -> None:
    place = Place(None, "1:2", "1:2", "1:2")
    keys = [*place.keys, plan_key("1:2"), conversation_key("1:3"), ProcessId(1, "2", "", "").key, user_key("1", "2")]
    assert keys == ["ui:1:2", "sk:1:2", "id:1:2", "plan:1:2", "id:1:3", "cli:1:2::", "user:1:2"]


def test_only_a_server_without_a_name_for_the_session_leaves_it_unknown() -> None:
    assert not place_of(SERVER._replace(gateway_runner=True), "").known
    assert place_of(SERVER._replace(gateway_runner=True), "C").known is False
    assert place_of(SERVER._replace(gateway_runner=True, cron=True), "C").known
    assert place_of(SERVER._replace(gateway_runner=True), "cron_7_1") == Place(None, "cron_7_1", surface="cron")
    assert place_of(CLI, "").known
    assert place_of(SERVER._replace(**CHAT), "").known


# -- properties

texts = st.text(max_size=6)
flags = st.booleans()
surfaces = st.builds(
    Surface,
    process=st.builds(ProcessId, st.integers(1, 9), texts, st.just("boot"), st.just("pid:[1]")),
    session_key=texts, tab_id=texts, tabs_key=texts, platform=st.sampled_from(["", "telegram", "api_server", "webhook"]),
    source=st.sampled_from(["", "tui", "desktop"]), profile=texts, own_profile=texts, user=texts, cron=flags, engaged=flags,
    isolated=flags, gateway_runner=flags, gateway_environment=flags, slash_worker=flags,
    interactive_cli=st.sampled_from([None, False, True]),
)


@given(surfaces, texts)
def test_there_is_always_an_answer(facts: Surface, conversation: str) -> None:
    place = place_of(facts, conversation)
    assert len(set(place.keys)) == len(place.keys)
    assert place.carrier in ("", *place.keys[:1])
    assert no_session(facts) is None or no_session(facts) == no_session(facts)


@given(surfaces, surfaces, texts, texts)
def test_two_sessions_share_no_key(one: Surface, other: Surface, conversation: str, another: str) -> None:
    """Different in everything that names a session: then no key is the same."""
    first, second = place_of(one, conversation), place_of(other, another)
    names = {one.session_key, one.tabs_key} & {other.session_key, other.tabs_key} - {""}
    same = names or one.process == other.process or (one.tab_id and one.tab_id == other.tab_id) or conversation == another
    if not same:
        assert not set(first.keys) & set(second.keys)


@given(surfaces)
def test_where_a_command_may_change_something_there_is_a_key_of_its_own(facts: Surface) -> None:
    if no_session(facts) is None:
        place = place_of(facts, "")
        assert place.keys
        assert place.known


@given(st.dictionaries(st.sampled_from(["HERMES_SESSION_KEY", "HERMES_UI_SESSION_ID", "HERMES_SESSION_SOURCE", "HERMES_EXEC_ASK",
                                        "HERMES_SESSION_PLATFORM", "HERMES_CRON_SESSION", "HERMES_SESSION_ID"]), texts))
def test_an_inherited_variable_makes_nobody_its_parent(inherited: dict[str, str]) -> None:
    from plan_mode.host import session
    with pytest.MonkeyPatch.context() as patch:
        for name, value in inherited.items():
            patch.setenv(name, value.replace("\0", ""))
        assert session.bound() == session.NOTHING_BOUND
