"""Two CLI processes, three conversations, events in any order: plan mode ends where a person ends it, and nowhere else.

The machine compares the real plugin, over real files, with a model of a few lines: what each conversation is in, and
which live process has it.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plan_mode.state.expiry import sweep
from plan_mode.state.identity import Place
from plan_mode.state.kin import look
from tests.fake_host import Cli, Machine
from tests.fixtures import write_without_fsync

CONVERSATIONS = ("A", "B", "C")
RANK = {"plan": 3, "code": 1, "left": 0}


class Life:
    """What happens on one machine. Two processes never have the same conversation open at a time."""

    def __init__(self, root: Path, patch: pytest.MonkeyPatch) -> None:
        self.machine = Machine(root)
        self.machine.enter(patch)
        write_without_fsync(patch)
        self.clis: dict[int, Cli] = {0: self.machine.cli("A")}
        # The model. What a conversation is in: "plan", "code", or "left" while a record waits for its notice to be taken.
        self.bound: dict[str, str] = {}
        self.holder: dict[str, int] = {}
        self.since: dict[str, float] = {}
        self.told: set[str] = set()
        self.owed: set[str] = set()
        self.copies: set[str] = set()
        # What was turned on in a conversation without a message: it belongs to the process until a turn tells.
        self.pending: dict[int, tuple[str, str, float]] = {}

    # -- the model

    def held(self, p: int) -> str | None:
        return next((c for c, holder in self.holder.items() if holder == p), None)

    def release(self, p: int) -> None:
        for c in [c for c, holder in self.holder.items() if holder == p]:
            del self.holder[c]

    def arrive(self, p: int, *, turn: bool) -> None:
        """A command or a turn in the conversation that the process is in."""
        here = self.clis[p].conversation
        if p in self.pending:
            self.arrive_with_pending(p, here, turn=turn)
        elif self.held(p) != here:
            self.release(p)
            if here not in self.bound:
                self.inherit(here)
            if here in self.bound:
                self.holder[here] = p

    def arrive_with_pending(self, p: int, here: str, *, turn: bool) -> None:
        begun_in, mode, since = self.pending[p]
        if here != begun_in and here not in self.machine.used:
            del self.pending[p]
        elif here in self.bound or turn:
            del self.pending[p]
            if RANK[mode] >= RANK[self.bound.get(here, "left")]:
                self.forget(here)
                self.bound[here], self.since[here] = mode, since
            self.holder[here] = p

    def inherit(self, here: str) -> None:
        origin, left_at = self.parent(here)
        while origin and origin not in self.bound:
            origin, left_at = self.parent(origin)
        if origin and self.bound[origin] != "left" and self.since[origin] <= left_at:
            self.bound[here], self.since[here] = self.bound[origin], self.since[origin]
            self.copies.add(here)
            self.told.update([here] if origin in self.told else [])

    def parent(self, conversation: str) -> tuple[str, float]:
        kind, origin, _, begun = self.machine.parentage(conversation)
        return (origin, begun) if kind == "branch" else ("", 0.0)

    def forget(self, c: str) -> None:
        for known in (self.bound, self.since, self.holder):
            known.pop(c, None)
        for marked in (self.told, self.owed, self.copies):
            marked.discard(c)

    def leave(self, p: int) -> None:
        self.pending.pop(p, None)
        c = self.held(p)
        if c is None:
            return
        if c in self.told | self.owed | self.copies:
            self.bound[c] = "left"
        else:
            self.forget(c)

    def mode_of(self, p: int) -> str:
        """What the process itself is in, whatever conversation it shows."""
        if p in self.pending:
            return self.pending[p][1]
        held = self.held(p)
        return self.bound[held] if held else "left"

    # -- what happens. ``pick`` chooses among what there is; an event that nothing is there for does nothing.

    def free(self, p: int, *, used: bool) -> list[str]:
        """Conversations that no process has, and this one hasn't open; with or without messages."""
        taken = {cli.conversation for cli in self.clis.values()} | {c for c, holder in self.holder.items() if holder != p}
        return [c for c in CONVERSATIONS if c not in taken and (c in self.machine.used) is used]

    def type(self, p: int, line: str) -> str:
        reply = self.clis[p].type(line)
        assert not reply.startswith(("plan-mode failed", "plan-mode can't")), reply
        self.arrive(p, turn=False)
        return reply

    def start(self, p: int, pick: int) -> None:
        if free := self.free(p, used=True) + self.free(p, used=False):
            self.clis[p] = self.machine.cli(free[pick % len(free)])

    def plan(self, p: int, pick: int) -> None:
        assert "lan mode is on" in self.type(p, "/planmode on")
        self.becomes(p, "plan")

    def code(self, p: int, pick: int) -> None:
        assert "ode mode" in self.type(p, "/mode code")
        self.becomes(p, "code")

    def becomes(self, p: int, mode: str) -> None:
        """A person put the process into a mode just now."""
        here, now = self.clis[p].conversation, time.time()
        if self.mode_of(p) == mode:
            return
        if p in self.pending:
            self.pending[p] = (self.pending[p][0], mode, now)
        elif here in self.machine.used:
            self.bound[here], self.since[here], self.holder[here] = mode, now, p
        else:
            self.pending[p] = (here, mode, now)

    def off(self, p: int, pick: int) -> None:
        self.type(p, "/planmode off")
        self.leave(p)

    def look(self, p: int, pick: int) -> None:
        self.type(p, ("/planmode", "/planmode reject not like this", "/planmode show")[pick % 3])

    def write(self, p: int, pick: int) -> None:
        cli, held = self.clis[p], self.held(p)
        if held and self.bound[held] == "plan":
            cli.write_plan(f"{held}-{p}.md", conversation="bg_1" if pick % 2 else cli.conversation)

    def approve(self, p: int, pick: int) -> None:
        self.type(p, "/planmode show")
        reply = self.type(p, "/planmode approve")
        if "code mode" in reply:
            self.becomes(p, "code")
        elif reply.startswith("Approved: "):
            self.owed.update([held] if (held := self.held(p)) else [])
            self.leave(p)

    def turn(self, p: int, pick: int) -> None:
        cli = self.clis[p]
        here = cli.conversation
        self.arrive(p, turn=True)
        text = cli.turn()
        mode = self.bound.get(here, "")
        if mode in ("plan", "code"):
            assert f"{mode} mode is on" in text.lower()
            self.told.add(here)
        elif mode == "left" and here in self.told | self.owed:
            assert "No mode is active any more" in text or "The user approved the plan" in text
            self.told.discard(here)
            self.owed.discard(here)
            if here not in self.copies:
                self.forget(here)
        else:
            assert not text

    def resume(self, p: int, pick: int) -> None:
        # What moves into a conversation counts from when it was typed: a branch made in between would take it for older.
        origins = {kin[1] for kin in self.machine.kin.values()} if p in self.pending else set()
        if free := [c for c in self.free(p, used=True) if c not in origins]:
            self.clis[p].resume(free[pick % len(free)])

    def branch(self, p: int, pick: int) -> None:
        free = self.free(p, used=False)
        if free and self.clis[p].conversation in self.machine.used:
            c = free[pick % len(free)]
            self.machine.kin[c] = ("branch", self.clis[p].conversation, False, time.time())
            self.machine.used.add(c)
            self.clis[p].resume(c)

    def new(self, p: int, pick: int) -> None:
        free, here = self.free(p, used=False), self.clis[p].conversation
        if not free:
            return
        agent = here in self.machine.used
        if agent and (p in self.pending or self.held(p)):
            self.arrive(p, turn=False)
            self.told.discard(here)
            self.owed.discard(here)
            self.leave(p)
            self.release(p)
        self.clis[p].new(free[0], agent=agent)

    def end(self, p: int, pick: int) -> None:
        cli = self.clis.pop(p)
        cli.exit() if pick % 2 else cli.kill()
        self.release(p)
        self.pending.pop(p, None)

    # -- what must hold

    def restricted_is_who_should_be(self) -> None:
        for p, cli in self.clis.items():
            own = self.mode_of(p) == "plan"
            assert bool(cli.asked("terminal", conversation="child")) is own
            assert cli.restricted is (own or self.bound.get(cli.conversation) == "plan")
            assert not cli.asked("read_file")

    def a_resumed_conversation_is_found(self) -> None:
        if not self.clis:
            return
        cli = next(iter(self.clis.values()))
        for c in CONVERSATIONS:
            if c not in self.holder:
                with cli.acting():
                    found = look(cli.desk.store, Place(None, c))
                    restricted = any(cli.desk.judge.of(each).restricted for each in found)
                assert restricted is (self.bound.get(c) == "plan"), c

    def nothing_grows(self) -> None:
        assert len(self.machine.files("*.json")) <= 8
        assert not self.machine.files("*.tmp")

    def everybody_can_leave(self) -> None:
        for cli in self.clis.values():
            cli.type("/planmode off")
            assert not cli.restricted
            cli.exit()
        for c in CONVERSATIONS:
            cli = self.machine.cli(c)
            cli.type("/planmode off")
            assert not cli.restricted
            assert "mode is on" not in cli.turn()
            assert not cli.restricted
            cli.exit()
        with cli.acting(), cli.desk.store.writing() as writer:
            assert sweep(writer, 0.0) <= len(self.machine.kin)  # a branch's copy stays, lest the branch be copied again

    def check(self) -> None:
        self.restricted_is_who_should_be()
        self.a_resumed_conversation_is_found()
        self.nothing_grows()


class Crowd:
    """Processes that open the same conversations. Each is a session of its own for as long as both live."""

    def __init__(self, root: Path, patch: pytest.MonkeyPatch) -> None:
        self.machine = Machine(root)
        self.machine.enter(patch)
        write_without_fsync(patch)
        self.clis: dict[int, Cli] = {}
        self.planning: dict[int, bool] = {}
        """Whether a person has put this process into plan mode since it came to its conversation."""

    def act(self, event: str, p: int, pick: int) -> None:
        c = CONVERSATIONS[pick % 3]
        if p not in self.clis:
            self.clis[p], self.planning[p] = self.machine.cli(c), False
        elif event in ("/planmode on", "/mode code", "/planmode off", "/planmode", "/planmode show", "/planmode approve"):
            self.type(p, event)
        else:
            getattr(self, event)(p, c, pick)

    def type(self, p: int, line: str) -> None:
        reply = self.clis[p].type(line)
        assert not reply.startswith(("plan-mode failed", "plan-mode can't")), reply
        if line == "/planmode on":
            self.planning[p] = True
        elif line in ("/mode code", "/planmode off") or reply.startswith("Approved"):
            self.planning[p] = False
            assert not self.clis[p].restricted

    def turn(self, p: int, c: str, pick: int) -> None:
        self.clis[p].turn()

    def write(self, p: int, c: str, pick: int) -> None:
        if self.planning[p]:
            self.clis[p].write_plan(f"{p}-{len(self.machine.files())}.md", conversation="bg_1" if pick % 2 else "C")

    def resume(self, p: int, c: str, pick: int) -> None:
        self.clis[p].resume(c)
        self.planning[p] = False

    def branch(self, p: int, c: str, pick: int) -> None:
        if c not in self.machine.used and self.clis[p].conversation in self.machine.used:
            self.machine.kin[c] = ("branch", self.clis[p].conversation, False, time.time())
            self.resume(p, c, pick)

    def new(self, p: int, c: str, pick: int) -> None:
        if c not in self.machine.used:
            self.clis[p].new(c)
            self.planning[p] = False

    def end(self, p: int, c: str, pick: int) -> None:
        cli = self.clis.pop(p)
        cli.exit() if pick > 2 else cli.kill()

    def check(self) -> None:
        for p, cli in self.clis.items():
            if self.planning[p]:
                assert cli.restricted
                assert cli.asked("terminal", conversation="child")
            assert not cli.asked("read_file")
        assert len(self.machine.files("*.json")) <= 12
        assert not self.machine.files("*.tmp")

    def everybody_can_leave(self) -> None:
        for cli in self.clis.values():
            cli.type("/planmode off")
            assert not cli.restricted
            cli.exit()
        for c in CONVERSATIONS:
            cli = self.machine.cli(c)
            cli.type("/planmode off")
            assert not cli.restricted
            cli.turn()
            assert not cli.restricted
            cli.exit()


EVENTS = (Life.plan, Life.plan, Life.plan, Life.code, Life.off, Life.look, Life.write, Life.approve, Life.turn, Life.turn,
          Life.turn, Life.turn, Life.resume, Life.resume, Life.branch, Life.branch, Life.new, Life.end)


@settings(max_examples=20, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(events=st.lists(st.tuples(st.sampled_from(EVENTS), st.integers(0, 1), st.integers(0, 3)), min_size=20, max_size=60))
def test_a_conversation_has_the_mode_that_a_person_gave_it(events: list[tuple[Any, int, int]]) -> None:
    with tempfile.TemporaryDirectory(prefix="plan-mode-life-") as root, pytest.MonkeyPatch.context() as patch:
        life = Life(Path(root), patch)
        for event, p, pick in events:
            (event if p in life.clis else Life.start)(life, p, pick)
            life.check()
        life.everybody_can_leave()


CROWDED: Any = ("/planmode on", "/planmode on", "/mode code", "/planmode off", "/planmode", "/planmode show", "/planmode approve",
                "turn", "turn", "turn", "write", "resume", "resume", "branch", "new", "end")


@settings(max_examples=15, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(events=st.lists(st.tuples(st.sampled_from(CROWDED), st.integers(0, 2), st.integers(0, 5)), min_size=20, max_size=60))
def test_processes_in_one_conversation_dont_touch_each_other(events: list[tuple[str, int, int]]) -> None:
    with tempfile.TemporaryDirectory(prefix="plan-mode-crowd-") as root, pytest.MonkeyPatch.context() as patch:
        crowd = Crowd(Path(root), patch)
        for event, p, pick in events:
            crowd.act(event, p, pick)
            crowd.check()
        crowd.everybody_can_leave()
