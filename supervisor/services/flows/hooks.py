"""Webhooks: a request that knows a trigger's secret starts an execution; others learn nothing.

request ─► locked out? ─► trigger, secret ─► wrong: one failure more, and always the same answer
                                         └─► right: the firing of its key, once
"""

import hashlib
import hmac
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import cast

import structlog
from pydantic import JsonValue

from supervisor.core.flows.stored_triggers import StoredTrigger
from supervisor.core.flows.triggers import WebhookTrigger
from supervisor.core.values.errors import (
    ExecutionConflict,
    InvalidSpec,
    SecretMissing,
    StepRefuses,
    TooManyRequests,
    Unauthenticated,
)
from supervisor.core.values.json_bodies import parse_document
from supervisor.core.values.throttle import Failures, Lockout, failed, locked_s, retry_after
from supervisor.executions.triggers import CannotFire, TriggerEngine
from supervisor.ports.clock import Clock
from supervisor.ports.flows.executions import ExecutionStore
from supervisor.services.access.remembered import Remembered
from supervisor.services.flows.access import answered
from tasks.contract.kafka_client import SecretRef

__all__ = ["HookDoor", "HookRequest", "Hooks"]

log = structlog.get_logger()

SIGNED_WITHIN = timedelta(minutes=5)
"""How far the time of a signature may be from that of this machine."""
PER_ADDRESS = 10
"""An address may fail this many times as often as it may for one trigger."""
WRONG = "there is no such trigger, or the signature, its time or the token is wrong"
_DIGITS_MAX = 12


@dataclass(frozen=True)
class HookRequest:
    """What came in."""

    flow: str
    trigger: str
    body: bytes
    address: str
    timestamp: str = ""
    signature: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    key: str | None = None
    """A repeat with it finds the execution."""


class HookDoor:
    """Counts failures, by trigger and address and by address; safe to use from many threads."""

    def __init__(self, clock: Clock, rule: Lockout) -> None:
        self._clock = clock
        self._of_one = rule
        self._of_address = Lockout(rule.failures_max * PER_ADDRESS, rule.lasts_s)
        self._lock = threading.Lock()
        self._failures: Remembered[Failures] = Remembered()

    def require_open(self, place: tuple[str, ...], address: str) -> None:
        """Return if an address may try.

        Raises:
            TooManyRequests: it has failed too often.
        """
        now_s = self._clock.monotonic()
        with self._lock:
            wait_s = max(
                locked_s(self._failures.get(key), rule, now_s)
                for key, rule in self._counted(place, address)
            )
        if wait_s:
            message = "too many wrong signatures or tokens from here: wait, then try again"
            raise TooManyRequests(message, retry_after(wait_s))

    def fail(self, place: tuple[str, ...], address: str) -> None:
        """Count a failure."""
        now_s = self._clock.monotonic()
        with self._lock:
            for key, rule in self._counted(place, address):
                self._failures.put(key, failed(self._failures.get(key), rule, now_s))

    def _counted(
        self, place: tuple[str, ...], address: str
    ) -> tuple[tuple[tuple[str, ...], Lockout], ...]:
        return ((*place, address), self._of_one), ((address,), self._of_address)


@dataclass(frozen=True)
class Hooks:
    """Takes requests; one instance per process, safe to call from many threads."""

    executions: ExecutionStore
    engine: TriggerEngine
    clock: Clock
    door: HookDoor
    read_secret: Callable[[SecretRef], str]
    """Raises `SecretMissing`."""
    begun: Callable[[], None] = lambda: None
    """Called when there may be calls to make."""

    def take(self, request: HookRequest) -> tuple[str, bool]:
        """Return the execution of a request, and whether it is new.

        Raises:
            Unauthenticated: the secret is wrong, or there is no such trigger.
            TooManyRequests: this address has failed too often.
            InvalidSpec: the body is no JSON object.
            InvalidInputs: the flow takes others.
            StepRefuses: the trigger is paused, or cannot fire.
            ExecutionConflict: the key came with another body.
            ExecutionStoreUnavailable, LeaseLost: nothing was started here.
        """
        place = (request.flow, request.trigger)
        self.door.require_open(place, request.address)
        with answered(), self.executions.reading() as rows:
            trigger = rows.triggers.find(*place)
        if not self._is_right(trigger, request) or trigger is None:
            self.door.fail(place, request.address)
            raise Unauthenticated(WRONG)
        if trigger.paused:
            self._pass_by(trigger, "it is paused")
            raise StepRefuses(f"{request.flow}/{request.trigger}: it is paused")
        try:
            body: Mapping[str, object] = parse_document(request.body) if request.body else {}
        except InvalidSpec:
            self._pass_by(trigger, "the body of a request is no JSON object")
            raise
        return self._fired(trigger, request, dict(body))

    def _pass_by(self, trigger: StoredTrigger, why: str) -> None:
        with answered():
            self.engine.pass_by(trigger, why)

    def _fired(
        self, trigger: StoredTrigger, request: HookRequest, body: dict[str, object]
    ) -> tuple[str, bool]:
        digest = hashlib.sha256(request.body).hexdigest()
        about: dict[str, JsonValue] = {"type": "webhook", "name": trigger.name}
        unkept: dict[str, JsonValue] = {"body": cast("JsonValue", body)}
        try:
            with answered():
                fired = self.engine.take_request(trigger, _slot_of(request), about, unkept, digest)
        except CannotFire as error:
            raise StepRefuses(f"{request.flow}/{request.trigger}: {error}") from None
        if fired.digest != digest:
            raise ExecutionConflict(fired.execution)
        self.begun()
        return fired.execution, fired.is_new

    def _is_right(self, trigger: StoredTrigger | None, request: HookRequest) -> bool:
        """Tell whether the secret is the trigger's; where there is none it takes as long."""
        secret, auth = self._secret_of(trigger)
        if auth == "token":
            return _same(secret, request.token) and trigger is not None
        signed = f"{request.timestamp}.".encode() + request.body
        signature = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
        right = _same(f"sha256={signature}", request.signature)
        return right and self._is_fresh(request.timestamp) and trigger is not None

    def _secret_of(self, trigger: StoredTrigger | None) -> tuple[str, str]:
        nobodys = secrets.token_urlsafe(32)
        if trigger is None or not isinstance(trigger.definition, WebhookTrigger):
            return nobodys, "hmac"
        try:
            secret = self.read_secret(SecretRef(environment=trigger.definition.secret))
        except SecretMissing as error:
            log.warning("a webhook has no secret", flow=trigger.flow, why=str(error))
            return nobodys, trigger.definition.auth
        return secret or nobodys, trigger.definition.auth

    def _is_fresh(self, timestamp: str) -> bool:
        if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= _DIGITS_MAX):
            return False
        away_s = abs(self.clock.now().timestamp() - int(timestamp))
        return away_s <= SIGNED_WITHIN.total_seconds()


def _same(wanted: str, given: str) -> bool:
    return hmac.compare_digest(wanted.encode(), given.encode())


def _slot_of(request: HookRequest) -> str:
    """Return what a repeat of a request has as well: its key, else what it was signed with."""
    if request.key is not None:
        return _hashed("k", request.key)
    if request.signature:
        return _hashed("s", request.signature)
    return f"~r{secrets.token_hex(16)}"


def _hashed(kind: str, text: str) -> str:
    return f"~{kind}{hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}"
