"""The whole rule: mode + call + facts -> verdict. Tables of (call, facts, effect, rule), and the words of each rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plan_mode.modes.builtin import CODE, PLAN, READ_ONLY, READING
from plan_mode.modes.jsregex import translate
from plan_mode.modes.model import GROUPS, EditRule, Grants, Mode
from plan_mode.policy.catalogue import ALIASES, ALWAYS, CATALOGUE
from plan_mode.policy.containment import Inside, Outside
from plan_mode.policy.decide import Facts, Fallback, InnerCall, Target, Verdict, could_allow, decide
from plan_mode.policy.targets import Unreadable

ROOT = "/w/.hermes/plans"
PLAN_FILE = Target(f"{ROOT}/a.md", Inside(f"{ROOT}/a.md", False))
ELSEWHERE = Target("/w/src.py", Outside("outside-plans", f"'/w/src.py' isn't below {ROOT}"))
CONFIG = Target("/home/.hermes/config.yaml", Outside("outside-plans", "..."), protected_by="/home/.hermes/config.yaml")
ANYWHERE = Target("/w/src.py", Inside("/w/src.py", True))
RELATIVE = Target("src.py", Outside("not-absolute", "'src.py' isn't an absolute path"))
DOCS = Target("/w/docs/a.md", Inside("/w/docs/a.md", True, ("docs/a.md", "docs/a.md")))
SOURCE = Target("/w/src/x.py", Inside("/w/src/x.py", True, ("src/x.py", "src/x.py")))
LINKED = Target("/w/docs/to-src.md", Inside("/w/src/x.py", True, ("docs/to-src.md", "src/x.py")))
UNREADABLE = Unreadable("the patch has no file header")
DAMAGED = Fallback("state-damaged", "its state file is damaged")

WAY_OUT = "Put it in the plan; the person approves with /planmode approve or leaves with /planmode off."
WRITE_A_PLAN = f"Write Markdown files in this session's plan directory: {ROOT}"


def named(path: str) -> Target:
    return Target(path, Inside(path, False))


def facts(*targets: Target, **more: Any) -> Facts:
    return Facts(**{"targets": targets, "plan_root": ROOT, "inline_shell": False, **more})


def custom(*groups: str, **grants: Any) -> Mode:
    return Mode("custom", "Custom", "You are custom.", Grants(frozenset(groups), **grants))


def limited(pattern: str, description: str = "") -> Mode:
    return custom("edit", edit_rule=EditRule("project", "", description, translate(pattern)))


DELEGATING = replace(custom("delegate"), child_mode="code")


# -- plan mode

ALLOWED_WHILE_PLANNING = READING | {"todo_list", "clarify", "tool_search", "tool_describe"}


@pytest.mark.parametrize("tool", sorted(CATALOGUE))
def test_every_known_tool_while_planning(tool: str) -> None:
    known = facts(PLAN_FILE, inner=(InnerCall("read_file"),))
    assert decide(PLAN, tool, known).allowed is (tool in ALLOWED_WHILE_PLANNING | {"write_file", "patch", "tool_call"})


@pytest.mark.parametrize(("tool", "effect", "rule"), [
    ("read_file", "allow", "granted"),
    ("skill_view", "allow", "granted"),
    ("todo_list", "allow", "always-available"),
    ("todo", "allow", "always-available"),
    ("clarify", "allow", "always-available"),
    ("write_file", "allow", "plan-file"),
    ("patch", "allow", "plan-file"),
    ("terminal", "deny", "not-granted"),
    ("process_manage", "deny", "not-granted"),
    ("process", "deny", "not-granted"),
    ("cronjob", "deny", "not-granted"),
    ("execute_code", "deny", "not-granted"),
    ("delegate_task", "deny", "not-granted"),
    ("memory", "deny", "not-granted"),
    ("browser_navigate", "deny", "not-granted"),
    ("x_search", "deny", "not-granted"),
    ("text_to_speech", "deny", "not-granted"),
    ("mcp_fs_write_file", "deny", "unknown-tool"),
    ("mcp_fs_read_file", "deny", "unknown-tool"),
    ("connectors__jira__get", "deny", "unknown-tool"),
    ("switch_mode", "ask", "person-decides"),
    ("submit_plan", "ask", "person-decides"),
    ("switch_mode_now", "deny", "unknown-tool"),
    ("", "deny", "unknown-tool"),
    ("Read_File", "deny", "unknown-tool"),
    ("read_file ", "deny", "unknown-tool"),
    ("functions.read_file", "deny", "unknown-tool"),
    ("re\u0430d_file", "deny", "unknown-tool"),
    ("read_file\0", "deny", "unknown-tool"),
])
def test_while_planning(tool: str, effect: str, rule: str) -> None:
    verdict = decide(PLAN, tool, facts(PLAN_FILE))
    assert (verdict.effect, verdict.rule) == (effect, rule)


@pytest.mark.parametrize("tool", ["write_file", "patch"])
@pytest.mark.parametrize(("known", "rule"), [
    (facts(PLAN_FILE), "plan-file"),
    (facts(named(f"{ROOT}/A.MD")), "plan-file"),
    (facts(named(f"{ROOT}/A.Md")), "plan-file"),
    (facts(named(f"{ROOT}/sub/.md")), "plan-file"),
    (facts(named(f"{ROOT}/a.md.md")), "plan-file"),
    (facts(PLAN_FILE, named(f"{ROOT}/b.md")), "plan-file"),
    (facts(named(f"{ROOT}/a.txt")), "not-markdown"),
    (facts(named(f"{ROOT}/a")), "not-markdown"),
    (facts(named(f"{ROOT}/md")), "not-markdown"),
    (facts(named(f"{ROOT}/a.md.py")), "not-markdown"),
    (facts(named(f"{ROOT}/a.md ")), "not-markdown"),
    (facts(named(f"{ROOT}/a.md.")), "not-markdown"),
    (facts(named(f"{ROOT}/a.markdown")), "not-markdown"),
    (facts(named(f"{ROOT}/a.\uff4d\uff44")), "not-markdown"),
    (facts(named(f"{ROOT}/a\u2024md")), "not-markdown"),
    (facts(named(f"{ROOT}/a.m\u217e")), "not-markdown"),
    (facts(PLAN_FILE, named(f"{ROOT}/b.py")), "not-markdown"),
    (facts(ELSEWHERE), "outside-plans"),
    (facts(PLAN_FILE, ELSEWHERE), "outside-plans"),
    (facts(ELSEWHERE, PLAN_FILE), "outside-plans"),
    (facts(replace(PLAN_FILE, others_plan=True)), "others-plan"),
    (facts(PLAN_FILE, replace(PLAN_FILE, others_plan=True)), "others-plan"),
    (facts(CONFIG), "protected"),
    (facts(ELSEWHERE, CONFIG), "protected"),
    (facts(replace(PLAN_FILE, protected_by=ROOT)), "protected"),
    (facts(), "unreadable-targets"),
    (Facts(), "unreadable-targets"),
    (facts(targets=UNREADABLE), "unreadable-targets"),
    (facts(PLAN_FILE, remote_files=True), "remote-files"),
    (facts(targets=UNREADABLE, remote_files=True), "remote-files"),
    (facts(PLAN_FILE, foreign=True), "foreign-tool"),
    (facts(PLAN_FILE, foreign=True, extra_tools=frozenset({"write_file", "patch"})), "foreign-tool"),
    # An operator can't give the writers more by naming them: they keep their own rule.
    (facts(ELSEWHERE, extra_tools=frozenset({"write_file", "patch"})), "outside-plans"),
    (facts(CONFIG, extra_tools=frozenset({"write_file", "patch"})), "protected"),
])
def test_writing_while_planning(tool: str, known: Facts, rule: str) -> None:
    verdict = decide(PLAN, tool, known)
    assert verdict.rule == rule
    assert verdict.allowed is (rule == "plan-file")


@pytest.mark.parametrize(("known", "rule"), [
    (facts(), "granted"),
    (facts(inline_shell=True), "inline-shell"),
    (Facts(), "inline-shell"),
    (facts(inline_shell=True, extra_tools=frozenset({"skill_view"})), "inline-shell"),
    (facts(foreign=True), "foreign-tool"),
    (facts(foreign=True, extra_tools=frozenset({"skill_view"})), "foreign-tool"),
])
def test_reading_a_skill_while_planning(known: Facts, rule: str) -> None:
    verdict = decide(PLAN, "skill_view", known)
    assert verdict.rule == rule
    assert verdict.allowed is (rule == "granted")


@pytest.mark.parametrize("tool", ["read_file", "search_files"])
@pytest.mark.parametrize(("mode", "known", "rule"), [
    (PLAN, facts(), "granted"),
    (PLAN, facts(option="its argument pattern"), "option-argument"),
    (PLAN, facts(option="its argument pattern", extra_tools=frozenset({"read_file", "search_files"})), "option-argument"),
    (PLAN, facts(option="its argument pattern", foreign=True), "foreign-tool"),
    (READ_ONLY, facts(option="its argument pattern"), "option-argument"),
    (custom("read"), facts(option="its argument pattern"), "option-argument"),
    (custom("edit"), facts(option="its argument pattern"), "not-granted"),
    (CODE, facts(option="its argument pattern"), "unrestricted"),
])
def test_a_reading_tool_is_not_handed_options(tool: str, mode: Mode, known: Facts, rule: str) -> None:
    verdict = decide(mode, tool, known)
    assert verdict.rule == rule
    assert verdict.allowed is (rule in {"granted", "unrestricted"})


@pytest.mark.parametrize(("tool", "extra", "effect", "rule"), [
    ("my_reader", {"my_reader"}, "allow", "extra-tool"),
    ("terminal", {"terminal"}, "allow", "extra-tool"),
    ("process", {"process_manage"}, "allow", "extra-tool"),
    ("mcp_fs_read_file", {"mcp_fs_read_file"}, "allow", "extra-tool"),
    ("x_search", {"x_search"}, "allow", "extra-tool"),
    ("read_file", {"read_file"}, "allow", "granted"),
    ("my_reader", set(), "deny", "unknown-tool"),
    ("my_reader", {"my_reader2", "my_"}, "deny", "unknown-tool"),
    ("my_reader", {"*", "my_*", "MY_READER"}, "deny", "unknown-tool"),
    ("mcp_fs_write_file", {"mcp_fs", "mcp:fs"}, "deny", "unknown-tool"),
])
def test_tools_that_the_operator_added(tool: str, extra: set[str], effect: str, rule: str) -> None:
    known = facts(extra_tools=frozenset(extra))
    verdict = decide(PLAN, tool, known)
    assert (verdict.effect, verdict.rule) == (effect, rule)


def test_added_tools_count_in_plan_mode_only() -> None:
    known = facts(extra_tools=frozenset({"my_reader", "terminal"}))
    for mode in (READ_ONLY, custom("read")):
        assert not decide(mode, "my_reader", known).allowed
        assert not decide(mode, "terminal", known).allowed


ASK_MODE = replace(custom("read"), extra_servers=True)


@pytest.mark.parametrize(("mode", "extra", "tool", "server", "rule"), [
    (ASK_MODE, {"mcp:fs"}, "mcp_fs_read", "fs", "extra-tool"),
    (ASK_MODE, {"mcp_fs_read"}, "mcp_fs_read", "fs", "extra-tool"),
    (ASK_MODE, {"mcp:fs"}, "mcp_fs_read", "other", "not-granted"),
    (ASK_MODE, {"mcp:fs"}, "mcp_fs_read", "", "unknown-tool"),
    (ASK_MODE, {"mcp_fs_read"}, "mcp_fs_read", "", "unknown-tool"),
    (ASK_MODE, {"mcp_fs_write"}, "mcp_fs_read", "fs", "not-granted"),
    (ASK_MODE, {"terminal"}, "terminal", "", "not-granted"),
    (ASK_MODE, set(), "mcp_fs_read", "fs", "not-granted"),
    (custom("read"), {"mcp:fs", "mcp_fs_read"}, "mcp_fs_read", "fs", "not-granted"),
    (PLAN, {"mcp:fs"}, "mcp_fs_read", "fs", "not-granted"),
    (PLAN, {"mcp_fs_read"}, "mcp_fs_read", "fs", "extra-tool"),
])
def test_servers_that_the_operator_added(mode: Mode, extra: set[str], tool: str, server: str, rule: str) -> None:
    verdict = decide(mode, tool, facts(server=server, extra_tools=frozenset(extra)))
    assert verdict.rule == rule
    assert verdict.allowed is (rule == "extra-tool")


@pytest.mark.parametrize(("targets", "rule"), [
    ((), "extra-tool"), ((PLAN_FILE,), "unreadable-targets"), ((ELSEWHERE,), "unreadable-targets"), ((CONFIG,), "protected"),
])
def test_an_added_tool_that_may_write_beside_its_work(targets: tuple[Target, ...], rule: str) -> None:
    known = facts(*targets, extra_tools=frozenset({"text_to_speech"}))
    assert decide(PLAN, "text_to_speech", known).rule == rule


@pytest.mark.parametrize(("mode", "tool", "known", "rule"), [
    (DELEGATING, "delegate_task", facts(), "child-mode"),
    (DELEGATING, "delegate_task", facts(foreign=True), "foreign-tool"),
    (DELEGATING, "terminal", facts(), "not-granted"),
    (replace(DELEGATING, grants=Grants(frozenset({"read"}))), "delegate_task", facts(), "not-granted"),
    (replace(DELEGATING, grants=Grants(frozenset({"delegate", "read"}))), "read_file", facts(), "granted"),
    (replace(DELEGATING, child_mode=""), "delegate_task", facts(), "granted"),
    (replace(DELEGATING, child_mode="inherit"), "delegate_task", facts(), "granted"),
    (PLAN, "delegate_task", facts(), "not-granted"),
])
def test_who_works_for_the_agent(mode: Mode, tool: str, known: Facts, rule: str) -> None:
    verdict = decide(mode, tool, known)
    assert verdict.rule == rule
    assert (verdict.effect == "ask") is (rule == "child-mode")


@pytest.mark.parametrize(("targets", "rule"), [
    (UNREADABLE, "granted"), ((ANYWHERE,), "granted"), ((ELSEWHERE,), "outside-plans"), ((CONFIG,), "protected"),
])
def test_a_tool_that_writes_beside_its_work_without_an_edit_rule(targets: Any, rule: str) -> None:
    assert decide(custom("media"), "text_to_speech", facts(targets=targets)).rule == rule


# -- calls inside a call

ASKS = InnerCall("switch_mode")


@pytest.mark.parametrize(("inner", "effect", "rule"), [
    ((ASKS, InnerCall("terminal")), "deny", "not-granted"),
    ((InnerCall("terminal"), ASKS), "deny", "not-granted"),
    ((ASKS, InnerCall("read_file")), "ask", "person-decides"),
    ((InnerCall("read_file"), ASKS), "ask", "person-decides"),
    ((InnerCall("read_file"), InnerCall("todo")), "allow", "always-available"),
])
def test_the_strictest_of_the_calls_inside_counts(inner: tuple[InnerCall, ...], effect: str, rule: str) -> None:
    verdict = decide(PLAN, "tool_call", facts(inner=inner))
    assert (verdict.effect, verdict.rule) == (effect, rule)


@pytest.mark.parametrize(("inner", "rule"), [
    ((InnerCall("read_file"),), "always-available"),
    ((InnerCall("todo"), InnerCall("read_file")), "always-available"),
    ((InnerCall("write_file", facts(PLAN_FILE)),), "always-available"),
    ((InnerCall("my_reader", facts(extra_tools=frozenset({"my_reader"}))),), "always-available"),
    ((InnerCall("terminal"),), "not-granted"),
    ((InnerCall("read_file"), InnerCall("mcp_fs_write_file")), "unknown-tool"),
    ((InnerCall("terminal"), InnerCall("read_file")), "not-granted"),
    ((InnerCall("write_file"),), "unreadable-targets"),
    ((InnerCall("write_file", facts(ELSEWHERE)),), "outside-plans"),
    ((InnerCall("write_file", facts(PLAN_FILE)), InnerCall("patch", facts(CONFIG))), "protected"),
    ((InnerCall("skill_view", facts(inline_shell=True)),), "inline-shell"),
    ((InnerCall("read_file", facts(foreign=True)),), "foreign-tool"),
    ((), "unreadable-calls"),
    (Unreadable("one of them names no tool"), "unreadable-calls"),
])
def test_one_denial_inside_denies_the_wrapper(inner: tuple[InnerCall, ...] | Unreadable, rule: str) -> None:
    verdict = decide(PLAN, "tool_call", facts(inner=inner))
    assert verdict.rule == rule
    assert verdict.allowed is (rule == "always-available")


def test_the_operator_cannot_open_the_wrapper() -> None:
    known = facts(inner=(InnerCall("terminal"),), extra_tools=frozenset({"tool_call"}))
    assert decide(PLAN, "tool_call", known).rule == "not-granted"
    assert decide(PLAN, "tool_call", replace(known, foreign=True)).rule == "foreign-tool"


# -- other modes

@pytest.mark.parametrize("tool", ["terminal", "write_file", "mcp_fs_write_file", "tool_call", ""])
@pytest.mark.parametrize("known", [Facts(), facts(CONFIG), facts(targets=UNREADABLE, foreign=True, fallback=DAMAGED)])
@pytest.mark.parametrize("mode", [CODE, custom(*GROUPS)])
def test_an_unrestricted_mode_denies_nothing(mode: Mode, tool: str, known: Facts) -> None:
    assert decide(mode, tool, known) == Verdict("allow", "unrestricted")
    assert could_allow(mode, tool)


@pytest.mark.parametrize("tool", sorted(CATALOGUE))
def test_the_fallback_only_reads(tool: str) -> None:
    known = facts(PLAN_FILE, fallback=DAMAGED, inner=(InnerCall("read_file"),))
    verdict = decide(READ_ONLY, tool, known)
    assert verdict.allowed is (tool in ALLOWED_WHILE_PLANNING | {"tool_call"})
    assert verdict.allowed or verdict.rule == "state-damaged"


@pytest.mark.parametrize(("mode", "tool", "known", "rule"), [
    # Deny beats allow, the always available list too.
    (custom("read", deny=frozenset({"read_file"})), "read_file", Facts(), "explicit-deny"),
    (custom(allow=frozenset({"terminal"}), deny=frozenset({"terminal"})), "terminal", Facts(), "explicit-deny"),
    (custom(deny=frozenset({"clarify"})), "clarify", Facts(), "explicit-deny"),
    (custom(deny=frozenset({"todo_list"})), "todo", Facts(), "explicit-deny"),
    (custom(deny=frozenset({"todo"})), "todo_list", Facts(), "explicit-deny"),
    (custom(deny=frozenset({"mcp:"})), "todo_list", Facts(), "always-available"),
    (custom(*GROUPS, deny=frozenset({"tool_call"})), "tool_call", facts(inner=(InnerCall("read_file"),)), "explicit-deny"),
    (custom(*GROUPS, deny=frozenset({"write_file"})), "write_file", facts(PLAN_FILE), "explicit-deny"),
    (custom(*GROUPS, deny=frozenset({"terminal"})), "tool_call", facts(inner=(InnerCall("terminal"),)), "explicit-deny"),
    (custom(*GROUPS, deny=frozenset({"memory"})), "terminal", Facts(), "granted"),
    # Protected stands above all.
    (custom(*GROUPS, deny=frozenset({"memory"})), "write_file", facts(CONFIG), "protected"),
    (custom(*GROUPS, deny=frozenset({"write_file"})), "write_file", facts(CONFIG), "protected"),
    (custom(allow=frozenset({"patch"})), "patch", facts(ELSEWHERE, CONFIG), "protected"),
    # Without an edit rule any readable target may be written; what can't be read can't be told from a protected one.
    (custom("edit"), "write_file", facts(ANYWHERE), "granted"),
    (custom("edit"), "write_file", facts(ANYWHERE, remote_files=True), "granted"),
    (custom("edit"), "write_file", facts(RELATIVE), "not-absolute"),
    (custom("edit"), "patch", facts(ANYWHERE, RELATIVE), "not-absolute"),
    # With one, every target must match it as it is named and as it really is.
    (limited(r"^docs/"), "write_file", facts(DOCS), "edit-rule"),
    (limited(r"^docs/"), "patch", facts(DOCS, DOCS), "edit-rule"),
    (limited(r"^docs/"), "patch", facts(DOCS, SOURCE), "file-restriction"),
    (limited(r"^docs/"), "write_file", facts(SOURCE), "file-restriction"),
    (limited(r"^docs/"), "write_file", facts(LINKED), "file-restriction"),
    (limited(r"^src/"), "write_file", facts(LINKED), "file-restriction"),
    (limited(r"\.md$"), "write_file", facts(LINKED), "file-restriction"),
    (limited(r"^docs/"), "write_file", facts(ANYWHERE), "file-restriction"),  # not known where in the project it lies
    (limited(r"^docs/"), "write_file", facts(ELSEWHERE), "outside-plans"),
    (limited(r"^docs/"), "write_file", facts(CONFIG), "protected"),
    (limited(r"^docs/"), "write_file", facts(DOCS, remote_files=True), "remote-files"),
    (limited(r"^docs/"), "patch", facts(targets=UNREADABLE), "unreadable-targets"),
    (limited(r"^docs/"), "read_file", Facts(), "not-granted"),
    (custom("edit"), "patch", facts(targets=UNREADABLE), "unreadable-targets"),
    (custom("edit"), "patch", Facts(), "unreadable-targets"),
    (custom("edit"), "write_file", facts(ELSEWHERE, foreign=True), "foreign-tool"),
    # Groups and single names.
    (custom("read"), "x_search", Facts(), "granted"),
    (custom("read"), "terminal", Facts(), "not-granted"),
    (custom("command"), "process", Facts(), "granted"),
    (custom("command"), "terminal", facts(foreign=True), "foreign-tool"),
    (custom("mcp"), "mcp_fs_write_file", Facts(), "unknown-tool"),
    (custom("mcp"), "mcp_fs_write_file", facts(server="fs"), "granted"),
    (custom("mcp", deny=frozenset({"mcp:fs"})), "mcp_fs_write_file", facts(server="fs"), "explicit-deny"),
    (custom("mcp", deny=frozenset({"mcp_fs_write_file"})), "mcp_fs_write_file", facts(server="fs"), "explicit-deny"),
    (custom("mcp", deny=frozenset({"mcp:other"})), "mcp_fs_write_file", facts(server="fs"), "granted"),
    (custom(allow=frozenset({"mcp:fs"})), "mcp_fs_write_file", facts(server="fs"), "granted"),
    (custom(allow=frozenset({"mcp:fs"})), "mcp_fs_write_file", facts(server="fs2"), "not-granted"),
    (custom(allow=frozenset({"mcp:fs"})), "mcp_fs_write_file", Facts(), "unknown-tool"),
    (custom("read"), "mcp_fs_read_file", facts(server="fs"), "not-granted"),
    (custom("mcp"), "read_file", facts(foreign=True, server="fs"), "foreign-tool"),
    (PLAN, "mcp_fs_read_file", facts(server="fs"), "not-granted"),
    (custom(allow=frozenset({"mcp_fs_read_file"})), "mcp_fs_read_file", Facts(), "granted"),
    (custom(), "read_file", Facts(), "not-granted"),
    (custom(), "write_file", facts(PLAN_FILE), "not-granted"),
    (custom(), "skill_view", facts(), "not-granted"),
    (custom(), "todo_list", Facts(), "always-available"),
    (custom(), "todo_list", facts(foreign=True), "foreign-tool"),
    (custom("todo_list"), "todo_list", facts(foreign=True), "foreign-tool"),
    (custom("always"), "todo_list", Facts(), "always-available"),
])
def test_other_modes(mode: Mode, tool: str, known: Facts, rule: str) -> None:
    verdict = decide(mode, tool, known)
    assert verdict.rule == rule
    assert verdict.allowed is (rule in {"granted", "always-available", "edit-rule"})


def test_a_file_restriction_names_mode_pattern_and_path() -> None:
    assert decide(limited(r"^docs/", "Docs only"), "patch", facts(DOCS, SOURCE)) == Verdict(
        "deny", "file-restriction",
        "FileRestrictionError: in custom mode patch may only write files whose path in the project matches ^docs/ (Docs only); "
        "'/w/src/x.py' doesn't", "The person can switch with /mode.")


@pytest.mark.parametrize(("mode", "tool", "could"), [
    (PLAN, "read_file", True), (PLAN, "write_file", True), (PLAN, "tool_call", True), (PLAN, "todo", True),
    (PLAN, "skill_view", True),
    (PLAN, "terminal", False), (PLAN, "process", False), (PLAN, "my_reader", False), (PLAN, "x_search", False), (PLAN, "", False),
    (READ_ONLY, "read_file", True), (READ_ONLY, "write_file", False), (READ_ONLY, "patch", False),
    (custom(), "clarify", True), (custom(), "read_file", False), (custom("mcp"), "mcp_fs_read_file", False),
    (custom("read", deny=frozenset({"read_file"})), "read_file", False), (custom("read"), "search_files", True),
    (custom(allow=frozenset({"my_reader"})), "my_reader", True), (custom(deny=frozenset({"clarify"})), "clarify", False),
])
def test_what_could_be_offered(mode: Mode, tool: str, could: bool) -> None:
    assert could_allow(mode, tool) is could


@pytest.mark.parametrize("alias", sorted(ALIASES))
@pytest.mark.parametrize("mode", [PLAN, READ_ONLY, custom("command"), custom("schedule", deny=frozenset({"todo_list"}))])
def test_an_older_name_is_judged_as_the_newer_one(alias: str, mode: Mode) -> None:
    assert decide(mode, alias, facts()) == decide(mode, ALIASES[alias], facts())
    assert could_allow(mode, alias) is could_allow(mode, ALIASES[alias])


# -- words

READ_PLANS = EditRule("plans", ".md", "Markdown files in this session's plan directory")


@pytest.mark.parametrize(("mode", "tool", "known", "verdict"), [
    (PLAN, "terminal", facts(), Verdict("deny", "not-granted", "terminal isn't available in plan mode", WAY_OUT)),
    (PLAN, "process", facts(), Verdict("deny", "not-granted", "process_manage isn't available in plan mode", WAY_OUT)),
    (PLAN, "mcp_fs_write", facts(), Verdict(
        "deny", "unknown-tool", "mcp_fs_write isn't a tool that plan mode knows to be harmless", WAY_OUT)),
    (PLAN, "read_file", facts(foreign=True), Verdict(
        "deny", "foreign-tool", "here read_file isn't the host's own tool but somebody else's of that name", WAY_OUT)),
    (PLAN, "write_file", facts(ELSEWHERE), Verdict("deny", "outside-plans", f"'/w/src.py' isn't below {ROOT}", WRITE_A_PLAN)),
    (PLAN, "write_file", facts(ELSEWHERE, plan_root=""), Verdict(
        "deny", "outside-plans", f"'/w/src.py' isn't below {ROOT}", WAY_OUT)),
    (PLAN, "write_file", facts(named(f"{ROOT}/a.py")), Verdict(
        "deny", "not-markdown", f"'{ROOT}/a.py' doesn't end in .md", WRITE_A_PLAN)),
    (PLAN, "patch", facts(targets=UNREADABLE), Verdict(
        "deny", "unreadable-targets", "the files it would write can't be told, because the patch has no file header",
        WRITE_A_PLAN)),
    (PLAN, "patch", Facts(), Verdict(
        "deny", "unreadable-targets", "the files it would write can't be told, because it names none", WAY_OUT)),
    (PLAN, "write_file", facts(replace(PLAN_FILE, others_plan=True)), Verdict(
        "deny", "others-plan", f"'{ROOT}/a.md' is the plan of another session", f"Write a new file in {ROOT}.")),
    (PLAN, "write_file", facts(PLAN_FILE, remote_files=True), Verdict(
        "deny", "remote-files", "the file tools of this session work on another machine, where plan files can't be checked",
        "Give the plan in the conversation; the person approves it there with /planmode approve.")),
    (PLAN, "write_file", facts(CONFIG), Verdict(
        "deny", "protected",
        "'/home/.hermes/config.yaml' lies in /home/.hermes/config.yaml, which no restricted mode may write", WAY_OUT)),
    (PLAN, "search_files", facts(option="its argument pattern"), Verdict(
        "deny", "option-argument", "its argument pattern could be taken for an option by the program that search_files starts",
        "Begin a path with ./ or /, and write a dash at the beginning of a pattern as [-].")),
    (PLAN, "skill_view", facts(inline_shell=True), Verdict(
        "deny", "inline-shell", "reading a skill may run shell code here: skills.inline_shell is on, or can't be read",
        "Read the skill's file with read_file instead.")),
    (PLAN, "tool_call", facts(inner=Unreadable("one of them names no tool")), Verdict(
        "deny", "unreadable-calls", "the calls inside it can't be read, because one of them names no tool",
        'Send {"calls": [{"name": ..., "arguments": {...}}]}.')),
    (PLAN, "tool_call", facts(), Verdict(
        "deny", "unreadable-calls", "the calls inside it can't be read, because there are none",
        'Send {"calls": [{"name": ..., "arguments": {...}}]}.')),
    (READ_ONLY, "terminal", facts(fallback=DAMAGED), Verdict(
        "deny", "state-damaged", "terminal isn't reading, and only reading is possible because its state file is damaged",
        "The person can end this with /planmode off or /planmode on.")),
    (custom("read"), "terminal", facts(), Verdict(
        "deny", "not-granted", "terminal isn't available in custom mode", "The person can switch with /mode.")),
    (limited(r"^docs/"), "patch", facts(DOCS, remote_files=True), Verdict(
        "deny", "remote-files", "the file tools of this session work on another machine, where the mode's rule for files can't "
        "be checked", "The person can switch with /mode.")),
    (custom("media", "edit", edit_rule=READ_PLANS), "text_to_speech", facts(PLAN_FILE), Verdict(
        "deny", "unreadable-targets", "text_to_speech may write other files beside the one that is named", WRITE_A_PLAN)),
    (PLAN, "submit_plan", facts(), Verdict(
        "ask", "person-decides", "what submit_plan asks for happens only when a person says yes", WAY_OUT)),
    (READ_ONLY, "switch_mode", facts(fallback=DAMAGED), Verdict(
        "deny", "state-damaged", "switch_mode isn't reading, and only reading is possible because its state file is damaged",
        "The person can end this with /planmode off or /planmode on.")),
    (DELEGATING, "delegate_task", facts(), Verdict(
        "ask", "child-mode", "its sub-agents work in code mode only when a person says yes, else in custom mode",
        "The person can switch with /mode.")),
    (custom("read", deny=frozenset({"read_file"})), "read_file", facts(), Verdict(
        "deny", "explicit-deny", "Custom mode denies read_file by name", "The person can switch with /mode.")),
    (custom("edit", edit_rule=READ_PLANS), "write_file", facts(ELSEWHERE), Verdict(
        "deny", "outside-plans", f"'/w/src.py' isn't below {ROOT}", WRITE_A_PLAN)),
    (PLAN, "read_file", facts(), Verdict("allow", "granted")),
    (PLAN, "clarify", facts(), Verdict("allow", "always-available")),
    (PLAN, "write_file", facts(PLAN_FILE), Verdict("allow", "plan-file")),
    (PLAN, "my_reader", facts(extra_tools=frozenset({"my_reader"})), Verdict("allow", "extra-tool")),
])
def test_the_words(mode: Mode, tool: str, known: Facts, verdict: Verdict) -> None:
    assert decide(mode, tool, known) == verdict


def test_every_group_of_the_catalogue_can_be_granted() -> None:
    for name, row in CATALOGUE.items():
        if row.group != ALWAYS:
            assert could_allow(custom(row.group), name)
            assert not could_allow(custom(*(GROUPS - {row.group})), name)


@pytest.mark.parametrize(("verdict", "told"), [
    (Verdict("allow", "granted"), "x may run in code mode [granted]. Nothing was run."),
    (Verdict("deny", "not-granted", "no\x1b", "Ask."), r"x may not run in code mode [not-granted]: no\x1b. Ask."),
    (Verdict("deny", "not-granted", "no"), "x may not run in code mode [not-granted]: no."),
    (Verdict("ask", "person-decides", "it widens", "Ask."), "x asks a person in code mode [person-decides]: it widens. Ask."),
])
def test_a_verdict_in_words(verdict: Verdict, told: str) -> None:
    assert verdict.told("x", "code") == told
