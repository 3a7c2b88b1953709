"""Several real processes on one home: at once, in pid namespaces of their own, with a pid that was another's, behind a held lock.

PLAN_MODE_SOAK_SECONDS makes the first test as long as you like.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.fake_host import Chat, Machine
from tests.state import process_driver
from tests.state.process_driver import PROCESSES, SESSIONS
from tests.state.test_lock import HOLDING

REPOSITORY = Path(__file__).resolve().parents[2]
SECONDS = float(os.environ.get("PLAN_MODE_SOAK_SECONDS", "3"))
APART = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
"""What starts a program as the first of a pid namespace."""

LEFT = "Plan mode is off; nothing was approved.\nNext: go on as you like; /planmode on turns it on again."


def command(*arguments: str) -> list[str]:
    return [sys.executable, process_driver.__file__, *arguments]


def run(*arguments: str, before: tuple[str, ...] = ()) -> Any:
    """What the driver prints."""
    done = subprocess.run([*before, *command(*arguments)], env={"PYTHONPATH": str(REPOSITORY)}, text=True, capture_output=True,
                          timeout=60 + SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Seat:
    """A process at one seat, see process_driver.py."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert self.read() == "ready"

    def read(self) -> Any:
        assert self._process.stdout
        return json.loads(self._process.stdout.readline())

    def __call__(self, *words: str) -> Any:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        return self.read()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def seated(tmp_path: Path, kind: str, name: str, *, apart: bool = False) -> Iterator[Seat]:
    with subprocess.Popen([*(APART if apart else ()), *command("seat", str(tmp_path), kind, name)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": str(REPOSITORY)}) as process:
        try:
            yield Seat(process)
        finally:
            process.kill()


@pytest.fixture
def sit(tmp_path: Path) -> Iterator[Callable[..., Seat]]:
    """Start a process at a seat of that place; it ends with the test."""
    with ExitStack() as started:
        yield lambda kind, name, **more: started.enter_context(seated(tmp_path, kind, name, **more))


@pytest.fixture
def apart() -> None:
    """For tests that need pid namespaces."""
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare here, so no pid namespace can be made")
    tried = subprocess.run([*APART, "true"], capture_output=True, text=True, timeout=30, check=False)
    if tried.returncode != 0:
        pytest.skip(f"a pid namespace needs the right CAP_SYS_ADMIN: {tried.stderr.strip()}")


# -- at once

@pytest.mark.timeout(120 + SECONDS)
def test_many_sessions_are_switched_by_many_processes_at_once(tmp_path: Path) -> None:
    """All processes work on the same sessions: each ends as the last command that succeeded left it."""
    found = run("soak", str(tmp_path), str(SECONDS))
    print(json.dumps({"processes": PROCESSES, "seconds": SECONDS, **found}))
    assert (found["lost"], found["damaged"], found["unfinished"]) == ([], [], 0)
    assert found["swept"] == 0, "nobody was killed, so nothing is left behind"
    assert found["sessions"] <= SESSIONS
    assert found["records"] <= found["sessions"]
    assert found["commands"] > 10 * SECONDS
    assert all(reason.startswith("another process has held it for 1 s; nothing was changed") for reason in found["refused"])


# -- in pid namespaces of their own

@pytest.mark.usefixtures("apart")
def test_one_pid_in_two_namespaces(sit: Callable[..., Seat]) -> None:
    """Two containers on one home: neither is taken for the other, and what one holds outlasts what the other does."""
    first, second = sit("cli", "A", apart=True), sit("cli", "B", apart=True)
    (pid, namespace), (other_pid, other_namespace) = first("pid"), second("pid")
    assert (pid, other_pid) == (1, 1)
    assert namespace != other_namespace
    assert first("type", "/planmode on").startswith("Plan mode is on.")
    assert "PLAN MODE IS ON" in first("turn")
    assert not second("restricted")
    assert second("turn") == ""
    assert second("type", "/planmode off").startswith("No mode is active in this session")
    assert second("type", "/planmode on").startswith("Plan mode is on.")
    assert second("type", "/planmode off") == LEFT
    assert [first("restricted"), first("child")] == [True, True]


@pytest.mark.usefixtures("apart")
def test_a_conversation_that_a_process_in_another_namespace_holds(sit: Callable[..., Seat]) -> None:
    """Whether that one lives can't be told from here: it holds here as well, and is nobody's loss there."""
    first, second = sit("cli", "A", apart=True), sit("cli", "A", apart=True)
    first("type", "/planmode on")
    first("turn")
    assert second("restricted")
    assert "This conversation was resumed; its mode was restored." in second("turn")
    assert [first("restricted"), first("child")] == [True, True]
    second("resume", "B")
    assert second("turn") == ""
    assert not second("restricted")
    assert [first("restricted"), first("child")] == [True, True]
    second("resume", "A")
    second("turn")
    second("exit")
    assert [first("restricted"), first("child")] == [True, True]
    assert first("type", "/planmode off") == LEFT
    assert not first("restricted")


@pytest.mark.usefixtures("apart")
def test_a_container_that_was_killed_and_started_again(sit: Callable[..., Seat]) -> None:
    first = sit("cli", "A", apart=True)
    first("type", "/planmode on")
    first("turn")
    first.kill()
    again, outside = sit("cli", "A", apart=True), sit("cli", "B")
    assert not outside("restricted")
    assert again("restricted")
    assert "This conversation was resumed; its mode was restored." in again("turn")
    assert again("type", "/planmode off") == LEFT
    assert not again("restricted")


# -- a pid that was another's

@pytest.mark.usefixtures("apart")
def test_a_pid_that_was_another_process(tmp_path: Path) -> None:
    """What the first one held waits for its conversation; the second one is somebody else."""
    try:
        found = run("reuse", str(tmp_path), before=APART)
    except AssertionError as exc:
        if "ns_last_pid" in str(exc):
            pytest.skip("choosing the next pid needs the right CAP_CHECKPOINT_RESTORE")
        raise
    assert found["pid"] == 300
    assert found["elsewhere"] is False
    assert found["resumed"] is found["child"] is True
    assert "This conversation was resumed; its mode was restored." in found["said"]
    assert (found["off"], found["free"]) == (LEFT, True)
    assert "No mode is active any more; the plan was not approved." in found["told"]
    assert found["files"] == []


# -- behind a held lock

@pytest.fixture
def held(machine: Machine) -> Iterator[Chat]:
    """A chat that plans, and another process that holds the lock for as long as the test runs."""
    planning = machine.server().chat("agent:main:telegram:dm:1", "A")
    planning.type("/planmode on")
    planning.turn()
    with subprocess.Popen([sys.executable, "-c", HOLDING, str(machine.state / "sessions.lock")], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": str(REPOSITORY)}) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        yield planning
        holder.kill()


def timed(act: Callable[[], Any]) -> tuple[Any, float]:
    began = time.monotonic()
    found = act()
    return found, time.monotonic() - began


def test_a_held_lock_delays_no_call(held: Chat, machine: Machine) -> None:
    never = [machine.cli("N"), machine.server().tab("K", "T"), machine.server().chat("agent:main:telegram:dm:2", "O")]
    for seat in (held, *never):
        seat.asked("read_file", {"path": "/etc/hostname"})  # what is looked up once
    for tool, args in (("terminal", {"command": "true"}), ("read_file", {"path": "/etc/hostname"})):
        for seat in never:
            denied, seconds = timed(lambda seat=seat, tool=tool, args=args: seat.asked(tool, args))
            assert denied == ""
            assert seconds < 0.05
    for tool, expected in (("terminal", True), ("todo_list", False)):
        denied, seconds = timed(lambda tool=tool: held.asked(tool))
        assert bool(denied) is expected
        assert seconds < 0.05
    for seat in never:
        said, seconds = timed(seat.turn)
        assert said == ""
        assert seconds < 0.05
    said, seconds = timed(held.turn)
    assert said.startswith("[plan-mode] Plan mode is on")
    assert seconds < 0.05, "nothing is owed, so nothing is stored"


@pytest.mark.parametrize("line", ["/planmode on", "/planmode off", "/planmode approve", "/planmode reject x", "/mode code"])
def test_a_held_lock_refuses_a_command_after_a_second(held: Chat, machine: Machine, line: str) -> None:
    reply, seconds = timed(lambda: held.type(line))
    assert reply == (f"plan-mode can't use its state at {machine.state / 'sessions.lock'}: another process has held it for 1 s; "
                     "nothing was changed, try again.")
    assert 0.9 < seconds < 2
    assert held.restricted


def test_a_held_lock_delays_a_notice_by_a_second_at_most(held: Chat) -> None:
    held.resume("another conversation")
    said, seconds = timed(held.turn)
    assert said.startswith("[plan-mode] Plan mode is on")
    assert seconds < 2
    assert held.restricted
