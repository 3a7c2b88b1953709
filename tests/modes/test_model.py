"""What a mode is: which are restricted, which edit freely, which widens which, and what identifies a definition."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from plan_mode.modes.builtin import BUILTIN, CODE, PLAN, READ_ONLY
from plan_mode.modes.jsregex import translate
from plan_mode.modes.model import GROUPS, EditRule, Grants, Mode, ModelChoice, definition_digest, grants_more, widens

PLANS = EditRule("plans", ".md", "plans")
DOCS = EditRule("docs", ".md", "documents")
MARKDOWN = EditRule("project", "", "", translate(r"\.md$"))


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


def names(*given: str) -> frozenset[str]:
    return frozenset(given)


EVERYTHING = mode(*GROUPS)
NARROWER: dict[str, tuple[Mode, Mode]] = {
    "nothing": (mode(), mode()),
    "fewer groups": (mode("read", "edit"), mode("read")),
    "unrestricted": (EVERYTHING, mode("read", allow=names("x"), deny=names("y"), edit_rule=MARKDOWN)),
    "both unrestricted": (EVERYTHING, mode(*GROUPS, allow=names("x"))),
    "more denied": (mode("read", deny=names("x")), mode("read", deny=names("x", "y"))),
    "fewer names": (mode(allow=names("x", "y")), mode(allow=names("x"))),
    "a new name, denied": (mode(), mode(allow=names("x"), deny=names("x"))),
    "a group that grants nothing": (mode("read"), mode("read", "modes", "no-such-group")),
    "the same rule": (mode("edit", edit_rule=MARKDOWN), mode("edit", edit_rule=EditRule("project", "", "", translate(r"\.md$")))),
    "a rule where there was none": (mode("edit"), mode("edit", edit_rule=MARKDOWN)),
    "no editing instead of a rule": (mode("read", "edit", edit_rule=MARKDOWN), mode("read")),
    "another rule, and nothing that edits": (mode("read", "edit", edit_rule=MARKDOWN),
                                             mode("read", edit_rule=replace(DOCS, description=""))),
    "the plan directory instead of all files": (mode("edit"), mode("edit", edit_rule=replace(PLANS, description=""))),
}
WIDER: dict[str, tuple[Mode, Mode]] = {
    "another group": (mode("read"), mode("read", "edit")),
    "one group for another": (mode("read", "edit"), mode("command")),
    "a name": (mode(), mode(allow=names("x"))),
    # The group may hold the name, but that isn't known here.
    "a name that a group may hold": (mode("read"), mode("read", allow=names("read_file"))),
    "a name of a server": (mode(allow=names("mcp:s")), mode(allow=names("mcp:t"))),
    "a name that was denied": (mode(allow=names("x"), deny=names("x")), mode(allow=names("x"))),
    "less denied": (mode("read", deny=names("x", "y")), mode("read", deny=names("x"))),
    "less denied, without the group": (mode("read", deny=names("x")), mode()),
    "unrestricted": (mode(*GROUPS, deny=names("x")), EVERYTHING),
    "unrestricted instead of a rule": (mode(*GROUPS, edit_rule=MARKDOWN), EVERYTHING),
    "no rule": (mode("edit", edit_rule=MARKDOWN), mode("edit")),
    # It matches less, but nobody proves that.
    "a rule of another text": (mode("edit", edit_rule=MARKDOWN),
                               mode("edit", edit_rule=EditRule("project", "", "", translate(r"^docs/.*\.md$")))),
    "a rule of another root": (mode("edit", edit_rule=PLANS), mode("edit", edit_rule=MARKDOWN)),
    "another rule, and a name that may edit": (mode("edit", allow=names("x"), edit_rule=MARKDOWN),
                                               mode(allow=names("x"), edit_rule=DOCS)),
    "extra tools": (mode(), replace(mode(), extra_tools=True)),
}
OTHER_PERSONA: dict[str, dict[str, Any]] = {
    "name": {"name": "Another"}, "role": {"role_definition": "You are another."}, "description": {"description": "x"},
    "when": {"when_to_use": "x"}, "instructions": {"custom_instructions": "x"}, "model": {"model": ModelChoice("m")},
    "child": {"child_mode": "code"},
}


@pytest.mark.parametrize("case", NARROWER)
def test_narrower(case: str) -> None:
    before, after = NARROWER[case]
    assert not grants_more(before, after)
    assert not widens(before, after)


@pytest.mark.parametrize("case", WIDER)
def test_wider(case: str) -> None:
    before, after = WIDER[case]
    assert grants_more(before, after)
    assert widens(before, after)


@pytest.mark.parametrize("one", [*BUILTIN.values(), READ_ONLY, *(after for pair in NARROWER.values() for after in pair)])
def test_no_mode_widens_itself(one: Mode) -> None:
    assert not widens(one, one)
    assert not widens(one, replace(one, slug="other", source="elsewhere"))


@pytest.mark.parametrize("case", OTHER_PERSONA)
def test_another_persona_is_never_narrower(case: str) -> None:
    """Even where less is granted, and in both directions."""
    before, after = mode("read", "edit"), replace(mode("read"), **OTHER_PERSONA[case])
    assert not grants_more(before, after)
    assert widens(before, after)
    assert widens(after, before)
    assert widens(EVERYTHING, replace(EVERYTHING, **OTHER_PERSONA[case]))


def test_what_the_rule_is_called_is_text_too() -> None:
    before, after = mode("edit", edit_rule=MARKDOWN), mode("edit", edit_rule=replace(MARKDOWN, description="anything"))
    assert not grants_more(before, after)
    assert widens(before, after)


@pytest.mark.parametrize(("before", "after"), [
    (before, after) for before in BUILTIN.values() for after in BUILTIN.values() if before is not after])
def test_the_built_in_modes_among_each_other(before: Mode, after: Mode) -> None:
    assert widens(before, after)
    # Code and debug allow everything, and architect what ask does.
    assert grants_more(before, after) is not (not before.restricted or (before.slug, after.slug) == ("architect", "ask"))


def test_the_digest_of_a_definition() -> None:
    different = [
        *BUILTIN.values(), READ_ONLY, *(replace(mode(), **change) for change in OTHER_PERSONA.values()),
        mode(), mode("read"), mode("read", "edit"), mode("edit", edit_rule=MARKDOWN), mode("edit", edit_rule=DOCS),
        mode("edit", edit_rule=replace(MARKDOWN, description="x")), mode(allow=names("x")), mode(deny=names("x")),
        mode(allow=names("x", "y")), replace(mode(), extra_tools=True), replace(mode(), slug="other"),
        replace(mode(), model=ModelChoice("m", "p")), replace(mode(), name="\ud800"),
    ]
    digests = [definition_digest(one) for one in different]
    assert len(set(digests)) == len(different)
    assert all(len(digest) == 64 and int(digest, 16) for digest in digests)
    assert definition_digest(mode("read", "edit")) == definition_digest(replace(mode("edit", "read", "modes"), source="x"))


def test_the_digest_is_the_same_in_every_process() -> None:
    """A change of it makes every remembered definition a new one: it has to be meant."""
    assert definition_digest(Mode("a", "A", "r", Grants(names("read", "edit"), names("x", "y"), names("z"), MARKDOWN))) == \
        "e507ee114d6c28506baeb105f62d607b748ddda926876597135b2118915a2f1e"
