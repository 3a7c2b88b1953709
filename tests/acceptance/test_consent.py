"""What the agent asks, and what comes of the answer, on real Hermes processes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.acceptance.lab import Approval, Cli, Home, Host, Lab, ask
from tests.acceptance.lab.api import Run
from tests.acceptance.lab.waiting import wait_until
from tests.acceptance.test_cli_flow import APPROVED, PLAN, first_message, rules

NO_WORDS = "gateway.exec_approval"
"""Instead of a chat's question, where the host comes without the texts of its messages."""

DECLINED = "Plan mode stays on: revise the plan file, then submit it again."
LATE = "The user didn't answer in time. Nothing was changed."
NO_ONE = "No one could be asked. Nothing was changed."
CARD = '[plan-mode] Approve the plan "{}"?'


@dataclass
class Seat:
    """Whoever sits at one surface: sends a message, is asked, and waits for the end of a turn."""

    submit: Callable[[str], object]
    approval: Callable[[], Approval]
    wait: Callable[[str], object]
    cmd: Callable[[str], str] | None = None
    interject: Callable[[str], object] = lambda text: None

    def asked(self, choice: str) -> str:
        """Answer the next question of ours, or let it be (""), and yes to what else an editor asks; what it said."""
        while True:
            approval = self.approval()
            ours = "Approve edit" not in approval.text
            if choice or not ours:
                approval.answer(choice if ours else "once")
            if ours:
                return approval.text

    def turn(self, script: str) -> None:
        self.submit(f"please #S:{script}")
        self.wait(script)


def at_cli(lab: Lab, home: Home, arguments: tuple[str, ...] = ()) -> Seat:
    cli: Cli = lab.cli(home, *arguments)
    return Seat(cli.submit, cli.approval, cli.wait_end, cli.cmd, cli.terminal.send)


def at_tab(lab: Lab, home: Home, source: str) -> Seat:
    tab = lab.tui(home).tab() if source == "tui" else lab.desktop(home).window().tab(source="desktop")

    def wait(script: str) -> None:
        wait_until(lambda: lab.model.finished(script), 90, f"end of turn {script!r}")
        tab.wait_idle()
    return Seat(tab.submit, tab.approval, wait, tab.cmd if home.host.version != "0.19" else None)


def at_chat(lab: Lab, home: Home) -> Seat:
    chat = lab.gateway(home).chat()

    def wait(script: str) -> None:
        wait_until(lambda: lab.model.finished(script), 90, f"end of turn {script!r}")
        chat.wait_done()
    return Seat(chat.submit, chat.approval, wait, chat.cmd, lambda text: chat.submit(text, at_once=True))


def at_run(lab: Lab, home: Home) -> Seat:
    talk, runs = lab.api(home).conversation(), list[Run]()
    return Seat(lambda text: runs.append(talk.start_run(text)), lambda: runs[-1].approval(), lambda script: runs[-1].wait())


def at_editor(lab: Lab, home: Home) -> Seat:
    session = lab.acp(home).session()
    return Seat(session.submit, session.approval, lambda script: session.wait(approve="once"))


SURFACES: dict[str, Callable[[Lab, Home], Seat]] = {
    "cli": at_cli, "tui": lambda lab, home: at_tab(lab, home, "tui"), "desktop": lambda lab, home: at_tab(lab, home, "desktop"),
    "chat": at_chat, "run": at_run, "acp": at_editor,
}


def call(host: Host, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    """A call of one of our tools, as the notice says: newer hosts keep them behind tool_call."""
    return (tool, arguments) if host.version == "0.19" else ("tool_call", {"name": tool, "arguments": arguments})


def said(lab: Lab, script: str, number: int = -1) -> str:
    """The text of one result of a script."""
    text = lab.results(script)[number].text
    try:
        found = json.loads(text.partition("\n\n")[0])
    except ValueError:
        return text
    return str(found.get("result") or found.get("error") or found) if isinstance(found, dict) else text


def seat_of(lab: Lab, host: Host, surface: str, mode: str = "plan", **settings: Any) -> tuple[Home, Seat]:
    if (host.version, surface) == ("0.19", "acp"):
        pytest.skip("Hermes 0.19 offers no tools of plugins to editors")
    home = lab.home(host, settings={"default_mode": mode, "switch_pause_ms": 0, **settings})
    return home, SURFACES[surface](lab, home)


def plays_submission(lab: Lab, host: Host, home: Home, script: str, text: str) -> None:
    path = str(home.plans / PLAN)
    read = [("read_file", {"path": path})] if (home.plans / PLAN).exists() else []  # else the host won't have it overwritten
    lab.script(script, *read, ("write_file", {"path": path, "content": text}),
               call(host, "submit_plan", path=path, summary="In short."), ("terminal", {"command": f"touch {script}"}))


def test_a_plan_is_approved_in_the_same_turn(lab: Lab, host: Host) -> None:
    home = lab.home(host, settings={"switch_pause_ms": 0})
    seat = at_cli(lab, home)
    assert seat.cmd is not None
    seat.cmd("/planmode on")
    text = "# Rename it\n\n1. do it\n"
    plays_submission(lab, host, home, "build", text)
    seat.submit("please #S:build")
    card = seat.asked("once")
    seat.wait("build")
    assert CARD.format("Rename it") in card
    assert f"{PLAN}, revision 1: {len(text)} bytes, {hashlib.sha256(text.encode()).hexdigest()[:12]}" in card
    assert APPROVED.format(home.plans / PLAN) in said(lab, "build", 1)
    assert rules(lab, "build") == [None, None, None]
    assert (home.work / "build").exists()
    lab.script("next", ("terminal", {"command": "touch next"}))
    seat.turn("next")
    assert "plan-mode" not in first_message(lab, "next")


@pytest.mark.long
@pytest.mark.parametrize("surface", SURFACES)
def test_every_answer_to_a_plan(lab: Lab, host: Host, surface: str) -> None:
    """A no; the same again; no answer; a yes. Each does one thing."""
    home, seat = seat_of(lab, host, surface)
    path = home.plans / PLAN

    plays_submission(lab, host, home, "no", "# First\n")
    seat.submit("please #S:no")
    card = seat.asked("deny")
    seat.wait("no")
    for part in (CARD.format("First"), PLAN, "revision 1: 8 bytes", "A yes ends plan mode", "The agent's summary: In short."):
        assert part in card or surface == "cli" or NO_WORDS in card, part
    assert said(lab, "no", 1).startswith("The user declined")
    assert said(lab, "no", 1).endswith(DECLINED)
    assert rules(lab, "no")[2] == "not-granted"

    lab.script("again", call(host, "submit_plan", path=str(path)))
    seat.turn("again")
    assert said(lab, "again").startswith("The user has declined exactly this plan.")

    plays_submission(lab, host, home, "late", "# Second\n")
    seat.submit("please #S:late")
    seat.asked("")
    if surface == "cli":
        seat.interject("\x1b")  # Esc is no answer
    seat.wait("late")
    assert said(lab, "late", 2).startswith(LATE)
    assert rules(lab, "late")[3] == "not-granted"

    plays_submission(lab, host, home, "yes", "# Third\n")
    seat.submit("please #S:yes")
    card = seat.asked("once")
    assert CARD.format("Third") in card or NO_WORDS in card
    seat.wait("yes")
    assert APPROVED.format(path) in said(lab, "yes", 2)
    assert rules(lab, "yes") == [None, None, None, None]
    assert sorted(each.name for each in home.work.iterdir()) == [".hermes", "yes"]

    lab.script("next", ("terminal", {"command": "touch next"}))
    seat.turn("next")
    assert rules(lab, "next") == [None]
    assert "plan-mode" not in first_message(lab, "next")


@pytest.mark.long
def test_a_chat_hands_over_what_the_person_wrote(lab: Lab, host: Host) -> None:
    home, seat = seat_of(lab, host, "chat")
    plays_submission(lab, host, home, "no", "# First\n")
    seat.submit("please #S:no")
    seat.approval()
    seat.interject("/deny smaller steps")
    seat.wait("no")
    assert said(lab, "no", 1) == f'The user declined, and wrote: "smaller steps". {DECLINED}'


@pytest.mark.long
@pytest.mark.parametrize("surface", ["cli", "tui", "chat"])
def test_a_command_decides_once(lab: Lab, host: Host, surface: str) -> None:
    """What waits is approved by command; a yes to a question after that would be one too many."""
    home, seat = seat_of(lab, host, surface)
    if seat.cmd is None:
        pytest.skip("Hermes 0.19 binds no session around a TUI command")
    plays_submission(lab, host, home, "late", "# Plan\n")
    seat.turn("late")
    assert said(lab, "late", 1).startswith(LATE)
    assert f"Approved: {home.plans / PLAN}" in seat.cmd("/planmode approve")
    assert "isn't in plan mode" in seat.cmd("/planmode approve")
    lab.script("after", ("terminal", {"command": "touch after"}), call(host, "submit_plan", path=str(home.plans / PLAN)))
    seat.turn("after")
    assert first_message(lab, "after").count(APPROVED.format(home.plans / PLAN)) == 1
    assert said(lab, "after").startswith("This session isn't in plan mode")
    assert rules(lab, "after")[0] is None


@pytest.mark.long
def test_a_yes_after_the_person_has_left(lab: Lab, host: Host) -> None:
    home, seat = seat_of(lab, host, "tui")
    if seat.cmd is None:
        pytest.skip("Hermes 0.19 binds no session around a TUI command")
    plays_submission(lab, host, home, "left", "# Plan\n")
    seat.submit("please #S:left")
    question = seat.approval()
    assert seat.cmd("/planmode off").startswith("Plan mode is off")
    question.answer("once")
    seat.wait("left")
    assert said(lab, "left", 1) == "The mode was changed while the user was asked, so the answer counts for nothing."


@pytest.mark.long
@pytest.mark.parametrize("surface", ["cli", "tui", "chat"])
def test_another_mode(lab: Lab, host: Host, surface: str) -> None:
    home, seat = seat_of(lab, host, surface, mode="ask")

    def plays(script: str, slug: str) -> None:
        lab.script(script, call(host, "switch_mode", mode_slug=slug, reason="To write it."),
                   ("write_file", {"path": str(home.work / f"{script}.py"), "content": "x"}))

    plays("no", "code")
    seat.submit("please #S:no")
    card = seat.asked("deny")
    seat.wait("no")
    for part in ("[plan-mode] Switch from Ask mode to Code mode?", "It would allow everything: every tool, every file.",
                 "The agent's reason: To write it."):
        assert part in card or NO_WORDS in card
    assert said(lab, "no", 0) == "The user declined. Nothing was changed; ask the user what to do instead."
    assert rules(lab, "no")[1] == "not-granted"

    plays("yes", "code")
    seat.submit("please #S:yes")
    seat.asked("once")
    seat.wait("yes")
    assert "Code mode is on. You are implementing." in said(lab, "yes", 0)
    assert rules(lab, "yes") == [None, None]

    plays("plan", "plan")
    seat.turn("plan")
    assert "PLAN MODE IS ON" in said(lab, "plan", 0)
    assert rules(lab, "plan") == [None, "outside-plans"]

    plays("out", "code")
    seat.turn("out")
    assert said(lab, "out", 0).startswith("Plan mode ends with an approved plan.")
    assert sorted(each.name for each in home.work.iterdir()) == [".hermes", "yes.py"]


@pytest.mark.long
def test_the_agent_may_be_let_ask_to_leave(lab: Lab, host: Host) -> None:
    home, seat = seat_of(lab, host, "cli", agent_may_ask_to_leave_plan=True)
    lab.script("out", call(host, "switch_mode", mode_slug="code"), ("terminal", {"command": "touch out"}))
    seat.submit("please #S:out")
    assert "[plan-mode] Switch from Plan mode to Code mode?" in seat.asked("once")
    seat.wait("out")
    assert rules(lab, "out") == [None, None]
    assert (home.work / "out").exists()


ALLOWED = ["plugin_rule:submit_plan", "plugin_rule:switch_mode", "plan-mode", "submit_plan", "switch_mode"]


@pytest.mark.long
@pytest.mark.parametrize("how", ["yolo", "off", "allowed"])
def test_what_approves_everything_else_asks_all_the_same(lab: Lab, host: Host, how: str) -> None:
    extra: dict[str, Any] = {"off": {"approvals": {"mode": "off"}}, "allowed": {"command_allowlist": ALLOWED}}.get(how, {})
    home = lab.home(host, settings={"default_mode": "plan", "switch_pause_ms": 0}, extra=extra)
    seat = at_cli(lab, home, ("--yolo",) if how == "yolo" else ())
    plays_submission(lab, host, home, "no", "# Plan\n")
    seat.submit("please #S:no")
    assert CARD.format("Plan") in seat.asked("deny")
    seat.wait("no")
    assert said(lab, "no", 1).startswith("The user declined")
    assert rules(lab, "no")[2] == "not-granted"


@pytest.mark.long
@pytest.mark.parametrize("arguments", [("--yolo", "-z"), ("chat", "--yolo", "-q")], ids=["z", "q"])
def test_where_nobody_sits_nothing_opens(lab: Lab, host: Host, arguments: tuple[str, ...]) -> None:
    home = lab.home(host, settings={"default_mode": "plan"},
                    extra={"approvals": {"mode": "off", "single_query_mode": "approve"}, "command_allowlist": ALLOWED})
    plays_submission(lab, host, home, "shot", "# Plan\n")
    ask(home, "shot", how=arguments)
    assert "user" in said(lab, "shot", 1) or "person" in said(lab, "shot", 1) or "interactive" in said(lab, "shot", 1)
    assert rules(lab, "shot")[2] == "not-granted"
    assert not (home.work / "shot").exists()


@pytest.mark.long
@pytest.mark.parametrize(("goal", "answer", "ran"), [
    ("do it", "once", [None]), ("do it", "deny", ["not-granted"]), ("[mode: ask] look", "once", ["not-granted"]),
], ids=["yes", "no", "named"])
def test_sub_agents_of_an_orchestrator(lab: Lab, host: Host, goal: str, answer: str, ran: list[str | None]) -> None:
    home, seat = seat_of(lab, host, "cli", mode="orchestrator")
    lab.script("child", ("terminal", {"command": "touch child"}))
    lab.script("parent", ("delegate_task", {"goal": f"{goal} #K:child"}), ("terminal", {"command": "touch parent"}))
    seat.submit("please #S:parent")
    card = seat.asked(answer)
    wait_until(lambda: lab.model.finished("child"), 90, "end of the child")
    seat.wait("parent")
    assert "[plan-mode] Let a sub-agent work in" in card
    assert rules(lab, "child") == ran
    assert rules(lab, "parent")[1] == "not-granted"
    assert (home.work / "child").exists() is (ran == [None])
