"""The `http` verb: one request, to a place that is allowed, without redirects, within bounds."""

import ipaddress
import json
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from threading import Event
from typing import cast

import httpx
from pydantic import JsonValue

from supervisor.adapters.executions.http.line import CallLine, LineShut, WatchedRequest
from supervisor.core.executions.entities import StepError
from supervisor.core.executions.inputs import Fails, Outcome, Stopped, Succeeded
from supervisor.core.executions.reduced import StepCall
from supervisor.core.flows.http_places import (
    HttpPlace,
    PlaceRefused,
    is_allowed,
    place_of_url,
    refusal_of_address,
)
from supervisor.core.values.errors import SecretMissing
from tasks.contract.connection_policy import SecretBinding
from tasks.contract.kafka_client import SecretRef

__all__ = ["ANSWER_BYTES_MAX", "SIZED_BYTES_MAX", "WITHIN_S", "HttpCalls"]

ANSWER_BYTES_MAX = 1024 * 1024
"""A larger answer fails the step."""
SIZED_BYTES_MAX = 16 * 1024
"""Of a larger body the size is an output, too: the body itself becomes an artifact."""
WITHIN_S = 300.0
"""A request that is not answered as a whole by then fails, also if a byte comes now and then."""
_PATIENCE = httpx.Timeout(30.0, connect=5.0)
_AGAIN = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_EARLY,
    HTTPStatus.TOO_MANY_REQUESTS,
}
"""Refusals that may pass, besides those of the server's own."""
_OWN_HEADERS = {"host", "content-length", "transfer-encoding", "connection"}
Addresses = Callable[[str, int], Sequence[str]]


def _resolved(host: str, port: int) -> Sequence[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True)
class HttpCalls:
    """Makes requests; safe to use from many threads."""

    allow: Sequence[str]
    """Hosts of `TIDEGATE_HTTP_ALLOW`; empty: this machine alone."""
    read_secret: Callable[[SecretRef], str]
    bindings: Mapping[str, SecretBinding]
    trust: ssl.SSLContext | bool = True
    resolve: Addresses = _resolved
    within_s: float = WITHIN_S
    """For a whole request."""

    def __call__(self, call: StepCall, cancel: Event) -> Outcome:
        """Make one request; its key goes as `Idempotency-Key`, the same after a loss."""
        arguments = call.arguments
        try:
            place = place_of_url(str(arguments["url"]))
            headers = {**self._headers(place, arguments), "Idempotency-Key": call.key}
        except (PlaceRefused, SecretMissing) as error:
            return _failed("refused", str(error))
        body = arguments.get("body")
        content = None if body is None else json.dumps(body).encode()
        if content is not None:
            headers.setdefault("Content-Type", "application/json")
        request = _Request(place, str(arguments.get("method", "GET")), headers, content)
        if cancel.is_set():
            return Stopped()
        making = WatchedRequest(lambda line: self._answered(request, cancel, line))
        outcome = making.wait(cancel, self.within_s)
        if making.is_late:
            return self._late(place, making.line)
        # Without an outcome it was left, and whatever it might still do is shut off.
        if outcome is None or (cancel.is_set() and isinstance(outcome, Fails)):
            return Stopped()
        return outcome

    def _late(self, place: HttpPlace, line: CallLine) -> Fails:
        if not line.is_open:
            why = f"{place.host} has no address or connection within {self.within_s:.0f} s"
            return _failed("unreachable", why, passes=True)
        why = f"{place.host} did not end its answer within {self.within_s:.0f} s"
        return _failed("no-answer", why, passes=True, known=False)  # it may have done it

    def _answered(self, request: "_Request", cancel: Event, line: CallLine) -> Outcome:
        place = request.place
        try:
            address = self._address(place)
        except PlaceRefused as error:
            return _failed("refused", str(error))
        except OSError as error:
            return _failed("unreachable", f"the host has no address: {error}", passes=True)
        try:
            line.check()
            return self._sent(request, address, cancel, line)
        except LineShut:
            return Stopped()
        except httpx.ConnectError as error:
            return _failed("unreachable", f"{place.host}: {error}", passes=True)
        except httpx.ConnectTimeout:
            return _failed("unreachable", f"{place.host} did not answer in time", passes=True)
        except httpx.HTTPError as error:  # it may have done what was wanted
            why = f"{place.host}: {str(error) or type(error).__name__}"
            return _failed("no-answer", why, passes=True, known=False)

    def _headers(self, place: HttpPlace, arguments: Mapping[str, JsonValue]) -> dict[str, str]:
        headers: dict[str, str] = {}
        given = arguments.get("headers") or {}
        for name, value in cast("Mapping[str, JsonValue]", given).items():
            if name.lower() in _OWN_HEADERS:
                raise PlaceRefused(f"the header {name} is set by the call itself")
            headers[name] = self._value(place, value)
        return headers

    def _value(self, place: HttpPlace, value: JsonValue) -> str:
        if not isinstance(value, dict):
            return str(value)
        name = value.get("secret")
        if not isinstance(name, str) or set(value) != {"secret"}:
            raise PlaceRefused('a header is a text, or {"secret": "TIDEGATE_SECRET_..."}')
        hosts = self.bindings[name].hosts if name in self.bindings else None
        if hosts is not None and not is_allowed(place, hosts):
            raise PlaceRefused(f"the secret {name} may not be sent to {place.host}")
        return self.read_secret(SecretRef(environment=name))

    def _address(self, place: HttpPlace) -> str:
        if not is_allowed(place, self.allow):
            fix = "TIDEGATE_HTTP_ALLOW of the overlords names the hosts that flows may call"
            raise PlaceRefused(f"{place.host} is not allowed: {fix}")
        addresses = self.resolve(place.host, place.port)
        for each in addresses:
            why = refusal_of_address(place, ipaddress.ip_address(each.split("%")[0]), self.allow)
            if why is not None:
                raise PlaceRefused(why)
        return addresses[0]

    def _sent(self, request: "_Request", address: str, cancel: Event, line: CallLine) -> Outcome:
        place = request.place
        host = f"[{address}]" if ":" in address else address
        url = f"{place.scheme}://{host}:{place.port}{place.target}"
        with (
            httpx.Client(
                timeout=_PATIENCE, trust_env=False, verify=self.trust, follow_redirects=False
            ) as client,
            client.stream(
                request.method,
                url,
                headers={**request.headers, "Host": place.header},
                content=request.content,
                extensions={"sni_hostname": place.host, "trace": line.trace},
            ) as answer,
        ):
            if answer.is_redirect:
                return _failed("redirect", f"{place.host} redirects; name the URL itself")
            body, size = bytearray(), 0
            for piece in answer.iter_bytes():
                if cancel.is_set():
                    return Stopped()
                size += len(piece)
                if size > ANSWER_BYTES_MAX:
                    why = f"the answer of {place.host} has more than {ANSWER_BYTES_MAX} bytes"
                    return _failed("answer-too-large", why, known=False)
                body += piece
            return _outcome(place, answer.status_code, bytes(body))


@dataclass(frozen=True)
class _Request:
    """What is sent, and where."""

    place: HttpPlace
    method: str
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None


def _outcome(place: HttpPlace, status: int, body: bytes) -> Outcome:
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return Succeeded(dict(_outputs(status, body)))
    by_server = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    text = body[:200].decode("utf-8", "replace").strip()
    why = f"{place.host} answered {status}" + (f": {text}" if text else "")
    return _failed(f"http-{status}", why, passes=by_server or status in _AGAIN, known=not by_server)


def _outputs(status: int, body: bytes) -> Iterator[tuple[str, JsonValue]]:
    yield "status", status
    if len(body) > SIZED_BYTES_MAX:
        yield "bytes", len(body)
    try:
        yield "body", json.loads(body)
    except ValueError:
        yield "body", body.decode("utf-8", "replace")


def _failed(code: str, why: str, *, passes: bool = False, known: bool = True) -> Fails:
    return Fails(StepError(code, why, passes=passes, known=known))
