"""The built-in modes: six to choose, one to fall back to."""

from __future__ import annotations

import pytest

from plan_mode.modes.builtin import ARCHITECT, ASK, BUILTIN, CODE, DEBUG, ORCHESTRATOR, PLAN, READ_ONLY, READING
from plan_mode.modes.model import GROUPS, EditRule, Grants, Mode
from plan_mode.policy.catalogue import CATALOGUE


def test_the_built_in_modes() -> None:
    assert tuple(BUILTIN.values()) == (PLAN, CODE, ARCHITECT, ASK, DEBUG, ORCHESTRATOR)
    assert tuple(BUILTIN) == ("plan", "code", "architect", "ask", "debug", "orchestrator")
    assert all(slug == one.slug and one.source == "built-in" for slug, one in BUILTIN.items())
    assert READ_ONLY.slug not in BUILTIN


@pytest.mark.parametrize("one", BUILTIN.values(), ids=lambda one: one.slug)
def test_every_built_in_mode_says_when_to_use_it(one: Mode) -> None:
    assert one.when_to_use.endswith(".")
    assert one.description.endswith(".")
    assert 2 <= one.role_definition.count(". ") + 1 <= 5
    assert one.custom_instructions.isprintable()
    assert one.model is None
    assert "mcp" not in one.grants.groups or not one.restricted


def test_who_may_do_what() -> None:
    assert ASK.grants == Grants(frozenset({"read"}))
    assert ORCHESTRATOR.grants == Grants(frozenset({"delegate"}))
    assert CODE.grants == DEBUG.grants == Grants(GROUPS)
    assert [one.slug for one in BUILTIN.values() if not one.restricted] == ["code", "debug"]
    assert [one.slug for one in BUILTIN.values() if one.edits_freely] == ["code", "architect", "debug"]
    assert [one.slug for one in BUILTIN.values() if one.child_mode] == ["orchestrator"]
    assert ORCHESTRATOR.child_mode == "code"


@pytest.mark.parametrize(("path", "may"), [
    ("a.md", True), ("docs/x/README.md", True), ("a.MD", False), ("a.md.py", False), ("a.py", False), ("amd", False),
    ("a.md\n", False),
])
def test_the_architect_writes_markdown(path: str, may: bool) -> None:
    rule = ARCHITECT.grants.edit_rule
    assert ARCHITECT.grants.groups == {"read", "edit"}
    assert rule is not None
    assert (rule.root, rule.suffix) == ("project", "")
    assert rule.pattern is not None
    assert rule.pattern.matches(path) is may


def test_everything_is_every_group_of_the_catalogue() -> None:
    assert {tool.group for tool in CATALOGUE.values()} - GROUPS == {"always"}


@pytest.mark.parametrize("one", [*BUILTIN.values(), READ_ONLY])
def test_every_mode_can_be_shown_and_told(one: Mode) -> None:
    assert one.name
    assert one.description
    assert one.role_definition
    assert one.role_definition.isprintable()


def test_plan_grants_reading_and_plans_and_nothing_else() -> None:
    assert PLAN.grants == Grants(
        groups=frozenset({"edit"}), allow=READING,
        edit_rule=EditRule("plans", ".md", "Markdown files in this session's plan directory"))
    assert PLAN.extra_tools


def test_the_fallback_grants_reading_and_nothing_else() -> None:
    assert READ_ONLY.grants == Grants(allow=READING)
    assert not READ_ONLY.extra_tools


def test_what_plan_mode_reads_with() -> None:
    assert set(READING) == {
        "read_file", "search_files", "web_search", "web_extract", "skills_list", "skill_view", "session_search", "vision_analyze",
        "video_analyze", "browser_snapshot", "browser_get_images", "browser_vision", "read_terminal", "read_window_below",
    }
