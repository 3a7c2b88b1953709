"""Several sessions, processes and surfaces, and whatever may happen to them, in any order, over the real store.

The model knows for each session nothing but the mode that it must be in. After each event every session is asked by the
host's own hook: a restricted one denies, and says by which rule; nobody else is touched; the files stay few; and whatever
has happened, each person gets out.
"""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from plan_mode.policy.catalogue import CATALOGUE
from plan_mode.standing import Standing
from tests.fake_host import Chat, Cli, Machine, Server, Tab
from tests.fixtures import write_without_fsync

LATER = 2e12
DAMAGED = "damaged"
DENIAL = re.compile(r"\S+ mode \[[a-z-]+\]: .+\.")
MOST_FILES_OF_A_CONVERSATION = 8

NARROW = "{slug: mine, name: Mine, roleDefinition: x, groups: [read]}"
MODE_FILES = {"narrow": NARROW, "wide": NARROW.replace("read", "read, command"), "broken": "{slug: mine", "gone": None}

NAMES = ["first cli", "second cli", "tab", "chat"]
IN_FOCUS = "the one that most of it happens to"
SEATS = st.sampled_from([*NAMES, *[IN_FOCUS] * 8])


class Sessions(RuleBasedStateMachine):
    """``modes``: what each seat's session must be in; ``parked``: the same of the conversations that a CLI has left;
    ``passing``: what a session was in that was left in its process only, as the reply said."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.patch = pytest.MonkeyPatch()
        self.machine = Machine(Path(self.folder.name))
        self.machine.enter(self.patch)
        self.machine.set(after_approval="")
        write_without_fsync(self.patch)
        self.fail_on_demand(os.replace, time.time)
        self.names = (f"C{number}" for number in itertools.count())
        self.conversations = 0
        self.is_full, self.days = False, 0
        self.after_approval: str | None = None
        (self.machine.home / "modes").mkdir()
        self.mode_file("narrow")
        self.seats: dict[str, Any] = {"first cli": self.machine.cli(self.fresh()), "second cli": self.machine.cli(self.fresh())}
        self.serve()
        self.modes: dict[str, str | None] = dict.fromkeys(self.seats)
        self.passing: dict[str, str | None] = {}
        self.parked: dict[str, dict[str, str | None]] = {"first cli": {}, "second cli": {}}
        for seat in self.seats.values():
            seat.turn()

    def teardown(self) -> None:
        try:
            for name, seat in self.seats.items():
                reply = seat.type("/planmode off")
                assert not seat.restricted, (name, reply)
        finally:
            self.patch.undo()
            self.folder.cleanup()

    def fail_on_demand(self, replace: Callable[..., None], clock: Callable[[], float]) -> None:
        """Let the disk be full and the clock be wrong while they are said to be."""
        def replace_or_not(source: Any, target: Any, **more: Any) -> None:
            if self.is_full and str(self.machine.state) in str(target):
                raise OSError(28, "No space left on device")
            replace(source, target, **more)

        self.patch.setattr(os, "replace", replace_or_not)
        self.patch.setattr(time, "time", lambda: clock() + self.days * 86_400)

    @initialize(name=st.sampled_from(NAMES))
    def look_at(self, name: str) -> None:
        self.focus = name

    # -- what there is

    def named(self, name: str) -> str:
        return self.focus if name == IN_FOCUS else name

    def fresh(self) -> str:
        self.conversations += 1
        return next(self.names)

    def serve(self) -> None:
        """A server with a tab and a chat; a new one serves the same sessions."""
        server: Server = self.machine.server()
        tab, chat = self.seats.get("tab"), self.seats.get("chat")
        self.seats["tab"] = server.tab(tab.conversation if tab else self.fresh(), "T")
        self.seats["chat"] = server.chat("k", chat.conversation if chat else self.fresh())

    def standing(self, name: str) -> Standing:
        seat: Cli = self.seats[name]
        with seat.acting():
            return seat.desk.judge.standing(seat.desk.where.here("", seat.conversation).place)

    def seen(self, name: str) -> str | None:
        """The mode by which the calls of that session are judged."""
        standing = self.standing(name)
        return DAMAGED if standing.fallback is not None else standing.mode.slug if standing.mode is not None else None

    def becomes(self, name: str, mode: str | None) -> None:
        """The session is in that mode now; where nothing can be stored, or its file is damaged, it may have stayed."""
        before = self.modes[name]
        found = self.seen(name)
        assert found == mode or (found == before and (self.is_full or before == DAMAGED)), (name, before, mode, found)
        self.modes[name] = found

    @invariant()
    def each_session_is_in_its_mode(self) -> None:
        for name, seat in self.seats.items():
            assert self.seen(name) == self.modes[name], name
            child = f"{seat.conversation} child"
            self.machine.kin[child] = ("delegate", seat.conversation, False, LATER)
            seat.turn(conversation=child, platform="subagent", parent_session_id=seat.conversation)
            for conversation in (None, child):
                denial = seat.asked("terminal", {"command": "true"}, conversation=conversation)
                assert bool(denial) is (self.modes[name] is not None), (name, conversation, denial)
                assert not denial or DENIAL.match(denial), denial
            assert not seat.asked("read_file", {"path": "x"})

    @invariant()
    def files_are_few(self) -> None:
        files = self.machine.files()
        assert len(files) <= MOST_FILES_OF_A_CONVERSATION * self.conversations, files
        assert not [file for file in files if file.name.startswith(".") or file.suffix == ".tmp"]

    # -- the person

    @rule(name=SEATS)
    def on(self, name: str) -> None:
        name = self.named(name)
        self.seats[name].type("/planmode on")
        self.becomes(name, "plan")

    @rule(name=SEATS, slug=st.sampled_from(["ask", "mine"]))
    def switch(self, name: str, slug: str) -> None:
        name = self.named(name)
        if slug == "mine" and self.mode_kind != "narrow":
            return
        self.seats[name].type(f"/mode {slug}")
        self.becomes(name, slug)

    @rule(name=SEATS, command=st.sampled_from(["/planmode off", "/mode off"]))
    def off(self, name: str, command: str) -> None:
        name = self.named(name)
        reply, before = self.seats[name].type(command), self.modes[name]
        self.modes[name] = None
        assert self.seen(name) is None, reply
        if "This holds for this Hermes process only" in reply:
            assert self.is_full
            self.passing[name] = before

    @rule(name=SEATS)
    def approve(self, name: str) -> None:
        name = self.named(name)
        seat = self.seats[name]
        if self.modes[name] == "plan":
            seat.write_plan(f"2026-01-01_120000-{next(self.names)}.md")
        reply = seat.type("/planmode approve")
        if self.modes[name] == "plan":
            assert self.is_full or reply.startswith("Approved: "), reply
            self.becomes(name, self.after_approval)

    @rule(name=SEATS)
    def reject(self, name: str) -> None:
        name = self.named(name)
        self.seats[name].type("/planmode reject smaller steps")

    # -- the agent

    @rule(name=SEATS, tool=st.sampled_from(sorted(CATALOGUE)), path=st.sampled_from(["", "/etc/hosts", "{plans}/x.md", "a"]))
    def call(self, name: str, tool: str, path: str) -> None:
        name = self.named(name)
        self.seats[name].asked(tool, {"path": path.format(plans=self.machine.plans), "content": "x"})

    @rule(name=SEATS)
    def turn(self, name: str) -> None:
        name = self.named(name)
        self.seats[name].turn()

    # -- the session

    @rule(name=SEATS)
    def reset(self, name: str) -> None:
        """/new: the mode ends with its session. Of a chat that was switched only a turn tells which conversation that was."""
        name = self.named(name)
        seat: Cli | Chat = self.seats[name]
        if isinstance(seat, Tab):
            return
        seat.turn()
        seat.new(self.fresh())
        seat.turn()
        self.becomes(name, None)

    @rule(name=SEATS)
    def rotate(self, name: str) -> None:
        """A compression: another id of the same session."""
        name = self.named(name)
        seat = self.seats[name]
        before, after = seat.conversation, self.fresh()
        self.machine.kin[after] = ("compression", before, False, LATER)
        seat.rotate(after) if isinstance(seat, Tab) else seat.resume(after)
        seat.turn()

    @precondition(lambda self: not self.is_full)
    @rule(name=SEATS)
    def branch(self, name: str) -> None:
        name = self.named(name)
        seat: Cli = self.seats[name]
        if self.modes[name] == DAMAGED or name not in self.parked:
            return
        before, after = seat.conversation, self.fresh()
        self.machine.kin[after] = ("branch", before, False, LATER)
        seat.resume(after)
        seat.turn()
        self.parked[name][before] = self.modes[name]

    @precondition(lambda self: not self.is_full)
    @rule(name=SEATS, data=st.data())
    def resume(self, name: str, data: st.DataObject) -> None:
        """Back to a conversation that this CLI has left: in its own mode."""
        name = self.named(name)
        seat: Cli = self.seats[name]
        if self.modes[name] == DAMAGED or not self.parked.get(name):
            return
        conversation = data.draw(st.sampled_from(sorted(self.parked[name])))
        self.parked[name][seat.conversation] = self.modes[name]
        seat.resume(conversation)
        seat.turn()
        self.modes[name] = self.parked[name].pop(conversation)

    # -- what goes wrong

    @rule(name=SEATS)
    def cli_dies(self, name: str) -> None:
        name = self.named(name)
        seat: Cli = self.seats[name]
        if name not in self.parked:
            return
        seat.kill()
        self.seats[name] = self.machine.cli(seat.conversation)
        self.comes_back(name)

    def comes_back(self, name: str) -> None:
        """A session in a new process: in the mode that it was in."""
        self.seats[name].turn()
        if name in self.passing and self.seen(name) == self.passing.pop(name):
            self.modes[name] = self.seen(name)

    @rule()
    def server_dies(self) -> None:
        self.seats["tab"].server.kill()
        self.serve()
        self.comes_back("tab")
        self.comes_back("chat")

    @rule()
    def disk_fills_or_is_freed(self) -> None:
        self.is_full = not self.is_full

    @rule(name=SEATS, how=st.sampled_from([lambda text: text[: len(text) // 2], lambda text: b"", lambda text: text[::-1]]))
    def record_is_damaged(self, name: str, how: Callable[[bytes], bytes]) -> None:
        name = self.named(name)
        standing = self.standing(name)
        if standing.record is None or standing.mode is None:
            return
        for file in self.machine.files(f"*{standing.record.id}*"):
            file.write_bytes(how(file.read_bytes()))
        self.modes[name] = DAMAGED

    @rule(days=st.sampled_from([-400, -1, 0]))
    def clock_is_set(self, days: int) -> None:
        self.days = days

    @rule(kind=st.sampled_from(sorted(MODE_FILES)))
    def mode_file(self, kind: str) -> None:
        """What the file says later widens nothing, and its end ends nothing: a switch has pinned what it said."""
        self.mode_kind = kind
        path, text = self.machine.home / "modes" / "mine.yaml", MODE_FILES[kind]
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_text(text)

    @rule(slug=st.sampled_from(["", "ask"]))
    def setting(self, slug: str) -> None:
        self.after_approval = slug or None
        self.machine.set(after_approval=slug)
        (self.machine.home / "config.yaml").write_text(f"# another file: {next(self.names)}\n")


def test_whatever_happens(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", "plan_mode")
    run_state_machine_as_test(Sessions, settings=settings(
        max_examples=int(os.environ.get("PLAN_MODE_EXAMPLES", "50")), stateful_step_count=25, deadline=None,
        phases=set(Phase) - {Phase.explain}))
