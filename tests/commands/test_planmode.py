"""What a person types, and the whole reply."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plan_mode.commands import planmode
from plan_mode.commands.answer import answering, split_verb
from plan_mode.commands.planmode import MOST_OF_A_TEXT, USAGE
from plan_mode.errors import StateError
from plan_mode.host import home as home_module
from plan_mode.state.lock import locked
from plan_mode.state.record import checksum
from plan_mode.state.store import Store
from plan_mode.whereabouts import Here
from tests.fake_host import PLAN_TEXT, Cli, Machine

DIGEST = hashlib.sha256(PLAN_TEXT.encode()).hexdigest()[:12]
NAME = "2026-01-01_120000-plan.md"

NOTES = """\
Note: config.yaml can't be read, so the model runtime and the file back-end weren't checked.
Note: this host has no last look at file edits; changes by other plugins are found after the call.
Note: this host's session store can't be read; after /branch or a compression the stricter mode holds.
"""
NO_MODE = "No mode is active in this session.\n" + NOTES + "Next: /planmode on [task]"
DECIDE = "Next: /planmode approve, /planmode reject <feedback>, or /planmode off"
NOT_PLANNING = "This session isn't in plan mode, so there is no plan to decide on. Turn it on with /planmode on."
GO = "Next: send any message, for example go; the agent then implements the plan."


def on(plans: object, *more: str, first: str = "Plan mode is on.", last: str = "Next: say what should be planned.") -> str:
    return "\n".join([
        first, f"Plans: {plans}",
        "Allowed: reading and searching files, web research, skills, session history, image and page analysis, the todo list, "
        "questions to you, .md files in that directory.",
        *more, "Everything else is blocked until you type /planmode approve or /planmode off.", last])


def clock(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


@pytest.fixture(autouse=True)
def _stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that replies that name the time can be compared."""
    ticks = itertools.count(1_767_225_600)
    monkeypatch.setattr(planmode.time, "time", lambda: float(next(ticks)))


@pytest.fixture
def planning(cli: Cli) -> Cli:
    """In plan mode, told so, with a plan."""
    cli.type("/planmode on")
    cli.turn()
    cli.write_plan()
    return cli


# -- words

@pytest.mark.parametrize(("typed", "verb", "rest"), [
    ("", "", ""), ("  ", "", ""), ("on", "on", ""), ("ON", "on", ""), (" on  Build  A\tThing ", "on", "Build  A\tThing"),
    ("on\tBuild", "on", "Build"), ("reject\nline one\n\n  line two", "reject", "line one\n\n  line two"), ("show\n", "show", ""),
])
def test_words(typed: str, verb: str, rest: str) -> None:
    assert split_verb(typed) == (verb, rest)


@pytest.mark.parametrize("typed", ["/planmode", "/planmode status", "/planmode  STATUS ", "/planmode \n"])
def test_bare_is_status(cli: Cli, typed: str) -> None:
    assert cli.type(typed) == NO_MODE


@pytest.mark.parametrize(("typed", "shown"), [
    ("onn", "'onn'"), ("help", "'help'"), ("approved!", "'approved!'"), ("\x1b[31mred", "'\\x1b[31mred'"),
    ("x" * 99, f"'{'x' * 40}'"),
])
def test_an_unknown_word_shows_the_usage_and_changes_nothing(planning: Cli, typed: str, shown: str) -> None:
    assert planning.type(f"/planmode {typed}") == f"{shown} isn't a word /planmode knows.\n{USAGE}"
    assert planning.restricted


@pytest.mark.parametrize("arguments", [None, 7, b"on", ["on"]])
def test_arguments_that_are_no_text(cli: Cli, arguments: Any) -> None:
    with cli.acting():
        assert cli.context.commands["planmode"](arguments) == NO_MODE


def test_a_handler_never_raises(cli: Cli) -> None:
    def handler(here: Here, arguments: str) -> str:
        raise ZeroDivisionError("by \x1bzero")
    with cli.acting():
        said = answering(cli.desk, "planmode", handler)("x")
    assert said == (
        "plan-mode failed (ZeroDivisionError: by \\x1bzero). What was in force still is; "
        "see /planmode status, and please report this with the log.")


# -- on

def test_on(cli: Cli, machine: Machine) -> None:
    assert cli.type("/planmode on") == on(machine.plans)
    assert machine.plans.is_dir()
    assert cli.restricted


def test_on_with_a_task(cli: Cli, machine: Machine) -> None:
    assert cli.type("/planmode on Port  the\tBuild to Meson") == on(
        machine.plans, last="Task: Port the Build to Meson\nNext: send any message, for example go; the task goes with it.")
    assert "The user's task to plan:\nPort  the\tBuild to Meson" in cli.turn()


def test_on_with_a_long_task(cli: Cli) -> None:
    kept = "x" * MOST_OF_A_TEXT + " … [5 more characters]"
    assert f"\nTask: {'x' * 200} … [{len(kept) - 200} more characters] (5 characters were cut off)\n" in cli.type(
        f"/planmode on {'x' * (MOST_OF_A_TEXT + 5)}")
    assert cli.turn().endswith(f"\n{kept}")


def test_on_again(planning: Cli, machine: Machine) -> None:
    again = "Plan mode is on already; nothing else was changed."
    assert planning.type("/planmode on") == on(machine.plans, first=again)
    assert planning.turn().startswith("[plan-mode] Plan mode is on: ")
    assert planning.type("/planmode on another task") == on(machine.plans, first=again).replace(
        "Next: say what should be planned.",
        "Task: another task\nNext: send any message, for example go; the task goes with it.")
    assert "The user's task to plan:\nanother task" in planning.turn()


def test_on_keeps_what_on_fixed(planning: Cli, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory is the one of the first on, wherever the CLI has gone since."""
    (machine.root / "elsewhere").mkdir()
    monkeypatch.setenv("TERMINAL_CWD", str(machine.root / "elsewhere"))
    assert planning.type("/planmode on") == on(machine.plans, first="Plan mode is on already; nothing else was changed.")
    planning.type("/planmode off")
    assert planning.type("/planmode on") == on(machine.root / "elsewhere" / ".hermes" / "plans")


def test_on_names_the_operators_tools_and_faults(machine: Machine) -> None:
    machine.set(extra_allowed_tools=["mcp_docs_read", "calendar_list"], keep_days=0)
    cli = machine.cli()
    assert cli.type("/planmode on") == on(
        machine.plans, "Also allowed, by your setting extra_allowed_tools: calendar_list, mcp_docs_read.",
        "Setting ignored: keep_days must be a whole number of days from 1 to 3650; it is 0 and counts as not set.")
    assert not cli.asked("calendar_list")


def a_link(machine: Machine) -> str:
    (machine.work / ".hermes").symlink_to(machine.root)
    return (f"Plans can't be kept safely: {machine.work}/.hermes is a symbolic link. "
            "Remove it, or set terminal.cwd in config.yaml to another folder and start Hermes again.")


def no_folder(machine: Machine) -> str:
    os.chdir(machine.root)
    shutil.rmtree(machine.work)
    os.environ["TERMINAL_CWD"] = ""
    os.chdir("/")
    (machine.root / "gone").mkdir()
    os.chdir(machine.root / "gone")
    (machine.root / "gone").rmdir()
    return ("The session's working folder isn't known, so there is no place for plans. "
            "Set terminal.cwd in config.yaml to an existing folder and start Hermes again.")


def a_bound_session(machine: Machine) -> str:
    machine.isolated = True
    return ("Nothing was turned on. This plugin runs in a process of its own (plugins.isolation: host), where it can't see whose "
            "command this is. Remove plugins.isolation from config.yaml and start Hermes again. On the machine itself, "
            "hermes plan-mode off <record id> always works.")


def the_codex_runtime(machine: Machine) -> str:
    machine.config = {"model": {"openai_runtime": " Codex_App_Server "}}
    return ("Nothing was turned on. The model runs in a program with tools of its own, which no plugin sees (model: "
            "openai_runtime codex_app_server). Choose another in config.yaml, start Hermes again and type /planmode on.")


@pytest.mark.parametrize(("config", "found"), [
    ({"model": {"openai_runtime": "codex_app_server"}}, "model: openai_runtime codex_app_server"),
    ({"model": {"provider": "copilot-acp"}}, "model: copilot-acp"),
    ({"model": {"provider": " GitHub-Copilot-ACP "}}, "model: github-copilot-acp"),
    ({"model": {"base_url": "acp://copilot"}}, "model: acp://copilot"),
    ({"model": {"base_url": "acp+tcp://127.0.0.1:1"}}, "model: acp+tcp://127.0.0.1:1"),
    ({"fallback_model": {"provider": "copilot-acp", "model": "m"}}, "fallback_model: copilot-acp"),
    ({"fallback_model": [{"provider": "x"}, {"provider": "copilot-acp"}]}, "fallback_model: copilot-acp"),
    ({"fallback_providers": [{"provider": "copilot-acp"}]}, "fallback_providers: copilot-acp"),
    ({"custom_providers": [{"name": "mine", "api_mode": "codex_app_server"}]}, "custom_providers: codex_app_server"),
    ({"providers": {"mine": {"transport": "codex_app_server"}}}, "providers: codex_app_server"),
    *(({"model": model}, "") for model in (None, "m", [], {}, {"provider": "copilot"}, {"provider": "openai-codex"},
                                           {"api_mode": "codex_app_server"}, {"base_url": "https://acp.example"})),
    *(({name: held}, "") for name in ("fallback_model", "fallback_providers", "custom_providers", "providers")
      for held in (None, [], {}, "copilot-acp", [None, "x", 7], {"x": None}, [{"provider": None, "api_mode": 7}])),
])
def test_programs_with_tools_of_their_own(config: dict[str, Any], found: str, cli: Cli, machine: Machine) -> None:
    machine.config = config
    said = cli.type("/planmode on")
    assert not found or f"which no plugin sees ({found})." in said
    assert cli.restricted is not bool(found)


def a_held_lock(machine: Machine) -> str:
    return (f"plan-mode can't use its state at {machine.state}/sessions.lock: another process has held it for 1 s; "
            "nothing was changed, try again.")


@pytest.mark.parametrize("obstacle", [a_link, no_folder, a_bound_session, the_codex_runtime])
def test_on_refused(obstacle: Callable[[Machine], str], cli: Cli, machine: Machine) -> None:
    expected = obstacle(machine)
    assert cli.type("/planmode on") == expected
    assert not cli.restricted
    assert cli.turn() == ""


def test_on_while_another_process_holds_the_lock(cli: Cli, machine: Machine) -> None:
    machine.state.mkdir(parents=True)
    with locked(str(machine.state / "sessions.lock")):
        assert cli.type("/planmode on") == a_held_lock(machine)
    assert not cli.restricted


def test_on_with_a_state_folder_that_cant_be_made(cli: Cli, machine: Machine) -> None:
    (machine.home / "plugin-data").touch()
    reply = cli.type("/planmode on")
    assert reply == f"plan-mode can't use its state at {machine.state}: Not a directory."
    assert not cli.restricted


def test_on_where_files_are_on_another_machine(machine: Machine) -> None:
    machine.config = {"terminal": {"backend": "docker"}}
    cli = machine.cli()
    assert cli.type("/planmode on") == "\n".join([
        "Plan mode is on.", "Plans: in the conversation only, because the file tools work on another machine.",
        "Allowed: reading and searching files, web research, skills, session history, image and page analysis, the todo list, "
        "questions to you.", "Everything else is blocked until you type /planmode approve or /planmode off.",
        "Next: say what should be planned."])
    assert not machine.plans.exists()
    assert "Files can't be written here, plan files neither: give the plan in the conversation." in cli.turn()
    assert "[remote-files]" in cli.asked("write_file", {"path": str(machine.plans / "a.md"), "content": "x"})
    assert cli.type("/planmode approve") == f"Approved: (given in the conversation)\nPlan mode is off; no mode is active.\n{GO}"


def test_too_many_sessions(cli: Cli, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plan_mode.entry.MOST_RECORDS", 2)
    others = [machine.cli(c) for c in "BC"]
    for other in others:
        other.type("/planmode on")
        other.turn()
    assert cli.type("/planmode on") == "Nothing was turned on: 2 sessions are in modes already. Leave some with /planmode off."
    assert not cli.restricted
    assert cli.machine.cli("D").type("/mode code").startswith("Nothing was turned on: 2 sessions")
    others[0].type("/planmode off")
    others[0].turn()
    assert cli.type("/planmode on") == on(machine.plans)


# -- status and show

def test_status_while_planning(planning: Cli, machine: Machine) -> None:
    path = machine.plans / NAME
    os.utime(path, (1_000_000, 1_000_000))
    text = planning.type("/planmode status")
    since = re.search(r"since (.*)\.\n", text)
    assert since
    [record] = machine.files("*.json")
    assert text == (
        f"Plan mode is on since {since[1]}.\nRecord: {record.stem}\nPlans: {machine.plans}\n"
        f"  {NAME}  {clock(1_000_000)}  17 bytes  {DIGEST}\n"
        f"{NOTES}{DECIDE}")


def test_status_names_what_waits(cli: Cli, machine: Machine) -> None:
    cli.type("/planmode on a task")
    cli.type("/planmode reject too long")
    assert "\nWaiting for your next message: the task and your feedback.\n" in cli.type("/planmode status")
    cli.turn()
    assert "Waiting" not in cli.type("/planmode status")
    assert cli.type("/planmode status").endswith("\nNext: say what should be planned, or /planmode off")


def test_status_of_plans_that_are_gone(planning: Cli, machine: Machine) -> None:
    path = machine.plans / NAME
    path.unlink()
    assert f"\n  {NAME}  The plan {path} can't be read: No such file or directory.\n" in planning.type("/planmode")


def test_status_names_what_isnt_covered(machine: Machine) -> None:
    machine.config = {"model": {"openai_runtime": "codex_app_server"}, "terminal": {"backend": "ssh"},
                      "plugins": {"entries": {"plan-mode": {"settings": {"after_approval": 7}}}}}
    machine.isolated = True
    assert machine.cli().type("/planmode") == "\n".join([
        "Which session this is can't be told here, so neither can its mode.",
        "Note: setting ignored: after_approval must be the slug of a mode; it is 7 and counts as not set.",
        "Note: plan mode can't be turned on or off here. This plugin runs in a process of its own (plugins.isolation: host), "
        "where it can't see whose command this is. Remove plugins.isolation from config.yaml and start Hermes again. On the "
        "machine itself, hermes plan-mode off <record id> always works.",
        "Note: nothing is enforced, because the model runs in a program with tools of its own, which no plugin sees (model: "
        "openai_runtime codex_app_server); choose another in config.yaml and start Hermes again.",
        "Note: the file tools work on another machine; plan files can't be written.",
        *NOTES.splitlines()[1:], "Next: as the note says"])


def test_status_while_another_process_holds_the_lock(planning: Cli, machine: Machine) -> None:
    with locked(str(machine.state / "sessions.lock")):
        text = planning.type("/planmode")
    assert text.startswith("Plan mode is on since ")
    assert f"\nNote: {a_held_lock(machine)}\n" in text


def test_show(planning: Cli, machine: Machine) -> None:
    shown = f"{machine.plans / NAME}  17 bytes  {DIGEST}\n# Plan\n\n1. do it\n{DECIDE}"
    for typed in ("", NAME, str(machine.plans / NAME), f"'{NAME}'", f'"{machine.plans / NAME}"', f"./{NAME}"):
        assert planning.type(f"/planmode show {typed}") == shown


def test_show_the_newest(planning: Cli, machine: Machine) -> None:
    planning.write_plan("a newer one.md", "newer")
    assert planning.type("/planmode show").startswith(f"{machine.plans}/a newer one.md  5 bytes")
    planning.write_plan()
    assert planning.type("/planmode show").startswith(f"{machine.plans / NAME}  17 bytes")
    assert planning.type("/planmode show a newer one.md").startswith(f"{machine.plans}/a newer one.md  5 bytes")


def test_show_obeys_nothing(planning: Cli, machine: Machine) -> None:
    planning.write_plan(text="a\x1b[2J\u202eb\r\nc\x07\n\n")
    assert planning.type("/planmode show").split("\n", 1)[1] == f"a\\x1b[2J\\u202eb\nc\\x07\n{DECIDE}"


def test_show_is_bounded(planning: Cli) -> None:
    planning.write_plan(text="y" * 20_005)
    assert planning.type("/planmode show").split("\n")[1] == "y" * 20_000 + " … [5 more characters]"


@pytest.mark.parametrize("named", ["other.md", "../../src.md", "/etc/hostname", "plans", "\x1b[31m.md", "a\0b"])
def test_show_another_file(named: str, planning: Cli, machine: Machine) -> None:
    (machine.plans / "other.md").write_text("not of this session")
    shown = named.replace("\x1b", "\\x1b").replace("\0", "\\x00")
    assert planning.type(f"/planmode show {named}") == f"'{shown}' isn't a plan file of this session. These are: {NAME}."


@pytest.mark.parametrize("verb", ["show", "approve", "reject", "show x", "approve x --mode code", "reject no"])
def test_nothing_to_decide_on(verb: str, cli: Cli) -> None:
    assert cli.type(f"/planmode {verb}") == NOT_PLANNING


@pytest.mark.parametrize("verb", ["show", "approve", "show x.md", "approve x.md"])
def test_no_plan_yet(verb: str, cli: Cli) -> None:
    cli.type("/planmode on")
    assert cli.type(f"/planmode {verb}") == (
        "This session has no plan file yet. Ask the agent to write the plan, or leave with /planmode off.")
    assert cli.restricted


def test_show_after_leaving_for_another_mode(planning: Cli, machine: Machine) -> None:
    planning.type("/mode code")
    assert planning.type("/planmode show").endswith("1. do it\nNext: /planmode status")


# -- approve

def test_approve(planning: Cli, machine: Machine) -> None:
    assert planning.type("/planmode approve") == (
        f"Approved: {machine.plans / NAME}\nPlan mode is off; no mode is active.\n{GO}")
    assert not planning.restricted
    assert planning.type("/planmode approve") == NOT_PLANNING


def test_approve_what_was_changed_on_disk(planning: Cli, machine: Machine) -> None:
    (machine.plans / NAME).write_text("# Other\n")
    digest = hashlib.sha256(b"# Other\n").hexdigest()[:12]
    assert planning.type("/planmode approve") == (
        f"Not approved: {machine.plans / NAME} isn't the text you last saw, or the agent last wrote. This is what it says now:\n"
        f"{machine.plans / NAME}  8 bytes  {digest}\n# Other\nNext: /planmode approve again approves exactly this text")
    assert planning.restricted
    (machine.plans / NAME).write_text("# Third\n")
    assert planning.type("/planmode approve").startswith("Not approved: ")
    assert planning.type("/planmode approve").startswith("Approved: ")


@pytest.mark.parametrize("look", ["/planmode show", "/planmode status", "/planmode"])
def test_looking_moves_the_reference(look: str, planning: Cli, machine: Machine) -> None:
    (machine.plans / NAME).write_text("# Other\n")
    planning.type(look)
    assert planning.type("/planmode approve").startswith("Approved: ")


def test_what_the_agent_writes_moves_the_reference(planning: Cli, machine: Machine) -> None:
    planning.type("/planmode show")
    planning.write_plan(text="# Revised\n")
    assert planning.type("/planmode approve").startswith("Approved: ")


def test_approve_the_named_one(planning: Cli, machine: Machine) -> None:
    planning.write_plan("b c.md", "other")
    assert planning.type(f"/planmode approve {NAME} --mode code") == (
        f"Approved: {machine.plans / NAME}\nThis session is now in code mode.\n{GO}")


@pytest.mark.parametrize("typed", ["--mode code b c.md", "b c.md --mode=code", "'b c.md' --mode  code", "b c.md\t--mode code"])
def test_a_name_with_blanks_beside_the_option(typed: str, planning: Cli, machine: Machine) -> None:
    planning.write_plan("b c.md", "other")
    planning.write_plan()
    assert planning.type(f"/planmode approve {typed}") == (
        f"Approved: {machine.plans}/b c.md\nThis session is now in code mode.\n{GO}")


@pytest.mark.parametrize(("typed", "reply"), [
    ("--mode", "--mode needs the slug of a mode, as in --mode code."),
    ("--mode=", "'--mode=' isn't a plan file of this session. These are: " + NAME + "."),
    ("--mode plan", "'plan', from --mode, isn't a mode that can follow a plan. "
     "Modes: architect, ask, code, debug, orchestrator."),
    ("--mode nope", "'nope', from --mode, isn't a mode that can follow a plan. "
     "Modes: architect, ask, code, debug, orchestrator."),
    ("--mode read-only", "'read-only', from --mode, isn't a mode that can follow a plan. "
     "Modes: architect, ask, code, debug, orchestrator."),
    ("elsewhere.md", "'elsewhere.md' isn't a plan file of this session. These are: " + NAME + "."),
])
def test_approve_refused(typed: str, reply: str, planning: Cli) -> None:
    assert planning.type(f"/planmode approve {typed}") == reply
    assert planning.restricted
    assert planning.type("/planmode approve").startswith("Approved: ")


def emptied(path: Path) -> str:
    path.write_text(" \n\t\n")
    return f"The plan {path} is empty. Ask the agent to write it."


def removed(path: Path) -> str:
    path.unlink()
    return f"The plan {path} can't be read: No such file or directory. Ask the agent to write it again, or name another one."


def linked(path: Path) -> str:
    path.rename(path.with_name("real.md"))
    path.symlink_to("real.md")
    return f"The plan {path} is reached through a symbolic link. Ask the agent to write a new plan."


def linked_twice(path: Path) -> str:
    os.link(path, path.with_name("second.md"))
    return f"{path} isn't a plain file with one name. Ask the agent to write a new plan."


def enlarged(path: Path) -> str:
    path.write_bytes(b"x" * (1024 * 1024 + 1))
    return f"The plan {path} is larger than 1 MiB. Ask the agent for a shorter one."


def not_text(path: Path) -> str:
    path.write_bytes(b"\xff\xfe")
    return f"The plan {path} isn't valid UTF-8 text. Ask the agent to write it again."


@pytest.mark.parametrize("spoil", [emptied, removed, linked, linked_twice, enlarged, not_text])
@pytest.mark.parametrize("verb", ["approve", "show"])
def test_a_plan_that_cant_be_approved(spoil: Callable[[Path], str], verb: str, planning: Cli, machine: Machine) -> None:
    expected = spoil(machine.plans / NAME)
    for _ in range(2):
        assert planning.type(f"/planmode {verb}") == expected
    assert planning.restricted


def test_a_directory_that_became_a_link(planning: Cli, machine: Machine) -> None:
    machine.plans.rename(machine.work / "moved")
    machine.plans.symlink_to(machine.work / "moved")
    assert planning.type("/planmode approve") == (
        f"The plan {machine.plans / NAME} is reached through a symbolic link. Ask the agent to write a new plan.")
    assert planning.restricted


@pytest.mark.parametrize(("setting", "typed", "before", "after"), [
    ("", "", "none", ""), ("", "", "code", "code"), ("code", "", "none", "code"), ("", "--mode code", "none", "code"),
])
def test_the_mode_that_follows(setting: str, typed: str, before: str, after: str, machine: Machine) -> None:
    if setting:
        machine.set(plan_mode={"after_approval": setting})
    cli = machine.cli()
    if before == "code":
        cli.type("/mode code")
    cli.type("/planmode on")
    cli.write_plan()
    where = f"This session is now in {after} mode." if after else "Plan mode is off; no mode is active."
    assert cli.type(f"/planmode approve {typed}") == f"Approved: {machine.plans / NAME}\n{where}\n{GO}"
    assert not cli.restricted


@pytest.mark.parametrize("setting", ["plan", "nope"])
def test_a_mode_that_cant_follow_is_refused(setting: str, machine: Machine) -> None:
    machine.set(after_approval=setting)
    cli = machine.cli()
    cli.type("/planmode on")
    cli.write_plan()
    assert cli.type("/planmode approve") == (
        f"'{setting}', from the setting after_approval, isn't a mode that can follow a plan. "
        "Modes: architect, ask, code, debug, orchestrator.")
    assert cli.restricted
    assert cli.type("/planmode approve --mode code").startswith("Approved: ")


def test_a_foreign_sessions_plan(planning: Cli, machine: Machine) -> None:
    other = machine.cli("B")
    other.type("/planmode on")
    path = other.write_plan("b.md")
    denied = planning.asked("write_file", {"path": str(path), "content": "mine now"})
    assert denied.startswith("plan mode [others-plan]: ")
    assert planning.type("/planmode approve b.md") == f"'b.md' isn't a plan file of this session. These are: {NAME}."
    assert other.type("/planmode approve").startswith("Approved: ")


# -- reject and off

def test_reject(planning: Cli) -> None:
    assert planning.type("/planmode reject Use  SQLite,\nnot this") == (
        "Your feedback goes to the agent with your next message. Plan mode stays on.\n"
        "Next: send any message, for example go on.")
    assert planning.restricted
    assert planning.turn().endswith("revise the plan file:\nUse  SQLite,\nnot this")
    assert "SQLite" not in planning.turn()


def test_reject_without_words(planning: Cli) -> None:
    assert planning.type("/planmode reject") == (
        "Rejected without feedback. Plan mode stays on.\nNext: send any message, for example go on.")
    planning.type("/planmode reject first words")
    planning.type("/planmode reject")
    assert "first words" in planning.turn()


def test_reject_twice_before_a_turn(planning: Cli) -> None:
    planning.type("/planmode reject first words")
    assert planning.type("/planmode reject second words") == (
        "Your feedback goes to the agent with your next message, in place of what you typed before. Plan mode stays on.\n"
        "Next: send any message, for example go on.")
    assert planning.turn().endswith("revise the plan file:\nsecond words")


def test_reject_is_bounded(planning: Cli) -> None:
    reply = planning.type("/planmode reject " + "z" * 2_000_000)
    cut = 2_000_000 - MOST_OF_A_TEXT
    assert reply.startswith(f"Your feedback goes to the agent with your next message (its last {cut} characters were cut off).")
    text = planning.turn()
    assert text.endswith("z" * MOST_OF_A_TEXT + f" … [{cut} more characters]")


def test_off(planning: Cli) -> None:
    assert planning.type("/planmode off now") == (
        "Plan mode is off; nothing was approved.\nNext: go on as you like; /planmode on turns it on again.")
    assert not planning.restricted
    assert planning.type("/planmode off") == (
        "No mode is active in this session, so there is nothing to turn off.\nNext: /planmode on [task]")


# -- lockdown

@pytest.fixture
def locked_down(planning: Cli) -> Cli:
    """Something else than what was checked has been written."""
    args = {"path": str(planning.machine.plans / NAME), "content": "x"}
    assert not planning.asked("write_file", args)

    def execute(final: dict[str, Any]) -> str:
        final["content"] = "changed"
        return '{"success": true}'

    with planning.acting():
        planning.context.middleware["tool_execution"][-1](
            tool_name="write_file", args=args, next_call=execute, session_id="A", tool_call_id="c1")
    return planning


def test_lockdown(locked_down: Cli, machine: Machine) -> None:
    why = "its arguments were changed after they had been checked, by another plugin"
    refused = ("This session is locked down, because a call did something else than what had been checked. "
               "See /planmode status; then type /planmode on to go on planning, or /planmode off to leave.")
    text = locked_down.type("/planmode")
    assert text.startswith(f"Only reading is possible [lockdown], because {why}.\n")
    assert text.endswith("\nNext: /planmode off, or /planmode on to go on planning")
    for line in ("/planmode approve", "/planmode reject no", "/mode code"):
        assert locked_down.type(line) == refused
    assert "[lockdown]" in locked_down.asked("write_file", {"path": str(machine.plans / NAME), "content": "x"})
    assert not locked_down.asked("read_file")
    assert why in locked_down.turn()


def test_lockdown_survives_a_restart(locked_down: Cli, machine: Machine) -> None:
    locked_down.turn()
    locked_down.kill()
    assert "[lockdown]" in machine.cli().asked("write_file", {"path": str(machine.plans / NAME), "content": "x"})


def test_on_ends_a_lockdown(locked_down: Cli, machine: Machine) -> None:
    assert locked_down.type("/planmode on") == on(machine.plans, first="The lockdown has ended; plan mode is on.")
    assert not locked_down.asked("write_file", {"path": str(machine.plans / NAME), "content": "x"})
    assert locked_down.restricted


def test_off_ends_a_lockdown(locked_down: Cli) -> None:
    assert locked_down.type("/planmode off").startswith("Plan mode is off")
    assert not locked_down.restricted


# -- damage

@pytest.fixture
def damaged(planning: Cli) -> Cli:
    record = next(path for path in planning.machine.files("*.json"))
    record.write_text(record.read_text()[:-10])
    return planning


def test_a_damaged_record(damaged: Cli, machine: Machine) -> None:
    path = machine.files("*.json")[0]
    why = f"this session's state file {path} is damaged"
    assert damaged.type("/planmode") == f"Only reading is possible [state-damaged], because {why}.\n{NOTES}Next: /planmode off"
    for verb in ("approve", "show", "reject x"):
        assert damaged.type(f"/planmode {verb}") == (
            f"Only reading is possible here, because {why}. Type /planmode off to remove that file.")
    assert damaged.type("/planmode on") == (
        f"Plan mode can't be turned on here, because {why}. Type /planmode off to remove that file, then /planmode on.")
    assert damaged.type("/mode code") == f"The mode can't be changed, because {why}. Type /mode off first."
    assert "[state-damaged]" in damaged.asked("write_file", {"path": str(machine.plans / NAME), "content": "x"})
    assert damaged.turn() == (
        f"[plan-mode] Only reading is possible, because {why}. The user can type /planmode status.")
    assert damaged.type("/planmode off") == (
        f"No mode is active any more: {path} was removed, because it could not be read.\nNext: /planmode on [task]")
    assert not damaged.restricted
    assert damaged.type("/planmode off").startswith("No mode is active in this session")
    assert damaged.type("/planmode on") == on(machine.plans)


def test_nobody_else_notices_damage(damaged: Cli, machine: Machine) -> None:
    other = machine.cli("B")
    assert not other.restricted
    assert other.turn() == ""
    assert other.type("/planmode on") == on(machine.plans)


def test_a_damaged_key_beside_a_good_one(planning: Cli, machine: Machine) -> None:
    """The record is found by the other key, and left as any session: with its notice, and without a rest."""
    with planning.acting():
        own = planning.desk.store.folders()[0].hashed(planning.process.key)
    for spoilt in machine.files(f"{own}.key"):
        spoilt.write_text("")
    assert planning.restricted
    assert planning.type("/planmode off").startswith("Plan mode is off; nothing was approved.")
    assert not planning.restricted
    assert "No mode is active any more; the plan was not approved." in planning.turn()
    assert machine.files() == []


def test_damage_that_cant_be_removed(damaged: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    path = damaged.machine.files("*.json")[0]
    monkeypatch.setattr("plan_mode.state.store.remove", lambda path: False)
    reply = (f"No mode is active any more in this Hermes process only, because {path} can't be read, and can't be removed "
             "either.\nNext: remove that file yourself, then /planmode status")
    for _ in range(2):
        assert damaged.type("/planmode off") == reply
        assert not damaged.restricted
        assert not damaged.asked("terminal", conversation="child")


def test_a_newer_record_is_never_overwritten(planning: Cli, machine: Machine) -> None:
    record = machine.files("*.json")[0]
    body = record.read_text().split("\n")[0].replace('"version":1', '"version":2')
    record.write_text(f"{body}\n{checksum(body)}\n")
    before = record.read_bytes()
    why = f"this session's state file {record} was written by a newer plan-mode"
    assert planning.type("/planmode").startswith(f"Only reading is possible [state-damaged], because {why}.\n")
    for line in ("on x", "reject x", "approve", "show", "status"):
        planning.type(f"/planmode {line}")
    assert record.read_bytes() == before
    planning.type("/planmode off")
    assert not planning.restricted
    assert not record.exists()


def test_a_state_folder_that_cant_be_read(planning: Cli, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    other = machine.cli("B")
    real = os.stat

    def refuse(path: Any, **more: Any) -> Any:
        if str(path).startswith(str(machine.state)):
            raise PermissionError(13, "Permission denied")
        return real(path, **more)

    assert planning.restricted
    monkeypatch.setattr(os, "stat", refuse)
    for conversation in ("A", "child"):
        assert planning.asked("terminal", conversation=conversation).startswith("read-only mode [state-unreadable]: ")
    assert not planning.asked("read_file")
    assert not other.restricted
    assert other.turn() == ""
    assert planning.type("/planmode off") == (
        "This session's mode is off.\nThis holds for this Hermes process only, because the state folder can't be written.\n"
        "Next: go on as you like; /planmode on turns it on again.")
    assert not planning.restricted


def test_what_is_known_after_every_command(cli: Cli, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state folder that becomes unreadable right after on, before any call was judged, opens nothing."""
    def refuse(self: Store) -> Any:
        raise StateError("p", "gone bad")

    for line in ("/planmode on", "/planmode on a task"):
        cli.type(line)
        with monkeypatch.context() as patch:
            patch.setattr(Store, "folders", refuse)
            assert cli.restricted
    cli.type("/mode code")
    with monkeypatch.context() as patch:
        patch.setattr(Store, "folders", refuse)
        assert not cli.restricted


# -- where others are served

def test_a_clis_conversation_opened_in_a_tab(planning: Cli, machine: Machine) -> None:
    """Nothing of it falls upon the other tabs of that process, and every command works there."""
    planning.exit()
    server = machine.server()
    tab, other = server.tab("A", "T1"), server.tab("B", "T2")
    assert tab.restricted
    for line in ("/planmode status", "/planmode show", "/planmode on"):
        tab.type(line)
        assert not other.restricted
    tab.write_plan("from-the-tab.md", "# Tab\n")
    assert not other.restricted
    assert "from-the-tab.md" in tab.type("/planmode status")
    assert tab.type("/planmode off").startswith("Plan mode is off")
    assert not tab.restricted


def test_a_job_that_engages_a_session_in_the_cli_locks_nobody_out(planning: Cli) -> None:
    planning.bound = {"session_key": "a job's", "platform": "telegram"}
    assert planning.restricted
    assert planning.type("/planmode").startswith("Plan mode is on since ")
    assert planning.asked("terminal", conversation="child")
    assert planning.type("/planmode off").startswith("Plan mode is off")
    assert not planning.restricted


def test_the_state_lies_where_an_old_host_has_it(planning: Cli, machine: Machine) -> None:
    assert machine.state == machine.home / home_module.PLUGIN_DATA
    assert {path.suffix for path in machine.files()} == {".json", ".key"}
