"""The host's own patch parser as the oracle: every file that it would touch, we have read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tools.patch_parser import parse_v4a_patch

from plan_mode.policy.targets import Unreadable, read_targets

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


@settings(max_examples=1000, deadline=None)
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
