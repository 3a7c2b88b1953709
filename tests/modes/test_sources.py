"""Where mode files lie, in which order they count, and what is read of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from plan_mode.modes import sources
from plan_mode.modes.sources import is_home_of, read_text, sources_of


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home" / ".hermes"
    (home / "modes").mkdir(parents=True)
    return home


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / ".hermes" / "modes").mkdir(parents=True)
    return project


def found(home: Path, project: Path | str) -> list[tuple[str, str]]:
    return [(os.path.relpath(source.path, home.parent.parent), source.scope) for source in sources_of(str(home), str(project))]


def test_the_weakest_first(home: Path, project: Path) -> None:
    for path in (home / "modes" / "b.yaml", home / "modes" / "a.yml", project / ".roomodes", project / ".hermes-modes.yaml",
                 project / ".hermes" / "modes" / "z.yaml", project / ".hermes" / "modes" / "c.json"):
        path.write_text("x")
    assert found(home, project) == [
        ("home/.hermes/modes/a.yml", "home"), ("home/.hermes/modes/b.yaml", "home"), ("project/.roomodes", "project"),
        ("project/.hermes-modes.yaml", "project"), ("project/.hermes/modes/c.json", "project"),
        ("project/.hermes/modes/z.yaml", "project")]
    assert found(home, "") == [("home/.hermes/modes/a.yml", "home"), ("home/.hermes/modes/b.yaml", "home")]


@pytest.mark.parametrize("name", [".roomodes", ".hermes-modes.yaml", ".hermes/modes/a.yaml"])
def test_a_projects_file_that_is_a_link_out_of_it_is_stray(home: Path, project: Path, tmp_path: Path, name: str) -> None:
    (project / name).symlink_to(tmp_path / "secret")
    assert sources_of(str(home), str(project)) == ()
    (tmp_path / "secret").write_text("x")
    assert [(source.path, source.stray) for source in sources_of(str(home), str(project))] == [(str(project / name), True)]
    (project / name).unlink()
    (project / name).symlink_to(project / "mine")
    (project / "mine").write_text("x")
    assert [source.stray for source in sources_of(str(home), str(project))] == [False]


@pytest.mark.parametrize("folder", [".hermes", ".hermes/modes"])
def test_files_in_a_folder_that_is_a_link_out_of_the_project_are_stray(
    home: Path, project: Path, tmp_path: Path, folder: str,
) -> None:
    """A folder whose name only begins like the project's is outside of it."""
    (project / ".hermes" / "modes" / "a.yaml").write_text("x")
    (project / ".roomodes").write_text("x")
    (project / folder).rename(tmp_path / "project-b")
    (project / folder).symlink_to(tmp_path / "project-b")
    assert [(source.path, source.stray) for source in sources_of(str(home), str(project))] == [
        (str(project / ".roomodes"), False), (str(project / ".hermes" / "modes" / "a.yaml"), True)]


def test_a_file_of_the_home_may_be_a_link_and_so_may_the_project(home: Path, project: Path, tmp_path: Path) -> None:
    (tmp_path / "dotfile").write_text("x")
    (home / "modes" / "a.yaml").symlink_to(tmp_path / "dotfile")
    (project / ".roomodes").write_text("x")
    (tmp_path / "link").symlink_to(project)
    assert [source.stray for source in sources_of(str(home), str(tmp_path / "link"))] == [False, False]


def test_below_the_root_lies_everything() -> None:
    assert sources.is_below("/etc", "/")
    assert not sources.is_below("/etc", "/etc")


@pytest.mark.parametrize("name", [".hidden.yaml", "notes.txt", "a.yaml~", "a.yaml.bak", "yaml"])
def test_other_files_of_a_folder_are_none(home: Path, project: Path, name: str) -> None:
    (home / "modes" / name).write_text("x")
    assert found(home, project) == []


def test_nothing_there(tmp_path: Path) -> None:
    assert sources_of(str(tmp_path / "none"), str(tmp_path / "neither")) == ()


def test_a_project_whose_hermes_folder_is_the_home_has_no_files_of_its_own(home: Path) -> None:
    (home.parent / ".roomodes").write_text("x")
    (home / "modes" / "a.yaml").write_text("x")
    assert is_home_of(str(home), str(home.parent))
    assert [scope for _, scope in found(home, home.parent)] == ["home"]


def test_a_folder_of_many_files_is_bounded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MOST_FILES", 3)
    for number in range(5):
        (home / "modes" / f"{number}.yaml").write_text("x")
    assert [Path(source.path).name for source in sources_of(str(home), "")] == ["0.yaml", "1.yaml", "2.yaml"]


def test_what_identifies_a_file_changes_with_it(home: Path) -> None:
    path = home / "modes" / "a.yaml"
    path.write_text("x")
    [before] = sources_of(str(home), "")
    assert sources_of(str(home), "") == (before,)
    path.write_text("y" * 2)
    [after] = sources_of(str(home), "")
    assert after.seen != before.seen


def test_reading(home: Path) -> None:
    path = home / "modes" / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: \xff\r\n")
    [source] = sources_of(str(home), "")
    assert read_text(source.path) == "\ufeffa: \ufffd\r\n"


def test_reading_is_bounded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MOST_BYTES", 10)
    (home / "modes" / "a.yaml").write_text("x" * 100)
    [source] = sources_of(str(home), "")
    assert len(read_text(source.path)) == 11


@pytest.mark.parametrize(("make", "why"), [(os.mkfifo, "it isn't a plain file"), (os.mkdir, "Is a directory")])
def test_reading_what_is_no_file(home: Path, make: Callable[[Path], None], why: str) -> None:
    make(home / "modes" / "a.yaml")
    [source] = sources_of(str(home), "")
    with pytest.raises(OSError, match=why):
        read_text(source.path)


def test_reading_what_has_gone(home: Path) -> None:
    path = home / "modes" / "a.yaml"
    path.write_text("x")
    [source] = sources_of(str(home), "")
    path.unlink()
    with pytest.raises(FileNotFoundError):
        read_text(source.path)
