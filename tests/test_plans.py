"""The plan directory and the files in it: what is made, what is refused, and in which words."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from plan_mode.errors import Refusal
from plan_mode.plans import MOST_BYTES, PlanText, digest_of, directory_fault, fix_plan_directory, plan_name, read_plan
from plan_mode.policy.containment import MOST_NAMES

ELSEWHERE = "Remove it, or set terminal.cwd in config.yaml to another folder and start Hermes again."
ANOTHER_FOLDER = "Set terminal.cwd in config.yaml to another folder and start Hermes again."

DEEP = "/".join("x" * MOST_NAMES)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path.resolve() / "work"
    work.mkdir()
    return work


def refusal(work: Path, act: Callable[[], object]) -> tuple[str, str]:
    """The rule and the whole text of a refusal, in which ``W`` stands for the workspace."""
    with pytest.raises(Refusal) as refused:
        act()
    return refused.value.rule, str(refused.value).replace(str(work), "W")


# -- the directory

def test_the_directory_is_made_once_and_found_again(work: Path) -> None:
    root = fix_plan_directory(str(work))
    assert root == str(work / ".hermes" / "plans")
    assert os.path.isdir(root)
    (work / ".hermes" / "plans" / "a.md").write_text("kept")
    assert fix_plan_directory(str(work)) == root
    assert (work / ".hermes" / "plans" / "a.md").read_text() == "kept"
    assert directory_fault(root) == ""


@pytest.mark.parametrize("name", ["with blanks", "mit Ümlaut", "日本語", "quo'te", ".dotted", "x" * 200])
def test_the_workspace_may_be_named_as_it_likes(work: Path, name: str) -> None:
    (work / name).mkdir()
    assert fix_plan_directory(str(work / name)) == str(work / name / ".hermes" / "plans")


def test_a_workspace_behind_a_link_is_known_by_its_real_path(work: Path) -> None:
    (work / "real").mkdir()
    (work / "link").symlink_to("real")
    assert fix_plan_directory(str(work / "link")) == str(work / "real" / ".hermes" / "plans")


def test_a_linked_worktree_has_plans_of_its_own(work: Path) -> None:
    (work / "tree").mkdir()
    (work / "tree" / ".git").write_text("gitdir: ../main/.git/worktrees/tree\n")
    assert fix_plan_directory(str(work / "tree")) == str(work / "tree" / ".hermes" / "plans")


@pytest.mark.parametrize("cwd", ["", "W/nowhere", "W/file", "W/\0"])
def test_without_a_workspace(work: Path, cwd: str) -> None:
    (work / "file").write_text("")
    assert refusal(work, lambda: fix_plan_directory(cwd.replace("W", str(work)))) == (
        "no-cwd", "The session's working folder isn't known, so there is no place for plans. "
                  "Set terminal.cwd in config.yaml to an existing folder and start Hermes again.")


@pytest.mark.parametrize(("name", "text"), [
    ("two\nlines", "No plan could be written below 'W/two\\nlines/.hermes/plans', "
                   "because the path holds a control or text-direction character."),
    ("esc\x1b", "No plan could be written below 'W/esc\\x1b/.hermes/plans', "
                "because the path holds a control or text-direction character."),
    ("a\u202eb", "No plan could be written below 'W/a\\u202eb/.hermes/plans', "
                 "because the path holds a control or text-direction character."),
    (os.fsdecode(b"\xe9"), "No plan could be written below 'W/\\udce9/.hermes/plans', "
                           "because the path holds characters that no file name can have."),
    (DEEP, f"No plan could be written below 'W/{DEEP}/.hermes/plans', "
           "because the path or a name in it is too long, or it goes through too many folders."),
])
def test_a_workspace_in_which_every_plan_would_be_denied(work: Path, name: str, text: str) -> None:
    try:
        (work / name).mkdir(parents=True)
    except OSError:
        pytest.skip("this file system takes no such name")
    rule, found = refusal(work, lambda: fix_plan_directory(str(work / name)))
    assert (rule, found) == ("plan-directory", f"{text} {ANOTHER_FOLDER}")
    assert not (work / name / ".hermes").exists()


@pytest.mark.parametrize(("link", "target"), [
    (".hermes", "elsewhere"), (".hermes", "nowhere"), (".hermes", ".hermes"), (".hermes", "file"),
    (".hermes/plans", "../elsewhere"), (".hermes/plans", "nowhere"), (".hermes/plans", "real-plans"), (".hermes/plans", "plans"),
])
def test_a_repository_may_not_ship_the_directory_as_a_link(work: Path, link: str, target: str) -> None:
    (work / "elsewhere").mkdir()
    (work / "file").write_text("")
    if link != ".hermes":
        (work / ".hermes" / "real-plans").mkdir(parents=True)
    (work / link).symlink_to(target)
    assert refusal(work, lambda: fix_plan_directory(str(work))) == (
        "plan-directory", f"Plans can't be kept safely: W/{link} is a symbolic link. {ELSEWHERE}")
    assert not any((work / "elsewhere").iterdir())


@pytest.mark.parametrize(("file", "cause"), [(".hermes", "Not a directory"), (".hermes/plans", "File exists")])
def test_a_file_in_the_way(work: Path, file: str, cause: str) -> None:
    (work / file).parent.mkdir(exist_ok=True)
    (work / file).write_text("")
    assert refusal(work, lambda: fix_plan_directory(str(work))) == (
        "no-plan-directory", f"The plan directory W/.hermes/plans can't be made: {cause}. {ELSEWHERE}")


def test_a_link_that_appears_while_the_directory_is_made(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def makedirs(path: str, exist_ok: bool) -> None:
        (work / ".hermes").mkdir()
        (work / ".hermes" / "plans").symlink_to(work)

    monkeypatch.setattr(os, "makedirs", makedirs)
    assert refusal(work, lambda: fix_plan_directory(str(work))) == (
        "plan-directory", f"Plans can't be kept safely: W/.hermes/plans is a symbolic link. {ELSEWHERE}")


@pytest.mark.parametrize(("change", "fault"), [
    (lambda work: None, ""),
    (lambda work: (work / ".hermes" / "plans").rmdir(), ""),
    (lambda work: ((work / ".hermes" / "plans").rmdir(), (work / ".hermes" / "plans").symlink_to(work)),
     "W/.hermes/plans is a symbolic link"),
    (lambda work: ((work / ".hermes" / "plans").rmdir(), (work / ".hermes" / "plans").symlink_to("nowhere")),
     "W/.hermes/plans is a symbolic link"),
    (lambda work: ((work / ".hermes").rename(work / "moved"), (work / ".hermes").symlink_to("moved")),
     "W/.hermes is a symbolic link"),
    (lambda work: ((work / ".hermes" / "plans").rmdir(), (work / ".hermes" / "plans").write_text("")),
     "W/.hermes/plans isn't a folder"),
    (lambda work: (work.rename(work.with_name("moved")), work.symlink_to("moved")),
     "W/.hermes/plans leads to another place, M/.hermes/plans"),
])
def test_the_directory_is_looked_at_again(work: Path, change: Callable[[Path], object], fault: str) -> None:
    root = fix_plan_directory(str(work))
    change(work)
    assert directory_fault(root).replace(str(work.with_name("moved")), "M").replace(str(work), "W") == fault


# -- plan files

def test_a_plan_as_it_is_on_disk(work: Path) -> None:
    file = work / "plan.md"
    data = "\ufeff# Plan\r\nÄ \x1b[0m\n".encode()
    file.write_bytes(data)
    os.utime(file, (1, 1_700_000_000.5))
    assert read_plan(str(file)) == PlanText(
        path=str(file), text="\ufeff# Plan\r\nÄ \x1b[0m\n", digest=hashlib.sha256(data).hexdigest(), size=len(data),
        modified=1_700_000_000.5)


def test_the_largest_plan(work: Path) -> None:
    (work / "plan.md").write_bytes(b"x" * MOST_BYTES)
    assert read_plan(str(work / "plan.md")).size == MOST_BYTES


@pytest.mark.parametrize(("make", "rule", "text"), [
    (lambda plan: None, "plan-unreadable",
     "The plan W/plan.md can't be read: No such file or directory. Ask the agent to write it again, or name another one."),
    (lambda plan: plan.mkdir(), "plan-unreadable",
     "The plan W/plan.md can't be read: Is a directory. Ask the agent to write it again, or name another one."),
    (lambda plan: os.mkfifo(plan), "plan-not-a-file",
     "W/plan.md isn't a plain file with one name. Ask the agent to write a new plan."),
    (lambda plan: (plan.write_text("x"), os.link(plan, plan.with_name("twin"))), "plan-not-a-file",
     "W/plan.md isn't a plain file with one name. Ask the agent to write a new plan."),
    (lambda plan: (plan.with_name("other.md").write_text("x"), plan.symlink_to("other.md")), "plan-not-a-file",
     "The plan W/plan.md is reached through a symbolic link. Ask the agent to write a new plan."),
    (lambda plan: plan.symlink_to("nowhere"), "plan-not-a-file",
     "The plan W/plan.md is reached through a symbolic link. Ask the agent to write a new plan."),
    (lambda plan: plan.write_bytes(b"x" * (MOST_BYTES + 1)), "plan-too-large",
     "The plan W/plan.md is larger than 1 MiB. Ask the agent for a shorter one."),
    (lambda plan: plan.write_bytes(b"# Plan \xff"), "plan-not-text",
     "The plan W/plan.md isn't valid UTF-8 text. Ask the agent to write it again."),
    (lambda plan: plan.write_bytes(b"\xff\xfe#\0"), "plan-not-text",
     "The plan W/plan.md isn't valid UTF-8 text. Ask the agent to write it again."),
    (lambda plan: plan.write_bytes(b"\xed\xa0\x80"), "plan-not-text",
     "The plan W/plan.md isn't valid UTF-8 text. Ask the agent to write it again."),
    *((lambda plan, text=text: plan.write_text(text), "plan-empty", "The plan W/plan.md is empty. Ask the agent to write it.")
      for text in ("", " \t\r\n\n", "\u00a0\u2003\u3000\u2028", "\ufeff", "\ufeff \n")),
])
def test_what_is_no_plan(work: Path, make: Callable[[Path], object], rule: str, text: str) -> None:
    make(work / "plan.md")
    assert refusal(work, lambda: read_plan(str(work / "plan.md"))) == (rule, text)


def test_a_folder_that_became_a_link_hides_the_plan(work: Path) -> None:
    (work / "sub").mkdir()
    (work / "sub" / "plan.md").write_text("approved")
    read_plan(str(work / "sub" / "plan.md"))
    (work / "sub").rename(work / "moved")
    (work / "sub").symlink_to("moved")
    assert refusal(work, lambda: read_plan(str(work / "sub" / "plan.md"))) == (
        "plan-not-a-file", "The plan W/sub/plan.md is reached through a symbolic link. Ask the agent to write a new plan.")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="this system doesn't list open files")
def test_what_is_no_plan_stays_open_no_longer_than_a_plan(work: Path) -> None:
    (work / "plan.md").mkdir()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        with pytest.raises(Refusal):
            read_plan(str(work / "plan.md"))
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_digest_is_of_bytes() -> None:
    assert digest_of(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest_of(b"a\r\n") != digest_of(b"a\n")


@pytest.mark.parametrize(("title", "slug"), [
    ("Add a cache", "add-a-cache"),
    ("  Größe & Übermaß: 100 %!  ", "groe-uberma-100"),
    ("../../src/a.py", "src-a-py"),
    ("a\0b\nc", "a-b-c"),
    ("", "plan"),
    ("日本語", "plan"),
    ("---", "plan"),
    ("x" * 100, "x" * 40),
    ("x" * 39 + " tail", "x" * 39),
    ("ＦＵＬＬ width", "full-width"),
])
def test_the_name_of_a_plan(title: str, slug: str) -> None:
    at = time.mktime((2026, 3, 9, 7, 5, 1, 0, 0, -1))
    assert plan_name(title, at) == f"2026-03-09_070501-{slug}.md"


def test_the_name_of_a_plan_is_made_in_no_time() -> None:
    started = time.perf_counter()
    name = plan_name("a\u0301\u0323" + "\u0301\u0323" * 500_000, 0)
    assert time.perf_counter() - started < 1
    assert re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}_[0-9]{6}-a\.md", name)
