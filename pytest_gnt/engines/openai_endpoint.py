"""Where an OpenAI-compatible server is and how one proves who one is, with the secrets kept out of everything shown.

A key comes from an environment variable only. User and password or query values in a base address are secrets too:
they are taken out of the address before any library sees it, and put back on the wire.
"""

from __future__ import annotations

import base64
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from pytest_gnt.errors import EngineFailure, GntError

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

DEFAULT_BASE_URL = "https://api.openai.com/v1"
SHOWN_LENGTH = 300
"""Characters of a server's own words that messages quote."""

_HIDDEN = "***"
_SHORTEST_SECRET = 3
_HARMLESS_QUERY = frozenset({"api-version"})
_LOOKS_SECRET = re.compile(r"(?i)(?<=bearer )[\w.~+/=-]{6,}|\b(?:sk|pk|hf|key)[-_][\w-]{6,}|(?<=//)[^/@\s]+(?=@)")


class Secret:
    """A text that does not show itself in tracebacks, logs or ``repr``."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The text itself, for the wire only."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret({_HIDDEN!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not sent to another process: set its environment variable there")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address with its credentials.

    Attributes:
        url: the address without user, password and query: safe in libraries' logs.
        shown: the address for messages and keys: credentials are replaced by ``***``.
        key: what goes into the ``Authorization: Bearer`` header, if anything.
        login: ``user:password`` of the address, if it has one; then no key is sent.
        query: parameters that belong to each request.
        key_name: the environment variable that a key is looked for in, for messages.
    """

    url: str
    shown: str
    key: Secret | None
    login: Secret | None
    query: Secret | None
    key_name: str
    _secrets: tuple[Secret, ...] = field(default=(), repr=False)

    def redact(self, text: object) -> str:
        """A text from outside (a server's message, an exception) on one line, short, and without secrets."""
        line = " ".join(str(text).split())
        for secret in self._secrets:
            line = line.replace(secret.reveal(), _HIDDEN)
        line = _LOOKS_SECRET.sub(_HIDDEN, line)
        return line if len(line) <= SHOWN_LENGTH else line[: SHOWN_LENGTH - 1] + "…"


def open_endpoint(base_url: str | None, key_name: str) -> Endpoint:
    """Read an address and the environment.

    Args:
        base_url: address of the server's API, usually ending in ``/v1``; None for OpenAI's own.
        key_name: environment variable that holds the key. Where it is unset no key is sent, which only OpenAI's own
            server is known not to accept.

    Raises:
        GntError: the address is no http(s) address, or OpenAI's own server is meant and there is no key.
    """
    parts = urlsplit(base_url or DEFAULT_BASE_URL)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise GntError("base_url must be an address such as http://localhost:8000/v1")
    key = os.environ.get(key_name, "").strip()
    if not key and base_url is None:
        raise GntError(f"OpenAI's server needs a key: set the environment variable {key_name}")
    login, _, host = parts.netloc.rpartition("@")
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    hidden_query = urlencode([(name, value if name in _HARMLESS_QUERY else _HIDDEN) for name, value in pairs], safe="*")
    shown_host = f"{_HIDDEN}@{host}" if login else host
    secrets = [key, login, unquote(login), *map(unquote, login.split(":"))]
    secrets += [value for name, value in pairs if name not in _HARMLESS_QUERY]
    secrets += [quote(secret) for secret in secrets]
    # The longest first, or a secret's part would be hidden and the rest shown.
    kept = sorted({secret for secret in secrets if len(secret) >= _SHORTEST_SECRET}, key=len, reverse=True)
    path = parts.path.rstrip("/")
    return Endpoint(
        url=urlunsplit((parts.scheme, host, path, "", "")),
        shown=urlunsplit((parts.scheme, shown_host, path, hidden_query, "")),
        key=Secret(key) if key else None,
        login=Secret(unquote(login)) if login else None,
        query=Secret(parts.query) if parts.query else None,
        key_name=key_name,
        _secrets=tuple(map(Secret, kept)),
    )


def make_client(endpoint: Endpoint, *, connections: int, timeout: float) -> AsyncOpenAI:
    """A client without retries of its own. To be made and used in one event loop.

    Raises:
        EngineFailure: the openai package is missing.
    """
    try:
        import httpx2
        from openai import AsyncOpenAI, Omit
    except ImportError as error:
        raise EngineFailure(f"an openai model needs {error.name}: pip install 'openai>=3'") from None
    headers: dict[str, Any] = {}
    if endpoint.url != DEFAULT_BASE_URL:
        # Environment variables for OpenAI's own server are none of other servers' business.
        headers |= {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
    if endpoint.login is not None:
        headers["Authorization"] = "Basic " + base64.b64encode(endpoint.login.reveal().encode()).decode()
    limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
    options: dict[str, Any] = {"limits": limits, "timeout": httpx2.Timeout(timeout, pool=None)}
    if endpoint.query is not None:
        options["transport"] = _query_transport(endpoint, limits)
    return AsyncOpenAI(
        api_key=endpoint.key.reveal() if endpoint.key is not None and endpoint.login is None else "no-key",
        admin_api_key="",
        base_url=endpoint.url,
        max_retries=0,
        default_headers=headers,
        http_client=httpx2.AsyncClient(**options),
    )


def request_options(endpoint: Endpoint) -> dict[str, Any]:
    """Options of each request: without key and login the library has to be told each time that this is meant."""
    from openai import Omit

    anonymous = endpoint.key is None and endpoint.login is None
    return {"headers": {"Authorization": Omit()}} if anonymous else {}


def _query_transport(endpoint: Endpoint, limits: httpx2.Limits) -> httpx2.AsyncBaseTransport:
    """A transport that adds the query where no library logs it."""
    import httpx2

    assert endpoint.query is not None
    query = endpoint.query.reveal().encode()

    class QueryTransport(httpx2.AsyncHTTPTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            copy = httpx2.Request(
                request.method,
                request.url.copy_with(query=query),
                headers=request.headers,
                stream=request.stream,
                extensions=request.extensions,
            )
            return await super().handle_async_request(copy)

    return QueryTransport(limits=limits, proxy=_proxy_for(endpoint.url))


def _proxy_for(url: str) -> str | None:
    """The proxy that the environment names for an address; a client with a transport of its own does not look there."""
    parts = urlsplit(url)
    if proxy_bypass(parts.netloc):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")
