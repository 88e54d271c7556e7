"""Asking an OpenAI-compatible server: many requests at once, retries, time-outs, and the end of it all.

An event loop in a thread of its own keeps connections open from one batch to the next. Plain functions call into it.
"""

from __future__ import annotations

import asyncio
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_gnt.engines.openai_dialect import Body, Dialect, refused_parameter
from pytest_gnt.engines.openai_endpoint import Endpoint, make_client, request_options
from pytest_gnt.engines.openai_replies import Fate, Response, fate_of, parse_response
from pytest_gnt.engines.protocol import Reply
from pytest_gnt.errors import EngineFailure
from pytest_gnt.evidence import Reason

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Item = TypeVar("Item")
Found = TypeVar("Found")
Read = Callable[[Any, str], Reply]

MAX_WAIT = 60.0
"""Longest single wait in seconds before another attempt; a server that asks for a longer one is not waited for."""

GIVE_UP_AFTER = 20
"""Requests in a row without any good reply after which the server is taken to be gone."""

_MAX_ADAPTATIONS = 8
_FIRST_CONTACT_RETRIES = 2
_LONGEST_BACKOFF = 8.0


@dataclass(slots=True)
class Traffic:
    """What went over the wire. ``retries`` are part of ``requests``."""

    requests: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    metered: int = 0
    in_flight: int = 0

    def count(self, reply: Reply) -> None:
        """Add a reply's usage, where the server reports it."""
        if reply.prompt_tokens is None and reply.completion_tokens is None:
            return
        self.metered += 1
        self.prompt_tokens += reply.prompt_tokens or 0
        self.completion_tokens += reply.completion_tokens or 0


@dataclass(slots=True)
class Client:
    """One server as one model's engines use it.

    Attributes:
        timeout: seconds for one attempt, from sending to the last byte.
        retries: further attempts after a failure that may pass.
        backoff: seconds before the first retry; doubled for each further one, and varied by a quarter.
        may_go_on: asked before each request; once it says no, nothing is sent any more.
    """

    endpoint: Endpoint
    concurrency: int = 32
    timeout: float = 120.0
    retries: int = 5
    backoff: float = 0.5
    may_go_on: Callable[[], bool] = field(default=lambda: True)
    dialect: Dialect = field(default_factory=Dialect)
    traffic: Traffic = field(default_factory=Traffic)
    _client: AsyncOpenAI | None = None
    _loop: asyncio.AbstractEventLoop | None = None
    _thread: threading.Thread | None = None
    _answered: bool = False
    _failures_in_a_row: int = 0
    _not_before: float = 0.0
    _known: set[object] = field(default_factory=set)

    def map(
        self, items: Sequence[Item], ask: Callable[[Item], Any], kind: Callable[[Item], object]
    ) -> Iterator[tuple[int, Any]]:
        """Run a coroutine for each item, many at once; yields index and result as they come.

        The first item of a new kind goes alone, so that what the server refuses is learnt from one request and not
        from as many as are in flight.

        Raises:
            EngineFailure: the server as a whole cannot be used. What was finished before has been yielded.
        """
        results: queue.SimpleQueue[tuple[int, Any] | BaseException | None] = queue.SimpleQueue()
        future = asyncio.run_coroutine_threadsafe(self._all(items, ask, kind, results), self._running_loop())
        try:
            while (result := results.get()) is not None:
                if isinstance(result, BaseException):
                    raise result
                yield result
        finally:
            future.cancel()

    async def request(self, path: str, write: Callable[[], Body], read: Read) -> Reply:
        """Send one request until it has a reply or a reason for having none.

        Args:
            path: below the base address.
            write: makes the body by what is known of the server; called anew after something was learnt.
            read: makes a reply of a body; raises ValueError where the body holds none.

        Raises:
            EngineFailure: the server as a whole cannot be used.
        """
        adaptations = attempt = 0
        while True:
            await self._wait_for_turn()
            if not self.may_go_on():
                return Reply(text=None, reason=Reason.NOT_RUN, detail="not sent: the cost limit is reached")
            body = write()
            response = await self._send(path, body)
            fate = fate_of(response, answered_before=self._answered)
            self._answered = self._answered or response.status > 0
            if fate is Fate.ANSWERED:
                return self._read(response, read)
            if fate is Fate.EVERYTHING:
                raise EngineFailure(self._hopeless(response))
            if fate is Fate.REFUSED_REQUEST and adaptations < _MAX_ADAPTATIONS and self._adapt(body, response):
                adaptations += 1
                continue
            attempt += 1
            wait = self._wait_before(attempt, response) if fate is Fate.RETRY else None
            if wait is None:
                return self._given_up(response, attempt)
            self.traffic.retries += 1
            await asyncio.sleep(wait)

    def close(self) -> None:
        """Close all connections and end the thread."""
        loop, self._loop = self._loop, None
        if loop is None or self._thread is None:
            return
        client, self._client = self._client, None
        if client is not None:
            asyncio.run_coroutine_threadsafe(client.close(), loop).result(5)
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join(5)
        loop.close()

    def __repr__(self) -> str:
        return f"Client({self.endpoint.shown})"

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="gnt-openai", daemon=True)
            self._thread.start()
        return self._loop

    async def _all(
        self,
        items: Sequence[Item],
        ask: Callable[[Item], Any],
        kind: Callable[[Item], object],
        results: queue.SimpleQueue[tuple[int, Any] | BaseException | None],
    ) -> None:
        """Put each result, then None or an exception, into ``results``."""
        try:
            first = self._first_of_each_new_kind(items, kind)
            for index in first:
                results.put((index, await ask(items[index])))
            rest = iter(sorted(set(range(len(items))) - set(first)))

            async def work() -> None:
                for index in rest:
                    results.put((index, await ask(items[index])))

            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.concurrency, len(items))):
                    group.create_task(work())
        except BaseExceptionGroup as errors:
            results.put(errors.exceptions[0])
        except BaseException as error:
            results.put(error)
            raise
        else:
            results.put(None)

    def _first_of_each_new_kind(self, items: Sequence[Item], kind: Callable[[Item], object]) -> list[int]:
        found: list[int] = []
        for index, item in enumerate(items):
            one = kind(item)
            if one not in self._known:
                self._known.add(one)
                found.append(index)
        return found

    async def _wait_for_turn(self) -> None:
        """Wait while the server has asked for a pause. A pause asked of one request is kept by all."""
        while (pause := self._not_before - time.monotonic()) > 0:
            await asyncio.sleep(pause)

    async def _send(self, path: str, body: Body) -> Response:
        import httpx2
        import openai

        if self._client is None:
            self._client = make_client(self.endpoint, connections=self.concurrency, timeout=self.timeout)
        self.traffic.requests += 1
        self.traffic.in_flight += 1
        try:
            async with asyncio.timeout(self.timeout):
                options: Any = request_options(self.endpoint)
                answer = await self._client.post(path, cast_to=httpx2.Response, body=body, options=options)
        except openai.APIStatusError as error:
            answer = error.response
        except (TimeoutError, openai.APITimeoutError):
            return Response(0, fault=f"no reply within {self.timeout:g} s", final=True)
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            unreachable = isinstance(cause, httpx2.ConnectError)
            return Response(0, fault=self.endpoint.redact(f"{cause or type(cause).__name__}"), unreachable=unreachable)
        except UnicodeEncodeError:
            return Response(0, fault="the prompt holds half a character and cannot be sent", final=True)
        finally:
            self.traffic.in_flight -= 1
        return parse_response(answer.status_code, answer.content, answer.headers)

    def _read(self, response: Response, read: Read) -> Reply:
        try:
            reply = read(response.data, response.text)
        except ValueError as error:
            return self._failed(self.endpoint.redact(error))
        self._failures_in_a_row = 0
        self.traffic.count(reply)
        return reply

    def _adapt(self, body: Mapping[str, Any], response: Response) -> bool:
        error = response.error
        if error.is_context_overflow or error.is_filter:
            return False
        parameter = refused_parameter(body, error.message, error.code, error.param)
        return parameter is not None and self.dialect.learn(parameter, body)

    def _wait_before(self, attempt: int, response: Response) -> float | None:
        """Seconds before the next attempt; None where there shall be none."""
        retries = self.retries if self._answered else min(self.retries, _FIRST_CONTACT_RETRIES)
        asked = response.retry_after or 0.0
        if attempt > retries or asked > MAX_WAIT:
            return None
        backoff: float = min(self.backoff * 2.0 ** (attempt - 1), _LONGEST_BACKOFF) * random.uniform(0.75, 1.25)
        if response.status == 429 and asked:
            self._not_before = max(self._not_before, time.monotonic() + asked)
        return max(asked, backoff)

    def _given_up(self, response: Response, attempts: int) -> Reply:
        """The reply for a request that has no answer."""
        error = response.error
        said = self.endpoint.redact(response.fault or error.message)
        if response.status in (400, 413, 422) and error.is_context_overflow:
            return Reply(text=None, reason=Reason.OVER_LONG, detail=f"the prompt does not fit the model: {said}")
        if response.status >= 400 and error.is_filter:
            return Reply(text=None, reason=Reason.FILTERED, detail=f"filtered by the server: {said}")
        if response.unreachable and not self._answered:
            raise EngineFailure(f"cannot reach {self.endpoint.shown}: {said}; start the server or check base_url")
        status = f"HTTP {response.status}: " if response.status else ""
        tries = f" (after {attempts} attempts)" if attempts > 1 else ""
        asked = response.retry_after
        wait = f"; it asks to wait {asked:.0f} s" if asked and asked > MAX_WAIT else ""
        return self._failed(f"{status}{said}{wait}{tries}")

    def _failed(self, detail: str) -> Reply:
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= GIVE_UP_AFTER:
            raise EngineFailure(
                f"{self.endpoint.shown} has failed {self._failures_in_a_row} requests in a row; the last: {detail}"
            )
        return Reply(text=None, reason=Reason.TRANSPORT, detail=detail)

    def _hopeless(self, response: Response) -> str:
        said = self.endpoint.redact(response.error.message)
        where = f"{self.endpoint.shown} answers HTTP {response.status}: {said}"
        if response.status in (401, 403):
            return f"{where}; check the key in the environment variable {self.endpoint.key_name}"
        if response.status == 404:
            return f"{where}; check base_url and the model's name"
        return f"{where}; the account cannot be used"
