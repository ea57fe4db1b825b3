"""The `consumerProperties` of a spec, checked and read into a typed `KafkaClient`.

    document ─ names in lower case ─ allowed, owned or denied? ─ secrets by reference ─► KafkaClient

No error message repeats a value, because a misplaced value may be a secret.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue, ValidationError

from supervisor.core.spec.sections import kafka_property_names
from supervisor.core.spec.sections.kafka_property_names import (
    FIELDS,
    FIXED,
    JAAS,
    PROVIDER,
    PropertyRule,
    standing,
)
from supervisor.core.values.errors import FieldError, InvalidSpec
from supervisor.core.values.field_types import nearest, pointer_part, shown
from tasks.contract.kafka_client import KafkaClient, SaslMechanism, SecretRef, refused_hosts

POINTER = "/spec/ioConfig/consumerProperties"
_REFERENCE_HINT = (
    'reference it: "druid.dynamic.config.provider": {"type": "environment", "variables": '
    '{"%s": "TIDEGATE_SECRET_X"}}'
)
_JAAS_HINT = (
    "org.apache.kafka.common.security.plain.PlainLoginModule (or scram.ScramLoginModule) required "
    'username="..." password="${env:TIDEGATE_SECRET_X}"; or give sasl.mechanism, sasl.username '
    "and a reference for sasl.password"
)
_BOTH = ("first", "second")
_QUOTED = r"""(?:"(?:[^"\\]|\\["\\])*"|'(?:[^'\\]|\\['\\])*')"""
_JAAS_LINE = re.compile(
    r"org\.apache\.kafka\.common\.security\."
    r"(plain\.Plain|scram\.Scram)LoginModule\s+required\s+"
    + r"\s+".join(
        rf"(?P<{place}>username|password)\s*=\s*(?P<{place}_value>{_QUOTED})" for place in _BOTH
    )
    + r"\s*;"
)
_ENVIRONMENT = re.compile(r"\$\{env:([^{}]*)\}")
# Brackets are an IPv6 address; `PLAINTEXT://host:1` is a listener, not a broker's address.
_HOST_PORT = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")
_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029]")
_JAAS_CHARACTERS_MAX = 4_000
_PROPERTIES_MAX = 100
_ALIKE = 0.8
"""Minimum similarity of a name to suggest it; high, because most property names are similar."""
_MECHANISM_HINT = (
    "others, such as OAUTHBEARER, GSSAPI and AWS_MSK_IAM, are not built: use one of these, or a "
    "client's certificate"
)
_FIXED_WHY = {
    "ssl.endpoint.identification.algorithm": "a broker's name is always checked: leave it out, and "
    "give brokers certificates with their names",
    "isolation.level": "a range ends at the last stable offset, so aborted records are never read",
    "ssl.truststore.type": "certificates stand in the spec as PEM, never in a file of the server",
    "ssl.keystore.type": "certificates stand in the spec as PEM, never in a file of the server",
}


@dataclass(frozen=True)
class ReadProperties:
    """Checked properties, and the client that they describe."""

    properties: dict[str, JsonValue]
    """The properties as given, with names trimmed and in lower case."""
    client: KafkaClient
    warnings: tuple[str, ...] = ()


def client_of(properties: Mapping[str, JsonValue]) -> KafkaClient:
    """Return the connection that a spec's `consumerProperties` describe.

    Raises:
        InvalidSpec: a property is missing, refused or has a wrong value.
    """
    return read_properties(properties).client


def read_properties(document: object, pointer: str = POINTER) -> ReadProperties:
    """Check the `consumerProperties` of a document; `pointer` leads to them.

    `sasl.jaas.config` is accepted in one closed form and rebuilt, never passed on (CVE-2023-25194).

    Raises:
        InvalidSpec: with an error for each property that is missing, refused or wrong.
    """
    if not isinstance(document, Mapping):
        message = "must be an object" if document is not None else "is required"
        hint = 'give {"bootstrap.servers": "host:port"}'
        raise InvalidSpec([FieldError(pointer, message, hint)])
    if len(document) > _PROPERTIES_MAX:
        message = f"has {len(document)} properties, at most {_PROPERTIES_MAX} are allowed"
        raise InvalidSpec([FieldError(pointer, message)])
    reading = _Reading(pointer)
    for given, value in document.items():
        reading.take(str(given), value)
    client = reading.client()
    if client is None or reading.errors:
        raise InvalidSpec(reading.errors)
    return ReadProperties(reading.properties, client, tuple(reading.warnings))


@dataclass
class _Reading:
    pointer: str
    errors: list[FieldError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    properties: dict[str, JsonValue] = field(default_factory=dict)
    fields: dict[str, object] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """Field -> the property that set it."""
    refused: set[str] = field(default_factory=set)
    """Fields that are not set because the given value is wrong."""
    needs_scram: bool = False
    """Whether the JAAS configuration names a ScramLoginModule."""

    def refuse(self, name: str, message: str, hint: str = "") -> None:
        self.errors.append(FieldError(f"{self.pointer}/{pointer_part(name)}", message, hint))
        self.refused.add(FIELDS.get(name.strip().lower(), ""))

    def take(self, given: str, value: JsonValue) -> None:
        name = given.strip().lower()
        if name in self.properties:
            self.refuse(given, f"{shown(name)} is given twice", "names ignore case: give it once")
            return
        match standing(name):
            case PropertyRule.FIELD:
                self._take_field(given, name, value)
            case PropertyRule.FIXED if not _is_text(value, FIXED[name]):
                self.refuse(given, f"{name} must be {FIXED[name]}", _FIXED_WHY.get(name, ""))
            case PropertyRule.FIXED:
                pass
            case PropertyRule.IDLE if isinstance(value, str | int):
                self.warnings.append(
                    f"consumerProperties {name} has no effect: Tidegate's clients use their own"
                )
            case PropertyRule.IDLE:
                self.refuse(given, f"{name} must be a text or a number")
            case PropertyRule.JAAS:
                self._take_jaas(given, value)
            case PropertyRule.PROVIDER:
                self._take_provider(given, value)
            case PropertyRule.OWNED:
                self.refuse(
                    given,
                    f"{name} is owned by Tidegate and cannot be set in a spec",
                    "remove it: the position is the supervisor's, not a consumer group's",
                )
            case PropertyRule.DENIED:
                hint = kafka_property_names.INSTEAD.get(name, "remove it")
                self.refuse(given, f"{shown(name)} may not be set in a spec", hint)
            case PropertyRule.UNKNOWN:
                close = nearest(name, kafka_property_names.ALLOWED, cutoff=_ALIKE)
                hint = f"did you mean {close}?" if close else "remove it"
                hint = kafka_property_names.INSTEAD.get(name, hint)
                self.refuse(given, f"{shown(name)} is not a property that a spec may set", hint)
        self.properties[name] = value

    def set_field(self, given: str, name: str, value: object) -> None:
        """Set the field of property `name`; refuse if another property has set another value."""
        known = FIELDS[name]
        if known in self.fields and self.fields[known] != value:
            self.refuse(
                given, f"{name} and {self.names[known]} say different things", "give one of them"
            )
            return
        self.fields[known] = value
        self.names.setdefault(known, name)

    def _take_field(self, given: str, name: str, value: JsonValue) -> None:
        known = FIELDS[name]
        if known in kafka_property_names.SECRET_FIELDS:
            hint = _REFERENCE_HINT % name
            self.refuse(given, f"{name} is a secret and must not stand in a spec", hint)
        elif known in kafka_property_names.NUMBER_FIELDS:
            number = _whole_number(value)
            if number is None:
                self.refuse(given, f"{name} must be a whole number")
            else:
                self.set_field(given, name, number)
        elif not isinstance(value, str) or not value.strip():
            self.refuse(given, f"{name} must be a text that is not empty")
        elif known.endswith("_pem") and "PRIVATE KEY" in value:
            hint = _REFERENCE_HINT % "ssl.key.pem"
            self.refuse(given, f"{name} holds a private key, which must not stand in a spec", hint)
        elif not known.endswith("_pem") and _CONTROL.search(value.strip()):
            self.refuse(given, f"{name} holds a control character")
        elif known == "bootstrap_servers" and not _are_brokers(value):
            self.refuse(
                given,
                f"{name} must be a list of host:port",
                "for example kafka-1:9092,kafka-2:9092",
            )
        else:
            self.set_field(given, name, _clean(known, value))

    def _take_provider(self, given: str, value: JsonValue) -> None:
        form = _REFERENCE_HINT % "sasl.password"
        if not isinstance(value, dict) or value.get("type") != "environment":
            self.refuse(given, f"{PROVIDER} must be of type environment", form)
            return
        variables = value.get("variables")
        if value.keys() - {"type", "variables"} or not isinstance(variables, dict):
            self.refuse(given, f"{PROVIDER} must hold type and variables, nothing else", form)
            return
        for property_name, variable in variables.items():
            name = property_name.strip().lower()
            if FIELDS.get(name) in kafka_property_names.SECRET_FIELDS:
                self._take_secret(given, name, variable)
            else:
                known = ", ".join(kafka_property_names.SECRET_NAMES)
                self.refuse(
                    given,
                    f"{shown(name)} cannot be taken from the environment",
                    f"only {known} can",
                )

    def _take_secret(self, given: str, name: str, variable: JsonValue) -> None:
        try:
            reference = SecretRef.model_validate({"environment": variable})
        except ValidationError:
            self.refuse(
                given,
                f"the variable for {name} must be called TIDEGATE_SECRET_ and then letters, "
                "digits or _",
                "rename it on the server: a spec cannot read other variables",
            )
            return
        self.set_field(given, name, reference)

    def _take_jaas(self, given: str, value: JsonValue) -> None:
        line = (
            value.strip() if isinstance(value, str) and len(value) <= _JAAS_CHARACTERS_MAX else ""
        )
        match = _JAAS_LINE.fullmatch(line)
        options = {match[n]: _unquoted(match[f"{n}_value"]) for n in _BOTH} if match else {}
        reference = _ENVIRONMENT.fullmatch(options.get("password", ""))
        if match is None or reference is None or "username" not in options:
            self.refuse(
                given,
                f"{JAAS} is accepted in one form only: a user name, and a password by reference",
                _JAAS_HINT,
            )
            return
        self._take_field(given, "sasl.username", options["username"])
        self._take_secret(given, "sasl.password", reference[1])
        if match[1] == "plain.Plain":
            self.set_field(given, "sasl.mechanism", SaslMechanism.PLAIN.value)
        else:
            self.needs_scram = True

    def client(self) -> KafkaClient | None:
        """Return the client; None: there are errors, or the fields do not fit together."""
        if "bootstrap_servers" not in self.fields | dict.fromkeys(self.refused):
            self.refuse("bootstrap.servers", "bootstrap.servers is required", "give host:port")
        self._check_together()
        if self.errors:
            return None
        try:
            return KafkaClient.model_validate(self.fields)
        except ValidationError as error:
            for wrong in error.errors(include_input=False, include_url=False):
                known = str(wrong["loc"][0]) if wrong["loc"] else "security_protocol"
                # A field's alias is its name in camelCase; field names are compared without case.
                flat = known.replace("_", "").lower()
                matches = (n for f, n in self.names.items() if f.replace("_", "") == flat)
                name = next(matches, "security.protocol")
                message = wrong["msg"].removeprefix("Value error, ")
                hint = _MECHANISM_HINT if FIELDS.get(name) == "sasl_mechanism" else ""
                self.refuse(name, message.replace("Input should be", f"{name} must be"), hint)
            return None

    def _check_together(self) -> None:
        protocol = str(self.fields.get("security_protocol", "PLAINTEXT"))
        mechanism = str(self.fields.get("sasl_mechanism", ""))
        by_password = {"sasl_mechanism", "sasl_username", "sasl_password"} & self.fields.keys()
        if by_password and not protocol.startswith("SASL"):
            self.refuse(
                "security.protocol",
                "sasl properties are given, but security.protocol would not use them",
                "set security.protocol to SASL_SSL (or SASL_PLAINTEXT)",
            )
        by_certificate = {f for f in self.fields if f.startswith("ssl_")}
        if by_certificate and not protocol.endswith("SSL"):
            self.refuse(
                "security.protocol",
                "ssl properties are given, but security.protocol would not use them",
                "set security.protocol to SSL or SASL_SSL",
            )
        if ("ssl_certificate_pem" in self.fields) != ("ssl_key_pem" in self.fields):
            self.refuse(
                "ssl.certificate.pem",
                "a client certificate and its key go together",
                "give ssl.certificate.pem, and a reference for ssl.key.pem",
            )
        if self.needs_scram and not mechanism.startswith("SCRAM"):
            self.refuse(
                "sasl.mechanism",
                "ScramLoginModule needs a SCRAM mechanism",
                "set sasl.mechanism to SCRAM-SHA-256 or SCRAM-SHA-512",
            )


def _are_brokers(value: str) -> bool:
    well_formed = all(_HOST_PORT.fullmatch(part.strip()) for part in value.split(","))
    return well_formed and not refused_hosts(value, None)


def _unquoted(text: str) -> str:
    """Return a quoted text without its quotes, single or double, and unescaped."""
    return re.sub(r"\\(.)", r"\1", text[1:-1])


def _clean(known: str, value: str) -> str:
    if known == "bootstrap_servers":
        return ",".join(part.strip() for part in value.split(","))
    upper = known in {"security_protocol", "sasl_mechanism"}
    return value.strip().upper() if upper else value.strip()


def _is_text(value: JsonValue, wanted: str) -> bool:
    return isinstance(value, str) and value.strip().lower() == wanted.lower()


def _whole_number(value: JsonValue) -> int | None:
    """Return a whole number given as a number or as text; None: the value is neither."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,12}", value.strip(), re.ASCII):
        return int(value)
    return None
