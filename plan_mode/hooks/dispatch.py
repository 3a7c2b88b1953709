"""What a chat sends, before the host dispatches it: hosts that bind no session around a command are told by this alone."""

from __future__ import annotations

from typing import Any

from ..controller import Desk
from ..host import session
from ..state.identity import user_key
from .quiet import quiet


class Dispatch:
    """The callback of ``pre_gateway_dispatch``."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @quiet
    def pre_gateway_dispatch(self, event: Any = None, gateway: Any = None, **_: Any) -> None:
        """Keep whose message this is, for the handler that this same task may ask next. Never raises, never intervenes."""
        message = session.read_message(event, gateway)
        session.keep_message(message)
        if message is not None and message.command:
            memory = self._desk.memory
            sender = (user_key(message.platform, message.user), message.command)
            memory.keep(memory.senders, message.session_key, sender)
