"""The operator's rules for connections: where a spec may connect, how, and with which secrets.

    TIDEGATE_KAFKA_ALLOW, TIDEGATE_REGISTRY_ALLOW    hosts that specs may name
    TIDEGATE_KAFKA_TLS=required                      no connection to a broker without TLS
    TIDEGATE_SECRET_X_FOR="hosts=… tables=…"         where one secret may be sent, and for whom

Pure.  The overlord checks a spec when it is posted, the worker before each task and sample.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from tasks.contract.ingest_spec import IngestSpec
from tasks.contract.kafka_client import KafkaClient, SecretRef, refused_hosts
from tasks.contract.patterns import matches_any
from tasks.contract.registry import Registry, refused_registries

_TLS = frozenset({"SSL", "SASL_SSL"})
_TABLES = re.compile(r"[A-Za-z0-9_.*-]{1,128}")
_HOST = re.compile(r"[A-Za-z0-9_.\[\]:-]{1,255}")
_BINDING_FORM = "hosts=kafka:9093,registry:8081 tables=web-*,logs"


class Connects(StrEnum):
    """A part of a spec that connects somewhere."""

    BROKERS = "brokers"
    TLS = "tls"
    REGISTRY = "registry"
    SECRET = "secret"  # noqa: S105 -- a word


@dataclass(frozen=True)
class ConnectionRefusal:
    """A part of a spec that breaks a rule, with a text for the spec's author."""

    part: Connects
    text: str


@dataclass(frozen=True)
class SecretBinding:
    """Where one secret may be sent, and for the specs of which tables."""

    hosts: tuple[str, ...] | None = None
    """`host` (any port) or `host:port`, in lower case; None: any host."""
    tables: tuple[str, ...] | None = None
    """Patterns of tables; None: every table."""


def read_binding(text: str) -> SecretBinding:
    """Read the value of a `TIDEGATE_SECRET_X_FOR`.

    Raises:
        ValueError: the text has another form; the message shows the form.
    """
    parts: dict[str, tuple[str, ...]] = {}
    for part in text.split():
        name, equals, value = part.partition("=")
        form = {"hosts": _HOST, "tables": _TABLES}.get(name)
        values = tuple(value.split(","))
        if form is None or not equals or not all(map(form.fullmatch, values)) or name in parts:
            raise ValueError(f"write hosts, tables or both, such as {_BINDING_FORM}")
        parts[name] = values
    if not parts:
        raise ValueError(f"it is empty: write hosts, tables or both, such as {_BINDING_FORM}")
    hosts = parts.get("hosts")
    lowered = None if hosts is None else tuple(host.lower() for host in hosts)
    return SecretBinding(lowered, parts.get("tables"))


@dataclass(frozen=True)
class ConnectionPolicy:
    """The rules of one process."""

    kafka_allow: tuple[str, ...] | None = None
    """Brokers (`host` or `host:port`) that a spec may name; None: any."""
    registry_allow: tuple[str, ...] | None = None
    """Schema registries (`host` or `host:port`) that a spec may name; None: any."""
    kafka_tls: bool = False
    """Whether connections to brokers must use TLS."""
    bindings: Mapping[str, SecretBinding] = field(default_factory=dict)
    """Variable of a secret -> its binding; a secret without one may be sent to any allowed host."""

    def refusals(self, spec: IngestSpec) -> Iterator[ConnectionRefusal]:
        """Yield what a task of `spec` may not do; nothing: it may connect."""
        yield from self.client_refusals(spec.kafka)
        if hosts := refused_registries(spec.registry_urls, self.registry_allow):
            yield ConnectionRefusal(Connects.REGISTRY, ", ".join(hosts))
        for registry in (spec.value_registry, spec.key_registry):
            if registry is not None:
                yield from self._misdirected_to(registry)
        for name in sorted({each.environment for each in _secrets_of(spec)}):
            tables = self._binding(name).tables
            if tables is not None and not matches_any(tables, spec.data_source):
                text = f"{name} is no secret for the table {spec.data_source}"
                yield ConnectionRefusal(Connects.SECRET, text)

    def client_refusals(self, client: KafkaClient) -> Iterator[ConnectionRefusal]:
        """Yield what a client of Kafka may not do, whatever its table is."""
        if hosts := refused_hosts(client.bootstrap_servers, self.kafka_allow):
            yield ConnectionRefusal(Connects.BROKERS, ", ".join(hosts))
        if self.kafka_tls and client.security_protocol.value not in _TLS:
            yield ConnectionRefusal(Connects.TLS, client.security_protocol.value)
        for secret in client.secrets:
            allowed = self._binding(secret.environment).hosts
            if hosts := refused_hosts(client.bootstrap_servers, allowed):
                yield _misdirected(secret, hosts)

    def _misdirected_to(self, registry: Registry) -> Iterator[ConnectionRefusal]:
        for secret in registry.secrets:
            allowed = self._binding(secret.environment).hosts
            if hosts := refused_registries(registry.urls, allowed):
                yield _misdirected(secret, hosts)

    def _binding(self, name: str) -> SecretBinding:
        return self.bindings.get(name, _UNBOUND)


def connection_refusal(policy: ConnectionPolicy, spec: IngestSpec) -> str:
    """Return why a worker may not connect for a spec, or ''."""
    return "; ".join(_WORKERS_TEXT[each.part].format(each.text) for each in policy.refusals(spec))


_WORKERS_TEXT = {
    Connects.BROKERS: "this worker may not connect to the brokers {}",
    Connects.TLS: "this worker connects to brokers by TLS only, not by {}",
    Connects.REGISTRY: "this worker may not connect to the schema registries {}",
    Connects.SECRET: "{} (set by its operator)",
}
_UNBOUND = SecretBinding()


def _misdirected(secret: SecretRef, hosts: Sequence[str]) -> ConnectionRefusal:
    text = f"{secret.environment} may not be sent to {', '.join(hosts)}"
    return ConnectionRefusal(Connects.SECRET, text)


def _secrets_of(spec: IngestSpec) -> Iterable[SecretRef]:
    registries = (spec.value_registry, spec.key_registry)
    held = (registry.secrets for registry in registries if registry is not None)
    return (*spec.kafka.secrets, *(secret for secrets in held for secret in secrets))
