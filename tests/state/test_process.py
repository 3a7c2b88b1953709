"""Who is this process, and does that other one still run? Asked of real processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from plan_mode.state import process
from plan_mode.state.process import ProcessId, current_process, is_alive

# Waits for its end; its name holds what separates the fields of /proc/<pid>/stat.
WAITING = "open('/proc/self/comm', 'w').write(') S 1 ('); print(flush=True); input()"


@pytest.fixture
def child() -> Iterator[subprocess.Popen[str]]:
    """Another process of this machine."""
    with subprocess.Popen([sys.executable, "-ISc", WAITING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout
        started.stdout.readline()
        yield started
        started.kill()


def identity(child: subprocess.Popen[str]) -> ProcessId:
    return process._identify.__wrapped__(child.pid)


def wait_for_the_end(child: subprocess.Popen[str]) -> None:
    """Until it has ended, and without taking its exit status: it stays a zombie."""
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)


def test_this_process() -> None:
    here = current_process()
    assert here.pid == os.getpid()
    assert here.start.isdecimal()
    assert here.boot
    assert here.namespace.startswith("pid:[")
    assert here.key == f"cli:{here.pid}:{here.start}:{here.boot}:{here.namespace}"
    assert current_process() is here
    assert is_alive(here) is True


def test_each_process_is_another(child: subprocess.Popen[str]) -> None:
    assert identity(child).key != current_process().key
    assert identity(child).start.isdecimal()


def test_a_process_that_runs(child: subprocess.Popen[str]) -> None:
    assert is_alive(identity(child)) is True


def test_a_killed_process(child: subprocess.Popen[str]) -> None:
    known = identity(child)
    child.kill()
    wait_for_the_end(child)
    assert is_alive(known) is False  # though its pid is still taken
    child.wait()
    assert is_alive(known) is False


@pytest.mark.parametrize(("changed", "alive"), [
    ({"start": "1"}, False),  # the pid is somebody else's now
    ({"boot": "another"}, False),
    ({"namespace": "pid:[1]"}, None),
    ({"start": ""}, None),  # a system without /proc: the pid alone proves nothing
    ({"boot": "another", "namespace": "pid:[1]"}, False),
])
def test_a_running_process_that_is_another(child: subprocess.Popen[str], changed: dict[str, str], alive: bool | None) -> None:
    assert is_alive(replace(identity(child), **changed)) is alive


def test_this_pid_in_another_life() -> None:
    assert is_alive(replace(current_process(), start="1")) is False


@pytest.mark.parametrize(("start", "alive"), [("same", True), ("1", False)])
def test_a_process_that_may_not_be_signalled(child: subprocess.Popen[str], start: str, alive: bool,
                                             monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int, signal: int) -> None:
        raise PermissionError
    known = identity(child)
    monkeypatch.setattr(os, "kill", refuse)
    assert is_alive(known if start == "same" else replace(known, start=start)) is alive


def test_where_other_processes_are_hidden(child: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch) -> None:
    known, here = identity(child), current_process()
    monkeypatch.setattr(process, "_read", lambda path: "")
    monkeypatch.setattr(process, "_identify", lambda pid: here)
    assert is_alive(known) is None


def test_a_system_that_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_read", lambda path: "")
    monkeypatch.setattr(process, "_namespace_of", lambda pid: "")
    assert process._identify.__wrapped__(7) == ProcessId(7, "", "", "")
