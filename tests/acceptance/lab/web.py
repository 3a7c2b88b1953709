"""HTTP as a client of Hermes speaks it: JSON both ways, and streams of server-sent events."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any


@dataclass(frozen=True)
class Reply:
    """An answer. ``data``: its JSON, {} if it is none."""

    status: int
    headers: Mapping[str, str]
    data: Mapping[str, Any]


class Site:
    """A server on this machine. ``headers`` go with every request."""

    def __init__(self, port: int, headers: Mapping[str, str] | None = None) -> None:
        self.port = port
        self._headers = {"Content-Type": "application/json", **(headers or {})}

    def answers(self, path: str) -> bool:
        """Tell whether a GET of the path succeeds."""
        with suppress(OSError, HTTPException):
            return self.request("GET", path, seconds=5).status == 200
        return False

    def post(
        self, path: str, data: Mapping[str, Any], headers: Mapping[str, str] | None = None, seconds: float = 90.0
    ) -> Reply:
        return self.request("POST", path, data, headers, seconds)

    def request(
        self,
        method: str,
        path: str,
        data: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        seconds: float = 90.0,
    ) -> Reply:
        """Make one request; raises OSError or HTTPException if there is no answer to it."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            body = None if data is None else json.dumps(data)
            connection.request(method, path, body, {**self._headers, **(headers or {})})
            response = connection.getresponse()
            return Reply(response.status, dict(response.headers), _parsed(response.read()))
        finally:
            connection.close()

    def events(self, path: str, seconds: float = 300.0) -> Iterator[Mapping[str, Any]]:
        """Yield the JSON of server-sent events until the server ends them."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request("GET", path, headers=self._headers)
            for line in connection.getresponse():
                if line.startswith(b"data:"):
                    yield _parsed(line.removeprefix(b"data:"))
        finally:
            connection.close()


def free_port() -> int:
    """Return a port of this machine that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _parsed(text: bytes) -> Mapping[str, Any]:
    with suppress(ValueError):
        data = json.loads(text)
        if isinstance(data, dict):
            return data
    return {}
