"""Getting in touch with a Ray cluster, and what it has to offer."""

from __future__ import annotations

import os
import re
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from pytest_gnt.config import RaySettings
from pytest_gnt.errors import GntError

LOCAL = "local"
PROBE_SECONDS = 5.0

_PLACE = re.compile(r"(?:ray://)?(?P<host>[^/\s:]+|\[[^\]]+\]):(?P<port>\d+)")
_SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _SETTINGS
"""How HTTP/2 begins (RFC 9113, section 3.4): a fixed line and a frame of settings, answered by another such frame."""

_ADVICE = 'start one (ray start --head), set [ray] address in gnt.toml or RAY_ADDRESS, or ask for address = "local"'


def connect(settings: RaySettings) -> tuple[Any, bool]:
    """Connect this process with the cluster.

    Returns:
        The ``ray`` package, and whether the connection is ours to end (it is not where there was one already).

    Raises:
        GntError: Ray is not installed, or the cluster cannot be reached or is of another version.
    """
    address = settings.address or os.environ.get("RAY_ADDRESS") or "auto"
    _probe(address)
    with _own_signal_handlers():
        try:
            import ray
        except ImportError as error:
            raise GntError(f"--gnt-executor=ray needs Ray: run  pip install 'pytest-gnt[ray]' ({error})") from None
        if ray.is_initialized():
            return ray, False
        if address == "auto":
            _probe(_cluster_of_this_machine() or address)
        options: dict[str, Any] = {"runtime_env": settings.runtime_env} if settings.runtime_env else {}
        if address == LOCAL:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            options["include_dashboard"] = False
        try:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", **options)
        except (ConnectionError, RuntimeError, ValueError, OSError, ray.exceptions.RayError) as error:
            raise GntError(f"the Ray cluster {address!r} cannot be used: {_why(error)}") from error
    return ray, True


def nodes(ray: Any) -> list[Mapping[str, float]]:
    """The resources of each node that is alive."""
    return [node["Resources"] for node in ray.nodes() if node["Alive"]]


def amount(ray: Any, resource: str) -> float:
    """How much of a resource the cluster has, in use or not."""
    return sum(node.get(resource, 0.0) for node in nodes(ray))


def some_node_has(ray: Any, wanted: Mapping[str, float]) -> bool:
    """Whether one node by itself has all that an actor asks for, in use or not."""
    return any(all(node.get(name, 0.0) >= value for name, value in wanted.items()) for node in nodes(ray))


def first_line(error: object) -> str:
    """The gist of one of Ray's messages, which may go on for pages."""
    lines = str(error).strip().splitlines()
    return lines[0].strip().rstrip(".")[:300] if lines else type(error).__name__


def _probe(address: str) -> None:
    """Find out within seconds that nobody is there: Ray tries for minutes, and may end the process.

    Raises:
        GntError: nothing listens at the address, or nothing that speaks Ray's protocol (gRPC, so HTTP/2).
    """
    place = _PLACE.fullmatch(address)
    if place is None:
        if address not in ("auto", LOCAL):
            raise GntError(f"the Ray address {address!r} must be HOST:PORT, ray://HOST:PORT, auto or local")
        return
    try:
        with socket.create_connection((place["host"].strip("[]"), int(place["port"])), PROBE_SECONDS) as connection:
            if os.environ.get("RAY_USE_TLS", "0") == "0":
                connection.sendall(_HELLO)
                _check_hello(connection.recv(len(_SETTINGS)))
    except (OSError, OverflowError) as error:
        raise GntError(f"no Ray cluster answers at {address}: {error}; {_ADVICE}") from None


def _why(error: BaseException) -> str:
    """What keeps us from a cluster, and what to do about it. The reason may lie several errors deep."""
    deeper: BaseException | None = error
    while deeper is not None:
        if "InvalidAuthToken" in str(deeper):
            return (
                "it asks for a token: set RAY_AUTH_MODE=token, and have the cluster's token in ~/.ray/auth_token or in "
                "RAY_AUTH_TOKEN"
            )
        deeper = deeper.__cause__ or deeper.__context__
    return f"{first_line(error)}; {_ADVICE}"


def _cluster_of_this_machine() -> str | None:
    """Where ``auto`` leads: a file tells, which a cluster that was killed leaves behind.

    Ray has no public way to ask; where this one is gone, Ray finds out by itself, slowly.
    """
    with suppress(Exception):
        from ray._private.services import canonicalize_bootstrap_address

        found = canonicalize_bootstrap_address("auto")
        return found if isinstance(found, str) else None
    return None


def _check_hello(answer: bytes) -> None:
    if answer[3:4] != _SETTINGS[3:4]:
        raise OSError("something else than Ray listens there")


@contextmanager
def _own_signal_handlers() -> Iterator[None]:
    """Keep the process' own: Ray puts a handler for SIGTERM in their place, which ends it without a report."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)
