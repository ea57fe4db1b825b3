"""Kafka client configuration: one closed model, translated to the properties of each client.

The model is an allow-list: a property without a field in the model cannot reach a client.
`supervisor.core.spec.sections.kafka_properties` reads specs into the model.  The worker builds its
clients from the model alone and checks the brokers' hosts again (`refused_hosts`).
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol

from pydantic import Field, model_validator

from tasks.contract.wire import Wire


class SecurityProtocol(StrEnum):
    """Security protocol of a connection to Kafka, with Kafka's names."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"


class SaslMechanism(StrEnum):
    """The password mechanisms; Kerberos and OAuth are refused by design."""

    PLAIN = "PLAIN"
    SCRAM_SHA_256 = "SCRAM-SHA-256"
    SCRAM_SHA_512 = "SCRAM-SHA-512"


BINDING = "_FOR"
"""End of the name of a variable that says where a secret may be sent, and is none itself."""


class SecretRef(Wire):
    """Reference to a secret: an environment variable of the process that needs the secret."""

    environment: str = Field(pattern=r"^TIDEGATE_SECRET_[A-Za-z0-9_]{1,100}$")
    """The prefix is the allow-list: a spec cannot read other variables of the server."""


class KafkaClient(Wire):
    """Everything a spec may say about a connection to Kafka; secrets are references."""

    bootstrap_servers: str = Field(min_length=3, max_length=2_000)
    """Comma-separated `host:port`."""
    security_protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    sasl_mechanism: SaslMechanism | None = None
    sasl_username: str | None = Field(default=None, min_length=1, max_length=500)
    sasl_password: SecretRef | None = None
    ssl_ca_pem: str | None = Field(default=None, max_length=200_000)
    ssl_certificate_pem: str | None = Field(default=None, max_length=200_000)
    ssl_key_pem: SecretRef | None = None
    ssl_key_password: SecretRef | None = None
    client_id: str | None = Field(default=None, pattern=r"^[A-Za-z0-9._-]{1,200}$")
    client_rack: str | None = Field(default=None, pattern=r"^[A-Za-z0-9._-]{1,200}$")
    fetch_min_bytes: int | None = Field(default=None, ge=1, le=100_000_000)
    fetch_max_bytes: int | None = Field(default=None, ge=1_024, le=1_000_000_000)
    fetch_max_wait_ms: int | None = Field(default=None, ge=0, le=60_000)
    max_partition_fetch_bytes: int | None = Field(default=None, ge=1_024, le=1_000_000_000)
    session_timeout_ms: int | None = Field(default=None, ge=6_000, le=3_600_000)
    metadata_max_age_ms: int | None = Field(default=None, ge=1_000, le=86_400_000)

    @model_validator(mode="after")
    def _has_what_its_protocol_needs(self) -> "KafkaClient":
        by_password = self.security_protocol.startswith("SASL")
        complete = self.sasl_mechanism and self.sasl_username and self.sasl_password
        if by_password and not complete:
            raise ValueError(
                f"security.protocol {self.security_protocol} needs sasl.mechanism, "
                "sasl.username and sasl.password"
            )
        return self

    @property
    def secrets(self) -> tuple[SecretRef, ...]:
        """Every secret that a client with this configuration needs."""
        named = (self.sasl_password, self.ssl_key_pem, self.ssl_key_password)
        return tuple(secret for secret in named if secret is not None)


ReadSecret = Callable[[SecretRef], str]
"""Looks one secret up; raises the plane's own error if the secret is not set."""

OF_ADMIN_CLIENTS: Mapping[str, str] = MappingProxyType(
    {"topic.metadata.refresh.interval.ms": "2000"}
)
"""Properties of admin clients, beside those of `librdkafka_properties`.  An admin client sends its
requests to the controller, which with KRaft may be any broker.  If that broker dies, the client
learns of another one only when it next refreshes its metadata, by default after five minutes.
Until then the client answers nothing and keeps a processor busy (librdkafka 2.16)."""

_TUNING = {
    # field: (Java client, librdkafka)
    "client_id": ("client.id", "client.id"),
    "client_rack": ("client.rack", "client.rack"),
    "fetch_min_bytes": ("fetch.min.bytes", "fetch.min.bytes"),
    "fetch_max_bytes": ("fetch.max.bytes", "fetch.max.bytes"),
    "fetch_max_wait_ms": ("fetch.max.wait.ms", "fetch.wait.max.ms"),
    "max_partition_fetch_bytes": ("max.partition.fetch.bytes", "max.partition.fetch.bytes"),
    "session_timeout_ms": ("session.timeout.ms", "session.timeout.ms"),
    "metadata_max_age_ms": ("metadata.max.age.ms", "metadata.max.age.ms"),
}


def java_properties(client: KafkaClient, read_secret: ReadSecret) -> dict[str, str]:
    """Return the properties for Kafka's Java client, which Spark's connector uses.

    The JAAS line is built here from a fixed module name and quoted values.  A JAAS line of a spec
    never reaches the client, because a login module named by a user runs code (CVE-2023-25194).
    """
    properties = {
        "bootstrap.servers": client.bootstrap_servers,
        "security.protocol": client.security_protocol.value,
    }
    if client.sasl_mechanism and client.sasl_username and client.sasl_password:
        plain = client.sasl_mechanism is SaslMechanism.PLAIN
        module = "plain.PlainLoginModule" if plain else "scram.ScramLoginModule"
        properties["sasl.mechanism"] = client.sasl_mechanism.value
        properties["sasl.jaas.config"] = (
            f"org.apache.kafka.common.security.{module} required "
            f"username={_jaas_quoted(client.sasl_username)} "
            f"password={_jaas_quoted(read_secret(client.sasl_password))};"
        )
    if client.ssl_ca_pem:
        properties |= {
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": client.ssl_ca_pem,
        }
    if client.ssl_certificate_pem and client.ssl_key_pem:
        properties |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": client.ssl_certificate_pem,
            "ssl.keystore.key": read_secret(client.ssl_key_pem),
        }
    if client.ssl_key_password:
        properties["ssl.key.password"] = read_secret(client.ssl_key_password)
    return properties | _tuned(client, 0)


def librdkafka_properties(client: KafkaClient, read_secret: ReadSecret) -> dict[str, str]:
    """Return the properties for librdkafka (confluent-kafka), which reads offsets."""
    properties = {
        "bootstrap.servers": client.bootstrap_servers,
        "security.protocol": client.security_protocol.value,
    }
    if client.sasl_mechanism and client.sasl_username and client.sasl_password:
        properties["sasl.mechanism"] = client.sasl_mechanism.value
        properties["sasl.username"] = client.sasl_username
        properties["sasl.password"] = read_secret(client.sasl_password)
    if client.ssl_ca_pem:
        properties["ssl.ca.pem"] = client.ssl_ca_pem
    if client.ssl_certificate_pem and client.ssl_key_pem:
        properties["ssl.certificate.pem"] = client.ssl_certificate_pem
        properties["ssl.key.pem"] = read_secret(client.ssl_key_pem)
    if client.ssl_key_password:
        properties["ssl.key.password"] = read_secret(client.ssl_key_password)
    return properties | _tuned(client, 1)


def _tuned(client: KafkaClient, column: int) -> dict[str, str]:
    values = {names[column]: getattr(client, field) for field, names in _TUNING.items()}
    return {name: str(value) for name, value in values.items() if value is not None}


def _jaas_quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    # Java's tokenizer ends a quoted text at a line break and would read the rest as options.
    escaped = escaped.replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


_TLS = -181
_TLS_ALERT = "ssl/tls alert"
"""A broker that rejects our certificate reports it only after the handshake, as _TRANSPORT."""
NO_ANSWER_ADVICE = "check bootstrap.servers, that the broker is up, and security.protocol"
_ADVICE = {
    -169: "check sasl.username, the secret of sasl.password and the mechanism",
    _TLS: "check ssl.ca.pem, the name in the broker's certificate, and our certificate",
    -195: NO_ANSWER_ADVICE,
}
"""Advice per error code of librdkafka (_AUTHENTICATION, _SSL, _TRANSPORT), most specific first."""


_MESSAGES_KEPT = 20


class ClientError(Protocol):
    """A `confluent_kafka.KafkaError`."""

    def code(self) -> int:
        """Return librdkafka's number of the error."""
        ...

    def str(self) -> str:
        """Return the error's text."""
        ...


class Overheard:
    """The newest errors that librdkafka reports to its error callback.

    They explain a failure for which the answer to a call only names a timeout.
    """

    def __init__(self) -> None:
        self._messages: deque[ClientError] = deque(maxlen=_MESSAGES_KEPT)

    def hear(self, error: ClientError) -> None:
        """Keep one error; to be used as a client's `error_cb`."""
        self._messages.append(error)

    def why(self) -> tuple[str, str] | None:
        """Return why there was no answer, and the advice; None: no kept error explains it.

        The kept errors are cleared, because the next failure may have another cause.
        """
        texts = [(error.code(), error.str()) for error in self._messages]
        newest = {_TLS if _TLS_ALERT in text else code: text for code, text in texts}
        self._messages.clear()
        found = ((newest[code], advice) for code, advice in _ADVICE.items() if code in newest)
        return next(found, None)


PORT_MAX = 65_535


def refused_hosts(bootstrap_servers: str, allowed: Sequence[str] | None) -> list[str]:
    """Return the brokers that `allowed` does not name; `None` allows every host.

    An entry is `host` (any port) or `host:port`; comparison ignores case.  An address in another
    form than `host:port` is refused as well, because a client would try to interpret it.
    """
    names = None if allowed is None else {entry.strip().lower() for entry in allowed}
    refused = []
    for server in (part.strip().lower() for part in bootstrap_servers.split(",")):
        host, colon, port = server.rpartition(":")
        well_formed = bool(host and colon and port.isascii() and port.isdigit())
        known = names is None or server in names or host in names
        if not (well_formed and 0 < int(port) <= PORT_MAX and known):
            refused.append(server)
    return refused
