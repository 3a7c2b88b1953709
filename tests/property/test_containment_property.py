"""If containment says Inside, writing there changes nothing outside: tried out, on small trees with links of all kinds."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import event, given, settings
from hypothesis import strategies as st

from plan_mode.policy.containment import Inside, Outside, contain

RULES = {
    "outside-plans", "not-absolute", "dot-dot", "symlink", "dot-folder", "not-a-file", "hard-link", "unreadable-path", "no-path",
    "unshowable-path", "path-too-long",
}

# Few names, so that paths meet what stands in the tree.
NAMES = st.sampled_from(["a", "b", "c.md", ".d", "w", ".hermes", "plans"])
PLACES = st.sampled_from(["", "w", "w/.hermes", "w/.hermes/plans", "w/.hermes/plans/a", "out", "out/a"])
LINK_TARGETS = st.one_of(
    st.sampled_from([
        "B/w", "B/out", "B/w/.hermes/plans", "B/w/.hermes/plans/a", "B/nowhere", "/", ".", "..", "../..", "../../../out"]),
    NAMES, st.builds("{}/{}".format, NAMES, NAMES), st.builds("../{}".format, NAMES),
)
KINDS = st.sampled_from(["file", "folder", "link", "link", "twin"])
ENTRIES = st.lists(st.tuples(KINDS, PLACES, NAMES, LINK_TARGETS), max_size=8)

PIECES = st.sampled_from(["a", "b", "c.md", ".d", "w", ".hermes", "plans", "out", ".", "..", "", "\u202e", "\0", "x" * 300])
STARTS = st.sampled_from(["R", "R", "R", "R/a", "B", "B/w", "B/a", "B/out", "B/b/.hermes/plans", "/", "//", "/R", "", ".", "~"])
PATHS = st.one_of(
    st.builds(lambda start, pieces, end: "/".join([start, *pieces]) + end,
              STARTS, st.lists(PIECES, max_size=4), st.sampled_from(["", "/", "/.", "/new.md"])),
    st.text(max_size=40),
)


def build(base: Path, entries: list[tuple[str, str, str, str]]) -> None:
    for folder in ("w/.hermes/plans/a", "out/a"):
        (base / folder).mkdir(parents=True)
    (base / "out" / "secret").write_text("secret")
    for kind, place, name, target in entries:
        entry = base / place / name
        try:
            if kind == "file":
                entry.write_text("file")
            elif kind == "folder":
                entry.mkdir()
            elif kind == "link":
                entry.symlink_to(target.replace("B", str(base)))
            else:
                os.link(base / "out" / "secret", entry)
        except OSError:  # something stands there, or its folder doesn't
            continue


def snapshot(base: Path, root: str) -> dict[str, tuple[object, ...]]:
    """Everything but what is below the root: kinds, contents, link targets, and what can be seen of a write."""
    found: dict[str, tuple[object, ...]] = {}
    for folder, folders, files in os.walk(base):
        if os.path.realpath(folder) == root:
            folders.clear()
            continue
        for name in folders + files:
            path = os.path.join(folder, name)
            if path == root:
                continue
            status = os.lstat(path)
            is_file = os.path.isfile(path) and not os.path.islink(path)
            found[path] = (
                status.st_mode, status.st_ino, os.readlink(path) if os.path.islink(path) else None,
                Path(path).read_bytes() if is_file else None,
            )
    return found


@settings(max_examples=200, deadline=None)
@given(entries=ENTRIES, path=PATHS)
def test_inside_means_that_a_write_stays_inside(entries: list[tuple[str, str, str, str]], path: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve()
        build(base, entries)
        root = str(base / "w" / ".hermes" / "plans")
        named = path.replace("R", root).replace("B", str(base))
        judged = contain(named, root)
        event(type(judged).__name__)
        if isinstance(judged, Outside):
            assert judged.rule in RULES
            assert judged.reason
            return
        assert judged.real.startswith(root + os.sep)
        assert os.path.realpath(judged.real) == judged.real == os.path.realpath(named)
        before = snapshot(base, root)
        try:
            os.makedirs(os.path.dirname(named.rstrip("/.")), exist_ok=True)
            with open(named, "w") as file:
                file.write("written")
        except OSError:  # such as a name that ends in a slash
            event("the system refused the write")
        else:
            assert Path(judged.real).read_text() == "written"
        assert snapshot(base, root) == before


@settings(max_examples=100, deadline=None)
@given(untrusted=st.one_of(
    st.none(), st.integers(), st.floats(), st.binary(), st.text(), st.text(st.characters(categories=["Cs", "Cc", "Cf", "Zl"])),
    st.lists(st.text()), st.dictionaries(st.text(), st.text()),
    st.text().map(lambda text: "/nowhere/plans/" + text), st.text(alphabet="/.", max_size=5000),
), root=st.sampled_from(["", "/", "/nowhere/plans", "nowhere"]))
def test_contain_is_total(untrusted: object, root: str) -> None:
    judged = contain(untrusted, root)
    assert isinstance(judged, Inside | Outside)
    if isinstance(judged, Inside):
        assert isinstance(untrusted, str)
        assert judged.real.startswith(root)
        assert judged.real != root
