"""Every state of a session, and everything a person may type in it: what becomes of it, what is answered, and the way out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

import pytest

from plan_mode.host import registry
from plan_mode.policy.catalogue import CATALOGUE
from plan_mode.transitions import Interfere
from tests.fake_host import Cli, Machine

OWN: Final[dict[str, Any]] = {"slug": "own", "name": "Own", "roleDefinition": "r",
                              "groups": ["read", ["edit", {"fileRegex": r"^docs/"}]]}
THEIRS: Final[dict[str, Any]] = {"slug": "theirs", "name": "Theirs", "roleDefinition": "r", "groups": ["read", "command"]}
WIDER: Final[dict[str, Any]] = {**OWN, "groups": ["read", "edit", "command"]}


class World:
    """A home with the mode ``own``, a project with the mode ``theirs``, and one session."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.own, self.project = machine.home / "modes" / "a.yaml", machine.work / ".roomodes"
        (machine.work / ".git").mkdir()
        self.own.parent.mkdir()
        self.own.write_text(json.dumps([OWN]))
        self.project.write_text(json.dumps({"customModes": [THEIRS]}))
        self.cli = machine.cli()
        self.slug = "code"

    def switch(self, slug: str) -> None:
        """The session in that mode, and its model told."""
        self.cli.type(f"/mode {slug}")
        self.cli.turn()
        self.slug = slug

    # -- the states

    def none(self) -> None:
        """As it begins."""

    def plan(self) -> None:
        self.switch("plan")

    def planned(self) -> None:
        """In plan mode, with a plan."""
        self.switch("plan")
        self.cli.write_plan()

    def ask(self) -> None:
        self.switch("ask")

    def code(self) -> None:
        self.switch("code")

    def own_mode(self) -> None:
        self.switch("own")

    def theirs(self) -> None:
        self.switch("theirs")

    def waiting(self) -> None:
        """In the home's mode, whose place the project's own one would take if it were trusted."""
        self.project.write_text(json.dumps({"customModes": [THEIRS, WIDER]}))
        self.switch("own")

    def gone(self) -> None:
        """In a mode that isn't defined anywhere any more."""
        self.switch("own")
        self.own.unlink()

    def lost(self) -> None:
        """The same, and what the session was switched with is gone, too."""
        self.gone()
        self.cli.exit()
        for pin in (self.machine.state / "pins").iterdir():
            pin.unlink()
        self.cli = self.machine.cli()
        self.cli.turn()

    def locked(self) -> None:
        """Locked down while it plans."""
        self.planned()
        self._lock()

    def locked_own(self) -> None:
        self.switch("own")
        self._lock()

    def _lock(self) -> None:
        with self.cli.acting():
            desk = self.cli.desk
            record = desk.judge.standing(desk.where.place("A")).record
            assert record is not None
            desk.note(record, Interfere("a call was changed"))

    def damaged(self) -> None:
        self.switch("plan")
        [record] = self.machine.files("*.json")
        record.write_text("")

    def nowhere(self) -> None:
        """Where nobody could decide anything: hermes chat -q."""
        self.cli.cli._single_query_mode = True

    # -- what can be seen

    @property
    def mode(self) -> str:
        """The mode in force, or the rule of what is in force instead."""
        with self.cli.acting():
            standing = self.cli.desk.judge.standing(self.cli.desk.where.place(self.cli.conversation))
        if standing.fallback is not None:
            return standing.fallback.rule
        return standing.mode.slug if standing.mode is not None else "none"

    def verdicts(self, cli: Cli | None = None) -> dict[tuple[str, str], str]:
        """The rule of the verdict on a tool of each group, and on some edits; "" where nothing is judged."""
        cli = cli or self.cli
        with cli.acting():
            desk = cli.desk
            standing = desk.judge.standing(desk.where.place(cli.conversation))
            if standing.mode is None:
                return dict.fromkeys(CALLS, "")
            found = {}
            for tool, path in CALLS:
                arguments = {"path": str(self.machine.work / path), "content": "x"} if path else {}
                verdict = desk.judge.verdict(standing, tool, arguments)[0]
                found[tool, path] = f"{verdict.effect} {verdict.rule}"
        return found

    def denied(self) -> set[tuple[str, str]]:
        """Of the first six of these calls those that the host is told to block."""
        return {(tool, path) for tool, path in CALLS[:6] if self.cli.asked(
            tool, {"path": str(self.machine.work / path), "content": "x"} if path else {})}


CALLS: Final = (
    ("write_file", "docs/a.md"), ("write_file", "src/a.py"), ("write_file", ".hermes/plans/2026-01-01_000000-x.md"),
    ("terminal", ""), ("read_file", ""), ("clarify", ""),
    ("patch", "docs/a.md"), ("patch", ".roomodes"), ("mcp_s_t", ""), ("nobody_knows_it", ""), ("skill_view", ""),
    *((name, "") for name in {tool.group: name for name, tool in CATALOGUE.items()}.values()))

STATES: Final[dict[str, tuple[Callable[[World], None], str]]] = {
    "none": (World.none, "none"), "plan": (World.plan, "plan"), "planned": (World.planned, "plan"), "ask": (World.ask, "ask"),
    "code": (World.code, "code"), "own": (World.own_mode, "own"), "theirs": (World.theirs, "theirs"),
    "waiting": (World.waiting, "own"), "gone": (World.gone, "own"), "lost": (World.lost, "mode-missing"),
    "locked": (World.locked, "lockdown"), "locked2": (World.locked_own, "lockdown"), "damaged": (World.damaged, "state-damaged"),
    "nowhere": (World.nowhere, "none"),
}
"""Each state: how a session comes into it, and what is in force then."""

EVENTS: Final = {
    "show": "/mode", "same": "/mode {slug}", "other": "/mode debug", "project": "/mode theirs", "plan": "/mode plan",
    "off": "/mode off", "OFF": "/mode  OFF now", "info": "/mode info ask", "write": "/mode check write_file {write}",
    "run": "/mode check terminal {{}}", "trust": "/mode trust own", "model": "/mode model ask big",
    "clear": "/mode model ask clear", "reload": "/mode reload", "help": "/mode help", "what": "/mode own_docs",
    "export": "/mode export ask", "import": "/mode import nowhere.yaml", "use": "/mode use debug",
    "on": "/planmode on", "task": "/planmode on Build it", "status": "/planmode status", "read": "/planmode show",
    "approve": "/planmode approve", "to": "/planmode approve --mode ask", "reject": "/planmode reject Shorter",
    "pm_off": "/planmode off", "pm_what": "/planmode nonsense",
}

TABLE: Final = """
         none    plan    planned ask     code    own     theirs  waiting gone    lost    locked  locked2 damaged nowhere
show     shown   shown   shown   shown   shown   shown   shown   shown   shown+  limited limited limited limited nowhere+
same     code    again   again   already already already already already unknown unknown ended   locked  damage+ closed
other    debug   debug   debug   debug   debug   debug   debug   debug   debug   debug   locked  locked  damage  closed
project  theirs  theirs  theirs  theirs  theirs  theirs  already theirs  theirs  theirs  locked  locked  damage  closed
plan     entered again   again   entered entered entered entered entered entered entered ended   ended   damage+ closed
off      out     left+   left+   left    left    left    left    left    left    left    left+   left    freed   shut
OFF      out     left+   left+   left    left    left    left    left    left    left    left+   left    freed   shut
info     told    told    told    told    told    told    told    told    told    told    told    told    told    told
write    free    plans   plans   no      yes     rule    no      rule    rule    missing lock    lock    damaged free
run      free    no      no      no      yes     no      yes     no      no      missing lock    lock    damaged free
trust    nothing nothing nothing nothing nothing nothing nothing offered unknown unknown nothing nothing nothing shut
model    big     big     big     big     big     big     big     big     big     big     big     big     big     shut
clear    small   small   small   small   small   small   small   small   small   small   small   small   small   shut
reload   listed  listed  listed  listed  listed  listed  listed  listed  listed  listed  listed  listed  listed  listed
help     words   words   words   words   words   words   words   words   words   words   words   words   words   words
what     unknown unknown unknown unknown unknown unknown unknown unknown unknown unknown unknown unknown damage  closed
export   carried carried carried carried carried carried carried carried carried carried carried carried carried carried
import   nofile  nofile  nofile  nofile  nofile  nofile  nofile  nofile  nofile  nofile  nofile  nofile  nofile  shut
use      debug   debug   debug   debug   debug   debug   debug   debug   debug   debug   locked  locked  damage  closed
on       entered again   again   entered entered entered entered entered entered entered ended   ended   damage+ closed
task     tasked  retask  retask  tasked  tasked  tasked  tasked  tasked  tasked  tasked  ended2  ended2  damage+ closed
status   idle    on      ready   in      in      in      in      in      in      limit   limit   limit   limit   where
read     noplan  empty   text    empty   empty   empty   empty   empty   empty   empty   text+   empty   damage2 shut
approve  noplan  empty   done    noplan  noplan  noplan  noplan  noplan  noplan  noplan  locked  locked  damage2 shut
to       noplan  empty   doneto  noplan  noplan  noplan  noplan  noplan  noplan  noplan  locked  locked  damage2 shut
reject   noplan  heard   heard   noplan  noplan  noplan  noplan  noplan  noplan  noplan  locked  locked  damage2 shut
pm_off   out     left+   left+   left    left    left    left    left    left    left    left+   left    freed   shut
pm_what  pmwords pmwords pmwords pmwords pmwords pmwords pmwords pmwords pmwords pmwords pmwords pmwords pmwords pmwords
"""

SAME, NEXT, REFUSAL, INFORMATION = "=", "next", "refusal", "information"

ANSWERS: Final[dict[str, tuple[str, str, str]]] = {
    # the mode after it, what the answer says, and how it ends
    "shown": (SAME, r"^Mode: {mode}\n(.|\n)*\n  \* {mode}  |^Mode: none\n", NEXT),
    "shown+": (SAME, r"^Mode: own\nDefined in .*\nIt isn't defined anywhere any more", NEXT),
    "limited": (SAME, r"^Mode: read-only\nOnly reading is possible, because ", NEXT),
    "nowhere+": (SAME, r"\nNote: the mode can't be changed here\. There is no interactive CLI", NEXT),
    "code": ("code", r"^Code mode is on\. Everything is allowed\.\n", NEXT),
    "debug": ("debug", r"^Debug mode is on\.", NEXT),
    "theirs": ("theirs", r"^Theirs mode is on\.\nDefined in .* \(this project's, not yours\)\.\nIt grants: command, ", NEXT),
    "again": ("plan", r"^Plan mode is on already; nothing else was changed\.\n", NEXT),
    "already": (SAME, r"^This session is already in {mode} mode\.", INFORMATION),
    "unknown": (SAME, r"^'own(_docs)?' isn't a mode\. Modes: plan, code, ", REFUSAL),
    "carried": (SAME, r"^customModes:\n  - slug: ask\n", INFORMATION),
    "nofile": (SAME, r"^Nothing was imported[:,.] ", REFUSAL),
    "locked": (SAME, r"^This session is locked down, because .* See /planmode status; then type /planmode on ", REFUSAL),
    "damage": (SAME, r"^The mode can't be changed, because .* Type /mode off first\.$", REFUSAL),
    "damage+": (SAME, r"^Plan mode can't be turned on here, because .* Type /planmode off ", REFUSAL),
    "damage2": (SAME, r"^Only reading is possible here, because .* Type /planmode off ", REFUSAL),
    "closed": (SAME, r"^Nothing was turned on\. There is no interactive CLI .* Use the classic CLI ", REFUSAL),
    "shut": (SAME, r"^Nothing was changed\. There is no interactive CLI .* Use the classic CLI ", REFUSAL),
    "entered": ("plan", r"^Plan mode is on\.\nPlans: ", NEXT),
    "tasked": ("plan", r"^Plan mode is on\.\n(.|\n)*\nTask: Build it\n", NEXT),
    "retask": ("plan", r"^Plan mode is on already; (.|\n)*\nTask: Build it\n", NEXT),
    "ended": ("plan", r"^The lockdown has ended; plan mode is on\.\n", NEXT),
    "ended2": ("plan", r"^The lockdown has ended; plan mode is on\.\n(.|\n)*\nTask: Build it\n", NEXT),
    "out": (SAME, r"^No mode is active in this session, so there is nothing to turn off\.\n", NEXT),
    "left": ("none", r"^\w+ mode is off\.\n", NEXT),
    "left+": ("none", r"^Plan mode is off; nothing was approved\.\n", NEXT),
    "freed": ("none", r"^No mode is active any more: .* was removed, because it could not be read\.\n", NEXT),
    "told": (SAME, r"^Ask \(ask\)\nGrants: read\.\n", NEXT),
    "free": (SAME, r"^(write_file|terminal) may run: no mode is active in this session\.$", INFORMATION),
    "yes": (SAME, r"^(write_file|terminal) may run in {mode} mode \[(granted|unrestricted)\]\. Nothing was run\.$", INFORMATION),
    "no": (SAME, r"^(write_file|terminal) may not run in {mode} mode \[not-granted\]: ", REFUSAL),
    "plans": (SAME, r"^write_file may not run in plan mode \[outside-plans\]: ", REFUSAL),
    "rule": (SAME, r"^write_file may not run in own mode \[file-restriction\]: ", REFUSAL),
    "missing": (SAME, r"^\w+ may not run in read-only mode \[mode-missing\]: ", REFUSAL),
    "lock": (SAME, r"^\w+ may not run in read-only mode \[lockdown\]: ", REFUSAL),
    "damaged": (SAME, r"^\w+ may not run in read-only mode \[state-damaged\]: ", REFUSAL),
    "offered": (SAME, r"^Of own this project says, in .*\.roomodes \(\w{12}\):\n(.|\n)*\nNext: /mode trust own ", NEXT),
    "nothing": (SAME, r"^Nothing of this project waits for your trust under the name 'own'\. See /mode ", REFUSAL),
    "big": (SAME, r"^Model: big", NEXT),
    "small": (SAME, r"^ask mode names no model", NEXT),
    "listed": (SAME, r"^\d+ modes: plan, code, architect, ask, debug, orchestrator(, own)?, theirs(, own)?\.\n", NEXT),
    "words": (SAME, r"(^|\n)/mode off  +leave modes\n", INFORMATION),
    "pmwords": (SAME, r"^'nonsense' isn't a word /planmode knows\.\n/planmode on \[task\] ", INFORMATION),
    "idle": (SAME, r"^No mode is active in this session\.\n", NEXT),
    "on": (SAME, r"^Plan mode is on since (.|\n)*\nNext: say what should be planned, or /planmode off$", NEXT),
    "ready": (SAME, r"^Plan mode is on since (.|\n)*\nNext: /planmode approve, ", NEXT),
    "in": (SAME, r"^\w+ mode is on since ", NEXT),
    "limit": (SAME, r"^Only reading is possible \[{mode}\], because ", NEXT),
    "where": (SAME, r"^Which session this is can't be told here, so neither can its mode\.\n", NEXT),
    "noplan": (SAME, r"^This session isn't in plan mode, so there is no plan to decide on\. .* /planmode on\.$", REFUSAL),
    "empty": (SAME, r"^This session has no plan file yet\. (Ask the agent .*|Type) /planmode (off|on to plan)\.$", REFUSAL),
    "text": (SAME, r"2026-01-01_120000-plan\.md  \d+ bytes  \w+\n# Plan\n(.|\n)*\nNext: /planmode approve, ", NEXT),
    "text+": (SAME, r"2026-01-01_120000-plan\.md  \d+ bytes  \w+\n# Plan\n(.|\n)*\nNext: /planmode status$", NEXT),
    "done": ("none", r"^Approved: .*-plan\.md\nPlan mode is off; no mode is active\.\n", NEXT),
    "doneto": ("ask", r"^Approved: .*-plan\.md\nThis session is now in ask mode\.\n", NEXT),
    "heard": (SAME, r"^Your feedback goes to the agent with your next message\. Plan mode stays on\.\n", NEXT),
}
"""One answer for each class of cells."""

WAYS: Final = re.compile(r"/mode|/planmode|Modes: |Use the classic CLI|Write ")
"""What a refusal says to do."""


def cells() -> list[tuple[str, str, str]]:
    head, *rows = [line.split() for line in TABLE.strip().split("\n")]
    assert head == list(STATES)
    assert [row[0] for row in rows] == list(EVENTS)
    return [(state, row[0], answer) for row in rows for state, answer in zip(head, row[1:], strict=True)]


@pytest.fixture
def world(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(registry, "toolset_of", {"mcp_s_t": "mcp-s"}.get)
    return World(machine)


@pytest.mark.parametrize(("state", "event", "code"), cells(), ids=lambda each: each)
def test_what_a_person_types(state: str, event: str, code: str, world: World) -> None:
    enter, mode = STATES[state]
    enter(world)
    assert world.mode == mode
    before = world.verdicts()

    write = json.dumps({"path": str(world.machine.work / "src" / "a.py"), "content": "x"})
    answer = world.cli.type(EVENTS[event].format(slug=world.slug, write=write))

    after, says, ends = ANSWERS[code]
    assert re.search(says.replace("{mode}", re.escape(mode)), answer), answer
    assert world.mode == (mode if after == SAME else after)
    last = answer.rstrip().split("\n")[-1]
    assert last.startswith("Next: ") is (ends == NEXT)
    assert ends != REFUSAL or WAYS.search(answer), answer
    now = world.verdicts()
    assert now == (before if after in (SAME, mode) else fresh(world, after))

    # The agent's next turn changes nothing about it, the host is told so, and the person can leave.
    world.cli.turn()
    assert world.verdicts() == now
    assert world.denied() == {call for call in CALLS[:6] if now[call].startswith("deny")}
    left = world.cli.type("/mode off")
    assert left.startswith("Nothing was changed.") is (state == "nowhere")
    assert (world.mode, world.denied()) == ("none", set())


def fresh(world: World, slug: str) -> dict[tuple[str, str], str]:
    """The verdicts in a session that was never in another mode."""
    other = world.machine.cli("fresh")
    if slug != "none":
        assert " mode is on." in other.type(f"/mode {slug}")
        other.turn()
    return world.verdicts(other)


def test_each_answer_is_some_cells() -> None:
    assert {code for _, _, code in cells()} == set(ANSWERS)
