"""Where in a project does an untrusted path lie, as it is named and as it really is? On a real file system."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plan_mode.policy.containment import Inside, Outside, locate


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A project ``p`` with links of every kind; beside it, what mustn't be reached."""
    base = tmp_path.resolve()
    for folder in ("p/docs/deep", "p/src", "p/.github", "p-evil", "outside"):
        (base / folder).mkdir(parents=True)
    for file in ("p/docs/a.md", "p/src/x.py", "p/.github/ci.yml", "p/README.md", "outside/o.md"):
        (base / file).write_text("x")
    os.link(base / "p" / "src" / "x.py", base / "p" / "docs" / "twin.md")
    os.mkfifo(base / "p" / "pipe")
    for link, target in {
        "docs/to-src.md": "../src/x.py", "docs/out.md": base / "outside" / "o.md", "docs/out": base / "outside", "self": ".",
        "docs/loop": "loop", "src/docs": "../docs", "docs/new.md": "../src/new.py",
    }.items():
        (base / "p" / link).symlink_to(target)
    (base / "alias").symlink_to(base / "p")
    return base


def where(base: Path, path: str) -> Inside | Outside:
    return locate(path.replace("P", str(base / "p")).replace("B", str(base)), str(base / "p"))


@pytest.mark.parametrize(("path", "names", "exists"), [
    ("P/docs/a.md", ("docs/a.md", "docs/a.md"), True),
    ("P/docs/b.md", ("docs/b.md", "docs/b.md"), False),
    ("P/./docs//a.md", ("docs/a.md", "docs/a.md"), True),
    ("P/new/deep/b.md", ("new/deep/b.md", "new/deep/b.md"), False),
    ("P/.github/ci.yml", (".github/ci.yml", ".github/ci.yml"), True),
    # a link above the project is its user's affair
    ("B/alias/docs/a.md", ("docs/a.md", "docs/a.md"), True),
    # within it a rule sees both ends
    ("P/docs/to-src.md", ("docs/to-src.md", "src/x.py"), False),
    ("P/docs/new.md", ("docs/new.md", "src/new.py"), False),
    ("P/src/docs/a.md", ("src/docs/a.md", "docs/a.md"), True),
    ("P/self/docs/a.md", ("self/docs/a.md", "docs/a.md"), True),
    ("P/docs\\a.md", ("docs\\a.md", "docs\\a.md"), False),
])
def test_inside(base: Path, path: str, names: tuple[str, str], exists: bool) -> None:
    found = where(base, path)
    if path == "P/docs/to-src.md":  # its target has a second name
        assert found == Outside("hard-link", f"{str(base / 'p' / 'src' / 'x.py')!r} has a second name elsewhere (hard link)")
        return
    assert found == Inside(str(base / "p" / names[1]), exists, names)


@pytest.mark.parametrize(("path", "rule"), [
    ("docs/a.md", "not-absolute"),
    ("~/a.md", "not-absolute"),
    ("P/docs/../src/x.py", "dot-dot"),
    ("P/..", "dot-dot"),
    ("P", "outside-project"),
    ("P/", "outside-project"),
    ("P-evil/a.md", "outside-project"),
    ("B/outside/o.md", "outside-project"),
    ("P/docs/out.md", "outside-project"),
    ("P/docs/out/o.md", "outside-project"),
    ("P/docs/out/new.md", "outside-project"),
    ("/proc/self/cwd/a.md", "symlink"),
    ("P/docs", "not-a-file"),
    ("P/pipe", "not-a-file"),
    ("P/docs/twin.md", "hard-link"),
    ("P/docs/loop", "not-a-file"),
    ("P/a\x00.md", "unshowable-path"),
    ("P/a\n.md", "unshowable-path"),
    ("", "no-path"),
])
def test_outside(base: Path, path: str, rule: str) -> None:
    found = where(base, path)
    assert isinstance(found, Outside), found
    assert found.rule == rule or (path.endswith("loop") and found.rule == "unreadable-path")


@pytest.mark.parametrize("path", [None, 7, ["a"], b"/a", {"path": "x"}])
def test_what_is_no_text(base: Path, path: object) -> None:
    assert locate(path, str(base / "p")) == Outside("no-path", "the call names no file as text")


@pytest.mark.parametrize("root", ["", "relative"])
def test_without_a_project(base: Path, root: str) -> None:
    assert locate(str(base / "p" / "docs" / "a.md"), root) == Outside("no-project", "this session's project isn't known")


def test_a_project_at_the_root_of_the_file_system(base: Path) -> None:
    path = str(base / "p" / "docs" / "a.md")
    assert locate(path, "/") == Inside(path, True, (path[1:], path[1:]))
