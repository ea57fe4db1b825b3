"""The allow-list of Kafka client properties: which of them a spec may set.

A property can run code (`plugin.library.paths` is loaded while a client is created), read files
(`*.location`) or call addresses (`sasl.oauthbearer.*`).  So any property that is not on the list is
refused.

Source: measured with librdkafka; for the Java client CVE-2023-25194, CVE-2024-31141 and
CVE-2025-27817.
"""

import re
from enum import Enum


class PropertyRule(Enum):
    """The rule for one property in a spec."""

    FIELD = "field"
    """Allowed: a field of `tasks.contract.kafka_client.KafkaClient`."""
    FIXED = "fixed"
    """Allowed with one value, which is in force anyway."""
    IDLE = "idle"
    """Allowed, without effect: the client's own value is used."""
    JAAS = "jaas"
    """Allowed: read for its user name and its secret, never passed on."""
    PROVIDER = "provider"
    """Allowed: the object with references to secrets."""
    OWNED = "owned"
    DENIED = "denied"
    UNKNOWN = "unknown"


FIELDS = {
    "bootstrap.servers": "bootstrap_servers",
    "metadata.broker.list": "bootstrap_servers",
    "security.protocol": "security_protocol",
    "sasl.mechanism": "sasl_mechanism",
    "sasl.mechanisms": "sasl_mechanism",
    "sasl.username": "sasl_username",
    "sasl.password": "sasl_password",
    "ssl.ca.pem": "ssl_ca_pem",
    "ssl.truststore.certificates": "ssl_ca_pem",
    "ssl.certificate.pem": "ssl_certificate_pem",
    "ssl.keystore.certificate.chain": "ssl_certificate_pem",
    "ssl.key.pem": "ssl_key_pem",
    "ssl.keystore.key": "ssl_key_pem",
    "ssl.key.password": "ssl_key_password",
    "client.id": "client_id",
    "client.rack": "client_rack",
    "fetch.min.bytes": "fetch_min_bytes",
    "fetch.max.bytes": "fetch_max_bytes",
    "fetch.max.wait.ms": "fetch_max_wait_ms",
    "fetch.wait.max.ms": "fetch_max_wait_ms",
    "max.partition.fetch.bytes": "max_partition_fetch_bytes",
    "fetch.message.max.bytes": "max_partition_fetch_bytes",
    "session.timeout.ms": "session_timeout_ms",
    "metadata.max.age.ms": "metadata_max_age_ms",
}
"""Property -> field of `KafkaClient`; with both the Java client's and librdkafka's names."""

SECRET_FIELDS = frozenset({"sasl_password", "ssl_key_pem", "ssl_key_password"})
NUMBER_FIELDS = frozenset(
    {
        "fetch_min_bytes",
        "fetch_max_bytes",
        "fetch_max_wait_ms",
        "max_partition_fetch_bytes",
        "session_timeout_ms",
        "metadata_max_age_ms",
    }
)
SECRET_NAMES = tuple(name for name, field in FIELDS.items() if field in SECRET_FIELDS)
"""Properties whose value is a secret, for which a spec can only give a reference."""

FIXED = {
    "isolation.level": "read_committed",
    "ssl.endpoint.identification.algorithm": "https",
    "ssl.truststore.type": "PEM",
    "ssl.keystore.type": "PEM",
}
"""Property -> the one value that a spec may give."""

IDLE = frozenset(
    {
        "receive.message.max.bytes",
        "socket.timeout.ms",
        "socket.connection.setup.timeout.ms",
        "socket.connection.setup.timeout.max.ms",
        "queued.max.messages.kbytes",
        "broker.address.family",
        "fetch.error.backoff.ms",
        "fetch.queue.backoff.ms",
        *("request.timeout.ms", "default.api.timeout.ms", "connections.max.idle.ms"),
        *("reconnect.backoff.ms", "reconnect.backoff.max.ms", "retry.backoff.ms"),
        *("receive.buffer.bytes", "send.buffer.bytes", "client.dns.lookup"),
        *("max.poll.records", "max.poll.interval.ms", "heartbeat.interval.ms", "check.crcs"),
        *("exclude.internal.topics", "allow.auto.create.topics"),
    }
)
JAAS = "sasl.jaas.config"
PROVIDER = "druid.dynamic.config.provider"
ALLOWED = (*FIELDS, *FIXED, *sorted(IDLE), JAAS, PROVIDER)

_OWNED = frozenset(
    {
        "group.id",
        "enable.auto.commit",
        "enable.auto.offset.store",
        "auto.offset.reset",
        "enable.partition.eof",
        "key.deserializer",
        "value.deserializer",
    }
)
_DENIED = re.compile(
    r"plugin\.library\.paths|ssl\.engine\..*|ssl\.providers|security\.providers|"
    r"sasl\.kerberos\..*|sasl\..*\.class|sasl\.oauthbearer\..*|.*\.location|config\.providers.*|"
    r"interceptor\.classes|metric\.reporters|test\..*|debug|statistics\.interval\.ms|.*_cb",
    re.DOTALL,
)

_CA = "give the CA's certificates as PEM text: ssl.ca.pem"
_CERTIFICATE = "give ssl.certificate.pem as PEM text, and a reference for ssl.key.pem"
_VERSIONS = "leave it out: client and broker agree on the best that both know"
INSTEAD = {
    "ssl.truststore.location": _CA,
    "ssl.truststore.password": _CA,
    "ssl.ca.location": _CA,
    "ssl.keystore.location": _CERTIFICATE,
    "ssl.keystore.password": _CERTIFICATE,
    "ssl.certificate.location": _CERTIFICATE,
    "ssl.key.location": _CERTIFICATE,
    "ssl.protocol": _VERSIONS,
    "ssl.enabled.protocols": _VERSIONS,
    "ssl.cipher.suites": _VERSIONS,
}
"""Property that a spec may not set, of either client -> what to do instead."""


def standing(name: str) -> PropertyRule:
    """Return the rule for the property `name`, given in lower case and trimmed."""
    if name in FIELDS:
        return PropertyRule.FIELD
    if name in FIXED:
        return PropertyRule.FIXED
    if name in IDLE:
        return PropertyRule.IDLE
    if name == JAAS:
        return PropertyRule.JAAS
    if name == PROVIDER:
        return PropertyRule.PROVIDER
    if name in _OWNED:
        return PropertyRule.OWNED
    return PropertyRule.DENIED if _DENIED.fullmatch(name) else PropertyRule.UNKNOWN
