"""The JSON Schema of a spec's document: for editors, which complete and check while one types.

Made of the tables and the models that read a spec, so that it knows the same fields.  It checks
names, types and what is not built; what depends on more than one field, only the server says.
Source: JSON Schema 2020-12.
"""

import types
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator
from pydantic.fields import FieldInfo

from supervisor.core.spec import druid_fields as tables
from supervisor.core.spec.druid_fields import Table
from supervisor.core.spec.sections import decoders, metrics, protobuf
from supervisor.core.spec.sections import input_formats as formats
from supervisor.core.spec.sections.bounded import BoundedStreamConfig
from supervisor.core.spec.sections.data_schema import (
    DataSchema,
    Dimension,
    DimensionsSpec,
    TimestampField,
)
from supervisor.core.spec.sections.granularity import GranularitySpec
from supervisor.core.spec.sections.idle import IdleConfig
from supervisor.core.spec.sections.index import IndexSpec
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from supervisor.core.spec.sections.transforms import TransformField, TransformSpec
from supervisor.core.spec.sections.tuning_config import TuningConfig
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.field_types import READ_FLAG, READ_WHOLE

Schema = dict[str, Any]

PARTS: Mapping[str, tuple[Table, type[BaseModel] | None]] = {
    "document": (tables.ENVELOPE, SupervisorSpec),
    "spec": (tables.NESTED, None),
    "dataSchema": (tables.DATA_SCHEMA, DataSchema),
    "timestampSpec": (tables.TIMESTAMP, TimestampField),
    "dimensionsSpec": (tables.DIMENSIONS, DimensionsSpec),
    "textDimension": (tables.TEXT_DIMENSION, Dimension),
    "numberDimension": (tables.NUMBER_DIMENSION, Dimension),
    "jsonDimension": (tables.JSON_DIMENSION, Dimension),
    "autoDimension": (tables.AUTO_DIMENSION, Dimension),
    "granularitySpec": (tables.GRANULARITY, GranularitySpec),
    "transformSpec": (tables.TRANSFORMS, TransformSpec),
    "transform": (tables.TRANSFORM, TransformField),
    "countMetric": (tables.COUNT_METRIC, metrics.CountAggregator),
    "numberMetric": (tables.NUMBER_METRIC, metrics.NumberAggregator),
    "textMetric": (tables.TEXT_METRIC, metrics.TextAggregator),
    "sketchMetric": (tables.SKETCH_METRIC, metrics.SketchAggregator),
    "thetaMetric": (tables.THETA_METRIC, metrics.ThetaAggregator),
    "filteredMetric": (tables.FILTERED_METRIC, metrics.FilteredAggregator),
    "jsonFormat": (tables.JSON_FORMAT, formats.JsonInputFormat),
    "flattenSpec": (tables.FLATTEN, formats.FlattenSpec),
    "flattenField": (tables.FLATTEN_FIELD, formats.FlattenField),
    "csvFormat": (tables.CSV_FORMAT, formats.CsvInputFormat),
    "tsvFormat": (tables.TSV_FORMAT, formats.TsvInputFormat),
    "regexFormat": (tables.REGEX_FORMAT, formats.RegexInputFormat),
    "avroFormat": (tables.AVRO_FORMAT, formats.AvroInputFormat),
    "oneSchema": (tables.AVRO_DECODERS["schema_inline"], decoders.OneSchemaDecoder),
    "manySchemas": (tables.AVRO_DECODERS["multiple_schemas_inline"], decoders.ManySchemasDecoder),
    "registry": (tables.AVRO_DECODERS["schema_registry"], decoders.RegistryDecoder),
    "protobufFormat": (tables.PROTOBUF_FORMAT, formats.ProtobufInputFormat),
    "oneMessage": (tables.PROTOBUF_DECODERS["inline"], protobuf.InlineDescriptorDecoder),
    "kafkaFormat": (tables.KAFKA_FORMAT, formats.KafkaInputFormat),
    "ioConfig": (tables.IO_CONFIG, KafkaIoConfig),
    "boundedStreamConfig": (tables.BOUNDED, BoundedStreamConfig),
    "idleConfig": (tables.IDLE, IdleConfig),
    "tuningConfig": (tables.TUNING, TuningConfig),
    "indexSpec": (tables.INDEX, IndexSpec),
}
"""Kind of object -> the fields that it may have, and what reads them."""

_SPECIAL: Mapping[str, Schema] = {
    "spec": {"$ref": "#/$defs/spec"},
    **{name: {"$ref": f"#/$defs/{name}"} for name in PARTS if name.endswith(("Spec", "Config"))},
    "dataSchema": {"$ref": "#/$defs/dataSchema"},
    "dimensions": {"items": {"$ref": "#/$defs/dimension"}},
    "metricsSpec": {"items": {"$ref": "#/$defs/metric"}},
    "aggregator": {"$ref": "#/$defs/metric"},
    "transforms": {"items": {"$ref": "#/$defs/transform"}},
    "inputFormat": {"$ref": "#/$defs/inputFormat"},
    "valueFormat": {"$ref": "#/$defs/valueFormat"},
    "keyFormat": {"$ref": "#/$defs/valueFormat"},
    "fields": {"items": {"anyOf": [{"$ref": "#/$defs/flattenField"}, {"type": "string"}]}},
    "avroBytesDecoder": {"$ref": "#/$defs/avroBytesDecoder"},
    "protoBytesDecoder": {"$ref": "#/$defs/protoBytesDecoder"},
}
"""Fields that hold objects of ours, wherever they stand."""

_PLAIN: Mapping[object, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    timedelta: "string",
    datetime: "string",
    tuple: "array",
    list: "array",
    dict: "object",
    type(None): "null",
}

_IN_QUOTES: Mapping[object, str] = {
    READ_FLAG: r"^\s*([Tt]rue|TRUE|[Ff]alse|FALSE)\s*$",
    READ_WHOLE: r"^\s*-?[0-9]{1,19}\s*$",
}
"""What reads a field -> the texts that it takes as well."""


def spec_schema() -> Schema:
    """Return the schema of what `POST /druid/indexer/v1/supervisor` takes."""
    parts = {name: _part(*part) for name, part in PARTS.items()}
    parts["spec"]["required"] = ["dataSchema", "ioConfig"]
    parts["document"]["required"] = ["type"]
    parts["document"]["anyOf"] = [{"required": ["spec"]}, {"required": ["dataSchema", "ioConfig"]}]
    _take_parser(parts)
    dimension = _choice(tables.DIMENSION_TYPES, otherwise="textDimension")
    choices = {
        "dimension": {"anyOf": [{"type": "string"}, dimension]},
        "metric": _choice(tables.METRICS),
        "valueFormat": _choice(tables.VALUE_FORMATS),
        "inputFormat": _choice({**tables.VALUE_FORMATS, "kafka": tables.KAFKA_FORMAT}),
        "avroBytesDecoder": _choice(tables.AVRO_DECODERS),
        "protoBytesDecoder": _choice(tables.PROTOBUF_DECODERS),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Supervisor spec",
        "$ref": "#/$defs/document",
        "$defs": parts | choices,
    }


def _part(table: Table, model: type[BaseModel] | None) -> Schema:
    fields = {} if model is None else model.model_fields
    by_name = {field.alias or name: field for name, field in fields.items()}
    kept: dict[str, Schema] = {}
    for name in sorted(table.kept):
        field = by_name.get(name)
        kept[name] = _SPECIAL.get(name) or ({} if field is None else _typed(field))
    whole = {
        **{name: _or_null(schema) for name, schema in kept.items()},
        **{alias: _or_null(kept[name]) for alias, name in table.aliases.items()},
        **{name: {"enum": [value, None]} for name, value in table.fixed.items()},
        **{name: _unbuilt(told) for name, told in table.unbuilt.items()},
        **{name: _switched(*told) for name, told in table.switched.items()},
        **{name: {"description": "Accepted, and without effect."} for name in table.idle},
        **{name: _older(told) for name, told in table.older.items()},
    }
    required = [
        name
        for name, field in by_name.items()
        if field.is_required() and name in table.kept and name not in table.aliases.values()
    ]
    part: Schema = {"type": "object", "properties": whole, "additionalProperties": False}
    return part | ({"required": sorted(required)} if required else {})


def _take_parser(parts: Mapping[str, Schema]) -> None:
    """Ask for what stands in a parser only where there is none."""
    given = {"required": ["parser"], "properties": {"parser": {"type": "object"}}}
    parts["dataSchema"]["required"].remove("timestampSpec")
    parts["dataSchema"]["anyOf"] = [{"required": ["timestampSpec"]}, given]
    parts["ioConfig"]["required"].remove("inputFormat")
    either = [
        {"properties": {"ioConfig": {"required": ["inputFormat"]}}},
        {"properties": {"dataSchema": given}},
    ]
    for name in ("document", "spec"):
        parts[name]["allOf"] = [{"anyOf": either}]


def _older(text: str) -> Schema:
    return {"description": f"An older form: read as {text}.", "type": ["object", "null"]}


def _choice(kinds: Mapping[str, Table], otherwise: str | None = None) -> Schema:
    """Return the schema of an object whose `type` says by which table it is read."""
    parts = {id(table): name for name, (table, _) in PARTS.items()}
    cases = [
        {
            "if": {"properties": {"type": {"const": kind}}, "required": ["type"]},
            "then": {"$ref": f"#/$defs/{parts[id(table)]}"},
        }
        for kind, table in kinds.items()
    ]
    schema: Schema = {
        "type": "object",
        "properties": {"type": {"enum": list(kinds)}},
        "allOf": cases,
    }
    if otherwise is None:
        return schema | {"required": ["type"]}
    untyped = {
        "if": {"not": {"required": ["type"]}},
        "then": {"$ref": f"#/$defs/{otherwise}"},
    }
    return schema | {"allOf": [*cases, untyped]}


def _unbuilt(unbuilt: tables.Unbuilt) -> Schema:
    schema: Schema = {"description": f"Not built yet: {unbuilt.instead}."}
    if any(isinstance(value, Mapping) for value in unbuilt.silent):
        return schema | {"type": ["object", "null"]}
    return schema | {"enum": [None, *unbuilt.silent]}


def _switched(switch: str, instead: str) -> Schema:
    return {
        "description": f"Not built yet: {instead}.",
        "type": ["object", "null"],
        "properties": {switch: {"enum": [False, None]}},
    }


def _or_null(schema: Schema) -> Schema:
    """Allow null, which says nothing about any field."""
    if not schema:
        return {}
    if "type" in schema:
        return schema | {"type": [*schema["type"], "null"]}
    if "enum" in schema:
        return schema | {"enum": [*schema["enum"], None]}
    if "items" in schema:
        return schema | {"type": ["array", "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def _typed(field: FieldInfo) -> Schema:
    """Return what JSON writes for a field; {}: more than its annotation says."""
    found = _types(field.annotation)
    if found is None:
        return {}
    if (pattern := _in_quotes(field.annotation, field.metadata)) is not None:
        return {"type": [*(kind for kind in found if kind != "null"), "string"], "pattern": pattern}
    several = any(isinstance(told, BeforeValidator) for told in field.metadata)
    if several and not {timedelta, datetime} & {field.annotation, *get_args(field.annotation)}:
        return {}  # it is read from more than one type
    return {"type": [kind for kind in found if kind != "null"]}


def _in_quotes(annotation: object, metadata: Sequence[object] = ()) -> str | None:
    """Return the pattern of the texts that a flag or a number may be; None: it may be none."""
    for told in metadata:
        if isinstance(told, BeforeValidator) and told in _IN_QUOTES:
            return _IN_QUOTES[told]
    inner = get_args(annotation)
    if get_origin(annotation) is Annotated:
        return _in_quotes(inner[0], inner[1:])
    within = inner if get_origin(annotation) in {Union, types.UnionType} else ()
    return next((found for part in within if (found := _in_quotes(part))), None)


def _types(annotation: object) -> Sequence[str] | None:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _types(inner[0])
    if origin is Literal:
        return ["string"] if all(isinstance(value, str) for value in inner) else None
    if origin in {Union, types.UnionType}:
        each = [_types(part) for part in inner]
        known = [kind for kinds in each if kinds is not None for kind in kinds]
        return None if None in each else list(dict.fromkeys(known))
    plain = _PLAIN.get(origin or annotation)
    if plain is None and isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return ["string"]
    return None if plain is None else [plain]
