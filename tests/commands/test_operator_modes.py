"""``hermes plan-mode check`` and ``hermes plan-mode modes``: what is printed, and with which exit code."""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from plan_mode import cli as operator
from plan_mode.modes import doctor
from tests.fake_host import Cli, Machine

REPOSITORY = Path(__file__).parents[2]
DOCS: dict[str, Any] = {
    "slug": "docs", "name": "Docs", "roleDefinition": "You write documentation.", "description": "Writes documentation.",
    "groups": ["read", ["edit", {"fileRegex": r"^docs/.*\.md$"}]],
}


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def run(machine: Machine, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run one command line in the machine's project."""
    (machine.work / ".git").mkdir()

    def run(*arguments: object) -> Done:
        try:
            code = operator.main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
        return Done(code, *capsys.readouterr())
    return run


def write(path: Path, *modes: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"customModes": modes}))
    return path


@pytest.fixture
def docs(machine: Machine) -> Path:
    return write(machine.home / "modes" / "docs.yaml", DOCS)


# -- check

@pytest.mark.parametrize(("mode", "tool", "path", "code", "rule"), [
    ("docs", "write_file", "docs/a.md", 0, "edit-rule"), ("docs", "write_file", "./docs/a.md", 0, "edit-rule"),
    ("docs", "write_file", "{work}/docs/a.md", 0, "edit-rule"), ("docs", "write_file", "src/a.py", 1, "file-restriction"),
    ("docs", "write_file", "../docs/a.md", 1, "dot-dot"), ("docs", "write_file", ".roomodes", 1, "protected"),
    ("docs", "terminal", "", 1, "not-granted"), ("docs", "read_file", "x", 0, "granted"),
    ("docs", "clarify", "", 0, "always-available"),
    ("docs", "todo", "", 0, "always-available"), ("DOCS", "read_file", "x", 0, "granted"),
    ("docs", "nope", "", 1, "unknown-tool"),
    ("code", "terminal", "", 0, "unrestricted"), ("code", "write_file", "/etc/passwd", 0, "unrestricted"),
    ("plan", "write_file", "{work}/.hermes/plans/a.md", 0, "plan-file"),
    ("plan", "write_file", ".hermes/plans/a.md", 1, "not-absolute"),
    ("plan", "write_file", "{work}/.hermes/plans/a.py", 1, "not-markdown"),
    ("plan", "write_file", "{work}/a.md", 1, "outside-plans"),
    ("architect", "write_file", "docs/a.md", 0, "edit-rule"), ("ask", "write_file", "docs/a.md", 1, "not-granted"),
])
def test_check(run: Any, machine: Machine, docs: Path, mode: str, tool: str, path: str, code: int, rule: str) -> None:
    before = sorted(machine.root.rglob("*"))
    arguments = json.dumps({"path": path.format(work=machine.work), "content": ""}) if path else "{}"
    done = run("check", "--mode", mode, "--json", tool, arguments)
    said = json.loads(done.out)
    assert (done.code, done.err, said["rule"]) == (code, "", rule)
    assert (said["effect"], said["mode"], said["tool"]) == ("deny" if code else "allow", mode.lower(), tool)
    assert list(said) == ["effect", "mode", "tool", "rule", "reason"]
    assert sorted(machine.root.rglob("*")) == before


def test_check_in_words(run: Any, docs: Path) -> None:
    assert run("check", "--mode", "docs", "read_file") == (0, "read_file may run in docs mode [granted]. Nothing was run.\n", "")
    assert run("check", "--mode", "docs", "terminal", "{}") == (
        1, "terminal may not run in docs mode [not-granted]: terminal isn't available in docs mode. The person can switch with "
           "/mode.\n",
        "")


@pytest.mark.parametrize(("arguments", "told"), [
    (("--mode", "nope", "x"), "'nope' isn't a mode. Modes: plan, code, architect, ask, debug, orchestrator, docs.\n"),
    (("--mode", "docs", "x", "{"), "The arguments of the call aren't JSON: "),
    (("--mode", "docs", "x", "[" * 100_000), "The arguments of the call aren't JSON: "),
    (("--mode", "docs", "x", "[]"), "The arguments of the call aren't a JSON object. Write them as '{\"path\": "
                                    "\"docs/a.md\"}'.\n"),
    (("--mode", "docs", "--project", "/nowhere", "x"), "/nowhere isn't a folder. Name one that is there.\n"),
    (("--mode", "docs", "--cwd", "/nowhere", "x"), "/nowhere isn't a folder. Name one that is there.\n"),
    (("x",), "usage: "), (("--mode", "docs"), "usage: "),
])
def test_a_mistake_in_the_command_line(run: Any, docs: Path, arguments: tuple[str, ...], told: str) -> None:
    done = run("check", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(told)


def test_an_unknown_tool_may_be_one_of_what_isnt_connected(run: Any, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    why = "mcp_fs_read isn't a tool that docs mode knows to be harmless; MCP servers and plugins aren't connected here"
    done = run("check", "--mode", "docs", "mcp_fs_read")
    assert (done.code, f"may not run in docs mode [unknown-tool]: {why}." in done.out) == (1, True)
    said = json.loads(run("check", "--mode", "docs", "--json", "mcp_fs_read").out)
    assert (list(said), said["reason"]) == (["effect", "mode", "tool", "rule", "reason"], why)
    assert "connected" not in run("check", "--mode", "docs", "terminal").out
    monkeypatch.setattr("plan_mode.host.registry.toolset_of", lambda tool: "files" if tool == "read_file" else None)
    assert "connected" not in run("check", "--mode", "docs", "mcp_fs_read").out


@pytest.mark.parametrize(("importable", "why"), [(False, "Hermes isn't importable here"), (True, "Hermes can't read it")])
@pytest.mark.parametrize("verb", [("check", "--mode", "ask", "read_file"), ("check", "--mode", "ask", "--json", "read_file"),
                                  ("modes", "list"), ("modes", "list", "--json"), ("modes",)])
def test_a_config_that_isnt_read_is_told(
    run: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...], importable: bool, why: str,
) -> None:
    assert run(*verb).err == ""
    monkeypatch.setattr("plan_mode.cli.answer.seam", lambda name: (lambda: None) if importable else None)
    (machine.home / "config.yaml").write_text("agent: {}")
    done = run(*verb)
    assert (done.code, done.err) == (0, f"config.yaml was not read, because {why}: agent.modes and settings don't count.\n")
    machine.config = {}
    assert run(*verb).err == ""


def test_a_question_to_a_person(run: Any) -> None:
    assert run("check", "--mode", "ask", "switch_mode") == (
        3, "switch_mode asks a person in ask mode [person-decides]: what switch_mode asks for happens only when a person says "
        "yes. The person can switch with /mode.\n", "")
    assert run("check", "--mode", "orchestrator", "delegate_task")[0] == 3


def test_where_paths_begin(run: Any, machine: Machine, docs: Path) -> None:
    """--project is the root that rules are matched from, --cwd where relative paths begin; each is told by the other."""
    other = machine.root / "other"
    (other / "docs" / "deep").mkdir(parents=True)
    (other / ".git").mkdir()

    def rule(path: str, *where: object) -> str:
        return str(json.loads(run("check", "--mode", "docs", "--json", *where, "write_file",
                                  json.dumps({"path": path})).out)["rule"])
    assert rule("a.md") == "file-restriction"
    assert rule("docs/a.md", "--project", other) == "edit-rule"
    assert rule(str(other / "docs" / "a.md")) == "outside-project"
    assert rule("a.md", "--cwd", other / "docs" / "deep") == "edit-rule"
    assert rule("a.md", "--cwd", other / "docs" / "deep", "--project", other / "docs") == "file-restriction"
    assert rule("docs/a.md", "--cwd", other, "--project", machine.work) == "outside-project"
    assert run("check", "--mode", "plan", "--cwd", other, "write_file",
               json.dumps({"path": f"{other}/.hermes/plans/a.md"})).code == 0


def test_a_patch_of_several_files(run: Any, docs: Path) -> None:
    def code(*names: str) -> int:
        patch = "*** Begin Patch\n" + "".join(f"*** Add File: {name}\n+x\n" for name in names) + "*** End Patch"
        return int(run("check", "--mode", "docs", "patch", json.dumps({"mode": "patch", "patch": patch})).code)
    assert code("docs/a.md", "docs/b.md") == 0
    assert code("docs/a.md", "src/b.md") == 1


def test_another_sessions_plan_isnt_written(run: Any, cli: Cli, machine: Machine) -> None:
    cli.type("/planmode on")
    cli.turn()
    path = cli.write_plan()
    assert "[others-plan]" in run("check", "--mode", "plan", "write_file", json.dumps({"path": str(path)})).out


def test_the_projects_own_mode_judges_only_where_it_counts(run: Any, machine: Machine, docs: Path) -> None:
    write(machine.work / ".roomodes", {**DOCS, "groups": ["command"]}, {**DOCS, "slug": "theirs", "groups": ["command"]})
    assert run("check", "--mode", "docs", "terminal").code == 1
    assert run("check", "--mode", "theirs", "terminal").code == 0


def test_where_files_lie_on_another_machine(run: Any, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERMINAL_ENV", "docker")
    for mode in ("docs", "plan"):
        assert "[remote-files]" in run("check", "--mode", mode, "write_file", '{"path": "docs/a.md"}').out


def test_the_operators_settings_count(machine: Machine, run: Any) -> None:
    assert run("check", "--mode", "plan", "x_search").code == 1
    machine.set(extra_allowed_tools=["x_search"])
    assert run("check", "--mode", "plan", "x_search").out.startswith("x_search may run in plan mode [extra-tool].")


# -- modes list

def test_list(run: Any, machine: Machine, docs: Path) -> None:
    roomodes = write(machine.work / ".roomodes", {**DOCS, "groups": ["command"]},
                     {**DOCS, "slug": "theirs", "description": "", "name": "Their\x1b[0m own"},
                     {**DOCS, "slug": "broken", "groups": 1})
    done = run("modes", "list")
    assert done.code == 0
    assert done.out.splitlines()[5:] == [
        "orchestrator  Splits work up and gives it to sub-agents; touches nothing itself.  [built-in]",
        f"docs  Writes documentation.  [yours, {docs}]", f"theirs  Their\\x1b[0m own  [project, {roomodes}]",
        f"Not used: docs in {roomodes}, which would replace yours and may allow more; in a session, /mode trust docs vouches "
        "for it."]
    assert done.err.startswith(f"Fault: {roomodes}:1:")
    assert run("modes") == done
    assert "theirs" not in run("modes", "list", "--project", machine.root).out


def test_list_for_programs(run: Any, machine: Machine, docs: Path) -> None:
    roomodes = write(machine.work / ".roomodes", {**DOCS, "groups": ["command"]}, {**DOCS, "slug": "theirs", "nope": 1})
    done = run("modes", "list", "--json")
    said = json.loads(done.out)
    assert (done.code, done.err, list(said)) == (0, "", ["modes", "untrusted", "faults", "warnings"])
    assert said["modes"][-2:] == [
        {"slug": "docs", "name": "Docs", "description": "Writes documentation.", "origin": "home", "file": str(docs),
         "trusted": True},
        {"slug": "theirs", "name": "Docs", "description": "Writes documentation.", "origin": "project", "file": str(roomodes),
         "trusted": False}]
    assert [each["slug"] for each in said["untrusted"]] == ["docs"]
    assert (said["faults"], [each["field"] for each in said["warnings"]]) == ([], ["nope"])


# -- modes validate

def test_validate(run: Any, tmp_path: Path) -> None:
    good, odd = write(tmp_path / "good.yaml", DOCS), write(tmp_path / "odd.yaml", {**DOCS, "slug": "odd", "nope": 1})
    assert run("modes", "validate", good) == (0, "No faults; 1 mode can be used: docs.\n", "")
    assert run("modes", "validate", good, odd) == (
        0, f"Warning: {odd}:1:207: mode odd: nope: this key is unknown and ignored.\nNo faults; 2 modes can be used: docs, "
           f"odd.\n", "")
    bad, missing = write(tmp_path / "bad.yaml", {**DOCS, "groups": ["nope\x1b", 1]}), tmp_path / "missing.yaml"
    done = run("modes", "validate", bad, missing, good)
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines() == [
        f"{bad}:1:148: mode docs: groups[0]: this isn't a group; it is 'nope\\x1b'. Groups: read, edit, command, mcp, browser, "
        "delegate, message, memory, schedule, media, manage, ui, modes.",
        f"{bad}:1:162: mode docs: groups[1]: this must be the name of a group, or a list of a name and its options; it is the "
        "number 1. "
        r"Write the group alone, or a list of two: [edit, {fileRegex: '\.md$'}].",
        f"{missing}: it can't be read (No such file or directory).",
        "3 faults; 1 mode can be used: docs."]
    assert run("modes", "validate", missing).out.endswith("\n1 fault; 0 modes can be used.\n")


def test_validate_for_programs(run: Any, tmp_path: Path) -> None:
    bad = write(tmp_path / "bad.yaml", {**DOCS, "groups": 1}, {**DOCS, "slug": "odd", "nope": 1})
    done = run("modes", "validate", bad, "--json")
    assert (done.code, done.err) == (1, "")
    assert json.loads(done.out) == {
        "ok": False, "modes": ["odd"],
        "faults": [{"file": str(bad), "line": 1, "column": 147, "mode": "docs", "field": "groups",
                    "message": "this must be a list of groups; it is the number 1. Write [] for none."}],
        "warnings": [{"file": str(bad), "line": 1, "column": 340, "mode": "odd", "field": "nope",
                      "message": "this key is unknown and ignored."}]}
    good = write(tmp_path / "good.yaml", DOCS)
    done = run("modes", "validate", "--json", good)
    assert (done.code, json.loads(done.out)) == (0, {"ok": True, "modes": ["docs"], "faults": [], "warnings": []})
    done = run("modes", "validate", "--json", tmp_path / "none")
    assert json.loads(done.out)["faults"] == [
        {"file": str(tmp_path / "none"), "line": 0, "column": 0, "mode": "", "field": "",
         "message": "it can't be read (No such file or directory)."}]


# -- modes export, modes import

EXPORTED = r"""customModes:
  - slug: docs
    name: Docs
    roleDefinition: You write documentation.
    description: Writes documentation.
    groups:
      - - edit
        - fileRegex: '^docs/.*\.md$'
      - read
    rulesFiles:
      - relativePath: style.md
        content: |
          Be kind.
"""


def style(folder: Path, text: str = "Be kind.\n") -> None:
    folder.mkdir(parents=True)
    (folder / "style.md").write_text(text)


def test_export(run: Any, machine: Machine, docs: Path, tmp_path: Path) -> None:
    style(machine.home / "rules-docs")
    style(machine.work / ".hermes" / "rules-docs", "The project's own.")
    assert run("modes", "export", "docs") == (0, EXPORTED, "")
    file = tmp_path / "docs.yaml"
    assert run("modes", "export", "docs", "-o", file) == (0, f"docs and its rules are in {file}.\n", "")
    assert file.read_text() == EXPORTED
    file.write_text("mine")
    assert run("modes", "export", "docs", "-o", file) == (1, "", f"Nothing was written: {file} is there already. Name another "
                                                                 "file.\n")
    assert file.read_text() == "mine"
    assert run("modes", "export", "docs", "-o", tmp_path / "no" / "x").err == (
        f"Nothing was written: {tmp_path}/no/x can't be made (No such file or directory). Name a file in a folder that is "
        "there and has room.\n")


def test_export_of_a_projects_mode_with_the_projects_rules(run: Any, machine: Machine) -> None:
    write(machine.work / ".roomodes", {**DOCS, "model": "big"})
    style(machine.work / ".roo" / "rules-docs")
    style(machine.home / "rules-docs", "Mine.")
    (machine.work / ".roo" / "rules-docs" / "x.md").write_bytes(b"\xff")
    assert run("modes", "export", "docs") == (0, EXPORTED, (
        "Note: A model, and a mode for sub-agents, that its file may name aren't trusted, and left out.\n"
        f"Note: {machine.work}/.roo/rules-docs/x.md can't be read (it isn't UTF-8 text); it is left out.\n"))
    assert run("modes", "export", "docs", "--project", machine.root).code == 2


@pytest.mark.parametrize(("slug", "code", "told"), [
    ("nope", 2, "'nope' isn't a mode. Modes: plan, code, architect, ask, debug, orchestrator.\n"),
    ("plan", 1, "Plan mode can't be exported: no file can say that it writes plans only. It is there wherever plan-mode is.\n"),
])
def test_what_cant_be_exported(run: Any, slug: str, code: int, told: str) -> None:
    assert run("modes", "export", slug) == (code, "", told)


def test_a_built_in_mode_is_exported(run: Any) -> None:
    assert run("modes", "export", "ASK").out.startswith("customModes:\n  - slug: ask\n")


def test_a_full_disk_leaves_no_half_file(run: Any, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(28, "No space left on device")

    def full(path: Path, mode: str, **more: Any) -> Full:
        open(path, mode).close()
        return Full()
    monkeypatch.setattr("plan_mode.sharing.open", full, raising=False)
    file = tmp_path / "docs.yaml"
    assert run("modes", "export", "docs", "-o", file) == (1, "", (
        f"Nothing was written: {file} can't be made (No space left on device). Name a file in a folder that is there and has "
        "room.\n"))
    assert not file.exists()


def test_import(run: Any, machine: Machine, tmp_path: Path) -> None:
    given = tmp_path / "given.yaml"
    given.write_text(EXPORTED)
    modes, folder = machine.home / "modes" / "docs.yaml", machine.home / "rules-docs"
    told = f"  docs: new, in {modes}\n    grants: edit (^docs/.*\\.md$), read\n    rules: 1 file, new in {folder}\n"
    assert run("modes", "import", given, "--dry-run") == (
        0, f"This would be imported from {given}, for all your projects:\n{told}Next: the same without --dry-run\n", "")
    assert not modes.exists()
    assert run("modes", "import", given) == (0, f"Imported from {given}, for all your projects:\n{told}Next: /mode docs\n", "")
    assert run("modes", "export", "docs").out == EXPORTED
    assert run("modes", "import", given) == (0, (
        f"Nothing to import: all that {given} holds is there already.\n  docs: as it is in {modes}\n    rules: as they are in "
        f"{folder}\n"
        "Next: /mode docs\n"), "")


def test_an_import_tells_of_the_model_and_of_the_mode_for_sub_agents(run: Any, tmp_path: Path) -> None:
    given = write(tmp_path / "given.yaml", {**DOCS, "model": "big", "childMode": "ask"},
                  {**DOCS, "slug": "b", "model": {"model": "huge", "provider": "far"}})
    asks, asks_of = ("    asks for the model big\n    sub-agents work in: ask\n", "    asks for the model huge of far\n")
    out = run("modes", "import", given).out
    assert asks in out
    assert asks_of in out
    assert "asks for" not in run("modes", "import", given).out


def test_an_import_that_would_replace_something(run: Any, machine: Machine, docs: Path, tmp_path: Path) -> None:
    write(docs, {**DOCS, "roleDefinition": "x", "groups": ["read", "command"]}, {**DOCS, "slug": "mine"})
    broken = machine.home / "modes" / "other.yaml"
    broken.write_text("{")
    style(machine.home / "rules-docs", "x")
    style(machine.home / "rules-more", "x")
    given = write(tmp_path / "given.yaml", {**DOCS, "nope": 1, "rulesFiles": [{"relativePath": "a", "content": ""}]},
                  {**DOCS, "slug": "other"}, {**DOCS, "slug": "more"})
    told = [
        f"  docs: replaces what {docs} says of roleDefinition, groups",
        r"    grants until now: command, read; then: edit (^docs/.*\.md$), read",
        "    lost, because that file defines them too: mine",
        f"    rules: 1 file, in the place of all that {machine.home}/rules-docs holds",
        f"  other: replaces {broken}, which has faults: {broken}:2:1: the brackets don't fit: a comma or a closing one is "
        "missing. Look at the line before, too.",
        r"    grants: edit (^docs/.*\.md$), read",
        f"  more: new, in {machine.home}/modes/more.yaml",
        r"    grants: edit (^docs/.*\.md$), read",
        f"    rules: {machine.home}/rules-more stays as it is, because the import brings none",
        f"Note: {given}:1:208: mode docs: nope: this key is unknown and ignored.",
    ]
    before = {path: path.read_bytes() for path in machine.home.rglob("*") if path.is_file()}
    for more in ((), ("--dry-run",)):
        done = run("modes", "import", given, *more)
        assert (done.code, done.out) == (1, "")
        assert done.err.splitlines() == [
            "Nothing was imported, because it would take the place of what is there:", *told, "Next: the same with --force"]
    assert {path: path.read_bytes() for path in machine.home.rglob("*") if path.is_file()} == before
    done = run("modes", "import", given, "--force")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [f"Imported from {given}, for all your projects:", *told, "Next: /mode docs"]
    assert [path.name for path in (machine.home / "rules-docs").iterdir()] == ["a"]
    assert "mine" not in run("modes").out


def test_import_into_a_project(run: Any, machine: Machine, tmp_path: Path) -> None:
    given, other = write(tmp_path / "given.yaml", DOCS), machine.root / "other"
    other.mkdir()
    head = f"Imported from {given}, into this project:\n  docs: new, in {{}}/.hermes/modes/docs.yaml\n"
    tail = ("They are this project's text now, and untrusted as all of it: they choose no model, and one that could allow more "
            "than a mode of yours waits for /mode trust.\nNext: /mode docs\n")
    done = run("modes", "import", given, "--scope", "project")
    assert done.out.startswith(head.format(machine.work))
    assert done.out.endswith(tail)
    assert run("modes", "import", given, "--project", other).out.startswith(head.format(other))
    assert run("modes", "import", given, "--project", other, "--scope", "global").out.startswith(
        f"Imported from {given}, for all your projects:\n")


def test_a_faulty_import(run: Any, tmp_path: Path) -> None:
    given = write(tmp_path / "given.yaml", {**DOCS, "groups": 1})
    assert run("modes", "import", given) == (1, "", (
        "Nothing was imported, because the file has a fault:\n"
        f"{given}:1:147: mode docs: groups: this must be a list of groups; it is the number 1. Write [] for none.\n"))


# -- modes doctor

def test_doctor(run: Any, machine: Machine, docs: Path) -> None:
    for name in ("docs/a.md", "src/docs/b.md", "x.py"):
        (machine.work / name).parent.mkdir(parents=True, exist_ok=True)
        (machine.work / name).write_text("")
    assert run("modes", "doctor") == (0, (
        f"docs  {docs}\n  ^docs/.*\\.md$  matches 1 of the 3 files, docs/a.md for one\nNothing to look at.\n"), "")
    theirs = write(machine.work / ".roomodes", {**DOCS, "groups": [["edit", {"fileRegex": "docs/*"}]]},
                   {**DOCS, "slug": "none", "groups": [["edit", {"fileRegex": r"(?i)\.rs$"}]]},
                   {**DOCS, "slug": "bad", "groups": 1})
    done = run("modes", "doctor")
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    assert lines[2:-2] == [
        f"none  {theirs}",
        r"  (?i)\.rs$  matches 0 of the 4 files",
        "  Look at this: it matches none of the 4 files of this project.",
        f"docs  {theirs}",
        "  docs/*  matches 2 of the 4 files, docs/a.md for one",
        "  Look at this: it isn't anchored: other/docs/a.md and xdocs/a.md match as well; begin it with ^ for a folder at the "
        "top, with (^|/) for one at any depth.",
        "  Look at this: /* means any number of slashes in a regular expression; any name is /[^/]*, and anything below is /.*.",
        f"Fault: {theirs}:1:484: mode bad: groups: this must be a list of groups; it is the number 1. Write [] for none."]
    assert lines[-2].startswith(f"Warning: {theirs}:1:")
    assert lines[-1] == "4 things to look at."
    assert run("modes", "doctor", "--project", machine.work / "src").code == 0


def test_nothing_for_the_doctor(run: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = "No mode of a file limits which files it may write, so there is no pattern to try.\n"
    assert run("modes", "doctor") == (0, f"{nothing}Nothing to look at.\n", "")
    assert run("modes", "doctor", "--project", machine.home.parent).out == (
        f"{nothing}{machine.home.parent} has the Hermes home for its .hermes, so it has no mode files of its own.\nNothing to "
        "look at.\n")


def test_many_files_for_the_doctor(run: Any, machine: Machine, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "MOST_FILES", 1)
    for name in ("a", "b"):
        (machine.work / name).write_text("")
    assert "  ^docs/.*\\.md$  matches 0 of the first 1 file\n" in run("modes", "doctor").out


# -- the parser

def test_as_hermes_calls_it(cli: Cli, docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add_arguments, handler = cli.context.operator
    parser: Any = argparse.ArgumentParser()
    add_arguments(parser)
    parser.set_defaults(func=handler)
    arguments = parser.parse_args(["check", "--mode", "docs", "read_file"])
    assert arguments.func(arguments) == 0
    arguments = parser.parse_args(["check", "--mode", "docs", "terminal"])
    with pytest.raises(SystemExit) as end:
        arguments.func(arguments)
    assert end.value.code == 1


@pytest.mark.parametrize("verb", [
    (), ("check",), ("modes",), ("modes", "list"), ("modes", "validate"), ("modes", "export"), ("modes", "import"),
    ("modes", "doctor")])
def test_help(run: Any, verb: tuple[str, ...]) -> None:
    done = run(*verb, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(" ".join(("usage: python -m plan_mode", *verb)))


def test_a_folder_that_is_gone(run: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = machine.root / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert run("modes") == (2, "", "The current folder can't be used (No such file or directory). Go to another one.\n")


# -- a process of its own, without Hermes

@pytest.fixture
def alone(tmp_path: Path) -> Any:
    """``python -m plan_mode`` in a folder, with the package installed elsewhere."""
    def alone(folder: Path, *arguments: str, out: Any = subprocess.PIPE, err: Any = subprocess.PIPE,
              **more: str) -> subprocess.CompletedProcess[str]:
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("HERMES", "TERMINAL", "PYTHON"))}
        return subprocess.run(
            [sys.executable, "-m", "plan_mode", *arguments], cwd=folder, stdout=out, stderr=err, text=True, timeout=60,
            env={**plain, "HERMES_HOME": str(tmp_path / "home"), "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1",
                 **more})
    return alone


def test_a_projects_modules_arent_taken_for_the_hosts(alone: Any, tmp_path: Path) -> None:
    project = tmp_path / "project"
    for package in ("tools", "hermes_cli", "agent", "gateway", "yaml"):
        (project / package).mkdir(parents=True)
        (project / package / "__init__.py").write_text("print('RUN')\n")
    for module in ("tools/registry", "hermes_cli/config", "hermes_constants", "hermes_state", "agent/skill_preprocessing"):
        (project / f"{module}.py").write_text("print('RUN')\n")
    (project / "docs").mkdir()
    write(project / ".roomodes", DOCS)
    done = alone(project, "check", "--mode", "docs", "--json", "write_file", '{"path": "docs/a.md"}')
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["rule"] == "edit-rule"
    assert alone(project, "check", "--mode", "docs", "skill_view", '{"name": "x"}').returncode == 1


def test_in_the_folder_of_the_package_itself(alone: Any) -> None:
    done = alone(REPOSITORY, "modes", "validate", "examples/modes/docs.yaml", "--json")
    assert (done.returncode, json.loads(done.stdout)["modes"]) == (0, ["docs"])


def test_an_output_that_has_no_sign_for_a_character(alone: Any, tmp_path: Path) -> None:
    write(tmp_path / ".roomodes", {**DOCS, "description": "É…", "name": "Ü"})
    done = alone(tmp_path, "modes", "list", "--project", str(tmp_path), PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "docs  \\xc9\\u2026  [project, " in done.stdout
    done = alone(tmp_path, "check", "--mode", "docs", "--project", str(tmp_path), "é", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stdout.split(" ")[0]) == (1, "\\xe9")


def test_an_export_isnt_printed_as_something_else(alone: Any, tmp_path: Path) -> None:
    write(tmp_path / ".roomodes", {**DOCS, "name": "Ü"})
    done = alone(tmp_path, "modes", "export", "docs", "--project", str(tmp_path), PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stdout, done.stderr) == (
        1, "", "Nothing was printed: ascii, which is printed in here, has no sign for some of the file. Let it be written: -o "
               "FILE.\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
def test_an_output_that_is_full(alone: Any, tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        done = alone(tmp_path, "check", "--mode", "ask", "read_file", out=full)
        assert (done.returncode, done.stderr) == (
            2, "The answer can't be printed (No space left on device). Send it to where it can be.\n")
        assert alone(tmp_path, "check", "--mode", "ask", "read_file", out=full, err=full).returncode == 2
        done = alone(tmp_path, "check", "--mode", "nope", "read_file", err=full)
        assert (done.returncode, done.stdout) == (2, "")


def test_an_output_that_nobody_reads(alone: Any, tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        done = alone(tmp_path, "check", "--mode", "ask", "read_file", out=theirs)
    finally:
        os.close(theirs)
    assert (done.returncode, done.stderr) == (2, "The answer can't be printed (Broken pipe). Send it to where it can be.\n")


def test_an_output_that_is_closed(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        done = run("check", "--mode", "ask", "read_file")
    assert (done.code, done.err) == (2, "The answer can't be printed (it is closed). Send it to where it can be.\n")
    monkeypatch.setattr(sys, "stderr", None)
    assert run("check", "--mode", "ask", "read_file").code == 0
    assert run("check", "--mode", "nope", "read_file").code == 2
