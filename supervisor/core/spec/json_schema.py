"""The JSON Schema of a spec's document, for completion and checks in an editor.

The schema is generated from the sections that read a spec, so it has the same fields.  It checks
names, types and unsupported fields.  Rules over several fields are checked by the server alone.
Annotations of each field say what a form shows of it (`field_facts.py`).
Source: JSON Schema 2020-12.
"""

import types
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal, Union, assert_never, get_args, get_origin

from pydantic import BeforeValidator
from pydantic.fields import FieldInfo

from supervisor.core.spec.field_facts import DRUIDS, ORIGIN, facts_of, title_of
from supervisor.core.spec.section import (
    Alias,
    Declaration,
    Fixed,
    Holder,
    Ignored,
    Inner,
    Older,
    Other,
    Switched,
    Unsupported,
    all_parts,
    inner_of,
    read_fields,
)
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.field_types import READ_FLAG, READ_WHOLE

Schema = dict[str, Any]

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
"""Annotation of a field -> pattern of the texts that the field accepts as well."""


def spec_schema() -> Schema:
    """Return the schema of the body of `POST /druid/indexer/v1/supervisor`."""
    models = all_parts(SupervisorSpec)
    parts = {name: _part(model) for name, model in models.items()}
    parts["document"]["required"] = ["type"]
    parts["document"]["anyOf"] = [{"required": ["spec"]}, {"required": ["dataSchema", "ioConfig"]}]
    _take_parser(parts)
    fields = (field for model in models.values() for field in read_fields(model).values())
    choices: dict[str, Schema] = {}
    for inner in (found for field in fields if (found := inner_of(field))):
        if inner.by_type and inner.part not in choices:
            choices[inner.part] = _choice(inner)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Supervisor spec",
        "$ref": "#/$defs/document",
        "$defs": parts | choices,
    }


def _part(model: Declaration) -> Schema:
    fields, facts = read_fields(model), facts_of(model)
    whole = {name: _or_null(_held(fields[name])) | facts[name] for name in sorted(fields)}
    for name, other in model.others.items():
        whole[name] = _other(other, whole) | {"title": title_of(name), ORIGIN: DRUIDS}
    required = sorted(name for name, field in fields.items() if field.is_required())
    part: Schema = {"type": "object", "properties": whole, "additionalProperties": False}
    return part | ({"required": required} if required else {})


def _other(other: Other, fields: Mapping[str, Schema]) -> Schema:
    """Return the schema of a Druid name that no field reads; `fields` are those of its object."""
    match other:
        case Ignored():
            return {"description": "Accepted, and without effect."}
        case Unsupported(instead, silent):
            schema: Schema = {"description": f"Not built yet: {instead}."}
            if any(isinstance(value, Mapping) for value in silent):
                return schema | {"type": ["object", "null"]}
            return schema | {"enum": [None, *silent]}
        case Switched(flag, instead):
            off = {flag: {"enum": [False, None]}}
            schema = {"description": f"Not built yet: {instead}.", "type": ["object", "null"]}
            return schema | {"properties": off}
        case Fixed(value):
            return {"enum": [value, None]}
        case Older(read_as):
            description = f"An older form: read as {read_as}."
            return {"description": description, "type": ["object", "null"]}
        case Holder(of):
            return _or_null({"$ref": f"#/$defs/{of.part}"})
        case Alias(of=name):
            return fields[name]
        case _:
            assert_never(other)


def _held(field: FieldInfo) -> Schema:
    """Return the schema of a field's value."""
    inner = inner_of(field)
    if inner is None:
        return _typed(field)
    schema: Schema = {"$ref": f"#/$defs/{inner.part}"}
    if inner.models[0].bare and not inner.by_type:
        schema = {"anyOf": [schema, {"type": "string"}]}
    return {"items": schema} if inner.listed else schema


def _take_parser(parts: Mapping[str, Schema]) -> None:
    """Require timestampSpec and inputFormat only where the spec has no `parser`."""
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


def _choice(inner: Inner) -> Schema:
    """Return the schema of an object whose `type` selects the section that reads it."""
    cases: list[Schema] = [
        {
            "if": {"properties": {"type": {"const": kind}}, "required": ["type"]},
            "then": {"$ref": f"#/$defs/{model.part}"},
        }
        for kind, model in inner.by_type.items()
    ]
    schema: Schema = {
        "type": "object",
        "properties": {"type": {"enum": list(inner.by_type)}},
        "allOf": cases,
    }
    if inner.kinds is not None:
        return schema | {"required": ["type"]}
    untyped = inner.models[0].declared_for({})
    cases.append(
        {
            "if": {"not": {"required": ["type"]}},
            "then": {"$ref": f"#/$defs/{untyped.part}"},
        }
    )
    return {"anyOf": [{"type": "string"}, schema]} if inner.models[0].bare else schema


def _or_null(schema: Schema) -> Schema:
    """Return a schema that also allows null, which has the meaning of an absent field."""
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
    """Return the schema of a plain field; {}: it accepts more than its annotation declares."""
    kinds = _types(field.annotation)
    if kinds is None:
        return {}
    if (pattern := _in_quotes(field.annotation, field.metadata)) is not None:
        return {"type": [*(kind for kind in kinds if kind != "null"), "string"], "pattern": pattern}
    several = any(isinstance(entry, BeforeValidator) for entry in field.metadata)
    if several and not {timedelta, datetime} & {field.annotation, *get_args(field.annotation)}:
        return {}  # the field is read from more than one JSON type
    return {"type": [kind for kind in kinds if kind != "null"]}


def _in_quotes(annotation: object, metadata: Sequence[object] = ()) -> str | None:
    """Return the pattern of texts accepted for a flag or number; None: texts are refused."""
    for entry in metadata:
        if isinstance(entry, BeforeValidator) and entry in _IN_QUOTES:
            return _IN_QUOTES[entry]
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
