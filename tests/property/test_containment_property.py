"""If containment says Inside, the write lands where it was said and nowhere else: tried out, on small trees of all kinds.

What is judged in one place is written from another: a host hands paths to a shell whose working folder and open
descriptors aren't those of the process that judged them.
"""

from __future__ import annotations

import errno
import itertools
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from plan_mode.policy.containment import Inside, Outside, contain, locate

RULES = {
    "outside-plans", "outside-project", "not-absolute", "dot-dot", "symlink", "dot-folder", "not-a-file", "hard-link",
    "unreadable-path", "no-path", "unshowable-path", "path-too-long",
}

# In paths and link targets: B is the folder around it all, P the project in it, R its plan directory, N the process, D a
# descriptor of the plan directory, F one of a file outside.
PLACEHOLDERS = "BPRNDF"

# Few names, so that paths meet what stands in the tree.
PLAIN = st.sampled_from(["a", "b", "c.md", ".d", "w", ".hermes", "plans"])
# Names that some system or program takes for one another, cuts off or reads as something else.
ODD = st.sampled_from([
    "A", "C.md", "c.MD", "PLANS", "\u00e9", "e\u0301", "\u017f", "s", "S", "\u00df", "ss", "\u212a", "k", "K", "\u0130", "i",
    "a ", " a", "a.", "a..", "...", "a\\b", "..\\a", "a:b", "c.md:b", "c.md::$DATA", "CON", "NUL.md", "A~1", "~", "a -> b", "->",
    "-a", "$HOME", "`a`", "a'b\"", "a;b", "a&b", "*", "x" * 255, "\u00e9" * 127 + "x", "\U0001f680" * 63,
])
# They can't be named, but they may stand in the way, or be what a link leads to.
UNSHOWABLE = st.sampled_from(["a\nb", "a\n", "\r", "\x1b[2J", "a\u202eb"])
NAMES = st.one_of(PLAIN, PLAIN, ODD)
PLACES = st.sampled_from([
    "", "w", "w", "w/.hermes", "w/.hermes/plans", "w/.hermes/plans", "w/.hermes/plans/a", "w/a", "out", "out/a"])
LINK_TARGETS = st.one_of(
    st.sampled_from([
        "<B>/w", "<B>/out", "<P>/a", "<R>", "<R>/a", "<B>/nowhere", "<P>/nowhere/c.md", "/", ".", "..", "../..", "../../../out",
        "<B>/out/secret", "//<R>/a", "<B>/w/./a", "a/../b", "./a/", "<P>/b/c.md"]),
    NAMES, NAMES, st.builds("{}/{}".format, NAMES, NAMES), st.builds("../{}".format, NAMES), st.builds("<B>/w/{}".format, NAMES),
    st.builds("<R>/{}".format, NAMES),
)
KINDS = st.sampled_from(["file", "folder", "link", "link", "link", "chain", "loop", "twin", "second name", "pipe"])
ENTRIES = st.lists(st.tuples(KINDS, PLACES, st.one_of(NAMES, NAMES, UNSHOWABLE), LINK_TARGETS), max_size=9)

PIECES = st.one_of(NAMES, NAMES, NAMES, st.sampled_from([
    "out", ".", "", "x" * 256, "\u00e9" * 128, "d/" * 20 + "d", "d/" * 70 + "d", "y" * 250 + "/" + "y" * 250, "..", "\0",
    "a\nb"]))
BELOW = st.sampled_from(["<R>", "<R>/a", "<R>/b", "/<R>", "///<R>", "<P>", "<P>/a", "<P>/b", "<P>/a/a", "//<P>"])
ELSEWHERE = st.sampled_from([
    "<B>", "<B>/w", "<B>/a", "<B>/b", "<B>/out", "<B>/b/.hermes/plans", "<B>/a/a", "/", "//", "", ".", "~",
    "/proc/self/cwd", "/proc/thread-self/cwd", "/proc/<N>/cwd", "/proc/self/root<R>", "/proc/<N>/root<P>", "/proc/self/root",
    "/proc/self/fd/<D>", "/dev/fd/<D>", "/proc/<N>/fd/<F>", "/dev/fd/<F>", "/proc/self/task/<N>/cwd", "//proc/self/cwd",
])
ENDS = st.sampled_from(["", "", "", "/", "/.", "/new.md", "/new.md"])


def paths_from(starts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(lambda start, pieces, end: "/".join([start, *pieces]) + end, starts, st.lists(PIECES, max_size=3), ENDS)


# Several to a tree: what one wrote stands in the way of the next.
PATHS = st.lists(st.one_of(*[paths_from(BELOW)] * 4, paths_from(ELSEWHERE), st.text(max_size=40)), min_size=3, max_size=6)


NUMBERS = itertools.count()
Entries = list[tuple[str, str, str, str]]


@dataclass(frozen=True)
class World:
    """One tree, and what the placeholders stand for in it. ``here`` and ``there`` are descriptors of places to stand in."""

    base: Path
    root: str
    project: str
    here: int
    there: int
    marks: dict[str, str]

    def named(self, text: str) -> str:
        for mark in PLACEHOLDERS:
            text = text.replace(f"<{mark}>", self.marks[mark])
        return text

    def files(self) -> dict[str, tuple[object, ...]]:
        """Everything below the base: kinds, contents, link targets, and what can be seen of a write."""
        found: dict[str, tuple[object, ...]] = {}
        for folder, folders, files in os.walk(self.base):
            for name in folders + files:
                path = os.path.join(folder, name)
                status = os.lstat(path)
                found[path] = (
                    status.st_mode, status.st_ino, os.readlink(path) if os.path.islink(path) else None,
                    Path(path).read_bytes() if S_ISREG(status.st_mode) else None)
        return found


def touch(new: Path) -> None:
    with open(new, "x") as file:  # "x": what stands there may be a pipe
        file.write("file")


def build(world: World, entries: Entries) -> None:
    for folder in ("w/.hermes/plans/a", "w/a", "out/a"):
        (world.base / folder).mkdir()
    links = [world.base / "a"]
    for number, (kind, place, name, target) in enumerate(entries):
        entry = world.base / place / name
        try:
            if kind == "file":
                touch(entry)
            elif kind == "folder":
                entry.mkdir()
            elif kind == "link":
                entry.symlink_to(world.named(target))
                links.append(entry)
            elif kind == "chain":  # whatever came before it, so that chains grow long
                entry.symlink_to(links[-1])
                links.append(entry)
            elif kind == "loop":
                entry.symlink_to(os.path.join(os.path.dirname(links[-1]), entry.name) if number % 2 else entry.name)
                links.append(entry)
            elif kind == "pipe":
                os.mkfifo(entry)
            elif kind == "twin":
                os.link(world.base / "out" / "secret", entry)
            else:
                touch(entry)
                os.link(entry, world.base / "out" / f"second{number}")
        except OSError:  # something stands there, or its folder doesn't
            continue


@contextmanager
def world_of(entries: Entries) -> Iterator[World]:
    """A tree, and this process somewhere in it."""
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve()
        project, root = base / "w", base / "w" / ".hermes" / "plans"
        root.mkdir(parents=True)
        (base / "out").mkdir()
        (base / "out" / "secret").write_text("secret")
        open_ones = [os.open(root, os.O_RDONLY), os.open(base / "out", os.O_RDONLY), os.open(root, os.O_RDONLY),
                     os.open(base / "out" / "secret", os.O_RDWR)]
        here, there, named, file = open_ones
        world = World(base, str(root), str(project), here, there, {
            "B": str(base), "P": str(project), "R": str(root), "N": str(os.getpid()), "D": str(named), "F": str(file)})
        try:
            build(world, entries)
            yield world
        finally:
            os.chdir(home)
            for each in open_ones:
                os.close(each)


def stand(world: World, where: int) -> None:
    """Let this process, and the descriptor that paths name, be in one of the two places."""
    os.fchdir(where)
    os.dup2(where, int(world.marks["D"]))


def write(world: World, named: str, text: str) -> bool:
    """Whether the system took a write to this path, from where a host's shell may stand."""
    stand(world, world.there)
    try:
        os.makedirs(os.path.dirname(named.rstrip("/.")), exist_ok=True)
        descriptor = os.open(named, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK)
    except OSError as failure:  # such as a name that ends in a slash
        if failure.errno == errno.ELOOP:
            raise AssertionError("a loop was said to be a place") from failure
        return False
    with open(descriptor, "w") as file:
        file.write(text)
    return True


Judge = Callable[[object, str], Inside | Outside]


def try_out(judge: Judge, world: World, root: str, path: str) -> None:
    named = world.named(path)
    stand(world, world.here)
    judged = judge(named, root)
    event(judged.rule if isinstance(judged, Outside) else "inside")
    if isinstance(judged, Outside):
        assert judged.rule in RULES
        assert judged.reason
        return
    real = judged.real
    assert real.startswith(root + os.sep)
    assert os.path.realpath(real) == real == os.path.realpath(named)
    assert judged.exists is os.path.isfile(real)
    if judge is locate:
        as_named, as_it_is = judged.names
        assert as_it_is == os.path.relpath(real, root)
        assert os.path.realpath(os.path.join(root, as_named)) == real
        assert ".." not in as_named.split("/")
    before = world.files()
    text = f"written {next(NUMBERS)}"
    took = write(world, named, text)
    after = world.files()
    changed = {each for each in {*before, *after} if before.get(each) != after.get(each)}
    event("written" if took else "the system refused the write")
    assert all(each.startswith(root + os.sep) for each in changed)
    # beside it, only folders that lead to it
    assert {each for each in changed if not os.path.isdir(each) or os.path.islink(each)} == ({real} if took else set())
    assert not took or Path(real).read_text() == text


@pytest.mark.parametrize(("judge", "folder"), [(contain, "root"), (locate, "project")])
@settings(max_examples=150, deadline=None)
@given(entries=ENTRIES, paths=PATHS)
def test_inside_means_that_a_write_lands_where_it_was_judged(judge: Judge, folder: str, entries: Entries,
                                                             paths: list[str]) -> None:
    with world_of(entries) as world:
        for path in paths:
            try_out(judge, world, getattr(world, folder), path)


@settings(max_examples=40, deadline=None)
@given(links=st.lists(st.tuples(st.sampled_from(["w/a", "w/.hermes/plans", ""]), st.sampled_from("abcde")),
                      min_size=1, max_size=5, unique=True),
       rest=st.sampled_from(["", "/x.md", "/a/x.md"]), relative=st.booleans())
def test_a_loop_is_outside(links: list[tuple[str, str]], rest: str, relative: bool) -> None:
    """A ring of links, wherever they stand, entered at each of them."""
    with world_of([]) as world:
        ring = [world.base / place / f"ring-{name}" for place, name in links]
        for here, there in zip(ring, ring[1:] + ring[:1], strict=True):
            here.symlink_to(os.path.relpath(there, here.parent) if relative else there)
        for here in ring:
            for judge, root in ((contain, world.root), (locate, world.project)):
                judged = judge(f"{here}{rest}", root)
                assert isinstance(judged, Outside)
                assert judged.rule in {
                    "outside-plans", "outside-project", "symlink", "not-a-file", "unreadable-path", "path-too-long"}


@settings(max_examples=100, deadline=None)
@given(untrusted=st.one_of(
    st.none(), st.integers(), st.floats(), st.binary(), st.text(), st.text(st.characters(categories=["Cs", "Cc", "Cf", "Zl"])),
    st.lists(st.text()), st.dictionaries(st.text(), st.text()),
    st.text().map(lambda text: "/nowhere/plans/" + text), st.text(alphabet="/.", max_size=5000),
), root=st.sampled_from(["", "/", "/nowhere/plans", "nowhere"]))
def test_both_are_total(untrusted: object, root: str) -> None:
    for judge in (contain, locate):
        judged = judge(untrusted, root)
        assert isinstance(judged, Inside | Outside)
        if isinstance(judged, Inside):
            assert isinstance(untrusted, str)
            assert judged.real.startswith(root)
            assert judged.real != root
