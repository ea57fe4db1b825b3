"""Verbs that the overlord makes which leads: one request per call, again until it is answered.

Verbs are idempotent by the key of the call, so a repeat finds what the first one did.  A follower
names the leader, as it does for workers.

An overlord that is frozen holds a call and never answers, while another one may lead by now.  So
the others are asked too, after some seconds: whoever does not lead refuses at once.
"""

import json
import socket
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

import httpx
import structlog

from supervisor.core.executions.entities import StepError
from supervisor.core.executions.inputs import Fails, Outcome, Stopped
from supervisor.core.executions.records import (
    CALL_FORM,
    OUTCOME_FORM,
    RECORD_VERSION,
    NewerRecord,
    UnreadableRecord,
)
from supervisor.core.executions.reduced import StepCall

__all__ = ["STEPS_PATH", "RemoteVerb"]

log = structlog.get_logger()

STEPS_PATH = "/internal/v1/steps"
TOKEN_HEADER = "X-Tidegate-Token"  # noqa: S105 -- the name of a header
_PATIENCE = httpx.Timeout(30.0, read=600.0, connect=2.0)
"""A proof may take its time; whoever is gone is noticed by the keep-alive of its connection."""
_KEPT_ALIVE = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 10),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
)
_AGAIN_S, _AGAIN_MAX_S = 0.2, 5.0
_LOOK_S = 0.1
_OTHERS_AFTER_S = 10.0
"""A call that is not answered for so long may be held by an overlord that is frozen."""
_TEXT_MAX = 500
_FINAL = {
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
}
"""The same request would get the same answer."""


@dataclass
class RemoteVerb:
    """Makes calls of every verb that is none of this process; safe to use from many threads."""

    overlords: Sequence[str]
    """Their base addresses."""
    token: str | None = field(repr=False)
    """That of this process; overlords on loopback need none."""
    trust: ssl.SSLContext | bool = True
    others_after_s: float = _OTHERS_AFTER_S

    def __post_init__(self) -> None:
        """Read the authorities once: each call has a client of its own."""
        self._tls = self.trust
        if self.trust is True and any(one.startswith("https") for one in self.overlords):
            self._tls = httpx.create_ssl_context()
        self._leader = self.overlords[0].rstrip("/")

    def __call__(self, call: StepCall, cancel: threading.Event) -> Outcome:
        """Ask until there is an answer, or the call is cancelled: the leader hears of that too."""
        asking = _Asking(self, call)
        asking.start()
        others_at = time.monotonic() + self.others_after_s
        while not asking.done.wait(_LOOK_S):
            if cancel.is_set():
                asking.hang_up()
                return Stopped()
            if time.monotonic() > others_at:
                others_at = time.monotonic() + self.others_after_s
                asking.ask_others()
        asking.hang_up()  # whoever still holds it
        assert asking.outcome is not None
        return asking.outcome

    def in_turn(self) -> list[str]:
        """Return the addresses, the one that led last first."""
        known = [each.rstrip("/") for each in self.overlords]
        return [self._leader, *(each for each in known if each != self._leader)]

    def follow(self, address: str) -> None:
        """Ask this one first from now on."""
        self._leader = address

    def client(self) -> httpx.Client:
        """Return a client for one call."""
        verify = self._tls if isinstance(self._tls, ssl.SSLContext) else False
        transport = httpx.HTTPTransport(verify=verify, socket_options=_KEPT_ALIVE)
        headers = {} if self.token is None else {TOKEN_HEADER: self.token}
        return httpx.Client(
            transport=transport, timeout=_PATIENCE, headers=headers, trust_env=False
        )


@dataclass
class _Asking:
    """One call, in threads of its own: one goes round, one asks the others of a silent overlord."""

    verb: RemoteVerb
    call: StepCall
    done: threading.Event = field(default_factory=threading.Event)
    outcome: Outcome | None = None
    _over: threading.Event = field(default_factory=threading.Event)
    _held_by: str = ""
    """The address whose answer is awaited now."""
    _lines: set[socket.socket] = field(default_factory=set)
    _others: threading.Thread | None = None

    def __post_init__(self) -> None:
        """Write the request."""
        self._body = b'{"call":' + CALL_FORM.write(self.call) + b"}"

    def start(self) -> None:
        """Begin to ask."""
        threading.Thread(target=self._run, name="step-remote", daemon=True).start()

    def ask_others(self) -> None:
        """Ask those who do not hold the call now, once, unless that is under way."""
        if self._others is None or not self._others.is_alive():
            self._others = threading.Thread(target=self._ask_rest, name="step-others", daemon=True)
            self._others.start()

    def hang_up(self) -> None:
        """End the call: the leader sees its connection end."""
        self._over.set()
        for line in list(self._lines):
            try:
                line.shutdown(socket.SHUT_RDWR)
            except OSError:
                log.debug("the connection has ended already", call=self.call.key)

    def _run(self) -> None:
        """Ask again and again."""
        pause_s, last = _AGAIN_S, ""
        while not self._over.is_set():
            trouble = self._ask_each()
            if self.done.is_set():
                return
            if trouble != last and not self._over.is_set():
                log.warning("a step waits for the leader", step=self.call.step, why=trouble)
            last = trouble
            self._over.wait(pause_s)
            pause_s = min(pause_s * 2, _AGAIN_MAX_S)

    def _ask_each(self) -> str:
        """Ask one address after the other; return why none has answered."""
        untried, troubles = self.verb.in_turn(), []
        while untried and not self._over.is_set():
            self._held_by = address = untried.pop(0)
            leader, trouble = self._ask(address)
            if self.done.is_set():
                return ""
            troubles.append(trouble)
            if leader in untried:
                untried.remove(leader)
                untried.insert(0, leader)
        return "; ".join(troubles)

    def _ask_rest(self) -> None:
        for address in self.verb.in_turn():
            if address != self._held_by and not self._over.is_set():
                self._ask(address)

    def _ask(self, address: str) -> tuple[str, str]:
        """Ask one address; return who leads, as it says, and why it has given no outcome."""
        try:
            with self.verb.client() as client:
                answer = client.post(
                    f"{address}{STEPS_PATH}",
                    content=self._body,
                    headers={"Content-Type": "application/json"},
                    extensions={"trace": self._trace},
                )
        except (httpx.HTTPError, OSError) as error:
            return "", f"{address}: {str(error) or type(error).__name__}"
        members = _members(answer)
        outcome = _outcome_of(answer, members)
        if outcome is not None:
            self.verb.follow(address)
            self.outcome = outcome
            self.done.set()
        leader = str(members.get("leader") or "").rstrip("/")
        return leader, f"{address}: {answer.status_code} {_text(members)}"

    def _trace(self, event: str, info: Mapping[str, object]) -> None:
        """Keep the sockets, so that they can be shut from another thread."""
        if event == "connection.connect_tcp.complete":
            stream = info["return_value"]
            self._lines.add(stream.get_extra_info("socket"))  # type: ignore[attr-defined]  # httpcore
            if self._over.is_set():
                self.hang_up()


def _members(answer: httpx.Response) -> Mapping[str, object]:
    try:
        body: object = answer.json()
    except ValueError:
        return {"detail": answer.text[:_TEXT_MAX]}
    return body if isinstance(body, dict) else {"detail": str(body)[:_TEXT_MAX]}


def _outcome_of(answer: httpx.Response, members: Mapping[str, object]) -> Outcome | None:
    """Return what came of a call; None: another moment may give another answer."""
    if answer.status_code == HTTPStatus.OK:
        given = members.get("outcome")
        if not isinstance(given, dict):
            return None
        try:
            return OUTCOME_FORM.read(json.dumps({"v": RECORD_VERSION, **given}).encode())
        except (UnreadableRecord, NewerRecord):
            return None
    if answer.status_code == HTTPStatus.NOT_FOUND and str(members.get("type")).startswith("/"):
        return Fails(StepError("unknown-verb", _text(members)))
    if answer.status_code in _FINAL:
        return Fails(StepError("refused", _text(members)))
    return None


def _text(members: Mapping[str, object]) -> str:
    return str(members.get("detail") or members.get("title") or "")[:_TEXT_MAX]
