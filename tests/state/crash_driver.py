"""Something happens to a session, and the machine fails in the middle of it.

As a script, ``crash_driver.py FOLDER`` does each action in one real process after another, and has each end itself with SIGKILL
in place of its N-th call that changes something on disk. Prints, as JSON, what the next process finds.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plan_mode.host import lineage
from plan_mode.state.kin import look
from plan_mode.state.process import current_process
from plan_mode.state.record import SessionRecord
from tests.fake_host import Cli, Machine

TASK = "build it"
BRANCH = ("branch", "A", False, 2e12)


def nothing(cli: Cli) -> None:
    cli.turn()


def planning(cli: Cli) -> None:
    cli.turn()
    cli.type("/planmode on")
    cli.turn()
    cli.write_plan()


def approved(cli: Cli) -> None:
    planning(cli)
    cli.type("/planmode approve")


def branched(cli: Cli) -> None:
    planning(cli)
    cli.machine.kin["B"] = BRANCH
    cli.resume("B")


def resumed(cli: Cli) -> None:
    """A process that ended has left a plan, and this one is to take it up."""
    other = cli.machine.cli("A")
    planning(other)
    other.exit()


def typed(line: str) -> Callable[[Cli], str]:
    return lambda cli: cli.type(line)


# What happens: before, then the action that a fault hits.
ACTIONS: dict[str, tuple[Callable[[Cli], None], Callable[[Cli], Any]]] = {
    "on": (nothing, typed(f"/planmode on {TASK}")),
    "approve": (planning, typed("/planmode approve")),
    "reject": (planning, typed("/planmode reject not like this")),
    "off": (planning, typed("/planmode off")),
    "park": (planning, lambda cli: cli.exit()),
    "take": (approved, lambda cli: cli.turn()),
    "write": (planning, lambda cli: str(cli.write_plan("second.md"))),
    "restore": (resumed, lambda cli: cli.turn()),
    "branch": (branched, lambda cli: cli.turn()),
}


class Faults:
    """Counts the calls that change something on disk, and spoils the one with the number ``at``.

    ``kind`` "kill" ends the process by SIGKILL; "full-once" lets the call fail as on a full disk; "full" that and all later ones,
    but for ``unlink``, which works on a full disk.
    """

    CALLS = ("open", "write", "fsync", "replace", "unlink", "mkdir")

    def __init__(self, kind: str, at: int) -> None:
        self.kind, self.at, self.count = kind, at, 0
        self.real: dict[str, Callable[..., Any]] = {name: getattr(os, name) for name in self.CALLS}

    def __enter__(self) -> Faults:
        for name in self.CALLS:
            setattr(os, name, self.spoiled(name))
        return self

    def __exit__(self, *_: object) -> None:
        for name, real in self.real.items():
            setattr(os, name, real)

    def spoiled(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            changes = name != "open" or (args[1] & os.O_CREAT and not os.path.exists(args[0]))
            if changes and (name != "unlink" or self.kind == "kill"):
                self.count += 1
                if self.count == self.at or (self.count > self.at and self.kind == "full"):
                    self.spoil(name, *args)
            return self.real[name](*args, **kwargs)
        return call

    def spoil(self, name: str, *args: Any) -> None:
        if name == "write":
            self.real["write"](args[0], args[1][: len(args[1]) // 2])
        if self.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def told_by(machine: Machine, action: str) -> Cli:
    """Another process in the conversation of that action, for which the host's session store tells the same."""
    if action == "branch":
        machine.kin["B"] = BRANCH
    return Cli(machine, "B" if action == "branch" else "A", current_process())


def found_by(cli: Cli) -> list[list[Any]]:
    """Mode, task, feedback, whether an approval is owed, and number of plans, for every record that speaks for a CLI."""
    with cli.acting():
        found = look(cli.desk.store, cli.desk.where.here("", "").place)
    return [[each.mode, each.owed.task, each.owed.feedback, bool(each.owed.approved), len(each.plans)]
            if isinstance(each, SessionRecord) else [each.reason] for each in found]


def killed(machine: Machine, action: str, at: int) -> bool:
    """Do the action in a process of its own; whether that was killed."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            before, act = ACTIONS[action]
            cli = Cli(machine, "A", current_process())
            before(cli)
            with Faults("kill", at):
                act(cli)
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if status not in (0, signal.SIGKILL):
        raise SystemExit(f"{action} {at}: the process ended with {status}")
    return status != 0


def survive(machine: Machine, action: str) -> dict[str, Any]:
    """What this process finds in the conversation, and whether its person can leave."""
    cli = told_by(machine, action)
    row: dict[str, Any] = {"found": found_by(cli), "restricted": cli.restricted, "said": cli.turn(), "resumed": cli.restricted}
    cli.type("/planmode off")
    row["free"] = not cli.restricted and not cli.asked("terminal", conversation="child")
    cli.turn()
    cli.resume("C")
    cli.type("/planmode on")  # sweeps
    cli.type("/planmode off")
    row["files"] = [path.suffix for path in machine.files()]
    cli.exit()
    return row


def main(folder: str) -> None:
    os.fsync = lambda descriptor: None  # what a process wrote outlives it anyway; only a power cut asks for more
    rows: list[dict[str, Any]] = []
    for action in ACTIONS:
        at, was_killed = 0, True
        while was_killed:
            at += 1
            machine = Machine(Path(folder) / f"{action}-{at}")
            machine.used = {"A", "B"}
            os.environ |= {"HERMES_HOME": str(machine.home), "TERMINAL_CWD": str(machine.work), "HOME": str(machine.home.parent)}
            lineage.parentage = machine.parentage
            was_killed = killed(machine, action, at)
            rows.append({"action": action, "at": at, "killed": was_killed, **survive(machine, action)})
    json.dump(rows, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
