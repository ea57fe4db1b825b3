"""What a spec says of Avro records: the schema is read at once, a registry is only named."""

import json

import pytest

from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import ingest_spec
from tasks.contract.ingest_spec import (
    AvroFormat,
    JsonFormat,
    JsonPath,
    NumberedSchema,
    RegistrySchemas,
)
from tasks.contract.kafka_client import SecretRef
from tests.supervisor.core.spec.spec_documents import changed, errors_of
from tests.supervisor.core.spec.test_rows import spec_with

FORMAT = "/spec/ioConfig/inputFormat"
DECODER = f"{FORMAT}/avroBytesDecoder"
SCHEMA = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}
TEXT = json.dumps(SCHEMA, separators=(",", ":"))
PROVIDER = "druid.dynamic.config.provider"
URL = "https://registry:8081"


def avro(decoder: object, **more: object) -> dict[str, object]:
    return {"type": "avro_stream", "avroBytesDecoder": decoder} | more


def by_registry(**more: object) -> dict[str, object]:
    return avro({"type": "schema_registry", "url": URL} | more)


def taken(**names: str) -> dict[str, object]:
    variables = {name.replace("_", "."): variable for name, variable in names.items()}
    return {PROVIDER: {"type": "environment", "variables": variables}}


def format_of(written: object) -> AvroFormat:
    found = ingest_spec(spec_with(FORMAT, written)).value_format
    assert isinstance(found, AvroFormat)
    return found


def test_a_flatten_spec_that_says_nothing_is_none() -> None:
    """Goal: with or without it the spec is the same, as for JSON, and no task restarts."""
    inline = {"type": "schema_inline", "schema": SCHEMA}
    plain, empty = changed(FORMAT, avro(inline)), changed(FORMAT, avro(inline, flattenSpec={}))

    assert read_spec(empty).spec == read_spec(plain).spec


def test_a_schema_may_stand_in_the_spec() -> None:
    flatten = {"fields": [{"type": "path", "name": "deep", "expr": "$.a.b"}]}

    one = format_of(
        avro(
            {"type": "schema_inline", "schema": SCHEMA},
            flattenSpec=flatten,
            binaryAsString=True,
            extractUnionsByType=True,
        )
    )
    many = format_of(avro({"type": "multiple_schemas_inline", "schemas": {"7": SCHEMA}}))

    assert (one.schemas.type, one.binary_as_string, one.unions_by_type) == ("one", True, True)
    assert one.fields == JsonFormat(paths=(JsonPath(name="deep", path="$.a.b"),))
    assert many.schemas.type == "many"
    assert many.schemas.schemas == (NumberedSchema(number=7, text=TEXT),)


def test_a_registry_is_named_with_its_credentials_by_reference() -> None:
    written = by_registry(
        config={"basic.auth.credentials.source": "USER_INFO"}
        | taken(basic_auth_user_info="TIDEGATE_SECRET_R"),
        headers={"X-Team": "clicks"} | taken(Authorization="TIDEGATE_SECRET_T"),
        capacity=2_147_483_647,
    )

    schemas = format_of(written).schemas

    assert isinstance(schemas, RegistrySchemas)
    assert schemas.registry.urls == (URL,)
    assert schemas.registry.user_info == SecretRef(environment="TIDEGATE_SECRET_R")
    assert schemas.registry.headers == {"X-Team": "clicks"}
    assert schemas.registry.header_secrets == {
        "Authorization": SecretRef(environment="TIDEGATE_SECRET_T")
    }


def test_keys_and_values_beside_others_may_be_avro() -> None:
    inner = avro({"type": "schema_inline", "schema": SCHEMA})
    spec = spec_with(FORMAT, {"type": "kafka", "valueFormat": inner, "keyFormat": by_registry()})

    message = ingest_spec(spec)

    assert message.value_registry is None
    assert message.key_registry is not None
    assert message.key_registry.urls == (URL,)


@pytest.mark.parametrize(
    ("written", "place", "message"),
    [
        ({"type": "avro_stream"}, DECODER, "is required"),
        (avro({"type": "schema_repo"}), f"{DECODER}/type", "schema_repo is not built"),
        (avro({"schema": SCHEMA}), f"{DECODER}/type", "type is required"),
        (avro({"type": "magic"}), f"{DECODER}/type", "magic is no way to find a schema"),
        (avro({"type": "schema_inline"}), f"{DECODER}/schema", "is required"),
        (avro({"type": "schema_inline", "schema": "int"}), f"{DECODER}/schema", "of a record"),
        (
            avro(
                {
                    "type": "schema_inline",
                    "schema": SCHEMA | {"fields": [{"name": "b", "type": "x"}]},
                }
            ),
            f"{DECODER}/schema",
            "b names the type x, which is not declared",
        ),
        (
            avro({"type": "multiple_schemas_inline", "schemas": {"1": SCHEMA, "2": "int"}}),
            f"{DECODER}/schemas/2",
            "of a record",
        ),
        (
            avro({"type": "multiple_schemas_inline", "schemas": {"x": SCHEMA}}),
            f"{DECODER}/schemas",
            "x is no number of a schema",
        ),
        (avro({"type": "schema_registry"}), DECODER, "exactly one of url and urls"),
        (by_registry(urls=[URL]), DECODER, "exactly one of url and urls"),
        (by_registry(url="http://user:pass@r"), f"{DECODER}/url", "a user name or a password"),
        (by_registry(url="file:///etc/passwd"), f"{DECODER}/url", "must begin with http"),
        (by_registry(url="http://[r"), f"{DECODER}/url", "the URL"),
        (
            by_registry(config={"basic.auth.user.info": "me:hunter2"}),
            DECODER,
            "is a secret and must not stand in a spec",
        ),
        (
            by_registry(config={"schema.registry.ssl.keystore.location": "/x"}),
            DECODER,
            "is not built",
        ),
        (by_registry(config={"basic.auth.credentials.source": "URL"}), DECODER, "USER_INFO"),
        (by_registry(config=taken(basic_auth_user_info="PATH")), DECODER, "TIDEGATE_SECRET_"),
        (by_registry(config=taken(other="TIDEGATE_SECRET_R")), DECODER, "cannot be taken"),
        (by_registry(headers={"Authorization": "Bearer hunter2"}), DECODER, "may be a secret"),
        (by_registry(headers={"Host": "inner"}), DECODER, "cannot be set"),
        (by_registry(headers={"X-A": "a\r\nHost: b"}), DECODER, "must be a text"),
        (by_registry(headers=taken(Host="TIDEGATE_SECRET_R")), DECODER, "cannot be set"),
        (by_registry(secret="x"), f"{DECODER}/secret", "unknown field"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(
    written: object, place: str, message: str
) -> None:
    errors = errors_of(changed(FORMAT, written))

    assert [error.pointer for error in errors] == [place], errors
    assert message in errors[0].message
    assert "hunter2" not in str(errors)


def test_errors_beside_an_unknown_decoder_are_listed_as_well() -> None:
    errors = errors_of(changed(FORMAT, avro({"type": "schema_repo"}, binaryAsString="no")))
    assert [error.pointer for error in errors] == [f"{DECODER}/type", f"{FORMAT}/binaryAsString"]
