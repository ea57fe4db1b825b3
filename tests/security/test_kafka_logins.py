"""Passwords, TLS and certificates against a broker that wants them, by both clients we use.

Offsets are asked by librdkafka, records are read by Spark's Java client: one spec speaks for both.

Slow: a broker starts for each kind of login.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

import pyarrow.parquet as pq
import pytest
from pydantic import JsonValue

from supervisor.adapters.kafka.probe import KafkaProbe
from supervisor.adapters.kafka.streams import KafkaStreams
from supervisor.adapters.manual_clock import ManualClock
from supervisor.core.planning.observed import StreamState, StreamTrouble
from supervisor.core.spec.sections.kafka_properties import client_of
from supervisor.core.values.errors import SourceUnreadable
from supervisor.dev.ports import LOOPBACK
from tasks.contract.kafka_client import SecretRef, java_properties
from tasks.contract.messages import FailureCode
from tasks.contract.offsets import TopicPartition
from tasks.ingest.spark.source import read_range
from tasks.kafka.private_key import UnusableKey, with_open_key
from tasks.kafka.stream import KafkaStream
from tasks.ports import StreamTimeout, TaskError
from tasks.spark.session import SparkRuntime
from tests.environment.brokers import create_topic, produce
from tests.security.brokers import PASSWORD, USER, SecuredBroker, key_of
from tests.supervisor.core.snapshots import NOON
from tests.supervisor.core.snapshots import spec as spec_of_clicks

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]
TOPIC = "guarded"
RECORDS = [f"record-{n}" for n in range(50)]
LOOK_S = 30.0
_JAAS = (
    "org.apache.kafka.common.security.{module}LoginModule required "
    'username="ann" password="${{env:TIDEGATE_SECRET_PASSWORD}}";'
)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    broker = SecuredBroker(tmp_path_factory.mktemp("guarded"))
    broker.start()
    try:
        broker.set_password(PASSWORD)
        create_topic(broker.bootstrap, TOPIC, partitions=1)
        produce(broker.bootstrap, TOPIC, RECORDS)
        yield broker
    finally:
        broker.stop()


@dataclass(frozen=True)
class Login:
    """One way in: what the spec says, and what the environment of the processes holds."""

    properties: Mapping[str, JsonValue]
    secrets: Mapping[str, str]

    def read_secret(self, reference: SecretRef) -> str:
        """Stand for the environment of a process."""
        return self.secrets[reference.environment]


def _provided(**variables: str) -> dict[str, JsonValue]:
    named: dict[str, JsonValue] = {k.replace("_", "."): v for k, v in variables.items()}
    return {"druid.dynamic.config.provider": {"type": "environment", "variables": named}}


def _by_password(
    broker: SecuredBroker, listener: str, mechanism: str, **more: JsonValue
) -> dict[str, JsonValue]:
    return {
        "bootstrap.servers": broker.address(listener),
        "security.protocol": "SASL_SSL" if listener == "AUTHTLS" else "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": USER,
        **_provided(sasl_password="TIDEGATE_SECRET_PASSWORD"),
        **more,
    }


KNOWN: Mapping[str, str] = {"TIDEGATE_SECRET_PASSWORD": PASSWORD}


def _plain(broker: SecuredBroker) -> Login:
    return Login(_by_password(broker, "AUTH", "PLAIN"), KNOWN)


def _scram_256(broker: SecuredBroker) -> Login:
    return Login(_by_password(broker, "AUTH", "SCRAM-SHA-256"), KNOWN)


def _scram_512_over_tls(broker: SecuredBroker) -> Login:
    trusted: dict[str, JsonValue] = {"ssl.ca.pem": broker.ca_pem}
    return Login(_by_password(broker, "AUTHTLS", "SCRAM-SHA-512", **trusted), KNOWN)


def _java_names_and_jaas(broker: SecuredBroker) -> Login:
    """What a spec that runs in Druid says."""
    properties: dict[str, JsonValue] = {
        "bootstrap.servers": broker.address("AUTHTLS"),
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": _JAAS.format(module="plain.Plain"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": broker.ca_pem,
        "ssl.endpoint.identification.algorithm": "https",
    }
    return Login(properties, KNOWN)


def _certificate(broker: SecuredBroker) -> Login:
    issued = broker.ca.issue_cert("client.example")
    properties: dict[str, JsonValue] = {
        "bootstrap.servers": broker.address("TLS"),
        "security.protocol": "SSL",
        "ssl.ca.pem": broker.ca_pem,
        "ssl.certificate.pem": "".join(p.bytes().decode() for p in issued.cert_chain_pems),
        **_provided(ssl_key_pem="TIDEGATE_SECRET_KEY"),
    }
    return Login(properties, {"TIDEGATE_SECRET_KEY": key_of(issued)})


def _certificate_with_a_locked_key(broker: SecuredBroker) -> Login:
    issued = broker.ca.issue_cert("client.example")
    properties: dict[str, JsonValue] = {
        "bootstrap.servers": broker.address("TLS"),
        "security.protocol": "SSL",
        "ssl.truststore.certificates": broker.ca_pem,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": "".join(
            p.bytes().decode() for p in issued.cert_chain_pems
        ),
        **_provided(
            ssl_keystore_key="TIDEGATE_SECRET_KEY", ssl_key_password="TIDEGATE_SECRET_KEY_PASSWORD"
        ),
    }
    secrets = {
        "TIDEGATE_SECRET_KEY": key_of(issued, "open sesame"),
        "TIDEGATE_SECRET_KEY_PASSWORD": "open sesame",
    }
    return Login(properties, secrets)


WAYS_IN = [
    _plain,
    _scram_256,
    _scram_512_over_tls,
    _java_names_and_jaas,
    _certificate,
    _certificate_with_a_locked_key,
]


@pytest.mark.parametrize("way", WAYS_IN, ids=lambda way: way.__name__.strip("_"))
def test_both_clients_get_in_with_one_spec(
    way: object, guarded: SecuredBroker, spark: SparkRuntime, tmp_path: object
) -> None:
    assert callable(way)
    login: Login = way(guarded)

    seen = _look(login)
    rows = _rows(spark, login, f"{tmp_path}/rows")

    assert seen.trouble is None, seen.detail
    assert seen.latest == {TopicPartition(TOPIC, 0): len(RECORDS)}
    assert rows == RECORDS


def _look(login: Login) -> StreamState:
    """Return what the overlord learns of the topic in one look."""
    spec = spec_of_clicks()
    update = {"topic": TOPIC, "consumer_properties": dict(login.properties)}
    io = spec.io_config.model_copy(update=update)
    streams = KafkaStreams(ManualClock(NOON), login.read_secret, lambda _: None)
    try:
        streams.state("guarded", spec.model_copy(update={"io_config": io}))
        watched = streams._watched["guarded"]
        assert watched.looked is not None
        assert watched.looked.wait(LOOK_S), "the look did not end"
        return watched.state
    finally:
        streams.stop()


def _rows(spark: SparkRuntime, login: Login, folder: str) -> list[str]:
    """Return what Spark reads of the topic, as a task reads it."""
    one = TopicPartition(TOPIC, 0)
    frame = read_range(
        spark.session,
        {one: 0},
        {one: len(RECORDS)},
        client=with_open_key(java_properties(client_of(login.properties), login.read_secret)),
        group_id=f"tidegate-test-{folder.rpartition('/')[0]}",
        poll_timeout=timedelta(seconds=20),
    )
    frame.selectExpr("o", "CAST(v AS STRING) AS v").write.parquet(folder)
    found = pq.read_table(folder).sort_by("o")
    return [str(value) for value in found.column("v").to_pylist()]


def _wrong_password(broker: SecuredBroker) -> Login:
    return Login(
        _by_password(broker, "AUTH", "SCRAM-SHA-256"), {"TIDEGATE_SECRET_PASSWORD": "canary-wrong"}
    )


def _wrong_plain_password(broker: SecuredBroker) -> Login:
    return Login(
        _by_password(broker, "AUTH", "PLAIN"), {"TIDEGATE_SECRET_PASSWORD": "canary-wrong"}
    )


def _another_ca(broker: SecuredBroker) -> Login:
    other: dict[str, JsonValue] = {"ssl.ca.pem": broker.other_ca.cert_pem.bytes().decode()}
    return Login(_by_password(broker, "AUTHTLS", "PLAIN", **other), KNOWN)


def _another_name(broker: SecuredBroker) -> Login:
    """The certificate is for 127.0.0.1, and `localhost` is another name."""
    properties = _by_password(broker, "AUTHTLS", "PLAIN") | {"ssl.ca.pem": broker.ca_pem}
    properties["bootstrap.servers"] = broker.address("AUTHTLS").replace(LOOPBACK, "localhost")
    return Login(properties, KNOWN)


def _no_certificate(broker: SecuredBroker) -> Login:
    return Login(
        {
            "bootstrap.servers": broker.address("TLS"),
            "security.protocol": "SSL",
            "ssl.ca.pem": broker.ca_pem,
        },
        {},
    )


SHUT_OUT = {
    _wrong_password: "uthentication failed",
    _wrong_plain_password: "uthentication failed",
    _another_ca: "certificate verify failed",
    _another_name: "certificate verify failed",
    _no_certificate: "and our certificate",
}


@pytest.mark.parametrize("way", SHUT_OUT, ids=lambda way: way.__name__.strip("_"))
def test_who_does_not_get_in_is_told_why_and_no_secret_with_it(
    way: object, guarded: SecuredBroker
) -> None:
    assert callable(way)
    seen = _look(way(guarded))

    assert seen.trouble is StreamTrouble.UNREACHABLE
    assert SHUT_OUT[way] in seen.detail, seen.detail
    assert "canary" not in seen.detail


@pytest.mark.parametrize("way", SHUT_OUT, ids=lambda way: way.__name__.strip("_"))
def test_a_dry_run_that_does_not_get_in_says_why_too(way: object, guarded: SecuredBroker) -> None:
    assert callable(way)
    login: Login = way(guarded)
    update = {"topic": TOPIC, "consumer_properties": dict(login.properties)}
    source = spec_of_clicks().io_config.model_copy(update=update)

    with pytest.raises(SourceUnreadable) as caught:
        KafkaProbe(login.read_secret).look(source, timedelta(seconds=5))

    assert SHUT_OUT[way] in str(caught.value)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("way", SHUT_OUT, ids=lambda way: way.__name__.strip("_"))
def test_a_worker_that_does_not_get_in_says_why_too(way: object, guarded: SecuredBroker) -> None:
    """Its environment is another one: the overlord may get in where it does not."""
    assert callable(way)
    login: Login = way(guarded)
    stream = KafkaStream(login.read_secret, patience_s=0)

    with pytest.raises(StreamTimeout) as caught:
        stream.look(client_of(login.properties), [(TOPIC, 0)])

    assert SHUT_OUT[way] in str(caught.value)
    assert "canary" not in str(caught.value)


def test_a_key_that_its_password_does_not_open_is_refused(guarded: SecuredBroker) -> None:
    login = _certificate_with_a_locked_key(guarded)
    wrong = {**login.secrets, "TIDEGATE_SECRET_KEY_PASSWORD": "canary-wrong"}
    client = client_of(login.properties)

    with pytest.raises(UnusableKey, match="not opened by its password") as by_java:
        with_open_key(java_properties(client, Login(login.properties, wrong).read_secret))
    seen = _look(Login(login.properties, wrong))
    with pytest.raises(TaskError) as by_librdkafka:
        KafkaStream(Login(login.properties, wrong).read_secret).look(client, [(TOPIC, 0)])

    assert by_librdkafka.value.code is FailureCode.REFUSED
    assert seen.trouble is StreamTrouble.REFUSED
    assert "refuses these properties" in seen.detail
    for message in (str(by_java.value), str(by_librdkafka.value), seen.detail):
        assert "canary" not in message
        assert "BEGIN" not in message


def test_a_locked_key_without_a_password_says_what_is_missing(guarded: SecuredBroker) -> None:
    login = _certificate_with_a_locked_key(guarded)
    client = client_of(login.properties).model_copy(update={"ssl_key_password": None})
    with pytest.raises(UnusableKey, match=r"give ssl\.key\.password"):
        with_open_key(java_properties(client, login.read_secret))
