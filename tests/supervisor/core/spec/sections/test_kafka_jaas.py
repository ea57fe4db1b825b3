"""The one form of `sasl.jaas.config` that is read: a user name, and a password by reference."""

import pytest
from pydantic import JsonValue

from supervisor.core.spec.sections.kafka_properties import POINTER, client_of, read_properties
from supervisor.core.values.errors import FieldError, InvalidSpec
from tasks.contract.kafka_client import KafkaClient, SaslMechanism, SecretRef, SecurityProtocol

SERVERS: dict[str, JsonValue] = {
    "bootstrap.servers": "kafka:9092",
    "security.protocol": "SASL_SSL",
}
CANARY = "hunter2-canary"


def _errors(properties: dict[str, JsonValue]) -> tuple[FieldError, ...]:
    errors: tuple[FieldError, ...] = ()
    try:
        read_properties(properties)
    except InvalidSpec as error:
        errors = error.errors
    assert CANARY not in str(errors), "a message repeats what may be a secret"
    return errors


def _jaas(module: str, options: str) -> str:
    return f"org.apache.kafka.common.security.{module} required {options};"


PLAIN = "plain.PlainLoginModule"
SCRAM = "scram.ScramLoginModule"
BY_REFERENCE = 'username="ann" password="${env:TIDEGATE_SECRET_X}"'


@pytest.mark.parametrize(
    ("module", "mechanism", "options"),
    [
        (PLAIN, "PLAIN", BY_REFERENCE),
        (PLAIN, "PLAIN", 'password="${env:TIDEGATE_SECRET_X}"   username="ann"'),
        (PLAIN, "PLAIN", 'username = "ann"\n password = "${env:TIDEGATE_SECRET_X}" '),
        (PLAIN, "PLAIN", "username='ann' password='${env:TIDEGATE_SECRET_X}'"),
        (PLAIN, "PLAIN", "password='${env:TIDEGATE_SECRET_X}' username=\"ann\""),
        (SCRAM, "SCRAM-SHA-512", BY_REFERENCE),
    ],
)
def test_a_jaas_line_of_the_one_form_is_read_for_user_and_reference(
    module: str, mechanism: str, options: str
) -> None:
    client = client_of(
        {
            **SERVERS,
            "sasl.mechanism": mechanism,
            "sasl.jaas.config": _jaas(module, options),
        }
    )
    assert client == KafkaClient(
        bootstrap_servers="kafka:9092",
        security_protocol=SecurityProtocol.SASL_SSL,
        sasl_mechanism=SaslMechanism(mechanism),
        sasl_username="ann",
        sasl_password=SecretRef(environment="TIDEGATE_SECRET_X"),
    )


def test_a_quoted_user_name_is_read_as_it_is_meant() -> None:
    line = _jaas(PLAIN, r'username="a\"n\\n" password="${env:TIDEGATE_SECRET_X}"')
    client = client_of({**SERVERS, "sasl.jaas.config": line})
    assert client.sasl_username == r'a"n\n'
    assert client.sasl_mechanism is SaslMechanism.PLAIN


@pytest.mark.parametrize(
    "line",
    [
        "",
        None,
        5,
        _jaas(PLAIN, f'username="ann" password="{CANARY}"'),
        _jaas(PLAIN, f'username="{CANARY}"'),
        _jaas(PLAIN, "username='ann\" password='${env:TIDEGATE_SECRET_X}'"),
        _jaas(PLAIN, 'password="${env:TIDEGATE_SECRET_X}" password="${env:TIDEGATE_SECRET_X}"'),
        _jaas(PLAIN, 'username="ann" username="${env:TIDEGATE_SECRET_X}"'),
        _jaas(PLAIN, BY_REFERENCE + ' extra="1"'),
        _jaas(PLAIN, BY_REFERENCE) + _jaas(PLAIN, BY_REFERENCE),
        _jaas(PLAIN, BY_REFERENCE)[:-1],
        _jaas(PLAIN, 'username="ann" password="${env:TIDEGATE_SECRET_X}${env:PATH}"'),
        _jaas(PLAIN, 'username="ann" password="${file:/etc/passwd:x}"'),
        _jaas("oauthbearer.OAuthBearerLoginModule", BY_REFERENCE),
        f"com.sun.security.auth.module.JndiLoginModule required {BY_REFERENCE};",
        f"com.sun.security.auth.module.LdapLoginModule required {BY_REFERENCE};",
        f"org.apache.kafka.common.security.plain.PlainLoginModule optional {BY_REFERENCE};",
        "x" * 100_000,
    ],
)
def test_any_other_jaas_line_is_refused_with_one_text(line: JsonValue) -> None:
    """Source: CVE-2023-25194, a login module named by a user runs code."""
    (error,) = _errors({**SERVERS, "sasl.jaas.config": line})
    assert error.pointer == f"{POINTER}/sasl.jaas.config"
    assert "is accepted in one form only" in error.message
    assert "${env:TIDEGATE_SECRET_X}" in error.hint


def test_a_user_name_cannot_end_the_line_it_will_stand_in() -> None:
    options = 'username="ann\n required; Evil required x=y; " password="${env:TIDEGATE_SECRET_X}"'
    for name, value in (("sasl.jaas.config", _jaas(PLAIN, options)), ("sasl.username", "a\nb")):
        errors = _errors({**SERVERS, name: value})
        assert "sasl.username holds a control character" in [error.message for error in errors]
