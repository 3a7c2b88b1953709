"""Exported modes: the text of the file, and what it is read as."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plan_mode.errors import Refusal, YamlMissing
from plan_mode.modes import rulesfiles, yaml12
from plan_mode.modes.builtin import BUILTIN, PLAN
from plan_mode.modes.exchange import exported, granted
from plan_mode.modes.jsregex import translate
from plan_mode.modes.model import EditRule, Grants, Mode, ModelChoice
from plan_mode.modes.rules import Rule
from plan_mode.modes.schema import read_modes
from plan_mode.modes.yamlwriter import written

DOCS = Mode(
    "docs", "📝 Docs", "You write documentation:\n\n- short\n\twith “tabs”", description="It's for docs.", when_to_use="Always",
    custom_instructions="One.\nTwo.\n", grants=Grants(
        frozenset({"read", "edit"}), frozenset({"mcp:fs", "x"}), frozenset({"y"}),
        EditRule("project", "", "Docs only", translate(r"^docs/.*\.md$"))),
    model=ModelChoice("big", "openai"), child_mode="inherit", source="f")
RULES = [Rule("a/style.md", "Be kind.\n\n  - indented\n", "home"), Rule("rules/é.md", "tail ", "home")]

DOCS_FILE = r"""customModes:
  - slug: docs
    name: '📝 Docs'
    roleDefinition: |-
      You write documentation:

      - short
      <tab>with “tabs”
    description: It's for docs.
    whenToUse: Always
    customInstructions: |
      One.
      Two.
    groups:
      - - edit
        - fileRegex: '^docs/.*\.md$'
          description: Docs only
      - read
    tools:
      allow:
        - 'mcp:fs'
        - x
      deny:
        - 'y'
    model:
      model: big
      provider: openai
    childMode: inherit
    rulesFiles:
      - relativePath: a/style.md
        content: |
          Be kind.

            - indented
      - relativePath: rules-docs/rules/é.md
        content: 'tail '
""".replace("<tab>", "\t")


def test_the_file() -> None:
    assert exported(DOCS, RULES) == DOCS_FILE


def test_it_is_read_as_it_was() -> None:
    found = read_modes(DOCS_FILE, file="f", origin="f", rules=rulesfiles.check)
    assert (found.faults, found.warnings, found.modes) == ((), (), (DOCS,))
    assert found.rules == {"docs": {"a/style.md": "Be kind.\n\n  - indented\n", "rules/é.md": "tail "}}


def test_as_an_ordinary_mode_file_its_rules_dont_count() -> None:
    found = read_modes(DOCS_FILE, file="f", origin="f")
    assert (found.faults, found.modes, found.rules) == ((), (DOCS,), {})
    assert [str(warning) for warning in found.warnings] == [
        "f:30:7: mode docs: rulesFiles: this key is unknown and ignored. Rules are taken over by /mode import; beside a mode "
        "file they stand in the folder rules-<slug>."]


@pytest.mark.parametrize("slug", [slug for slug in BUILTIN if slug != "plan"])
def test_a_built_in_mode(slug: str) -> None:
    """All of it but what no file can say: that the operator's ``mcp_allowed`` counts."""
    found = read_modes(exported(BUILTIN[slug]), file="f", origin="built-in")
    assert (found.faults, found.warnings, found.modes) == ((), (), (replace(BUILTIN[slug], extra_servers=False),))


@pytest.mark.parametrize("path", sorted((Path(__file__).parents[2] / "examples" / "modes").glob("*.yaml")),
                         ids=lambda path: path.stem)
def test_an_example(path: Path) -> None:
    [mode] = read_modes(path.read_text(encoding="utf-8"), file="f", origin="f").modes
    assert read_modes(exported(mode), file="f", origin="f").modes == (mode,)


def test_plan_isnt_exported() -> None:
    with pytest.raises(Refusal) as refusal:
        exported(PLAN)
    assert str(refusal.value) == ("Plan mode can't be exported: no file can say that it writes plans only. "
                                  "It is there wherever plan-mode is.")


@pytest.mark.parametrize(("text", "why"), [
    ("x" * 2_100_000, "it is bigger than 2,097,152 bytes"),
    ("half \ud800 of it", "in double quotes a backslash begins an escape, and this one doesn't exist"),
])
def test_what_no_file_can_hold(text: str, why: str) -> None:
    with pytest.raises(Refusal) as refusal:
        exported(replace(DOCS, role_definition=text))
    assert str(refusal.value) == f"docs can't be exported, because its file couldn't be read: {why}."


def test_nothing_has_to_be_installed_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise YamlMissing("pip install PyYAML")
    monkeypatch.setattr(yaml12, "_yaml", missing)
    assert exported(DOCS, RULES) == DOCS_FILE


@pytest.mark.parametrize(("name", "why"), [
    ("a\x1b.md", "a control character stands in it"), ("a\nb", "a control character stands in it"),
    ("a\\b.md", "a backslash stands in it"), ("c:x.md", "it is absolute"), ("x" * 256, "a name in it is too long"),
])
def test_rules_whose_name_no_import_would_take(name: str, why: str) -> None:
    with pytest.raises(Refusal) as refusal:
        exported(DOCS, [Rule(name, "x", "home")])
    assert refusal.value.reason.endswith(f": {why}.")
    assert refusal.value.reason.startswith("Its rules can't be exported, because of the path '")


@pytest.mark.parametrize(("rules", "why"), [
    ([("a.md", "x" * 65536), ("a.md", "y")], " of 'a.md': a file of rules can't be longer than 65536 characters. Make several "
                                             "files of it."),
    ([(f"{number}.md", "x") for number in range(201)], ": a mode can't have more than 200 files of rules; it is a list of 201. "
                                                       "Join some of them."),
    ([("a", "x"), ("A/b.md", "x")], ": 'a' can't be a file, because 'A/b.md' lies below it. Rename one of them."),
    ([("rules/a", "x"), ("rules/a/b.md", "x")], ": 'rules/a' can't be a file, because 'rules/a/b.md' lies below it. Rename one "
                                                "of them."),
    ([*((f"{number}.md", "x" * 65535) for number in range(4)), *((f"{number}.md", "") for number in range(4)), ("y", "y")],
     ": the rules of a mode can't be longer than 262144 characters in all. Shorten them."),
])
def test_rules_that_no_import_would_take(rules: list[tuple[str, str]], why: str) -> None:
    """Those of .hermes and .roo are fine alone, but not in one folder."""
    with pytest.raises(Refusal) as refusal:
        exported(DOCS, [Rule(name, text, "project") for name, text in rules])
    assert str(refusal.value) == f"The rules of docs can't be exported, because no import would take them{why}"


def test_rules_of_one_name_become_one() -> None:
    """A project may have them in .hermes and in .roo; the import puts them into one folder."""
    rules = [Rule("A.md", "one", "project"), Rule("b.md", "x", "project"), Rule("a.md", "two", "project")]
    found = read_modes(exported(DOCS, rules), file="f", origin="f", rules=rulesfiles.check)
    assert found.rules == {"docs": {"A.md": "one\ntwo", "b.md": "x"}}


@pytest.mark.parametrize(("text", "shown"), [
    ("plain words, as (these) are.", "plain words, as (these) are."), ("don't", "don't"), ("", "''"), ("null", "'null'"),
    ("Yes", "'Yes'"),
    ("012", "'012'"), ("1e9", "'1e9'"), ("a: b", "'a: b'"), ("a #b", "'a #b'"), ("'", "''''"), ("- x", "'- x'"), ("é", "é"),
    ("\\d", r"'\d'"), ("a\tb", r'"a\tb"'), ("\x1b[0m", r'"\u001b[0m"'), ("a\x85b", r'"a\x85b"'), ("a\r\nb", r'"a\r\nb"'),
    ("\u202eevil", r'"\u202eevil"'), ("x\U000e0041", r'"x\U000e0041"'), (" a\nb", r'" a\nb"'), ("\n", r'"\n"'),
    ("\ufffe", r'"\U0000fffe"'),
    ("a\nb", "|-\n    a\n    b"), ("a\nb\n", "|\n    a\n    b"), ("a\n\n\n", "|+\n    a\n\n"),
    ("a\n\tb \n", "|\n    a\n    \tb "),
    ("a\n  ", "|-\n    a\n      "), ("# a\n---\n", "|\n    # a\n    ---"),
])
def test_texts(text: str, shown: str) -> None:
    data = {"a": {"b": text}, "c": [text, [text]]}
    assert written(data).startswith(f"a:\n  b: {shown}\n")
    assert yaml12.read(written(data)).data == data


def test_nothing_in_a_list_or_a_mapping() -> None:
    data = {"a": [], "b": {}, "c": [[], {}]}
    assert written(data) == "a: []\nb: {}\nc:\n  - []\n  - {}\n"
    assert yaml12.read(written(data)).data == data


def test_what_a_mode_grants_in_words() -> None:
    assert granted(DOCS) == r"edit (^docs/.*\.md$), read, mcp:fs, x, not y"
    assert granted(PLAN) == "edit (Markdown files in this session's plan directory), reading"
    assert granted(replace(DOCS, grants=Grants())) == "nothing but asking, the todo list and finding tools"
