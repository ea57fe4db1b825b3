"""What a registry's answers mean: a schema, none of that number, or no answer."""

import base64
import json
from collections.abc import Iterator

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from tasks.contract.kafka_client import SecretRef
from tasks.contract.registry import Registry, address_of, refused_registries
from tasks.kafka.schema_registry import ANSWER_BYTES_MAX, RegistryClient
from tasks.ports import SchemasUnavailable, SchemaText, TaskError
from tasks.runtime.secrets import secret_text
from tests.environment.registries import FakeRegistry, fake_registry

SECRETS = {"TIDEGATE_SECRET_R": "user:pass:word", "TIDEGATE_SECRET_T": "to\nken"}


@pytest.fixture
def registry() -> Iterator[FakeRegistry]:
    with fake_registry() as held:
        yield held


@pytest.fixture
def client() -> Iterator[RegistryClient]:
    held = RegistryClient(lambda secret: SECRETS[secret.environment], timeout_s=2.0)
    yield held
    held.close()


def test_a_schema_is_asked_for_once(registry: FakeRegistry, client: RegistryClient) -> None:
    registry.register(7, "int")
    spec = Registry(urls=(registry.url,))

    schemas = [client.schema(spec, 7) for _ in range(3)]

    assert schemas == [SchemaText("AVRO", '"int"')] * 3
    assert registry.requested == ["/schemas/ids/7"]


def test_none_of_that_number_is_an_answer_and_not_kept(
    registry: FakeRegistry, client: RegistryClient
) -> None:
    spec = Registry(urls=(registry.url,))

    assert client.schema(spec, 7) is None
    registry.register(7, "int", schemaType="JSON")
    assert client.schema(spec, 7) == SchemaText("JSON", '"int"')


FAULTS = {
    "down": (503, b"{}"),
    "broken": (500, b'{"error_code":50001,"message":"Error in the backend"}'),
    "not allowed": (401, b'{"error_code":401,"message":"Unauthorized"}'),
    "forbidden": (403, b""),
    "another service": (404, b"<html>not found</html>"),
    "a path that is not its": (404, b'{"error_code":404,"message":"HTTP 404 Not Found"}'),
    "moved": (302, b""),
    "not JSON": (200, b"<html>"),
    "a list": (200, b"[]"),
    "no schema": (200, b'{"id":7}'),
    "a schema that is no text": (200, b'{"schema":{}}'),
    "endless": (200, b" " * (ANSWER_BYTES_MAX + 1)),
    "odd references": (200, b'{"schema":"1","references":[{"subject":1}]}'),
}


def test_a_registry_that_repeats_what_it_was_sent_makes_no_text_with_a_secret(
    registry: FakeRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEGATE_SECRET_R", "user:pass:word")
    sent = base64.b64encode(b"user:pass:word").decode()
    message = f"no user with the password pass:word, of the header Basic {sent}"
    registry.fault = (401, json.dumps({"message": message}).encode())
    spec = Registry(urls=(registry.url,), user_info=SecretRef(environment="TIDEGATE_SECRET_R"))
    client = RegistryClient(secret_text)

    with pytest.raises(SchemasUnavailable, match="no user with") as unanswered:
        client.schema(spec, 7)

    client.close()
    assert "pass:word" not in str(unanswered.value)
    assert sent not in str(unanswered.value)


@pytest.mark.parametrize("fault", FAULTS)
def test_all_else_is_no_answer_and_a_repeat_may_have_one(
    fault: str, registry: FakeRegistry, client: RegistryClient
) -> None:
    registry.register(7, "int")
    registry.fault, registry.location = FAULTS[fault], f"{registry.url}/elsewhere"
    spec = Registry(urls=(registry.url,))

    with pytest.raises(SchemasUnavailable, match="registry"):
        client.schema(spec, 7)

    assert "/elsewhere" not in registry.requested
    registry.fault = None
    assert client.schema(spec, 7) is not None


def test_the_second_address_is_asked_if_the_first_is_silent(
    registry: FakeRegistry, client: RegistryClient
) -> None:
    registry.register(7, "int")
    spec = Registry(urls=("http://127.0.0.1:1", registry.url))

    assert client.schema(spec, 7) is not None


def test_what_a_schema_refers_to_comes_first(
    registry: FakeRegistry, client: RegistryClient
) -> None:
    """Goal: each after what it refers to itself, one that two refer to once, a circle ends."""
    a, b = [{"name": n, "subject": n, "version": 1} for n in ("a/x", "b")]
    registry.register(7, "shop.Top", references=[a, b])
    registry.answers["/subjects/a%2Fx/versions/1"] = {"schema": "A", "references": [b]}
    registry.answers["/subjects/b/versions/1"] = {"schema": "B", "references": [a]}

    schema = client.schema(Registry(urls=(registry.url,)), 7)

    assert schema == SchemaText("AVRO", json.dumps("shop.Top"), ("B", "A"), ("b", "a/x"))


def test_schemas_of_protobuf_are_asked_for_as_bytes(
    registry: FakeRegistry, client: RegistryClient
) -> None:
    """Goal: what they import as well, each by the name that it is imported by."""
    registry.register_file(7, b"top", ("shop/a.proto", b"a"))
    plain, binary = Registry(urls=(registry.url,)), Registry(urls=(registry.url,), binary=True)

    schema = client.schema(binary, 7)
    source = client.schema(plain, 7)

    assert schema == SchemaText("PROTOBUF", "dG9w", ("YQ==",), ("shop/a.proto",))
    assert source is not None
    assert source.text.startswith("syntax")
    assert registry.requested[:2] == [
        "/schemas/ids/7?format=serialized",
        "/subjects/shop%2Fa.proto/versions/1?format=serialized",
    ]


@pytest.mark.process
def test_a_registry_of_sources_has_them_compiled(
    registry: FakeRegistry, client: RegistryClient
) -> None:
    money = 'syntax = "proto3"; package shop; message Money { int64 units = 1; }'
    source = 'syntax = "proto3"; import "shop/money.proto"; message A { shop.Money price = 1; }'
    registry.register_source(7, source, ("shop/money.proto", money))

    schema = client.schema(Registry(urls=(registry.url,), binary=True), 7)

    assert schema is not None
    texts = (schema.text, *schema.references)
    main, imported = (FileDescriptorProto.FromString(base64.b64decode(text)) for text in texts)
    assert (schema.kind, schema.names) == ("PROTOBUF", ("shop/money.proto",))
    assert [message.name for file in (main, imported) for message in file.message_type] == [
        "A",
        "Money",
    ]


@pytest.mark.process
def test_a_source_that_is_none_is_a_schema_that_nobody_can_read(
    registry: FakeRegistry, client: RegistryClient
) -> None:
    registry.register_source(7, "message A {")
    spec = Registry(urls=(registry.url,), binary=True)

    schemas = [client.schema(spec, 7) for _ in range(2)]

    assert schemas == [SchemaText("PROTOBUF", "message A {")] * 2
    assert len(registry.requested) == 1


def test_credentials_are_sent_and_never_told(
    registry: FakeRegistry, client: RegistryClient
) -> None:
    registry.register(7, "int")
    secret = SecretRef(environment="TIDEGATE_SECRET_R")
    spec = Registry(
        urls=(registry.url,),
        user_info=secret,
        headers={"X-Team": "clicks"},
        header_secrets={"X-Key": secret},
    )

    client.schema(spec, 7)

    assert registry.headers["Authorization"] == "Basic dXNlcjpwYXNzOndvcmQ="
    assert (registry.headers["X-Team"], registry.headers["X-Key"]) == ("clicks", "user:pass:word")
    odd = Registry(
        urls=(registry.url,), header_secrets={"X-Key": SecretRef(environment="TIDEGATE_SECRET_T")}
    )
    with pytest.raises(TaskError, match="TIDEGATE_SECRET_T holds a character") as caught:
        client.schema(odd, 7)
    assert "ken" not in str(caught.value).replace("TIDEGATE", "")


def test_a_host_that_the_operator_does_not_name_is_not_asked(registry: FakeRegistry) -> None:
    registry.register(7, "int")
    client = RegistryClient(lambda _: "", allowed=("registry", "127.0.0.1:1"))

    with pytest.raises(SchemasUnavailable, match="TIDEGATE_REGISTRY_ALLOW"):
        client.schema(Registry(urls=(registry.url,)), 7)

    client.close()
    assert registry.requested == []


def test_hosts_are_told_apart_by_name_and_port() -> None:
    urls = ("http://R1", "https://r1/path", "http://r2:8081", "http://[::1]:1")

    assert refused_registries(urls, None) == []
    assert refused_registries(urls, ()) == ["r1:80", "r1:443", "r2:8081", "[::1]:1"]
    assert refused_registries(urls, ("r1:443", "R2", "[::1]")) == ["r1:80"]


@pytest.mark.parametrize(
    "url",
    [
        *("", "registry:8081", "file:///etc/passwd", "ftp://r", "http://", "http://u:p@r"),
        *(
            "http://r?x=1",
            "http://r#f",
            "http://r\\@s",
            "http://r s",
            "http://r:99999",
            "http://[r",
        ),
    ],
)
def test_no_other_url_is_taken(url: str) -> None:
    with pytest.raises(ValueError, match=r"^[a-zA-Z]"):
        address_of(url)
