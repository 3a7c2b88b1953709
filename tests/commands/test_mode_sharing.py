"""/mode export and /mode import: modes carried from one machine to another, from within a session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plan_mode.commands import render
from tests.fake_host import Cli, Machine

DOCS: dict[str, Any] = {
    "slug": "docs", "name": "Docs", "roleDefinition": "You write documentation.",
    "groups": ["read", ["edit", {"fileRegex": r"^docs/.*\.md$"}]],
}
EXPORTED = r"""customModes:
  - slug: docs
    name: Docs
    roleDefinition: You write documentation.
    groups:
      - - edit
        - fileRegex: '^docs/.*\.md$'
      - read
    rulesFiles:
      - relativePath: style.md
        content: Be kind.
"""


def write(path: Path, *modes: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"customModes": modes}))
    return path


@pytest.fixture
def docs(machine: Machine) -> Path:
    rules = machine.home / "rules-docs"
    rules.mkdir()
    (rules / "style.md").write_text("Be kind.")
    return write(machine.home / "modes" / "docs.yaml", DOCS)


# -- export

def test_export_into_the_conversation(cli: Cli, docs: Path, machine: Machine) -> None:
    """The whole reply can be saved, and is what the export is."""
    reply = cli.type("/mode export docs")
    assert reply == f"{EXPORTED}# Next: save this as a file; /mode import <file> reads it"
    docs.unlink()
    (machine.work / "saved.yaml").write_text(reply)
    assert cli.type("/mode import saved.yaml").startswith(f"Imported from {machine.work}/saved.yaml, ")


def test_notes_of_an_export_are_comments_of_it(cli: Cli, machine: Machine) -> None:
    write(machine.work / ".roomodes", {**DOCS, "model": "big"})
    assert cli.type("/mode export docs").splitlines()[-2:] == [
        "# Note: A model, and a mode for sub-agents, that its file may name aren't trusted, and left out.",
        "# Next: save this as a file; /mode import <file> reads it"]


def test_an_export_that_is_too_long_for_a_reply(cli: Cli, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "MOST_SHOWN", 100)
    assert cli.type("/mode export docs") == (
        f"docs and its rules are {len(EXPORTED)} characters, which is too long for a reply. Name a file: /mode export docs "
        "docs.yaml")


@pytest.mark.parametrize(("named", "file"), [
    ("docs.yaml", "{work}/docs.yaml"), ("sub/my docs mode.yaml", "{work}/sub/my docs mode.yaml"),
    ("'a b.yaml'", "{work}/a b.yaml"),
    ("{root}/x.yaml", "{root}/x.yaml"), ("~/x.yaml", "{home}/x.yaml"),
])
def test_export_to_a_file(cli: Cli, docs: Path, machine: Machine, named: str, file: str) -> None:
    places = {"work": machine.work, "root": machine.root, "home": machine.home.parent}
    (machine.work / "sub").mkdir()
    path = Path(file.format(**places))
    assert cli.type(f"/mode export docs {named.format(**places)}") == (
        f"docs and its rules are in {path}.\nNext: /mode import and that file, on another machine")
    assert path.read_text() == EXPORTED
    assert cli.type(f"/mode export docs {named.format(**places)}") == (
        f"Nothing was written: {path} is there already. Name another file.")


@pytest.mark.parametrize(("line", "told"), [
    ("/mode export", "Name a mode. Modes: plan, code, architect, ask, debug, orchestrator, docs."),
    ("/mode export nope", "'nope' isn't a mode. Modes: plan, code, architect, ask, debug, orchestrator, docs."),
    ("/mode export plan", "Plan mode can't be exported: no file can say that it writes plans only. It is there wherever "
                          "plan-mode is."),
    ("/mode export docs none/x.yaml", "Nothing was written: {work}/none/x.yaml can't be made (No such file or directory). Name "
                                      "a file in a folder that is there and has room."),
    ("/mode export docs a\0b", "Nothing was written: {work}/a\\x00b can't be made (embedded null byte). Name a file in a "
                               "folder that is there and has room."),
    ("/mode export docs ''", "Name a file. As in /mode import modes.yaml"),
])
def test_what_isnt_exported(cli: Cli, docs: Path, machine: Machine, line: str, told: str) -> None:
    assert cli.type(line) == told.format(work=machine.work)
    assert list(machine.work.iterdir()) == []


# -- import

def test_import(cli: Cli, machine: Machine) -> None:
    given = machine.work / "given.yaml"
    given.write_text(EXPORTED)
    assert cli.type("/mode import given.yaml") == (
        f"Imported from {given}, for all your projects:\n"
        f"  docs: new, in {machine.home}/modes/docs.yaml\n"
        r"    grants: edit (^docs/.*\.md$), read" "\n"
        f"    rules: 1 file, new in {machine.home}/rules-docs\n"
        "Next: /mode docs")
    assert cli.type("/mode docs").startswith("Docs mode is on.")
    assert "Rules from style.md:\nBe kind." in cli.turn()
    assert cli.type("/mode export docs").startswith(EXPORTED)


def test_import_into_the_project(cli: Cli, machine: Machine) -> None:
    write(machine.work / "given.yaml", DOCS)
    assert cli.type("/mode import given.yaml project") == (
        f"Imported from {machine.work}/given.yaml, into this project:\n"
        f"  docs: new, in {machine.work}/.hermes/modes/docs.yaml\n"
        r"    grants: edit (^docs/.*\.md$), read" "\n"
        "They are this project's text now, and untrusted as all of it: they choose no model, and one that could allow more "
        "than a mode of yours waits for /mode trust.\nNext: /mode docs")
    assert f"Defined in {machine.work}/.hermes/modes/docs.yaml (this project's, not yours)." in cli.type("/mode docs")


@pytest.mark.parametrize("force", ["--force", "—force", "--FORCE"])
def test_what_is_there_is_replaced_only_by_force(cli: Cli, docs: Path, machine: Machine, force: str) -> None:
    write(machine.work / "given.yaml", {**DOCS, "groups": ["command"]})
    before = docs.read_bytes()
    assert cli.type("/mode import given.yaml") == (
        "Nothing was imported, because it would take the place of what is there:\n"
        f"  docs: replaces what {docs} says of groups\n"
        r"    grants until now: edit (^docs/.*\.md$), read; then: command" "\n"
        f"    rules: {machine.home}/rules-docs stays as it is, because the import brings none\n"
        "Next: the same with --force")
    assert docs.read_bytes() == before
    assert cli.type(f"/mode import given.yaml {force}").startswith("Imported from ")
    assert "Grants: command." in cli.type("/mode info docs")


@pytest.mark.parametrize(("rest", "scope", "force"), [
    ("my modes.yaml", "home", False), ("my modes.yaml project", "project", False), ("my modes.yaml global --force", "home", True),
    ("my modes.yaml --force Project", "project", True), ("'my modes.yaml'  GLOBAL", "home", False), ("project", "home", False),
    ("global project", "project", False), ("a  b --force", "home", True),
])
def test_nothing_has_to_be_quoted(
    cli: Cli, machine: Machine, monkeypatch: pytest.MonkeyPatch, rest: str, scope: str, force: bool,
) -> None:
    for name in ("my modes.yaml", "project", "global", "a  b"):
        write(machine.work / name, DOCS)
    seen: list[Any] = []
    monkeypatch.setattr("plan_mode.sharing.bring_in", lambda path, scope, project, *,
                        force: seen.append((path, scope, force)) or "x")
    cli.type(f"/mode import {rest}")
    [(path, found, forced)] = seen
    assert (found, forced) == (scope, force)
    assert Path(path).is_file()


@pytest.mark.parametrize(("line", "told"), [
    ("/mode import", "Name a file. As in /mode import modes.yaml"),
    ("/mode import none.yaml", "Nothing was imported: {work}/none.yaml can't be read (No such file or directory). Name a file "
                               "of modes, such as /mode export writes."),
    ("/mode import \x1b", "Nothing was imported: {work}/\\x1b can't be read (No such file or directory). Name a file of "
                          "modes, such as /mode export writes."),
])
def test_what_isnt_imported(cli: Cli, machine: Machine, line: str, told: str) -> None:
    assert cli.type(line) == told.format(work=machine.work)


def test_a_session_keeps_what_it_was_switched_with(cli: Cli, docs: Path, machine: Machine) -> None:
    cli.type("/mode docs")
    cli.turn()
    write(machine.work / "given.yaml", {**DOCS, "groups": ["read", "command"]})
    cli.type("/mode import given.yaml --force")
    assert cli.asked("terminal")
    assert "Its file says something else now." in cli.type("/mode")


# -- where nobody can be told apart

@pytest.mark.parametrize(("line", "told"), [
    ("/mode export docs x.yaml", "Nothing was changed. "), ("/mode import given.yaml", "Nothing was changed. "),
    ("/mode import given.yaml --force", "Nothing was changed. "), ("/mode export docs", EXPORTED),
])
def test_where_no_session_is_known(cli: Cli, docs: Path, machine: Machine, line: str, told: str) -> None:
    write(machine.work / "given.yaml", {**DOCS, "slug": "other"})
    cli.cli._single_query_mode = True
    assert cli.type(line).startswith(told)
    assert [path.name for path in machine.work.iterdir()] == ["given.yaml"]
    assert [path.name for path in (machine.home / "modes").iterdir()] == ["docs.yaml"]


def test_a_server_without_a_folder(machine: Machine, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TERMINAL_CWD")
    chat = machine.server().chat("k", "A", "alice")
    nowhere = ("The session's working folder isn't known, so it can't be told which file that is. Name it by its whole path.")
    assert chat.type("/mode export docs x.yaml") == nowhere
    assert chat.type("/mode import x.yaml") == nowhere
    write(machine.root / "given.yaml", {**DOCS, "slug": "other"})
    assert chat.type(f"/mode import {machine.root}/given.yaml").startswith("Imported from ")
    assert chat.type(f"/mode import {machine.root}/given.yaml project") == (
        "Nothing was imported: which project this is can't be told. Import it for all projects: global.")
