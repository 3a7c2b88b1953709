"""Patterns tried on the files of a project: what is odd about each, and what isn't."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plan_mode.modes import doctor
from plan_mode.modes.doctor import Files, files_of, tried
from plan_mode.modes.jsregex import translate

FILES = Files(("README.md", "docs/a.md", "docs/guide/b.md", "src/app.ts", "src/app.test.ts", "src/docs/c.md", "tests/test_a.py"),
              True)

NONE, LOOSE, STAR, BRACES, SLASHES = "none", "loose", "star", "braces", "slashes"
TOLD = {
    NONE: "it matches none of the 7 files of this project",
    LOOSE: "it isn't anchored: ",
    STAR: "/* means any number of slashes in a regular expression; any name is /[^/]*, and anything below is /.*",
    BRACES: "braces mean how often in a regular expression; one of several is (a|b)",
    SLASHES: "slashes around it belong to the pattern; leave them out, and the letters behind them",
}


def doubts(pattern: str) -> list[str]:
    found = tried(translate(pattern), FILES).doubts
    return [next(name for name, told in TOLD.items() if doubt.startswith(told)) for doubt in found]


@pytest.mark.parametrize(("pattern", "found"), [
    (r"\.md$", []), (r"^docs/", []), (r"^docs/.*\.md$", []), (r"(^|/)docs/", []), (r"(?:^|/)docs/", []), (r"^(docs|src)/", []),
    (r"^src/|\.md$", []), (r"(^docs/|\.md$)", []), (r"[^/]+\.md$", []), (r"^(.*/)?docs/", []), (r".*/docs/", []),
    (r"^.*docs/", []),
    (r"(?i)^DOCS/", []), (r"\bdocs/", []), (r"README", []), (r"^[^/]{1,12}\.md$", []), (r"\.(md|ts)$", []), (r"^docs\/", []),
    (r"^src/[^/*]+$", []), (r"^src/.*\{a,b\}|^src/", []), (r"^docs/(?:[a-z]+/)*", []),
    (r"nope", [NONE]), (r"^(?!.*(test|spec))\.(js|ts)$", [NONE]), (r"^wiki/", [NONE]),
    (r"docs/", [LOOSE]), (r"docs/.*\.md", [LOOSE]), (r"docs\/.*", [LOOSE]), (r"docs.*\.md$", [LOOSE]), (r"(?i)DOCS/", [LOOSE]),
    (r"^src/|docs/", [LOOSE]), (r"tests?/", [LOOSE]), (r"/docs/.", [LOOSE]), (r"\.roo/memory/.*", [NONE, LOOSE]),
    (r"wiki/.*\.rst", [NONE]),
    (r"^docs/*", [STAR]), (r"docs/*", [LOOSE, STAR]), (r"docs/*.md", [NONE, STAR]), (r"^docs\/*x|^docs", [STAR]),
    (r"^src/.*\.{ts,tsx}$", [NONE, BRACES]), (r"/\.md$/i", [NONE, SLASHES]), (r"/docs/", [LOOSE, SLASHES]),
])
def test_doubts(pattern: str, found: list[str]) -> None:
    assert doubts(pattern) == found


def test_what_is_told() -> None:
    trial = tried(translate("docs/"), FILES)
    assert (trial.tried, trial.matching, trial.example) == (7, 3, "docs/a.md")
    assert trial.doubts == (
        "it isn't anchored: other/docs/a.md and xdocs/a.md match as well; begin it with ^ for a folder at the top, with (^|/) "
        "for one at any depth",)


def test_nothing_there() -> None:
    trial = tried(translate("x"), Files((), True))
    assert (trial.tried, trial.matching, trial.example) == (0, 0, "")
    assert trial.doubts == ("it matches none of the 0 files of this project",)


def test_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "MOST_SECONDS", -1.0)
    trial = tried(translate("docs"), FILES)
    assert (trial.tried, trial.doubts) == (0, ("it matches none of the first 0 files of this project",))


def test_the_files_of_a_project(tmp_path: Path) -> None:
    for name in ("b.md", "a/c.md", ".github/x.yml", "a/b/d.md", ".git/config", "node_modules/x/y.js", ".venv/z.py",
                 ".mypy_cache/a",
                 "a/__pycache__/b.pyc", ".cache/x", "cache/y"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe")
    assert files_of(str(tmp_path)) == Files(("b.md", "pipe", ".github/x.yml", "a/c.md", "a/b/d.md", "cache/y"), True)


def test_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "MOST_FILES", 3)
    for name in "abcd":
        (tmp_path / name).write_text("")
    found = files_of(str(tmp_path))
    assert found == Files(("a", "b", "c"), False)
    assert tried(translate("x"), found).doubts == ("it matches none of the first 3 files of this project",)


def test_no_such_project(tmp_path: Path) -> None:
    assert files_of(str(tmp_path / "none")) == Files((), True)
