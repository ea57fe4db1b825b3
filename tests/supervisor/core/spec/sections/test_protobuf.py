"""What a spec says of Protobuf: descriptors are read at once, a registry is only named."""

import pytest

from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import ingest_spec
from tasks.contract.ingest_spec import (
    JsonFormat,
    JsonPath,
    OneMessage,
    ProtobufFormat,
    RegistrySchemas,
)
from tasks.contract.kafka_client import SecretRef
from tests.supervisor.core.spec.spec_documents import changed, errors_of
from tests.supervisor.core.spec.test_rows import spec_with
from tests.tasks.ingest.formats.protobufs import EVERY, held, text_of

FORMAT = "/spec/ioConfig/inputFormat"
DECODER = f"{FORMAT}/protoBytesDecoder"
TEXT = text_of(held("every"))
INLINE = {"type": "inline", "descriptorString": TEXT}
URL = "https://registry:8081"


def protobuf(decoder: object, **more: object) -> dict[str, object]:
    return {"type": "protobuf", "protoBytesDecoder": decoder} | more


def by_registry(**more: object) -> dict[str, object]:
    return protobuf({"type": "schema_registry", "url": URL} | more)


def format_of(written: object) -> ProtobufFormat:
    found = ingest_spec(spec_with(FORMAT, written)).value_format
    assert isinstance(found, ProtobufFormat)
    return found


def test_descriptors_may_stand_in_the_spec() -> None:
    flatten = {"fields": [{"type": "path", "name": "deep", "expr": "$.a.b"}]}

    plain = format_of(protobuf(INLINE))
    named = format_of(protobuf(INLINE | {"protoMessageType": "Every.Inner"}, flattenSpec=flatten))

    assert plain == ProtobufFormat(schemas=OneMessage(text=TEXT, message=EVERY))
    assert named.schemas == OneMessage(text=TEXT, message=f"{EVERY}.Inner")
    assert named.fields == JsonFormat(paths=(JsonPath(name="deep", path="$.a.b"),))


def test_a_spec_is_written_as_it_was_given() -> None:
    spec = read_spec(changed(FORMAT, protobuf(INLINE | {"protoMessageType": "Every"}))).spec

    again = read_spec(spec.normalised()).spec

    assert again == spec


def test_a_flatten_spec_that_says_nothing_is_none() -> None:
    """Goal: with or without it the spec is the same, as for JSON, and no task restarts."""
    plain = changed(FORMAT, protobuf(INLINE))
    empty = changed(FORMAT, protobuf(INLINE, flattenSpec={}))

    assert read_spec(empty).spec == read_spec(plain).spec


def test_a_registry_is_named_with_its_credentials_by_reference() -> None:
    variables = {"Authorization": "TIDEGATE_SECRET_T"}
    provider = {"type": "environment", "variables": variables}

    schemas = format_of(
        by_registry(headers={"druid.dynamic.config.provider": provider}, capacity=2_147_483_647)
    ).schemas

    assert isinstance(schemas, RegistrySchemas)
    assert schemas.registry.binary
    assert schemas.registry.urls == (URL,)
    assert schemas.registry.header_secrets == {
        "Authorization": SecretRef(environment="TIDEGATE_SECRET_T")
    }


def test_keys_and_values_beside_others_may_be_protobuf() -> None:
    written = {"type": "kafka", "valueFormat": protobuf(INLINE), "keyFormat": by_registry()}

    message = ingest_spec(spec_with(FORMAT, written))

    assert message.value_registry is None
    assert message.key_registry is not None
    assert message.registry_urls == (URL,)


@pytest.mark.parametrize(
    ("written", "place", "message", "hint"),
    [
        ({"type": "protobuf"}, DECODER, "is required", ""),
        (
            protobuf({"descriptorString": TEXT}),
            f"{DECODER}/type",
            "type is required",
            "use one of inline, schema_registry",
        ),
        (
            protobuf({"type": "file", "descriptor": "file:///etc/passwd"}),
            f"{DECODER}/type",
            "no file or URL that a spec names is ever opened",
            "base64 -w0",
        ),
        (protobuf({"type": "magic"}), f"{DECODER}/type", "magic is no way to find a schema", ""),
        (
            protobuf({"type": "schema_repo"}),
            f"{DECODER}/type",
            "schema_repo is no way to find a schema",
            "",
        ),
        (protobuf({"type": "inline"}), f"{DECODER}/descriptorString", "is required", ""),
        (
            protobuf({"type": "inline", "descriptorString": "x"}),
            DECODER,
            "it is not base64",
            "base64 -w0",
        ),
        (
            protobuf(INLINE | {"protoMessageType": "Evry"}),
            DECODER,
            "has no message Evry; it has shop.v1.Every",
            "",
        ),
        (
            protobuf(INLINE | {"descriptor": "x"}),
            f"{DECODER}/descriptor",
            "unknown field",
            "descriptorString",
        ),
        (by_registry(urls=[URL]), DECODER, "exactly one of url and urls", ""),
        (by_registry(url="http://user:hunter2@r"), f"{DECODER}/url", "a user name", ""),
        (
            by_registry(config={"basic.auth.user.info": "me:hunter2"}),
            DECODER,
            "must not stand in a spec",
            "",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(
    written: object, place: str, message: str, hint: str
) -> None:
    errors = errors_of(changed(FORMAT, written))

    assert [error.pointer for error in errors] == [place], errors
    assert message in errors[0].message
    assert hint in (errors[0].hint or "")
    assert "hunter2" not in str(errors)
