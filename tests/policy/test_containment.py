"""Does an untrusted path stay below the plan directory? On a real file system, with real links."""

from __future__ import annotations

import ntpath
import os
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plan_mode.policy import containment
from plan_mode.policy.containment import MOST_BYTES, MOST_NAMES, Inside, Outside, as_path, contain, locate


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A workspace ``w`` whose plan directory holds one of everything; beside it, what mustn't be reached."""
    base = tmp_path.resolve()
    root = base / "w" / ".hermes" / "plans"
    for folder in ("sub/deep", ".hidden/x", "folder.md", "two words", "plän"):
        (root / folder).mkdir(parents=True)
    for file in ("plan.md", "sub/plan.md", ".hidden/plan.md", ".hidden/x/plan.md", "notes.txt", ".md", "two words/a b.md"):
        (root / file).write_text("plan")
    (base / "w" / ".hermes" / "plans-evil").mkdir()
    (base / "w" / "src.md").write_text("source")
    (base / "outside" / "deep").mkdir(parents=True)
    (base / "outside" / "twin.md").write_text("twin")
    os.link(base / "outside" / "twin.md", root / "twin.md")
    os.link(root / "notes.txt", root / "sub" / "notes.md")
    os.mkfifo(root / "pipe.md")
    for link, target in {
        "link.md": base / "w" / "src.md", "relative.md": Path("../../src.md"), "inner.md": Path("plan.md"),
        "dangling.md": base / "nowhere.md", "loop.md": Path("loop.md"), "to-folder": base / "outside",
        "to-inside": Path("sub"), "to-root": root, "to-hidden": Path(".hidden"), "to-self": Path("."),
    }.items():
        (root / link).symlink_to(target)
    (root / "sub" / "chain.md").symlink_to("../inner.md")
    (base / "alias").symlink_to(base / "w")
    (base / "two-steps").symlink_to(base / "alias")
    (base / "straight-in").symlink_to(root / "sub")
    (base / "to-plan.md").symlink_to(root / "plan.md")
    return base


def judge(base: Path, path: str) -> Inside | Outside:
    """Judge a path in which ``R`` stands for the plan directory and ``B`` for the folder around it all."""
    root = str(base / "w" / ".hermes" / "plans")
    return contain(path.replace("R", root).replace("B", str(base)), root)


@pytest.mark.parametrize(("path", "real", "exists"), [
    ("R/new.md", "new.md", False),
    ("R/plan.md", "plan.md", True),
    ("R/sub/plan.md", "sub/plan.md", True),
    ("R/sub/deep/new.md", "sub/deep/new.md", False),
    ("R/not/yet/there.md", "not/yet/there.md", False),
    ("R/two words/a b.md", "two words/a b.md", True),
    ("R/plän/日本語 🚀.md", "plän/日本語 🚀.md", False),
    # The suffix is for decide to judge.
    ("R/new.py", "new.py", False),
    ("R/.md", ".md", True),
    ("R/.new.md", ".new.md", False),
    # Spellings that every system takes for the same file.
    ("R//new.md", "new.md", False),
    ("R/./sub/./plan.md", "sub/plan.md", True),
    ("R/plan.md/", "plan.md", True),
    ("R/new.md/.", "new.md", False),
    ("/R/new.md", "new.md", False),
    ("//R/plan.md", "plan.md", True),
    # Names, not ways up or other systems' separators.
    ("R/...md", "...md", False),
    ("R/a..b.md", "a..b.md", False),
    ("R/..md", "..md", False),
    ("R/a\\..\\..\\b.md", "a\\..\\..\\b.md", False),
    ("R/~/x.md", "~/x.md", False),
    ("R/$HOME/`x`.md", "$HOME/`x`.md", False),
    ("R/plan.md ", "plan.md ", False),
    ("R/plan.md.", "plan.md.", False),
    ("R/PLAN.MD", "PLAN.MD", False),
    # A link above the root is the user's own affair: macOS has one at /tmp.
    ("B/alias/.hermes/plans/new.md", "new.md", False),
    ("B/alias/.hermes/plans/sub/plan.md", "sub/plan.md", True),
    ("B/two-steps/.hermes/plans/not/yet.md", "not/yet.md", False),
    ("B/straight-in/plan.md", "sub/plan.md", True),
    ("B/to-plan.md", "plan.md", True),
])
def test_inside(base: Path, path: str, real: str, exists: bool) -> None:
    assert judge(base, path) == Inside(str(base / "w" / ".hermes" / "plans" / real), exists)


@pytest.mark.parametrize(("path", "rule"), [
    ("R", "outside-plans"),
    ("R/", "outside-plans"),
    ("R/.", "outside-plans"),
    ("/", "outside-plans"),
    ("//", "outside-plans"),
    ("B/w/src.md", "outside-plans"),
    ("B/w/.hermes/plan.md", "outside-plans"),
    ("B/w/.hermes/plans.md", "outside-plans"),
    ("B/w/.hermes/plans-evil/x.md", "outside-plans"),
    ("B/w/.hermes/PLANS/x.md", "outside-plans"),
    ("B/outside/x.md", "outside-plans"),
    ("B/alias/src.md", "outside-plans"),
    ("B/alias/.hermes/plans", "outside-plans"),
    ("/dev/null", "outside-plans"),
    ("R/../x.md", "dot-dot"),
    ("R/sub/../../plans/x.md", "dot-dot"),
    ("R/sub/..", "dot-dot"),
    ("B/w/../w/.hermes/plans/x.md", "dot-dot"),
    ("R/../../../outside/x.md", "dot-dot"),
    ("plan.md", "not-absolute"),
    (".hermes/plans/plan.md", "not-absolute"),
    ("./plan.md", "not-absolute"),
    ("~/plan.md", "not-absolute"),
    (" R/plan.md", "not-absolute"),
    ("\\w\\.hermes\\plans\\x.md", "not-absolute"),
    ("C:\\w\\.hermes\\plans\\x.md", "not-absolute"),
    ("C:/w/.hermes/plans/x.md", "not-absolute"),
    ("file://R/plan.md", "not-absolute"),
    # Links below the root, wherever they lead: what they are can change, and the person looks at one name only.
    ("R/link.md", "symlink"),
    ("R/relative.md", "symlink"),
    ("R/inner.md", "symlink"),
    ("R/sub/chain.md", "symlink"),
    ("R/dangling.md", "symlink"),
    ("R/loop.md", "symlink"),
    ("R/to-folder/x.md", "symlink"),
    ("R/to-folder/deep/x.md", "symlink"),
    ("R/to-inside/plan.md", "symlink"),
    ("R/to-root/plan.md", "symlink"),
    ("R/to-self/to-self/plan.md", "symlink"),
    ("R/to-hidden/plan.md", "symlink"),
    ("/R/inner.md", "symlink"),
    ("//R/to-inside/plan.md", "symlink"),
    ("R//inner.md", "symlink"),
    ("R/./inner.md/", "symlink"),
    ("B/alias/.hermes/plans/link.md", "symlink"),
    ("B/alias/.hermes/plans/inner.md", "symlink"),
    ("B/alias/.hermes/plans/to-inside/plan.md", "symlink"),
    ("B/alias/.hermes/plans/to-root/plan.md", "symlink"),
    ("B/alias/.hermes/plans/to-folder/x.md", "symlink"),
    ("B/straight-in/chain.md", "symlink"),
    ("R/.hidden/plan.md", "dot-folder"),
    ("R/.hidden/x/plan.md", "dot-folder"),
    ("R/.git/hooks/x.md", "dot-folder"),
    ("R/sub/.new/x.md", "dot-folder"),
    ("R/.../x.md", "dot-folder"),
    ("R/folder.md", "not-a-file"),
    ("R/folder.md/", "not-a-file"),
    ("R/pipe.md", "not-a-file"),
    ("R/twin.md", "hard-link"),
    ("R/notes.txt", "hard-link"),
    ("R/sub/notes.md", "hard-link"),
    ("R/plan.md/x.md", "unreadable-path"),
])
def test_outside(base: Path, path: str, rule: str) -> None:
    judged = judge(base, path)
    assert isinstance(judged, Outside)
    assert judged.rule == rule


class Text(str):
    """Shows another path than the one that is opened."""

    __slots__ = ()

    def __str__(self) -> str:
        return "/w/.hermes/plans/plan.md"


@pytest.mark.parametrize("path", [
    None, "", 0, 7, 1.5, True, b"R/plan.md", ["R/plan.md"], ("R/plan.md",), {"path": "R/plan.md"},
    Path("/w/.hermes/plans/plan.md"), Text("/w/elsewhere.md"),
])
def test_what_is_not_text(path: object) -> None:
    assert contain(path, "/w/.hermes/plans") == Outside("no-path", "the call names no file as text")


@pytest.mark.parametrize("character", [
    "\0", "\n", "\r", "\t", "\x1b", "\x7f", "\x85", "\x9b", "\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202e",
    "\u2066", "\u2069",
])
@pytest.mark.parametrize("path", ["{0}R/plan.md", "R{0}/plan.md", "R/a{0}b.md", "R/plan.md{0}"])
def test_what_a_person_cannot_see(base: Path, path: str, character: str) -> None:
    found = judge(base, path.format(character))
    assert found == Outside("unshowable-path", "the path holds a control or text-direction character")


@pytest.mark.parametrize("code", [0xD800, 0xDBFF, 0xDC80, 0xDFFF])
def test_what_no_text_can_hold(base: Path, code: int) -> None:
    """Half of a surrogate pair, and a byte smuggled in as one: neither can be stored, hashed or shown."""
    found = judge(base, f"R/a{chr(code)}.md")
    assert found == Outside("unshowable-path", "the path holds characters that no file name can have")


@pytest.mark.parametrize(("path", "inside"), [
    ("R/" + "x" * 252 + ".md", True),
    ("R/" + "x" * 253 + ".md", False),
    ("R/" + "ä" * 126 + ".md", True),
    ("R/" + "ä" * 127 + ".md", False),
    ("R/" + "🚀" * 63 + ".md", True),
    ("R/" + "🚀" * 64 + ".md", False),
    ("R/" + ("x" * 200 + "/") * 18 + "a.md", True),
    ("R/" + ("x" * 200 + "/") * 21 + "a.md", False),
    ("R/" + "x/" * 40 + "a.md", True),
    ("R/" + "x/" * MOST_NAMES + "a.md", False),
    ("R/" + "/" * MOST_NAMES + "a.md", False),
    ("R/" + "🚀" * 1100 + "/a.md", False),
    ("/" + "x" * 1_000_000, False),
    ("/" * 1_000_000, False),
    ("/x" * 1_000_000, False),
])
def test_length(base: Path, path: str, inside: bool) -> None:
    found = judge(base, path)
    assert isinstance(found, Inside) is inside
    if not inside:
        assert found == Outside("path-too-long", "the path or a name in it is too long, or it goes through too many folders")


@pytest.mark.parametrize("root", ["", ".", "w/.hermes/plans", "~/.hermes/plans"])
def test_without_a_plan_directory_nothing_is_inside(root: str) -> None:
    assert contain("/w/.hermes/plans/a.md", root) == Outside("no-plan-directory", "this session has no plan directory")


@pytest.mark.parametrize(("path", "reason"), [
    ("plan.md", "'plan.md' isn't an absolute path"),
    ("R/../x.md", "'R/../x.md' holds '..'"),
    ("B/outside/x.md", "'B/outside/x.md' isn't below R"),
    ("R", "'R' isn't below R"),
    ("R/link.md", "'R/link.md' is a symbolic link"),
    ("B/alias/.hermes/plans/to-folder/x.md", "'R/to-folder' is a symbolic link"),
    ("R/.git/x.md", "'R/.git/x.md' lies in a folder whose name starts with a dot"),
    ("R/folder.md", "'R/folder.md' isn't a regular file"),
    ("R/twin.md", "'R/twin.md' has a second name elsewhere (hard link)"),
    ("R/plan.md/x.md", "'R/plan.md/x.md' can't be looked at (Not a directory)"),
])
def test_the_reasons_that_the_model_reads(base: Path, path: str, reason: str) -> None:
    judged = judge(base, path)
    assert isinstance(judged, Outside)
    root = str(base / "w" / ".hermes" / "plans")
    assert judged.reason.replace(root, "R").replace(str(base), "B") == reason


@pytest.mark.parametrize("change", [
    lambda root, elsewhere: root.symlink_to(elsewhere),
    lambda root, elsewhere: (root.parent.rmdir(), root.parent.symlink_to(elsewhere)),
    lambda root, elsewhere: (root.parent.rmdir(), root.parent.parent.rmdir(), root.parent.parent.symlink_to(elsewhere)),
])
def test_a_root_that_was_replaced_by_a_link_holds_nothing(tmp_path: Path, change: Callable[[Path, Path], Any]) -> None:
    root = tmp_path.resolve() / "w" / ".hermes" / "plans"
    elsewhere = tmp_path.resolve() / "elsewhere"
    (elsewhere / ".hermes" / "plans").mkdir(parents=True)
    (elsewhere / "plans").mkdir()
    root.parent.mkdir(parents=True)
    change(root, elsewhere)
    judged = contain(str(root / "a.md"), str(root))
    assert isinstance(judged, Outside)
    assert judged.rule == "outside-plans"


def test_a_root_that_was_removed_is_made_anew_by_the_write(base: Path) -> None:
    root = base / "gone" / ".hermes" / "plans"
    assert contain(str(root / "a.md"), str(root)) == Inside(str(root / "a.md"), False)


def test_a_root_whose_folder_became_a_file(tmp_path: Path) -> None:
    root = tmp_path.resolve() / ".hermes" / "plans"
    root.parent.write_text("not a folder")
    found = contain(str(root / "a.md"), str(root))
    assert found == Outside("unreadable-path", f"{str(root / 'a.md')!r} can't be looked at (Not a directory)")


@pytest.mark.parametrize("name", ["with blanks", "mit Ümlaut", "日本語", "quo'te\"s", ".dotted", "a\\b", "$HOME", "R"])
def test_the_workspace_may_be_named_as_it_likes(tmp_path: Path, name: str) -> None:
    root = tmp_path.resolve() / name / ".hermes" / "plans"
    root.mkdir(parents=True)
    assert contain(str(root / "a.md"), str(root)) == Inside(str(root / "a.md"), False)
    assert isinstance(contain(str(root.parent / "a.md"), str(root)), Outside)


def test_the_workspace_may_be_the_root_of_the_file_system() -> None:
    assert contain("/.hermes/plans-of-nobody/a.md", "/.hermes/plans-of-nobody") == \
        Inside("/.hermes/plans-of-nobody/a.md", False)
    assert isinstance(contain("/etc/a.md", "/.hermes/plans-of-nobody"), Outside)


def test_look_alikes_are_other_files(base: Path) -> None:
    """Composed and decomposed letters, full-width and division slashes: judged as the system reads them, never folded."""
    root = base / "w" / ".hermes" / "plans"
    (root / "a\u0308.md").symlink_to(base / "w" / "src.md")
    assert isinstance(judge(base, "R/a\u0308.md"), Outside)
    if not (root / "ä.md").is_symlink():  # a file system that folds them shows the link under both names
        assert judge(base, "R/ä.md") == Inside(str(root / "ä.md"), False)
    assert judge(base, "R/..\u2215..\u2215x.md") == Inside(str(root / "..\u2215..\u2215x.md"), False)
    assert isinstance(judge(base, "R\uff0fx.md"), Outside)


@pytest.mark.skipif(not os.path.islink("/proc/self"), reason="this system has no /proc")
@pytest.mark.parametrize("path", [
    "/proc/self/cwd/plan.md", "/proc/thread-self/cwd/new.md", "/proc/self/rootR/plan.md", "/proc/PID/cwd/plan.md",
    "/proc/self/fd/DESCRIPTOR/new.md", "/dev/fd/DESCRIPTOR/new.md",
])
def test_a_way_through_proc_is_another_for_each_process(base: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """The host hands some paths as they are to a shell of its own, whose working folder is another."""
    root = base / "w" / ".hermes" / "plans"
    monkeypatch.chdir(root)
    descriptor = os.open(root, os.O_RDONLY)
    try:
        judged = judge(base, path.replace("DESCRIPTOR", str(descriptor)).replace("PID", str(os.getpid())))
    finally:
        os.close(descriptor)
    assert isinstance(judged, Outside)
    assert judged.rule == "symlink"


@pytest.mark.skipif(not os.path.islink("/proc/self"), reason="this system has no /proc")
@pytest.mark.parametrize("path", [
    "/dev/fd/{}", "/proc/self/fd/{}", "/proc/PID/fd/{}", "/proc/self/task/PID/fd/{}", "//dev/./fd/{}",
    "/proc/self/root/dev/fd/{}",
])
@pytest.mark.parametrize("opened", ["R/plan.md", "B/w/src.md", "B/outside"])
def test_an_open_descriptor_is_no_way_in(base: Path, path: str, opened: str) -> None:
    root = str(base / "w" / ".hermes" / "plans")
    descriptor = os.open(opened.replace("R", root).replace("B", str(base)), os.O_RDONLY)
    try:
        for judge in (contain, locate):
            judged = judge(path.replace("PID", str(os.getpid())).format(descriptor), root)
            assert isinstance(judged, Outside)
            assert judged.rule == "symlink"
    finally:
        os.close(descriptor)


@pytest.mark.parametrize(("path", "rule"), [
    ("R/plan.md\n", "unshowable-path"),
    ("R/a\n/b.md", "unshowable-path"),
    ("R/a\r\nb.md", "unshowable-path"),
    ("R/pipe.md/", "not-a-file"),
    ("R/sub", "not-a-file"),
    ("R/sub/", "not-a-file"),
    ("/dev/null", "outside"),
    ("/dev/shm/a.md", "outside"),
    ("R/" + "é" * 127 + "x", ""),
    ("R/" + "é" * 128, "path-too-long"),
    ("R/new/", ""),
    ("R/new//", ""),
])
def test_special_ways_in(base: Path, path: str, rule: str) -> None:
    """What both judge alike."""
    root = str(base / "w" / ".hermes" / "plans")
    for judge in (contain, locate):
        judged = judge(path.replace("R", root), root)
        assert (judged.rule if isinstance(judged, Outside) else "").startswith(rule)
        assert isinstance(judged, Outside) is bool(rule)


def test_as_many_folders_as_may_be(base: Path) -> None:
    root = str(base / "w" / ".hermes" / "plans")
    deepest = root + "/d" * (MOST_NAMES - len(root.split("/")))
    for judge in (contain, locate):
        assert isinstance(judge(deepest, root), Inside)
        assert isinstance(judge(f"{deepest}/d", root), Outside)


@pytest.mark.parametrize(("there", "twin"), [
    ("twin-a.md", "TWIN-A.md"), ("twin-a.md", "twin-a.MD"), ("\u00e9.md", "e\u0301.md"),
    ("\u00df.md", "ss.md"), ("\u017f.md", "s.md"),
    ("\u212a.md", "K.md"), ("x.md", "x.md "), ("x.md", "x.md."),
])
def test_a_twin_of_a_link_is_judged_as_the_system_reads_it(base: Path, there: str, twin: str) -> None:
    """Where the system takes the two for one name, the twin is the link; else it is another file, or none yet."""
    root = base / "w" / ".hermes" / "plans"
    (root / there).symlink_to(base / "w" / "src.md")
    assert isinstance(judge(base, f"R/{there}"), Outside)
    if os.path.lexists(root / twin):
        assert isinstance(judge(base, f"R/{twin}"), Outside)
    else:
        assert judge(base, f"R/{twin}") == Inside(str(root / twin), False)


@pytest.mark.skipif(not os.path.islink("/proc/self"), reason="this system has no /proc")
@pytest.mark.parametrize(("link", "target", "path"), [
    ("here", "/proc/self/cwd", "B/here/x.md"),
    ("here", "/proc/self/cwd/sub", "B/here/x.md"),
    ("w/here", "/dev/fd/../../self/cwd", "B/w/here/x.md"),
    ("two", "R/to-inside", "B/two/plan.md"),
    ("loop", "loop/../w/.hermes/plans/x.md", "B/loop"),
])
def test_every_step_of_a_link_above_the_root_is_looked_at(
    base: Path, monkeypatch: pytest.MonkeyPatch, link: str, target: str, path: str,
) -> None:
    root = base / "w" / ".hermes" / "plans"
    monkeypatch.chdir(root)
    (base / link).symlink_to(target.replace("R", str(root)))
    assert isinstance(judge(base, path), Outside)


@pytest.mark.parametrize("name", ["a\nb", "a\n*** Delete File: ", "a\x1b[2J", "a\u202eb", "a\udcff"])
def test_what_a_person_cannot_see_behind_a_link(base: Path, name: str) -> None:
    """A host may write the real path into a patch, where a line break begins another header."""
    project = base / "w"
    (project / name).mkdir()
    (project / "shown").symlink_to(name)
    for path in ("shown/x.md", "shown"):
        judged = locate(f"{project}/{path}", str(project))
        assert isinstance(judged, Outside)
        assert judged.rule == "unshowable-path" or path == "shown"


def on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The path rules of Windows for what is asked of the text alone; nothing of its file system."""
    monkeypatch.setattr(containment, "os", SimpleNamespace(path=ntpath, sep=ntpath.sep))


@pytest.mark.parametrize("path", [
    "C:a.md", "C:", "plans\\a.md", "C:\\w\\plans\\a.md", "C:\\w\\plans\\..\\..\\x.md", "C:\\w\\..", "\\\\server\\share\\..\\a.md",
    "\\\\?\\C:\\w\\..\\a.md", "C:/w/plans/../../x.md", "C:\\w\\plans/../../x.md", "C:\\w/..\\x.md", "C:\\w\\.. \\x.md",
    "\\a.md", "/a.md", "\\\\?\\C:\\w\\plans\\a.md", "\\\\.\\COM1", "C:\\w\\plans\\CON.md", "C:\\w\\plans\\NUL.md",
    "C:\\w\\plans\\COM1.md", "C:\\w\\plans\\a.md:evil", "C:\\w\\plans\\a.md::$DATA", "C:\\w\\plans\\a.md.", "C:\\w\\plans\\a.md ",
    "C:\\PROGRA~1\\a.md",
])
def test_nothing_is_written_by_the_rules_of_windows(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """Devices, streams, short names, blanks that vanish, two kinds of slashes: none of it is known here, so all is refused."""
    on_windows(monkeypatch)
    refused = Outside("unsupported-system", "only paths of a POSIX system can be checked")
    for judge in (contain, locate):
        assert judge(path, "C:\\w\\plans") == refused


def test_a_plan_directory_whose_name_is_hidden_by_a_link(base: Path) -> None:
    root = base / "a -> b"
    root.mkdir()
    (base / "shown").symlink_to(root)
    named = f"{base}/shown/x.md"
    assert contain(named, str(root)) == Outside("unshowable-path", f"{named!r} leads to a name that could be read as another one")
    assert contain(f"{root}/x.md", str(root)) == Inside(f"{root}/x.md", False)


@pytest.mark.parametrize(("name", "path"), [("x.md ", "shown"), (" x.md", "shown"), ("a -> b", "shown/x.md")])
def test_what_could_be_read_as_another_name_behind_a_link(base: Path, name: str, path: str) -> None:
    project = base / "w"
    (project / "shown").symlink_to(name)
    named = f"{project}/{path}"
    expected: Inside | Outside = Outside("unshowable-path", f"{named!r} leads to a name that could be read as another one")
    if name == " x.md":  # a blank within the path ends nothing
        expected = Inside(f"{project}/ x.md", False, ("shown", " x.md"))
    assert locate(named, str(project)) == expected
    assert isinstance(locate(f"{project}/a -> b/x.md", str(project)), Inside)


def test_a_socket_is_not_a_file() -> None:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listening:
        root = os.path.realpath(folder)
        listening.bind(os.path.join(root, "s.md"))
        judged = contain(os.path.join(root, "s.md"), root)
    assert judged == Outside("not-a-file", f"{os.path.join(root, 's.md')!r} isn't a regular file")


def test_a_chain_of_links_without_end(tmp_path: Path) -> None:
    base = tmp_path.resolve()
    length = sys.getrecursionlimit() + 100
    for i in range(length):
        os.symlink(f"{base}/l{i + 1}", f"{base}/l{i}")
    for root in (base / "w", base / f"l{length}"):
        judged = contain(f"{base}/l0/x.md", str(root))
        assert isinstance(judged, Outside | Inside)
        assert isinstance(judged, Outside) or os.path.dirname(judged.real) == str(root)


def test_what_cannot_be_followed_is_outside(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def readlink(path: str) -> str:
        raise OSError("gone meanwhile")

    monkeypatch.setattr(os, "readlink", readlink)
    monkeypatch.setattr(os.path, "islink", lambda path: True)
    root = str(base / "w" / ".hermes" / "plans")
    for judge in (contain, locate):
        assert judge(f"{root}/a.md", root) == Outside("unreadable-path", f"{root + '/a.md'!r} can't be followed to its end")


@pytest.mark.parametrize("path", ["a.md", "/a.md", "../a.md", "~", " ", "/" * 10])
def test_as_path_says_only_whether_the_system_can_be_asked(path: str) -> None:
    assert as_path(path) == path


def test_the_longest_path_and_the_most_folders(tmp_path: Path) -> None:
    longest = "/" + "/".join(["x" * 240] * 16 + ["y" * (MOST_BYTES - 1 - 241 * 16)])
    most = "/" + "/".join(["x"] * (MOST_NAMES - 1))
    for path in (longest, most):
        assert as_path(path) == path
    assert len(longest) == MOST_BYTES
    assert isinstance(as_path(longest + "y"), Outside)
    assert isinstance(as_path(most + "/x"), Outside)


def test_a_link_in_proc_says_so() -> None:
    assert locate("/proc/self/cwd/a.md", "/proc") == Outside("symlink", "'/proc/self' is a symbolic link")
