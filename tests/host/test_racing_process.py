"""Another process exchanges the plan folder for a link while plan files are written: what goes elsewhere is noticed.

The figures of docs/security.md: `python tests/host/run.py tests/host/test_racing_process.py -m long -s`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.host.kit import Hermes

#: Exchanges, holds for a moment of changing length, and puts back; says so before it begins.
RACER = """
import itertools, os, sys, time
plans, kept, elsewhere = sys.argv[1:]
print("racing", flush=True)
for turn in itertools.count():
    os.rename(plans, kept)
    os.symlink(elsewhere, plans)
    time.sleep(turn % 13 * 0.0007)
    os.unlink(plans)
    os.rename(kept, plans)
    time.sleep(turn % 7 * 0.0011)
"""

WRITES = 40


@contextmanager
def racing(cli: Hermes, elsewhere: Path) -> Iterator[None]:
    arguments = [str(cli.plans), str(cli.plans.with_name("kept")), str(elsewhere)]
    racer = subprocess.Popen([sys.executable, "-c", RACER, *arguments], stdout=subprocess.PIPE)
    try:
        assert racer.stdout is not None
        assert racer.stdout.readline() == b"racing\n"
        yield
    finally:
        racer.kill()
        racer.communicate()


def race(cli: Hermes, call: Callable[[int], tuple[str, dict[str, Any]]], writes: int) -> dict[str, int]:
    """How many of so many edits were written, refused, went elsewhere, and were noticed."""
    elsewhere = cli.root / "elsewhere"
    elsewhere.mkdir()
    cli.type("/planmode on")
    counts = dict.fromkeys(("written", "refused", "elsewhere", "noticed", "unnoticed"), 0)
    with racing(cli, elsewhere):
        for number in range(writes):
            outcome = cli.call(*call(number), "loop")
            gone = [each for each in elsewhere.iterdir() if each.suffix == ".md"]
            for each in elsewhere.iterdir():
                each.unlink()
            counts["elsewhere"] += bool(gone)
            counts["noticed" if outcome.rule == "lockdown" else "refused" if outcome.error else "written"] += 1
            counts["unnoticed"] += bool(gone) and not outcome.error
            if outcome.rule == "lockdown":
                cli.type("/planmode on")
    return counts


@pytest.mark.long
def test_a_write_that_goes_elsewhere_is_noticed(hermes: Callable[..., Hermes]) -> None:
    cli = hermes()
    found = race(cli, lambda number: ("write_file", {"path": str(cli.plans / f"p{number}.md"), "content": "x\n"}), WRITES)
    print(f"\n{WRITES} writes beside a racing process: {found}")
    assert found["unnoticed"] == 0
