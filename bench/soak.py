"""Several processes with several threads each on one state folder: `make soak`, or python -m bench.soak [--seconds N] [--quick].

Each process serves tabs and chats, and each of its threads works on sessions of its own: it switches modes, takes turns, calls
tools, writes and approves plans, compresses and begins anew, and after every step asks whether its session is in what it must be
in. The lock is one for all of them, so a command may be refused after a second of waiting; then nothing may have changed. In the
end a process that knows nothing of before must find every session as it was left, and nothing else in the folder.

Ends with 1 and says what was wrong, if anything was. Needs Linux, where the most memory of a process is told in kB.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import os
import random
import resource
import statistics
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from plan_mode import memory
from plan_mode.controller import Desk
from plan_mode.host import session
from plan_mode.state import store
from plan_mode.state.lock import WAIT
from tests.fake_host import PLAN_TEXT, Chat, Machine, Server, Tab
from tests.state.process_driver import check, stand_on, start

PROCESSES: Final = 2
THREADS: Final = 8
MOST_GROWTH: Final = 10.0
"""Megabytes that a process may grow by, from the end of its first third on."""

BUSY: Final = f"another process has held it for {WAIT:g} s; nothing was changed"
RESTRICTED: Final = ("plan", "ask", "architect")
MAY_FOLLOW: Final = ("architect", "code", "debug")
"""Modes that edit: an approved plan leads back to them."""


@dataclass(frozen=True)
class Load:
    """How much is done. ``sessions`` of each process; ``durable``: writes wait for the disk, as they do in use."""

    seconds: float
    sessions: int
    durable: bool = True


# -- seats of several threads

_bound: Final[ContextVar[session.Bound]] = ContextVar("soak_bound", default=session.NOTHING_BOUND)


class InItsContext:
    """A seat whose session is bound in the context of whichever thread acts, as real hosts do it."""

    bound: dict[str, str]

    @contextmanager
    def acting(self) -> Iterator[None]:
        token = _bound.set(session.NOTHING_BOUND._replace(**self.bound))
        try:
            yield
        finally:
            _bound.reset(token)


class SoakChat(InItsContext, Chat):
    def new(self, conversation: str, *, agent: bool = True) -> None:
        """``/new``, as a gateway dispatches it."""
        source = SimpleNamespace(platform=self.bound["platform"], user_id=self.bound["user"])
        sent = SimpleNamespace(text="/new", source=source, get_command=lambda: "new", get_command_args=lambda: "")
        key = self.bound["session_key"]
        self.fire("pre_gateway_dispatch", event=sent, gateway=SimpleNamespace(_session_key_for_source=lambda source: key))
        super().new(conversation, agent=agent)


class SoakTab(InItsContext, Tab):
    pass


Seat = SoakChat | SoakTab


def seat_of(server: Server, name: str, conversation: str) -> Seat:
    if name.startswith("chat"):
        return SoakChat(server, conversation, session_key=name, platform="telegram", user=f"user of {name}")
    return SoakTab(server, conversation, source="tui", tab_id=name)


class Log(logging.Handler):
    """What the plugin logs: that the lock was busy, by thread; anything else is wrong."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.busy: Counter[int] = Counter()
        self.wrong: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = self.format(record)
        if record.levelno < logging.ERROR and BUSY in text:
            self.busy[threading.get_ident()] += 1
        else:
            self.wrong.append(text)

    @property
    def of_this_thread(self) -> int:
        return self.busy[threading.get_ident()]


# -- sessions, and what they must be in

@dataclass
class Kept:
    """What is known of a session without asking the plugin.

    ``previous`` is the mode before plan mode; ``owes``: the model may still have to be told that a mode was left; ``stored``: the
    record knows the conversation it is in; ``turned``: conversations since the one of the last stored turn, that one included;
    ``continued``: its record knows other conversations as well; ``abandoned``: records that wait for one of those.
    """

    name: str
    conversation: str
    mode: str | None = None
    previous: str | None = None
    owes: bool = False
    stored: bool = False
    turned: list[str] = field(default_factory=list)
    continued: bool = False
    abandoned: int = 0
    steps: list[str] = field(default_factory=list)
    """The last ones."""

    @property
    def recorded(self) -> bool:
        return self.mode is not None or self.owes


class Step:
    """What one thread does to one session. Each method but ``check`` is one kind of step, and says whether it was refused."""

    def __init__(self, seat: Seat, kept: Kept, chance: random.Random, log: Log, numbers: Iterator[int]) -> None:
        self.seat, self.kept, self._chance, self._log, self._numbers = seat, kept, chance, log, numbers

    def check(self) -> bool:
        """Whether a call that isn't reading is denied by exactly what it must be denied by."""
        said = self.seat.asked("terminal", {"command": "true"})
        expected = f"{self.kept.mode} mode [not-granted]" if self.kept.mode in RESTRICTED else ""
        assert said.startswith(expected), f"must be in {self.kept.mode}: {said}"
        assert bool(said) == bool(expected), f"must be in {self.kept.mode}: {said}"
        return bool(said)

    def on(self) -> bool:
        reply, kept = self.seat.type("/planmode on"), self.kept
        if BUSY in reply:
            return True
        assert reply.startswith("Plan mode is on already" if kept.mode == "plan" else "Plan mode is on."), reply
        if kept.mode != "plan":
            self._begin("plan", kept.mode)
        return False

    def switch(self) -> bool:
        slug, kept = self._chance.choice(("ask", "architect", "code", "debug")), self.kept
        reply = self.seat.type(f"/mode {slug}")
        if BUSY in reply:
            return True
        if kept.mode == slug:
            assert reply.startswith("This session is already in"), reply
        else:
            assert reply.startswith(f"{slug.capitalize()} mode is on."), reply
            self._begin(slug, None)
        return False

    def _begin(self, mode: str, previous: str | None) -> None:
        kept = self.kept
        if not kept.recorded:
            kept.stored = kept.continued = False
        kept.mode, kept.previous, kept.owes = mode, previous, False

    def off(self) -> bool:
        reply, kept = self.seat.type(self._chance.choice(("/planmode off", "/mode off"))), self.kept
        if BUSY in reply:
            return True
        assert reply.startswith(f"{kept.mode.capitalize()} mode is off" if kept.mode else "No mode is active"), reply
        if kept.mode:
            kept.mode, kept.owes = None, True
        return False

    def turn(self) -> bool:
        kept, before = self.kept, self._log.of_this_thread
        said, busy = self.seat.turn(keep=False).lower(), self._log.of_this_thread > before
        if kept.mode:
            assert f"{kept.mode} mode is on" in said, f"must be told of {kept.mode}: {said}"
        else:
            assert "mode is on" not in said, said
            assert kept.owes or not said, said
        if not busy:
            kept.owes, kept.stored = False, kept.mode is not None
            self._forget_ancestors()
        return busy

    def _forget_ancestors(self) -> None:
        """The host may have removed what was compressed long ago."""
        machine, turned = self.seat.machine, self.kept.turned
        for conversation in turned[:-1]:
            machine.kin.pop(conversation, None)
            machine.used.discard(conversation)
        self.kept.turned = [self.kept.conversation]

    def rotate(self) -> bool:
        """A compression, which comes at the end of a turn."""
        kept = self.kept
        if kept.recorded and not kept.stored and self.turn():
            return True
        self._go(self._another(), ("compression", kept.conversation, False, time.time()))
        kept.continued = kept.recorded
        return False

    def _another(self) -> str:
        return f"{self.kept.name}, {next(self._numbers)}"

    def _go(self, conversation: str, kin: tuple[str, str, bool, float]) -> None:
        self.seat.machine.kin[conversation] = kin
        if isinstance(self.seat, SoakTab):
            self.seat.rotate(conversation)
        else:
            self.seat.resume(conversation)
        self.kept.conversation, self.kept.stored = conversation, False
        self.kept.turned.append(conversation)

    def reset(self) -> bool:
        """A chat begins anew. Its record is known by the conversation it was in, if a turn there could be stored."""
        kept, conversation, before = self.kept, self._another(), self._log.of_this_thread
        if isinstance(self.seat, SoakTab):
            return self.turn()
        self.seat.new(conversation)
        busy = self._log.of_this_thread > before
        if kept.stored and not busy:
            kept.abandoned += kept.continued
            kept.mode, kept.owes, kept.continued = None, False, False
        else:
            kept.continued = kept.recorded
        self._go(conversation, ("none", "", True, 0.0))
        return busy

    def read(self) -> bool:
        said = self.seat.asked("read_file", {"path": "/etc/hostname"})
        assert said == "", said
        return False

    def write(self) -> bool:
        """A plan file, which plan mode lets through and asking doesn't."""
        before = self._log.of_this_thread
        if self.kept.mode != "architect":
            self._write()
        return self._log.of_this_thread > before

    def _write(self) -> Path:
        path = self.seat.machine.plans / f"2026-01-01_120000-{self.kept.name.replace(' ', '-')}-{next(self._numbers)}.md"
        result = self.seat.call("write_file", {"path": str(path), "content": PLAN_TEXT})
        assert ("error" in result) == (self.kept.mode == "ask"), f"must be in {self.kept.mode}: {result}"
        return path

    def approve(self) -> bool:
        """With a plan that was written right before, even where that couldn't be stored."""
        kept = self.kept
        if kept.mode != "plan":
            reply = self.seat.type("/planmode approve")
            assert BUSY in reply or reply.startswith("This session isn't in plan mode"), reply
            return BUSY in reply
        path = self._write()
        reply = self.seat.type(f"/planmode approve {path.name}")
        if BUSY in reply:
            return True
        assert reply.startswith(f"Approved: {path}"), reply
        kept.mode = kept.previous if kept.previous in MAY_FOLLOW else None
        kept.previous, kept.owes = None, kept.mode is None
        return False


KINDS: Final[dict[str, tuple[Callable[[Step], bool], int]]] = {
    "on": (Step.on, 4), "switch": (Step.switch, 3), "off": (Step.off, 2), "approve": (Step.approve, 1),
    "turn": (Step.turn, 8), "rotate": (Step.rotate, 2), "reset": (Step.reset, 1),
    "read": (Step.read, 10), "write": (Step.write, 2),
}
"""How often each kind of step is taken."""


# -- one process

@dataclass
class Done:
    """How often something was done and refused, and the longest of it in milliseconds."""

    times: int = 0
    refused: int = 0
    slowest: float = 0.0

    def add(self, refused: bool, seconds: float) -> None:
        self.times += 1
        self.refused += refused
        self.slowest = max(self.slowest, seconds * 1000)


class Worker(threading.Thread):
    """One thread with its sessions, until the time is over or something is wrong."""

    def __init__(self, steps: list[Step], chance: random.Random, until: float) -> None:
        super().__init__()
        self._steps, self._chance, self._until = steps, chance, until
        self.done = {name: Done() for name in (*KINDS, "denied call", "other call")}
        self.wrong: list[str] = []

    def run(self) -> None:
        names, weights = list(KINDS), [weight for _, weight in KINDS.values()]
        while time.monotonic() < self._until:
            step, [name] = self._chance.choice(self._steps), self._chance.choices(names, weights)
            try:
                self._take(step, name)
            except Exception:  # noqa: BLE001 - whatever it is, it is what this script looks for
                self.wrong.append(f"{name} in {step.kept}:\n{traceback.format_exc()}")
                return

    def _take(self, step: Step, name: str) -> None:
        step.kept.steps = [*step.kept.steps[-11:], name]
        began = time.monotonic()
        refused = KINDS[name][0](step)
        between = time.monotonic()
        self.done[name].add(refused, between - began)
        kind = "denied call" if step.check() else "other call"
        self.done[kind].add(False, time.monotonic() - between)


def resident() -> float:
    """The most megabytes that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def open_files() -> int:
    return len(os.listdir("/dev/fd"))


def one_process(machine: Machine, number: int, load: Load) -> None:
    try:
        work(machine, number, load)
    except Exception:
        traceback.print_exc()  # nobody else tells, as the process ends here
        raise


def work(machine: Machine, number: int, load: Load) -> None:
    """What one process does; writes what became of it into a file."""
    log = Log()
    logger = logging.getLogger("plan_mode")
    logger.addHandler(log)
    logger.propagate = False
    server, numbers, files_before = Server(machine), itertools.count(), open_files()
    machine.plans.mkdir(parents=True, exist_ok=True)  # some write there before they plan
    until = time.monotonic() + load.seconds
    workers = []
    for thread in range(THREADS):
        chance = random.Random(number * THREADS + thread)
        names = [f"{('chat', 'tab')[each % 2]} {number}-{each}" for each in range(thread, load.sessions, THREADS)]
        steps = [Step(seat_of(server, name, name), Kept(name, name), chance, log, numbers) for name in names]
        workers.append(Worker(steps, chance, until))
    for worker in workers:
        worker.start()
    samples = sampled(until)
    for worker in workers:
        worker.join()
    kept = [step.kept for worker in workers for step in worker._steps]
    wrong = [*log.wrong, *(each for worker in workers for each in worker.wrong), *unbounded(workers[0]._steps[0].seat.desk)]
    if open_files() != files_before:
        wrong.append(f"{files_before} files were open before, and {open_files()} are now")
    if threading.active_count() != 1:
        wrong.append(f"threads are left: {threading.enumerate()}")
    Path(machine.root, f"report-{number}.json").write_text(json.dumps({
        "kept": [asdict(each) for each in kept], "kin": machine.kin, "samples": samples, "files": files_before, "wrong": wrong,
        "done": [{name: asdict(done) for name, done in worker.done.items()} for worker in workers]}))


def sampled(until: float) -> list[tuple[float, int]]:
    """Megabytes and open files, as long as the threads work."""
    samples, pause = [], max(0.05, (until - time.monotonic()) / 90)
    while time.monotonic() < until:
        time.sleep(pause)
        samples.append((resident(), open_files()))
    return samples


def unbounded(desk: Desk) -> list[str]:
    """What is remembered beyond its limit; threads that add at the same moment may each be one beyond it."""
    sizes = {each.name: (len(known), memory._MOST_REMEMBERED) for each in fields(memory.Memory)
             if isinstance(known := getattr(desk.memory, each.name), dict)}
    sizes["files of the store"] = (len(desk.store._files), store._MOST_CACHED)
    return [f"{name}: {size} are remembered, and {most} is the limit" for name, (size, most) in sizes.items()
            if size > most + THREADS]


# -- afterwards

@dataclass(frozen=True)
class Growth:
    """Of one process: megabytes after its first third and in the end; open files before it, and at most in its last third."""

    begin: float
    end: float
    files: tuple[int, int]

    @property
    def fault(self) -> str:
        if self.end - self.begin > MOST_GROWTH:
            return f"memory has grown from {self.begin:.1f} to {self.end:.1f} MB"
        if self.files[1] > self.files[0] + 3 * THREADS:
            return f"{self.files[0]} files were open before, and {self.files[1]} at once in the end"
        return ""


def growth_of(samples: list[tuple[float, int]], files_before: int) -> Growth:
    third = max(1, len(samples) // 3)
    sizes, few = [size for size, _ in samples], max(1, third // 6)
    return Growth(statistics.median(sizes[third:][:few] or sizes), statistics.median(sizes[-few:]),
                  (files_before, max(files for _, files in samples[-third:])))


def found_wrong(machine: Machine, kept: list[Kept]) -> list[str]:
    """What a process that knows nothing of before finds otherwise than it was left, and what is in the folder for no session."""
    server, chance, log = Server(machine), random.Random(0), Log()
    logging.getLogger("plan_mode").addHandler(log)
    wrong = []
    steps = [Step(seat_of(server, each.name, each.name), each, chance, log, itertools.count()) for each in kept]
    for step in steps:
        _sit(step)
        with step.seat.acting():
            record = step.seat.desk.judge.standing(step.seat.desk.where.place(step.seat.conversation)).record
        mode = record.mode if record else None
        if mode != step.kept.mode or step.seat.restricted != (step.kept.mode in RESTRICTED):
            wrong.append(f"{step.kept} is found in {mode}")
    wrong += folder_faults(machine, steps, "while sessions are in modes")
    for step in steps:
        if not wrong and step.kept.recorded:
            step.off()
            step.turn()
    return [*wrong, *folder_faults(machine, steps, "after all have left"), *log.wrong]


def _sit(step: Step) -> None:
    """Go to where the session was, by what its own process said last."""
    seat, conversation = step.seat, step.kept.conversation
    if isinstance(seat, SoakTab):
        seat.rotate(conversation)
    else:
        seat.resume(conversation)


def folder_faults(machine: Machine, steps: list[Step], when: str) -> list[str]:
    with Desk(None).store.writing() as writer:
        wrong = check(machine, writer)[1] if writer.folders else []
    records, warranted = len(machine.files("*.json")), sum(each.kept.recorded + each.kept.abandoned for each in steps)
    faults = [f"files without what belongs to them {when}: {', '.join(wrong[:5])}"] if wrong else []
    faults += [f"{records} records {when}, where {warranted} at most should be"] if records > warranted else []
    unfinished = [path.name for path in machine.state.rglob("*.tmp")]
    return faults + ([f"unfinished files {when}: {', '.join(unfinished[:5])}"] if unfinished else [])


def show(reports: list[dict[str, Any]], growths: list[Growth], seconds: float) -> None:
    print(f"{len(reports)} processes, {THREADS} threads each, {sum(len(report['kept']) for report in reports):,} sessions, "
          f"{seconds:g} s\n\n{'':14}{'times':>10}{'per second':>12}{'refused':>9}{'longest':>12}")
    total = Done()
    for name in reports[0]["done"][0]:
        each = [Done(**thread[name]) for report in reports for thread in report["done"]]
        times, refused = sum(done.times for done in each), sum(done.refused for done in each)
        total.times, total.refused = total.times + times, total.refused + refused
        print(f"{name:14}{times:10,}{times / seconds:12.1f}{refused:9,}{max(done.slowest for done in each):9.0f} ms")
    print(f"{'all':14}{total.times:10,}{total.times / seconds:12.1f}{total.refused:9,}")
    print()
    for growth in growths:
        print(f"memory {growth.begin:.1f} MB after a third, {growth.end:.1f} MB in the end ({growth.end - growth.begin:+.1f}, "
              f"at most {MOST_GROWTH:+g}); {growth.files[0]} open files before, at most {growth.files[1]} in the last third")


def soak(root: Path, load: Load) -> list[str]:
    """Run it; everything that was wrong."""
    machine = stand_on(str(root))
    session.bound = _bound.get
    session.serves_other_sessions = lambda: True
    if not load.durable:
        os.fsync = lambda fd: None
    children = [start(lambda number=number: one_process(machine, number, load)) for number in range(PROCESSES)]  # type: ignore[misc]
    ended = [os.waitpid(child, 0)[1] for child in children]
    if any(ended):
        return [f"a process ended with {status}" for status in ended if status]
    os.fsync = lambda fd: None  # nobody waits for what follows to last
    reports = [json.loads((root / f"report-{number}.json").read_text()) for number in range(PROCESSES)]
    growths = [growth_of(report["samples"], report["files"]) for report in reports]
    show(reports, growths, load.seconds)
    kept = []
    for report in reports:
        machine.kin |= report["kin"]
        kept += [Kept(**each) for each in report["kept"]]
    wrong = [each for report in reports for each in report["wrong"]]
    return [*wrong, *(growth.fault for growth in growths if growth.fault), *found_wrong(machine, kept)]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, help="how long (60)")
    parser.add_argument("--quick", action="store_true", help="5 seconds and few sessions, and no write waits for the disk")
    given = parser.parse_args(arguments)
    load = Load(5.0, 40, durable=False) if given.quick else Load(60.0, 500)
    if given.seconds:
        load = Load(given.seconds, load.sessions, load.durable)
    with tempfile.TemporaryDirectory(prefix="plan-mode-soak-") as folder:
        wrong = soak(Path(folder), load)
    for each in wrong[:20]:
        print(f"\nWRONG: {each}")
    print(f"\n{len(wrong)} things were wrong" if wrong else "\nevery session was in what it must be in")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
