"""Which texts are descriptors that can be read; the others are refused with what to do."""

import base64
from collections.abc import Callable

import pytest
from google.protobuf.descriptor_pb2 import (
    EDITION_2023,
    EDITION_2024,
    FileDescriptorProto,
    FileDescriptorSet,
)
from hypothesis import given
from hypothesis import strategies as st

from tasks.rows.schemas.protobuf import (
    FILES_MAX,
    MESSAGES_MAX,
    NAME_MAX,
    TEXT_MAX,
    ProtobufSchemaError,
    read_descriptors,
    read_registered,
)
from tests.tasks.ingest.formats.protobufs import EVERY, held, text_of


def file(name: str, *messages: str, imports: tuple[str, ...] = ()) -> FileDescriptorProto:
    """A file of empty messages."""
    descriptor = FileDescriptorProto(name=name, package="p", syntax="proto3", dependency=imports)
    for message in messages:
        descriptor.message_type.add(name=message)
    return descriptor


def set_of(*files: FileDescriptorProto) -> str:
    return text_of(FileDescriptorSet(file=files))


def names_in(files: bytes) -> list[str]:
    return [one.name for one in FileDescriptorSet.FromString(files).file]


def test_what_protoc_writes_is_read() -> None:
    """Goal: only what the message needs is kept, each file behind its imports."""
    schema = read_descriptors(text_of(held("every")))

    names = names_in(schema.files)
    assert schema.message == EVERY
    assert names[-1] == "every.proto"
    assert set(names) == {one.name for one in held("every").file}
    assert names_in(read_descriptors(text_of(held("every")), "shop.Money").files) == [
        "shop/money.proto"
    ]


@pytest.mark.parametrize("wanted", [EVERY, "Every", "v1.Every"])
def test_a_message_may_be_named_by_the_end_of_its_name(wanted: str) -> None:
    assert read_descriptors(text_of(held("every")), wanted).message == EVERY


def test_messages_within_messages_have_names_too() -> None:
    found = read_descriptors(text_of(held("every")), "Every.Inner")

    assert found.message == f"{EVERY}.Inner"


def test_imports_may_stand_in_any_order_and_more_than_once() -> None:
    top = file("t", "T", imports=("a", "b", "google/protobuf/timestamp.proto"))
    files = [top, file("a", "A", imports=("b",)), file("b", "B"), file("unused", "T")]

    schema = read_descriptors(set_of(*files), "A")
    whole = read_registered(
        base64.b64encode(top.SerializeToString()).decode(),
        [("a", _b64(files[1])), ("b", _b64(files[2]))],
    )

    assert names_in(schema.files) == ["b", "a"]
    names = names_in(whole.files)
    assert sorted(names) == ["/schema", "a", "b", "google/protobuf/timestamp.proto"]
    assert names.index("b") < names.index("a") < names.index("/schema") == 3
    assert whole.message == ""


def _b64(one: FileDescriptorProto) -> str:
    return base64.b64encode(one.SerializeToString()).decode()


def test_what_a_registry_calls_an_import_is_its_name() -> None:
    """Source: Confluent's clients: each reference is known by the name that it has there."""
    main, other = file("x", "X", imports=("shop/y.proto",)), file("default", "Y")

    found = read_registered(_b64(main), [("shop/y.proto", _b64(other))])

    assert names_in(found.files) == ["shop/y.proto", "/schema"]


def _deep(levels: int) -> FileDescriptorProto:
    descriptor = file("deep", "M0")
    inner = descriptor.message_type[0]
    for level in range(levels):
        inner = inner.nested_type.add(name=f"M{level + 1}")
    return descriptor


def _of_google() -> FileDescriptorProto:
    found = file("mine", "Timestamp")
    found.package = "google.protobuf"
    return found


def _within_google() -> FileDescriptorProto:
    descriptor = file("mine", "protobuf")
    descriptor.package = "google"
    descriptor.message_type[0].nested_type.add(name="Timestamp")
    return descriptor


def _symbol() -> FileDescriptorProto:
    found = file("f", "F")
    found.enum_type.add(name="E").value.add(name="x" * (NAME_MAX + 1), number=0)
    return found


def _field(name: str, json_name: str = "", times: int = 1) -> FileDescriptorProto:
    descriptor = file("f", "F")
    for number in range(times):
        field = descriptor.message_type[0].field.add(
            name=f"{name}{number}", number=number + 1, label=1
        )
        field.type = field.TYPE_INT32
        if json_name:
            field.json_name = json_name
    return descriptor


def _unresolved() -> FileDescriptorProto:
    descriptor = _field("a")
    field = descriptor.message_type[0].field[0]
    field.type, field.type_name = field.TYPE_MESSAGE, ".p.Nowhere"
    return descriptor


def _camel_twice() -> FileDescriptorProto:
    """As old files may have it that say so."""
    descriptor = _field("a", times=2)
    descriptor.syntax = "proto2"
    descriptor.message_type[0].options.deprecated_legacy_json_field_conflicts = True
    descriptor.message_type[0].field[0].name, descriptor.message_type[0].field[1].name = "aB", "a_b"
    return descriptor


def _elsewhere(found: FileDescriptorProto) -> FileDescriptorProto:
    found.package = "far"
    return found


def _edition(edition: int) -> FileDescriptorProto:
    descriptor = file("e", "E")
    descriptor.syntax = "editions"
    descriptor.edition = edition  # type: ignore[assignment]
    return descriptor


def test_files_of_the_edition_2023_are_read() -> None:
    assert read_descriptors(set_of(_edition(EDITION_2023))).message == "p.E"


WRONG: list[tuple[Callable[[], str], str | None, str]] = [
    (lambda: "", None, "it holds no file"),
    (lambda: "no base64!", None, "it is not base64"),
    (lambda: "AAAA", None, "it is no descriptor"),
    (lambda: "A" * (TEXT_MAX + 4), None, "more than 500000 characters"),
    (lambda: set_of(file("a")), None, "it declares no message"),
    (lambda: set_of(file("a", "A"), file("a", "A")), None, "it holds one file twice"),
    (lambda: set_of(file("a", "A", "B")), None, "must name one of its messages: p.A, p.B"),
    (lambda: set_of(file("a", "Click", "Other")), "Clik", "no message Clik; it has p.Click"),
    (lambda: set_of(file("a", "A")), "\x00é", r"no message \\x00\\xe9; it has p.A"),
    (
        lambda: set_of(file("a", "A", imports=("shop/b.proto",))),
        None,
        "shop/b.proto, which a imports, is missing: protoc --include_imports",
    ),
    (
        lambda: set_of(file("a", "A", imports=("b",)), file("b", imports=("a",))),
        "A",
        "imports itself",
    ),
    (lambda: set_of(file("a", "A", imports=("a",))), "A", "imports itself"),
    (lambda: set_of(_deep(40)), "M0", "more than 30 deep"),
    (lambda: set_of(_of_google()), None, "declared among what belongs"),
    (lambda: set_of(_within_google()), None, "declared among what belongs"),
    (lambda: set_of(_symbol()), None, "f has a name of more than 200 characters"),
    (lambda: set_of(_field("x", "same", 2)), None, "duplicate json_name"),
    (lambda: set_of(_field("x" * NAME_MAX)), None, "a name of more than 200 characters"),
    (lambda: set_of(_unresolved()), None, "f cannot be read: "),
    (lambda: set_of(_edition(EDITION_2024)), None, "an edition after 2023"),
    (lambda: set_of(_camel_twice()), None, "p.F of f has two fields that JSON calls aB"),
    (
        lambda: set_of(file("a", "A"), _elsewhere(file("b", "A"))),
        "A",
        "A is the name of several messages: far.A, p.A",
    ),
    (
        lambda: set_of(
            file("top", "Top", imports=tuple(f"{n}" for n in range(FILES_MAX))),
            *(file(f"{n}") for n in range(FILES_MAX)),
        ),
        None,
        "more than 200 files",
    ),
    (
        lambda: set_of(file("a", *(f"M{n}" for n in range(MESSAGES_MAX + 1)))),
        "M0",
        "more than 2000 messages",
    ),
]


@pytest.mark.parametrize(("build", "wanted", "message"), WRONG)
def test_what_cannot_be_read_is_refused(
    build: Callable[[], str], wanted: str | None, message: str
) -> None:
    with pytest.raises(ProtobufSchemaError, match=message) as caught:
        read_descriptors(build(), wanted)

    assert str(caught.value).isascii()


def test_many_fields_and_many_values_of_an_enum_take_no_time() -> None:
    """Goal: nothing in it grows faster than the text; this would take minutes."""
    descriptor = _field("f", times=12_000)
    symbols = descriptor.enum_type.add(name="E").value
    for number in range(5_000):
        symbols.add(name=f"E{number}", number=number)
    for one in descriptor.message_type[0].field:
        one.type, one.type_name = one.TYPE_ENUM, ".p.E"

    assert read_descriptors(set_of(descriptor)).message == "p.F"


def test_the_source_of_a_file_is_no_schema() -> None:
    with pytest.raises(ProtobufSchemaError, match="not base64"):
        read_registered('syntax = "proto3"; message A {}', [])


@given(st.binary(max_size=200), st.none() | st.text(max_size=20))
def test_no_bytes_do_more_than_be_refused(value: bytes, wanted: str | None) -> None:
    text = base64.b64encode(value).decode()
    try:
        read_descriptors(text, wanted)
    except ProtobufSchemaError as error:
        assert str(error).isprintable()  # noqa: PT017 -- most are refused, none must be
    try:
        read_registered(text, [])
    except ProtobufSchemaError as error:
        assert str(error).isprintable()  # noqa: PT017 -- as above


def test_a_name_of_bytes_that_are_no_text_is_refused() -> None:
    raw = base64.b64decode(set_of(_field("f", json_name="inJson")))
    broken = base64.b64encode(raw.replace(b"inJson", b"\xf0nJson")).decode()

    with pytest.raises(ProtobufSchemaError, match="no text in UTF-8"):
        read_descriptors(broken)


@given(st.data())
def test_no_set_with_a_bit_that_fell_over_does_more(data: st.DataObject) -> None:
    raw = bytearray(held("old").SerializeToString())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    try:
        read_descriptors(base64.b64encode(raw).decode())
    except ProtobufSchemaError as error:
        assert str(error).isprintable()  # noqa: PT017 -- as above
