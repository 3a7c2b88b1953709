"""How did a conversation come from another? Read from the host's session store, by kind."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

from .seams import seam

_ALL: Final = 1_000_000


def parentage(session_id: str) -> tuple[str, str, bool, float]:
    """(kind, parent id, fresh, begun) of a conversation. Never raises.

    Kind is "compression" (it continues its parent), "branch", "delegate", "reset", "none", or "unreadable". ``fresh``:
    it has no parent, and the store holds no message of it yet. ``begun``: seconds since the epoch, 0 if unknown.
    """
    try:
        with _session_store() as store:
            row = store.get_session(session_id)
            if row is None:
                return "none", "", True, 0.0
            parent = row.get("parent_session_id") or ""
            if not parent:
                return "none", "", not row.get("message_count"), 0.0
            return _kind(row, store.get_session(parent)), str(parent), False, float(row.get("started_at") or 0.0)
    except Exception:  # no store, another schema, a locked or broken database
        return "unreadable", "", False, 0.0


def all_conversations() -> list[str] | None:
    """The ids of all conversations that the host has; None where it doesn't say. Reads the whole store."""
    try:
        with _session_store() as store:
            return [row["id"] for row in store.search_sessions(limit=_ALL)] or None
    except Exception:  # as above
        return None


@contextmanager
def _session_store() -> Iterator[Any]:
    open_store = seam("session_store")
    try:
        store = open_store(read_only=True)
    except Exception:  # this host knows no such way, or has no store yet
        store = open_store()
    try:
        yield store
    finally:
        with suppress(Exception):
            store.close()


def _kind(row: Mapping[str, Any], parent: Mapping[str, Any] | None) -> str:
    config = row.get("model_config") or {}
    marks = json.loads(config) if isinstance(config, str) else config
    if marks.get("_branched_from"):
        return "branch"
    if marks.get("_delegate_from"):
        return "delegate"
    if marks.get("_reset_from"):
        return "reset"
    ended = (parent or {}).get("end_reason")
    return {"compression": "compression", "branched": "branch"}.get(str(ended), "reset" if ended else "unreadable")
