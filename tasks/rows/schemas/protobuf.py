"""Parsing of Protobuf descriptors, with bounds on their size.  Pure.

    base64 ─► a set of files ─► those that the message needs, each behind its imports ─► checked

The files of google/protobuf come from the library, not from the set.  Their messages have a special
form in JSON, so they must be the real ones.

Source: descriptor.proto of Protocol Buffers; its documentation, "ProtoJSON Format".
"""

import base64
import binascii
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module

from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError

TEXT_MAX = 500_000
"""Most characters of a set of files in base64."""
FILES_MAX = 200
MESSAGES_MAX = 2_000
"""Most message types in one set, nested ones and those of maps included."""
NAME_MAX = 200
"""Most characters in the name of a field or of an enum's value."""
SET_HINT = "protoc --include_imports --descriptor_set_out=FILE"

_DEPTH_MAX = 30
_SHOWN_MAX = 60
_NAMES_SHOWN = 5
_KEPT = 64
_EDITION_MAX = descriptor_pb2.EDITION_2023
"""The newest edition that the Protobuf runtime in Spark supports."""
_VERIFY = descriptor_pb2.FeatureSet.Utf8Validation.VERIFY
_OWN_SPACE = "google.protobuf."
_NAMES_OF_ALL = (
    *("any", "api", "descriptor", "duration", "empty", "field_mask", "source_context", "struct"),
    *("timestamp", "type", "wrappers"),
)
_WELL_KNOWN: Mapping[str, FileDescriptor] = {
    file.name: file
    for file in (import_module(f"google.protobuf.{name}_pb2").DESCRIPTOR for name in _NAMES_OF_ALL)
}


class ProtobufSchemaError(Exception):
    """A text is no set of files, or an unsupported one; the message says where and why."""


@dataclass(frozen=True)
class Messages:
    """The descriptors with which records are decoded."""

    files: bytes
    """A FileDescriptorSet, with each file behind its imports."""
    message: str
    """Full name of a message of the last file; empty: each record names its message."""


@contextmanager
def _of_text() -> Iterator[None]:
    """Refuse names that are no UTF-8; the library fails only when it reads them."""
    try:
        yield
    except UnicodeDecodeError:
        raise ProtobufSchemaError("a name in it is no text in UTF-8") from None


@lru_cache(maxsize=_KEPT)
@_of_text()
def read_descriptors(text: str, message: str | None = None) -> Messages:
    """Parse a FileDescriptorSet in base64; `message` is a full name or the end of one.

    Without `message`, the set's only message in a file that no other file imports is used.

    Raises:
        ProtobufSchemaError: the text is no such set, is too large, or lacks an import or the
            message.
    """
    held = FileDescriptorSet()
    _parse(held, text)
    if not held.file:
        raise ProtobufSchemaError(f"it holds no file: it is made by {SET_HINT}")
    files = {file.name: file for file in held.file}
    if len(files) < len(held.file):
        raise ProtobufSchemaError("it holds one file twice")
    name, home = _chosen(files, message)
    return Messages(_checked(home, files), name)


@_of_text()
def read_registered(text: str, references: Sequence[tuple[str, str]]) -> Messages:
    """Parse a FileDescriptorProto in base64, and its imports, which are given by name.

    Raises:
        ProtobufSchemaError: the text is none (a .proto source is none), or is unsupported.
    """
    files: dict[str, FileDescriptorProto] = {}
    for name, held in references:
        files[name] = FileDescriptorProto()
        _parse(files[name], held)
        files[name].name = name
    main = FileDescriptorProto()
    _parse(main, text)
    main.name = "/schema"  # no import can name it
    files[main.name] = main
    return Messages(_checked(main.name, files), "")


def _parse(held: FileDescriptorSet | FileDescriptorProto, text: str) -> None:
    if len(text) > TEXT_MAX:
        raise ProtobufSchemaError(f"it has more than {TEXT_MAX} characters")
    try:
        held.ParseFromString(base64.b64decode(text, validate=True))
    except (ValueError, binascii.Error):
        raise ProtobufSchemaError("it is not base64") from None
    except DecodeError:
        raise ProtobufSchemaError(f"it is no descriptor: it is made by {SET_HINT}") from None


def _chosen(files: Mapping[str, FileDescriptorProto], wanted: str | None) -> tuple[str, str]:
    """Return the full name of the wanted message, and its file."""
    own = [file for file in files.values() if file.name not in _WELL_KNOWN]
    if wanted is None:
        imported = {name for file in files.values() for name in file.dependency}
        first = {
            _full(file.package, message.name): file.name
            for file in own
            if file.name not in imported
            for message in file.message_type
        }
        if len(first) == 1:
            return next(iter(first.items()))
        if first:
            listing = _listed(sorted(first))
            raise ProtobufSchemaError(f"protoMessageType must name one of its messages: {listing}")
    declared = {
        name: file.name
        for file in own
        for message in file.message_type
        for name in _names(message, file.package, 0)
    }
    if len(declared) > MESSAGES_MAX:
        raise ProtobufSchemaError(f"it has more than {MESSAGES_MAX} messages")
    if wanted is None or not declared:
        raise ProtobufSchemaError("it declares no message")
    if wanted in declared:
        return wanted, declared[wanted]
    ends = [name for name in declared if name.endswith(f".{wanted}")]
    if len(ends) == 1:
        return ends[0], declared[ends[0]]
    if ends:
        listing = _listed(sorted(ends))
        raise ProtobufSchemaError(f"{_shown(wanted)} is the name of several messages: {listing}")
    near = get_close_matches(wanted[:NAME_MAX], declared, n=_NAMES_SHOWN, cutoff=0.3)
    listing = _listed(near or sorted(declared))
    raise ProtobufSchemaError(f"it has no message {_shown(wanted)}; it has {listing}")


def _names(message: descriptor_pb2.DescriptorProto, space: str, depth: int) -> Iterable[str]:
    if depth > _DEPTH_MAX:
        raise ProtobufSchemaError(f"its messages are declared more than {_DEPTH_MAX} deep")
    full = _full(space, message.name)
    if not message.options.map_entry:
        yield full
    for inner in message.nested_type:
        yield from _names(inner, full, depth + 1)


def _checked(home: str, files: Mapping[str, FileDescriptorProto]) -> bytes:
    """Return the set of the files that `home` needs, `home` last, after a check by the library."""
    ordered = _ordered(home, files)
    pool, held = DescriptorPool(), FileDescriptorSet()
    messages = 0
    for name in ordered:
        raw = _raw(name, files)
        try:
            pool.AddSerializedFile(raw)
            descriptor = pool.FindFileByName(name)
        except (TypeError, KeyError) as error:
            raise ProtobufSchemaError(f"{_shown(name)} cannot be read: {_short(error)}") from None
        _check_symbols(descriptor.enum_types_by_name.values(), _shown(name))
        for message in descriptor.message_types_by_name.values():
            messages += _check(message, name, 0)
        if messages > MESSAGES_MAX:
            raise ProtobufSchemaError(f"it has more than {MESSAGES_MAX} messages")
        held.file.add().ParseFromString(raw)
    if not held.file[-1].message_type:
        raise ProtobufSchemaError("it declares no message")
    return held.SerializeToString(deterministic=True)


def _raw(name: str, files: Mapping[str, FileDescriptorProto]) -> bytes:
    if name in _WELL_KNOWN:
        return _WELL_KNOWN[name].serialized_pb
    file = FileDescriptorProto()
    file.CopyFrom(files[name])
    file.ClearField("source_code_info")
    if file.edition > _EDITION_MAX:
        raise ProtobufSchemaError(f"{_shown(name)} is of an edition after 2023")
    _check_texts(file)
    return file.SerializeToString(deterministic=True)


def _check_texts(file: FileDescriptorProto) -> None:
    """Make a message invalid if it has a text that is no UTF-8, whatever the file says.

    Otherwise Java would replace invalid bytes, and the row would have a text that nobody sent.
    """
    if file.syntax != "editions":
        file.options.java_string_check_utf8 = True
        return
    file.options.features.utf8_validation = _VERIFY
    waiting, fields = [*file.message_type], [*file.extension]
    while waiting:
        message = waiting.pop()
        waiting += message.nested_type
        fields += [*message.field, *message.extension]
    for each in fields:
        if each.options.features.HasField("utf8_validation"):
            each.options.features.utf8_validation = _VERIFY


def _ordered(home: str, files: Mapping[str, FileDescriptorProto]) -> list[str]:
    """Return a file and all its imports, direct or not, each behind its own imports."""
    done: dict[str, bool] = {}
    waiting = [(home, "")]
    while waiting:
        name, by = waiting[-1]
        if done.get(name):
            waiting.pop()
            continue
        if name in done:  # all its imports are done
            done[name] = True
            done[name] = done.pop(name)  # move behind its imports
            waiting.pop()
            continue
        if name not in files and name not in _WELL_KNOWN:
            problem = f"{_shown(name)}, which {_shown(by)} imports, is missing"
            raise ProtobufSchemaError(f"{problem}: {SET_HINT} puts it in")
        if len(done) >= FILES_MAX:
            raise ProtobufSchemaError(f"it has more than {FILES_MAX} files")
        done[name] = False
        for needed in _imports(name, files):
            if done.get(needed) is False:
                raise ProtobufSchemaError(f"{_shown(needed)} imports itself")
            if needed not in done:
                waiting.append((needed, name))
    return list(done)


def _imports(name: str, files: Mapping[str, FileDescriptorProto]) -> Sequence[str]:
    known = _WELL_KNOWN.get(name)
    if known is not None:
        return [file.name for file in known.dependencies]
    return list(files[name].dependency)


def _check(message: Descriptor, file: str, depth: int) -> int:
    """Check a message's names; return the number of messages in it, itself included."""
    label = f"{_shown(message.full_name)} of {_shown(file)}"
    if depth > _DEPTH_MAX:
        raise ProtobufSchemaError(f"its messages are declared more than {_DEPTH_MAX} deep")
    if message.full_name.startswith(_OWN_SPACE) and file not in _WELL_KNOWN:
        raise ProtobufSchemaError(f"{label} is declared among what belongs to Protobuf itself")
    names = Counter(field.json_name for field in message.fields)
    if twice := [name for name, times in names.items() if times > 1]:
        raise ProtobufSchemaError(f"{label} has two fields that JSON calls {_shown(twice[0])}")
    _check_lengths(names, label)
    _check_symbols(message.enum_types, label)
    return 1 + sum(_check(inner, file, depth + 1) for inner in message.nested_types)


def _check_symbols(enums: Iterable[EnumDescriptor], where: str) -> None:
    _check_lengths((value.name for enum in enums for value in enum.values), where)


def _check_lengths(names: Iterable[str], where: str) -> None:
    """Bound the lengths of names, because one byte of a record may become a whole name."""
    if any(len(name) > NAME_MAX for name in names):
        raise ProtobufSchemaError(f"{where} has a name of more than {NAME_MAX} characters")


def _full(space: str, name: str) -> str:
    return f"{space}.{name}" if space else name


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMES_SHOWN
    shown = ", ".join(_shown(name) for name in names[:_NAMES_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown


def _shown(name: str) -> str:
    return ascii(name[:_SHOWN_MAX])[1:-1]


def _short(error: Exception) -> str:
    return ascii(str(error.args[0] if error.args else error)[: _SHOWN_MAX * 4])[1:-1]
