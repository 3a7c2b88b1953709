"""What a mode is: which are restricted, which edit freely, and that the built-in ones are what they say."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from plan_mode.modes.builtin import BUILTIN, CODE, PLAN, READ_ONLY, READING
from plan_mode.modes.model import GROUPS, EditRule, Grants, Mode

PLANS = EditRule("plans", ".md", "plans")
DOCS = EditRule("docs", ".md", "documents")


def mode(*groups: str, **grants: Any) -> Mode:
    return Mode("custom", "Custom", "You are custom.", Grants(frozenset(groups), **grants))


@pytest.mark.parametrize(("one", "restricted"), [
    (CODE, False),
    (mode(*GROUPS), False),
    (mode(*GROUPS, "modes", "no-such-group"), False),
    (mode(*GROUPS, allow=frozenset({"terminal"})), False),
    (PLAN, True),
    (READ_ONLY, True),
    (mode(), True),
    (mode(*GROUPS, deny=frozenset({"terminal"})), True),
    (mode(*GROUPS, edit_rule=PLANS), True),
    (mode(*GROUPS, edit_rule=DOCS), True),
    *((mode(*(GROUPS - {group})), True) for group in sorted(GROUPS)),
    # Single tools don't make up for a group.
    (mode(*(GROUPS - {"command"}), allow=frozenset({"terminal", "process_manage", "execute_code"})), True),
])
def test_restricted(one: Mode, restricted: bool) -> None:
    assert one.restricted is restricted


def test_restricted_follows_the_grants_and_cannot_be_set() -> None:
    assert replace(CODE, grants=PLAN.grants).restricted
    assert not replace(PLAN, grants=CODE.grants).restricted
    with pytest.raises(TypeError):
        Mode("x", "X", "", Grants(), restricted=False)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="init=False"):
        replace(PLAN, restricted=False)


@pytest.mark.parametrize("change", [("restricted", False), ("grants", CODE.grants), ("extra_tools", True)])
@pytest.mark.parametrize("one", [PLAN, READ_ONLY, CODE])
def test_a_mode_is_frozen(one: Mode, change: tuple[str, object]) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(one, *change)
    with pytest.raises(FrozenInstanceError):
        one.grants.groups = GROUPS  # type: ignore[misc]


@pytest.mark.parametrize(("one", "freely"), [
    (CODE, True), (mode("edit"), True), (mode("edit", edit_rule=DOCS), True),
    (PLAN, False), (READ_ONLY, False), (mode(), False), (mode("edit", edit_rule=PLANS), False),
    (mode("read", edit_rule=DOCS), False), (mode(allow=frozenset({"write_file"})), False),
])
def test_edits_freely(one: Mode, freely: bool) -> None:
    assert one.edits_freely is freely


def test_the_built_in_modes() -> None:
    assert dict(BUILTIN) == {"plan": PLAN, "code": CODE}
    assert all(slug == one.slug and one.source == "built-in" for slug, one in BUILTIN.items())
    assert READ_ONLY.slug not in BUILTIN


@pytest.mark.parametrize("one", [PLAN, CODE, READ_ONLY])
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
