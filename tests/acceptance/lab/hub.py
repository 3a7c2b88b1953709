"""The other end of the ``labchat`` platform: what people write in the chats, and what they read."""

from __future__ import annotations

import itertools
import json
import socket
import threading
from collections.abc import Mapping
from typing import Any


class Hub:
    """Listens on loopback for the gateway's chat platform, from construction to ``close``."""

    def __init__(self) -> None:
        self.connected = threading.Event()
        #: (chat, thread, text) of every message sent by the gateway, oldest first.
        self.sent: list[tuple[str, str | None, str]] = []
        #: (chat, thread, path) of every file sent by the gateway, oldest first.
        self.files: list[tuple[str, str | None, str]] = []
        self._marks: dict[str, set[str]] = {"taken": set(), "done": set()}
        self._ids = itertools.count(1)
        self._connection: socket.socket | None = None
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._server.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def post(self, text: str, **where: Any) -> str:
        """Put a message into a chat; return its id. ``where``: see the platform."""
        assert self._connection, "the gateway isn't connected"
        message = {"id": f"m{next(self._ids)}", "text": text, **where}
        self._connection.sendall(json.dumps(message).encode() + b"\n")
        return str(message["id"])

    def has(self, mark: str, message_id: str) -> bool:
        """Tell whether a message is ``taken`` or ``done``."""
        return message_id in self._marks[mark]

    def close(self) -> None:
        self._server.close()
        if self._connection:
            self._connection.close()

    def _accept(self) -> None:
        while True:
            try:
                self._connection, _ = self._server.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._read, args=(self._connection,), daemon=True).start()

    def _read(self, connection: socket.socket) -> None:
        try:
            with connection.makefile("r", encoding="utf-8") as lines:
                for line in lines:
                    self._take(json.loads(line))
        except OSError:  # closed
            return

    def _take(self, message: Mapping[str, Any]) -> None:
        match message["op"]:
            case "hello":
                self.connected.set()
            case "sent":
                self.sent.append((message["chat"], message["thread"], message["text"] or ""))
            case "file":
                self.files.append((message["chat"], message["thread"], message["path"]))
            case mark:
                self._marks[mark].add(message["id"])
