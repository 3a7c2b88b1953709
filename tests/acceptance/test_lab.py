"""The lab itself: every surface starts on every host, takes a command, and plays a turn.

Nothing here is about plan-mode: these homes hold other plugins.
"""

from __future__ import annotations

import pytest

from tests.acceptance.lab import Call, Gate, Home, Host, Lab, Step, ask, facts

pytestmark = pytest.mark.long

ASKER = """\
def register(ctx):
    def ask(tool_name="", **rest):
        if tool_name == "write_file":
            return {"action": "approve", "message": "May it write?", "rule_key": "asker"}

    ctx.register_hook("pre_tool_call", ask)
"""


@pytest.fixture
def home(lab: Lab, host: Host) -> Home:
    return lab.home(host, plugins=("probe",), sources={"asker": ASKER})


def script(lab: Lab, home: Home, name: str, *more: Call | Step) -> str:
    """Set a script whose first call reads a file of its own: the host doesn't repeat what was read."""
    notes = home.work / f"{name}.txt"
    notes.write_text("what the notes say\n", encoding="utf-8")
    lab.script(name, ("read_file", {"path": str(notes)}), *more)
    return name


def read(lab: Lab, name: str) -> bool:
    """Tell whether the first call of a script got what the file holds."""
    return "what the notes say" in lab.results(name)[0].text


def asked(home: Home, name: str) -> Call:
    """A call that the host asks the person about, as the plugin above wants."""
    return ("write_file", {"path": str(home.work / f"{name}.made"), "content": "x"})


def made(home: Home, name: str) -> bool:
    return (home.work / f"{name}.made").exists()


def test_cli(lab: Lab, home: Home) -> None:
    cli = lab.cli(home)
    assert "PROBE hello" in cli.cmd("/probe hello")
    cli.turn(script(lab, home, "one"))
    assert read(lab, "one")
    assert cli.exit() == 0


def test_one_shot(lab: Lab, home: Home) -> None:
    assert "DONE-one" in ask(home, script(lab, home, "one")).stdout
    assert read(lab, "one")


def test_tui(lab: Lab, home: Home) -> None:
    tui = lab.tui(home)
    tab = tui.tab()
    assert "PROBE hello" in tab.cmd("/probe hello")
    assert "PROBE there" in tab.cmd("/probe there", how="dispatch")
    tab.turn(script(lab, home, "one"))
    assert read(lab, "one")
    assert [fact["KEY"] for fact in facts(home, "pre_tool_call")] == [tab.stored_id]
    branch = tab.branch()
    assert branch.stored_id != tab.stored_id
    branch.turn(script(lab, home, "two"))
    assert [fact["KEY"] for fact in facts(home, "pre_tool_call")][-1] == branch.stored_id

    tab.turn(script(lab, home, "granted", asked(home, "granted")), approve="once")
    assert made(home, "granted")
    script(lab, home, "denied", asked(home, "denied"))
    tab.submit("please #S:denied")
    approval = tab.approval()
    assert "May it write?" in approval.text
    approval.answer("deny")
    tab.wait_idle()
    assert not made(home, "denied")

    gate = Gate()
    script(lab, home, "held", Step(calls=[asked(home, "held")], gate=gate))
    tab.submit("please #S:held")
    gate.wait_reached()
    assert "PROBE midway" in tab.cmd("/probe midway")
    gate.release()
    tab.approval().answer("once")
    tab.wait_idle()
    assert made(home, "held")

    tab.close()
    assert tui.exit() == 0

    again = lab.tui(home).resume(tab.stored_id)
    again.turn(script(lab, home, "three"))
    assert [fact["KEY"] for fact in facts(home, "pre_tool_call")][-1] == tab.stored_id


def test_desktop(lab: Lab, home: Home) -> None:
    home.add_profile("other")
    window = lab.desktop(home).window()
    for number, profile in enumerate((None, "other")):
        tab = window.tab(source="desktop", profile=profile)
        assert "PROBE hello" in tab.cmd("/probe hello")
        assert "PROBE there" in tab.cmd("/probe there", how="dispatch")
        name = script(lab, home, f"turn-{number}", asked(home, f"turn-{number}"))
        tab.turn(name, approve="once")
        assert read(lab, name)
        assert made(home, name)


def test_gateway(lab: Lab, home: Home) -> None:
    gateway = lab.gateway(home)
    chats = [
        gateway.chat("c1"),
        gateway.chat("g1", user="alice", group=True),
        gateway.chat("g1", user="bob", group=True, thread="t9"),
    ]
    for number, chat in enumerate(chats):
        assert "PROBE hello" in chat.cmd("/probe hello")
        chat.turn(script(lab, home, f"turn-{number}"))
        assert read(lab, f"turn-{number}")

    chat = chats[0]
    chat.turn(script(lab, home, "granted", asked(home, "granted")), approve="once")
    assert made(home, "granted")
    script(lab, home, "denied", asked(home, "denied"))
    chat.submit("please #S:denied")
    chat.approval().answer("deny")
    chat.wait("DONE-denied")
    chat.wait_done()
    assert not made(home, "denied")

    gate = Gate()
    script(lab, home, "held", Step(gate=gate))
    chat.submit("please #S:held")
    gate.wait_reached()
    chat.submit("and then #S:held-then", at_once=True)
    lab.script("held-then")
    gate.release()
    chat.wait("DONE-held-then")
    chat.wait_done()


def test_api(lab: Lab, home: Home) -> None:
    talk = lab.api(home).conversation()
    assert "DONE-turn" in talk.turn(script(lab, home, "turn"))
    assert "DONE-run" in talk.run(script(lab, home, "run", asked(home, "run")), approve="once")
    assert made(home, "run")
    assert read(lab, "turn")
    assert read(lab, "run")


def test_acp(lab: Lab, home: Home) -> None:
    acp = lab.acp(home)
    session = acp.session()
    assert "DONE-one" in session.turn(script(lab, home, "one", asked(home, "one")), approve="once")
    assert read(lab, "one")
    assert made(home, "one")
    assert acp.exit() == 0

    again = lab.acp(home).load(session.session_id)
    assert "DONE-two" in again.turn(script(lab, home, "two"))
    assert read(lab, "two")


def test_webhook(lab: Lab, home: Home) -> None:
    webhook = lab.webhook(home)
    assert "PROBE hello" in webhook.cmd("/probe hello")
    webhook.turn(script(lab, home, "turn"))
    assert read(lab, "turn")
