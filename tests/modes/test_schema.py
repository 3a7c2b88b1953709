"""From text to modes: as Roo Code judged it, except where we differ on purpose; and every fault of a file at once."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from plan_mode.modes.faults import Fault
from plan_mode.modes.model import GROUPS, EditRule, Mode, ModelChoice
from plan_mode.modes.schema import FIELDS, ModeFile, modes_of, read_modes

CONFORMANCE = Path(__file__).parents[1] / "conformance"
VECTORS = json.loads((CONFORMANCE / "mode_files.json").read_text(encoding="utf-8"))
REAL_FILES = json.loads((CONFORMANCE / "real_files.json").read_text(encoding="utf-8"))

DEVIATIONS = {
    "one bad mode": "A mode with a fault is left out and the others of its file are used; Roo Code refuses the whole file.",
    "same slug twice": "Of modes of one file that share a slug none is used, and the others are; Roo Code refuses the "
                       "whole file.",
    "plan": "The slug plan is taken: a mode of that name is a fault of its file; Roo Code has no such mode.",
    "empty pattern": "An empty fileRegex is a fault, because people mean nothing by it; in Roo Code it matches every file.",
    "(?i)": "A pattern may begin with (?i), with a warning that other programs may refuse it; Roo Code refuses it.",
    "misspelt limit": "A key that is fileRegex, tools or deny but for case and signs is a fault, because without it more would "
                      "be allowed; Roo Code drops it like any unknown key.",
    "browser": "The group browser is real and grants the browser's tools; Roo Code drops it. It may stand twice, which changes "
               "nothing, and options beside it are ignored with a warning.",
    "groups": "There are more groups: delegate, message, memory, schedule, media, manage, ui; Roo Code refuses them.",
    "shapes": "A mapping of slugs to modes, a list of modes and a single mode are read too; Roo Code finds no modes in them.",
    "toolGroups": "toolGroups is read as groups; Roo Code drops it.",
    "fields of ours": "tools, model and childMode mean something, and are faults where they are wrong; Roo Code drops them.",
    "unknown keys": "Unknown keys are ignored with a warning; Roo Code ignores them silently.",
    "characters": "Text is read as it is first, and prose keeps typographic characters; Roo Code replaces them before it reads, "
                  "which breaks valid files and emoji.",
    "unknown tags": "An unknown YAML tag is a fault of the file; Roo Code reads the value as if there were none.",
    "json": "JSON is read from any mode file; Roo Code reads what is JSON but no YAML from .roomodes only.",
}
"""Where we judge otherwise than Roo Code: its name, and the sentence about it in the docs."""

HEAD = "customModes:\n  - slug: a\n    name: A\n    roleDefinition: r\n    groups: "
DIFFERENT = {"fileRegex ''": "empty pattern", "fileRegex (?i)": "(?i)", "smart dq in dq": "characters", "zwj emoji": "characters",
             "browser tuple": "browser"}


def read(text: str) -> ModeFile:
    return read_modes(text, file="m.yaml", origin="here")


def one(text: str) -> Mode:
    """The only mode of a file without faults."""
    found = read(text)
    assert found.faults == ()
    assert len(found.modes) == 1
    return found.modes[0]


def told(faults: tuple[Fault, ...]) -> list[str]:
    return [str(fault) for fault in faults]


def mode(**fields: Any) -> dict[str, Any]:
    return {"slug": "a", "name": "A", "roleDefinition": "r", "groups": ["read"], **fields}


def of(*modes: Any) -> ModeFile:
    return modes_of({"customModes": list(modes)}, file="c.yaml", origin="config")


def as_roo(found: Mode) -> dict[str, Any]:
    """The mode as a Roo Code file would hold it; groups without their order."""
    rule = found.grants.edit_rule
    groups: list[Any] = sorted(found.grants.groups - {"edit"})
    if "edit" in found.grants.groups:
        options = {} if rule is None or rule.pattern is None else {"fileRegex": rule.pattern.source}
        groups.append(["edit", options] if options else "edit")
    return {"slug": found.slug, "name": found.name, "roleDefinition": found.role_definition, "groups": groups}


# -- vectors

@pytest.mark.parametrize("row", [row for row in VECTORS if row["case"] not in DIFFERENT], ids=lambda row: row["case"])
def test_judged_as_roo_code_judged_it(row: dict[str, Any]) -> None:
    found = read(row["text"])
    assert bool(found.faults) is ("refused" in row)
    if "modes" in row:
        without_options = [{**mode, "groups": ["edit" if group == ["edit", {}] else group for group in mode["groups"]]}
                           for mode in row["modes"]]
        assert [as_roo(mode) for mode in found.modes] == without_options
    else:
        assert found.modes == ()


@pytest.mark.parametrize("name", sorted({row["case"] for row in VECTORS} & set(DIFFERENT)))
def test_judged_otherwise_on_purpose(name: str) -> None:
    row = next(row for row in VECTORS if row["case"] == name)
    found = read(row["text"])
    same = bool(found.faults) is ("refused" in row) and [as_roo(mode) for mode in found.modes] == row.get("modes", [])
    assert not same
    assert DIFFERENT[name] in DEVIATIONS


FOLDER = os.environ.get("PLAN_MODE_REAL_MODE_FILES", "")


@pytest.mark.skipif(not FOLDER, reason="PLAN_MODE_REAL_MODE_FILES doesn't name the folder of real mode files")
@pytest.mark.parametrize("digest", sorted(REAL_FILES))
def test_real_files(digest: str) -> None:
    """Files that people have published; they are known here by the beginning of their SHA-256 alone."""
    expected = REAL_FILES[digest]
    [data] = [data for path in Path(FOLDER).iterdir() if sha256(data := path.read_bytes()).hexdigest().startswith(digest)]
    found = read_modes(data.decode("utf-8"), file="real", origin="here")
    if "refused" in expected:
        assert found.faults
    else:
        assert [mode.slug for mode in found.modes] == expected["slugs"]
        assert found.faults == ()


# -- where we differ

def deviation_one_bad_mode() -> None:
    found = of(mode(), mode(slug="b", groups=["nope"]), mode(slug="c"))
    assert [mode.slug for mode in found.modes] == ["a", "c"]
    assert [fault.mode for fault in found.faults] == ["b"]


def deviation_same_slug_twice() -> None:
    found = read(HEAD + "[]\n  - slug: b\n    name: B\n    roleDefinition: r\n    groups: []\n" + HEAD.split("\n", 1)[1] + "[]\n")
    assert [mode.slug for mode in found.modes] == ["b"]
    assert told(found.faults) == [
        "m.yaml:10:11: mode a: slug: another mode of this file has the same slug, in line 2; neither is used. "
        "Rename or remove one of them."]
    # One that has a fault counts too, and each after the first is told.
    found = of(mode(name=1), mode(), mode())
    assert found.modes == ()
    assert [(fault.field, fault.mode) for fault in found.faults] == [("name", "a"), ("slug", "a"), ("slug", "a")]
    assert [mode.slug for mode in of(mode(), mode(slug="A")).modes] == ["a", "A"]


def deviation_plan() -> None:
    found = of(mode(slug="plan", groups=7, nope=1), mode())
    assert told(found.faults) == [
        "c.yaml: mode plan: slug: the slug 'plan' is taken: plan mode can't be replaced. Choose another slug."]
    assert [mode.slug for mode in found.modes] == ["a"]
    assert len(modes_of({"plan": mode(slug="x")}, file="f", origin="o").faults) == 1
    assert of(mode(slug="Plan")).faults
    assert not of(mode(slug="planner")).faults


def deviation_empty_pattern() -> None:
    for group in ("edit", "read", "command"):
        found = of(mode(groups=[[group, {"fileRegex": ""}]]))
        assert told(found.faults) == [
            "c.yaml: mode a: groups[0][1].fileRegex: an empty pattern would match every file. Remove the group if nothing may be "
            "edited, or fileRegex if everything may."]


def deviation_i() -> None:
    found = of(mode(groups=[["edit", {"fileRegex": "(?i)x"}]]))
    assert found.modes
    assert "(?i) isn't JavaScript" in told(found.warnings)[0]


def deviation_misspelt_limit() -> None:
    for key in ("fileregex", "file_regex", "FileRegex", "file-regex", "\u00a0fileRegex"):
        found = of(mode(groups=[["edit", {key: "x"}]]))
        assert [fault.hint for fault in found.faults] == ["Write fileRegex."]
    assert told(of(mode(tools={"Deny": ["terminal"]})).faults) == [
        "c.yaml: mode a: tools.Deny: this key is unknown, and without it more would be allowed than is meant. Write deny."]
    assert [fault.hint for fault in of(mode(Tools={})).faults] == ["Write tools."]


def deviation_browser() -> None:
    assert one(HEAD + "[browser]").grants.groups == {"browser"}
    for groups in ("[browser, browser]", "[[browser]]", "[[browser, {}]]", "[browser, [browser, {}]]"):
        assert one(HEAD + groups).grants.groups == {"browser"}
        assert read(HEAD + groups).warnings == ()
    for options in ("{fileRegex: '['}", "null", "{}, {}"):
        found = read(HEAD + f"[[browser, {options}]]")
        assert found.modes
        assert told(found.warnings) == ["m.yaml:5:14: mode a: groups[0]: options of the group browser are ignored."]


def deviation_groups() -> None:
    assert one(HEAD + f"[{', '.join(sorted(GROUPS))}, modes]").grants.groups == GROUPS


def deviation_shapes() -> None:
    alone = json.dumps(mode())
    without = json.dumps({key: value for key, value in mode().items() if key != "slug"})
    for text in (f"[{alone}]", alone, f"a: {without}", f"a: {alone}", f"customModes: {{a: {without}}}"):
        assert one(text) == one(f"customModes: [{alone}]")


def deviation_tool_groups() -> None:
    assert one(HEAD.replace("groups", "toolGroups") + "[read, [edit, {fileRegex: x}]]").grants == \
        one(HEAD + "[read, [edit, {fileRegex: x}]]").grants
    found = read(HEAD + "[read]\n    toolGroups: [edit]")
    assert told(found.faults) == [
        "m.yaml:6:17: mode a: toolGroups: groups and toolGroups mean the same, and both are there. Keep one of them."]
    faults = told(read(HEAD.replace("groups", "toolGroups") + "[nope]").faults)
    assert faults[0].startswith("m.yaml:5:18: mode a: toolGroups[0]: ")


def deviation_fields_of_ours() -> None:
    found = one(HEAD + "[]\n    tools: {allow: [x, 'mcp:s'], deny: [y]}\n    model: {model: m, provider: p}\n"
                "    childMode: inherit")
    assert (found.grants.allow, found.grants.deny) == ({"x", "mcp:s"}, {"y"})
    assert (found.model, found.child_mode) == (ModelChoice("m", "p"), "inherit")
    assert one(HEAD + "[]\n    model: m").model == ModelChoice("m", "")


def deviation_unknown_keys() -> None:
    found = read("foo: 1\n" + HEAD + "[[edit, {foo: 1}]]\n    whentouse: x\n    tools: {alow: []}\n    model: {model: m, x: 1}")
    assert len(found.modes) == 1
    assert told(found.warnings) == [
        "m.yaml:1:6: foo: this key is unknown and ignored.",
        "m.yaml:6:27: mode a: groups[0][1].foo: this key is unknown and ignored.",
        "m.yaml:7:16: mode a: whentouse: this key is unknown and ignored. Did you mean whenToUse?",
        "m.yaml:8:19: mode a: tools.alow: this key is unknown and ignored. Did you mean allow?",
        "m.yaml:9:26: mode a: model.x: this key is unknown and ignored.",
    ]


def deviation_characters() -> None:
    assert one(HEAD.replace(" r\n", " “it’s” \U0001f469\u200d\U0001f4bb — a\u00a0b\n") + "[]").role_definition == \
        "“it’s” \U0001f469\u200d\U0001f4bb — a\u00a0b"
    assert one(HEAD.replace(" r\n", ' "say “hi”"\n') + "[]").role_definition == "say “hi”"
    # Where they aren't prose and a fault as they are, they are read as Roo Code reads them.
    text = HEAD.replace("slug: a", "slug: a‑b").replace(" r\n", " it’s\n") + "[“read”, [edit, {fileRegex: ‘x’}]]"
    found = read(text)
    assert found.faults == ()
    assert found.modes[0].slug == "a-b"
    assert found.modes[0].role_definition == "it’s"
    assert as_roo(found.modes[0])["groups"] == ["read", ["edit", {"fileRegex": "x"}]]
    assert told(found.warnings) == ["m.yaml: it could be read only with typographic spaces, dashes or quotes outside of prose "
                                    "replaced by ASCII. Replace them in the file."]
    # Where that mends nothing, the faults are those of the text as it is.
    assert told(read(HEAD + "[nope]\n    foo: “x”").faults)[0].startswith("m.yaml:5:14: mode a: groups[0]: this isn't a group")


def deviation_unknown_tags() -> None:
    assert told(read(HEAD + "!foo []").faults) == [
        "m.yaml:5:13: the tag '!foo' means nothing here. Remove it, or put text that begins with ! in single quotes."]


def deviation_json() -> None:
    text = json.dumps({"customModes": [mode(name="\U0001f469 dev"), mode(slug="b", groups=["nope"])]}, indent=1)
    assert "\\ud83d" in text
    found = read(text)
    assert found.modes[0].name == "\U0001f469 dev"
    assert [(fault.mode, fault.line) for fault in found.faults] == [("b", 16)]


TESTS: dict[str, Callable[[], None]] = {
    "one bad mode": deviation_one_bad_mode, "same slug twice": deviation_same_slug_twice, "plan": deviation_plan,
    "empty pattern": deviation_empty_pattern, "(?i)": deviation_i, "misspelt limit": deviation_misspelt_limit,
    "browser": deviation_browser, "groups": deviation_groups, "shapes": deviation_shapes, "toolGroups": deviation_tool_groups,
    "fields of ours": deviation_fields_of_ours, "unknown keys": deviation_unknown_keys, "characters": deviation_characters,
    "unknown tags": deviation_unknown_tags, "json": deviation_json,
}


@pytest.mark.parametrize("name", DEVIATIONS)
def test_deviation(name: str) -> None:
    TESTS[name]()


# -- shapes

@pytest.mark.parametrize("text", [
    "", "# nothing", "customModes:", "customModes: []", "customModes: {}", "[]", "{}", "null",
])
def test_no_modes(text: str) -> None:
    assert read(text) == ModeFile()


@pytest.mark.parametrize("text", [
    "foo: 1", "version: 1\nsettings: {name: x}", "name: my-project", "modes: [1]", "description: x",
])
def test_another_kind_of_file_has_no_modes_and_a_warning(text: str) -> None:
    found = read(text)
    assert (found.modes, found.faults) == ((), ())
    assert found.warnings[0].message == "this key is unknown and ignored"


@pytest.mark.parametrize(("text", "fault"), [
    ("hello", "m.yaml:1:1: a mode file must be a mapping or a list; it is 'hello'"),
    ("3", "m.yaml:1:1: a mode file must be a mapping or a list; it is the number 3"),
    ("customModes: 3", "m.yaml:1:14: customModes: this must be a list of modes; it is the number 3"),
    ("- a", "m.yaml:1:3: mode #1: a mode must be a mapping; it is 'a'"),
    ("-", "m.yaml:1:2: mode #1: a mode must be a mapping; it is nothing"),
    ("customModes: {a: b}", "m.yaml:1:18: mode a: a mode must be a mapping; it is 'b'"),
    ("customModes: [[]]", "m.yaml:1:15: mode #1: a mode must be a mapping; it is a list of 0"),
    ("a_b: {name: A, roleDefinition: r, groups: []}", "m.yaml:1:6: mode a_b: slug: this must be a text of letters a-z, digits "
     "and dashes; it is 'a_b'"),
    ("b: {slug: a, name: A, roleDefinition: r, groups: []}", "m.yaml:1:11: mode a: slug: the slug must be the key that the mode "
     "stands under, 'b'; it is 'a'"),
])
def test_what_isnt_a_mode(text: str, fault: str) -> None:
    found = read(text)
    assert len(found.faults) == 1
    assert str(found.faults[0]).startswith(fault + ".")
    assert found.modes == ()


def test_plain_data_of_the_host() -> None:
    """YAML 1.1 words, keys that aren't text, and what no YAML makes."""
    cyclic: dict[Any, Any] = mode(slug="b")
    cyclic["groups"] = [cyclic]
    found = modes_of([mode(), cyclic], file="config.yaml", origin="o")
    assert [mode.slug for mode in found.modes] == ["a"]
    for data, shown in (({True: mode(slug=True)}, "true"), ({12: mode(slug=12)}, "the number 12"), (object(), "a object"),
                        ([mode(name=10 ** 6000)], "a number"), ([mode(name=float("nan"))], "a number"), ([{1, 2}], "a set")):
        assert [fault.found for fault in modes_of(data, file="f", origin="o").faults] == [shown]
    assert modes_of({12: mode(slug=12)}, file="f", origin="o").faults[0].mode == "the number 12"
    assert modes_of({"a": mode()}, file="f", origin="o").modes[0].source == "o"


# -- fields

REQUIRED = ("slug", "name", "roleDefinition", "groups")


def test_the_table_of_fields() -> None:
    assert tuple(name for name, field in FIELDS.items() if field.required) == REQUIRED
    assert set(FIELDS) == {*REQUIRED, "description", "whenToUse", "customInstructions", "tools", "model", "childMode", "source"}


def test_a_mode_with_everything() -> None:
    found = of(mode(description="d", whenToUse="w", customInstructions="c", source="global", model={"model": "m"},
                    childMode="b-2", tools={"deny": ["x"]},
                    groups=["read", ["edit", {"fileRegex": r"\.md$", "description": "Docs"}], "modes"]))
    (only,) = found.modes
    assert found.faults == found.warnings == ()
    assert (only.slug, only.name, only.role_definition, only.source) == ("a", "A", "r", "config")
    assert (only.description, only.when_to_use, only.custom_instructions) == ("d", "w", "c")
    assert (only.model, only.child_mode, only.extra_tools) == (ModelChoice("m"), "b-2", False)
    assert (only.grants.groups, only.grants.allow, only.grants.deny) == ({"read", "edit"}, set(), {"x"})
    rule = only.grants.edit_rule
    assert isinstance(rule, EditRule)
    assert (rule.root, rule.suffix, rule.description) == ("project", "", "Docs")
    assert rule.pattern is not None
    assert rule.pattern.matches("docs/a.md")
    assert not rule.pattern.matches("a.py")


@pytest.mark.parametrize("key", REQUIRED)
def test_what_is_missing(key: str) -> None:
    found = of({name: value for name, value in mode().items() if name != key})
    assert [(fault.message, fault.field) for fault in found.faults] == [(f"{key} is missing", "")]
    assert found.faults[0].mode == ("#1" if key == "slug" else "a")


@pytest.mark.parametrize("slug", ["a", "A", "-", "0", "a-b-c", "x" * 3000])
def test_slugs(slug: str) -> None:
    assert of(mode(slug=slug)).modes[0].slug == slug


@pytest.mark.parametrize("slug", ["", "a b", "a_b", "ä", "a\n", " a", "a.b", 1, None, True, ["a"], {"a": 1}, 1.5, "١"])
def test_no_slugs(slug: Any) -> None:
    found = of(mode(slug=slug))
    assert [(fault.field, fault.mode) for fault in found.faults] == [("slug", "#1")]
    assert found.faults[0].message == "this must be a text of letters a-z, digits and dashes"


OTHER_THAN_TEXT = [None, 1, 1.5, True, [], ["x"], {}, {"x": 1}]


@pytest.mark.parametrize("value", OTHER_THAN_TEXT)
@pytest.mark.parametrize("key", ["name", "roleDefinition", "description", "whenToUse", "customInstructions"])
def test_prose_must_be_text(key: str, value: Any) -> None:
    found = of(mode(**{key: value}))
    assert [(fault.field, fault.message) for fault in found.faults] == [(key, "this must be text")]


def test_empty_prose() -> None:
    assert [fault.field for fault in of(mode(name="", roleDefinition="")).faults] == ["name", "roleDefinition"]
    assert of(mode(name=" ", roleDefinition=" ", description="", whenToUse="", customInstructions="")).modes


WRONG: dict[str, list[Any]] = {
    "source": ["", "local", None, 1, []],
    "childMode": ["", "a b", None, 1, []],
    "model": ["", None, 1, [], {"model": ""}, {"model": None}, {"provider": "p"}, {"model": "m", "provider": 1}],
    "tools": [
        None, [], "x", {"allow": "x"}, {"deny": None}, {"allow": [1]}, {"deny": [""]}, {"deny": ["mcp:"]},
        {"deny": ["browser_*"]}, {"allow": ["a b"]}, {"allow": [["a"]]}, {"deny": ["x" * 200]}],
    "groups": [
        None, "read", {}, {"read": True}, [1], [None], [[]], [["edit"]], [["edit", None]], [["edit", "x"]], [["edit", []]],
        [["edit", {}, {}]], [{"edit": {}}], [[["edit"], {}]], ["Edit"], ["*"], [""], ["read", "read"], ["modes", "modes"],
        ["edit", ["edit", {}]], [["edit", {"fileRegex": "x"}], ["edit", {}]],
        *([[group, {"fileRegex": value}]] for group in ("edit", "read") for value in (None, 1, [], "[", "*.md", "(?P<n>x)")),
        *([["edit", {"description": value}]] for value in (None, 1, []))],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in WRONG.items() for value in values])
def test_what_no_field_may_hold(key: str, value: Any) -> None:
    found = of(mode(**{key: value}), mode(slug="good"))
    assert [mode.slug for mode in found.modes] == ["good"]
    assert {fault.field.split("[")[0].split(".")[0] for fault in found.faults} == {key}
    assert all(fault.mode == "a" for fault in found.faults)


@pytest.mark.parametrize(("groups", "granted", "pattern"), [
    ([], set(), None), (["modes"], set(), None), (["read", "mcp"], {"read", "mcp"}, None), (["edit"], {"edit"}, None),
    ([["edit", {}]], {"edit"}, None), ([["edit", {"description": "d"}]], {"edit"}, None),
    ([["edit", {"fileRegex": "x"}]], {"edit"}, "x"),
    ([["read", {}], ["command", {"description": "d"}]], {"read", "command"}, None),
])
def test_groups(groups: list[Any], granted: set[str], pattern: str | None) -> None:
    found = of(mode(groups=groups))
    grants = found.modes[0].grants
    assert grants.groups == granted
    assert (grants.edit_rule and grants.edit_rule.pattern and grants.edit_rule.pattern.source) == pattern
    assert found.warnings == ()


@pytest.mark.parametrize("group", sorted(GROUPS - {"edit", "browser"}))
def test_a_pattern_limits_edit_only(group: str) -> None:
    found = of(mode(groups=[[group, {"fileRegex": "^x"}]]))
    assert found.modes[0].grants.groups == {group}
    assert found.modes[0].grants.edit_rule is None
    assert [warning.message for warning in found.warnings] == [
        f"a pattern limits the group edit only: {group} is granted without a limit"]


def test_allowed_and_denied() -> None:
    assert told(of(mode(tools={"allow": ["x", "y"], "deny": ["x"]})).warnings) == [
        "c.yaml: mode a: tools: x is both allowed and denied: it is denied."]


def test_patterns_are_looked_at_for_so_long_only() -> None:
    """To judge a hostile pattern takes time, and a file could hold thousands of them."""
    hostile = [mode(slug=f"m-{n}", groups=[["edit", {"fileRegex": f"({n}"}]]) for n in range(100)]
    started = time.process_time()
    found = of(*hostile, mode(), mode(slug="late", groups=[["edit", {"fileRegex": "x"}]]))
    assert time.process_time() - started < 2
    assert [mode.slug for mode in found.modes] == ["a"]
    assert len(found.faults) == 101
    assert str(found.faults[-1]) == (
        "c.yaml: mode late: groups[0][1].fileRegex: this pattern wasn't looked at, because those before it are too many, too "
        "long, or wrong; it is 'x'. Split the file, and mend the patterns that are wrong.")


# -- everything at once

TEN_FAULTS = """\
customModes:
  - slug: docs writer
    name: ""
    groups: [read, Edit]
  - slug: tests
    name: Tests
    roleDefinition: You test.
    whenToUse:
    groups:
      - read
      - - edit
        - fileRegex: "*.py"
      - edit: {fileRegex: '\\.md$'}
    source: local
    tools: {deny: ["browser_*"]}
  - slug: good
    name: Good
    roleDefinition: You are good.
    groups: [read]
    iconName: x
  - slug: plan
    name: My plan
"""


def test_ten_faults_at_once() -> None:
    found = read_modes(TEN_FAULTS, file=".roomodes", origin="project")
    assert [mode.slug for mode in found.modes] == ["good"]
    assert told(found.faults) == [
        ".roomodes:2:5: mode #1: roleDefinition is missing. Write who the agent is in this mode.",
        ".roomodes:2:11: mode #1: slug: this must be a text of letters a-z, digits and dashes; it is 'docs writer'.",
        ".roomodes:3:11: mode #1: name: this must not be empty.",
        ".roomodes:4:20: mode #1: groups[1]: this isn't a group; it is 'Edit'. Did you mean edit?",
        ".roomodes:8:15: mode tests: whenToUse: this must be text; it is nothing. Remove the key, or write a text.",
        ".roomodes:12:22: mode tests: groups[1][1].fileRegex: there is nothing before * that it could repeat, at character 1; "
        "it is '*.py'. A glob such as *.md is written \\.md$ here; .* stands for any characters, and \\* for a star.",
        ".roomodes:13:9: mode tests: groups[2]: this must be the name of a group, or a list of a name and its options; "
        "it is a mapping of 1. Write the group alone, or a list of two: [edit, {fileRegex: '\\.md$'}].",
        ".roomodes:14:13: mode tests: source: this must be global or project; it is 'local'. "
        "Remove it: where the file lies decides.",
        ".roomodes:15:20: mode tests: tools.deny[0]: this must be the exact name of a tool, or mcp: and the name of a server; "
        "it is 'browser_*'. Patterns like * aren't read: name each tool.",
        ".roomodes:21:11: mode plan: slug: the slug 'plan' is taken: plan mode can't be replaced. Choose another slug.",
    ]
    assert told(found.warnings) == [".roomodes:20:15: mode good: iconName: this key is unknown and ignored."]


def test_what_was_found_is_bounded_and_obeyed_by_nobody() -> None:
    found = of(mode(slug="\x1b[0m" + "x" * 5000, **{"\u202e" + "k" * 5000: 1}))
    for fault in (*found.faults, *found.warnings):
        assert len(str(fault)) < 500
        assert not {"\x1b", "\u202e"} & set(str(fault))
    assert len(str(Fault("f" * 5000, "m"))) < 300


def test_a_text_that_cant_be_read_is_one_fault() -> None:
    assert told(read("customModes:\n\t- slug: a").faults) == [
        "m.yaml:2:1: a tab stands where only spaces may indent. Replace it by spaces."]
    assert told(read("x" * 3_000_000).faults) == ["m.yaml: it is bigger than 2,097,152 bytes. Split it into several files."]


# -- how long it takes

def big_file() -> str:
    """About 1.3 MB: 186 modes whose texts are blocks, quoted and plain."""
    prose = "You do — what’s needed: read “it”, think (and write), then look again; nothing else matters here.\n"
    modes = [
        f"  - slug: mode-{n}\n    name: \"Mode {n}\"\n    roleDefinition: |\n{('      ' + prose) * 40}"
        f"    customInstructions: >-\n{('      ' + prose) * 20}    whenToUse: {prose.replace(': ', ' - ')}"
        f"    groups:\n      - read\n      - - edit\n        - fileRegex: ^src/{n}/.*\\.(js|ts)$\n          description: d\n"
        "      - browser\n      - command\n" for n in range(186)]
    return "customModes:\n" + "\n".join(modes)


def test_1300_kilobytes_of_modes() -> None:
    text = big_file()
    assert 1_200_000 < len(text.encode()) < 1_500_000
    started = time.process_time()
    found = read(text)
    assert time.process_time() - started < 1
    assert len(found.modes) == 186
    assert found.faults == ()
