"""Several files and folders in their places, or none of them: whatever fails, and whenever."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plan_mode.errors import Refusal
from plan_mode.modes.placing import Placed, place
from tests.fixtures import write_without_fsync


def tree(root: Path) -> dict[str, bytes | None]:
    """Everything below a folder: the bytes of files, None for folders."""
    return {str(path.relative_to(root)): path.read_bytes() if path.is_file() else None for path in sorted(root.rglob("*"))}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_without_fsync(monkeypatch)
    return filled(tmp_path / "root")


def filled(root: Path) -> Path:
    """A folder in which everything that may stand in a place does."""
    (root / "modes").mkdir(parents=True)
    (root / "modes" / "old.yaml").write_text("old")
    (root / "rules-old" / "deep").mkdir(parents=True)
    (root / "rules-old" / "deep" / "a.md").write_text("old rule")
    (root / "rules-old" / ".git").write_text("kept by nobody")
    (root / "rules-empty").mkdir()
    return root


def wanted(root: Path) -> list[Placed]:
    return [
        Placed(str(root / "rules-old"), {"b.md": "new rule", "x/y/z.md": "é\r\n"}),
        Placed(str(root / "modes" / "old.yaml"), "new\n"),
        Placed(str(root / "rules-empty"), {"c.md": "c"}), Placed(str(root / "rules-new"), {"d.md": "d"}),
        Placed(str(root / "fresh" / "er" / "new.yaml"), "é"), Placed(str(root / "modes" / "other.yaml"), ""),
    ]


AFTER = {
    "fresh": None, "fresh/er": None, "fresh/er/new.yaml": "é".encode(), "modes": None, "modes/old.yaml": b"new\n",
    "modes/other.yaml": b"", "rules-empty": None, "rules-empty/c.md": b"c", "rules-new": None, "rules-new/d.md": b"d",
    "rules-old": None,
    "rules-old/b.md": b"new rule", "rules-old/x": None, "rules-old/x/y": None, "rules-old/x/y/z.md": "é\r\n".encode(),
}


def test_all_of_them(root: Path) -> None:
    place(wanted(root))
    assert tree(root) == AFTER


def test_nothing_at_all(root: Path) -> None:
    before = tree(root)
    place([])
    assert tree(root) == before


def counting(monkeypatch: pytest.MonkeyPatch, name: str, fail: Callable[[int], bool], owner: Any = os) -> list[int]:
    """Make one function of the system fail where ``fail`` says so of the number of its call; the calls are counted."""
    real, calls = getattr(owner, name), [0]

    def call(*args: Any, **more: Any) -> Any:
        calls[0] += 1
        if fail(calls[0]):
            raise OSError(28, "No space left on device", str(args[0]))
        return real(*args, **more)
    monkeypatch.setattr(owner, name, call)
    return calls


def refusal_of(wanted: list[Placed]) -> Refusal | None:
    try:
        place(wanted)
    except Refusal as refusal:
        return refusal
    return None


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
@pytest.mark.parametrize("name", ["replace", "mkdir", "fsync"])
def test_each_step_may_fail(tmp_path: Path, name: str, links: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not links:
        counting(monkeypatch, "link", lambda call: True)
    refused = 0
    for fails_at in itertools.count(1):
        root = filled(tmp_path / str(fails_at))
        before = tree(root)
        with monkeypatch.context() as patch:
            write_without_fsync(patch)
            calls = counting(patch, name, lambda call, at=fails_at: call == at)  # type: ignore[misc]
            refusal = refusal_of(wanted(root))
        if refusal is None:
            assert tree(root) == AFTER  # a folder that is there already, or isn't synchronised
        else:
            refused += 1
            assert refusal.rule == "not-written"
            assert refusal.reason.startswith(f"Nothing was changed: {root}/")
            assert refusal.reason.endswith(" can't be written (No space left on device).")
            assert tree(root) == before
        if calls[0] < fails_at:
            break
    assert refused > 5


def test_the_first_write_may_fail(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tree(root)
    (root / "modes" / "old.yaml").chmod(0o600)
    with pytest.raises(Refusal) as refusal:
        place([Placed(str(root / "new.yaml"), "x"), Placed(str(root / "modes" / "old.yaml" / "x.yaml"), "x")])
    assert refusal.value.reason == f"Nothing was changed: {root}/modes/old.yaml/x.yaml can't be written (File exists)."
    assert refusal.value.hint == "Make room, or have the folder writable, and try again."
    assert tree(root) == before


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_whoever_breaks_it_off(root: Path, stop: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    before = tree(root)
    real, calls = os.replace, [0]

    def replace(source: str, target: str) -> None:
        calls[0] += 1
        if calls[0] == 4:
            raise stop
        real(source, target)
    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(stop):
        place(wanted(root))
    assert tree(root) == before


def test_what_cant_be_undone_is_said_and_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the third rename on none works: the folder can't come back to its place."""
    counting(monkeypatch, "replace", lambda call: call >= 3)
    with pytest.raises(Refusal) as refusal:
        place(wanted(root)[:2])
    [aside] = root.glob(".rules-old.*.old.tmp")
    assert (aside / "deep" / "a.md").read_text() == "old rule"
    assert refusal.value.rule == "not-undone"
    assert refusal.value.reason == (f"It was broken off, because {root}/modes/old.yaml can't be written (No space left on "
                                    "device), and not all of it could be undone.")
    assert f"What was {root}/rules-old is {aside} now: rename it." in refusal.value.hint
    assert (root / "modes" / "old.yaml").read_text() == "old"


def test_what_was_replaced_may_stay_behind_but_nothing_takes_it_for_rules(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rmtree(path: str) -> None:
        raise OSError("busy")
    monkeypatch.setattr(shutil, "rmtree", rmtree)
    place(wanted(root)[:1])
    assert [path.name for path in root.iterdir() if path.name.endswith(".tmp")] == [
        path.name for path in root.iterdir() if path.name.startswith(".rules-old.")]
    assert (root / "rules-old" / "b.md").read_text() == "new rule"


def test_a_replaced_file_is_never_missing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    real = os.replace

    def replace(source: str, target: str) -> None:
        seen.append((root / "modes" / "old.yaml").read_text())
        real(source, target)
        seen.append((root / "modes" / "old.yaml").read_text())
    monkeypatch.setattr(os, "replace", replace)
    place(wanted(root)[1:2])
    assert seen == ["old", "new\n"]
