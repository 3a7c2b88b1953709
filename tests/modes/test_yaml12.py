"""YAML 1.2 with places: words, refusals, bounds, JSON, and repairs that leave prose alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import ruamel.yaml
import yaml

from plan_mode.errors import YamlError, YamlMissing
from plan_mode.modes import yaml12
from plan_mode.modes.document import DEEPEST

VECTORS = json.loads((Path(__file__).parents[1] / "conformance" / "yaml_words.json").read_text(encoding="utf-8"))

DEVIATIONS = {
    "a: !foo 1": "An unknown YAML tag is a fault of the file; Roo Code reads the value as if there were none.",
}


@pytest.fixture(params=["libyaml", "pure", "ruamel"], autouse=True)
def scanner(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every test is run with the fast scanner of PyYAML, with the one it has without libyaml, and with the descendant's."""
    if request.param == "ruamel":
        monkeypatch.setitem(sys.modules, "yaml", None)
    elif request.param == "pure":
        monkeypatch.delattr(yaml, "CBaseLoader")
    elif not hasattr(yaml, "CBaseLoader"):
        pytest.skip("this PyYAML was built without libyaml")
    return str(request.param)


def refused(text: str) -> YamlError:
    with pytest.raises(YamlError) as caught:
        yaml12.read(text)
    return caught.value


@pytest.mark.parametrize("row", VECTORS, ids=[row["text"] for row in VECTORS])
def test_vectors(row: dict[str, Any]) -> None:
    if "data" in row and row["text"] not in DEVIATIONS:
        assert yaml12.read(row["text"]).data == row["data"]
    else:
        refused(row["text"])


@pytest.mark.parametrize(("word", "value"), [
    ("", None), ("~", None), ("null", None), ("Null", None), ("NULL", None), ("nULL", "nULL"), ("nil", "nil"),
    ("true", True), ("True", True), ("TRUE", True), ("tRUE", "tRUE"), ("false", False), ("False", False), ("FALSE", False),
    *((word, word) for word in ("yes", "Yes", "no", "on", "On", "off", "OFF", "y", "n", "=", "<<", ".", "-.", "+", "0x", "0o8")),
    ("0", 0), ("-0", 0), ("+12", 12), ("012", 12), ("0o14", 12), ("0x1F", 31), ("1_000", "1_000"), ("1:30", "1:30"),
    ("0b11", "0b11"), ("-0x1", "-0x1"), ("٣", "٣"),
    ("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("-1e3", -1000.0), ("1E+2", 100.0), ("e3", "e3"), ("1e", "1e"), ("1.2.3", "1.2.3"),
    (".inf", float("inf")), ("-.INF", float("-inf")), ("+.Inf", float("inf")), ("inf", "inf"), ("nan", "nan"),
    ("2024-01-01", "2024-01-01"), ("2024-01-01 10:00:00", "2024-01-01 10:00:00"), ("9" * 5000, float("inf")),
    ("'true'", "true"), ('"12"', "12"), ("!!str true", "true"), ("! 12", "12"), ("!!int 0x10", 16), ("!!float 3", 3.0),
    ("!!bool true", True), ("!!null ~", None), ("|-\n  12", "12"), ("!!str", ""),
])
def test_words(word: str, value: Any) -> None:
    found = yaml12.read(f"a: {word}\n").data["a"]
    assert found == value
    assert type(found) is type(value)


def test_nan_is_a_number() -> None:
    assert str(yaml12.read("[.nan, .NaN, .NAN]").data) == "[nan, nan, nan]"


@pytest.mark.parametrize(("text", "data"), [
    ("", None), ("# nothing\n", None), ("---\n", None), ("\ufeff", None), ("\ufeff\ufeffa: b", {"a": "b"}),
    ("%YAML 1.2\n---\na: b\n...\n", {"a": "b"}), ("a: b\r\nc:\r\n  - d\r\n", {"a": "b", "c": ["d"]}),
    ("<<: &x {a: 1}\nb: *x", {"<<": {"a": 1}, "b": {"a": 1}}), ("1: a\ntrue: b\n~: c", {"1": "a", "true": "b", "~": "c"}),
    ("&k a: 1\n*k : 2", None), ("a: &s x\nb: *s", {"a": "x", "b": "x"}), ("[&a 1, &a 2, *a]", [1, 2, 2]),
    ("[a, b,]", ["a", "b"]), ('{"a":[1,2,],}', {"a": [1, 2]}), ('{\n\t"a":\t1\n}', {"a": 1}),
    ('{"a": "\\ud83d\\udc69"}', {"a": "\U0001f469"}), ('{"a":\n"\\/"}', {"a": "/"}),
    ("a: x\u2028y\x85\nb: \x07\x7f", {"a": "x\u2028y\x85", "b": "\x07\x7f"}), ('a: "\\u2028\\x07"', {"a": "\u2028\x07"}),
    ("name: \U0001f469\u200d\U0001f4bb dev", {"name": "\U0001f469\u200d\U0001f4bb dev"}), ("текст: да", {"текст": "да"}),
    ("a:\n  - - edit\n    - fileRegex: \\.md$\n", {"a": [["edit", {"fileRegex": "\\.md$"}]]}),
])
def test_documents(text: str, data: Any) -> None:
    if data is None and "*k" in text:
        assert "'a' stands twice" in refused(text).reason
    else:
        document = yaml12.read(text)
        assert document.data == data
        assert not document.repaired


@pytest.mark.parametrize(("text", "line", "column", "reason"), [
    ("a: 1\nb: 2\n\"a\": 3", 3, 1, "the key 'a' stands twice"),
    ("x:\n  - {a: 1, a: 2}", 2, 12, "the key 'a' stands twice"),
    ("a: 1\n---\nb: 2", 2, 1, "a second document begins here"),
    ("---\n---\n", 2, 1, "a second document begins here"),
    ("a: !!python/object/apply:os.system ['id']", 1, 4, "the tag '!!python/object/apply:os.system' means nothing here"),
    ("a: !!binary aGk=", 1, 4, "the tag '!!binary' means nothing here"),
    ("a: !!timestamp 2024-01-01", 1, 4, "the tag '!!timestamp' means nothing here"),
    ("!!set {a, b}", 1, 1, "the tag '!!set' means nothing here"),
    ("a: !!int x", 1, 4, "the tag !!int says what 'x' isn't"),
    ("a: !!map [x]", 1, 4, "the tag '!!map' means nothing here"),
    ("[a]: b", 1, 1, "a key must be text, and this is a list or a mapping"),
    ("a: *b", 1, 4, "'*b' refers to a value that isn't there"),
    ("a: &b [*b]", 1, 8, "'*b' refers to the value it stands in"),
    ("a:\n\t- x", 2, 1, "a tab stands where only spaces may indent"),
    ("a: 1\nb:\n  c: 2\n\td: 3", 4, 1, "a tab stands where only spaces may indent"),
    ("a: 'x\nb: y\n", 3, 1, "a quotation mark isn't closed"),
    ("a: b: c", 1, 5, "a key and its colon can't stand here"),
    ("a: @x", 1, 4, "this character can't begin a value"),
    ("a: *.md", 1, 5, "* begins a reference to another value, and this isn't one"),
    ("a: [b, c\nd: e\n", 2, 2, "the brackets don't fit: a comma or a closing one is missing"),
    ("a: b\nc\nd: e", 3, 1, "this line isn't 'key: value', nor does it go on with the text before"),
    ("x\ud800", 1, 2, "the character '\\ud800' can't stand in a text"),
    ('\n{"a": "\\ud83d\\u0020"}', 2, 7, "half of a character can't stand in a text"),
    ('{"a": "\\ud83d\\udc69", "a": 1}', 1, 23, "the key 'a' stands twice"),
])
def test_refused(text: str, line: int, column: int, reason: str, scanner: str) -> None:
    fault = refused(text)
    assert fault.reason.startswith(reason)
    assert fault.line == line
    if "brackets" not in reason and "isn't 'key" not in reason and scanner == "libyaml":
        assert fault.column == column
    assert str(fault).startswith(f"line {fault.line}, column {fault.column}: {reason}")


def test_a_backslash_in_double_quotes() -> None:
    assert str(refused('a: b\nfileRegex: "\\.md$"')).endswith(
        ": in double quotes a backslash begins an escape, and this one doesn't exist. "
        "Write regular expressions without quotes or in single quotes: '\\.md$'.")


@pytest.mark.parametrize("text", [
    '{"a": 1} /* x */', '{"a": NaN}}', '{"a": 1}\n{"b": 2}', '["a" "b"]', "[" * 100_000, '[{"a":' * 100_000,
])
def test_neither_yaml_nor_json(text: str) -> None:
    assert refused(text).line == text.count("\n") + 1


# -- bounds

def test_depth() -> None:
    assert yaml12.read("[" * DEEPEST + "]" * DEEPEST).data
    for before in ("[", '["\\ud83d\\udc69", '):
        assert refused(before + "[" * DEEPEST + "]" * DEEPEST + "]").reason == f"this is nested more than {DEEPEST} deep"


@pytest.mark.parametrize("text", [
    "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)),
    "a: &a '" + "x" * 100_000 + "'\nb: [" + "*a, " * 100 + "]",
    "[" + "a," * 1_000_000 + "]",
])
def test_what_aliases_and_values_add_up_to(text: str) -> None:
    assert refused(text).reason == "there are more values than a file of modes can hold"


@pytest.mark.parametrize("unit", ["x", "ä"])
def test_size(unit: str) -> None:
    most = yaml12.MOST_BYTES // len(unit.encode())
    assert yaml12.read("# " + unit * (most - 2)).data is None
    assert str(refused("# " + unit * most)) == "it is bigger than 2,097,152 bytes. Split it into several files."


# -- places

PLACES = """\
# modes
customModes:
  - slug: a
    groups:
      - read
      - - edit
        - fileRegex: x
  - &m {slug: b, name: "B"}
  - *m
"""


@pytest.mark.parametrize(("path", "place"), [
    ((), (2, 1)), (("customModes",), (3, 3)), (("customModes", 0), (3, 5)), (("customModes", 0, "slug"), (3, 11)),
    (("customModes", 0, "groups", 1, 1, "fileRegex"), (7, 22)), (("customModes", 1, "name"), (8, 24)),
    (("customModes", 2, "name"), (8, 24)),
    # What isn't there: the innermost that is.
    (("customModes", 0, "name"), (3, 5)), (("customModes", 9, "slug"), (3, 3)), (("nope",), (2, 1)),
    (("customModes", "x"), (3, 3)),
    ((0,), (2, 1)), (("customModes", 0, "slug", "x"), (3, 11)), (("customModes", -1), (3, 3)),
])
def test_places(path: tuple[str | int, ...], place: tuple[int, int]) -> None:
    assert yaml12.read(PLACES).at(path) == place
    assert yaml12.read(PLACES.replace("\n", "\r\n")).at(path) == place


def test_places_in_json_that_is_no_yaml() -> None:
    document = yaml12.read('{\n  "a": "\\ud83d\\udc69",\n  "b": [1, {"c\\n": null}]\n}')
    assert document.data == {"a": "\U0001f469", "b": [1, {"c\n": None}]}
    assert [document.at(path) for path in ((), ("a",), ("b", 0), ("b", 1, "c\n"))] == [(1, 1), (2, 8), (3, 9), (3, 20)]


def test_the_place_of_nothing() -> None:
    assert yaml12.read("").at(()) == (1, 1)


def test_lines_are_what_an_editor_counts() -> None:
    assert yaml12.read("a: x\u2028y\u2029z\x85\nb: 1").at(("b",)) == (2, 4)


# -- repairs

@pytest.mark.parametrize(("text", "repaired"), [
    ("a:\n\u00a0 b: 1\n", [{"a": {"b": 1}}]),
    ("\u200ba: 1\n\u00a0\nb: 2\n", [{"a": 1, "b": 2}]),
    # Prose keeps its own characters, whichever way it is written.
    ("a:\n\u00a0 - name: it’s \u00a0 “so” — yes\u200d!\n", [{"a": [{"name": "it’s \u00a0 “so” — yes\u200d!"}]}] * 2),
    # In curly quotes that end a quoted text nothing but the first repair can be read.
    ("b:\n\u00a0 roleDefinition: \"it’s “so”\\n— yes\"\n", [{"b": {"roleDefinition": "it’s “so”\n— yes"}}]),
    ("b:\n\u00a0 name: 'a\u00a0–\u200db'\n", [{"b": {"name": "a\u00a0–\u200db"}}] * 2),
    ("b:\n\u00a0 whenToUse: |\n\u00a0   it’s\u00a0“so”\n    — yes\n", [{"b": {"whenToUse": "it’s\u00a0“so”\n— yes\n"}}] * 2),
    ("b:\n\u00a0 description: >-\n\u00a0   it’s\n    — yes\n", [{"b": {"description": "it’s — yes"}}] * 2),
    ("b:\n\u00a0 customInstructions: it’s\n\u00a0   — yes\n", [{"b": {"customInstructions": "it’s — yes"}}] * 2),
    # What is no prose doesn't.
    ("b:\n\u00a0 x: a\u00a0b\u200bc–d\n", [{"b": {"x": "a bc–d"}}, {"b": {"x": "a bc-d"}}]),
    ("– a: x–y\n  name: x–y\n– b: 1", [[{"a": "x-y", "name": "x–y"}, {"b": 1}]]),
    ("[{“a”: 1}, {name: ‘x’}, “b: c”]", [[{"a": 1}, {"name": "x"}, "b: c"]]),
    ("slug: a‑b", [{"slug": "a-b"}]),
    # Put back, this one wouldn't be read: everything stays replaced.
    ('- name: "a\\“b"\n- name: it’s', [[{"name": 'a"b'}, {"name": "it's"}]]),
    ("a: b", []), ("a: “x", []), ("\ud800“x”", []), ("[“x”", []),
])
def test_repairs(text: str, repaired: list[Any]) -> None:
    found = list(yaml12.repairs(text))
    assert [document.data for document in found] == repaired
    assert all(document.repaired for document in found)


@pytest.mark.parametrize("text", ["a: 1\n\u00a0\nb: it’s\n", "– a: 1\n  b: 2\n– c: 3", "- “a”: 1\n  b: 1\n– c: 3"])
def test_what_cant_be_read_as_it_is_is_repaired(text: str) -> None:
    document = yaml12.read(text)
    assert document.repaired
    assert document.data == next(yaml12.repairs(text)).data


@pytest.mark.parametrize(("text", "data"), [
    ("a: say “hi”", {"a": "say “hi”"}), ("name: – x", {"name": "– x"}), ("a: '\u200d'", {"a": "\u200d"}),
    ("a–b: c", {"a–b": "c"}),
])
def test_nothing_is_repaired_in_what_can_be_read(text: str, data: Any) -> None:
    document = yaml12.read(text)
    assert not document.repaired
    assert document.data == data


def test_what_cant_be_repaired_is_told_as_it_is() -> None:
    fault = refused("a: “x”\nb: 'y\u00a0")
    assert "quotation mark" in fault.reason
    assert fault.line == 2


def test_repaired_documents_are_bounded_too() -> None:
    text = "\u00a0a: 1\n" + "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    refused(text)


# -- without a library

def test_without_any_library(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("yaml", "ruamel.yaml"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(sys, "executable", "/opt/her mes/python")
    fault = refused("a: b")
    assert isinstance(fault, YamlMissing)
    assert str(fault) == ("mode files can't be read, because PyYAML isn't installed. Install it into Hermes' environment: "
                          "'/opt/her mes/python' -m pip install PyYAML")
    assert list(yaml12.repairs("a: “x”")) == []


def test_a_descendant_without_libyaml_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    monkeypatch.delattr(ruamel.yaml, "CBaseLoader")
    assert isinstance(refused("a: b"), YamlMissing)
