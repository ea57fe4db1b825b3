"""Keys of random records, in each format that a key may have."""

from pydantic import JsonValue

from tests.tasks.ingest.formats.avros import record_of, written

_AVRO: dict[str, object] = record_of(id="string", other="long")

KEY_FORMATS: dict[str, JsonValue] = {
    "tsv": {"type": "tsv", "columns": ["id"]},
    "csv": {"type": "csv", "columns": ["id"]},
    "json": {"type": "json"},
    "regex": {"type": "regex", "pattern": r"([\s\S]*)", "columns": ["key"]},
    "avro": {
        "type": "avro_stream",
        "avroBytesDecoder": {
            "type": "schema_inline",
            "schema": {
                "type": "record",
                "name": "Click",
                "fields": [{"name": "id", "type": "string"}, {"name": "other", "type": "long"}],
            },
        },
    },
}
"""As a spec writes them; the first field of a key is its column."""


def keys(name: str | None) -> list[tuple[bytes | None, str | None]]:
    """Return keys, and what each says by one of `KEY_FORMATS`; without one: nothing."""
    nothing = (None, None)
    match name:
        case None:
            return [nothing, (b"k1", None)]
        case "tsv":
            return [nothing, (b"k1", "k1"), (b"k2\trest", "k2"), (b"k3\nmore", "k3")]
        case "csv":
            return [nothing, (b"k1", "k1"), (b'"k,2",rest', "k,2"), (b'"k', None)]
        case "json":
            return [nothing, (b'{"id":"k1"}', "k1"), (b'{"n":7,"id":"k2"}', "7"), (b"{", None)]
        case "avro":
            value = written(_AVRO, {"id": "k1", "other": 7})
            return [nothing, (value, "k1"), (value[:-1], None)]
        case _:
            return [nothing, (b"k2\trest", "k2\trest"), (b"k3\r\nmore\n", "k3")]
