"""Which definition of a mode counts: order of the sources, trust in a project's, and what becomes of broken files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from plan_mode.modes import registry
from plan_mode.modes.builtin import BUILTIN
from plan_mode.modes.exchange import to_data
from plan_mode.modes.model import ModelChoice
from plan_mode.modes.registry import CONFIG, Known, Listing, Registry


class World:
    """A home, a project, and what config.yaml says."""

    def __init__(self, root: Path) -> None:
        self.home, self.project, self.trusted = root / "home" / ".hermes", root / "project", root / "data" / "trusted"
        self.config: Any = None
        (self.home / "modes").mkdir(parents=True)
        (self.project / ".hermes" / "modes").mkdir(parents=True)
        self.registry = Registry(lambda: str(self.home), lambda: str(self.trusted), lambda: self.config)
        self._ticks = 0

    def write(self, path: Path, *modes: dict[str, Any] | str) -> Path:
        text = modes[0] if modes and isinstance(modes[0], str) else json.dumps({"customModes": modes})
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(text))
        self._ticks += 1
        os.utime(path, ns=(self._ticks * 10**9, self._ticks * 10**9))
        return path

    def list(self, project: Path | str | None = None) -> Listing:
        return self.registry.listing(str(self.project if project is None else project))

    def vouch(self, slug: str) -> Known | None:
        """Trust what the project says now; None where nothing waits for it."""
        offered = self.registry.offered(slug, str(self.project))
        if offered is None:
            return None
        self.registry.vouch(offered)
        return offered.known

    def role(self, slug: str) -> str:
        return self.list().modes[slug].mode.role_definition


def mode(slug: str = "docs", role: str = "r", groups: tuple[Any, ...] = ("read",), **more: Any) -> dict[str, Any]:
    return {"slug": slug, "name": slug, "roleDefinition": role, "groups": list(groups), **more}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_the_built_in_ones_alone(world: World) -> None:
    found = world.list()
    assert {slug: known.mode for slug, known in found.modes.items()} == dict(BUILTIN)
    assert all((known.origin, known.file, known.vouched) == ("built-in", "", True) for known in found.modes.values())
    assert (found.untrusted, found.faults, found.warnings) == ({}, (), ())


def test_later_sources_replace_earlier_ones_whole(world: World) -> None:
    """A definition without instructions has none, whatever the earlier one had."""
    world.config = [mode(role="config", customInstructions="long")]
    assert (world.role("docs"), world.list().modes["docs"].file) == ("config", CONFIG)
    home = world.write(world.home / "modes" / "a.yaml", mode(role="home"))
    known = world.list().modes["docs"]
    assert (known.mode.role_definition, known.mode.custom_instructions) == ("home", "")
    assert (known.file, known.origin) == (str(home), "home")
    world.write(world.home / "modes" / "b.yaml", mode(role="home b"))
    assert world.role("docs") == "home b"


def test_a_projects_files_in_order(world: World) -> None:
    """Each is narrower than the one before, or of another slug: nobody has to trust it."""
    for number, path in enumerate((".roomodes", ".hermes-modes.yaml", ".hermes/modes/x.yaml")):
        world.write(world.project / path, mode(slug=f"m{number}", role=path))
        assert world.list().modes[f"m{number}"].file == str(world.project / path)
    assert [slug for slug in world.list().modes if slug not in BUILTIN] == ["m0", "m1", "m2"]
    assert not any(slug in world.list("").modes for slug in ("m0", "m1", "m2"))


def test_a_new_mode_of_a_project_can_be_used_but_chooses_no_model(world: World) -> None:
    world.write(world.project / ".roomodes", mode(model="big", childMode="code"))
    known = world.list().modes["docs"]
    assert (known.origin, known.vouched) == ("project", False)
    assert (known.mode.model, known.mode.child_mode) == (None, "")
    assert world.list().untrusted == {}


@pytest.mark.parametrize(("change", "waits"), [
    ({}, False),
    ({"groups": ("read", "command")}, True),
    ({"groups": ()}, False),
    ({"role": "you are evil"}, True),
    ({"customInstructions": "x"}, True),
    ({"groups": (["edit", {"fileRegex": r"\.md$"}], "read")}, True),
    ({"model": "big"}, False),  # it isn't taken along
])
def test_what_takes_the_place_of_another_mode(world: World, change: dict[str, Any], waits: bool) -> None:
    world.write(world.home / "modes" / "a.yaml", mode(role="mine"))
    world.write(world.project / ".roomodes", mode(**{"role": "mine", **change}))
    found = world.list()
    assert (list(found.untrusted) == ["docs"]) is waits
    assert found.modes["docs"].origin == ("home" if waits else "project")


def test_a_built_in_mode_is_replaced_by_the_user_but_not_by_a_project(world: World) -> None:
    world.write(world.home / "modes" / "a.yaml", mode(slug="code", role="mine", groups=("read", "edit")))
    assert world.role("code") == "mine"
    world.write(world.project / ".roomodes", mode(slug="ask", role="theirs", groups=("read", "command")))
    assert world.list().modes["ask"].origin == "built-in"
    assert world.list().untrusted["ask"].offered.mode.role_definition == "theirs"


def test_plan_is_never_replaced(world: World) -> None:
    for path in (world.home / "modes" / "a.yaml", world.project / ".roomodes"):
        world.write(path, mode(slug="plan", groups=("command",)))
    found = world.list()
    assert found.modes["plan"].mode == BUILTIN["plan"]
    assert len(found.faults) == 2
    assert all("plan" in str(fault) for fault in found.faults)


# -- trust

def test_vouching(world: World) -> None:
    world.write(world.home / "modes" / "a.yaml", mode(role="mine"))
    world.write(world.project / ".roomodes", mode(role="theirs", groups=("read", "command"), model="big", childMode="code"))
    assert world.role("docs") == "mine"
    vouched = world.vouch("docs")
    assert vouched is not None
    assert vouched.mode.role_definition == "theirs"
    known = world.list().modes["docs"]
    assert (known.mode.role_definition, known.vouched) == ("theirs", True)
    assert (known.mode.model, known.mode.child_mode) == (ModelChoice("big"), "code")
    assert world.list().untrusted == {}


@pytest.mark.parametrize("change", [
    {"role": "others"}, {"groups": ("read", "command", "edit")}, {"customInstructions": "x"}, {"model": "m"},
])
def test_another_definition_must_be_vouched_for_anew(world: World, change: dict[str, Any]) -> None:
    world.write(world.home / "modes" / "a.yaml", mode(role="mine"))
    theirs: dict[str, Any] = {"role": "theirs", "groups": ("read", "command")}
    world.write(world.project / ".roomodes", mode(**theirs))
    world.vouch("docs")
    world.write(world.project / ".roomodes", mode(**{**theirs, **change}))
    assert world.role("docs") == "mine"


def test_other_rules_must_be_vouched_for_anew(world: World) -> None:
    world.write(world.home / "modes" / "a.yaml", mode(role="mine"))
    world.write(world.project / ".roomodes", mode(role="theirs"))
    rules = world.project / ".roo" / "rules-docs" / "a.md"
    world.write(rules, "be kind")
    world.vouch("docs")
    assert world.role("docs") == "theirs"
    world.write(rules, "be evil")
    assert world.role("docs") == "mine"
    world.write(rules, "be kind")
    assert world.role("docs") == "theirs"


def test_what_was_shown_is_vouched_for_and_not_what_the_file_says_by_then(world: World) -> None:
    world.write(world.home / "modes" / "a.yaml", mode(role="mine"))
    path = world.write(world.project / ".roomodes", mode(role="theirs"))
    offered = world.registry.offered("docs", str(world.project))
    assert offered is not None
    world.write(path, mode(role="worse"))
    world.registry.vouch(offered)
    assert world.role("docs") == "mine"
    world.write(path, mode(role="theirs"))
    assert world.role("docs") == "theirs"


def test_a_slug_that_differs_in_case_alone_takes_a_modes_place(world: World) -> None:
    world.write(world.project / ".roomodes", mode(slug="Ask", groups=("read", "edit", "command")))
    assert "Ask" not in world.list().modes
    assert world.list().untrusted["Ask"].instead_of.mode.slug == "ask"


def test_nothing_waits(world: World) -> None:
    world.write(world.home / "modes" / "a.yaml", mode())
    assert world.vouch("docs") is None
    assert world.vouch("nope") is None
    assert not world.trusted.exists()


def test_what_replaces_nothing_can_be_vouched_for_once(world: World) -> None:
    """Its role is then the user's own text, and its model counts."""
    world.write(world.project / ".roomodes", mode(model="big"))
    assert (world.list().modes["docs"].vouched, world.list().modes["docs"].mode.model) == (False, None)
    assert world.vouch("docs") is not None
    assert (world.list().modes["docs"].vouched, world.list().modes["docs"].mode.model) == (True, ModelChoice("big"))
    assert world.vouch("docs") is None


def test_the_configurations_modes_are_judged_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.config = [mode()]
    judged: list[object] = []
    original = registry.schema.modes_of
    monkeypatch.setattr(registry.schema, "modes_of", lambda data, **more: judged.append(data) or original(data, **more))
    for _ in range(3):
        assert "docs" in world.list().modes
    world.config = [mode(slug="other")]
    assert "other" in world.list().modes
    assert len(judged) == 2


# -- files that change and break

def test_a_file_is_read_when_it_is_another_one(world: World) -> None:
    path = world.write(world.home / "modes" / "a.yaml", mode(role="1"))
    assert world.role("docs") == "1"
    world.write(path, mode(role="2"))
    assert world.role("docs") == "2"
    path.unlink()
    assert "docs" not in world.list().modes


def test_a_file_is_read_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write(world.home / "modes" / "a.yaml", mode())
    world.list()
    monkeypatch.setattr("plan_mode.modes.registry.read_text", lambda path: pytest.fail("read again"))
    assert "docs" in world.list().modes


@pytest.mark.parametrize("broken", ["customModes: [", "customModes: hi", "\t- x", '{"customModes": [{"slug": "docs"}]}'])
def test_a_file_that_breaks_keeps_its_last_good_content(world: World, broken: str) -> None:
    path = world.write(world.home / "modes" / "a.yaml", mode(role="good"))
    world.list()
    world.write(path, broken)
    for _ in range(2):
        found = world.list()
        assert found.modes["docs"].mode.role_definition == "good"
        kept = f"{path}: mode docs: the definition that was read before it broke is still used. " \
            "Mend the file, or remove the mode from it."
        assert kept in map(str, found.faults)
        assert len(found.faults) > 1
    world.write(path, mode(role="mended"))
    assert (world.role("docs"), world.list().faults) == ("mended", ())


def test_a_mode_that_is_taken_out_goes_although_another_is_broken(world: World) -> None:
    path = world.write(world.home / "modes" / "a.yaml", mode("one"), mode("two"), mode("three"))
    world.list()
    world.write(path, mode("one"), {"slug": "two", "name": "two"})
    assert [slug for slug in world.list().modes if slug not in BUILTIN] == ["one", "two"]


def test_a_file_that_was_never_good(world: World) -> None:
    path = world.write(world.home / "modes" / "a.yaml", "customModes: [")
    world.write(world.home / "modes" / "b.yaml", mode())
    found = world.list()
    assert "docs" in found.modes
    assert [fault.file for fault in found.faults] == [str(path)]


def test_what_is_no_file(world: World) -> None:
    (world.home / "modes" / "a.yaml").mkdir()
    [fault] = world.list().faults
    assert str(fault) == f"{world.home / 'modes' / 'a.yaml'}: it can't be read (Is a directory)."


@pytest.mark.parametrize("config", ["x", 7, [7], {"docs": 7}])
def test_a_configuration_of_another_kind(world: World, config: Any) -> None:
    world.config = config
    found = world.list()
    assert set(found.modes) == set(BUILTIN)


@pytest.mark.parametrize("slug", sorted(set(BUILTIN) - {"plan"}))
def test_what_is_written_out_is_read_back(world: World, slug: str) -> None:
    data = to_data(BUILTIN[slug])
    world.write(world.home / "modes" / "a.yaml", {**data, "slug": "copy"})
    found = world.list()
    assert found.faults == ()
    assert {**to_data(found.modes["copy"].mode), "slug": slug} == data
