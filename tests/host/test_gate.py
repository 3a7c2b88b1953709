"""Which calls run in plan mode: asked through what the host asks, and through the middleware where that decides."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.host.kit import CONVERSATION, IS_OLD, Hermes, registered_tools, rule_of

READING = (
    "read_file", "search_files", "web_search", "web_extract", "skills_list", "skill_view", "session_search", "vision_analyze",
    "video_analyze", "browser_snapshot", "browser_get_images", "browser_vision", "read_terminal", "read_window_below",
)
ALWAYS = ("todo_list", "clarify", "tool_search", "tool_describe", "tool_call")
ASKING = ("switch_mode", "submit_plan")

ALLOWED = ""


def v4a(*headers: str) -> dict[str, str]:
    return {"mode": "patch", "patch": "\n".join(["*** Begin Patch", *(f"{header}\n+x" for header in headers), "*** End Patch"])}


def table(cli: Hermes) -> list[tuple[str, Any, str]]:
    """(tool, arguments, rule of the denial); what stands here decides, the lists of tools are tested by themselves."""
    plan, plans = str(cli.plans / "p.md"), str(cli.plans)
    elsewhere = cli.root / "outside"
    elsewhere.mkdir()
    (elsewhere / "secret.md").write_text("theirs\n")
    (elsewhere / "folder").mkdir()
    (cli.plans / "link.md").symlink_to(elsewhere / "secret.md")
    (cli.plans / "way").symlink_to(elsewhere / "folder")
    (cli.plans / "hard.md").hardlink_to(elsewhere / "secret.md")
    (cli.plans / "folder.md").mkdir()
    return [
        ("read_file", {"path": "/etc/hostname"}, ALLOWED),
        ("read_file", {"path": str(cli.home / "config.yaml")}, ALLOWED),
        ("search_files", {"pattern": "x", "path": "/"}, ALLOWED),
        ("clarify", {"question": "?"}, ALLOWED),
        ("terminal", {"command": "ls"}, "not-granted"),
        ("execute_code", {"code": "1"}, "not-granted"),
        ("delegate_task", {"goal": "x"}, "not-granted"),
        ("memory", {"action": "add"}, "not-granted"),
        ("cronjob_manage", {"action": "list"}, "not-granted"),
        ("browser_console", {"expression": "1"}, "not-granted"),
        ("mcp_files_write_file", {"path": plan}, "unknown-tool"),
        ("", {}, "unknown-tool"),
        ("Write_File", {"path": plan, "content": "x"}, "unknown-tool"),
        ("write_file", {"path": plan, "content": "x"}, ALLOWED),
        ("write_file", {"path": f"{plans}/deep/er.MD", "content": "x"}, ALLOWED),
        ("write_file", {"path": f"{plans}/./p.md", "content": "x"}, ALLOWED),
        ("write_file", {"path": f"{plans}/p.txt", "content": "x"}, "not-markdown"),
        ("write_file", {"path": f"{plans}/.md", "content": "x"}, ALLOWED),
        ("write_file", {"path": plans, "content": "x"}, "outside-plans"),
        ("write_file", {"path": ".hermes/plans/p.md", "content": "x"}, "not-absolute"),
        ("write_file", {"path": "~/p.md", "content": "x"}, "not-absolute"),
        ("write_file", {"path": f"{plans}/../p.md", "content": "x"}, "dot-dot"),
        ("write_file", {"path": f"{plans}x/p.md", "content": "x"}, "outside-plans"),
        ("write_file", {"path": str(cli.work / "p.md"), "content": "x"}, "outside-plans"),
        ("write_file", {"path": str(cli.home / "config.yaml"), "content": "x"}, "protected"),
        ("write_file", {"path": str(cli.home / "plugins" / "plan-mode" / "plan.md"), "content": "x"}, "protected"),
        ("write_file", {"path": f"{plans}/link.md", "content": "x"}, "symlink"),
        ("write_file", {"path": f"{plans}/way/p.md", "content": "x"}, "symlink"),
        ("write_file", {"path": f"{plans}/hard.md", "content": "x"}, "hard-link"),
        ("write_file", {"path": f"{plans}/folder.md", "content": "x"}, "not-a-file"),
        ("write_file", {"path": f"{plans}/.hidden/p.md", "content": "x"}, "dot-folder"),
        ("write_file", {"path": f"{plans}/a\nb.md", "content": "x"}, "unshowable-path"),
        ("write_file", {"path": f"{plans}/a\0b.md", "content": "x"}, "unshowable-path"),
        ("write_file", {"path": f"{plans}/{'n' * 300}.md", "content": "x"}, "path-too-long"),
        ("write_file", {"path": [plan], "content": "x"}, "no-path"),
        ("write_file", {"path": None, "content": "x"}, "no-path"),
        ("write_file", {"content": "x"}, "no-path"),
        ("write_file", {}, "no-path"),
        ("write_file", None, "no-path"),
        ("write_file", [plan], "no-path"),
        ("patch", {"path": plan, "old_string": "a", "new_string": "b"}, ALLOWED),
        ("patch", {"mode": "replace", "path": f"{plans}/p.py", "old_string": "a", "new_string": "b"}, "not-markdown"),
        ("patch", {"mode": "Replace", "path": plan}, "unreadable-targets"),
        ("patch", {"mode": None, "path": plan}, "unreadable-targets"),
        ("patch", {"path": plan} | v4a(f"*** Add File: {cli.work}/evil.md"), "outside-plans"),
        ("patch", v4a(f"*** Add File: {plan}"), ALLOWED),
        ("patch", v4a(f"*** Update File: {plan}", f"***Add File: {plans}/q.md"), ALLOWED),
        ("patch", v4a(f"*** Update File: {plan}", f"***Add File: {cli.work}/evil.md"), "outside-plans"),
        ("patch", v4a(f"*** Update File: {plan}", f"***   Delete File: {cli.work}/evil.md"), "outside-plans"),
        ("patch", v4a(f"*** Move File: {plan} -> {plans}/q.md"), ALLOWED),
        ("patch", v4a(f"*** Move File: {plan} -> {cli.work}/q.md"), "outside-plans"),
        ("patch", v4a(f"*** Move File: {cli.work}/q.md -> {plan}"), "outside-plans"),
        ("patch", v4a(f"***Add File: {cli.work}/evil.md\r", "*** Add File: x\r"), "outside-plans"),
        ("patch", v4a("nothing"), "unreadable-targets"),
        ("patch", {"mode": "patch"}, "unreadable-targets"),
        ("patch", {"mode": "patch", "patch": ["*** Add File: x"]}, "unreadable-targets"),
        ("tool_call", {"calls": [{"name": "read_file", "arguments": {"path": "x"}}]}, ALLOWED),
        ("tool_call", {"name": "read_file", "arguments": {"path": "x"}}, ALLOWED),
        ("tool_call", {"calls": [{"name": "write_file", "arguments": {"path": plan, "content": "x"}}]}, ALLOWED),
        ("tool_call", {"calls": [{"name": "read_file"}, {"name": "terminal", "arguments": {"command": "ls"}}]}, "not-granted"),
        ("tool_call", {"name": "write_file", "arguments": {"path": str(cli.work / "p.md")}}, "outside-plans"),
        ("tool_call", {"calls": [{"name": "connectors__mail__send", "arguments": {}}]}, "unknown-tool"),
        ("tool_call", {"calls": [{"name": "tool_call", "arguments": {"calls": [{"name": "terminal"}]}}]}, "unreadable-calls"),
        ("tool_call", {"calls": []}, "unreadable-calls"),
        ("tool_call", {"calls": "terminal"}, "unreadable-calls"),
        ("tool_call", {"calls": [{"tool": "terminal"}]}, "unreadable-calls"),
        ("tool_call", {}, "unreadable-calls"),
    ]


def test_the_hook_decides_every_row(cli: Hermes) -> None:
    cli.type("/planmode on")
    rows = table(cli)
    found = [(tool, args, rule_of(text) if (text := cli.asked(tool, args)) else ALLOWED) for tool, args, _ in rows]
    assert found == rows


def test_without_its_hook_the_middleware_decides_every_row(cli: Hermes) -> None:
    cli.type("/planmode on")
    cli.hooks("pre_tool_call").clear()
    rows = table(cli)
    found = []
    for tool, args, _ in rows:
        wrapped = cli.wrapped(tool, args)
        assert (wrapped.passed_on is None) == (wrapped.result != '{"success": true}')
        found.append((tool, args, ALLOWED if wrapped.result == '{"success": true}' else rule_of(wrapped.result)))
    assert found == rows


def test_outside_of_modes_no_row_is_denied(cli: Hermes) -> None:
    cli.plans.mkdir(parents=True)
    assert [text for tool, args, _ in table(cli) if (text := cli.asked(tool, args))] == []


def test_one_megabyte_of_patch_is_judged_in_bounded_time(cli: Hermes) -> None:
    cli.type("/planmode on")
    lines = "***" + " " * 500_000 + "Add Fil: x\n" + "*** Move File: " + "a -> " * 100_000
    began = time.perf_counter()
    assert rule_of(cli.asked("patch", {"mode": "patch", "patch": lines}))
    assert time.perf_counter() - began < 1.0


@pytest.mark.parametrize("way", ["loop", "inner", pytest.param("pool", marks=pytest.mark.long)])
def test_a_whole_call(cli: Hermes, way: str) -> None:
    cli.type("/planmode on")
    before = cli.files()
    assert cli.call("terminal", {"command": f"touch {cli.work}/made"}, way).rule == "not-granted"
    assert cli.call("execute_code", {"code": f"open('{cli.work}/made', 'w')"}, way).rule == "not-granted"
    assert cli.write(cli.work / "made.md", way=way).rule == "outside-plans"
    patch = {"mode": "patch", "patch": f"*** Begin Patch\n***Add File: {cli.work}/made.md\n+x\n*** End Patch"}
    assert cli.call("patch", patch, way).rule == "outside-plans"
    assert cli.files() == before
    assert not cli.write(cli.plans / "p.md", "one\n", way).error
    assert not cli.call("patch", {"path": str(cli.plans / "p.md"), "old_string": "one", "new_string": "two"}, way).error
    assert cli.files() == before | {"work/.hermes/plans/p.md": "two\n"}
    assert "two" in cli.call("read_file", {"path": str(cli.plans / "p.md")}, way).text
    assert "p.md" in cli.type("/planmode status")


@pytest.mark.parametrize("way", ["loop", "pool"])
def test_calls_of_one_message_are_judged_each_by_itself(cli: Hermes, way: str) -> None:
    cli.type("/planmode on")
    content = {"content": "# Plan\n"}
    outcomes = cli.batch(("write_file", {"path": str(cli.plans / "a.md")} | content), ("terminal", {"command": "touch made"}),
                         ("write_file", {"path": str(cli.work / "b.md")} | content),
                         ("write_file", {"path": str(cli.plans / "c.md")} | content), way=way)
    assert [outcome.rule for outcome in outcomes] == ["", "not-granted", "outside-plans", ""]
    assert list(cli.files()) == ["work/.hermes/plans/a.md", "work/.hermes/plans/c.md"]
    status = cli.type("/planmode status")
    assert "a.md" in status
    assert "c.md" in status


def test_a_tool_that_a_wrapper_names_is_judged_in_the_agents_loop(cli: Hermes) -> None:
    cli.type("/planmode on")
    inner = {"name": "terminal", "arguments": {"command": f"touch {cli.work}/made"}}
    assert "error" in cli.call("tool_call", {"calls": [inner]} if not IS_OLD else inner).data
    assert "error" in cli.call("tool_call", {"calls": [inner]} if not IS_OLD else inner, "inner").data
    assert "work/made" not in cli.files()


def test_after_approval_everything_runs_at_once(cli: Hermes) -> None:
    cli.type("/planmode on")
    cli.write(cli.plans / "p.md")
    assert cli.type("/planmode approve").startswith("Approved")
    assert not cli.call("terminal", {"command": "touch made", "workdir": str(cli.work)}).error
    assert "work/made" in cli.files()


class TestEveryToolOfTheHost:
    @pytest.fixture
    def tools(self, hermes: Callable[..., Hermes]) -> tuple[Hermes, dict[str, str]]:
        cli = hermes(bundled=True)
        importlib.import_module("model_tools")
        registry = importlib.import_module("tools.registry").registry
        return cli, {name: registry.get_entry(name).toolset for name in registry.get_all_tool_names()}

    def test_stands_in_the_catalogue_with_its_toolset(self, tools: tuple[Hermes, dict[str, str]]) -> None:
        cli, toolsets = tools
        catalogue = cli.part("policy.catalogue")
        assert len(toolsets) > (75 if IS_OLD else 90)
        names = {name: catalogue.canonical(name) if IS_OLD else name for name in toolsets}
        assert [name for name, canonical in names.items() if canonical not in catalogue.CATALOGUE] == []
        assert [name for name, canonical in names.items() if toolsets[name] not in catalogue.CATALOGUE[canonical].toolsets] == []

    def test_is_denied_unless_it_reads(self, tools: tuple[Hermes, dict[str, str]]) -> None:
        cli, toolsets = tools
        cli.type("/planmode on")
        canonical = cli.part("policy.catalogue").canonical
        allowed = {canonical(name) for name in toolsets if not cli.asked(name, {"path": str(cli.plans / "p.md"), "content": "x"})}
        expected = {*READING, *ALWAYS, *ASKING, "write_file", "patch"} & {canonical(name) for name in toolsets}
        assert allowed == expected
        assert {rule_of(cli.asked(name, {})) for name in toolsets if canonical(name) not in expected} == {"not-granted"}


class TestSkillView:
    """Showing a skill may run shell code: only the host's own answer opens it."""

    def rule(self, cli: Hermes) -> str:
        return rule_of(cli.asked("skill_view", {"name": "x"}))

    @pytest.mark.parametrize(("skills", "rule"), [
        (None, ALLOWED), ({"inline_shell": False}, ALLOWED), ({"inline_shell": True}, "inline-shell"),
        ({"inline_shell": "yes"}, "inline-shell"),
    ])
    def test_asks_the_hosts_setting(self, hermes: Callable[..., Hermes], skills: Any, rule: str) -> None:
        cli = hermes(config={"skills": skills} if skills is not None else None)
        cli.type("/planmode on")
        assert self.rule(cli) == rule

    def test_sees_a_setting_that_changes(self, cli: Hermes) -> None:
        cli.type("/planmode on")
        assert self.rule(cli) == ALLOWED
        cli.config["skills"] = {"inline_shell": True}
        cli.write_config()
        assert self.rule(cli) == "inline-shell"

    @pytest.mark.parametrize("answer", [None, [], "inline_shell", ValueError])
    def test_takes_a_broken_answer_for_yes(self, cli: Hermes, monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
        def load_skills_config() -> Any:
            if answer is ValueError:
                raise ValueError("broken")
            return answer

        cli.type("/planmode on")
        monkeypatch.setattr("agent.skill_preprocessing.load_skills_config", load_skills_config)
        assert self.rule(cli) == "inline-shell"


class TestExtraAllowedTools:
    @pytest.mark.parametrize(("settings", "rule"), [
        ({"extra_allowed_tools": ["terminal"]}, ALLOWED),
        ({"plan_mode": {"extra_allowed_tools": ["terminal"]}}, ALLOWED),
        ({"plan_mode": {"extra_allowed_tools": []}, "extra_allowed_tools": ["terminal"]}, "not-granted"),
        ({"plan_mode": {"extra_allowed_tools": ["terminal"]}, "extra_allowed_tools": []}, ALLOWED),
        ({"extra_allowed_tools": ["term*"]}, "not-granted"),
        ({"extra_allowed_tools": ["TERMINAL"]}, "not-granted"),
    ])
    def test_are_exact_names_and_nested_wins(self, hermes: Callable[..., Hermes], settings: Any, rule: str) -> None:
        cli = hermes(settings=settings)
        cli.type("/planmode on")
        assert rule_of(cli.asked("terminal", {"command": "ls"})) == rule
        assert rule_of(cli.asked("execute_code", {"code": "1"})) == "not-granted"

    @pytest.mark.parametrize("value", ["terminal", {"terminal": True}, ["terminal", 1], [["terminal"]], 7, True])
    def test_a_broken_value_opens_nothing_and_status_says_so(self, hermes: Callable[..., Hermes], value: Any) -> None:
        cli = hermes(settings={"extra_allowed_tools": value})
        assert "extra_allowed_tools must be a list of tool names" in cli.type("/planmode on")
        assert rule_of(cli.asked("terminal", {"command": "ls"})) == "not-granted"
        assert "extra_allowed_tools must be a list of tool names" in cli.type("/planmode status")

    @pytest.mark.parametrize("settings", ["terminal", ["extra_allowed_tools"], {"plan_mode": "terminal"}])
    def test_broken_settings_open_nothing(self, hermes: Callable[..., Hermes], settings: Any) -> None:
        cli = hermes(settings=settings)
        cli.type("/planmode on")
        assert rule_of(cli.asked("terminal", {"command": "ls"})) == "not-granted"

    def test_a_name_with_a_rule_of_its_own_keeps_it(self, hermes: Callable[..., Hermes]) -> None:
        cli = hermes(settings={"extra_allowed_tools": ["write_file", "patch", "tool_call", "skill_view"]},
                     config={"skills": {"inline_shell": True}})
        cli.type("/planmode on")
        assert rule_of(cli.asked("write_file", {"path": str(cli.work / "p.md"), "content": "x"})) == "outside-plans"
        assert rule_of(cli.asked("patch", {"path": str(cli.work / "p.md")})) == "outside-plans"
        assert rule_of(cli.asked("tool_call", {"calls": [{"name": "terminal"}]})) == "not-granted"
        assert rule_of(cli.asked("skill_view", {"name": "x"})) == "inline-shell"

    def test_are_read_again_when_the_file_changes(self, cli: Hermes) -> None:
        cli.type("/planmode on")
        assert rule_of(cli.asked("terminal", {"command": "ls"})) == "not-granted"
        cli.config["plugins"]["entries"] = {"plan-mode": {"settings": {"extra_allowed_tools": ["terminal"]}}}
        cli.write_config()
        assert cli.asked("terminal", {"command": "ls"}) == ""
        assert "terminal" in cli.type("/planmode status")


READS_ANEW = """
def register(ctx):
    ctx.register_tool(name="read_file", toolset="zz", schema={"name": "read_file", "description": "x", "parameters": {
        "type": "object", "properties": {}}}, handler=lambda args, **_: '{"ran": true}', override=True)
    ctx.register_tool(name="look_around", toolset="zz", schema={"name": "look_around", "description": "x", "parameters": {
        "type": "object", "properties": {}}}, handler=lambda args, **_: '{"ran": true}')
"""


def test_a_known_name_of_a_foreign_toolset_is_denied(hermes: Callable[..., Hermes]) -> None:
    cli = hermes(others={"zz": READS_ANEW}, config={"plugins": {
        "enabled": ["plan-mode", "zz"], "entries": {"zz": {"allow_tool_override": True}}}})
    assert importlib.import_module("tools.registry").registry.get_entry("read_file").toolset == "zz"
    cli.type("/planmode on")
    assert rule_of(cli.asked("read_file", {"path": "x"})) == "foreign-tool"
    assert cli.call("read_file", {"path": "x"}, "inner").rule == "foreign-tool"
    assert rule_of(cli.asked("look_around", {})) == "unknown-tool"


APPROVES = """
def register(ctx):
    ctx.register_hook("pre_tool_call", lambda **_: {"action": "approve", "message": "fine with me"})
"""


@pytest.mark.parametrize("way", ["loop", "inner", pytest.param("pool", marks=pytest.mark.long)])
@pytest.mark.parametrize("bypass", ["", "approvals-off", "yolo"])
def test_the_approval_of_another_plugin_opens_nothing(
    hermes: Callable[..., Hermes], monkeypatch: pytest.MonkeyPatch, way: str, bypass: str,
) -> None:
    cli = hermes(others={"aa": APPROVES}, config={"approvals": {"mode": "off"}} if bypass == "approvals-off" else None)
    monkeypatch.setattr("tools.approval._YOLO_MODE_FROZEN", bypass == "yolo")
    cli.type("/planmode on")
    refused = cli.call("terminal", {"command": f"touch {cli.work}/made"}, way)
    # 0.19 asks its person about the first directive, if only yolo is off, and nobody answers here.
    assert refused.rule == "not-granted" or (IS_OLD and bypass != "yolo" and refused.error.startswith("BLOCKED"))
    assert not cli.files()


@pytest.mark.parametrize("bypass", ["approvals-off", "yolo"])
def test_yolo_and_approvals_off_open_nothing(
    hermes: Callable[..., Hermes], monkeypatch: pytest.MonkeyPatch, bypass: str,
) -> None:
    cli = hermes(config={"approvals": {"mode": "off"}} if bypass == "approvals-off" else None)
    monkeypatch.setattr("tools.approval._YOLO_MODE_FROZEN", bypass == "yolo")
    monkeypatch.setenv("HERMES_YOLO_MODE", "1")
    cli.type("/planmode on")
    assert cli.call("terminal", {"command": f"touch {cli.work}/made"}).rule == "not-granted"
    assert cli.write(cli.work / "made.md").rule == "outside-plans"
    assert not cli.files()


def test_a_hook_that_is_gone_leaves_the_middleware_to_decide(cli: Hermes) -> None:
    cli.type("/planmode on")
    cli.hooks("pre_tool_call").clear()
    for way in ("loop", "pool", "inner"):
        assert cli.call("terminal", {"command": f"touch {cli.work}/made"}, way).rule == "not-granted"
        assert cli.write(cli.work / "made.md", way=way).rule == "outside-plans"
    assert not cli.write(cli.plans / "p.md").error
    assert list(cli.files()) == ["work/.hermes/plans/p.md"]
    assert "p.md" in cli.type("/planmode status")


class TestWhatACallAsksOfTheDisk:
    """The hook alone, once its files are old enough to be remembered; and it never opens one of them."""

    @pytest.fixture
    def asked_of(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[Hermes, str], list[str]]:
        def asked_of(cli: Hermes, tool: str) -> list[str]:
            hook = next(iter(cli.hooks("pre_tool_call")))
            about = {"tool_name": tool, "args": {"path": "x"}, "session_id": CONVERSATION}
            hook(**about)
            time.sleep(0.06)
            hook(**about)
            seen: list[str] = []
            stat = os.stat

            def noted(path: Any, **options: Any) -> Any:
                seen.append(os.path.basename(path))
                return stat(path, **options)

            def never(*_: Any, **__: Any) -> Any:
                raise AssertionError("opened")

            with monkeypatch.context() as watching:
                watching.setattr(os, "stat", noted)
                watching.setattr(os, "open", never)
                watching.setattr("builtins.open", never)
                hook(**about)
            return seen
        return asked_of

    def test_never_used(self, cli: Hermes, asked_of: Callable[[Hermes, str], list[str]]) -> None:
        assert len(asked_of(cli, "terminal")) == 1

    def test_others_active(self, cli: Hermes, asked_of: Callable[[Hermes, str], list[str]]) -> None:
        cli.type("/planmode on")
        cli.part("state.process")._identify.cache_clear()
        cli.patch.setattr(cli.part("state.process"), "_start_of", lambda pid: "another process")
        assert cli.asked("terminal", {"command": "ls"}) == ""
        assert len(asked_of(cli, "terminal")) == 3

    def test_active(self, cli: Hermes, asked_of: Callable[[Hermes, str], list[str]]) -> None:
        cli.type("/planmode on")
        cli.turn()
        for tool in ("read_file", "terminal"):
            names = asked_of(cli, tool)
            assert names.count("config.yaml") <= 1
            assert len(names) <= 5


def test_of_two_conversations_in_one_process_both_are_judged(cli: Hermes) -> None:
    cli.type("/planmode on")
    for conversation in ("20260101_120000_aaaaaa", "20260101_120000_bbbbbb", "", "bg_1"):
        assert rule_of(cli.asked("terminal", {"command": "ls"}, session_id=conversation)) == "not-granted"


def test_another_process_of_the_same_home_notices_nothing(cli: Hermes, tmp_path: Path) -> None:
    cli.type("/planmode on")
    code = (
        "import os; from hermes_cli import plugins; m = plugins.get_plugin_manager(); m.discover_and_load();"
        "print(plugins.get_pre_tool_call_directive('terminal', {'command': 'ls'}, session_id='other', tool_call_id='c')[0])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert said.stdout.strip().endswith("None")


def test_the_registry_is_left_as_it_was() -> None:
    registry = importlib.import_module("tools.registry").registry
    before = dict(registry._tools)
    with registered_tools():
        registry._tools["made_up"] = None
    assert registry._tools == before
