"""Who is this process, and is that other one still alive?

A pid alone names nobody: it is reused, and means another process in another pid namespace.
"""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import Final

_ENDED: Final = ("Z", "X")  # states of a process that has ended and whose pid isn't free yet


@dataclass(frozen=True, slots=True)
class ProcessId:
    """One process on one boot in one pid namespace. Empty fields: the system doesn't tell."""

    pid: int
    start: str
    boot: str
    namespace: str

    @property
    def key(self) -> str:
        return f"cli:{self.pid}:{self.start}:{self.boot}:{self.namespace}"


def current_process() -> ProcessId:
    """This process; found once a pid, so a forked child is itself."""
    return _identify(os.getpid())


@functools.lru_cache(maxsize=4)
def _identify(pid: int) -> ProcessId:
    return ProcessId(pid, _start_of(pid), _read("/proc/sys/kernel/random/boot_id"), _namespace_of(pid))


def is_alive(process: ProcessId) -> bool | None:
    """Whether that very process still runs; None where it can't be told from here, as in another pid namespace.

    One that has ended and that its parent hasn't asked about yet doesn't run.
    """
    here = current_process()
    if process == here:
        return True
    if process.boot != here.boot:
        return False
    if process.namespace != here.namespace or os.name == "nt":
        return None  # on Windows, asking for a pid may end the process
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # somebody else's process has that pid; the start time tells whether it is the one
    start = _start_of(process.pid)
    return start == process.start if start and process.start else None


def _start_of(pid: int) -> str:
    """Start time in clock ticks since boot, as text; the fields after the last bracket, since names may hold some."""
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    if len(fields) < 20:
        return ""
    return "ended" if fields[0] in _ENDED else fields[19]


def _namespace_of(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return ""


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""
