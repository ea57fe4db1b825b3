"""The `indexSpec` of a spec's tuningConfig: compression and encoding of Parquet files."""

from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, TypeAdapter

from supervisor.core.spec.section import OURS, Ignored, Section
from supervisor.core.values.field_types import FieldName, Whole, one_of, shown, wrong
from tasks.contract.ingest_spec import FileFormat

COLUMNS_MAX = 1_000
"""The maximum of columns without a dictionary that a spec can name."""
PLAIN = frozenset({"uncompressed", "none"})
"""Druid's names for files without compression."""

_CODECS = ("lz4", "lzf", "zstd", "uncompressed", "none")
_NAME: TypeAdapter[str] = TypeAdapter(FieldName)


def _read_codec(value: object) -> object:
    """Read a codec's name in any case, as Druid does."""
    if isinstance(value, str) and value.lower() in _CODECS:
        return value.lower()
    return one_of(value, _CODECS, "is no compression")


def _read_dictionaries(value: object) -> object:
    if isinstance(value, bool):
        return value
    if not isinstance(value, list | tuple):
        explanation = "true, false, or the list of columns without a dictionary"
        raise wrong("must be true, false or a list of columns", explanation)
    if len(value) > COLUMNS_MAX:
        raise wrong(f"names {len(value)} columns", f"at most {COLUMNS_MAX}, or false for all")
    lowered: dict[str, str] = {}
    for name in value:
        if not isinstance(name, str):
            raise wrong("must be true, false or a list of columns", "each a text")
        _NAME.validate_python(name)
        if "." in name:
            explanation = f"{shown(name)}: Parquet takes a dot for the way into a nested column"
            raise wrong(explanation, "leave it out, or say false for all columns")
        if (other := lowered.setdefault(name.lower(), name)) != name:
            explanation = f"{shown(other)} and {shown(name)} differ in case only"
            raise wrong(explanation, "keep one of them, or say false for all columns")
    return tuple(dict.fromkeys(value)) or True


class IndexSpec(Section):
    """The fields of Druid's indexSpec that apply to Parquet, and fields for Parquet alone."""

    part = "indexSpec"
    others = MappingProxyType(
        {
            "bitmap": Ignored(
                ({"type": "roaring"}, {"type": "roaring", "compressRunOnSerialization": True})
            ),
            "stringDictionaryEncoding": Ignored(({"type": "utf8"},)),
            "metricCompression": Ignored(("lz4",)),
            "longEncoding": Ignored(("longs",)),
            "complexMetricCompression": Ignored(("uncompressed", "none")),
            "jsonCompression": Ignored(("lz4",)),
            "metadataCompression": Ignored(("none", "uncompressed")),
            "autoColumnFormatSpec": Ignored(()),
            "segmentLoader": Ignored(()),
        }
    )

    dimension_compression: Annotated[
        Literal["lz4", "lzf", "zstd", "uncompressed", "none"], BeforeValidator(_read_codec)
    ] = "lz4"
    """Files are zstd unless this is uncompressed or none; lz4 is the default that Druid writes."""
    zstd_level: Annotated[Whole, Field(ge=1, le=19), OURS] = 3
    dictionary_encoding: Annotated[
        bool | tuple[str, ...], BeforeValidator(_read_dictionaries), OURS
    ] = True
    """A list: the columns without a dictionary."""

    @property
    def compressed(self) -> bool:
        """Whether files are compressed."""
        return self.dimension_compression not in PLAIN

    def contract(self) -> FileFormat:
        """Return the file format in the form of the contract."""
        columns = self.dictionary_encoding
        return FileFormat(
            compressed=self.compressed,
            zstd_level=self.zstd_level,
            dictionary=columns is not False,
            plain=() if isinstance(columns, bool) else columns,
        )
