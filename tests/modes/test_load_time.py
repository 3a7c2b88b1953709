"""What large mode files cost: they are read once, looked at cheaply from then on, and no call reads any of them.

Times are the process's own, so that a busy machine counts for little. Measured on two cores of 2026: 0.12 s for the first listing
of 1,300 kB of modes, 0.002 s for the ones after it where they are the home's, 0.003 s where they are a project's.
"""

from __future__ import annotations

import builtins
import io
import itertools
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from plan_mode.modes.registry import Registry
from tests.fake_host import Cli, Machine
from tests.fixtures import cli, machine

__all__ = ["cli", "machine"]

MODES = 186
_numbers = itertools.count()
PROSE = "You do \u2014 what\u2019s needed: read \u201cit\u201d, think (and write), then look again; nothing else matters here.\n"


def big_text() -> str:
    """About 1.3 MB of modes; no pattern of it was ever seen before."""
    number = next(_numbers)
    return "customModes:\n" + "\n".join(
        f"  - slug: mode-{n}\n    name: \"Mode {n}\"\n    roleDefinition: |\n{('      ' + PROSE) * 40}"
        f"    customInstructions: >-\n{('      ' + PROSE) * 20}    whenToUse: {PROSE.replace(': ', ' - ')}"
        f"    groups:\n      - read\n      - - edit\n        - fileRegex: ^src/{number}/{n}/.*\\.(js|ts|css)$\n"
        "          description: below src\n"
        for n in range(MODES))


class Place:
    """A home and a project of its own, and the registry of a process that has just begun."""

    def __init__(self, root: Path, where: str) -> None:
        self.home, self.project = root / "home", root / "project"
        (self.home / "modes").mkdir(parents=True)
        self.project.mkdir()
        self.file = self.home / "modes" / "a.yaml" if where == "home" else self.project / ".roomodes"
        self.file.write_text(big_text(), encoding="utf-8")
        home, trusted = str(self.home), str(root / "trusted")
        self.registry = Registry(lambda: home, lambda: trusted, lambda: None)

    def listed(self) -> float:
        """The seconds that a listing takes."""
        started = time.process_time()
        listing = self.registry.listing(str(self.project))
        taken = time.process_time() - started
        assert len(listing.modes) == MODES + 6
        assert listing.faults == ()
        return taken


@pytest.mark.parametrize(("where", "times"), [("home", 20), ("project", 10)])
def test_a_large_file_is_read_once(where: str, times: int, tmp_path: Path) -> None:
    """Of a project's modes each is looked at anew: whether it is trusted, and what of it counts."""
    first, later = [], []
    for number in range(3):
        place = Place(tmp_path / str(number), where)
        assert 1_250_000 < place.file.stat().st_size < 1_500_000
        first.append(place.listed())
        later += [place.listed() for _ in range(7)]
    assert min(first) < 1
    assert statistics.median(later) < statistics.median(first) / times


def test_another_file_is_read_again(tmp_path: Path) -> None:
    """One character more, and it is another file; the ones beside it aren't read again."""
    place = Place(tmp_path, "home")
    small = place.project / ".roomodes"
    small.write_text("customModes: []")
    place.listed()
    with opened() as paths:
        small.write_text("customModes:  []")
        paths.clear()
        place.listed()
    assert [path for path in paths if not path.endswith("trusted")] == [str(small)]


# -- calls

@contextmanager
def opened() -> Iterator[list[str]]:
    """The files that are opened while this lasts, whichever way."""
    paths: list[str] = []

    def noting(original: Any) -> Any:
        def note(path: Any, *args: Any, **kwargs: Any) -> Any:
            if not isinstance(path, int):
                paths.append(os.fsdecode(path))
            return original(path, *args, **kwargs)
        return note

    with pytest.MonkeyPatch.context() as patch:
        for module in (builtins, io, os):
            patch.setattr(module, "open", noting(module.open))
        yield paths


class Files:
    """The mode files of a machine, and a rule beside one of the modes."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        (machine.home / "modes").mkdir()
        (machine.home / "modes" / "a.yaml").write_text(big_text(), encoding="utf-8")
        (machine.work / ".roomodes").write_text("customModes: [{slug: theirs, name: T, roleDefinition: r, groups: [read]}]")
        (machine.home / "rules-mode-7").mkdir()
        (machine.home / "rules-mode-7" / "a.md").write_text("Be kind.")

    def among(self, paths: list[str]) -> list[str]:
        """Those that define modes, or say what a session was switched with."""
        return [path for path in paths if {"modes", "pins", "rules-mode-7", ".roomodes"} & set(Path(path).parts)]


@pytest.fixture
def files(machine: Machine) -> Files:
    return Files(machine)


def calls(cli: Cli) -> list[str]:
    work = cli.machine.work
    return [cli.asked(tool, args) for tool, args in (
        ("read_file", {"path": "x"}), ("terminal", {"command": "ls"}), ("nobody_knows_it", {}),
        ("write_file", {"path": str(work / "src" / "a.py"), "content": "x"}),
        ("patch", {"mode": "patch", "patch": f"*** Add File: {work}/a.js\n+x"}))]


def test_no_call_reads_a_mode_file(cli: Cli, files: Files) -> None:
    assert cli.type("/mode mode-7").startswith("Mode 7 mode is on.")
    cli.turn()
    with opened() as paths:
        answers = calls(cli)
    assert [answer.partition("[")[2].partition("]")[0] for answer in answers] == [
        "", "not-granted", "unknown-tool", "file-restriction", "file-restriction"]
    assert files.among(paths) == []
    with opened() as paths:
        cli.turn()
    assert [Path(path).name for path in files.among(paths)] in ([], ["a.md"])  # a turn may look whether the rules have changed


def test_a_resumed_session_reads_what_it_was_switched_with_once(cli: Cli, files: Files, machine: Machine) -> None:
    cli.type("/mode mode-7")
    cli.turn()
    cli.exit()
    again = machine.cli("A")
    again.turn()
    with opened() as paths:
        assert calls(again)[3].startswith("mode-7 mode [file-restriction]")
        assert calls(again)[0] == ""
    assert files.among(paths) == []


def test_no_call_of_a_default_mode_reads_a_mode_file(files: Files, machine: Machine) -> None:
    """A session of which nothing is stored yet: the first call looks for its mode."""
    machine.set(default_mode="mode-7")
    cli = machine.cli()
    with opened() as paths:
        assert calls(cli)[1].startswith("mode-7 mode [not-granted]")
    assert len([path for path in files.among(paths) if path.endswith("a.yaml")]) == 1
    with opened() as paths:
        assert calls(cli)[1].startswith("mode-7 mode [not-granted]")
    assert files.among(paths) == []
