"""What a spec may say to a Kafka client: allowed, owned, denied, and secrets by reference only."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, ValidationError

from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.sections.kafka_properties import POINTER, client_of, read_properties
from supervisor.core.spec.sections.kafka_property_names import ALLOWED
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import FieldError, InvalidSpec
from tasks.contract.kafka_client import KafkaClient, SaslMechanism, SecretRef, SecurityProtocol
from tests.supervisor.core.spec.spec_documents import changed, created

SERVERS: dict[str, JsonValue] = {"bootstrap.servers": "kafka:9092"}
CANARY = "hunter2-canary"
REFERENCE = SecretRef(environment="TIDEGATE_SECRET_X")
SCRAM_LINE = (
    "org.apache.kafka.common.security.scram.ScramLoginModule required "
    'username="ann" password="${env:TIDEGATE_SECRET_X}";'
)


def _provider(**variables: str) -> JsonValue:
    return {
        "type": "environment",
        "variables": {name.replace("_", "."): value for name, value in variables.items()},
    }


def _errors(properties: object) -> tuple[FieldError, ...]:
    errors: tuple[FieldError, ...] = ()
    try:
        read_properties(properties)
    except InvalidSpec as error:
        errors = error.errors
    assert CANARY not in str(errors), "a message repeats what may be a secret"
    return errors


def _the_error(name: str, value: JsonValue) -> FieldError:
    (error,) = _errors({**SERVERS, name: value})
    assert error.pointer == f"{POINTER}/{name}"
    return error


def test_java_names_and_librdkafka_names_say_the_same() -> None:
    java = client_of(
        {
            **SERVERS,
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-256",
            "sasl.username": "ann",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": "pem-1",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": "pem-2",
            "fetch.max.wait.ms": "500",
            "max.partition.fetch.bytes": "2048",
            "druid.dynamic.config.provider": _provider(
                sasl_password="TIDEGATE_SECRET_X", ssl_keystore_key="TIDEGATE_SECRET_K"
            ),
        }
    )
    rdkafka = client_of(
        {
            "metadata.broker.list": " kafka:9092 ",
            " Security.Protocol ": "sasl_ssl",
            "SASL.MECHANISMS": "scram-sha-256",
            "sasl.username": "ann",
            "ssl.ca.pem": "pem-1",
            "ssl.certificate.pem": "pem-2",
            "fetch.wait.max.ms": 500,
            "fetch.message.max.bytes": 2048,
            "druid.dynamic.config.provider": _provider(
                sasl_password="TIDEGATE_SECRET_X", ssl_key_pem="TIDEGATE_SECRET_K"
            ),
        }
    )
    assert java == rdkafka
    assert java == KafkaClient(
        bootstrap_servers="kafka:9092",
        security_protocol=SecurityProtocol.SASL_SSL,
        sasl_mechanism=SaslMechanism.SCRAM_SHA_256,
        sasl_username="ann",
        sasl_password=REFERENCE,
        ssl_ca_pem="pem-1",
        ssl_certificate_pem="pem-2",
        ssl_key_pem=SecretRef(environment="TIDEGATE_SECRET_K"),
        fetch_max_wait_ms=500,
        max_partition_fetch_bytes=2048,
    )


@pytest.mark.parametrize(
    "name",
    [
        "group.id",
        "Group.Id",
        " group.id ",
        "enable.auto.commit",
        "enable.auto.offset.store",
        "auto.offset.reset",
        "enable.partition.eof",
        "key.deserializer",
        "value.deserializer",
    ],
)
def test_what_tidegate_owns_is_refused_from_users(name: str) -> None:
    error = _the_error(name, CANARY)
    assert "is owned by Tidegate" in error.message
    assert error.hint.startswith("remove it")


DENIED = [
    "plugin.library.paths",
    " Plugin.Library.Paths",
    "ssl.engine.location",
    "ssl.engine.id",
    "ssl.engine.factory.class",
    "ssl.providers",
    "sasl.kerberos.kinit.cmd",
    "sasl.kerberos.keytab",
    "sasl.login.callback.handler.class",
    "sasl.client.callback.handler.class",
    "sasl.login.class",
    "sasl.oauthbearer.token.endpoint.url",
    "sasl.oauthbearer.config",
    "ssl.ca.location",
    "ssl.key.location",
    "ssl.crl.location",
    "ssl.truststore.location",
    "ssl.keystore.location",
    "config.providers",
    "config.providers.file.class",
    "interceptor.classes",
    "metric.reporters",
    "test.mock.num.brokers",
    "debug",
    "statistics.interval.ms",
    "oauth_cb",
    "error_cb",
]


@pytest.mark.parametrize("name", DENIED)
def test_what_could_run_code_or_read_files_is_denied_whatever_its_value(name: str) -> None:
    """Goal: the answer tells nothing of the server: a file that exists looks like one that is not.

    Source: librdkafka loads plugin.library.paths while a client is made; CVE-2024-31141.
    """
    values: list[JsonValue] = ["/etc/passwd", "/no/such/file", "", None, 5, ["x"], {"a": CANARY}]
    errors = {_the_error(name, value) for value in values}
    assert len(errors) == 1
    assert "may not be set in a spec" in errors.pop().message


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("bootstrap.server", "bootstrap.servers"),
        ("security.protocl", "security.protocol"),
        ("kafka.bootstrap.servers", "bootstrap.servers"),
        ("kafka.sasl.jaas.config", "sasl.jaas.config"),
    ],
)
def test_an_unknown_property_is_refused_with_the_nearest_allowed_one(
    name: str, nearest: str
) -> None:
    error = _the_error(name, CANARY)
    assert "is not a property that a spec may set" in error.message
    assert error.hint == f"did you mean {nearest}?"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("ssl.truststore.location", "ssl.ca.pem"),
        ("ssl.truststore.password", "ssl.ca.pem"),
        ("ssl.keystore.location", "ssl.certificate.pem"),
        ("ssl.keystore.password", "ssl.certificate.pem"),
        ("ssl.protocol", "leave it out"),
        ("ssl.endpoint.identification.algorithm", "leave it out"),
        ("session.timeout", "session.timeout.ms?"),
        ("transaction.timeout.ms", "remove it"),
    ],
)
def test_what_the_java_client_knows_is_refused_with_what_takes_its_place(
    name: str, hint: str
) -> None:
    assert hint in _the_error(name, CANARY).hint


@pytest.mark.parametrize("name", ["request.timeout.ms", "client.dns.lookup", "check.crcs"])
def test_what_harms_nobody_is_taken_with_a_warning(name: str) -> None:
    [warning] = read_properties({**SERVERS, name: "60000"}).warnings
    assert f"{name} has no effect" in warning


@pytest.mark.parametrize("mechanism", ["AWS_MSK_IAM", "OAUTHBEARER", "GSSAPI"])
def test_a_mechanism_that_is_not_built_is_told_with_those_that_are(mechanism: str) -> None:
    given: dict[str, JsonValue] = {"security.protocol": "SASL_SSL", "sasl.mechanism": mechanism}
    with pytest.raises(InvalidSpec) as refused:
        read_properties({**SERVERS, **given})
    [error] = refused.value.errors
    assert "must be 'PLAIN', 'SCRAM-SHA-256' or 'SCRAM-SHA-512'" in error.message
    assert f"{mechanism}" in error.hint


@pytest.mark.parametrize("name", ["sasl.password", "ssl.key.password", "ssl.key.pem"])
def test_a_secret_in_a_spec_is_refused_with_the_way_to_reference_it(name: str) -> None:
    error = _the_error(name, CANARY)
    assert "is a secret and must not stand in a spec" in error.message
    assert '"druid.dynamic.config.provider": {"type": "environment"' in error.hint
    assert f'{{"{name}": "TIDEGATE_SECRET_X"}}' in error.hint


def test_a_private_key_beside_a_certificate_is_refused() -> None:
    pem = f"-----BEGIN PRIVATE KEY-----\n{CANARY}\n-----END PRIVATE KEY-----"
    assert "holds a private key" in _the_error("ssl.certificate.pem", pem).message


@pytest.mark.parametrize(
    ("provider", "message"),
    [
        (CANARY, "must be of type environment"),
        ({"type": "mapString", "config": {"sasl.password": CANARY}}, "must be of type environment"),
        ({"type": "environment"}, "must hold type and variables"),
        ({"type": "environment", "variables": CANARY}, "must hold type and variables"),
        ({"type": "environment", "variables": {}, "x": CANARY}, "must hold type and variables"),
        (_provider(sasl_password="PATH"), "must be called TIDEGATE_SECRET_"),
        (_provider(sasl_password=CANARY), "must be called TIDEGATE_SECRET_"),
        (_provider(sasl_password="TIDEGATE_SECRET_X\n"), "must be called TIDEGATE_SECRET_"),
        (_provider(sasl_jaas_config="TIDEGATE_SECRET_X"), "cannot be taken from the environment"),
        (_provider(bootstrap_servers="TIDEGATE_SECRET_X"), "cannot be taken from the"),
    ],
)
def test_a_provider_names_variables_with_our_prefix_and_nothing_else(
    provider: JsonValue, message: str
) -> None:
    assert message in _the_error("druid.dynamic.config.provider", provider).message


@pytest.mark.parametrize(
    ("properties", "name", "message"),
    [
        ({}, "bootstrap.servers", "is required"),
        ({"bootstrap.servers": "kafka"}, "bootstrap.servers", "list of host:port"),
        ({"bootstrap.servers": ""}, "bootstrap.servers", "not empty"),
        ({"bootstrap.servers": 9092}, "bootstrap.servers", "not empty"),
        ({"bootstrap.servers": "a:1,,b:2"}, "bootstrap.servers", "list of host:port"),
        ({"bootstrap.servers": "a:0"}, "bootstrap.servers", "list of host:port"),
        ({"bootstrap.servers": "a:65536"}, "bootstrap.servers", "list of host:port"),
        ({"bootstrap.servers": "a b:1"}, "bootstrap.servers", "list of host:port"),
        ({"bootstrap.servers": "SSL://a:1"}, "bootstrap.servers", "list of host:port"),
        ({"bootstrap.servers": "a:1\nb:2"}, "bootstrap.servers", "control character"),
        (
            {**SERVERS, "metadata.broker.list": "other:1"},
            "metadata.broker.list",
            "metadata.broker.list and bootstrap.servers say different things",
        ),
        ({**SERVERS, "Bootstrap.Servers": "b:2"}, "Bootstrap.Servers", "is given twice"),
        ({**SERVERS, "security.protocol": "TLS"}, "security.protocol", "'SASL_SSL'"),
        ({**SERVERS, "security.protocol": "SASL_SSL"}, "security.protocol", "needs sasl.mech"),
        (
            {**SERVERS, "security.protocol": "SASL_SSL", "sasl.mechanism": "GSSAPI"},
            "sasl.mechanism",
            "'PLAIN'",
        ),
        ({**SERVERS, "sasl.username": "ann"}, "security.protocol", "would not use them"),
        ({**SERVERS, "ssl.ca.pem": "pem"}, "security.protocol", "would not use them"),
        (
            {**SERVERS, "security.protocol": "SSL", "ssl.certificate.pem": "pem"},
            "ssl.certificate.pem",
            "go together",
        ),
        (
            {
                **SERVERS,
                "security.protocol": "SASL_SSL",
                "sasl.jaas.config": SCRAM_LINE,
            },
            "sasl.mechanism",
            "needs a SCRAM mechanism",
        ),
        ({**SERVERS, "isolation.level": "read_uncommitted"}, "isolation.level", "read_committed"),
        (
            {**SERVERS, "ssl.endpoint.identification.algorithm": ""},
            "ssl.endpoint.identification.algorithm",
            "must be https",
        ),
        ({**SERVERS, "ssl.truststore.type": "JKS"}, "ssl.truststore.type", "must be PEM"),
        ({**SERVERS, "fetch.min.bytes": "many"}, "fetch.min.bytes", "must be a whole number"),
        ({**SERVERS, "fetch.min.bytes": True}, "fetch.min.bytes", "must be a whole number"),
        ({**SERVERS, "fetch.min.bytes": 0}, "fetch.min.bytes", "greater than or equal to 1"),
        ({**SERVERS, "client.id": "a b"}, "client.id", "match pattern"),
        ({**SERVERS, "socket.timeout.ms": [1]}, "socket.timeout.ms", "a text or a number"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(
    properties: dict[str, JsonValue], name: str, message: str
) -> None:
    errors = _errors(properties)
    assert [error.pointer for error in errors] == [f"{POINTER}/{name}"]
    assert message in errors[0].message


def test_every_wrong_property_is_told_at_once() -> None:
    errors = _errors({"debug": "all", "group.id": "g", "nope": 1, "fetch.min.bytes": "x"})
    assert {error.pointer.removeprefix(POINTER) for error in errors} == {
        "/debug",
        "/group.id",
        "/nope",
        "/fetch.min.bytes",
        "/bootstrap.servers",
    }


def test_an_allowed_property_without_effect_gets_a_warning() -> None:
    read = read_properties({**SERVERS, "socket.timeout.ms": "1000"})
    assert read.client == KafkaClient(bootstrap_servers="kafka:9092")
    assert read.warnings == (
        "consumerProperties socket.timeout.ms has no effect: Tidegate's clients use their own",
    )
    document = changed("/spec/ioConfig/consumerProperties/socket.timeout.ms", "1000")
    assert read_spec(document).warnings == read.warnings


def test_names_are_stored_trimmed_and_in_lower_case() -> None:
    read = read_properties(
        {" Bootstrap.Servers ": "kafka:9092", "Isolation.Level": "READ_COMMITTED"}
    )
    assert read.properties == {
        "bootstrap.servers": "kafka:9092",
        "isolation.level": "READ_COMMITTED",
    }


def test_a_stored_spec_is_checked_again_when_it_is_loaded() -> None:
    """Goal: a row that was stored before a property was denied makes no client."""
    payload = json.loads(read_spec(created()).spec.to_json())
    payload["ioConfig"]["consumerProperties"]["plugin.library.paths"] = "/tmp/evil.so"  # noqa: S108 -- never opened
    with pytest.raises(ValidationError, match="may not be set in a spec"):
        SupervisorSpec.model_validate(payload)


@given(
    st.dictionaries(
        st.sampled_from(ALLOWED) | st.text(max_size=20),
        st.text(max_size=20) | st.integers() | st.none(),
        max_size=6,
    )
)
def test_any_properties_make_a_client_or_are_refused(properties: dict[str, JsonValue]) -> None:
    try:
        read = read_properties(properties)
    except InvalidSpec:
        return
    again = read_properties(read.properties)
    assert (again.client, again.properties) == (read.client, read.properties)
