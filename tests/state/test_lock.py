"""The lock: held against threads and processes alike, waited for with a bound, gone with its holder."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plan_mode.errors import LockTimeout, StateError
from plan_mode.state import lock
from plan_mode.state.lock import locked

REPOSITORY = Path(__file__).resolve().parents[2]

HOLDING = """
import sys
from plan_mode.state.lock import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    input()
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "sessions.lock")


@pytest.fixture
def holder(path: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock."""
    with subprocess.Popen([sys.executable, "-c", HOLDING, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env={"PYTHONPATH": str(REPOSITORY)}) as started:
        assert started.stdout
        assert started.stdout.readline() == "held\n"
        yield started
        started.kill()


def test_another_process_holds_it(path: str, holder: subprocess.Popen[str]) -> None:
    began = time.monotonic()
    with pytest.raises(LockTimeout) as caught, locked(path, 0.2):
        pytest.fail("the lock was given to two")
    assert 0.2 <= time.monotonic() - began < 5
    assert str(caught.value) == (
        f"plan-mode can't use its state at {path}: another process has held it for 0.2 s; nothing was changed, try again.")


def test_it_goes_with_a_process_that_is_killed(path: str, holder: subprocess.Popen[str]) -> None:
    holder.kill()
    holder.wait()
    with locked(path, 0.0):
        pass


def test_it_is_had_as_soon_as_it_is_free(path: str, holder: subprocess.Popen[str]) -> None:
    threading.Timer(0.1, holder.kill).start()
    with locked(path, 30):
        pass


def test_another_thread_waits(path: str) -> None:
    order = []

    def second() -> None:
        with locked(path, 30):
            order.append("second")

    with locked(path):
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.05)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_one_thread_twice_is_refused_in_time(path: str) -> None:
    with locked(path), pytest.raises(LockTimeout), locked(path, 0.05):
        pytest.fail("the lock was given twice")


def test_the_default_wait_is_bounded() -> None:
    assert lock.WAIT == 1.0


def test_given_back_after_an_error(path: str) -> None:
    with pytest.raises(ZeroDivisionError), locked(path):
        raise ZeroDivisionError
    with locked(path, 0.0):
        pass


def test_its_file_is_private_and_stays_open_no_longer(path: str) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with locked(path):
            assert os.stat(path).st_mode & 0o077 == 0
    with pytest.raises(LockTimeout), locked(path), locked(path, 0.0):
        pass
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("place", ["missing/sessions.lock", "folder", "file/sessions.lock"])
def test_a_file_that_cant_be_opened(place: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(StateError) as caught, locked(str(tmp_path / place)):
        pytest.fail("there is nothing to lock")
    assert not isinstance(caught.value, LockTimeout)
    assert caught.value.path == str(tmp_path / place)


def test_a_file_system_without_locks_is_told_at_once(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    monkeypatch.setattr(lock, "_try_lock", refuse)
    began = time.monotonic()
    with pytest.raises(StateError, match="No locks available") as caught, locked(path, 60):
        pytest.fail("nothing was locked")
    assert not isinstance(caught.value, LockTimeout)
    assert time.monotonic() - began < 30
