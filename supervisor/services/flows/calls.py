"""What `http` steps need of the overlords that make their calls: hosts and secrets.

Where executors make the calls, only they know which hosts are allowed and which secrets there are.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from supervisor.core.flows.document import FlowDocument
from supervisor.core.flows.http_places import HttpPlace, is_allowed
from supervisor.core.flows.literals import literal_place
from supervisor.core.flows.placed import placed_steps
from supervisor.core.flows.steps import HttpStep
from supervisor.core.flows.triggers import WebhookTrigger
from supervisor.core.values.errors import FieldError, SecretMissing
from supervisor.core.values.field_types import pointer_part
from tasks.contract.connection_policy import SecretBinding
from tasks.contract.kafka_client import SecretRef

__all__ = ["OutgoingRules", "call_errors", "trigger_errors"]

_SET_IT = "set it for every overlord, and start them anew"


@dataclass(frozen=True)
class OutgoingRules:
    """Where the overlords let `http` steps go."""

    allow: Sequence[str]
    """Hosts of `TIDEGATE_HTTP_ALLOW`, in small letters; empty: this machine alone."""
    bindings: Mapping[str, SecretBinding]
    """Name of a secret -> where it may be sent."""


def call_errors(
    flow: FlowDocument, rules: OutgoingRules, read_secret: Callable[[SecretRef], str]
) -> Iterator[FieldError]:
    """Yield why literal URLs and secrets of `http` steps cannot be used; their form is right."""
    for pointer, step in placed_steps(flow):
        if not isinstance(step, HttpStep):
            continue
        place = literal_place(step.url)
        if place is not None and not is_allowed(place, rules.allow):
            hint = f"have the operator add it to TIDEGATE_HTTP_ALLOW: {place.host}"
            yield FieldError(f"{pointer}/url", f"{place.host} is not allowed", hint)
        for name, value in step.headers.items():
            secret = value.get("secret") if isinstance(value, dict) else None
            if isinstance(secret, str) and "${" not in secret:
                where = f"{pointer}/headers/{pointer_part(name)}/secret"
                yield from _secret_errors(where, secret, place, rules)
                yield from _missing(where, secret, read_secret)


def trigger_errors(
    flow: FlowDocument, read_secret: Callable[[SecretRef], str]
) -> Iterator[FieldError]:
    """Yield which secrets of webhooks are not there."""
    for at, each in enumerate(flow.triggers):
        if isinstance(each, WebhookTrigger):
            yield from _missing(f"/triggers/{at}/secret", each.secret, read_secret)


def _secret_errors(
    pointer: str, secret: str, place: HttpPlace | None, rules: OutgoingRules
) -> Iterator[FieldError]:
    hosts = rules.bindings[secret].hosts if secret in rules.bindings else None
    if place is not None and hosts is not None and not is_allowed(place, hosts):
        hint = f"name a secret for {place.host}, or have the operator change {secret}_FOR"
        yield FieldError(pointer, f"the secret {secret} may not be sent to {place.host}", hint)


def _missing(
    pointer: str, secret: str, read_secret: Callable[[SecretRef], str]
) -> Iterator[FieldError]:
    try:
        read_secret(SecretRef(environment=secret))
    except SecretMissing as error:
        yield FieldError(pointer, str(error), _SET_IT)
