"""Which record is this session's? Tables of what a conversation came from, and who else is there."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plan_mode.errors import StateError
from plan_mode.state import expiry, kin, sessions, store
from plan_mode.state.expiry import sweep
from plan_mode.state.identity import Place
from plan_mode.state.kin import MOST_ANCESTORS, Kin, Kindred, kindred, look, selected
from plan_mode.state.process import ProcessId
from plan_mode.state.record import Damaged, Owed, PlanFile, SessionRecord, Told, new_id
from plan_mode.state.sessions import Arrival, Owned
from plan_mode.state.store import Folder, Store, Writer
from tests.fixtures import write_without_fsync

ONE, TWO = (ProcessId(pid, "1", "boot", "pid:[1]") for pid in (1, 2))
ELSEWHERE = ProcessId(1, "1", "boot", "pid:[2]")
RANK = {None: 0, "code": 1, "plan": 3}

NONE, FRESH, UNREADABLE = Kin("none"), Kin("none", fresh=True), Kin("unreadable")
PLAN = PlanFile("/w/.hermes/plans/p.md", "d", 1.0)


def record(mode: str | None = "plan", **more: Any) -> SessionRecord:
    return SessionRecord(**{"id": new_id(), "mode": mode, "activation": new_id(), "since": 100.0, **more})


class World:
    """A state folder, what the host's session store tells, and which processes run (None: can't be told)."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(lambda: str(folder))
        self.kin: dict[str, Kin] = {}
        self.alive: dict[ProcessId, bool | None] = {ONE: True, TWO: True, ELSEWHERE: None}

    @contextmanager
    def arriving(self, process: ProcessId | None, conversation: str, *, create: bool = False) -> Iterator[tuple[Arrival, Writer]]:
        def strictness(found: SessionRecord | Damaged) -> int:
            return 4 if isinstance(found, Damaged) else RANK[found.mode]

        with self.store.writing(create=create) as writer:
            yield Arrival(writer, Place(process, conversation), lambda each: self.kin.get(each, NONE), strictness), writer

    def session(self, process: ProcessId | None, conversation: str) -> SessionRecord | Damaged | None:
        """What a command finds."""
        with self.arriving(process, conversation) as (arrival, _):
            found = arrival.session()
        return found.record if isinstance(found, Owned) else found

    def turn(self, process: ProcessId, conversation: str) -> SessionRecord | Damaged | None:
        """What a main turn finds; the conversation is learnt."""
        with self.arriving(process, conversation) as (arrival, _):
            found = arrival.session()
            if isinstance(found, Owned) and not found.record.unresolved:
                found = arrival.take_conversation(found)
                self.kin.setdefault(conversation, NONE)
        return found.record if isinstance(found, Owned) else found

    def begin(self, process: ProcessId, conversation: str, mode: str = "plan", **more: Any) -> SessionRecord:
        """A person turns a mode on, in a conversation that has messages unless ``kin`` says otherwise."""
        with self.arriving(process, conversation, create=True) as (arrival, _):
            return arrival.begin(record(mode, **more)).record

    def begin_named(self, conversation: str, key: str) -> SessionRecord:
        """A person turns plan mode on in a session of a server, which calls it by that key."""
        place = Place(None, conversation, session_key=key.removeprefix("sk:"))
        with self.store.writing(create=True) as writer:
            return Arrival(writer, place, lambda each: self.kin.get(each, NONE), lambda found: 0).begin(record()).record

    def park(self, process: ProcessId) -> None:
        with self.arriving(process, "") as (arrival, _):
            owned = arrival.session()
            assert isinstance(owned, Owned)
            arrival.park(owned)

    def leave(self, process: ProcessId, conversation: str) -> None:
        with self.arriving(process, conversation) as (arrival, _):
            owned = arrival.session()
            assert isinstance(owned, Owned)
            assert arrival.clear(owned)

    def speaks(self, process: ProcessId | None, conversation: str) -> list[str]:
        """The ids of what speaks for a place, without arriving there."""
        found = look(self.store, Place(process, conversation))
        return [each.id if isinstance(each, SessionRecord) else each.kind for each in found]

    def waits_for(self, conversation: str) -> list[str]:
        """The ids of what the key of a conversation leads to, whoever has it."""
        return [each.id for each in self.store.look_up(f"id:{conversation}") if isinstance(each, SessionRecord)]

    def on_disk(self) -> list[SessionRecord]:
        return [found for folder in self.store.folders() for name in sorted(os.listdir(folder.path)) if name.endswith(".json")
                and isinstance(found := self.store.load(folder, name[:-5]), SessionRecord)]

    def names(self, suffix: str) -> list[str]:
        return [name for folder in self.store.folders() for name in os.listdir(folder.path) if name.endswith(suffix)]

    @property
    def folder(self) -> Folder:
        return self.store.folders()[0]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path / "data")
    for module in (sessions, kin, expiry):
        monkeypatch.setattr(module, "is_alive", lambda process: made.alive.get(process, False))
    write_without_fsync(monkeypatch)
    return made


# -- the first record of a place

def test_a_conversation_without_a_message_is_learnt_at_the_first_turn(world: World) -> None:
    world.kin["A"] = FRESH
    begun = world.begin(ONE, "A")
    assert (begun.holder, begun.conversation, begun.begun_in) == (ONE, "", world.folder.hashed("id:A"))
    assert begun.keys == (world.folder.hashed(ONE.key),)
    assert world.session(ONE, "A") == begun
    assert world.waits_for("A") == []
    taken = world.turn(ONE, "A")
    assert taken == replace(begun, conversation=world.folder.hashed("id:A"), keys=(*begun.keys, world.folder.hashed("id:A")))
    assert world.speaks(ONE, "elsewhere") == [begun.id]
    assert world.turn(ONE, "A") == taken


def test_a_conversation_with_messages_is_known_at_once(world: World) -> None:
    begun = world.begin(ONE, "A")
    assert begun.conversation == world.folder.hashed("id:A")
    world.alive[ONE] = False
    assert world.turn(TWO, "A") == replace(begun, holder=TWO, owed=Owed(restored=True),
                                           keys=(world.folder.hashed(TWO.key), world.folder.hashed("id:A")))


@pytest.mark.parametrize("kin", [UNREADABLE, FRESH])
def test_a_conversation_that_isnt_certain(world: World, kin: Kin) -> None:
    world.kin["A"] = kin
    assert world.begin(ONE, "A").conversation == ""


def test_no_conversation_is_told(world: World) -> None:
    begun = world.begin(ONE, "")
    assert (begun.conversation, begun.begun_in) == ("", "")
    assert world.session(ONE, "") == begun
    taken = world.turn(ONE, "A")
    assert isinstance(taken, SessionRecord)
    assert (taken.id, taken.conversation) == (begun.id, world.folder.hashed("id:A"))


def test_a_first_record_that_cant_be_stored_leaves_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Writer, folder: Folder, hashed: str, record_id: str) -> None:
        raise StateError("p", "full")
    monkeypatch.setattr(Writer, "put_key", fail)
    with pytest.raises(StateError):
        world.begin(ONE, "A")
    assert world.names(".json") == []


# -- where does a conversation come from? Process ONE is in plan mode in A, and goes on in B

BOUND, PARKED = "bound", "parked"

# What the host tells of B (and of others) -> what B gets, and what becomes of A's record.
LINEAGES: dict[str, tuple[dict[str, Kin], str, str]] = {
    "resumed, unrelated": ({"B": NONE}, "nothing", PARKED),
    "resumed, unrelated, without a message": ({"B": FRESH}, "nothing", PARKED),
    "reset": ({"B": Kin("reset", "A")}, "nothing", PARKED),
    "delegate": ({"B": Kin("delegate", "A")}, "nothing", PARKED),
    "branch": ({"B": Kin("branch", "A")}, "copy", PARKED),
    "branch, begun later": ({"B": Kin("branch", "A", begun=100.0)}, "copy", PARKED),
    "branch of before A's plan mode": ({"B": Kin("branch", "A", begun=99.0)}, "nothing", PARKED),
    "branch of a branch": ({"B": Kin("branch", "X"), "X": Kin("branch", "A")}, "copy", PARKED),
    "branch of something else": ({"B": Kin("branch", "X"), "X": NONE}, "nothing", PARKED),
    "branch of a reset": ({"B": Kin("branch", "X"), "X": Kin("reset", "A")}, "nothing", PARKED),
    "compression": ({"B": Kin("compression", "A")}, "same", BOUND),
    "compressed twice": ({"B": Kin("compression", "X"), "X": Kin("compression", "A")}, "same", BOUND),
    "branch of a compression": ({"B": Kin("branch", "X"), "X": Kin("compression", "A")}, "copy", PARKED),
    "compression of a branch": ({"B": Kin("compression", "X"), "X": Kin("branch", "A")}, "copy", PARKED),
    "unreadable": ({"B": UNREADABLE}, "unresolved", BOUND),
    "unreadable further up": ({"B": Kin("branch", "X"), "X": UNREADABLE}, "unresolved", BOUND),
    "in a circle": ({"B": Kin("branch", "X"), "X": Kin("branch", "B")}, "unresolved", BOUND),
    "too far": ({"B": Kin("branch", "0")} | {str(n): Kin("branch", str(n + 1)) for n in range(MOST_ANCESTORS)},
                "unresolved", BOUND),
}


@pytest.mark.parametrize("way", ["turn", "session"])
@pytest.mark.parametrize("case", LINEAGES)
def test_where_a_conversation_comes_from(case: str, way: str, world: World) -> None:
    kin, expected, origin = LINEAGES[case]
    begun = world.begin(ONE, "A", plans=(PLAN,), told=Told("c", "plan", "", "m"))
    world.kin |= kin
    found = getattr(world, way)(ONE, "B")
    check_what_b_got(expected, begun, found, world)
    kept = next(each for each in world.on_disk() if each.id == begun.id)
    assert (kept.holder is None) is (origin == PARKED)
    assert begun.id in world.waits_for("A") or origin == BOUND
    # Back in A, everything is as it was.
    again = world.turn(ONE, "A")
    assert isinstance(again, SessionRecord)
    assert (again.id, again.mode, again.unresolved, again.holder) == (begun.id, "plan", False, ONE)


def check_what_b_got(expected: str, begun: SessionRecord, found: SessionRecord | Damaged | None, world: World) -> None:
    if expected == "nothing":
        assert found is None
        assert world.speaks(ONE, "B") == []
        return
    assert isinstance(found, SessionRecord)
    assert found.mode == "plan"
    assert found.holder == ONE
    assert found.unresolved is (expected == "unresolved")
    assert found.id in world.speaks(ONE, "a child's")
    if expected == "copy":
        assert found.id != begun.id
        assert found.activation != begun.activation
        assert (found.copied, found.plans, found.told, found.since) == (True, begun.plans, begun.told, begun.since)
        assert world.waits_for("B") == [found.id]
    elif expected == "same":
        assert found.id == begun.id
        assert world.folder.hashed("id:A") in found.keys
        assert found.conversation == world.folder.hashed("id:B")
    else:
        assert (found.id, found.conversation) == (begun.id, begun.conversation)
        assert world.waits_for("B") == []


def test_until_a_turn_tells_the_stricter_holds(world: World) -> None:
    world.begin(ONE, "A", "code")
    parked = world.begin(TWO, "B", "plan")
    world.park(TWO)
    assert parked.id in world.speaks(ONE, "B")
    assert len(world.speaks(ONE, "B")) == 2


def test_resumed_to_a_conversation_with_a_record_of_its_own(world: World) -> None:
    other = world.begin(TWO, "B", "code")
    world.park(TWO)
    begun = world.begin(ONE, "A")
    found = world.turn(ONE, "B")
    assert isinstance(found, SessionRecord)
    assert (found.id, found.holder, found.mode) == (other.id, ONE, "code")
    assert found.owed == Owed(restored=True)
    back = world.turn(ONE, "A")
    assert isinstance(back, SessionRecord)
    assert (back.id, back.owed) == (begun.id, Owed(restored=True))
    assert {each.id for each in world.on_disk()} == {other.id, begun.id}


def test_a_branch_of_a_conversation_that_was_only_passed_through(world: World) -> None:
    """A is in code mode; /resume to X, which is in plan mode; /branch to B, and only then a turn."""
    world.begin(TWO, "X")
    world.park(TWO)
    world.begin(ONE, "A", "code")
    world.kin["B"] = Kin("branch", "X")
    found = world.turn(ONE, "B")
    assert isinstance(found, SessionRecord)
    assert (found.mode, found.copied) == ("plan", True)


def test_a_compression_of_a_conversation_that_was_parked(world: World) -> None:
    parked = world.begin(TWO, "X")
    world.park(TWO)
    world.kin["B"] = Kin("compression", "X")
    found = world.turn(ONE, "B")
    assert isinstance(found, SessionRecord)
    assert (found.id, found.owed.restored) == (parked.id, True)
    assert world.turn(ONE, "X") == replace(found, conversation=world.folder.hashed("id:X"))


def test_a_branch_has_its_own_from_then_on(world: World) -> None:
    world.begin(ONE, "A")
    world.kin["B"] = Kin("branch", "A")
    world.turn(ONE, "B")
    world.leave(ONE, "B")
    assert world.speaks(ONE, "child") == []
    assert len(world.waits_for("A")) == 1


def test_a_branch_never_takes_the_keys_of_its_origins_plans(world: World) -> None:
    begun = world.begin(ONE, "A")
    with world.arriving(ONE, "A") as (arrival, _):
        owned = arrival.session()
        assert isinstance(owned, Owned)
        arrival.save(owned, owned.record.with_plan(PLAN))
    world.kin["B"] = Kin("branch", "A")
    world.turn(ONE, "B")
    with world.arriving(ONE, "B") as (arrival, _):
        owned = arrival.session()
        assert isinstance(owned, Owned)
        arrival.save(owned, owned.record.with_plan(PlanFile("/w/.hermes/plans/b.md", "d", 2.0)))
        owned = arrival.session()
        assert isinstance(owned, Owned)
        arrival.save(owned, owned.record.without_plan(PLAN.path))
    owner = world.store.look_up(f"plan:{PLAN.path}")[0]
    assert isinstance(owner, SessionRecord)
    assert owner.id == begun.id
    assert world.store.look_up("plan:/w/.hermes/plans/b.md") != [owner]


@pytest.mark.parametrize("mode", ["code", None])
def test_a_branch_of_what_has_left(world: World, mode: str | None) -> None:
    world.begin(ONE, "A", "code")
    with world.arriving(ONE, "A") as (arrival, _):
        owned = arrival.session()
        assert isinstance(owned, Owned)
        arrival.save(owned, replace(owned.record, mode=mode, told=Told("c", "plan", "", "m")))
    world.kin["B"] = Kin("branch", "A")
    found = world.turn(ONE, "B")
    assert (found is None) is (mode is None)


def test_what_has_left_is_never_unresolved(world: World) -> None:
    """Else nothing could be turned on again before the next turn."""
    world.begin(ONE, "A", "code")
    with world.arriving(ONE, "A") as (arrival, _):
        owned = arrival.session()
        assert isinstance(owned, Owned)
        arrival.save(owned, replace(owned.record, mode=None, told=Told("c", "code", "", "m")))
    world.kin["B"] = UNREADABLE
    found = world.session(ONE, "B")
    assert isinstance(found, SessionRecord)
    assert not found.unresolved


# -- on before the first turn, then another conversation

@pytest.mark.parametrize(("kin", "follows"), [
    (FRESH, False),  # /new: the CLI told nobody, since there was no agent yet
    (NONE, True),  # /resume: the person wanted plan mode before the first prompt
    (UNREADABLE, True),
    (Kin("branch", "X"), True),
])
def test_another_conversation_before_the_first_turn(world: World, kin: Kin, follows: bool) -> None:
    world.kin |= {"A": FRESH, "B": kin}
    begun = world.begin(ONE, "A")
    found = world.turn(ONE, "B")
    if follows:
        assert isinstance(found, SessionRecord)
        assert (found.id, found.conversation) == (begun.id, world.folder.hashed("id:B"))
    else:
        assert found is None
        assert world.names("") == []


def test_a_conversation_that_has_a_record_already(world: World) -> None:
    world.kin["A"] = FRESH
    parked = world.begin(TWO, "B", "code")
    world.park(TWO)
    begun = world.begin(ONE, "A", "plan")
    found = world.turn(ONE, "B")
    assert isinstance(found, SessionRecord)
    assert found.id == begun.id
    assert set(parked.keys) - {world.folder.hashed(TWO.key)} <= set(found.keys)
    assert [each.id for each in world.on_disk()] == [begun.id]


# -- who else is there

# The process that has A's record -> whether another process finds it by the conversation.
HOLDERS: dict[str, tuple[ProcessId | None, bool | None, bool]] = {
    "nobody: it was parked": (None, None, True),
    "a process that runs": (TWO, True, False),
    "a process that was killed": (TWO, False, True),
    "the pid of another process now": (replace(TWO, start="2"), False, True),
    "another pid namespace": (ELSEWHERE, None, True),
    "this process": (ONE, True, True),
}


@pytest.mark.parametrize("case", HOLDERS)
def test_who_has_the_record(case: str, world: World) -> None:
    holder, alive, found = HOLDERS[case]
    if holder:
        world.alive[holder] = alive
    kept = world.begin(TWO, "A")
    with world.arriving(TWO, "A") as (arrival, _):
        owned = arrival.session()
        assert isinstance(owned, Owned)
        arrival.save(owned, replace(kept, holder=holder))
    assert (world.speaks(ONE, "A") == [kept.id]) is found
    arrived = world.turn(ONE, "A")
    assert (arrived is not None) is found
    if found:
        assert isinstance(arrived, SessionRecord)
        assert (arrived.id, arrived.holder, arrived.owed.restored) == (kept.id, ONE, holder != ONE)
        assert world.speaks(ONE, "child") == [kept.id]


def test_damage_speaks_whoever_has_it() -> None:
    assert selected(Damaged("p", "damaged"), ONE)


def test_two_processes_in_one_conversation_keep_apart(world: World) -> None:
    first = world.begin(ONE, "A", "plan")
    assert world.turn(TWO, "A") is None
    second = world.begin(TWO, "A", "code")
    assert world.turn(TWO, "A") == second
    assert world.speaks(TWO, "A") == [second.id]
    assert world.speaks(ONE, "A") == [first.id]
    world.leave(TWO, "A")
    assert world.speaks(ONE, "child") == [first.id]
    world.alive[ONE] = False
    assert world.speaks(TWO, "A") == [first.id]


def test_the_stricter_of_two_stays_when_one_process_ends(world: World) -> None:
    first = world.begin(ONE, "A", "plan")
    second = world.begin(TWO, "A", "code")
    world.park(ONE)
    merged = world.turn(TWO, "A")
    assert isinstance(merged, SessionRecord)
    assert (merged.id, merged.holder) == (first.id, TWO)
    assert [each.id for each in world.on_disk()] == [first.id]
    assert world.speaks(TWO, "child") == [first.id]
    assert second.id not in world.speaks(TWO, "A")


def test_a_record_without_its_conversations_key_gets_it_when_it_is_free(world: World) -> None:
    world.begin(ONE, "A")
    second = world.begin(TWO, "A")
    world.leave(ONE, "A")
    assert world.waits_for("A") == []
    world.park(TWO)
    assert world.waits_for("A") == [second.id]


# -- merging, parking, restoring, clearing

@pytest.mark.parametrize(("held", "named", "winner"), [
    ("plan", "code", "held"), ("code", "plan", "named"), ("plan", "plan", "held"), ("code", "code", "held"),
])
def test_of_two_that_meet_the_stricter_wins(held: str, named: str, winner: str, world: World) -> None:
    by_conversation = world.begin(TWO, "A", named)
    world.park(TWO)
    with world.arriving(ONE, "", create=True) as (arrival, _):
        by_process = arrival.begin(record(held)).record
    found = world.turn(ONE, "A")
    assert isinstance(found, SessionRecord)
    assert found.id == {"held": by_process.id, "named": by_conversation.id}[winner]
    assert world.speaks(ONE, "A") == [found.id]
    assert [each.id for each in world.on_disk()] == [found.id]
    assert world.turn(ONE, "A") == replace(found, owed=found.owed)


def test_a_merge_that_was_cut_short_heals(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.begin(TWO, "A", "plan")
    world.park(TWO)
    with world.arriving(ONE, "", create=True) as (arrival, _):
        arrival.begin(record("code"))
    real = Writer.put_key
    with monkeypatch.context() as patch:
        def fail(self: Writer, folder: Folder, hashed: str, record_id: str) -> None:
            raise StateError("p", "full")
        patch.setattr(Writer, "put_key", fail)
        with pytest.raises(StateError):
            world.turn(ONE, "A")
    assert Writer.put_key is real
    found = world.turn(ONE, "A")
    assert isinstance(found, SessionRecord)
    assert found.mode == "plan"
    assert world.speaks(ONE, "child") == [found.id]
    assert len(world.on_disk()) == 1


def test_parked_and_restored(world: World) -> None:
    begun = world.begin(ONE, "A")
    world.park(ONE)
    assert world.speaks(ONE, "") == []
    assert world.on_disk() == [replace(begun, holder=None, keys=(world.folder.hashed("id:A"),))]
    assert world.names(".key") == [f"{world.folder.hashed('id:A')}.key"]
    restored = world.turn(TWO, "A")
    assert isinstance(restored, SessionRecord)
    assert (restored.holder, restored.owed.restored) == (TWO, True)
    assert world.speaks(TWO, "child") == [begun.id]


def test_what_has_left_comes_back_without_a_word(world: World) -> None:
    world.begin(ONE, "A")
    with world.arriving(ONE, "A") as (arrival, _):
        owned = arrival.session()
        assert isinstance(owned, Owned)
        arrival.save(owned, replace(owned.record, mode=None, owed=Owed(approved="p")))
    world.park(ONE)
    found = world.turn(TWO, "A")
    assert isinstance(found, SessionRecord)
    assert found.owed == Owed(approved="p")


def test_parking_what_has_no_conversation_removes_it(world: World) -> None:
    world.kin["A"] = FRESH
    world.begin(ONE, "A")
    world.park(ONE)
    assert world.names("") == []


def test_killed_and_resumed_again_and_again(world: World) -> None:
    world.begin(ONE, "A")
    previous = ONE
    for pid in range(10, 30):
        world.alive[previous] = False
        previous = replace(ONE, pid=pid)
        world.alive[previous] = True
        found = world.turn(previous, "A")
        assert isinstance(found, SessionRecord)
        assert len(found.keys) == 2
        assert len(world.names("")) == 3


def test_a_server_takes_no_record_for_its_process(world: World) -> None:
    begun = world.begin(ONE, "A")
    world.park(ONE)
    found = world.session(None, "A")
    assert isinstance(found, SessionRecord)
    assert (found.id, found.holder, found.keys) == (begun.id, None, (world.folder.hashed("id:A"),))


def test_clearing_removes_everything_of_it_and_nothing_else(world: World) -> None:
    other = world.begin(TWO, "B")
    world.begin(ONE, "A")
    with world.arriving(ONE, "A") as (arrival, _):
        owned = arrival.session()
        assert isinstance(owned, Owned)
        owned = arrival.save(owned, owned.record.with_plan(PLAN))
        assert len(owned.record.keys) == 3
        assert arrival.clear(owned)
    assert [each.id for each in world.on_disk()] == [other.id]
    assert len(world.names(".key")) == 2


def test_clearing_that_fails_says_so_and_keeps_the_keys(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = world.begin(ONE, "A")
    monkeypatch.setattr(store, "remove", lambda path: False)
    with world.arriving(ONE, "A") as (arrival, _):
        owned = arrival.session()
        assert isinstance(owned, Owned)
        assert not arrival.clear(owned)
    assert world.speaks(ONE, "A") == [begun.id]


def test_the_keys_of_plans(world: World) -> None:
    begun = world.begin(ONE, "A")
    second = PlanFile("/w/.hermes/plans/q.md", "d", 2.0)
    with world.arriving(ONE, "A") as (arrival, _):
        owned = arrival.session()
        assert isinstance(owned, Owned)
        owned = arrival.save(owned, owned.record.with_plan(PLAN).with_plan(second))
        assert [each.id for each in world.store.look_up(f"plan:{PLAN.path}") if isinstance(each, SessionRecord)] == [begun.id]
        owned = arrival.save(owned, owned.record.without_plan(PLAN.path))
    assert world.store.look_up(f"plan:{PLAN.path}") == []
    assert world.store.look_up(f"plan:{second.path}") == [owned.record]
    assert set(owned.record.keys) == {*begun.keys, world.folder.hashed(f"plan:{second.path}")}


def test_recorded_asks_nobodys_lineage(world: World) -> None:
    begun = world.begin(ONE, "A")
    with world.arriving(None, "child of nobody") as (arrival, _):
        owned = arrival.recorded(begun.id)
        assert owned
        assert owned.record == begun
        assert arrival.recorded("0" * 16) is None


# -- what concerns a conversation of which nothing is known, without the lock

@pytest.mark.parametrize(("kin", "nearest", "certain"), [
    ({}, "", True),
    ({"B": Kin("branch", "A")}, "A", True),
    ({"B": Kin("compression", "X"), "X": Kin("branch", "A")}, "A", True),
    ({"B": Kin("branch", "A", begun=99.0)}, "", True),
    ({"B": Kin("reset", "A")}, "", True),
    ({"B": UNREADABLE}, "", False),
    ({"B": Kin("unreadable", "A")}, "A", False),
    ({"B": Kin("branch", "X"), "X": UNREADABLE}, "", False),
    ({"B": Kin("branch", "B")}, "", False),
])
def test_kindred(kin: dict[str, Kin], nearest: str, certain: bool, world: World) -> None:
    world.begin(ONE, "A")
    world.kin |= kin
    with world.arriving(TWO, "x"):  # somebody holds the lock
        assert kindred(world.store, "B", lambda each: world.kin.get(each, NONE)) == Kindred(nearest, certain)


def test_nobody_is_asked_while_there_is_no_record(world: World) -> None:
    def ask(conversation: str) -> Kin:
        raise AssertionError(f"{conversation} was looked up")
    with world.store.writing() as writer:
        assert Arrival(writer, Place(ONE, "A"), ask, lambda found: 0).session() is None


def test_keys_of_a_place() -> None:
    assert Place(ONE, "A").keys == (ONE.key, "id:A")
    assert Place(None, "A").keys == ("id:A",)
    assert Place(ONE, "").keys == (ONE.key,)
    assert Place(None, "").keys == ()


# -- damage

def spoil(world: World, name: str) -> None:
    Path(world.folder.path, name).write_text("spoilt")


@pytest.mark.parametrize("what", ["record", "process key", "conversation key"])
def test_damage_is_handed_back_and_can_be_cleared(what: str, world: World) -> None:
    other = world.begin(TWO, "B")
    begun = world.begin(ONE, "A")
    spoil(world, {"record": f"{begun.id}.json", "process key": f"{world.folder.hashed(ONE.key)}.key",
                  "conversation key": f"{world.folder.hashed('id:A')}.key"}[what])
    assert isinstance(world.session(ONE, "A"), Damaged)
    assert isinstance(world.turn(ONE, "A"), Damaged)
    assert "damaged" in world.speaks(ONE, "A")
    with world.arriving(ONE, "A") as (arrival, _):
        assert arrival.clear_damage()
    left = world.session(ONE, "A")
    # What isn't damaged stays, and can be left as any session.
    assert left is None if what == "record" else isinstance(left, SessionRecord) and left.id == begun.id
    assert world.session(TWO, "B") == other


def test_damage_that_cant_be_removed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = world.begin(ONE, "A")
    spoil(world, f"{begun.id}.json")
    monkeypatch.setattr(store, "remove", lambda path: False)
    with world.arriving(ONE, "A") as (arrival, _):
        assert not arrival.clear_damage()


def test_a_folder_in_place_of_a_record_frees_with_its_keys(world: World) -> None:
    begun = world.begin(ONE, "A")
    path = Path(world.folder.record_path(begun.id))
    path.unlink()
    path.mkdir()
    with world.arriving(ONE, "A") as (arrival, _):
        assert arrival.clear_damage()
        assert arrival.session() is None


def test_two_folders_the_stricter_wins(world: World) -> None:
    world.begin(ONE, "A", "code")
    second = Folder(os.path.join(os.path.dirname(world.folder.path), "sessions-" + "0" * 32), b"0" * 32)
    os.mkdir(second.path)
    strict = record("plan", holder=ONE, conversation=second.hashed("id:A"), keys=(second.hashed(ONE.key), second.hashed("id:A")))
    with world.store.writing() as writer:
        writer.put_record(second, strict)
        for key in strict.keys:
            writer.put_key(second, key, strict.id)
    assert world.session(ONE, "A") == strict
    assert strict.id in world.speaks(ONE, "A")


# -- expiry

def test_sweep(world: World) -> None:
    now = time.time()
    names = ["live and old", "parked", "parked and old", "killed", "killed and old", "cut short", "elsewhere and old",
             "elsewhere"]
    ids = {}
    for number, name in enumerate(names):
        process = replace(ONE, pid=number + 10)
        world.alive[process] = True
        ids[name] = world.begin(process, f"A{number}").id
        if "parked" in name:
            world.park(process)
        elif "killed" in name or "cut" in name:
            world.alive[process] = False
        elif "elsewhere" in name:
            world.alive[process] = None
        if "cut short" in name:
            with world.store.writing() as writer:
                writer.drop_key(writer.folder, world.folder.hashed(f"id:A{number}"))
        if "old" in name:
            os.utime(world.folder.record_path(ids[name]), (now - 1000, now - 1000))
    Path(world.folder.path, "x.json.12.tmp").write_text("half")
    Path(world.folder.path, "damaged.json").write_text("half")
    with world.store.writing() as writer:
        assert sweep(writer, now - 500) == 5  # with what is damaged, which only its person removes
    assert {each.id for each in world.on_disk()} == {ids[name] for name in ("live and old", "parked", "killed", "elsewhere")}
    assert world.names(".tmp") == []
    assert all(world.store.look_up(f"id:A{number}") for number in (0, 1, 3, 7))
    assert len(world.names(".key")) == 2 + 1 + 2 + 2


def test_sweep_of_what_the_host_no_longer_lists(world: World) -> None:
    told = Told("c", "plan", "", "m")
    kept, gone = world.begin(ONE, "A", told=told), world.begin(TWO, "B", told=told)
    for process in (ONE, TWO):
        world.park(process)
    with world.store.writing() as writer:
        assert sweep(writer, 0.0, lambda folder: None) == 2
        assert sweep(writer, 0.0, lambda folder: frozenset({folder.hashed("id:A")})) == 1
    assert [each.id for each in world.on_disk()] == [kept.id]
    assert gone.id != kept.id


def test_sweep_takes_nothing_whose_first_turn_is_still_to_come(world: World) -> None:
    """A chat's conversation isn't known before it, and the host lists a tab's only from it on."""
    waiting = [world.begin_named("", "sk:chat"), world.begin_named("K", "sk:K")]
    with world.store.writing() as writer:
        assert sweep(writer, 0.0, lambda folder: frozenset()) == 2
    assert {each.id for each in world.on_disk()} == {each.id for each in waiting}


def test_a_sweep_of_a_few_gets_through_all_in_the_end(world: World) -> None:
    """And takes what is old at once, and unfinished files."""
    for number in range(30):
        process = replace(ONE, pid=number + 10)
        world.alive[process] = False
        world.kin[f"A{number}"] = FRESH
        begun = world.begin(process, f"A{number}")
        os.utime(world.folder.record_path(begun.id), (100, 100) if number < 5 else None)
    kept = world.begin(ONE, "A")
    Path(world.folder.path, "x.json.12.tmp").write_text("half")
    with world.store.writing() as writer:
        left = sweep(writer, 200.0, most=3)
        assert 31 - 5 - 3 <= left <= 31 - 5
        assert left == len(world.on_disk())
        assert world.names(".tmp") == []
        for _ in range(1000):
            left = sweep(writer, 200.0, most=3)
    assert [each.id for each in world.on_disk()] == [kept.id]
    assert left == 1
    assert len(world.names(".key")) == 2


def test_sweep_takes_nothing_from_a_process_that_just_began(world: World) -> None:
    world.kin |= {"A": FRESH, "B": FRESH}
    world.begin(ONE, "A")
    world.begin(ELSEWHERE, "B")
    with world.store.writing() as writer:
        assert sweep(writer, time.time() - 500) == 2
    world.alive[ONE] = False
    with world.store.writing() as writer:
        assert sweep(writer, time.time() - 500) == 1
