"""Imports: what they would change, what is refused, and what is on disk afterwards."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from plan_mode.errors import Refusal
from plan_mode.modes import importing
from plan_mode.modes.exchange import exported
from plan_mode.modes.importing import Change, Import, carry_out, planned
from plan_mode.modes.registry import Registry
from plan_mode.modes.rules import Rule, read_rules
from plan_mode.modes.sources import Scope
from tests.fixtures import write_without_fsync
from tests.modes.test_placing import tree


def mode(slug: str = "docs", role: str = "You write.", **more: Any) -> dict[str, Any]:
    return {"slug": slug, "name": slug.capitalize(), "roleDefinition": role, "groups": ["read"], **more}


def rules(**files: str) -> list[dict[str, str]]:
    return [{"relativePath": f"{name}.md", "content": text} for name, text in files.items()]


class World:
    """A home, a project, and a file to import."""

    def __init__(self, root: Path) -> None:
        self.root, self.home, self.project, self.file = root, root / "home" / ".hermes", root / "project", root / "given.yaml"
        self.home.mkdir(parents=True)
        self.project.mkdir()

    def give(self, *modes: dict[str, Any]) -> None:
        self.file.write_text(json.dumps({"customModes": modes}))

    def plan(self, scope: Scope = "home") -> Import:
        return planned(str(self.file), scope, str(self.home), str(self.project))

    def take(self, scope: Scope = "home") -> Import:
        plan = self.plan(scope)
        carry_out(plan)
        return plan

    def change(self) -> Change:
        [change] = self.plan().changes
        return change

    def refusal(self, scope: Scope = "home") -> Refusal:
        before = tree(self.root)
        with pytest.raises(Refusal) as refusal:
            self.take(scope)
        assert tree(self.root) == before
        return refusal.value

    def roles(self) -> dict[str, str]:
        listing = Registry(lambda: str(self.home), lambda: "", lambda: None).listing(str(self.project))
        assert not listing.faults
        return {slug: known.mode.role_definition for slug, known in listing.modes.items() if known.origin != "built-in"}

    def rules(self, slug: str = "docs") -> dict[str, str]:
        found = read_rules(slug, str(self.home), str(self.project))
        assert not found.faults
        return {rule.name: rule.text for rule in found.texts}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    write_without_fsync(monkeypatch)
    return World(tmp_path)


# -- what is written

@pytest.mark.parametrize(("scope", "where"), [("home", "home/.hermes"), ("project", "project/.hermes")])
def test_new_modes(world: World, scope: Scope, where: str) -> None:
    world.give(mode(rulesFiles=rules(a="one", b="two")), mode("tests", groups=["read", ["edit", {"fileRegex": "^tests/"}]]))
    plan = world.take(scope)
    assert [(change.mode.slug, change.to_file, change.to_rules, change.overwrites) for change in plan.changes] == [
        ("docs", "new", "new", False), ("tests", "new", "none", False)]
    found = {path for path, content in tree(world.root / where).items() if content is not None}
    assert found == {"modes/docs.yaml", "modes/tests.yaml", "rules-docs/a.md", "rules-docs/b.md"}
    assert world.roles() == {"docs": "You write.", "tests": "You write."}
    assert world.rules() == {"a.md": "one", "b.md": "two"}


def test_the_file_is_what_an_export_would_be_without_rules(world: World) -> None:
    world.give(mode(source="project", rulesFiles=rules(a="one")))
    [change] = world.take().changes
    assert Path(change.file).read_text() == exported(change.mode)
    assert "source" not in Path(change.file).read_text()
    assert "rulesFiles" not in Path(change.file).read_text()


def test_there_and_back_again(world: World) -> None:
    """Exported, imported, exported: the same file."""
    texts = {"deep/a.md": "one\n\n  two \n", "rules-x/b.md": "\ttab\r\n", "é.md": "“x”"}
    world.give(mode(customInstructions="a\n b\n\n", tools={"deny": ["x"]}))
    given = exported(world.change().mode, [Rule(name, text, "home") for name, text in texts.items()])
    world.file.write_bytes(given.encode())
    [change] = world.take().changes
    assert world.rules() == texts
    assert exported(change.mode, read_rules("docs", str(world.home), "").texts) == given
    assert [(change.to_file, change.to_rules) for change in world.plan().changes] == [("same", "same")]


def test_another_slug_than_the_rules_were_exported_with(world: World) -> None:
    world.give(mode("prose", rulesFiles=[{"relativePath": "rules-docs/a.md", "content": "one"}]))
    world.take()
    assert (world.rules("prose"), world.rules("docs")) == ({"a.md": "one"}, {})


@pytest.mark.parametrize("shape", [
    lambda given: given, lambda given: [given], lambda given: {"docs": {key: given[key] for key in given if key != "slug"}},
    lambda given: {"customModes": {"docs": given}},
])
def test_every_shape_of_a_mode_file(world: World, shape: Any) -> None:
    world.file.write_text(json.dumps(shape(mode(rulesFiles=rules(a="one")))))
    world.take()
    assert world.roles() == {"docs": "You write."}
    assert world.rules() == {"a.md": "one"}


# -- what is there already

def test_the_same_is_left_alone(world: World) -> None:
    world.give(mode(rulesFiles=rules(a="one")))
    world.take()
    file = world.home / "modes" / "docs.yaml"
    file.write_text(f"# my comment\n{file.read_text()}")
    before = tree(world.root)
    plan = world.take()
    assert (plan.placed, plan.overwrites) == ((), False)
    assert tree(world.root) == before


@pytest.mark.parametrize(("change", "fields"), [
    ({"role": "You rule."}, ("roleDefinition",)),
    ({"groups": ["read", "command"]}, ("groups",)),
    ({"groups": [["edit", {"fileRegex": "x"}]], "description": "d", "name": "D"}, ("name", "description", "groups")),
    ({"tools": {"deny": ["x"]}, "model": "m", "childMode": "code", "whenToUse": "w", "customInstructions": "c"},
     ("whenToUse", "customInstructions", "tools", "model", "childMode")),
])
def test_another_definition(world: World, change: dict[str, Any], fields: tuple[str, ...]) -> None:
    world.give(mode())
    world.take()
    world.give(mode(**change))
    found = world.change()
    assert (found.to_file, found.overwrites, found.fields) == ("other", True, fields)
    assert found.was is not None
    assert found.was.role_definition == "You write."
    world.take()
    assert world.roles() == {"docs": change.get("role", "You write.")}


@pytest.mark.parametrize(("text", "fault"), [
    ("customModes: [", "{file}:2:1: the brackets don't fit: a comma or a closing one is missing. Look at the line before, too."),
    (json.dumps(mode(groups=["nope"])), '{file}:1:77: mode docs: groups[0]: this isn\'t a group; it is \'nope\'. Groups: '),
    ("\x00\xff" * 10, "{file}"),
])
def test_a_broken_file(world: World, text: str, fault: str) -> None:
    file = world.home / "modes" / "docs.yaml"
    file.parent.mkdir()
    file.write_text(text, encoding="latin-1")
    world.give(mode())
    change = world.change()
    assert (change.to_file, change.overwrites) == ("broken", True)
    assert change.fault.startswith(fault.format(file=file))
    world.take()
    assert world.roles() == {"docs": "You write."}


def test_a_file_that_defines_others_too(world: World) -> None:
    world.give(mode(), mode("mine"))
    (world.home / "modes").mkdir()
    (world.home / "modes" / "docs.yaml").write_bytes(world.file.read_bytes())
    world.give(mode())
    change = world.change()
    assert (change.to_file, change.fields, change.lost, change.overwrites) == ("other", (), ("mine",), True)


def test_a_broken_file_may_define_others(world: World) -> None:
    (world.home / "modes").mkdir()
    (world.home / "modes" / "docs.yaml").write_text(json.dumps([mode("mine"), mode(groups=["nope"]), mode("ours")]))
    world.give(mode())
    change = world.change()
    assert (change.to_file, change.was, change.lost, change.overwrites) == ("broken", None, ("mine", "ours"), True)


def test_a_file_that_defines_nothing(world: World) -> None:
    (world.home / "modes").mkdir()
    (world.home / "modes" / "docs.yaml").write_text("# nothing yet\n")
    world.give(mode())
    change = world.change()
    assert (change.to_file, change.was, change.overwrites) == ("other", None, True)


def fill(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.md").write_text(text)
    return folder


@pytest.mark.parametrize(("there", "given", "to_rules"), [
    ({}, {}, "none"), ({}, {"a": "one"}, "new"), ({"a": "one"}, {}, "kept"), ({"a": "one"}, {"a": "one"}, "same"),
    ({"a": "two"}, {"a": "one"}, "other"), ({"a": "one", "b": ""}, {"a": "one"}, "other"), ({"b": "one"}, {"a": "one"}, "other"),
    ({"a": "one"}, {"a": "one", "b": "two"}, "other"), ({"a": "one\n"}, {"a": "one"}, "other"),
])
def test_rules_that_are_there(world: World, there: dict[str, str], given: dict[str, str], to_rules: str) -> None:
    folder = fill(world.home / "rules-docs", **there)
    world.give(mode(rulesFiles=rules(**given)))
    change = world.change()
    assert (change.to_rules, change.overwrites) == (to_rules, to_rules == "other")
    world.take()
    assert {path.stem: path.read_text() for path in folder.iterdir()} == (given or there)


@pytest.mark.parametrize("name", [".git", "a.md~", "sub/b.md", ".hidden/c"])
def test_anything_that_would_be_lost_with_the_folder_counts(world: World, name: str) -> None:
    folder = fill(world.home / "rules-docs", a="one")
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("mine")
    world.give(mode(rulesFiles=rules(a="one")))
    assert world.change().to_rules == "other"


def test_a_link_in_the_folder_counts_and_its_target_stays(world: World) -> None:
    folder = fill(world.home / "rules-docs")
    mine = fill(world.root / "mine", a="one")
    (folder / "a.md").symlink_to(mine / "a.md")
    (folder / "deep").symlink_to(mine)
    world.give(mode(rulesFiles=rules(a="one")))
    assert world.change().to_rules == "other"
    world.take()
    assert not (folder / "a.md").is_symlink()
    assert (mine / "a.md").read_text() == "one"
    assert [path.name for path in folder.iterdir()] == ["a.md"]


# -- what is refused

@pytest.mark.parametrize("other", ["modes/other.yaml", "modes/docs.yml", "modes/a.json"])
def test_defined_in_another_file_of_the_home(world: World, other: str) -> None:
    world.give(mode("fine"), mode())
    path = world.home / other
    path.parent.mkdir()
    path.write_text(json.dumps(mode()))
    assert str(world.refusal()) == (
        f"Nothing was imported: docs is defined in {path}, and would be defined twice. "
        "Remove it there, or give the imported one another slug.")
    assert world.take("project").changes[1].to_file == "new"


@pytest.mark.parametrize("other", [".roomodes", ".hermes-modes.yaml", ".hermes/modes/x.yaml"])
@pytest.mark.parametrize("defined", [mode(), mode(groups=["nope"])], ids=["usable", "faulty"])
def test_defined_in_another_file_of_the_project(world: World, other: str, defined: dict[str, Any]) -> None:
    world.give(mode())
    path = world.project / other
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(defined))
    assert world.refusal("project").rule == "defined-elsewhere"
    assert world.take("home").changes[0].to_file == "new"


def test_any_fault_refuses_all_of_it(world: World) -> None:
    world.give(mode("fine"), mode(groups=["nope"], rulesFiles=rules(a="one")),
               mode("more", rulesFiles=[{"relativePath": "../x.md", "content": ""}]))
    refusal = world.refusal()
    assert refusal.rule == "faulty-import"
    assert str(refusal).splitlines() == [
        "Nothing was imported, because the file has 2 faults:",
        f"{world.file}:1:180: mode docs: groups[0]: this isn't a group; it is 'nope'. Groups: read, edit, command, mcp, browser, "
        "delegate, message, memory, schedule, media, manage, ui, modes.",
        f"{world.file}:1:367: mode more: rulesFiles[0].relativePath: no file of rules can have this path, because it leads out "
        "of the folder of rules; it is '../x.md'. Write another."]


def test_many_faults_are_shown_in_part(world: World) -> None:
    world.give(*(mode(f"m{number}", groups=["nope"]) for number in range(30)))
    lines = str(world.refusal()).splitlines()
    assert lines[0] == "Nothing was imported, because the file has 30 faults:"
    assert (len(lines), lines[-1]) == (22, "and 10 more")


def test_plan_is_never_imported(world: World) -> None:
    world.give(mode("plan"), mode())
    assert "plan mode can't be replaced" in str(world.refusal())


def test_slugs_that_differ_by_case(world: World) -> None:
    world.give(mode("docs"), mode("Docs"))
    assert str(world.refusal()) == ("Nothing was imported: docs and Docs would be one file where case doesn't count. "
                                    "Rename one of them.")


@pytest.mark.parametrize(("text", "told"), [
    (b"", "holds no modes."), (b"customModes: []", "holds no modes."), (b"\xff\xfea", "isn't UTF-8 text."),
    (b"#" * (2 * 1024 * 1024 + 1), "is larger than 2097152 bytes."),
])
def test_what_is_no_import(world: World, text: bytes, told: str) -> None:
    world.file.write_bytes(text)
    assert world.refusal().reason == f"Nothing was imported: {world.file} {told}"


@pytest.mark.parametrize(("make", "why"), [
    (lambda path: None, "No such file or directory"), (os.mkfifo, "it isn't a plain file"), (os.mkdir, "Is a directory")])
def test_what_is_no_file(world: World, make: Any, why: str) -> None:
    make(world.file)
    with pytest.raises(Refusal) as refusal:
        world.plan()
    assert refusal.value.reason == f"Nothing was imported: {world.file} can't be read ({why})."


def test_a_name_that_no_file_has(world: World) -> None:
    with pytest.raises(Refusal, match="can't be read"):
        planned("a\0b", "home", str(world.home), "")


def test_no_project(world: World) -> None:
    world.give(mode())
    with pytest.raises(Refusal) as refusal:
        planned(str(world.file), "project", str(world.home), "")
    assert str(refusal.value) == ("Nothing was imported: which project this is can't be told. Import it for all projects: "
                                  "global.")


def test_a_project_whose_hermes_folder_is_the_home(world: World) -> None:
    world.give(mode())
    world.project = world.home.parent
    assert str(world.refusal("project")) == (
        f"Nothing was imported: {world.project} has the Hermes home for its .hermes, and no modes of its own. "
        "Import it for all projects: global.")


@pytest.mark.parametrize("link", ["modes", "rules-docs", "modes/docs.yaml", ""])
@pytest.mark.parametrize("target", ["elsewhere", "project/.hermes/other", "home/.hermes/other"])
@pytest.mark.parametrize("scope", ["home", "project"])
def test_no_link_is_followed(world: World, scope: Scope, target: str, link: str) -> None:
    """Neither out of the home or project, nor elsewhere in it. Where the home itself lies is the user's own affair."""
    if not link and (scope == "home" or target.startswith("project")):
        return
    world.give(mode(rulesFiles=rules(a="one")))
    path, there = (world.home if scope == "home" else world.project / ".hermes") / link, world.root / target
    path.parent.mkdir(parents=True, exist_ok=True)
    there.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix:
        there.write_text(json.dumps(mode()))
    else:
        there.mkdir()
    path.symlink_to(there)
    refusal = world.refusal(scope)
    assert refusal.rule == "symlink"
    assert f" leads to {there}" in refusal.reason


def test_a_home_that_is_a_link(world: World) -> None:
    real = world.root / "real"
    world.home.rmdir()
    real.mkdir()
    world.home.symlink_to(real)
    world.give(mode(rulesFiles=rules(a="one")))
    world.take()
    assert sorted(path for path, content in tree(real).items() if content) == ["modes/docs.yaml", "rules-docs/a.md"]


@pytest.mark.parametrize(("path", "make", "rule"), [
    ("modes/docs.yaml", os.mkdir, "not-a-file"), ("modes/docs.yaml", os.mkfifo, "not-a-file"),
    ("rules-docs", os.mkfifo, "not-a-folder"), ("rules-docs", lambda path: path.write_text("x"), "not-a-folder"),
])
def test_what_stands_in_the_way(world: World, path: str, make: Any, rule: str) -> None:
    world.give(mode())
    (world.home / "modes").mkdir()
    make(world.home / path)
    with pytest.raises(Refusal) as refusal:
        world.plan()
    assert refusal.value.rule == rule


# -- all of it or nothing

@pytest.mark.parametrize("fails_at", range(1, 8))
def test_a_rename_that_fails(world: World, fails_at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    world.give(mode(), mode("old", rulesFiles=rules(a="one")))
    world.take()
    fill(world.home / "rules-docs", b="two")
    world.give(mode(role="new", rulesFiles=rules(b="three")), mode("old", rulesFiles=rules(a="other")), mode("fresh"))
    real, calls = os.replace, [0]

    def replace(source: str, target: str) -> None:
        calls[0] += 1
        if calls[0] == fails_at:
            raise OSError(28, "No space left on device")
        real(source, target)
    monkeypatch.setattr(os, "replace", replace)
    if fails_at < 7:
        assert world.refusal().rule == "not-written"
    else:  # two folders are set aside; two folders and two files come into place
        world.take()
        assert calls[0] == 6
        assert world.roles() == {"docs": "new", "old": "You write.", "fresh": "You write."}
        assert world.rules("docs") == {"b.md": "three"}
        assert world.rules("old") == {"a.md": "other"}


def test_a_home_that_cant_be_written(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.give(mode())
    monkeypatch.setattr(os, "mkdir", lambda path, mode=0o777: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
    assert str(world.refusal()) == (
        f"Nothing was changed: {world.home}/modes/docs.yaml can't be written (Permission denied). "
        "Make room, or have the folder writable, and try again.")


def test_what_no_file_can_hold_is_found_before_anything_is_written(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(mode: Any) -> str:
        raise Refusal("not-exportable", "no")
    world.give(mode(rulesFiles=rules(a="one")))
    monkeypatch.setattr(importing.exchange, "exported", refuse)
    assert world.refusal().rule == "not-exportable"


def test_warnings_are_kept(world: World) -> None:
    world.give(mode(nope=1))
    assert [warning.field for warning in world.plan().warnings] == ["nope"]


def test_a_file_outside_of_the_project_doesnt_define_its_modes(world: World) -> None:
    """It isn't read: else an import would tell whether a private file defines a mode."""
    secret = world.root / "secret.yaml"
    secret.write_text(json.dumps({"customModes": [mode()]}))
    (world.project / ".roomodes").symlink_to(secret)
    world.give(mode())
    assert [change.to_file for change in world.plan("project").changes] == ["new"]
