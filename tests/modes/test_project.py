"""Which folder is the project? On real folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plan_mode.modes import project
from plan_mode.modes.project import project_root


@pytest.fixture
def base(tmp_path: Path) -> Path:
    base = tmp_path.resolve()
    for folder in ("repo/.git", "repo/src/deep", "repo/sub/.git/x", "worktree/src", "plain/a"):
        (base / folder).mkdir(parents=True)
    (base / "worktree" / ".git").write_text("gitdir: elsewhere\n")
    (base / "link").symlink_to(base / "repo" / "src")
    return base


@pytest.mark.parametrize(("cwd", "root"), [
    ("repo", "repo"), ("repo/src/deep", "repo"), ("repo/sub", "repo/sub"), ("worktree/src", "worktree"), ("worktree", "worktree"),
    ("plain/a", "plain/a"), ("link", "repo"), ("repo/.git", "repo"),
])
def test_the_nearest_repository_else_the_folder_itself(base: Path, cwd: str, root: str) -> None:
    assert project_root(str(base / cwd)) == str(base / root)


@pytest.mark.parametrize("cwd", ["", "gone", "worktree/.git"])
def test_what_is_no_folder_has_no_project(base: Path, cwd: str) -> None:
    assert project_root(str(base / cwd) if cwd else "") == ""


def test_somebody_elses_repository_is_none(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 12_345)
    assert project_root(str(base / "repo" / "src")) == str(base / "repo" / "src")


def test_a_mark_of_somebody_else_in_a_folder_of_mine(base: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root may give a file away")
    os.chown(base / "repo" / ".git", 12_345, -1)
    assert project_root(str(base / "repo" / "src")) == str(base / "repo" / "src")


def test_the_way_up_is_bounded(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "MOST_STEPS", 2)
    assert project_root(str(base / "repo" / "src" / "deep")) == str(base / "repo" / "src" / "deep")
