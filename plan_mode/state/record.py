"""SessionRecord: what is stored for one session, and its one JSON form.

Text of people and the agent is bounded before it gets here. A record is written whole, with a checksum over all of
it: it is read back as it was written, or it is damaged.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from .process import ProcessId

VERSION: Final = 1
MOST_PLANS: Final = 64
MOST_BYTES: Final = 256 * 1024

_ID: Final = re.compile(r"[0-9a-f]{16}\Z")


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan file of this session. ``digest`` is the reference: what the person last saw or the agent last wrote.

    ``revision`` counts the texts of it that were submitted, ``submitted`` is the digest of the last one, and ``declined``
    that of the last one that a person declined.
    """

    path: str
    digest: str
    written: float
    revision: int = 0
    submitted: str = ""
    declined: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """What the model was last told: in which conversation, which mode ("" is none), which plan directory.

    ``mark`` is a word of that notice by which it is found again in the conversation.
    """

    conversation: str
    slug: str
    plan_root: str
    mark: str
    pin: str = ""


@dataclass(frozen=True, slots=True)
class Owed:
    """Text owed once to the session's own conversation, beside the notice of a changed mode.

    ``said`` is the mark of a notice that a tool's result has given already, "" without one: nothing is owed any more once
    the conversation is seen to hold it.
    """

    task: str = ""
    feedback: str = ""
    approved: str = ""
    restored: bool = False
    said: str = ""


NOTHING: Final = Owed()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """One session. ``mode`` None: it has left, and the record only waits for its last notice to be taken.

    ``conversation`` is the hashed key of the conversation it was last seen in (empty before the first turn),
    ``begun_in`` that of the one in which it was turned on; ``keys`` are all its key files; ``holder`` is the live
    classic CLI that has it, None when parked; ``since`` is in seconds since the epoch; ``copied`` from another
    session's at a branch; ``owner`` is the hashed user who turned it on, empty where the surface knows of no users;
    ``project`` is the root of the project, as it was when the mode was turned on; ``by_default``: no person has ever decided
    anything here; ``pin`` names the definition of the mode as it was chosen, "" for a built-in one,
    and ``previous_pin`` that of the mode before.
    """

    id: str
    mode: str | None
    activation: str
    since: float
    previous: str | None = None
    plan_root: str = ""
    remote_files: bool = False
    plans: tuple[PlanFile, ...] = ()
    owed: Owed = NOTHING
    told: Told | None = None
    lockdown: str = ""
    unresolved: bool = False
    conversation: str = ""
    begun_in: str = ""
    keys: tuple[str, ...] = ()
    holder: ProcessId | None = None
    copied: bool = False
    owner: str = ""
    project: str = ""
    by_default: bool = False
    pin: str = ""
    previous_pin: str = ""

    def plan_at(self, path: str) -> PlanFile | None:
        return next((plan for plan in self.plans if plan.path == path), None)

    def with_plan(self, plan: PlanFile) -> SessionRecord:
        """The record with this plan file as its newest; the oldest go when there are too many."""
        others = tuple(p for p in self.plans if p.path != plan.path)
        before = self.plan_at(plan.path)
        if before is not None:  # what people were shown of it, and said to it, stays
            plan = replace(plan, revision=before.revision, submitted=before.submitted, declined=before.declined)
        return replace(self, plans=(*others, plan)[-MOST_PLANS:])

    def without_plan(self, path: str) -> SessionRecord:
        return replace(self, plans=tuple(p for p in self.plans if p.path != path))


@dataclass(frozen=True, slots=True)
class Damaged:
    """A key or a record that can't be read. ``kind`` "newer" is one of a later version of this plugin."""

    path: str
    kind: Literal["damaged", "newer"]

    @property
    def is_record(self) -> bool:
        """Whether it is a session that can't be read, and not only a key that would lead to one."""
        return self.path.endswith(".json")

    @property
    def reason(self) -> str:
        what = "was written by a newer plan-mode" if self.kind == "newer" else "is damaged"
        return f"this session's state file {self.path} {what}"


def new_id() -> str:
    """A fresh record id or activation: 16 hexadecimal digits."""
    return secrets.token_hex(8)


def blank() -> SessionRecord:
    """The record of a session that isn't in a mode and never was."""
    return SessionRecord(id=new_id(), mode=None, activation="", since=0.0)


def activation_of(record: SessionRecord | None) -> str:
    """What tells this stay in a mode from every other one; "" outside of modes."""
    return record.activation if record is not None and record.mode is not None else ""


def is_id(text: str) -> bool:
    return _ID.match(text) is not None


def checksum(body: str) -> str:
    return hashlib.blake2b(body.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def to_text(record: SessionRecord) -> str:
    """One line of JSON, then its checksum."""
    body = json.dumps({"version": VERSION, **asdict(record)}, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return f"{body}\n{checksum(body)}\n"


def from_text(text: str, path: str) -> SessionRecord | Damaged:
    """Read ``to_text`` back. Never raises: anything else is ``Damaged``, and says so with ``path``."""
    lines = text.split("\n")
    if len(lines) != 3 or lines[2] or checksum(lines[0]) != lines[1]:
        return Damaged(path, "damaged")
    try:
        data = json.loads(lines[0])
        if data.pop("version") != VERSION:
            return Damaged(path, "newer")
        return _from_json(data)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Damaged(path, "damaged")


def _from_json(data: dict[str, Any]) -> SessionRecord:
    data["plans"] = tuple(PlanFile(**plan) for plan in data["plans"])
    data["owed"] = Owed(**data["owed"])
    data["told"] = Told(**data["told"]) if data["told"] else None
    data["holder"] = ProcessId(**data["holder"]) if data["holder"] else None
    data["keys"] = tuple(data["keys"])
    return SessionRecord(**data)
