"""The schemas of one batch: those of its spec, and those that its records have named so far.

A record requests its schema if that is unknown; after the fetch, the batch is read again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

from tasks.contract.ingest_spec import (
    AvroFormat,
    BinaryFormat,
    ManySchemas,
    OneMessage,
    OneSchema,
    RowSpec,
)
from tasks.contract.registry import Registry
from tasks.ports import SchemaSource, SchemaText
from tasks.rows.schemas.avro import AvroSchemaError, Record, may_be_flat, read_schema
from tasks.rows.schemas.protobuf import (
    Messages,
    ProtobufSchemaError,
    read_descriptors,
    read_registered,
)

_LAST_MAX = 20
"""Schemas of a registry with which a batch begins."""
_REGISTRIES_MAX = 100
OF_KEYS = 1 << 32
"""Added to the number of a key's schema, because keys may have a registry of their own."""


Schema = Record | Messages


@dataclass(frozen=True)
class KnownSchemas:
    """The answers of a registry for schema numbers so far."""

    schemas: Mapping[int, Schema] = field(default_factory=dict)
    missing: frozenset[int] = frozenset()
    """Numbers of which the registry has no schema."""
    unreadable: frozenset[int] = frozenset()
    """Numbers whose schema cannot be parsed."""


NO_KNOWN_SCHEMAS = KnownSchemas()


@dataclass(frozen=True)
class Schemas:
    """The known schemas of a batch's values and keys."""

    values: KnownSchemas = NO_KNOWN_SCHEMAS
    keys: KnownSchemas = NO_KNOWN_SCHEMAS


NO_SCHEMAS = Schemas()


def framed(spec: BinaryFormat) -> int | None:
    """Return the byte with which each record begins, before its schema's number; None: no frame."""
    return {"one": None, "many": 1, "registry": 0}[spec.schemas.type]


def known_schemas(spec: BinaryFormat, answers: KnownSchemas) -> KnownSchemas:
    """Return the known schemas of a format, by number; a spec's own schema has number 0."""
    match spec.schemas:
        case OneSchema(text=text):
            return KnownSchemas({0: read_schema(text)})
        case OneMessage(text=text, message=message):
            return KnownSchemas({0: read_descriptors(text, message)})
        case ManySchemas(schemas=schemas):
            return KnownSchemas({one.number: read_schema(one.text) for one in schemas})
        case _:
            return answers


def held_fields(spec: AvroFormat, *, flat: bool = False) -> tuple[str, ...]:
    """Return the top-level fields of the schemas in a spec, sorted.

    `flat`: leave out fields that can only hold nested values.
    """
    records = known_schemas(spec, NO_KNOWN_SCHEMAS).schemas.values()
    fields = (record.fields for record in records if isinstance(record, Record))
    held = (field for named in fields for field in named)
    return tuple(sorted({name for name, kind in held if not flat or may_be_flat(kind)}))


class SchemaBook:
    """Schemas that batches of one worker have fetched; safe to call from many threads.

    A batch begins with the most recently used schemas, because each is a part of its plan.  The
    rows do not depend on this choice: superfluous schemas do no harm, and missing ones are fetched.
    """

    def __init__(self, source: SchemaSource) -> None:
        self._source = source
        self._last: dict[str, dict[int, Schema]] = {}
        self._lock = Lock()

    def begin(self, spec: RowSpec) -> Schemas:
        """Return the schemas with which a batch begins."""
        return Schemas(self._begun(spec.value_registry), self._begun(spec.key_registry))

    def answered(
        self, schemas: Schemas, spec: RowSpec, numbers: Sequence[int], check: Callable[[], None]
    ) -> Schemas:
        """Return `schemas` with the requested ones (see `OF_KEYS`); `check` may raise in between.

        Raises:
            SchemasUnavailable: a registry did not answer.
            TaskError: a secret is not set here.
        """
        of_values = [number for number in numbers if number < OF_KEYS]
        of_keys = [number - OF_KEYS for number in numbers if number >= OF_KEYS]
        return Schemas(
            self._extended(schemas.values, spec.value_registry, of_values, check),
            self._extended(schemas.keys, spec.key_registry, of_keys, check),
        )

    def _begun(self, registry: Registry | None) -> KnownSchemas:
        if registry is None:
            return NO_KNOWN_SCHEMAS
        with self._lock:
            return KnownSchemas(dict(self._last.get(registry.to_json(), {})))

    def _extended(
        self,
        known: KnownSchemas,
        registry: Registry | None,
        numbers: Sequence[int],
        check: Callable[[], None],
    ) -> KnownSchemas:
        if registry is None or not numbers:
            return known
        schemas, missing, unreadable = (
            dict(known.schemas),
            set(known.missing),
            set(known.unreadable),
        )
        for number in numbers:
            check()
            held = self._source.schema(registry, number)
            if held is None:
                missing.add(number)
                continue
            try:
                schemas[number] = _read(held, registry)
            except (AvroSchemaError, ProtobufSchemaError):
                unreadable.add(number)
        with self._lock:
            last = list(schemas.items())[-_LAST_MAX:]
            self._last[registry.to_json()] = dict(last)
            for old in list(self._last)[:-_REGISTRIES_MAX]:
                del self._last[old]
        return KnownSchemas(schemas, frozenset(missing), frozenset(unreadable))


def _read(held: SchemaText, registry: Registry) -> Schema:
    if registry.binary:
        if held.kind != "PROTOBUF":
            raise ProtobufSchemaError(f"it is one of {held.kind}")
        return read_registered(held.text, tuple(zip(held.names, held.references, strict=True)))
    if held.kind != "AVRO":
        raise AvroSchemaError(f"it is one of {held.kind}")
    return read_schema(held.text, held.references)
