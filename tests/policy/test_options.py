"""Could a program behind a reading tool take an argument for one of its options?"""

from __future__ import annotations

import time
from collections import UserDict
from types import MappingProxyType

import pytest

from plan_mode.modes.builtin import READING
from plan_mode.policy.catalogue import CATALOGUE
from plan_mode.policy.options import PASSED_ON, option_among


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize("arguments", [
    None,
    {},
    {"pattern": "pre", "path": ".", "file_glob": "*.py"},
    {"pattern": "a-b --pre=x", "path": "/w/a-b/c-/d"},
    {"pattern": " --pre=x"},
    {"pattern": "[-]-pre"},
    {"pattern": "\\-\\-pre"},
    {"pattern": "\u2010\u2013\uff0d-pre"},
    {"pattern": "", "path": "", "file_glob": ""},
    {"pattern": None, "path": None, "file_glob": None},
    {"pattern": "x", "path": "./-x"},
    {"pattern": "x", "path": "/w/my - notes, old"},
    {"pattern": "x", "path": "a,b c"},
    {"pattern": "x", "file_glob": "!-x"},
    {"pattern": "x", "limit": -1, "offset": "-1", "target": "-x", "output_mode": "--pre=x"},
])
def test_a_search_that_only_searches(arguments: object) -> None:
    assert option_among("search_files", arguments) == ""


@pytest.mark.parametrize(("arguments", "what"), [
    ({"pattern": "--pre=x", "path": "."}, "its argument pattern"),
    ({"pattern": "--pre"}, "its argument pattern"),
    ({"pattern": "-"}, "its argument pattern"),
    ({"pattern": "--"}, "its argument pattern"),
    ({"pattern": "-> None"}, "its argument pattern"),
    ({"pattern": "--hostname-bin=x"}, "its argument pattern"),
    ({"pattern": "x", "path": "--pre=x"}, "its argument path"),
    ({"pattern": "x", "path": "-delete"}, "its argument path"),
    # Several paths in one, as the host takes it.
    ({"pattern": "x", "path": "a,--pre=x"}, "its argument path"),
    ({"pattern": "x", "path": "a, -x"}, "its argument path"),
    ({"pattern": "x", "path": "a\nb\n-x"}, "its argument path"),
    ({"pattern": "x", "path": " -x"}, "its argument path"),
    ({"pattern": "x", "file_glob": "--pre=x"}, "its argument file_glob"),
    # Not text, or not only text: nobody knows what the program gets to see.
    ({"pattern": ["--pre=x"]}, "its argument pattern"),
    ({"pattern": b"x"}, "its argument pattern"),
    ({"pattern": 7}, "its argument pattern"),
    ({"pattern": Text("x")}, "its argument pattern"),
    ({"pattern": "x", "path": ["."]}, "its argument path"),
    ("--pre=x", "one of its arguments"),
    ('{"pattern": "--pre=x"}', "one of its arguments"),
    ([], "one of its arguments"),
    (MappingProxyType({"pattern": "x"}), "one of its arguments"),
    (UserDict({"pattern": "x"}), "one of its arguments"),
])
def test_a_search_that_may_run_something(arguments: object, what: str) -> None:
    assert option_among("search_files", arguments) == what


@pytest.mark.parametrize(("arguments", "what"), [
    ({"path": "/w/a.py", "offset": -1}, ""),
    ({"path": "./-x"}, ""),
    ({"path": "a -x"}, ""),
    ({"pattern": "-x"}, ""),
    ({"path": "-x"}, "its argument path"),
    ({"path": "-ew x"}, "its argument path"),
    ({"path": ["-x"]}, "its argument path"),
])
def test_a_file_that_is_read(arguments: object, what: str) -> None:
    assert option_among("read_file", arguments) == what


@pytest.mark.parametrize("tool", sorted({*CATALOGUE, "", "my_reader"} - set(PASSED_ON)))
@pytest.mark.parametrize("arguments", [{"pattern": "--pre=x", "path": "-x"}, "--pre=x", 7])
def test_other_tools_are_not_looked_at(tool: str, arguments: object) -> None:
    assert option_among(tool, arguments) == ""


def test_the_table_is_about_reading_tools() -> None:
    assert set(PASSED_ON) <= READING


@pytest.mark.parametrize("text", ["x", " ", ", ", "\n", "x -", "- "])
@pytest.mark.parametrize("argument", ["pattern", "path", "file_glob"])
def test_a_megabyte_is_looked_at_in_no_time(argument: str, text: str) -> None:
    started = time.perf_counter()
    option_among("search_files", {argument: "x" + text * (1_000_000 // len(text))})
    assert time.perf_counter() - started < 0.5
