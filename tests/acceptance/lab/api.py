"""The API server in the gateway process, as OpenAI clients use it. It takes no slash commands.

    api = lab.api(home)
    talk = api.conversation()                          # or a session id of your own: "c1", key="user-7"
    talk.turn("script")                                # /v1/chat/completions -> the model's last words
    talk.run("script", approve="once")                 # /v1/runs -> the same
    run = talk.start_run("please #S:script"); run.approval().answer("deny"); run.wait()
    run.events                                         # what the server said of it
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPException
from typing import Any, TypeVar

from .approvals import Approval, Approvals
from .gateway import run_gateway
from .home import Home
from .web import Site, free_port

T = TypeVar("T")

_KEY = "0123456789abcdef-key-of-the-lab"
_ENDS = ("run.completed", "run.failed", "run.cancelled")


class Api:
    """One running API server; ``conversation`` talks with it."""

    def __init__(self, home: Home, *, env: Mapping[str, str] | None = None, seconds: float = 90.0) -> None:
        port = free_port()
        self.site = Site(port, {"Authorization": f"Bearer {_KEY}"})
        self._ids = itertools.count(1)
        more = {
            "API_SERVER_ENABLED": "true",
            "API_SERVER_KEY": _KEY,
            "API_SERVER_HOST": "127.0.0.1",
            "API_SERVER_PORT": str(port),
            # Else the host imports its agent in two threads at once, and a first request may see half of it: an error 500.
            "HERMES_STARTUP_WARMUP_TIMEOUT": "0",
        }
        self.process = run_gateway(home, {**(env or home.env()), **more})
        try:
            self.process.wait_until(lambda: self.site.answers("/health"), seconds, "answer of the server")
        except BaseException:  # also an interrupt: nobody else knows of the process yet
            self.process.close()
            raise

    def conversation(self, session_id: str | None = None, *, key: str | None = None) -> Conversation:
        """Return a conversation by its session id (a new one), with a session key if the client has one."""
        return Conversation(self, session_id or f"lab-{next(self._ids)}", key)

    def kill(self) -> int:
        """End the process as a crash would; return the exit code."""
        return self.process.kill()

    def close(self) -> None:
        self.process.close()


class Conversation:
    """One session, whose history the server keeps. ``key`` is what X-Hermes-Session-Key says."""

    def __init__(self, api: Api, session_id: str, key: str | None) -> None:
        self.session_id, self.key = session_id, key
        self._api = api

    def turn(self, script: str, text: str = "please", seconds: float = 90.0) -> str:
        """Send a message that makes the model play a script; return what it says at the end."""
        return self.complete(f"{text} #S:{script}", seconds)

    def complete(self, text: str, seconds: float = 90.0) -> str:
        """Send a message through chat/completions; return the answer."""
        body = {"model": "hermes-agent", "messages": [{"role": "user", "content": text}]}
        headers = {"X-Hermes-Session-Id": self.session_id, **self._key_header()}
        reply = self._api.site.post("/v1/chat/completions", body, headers, seconds)
        assert reply.status == 200, reply
        return str(reply.data["choices"][0]["message"]["content"])

    def run(self, script: str, text: str = "please", *, approve: str | None = None, seconds: float = 90.0) -> str:
        """Let the model play a script as a run; return what it says at the end.

        ``approve`` is the answer to every approval on the way.
        """
        return self.start_run(f"{text} #S:{script}").wait(approve=approve, seconds=seconds)

    def start_run(self, text: str) -> Run:
        """Send a message as a run, without waiting."""
        body = {"input": text, "session_id": self.session_id}
        reply = self._api.site.post("/v1/runs", body, self._key_header())
        assert reply.status == 202, reply
        return Run(self._api, str(reply.data["run_id"]))

    def _key_header(self) -> dict[str, str]:
        return {"X-Hermes-Session-Key": self.key} if self.key else {}


class Run:
    """One turn that goes on by itself. ``events``: what the server said of it so far."""

    def __init__(self, api: Api, run_id: str) -> None:
        self.run_id = run_id
        self.events: list[Mapping[str, Any]] = []
        self._api = api
        self._approvals = Approvals(self._asked)
        threading.Thread(target=self._read, daemon=True).start()

    def approval(self, seconds: float = 60.0) -> Approval:
        """Wait for the next approval that the run asks for."""
        approval = self._wait(self._approvals.next, seconds, "approval")
        assert approval
        return approval

    def wait(self, *, approve: str | None = None, seconds: float = 90.0) -> str:
        """Wait for the end; return what the model said, or why the run failed."""

        def end() -> Mapping[str, Any] | None:
            self._approvals.answer_all(approve)
            return next((event for event in list(self.events) if event.get("event") in _ENDS), None)

        event = self._wait(end, seconds, f"end of {self.run_id}")
        assert event
        return str(event.get("output") or event.get("error") or "")

    def stop(self) -> None:
        """Interrupt it."""
        self._api.site.post(f"/v1/runs/{self.run_id}/stop", {})

    def _asked(self) -> list[Approval]:
        asked = [event for event in list(self.events) if event.get("event") == "approval.request"]
        return [
            Approval(
                "\n".join(str(event[key]) for key in ("description", "command") if event.get(key)),
                tuple(event.get("choices") or ()),
                self._answer,
            )
            for event in asked
        ]

    def _answer(self, choice: str) -> None:
        reply = self._api.site.post(f"/v1/runs/{self.run_id}/approval", {"choice": choice})
        assert reply.status == 200, reply

    def _read(self) -> None:
        with suppress(OSError, HTTPException):  # the server may be killed meanwhile
            for event in self._api.site.events(f"/v1/runs/{self.run_id}/events"):
                self.events.append(event)

    def _wait(self, condition: Callable[[], T], seconds: float, what: str) -> T:
        return self._api.process.wait_until(condition, seconds, what)
