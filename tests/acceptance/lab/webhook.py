"""The webhook platform of the gateway: each delivery is a conversation of its own.

    webhook = lab.webhook(home)                        # with files and a terminal, which the host withholds
    webhook.cmd("/planmode on")                        # -> the answer to the delivery
    webhook.turn("script")                             # -> the same
    webhook.gateway.chat("c1")                         # the gateway has the lab's chat platform too
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

from .gateway import Chat, Gateway
from .home import Home
from .plugins import LABCHAT
from .scripted_model import ScriptedModel, last_words
from .web import Site, free_port

_ROUTE = "lab"


class Webhook:
    """One running gateway that takes deliveries; its answers to them come in chats of ``gateway``.

    ``toolsets``: what the model may use in a delivery, e.g. () for the host's own choice.
    """

    def __init__(
        self,
        home: Home,
        model: ScriptedModel,
        *,
        toolsets: Sequence[str] = ("file", "terminal"),
        env: Mapping[str, str] | None = None,
        seconds: float = 90.0,
    ) -> None:
        port = free_port()
        route = {
            "secret": "INSECURE_NO_AUTH",  # the host takes it on loopback only
            "prompt": "{text}",
            "deliver": LABCHAT,
            "deliver_extra": {"chat_id": "{answer_to}"},
        }
        extra = {"host": "127.0.0.1", "port": port, "routes": {_ROUTE: route}}
        home.configure({"platforms": {"webhook": {"enabled": True, "extra": extra}}})
        if toolsets:
            home.configure({"platform_toolsets": {"webhook": list(toolsets)}})
        self.site = Site(port)
        self._numbers = itertools.count(1)
        self.gateway = Gateway(home, model, env=env, seconds=seconds)
        try:
            self.gateway.process.wait_until(
                lambda: self.site.answers("/health"), seconds, "answer of the webhook"
            )
        except BaseException:  # also an interrupt: nobody else knows of the process yet
            self.close()
            raise

    def deliver(self, text: str) -> Chat:
        """Make a delivery; return the chat that its answer comes in."""
        chat = self.gateway.chat(f"delivery-{next(self._numbers)}")
        reply = self.site.post(f"/webhooks/{_ROUTE}", {"text": text, "answer_to": chat.name})
        assert reply.status == 202, reply
        return chat

    def cmd(self, text: str, seconds: float = 60.0) -> str:
        """Deliver a slash command; return the first answer to it."""
        return self.deliver(text).wait(r"\S", seconds)

    def turn(self, script: str, text: str = "please", seconds: float = 90.0) -> str:
        """Deliver a message that makes the model play a script; return what it says at the end."""
        return self.deliver(f"{text} #S:{script}").wait(re.escape(last_words(script)), seconds)

    def close(self) -> None:
        self.gateway.close()
