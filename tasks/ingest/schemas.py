"""The schemas of one batch: those that a spec holds, and those that its records have named so far.

A record whose schema is not known asks for it; the batch is read again when it was fetched.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tasks.avro_schema import Record, read_schema
from tasks.ingest_spec import AvroFormat, ManySchemas, OneSchema

OF_KEYS = 1 << 32
"""Added to the number of a key's schema where it is told: keys may have a registry of their own."""


@dataclass(frozen=True)
class Answers:
    """What a registry has said of numbers so far."""

    found: Mapping[int, Record] = field(default_factory=dict)
    missing: frozenset[int] = frozenset()
    """It has no schema of that number."""
    unreadable: frozenset[int] = frozenset()
    """It has one, but none that can be read."""


NOTHING_ASKED = Answers()


@dataclass(frozen=True)
class Schemas:
    """What is known of the schemas of a batch's values and keys."""

    values: Answers = NOTHING_ASKED
    keys: Answers = NOTHING_ASKED


NO_SCHEMAS = Schemas()


def framed(spec: AvroFormat) -> int | None:
    """Return the byte that each record begins with, before the number of its schema."""
    return {"one": None, "many": 1, "registry": 0}[spec.schemas.type]


def known_schemas(spec: AvroFormat, answers: Answers) -> Answers:
    """Return what is known of the schemas of a format, by number; the only one has 0."""
    match spec.schemas:
        case OneSchema(text=text):
            return Answers({0: read_schema(text)})
        case ManySchemas(schemas=schemas):
            return Answers({one.number: read_schema(one.text) for one in schemas})
        case _:
            return answers


def held_fields(spec: AvroFormat) -> tuple[str, ...]:
    """Return the top-level fields of the schemas that a spec itself holds, sorted."""
    records = known_schemas(spec, NOTHING_ASKED).found.values()
    return tuple(sorted({name for record in records for name, _ in record.fields}))
