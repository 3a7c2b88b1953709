"""Commands that reach the model in place of their handler, and Hermes' own /plan.

A chat hands a command that is sent while a turn runs to the running turn, or to the next one, as plain text; some
surfaces hand on no commands at all. Only what narrows is applied from here: text may come from anywhere.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from .. import entry, notices
from ..controller import Desk
from ..errors import PlanModeError
from ..host import prompts
from ..text import one_line
from ..whereabouts import Here
from .quiet import quiet

_COMMAND: Final = re.compile(r"/(planmode|mode)(?:@\S+)?(?:\s+(\S+)(?:\s+(.*))?)?\Z", re.S)
_NARROWING: Final = frozenset({("planmode", "on"), ("mode", "plan")})
_MOST_OF_A_COMMAND: Final = 80


@dataclass(frozen=True, slots=True)
class Typed:
    """A command as a person typed it; ``task`` is what follows the verb."""

    text: str
    narrows: bool
    task: str = ""


def command_in(text: object) -> Typed | None:
    """The command that a whole message consists of, bare or in the host's frame for messages to a running turn."""
    bare = prompts.unframed(text).strip() if isinstance(text, str) else ""
    found = _COMMAND.match(bare)
    if found is None:
        return None
    verb = (found[2] or "").lower()
    return Typed(one_line(bare, _MOST_OF_A_COMMAND), (found[1], verb) in _NARROWING, (found[3] or "").strip())


class Overheard:
    """What turns say to plan-mode: asked by ``pre_llm_call``, and itself the callback of ``llm_request`` and
    ``transform_llm_output``."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def in_message(self, here: Here, user_message: object) -> str:
        """What the model must read of a command in the turn's own message, beside the notice of a mode that it entered."""
        self._desk.memory.heard.pop(here.place.conversation, None)
        typed = command_in(user_message)
        if typed is not None:
            return self._obey(here, typed)
        if prompts.is_builtin_plan(user_message) and self._desk.settings().enforce_builtin_plan:
            return self._enter(here, "", "/plan")
        return ""

    def _notice_given(self, conversation: str, request: Any) -> None:
        """A notice in the result of a tool was read once a request has brought it to the model."""
        memory = self._desk.memory
        mark = memory.awaited.get(conversation)
        if mark is not None and mark in repr(request):
            memory.awaited.pop(conversation, None)
            memory.keep(memory.given, mark)

    @quiet
    def llm_request(self, request: Any = None, session_id: Any = "", **_: Any) -> dict[str, Any] | None:
        """A command among the messages that came while the turn ran, once. Never raises; without one nothing is changed."""
        conversation = session_id if isinstance(session_id, str) else ""
        self._notice_given(conversation, request)
        row, typed = _newest_words(request)
        if row is None or typed is None or not self._is_new(conversation, request, typed):
            return None
        here = self._desk.where.here_of(self._desk.where.surface(), conversation)
        said = self._obey(here, typed) or notices.reminder(self._desk.judge.standing(here.place))
        _append(row, said)
        return {"request": request}

    @quiet
    def transform_llm_output(self, response_text: Any = "", session_id: Any = "", **_: Any) -> str | None:
        """The answer, with what the person must read below it; None where there is nothing. Never raises."""
        unsaid = self._desk.memory.unsaid.pop(session_id, "") if isinstance(session_id, str) else ""
        return f"{response_text}\n\n{unsaid}" if unsaid and isinstance(response_text, str) else None

    def _is_new(self, conversation: str, request: Mapping[str, Any], typed: Typed) -> bool:
        """Whether this turn hasn't read it yet: each later request of the turn holds the same message again."""
        heard = self._desk.memory.heard
        digest = hashlib.sha256(f"{len(_rows(request))}\0{typed.text}".encode("utf-8", "surrogatepass")).hexdigest()
        if heard.get(conversation) == digest:
            return False
        self._desk.memory.keep(heard, conversation, digest)
        return True

    def _obey(self, here: Here, typed: Typed) -> str:
        if typed.narrows:
            return self._enter(here, typed.task, typed.text)
        if here.refusal is not None:
            return self._tell(here, f"{typed.text!r} was not carried out. {here.refusal.reason} {here.refusal.hint}")
        return self._tell(here, f"{typed.text!r} was not carried out, because it was sent while a turn was running. "
                                "Send it again now.")

    def _enter(self, here: Here, task: str, what: str) -> str:
        try:
            entry.enter_plan(self._desk, here, task)
        except PlanModeError as exc:
            return self._tell(here, f"{what!r} did not turn plan mode on, and nothing is enforced. {exc}")
        return ""

    def _tell(self, here: Here, text: str) -> str:
        """Let the person read it below the answer, and the model now."""
        self._desk.memory.keep(self._desk.memory.unsaid, here.place.conversation, f"[plan-mode] {text}")
        return f"[plan-mode] {text} Tell the user so."


def _rows(request: object) -> list[Any]:
    if not isinstance(request, Mapping):
        return []
    rows = request.get("messages") or request.get("input")
    return rows if isinstance(rows, list) else []


def _newest_words(request: object) -> tuple[dict[str, Any] | None, Typed | None]:
    """The newest row after the last one of the assistant in which a person speaks, and the command it consists of.

    An older host appends a person's words to a tool's result, where nothing tells them from the tool's own: they are
    answered, and never obeyed.
    """
    rows = _rows(request)
    if not any(_is_of_assistant(row) for row in rows):
        return None, None
    for row in reversed(rows):
        if _is_of_assistant(row):
            break
        if not isinstance(row, dict) or not _text_of(row):
            continue
        if row.get("role") == "user":
            return row, command_in(_text_of(row))
        typed = command_in(prompts.appended(_text_of(row))) if row.get("role") == "tool" else None
        if typed is not None:
            return row, replace(typed, narrows=False)
    return None, None


def _is_of_assistant(row: object) -> bool:
    return isinstance(row, Mapping) and (row.get("role") == "assistant" or row.get("type") == "function_call")


def _text_of(row: Mapping[str, Any]) -> str:
    """The last text of a row."""
    texts = [text for text in texts_of(row.get("content")) if text.strip()]
    return texts[-1] if texts else ""


def texts_of(content: object) -> Iterator[str]:
    """The texts of a message's content, which is a text or a list of parts."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        yield from (part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str))


def _append(row: dict[str, Any], said: str) -> None:
    content = row.get("content")
    if not said:
        return
    if isinstance(content, str):
        row["content"] = f"{content}\n\n{said}"
    elif isinstance(content, list):
        last = max(i for i, part in enumerate(content) if isinstance(part, Mapping) and isinstance(part.get("text"), str))
        content[last] = {**content[last], "text": f"{content[last]['text']}\n\n{said}"}
