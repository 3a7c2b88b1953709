"""Both callbacks of a tool call, as the host calls them: whose mode counts, what is noted, and that nothing raises."""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plan_mode.errors import StateError
from plan_mode.host import capabilities
from plan_mode.state.lock import locked
from plan_mode.state.store import Store
from tests.fake_host import PLAN_TEXT, Cli, Machine

RUBBISH: list[Any] = [None, 7, -1.5, b"bytes", "x\x00\ud800", [], {}, [None], object(), ("a",), {"path": object()}, {1: 2}]
WAY_OUT = "Put it in the plan; the person approves with /planmode approve or leaves with /planmode off."


@pytest.fixture
def planning(cli: Cli) -> Cli:
    cli.type("/planmode on")
    cli.turn()
    return cli


@pytest.fixture(params=["the hook decides", "the middleware decides"])
def host(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both kinds of hosts."""
    if request.param == "the hook decides":
        monkeypatch.setattr(capabilities, "hook_decides", lambda manager, hook: True)
    return str(request.param)


SUCCESS = '{"success": true}'


def executed(cli: Cli, tool: str, args: dict[str, Any], execute: Callable[[Any], str]) -> Any:
    """What the middleware makes of a call that the host runs by ``execute``."""
    with cli.acting():
        return json.loads(cli.context.middleware["tool_execution"][-1](
            tool_name=tool, args=args, next_call=execute, session_id=cli.conversation, tool_call_id="c1"))


def through_the_middleware(cli: Cli, tool: str, args: Any, result: str = SUCCESS, **ids: Any) -> tuple[Any, list[Any]]:
    """The result of the middleware alone, and the arguments that reached the tool."""
    ran: list[Any] = []

    def execute(final: Any) -> str:
        ran.append(final)
        return result

    with cli.acting():
        got = cli.context.middleware["tool_execution"][-1](
            **{"tool_name": tool, "args": args, "next_call": execute, "session_id": "A", "tool_call_id": "c1", **ids})
    return got, ran


# -- whose mode counts

def test_the_words_of_a_denial(planning: Cli) -> None:
    assert planning.asked("terminal", {"command": "ls"}) == (
        f"plan mode [not-granted]: terminal isn't available in plan mode. {WAY_OUT}")


def test_a_call_right_after_approve_runs(planning: Cli, machine: Machine) -> None:
    planning.write_plan()
    planning.type("/planmode approve")
    assert planning.call("write_file", {"path": str(machine.work / "a.py"), "content": "x"})["success"]
    assert (machine.work / "a.py").read_text() == "x"


@pytest.mark.parametrize("conversation", ["A", "child", "bg_1", "", "B"])
def test_everything_in_this_process_is_judged_by_its_session(conversation: str, planning: Cli) -> None:
    assert planning.asked("terminal", conversation=conversation)
    assert not planning.asked("read_file", conversation=conversation)
    planning.type("/planmode off")
    assert not planning.asked("terminal", conversation=conversation)


def test_a_child_that_was_started_before(cli: Cli) -> None:
    assert not cli.asked("terminal", conversation="child")
    cli.type("/planmode on")
    assert cli.asked("terminal", conversation="child")


def test_another_process_isnt_concerned(planning: Cli, machine: Machine) -> None:
    other = machine.cli("B")
    assert not other.asked("terminal")
    assert not other.asked("terminal", conversation="child")


def test_never_used(cli: Cli, machine: Machine) -> None:
    assert not cli.asked("terminal")
    assert through_the_middleware(cli, "terminal", {"command": "ls"}) == ('{"success": true}', [{"command": "ls"}])
    assert not machine.state.exists()


def test_code_mode_denies_nothing(cli: Cli) -> None:
    cli.type("/mode code")
    for tool in ("terminal", "write_file", "nobody_knows_it"):
        assert not cli.asked(tool)


# -- the middleware

def test_denied_before_the_tool_runs(planning: Cli, host: str) -> None:
    denied = planning.asked("terminal", {"command": "ls"})
    got, ran = through_the_middleware(planning, "terminal", {"command": "ls"})
    if host == "the hook decides":
        assert ran
    else:
        assert (json.loads(got), ran) == ({"error": denied}, [])


@pytest.mark.parametrize("ids", [{}, {"tool_call_id": "", "session_id": ""}])
def test_an_edit_outside(ids: dict[str, str], planning: Cli, machine: Machine, host: str) -> None:
    args = {"path": str(machine.work / "a.py"), "content": "x"}
    denied = planning.asked("write_file", args)
    assert denied.startswith("plan mode [outside-plans]: ")
    got, ran = through_the_middleware(planning, "write_file", args, **ids)
    if host == "the hook decides" and not ids:
        assert ran, "the hook's denial is the cleaner one"
    else:
        assert (json.loads(got), ran) == ({"error": denied}, [])


def test_what_the_tool_raises_is_the_hosts(planning: Cli, machine: Machine) -> None:
    def fail(final: Any) -> str:
        raise ZeroDivisionError

    with planning.acting(), pytest.raises(ZeroDivisionError):
        planning.context.middleware["tool_execution"][-1](
            tool_name="write_file", args={"path": str(machine.plans / "a.md"), "content": "x"}, next_call=fail, session_id="A")


# -- what is noted

def plans_of(cli: Cli) -> list[str]:
    with cli.acting():
        record = cli.desk.judge.standing(cli.desk.where.here("", "").place).record
    return [Path(plan.path).name for plan in record.plans] if record else []


@pytest.mark.parametrize("conversation", ["A", "child", "bg_1", ""])
def test_a_plan_is_noted_whoever_wrote_it(conversation: str, planning: Cli, machine: Machine) -> None:
    """And the writer's conversation is never taken for one that the CLI has gone to."""
    planning.write_plan("p.md", conversation=conversation)
    assert plans_of(planning) == ["p.md"]
    assert planning.restricted
    assert planning.asked("terminal", conversation=conversation)
    assert planning.turn().startswith("[plan-mode] Plan mode is on: ")


@pytest.mark.parametrize("result", ['{"error": "no"}', '{"error": true}'])
def test_a_failed_write_is_no_plan(result: str, planning: Cli, machine: Machine) -> None:
    args = {"path": str(machine.plans / "p.md"), "content": PLAN_TEXT}
    planning.asked("write_file", args)
    through_the_middleware(planning, "write_file", args, result)
    assert plans_of(planning) == []
    assert planning.type("/planmode approve").startswith("This session has no plan file yet.")


def test_a_plan_that_is_deleted_is_forgotten(planning: Cli, machine: Machine) -> None:
    planning.write_plan("p.md")
    planning.write_plan("q.md")
    (machine.plans / "p.md").unlink()
    patch = f"*** Begin Patch\n*** Delete File: {machine.plans / 'p.md'}\n*** End Patch"
    through_the_middleware(planning, "patch", {"mode": "patch", "patch": patch})
    assert plans_of(planning) == ["q.md"]


def test_a_write_of_an_earlier_activation_isnt_this_ones_plan(planning: Cli, machine: Machine) -> None:
    """off and on again while the call was under way."""
    args = {"path": str(machine.plans / "p.md"), "content": PLAN_TEXT}

    def execute(final: Any) -> str:
        Path(final["path"]).write_text(final["content"])
        planning.type("/planmode off")
        planning.type("/planmode on")
        return '{"success": true}'

    executed(planning, "write_file", args, execute)
    assert plans_of(planning) == []


def test_approved_while_a_write_was_under_way(planning: Cli, machine: Machine) -> None:
    planning.write_plan("p.md")

    def execute(final: Any) -> str:
        Path(final["path"]).write_text(final["content"])
        assert planning.type("/planmode approve").startswith("Approved: ")
        return '{"success": true}'

    executed(planning, "write_file", {"path": str(machine.plans / "q.md"), "content": "x"}, execute)
    assert not planning.restricted
    assert "p.md. Implement it now." in planning.turn()


def interfered_with(cli: Cli, path: Path) -> None:
    """Another plugin changes the checked arguments in place."""
    args = {"path": str(path), "content": "x"}

    def execute(final: Any) -> str:
        final["content"] = "changed"
        return '{"success": true}'

    executed(cli, "write_file", args, execute)


@pytest.mark.usefixtures("impatient")
def test_a_lockdown_that_cant_be_stored_holds_all_the_same(planning: Cli, machine: Machine) -> None:
    other = machine.cli("B")
    with locked(str(machine.state / "sessions.lock")):
        interfered_with(planning, machine.plans / "p.md")
        for conversation in ("A", "child"):
            assert "[lockdown]" in planning.asked("write_file", {"path": str(machine.plans / "p.md"), "content": "x"},
                                                  conversation=conversation)
    assert not other.restricted
    assert planning.type("/planmode approve").startswith("This session is locked down")
    planning.kill()
    assert "[lockdown]" in machine.cli("A").asked("write_file", {"path": str(machine.plans / "p.md"), "content": "x"})


@pytest.mark.usefixtures("impatient")
def test_a_lockdown_that_cant_be_stored_can_be_left(planning: Cli, machine: Machine) -> None:
    with locked(str(machine.state / "sessions.lock")):
        interfered_with(planning, machine.plans / "p.md")
    assert planning.type("/planmode on").startswith("The lockdown has ended; plan mode is on.")
    assert not planning.asked("write_file", {"path": str(machine.plans / "p.md"), "content": "x"})
    with locked(str(machine.state / "sessions.lock")):
        interfered_with(planning, machine.plans / "p.md")
    assert planning.type("/planmode off").startswith("Plan mode is off")
    assert not planning.restricted


def test_a_lockdown_on_a_full_disk(planning: Cli, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")
    planning.write_plan("p.md")
    with monkeypatch.context() as patch:
        patch.setattr("plan_mode.state.store.os.replace", fail)
        interfered_with(planning, machine.plans / "p.md")
        assert "[lockdown]" in planning.asked("terminal")
        assert planning.type("/planmode approve").startswith("This session is locked down")
        assert "Only reading is possible" in planning.turn()
        assert planning.type("/planmode off").startswith("Plan mode is off")
    assert not planning.restricted
    assert not machine.cli("A").restricted


# -- between the check and the write

def exchanged_for_a_link(plans: Path, elsewhere: Path) -> None:
    plans.rename(plans.with_name("kept"))
    plans.symlink_to(elsewhere)


def exchanged_for_another(plans: Path, elsewhere: Path) -> None:
    plans.rename(plans.with_name("kept"))
    plans.mkdir()


def linked_file(plans: Path, elsewhere: Path) -> None:
    (plans / "p.md").unlink(missing_ok=True)
    (plans / "p.md").symlink_to(elsewhere / "p.md")


def with_a_second_name(plans: Path, elsewhere: Path) -> None:
    (elsewhere / "p.md").write_text("")
    (plans / "p.md").unlink(missing_ok=True)
    os.link(elsewhere / "p.md", plans / "p.md")


def put_back(plans: Path, elsewhere: Path) -> None:
    plans.unlink()
    plans.with_name("kept").rename(plans)


def nothing(plans: Path, elsewhere: Path) -> None:
    pass


LEFT_HOME = "the folder {plans} was exchanged for another one while {plans}/p.md was written"
SEIZED = {
    "folder, link": (exchanged_for_a_link, nothing, LEFT_HOME),
    "folder, folder": (exchanged_for_another, nothing, LEFT_HOME),
    "file, link": (linked_file, nothing, "{plans}/p.md leads to {elsewhere}/p.md since it was written"),
    "file, second name": (with_a_second_name, nothing,
                          "since it was written, '{plans}/p.md' has a second name elsewhere (hard link)"),
    "put back": (exchanged_for_a_link, put_back, "the write to {plans}/p.md succeeded, and its text isn't there"),
}


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize("case", SEIZED)
def test_a_write_that_went_elsewhere_locks_down_and_names_the_file(case: str, exists: bool, planning: Cli,
                                                                   machine: Machine) -> None:
    before, after, clause = SEIZED[case]
    elsewhere = machine.root / "elsewhere"
    elsewhere.mkdir()
    if exists:
        planning.write_plan("p.md")

    def execute(final: Any) -> str:
        before(machine.plans, elsewhere)
        Path(final["path"]).write_text(final["content"])
        after(machine.plans, elsewhere)
        return '{"success": true}'

    why = clause.format(plans=machine.plans, elsewhere=elsewhere)
    result = executed(planning, "write_file", {"path": str(machine.plans / "p.md"), "content": "x"}, execute)
    assert result == {"error": f"plan mode [lockdown]: {why}. The person can end this with /planmode off or /planmode on."}
    denied = planning.asked("terminal")
    assert denied.startswith(f"plan mode [lockdown]: terminal isn't reading, and only reading is possible because {why}. ")
    assert why in planning.type("/planmode status")
    assert planning.type("/planmode off").startswith("Plan mode is off")
    assert not planning.restricted


def rewritten(plans: Path) -> None:
    (plans / "new").write_text("x")
    (plans / "new").replace(plans / "p.md")


def others_beside_it(plans: Path) -> None:
    (plans / "q.md").write_text("q")
    (plans.parent / "kept").mkdir()


@pytest.mark.parametrize("meanwhile", [rewritten, others_beside_it, os.utime, lambda plans: plans.chmod(0o700)])
@pytest.mark.parametrize("exists", [False, True])
def test_what_people_do_beside_a_write_is_no_escape(meanwhile: Callable[[Path], None], exists: bool, planning: Cli,
                                                    machine: Machine) -> None:
    if exists:
        planning.write_plan("p.md")

    def execute(final: Any) -> str:
        Path(final["path"]).write_text(final["content"])
        meanwhile(machine.plans)
        return '{"success": true}'

    args = {"path": str(machine.plans / "p.md"), "content": "x"}
    assert executed(planning, "write_file", args, execute) == {"success": True}
    assert executed(planning, "write_file", args, lambda _: '{"success": true}') == {"success": True}, "its text is there"
    assert plans_of(planning) == ["p.md"]


@pytest.mark.parametrize("result", ['{"success": true}', '{"success": true, "resolved_path": "/there/a.md"}'])
def test_files_on_another_machine_are_looked_at_by_nobody_here(result: str, machine: Machine) -> None:
    machine.config = {"terminal": {"backend": "ssh"}}
    modes = machine.home / "modes"
    modes.mkdir()
    (modes / "mine.yaml").write_text("{slug: mine, name: Mine, roleDefinition: x, groups: [read, edit]}")
    cli = machine.cli()
    cli.type("/mode mine")
    cli.turn()
    args = {"path": str(machine.work / "a.md"), "content": "x"}
    assert executed(cli, "write_file", args, lambda _: result) == json.loads(result)
    assert "[lockdown]" not in cli.asked("terminal")


def test_a_move_and_a_deletion_are_no_escapes(planning: Cli, machine: Machine) -> None:
    planning.write_plan("p.md")
    planning.write_plan("q.md")

    def execute(final: Any) -> str:
        (machine.plans / "p.md").rename(machine.plans / "r.md")
        (machine.plans / "q.md").unlink()
        return '{"success": true}'

    patch = (f"*** Begin Patch\n*** Move File: {machine.plans / 'p.md'} -> {machine.plans / 'r.md'}\n"
             f"*** Delete File: {machine.plans / 'q.md'}\n*** End Patch")
    assert executed(planning, "patch", {"mode": "patch", "patch": patch}, execute) == {"success": True}
    assert plans_of(planning) == ["r.md"]


# -- failures

def test_judging_asks_for_no_lock(planning: Cli, machine: Machine, lockless: Callable[[], None]) -> None:
    other = machine.cli("B")
    lockless()
    assert not other.asked("read_file")
    assert not planning.asked("read_file")
    assert not planning.asked("write_file", {"path": str(machine.plans / "p.md"), "content": "x"})
    assert planning.restricted


def test_our_own_failure_denies_only_where_a_mode_may_be_on(planning: Cli, machine: Machine,
                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Store) -> Any:
        raise ZeroDivisionError
    other = machine.cli("B")
    monkeypatch.setattr(Store, "folders", fail)
    assert planning.asked("read_file").startswith("plan mode [internal-error]: ")
    got, ran = through_the_middleware(planning, "terminal", {})
    assert "[internal-error]" in json.loads(got)["error"]
    assert not ran
    assert not other.asked("terminal")
    assert through_the_middleware(other, "terminal", {}, session_id="B")[1]


def test_a_failing_judgement_denies(planning: Cli, monkeypatch: pytest.MonkeyPatch, machine: Machine) -> None:
    def fail(*_: object) -> Any:
        raise ZeroDivisionError
    monkeypatch.setattr("plan_mode.facts.gather", fail)
    assert "[internal-error]" in planning.asked("read_file")
    assert planning.type("/planmode off").startswith("Plan mode is off")
    assert not planning.asked("read_file")


def test_an_unreadable_state_after_off_opens_nothing_and_closes_nothing(planning: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Store) -> Any:
        raise StateError("p", "gone bad")
    planning.type("/planmode off")
    monkeypatch.setattr(Store, "folders", fail)
    for conversation in ("A", "child"):
        assert not planning.asked("terminal", conversation=conversation)


@pytest.mark.parametrize("in_plan_mode", [False, True])
def test_called_with_nothing_or_rubbish(in_plan_mode: bool, cli: Cli, host: str) -> None:
    if in_plan_mode:
        cli.type("/planmode on")
        cli.turn()
    hook, middleware = cli.context.hooks["pre_tool_call"][0], cli.context.middleware["tool_execution"][-1]
    tools = ("write_file", "patch", "tool_call", "skill_view", "terminal", "read_file")
    with cli.acting():
        hook()
        assert middleware() is None
        for value, tool in itertools.product(RUBBISH, tools):
            for kwargs in ({"tool_name": tool, "args": value}, {"tool_name": value, "args": {}},
                           {"tool_name": tool, "args": {"path": value, "content": value, "mode": value, "patch": value,
                                                        "calls": value, "name": value}},
                           {"tool_name": tool, "args": {}, "session_id": value, "tool_call_id": value, "task_id": value}):
                directive = hook(**kwargs)
                assert directive is None or directive["action"] == "block"
                assert isinstance(middleware(**kwargs, next_call=lambda final: "{}"), str)


# -- threads

def test_calls_at_the_same_time_as_decisions(planning: Cli, machine: Machine) -> None:
    """Hooks of several calls come at once, while a person decides: each is allowed or denied, and none raises."""
    stop, failures = threading.Event(), []

    def call(number: int) -> None:
        while not stop.is_set():
            for conversation in ("A", f"child-{number}", f"child-{time.monotonic_ns()}"):
                answer = planning.context.hooks["pre_tool_call"][0](tool_name="terminal", args={}, session_id=conversation)
                if answer is not None and "[not-granted]" not in answer["message"]:
                    failures.append(answer)

    with planning.acting():
        threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(15):
            for line in ("/planmode off", "/planmode on", "/planmode reject x", "/mode code", "/planmode on"):
                planning.context.commands[line.split()[0][1:]](line.partition(" ")[2])
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures
    assert planning.restricted


def test_what_is_remembered_is_bounded(planning: Cli, monkeypatch: pytest.MonkeyPatch, machine: Machine) -> None:
    monkeypatch.setattr("plan_mode.memory._MOST_REMEMBERED", 8)
    for number in range(30):
        planning.asked("terminal", conversation=f"child-{number}")
        planning.asked("write_file", {"path": str(machine.plans / f"{number}.md"), "content": "x"})
    memory = planning.desk.memory
    assert len(memory.restricted) <= 8
    assert len(memory.expected) <= 8
