"""One CLI over several conversations: what the model is told, and what becomes of the mode. With the host's session store."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tests.host.kit import CONVERSATION, Hermes, rule_of

NEXT = "20260101_130000_bbbbbb"
THIRD = "20260101_140000_cccccc"


def said(text: str) -> list[dict[str, Any]]:
    """A history in which the host has kept what it was given for a turn."""
    return [{"role": "user", "content": "hello", "api_content": f"hello\n\n{text}"}, {"role": "assistant", "content": "yes"}]


def store(cli: Hermes, conversation: str, *, parent: str = "", mark: str = "", ended: str = "") -> None:
    """A conversation with a message in the host's store; ``mark`` is how the host says where it came from."""
    with cli.sessions() as sessions:
        if parent and ended:
            sessions.end_session(parent, ended)
        more = {"parent_session_id": parent, "model_config": {mark: parent} if mark else {"max_iterations": 9}} if parent else {}
        sessions.create_session(conversation, "cli", model="m", **more)
        sessions.append_message(conversation, "user", "hello")


def go(cli: Hermes, conversation: str) -> None:
    """The person goes to another conversation; the host tells nobody."""
    cli.cli.session_id = conversation


def is_closed(cli: Hermes) -> bool:
    rule = rule_of(cli.asked("terminal", {"command": "ls"}))
    assert rule in ("", "not-granted")
    return bool(rule)


class TestWhatTheModelIsTold:
    def test_everything_in_the_first_turn(self, cli: Hermes) -> None:
        cli.type("/planmode on Tidy  up\nthe README")
        text = cli.turn()
        for part in ("PLAN MODE IS ON", str(cli.plans), "YYYY-MM-DD_HHMMSS-<slug>.md", "/planmode approve", "Tidy  up\nthe READ"):
            assert part in text

    def test_one_line_in_each_later_turn(self, cli: Hermes) -> None:
        cli.type("/planmode on Tidy up")
        first = cli.turn()
        for _ in range(2):
            later = cli.turn(history=said(first))
            assert later.startswith("[plan-mode] Plan mode is on")
            assert "\n" not in later
            assert "Tidy up" not in later

    def test_everything_again_once_the_conversation_was_compressed(self, cli: Hermes) -> None:
        cli.type("/planmode on")
        cli.turn()
        assert "PLAN MODE IS ON" in cli.turn(history=[{"role": "user", "content": "a summary"}])

    def test_nothing_outside_of_modes(self, cli: Hermes) -> None:
        assert cli.turn() == ""
        cli.type("/planmode on")
        cli.type("/planmode off")
        assert cli.turn() == ""
        assert cli.turn() == ""

    def test_one_notice_of_an_approval_that_voids_the_earlier_ones(self, cli: Hermes) -> None:
        cli.type("/planmode on Tidy up")
        first = cli.turn()
        cli.write(cli.plans / "p.md")
        assert cli.type("/planmode approve").startswith(f"Approved: {cli.plans}/p.md")
        approved = cli.turn(history=said(first))
        assert f"The user approved the plan at {cli.plans}/p.md. Implement it now." in approved
        assert "Earlier notices about modes are void." in approved
        assert cli.turn(history=said(first) + said(approved)) == ""

    def test_feedback_once_and_as_it_was_typed(self, cli: Hermes) -> None:
        cli.type("/planmode on")
        first = cli.turn()
        cli.type("/planmode reject  Too  BIG:\n  halve it ")
        second = cli.turn(history=said(first))
        assert "Too  BIG:\n  halve it" in second
        assert "Too  BIG" not in cli.turn(history=said(first) + said(second))

    def test_that_it_was_left_without_an_approval(self, cli: Hermes) -> None:
        cli.type("/planmode on")
        first = cli.turn()
        cli.type("/planmode off")
        assert "not approved" in cli.turn(history=said(first))
        assert cli.turn(history=said(first)) == ""

    @pytest.mark.parametrize(("conversation", "platform"), [
        ("20260101_120000_child1", "subagent"), ("bg_120000_1", "cli"), (NEXT, "cli")])
    def test_a_childs_or_background_turn_takes_no_notice(self, cli: Hermes, conversation: str, platform: str) -> None:
        cli.type("/planmode on Tidy up")
        child = cli.turn(session_id=conversation, platform=platform)
        assert child.startswith("[plan-mode] Plan mode is on")
        assert "Tidy up" not in child
        assert rule_of(cli.asked("terminal", {"command": "ls"}, session_id=conversation)) == "not-granted"
        assert "Tidy up" in cli.turn()


class TestNew:
    def test_clears(self, cli: Hermes) -> None:
        cli.type("/planmode on")
        cli.turn()
        cli.new(NEXT)
        assert not is_closed(cli)
        assert cli.turn() == ""
        assert "No mode is active" in cli.type("/planmode status")
        assert not list(cli.home.rglob("sessions-*/*.json"))

    def test_before_the_first_turn_the_host_tells_nobody(self, cli: Hermes) -> None:
        cli.type("/planmode on")
        go(cli, NEXT)
        assert is_closed(cli)
        cli.turn()
        assert not is_closed(cli)

    def test_of_a_session_without_a_mode_does_nothing(self, cli: Hermes) -> None:
        cli.new(NEXT)
        assert cli.type("/planmode on").startswith("Plan mode is on")
        assert is_closed(cli)

    def test_a_reset_of_another_kind_clears_nothing(self, cli: Hermes) -> None:
        cli.type("/planmode on")
        for reason in ("", "resume", "session_boundary", None):
            cli.plugins.invoke_hook("on_session_reset", session_id=CONVERSATION, platform="cli", reason=reason)
            assert is_closed(cli)

    def test_a_boundary_alone_clears_nothing(self, cli: Hermes) -> None:
        cli.type("/planmode on")
        cli.turn()
        cli.plugins.invoke_hook("on_session_finalize", session_id=CONVERSATION, platform="cli", reason="session_boundary")
        assert is_closed(cli)


class TestExitAndResume:
    def test_the_mode_waits_for_its_conversation(self, cli: Hermes) -> None:
        store(cli, CONVERSATION)
        cli.type("/planmode on")
        cli.turn()
        cli.exit()
        cli.restart()
        assert is_closed(cli)
        text = cli.turn(history=[{"role": "user", "content": "hello"}])
        assert "PLAN MODE IS ON" in text
        assert "resumed" in text

    def test_a_mode_without_a_conversation_goes_with_its_process(self, cli: Hermes) -> None:
        cli.type("/planmode on")
        cli.exit()
        cli.restart()
        assert not is_closed(cli)
        assert not list(cli.home.rglob("sessions-*/*.json"))

    def test_another_conversation_doesnt_get_it(self, cli: Hermes) -> None:
        store(cli, CONVERSATION)
        store(cli, NEXT)
        cli.type("/planmode on")
        cli.turn()
        cli.exit()
        cli.restart()
        go(cli, NEXT)
        assert cli.turn() == ""
        assert not is_closed(cli)


class TestCompressionThatRotates:
    def test_continues_the_session(self, cli: Hermes) -> None:
        store(cli, CONVERSATION)
        cli.type("/planmode on")
        cli.turn()
        store(cli, NEXT, parent=CONVERSATION, ended="compression")
        go(cli, NEXT)
        assert is_closed(cli)
        assert "PLAN MODE IS ON" in cli.turn(history=[{"role": "user", "content": "a summary"}])
        assert is_closed(cli)
        assert "Plan mode is on" in cli.type("/planmode status")

    def test_twice_before_a_turn_tells(self, cli: Hermes) -> None:
        store(cli, CONVERSATION)
        cli.type("/planmode on")
        cli.turn()
        store(cli, NEXT, parent=CONVERSATION, ended="compression")
        store(cli, THIRD, parent=NEXT, ended="compression")
        go(cli, THIRD)
        assert "PLAN MODE IS ON" in cli.turn()
        assert is_closed(cli)

    def test_of_a_parked_session_restores_it(self, cli: Hermes) -> None:
        store(cli, CONVERSATION)
        cli.type("/planmode on")
        cli.turn()
        cli.exit()
        cli.restart()
        store(cli, NEXT, parent=CONVERSATION, ended="compression")
        go(cli, NEXT)
        assert "PLAN MODE IS ON" in cli.turn()
        assert is_closed(cli)

    def test_leaving_after_it_leaves(self, cli: Hermes) -> None:
        store(cli, CONVERSATION)
        cli.type("/planmode on")
        cli.turn()
        store(cli, NEXT, parent=CONVERSATION, ended="compression")
        go(cli, NEXT)
        cli.turn()
        cli.type("/planmode off")
        cli.turn()
        assert not is_closed(cli)
        assert not list(cli.home.rglob("sessions-*/*.json"))


class TestBranch:
    @pytest.fixture
    def branched(self, cli: Hermes) -> Hermes:
        store(cli, CONVERSATION)
        cli.type("/planmode on")
        cli.turn()
        store(cli, NEXT, parent=CONVERSATION, mark="_branched_from", ended="branched")
        go(cli, NEXT)
        return cli

    def test_has_the_mode_of_its_original(self, branched: Hermes) -> None:
        assert is_closed(branched)
        assert "PLAN MODE IS ON" in branched.turn()
        assert is_closed(branched)

    @pytest.mark.parametrize("leave", ["/planmode approve", "/planmode off"])
    def test_leaving_in_it_leaves_the_original_alone(self, branched: Hermes, leave: str) -> None:
        branched.turn()
        branched.write(branched.plans / "branch.md")
        branched.type(leave)
        assert not is_closed(branched)
        branched.turn()
        go(branched, CONVERSATION)
        assert "PLAN MODE IS ON" in branched.turn()
        assert is_closed(branched)
        go(branched, NEXT)
        branched.turn()
        assert not is_closed(branched)

    def test_leaving_in_the_original_leaves_the_branch_alone(self, branched: Hermes) -> None:
        branched.turn()
        go(branched, CONVERSATION)
        branched.turn()
        branched.type("/planmode off")
        branched.turn()
        assert not is_closed(branched)
        go(branched, NEXT)
        assert "PLAN MODE IS ON" in branched.turn()
        assert is_closed(branched)

    def test_of_a_session_without_a_mode_has_none(self, cli: Hermes) -> None:
        store(cli, CONVERSATION)
        cli.turn()
        store(cli, NEXT, parent=CONVERSATION, mark="_branched_from", ended="branched")
        go(cli, NEXT)
        assert cli.turn() == ""
        assert not is_closed(cli)


class TestResumeOfAnother:
    def test_parks_and_going_back_restores(self, cli: Hermes) -> None:
        store(cli, CONVERSATION)
        store(cli, NEXT)
        cli.type("/planmode on")
        cli.turn()
        go(cli, NEXT)
        assert is_closed(cli), "until a turn tells, the stricter of the two holds"
        assert cli.turn() == ""
        assert not is_closed(cli)
        go(cli, CONVERSATION)
        assert "resumed" in cli.turn()
        assert is_closed(cli)

    def test_each_has_its_own_mode(self, cli: Hermes) -> None:
        store(cli, CONVERSATION)
        store(cli, NEXT)
        cli.type("/planmode on first")
        cli.turn()
        go(cli, NEXT)
        cli.turn()
        cli.type("/planmode on second")
        assert "second" in cli.turn()
        cli.type("/planmode off")
        cli.turn()
        go(cli, CONVERSATION)
        cli.turn()
        assert is_closed(cli)

    def test_before_the_first_turn(self, cli: Hermes) -> None:
        store(cli, NEXT)
        cli.type("/planmode on")
        go(cli, NEXT)
        assert "PLAN MODE IS ON" in cli.turn(), "it was turned on for the next turn, whichever conversation that is in"
        assert is_closed(cli)

    def test_of_a_reset_sibling_is_another_session(self, cli: Hermes) -> None:
        store(cli, CONVERSATION)
        cli.type("/planmode on")
        cli.turn()
        store(cli, NEXT, parent=CONVERSATION, mark="_reset_from", ended="new_session")
        go(cli, NEXT)
        assert cli.turn() == ""
        assert not is_closed(cli)


class TestUnreadableStore:
    """Where a conversation came from isn't known: the mode that was in force holds."""

    @pytest.fixture
    def lost(self, cli: Hermes, monkeypatch: pytest.MonkeyPatch) -> Hermes:
        store(cli, CONVERSATION)
        store(cli, NEXT)
        cli.type("/planmode on")
        cli.turn()

        def fail(*_: Any, **__: Any) -> Any:
            raise OSError("database disk image is malformed")

        monkeypatch.setattr("hermes_state.SessionDB.get_session", fail)
        go(cli, NEXT)
        return cli

    def test_keeps_the_mode(self, lost: Hermes) -> None:
        assert is_closed(lost)
        assert "Plan mode is on" in lost.turn()
        assert is_closed(lost)
        assert "Unresolved" in lost.type("/planmode status")

    @pytest.mark.parametrize("line", ["/planmode approve", "/planmode reject", "/planmode on x", "/mode code"])
    def test_refuses_to_decide(self, lost: Hermes, line: str) -> None:
        lost.turn()
        assert "session store" in lost.type(line)
        assert is_closed(lost)

    def test_lets_the_person_out(self, lost: Hermes) -> None:
        lost.turn()
        lost.type("/planmode off")
        assert not is_closed(lost)

    def test_resolves_when_it_can_be_read_again(self, lost: Hermes, monkeypatch: pytest.MonkeyPatch) -> None:
        lost.turn()
        monkeypatch.undo()
        for name, value in (("HERMES_HOME", str(lost.home)), ("TERMINAL_CWD", str(lost.work))):
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("hermes_state.DEFAULT_DB_PATH", lost.home / "state.db")
        assert lost.turn() == ""
        assert not is_closed(lost)
        go(lost, CONVERSATION)
        lost.turn()
        assert is_closed(lost)


def test_the_hosts_store_is_only_read(cli: Hermes, monkeypatch: pytest.MonkeyPatch) -> None:
    store(cli, CONVERSATION)
    store(cli, NEXT)
    opened = []
    session_db = importlib.import_module("hermes_state").SessionDB

    def open_store(*args: Any, **options: Any) -> Any:
        opened.append(options)
        return session_db(*args, **options)

    monkeypatch.setattr("hermes_state.SessionDB", open_store)
    cli.type("/planmode on")
    cli.turn()
    go(cli, NEXT)
    cli.turn()
    assert opened
    assert all(options == {"read_only": True} for options in opened)


def test_a_delegate_child_is_judged_by_its_parent(cli: Hermes) -> None:
    store(cli, CONVERSATION)
    cli.type("/planmode on")
    cli.turn()
    store(cli, NEXT, parent=CONVERSATION, mark="_delegate_from")
    cli.plugins.invoke_hook("subagent_start", parent_session_id=CONVERSATION, child_session_id=NEXT, child_role="leaf")
    assert cli.turn(session_id=NEXT, platform="subagent").startswith("[plan-mode] Plan mode is on")
    assert rule_of(cli.asked("terminal", {"command": "ls"}, session_id=NEXT, task_id="sa-0-aa")) == "not-granted"
    cli.type("/planmode off")
    assert cli.asked("terminal", {"command": "ls"}, session_id=NEXT, task_id="sa-0-aa") == ""


def test_a_session_id_that_is_no_text_is_still_judged(cli: Hermes) -> None:
    cli.type("/planmode on")
    for conversation in (None, 7, b"x", ["x"], "\ud800"):
        assert rule_of(cli.asked("terminal", {"command": "ls"}, session_id=conversation)) == "not-granted"  # type: ignore[arg-type]
