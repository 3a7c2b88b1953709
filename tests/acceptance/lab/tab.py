"""A session of tui_gateway, the back end that the Ink TUI and the Desktop app share.

    tab = lab.tui(home).tab()                      # or lab.desktop(home).window().tab()
    tab.cmd("/planmode on")                        # -> what the person sees
    tab.cmd("/planmode on", how="dispatch")        # by command.dispatch instead of slash.exec
    tab.turn("script")                             # -> the model's last words
    tab.turn("script", approve="once")             # answers each approval in it: once, session, deny, ...
    tab.submit("please #S:script")                 # doesn't wait; then tab.approval(), tab.wait_idle()
    tab.stored_id, tab.runtime_id                  # HERMES_SESSION_KEY, and the id in this process
    tab.branch() ; backend.resume(tab.stored_id)   # -> another Tab
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from .approvals import Approval, Approvals
from .home import Home
from .rpc import Question, Rpc, RpcError
from .scripted_model import ScriptedModel, last_words

_COLUMNS = 120


class Backend:
    """What a TUI process and a Desktop window have in common: they open tabs."""

    def __init__(self, home: Home, model: ScriptedModel, rpc: Rpc) -> None:
        self.home, self.model, self.rpc = home, model, rpc

    def tab(self, *, cwd: Path | None = None, profile: str | None = None, source: str | None = None) -> Tab:
        """Begin a session in ``cwd`` (the project), of a profile of this home, from a named client."""
        asked = {"cols": _COLUMNS, "cwd": str(cwd or self.home.work), "profile": profile, "source": source}
        made = self.rpc.call("session.create", {name: value for name, value in asked.items() if value})
        return Tab(self, made["session_id"], made["stored_session_id"], profile)

    def resume(self, stored_id: str, *, profile: str | None = None) -> Tab:
        """Take up a stored session."""
        asked = {"session_id": stored_id, "cols": _COLUMNS, "profile": profile}
        made = self.rpc.call("session.resume", {name: value for name, value in asked.items() if value})
        return Tab(self, made["session_id"], stored_id, profile)

    def live(self) -> dict[str, Mapping[str, Any]]:
        """Return what the process says of its sessions, by runtime id."""
        return {item["id"]: item for item in self.rpc.call("session.active_list")["sessions"]}


class Tab:
    """One open session. ``stored_id`` is its key on disk, ``runtime_id`` its name in this process."""

    def __init__(self, backend: Backend, runtime_id: str, stored_id: str, profile: str | None) -> None:
        self.runtime_id, self.stored_id, self.profile = runtime_id, stored_id, profile
        self._backend, self._rpc = backend, backend.rpc
        self._approvals = Approvals(self._asked)

    def call(self, method: str, seconds: float = 60.0, **params: Any) -> dict[str, Any]:
        """Make a call about this session; raises RpcError if it is refused."""
        return self._rpc.call(method, {"session_id": self.runtime_id, **params}, seconds)

    def cmd(self, text: str, *, how: Literal["exec", "dispatch"] = "exec", seconds: float = 60.0) -> str:
        """Give a slash command; return what the person sees, a refusal included."""
        name, _, argument = text.removeprefix("/").partition(" ")
        try:
            if how == "exec":
                result = self.call("slash.exec", seconds, command=text)
            else:
                result = self.call("command.dispatch", seconds, name=name, arg=argument)
        except RpcError as error:
            return error.text
        shown = (str(result[key]) for key in ("output", "message", "warning") if result.get(key))
        return "\n".join(shown)

    def submit(self, text: str) -> None:
        """Send a message; while a turn runs, the host decides what becomes of it."""
        self.call("prompt.submit", text=text)

    def turn(
        self, script: str, text: str = "please", *, approve: str | None = None, seconds: float = 90.0
    ) -> str:
        """Send a message that makes the model play a script; return what it says at the end.

        ``approve`` is the answer to every approval on the way.
        """
        before = len(self.answers())
        self.submit(f"{text} #S:{script}")

        def over() -> str:
            self._approvals.answer_all(approve)
            return next((t for t in self.answers()[before:] if last_words(script) in t), "")

        answer = self._rpc.wait_until(over, seconds, f"end of turn {script!r}")
        self.wait_idle()
        return answer

    def wait_idle(self, seconds: float = 60.0) -> None:
        """Wait until no turn runs: a message sent earlier would be taken for an interruption."""

        def idle() -> bool:
            return bool(self._backend.live()[self.runtime_id]["status"] == "idle")

        self._rpc.wait_until(idle, seconds, "end of the turn")

    def answers(self) -> list[str]:
        """Return the texts that ended turns so far."""
        return [str(event.get("text") or "") for event in self.events("message.complete")]

    def events(self, kind: str) -> list[Mapping[str, Any]]:
        """Return the payloads of one kind of event of this session so far."""
        mine = [notice.params for notice in list(self._rpc.notices) if notice.method == "event"]
        return [
            event.get("payload") or {}
            for event in mine
            if event.get("type") == kind and event.get("session_id") == self.runtime_id
        ]

    def approval(self, seconds: float = 60.0) -> Approval:
        """Wait for the next approval that this session asks for."""
        approval = self._rpc.wait_until(self._approvals.next, seconds, "approval")
        assert approval
        return approval

    def branch(self, name: str = "") -> Tab:
        """Branch off a session with the same history; it needs one."""
        made = self.call("session.branch", name=name)
        runtime_id = str(made["session_id"])
        stored_id = made.get("stored_session_id") or self._backend.live()[runtime_id]["session_key"]
        return Tab(self._backend, runtime_id, stored_id, self.profile)

    def close(self) -> None:
        """End the session in this process; it stays on disk."""
        self.call("session.close")

    def _asked(self) -> list[Approval]:
        """Return what was asked so far: by a call on 0.22, by an event on 0.19."""
        questions = [
            question
            for question in list(self._rpc.questions)
            if question.method == "approval" and question.params.get("session_id") == self.runtime_id
        ]
        return [
            *(_approval(question.params, _answerer(question)) for question in questions),
            *(_approval(event, self._respond) for event in self.events("approval.request")),
        ]

    def _respond(self, choice: str) -> None:
        self.call("approval.respond", choice=choice)


def _answerer(question: Question) -> Callable[[str], None]:
    return lambda choice: question.answer({"choice": choice})


def _approval(asked: Mapping[str, Any], answer: Callable[[str], object]) -> Approval:
    text = "\n".join(str(asked[key]) for key in ("description", "command") if asked.get(key))
    return Approval(text, tuple(asked.get("choices") or ()), answer)
