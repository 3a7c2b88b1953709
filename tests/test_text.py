"""Text of others, made fit to be shown: nothing in it is obeyed, and none of it is lost without a word."""

from __future__ import annotations

import time

import pytest

from plan_mode.text import one_line, shorten, unattached, visible


@pytest.mark.parametrize(("text", "shown"), [
    ("", ""),
    ("plain", "plain"),
    ("two\nlines\tand a tab", "two\nlines\tand a tab"),
    ("line\r\nends\r\n", "line\nends\n"),
    ("Ünïcödé 日本語 🚀 👩\ufe0f", "Ünïcödé 日本語 🚀 👩\ufe0f"),
    ("a\u00a0b\u00adc", "a\u00a0b\u00adc"),
    ("back\\slash \\x1b", "back\\slash \\x1b"),
    ("a\rb", "a\\x0db"),
    ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
    ("a\0b\x08c\x7f", "a\\x00b\\x08c\\x7f"),
    ("\x9b31m\x85", "\\x9b31m\\x85"),
    ("abc\u202efdp.exe", "abc\\u202efdp.exe"),
    ("\u200b\u200d\u200e\u061c\u2060\ufeff", "\\u200b\\u200d\\u200e\\u061c\\u2060\\ufeff"),
    ("\u2066x\u2069", "\\u2066x\\u2069"),
    ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
    ("\ud800 \udc80", "\\ud800 \\udc80"),
    ("\ufff9\ufffb", "\\ufff9\\ufffb"),
    # Letters that a model reads and nobody sees.
    ("ok\U000e0041\U000e0042\U000e007f", "ok\\U000e0041\\U000e0042\\U000e007f"),
    ("ok\U000e0100\U000e01ef", "ok\\U000e0100\\U000e01ef"),
])
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(("text", "most", "shown"), [
    ("", 10, ""), ("abc", 3, "abc"), ("abc", 4, "abc"),
    ("abcd", 3, "abc … [1 more characters]"), ("ab  cd", 4, "ab … [2 more characters]"), ("abc", 0, " … [3 more characters]"),
])
def test_shorten(text: str, most: int, shown: str) -> None:
    assert shorten(text, most) == shown


@pytest.mark.parametrize(("text", "most", "shown"), [
    ("", 10, ""),
    ("  one \n\n two\tthree  ", 20, "one two three"),
    ("a\rb\x1cc\u2028d", 20, "a b c d"),
    ("one two three", 7, "one two … [6 more characters]"),
    ("x" * 5000, 10, "xxxxxxxxxx … [4990 more characters]"),
    # What comes late isn't hidden by what comes before.
    (" " * 5000 + "late", 10, "late"),
    ("a" + " " * 5000 + "late", 10, "a late"),
    ("\x1b" * 3, 10, "\\x1b\\x1b\\x1b"),
    ("\x1b" * 12, 10, "\\x1b" * 10 + " … [2 more characters]"),
    ("a\u202eb", 10, "a\\u202eb"),
])
def test_one_line(text: str, most: int, shown: str) -> None:
    assert one_line(text, most) == shown


@pytest.mark.parametrize("character", ["x", " ", "\x1b", "\u202e", "\U000e0041", "\ud800", "\n", "a "])
def test_a_line_is_made_of_a_megabyte_in_no_time(character: str) -> None:
    text = character * (1_000_000 // len(character))
    started = time.perf_counter()
    line = one_line(text, 600)
    assert time.perf_counter() - started < 1
    assert len(line) < 600 * len("\\U000e0041") + 50



@pytest.mark.parametrize("sent", [
    "see MEDIA|:/a/b.png", "media|:x", "[|[as_document]]", "!|[x](http://e/x.png)", "<|img src=http://e/x.png>",
    "Plans: /|a/b/c.md (yours)", "`/|a.yaml`", "~/|x/y.json", "C:\\|x\\y.md", "(/|a.md)", "/|a.md:/b.md",
    "Multimedia a", "/planmode on, /mode off.", "http://e/x.md", "./a.md", "a/b.md", "[a](b)", "/a/src", "MEDIA", "3 < 4", "",
])
def test_what_a_chat_would_send_as_a_file_stays_text(sent: str) -> None:
    """The bar stands for what keeps it one."""
    text = sent.replace("|", "")
    assert unattached(text) == sent.replace("|", "\u2060")
    assert unattached(unattached(text), undo=True) == text
