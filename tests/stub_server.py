"""A scripted OpenAI-compatible server on a real socket, in a thread of this process.

A script is a function from a request to a reply; every request is recorded. Replies can be late, never come, or break
off in the middle of the body.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class StubRequest:
    """A request as it came: ``number`` counts from 0."""

    number: int
    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def user(self) -> str:
        """Content of the last message of a chat request."""
        return str(self.body["messages"][-1]["content"])


@dataclass(frozen=True)
class StubReply:
    """What to send back. ``hang`` never answers, ``cut`` closes the connection in the middle of the body."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    hang: bool = False
    cut: bool = False

    def encoded(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        if isinstance(self.body, str):
            return self.body.encode()
        return json.dumps(self.body).encode()


Script = Callable[[StubRequest], StubReply]


def chat(text: str | None, finish: str = "stop", tokens: tuple[int, int] | None = (10, 5), **message: Any) -> StubReply:
    """A good chat reply; further fields of the message by keyword."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    body: dict[str, Any] = {"id": "x", "object": "chat.completion", "choices": [choice]}
    if tokens is not None:
        body["usage"] = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
    return StubReply(body=body)


def completion(text: str, finish: str = "stop", **choice: Any) -> StubReply:
    """A good reply of the completions endpoint."""
    return StubReply(body={"choices": [{"index": 0, "text": text, "finish_reason": finish, **choice}]})


def error(status: int, message: str, code: str | None = None, param: str | None = None, **headers: str) -> StubReply:
    """An error in OpenAI's form; headers by keyword, with underscores for hyphens."""
    body = {"error": {"message": message, "type": "invalid_request_error", "code": code, "param": param}}
    return StubReply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


class StubServer:
    """A running server."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[StubRequest] = []
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def url(self) -> str:
        """The base address, as clients are given it."""
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        self._thread.start()
        self._ready.wait(10)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._connection, "127.0.0.1", self.port))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its reply; False when the connection is to be closed."""
        start, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        request = StubRequest(len(self.requests), start.split(" ")[1], headers, json.loads(raw) if raw else None)
        self.requests.append(request)
        reply = self.script(request)
        if reply.hang:
            await asyncio.sleep(3600)
        if reply.delay:
            await asyncio.sleep(reply.delay)
        body = reply.encoded()
        head = {"content-type": "application/json", "content-length": str(len(body)), **reply.headers}
        lines = [f"HTTP/1.1 {reply.status} Stub", *(f"{name}: {value}" for name, value in head.items())]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
        if reply.cut:
            writer.write(body[: len(body) // 2])
            await writer.drain()
            return False
        writer.write(body)
        await writer.drain()
        return True


@contextmanager
def serve(script: Script) -> Iterator[StubServer]:
    """A server for the time of a with block."""
    server = StubServer(script)
    server.start()
    try:
        yield server
    finally:
        server.stop()
