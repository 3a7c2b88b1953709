"""A mode's rules: which files are read, in which order, and what is said of those that aren't."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plan_mode.modes import rules
from plan_mode.modes.rules import Rule, Rules, read_rules


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home" / ".hermes"
    home.mkdir(parents=True)
    return home


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    return project


def write(path: Path, text: str = "rule\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def read(home: Path, project: Path | str, slug: str = "docs") -> Rules:
    return read_rules(slug, str(home), str(project))


def test_home_then_the_projects_folders_each_by_name(home: Path, project: Path) -> None:
    write(home / "rules-docs" / "b.md", "1")
    write(home / "rules-docs" / "a" / "z.txt", "0")
    write(project / ".roo" / "rules-docs" / "a.md", "3")
    write(project / ".hermes" / "rules-docs" / "a.md", "2")
    write(project / ".hermes" / "rules-other" / "a.md", "no")
    write(home / "rules" / "a.md", "no")
    assert read(home, project) == Rules((
        Rule("a/z.txt", "0", "home"), Rule("b.md", "1", "home"), Rule("a.md", "2", "project"), Rule("a.md", "3", "project")))
    assert read(home, "") == Rules((Rule("a/z.txt", "0", "home"), Rule("b.md", "1", "home")))


def test_nothing_there(home: Path, project: Path) -> None:
    assert read(home, project) == Rules()


def test_a_project_whose_hermes_folder_is_the_home(home: Path) -> None:
    write(home / "rules-docs" / "a.md", "1")
    write(home.parent / ".roo" / "rules-docs" / "a.md", "2")
    assert read(home, home.parent) == Rules((Rule("a.md", "1", "home"),))


@pytest.mark.parametrize("name", [".hidden.md", "x.tmp", "X.BAK", "a~", "cache.db", ".git/config", "y.log"])
def test_what_other_programs_leave_is_no_rule(home: Path, project: Path, name: str) -> None:
    write(home / "rules-docs" / name)
    assert read(home, project) == Rules()


@pytest.mark.parametrize("text", ["", "  \n\n"])
def test_an_empty_file_is_no_rule(home: Path, project: Path, text: str) -> None:
    write(home / "rules-docs" / "a.md", text)
    assert read(home, project) == Rules()


def test_a_link_within_the_folder_is_followed_and_one_that_leads_out_isnt(home: Path, project: Path, tmp_path: Path) -> None:
    folder = home / "rules-docs"
    write(folder / "a.md", "1")
    (folder / "b.md").symlink_to("a.md")
    (folder / "c.md").symlink_to(write(tmp_path / "secret"))
    (folder / "d.md").symlink_to("../config.yaml")
    found = read(home, project)
    assert [rule.name for rule in found.texts] == ["a.md", "b.md"]
    assert found.faults == tuple(f"{folder / name} leads out of its folder; it is left out." for name in ("c.md", "d.md"))


@pytest.mark.parametrize("parent", [".roo", ".hermes"])
def test_a_projects_folder_that_is_a_link_out_of_it_isnt_read(home: Path, project: Path, tmp_path: Path, parent: str) -> None:
    write(tmp_path / "elsewhere" / "a.md")
    (project / parent).mkdir()
    folder = project / parent / "rules-docs"
    folder.symlink_to(tmp_path / "elsewhere")
    assert read(home, project) == Rules((), (f"{folder} leads out of the project; it is left out.",))


def test_a_folder_of_the_home_may_be_a_link(home: Path, project: Path, tmp_path: Path) -> None:
    write(tmp_path / "dotfiles" / "a.md", "1")
    (home / "rules-docs").symlink_to(tmp_path / "dotfiles")
    assert read(home, project) == Rules((Rule("a.md", "1", "home"),))


def test_what_cant_be_read_is_said(home: Path, project: Path) -> None:
    folder = home / "rules-docs"
    folder.mkdir()
    (folder / "a.md").write_bytes(b"\xff\xfe")
    os.mkfifo(folder / "b.md")
    (folder / "c.md").symlink_to("c.md")
    write(folder / "d.md", "1")
    found = read(home, project)
    assert [rule.name for rule in found.texts] == ["d.md"]
    assert found.faults[0] == f"{folder / 'a.md'} can't be read (it isn't UTF-8 text); it is left out."
    assert found.faults[1] == f"{folder / 'b.md'} can't be read (it isn't a plain file); it is left out."
    assert len(found.faults) == 3


def test_what_is_too_long_is_cut(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MOST_OF_ONE", 4)
    monkeypatch.setattr(rules, "MOST_OF_ALL", 6)
    for name in "abc":
        write(home / "rules-docs" / name, "12345")
    found = read(home, project)
    assert [rule.text for rule in found.texts] == ["1234", "12"]
    assert len(found.faults) == 3
    assert found.faults[2] == (f"{home / 'rules-docs' / 'c'} and all rules after it are left out, because the 6 characters that "
                               "rules may have are used up. Shorten those before it.")
    assert found.faults[0] == (f"{home / 'rules-docs' / 'a'} is longer than what is left of 6 characters (4 a file); "
                               "its end is left out.")


def test_too_many_files(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MOST_FILES", 2)
    for name in "abcd":
        write(home / "rules-docs" / name, name)
    found = read(home, project)
    assert [rule.name for rule in found.texts] == ["a", "b"]
    assert found.faults == (f"{home / 'rules-docs'} holds more than 2 files; the rest is left out.",)


def test_nothing_is_read_for_which_there_is_no_room(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_so_far: list[tuple[str, int]] = []
    read_one = rules._read

    def counted(path: str, most: int) -> str:
        text = read_one(path, most)
        read_so_far.append((os.path.basename(path), len(text)))
        return text
    monkeypatch.setattr(rules, "_read", counted)
    for number in range(9):
        write(home / "rules-docs" / f"{number}.md", "é" * 1024 * 1024)
        write(project / ".roo" / "rules-docs" / f"{number}.md")
    found = read(home, project)
    assert read_so_far == [(f"{number}.md", 65537) for number in range(4)]
    assert [len(rule.text) for rule in found.texts] == [65536] * 4
    assert [fault.split(" ")[0] for fault in found.faults] == [str(home / "rules-docs" / f"{number}.md") for number in range(5)]


def test_blank_text_takes_up_room(home: Path, project: Path) -> None:
    for number in range(9):
        write(home / "rules-docs" / f"{number}.md", " " * 65536)
    found = read(home, project)
    assert (found.texts, len(found.faults)) == ((), 1)


def test_what_fits_exactly_is_all_read(home: Path, project: Path) -> None:
    for number in range(4):
        write(home / "rules-docs" / f"{number}.md", "é" * 65536)
    found = read(home, project)
    assert ([len(rule.text) for rule in found.texts], found.faults) == ([65536] * 4, ())


def test_the_line_ends_of_a_file_stay(home: Path, project: Path) -> None:
    (home / "rules-docs").mkdir()
    (home / "rules-docs" / "a.md").write_bytes(b"a\r\nb\rc\n")
    assert [rule.text for rule in read(home, project).texts] == ["a\r\nb\rc\n"]


def test_too_many_folders(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MOST_FOLDERS", 3)
    folder = home / "rules-docs"
    for name in ("a/x/1", "a/y/2", "b/3", "4"):
        write(folder / name, name)
    assert [rule.name for rule in read(home, project).texts] == ["4", "a/x/1", "b/3"]
    assert read(home, project).faults == (f"{folder} holds more than 3 folders; the rest is left out.",)
    write(folder / "c" / "5", "5")
    (folder / "a" / "y" / "2").unlink()
    (folder / "a" / "y").rmdir()
    assert [rule.name for rule in read(home, project).texts] == ["4", "b/3", "c/5"]
    (folder / "c" / "5").unlink()
    (folder / "c").rmdir()
    assert read(home, project).faults == ()
