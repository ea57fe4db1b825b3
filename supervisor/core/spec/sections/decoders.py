"""The `avroBytesDecoder` of a format: the source of the schemas of Avro records.

A schema is in the spec, and read together with it, or in a schema registry.  The operator has to
allow the registry's host, and its credentials are references.  This module uses no network.
"""

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, JsonValue, ValidationError, model_validator

from supervisor.core.spec.section import Ignored, Kinds, Section
from supervisor.core.spec.sections.kafka_property_names import PROVIDER
from supervisor.core.values.field_types import UNLIMITED, Text, shown, wrong
from tasks.contract.ingest_spec import ManySchemas, NumberedSchema, OneSchema, RegistrySchemas
from tasks.contract.kafka_client import SecretRef
from tasks.contract.registry import Registry, address_of
from tasks.rows.schemas.avro import AvroSchemaError, read_schema

SCHEMAS_MAX = 100
_NUMBER_MAX = 2**31 - 1
_USER_INFO = "basic.auth.user.info"
_SOURCE = "basic.auth.credentials.source"
_URL_MAX = 2_000
_HEADER = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}", re.ASCII)
_HEADER_TEXT = re.compile(r"[\x20-\x7e]{1,1000}", re.ASCII)
_OWN_HEADERS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "accept", "accept-encoding"}
)
_SECRET_HEADERS = ("authorization", "cookie", "key", "token", "secret", "password")
"""Parts of names of secret headers, whose values a spec may not contain."""
NO_WAY = "is no way to find a schema"
_OTHERS = MappingProxyType(
    {
        "schema_repo": (
            "schema_repo is not built",
            "the schemas of a schema repo can be registered or written into the spec",
        )
    }
)
_REFERENCE = 'reference it: "%s": {"type": "environment", "variables": {"%s": "TIDEGATE_SECRET_X"}}'


def _checked_schema(value: JsonValue) -> JsonValue:
    try:
        read_schema(_text(value))
    except AvroSchemaError as error:
        raise wrong(str(error), "give the schema of a record, as in a file .avsc") from None
    return value


def _checked_numbers(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    for number in value:
        if not re.fullmatch(r"0|[1-9][0-9]{0,9}", number, re.ASCII) or int(number) > _NUMBER_MAX:
            raise wrong(f"{shown(number)} is no number of a schema", "use 0 to 2147483647")
    return value


def _checked_url(url: str) -> str:
    try:
        address_of(url[: _URL_MAX + 1])
    except ValueError as error:  # also an unfinished bracket, or a port that is no number
        problem = str(error) if error.args and " " in str(error) else "is no URL"
        raise wrong(
            f"the URL {problem}", "give http(s)://host:port; credentials by config or headers"
        ) from None
    if len(url) > _URL_MAX:
        raise wrong("the URL is too long", f"at most {_URL_MAX} characters")
    return url.rstrip("/")


Schema = Annotated[JsonValue, AfterValidator(_checked_schema)]
Url = Annotated[Text, AfterValidator(_checked_url)]


class OneSchemaDecoder(Section):
    """Decoder of records of one schema, without a prefix."""

    part, title = "oneSchema", "avroBytesDecoder of type schema_inline"

    type: Literal["schema_inline"]
    schema_: Schema = Field(alias="schema")

    def contract(self) -> OneSchema:
        """Return the decoder in the form of the contract."""
        return OneSchema(text=_text(self.schema_))


class ManySchemasDecoder(Section):
    """Decoder of records that begin with byte 1 and the number of one of these schemas."""

    part, title = "manySchemas", "avroBytesDecoder of type multiple_schemas_inline"

    type: Literal["multiple_schemas_inline"]
    schemas: Annotated[
        dict[str, Schema],
        Field(min_length=1, max_length=SCHEMAS_MAX),
        AfterValidator(_checked_numbers),
    ]

    def contract(self) -> ManySchemas:
        """Return the decoder in the form of the contract."""
        each = (NumberedSchema(number=int(n), text=_text(s)) for n, s in self.schemas.items())
        return ManySchemas(schemas=tuple(sorted(each, key=lambda one: one.number)))


class RegistryDecoder(Section):
    """Decoder of records that begin with byte 0 and the id of a schema in a registry."""

    part, title = "registry", "a decoder of type schema_registry"
    others = MappingProxyType({"capacity": Ignored((UNLIMITED,))})

    type: Literal["schema_registry"]
    url: Url | None = None
    urls: tuple[Url, ...] = Field(default=(), max_length=10)
    config: dict[str, JsonValue] = Field(default_factory=dict, max_length=20)
    headers: dict[str, JsonValue] = Field(default_factory=dict, max_length=20)

    @model_validator(mode="after")
    def _has_one_address(self) -> Self:
        if (self.url is None) == (not self.urls):
            raise wrong("exactly one of url and urls must be given", "keep one of them")
        self.contract()
        return self

    def contract(self) -> RegistrySchemas:
        """Return the decoder in the form of the contract."""
        plain, secret = _headers(self.headers)
        registry = Registry(
            urls=self.urls if self.url is None else (self.url,),
            user_info=_user_info(self.config),
            headers=plain,
            header_secrets=secret,
        )
        return RegistrySchemas(registry=registry)


Decoder = Annotated[
    OneSchemaDecoder | ManySchemasDecoder | RegistryDecoder,
    Field(discriminator="type"),
    Kinds("avroBytesDecoder", NO_WAY, _OTHERS),
]


def _text(schema: JsonValue) -> str:
    return json.dumps(schema, separators=(",", ":"))


def _user_info(config: Mapping[str, JsonValue]) -> SecretRef | None:
    references = _references(config, "config")
    for name, value in config.items():
        if name == _USER_INFO:
            hint = _REFERENCE % (PROVIDER, _USER_INFO)
            raise wrong(f"{_USER_INFO} is a secret and must not stand in a spec", hint)
        if name == _SOURCE and value != "USER_INFO":
            raise wrong(f"{_SOURCE} must be USER_INFO", f"and {_USER_INFO} by reference")
        if name not in {_SOURCE, PROVIDER}:
            hint = "only basic authentication is; a private CA belongs into the worker's store"
            raise wrong(f"config {shown(name)} is not built", hint)
    for name in references.keys() - {_USER_INFO}:
        raise wrong(f"{shown(name)} cannot be taken from the environment", f"only {_USER_INFO} can")
    if (_SOURCE in config) != (_USER_INFO in references):
        raise wrong(f"{_SOURCE} and {_USER_INFO} go together", _REFERENCE % (PROVIDER, _USER_INFO))
    return references.get(_USER_INFO)


def _headers(
    written: Mapping[str, JsonValue],
) -> tuple[dict[str, str], dict[str, SecretRef]]:
    secret = _references(written, "headers")
    plain: dict[str, str] = {}
    for name, value in written.items():
        if name == PROVIDER:
            continue
        if any(part in name.lower() for part in _SECRET_HEADERS):
            hint = _REFERENCE % (PROVIDER, shown(name))
            raise wrong(f"the header {shown(name)} may be a secret, which no spec holds", hint)
        if not isinstance(value, str) or _HEADER_TEXT.fullmatch(value) is None:
            raise wrong(f"the header {shown(name)} must be a text", "of printable characters")
        plain[name] = value
    names = [name.lower() for name in (*plain, *secret)]
    for name in (*plain, *secret):
        own = name.lower() in _OWN_HEADERS or names.count(name.lower()) > 1
        if own or _HEADER.fullmatch(name) is None:
            raise wrong(f"the header {shown(name)} cannot be set here", "leave it out")
    return plain, secret


def _references(written: Mapping[str, JsonValue], where: str) -> dict[str, SecretRef]:
    """Return name -> reference, of the values that an object takes from the environment."""
    provider = written.get(PROVIDER)
    if provider is None:
        return {}
    form = _REFERENCE % (PROVIDER, "NAME")
    whole = isinstance(provider, dict) and provider.keys() == {"type", "variables"}
    if not isinstance(provider, dict) or not whole or provider["type"] != "environment":
        raise wrong(f"{PROVIDER} of {where} must be of type environment", form)
    variables = provider["variables"]
    if not isinstance(variables, dict):
        raise wrong(f"variables of {where} must be an object", form)
    references: dict[str, SecretRef] = {}
    for name, variable in variables.items():
        try:
            references[name] = SecretRef.model_validate({"environment": variable})
        except ValidationError:
            raise wrong(
                f"the variable for {shown(name)} must be called TIDEGATE_SECRET_ and then "
                "letters, digits or _",
                "rename it on the server: a spec cannot read other variables",
            ) from None
    return references
