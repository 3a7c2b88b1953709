"""Two processes with eight threads each on one state folder, as `make soak` has them, for a few seconds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(sys.platform != "linux", reason="the soak needs Linux")
def test_many_threads_of_two_processes_for_a_while() -> None:
    done = subprocess.run([sys.executable, "-m", "bench.soak", "--quick"], cwd=REPOSITORY, env={}, text=True, capture_output=True,
                          timeout=100, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
