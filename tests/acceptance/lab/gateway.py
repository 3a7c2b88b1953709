"""The messaging gateway, `hermes gateway run`, with a chat platform of our own.

    gateway = lab.gateway(home)                    # adds the labchat plugin to the home
    chat = gateway.chat("c1")                      # a direct chat of user "u1"
    alice = gateway.chat("g1", user="alice", group=True)
    topic = gateway.chat("g1", user="alice", group=True, thread="t9")
    chat.cmd("/planmode on")                       # -> what the person reads
    chat.turn("script")                            # -> what the person reads, all messages in one text
    chat.submit("please #S:script")                # doesn't wait for the answer
    chat.submit("/planmode on", at_once=True)      # into a running turn; returns when the host has it
    chat.turn("script", approve="once")            # answers each approval in it: once, session, always, deny
    chat.approval().answer("deny"); chat.wait_done()
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from .approvals import Approval, Approvals
from .home import Home
from .hub import Hub
from .plugins import LABCHAT
from .process import Process
from .scripted_model import ScriptedModel, last_words

T = TypeVar("T")

# 0.22 comes without its texts and shows their names.
_APPROVAL = re.compile(r"/approve|exec_approval\.text_body")
_ANSWERS = {"once": "/approve", "session": "/approve session", "always": "/approve always", "deny": "/deny"}


def run_gateway(home: Home, env: Mapping[str, str]) -> Process:
    """Start the gateway with the platforms that config.yaml and ``env`` enable."""
    return Process(
        [home.host.hermes, "gateway", "run", "-v"], env=env, cwd=home.work, log=home.user / "gateway.log"
    )


class Gateway:
    """One running gateway; ``chat`` gives conversations in it."""

    def __init__(
        self,
        home: Home,
        model: ScriptedModel,
        *,
        env: Mapping[str, str] | None = None,
        seconds: float = 90.0,
    ) -> None:
        home.add_plugin(LABCHAT)
        home.configure({"platforms": {LABCHAT: {"enabled": True}}})
        self.model = model
        self.hub = Hub()
        more = {
            "LABCHAT_PORT": str(self.hub.port),
            "LABCHAT_ALLOW_ALL": "true",
            "LABCHAT_HOME_CHANNEL": "home",  # else the host asks for one in every chat
        }
        self.process = run_gateway(home, {**(env or home.env()), **more})
        try:
            self.process.wait_until(self.hub.connected.is_set, seconds, "connection of the gateway")
        except BaseException:  # also an interrupt: nobody else knows of the process yet
            self.close()
            raise

    def chat(
        self, name: str = "c1", *, user: str = "u1", group: bool = False, thread: str | None = None
    ) -> Chat:
        """Return what one user sees and does in a chat: a direct one, a group, or a thread in it."""
        return Chat(self, name, user, group=group, thread=thread)

    def kill(self) -> int:
        """End the process as a crash would; return the exit code."""
        return self.process.kill()

    def close(self) -> None:
        self.process.close()
        self.hub.close()


class Chat:
    """One user in one chat. Several of them may share a chat, and then read the same messages."""

    def __init__(
        self, gateway: Gateway, name: str, user: str, *, group: bool, thread: str | None
    ) -> None:
        self.name = name
        self._gateway = gateway
        self._where = {"chat": name, "user": user, "group": group, "thread": thread}
        self._posted: list[str] = []
        self._begun = 0
        self._approvals = Approvals(self._asked)

    @property
    def read(self) -> list[str]:
        """Every message that came in this chat, or in this thread of it, oldest first."""
        return [text.replace("\u2060", "") for text in self._here(self._gateway.hub.sent)]  # which nobody sees

    @property
    def files(self) -> list[str]:
        """The paths of all files that the host sent here, because a message named them."""
        return self._here(self._gateway.hub.files)

    def cmd(self, text: str, seconds: float = 90.0) -> str:
        """Send a slash command; return the messages that came until the chat was at rest again."""
        before = len(self.read)
        self.submit(text)
        self.wait_done(seconds)
        return "\n".join(self.read[before:])

    def turn(
        self, script: str, text: str = "please", *, approve: str | None = None, seconds: float = 90.0
    ) -> str:
        """Send a message that makes the model play a script; return the messages that came.

        ``approve`` is the answer to every approval on the way. Raises TimedOut if the script's last
        words aren't among the messages.
        """
        before = len(self.read)
        self.submit(f"{text} #S:{script}")

        def over() -> bool:
            self._approvals.answer_all(approve)
            return any(last_words(script) in message for message in self.read[before:])

        self._wait(over, seconds, f"end of turn {script!r}")
        self.wait_done(seconds)
        return "\n".join(self.read[before:])

    def submit(self, text: str, *, at_once: bool = False) -> None:
        """Send a message, once the chat is at rest, or ``at_once``, maybe into a running turn.

        The latter returns when the host has the message.
        """
        self._begun = len(self.read)
        hub = self._gateway.hub
        posted = hub.post(text, **self._where, at_once=at_once)
        self._posted.append(posted)
        if at_once:
            self._wait(lambda: hub.has("taken", posted), 30, f"delivery of {text!r}")

    def wait(self, pattern: str, seconds: float = 60.0) -> str:
        """Wait for a message that matches, since the last one sent here; return it."""

        def found() -> str:
            return next((t for t in self.read[self._begun :] if re.search(pattern, t, re.DOTALL)), "")

        return self._wait(found, seconds, f"message like {pattern!r}")

    def approval(self, seconds: float = 60.0) -> Approval:
        """Wait for the next approval that is asked for in this chat."""
        approval = self._wait(self._approvals.next, seconds, "question for approval")
        assert approval
        return approval

    def wait_done(self, seconds: float = 90.0) -> None:
        """Wait until all that was sent here is dealt with."""
        hub = self._gateway.hub

        def done() -> bool:
            return all(hub.has("done", posted) for posted in self._posted)

        self._wait(done, seconds, "rest in the chat")

    def _here(self, sent: list[tuple[str, str | None, str]]) -> list[str]:
        here = (self._where["chat"], self._where["thread"])
        return [what for chat, thread, what in list(sent) if (chat, thread) == here]

    def _asked(self) -> list[Approval]:
        asked = [message for message in self.read if _APPROVAL.search(message)]
        return [Approval(text, tuple(_ANSWERS), self._answer) for text in asked]

    def _answer(self, choice: str) -> None:
        self.submit(_ANSWERS[choice], at_once=True)

    def _wait(self, condition: Callable[[], T], seconds: float, what: str) -> T:
        return self._gateway.process.wait_until(condition, seconds, what)
