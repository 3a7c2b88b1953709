"""Run a full-screen program in a pseudo-terminal, and look at its screen."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from .screen import Screen
from .waiting import wait_until

T = TypeVar("T")

_POLL = 0.05
# A session leader that opens a terminal gets it as its controlling one. Done by a shell, because
# code between fork and exec isn't safe in a process with threads.
_TAKE_TERMINAL = 'exec "$@" <>"$0" >&0 2>&1'


class Terminal:
    """A program and its terminal, from construction to ``close``."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        rows: int = 50,
        columns: int = 160,
    ) -> None:
        self._screen = Screen(rows, columns)
        self._lock = threading.Lock()
        self._changed = time.monotonic()
        self._closing = threading.Event()
        self._master, slave = pty.openpty()
        try:
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _TAKE_TERMINAL, os.ttyname(slave), *arguments],
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        finally:
            os.close(slave)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def lines(self) -> list[str]:
        """Everything shown so far, oldest first."""
        with self._lock:
            return self._screen.lines

    @property
    def modes(self) -> frozenset[str]:
        """The private terminal modes that are on, e.g. ``?2004`` (bracketed paste)."""
        with self._lock:
            return frozenset(self._screen.modes)

    @property
    def exit_code(self) -> int | None:
        return self._process.poll()

    def quiet(self, seconds: float) -> bool:
        """Tell whether nothing was written for that long."""
        with self._lock:
            return time.monotonic() - self._changed >= seconds

    def send(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def wait_until(self, condition: Callable[[], T], seconds: float, what: str) -> T:
        """Poll until the condition is true and return its value.

        Raises TimedOut after that many seconds, or once the program is gone.
        """
        return wait_until(condition, seconds, what, over=self._over, screen=self._newest)

    def _over(self) -> str:
        gone = self.exit_code is not None and (not self._reader.is_alive() or self.quiet(1.0))
        return f"exit code {self.exit_code}" if gone else ""

    def _newest(self) -> str:
        return "\n".join(self.lines[-60:])

    def wait_exit(self, seconds: float) -> int:
        """Wait for the end of the program and return its exit code."""
        self.wait_until(lambda: self.exit_code is not None, seconds, "end of the program")
        return self._process.returncode

    def kill(self) -> int:
        """End the program and its process group at once, as a crash would; return the exit code."""
        if self.exit_code is None:
            os.killpg(self.pid, signal.SIGKILL)
        return self._process.wait(10)

    def close(self) -> None:
        """Kill what still runs and let the terminal go."""
        self.kill()
        self._closing.set()
        self._reader.join(5)
        os.close(self._master)

    def _read(self) -> None:
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        while not self._closing.is_set():
            if not select.select([self._master], [], [], 0.2)[0]:
                continue
            try:
                data = os.read(self._master, 65536)
            except OSError:  # Linux says so while nobody has the terminal open: not yet, or no more
                if self.exit_code is not None:
                    return
                time.sleep(_POLL)
                continue
            if not data:
                return
            with self._lock:
                answer = self._screen.feed(decode(data))
                self._changed = time.monotonic()
            if answer:
                self.send(answer)
