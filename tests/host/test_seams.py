"""What a missing or a failing seam of the host means, a test for each row of the table; and where ``on`` refuses."""

from __future__ import annotations

import contextvars
import importlib
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.host.kit import CONVERSATION, IS_OLD, Hermes, rule_of
from tests.host.seats import PATIENT, SWITCH, Chat, Cli, Person, Seat, approval, says, says_after


@pytest.fixture(params=["missing", "raising"])
def break_seam(request: pytest.FixtureRequest, cli: Hermes) -> Callable[[str], None]:
    """Take a seam away, or let it raise whenever it is called."""
    return cli.without if request.param == "missing" else cli.failing


def bind(**variables: str) -> contextvars.Context:
    """A context in which the host has bound a session of a server."""
    context = contextvars.copy_context()
    context.run(importlib.import_module("gateway.session_context").set_session_vars, **variables)
    return context


def assert_still_judged(cli: Hermes) -> None:
    assert rule_of(cli.asked("terminal", {"command": "ls"})) == "not-granted"
    assert rule_of(cli.asked("write_file", {"path": str(cli.work / "p.md"), "content": "x"})) == "outside-plans"
    assert cli.asked("write_file", {"path": str(cli.plans / "p.md"), "content": "x"}) == ""


def assert_still_enforced(cli: Hermes) -> None:
    assert_still_judged(cli)
    assert cli.call("terminal", {"command": "ls"}).rule == "not-granted"
    assert cli.write(cli.work / "p.md").rule == "outside-plans"
    assert not cli.write(cli.plans / "p.md").error


def seated(cli: Hermes, make: type[Seat]) -> Seat:
    """A session in ask mode, whose person is waited for."""
    cli.config["plugins"]["entries"] = {"plan-mode": {"settings": {"switch_pause_ms": 0}}}
    cli.config["approvals"] = {"timeout": PATIENT}
    cli.write_config()
    seat = make(cli)
    seat.begins("ask")
    return seat


Found = tuple[str, str, list[str]]
YES = says("once")


def asks_for_code(seat: Seat, person: Person = YES, way: str = "loop") -> Found:
    """In which mode the session is once the agent has asked for code mode; the first sentence it is told; the cards."""
    outcome = seat.asks(SWITCH, person, way)
    said = re.sub("^.* Earlier notices about modes are void.\n", "", outcome.error or outcome.data["result"])
    return seat.mode(), re.split(r"(?<=\.) ", said)[0], [shown["command"] for shown in seat.shown]


ASKED_NOBODY: Found = ("ask", "No one could be asked.", [])
ASKED_BY_THE_HOST: Found = ("", "Code mode is on.", ["<switch_mode> (plugin approval rule)"])


class TestEachRow:
    """One test a row, named after it."""

    def test_bound_session(self, cli: Hermes) -> None:
        cli.without("bound_session")
        server = bind(session_key="agent:main:chat")
        assert "Plan mode is on" in server.run(cli.type, "/planmode on")
        assert_still_judged(cli)

    def test_gateway_runner_missing(self, cli: Hermes, monkeypatch: pytest.MonkeyPatch) -> None:
        cli.without("gateway_runner")
        assert "Plan mode is on" in cli.type("/planmode on")
        cli.type("/planmode off")
        cli.manager._cli_ref = None
        monkeypatch.setenv("HERMES_GATEWAY_SESSION", "1")
        assert "HERMES_GATEWAY_SESSION" in cli.type("/planmode on")

    def test_gateway_runner_raising(self, cli: Hermes, monkeypatch: pytest.MonkeyPatch) -> None:
        cli.failing("gateway_runner")
        assert "Plan mode is on" in cli.type("/planmode on")
        cli.type("/planmode off")
        cli.manager._cli_ref = None
        assert "runs the messaging gateway" in cli.type("/planmode on")
        assert cli.asked("terminal", {"command": "ls"}) == ""

    def test_engaged(self, cli: Hermes, break_seam: Callable[[str], None]) -> None:
        break_seam("engaged")
        assert "Plan mode is on" in cli.type("/planmode on")
        assert_still_judged(cli)

    def test_tabs(self, cli: Hermes, break_seam: Callable[[str], None]) -> None:
        cli.manager._cli_ref = None
        tab = bind(session_key="K", ui_session_id="T", source="tui", profile="default")
        assert "Plan mode is on" in bind(session_key="K", source="tui", profile="default").run(cli.type, "/planmode on")
        tab.run(cli.turn, session_id="K", platform="tui")
        break_seam("tabs")
        side = bind(session_key="bg_1", ui_session_id="T", source="tui", profile="default")
        assert rule_of(side.run(cli.asked, "terminal", {"command": "ls"}, session_id="bg_1")) == "not-granted"

    def test_active_profile(self, cli: Hermes, break_seam: Callable[[str], None]) -> None:
        cli.manager._cli_ref = None
        break_seam("active_profile")
        tab = bind(session_key="K", source="tui", profile="default")
        for line in ("/planmode on", "/planmode off", "/mode code"):
            assert "It isn't known for which profile" in tab.run(cli.type, line)
        cli.manager._cli_ref = cli.cli
        assert "Plan mode is on" in cli.type("/planmode on")

    def test_plan_prompt(self, cli: Hermes, break_seam: Callable[[str], None]) -> None:
        break_seam("plan_prompt")
        assert cli.turn("[/plan — plan mode]\n\nx") == ""

    def test_out_of_band_open(self, cli: Hermes) -> None:
        cli.without("out_of_band_open")
        words = importlib.import_module("agent.prompt_builder")
        unframed = cli.part("host.prompts").unframed
        text = f"{words.STEER_MARKER_OPEN}\n/planmode on\n{words.STEER_MARKER_CLOSE}"
        assert unframed(text) == text
        assert unframed("/planmode on") == "/planmode on"

    def test_out_of_band_close(self, cli: Hermes) -> None:
        words = importlib.import_module("agent.prompt_builder")
        text = f"{words.STEER_MARKER_OPEN}\n/planmode on\n{words.STEER_MARKER_CLOSE}"
        assert cli.part("host.prompts").unframed(text) == "/planmode on"
        cli.without("out_of_band_close")
        assert cli.part("host.prompts").unframed(text) == text

    def test_home_missing(self, cli: Hermes, monkeypatch: pytest.MonkeyPatch) -> None:
        cli.without("home")
        home = cli.part("host.home").home
        assert home() == str(cli.home)
        cli.type("/planmode on")
        assert_still_judged(cli)
        monkeypatch.delenv("HERMES_HOME")
        assert home() == str(Path.home() / ".hermes") == str(cli.root / "user" / ".hermes")

    def test_home_raising(self, cli: Hermes) -> None:
        """What was known of the home before still holds; where nothing was, a mode denies everything."""
        cli.type("/planmode on")
        cli.failing("home")
        assert_still_judged(cli)
        cli.restart()
        cli.failing("home")
        if not IS_OLD:  # 0.19 has no other way to say where the state lies
            assert rule_of(cli.asked("terminal", {"command": "ls"})) == "internal-error"
            assert rule_of(cli.asked("read_file", {"path": "x"})) == "internal-error"
            assert "off" in cli.type("/planmode off")
            assert cli.asked("terminal", {"command": "ls"}) == ""

    def test_home_override(self, cli: Hermes, break_seam: Callable[[str], None]) -> None:
        cli.type("/planmode on")
        break_seam("home_override")
        assert rule_of(cli.asked("terminal", {"command": "ls"})) in ("not-granted", "internal-error")
        assert cli.write(cli.work / "p.md").rule in ("outside-plans", "internal-error")

    def test_cwd_missing(self, cli: Hermes, monkeypatch: pytest.MonkeyPatch) -> None:
        cli.without("cwd")
        assert str(cli.plans) in cli.type("/planmode on")
        cli.type("/planmode off")
        other = cli.root / "other"
        other.mkdir()
        monkeypatch.chdir(other)
        for named in ("", "relative", str(cli.root / "gone")):
            monkeypatch.setenv("TERMINAL_CWD", named)
            assert str(other / ".hermes" / "plans") in cli.type("/planmode on")
            cli.type("/planmode off")

    def test_cwd_raising(self, cli: Hermes, monkeypatch: pytest.MonkeyPatch) -> None:
        cli.failing("cwd")
        assert "terminal.cwd" in cli.type("/planmode on")
        assert cli.asked("terminal", {"command": "ls"}) == ""

    def test_task_folder(self, cli: Hermes, break_seam: Callable[[str], None]) -> None:
        cli.type("/mode architect")
        assert not cli.write("notes.md").error
        break_seam("task_folder")
        assert cli.write("more.md").rule == "not-absolute"
        assert not cli.write(cli.work / "more.md").error

    def test_skills_config(self, cli: Hermes, break_seam: Callable[[str], None]) -> None:
        cli.type("/planmode on")
        assert cli.asked("skill_view", {"name": "x"}) == ""
        break_seam("skills_config")
        assert rule_of(cli.asked("skill_view", {"name": "x"})) == "inline-shell"

    def test_config(self, cli: Hermes, break_seam: Callable[[str], None]) -> None:
        cli.config["plugins"]["entries"] = {"plan-mode": {"settings": {"extra_allowed_tools": ["terminal"]}}}
        cli.write_config()
        break_seam("config")
        cli.type("/planmode on")
        # 0.19 has no settings of a plugin's own, so nothing is left to read them from.
        assert rule_of(cli.asked("terminal", {"command": "ls"})) == ("not-granted" if IS_OLD else "")
        assert "config.yaml can't be read" in cli.type("/planmode status")
        assert rule_of(cli.asked("write_file", {"path": str(cli.work / "p.md"), "content": "x"})) == "outside-plans"
        assert cli.asked("write_file", {"path": str(cli.plans / "p.md"), "content": "x"}) == ""

    def test_registry(self, cli: Hermes, break_seam: Callable[[str], None]) -> None:
        break_seam("registry")
        cli.type("/planmode on")
        assert cli.asked("read_file", {"path": "x"}) == ""
        assert rule_of(cli.asked("look_around", {})) == "unknown-tool"
        assert_still_judged(cli)

    def test_edit_approval_missing(self, cli: Hermes) -> None:
        """And what a difference then does: see test_past_the_check."""
        cli.without("edit_approval")
        cli.type("/planmode on")
        assert_still_enforced(cli)

    def test_edit_approval_raising(self, cli: Hermes, monkeypatch: pytest.MonkeyPatch) -> None:
        cli.failing("edit_approval")
        cli.type("/planmode on")
        assert cli.write(cli.plans / "p.md").rule == "internal-error"
        assert not cli.files()
        assert cli.call("terminal", {"command": "ls"}).rule == "not-granted"

    def test_edit_approval_reset_missing(self, cli: Hermes) -> None:
        cli.without("edit_approval_reset")
        cli.type("/planmode on")
        assert "no last look" in cli.type("/planmode status")
        assert_still_enforced(cli)
        assert importlib.import_module("acp_adapter.edit_approval")._EDIT_APPROVAL_REQUESTER.get() is None

    def test_edit_approval_reset_raising(self, cli: Hermes, monkeypatch: pytest.MonkeyPatch) -> None:
        cli.failing("edit_approval_reset")
        cli.type("/planmode on")
        contextvars.copy_context().run(assert_still_enforced, cli)
        assert "p.md" in cli.type("/planmode status")

    def test_edit_approval_current_missing(self, cli: Hermes) -> None:
        """Another approver isn't asked after ours; ours is asked all the same."""
        cli.without("edit_approval_current")
        edit_approval = importlib.import_module("acp_adapter.edit_approval")
        asked: list[Any] = []
        token = edit_approval.set_edit_approval_requester(lambda proposal: asked.append(proposal) or True)
        cli.type("/planmode on")
        assert_still_enforced(cli)
        edit_approval.reset_edit_approval_requester(token)
        # 0.19 asks once more, before the middleware.
        assert len(asked) == (1 if IS_OLD else 0)

    def test_edit_approval_current_raising(self, cli: Hermes) -> None:
        cli.failing("edit_approval_current")
        cli.type("/planmode on")
        assert cli.write(cli.plans / "p.md").rule == "internal-error"
        assert not cli.files()

    def test_fail_closed_hooks(self, cli: Hermes) -> None:
        cli.type("/planmode on")
        if not IS_OLD:
            assert cli.wrapped("terminal", {"command": "ls"}).passed_on == {"command": "ls"}
        cli.without("fail_closed_hooks")
        wrapped = cli.wrapped("terminal", {"command": "ls"})
        assert (wrapped.passed_on, rule_of(wrapped.result)) == (None, "not-granted")
        assert_still_enforced(cli)

    def test_await_decision_missing(self, cli: Hermes) -> None:
        cli.without("await_decision")
        assert asks_for_code(seated(cli, Chat)) == ASKED_BY_THE_HOST

    def test_await_decision_raising(self, cli: Hermes) -> None:
        cli.failing("await_decision")
        assert asks_for_code(seated(cli, Chat)) == ASKED_NOBODY

    def test_notifiers_missing(self, cli: Hermes) -> None:
        cli.without("notifiers")
        assert asks_for_code(seated(cli, Chat)) == ASKED_BY_THE_HOST

    def test_notifiers_raising(self, cli: Hermes) -> None:
        """Kept in another way: nobody knows whether anyone listens."""
        cli.failing("notifiers")
        assert asks_for_code(seated(cli, Chat)) == ASKED_NOBODY

    def test_approval_session(self, cli: Hermes, break_seam: Callable[[str], None]) -> None:
        break_seam("approval_session")
        assert asks_for_code(seated(cli, Chat)) == ASKED_NOBODY

    def test_blocking_approval(self, cli: Hermes, break_seam: Callable[[str], None]) -> None:
        """While the host asks something itself: the older question takes the first answer."""
        def asks_beside_another(seat: Seat) -> Found:
            told: list[Found] = []
            answers = says_after(says("deny"), "once")
            other = {"command": "ls", "description": "?", "pattern_key": "x", "pattern_keys": ["x"]}
            seat.turning.copy().run(
                approval()._await_gateway_decision, seat.key, lambda _: told.append(asks_for_code(seat, answers)), other)
            return told[0]

        assert asks_beside_another(seated(cli, Chat)) == ("ask", "The user is being asked something else at this moment.", [])
        break_seam("blocking_approval")
        assert asks_beside_another(seated(cli, Chat)) == (
            "", "Code mode is on.", ["[plan-mode] Switch from Ask mode to Code mode?"])

    def test_panel_missing(self, cli: Hermes, monkeypatch: pytest.MonkeyPatch) -> None:
        """0.19 doesn't tell what was answered to its own question."""
        monkeypatch.setenv("HERMES_INTERACTIVE", "1")
        cli.without("panel")
        assert asks_for_code(seated(cli, Cli)) == ((*ASKED_NOBODY[:2], ASKED_BY_THE_HOST[2]) if IS_OLD else ASKED_BY_THE_HOST)

    def test_panel_raising(self, cli: Hermes) -> None:
        cli.failing("panel")
        assert asks_for_code(seated(cli, Cli)) == ASKED_NOBODY

    def test_panel_callback(self, cli: Hermes, break_seam: Callable[[str], None]) -> None:
        break_seam("panel_callback")
        assert asks_for_code(seated(cli, Cli)) == ASKED_NOBODY

    def test_redact(self, cli: Hermes, break_seam: Callable[[str], None]) -> None:
        secret = f"token {'ghp_' + 'a1B2' * 9}"
        masked = cli.part("host.consent")._masked
        assert masked("# Plan") == "# Plan"
        assert "a1B2a1B2a1B2" not in masked(secret)
        break_seam("redact")
        assert masked(secret) == secret

    def test_interrupted(self, cli: Hermes, break_seam: Callable[[str], None]) -> None:
        stopped = says_after(lambda seat: seat.stops(), "once")
        assert asks_for_code(seated(cli, Cli), stopped, "inner")[:2] == ("ask", "The question was closed without an answer.")
        break_seam("interrupted")
        assert asks_for_code(seated(cli, Cli), stopped, "inner")[:2] == ("", "Code mode is on.")

    def test_session_store(self, cli: Hermes, break_seam: Callable[[str], None]) -> None:
        cli.type("/planmode on")
        cli.turn()
        break_seam("session_store")
        cli.cli.session_id = "20260101_130000_bbbbbb"
        assert cli.turn(history=[{"role": "user", "content": "x"}]).startswith("[plan-mode] Plan mode is on")
        assert_still_judged(cli)
        status = cli.type("/planmode status")
        assert "Unresolved" in status or "session store can't be read" in status
        assert "can't be read" in cli.type("/planmode approve")
        assert "off" in cli.type("/planmode off")
        assert cli.asked("terminal", {"command": "ls"}) == ""


def test_every_row_has_its_test(cli: Hermes) -> None:
    tests = [name.removeprefix("test_") for name in dir(TestEachRow) if name.startswith("test_")]
    without = [row for row in cli.part("host.seams").SEAMS
               if row not in tests and not {f"{row}_missing", f"{row}_raising"} <= set(tests)]
    assert without == []


def test_every_row_is_there_on_this_host(cli: Hermes) -> None:
    seams = cli.part("host.seams")
    importlib.import_module("gateway.session_context")
    absent = [name for name, row in seams.SEAMS.items() if not row.loaded_only and seams.seam(name) is None]
    assert absent == (["plan_prompt", "fail_closed_hooks"] if IS_OLD else [])


def as_slash_worker(cli: Hermes, patch: pytest.MonkeyPatch) -> None:
    main = ModuleType("__main__")
    main.__spec__ = SimpleNamespace(name="tui_gateway.slash_worker")  # type: ignore[assignment]
    patch.setitem(sys.modules, "__main__", main)


def as_gateway(cli: Hermes, patch: pytest.MonkeyPatch) -> None:
    without_cli(cli, patch)
    runner = SimpleNamespace()
    patch.setattr(importlib.import_module("gateway.run"), "_gateway_runner_ref", lambda: runner)


def without_cli(cli: Hermes, patch: pytest.MonkeyPatch) -> None:
    cli.manager._cli_ref = None


def as_server(cli: Hermes, patch: pytest.MonkeyPatch) -> None:
    without_cli(cli, patch)
    patch.setenv("HERMES_GATEWAY_SESSION", "1")


def with_codex(cli: Hermes, patch: pytest.MonkeyPatch) -> None:
    cli.config["model"] = {"default": "m", "openai_runtime": "codex_app_server"}
    cli.write_config()


REFUSED: dict[str, tuple[Callable[[Hermes, pytest.MonkeyPatch], Any], str]] = {
    "isolation mark": (lambda cli, patch: patch.setattr(cli.part("host.session"), "_ISOLATED", True), "plugins.isolation"),
    "slash worker": (as_slash_worker, "helper process of the TUI"),
    "CLI object of a slash worker": (lambda cli, patch: setattr(cli.cli, "is_slash_worker", True), "no interactive CLI"),
    "single query": (lambda cli, patch: setattr(cli.cli, "_single_query_mode", True), "no interactive CLI"),
    "no CLI object": (without_cli, "no interactive CLI"),
    "server process": (as_server, "HERMES_GATEWAY_SESSION"),
    "live gateway runner": (as_gateway, "runs the messaging gateway"),
    "codex runtime": (with_codex, "openai_runtime codex_app_server"),
}


class TestWhereOnRefuses:
    def assert_refused(self, cli: Hermes, reason: str, run: Callable[..., str]) -> None:
        for line in ("/planmode on", "/planmode on do it", "/mode plan", "/mode code"):
            answer = run(cli.type, line)
            assert answer.startswith("Nothing was turned on."), (line, answer)
            assert reason in answer
        assert reason in run(cli.type, "/planmode status")
        assert cli.asked("terminal", {"command": "ls"}) == ""
        assert not cli.plans.exists()
        assert not list(cli.home.rglob("*.json"))

    @pytest.mark.parametrize("where", REFUSED)
    def test_naming_the_reason(self, cli: Hermes, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
        prepare, reason = REFUSED[where]
        prepare(cli, monkeypatch)
        self.assert_refused(cli, reason, lambda command, line: command(line))

    @pytest.mark.parametrize("variables", [
        {"session_key": "agent:main:telegram:group:-1@x!"}, {"ui_session_id": "tab-1"},
        {"session_key": CONVERSATION, "session_id": CONVERSATION, "source": "tui"},
    ])
    def test_not_for_a_live_cli_in_which_a_job_has_bound_a_session(self, cli: Hermes, variables: dict[str, str]) -> None:
        server = bind(**variables)
        assert "Plan mode is on" in server.run(cli.type, "/planmode on")
        assert_still_judged(cli)
        assert "Plan mode is off" in server.run(cli.type, "/planmode off")

    def test_a_session_that_was_bound_and_cleared_is_none(self, cli: Hermes) -> None:
        context = bind(session_key="agent:main:chat")
        context.run(importlib.import_module("gateway.session_context").clear_session_vars, [])
        assert "Plan mode is on" in context.run(cli.type, "/planmode on")

    @pytest.mark.parametrize("variables", [
        {"HERMES_EXEC_ASK": "1"}, {"HERMES_GATEWAY_SESSION": "1"}, {"HERMES_INTERACTIVE": "1"},
        {"HERMES_SESSION_KEY": "agent:main:chat", "HERMES_SESSION_ID": "x", "HERMES_UI_SESSION_ID": "t"},
        {"HERMES_EXEC_ASK": "1", "HERMES_GATEWAY_SESSION": "1", "HERMES_SESSION_SOURCE": "telegram"},
    ])
    def test_not_for_what_the_environment_says_of_a_live_cli(
        self, cli: Hermes, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str],
    ) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        assert "Plan mode is on" in cli.type("/planmode on")
        assert "PLAN MODE IS ON" in cli.turn()
        assert_still_judged(cli)

    def test_not_for_a_cli_that_imports_gateway_code(self, cli: Hermes) -> None:
        importlib.import_module("gateway.run")
        assert "Plan mode is on" in cli.type("/planmode on")

    @pytest.mark.parametrize("value", [None, "", "auto", ["codex_app_server"], {"a": 1}])
    def test_not_for_another_model_runtime(self, cli: Hermes, value: Any) -> None:
        cli.config["model"] = {"default": "m", "openai_runtime": value}
        cli.write_config()
        assert "Plan mode is on" in cli.type("/planmode on")


class TestBehindARemoteBackEnd:
    """Plan files can't be checked there: reading only, and the plan is given in the conversation."""

    @pytest.fixture(params=["environment", "config.yaml"])
    def remote(self, request: pytest.FixtureRequest, cli: Hermes, monkeypatch: pytest.MonkeyPatch) -> Hermes:
        if request.param == "environment":
            monkeypatch.setenv("TERMINAL_ENV", "docker")
        else:
            cli.config["terminal"] = {"backend": "ssh"}
            cli.write_config()
        return cli

    def test_on_says_so(self, remote: Hermes) -> None:
        answer = remote.type("/planmode on")
        assert "Plan mode is on" in answer
        assert "another machine" in answer
        assert "another machine" in remote.type("/planmode status")
        assert not remote.plans.exists()

    def test_plan_writes_are_denied(self, remote: Hermes) -> None:
        remote.type("/planmode on")
        for tool, args in (("write_file", {"path": str(remote.plans / "p.md"), "content": "x"}),
                           ("patch", {"path": str(remote.plans / "p.md"), "old_string": "a", "new_string": "b"})):
            assert rule_of(remote.asked(tool, args)) == "remote-files"
        assert remote.asked("read_file", {"path": "x"}) == ""
        assert "give the plan in the conversation" in remote.turn()

    def test_approve_needs_no_file(self, remote: Hermes) -> None:
        remote.type("/planmode on")
        remote.turn()
        assert remote.type("/planmode approve").startswith("Approved")
        assert "The user approved the plan" in remote.turn()
        assert remote.asked("terminal", {"command": "ls"}) == ""

    def test_a_back_end_that_becomes_remote_later_denies_too(self, cli: Hermes, monkeypatch: pytest.MonkeyPatch) -> None:
        cli.type("/planmode on")
        monkeypatch.setenv("TERMINAL_ENV", "docker")
        assert rule_of(cli.asked("write_file", {"path": str(cli.plans / "p.md"), "content": "x"})) == "remote-files"

    @pytest.mark.parametrize("named", ["local", "LOCAL ", ""])
    def test_the_local_one_is_none(self, cli: Hermes, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
        monkeypatch.setenv("TERMINAL_ENV", named)
        assert str(cli.plans) in cli.type("/planmode on")
        assert cli.asked("write_file", {"path": str(cli.plans / "p.md"), "content": "x"}) == ""


def test_this_machines_own_home_is_never_touched() -> None:
    assert "plan-mode-nowhere-" in os.environ["HERMES_HOME"]
