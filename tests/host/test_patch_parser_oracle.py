"""The host's own patch parser as the oracle: every file that it would touch, and every one that it does, we have read."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from plan_mode.policy.targets import Unreadable, read_targets
from tests.host.kit import IS_OLD  # before anything of the host: it gives it a home

from tools.file_operations import ReadResult, ShellFileOperations, WriteResult  # isort: skip
from tools.patch_parser import parse_v4a_patch  # isort: skip

BLANKS = st.sampled_from(["", " ", " ", "  ", "\t", "\r", "\u00a0", "\u2028", "\u2003", "\x0b", "\x0c", "\x1f", "\x85", "\n"])
ACTIONS = st.sampled_from(["Update", "Add", "Delete", "Move", "update", "Rename"])
PATHS = st.sampled_from(["/p/a.md", "/p/b.md", "/etc/x", "c d", "a -> b", "->", "-> ->", "x->y", "*** Add File: z", "", " "])
HEADERS = st.builds(
    lambda stars, a, action, b, file, c, path, d, arrow, to: f"{stars}{a}{action}{b}{file}{c}{path}{d}{arrow}{to}",
    st.sampled_from(["***", "***", "***", "**", "****", " ***", "+***"]), BLANKS, ACTIONS, BLANKS,
    st.sampled_from(["File:", "File:", "File", "File :"]), BLANKS, PATHS, BLANKS, st.sampled_from(["", "->", " -> ", "-"]), PATHS)
MARKERS = st.sampled_from([
    "*** Begin Patch", "*** End Patch", "***Begin Patch", "***End Patch", "+*** End Patch", "*** Begin  Patch ",
    "text *** End Patch"])
BODY = st.sampled_from(["@@", "@@ hint @@", "+x", "-x", " x", "x", "", "\\ No newline at end of file", "+*** Add File: /p/c.md"])
LINES = st.lists(st.one_of(HEADERS, HEADERS, MARKERS, BODY, st.text(max_size=12)), max_size=10)
PATCHES = st.builds(lambda lines, ending: ending.join(lines), LINES, st.sampled_from(["\n", "\n", "\r\n", "\r"]))


def touched(text: str) -> set[str]:
    """Every file that the host's parser names in this text; none where it refuses the whole."""
    operations, error = parse_v4a_patch(text)
    named = {path for operation in operations for path in (operation.file_path, operation.new_path) if path is not None}
    return set() if error else named


def check(text: str) -> None:
    ours = read_targets("patch", {"mode": "patch", "patch": text})
    if isinstance(ours, Unreadable):
        assert ours.reason  # a denial: what the host would have touched stays untouched
    else:
        assert touched(text) <= set(ours)


@settings(max_examples=400, deadline=None)
@given(text=PATCHES)
def test_every_file_that_the_host_would_touch_is_read(text: str) -> None:
    check(text)


PLAN_WRITES = [
    "*** Begin Patch\n*** Add File: /p/a.md\n+# Plan\n+\n+1. Look\n*** End Patch",
    "*** Begin Patch\n*** Update File: /p/a.md\n@@ # Plan @@\n # Plan\n-1. Look\n+1. Look twice\n*** End Patch",
    "*** Update File: /p/a.md\r\n@@\r\n-a\r\n+b\r\n*** Delete File: /p/b.md\r\n",
    "***Begin Patch\n***Update File: /p/a.md\n@@\n-a\n+*** Add File: shown as text\n***End Patch",
    "*** Begin Patch\n*** Move File: /p/a.md -> /p/b.md\n*** Move File: /p/c.md->/p/d e.md\n*** End Patch",
]


@pytest.mark.parametrize("text", PLAN_WRITES)
def test_a_patch_that_the_host_takes_is_read_as_the_host_reads_it(text: str) -> None:
    ours = read_targets("patch", {"mode": "patch", "patch": text})
    assert isinstance(ours, tuple)
    assert touched(text)
    assert {path for path in ours if isinstance(path, str)} == touched(text)


@pytest.mark.parametrize("text", [
    "***\u00a0Add\u2003File:\u00a0/etc/x\n+x",
    "***\x0bAdd File: /etc/x\n+x",
    "*** Add File: /p/a.md\n+x\n*** Add File: /etc/x\n+x",
    "*** Begin Patch\n*** Add File: /p/a.md\n+x\n*** Move File: /p/a.md -> /etc/x\n*** End Patch",
    "*** Begin Patch\n*** Begin Patch\n*** Delete File: /etc/x\n*** End Patch",
    "*** Move File: -> -> /etc/x",
    "*** Move File: /etc/x -> /p/a -> b.md",
])
def test_the_host_would_touch_it_and_we_see_it(text: str) -> None:
    found = [path for path in touched(text) if path == "/etc/x"]
    assert found, "the host doesn't read this text as it did; look for what it reads now"
    ours = read_targets("patch", {"mode": "patch", "patch": text})
    assert isinstance(ours, tuple)
    assert "/etc/x" in ours


def test_what_a_patch_writes_is_what_its_arguments_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The handler takes ``path`` in replace mode only, and replaces where no mode is given."""
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    from tools.file_tools import _handle_patch

    assert "patch content required" in _handle_patch({"mode": "patch", "path": "/nowhere/a.md"})
    assert "path required" in _handle_patch({"mode": "replace", "patch": "*** Add File: /nowhere/a.md\n+x"})
    assert "path required" in _handle_patch({"patch": "*** Add File: /nowhere/a.md\n+x"})
    assert "Unknown mode" in _handle_patch({"mode": "Patch", "patch": "*** Add File: /nowhere/a.md\n+x"})


# -- what the tools do, not only what they read

#: What stands in the tree in which patches are applied.
STANDING = {
    "a.md": "one\ntwo\n", "b c.md": "one\ntwo\n", "x->y.md": "one\ntwo\n", "-> f.md": "one\ntwo\n", "d/e.md": "one\r\ntwo\r\n",
    "*** g.md": "one\ntwo\n", "Add File: h": "one\n", "secret": "one\n",
}


@dataclass
class Quick(ShellFileOperations):  # type: ignore[misc]
    """The host's file operations without their shell: the four that a patch is made of, with what ``mv`` and ``cat`` do."""

    folder: Path
    env: Any = None
    cwd: str = ""

    def place(self, path: str) -> Path:
        found = self.folder / path
        if not found.resolve().is_relative_to(self.folder):
            pytest.fail(f"the host left the tree for {path}")  # not an Exception, which the host would pass over
        return found

    def read_file_raw(self, path: str) -> Any:
        place = self.place(path)
        if place.is_file():
            return ReadResult(content=place.read_bytes().decode())
        return ReadResult(error="not there") if IS_OLD else ReadResult(error="not there", not_found=not place.exists())

    def write_file(self, path: str, content: str, *_: Any, **__: Any) -> Any:
        place = self.place(path)
        if place.is_symlink() and not IS_OLD:
            place = place.resolve()
        place.parent.mkdir(parents=True, exist_ok=True)
        new = place.parent / ".hermes-tmp.000000"
        new.write_text(content)
        shutil.move(new, place)
        return WriteResult(bytes_written=len(content))

    def delete_file(self, path: str) -> Any:
        self.place(path).unlink()
        return WriteResult()

    def move_file(self, src: str, dst: str) -> Any:
        shutil.move(self.place(src), self.place(dst))
        return WriteResult()

    def _check_lint(self, path: str, *_: Any, **__: Any) -> Any:
        return ReadResult()


def tree(folder: Path) -> dict[str, object]:
    """Everything in it that isn't a folder, by its path."""
    entries = [os.path.join(where, name) for where, folders, files in os.walk(folder) for name in folders + files]
    return {path: os.readlink(path) if os.path.islink(path) else Path(path).read_bytes()
            for path in entries if os.path.islink(path) or not os.path.isdir(path)}


def stand(folder: Path) -> Path:
    folder = folder.resolve()
    for name, text in STANDING.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    return folder


@contextmanager
def standing_in(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Path]:
    patch.setenv("TERMINAL_CWD", str(folder))
    home = os.getcwd()
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(home)


_TASKS = itertools.count()


def run(tool: str, args: dict[str, Any]) -> dict[str, Any]:
    """The answer of the host's own handler, in a conversation that has no folder on record."""
    from tools import file_tools

    handler = {"patch": file_tools._handle_patch, "write_file": file_tools._handle_write_file}[tool]
    found = json.loads(handler(args, task_id=f"oracle-{next(_TASKS)}"))
    assert isinstance(found, dict)
    return found


def unseen(tool: str, args: dict[str, Any], folder: Path) -> tuple[set[str], set[str]]:
    """Run a call that we could read: what it changed, and what of this wasn't among the files that we had read."""
    targets = read_targets(tool, args)
    seen = {os.path.join(folder, each) for each in targets if isinstance(each, str)} if isinstance(targets, tuple) else set()
    seen |= {os.path.realpath(each) for each in seen}
    before = tree(folder)
    run(tool, args)
    after = tree(folder)
    changed = {each for each in {*before, *after} if before.get(each) != after.get(each)}
    return changed, changed - seen if isinstance(targets, tuple) else set()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The handlers' file operations are Quick ones, wherever this process stands."""
    from tools import file_tools

    monkeypatch.setattr(file_tools, "_get_file_ops", lambda *_: Quick(Path.cwd()))
    return monkeypatch


STANDS = st.sampled_from(sorted(STANDING))
NEW = st.sampled_from(["n.md", "new/n.md", "new/deep/o.md", "n -> m.md", "p q.md", "-> r.md", "*** s.md", "d/t.md"])
ROOTS = st.sampled_from(["<T>/", "<T>/", "<T>/", "", "<T>//", "<T>/./"])
GAP = st.sampled_from([" ", " ", " ", "", "  ", "\t", "\u00a0", "\u2003", "\x0b", "\x1f"])
SOME = st.sampled_from([" ", " ", "  ", "\t", "\u00a0", "\x0c"])
AFTER = st.sampled_from(["", "", "", " ", "\t", "\r"])
ARROW = st.sampled_from([" -> ", " -> ", "->", "  ->  ", "\t->\u00a0", " ->", " -> -> "])
EDIT = st.sampled_from([
    ["@@", "-one", "+1"], ["@@ one @@", " one", "+one and a half"], ["@@", "-one", "+*** Add File: <T>/nested.md"], ["+three"],
    ["@@", "-one", "+1", "*** Delete File: <T>/secret"], ["@@", "-one", "+1", "***Delete File:<T>/secret"],
    ["@@", "-one", "+1", " *** Delete File: <T>/secret", "\\ No newline at end of file"]])
TEXT = st.sampled_from([
    ["+x"], ["+x", "+*** Delete File: <T>/secret"], ["x", "*** Add File: <T>/nested.md", "+y"], ["+x", "+*** End Patch", "+y"],
    []])
SINGLE = st.builds(
    lambda gap, some, blank, root, path, after, body: [f"***{gap}Update{some}File:{blank}{root}{path}{after}", *body],
    GAP, SOME, GAP, ROOTS, STANDS, AFTER, EDIT)
FRESH = st.builds(
    lambda gap, some, blank, root, path, after, body: [f"***{gap}Add{some}File:{blank}{root}{path}{after}", *body],
    GAP, SOME, GAP, ROOTS, NEW, AFTER, TEXT)
GONE = st.builds(lambda gap, some, blank, root, path, after: [f"***{gap}Delete{some}File:{blank}{root}{path}{after}"],
                 GAP, SOME, GAP, ROOTS, STANDS, AFTER)
MOVED = st.builds(
    lambda gap, some, blank, root, path, arrow, there, to, after: [
        f"***{gap}Move{some}File:{blank}{root}{path}{arrow}{there}{to}{after}"],
    GAP, SOME, GAP, ROOTS, STANDS, ARROW, ROOTS, NEW, AFTER)
NOISE = st.sampled_from([
    ["*** Begin Patch"], ["*** End Patch"], ["text *** End Patch"], [""], ["*** Move to: <T>/moved.md"], ["***"],
    ["*** Move File: <T>/a.md", "-> <T>/b.md"], ["*** Add File:", "<T>/n.md"], ["***", "Add File: <T>/n.md"]])
APPLIED = st.builds(
    lambda begin, operations, end, ending: ending.join(line for block in [begin, *operations, end] for line in block),
    st.sampled_from([["*** Begin Patch"], ["***Begin Patch"], []]),
    st.lists(st.one_of(*[st.one_of(SINGLE, FRESH, GONE, MOVED)] * 6, NOISE), min_size=1, max_size=4),
    st.sampled_from([["*** End Patch"], ["***End Patch", "*** Delete File: <T>/secret"], []]),
    st.sampled_from(["\n", "\n", "\n", "\r\n"]))


def apply(text: str, patch: pytest.MonkeyPatch) -> set[str]:
    with tempfile.TemporaryDirectory() as name, standing_in(stand(Path(name)), patch) as folder:
        changed, missed = unseen("patch", {"mode": "patch", "patch": text.replace("<T>", str(folder))}, folder)
        assert not missed
        return {os.path.relpath(each, folder) for each in changed}


def applied(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        event("changed files" if apply(text, patch) else "changed nothing")


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=APPLIED)
def test_every_file_that_the_host_changes_was_read(quick: pytest.MonkeyPatch, text: str) -> None:
    applied(text)


@pytest.mark.long
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=APPLIED)
def test_every_file_that_the_host_changes_was_read_at_length(quick: pytest.MonkeyPatch, text: str) -> None:
    applied(text)


B, E = "*** Begin Patch\n", "\n*** End Patch"
EDITED = "\n@@\n-one\n+1\n"


@pytest.mark.parametrize(("text", "changed"), [
    (f"{B}*** Add File: <T>/n.md\n+# Plan{E}", {"n.md"}),
    (f"***Update File:<T>/a.md{EDITED}", {"a.md"}),
    (f"***\u00a0Update\u2003File:\t<T>/b c.md  {EDITED}", {"b c.md"}),
    (f"*** Update File: <T>/x->y.md{EDITED}", {"x->y.md"}),
    (f"*** Update File: -> f.md{EDITED}", {"-> f.md"}),
    (f"*** Update File: *** g.md{EDITED}*** Delete File: <T>/secret", {"*** g.md", "secret"}),
    (f"*** Update File: Add File: h{EDITED}", {"Add File: h"}),
    ("*** Delete File: <T>//d/./e.md", {"d/e.md"}),
    ("*** Move File: <T>/a.md -> <T>/d/p q.md", {"a.md", "d/p q.md"}),
    ("*** Move File: <T>/a.md->n -> m.md", {"a.md", "n -> m.md"}),
    # the newer one puts real paths in the place of those that are named, and finds another arrow then
    ("*** Move File: -> f.md->-> r.md", {"-> f.md", "-> r.md"} if IS_OLD else set()),
    ("*** Move File: <T>/b c.md -> -> k.md", {"b c.md", "-> k.md"}),
    ("*** Move File: x->y.md", set()),  # x isn't there
    (f"{B}*** Add File: <T>/new/deep/n.md\n+x\n+*** End Patch\n*** Delete File: <T>/secret\n+y{E}", None),
    (f"{B}*** Add File: <T>/n.md\n+*** Delete File: <T>/secret\n *** Delete File: <T>/secret{E}", {"n.md"}),
    ("*** Add File: <T>/n.md\n+x\n***Delete File:<T>/secret", {"n.md", "secret"}),
    (f"{B}{B}*** Delete File: <T>/secret{E}{E}", {"secret"}),
    (f"*** Delete File: <T>/a.md\n*** Begin Patch\n*** Delete File: <T>/secret{E}", {"secret"}),
    ("*** Move to: <T>/m.md\n*** Delete File: <T>/secret", {"secret"}),
])
def test_what_the_host_makes_of_a_patch(quick: pytest.MonkeyPatch, text: str, changed: set[str] | None) -> None:
    """Not vacuous: these do change files."""
    found = {line: apply(text.replace("\n", line), quick) for line in ("\n", "\r\n")}
    if changed is None:  # the versions differ in where this patch ends
        assert found["\n"] in ({"new/deep/n.md"}, {"new/deep/n.md", "secret"})
    else:
        assert found["\n"] == changed
        # the older one takes a carriage return for a part of the line
        assert found["\r\n"] == changed or IS_OLD


NAMES = ["a && b & c.md", "a; sudo ls.md", "it's \"$HOME\" `e`.md", "*** a\\tb -> {}  é.md"]


def test_files_are_written_under_the_name_that_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the host's own shell: names that a shell, or a program that rewrites its commands, could read otherwise."""
    with standing_in(stand(tmp_path), monkeypatch) as folder:
        for name in NAMES:
            path = str(folder / "new" / name)
            assert unseen("write_file", {"path": path, "content": "one\n"}, folder) == ({path}, set())


def test_texts_are_replaced_in_the_file_that_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with standing_in(stand(tmp_path), monkeypatch) as folder:
        for name in ("b c.md", "-> f.md"):
            args = {"path": str(folder / name), "old_string": "one", "new_string": "1", "patch": "*** Delete File: secret"}
            assert unseen("patch", args, folder) == ({str(folder / name)}, set())


@pytest.mark.long
def test_a_patch_of_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the host's own shell, which the quick operations stand for elsewhere."""
    text = (f"{B}*** Update File: <T>/b c.md{EDITED}*** Add File: <T>/it's/a && b.md\n+x\n*** Delete File: <T>/-> f.md\n"
            f"*** Move File: <T>/*** g.md -> <T>/n -> m.md{E}")
    with standing_in(stand(tmp_path), monkeypatch) as folder:
        changed, missed = unseen("patch", {"mode": "patch", "patch": text.replace("<T>", str(folder))}, folder)
        assert {os.path.relpath(each, folder) for each in changed} == {
            "b c.md", "it's/a && b.md", "-> f.md", "*** g.md", "n -> m.md"}
        assert not missed


def traps(folder: Path) -> None:
    """What a repository may hold so that a host which follows links writes another path into a patch."""
    (folder / "docs" / "sub").mkdir(parents=True)
    (folder / "docs" / "x.md").write_text("one\n")
    (folder / "x.md").write_text("one\n")
    (folder / "docs" / "sub" / "l.md").symlink_to("../x.md")
    (folder / "blank.md ").write_text("one\n")
    (folder / "blank.md").write_text("one\n")
    (folder / "to-blank.md").symlink_to("blank.md ")
    (folder / "q").write_text("one\n")
    lines = Path(f"{folder}/q\n*** Delete File: {folder}")
    lines.mkdir(parents=True)
    (lines / "secret").write_text("one\n")
    (folder / "lines").symlink_to(lines)
    (folder / "full").mkdir()


@pytest.mark.parametrize(("patch", "old"), [
    pytest.param("*** Delete File: <T>/lines/secret", False, id="line breaks behind a link"),
    pytest.param(f"*** Update File: <T>/to-blank.md{EDITED}", False, id="a blank behind a link"),
    pytest.param(f"*** Move File: <T>/docs/sub/l.md -> <T>/docs/l.md\n*** Update File: <T>/docs/l.md{EDITED}", False,
                 id="a link that is moved first"),
    pytest.param("*** Move File: <T>/a.md -> <T>/full", True, id="a folder as the end of a move"),
    pytest.param("*** Add File: <T>/own/x.md\n+x\n*** Move File: <T>/a.md -> <T>/own", True, id="a move into a new folder"),
    pytest.param("*** Add File: <T>/own/x.md\n+x\n*** Add File: <T>/own\n+y", True, id="a file in place of a new folder"),
])
def test_where_the_host_changes_other_files_than_the_patch_names(quick: pytest.MonkeyPatch, tmp_path: Path, patch: str,
                                                                   old: bool) -> None:
    """What reading the patch can't show; whoever judges the targets must refuse these. ``old``: only that host does it."""
    folder = stand(tmp_path)
    traps(folder)
    with standing_in(folder, quick):
        _, missed = unseen("patch", {"mode": "patch", "patch": patch.replace("<T>", str(folder))}, folder)
    assert bool(missed) is (old is IS_OLD)
