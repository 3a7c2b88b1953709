"""A record is read back as it was written, or it is damaged: every byte of it, and of a key file, counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from plan_mode.state.process import ProcessId
from plan_mode.state.record import (
    MOST_PLANS,
    VERSION,
    Damaged,
    Owed,
    PlanFile,
    SessionRecord,
    Told,
    blank,
    checksum,
    from_text,
    is_id,
    new_id,
    to_text,
)
from plan_mode.state.store import Store

FULL = SessionRecord(
    id="0123456789abcdef", mode="plan", activation="fedcba9876543210", since=1767225600.25, previous="code",
    plan_root="/w/.hermes/plans", remote_files=True,
    plans=(PlanFile("/w/.hermes/plans/ä\u202e\udc80.md", "d" * 64, 1.5), PlanFile("/w/.hermes/plans/b.md", "", 2.5)),
    owed=Owed("bau \U0001f3d7 es\n\ttwice", "nicht \x1b[31mso\ud800", "/w/.hermes/plans/b.md", True),
    told=Told("c" * 32, "plan", "/w/.hermes/plans", "abcdef"), lockdown="changed", unresolved=True, conversation="c" * 32,
    begun_in="e" * 32, keys=("a" * 32, "c" * 32), holder=ProcessId(7, "1", "boot", "pid:[1]"), copied=True,
    owner="f" * 32, project="/w", by_default=True, pin="d" * 32, previous_pin="b" * 32,
)
RECORDS = {"full": FULL, "blank": blank(), "left": replace(blank(), told=Told("c" * 32, "plan", "", "abcdef"))}


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_read_back_as_written(record: SessionRecord) -> None:
    assert from_text(to_text(record), "p") == record
    assert to_text(record).isascii()
    assert to_text(record).count("\n") == 2


def test_every_field_is_looked_at() -> None:
    """Else the test above would prove little."""
    assert not [field.name for field in fields(FULL) if getattr(FULL, field.name) == getattr(blank(), field.name)]


# What damage makes of the bytes of a file; each is tried at every position.
DAMAGE: dict[str, Callable[[bytes, int], bytes]] = {
    "lowest bit flipped": lambda data, at: data[:at] + bytes([data[at] ^ 1]) + data[at + 1:],
    "highest bit flipped": lambda data, at: data[:at] + bytes([data[at] ^ 128]) + data[at + 1:],
    "all bits flipped": lambda data, at: data[:at] + bytes([data[at] ^ 255]) + data[at + 1:],
    "zeroed": lambda data, at: data[:at] + b"\0" + data[at + 1:],
    "cut off": lambda data, at: data[:at],
    "byte lost": lambda data, at: data[:at] + data[at + 1:],
    "byte doubled": lambda data, at: data[:at] + data[at: at + 1] + data[at:],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_every_byte_of_a_record(damage: Callable[[bytes, int], bytes]) -> None:
    data = to_text(FULL).encode()
    for at in range(len(data)):
        damaged = damage(data, at)
        assert damaged != data
        assert from_text(damaged.decode("utf-8", "replace"), "p") == Damaged("p", "damaged")


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_every_byte_of_a_key_file(damage: Callable[[bytes, int], bytes], tmp_path: Path) -> None:
    store = Store(lambda: str(tmp_path))
    with store.writing(create=True) as writer:
        writer.put_record(writer.folder, FULL)
        writer.put_key(writer.folder, writer.folder.hashed("k"), FULL.id)
    path = Path(writer.folder.key_path(writer.folder.hashed("k")))
    data = path.read_bytes()
    assert store.look_up("k") == [FULL]
    for at in range(len(data)):
        path.write_bytes(damage(data, at))
        assert store.look_up("k") == [Damaged(str(path), "damaged")]
    path.write_bytes(data)
    assert store.look_up("k") == [FULL]


def with_checksum(body: str) -> str:
    return f"{body}\n{checksum(body)}\n"


def with_field(name: str, value: Any) -> str:
    return with_checksum(json.dumps(json.loads(to_text(FULL).split("\n")[0]) | {name: value}))


@pytest.mark.parametrize("text", [
    "", "\n", "\n\n", "\n\n\n", "null", with_checksum(""), with_checksum("null"), with_checksum("[]"), with_checksum("{}"),
    with_checksum("1" * 5000), with_checksum("[" * 100_000), with_checksum('{"version": 1}'), with_checksum("\ud800"),
    with_field("plans", None), with_field("plans", [1]), with_field("plans", [{"path": "p"}]), with_field("owed", None),
    with_field("told", {"mark": 1}), with_field("holder", "x"), with_field("keys", 3), with_field("unknown", 1),
], ids=lambda text: text[:20])
def test_what_no_record_is(text: str) -> None:
    assert from_text(text, "p") == Damaged("p", "damaged")


@pytest.mark.parametrize("version", [0, VERSION + 1, "1", None, [1]])
def test_another_version(version: Any) -> None:
    found = from_text(with_field("version", version), "p")
    assert found == Damaged("p", "newer")


def test_the_reasons_name_the_file() -> None:
    assert Damaged("/s/p.json", "damaged").reason == "this session's state file /s/p.json is damaged"
    assert Damaged("/s/p.json", "newer").reason == "this session's state file /s/p.json was written by a newer plan-mode"


def test_ids() -> None:
    assert is_id(new_id())
    assert new_id() != new_id()
    for text in ("", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", "0123456789abcdef\n", "../../../../etcd"):
        assert not is_id(text)


def test_the_oldest_plans_go() -> None:
    record = blank()
    for number in range(MOST_PLANS + 3):
        record = record.with_plan(PlanFile(f"/p/{number}", "d", float(number)))
    assert [plan.path for plan in record.plans] == [f"/p/{number}" for number in range(3, MOST_PLANS + 3)]


def test_a_plan_that_is_written_again_is_the_newest() -> None:
    record = replace(blank(), plans=(PlanFile("/a", "1", 1.0), PlanFile("/b", "2", 2.0)))
    assert record.with_plan(PlanFile("/a", "3", 3.0)).plans == (PlanFile("/b", "2", 2.0), PlanFile("/a", "3", 3.0))
    assert record.without_plan("/a").plans == (PlanFile("/b", "2", 2.0),)
    assert record.plan_at("/b") == PlanFile("/b", "2", 2.0)
    assert record.plan_at("/c") is None
