"""What the model is told: one notice for each change, to the conversation it belongs to; else one line."""

from __future__ import annotations

import itertools
import re
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from plan_mode.errors import StateError
from plan_mode.host import session
from plan_mode.notices import VOIDS
from plan_mode.state.lock import locked
from plan_mode.state.store import Store
from tests.fake_host import Cli, Machine

ENFORCED = "PLAN MODE IS ON, and it is enforced"
APPROVED = "The user approved the plan at {path}. Implement it now."
RUBBISH: list[Any] = [None, 7, -1.5, b"bytes", "x\x00\ud800", [], {}, [None], object(), float("nan"), ("a",)]


def is_notice(text: str) -> bool:
    return re.match(r"\[plan-mode notice [0-9a-f]{6}\] " + re.escape(VOIDS) + "\n", text) is not None


def reminder(machine: Machine) -> str:
    where = f"write plans in {machine.plans}"
    return f"[plan-mode] Plan mode is on: read, think, {where}; nothing else runs until the user approves."


@pytest.fixture
def planning(cli: Cli) -> Cli:
    """In plan mode, and told so."""
    cli.type("/planmode on")
    assert is_notice(cli.turn())
    return cli


# -- entering

def test_the_notice_on_entry(cli: Cli, machine: Machine) -> None:
    machine.set(extra_allowed_tools=["calendar_list"])
    cli = machine.cli()
    cli.type("/planmode on Build  it")
    text = cli.turn()
    mark = text[len("[plan-mode notice "):][:6]
    name = re.search(r"for example (\S+)\n", text)
    assert name
    assert re.fullmatch(re.escape(f"{machine.plans}/") + r"\d{4}-\d\d-\d\d_\d{6}-short-title\.md", name[1])
    assert text.split("\n") == [
        f"[plan-mode notice {mark}] {VOIDS}",
        "PLAN MODE IS ON, and it is enforced: reading, searching, web research, analysis and asking the user work; every other "
        "tool is refused, whatever is said in this conversation and whoever says it.",
        text.split("\n")[2],
        f"Write the plan with write_file or patch, to an absolute path in {machine.plans} named YYYY-MM-DD_HHMMSS-<slug>.md, "
        f"for example {name[1]}",
        "Also allowed by the operator: calendar_list.",
        'When the plan is written, submit it with submit_plan {"path": "<absolute path>", "summary": "<2 sentences>"} (where it '
        'isn\'t in your list of tools: tool_call {"name": "submit_plan", "arguments": {...}}): the user reads it '
        "and says yes or no. Only the user ends this, by that yes or by typing /planmode approve or /planmode off; you can't.",
        "The user's task to plan:",
        "Build  it",
    ]
    assert text.split("\n")[2].startswith("You are planning, not doing.")
    assert not cli.asked("write_file", {"path": name[1], "content": "x"}), "what the notice names is what is allowed"


def test_one_line_on_each_later_turn(planning: Cli, machine: Machine) -> None:
    for _ in range(3):
        assert planning.turn() == reminder(machine)


def test_each_flip_is_told_once_and_only_the_newest_holds(planning: Cli) -> None:
    for _ in range(3):
        planning.type("/mode code")
        assert "Code mode is on." in planning.turn()
        assert planning.turn() == "[plan-mode] Code mode is on."
        planning.type("/planmode on")
        text = planning.turn()
        assert is_notice(text)
        assert ENFORCED in text
        assert "Code mode" not in text


def test_an_undone_flip_is_none(planning: Cli, machine: Machine) -> None:
    planning.type("/planmode off")
    planning.type("/planmode on")
    assert planning.turn() == reminder(machine)
    planning.type("/mode code")
    planning.type("/planmode on")
    assert planning.turn() == reminder(machine)


def test_on_and_off_before_any_turn_is_none(cli: Cli, machine: Machine) -> None:
    cli.type("/planmode on")
    cli.type("/planmode off")
    assert cli.turn() == ""
    assert machine.files() == []


# -- leaving

@pytest.mark.parametrize(("typed", "ends"), [
    ("", "Plan mode is off; no mode is active."), ("--mode code", "Code mode is on. You are implementing."),
])
def test_exactly_one_notice_after_approve(typed: str, ends: str, planning: Cli, machine: Machine) -> None:
    path = planning.write_plan()
    planning.type("/planmode reject an earlier word")
    planning.type("/planmode show")
    planning.type(f"/planmode approve {typed}")
    assert not planning.restricted
    assert not planning.asked("write_file", {"path": str(machine.work / "src.py"), "content": "x"})
    text = planning.turn()
    assert is_notice(text)
    assert APPROVED.format(path=path) in text
    assert text.split("\n")[2].startswith(ends)
    assert "an earlier word" not in text
    assert ENFORCED not in text
    following = planning.turn()
    assert following == ("" if not typed else "[plan-mode] Code mode is on.")
    assert bool(machine.files()) is bool(typed)


def test_off_is_told_without_an_approval(planning: Cli, machine: Machine) -> None:
    planning.write_plan()
    planning.type("/planmode off")
    text = planning.turn()
    assert is_notice(text)
    assert text.endswith("\nNo mode is active any more; the plan was not approved.")
    assert planning.turn() == ""
    assert machine.files() == []


def test_approved_and_planning_again_before_a_turn(planning: Cli, machine: Machine) -> None:
    planning.write_plan()
    planning.type("/planmode approve")
    planning.type("/planmode on")
    assert planning.turn() == reminder(machine)


# -- forgetting

def test_the_full_notice_again_when_its_mark_has_gone(planning: Cli, machine: Machine) -> None:
    planning.history = [{"role": "user", "content": "a summary of what was said"}]
    text = planning.turn()
    assert ENFORCED in text
    assert planning.turn() == reminder(machine)


@pytest.mark.parametrize("history", [None, [], "rubbish", {}, 7])
def test_where_the_conversation_isnt_shown(history: Any, planning: Cli, machine: Machine) -> None:
    found = planning.fire("pre_llm_call", session_id="A", platform="cli", conversation_history=history)
    assert found == [{"context": reminder(machine)}]


@pytest.mark.parametrize("shape", ["api_content", "content", "parts"])
def test_where_the_mark_may_stand(shape: str, planning: Cli, machine: Machine) -> None:
    told = planning.history[-1]["api_content"]
    message = {"api_content": {"content": "go", "api_content": told}, "content": {"content": told},
               "parts": {"content": [None, {"type": "image"}, {"type": "text", "text": told}]}}[shape]
    planning.history = ["rubbish", {"role": "assistant", "content": "x"}, {"role": "user", **message}]  # type: ignore[list-item]
    assert planning.turn() == reminder(machine)


def test_what_the_model_says_itself_is_no_mark(planning: Cli) -> None:
    """Only what the host has kept of our own text counts."""
    told = planning.history[-1]["api_content"]
    planning.history = [{"role": role, "content": told} for role in ("assistant", "tool", "system")]
    assert ENFORCED in planning.turn()


def test_the_full_notice_again_in_another_conversation(planning: Cli, machine: Machine) -> None:
    machine.kin["B"] = ("compression", "A", False, time.time())
    planning.cli.session_id = "B"  # with all that was said before
    assert ENFORCED in planning.turn()
    assert planning.turn() == reminder(machine)


# -- whose notice it is

def test_a_branch_is_told_and_its_origin_waits(planning: Cli, machine: Machine) -> None:
    planning.type("/planmode reject for the origin")
    machine.kin["B"] = ("branch", "A", False, time.time())
    history = planning.history
    planning.resume("B")
    planning.history = list(history)
    text = planning.turn()
    assert ENFORCED in text
    assert "for the origin" not in text
    planning.resume("A")
    planning.history = history
    assert "for the origin" in planning.turn()


def test_a_branch_that_is_left_at_once_is_told_so(planning: Cli, machine: Machine) -> None:
    """Its copied history says that plan mode is on."""
    machine.kin["B"] = ("branch", "A", False, time.time())
    planning.resume("B")
    planning.type("/planmode off")
    assert "No mode is active any more" in planning.turn()
    assert planning.turn() == ""


def test_a_branch_that_was_left_stays_free(planning: Cli, machine: Machine) -> None:
    machine.kin["B"] = ("branch", "A", False, time.time())
    planning.resume("B")
    planning.turn()
    planning.type("/planmode off")
    planning.turn()
    planning.exit()
    again = machine.cli("B")
    assert again.turn() == ""
    assert not again.restricted
    assert again.type("/planmode").startswith("No mode is active")
    assert machine.cli("A").restricted


def test_another_conversation_that_parted_before_is_no_concern(cli: Cli, machine: Machine) -> None:
    """Two terminals, one conversation a branch of the other: plan mode in the one is none in the other."""
    cli.turn()
    machine.kin["B"] = ("branch", "A", False, time.time())
    other = machine.cli("B")
    assert other.turn() == ""
    cli.type("/planmode on")
    cli.turn()
    assert other.turn() == ""
    assert not other.restricted
    other.exit()
    again = machine.cli("B")
    assert again.turn() == ""
    assert again.type("/planmode").startswith("No mode is active")


@pytest.mark.parametrize(("conversation", "platform"), [
    ("child-1", "subagent"), ("bg_120000_abcdef", "cli"), ("elsewhere", "cli"), ("", "cli"), ("A", "cron"), ("A", "telegram"),
])
def test_nobody_else_takes_a_notice(conversation: str, platform: str, cli: Cli, machine: Machine) -> None:
    cli.type("/planmode on the task")
    for _ in range(2):
        assert cli.turn(conversation=conversation, platform=platform) == reminder(machine)
    assert "the task" in cli.turn()


def test_the_hosts_review_of_a_turn_takes_none(planning: Cli) -> None:
    """Older hosts run it in the conversation's own name, after the answer."""
    planning.write_plan()
    planning.type("/planmode approve")
    told: list[str] = []
    review = threading.Thread(target=lambda: told.append(planning.turn(keep=False)), name="bg-review")
    review.start()
    review.join(20)
    assert told == [""]
    assert "Implement it now." in planning.turn()


def test_an_unresolved_conversation_takes_none(planning: Cli, machine: Machine) -> None:
    planning.type("/planmode reject for A alone")
    machine.kin["B"] = ("unreadable", "", False, 0.0)
    planning.resume("B")
    assert planning.turn() == reminder(machine)
    assert "\nUnresolved: " in planning.type("/planmode")
    for verb in ("approve", "reject x", "on x"):
        assert planning.type(f"/planmode {verb}").startswith("Where this conversation came from can't be read")
    planning.resume("A")
    assert "for A alone" in planning.turn()
    assert "Unresolved" not in planning.type("/planmode")
    assert "Plan mode stays on" in planning.type("/planmode reject again")


def test_an_unresolved_conversation_can_be_left_and_entered_again(planning: Cli, machine: Machine) -> None:
    machine.kin["B"] = ("unreadable", "", False, 0.0)
    planning.resume("B")
    assert planning.restricted
    assert planning.type("/planmode off").startswith("Plan mode is off")
    assert not planning.restricted
    assert planning.type("/planmode on").startswith("Plan mode is on.")
    assert planning.restricted
    planning.turn()
    planning.write_plan()
    assert planning.type("/planmode approve").startswith("Approved: ")


# -- a process that ends, and the next

@pytest.mark.parametrize("end", ["exit", "kill"])
def test_resumed_before_the_first_call(end: str, planning: Cli, machine: Machine) -> None:
    planning.write_plan()
    getattr(planning, end)()
    again = machine.cli("A")
    assert again.restricted
    again.history = planning.history
    text = again.turn()
    assert is_notice(text)
    assert "This conversation was resumed; its mode was restored." in text
    assert ENFORCED in text
    assert again.asked("terminal", conversation="child")
    assert again.turn() == reminder(machine)
    assert again.type("/planmode approve").startswith("Approved: ")


@pytest.mark.parametrize("end", ["exit", "kill"])
def test_turned_on_in_a_conversation_and_ended_before_a_turn(end: str, cli: Cli, machine: Machine) -> None:
    cli.turn()
    cli.type("/planmode on the task")
    getattr(cli, end)()
    again = machine.cli("A")
    assert again.restricted
    assert "the task" in again.turn()


def test_an_approval_waits_for_its_conversation(planning: Cli, machine: Machine) -> None:
    path = planning.write_plan()
    planning.type("/planmode approve")
    planning.exit()
    other = machine.cli("B")
    assert other.turn() == ""
    again = machine.cli("A")
    assert APPROVED.format(path=path) in again.turn()
    assert again.turn() == ""
    assert machine.files() == []


def test_resumed_to_another_conversation_and_back(planning: Cli, machine: Machine) -> None:
    machine.used.add("B")
    planning.resume("B")
    assert planning.restricted, "until a turn tells, the stricter holds"
    assert planning.turn() == ""
    assert not planning.restricted
    planning.resume("A")
    assert planning.restricted
    assert "its mode was restored" in planning.turn()


def test_plan_mode_before_the_first_prompt_holds_in_the_first_turn(cli: Cli) -> None:
    cli.type("/planmode on")
    assert cli.restricted
    assert is_notice(cli.turn())
    assert cli.restricted


def test_a_container_that_is_started_again(planning: Cli, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed in a pid namespace that nobody sees into any more: its conversation is found all the same."""
    monkeypatch.setattr("plan_mode.state.kin.is_alive", lambda process: True if process == again.process else None)
    again = machine.cli("A")
    assert again.restricted
    assert "its mode was restored" in again.turn()
    assert again.type("/planmode off").startswith("Plan mode is off")
    assert not again.restricted


# -- who never used it

def test_never_used(machine: Machine) -> None:
    cli = machine.cli()
    assert cli.turn() == ""
    assert cli.turn(conversation="child", platform="subagent") == ""
    assert not cli.restricted
    assert not machine.state.exists()


def test_others_are_active(planning: Cli, machine: Machine) -> None:
    other = machine.cli("B")
    before = [path.name for path in machine.files()]
    assert other.turn() == ""
    assert not other.restricted
    assert sorted(path.name for path in machine.files()) == sorted(before)


def test_lineage_is_asked_once_and_without_the_lock(planning: Cli, machine: Machine, monkeypatch: pytest.MonkeyPatch,
                                                    lockless: Callable[[], None]) -> None:
    other, asked = machine.cli("B"), []
    monkeypatch.setattr("plan_mode.host.lineage.parentage",
                        lambda conversation: asked.append(conversation) or ("none", "", False, 0.0))
    lockless()
    for _ in range(3):
        assert other.turn() == ""
    assert asked == ["B"]


def test_nobody_is_asked_while_there_is_no_folder(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(conversation: str) -> Any:
        raise AssertionError(f"{conversation} was looked up")
    monkeypatch.setattr("plan_mode.host.lineage.parentage", ask)
    for line in ("/planmode", "/planmode off", "/mode"):
        cli.type(line)
    assert cli.turn() == ""


# -- failures

@pytest.mark.usefixtures("impatient")
def test_a_turn_that_cant_be_stored_is_told_and_guarded_all_the_same(planning: Cli, machine: Machine) -> None:
    planning.exit()
    again = machine.cli("A")
    with locked(str(machine.state / "sessions.lock")):
        assert again.turn() == reminder(machine)
        assert again.restricted
        assert again.asked("terminal", conversation="child"), "a sub-agent is known by the process alone"
    assert ENFORCED in again.turn()
    assert again.asked("terminal", conversation="child")


@pytest.mark.usefixtures("impatient")
def test_a_branch_that_cant_be_stored_is_guarded_all_the_same(planning: Cli, machine: Machine) -> None:
    planning.exit()
    machine.kin["B"] = ("branch", "A", False, time.time())
    again = machine.cli("B")
    with locked(str(machine.state / "sessions.lock")):
        assert again.turn() == reminder(machine)
        assert again.restricted
        assert again.asked("terminal", conversation="child")
    assert ENFORCED in again.turn()
    assert again.type("/planmode off").startswith("Plan mode is off")
    assert not again.restricted


def test_a_notice_that_cant_be_marked_as_taken_isnt_given_twice(cli: Cli, machine: Machine,
                                                               monkeypatch: pytest.MonkeyPatch) -> None:
    cli.turn()
    cli.type("/planmode on the task")
    with monkeypatch.context() as patch:
        def fail(*_: object) -> None:
            raise OSError(28, "No space left on device")
        patch.setattr("plan_mode.state.store.os.replace", fail)
        assert "the task" in cli.turn()
        assert cli.turn() == reminder(machine)
    planning_again = cli.turn()
    assert planning_again == reminder(machine)
    cli.write_plan()
    assert cli.turn() == reminder(machine)


def test_a_notice_left_behind_is_void_after_a_new_beginning(planning: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """off while nothing could be written, then on again: the farewell must not come later."""
    with monkeypatch.context() as patch:
        def fail(*_: object) -> None:
            raise OSError(28, "No space left on device")
        patch.setattr("plan_mode.state.store.os.replace", fail)
        assert planning.type("/planmode off").startswith("Plan mode is off")
    planning.type("/planmode on")
    assert ENFORCED in planning.turn()
    planning.type("/planmode off")
    assert "No mode is active any more" in planning.turn()
    for _ in range(3):
        assert planning.turn() == ""


def test_a_farewell_belongs_to_its_conversation(planning: Cli, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        def fail(*_: object) -> None:
            raise OSError(28, "No space left on device")
        patch.setattr("plan_mode.state.store.os.replace", fail)
        planning.type("/planmode off")
    machine.used.add("B")
    planning.resume("B")
    assert planning.turn() == ""
    planning.resume("A")
    assert "No mode is active any more" in planning.turn()
    assert planning.turn() == ""


def test_an_unreadable_state_is_no_traceback(cli: Cli, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fail(self: Store) -> Any:
        raise StateError("p", "gone bad")
    monkeypatch.setattr(Store, "folders", fail)
    assert cli.turn() == ""
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("in_plan_mode", [False, True])
def test_called_with_nothing_or_rubbish(in_plan_mode: bool, cli: Cli) -> None:
    if in_plan_mode:
        cli.type("/planmode on")
        cli.turn()
    callback = cli.context.hooks["pre_llm_call"][0]
    with cli.acting():
        assert callback() is None or in_plan_mode
        for value, name in itertools.product(RUBBISH, ("session_id", "platform", "parent_session_id", "conversation_history")):
            found = callback(**{"session_id": "A", "platform": "cli", name: value})
            assert found is None or isinstance(found["context"], str)
        callback(session_id="A", platform="cli", conversation_history=[*RUBBISH, {"role": "user", "content": RUBBISH}])


def test_a_host_that_fails_us(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.type("/planmode on")

    def fail(*_: object) -> Any:
        raise RuntimeError("the host failed")
    monkeypatch.setattr(session, "current_conversation", fail)
    assert cli.fire("pre_llm_call", session_id="A", platform="cli") == [None]


# -- a runtime that goes around plan-mode

def test_a_runtime_that_no_plugin_sees_is_named_in_every_turn(cli: Cli, machine: Machine) -> None:
    machine.config = {}
    config = machine.home / "config.yaml"
    config.write_text("a: 1\n")
    cli.type("/planmode on")
    assert "NOT enforced" not in cli.turn()
    machine.config = {"model": {"openai_runtime": "codex_app_server"}}
    config.write_text("a: 12\n")
    lost = ("[plan-mode] The mode is NOT enforced now, because the model runs in a program with tools of its own, which no "
            "plugin sees (model: openai_runtime codex_app_server). Tell the user to choose another in config.yaml and to start "
            "Hermes again.")
    for _ in range(2):
        assert cli.turn().endswith(f"\n{lost}")
    assert "Note: nothing is enforced, because the model runs in a program with" in cli.type("/planmode status")
    cli.type("/planmode off")
    cli.turn()
    assert cli.turn() == ""
