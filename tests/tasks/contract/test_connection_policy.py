"""The operator's rules for connections: hosts, TLS, and where a secret may be sent."""

import pytest

from tasks.contract.connection_policy import (
    ConnectionPolicy,
    Connects,
    SecretBinding,
    connection_refusal,
    read_binding,
)
from tasks.contract.ingest_spec import AvroFormat, IngestSpec, RegistrySchemas
from tasks.contract.kafka_client import KafkaClient, SaslMechanism, SecretRef, SecurityProtocol
from tasks.contract.registry import Registry
from tests.tasks.memory import desired

PASSWORD = SecretRef(environment="TIDEGATE_SECRET_KAFKA")
TOKEN = SecretRef(environment="TIDEGATE_SECRET_REGISTRY")


def by_password(servers: str = "kafka:9093", *, tls: bool = True) -> KafkaClient:
    return KafkaClient(
        bootstrap_servers=servers,
        security_protocol=SecurityProtocol.SASL_SSL if tls else SecurityProtocol.SASL_PLAINTEXT,
        sasl_mechanism=SaslMechanism.PLAIN,
        sasl_username="u",
        sasl_password=PASSWORD,
    )


def spec(client: KafkaClient, table: str = "web-clicks", registry: str = "") -> IngestSpec:
    plain = desired("task-1").spec.model_copy(update={"kafka": client, "data_source": table})
    if not registry:
        return plain
    named = Registry(urls=(registry,), user_info=TOKEN)
    avro = AvroFormat(schemas=RegistrySchemas(registry=named))
    return plain.model_copy(update={"value_format": avro})


def refused(policy: ConnectionPolicy, of: IngestSpec) -> list[tuple[Connects, str]]:
    return [(refusal.part, refusal.text) for refusal in policy.refusals(of)]


@pytest.mark.parametrize(
    ("text", "binding"),
    [
        ("hosts=Kafka:9093,registry", SecretBinding(("kafka:9093", "registry"), None)),
        ("tables=web-*,logs", SecretBinding(None, ("web-*", "logs"))),
        (" tables=*  hosts=[::1]:9092 ", SecretBinding(("[::1]:9092",), ("*",))),
    ],
)
def test_a_binding_names_hosts_or_tables_or_both(text: str, binding: SecretBinding) -> None:
    assert read_binding(text) == binding


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "kafka:9093",
        "hosts=",
        "hosts=a,,b",
        "tables=a b",
        "host=a",
        "hosts=a hosts=b",
        "tables=a/b",
        "hosts=http://a",
    ],
)
def test_a_binding_of_another_form_is_an_error_that_shows_the_form(text: str) -> None:
    with pytest.raises(ValueError, match="hosts=kafka:9093"):
        read_binding(text)


def test_a_secret_without_a_binding_may_go_wherever_the_spec_may_connect() -> None:
    assert refused(ConnectionPolicy(), spec(by_password(), registry="http://r:1")) == []


def test_a_bound_secret_goes_to_its_hosts_alone() -> None:
    policy = ConnectionPolicy(bindings={PASSWORD.environment: read_binding("hosts=kafka:9093")})

    assert refused(policy, spec(by_password("KAFKA:9093"))) == []
    assert refused(policy, spec(by_password("kafka:9093,evil:9093"))) == [
        (Connects.SECRET, "TIDEGATE_SECRET_KAFKA may not be sent to evil:9093")
    ]


def test_a_bound_secret_serves_its_tables_alone() -> None:
    policy = ConnectionPolicy(bindings={PASSWORD.environment: read_binding("tables=web-*")})

    assert refused(policy, spec(by_password())) == []
    assert refused(policy, spec(by_password(), "payments")) == [
        (Connects.SECRET, "TIDEGATE_SECRET_KAFKA is no secret for the table payments")
    ]
    nobodys = KafkaClient(bootstrap_servers="kafka:9093")
    assert refused(policy, spec(nobodys, "payments")) == [], "it uses no secret"


def test_a_registrys_secret_is_bound_by_the_registrys_address() -> None:
    rules = {TOKEN.environment: read_binding("hosts=registry:8081 tables=web-*")}
    policy = ConnectionPolicy(bindings=rules)

    assert refused(policy, spec(by_password(), registry="http://registry:8081")) == []
    assert refused(policy, spec(by_password(), "logs", registry="https://evil")) == [
        (Connects.SECRET, "TIDEGATE_SECRET_REGISTRY may not be sent to evil:443"),
        (Connects.SECRET, "TIDEGATE_SECRET_REGISTRY is no secret for the table logs"),
    ]


def test_where_tls_is_required_no_password_and_no_record_goes_without() -> None:
    policy = ConnectionPolicy(kafka_tls=True)

    assert refused(policy, spec(by_password())) == []
    assert refused(policy, spec(by_password(tls=False))) == [(Connects.TLS, "SASL_PLAINTEXT")]
    plain = KafkaClient(bootstrap_servers="kafka:9092")
    assert refused(policy, spec(plain)) == [(Connects.TLS, "PLAINTEXT")]


def test_a_worker_says_all_that_it_may_not_do() -> None:
    policy = ConnectionPolicy(("kafka",), ("registry",), kafka_tls=True)

    why = connection_refusal(policy, spec(by_password("evil:1", tls=False), registry="http://e:2"))

    assert why == (
        "this worker may not connect to the brokers evil:1; "
        "this worker connects to brokers by TLS only, not by SASL_PLAINTEXT; "
        "this worker may not connect to the schema registries e:2"
    )
    assert connection_refusal(ConnectionPolicy(), spec(by_password())) == ""
