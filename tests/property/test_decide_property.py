"""What holds for every mode, call and fact: a verdict, deny beats allow, and nothing is allowed that couldn't be offered."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from plan_mode.modes.builtin import BUILTIN, READ_ONLY
from plan_mode.modes.jsregex import translate
from plan_mode.modes.model import GROUPS, EditRule, Grants, Mode
from plan_mode.policy.catalogue import ALIASES, ASKING, CATALOGUE, EDITORS, WRITERS, canonical
from plan_mode.policy.containment import Inside, Outside
from plan_mode.policy.decide import Facts, Fallback, InnerCall, Target, could_allow, decide, is_extra
from plan_mode.policy.targets import Unreadable

WITH_A_RULE = ["write_file", "patch", "skill_view", "tool_call", "search_files"]
KNOWN = st.sampled_from([*WITH_A_RULE, *WITH_A_RULE, *CATALOGUE, *ALIASES])
UNKNOWN = st.one_of(st.sampled_from(["my_reader", "mcp_fs_write", ""]), st.text())
TOOLS = st.one_of(KNOWN, UNKNOWN)
NAMES = st.frozensets(TOOLS.map(canonical), max_size=4)

GRANTS = st.builds(
    Grants, groups=st.frozensets(st.sampled_from(sorted(GROUPS))) | st.just(GROUPS), allow=NAMES, deny=NAMES,
    edit_rule=st.none() | st.sampled_from([EditRule("plans", ".md", "plans"), EditRule("project", "", "", translate(r"\.md$"))]))
CUSTOM = st.builds(
    Mode, slug=st.just("custom"), name=st.just("Custom"), role_definition=st.just(""), grants=GRANTS, extra_tools=st.booleans())
MODES = st.one_of(st.sampled_from([*BUILTIN.values(), READ_ONLY]), CUSTOM)

TARGETS = st.builds(
    Target, shown=st.just("/p/a.md"),
    judged=st.sampled_from([
        Inside("/p/a.md", False), Inside("/p/a.py", True), Outside("outside-plans", "it isn't below /p"),
        Inside("/p/a.md", True, ("a.md", "a.md")), Inside("/p/a.py", True, ("a.md", "a.py")),
        Inside("/p/a.py", True, ("a.py", "a.py")),
    ]),
    protected_by=st.none() | st.none() | st.just("/home"), others_plan=st.booleans())
UNREADABLE = st.just(Unreadable("it can't be told"))
FACTS = st.deferred(lambda: st.builds(
    Facts, targets=st.one_of(st.lists(TARGETS, max_size=3).map(tuple), UNREADABLE), plan_root=st.sampled_from(["", "/p"]),
    extra_tools=NAMES, option=st.sampled_from(["", "", "its argument path"]),
    inline_shell=st.booleans(), foreign=st.booleans(), remote_files=st.booleans(), server=st.sampled_from(["", "", "fs"]),
    fallback=st.none() | st.just(Fallback("state-damaged", "it is damaged")),
    inner=st.one_of(st.lists(st.builds(InnerCall, tool=TOOLS, facts=FACTS), max_size=2).map(tuple), UNREADABLE)))


def could_be_offered(mode: Mode, tool: str, facts: Facts) -> bool:
    return could_allow(mode, tool, facts.server) or is_extra(mode, canonical(tool), facts.server, facts.extra_tools)


@settings(max_examples=150, deadline=None)
@given(mode=MODES, tool=TOOLS, facts=FACTS)
def test_every_call_gets_a_verdict_that_explains_itself(mode: Mode, tool: str, facts: Facts) -> None:
    verdict = decide(mode, tool, facts)
    assert verdict.effect in ("allow", "deny", "ask")
    if verdict.effect == "ask" and canonical(tool) != "tool_call":
        assert canonical(tool) in (*ASKING, "delegate_task")
    assert verdict.rule
    assert verdict.allowed is (verdict.effect == "allow")
    if not verdict.allowed:
        assert verdict.reason
        assert verdict.hint
    assert verdict == decide(mode, tool, facts)


@settings(max_examples=150, deadline=None)
@given(mode=MODES, tool=TOOLS, facts=FACTS)
def test_what_is_allowed_could_be_offered(mode: Mode, tool: str, facts: Facts) -> None:
    if not decide(mode, tool, facts).denied:
        assert could_be_offered(mode, tool, facts)


A_PLAN = Target("/p/a.md", Inside("/p/a.md", False, ("a.md", "a.md")))
BEST = Facts(targets=(A_PLAN,), plan_root="/p", inline_shell=False, inner=(InnerCall("clarify"),))


@settings(max_examples=100, deadline=None)
@given(mode=MODES, tool=TOOLS)
def test_what_could_be_offered_is_allowed_with_the_best_of_facts(mode: Mode, tool: str) -> None:
    if could_allow(mode, tool) and not (canonical(tool) == "tool_call" and "clarify" in mode.grants.deny):
        best = replace(BEST, targets=()) if canonical(tool) in WRITERS - EDITORS else BEST  # such a tool needn't write a file
        assert not decide(mode, tool, best).denied


@settings(max_examples=150, deadline=None)
@given(mode=MODES, tool=TOOLS, facts=FACTS, more=NAMES)
def test_adding_a_deny_opens_nothing(mode: Mode, tool: str, facts: Facts, more: frozenset[str]) -> None:
    stricter = replace(mode, grants=replace(mode.grants, deny=mode.grants.deny | more))
    if decide(stricter, tool, facts).allowed:
        assert decide(mode, tool, facts).allowed


@settings(max_examples=100, deadline=None)
@given(mode=MODES, tool=TOOLS, facts=FACTS)
def test_a_deny_beats_every_grant(mode: Mode, tool: str, facts: Facts) -> None:
    stricter = replace(mode, grants=replace(mode.grants, deny=mode.grants.deny | {canonical(tool)}))
    assert not decide(stricter, tool, facts).allowed
    assert not could_allow(stricter, tool)


@settings(max_examples=150, deadline=None)
@given(mode=MODES, tool=TOOLS, facts=FACTS, groups=st.frozensets(st.sampled_from(sorted(GROUPS))), more=NAMES)
def test_granting_more_closes_nothing(mode: Mode, tool: str, facts: Facts, groups: frozenset[str], more: frozenset[str]) -> None:
    wider = replace(mode, grants=replace(mode.grants, groups=mode.grants.groups | groups, allow=mode.grants.allow | more))
    if decide(mode, tool, facts).allowed:
        assert decide(wider, tool, facts).allowed


@settings(max_examples=100, deadline=None)
@given(mode=MODES, tool=TOOLS, facts=FACTS, target=TARGETS)
def test_a_protected_target_is_never_written_in_a_restricted_mode(mode: Mode, tool: str, facts: Facts, target: Target) -> None:
    known = facts.targets if isinstance(facts.targets, tuple) else ()
    writing = replace(facts, targets=(*known, replace(target, protected_by="/home")))
    assert decide(mode, tool, writing).allowed is not mode.restricted


@settings(max_examples=100, deadline=None)
@given(mode=MODES, tool=st.sampled_from(sorted(EDITORS)), facts=FACTS)
def test_an_edit_rule_lets_only_plan_files_through(mode: Mode, tool: str, facts: Facts) -> None:
    if mode.grants.edit_rule is not None and decide(mode, tool, facts).allowed:
        assert isinstance(facts.targets, tuple)
        assert facts.targets
        for target in facts.targets:
            assert isinstance(target.judged, Inside)
            assert target.judged.real.endswith(".md")
            assert not target.others_plan
            assert not target.protected_by
        assert not facts.remote_files
        assert not facts.foreign


@settings(max_examples=100, deadline=None)
@given(mode=MODES.filter(lambda mode: mode.restricted), facts=FACTS)
def test_a_wrapper_opens_nothing(mode: Mode, facts: Facts) -> None:
    if decide(mode, "tool_call", facts).allowed:
        assert isinstance(facts.inner, tuple)
        assert facts.inner
        assert all(decide(mode, call.tool, call.facts).allowed for call in facts.inner)


@settings(max_examples=60, deadline=None)
@given(mode=MODES, tool=UNKNOWN.filter(lambda name: canonical(name) not in CATALOGUE), facts=FACTS)
def test_an_unknown_tool_needs_its_name_or_its_servers(mode: Mode, tool: str, facts: Facts) -> None:
    named = tool in mode.grants.allow or is_extra(mode, tool, facts.server, facts.extra_tools)
    served = bool(facts.server) and ("mcp" in mode.grants.groups or f"mcp:{facts.server}" in mode.grants.allow)
    if mode.restricted and decide(mode, tool, facts).allowed:
        assert named or served


@settings(max_examples=150, deadline=None)
@given(mode=MODES, tool=TOOLS, facts=FACTS)
def test_what_a_project_rule_allows_matches_it_by_both_names(mode: Mode, tool: str, facts: Facts) -> None:
    rule = mode.grants.edit_rule
    if rule is None or rule.pattern is None or canonical(tool) not in ("write_file", "patch") or not mode.restricted:
        return
    if decide(mode, tool, facts).allowed:
        assert isinstance(facts.targets, tuple)
        assert facts.targets
        for target in facts.targets:
            assert isinstance(target.judged, Inside)
            assert target.judged.names
            assert all(map(rule.pattern.matches, target.judged.names))
