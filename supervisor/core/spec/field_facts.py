"""What a form shows of each field of a spec: title, default, effect, unit, origin and meaning.

    declaration of the field ──► title, default, unit, origin ──┐
    where the section is held ──► effect of a change ───────────┼──► annotations of its schema
    docs/reference/spec.md ──► meaning, place on the page ──────┘

The members that begin with `x-tidegate-` are annotations: a validator passes them over.
Source: JSON Schema 2020-12, 6.5 (unknown keywords) and Validation, 9 (annotations).
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from functools import cache
from types import MappingProxyType, UnionType
from typing import Annotated, Union, get_args, get_origin

from pydantic import TypeAdapter
from pydantic.fields import FieldInfo

from supervisor.core.spec.meanings import MEANINGS
from supervisor.core.spec.section import (
    OURS,
    Declaration,
    Effect,
    Section,
    Unit,
    inner_of,
    read_fields,
)
from supervisor.core.spec.spec import Sections, SupervisorSpec

EFFECT, UNIT = "x-tidegate-effect", "x-tidegate-unit"
ORIGIN, DOC = "x-tidegate-origin", "x-tidegate-doc"
PAGE = "docs/reference/spec.md"
DRUIDS = "druid"
PLACES: Mapping[str, str] = MappingProxyType(
    {
        "document": "envelope",
        "spec": "envelope",
        "dataSchema": "dataschema",
        "timestampSpec": "timestampspec",
        "dimensionsSpec": "dimensionsspec",
        "textDimension": "fields-as-texts",
        "numberDimension": "fields-with-types",
        "jsonDimension": "fields-with-types",
        "autoDimension": "fields-with-types",
        "granularitySpec": "granularityspec",
        "transformSpec": "transformspec",
        "transform": "transformspec",
        **dict.fromkeys(
            ("countMetric", "numberMetric", "textMetric", "sketchMetric", "thetaMetric"),
            "metricsspec",
        ),
        "filteredMetric": "metricsspec",
        "ioConfig": "ioconfig",
        "boundedStreamConfig": "fixed-ranges",
        "idleConfig": "rest",
        **dict.fromkeys(("avroFormat", "oneSchema", "manySchemas", "registry"), "avro"),
        **dict.fromkeys(("protobufFormat", "oneMessage"), "protobuf"),
        **dict.fromkeys(("jsonFormat", "flattenSpec", "flattenField"), "input-formats"),
        **dict.fromkeys(("csvFormat", "tsvFormat", "regexFormat", "kafkaFormat"), "input-formats"),
        "tuningConfig": "tuningconfig",
        "indexSpec": "indexspec",
    }
)
"""Part of the schema -> the heading that describes it on the page."""
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def facts_of(model: Declaration) -> dict[str, dict[str, object]]:
    """Return name on the wire -> annotations of the field's schema, of one section."""
    defaults = _defaults(model)
    return {
        name: _annotations(model, name, field, defaults)
        for name, field in read_fields(model).items()
    }


def _annotations(
    model: Declaration, name: str, field: FieldInfo, defaults: Mapping[str, object]
) -> dict[str, object]:
    place, meaning = MEANINGS.get(model.part, {}).get(name, ("", ""))
    known: dict[str, object] = {"title": title_of(name)}
    if meaning:
        known["description"] = meaning
    if name in defaults:
        known["default"] = defaults[name]
    effect, unit = effects().get((model.part, name)), unit_of(field)
    if effect is not None:
        known[EFFECT] = effect.value
    if unit is not None:
        known[UNIT] = unit.value
    known[ORIGIN] = OURS.value if OURS in field.metadata else DRUIDS
    known[DOC] = f"{PAGE}#{place or PLACES[model.part]}"
    return known


def title_of(name: str) -> str:
    """Return the words of a name on the wire: `maxRowsPerSegment` is `Max rows per segment`."""
    words = [word if word.isupper() and len(word) > 1 else word.lower() for word in _words(name)]
    return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])


def _words(name: str) -> list[str]:
    return _WORD.findall(name) or [name]


def unit_of(field: FieldInfo) -> Unit | None:
    """Return the unit of a field's number or text; None: it has none."""
    for part in _parts(field):
        if isinstance(part, Unit):
            return part
        if part is timedelta:
            return Unit.DURATION
        if part is datetime:
            return Unit.TIME
    return None


def _parts(field: FieldInfo) -> Iterator[object]:
    yield from field.metadata
    yield from _within(field.annotation)


def _within(annotation: object) -> Iterator[object]:
    if get_origin(annotation) in {Annotated, Union, UnionType}:
        for inner in get_args(annotation):
            yield from _within(inner)
    else:
        yield annotation


@cache
def effects() -> Mapping[tuple[str, str], Effect]:
    """Return (part, name on the wire) -> the effect of a change of the field.

    The effect that is declared nearest counts, as when two versions are compared; without one a
    change restarts tasks.  `ioConfig` has none, because each of its fields declares its own.
    """
    known: dict[tuple[str, str], Effect] = {}
    _collect(SupervisorSpec, None, known)
    _collect(Sections, None, known)
    return MappingProxyType(known)


def _collect(model: Declaration, held: Effect | None, known: dict[tuple[str, str], Effect]) -> None:
    for name, field in read_fields(model).items():
        own = next((each for each in field.metadata if isinstance(each, Effect)), held)
        inner = inner_of(field)
        if own is not None and (model.part, name) not in _IDENTITY:
            known[model.part, name] = own
        if inner is not None:
            for each in inner.by_type.values() or inner.models:
                _collect(each, own, known)


_IDENTITY = frozenset({("document", "type"), ("document", "id")})
"""Another id is another supervisor; another type is none."""


def _defaults(model: Declaration) -> dict[str, object]:
    """Return name on the wire -> default, as GET writes it, of the fields that have one."""
    optional = {n: f for n, f in read_fields(model).items() if not f.is_required()}
    # GET writes Druid's word for some bounds that are absent.
    whole = model().normalised() if len(optional) == len(read_fields(model)) else {}
    return {
        name: whole.get(name, _default(field))
        for name, field in optional.items()
        if field.default_factory is None or field.default_factory is dict
    }


def _default(field: FieldInfo) -> object:
    value = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, Section):
        return value.normalised()
    adapter: TypeAdapter[object] = TypeAdapter(field.rebuild_annotation())
    return adapter.dump_python(value, mode="json")
