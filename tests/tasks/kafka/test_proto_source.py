"""What becomes of sources of Protobuf: descriptors, or a reason why there are none."""

import tempfile
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from tasks.kafka.proto_compiler import NoCompilerError, NotCompiledError, compiled
from tests.environment.small_disks import can_mount, mounted
from tests.tasks.ingest.formats.protobufs import held

pytestmark = pytest.mark.process

SYNTAX = 'syntax = "proto3";\n'
MONEY = f"{SYNTAX}package shop; message Money {{ string currency = 1; }}"
PROTOS = Path(__file__).parents[2] / "tasks" / "ingest" / "formats" / "protos"


def names(file: FileDescriptorProto) -> list[str]:
    return [message.name for message in file.message_type]


def test_a_source_has_a_descriptor_and_so_has_each_that_it_imports() -> None:
    source = (
        f'{SYNTAX}import "shop/money.proto"; import "google/protobuf/timestamp.proto";\n'
        "message A { google.protobuf.Timestamp at = 1; } message B { shop.Money price = 1; }"
    )

    main, [(name, money)] = compiled(source, [("shop/money.proto", MONEY)])

    assert names(main) == ["A", "B"]  # in their order: records say which by its place
    assert [*main.dependency] == ["shop/money.proto", "google/protobuf/timestamp.proto"]
    assert (name, names(money)) == ("shop/money.proto", ["Money"])


def test_every_kind_of_field_is_what_protoc_made_of_it_elsewhere() -> None:
    """Goal: `every.desc` was written by a `protoc` of another version."""
    wanted = {file.name: file for file in held("every").file}["every.proto"]

    money = (PROTOS / "shop" / "money.proto").read_text()
    main, _ = compiled((PROTOS / "every.proto").read_text(), [("shop/money.proto", money)])

    assert main.message_type == wanted.message_type
    assert main.enum_type == wanted.enum_type


def test_what_google_declares_is_taken_from_google() -> None:
    forged = f"{SYNTAX}package google.protobuf; message Timestamp {{ string when = 1; }}"
    source = f'{SYNTAX}import "google/protobuf/timestamp.proto"; message A {{ int32 a = 1; }}'

    main, others = compiled(source, [("google/protobuf/timestamp.proto", forged)])

    assert (names(main), others) == (["A"], [])


def test_an_import_may_have_the_name_that_is_given_to_the_source() -> None:
    source = f'{SYNTAX}import "schema.proto"; message A {{ shop.Money price = 1; }}'

    main, [(name, money)] = compiled(source, [("schema.proto", MONEY)])

    assert (names(main), name, names(money)) == (["A"], "schema.proto", ["Money"])


REFUSED = [
    "../a.proto",
    "/etc/a.proto",
    "a/../b.proto",
    "a\\b.proto",
    "",
    ".",
    "a//b",
    "a\0b",
    "-I/",
]


@pytest.mark.parametrize("name", [*REFUSED, "a/" * 200, "a\nb.proto", "\ud800.proto"])
def test_a_name_that_is_no_path_of_an_import_is_refused(name: str) -> None:
    with pytest.raises(NotCompiledError):
        compiled(MONEY, [(name, MONEY)])


def test_no_file_of_the_machine_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "own.proto").write_text(MONEY)

    for name in (str(tmp_path / "own.proto"), "../own.proto", "own.proto"):
        with pytest.raises(NotCompiledError, match=r"own\.proto"):
            compiled(f'{SYNTAX}import "{name}"; message A {{}}', [])


def test_an_import_that_is_a_folder_of_another_is_refused() -> None:
    with pytest.raises(NotCompiledError, match=r"'a/b\.proto' cannot be written"):
        compiled(MONEY, [("a", MONEY), ("a/b.proto", MONEY)])


@pytest.mark.parametrize("source", ["{", "message A {", f"{SYNTAX}message A {{ b c = 1; }}"])
def test_a_source_that_is_none_is_refused(source: str) -> None:
    with pytest.raises(NotCompiledError, match=r"schema\.proto:"):
        compiled(source, [])


def test_a_compiler_that_does_not_end_is_no_answer() -> None:
    with pytest.raises(NoCompilerError, match="timed out"):
        compiled(MONEY, [], timeout_s=0.0)


if can_mount():

    @pytest.mark.parametrize("pages", [0, 1])
    def test_a_full_disk_says_nothing_of_a_source(
        pages: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Goal: not kept as a schema that nobody can read; of one page the source takes it."""
        with mounted(tmp_path, size="64k"):
            monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
            (tmp_path / "full").write_bytes(b"x" * (16 - pages) * 4096)

            with pytest.raises(NoCompilerError, match="No space left"):
                compiled(MONEY, [])


def test_no_folder_for_a_source_says_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))

    with pytest.raises(NoCompilerError, match="No such file"):
        compiled(MONEY, [])
