"""Which files a call names: every argument shape the host takes, and every one it doesn't."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plan_mode.policy.targets import MOST_TARGETS, Unreadable, read_targets, rewritten


def patch(text: object) -> dict[str, object]:
    return {"mode": "patch", "patch": text}


@pytest.mark.parametrize(("tool", "arguments", "targets"), [
    ("write_file", {"path": "/p/a.md", "content": "x"}, ("/p/a.md",)),
    ("write_file", {"path": "/p/a.md", "mode": "patch", "patch": "*** Add File: /p/b.md"}, ("/p/a.md",)),
    ("patch", {"path": "/p/a.md"}, ("/p/a.md",)),
    ("patch", {"mode": "replace", "path": "/p/a.md"}, ("/p/a.md",)),
    # Without a mode the host replaces, whatever else is given.
    ("patch", {"path": "/p/a.md", "patch": "*** Add File: /p/b.md"}, ("/p/a.md",)),
    # Values are handed on as they are; containment refuses what isn't a path.
    ("write_file", {}, (None,)),
    ("write_file", {"path": ["/p/a.md"]}, (["/p/a.md"],)),
    ("patch", {"mode": "replace", "path": 7}, (7,)),
])
def test_a_path_argument(tool: str, arguments: dict[str, object], targets: tuple[object, ...]) -> None:
    assert read_targets(tool, arguments) == targets


@pytest.mark.parametrize(("text", "targets"), [
    ("*** Update File: /p/a.md", ("/p/a.md",)),
    ("*** Add File: /p/a.md\n+x", ("/p/a.md",)),
    ("*** Delete File: /p/a.md", ("/p/a.md",)),
    ("*** Move File: /p/a.md -> /p/b.md", ("/p/a.md", "/p/b.md")),
    # As lenient as the host.
    ("***Update File: /p/a.md", ("/p/a.md",)),
    ("***   Update   File:/p/a.md  ", ("/p/a.md",)),
    ("***\tUpdate\tFile:\t/p/a.md\t", ("/p/a.md",)),
    ("***\u00a0Update\u3000File: /p/a.md", ("/p/a.md",)),
    ("*** Update File: /p/a.md\r\n+x\r\n", ("/p/a.md",)),
    ("*** Move File: /p/a.md->/p/b.md", ("/p/a.md", "/p/b.md")),
    ("*** Move File: /p/a.md  ->  /p/b.md\r", ("/p/a.md", "/p/b.md")),
    ("*** Move File: -> -> /p/b.md", ("->", "/p/b.md")),
    ("*** Move File: a -> b -> c", ("a", "b -> c")),
    ("*** Move File: a->b", ("a", "b")),
    ("*** Add File: a -> b", ("a -> b",)),
    # Every header of the text counts, outside of the markers too: hosts differ in how they find those.
    ("*** Update File: a\n*** Begin Patch\n*** Add File: b\n*** End Patch\n*** Delete File: c", ("a", "b", "c")),
    ("*** Begin Patch\n*** Begin Patch\n*** Add File: b", ("b",)),
    ("*** Update File: b\n*** Update File: a\n*** Update File: b", ("b", "a", "b")),
    # Only a line feed ends a line, for the host as for us: the rest belongs to the name, which containment refuses.
    ("*** Add File: a\r*** Add File: b", ("a\r*** Add File: b",)),
    ("*** Add File: a\u2028*** Add File: b", ("a\u2028*** Add File: b",)),
    ("*** Add File: a\x0b*** Add File: b", ("a\x0b*** Add File: b",)),
    # What only looks like a header names nothing.
    ("*** Add File: a\n+*** Add File: b\n *** Add File: c\n-*** Delete File: d", ("a",)),
    ("*** Add File: a\n*** add file: b\n*** ADD FILE: c\n** Add File: d\n*** AddFile: e\n*** Add File e", ("a",)),
])
def test_the_headers_of_a_patch(text: str, targets: tuple[str, ...]) -> None:
    assert read_targets("patch", patch(text)) == targets


class Text(str):
    """Not what JSON makes, and free to show itself differently each time."""

    __slots__ = ()


@pytest.mark.parametrize(("tool", "arguments", "reason"), [
    ("terminal", {"path": "/p/a.md"}, "it isn't known where terminal writes"),
    ("image_generate", {"output_path": "/p/a.md"}, "it isn't known where image_generate writes"),
    ("patch", {"mode": None, "path": "/p/a.md"}, "its mode is neither 'replace' nor 'patch'"),
    ("patch", {"mode": "", "path": "/p/a.md"}, "its mode is neither 'replace' nor 'patch'"),
    ("patch", {"mode": "Replace", "path": "/p/a.md"}, "its mode is neither 'replace' nor 'patch'"),
    ("patch", {"mode": "patch ", "path": "/p/a.md"}, "its mode is neither 'replace' nor 'patch'"),
    ("patch", {"mode": ["patch"], "path": "/p/a.md"}, "its mode is neither 'replace' nor 'patch'"),
    ("patch", {"mode": Text("replace"), "path": "/p/a.md"}, "its mode is neither 'replace' nor 'patch'"),
    ("patch", {"mode": "patch", "path": "/p/a.md"}, "the patch isn't text"),
    ("patch", patch(None), "the patch isn't text"),
    ("patch", patch(b"*** Add File: /p/a.md"), "the patch isn't text"),
    ("patch", patch(["*** Add File: /p/a.md"]), "the patch isn't text"),
    ("patch", patch(Text("*** Add File: /p/a.md")), "the patch isn't text"),
    ("patch", patch(""), "the patch has no file header"),
    ("patch", patch("--- a/x\n+++ b/x\n@@\n-a\n+b"), "the patch has no file header"),
    ("patch", patch(" *** Add File: /p/a.md"), "the patch has no file header"),
    ("patch", patch("***\nAdd File: /p/a.md"), "the patch has no file header"),
    ("patch", patch("*** Add\nFile: /p/a.md"), "the patch has no file header"),
    ("patch", patch("*** Rename File: /p/a.md"), "the patch has no file header"),
    ("patch", patch("*** Add File:"), "a file header in the patch names no file"),
    ("patch", patch("*** Add File:  \t \n/p/a.md"), "a file header in the patch names no file"),
    ("write_file", {"path": "/p/a.md", "file_path": "/p/b.md"}, "path and file_path name different files"),
    ("patch", patch("*** Move File: /p/a.md"), "a file header in the patch names no file"),
    ("patch", patch("*** Move File: /p/a.md ->"), "a file header in the patch names no file"),
    ("patch", patch("*** Move File: -> /p/a.md"), "a file header in the patch names no file"),
    ("patch", patch("*** Move File: /p/a.md\n-> /p/b.md"), "a file header in the patch names no file"),
    ("patch", patch("*** Move File: /p/a.md - > /p/b.md"), "a file header in the patch names no file"),
    ("patch", patch("*** Add File: /p/a.md\n*** Add File:"), "a file header in the patch names no file"),
])
def test_what_cannot_be_read(tool: str, arguments: dict[str, Any], reason: str) -> None:
    assert read_targets(tool, arguments) == Unreadable(reason)


@pytest.mark.parametrize(("arguments", "targets"), [
    ({"text": "a"}, ()), ({"output_path": None}, ()), ({"output_path": ""}, ()), ({"output_path": "/p/a.mp3"}, ("/p/a.mp3",)),
    ({"output_path": 7}, (7,)), ({"output_path": ["/p"]}, (["/p"],)), ({"path": "/p/a"}, ()),
])
def test_speech_writes_where_it_is_told_if_it_is(arguments: dict[str, Any], targets: tuple[object, ...]) -> None:
    assert read_targets("text_to_speech", arguments) == targets


def test_the_number_of_files_is_bounded() -> None:
    headers = [f"*** Add File: /p/{i}.md" for i in range(MOST_TARGETS + 1)]
    assert read_targets("patch", patch("\n".join(headers))) == Unreadable("the patch names more than 64 files")
    within = read_targets("patch", patch("\n".join(headers[:MOST_TARGETS])))
    assert within == tuple(f"/p/{i}.md" for i in range(MOST_TARGETS))


# -- changing them

def upper(path: str) -> str:
    assert path, "nothing isn't changed into something"
    return path.upper()


@pytest.mark.parametrize(("tool", "arguments", "changed"), [
    ("write_file", {"path": "a", "content": "a"}, {"path": "A", "content": "a"}),
    ("patch", {"path": "a", "old_string": "a"}, {"path": "A", "old_string": "a"}),
    ("patch", {"mode": "replace", "path": "a", "patch": "*** Add File: a"},
     {"mode": "replace", "path": "A", "patch": "*** Add File: a"}),
    ("patch", {"mode": "patch", "path": "a", "patch": "***Add File: a b \n+*** x\n*** Move File: c -> d\n*** Delete File:\te"},
     {"mode": "patch", "path": "a", "patch": "***Add File: A B\n+*** x\n*** Move File: C -> D\n*** Delete File: E"}),
    ("patch", {"mode": "patch", "patch": "*** Move File: -> d\n*** Add File:"},
     {"mode": "patch", "patch": "*** Move File: -> d\n*** Add File: "}),
    ("write_file", {"path": 7}, {"path": 7}),
    ("patch", {"mode": "patch", "patch": ["x"]}, {"mode": "patch", "patch": ["x"]}),
    ("write_file", {}, {}),
    ("text_to_speech", {"output_path": "a", "path": "a"}, {"output_path": "A", "path": "a"}),
    ("text_to_speech", {"text": "a"}, {"text": "a"}),
])
def test_every_file_that_is_read_is_changed_and_nothing_else(
    tool: str, arguments: dict[str, Any], changed: dict[str, Any],
) -> None:
    before = dict(arguments)
    assert rewritten(tool, arguments, upper) == changed
    assert arguments == before


@given(st.text(alphabet="*AUDMpdatelvoFi:> -\n\tab./", max_size=120))
def test_what_is_changed_is_what_is_read(text: str) -> None:
    """The files of the changed patch are the changed files of the patch."""
    arguments = {"mode": "patch", "patch": text}
    before = read_targets("patch", arguments)
    after = read_targets("patch", rewritten("patch", arguments, lambda path: f"/w/{path}"))
    if isinstance(before, Unreadable):
        assert isinstance(after, Unreadable)
    else:
        assert after == tuple(f"/w/{path}" for path in before)
