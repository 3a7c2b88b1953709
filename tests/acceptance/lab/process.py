"""Run a program without a terminal: its output goes to a log, or line by line to who talks with it."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from .waiting import wait_until

T = TypeVar("T")


class Process:
    """A program and what it starts, from construction to ``close``.

    Everything it writes is added to ``log``. With ``talks`` its standard output isn't, but goes line
    by line to who calls ``listen``, and ``write`` sends lines to its standard input.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        log: Path,
        talks: bool = False,
    ) -> None:
        self.log = log
        self._writing = threading.Lock()
        with log.open("ab") as file:
            self._begins = file.tell()
            self._process = subprocess.Popen(
                arguments,
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.PIPE if talks else subprocess.DEVNULL,
                stdout=subprocess.PIPE if talks else file,
                stderr=file,
                start_new_session=True,
            )
        self._reader: threading.Thread | None = None

    def listen(self, on_line: Callable[[str], None]) -> None:
        """Hand each line of its standard output to that function, on a thread."""
        self._reader = threading.Thread(target=self._read, args=(on_line,), daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        return self._process.poll()

    @property
    def output(self) -> str:
        """What the log holds since this program was started: an earlier one may have had the same log."""
        return self.log.read_bytes()[self._begins :].decode("utf-8", "replace")

    def write(self, line: str) -> None:
        """Send one line; a program that is gone doesn't get it."""
        assert self._process.stdin
        with self._writing, suppress(BrokenPipeError):
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()

    def over(self) -> str:
        """Tell why nothing comes from the program any more, if so."""
        if self.exit_code is None or (self._reader and self._reader.is_alive()):
            return ""
        return f"exit code {self.exit_code}"

    def newest(self) -> str:
        return "\n".join(self.output.splitlines()[-60:])

    def wait_until(self, condition: Callable[[], T], seconds: float, what: str) -> T:
        """Poll until the condition is true and return its value.

        Raises TimedOut after that many seconds, or once the program is gone.
        """
        return wait_until(condition, seconds, what, over=self.over, screen=self.newest)

    def end_input(self, seconds: float = 30.0) -> int:
        """Close its standard input, which asks such a program to end; return the exit code."""
        assert self._process.stdin
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        return self._process.wait(seconds)

    def terminate(self, seconds: float = 20.0) -> int:
        """Ask the program to end; return the exit code."""
        self._process.terminate()
        return self._process.wait(seconds)

    def kill(self) -> int:
        """End the program and its process group at once, as a crash would; return the exit code."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        return self._process.wait(10)

    def close(self) -> None:
        """End the program, kindly at first, and whatever is left of its process group."""
        with suppress(subprocess.TimeoutExpired):
            if self.exit_code is None:
                self.terminate()
        self.kill()
        if self._reader:
            self._reader.join(5)
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                with suppress(BrokenPipeError):
                    stream.close()

    def _read(self, on_line: Callable[[str], None]) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            on_line(line.decode("utf-8", "replace"))
