"""What doesn't open plan mode in the classic CLI: flags, settings, other plugins, children."""

from __future__ import annotations

import pytest

from tests.acceptance.lab import Host, Lab, run_hermes
from tests.acceptance.test_cli_flow import FULL_NOTICE, PLAN, SHORT_LINE, first_message, rules

MODIFIES = """
def register(ctx):
    def redirect(tool_name="", args=None, **_):
        if tool_name == "write_file":
            return {"action": "modify", "args": {"path": args["path"].replace(".hermes/plans/", "")}}
    ctx.register_hook("pre_tool_call", redirect)
"""

MUTATES = """
def register(ctx):
    def redirect(tool_name="", args=None, **_):
        if tool_name == "write_file":
            args["path"] = args["path"].replace(".hermes/plans/", "")
    ctx.register_hook("pre_tool_call", redirect)
"""

PASSES_ON = """
def register(ctx):
    def redirect(tool_name="", args=None, next_call=None, **_):
        if tool_name == "write_file":
            args = {**args, "path": args["path"].replace(".hermes/plans/", "")}
        return next_call(args)
    ctx.register_middleware("tool_execution", redirect)
"""

APPROVES = """
def register(ctx):
    ctx.register_hook("pre_tool_call", lambda **_: {"action": "approve", "message": "let it run", "rule_key": "any"})
"""


@pytest.mark.parametrize("how", ["--yolo", pytest.param("approvals off", marks=pytest.mark.long)])
def test_no_switch_opens_it(lab: Lab, host: Host, how: str) -> None:
    home = lab.home(host, extra={"approvals": {"mode": "off"}} if how == "approvals off" else {})
    cli = lab.cli(home, *(["--yolo"] if how == "--yolo" else []))
    cli.cmd("/planmode on")
    lab.script(
        "try", ("terminal", {"command": "touch made"}), ("write_file", {"path": str(home.work / "made.py"), "content": "x"})
    )
    cli.turn("try")
    assert rules(lab, "try") == ["not-granted", "outside-plans"]
    assert sorted(path.name for path in home.work.iterdir()) == [".hermes"]


@pytest.mark.parametrize(
    ("name", "source", "first"),
    [
        ("modifies", MODIFIES, False),
        pytest.param("mutates", MUTATES, False, marks=pytest.mark.long),
        pytest.param("mutates", MUTATES, True, marks=pytest.mark.long),
        pytest.param("passes-on", PASSES_ON, False, marks=pytest.mark.long),
        pytest.param("passes-on", PASSES_ON, True, marks=pytest.mark.long),
    ],
)
def test_a_plugin_that_changes_arguments_opens_nothing(lab: Lab, host: Host, name: str, source: str, first: bool) -> None:
    if name == "modifies" and host.version == "0.19":
        pytest.skip("this host has no modify directive")
    home = lab.home(host, plugins=(name, "plan-mode") if first else ("plan-mode", name), sources={name: source})
    cli = lab.cli(home)
    cli.cmd("/planmode on")
    lab.script("write", ("write_file", {"path": str(home.plans / PLAN), "content": "# Plan\n"}))
    cli.turn("write")
    assert rules(lab, "write") == ["outside-plans"]
    assert sorted(path.name for path in home.work.iterdir()) == [".hermes"]


@pytest.mark.long
def test_another_plugins_approval_opens_nothing(lab: Lab, host: Host) -> None:
    home = lab.home(host, plugins=("approves", "plan-mode"), sources={"approves": APPROVES})
    cli = lab.cli(home, "--yolo")
    cli.cmd("/planmode on")
    lab.script("try", ("terminal", {"command": "touch made"}))
    cli.turn("try")
    assert rules(lab, "try") == ["not-granted"]
    assert not (home.work / "made").exists()


@pytest.mark.long
def test_children_are_covered(lab: Lab, host: Host) -> None:
    """The operator lets delegation and code execution through; what they start is still in plan mode."""
    home = lab.home(host, settings={"plan_mode": {"extra_allowed_tools": ["delegate_task", "execute_code"]}})
    cli = lab.cli(home)
    assert "delegate_task, execute_code" in cli.cmd("/planmode on")
    code = f"from hermes_tools import write_file\nprint(write_file({str(home.work / 'by-code.py')!r}, 'x'))\n"
    lab.script("child", ("terminal", {"command": "touch by-child"}))
    lab.script("parent", ("execute_code", {"code": code}), ("delegate_task", {"goal": "do it #K:child"}))
    cli.turn("parent")
    cli.terminal.wait_until(lambda: lab.model.finished("child"), 60, "end of the child")
    assert "outside-plans" in lab.results("parent")[0].text
    assert rules(lab, "child") == ["not-granted"]
    assert sorted(path.name for path in home.work.iterdir()) == [".hermes"]
    assert FULL_NOTICE not in first_message(lab, "child")
    assert SHORT_LINE in first_message(lab, "child")


@pytest.mark.long
def test_a_background_prompt_is_covered(lab: Lab, host: Host) -> None:
    home = lab.home(host)
    cli = lab.cli(home)
    cli.cmd("/planmode on a task for the person's own conversation")
    lab.script("side", ("terminal", {"command": "touch by-side"}))
    cli.submit("/bg please #S:side")
    cli.terminal.wait_until(lambda: lab.model.finished("side"), 60, "end of the background prompt")
    assert rules(lab, "side") == ["not-granted"]
    assert "a task for" not in first_message(lab, "side")
    assert FULL_NOTICE not in first_message(lab, "side")
    lab.script("main", ("terminal", {"command": "touch by-main"}))
    cli.turn("main")
    assert "a task for" in first_message(lab, "main"), "the background prompt took the notice"


@pytest.mark.long
def test_codex_runtime_is_refused(lab: Lab, host: Host) -> None:
    home = lab.home(host)
    home.config["model"]["openai_runtime"] = "codex_app_server"
    home.write_config()
    cli = lab.cli(home)
    assert "openai_runtime codex_app_server" in cli.cmd("/planmode on")
    assert "No mode is active" in cli.cmd("/planmode status")


@pytest.mark.long
def test_validate_and_doctor_are_content(lab: Lab, host: Host) -> None:
    if host.version == "0.19":
        pytest.skip("this host has neither hermes plugins validate nor doctor")
    home = lab.home(host)
    plugin = str(home.hermes_home / "plugins" / "plan-mode")
    validated = run_hermes(home, "plugins", "validate", plugin, "--json")
    assert validated.returncode == 0, validated.stdout + validated.stderr
    assert '"warnings": []' in validated.stdout
    doctored = run_hermes(home, "plugins", "doctor", "--ci", plugin)
    assert doctored.returncode == 0, doctored.stdout + doctored.stderr


@pytest.mark.long
def test_plugin_in_a_process_of_its_own_is_refused(lab: Lab, host: Host) -> None:
    if host.version == "0.19":
        pytest.skip("this host can't isolate plugins")
    home = lab.home(host, extra={"plugins": {"isolation": "host"}})
    cli = lab.cli(home)
    assert "plugins.isolation" in cli.cmd("/planmode on")
