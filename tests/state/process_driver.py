"""Real processes on one home, for tests that need more than one.

``process_driver.py seat FOLDER KIND NAME`` is one person at one seat (``cli``: NAME is the conversation, ``chat``: the chat): it
does what the lines of its standard input say, ``["type", "/planmode on"]`` or any other word of ``WORDS``, and answers each
with a line of JSON. ``soak FOLDER SECONDS`` lets several processes type and turn in the same sessions at once, and prints what
became of that. ``reuse FOLDER`` gives one pid to two processes in turn; it must be the first of a pid namespace.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from plan_mode.controller import Desk
from plan_mode.errors import StateError
from plan_mode.host import lineage, profile
from plan_mode.state.expiry import sweep
from plan_mode.state.process import current_process
from plan_mode.state.record import SessionRecord
from tests.fake_host import Cli, Machine, Server

PROCESSES: Final = 4
SESSIONS: Final = 200
LINES: Final = ("/planmode on", "/planmode on x", "/planmode off", "/planmode reject y", "/mode code", "/mode ask", "/mode off")


def stand_on(folder: str) -> Machine:
    """Make this process stand on the machine that lies there; which other processes live is the system's to say."""
    machine = Machine(Path(folder))
    machine.used = {"A", "B"}
    os.environ |= {"HERMES_HOME": str(machine.home), "TERMINAL_CWD": str(machine.work), "HOME": str(machine.home.parent)}
    lineage.parentage = machine.parentage
    profile.own_profile = lambda manager: "default"  # type: ignore[assignment]
    return machine


# -- one seat

WORDS: Final[dict[str, Callable[..., Any]]] = {
    "type": lambda seat, line: seat.type(line),
    "turn": lambda seat: seat.turn(),
    "restricted": lambda seat: seat.restricted,
    "child": lambda seat: bool(seat.asked("terminal", conversation="child")),
    "resume": lambda seat, conversation: seat.resume(conversation),
    "exit": lambda seat: seat.exit(),
    "pid": lambda seat: [os.getpid(), current_process().namespace],
}


def sit(folder: str, kind: str, name: str) -> None:
    machine = stand_on(folder)
    seat = Cli(machine, name, current_process()) if kind == "cli" else Server(machine).chat(name, f"{name}'s conversation")
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        word, *rest = json.loads(line)
        print(json.dumps(WORDS[word](seat, *rest)), flush=True)


# -- many sessions in many processes

def soak(folder: str, seconds: float) -> None:
    machine = stand_on(folder)
    children = [start(lambda number=number: switch(machine, number, seconds)) for number in range(PROCESSES)]
    for child in children:
        _, status = os.waitpid(child, 0)
        if status:
            raise SystemExit(f"a process ended with {status}")
    logs = [json.loads(Path(folder, f"log-{number}.json").read_text()) for number in range(PROCESSES)]
    last: dict[str, tuple[int, str | None]] = {}
    for log in logs:
        for at, name, mode in log["stored"]:
            last[name] = max(last.get(name, (0, None)), (at, mode), key=lambda stored: stored[0])
    server = Server(machine)
    found = {name: mode_of(server, name) for name in last}
    with Desk(None).store.writing() as writer:
        before = len(files(machine))
        records = sweep(writer, 0.0)
        keys, damaged = check(machine, writer)
    print(json.dumps({
        "commands": sum(log["commands"] for log in logs), "turns": sum(log["turns"] for log in logs),
        "refused": dict(sum((Counter(log["refused"]) for log in logs), Counter())),
        "slowest": max(log["slowest"] for log in logs), "slowest_call": max(log["slowest_call"] for log in logs),
        "sessions": len(last), "lost": [name for name, (_, mode) in last.items() if found[name] != mode],
        "records": records, "swept": before - len(files(machine)), "keys": keys, "damaged": damaged,
        "unfinished": len(list(machine.files("*.tmp"))),
    }))


def files(machine: Machine) -> list[Path]:
    return [path for path in machine.files() if path.suffix in (".json", ".key", ".tmp")]


def start(act: Callable[[], None]) -> int:
    """A process that does this and ends; its pid."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        act()
        status = 0
    finally:
        sys.stderr.flush()
        os._exit(status)


def seat_of(server: Server, name: str) -> Cli:
    return server.tab(name, f"tab of {name} in {os.getpid()}") if name.startswith("tab") else server.chat(name, f"in {name}")


def mode_of(server: Server, name: str) -> str | None:
    """The mode that a process which knows nothing of before finds a session in."""
    seat = seat_of(server, name)
    with seat.acting():
        record = seat.desk.judge.standing(seat.desk.where.place(seat.conversation)).record
    return record.mode if record else None


def switch(machine: Machine, number: int, seconds: float) -> None:
    server, chance, stored, refused = Server(machine), random.Random(number), [], Counter[str]()
    names = [f"{kind} {each}" for kind in ("tab", "chat") for each in range(SESSIONS // 2)]
    note_what_is_stored(stored)
    commands = turns = 0
    slowest = slowest_call = 0.0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        NOW.clear()
        NOW.append(chance.choice(names))
        seat = seat_of(server, NOW[0])
        line = chance.choice([*LINES, ""])
        began = time.monotonic()
        if line:
            reply = seat.type(line)
            commands += 1
            if "can't use its state" in reply or "failed" in reply:
                refused[reply.partition(": ")[2]] += 1
        else:
            seat.turn(keep=False)
            turns += 1
        slowest = max(slowest, time.monotonic() - began)
        began = time.monotonic()
        seat.asked("terminal")
        slowest_call = max(slowest_call, time.monotonic() - began)
    Path(machine.root, f"log-{number}.json").write_text(json.dumps({
        "stored": stored, "commands": commands, "turns": turns, "refused": refused, "slowest": slowest,
        "slowest_call": slowest_call}))


NOW: Final[list[str]] = []


def note_what_is_stored(stored: list[Any]) -> None:
    """When which mode was stored, under the lock: the clock is the same for all processes of a system."""
    commit = Desk.commit

    def noting(desk: Desk, arrival: Any, owned: Any, record: SessionRecord, **more: Any) -> bool:
        lasting = commit(desk, arrival, owned, record, **more)
        stored.append((time.monotonic_ns(), NOW[0], record.mode))
        return lasting
    Desk.commit = noting  # type: ignore[method-assign]


def check(machine: Machine, writer: Any) -> tuple[int, list[str]]:
    """How many keys there are, and what is wrong in the folder: damage, keys without a record, records without a key."""
    wrong, pointed = [], set()
    [folder] = writer.folders
    keys = machine.files("*.key")
    for path in keys:
        record_id = writer.pointed_to(folder, path.stem)
        pointed.add(record_id)
        if record_id is None or not isinstance(writer.load(folder, record_id), SessionRecord):
            wrong.append(path.name)
    wrong += [path.name for path in machine.files("*.json") if path.stem not in pointed]
    return len(keys), wrong


# -- one pid, two processes

def reuse(folder: str) -> None:
    machine = stand_on(folder)
    Path("/proc/sys/kernel/ns_last_pid").write_text("299")  # raises where it may not be chosen

    def plan() -> None:
        cli = Cli(machine, "A", current_process())
        cli.type("/planmode on")
        cli.turn()
        os.kill(os.getpid(), signal.SIGKILL)

    def find() -> None:
        cli = Cli(machine, "B", current_process())
        row: dict[str, Any] = {"pid": os.getpid(), "elsewhere": cli.restricted}
        cli.resume("A")
        row |= {"resumed": cli.restricted, "said": cli.turn(), "child": bool(cli.asked("terminal", conversation="child"))}
        row |= {"off": cli.type("/planmode off"), "free": not cli.restricted, "told": cli.turn()}
        row["files"] = [path.name for path in machine.files()]
        print(json.dumps(row), flush=True)

    first = start(plan)
    os.waitpid(first, 0)
    time.sleep(0.05)  # start times are counted in hundredths of a second
    Path("/proc/sys/kernel/ns_last_pid").write_text("299")
    second = start(find)
    _, status = os.waitpid(second, 0)
    if status or (first, second) != (300, 300):
        raise SystemExit(f"pids {first} and {second}, status {status}")


def main(what: str, folder: str, *rest: str) -> None:
    os.fsync = lambda descriptor: None  # no plug is pulled
    {"seat": sit, "soak": lambda folder, seconds: soak(folder, float(seconds)), "reuse": reuse}[what](folder, *rest)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except StateError as exc:
        raise SystemExit(str(exc)) from exc
