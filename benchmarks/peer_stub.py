"""An OpenAI-compatible endpoint that answers every request after 50 ms, 32 at once; the other requests wait.

    python benchmarks/peer_stub.py      # prints its port

The answer follows from the number of the sentence alone. ``GET /stats`` says how many requests were answered.
"""

from __future__ import annotations

import asyncio
import json
import re

LATENCY = 0.05
AT_ONCE = 32

_NUMBER = re.compile(r"number (\d+)")
_REASON = {200: "OK", 404: "Not Found"}


class Stub:
    """Counts what it answers."""

    def __init__(self) -> None:
        self.answered = 0
        self._gate = asyncio.Semaphore(AT_ONCE)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, kept open for as long as the client wants."""
        try:
            while line := await reader.readline():
                method, path, _ = line.decode("ascii").split(" ", 2)
                length = 0
                while (header := await reader.readline()).strip():
                    name, _, value = header.decode("latin-1").partition(":")
                    if name.lower() == "content-length":
                        length = int(value)
                body = await reader.readexactly(length)
                status, data = await self._answer(method, path, body)
                payload = json.dumps(data).encode()
                head = f"HTTP/1.1 {status} {_REASON[status]}\r\nContent-Type: application/json\r\n"
                writer.write(f"{head}Content-Length: {len(payload)}\r\n\r\n".encode() + payload)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, ValueError):
            pass
        finally:
            writer.close()

    async def _answer(self, method: str, path: str, body: bytes) -> tuple[int, object]:
        if path == "/stats":
            return 200, {"answered": self.answered}
        if path.endswith("/models"):
            return 200, {
                "object": "list",
                "data": [{"id": "stub", "object": "model", "created": 0, "owned_by": "stub"}],
            }
        if method != "POST" or not path.endswith("/chat/completions"):
            return 404, {"error": {"message": f"no {path} here"}}
        async with self._gate:
            await asyncio.sleep(LATENCY)
        self.answered += 1
        return 200, completion(json.loads(body))


def completion(request: dict[str, object]) -> dict[str, object]:
    """A reply in the asked form; two of three say that they are neutral."""
    text = json.dumps(request["messages"])
    number = int(_NUMBER.findall(text)[-1])
    label = "GENDERED" if number % 3 == 0 else "NEUTRAL"
    content = f"<it> **{label}** [La frase numero {number} riguarda tutte le persone che lavorano qui.]"
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": "stub",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": 40, "completion_tokens": 20, "total_tokens": 60},
    }


async def main() -> None:
    """Serve until the process is ended."""
    server = await asyncio.start_server(Stub().serve, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
