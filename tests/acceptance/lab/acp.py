"""The Agent Client Protocol, `hermes acp`, as an editor speaks it. It takes no plugin's slash commands.

    acp = lab.acp(home)
    session = acp.session()                            # in the project; cwd=... elsewhere
    session.turn("script")                             # -> the model's last words
    session.turn("script", approve="once")             # answers each permission in it: once, session, always, deny
    session.submit("please #S:script")                 # doesn't wait
    session.approval().answer("deny"); session.wait()
    acp.load(session.session_id)                       # in another process
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .approvals import Approval, Approvals
from .home import Home
from .process import Process
from .rpc import Question, rpc_with

_VERSION = 1
_ALLOW = "allow_"


class Acp:
    """One running agent process; ``session`` begins conversations with it."""

    def __init__(self, home: Home, *, env: Mapping[str, str] | None = None, seconds: float = 90.0) -> None:
        self.home = home
        self.process = Process(
            [home.host.hermes, "acp"],
            env=env or home.env(),
            cwd=home.work,
            log=home.user / "acp.log",
            talks=True,
        )
        self.rpc = rpc_with(self.process)
        able = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        try:
            self.rpc.call("initialize", {"protocolVersion": _VERSION, "clientCapabilities": able}, seconds)
        except BaseException:  # also an interrupt: nobody else knows of the process yet
            self.process.close()
            raise

    def session(self, *, cwd: Path | None = None) -> AcpSession:
        """Begin a session in ``cwd`` (the project)."""
        made = self.rpc.call("session/new", {"cwd": str(cwd or self.home.work), "mcpServers": []})
        return AcpSession(self, str(made["sessionId"]))

    def load(self, session_id: str, *, cwd: Path | None = None) -> AcpSession:
        """Take up a session again."""
        where = {"cwd": str(cwd or self.home.work), "mcpServers": []}
        self.rpc.call("session/load", {"sessionId": session_id, **where})
        return AcpSession(self, session_id)

    def exit(self) -> int:
        """End its input, as an editor does; return the exit code."""
        return self.process.end_input()

    def kill(self) -> int:
        """End the process as a crash would; return the exit code."""
        return self.process.kill()

    def close(self) -> None:
        self.process.close()


class AcpSession:
    """One conversation."""

    def __init__(self, acp: Acp, session_id: str) -> None:
        self.session_id = session_id
        self._rpc = acp.rpc
        self._approvals = Approvals(self._asked)
        self._prompt = ""
        self._begun = 0

    def turn(
        self, script: str, text: str = "please", *, approve: str | None = None, seconds: float = 90.0
    ) -> str:
        """Send a message that makes the model play a script; return what it says on the way.

        ``approve`` is the answer to every permission it needs.
        """
        self.submit(f"{text} #S:{script}")
        return self.wait(approve=approve, seconds=seconds)

    def submit(self, text: str) -> None:
        """Send a message, without waiting."""
        self._begun = len(self.updates("agent_message_chunk"))
        prompt = [{"type": "text", "text": text}]
        self._prompt = self._rpc.start("session/prompt", {"sessionId": self.session_id, "prompt": prompt})

    def wait(self, *, approve: str | None = None, seconds: float = 90.0) -> str:
        """Wait for the end of the newest message's turn; return what the model said."""

        def over() -> bool:
            self._approvals.answer_all(approve)
            return self._rpc.has_result(self._prompt)

        self._rpc.wait_until(over, seconds, "end of the turn")
        self._rpc.result(self._prompt, "session/prompt")
        chunks = self.updates("agent_message_chunk")[self._begun :]
        return "".join(str(chunk["content"].get("text") or "") for chunk in chunks)

    def approval(self, seconds: float = 60.0) -> Approval:
        """Wait for the next permission that this session asks for."""
        approval = self._rpc.wait_until(self._approvals.next, seconds, "permission request")
        assert approval
        return approval

    def cancel(self) -> None:
        """Interrupt the turn."""
        self._rpc.send({"method": "session/cancel", "params": {"sessionId": self.session_id}})

    def updates(self, kind: str) -> list[Mapping[str, Any]]:
        """Return what the agent reported of one kind so far, e.g. ``tool_call``."""
        mine = [notice.params for notice in list(self._rpc.notices) if notice.method == "session/update"]
        return [
            params["update"]
            for params in mine
            if params.get("sessionId") == self.session_id and params["update"].get("sessionUpdate") == kind
        ]

    def _asked(self) -> list[Approval]:
        return [
            _approval(question)
            for question in list(self._rpc.questions)
            if question.method == "session/request_permission"
            and question.params.get("sessionId") == self.session_id
        ]


def _approval(question: Question) -> Approval:
    """Put a permission request into the words of the other surfaces: once, not allow_once."""
    options = {option["optionId"].removeprefix(_ALLOW): option["optionId"] for option in question.params["options"]}

    def answer(choice: str) -> None:
        question.answer({"outcome": {"outcome": "selected", "optionId": options[choice]}})

    return Approval(str(question.params["toolCall"].get("title") or ""), tuple(options), answer)
