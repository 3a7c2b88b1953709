"""What a call costs, in multiples of one look at a file that is taken right beside it: a guard against what grows unseen.

Nothing here is compared with a number of seconds, so a slow or busy machine counts for little: two things take turns, and of
several medians the best one counts. `make bench` tells real times, with a real host.
"""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from plan_mode.state.process import ProcessId
from plan_mode.state.record import SessionRecord, new_id
from tests.fake_host import PLAN_TEXT, Cli, Machine
from tests.fixtures import cli, machine
from tests.modes.test_load_time import big_text

__all__ = ["cli", "machine"]

ROUNDS = 5
CALLS = 100
MARGIN = 4
"""How many times as much as was measured, on two cores of 2026 with Python 3.11, is too much."""

SETTLED = 0.06
"""Seconds after which what is known of a file may be taken from the cache."""

Act = Callable[[], Any]


def ratio(act: Act, unit: Act, before_act: Act = lambda: None, before_unit: Act = lambda: None) -> float:
    """How many times as long as ``unit`` it takes to ``act``; what happens ``before`` isn't counted."""
    clock = time.perf_counter_ns
    time.sleep(SETTLED)
    gc.collect()
    found = []
    for _ in range(ROUNDS):
        times: tuple[list[int], list[int]] = ([], [])
        for _ in range(CALLS):
            for taken, before, run in ((times[0], before_act, act), (times[1], before_unit, unit)):
                before()
                began = clock()
                run()
                taken.append(clock() - began)
        found.append(statistics.median(times[0]) / statistics.median(times[1]))
    print(f"{min(found):.2f}")
    return min(found)


@pytest.fixture
def here(cli: Cli) -> Iterator[Cli]:
    """The CLI, as which this process acts all the time: nothing of the stand-in is measured."""
    with cli.acting():
        yield cli


def asking(cli: Cli, tool: str, expected: str, **arguments: str) -> Act:
    """The host's question whether that call may run."""
    gate, about = cli.context.hooks["pre_tool_call"][0], {"tool_name": tool, "args": arguments, "session_id": cli.conversation}
    answer = gate(**about)
    assert (answer["message"].partition("[")[2].partition("]")[0] if answer else "") == expected
    return lambda: gate(**about)


def looking(path: Path) -> Act:
    """The unit: one look at a file of this machine."""
    return lambda: os.stat(path)


def add_others(cli: Cli, count: int) -> None:
    """Sessions of other processes, in plan mode."""
    with cli.desk.store.writing(create=True) as writer:
        for number in range(count):
            process = ProcessId(5_000_000 + number, "1", "boot", "pid:[1]")
            key = writer.folder.hashed(process.key)
            record = SessionRecord(id=new_id(), mode="plan", activation=new_id(), since=1.0, holder=process, keys=(key,))
            writer.put_record(writer.folder, record)
            writer.put_key(writer.folder, key, record.id)


def going_to(machine: Machine) -> Act:
    """Let the plugin find everything in that machine's home."""
    home = str(machine.home)
    return lambda: os.environ.__setitem__("HERMES_HOME", home)


@pytest.fixture
def other(tmp_path: Path) -> Machine:
    """A second home on the same disk."""
    return Machine(tmp_path / "other")


# -- in multiples of one look

def test_who_never_used_it(here: Cli, machine: Machine) -> None:
    assert ratio(asking(here, "terminal", "", command="ls"), looking(machine.home)) < MARGIN * 5.4


def test_who_is_in_no_mode_while_another_is(here: Cli, machine: Machine) -> None:
    add_others(here, 1)
    assert ratio(asking(here, "terminal", "", command="ls"), looking(machine.home)) < MARGIN * 10.5


def test_a_session_that_plans(here: Cli, machine: Machine) -> None:
    here.type("/planmode on")
    here.turn()
    plan, unit = machine.plans / "2026-01-01_120000-plan.md", looking(machine.home)
    assert ratio(asking(here, "read_file", "", path=str(plan)), unit) < MARGIN * 17.5
    assert ratio(asking(here, "terminal", "not-granted", command="ls"), unit) < MARGIN * 20.3
    assert ratio(asking(here, "write_file", "", path=str(plan), content=PLAN_TEXT * 100), unit) < MARGIN * 46


# -- what others do

def test_a_thousand_sessions_cost_a_call_as_much_as_one(here: Cli, machine: Machine, other: Machine) -> None:
    few, many = going_to(machine), going_to(other)
    few()
    add_others(here, 1)
    many()
    add_others(here, 1_000)
    call = asking(here, "terminal", "", command="ls")
    assert ratio(call, call, many, few) < 2


def test_large_mode_files_cost_a_call_nothing(here: Cli, machine: Machine, other: Machine) -> None:
    """One session in two homes: in one of its own modes among 186, and in a built-in one where there are no others."""
    small, large = going_to(machine), going_to(other)
    (other.home / "modes").mkdir()
    (other.home / "modes" / "a.yaml").write_text(big_text(), encoding="utf-8")
    for go, slug in ((small, "ask"), (large, "mode-7")):
        go()
        assert " mode is on." in here.type(f"/mode {slug}")
        here.turn()
    for tool, expected in (("read_file", ""), ("terminal", "not-granted")):
        call = asking(here, tool, expected, path="x", command="ls")
        assert ratio(call, call, large, small) < 2
