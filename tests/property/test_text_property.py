"""No text of others is obeyed by whoever shows it, and none disappears without a note."""

from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from plan_mode.plans import plan_name
from plan_mode.policy.containment import as_path
from plan_mode.text import one_line, shorten, visible

HOSTILE = st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Zs"])
TEXTS = st.one_of(st.text(max_size=300), st.text(HOSTILE, max_size=60), st.text(HOSTILE | st.characters(), max_size=100))


def obeyed(character: str) -> bool:
    """Written from the Unicode data, not from our table: control characters, separators, surrogates, direction, tags."""
    if character in "\n\t":
        return False
    if unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}:
        return True
    return unicodedata.bidirectional(character) in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"} or \
        character in "\u200e\u200f\u061c" or 0xE0000 <= ord(character) <= 0xE0FFF


@settings(max_examples=150, deadline=None)
@given(text=TEXTS)
def test_nothing_that_is_shown_is_obeyed(text: str) -> None:
    shown = visible(text)
    assert not [character for character in shown if obeyed(character)]
    shown.encode()
    assert visible(shown) == shown


@settings(max_examples=80, deadline=None)
@given(text=st.text(alphabet=st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_plain_text_is_shown_as_it_is(text: str) -> None:
    assert visible(text) == text


@settings(max_examples=150, deadline=None)
@given(text=TEXTS, most=st.integers(0, 400))
def test_one_line_is_one_line_and_short(text: str, most: int) -> None:
    line = one_line(text, most)
    assert len(line.splitlines()) <= 1
    assert not [character for character in line if obeyed(character)]
    assert len(line) <= most * 10 + len(" … [999 more characters]")
    words = " ".join(text.split())
    assert line == visible(words) if len(words) <= most else line.endswith(f" … [{len(words) - most} more characters]")


@settings(max_examples=80, deadline=None)
@given(text=TEXTS, most=st.integers(0, 400))
def test_what_is_cut_off_is_counted(text: str, most: int) -> None:
    short = shorten(text, most)
    if len(text) <= most:
        assert short == text
    else:
        assert short == f"{text[:most].rstrip()} … [{len(text) - most} more characters]"


@settings(max_examples=80, deadline=None)
@given(title=st.one_of(TEXTS, st.text(alphabet="\u0301\u0323a/.", max_size=400)), at=st.floats(0, 4e9))
def test_the_name_of_a_plan_is_a_name_that_may_be_written(title: str, at: float) -> None:
    name = plan_name(title, at)
    assert name.isascii()
    assert name.endswith(".md")
    assert "/" not in name
    assert not name.startswith(".")
    assert as_path(f"/p/{name}") == f"/p/{name}"
