"""A file of Kafka client properties, as an operator writes one for all clients.

    bootstrap.servers=kafka-1:9092,kafka-2:9092
    security.protocol=SASL_SSL
    sasl.mechanism=SCRAM-SHA-512
    sasl.username=tidegate
    sasl.password=${env:TIDEGATE_SECRET_KAFKA}

Names and rules are those of a spec's `consumerProperties`: secrets stand there by reference alone.
"""

import re
from pathlib import Path

from pydantic import JsonValue

from supervisor.adapters.secrets import read_secret
from supervisor.core.spec.sections.kafka_properties import client_of
from supervisor.core.spec.sections.kafka_property_names import PROVIDER
from supervisor.core.values.errors import InvalidSpec, SecretMissing
from supervisor.settings.problems import SetupProblem
from tasks.contract.kafka_client import librdkafka_properties

__all__ = ["properties_in"]

_BYTES_MAX = 1_000_000
_REFERENCE = re.compile(r"\$\{env:([^{}]*)\}")
_OF_LOGIN = ("bootstrap.", "security.", "sasl.", "ssl.")
"""The rest is about consumers, and these properties are for all clients."""


def properties_in(file: Path, setting: str) -> dict[str, str]:
    r"""Return the properties for librdkafka, with the secrets that they refer to.

    Args:
        file: lines of `name=value`; `#` begins a comment, a backslash at the end goes on in the
            next line, and `\n` in a value is a line break, as of a certificate.
        setting: the name of the setting, for messages.

    Raises:
        SetupProblem: the file cannot be read, a property is refused, or a secret is not there; the
            text names no value.
    """
    try:
        text = file.read_bytes()[: _BYTES_MAX + 1].decode()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise SetupProblem(
            f"{setting} names brokers or a file, and {file} cannot be read: {why}",
            "give host:port, separated by commas, or a file of client properties",
        ) from error
    if len(text) > _BYTES_MAX:
        raise SetupProblem(f"{setting}: {file} is too large", "give a file of client properties")
    try:
        client = client_of(_as_of_a_spec(text, file, setting))
        properties = librdkafka_properties(client, read_secret)
    except InvalidSpec as error:
        first = error.errors[0]
        name = first.pointer.rpartition("/")[2]
        fix = first.hint or f"see the properties of a spec's consumerProperties: {name}"
        why = f"{setting}: {file}: {_in_a_file(first.message)}"
        raise SetupProblem(why, _in_a_file(fix)) from None
    except SecretMissing as error:
        raise SetupProblem(f"{setting}: {file}: {error}", "set it for this process") from None
    return {name: value for name, value in properties.items() if name.startswith(_OF_LOGIN)}


def _as_of_a_spec(text: str, file: Path, setting: str) -> dict[str, JsonValue]:
    """Return the properties as a spec has them: secrets by a provider."""
    properties: dict[str, JsonValue] = {}
    variables: dict[str, JsonValue] = {}
    for line in re.sub(r"\\\r?\n[ \t]*", "", text).splitlines():
        if not line.strip() or line.lstrip().startswith(("#", "!")):
            continue
        name, equals, value = (each.strip() for each in line.partition("="))
        if not equals or name in properties or name in variables:
            what = "is given twice" if equals else "is no name=value"
            shown = name if equals else f"line {text[: text.find(line)].count(chr(10)) + 1}"
            raise SetupProblem(f"{setting}: {file}: {shown} {what}", "give each property once")
        if (reference := _REFERENCE.fullmatch(value)) is not None:
            variables[name] = reference[1]
        else:
            properties[name] = value.replace("\\n", "\n") if name.endswith(".pem") else value
    if variables:
        properties[PROVIDER] = {"type": "environment", "variables": variables}
    return properties


def _in_a_file(text: str) -> str:
    """Say of such a file what is said of a spec, whose rules it has."""
    if "TIDEGATE_SECRET_X" in text:
        return "write ${env:TIDEGATE_SECRET_X} as its value"
    return re.sub(r"\ba spec\b", "such a file", text)
