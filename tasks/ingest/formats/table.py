"""Table of input formats: one row per format, from its section in a message to its reader."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeVar

from tasks.contract.ingest_spec import (
    AvroFormat,
    JsonFormat,
    ProtobufFormat,
    RegexFormat,
    TextFormat,
    ValueFormat,
)
from tasks.contract.wire import Wire
from tasks.ingest.formats.avro import avro_reader
from tasks.ingest.formats.json import JsonReader
from tasks.ingest.formats.protobuf import protobuf_reader
from tasks.ingest.formats.reader import FormatReader
from tasks.ingest.formats.text import regex_reader, text_reader

_Section = TypeVar("_Section", bound=Wire)
_Row = tuple[type[Wire], Callable[[Wire], FormatReader]]


def _row(section: type[_Section], reader: Callable[[_Section], FormatReader]) -> _Row:
    def of(written: Wire) -> FormatReader:
        assert isinstance(written, section)
        return reader(written)

    return section, of


FORMATS: Mapping[type[Wire], Callable[[Wire], FormatReader]] = MappingProxyType(
    dict(
        [
            _row(JsonFormat, JsonReader),
            _row(TextFormat, text_reader),
            _row(RegexFormat, regex_reader),
            _row(AvroFormat, avro_reader),
            _row(ProtobufFormat, protobuf_reader),
        ]
    )
)


def reader_of(written: ValueFormat) -> FormatReader:
    """Return the reader for a format section of a spec."""
    return FORMATS[type(written)](written)
