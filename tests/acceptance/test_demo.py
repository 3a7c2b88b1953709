"""`make demo` plays on both hosts, and README.md shows what it prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.acceptance.lab import Host
from tests.acceptance.lab.hosts import REPOSITORY, VENVS_VARIABLE


@pytest.mark.long
def test_the_readme_shows_the_demo(host: Host) -> None:
    played = subprocess.run(
        [sys.executable, "-m", "demo", "--host", host.version, "--markdown"], cwd=REPOSITORY,
        env={**os.environ, VENVS_VARIABLE: str(host.venv.parent)}, capture_output=True, text=True, timeout=280, check=False)
    assert played.returncode == 0, played.stderr
    shown = re.findall(r"```text\n.*?```", (REPOSITORY / "README.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    assert played.stdout.strip() == shown.replace("Hermes 0.22:", f"Hermes {host.version}:")
