"""JSON Schemas of bodies that routes parse themselves: spec, flow, task, sample, offsets.

A schema has names, types and formats.  Rules about several fields, or about existing objects, are
checked by the server alone, which answers 400.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

from supervisor.core.flows.json_schema import STEP, TRIGGER, flow_schema
from supervisor.core.flows.steps import STEP_TYPES
from supervisor.core.spec.json_schema import spec_schema
from supervisor.core.spec.sample_request import SamplerConfig
from supervisor.core.spec.submitted_task import TYPE

Json = dict[str, object]
_REF = "#/components/schemas/"
_DRUID = "/druid/indexer/v1"
_OFFSET_MAX = 2**63 - 1


def _outline(schema: Json) -> Json:
    """Return the outline of a schema: nested schemas become plain objects.

    The whole schema is docs/reference/supervisor-spec.schema.json; here it would fill most of the
    page.
    """
    properties = cast("dict[str, Json]", schema["properties"])
    outer = {name: _ANY_OBJECT if "anyOf" in each else each for name, each in properties.items()}
    return {**schema, "properties": outer | {"type": {"const": "kafka"}}}


_DEFS = "#/$defs/"
_NAMES = {STEP: "FlowStep", TRIGGER: "FlowTrigger"}
"""Definition in the schema of a flow -> its name in the description, where that is another."""
_INNER_STEP: Json = {
    "type": "object",
    "required": ["name", "type"],
    "properties": {"name": {"type": "string"}, "type": {"enum": list(STEP_TYPES)}},
}
_ANY_OBJECT: Json = {"type": ["object", "null"]}
_SPEC: Json = {"$ref": f"{_REF}SupervisorSpec"}
_SPEC_EXAMPLE: Json = {
    "type": "kafka",
    "spec": {
        "dataSchema": {
            "dataSource": "clicks",
            "timestampSpec": {"column": "time", "format": "iso"},
            "dimensionsSpec": {"dimensions": ["user", {"type": "long", "name": "bytes"}]},
            "granularitySpec": {"segmentGranularity": "HOUR", "rollup": False},
        },
        "ioConfig": {
            "topic": "clicks",
            "inputFormat": {"type": "json"},
            "consumerProperties": {"bootstrap.servers": "localhost:9092"},
            "taskDuration": "PT10M",
            "useEarliestOffset": True,
        },
    },
}
_TASK: Json = {
    "type": "object",
    "required": ["type"],
    "properties": {
        "type": {"const": TYPE},
        "id": {"type": ["string", "null"]},
        "spec": {"type": ["object", "null"]},
        "dataSchema": {"type": "object"},
        "ioConfig": {"type": "object"},
        "tuningConfig": {"type": ["object", "null"]},
        "context": {"type": ["object", "null"]},
    },
    "anyOf": [{"required": ["spec"]}, {"required": ["dataSchema", "ioConfig"]}],
}
_SAMPLE: Json = {
    "type": "object",
    "required": ["type", "spec"],
    "properties": {
        "type": {"const": "kafka"},
        "spec": {"type": "object"},
        "samplerConfig": {"$ref": f"{_REF}{SamplerConfig.__name__}"},
    },
    "additionalProperties": False,
}
_OFFSET_MAPS = ("partitionOffsetMap", "partitionSequenceNumberMap")
_OFFSET_MAP: Json = {
    "type": "object",
    "minProperties": 1,
    "propertyNames": {"pattern": "^([A-Za-z0-9._-]+:)?[0-9]{1,9}$"},
    "additionalProperties": {"type": "integer", "minimum": 0, "maximum": _OFFSET_MAX},
}
_OFFSETS: Json = {
    "type": "object",
    "required": ["type", "partitions"],
    "properties": {
        "type": {"const": "kafka"},
        "partitions": {
            "type": "object",
            "required": ["type", "stream"],
            "anyOf": [{"required": [name]} for name in _OFFSET_MAPS],
            "properties": {
                "type": {"const": "end"},
                "stream": {"type": "string", "minLength": 1},
                **dict.fromkeys(_OFFSET_MAPS, _OFFSET_MAP),
            },
        },
    },
}
_FLOW: Json = {"$ref": f"{_REF}Flow"}
_FLOW_EXAMPLE: Json = {
    "flow": "orders-day",
    "inputs": [{"name": "day", "type": "date"}],
    "steps": [
        {"name": "ok", "type": "approve", "question": "tell of ${ inputs.day }?"},
        {
            "name": "tell",
            "type": "http",
            "method": "POST",
            "url": "https://hooks.example/orders",
            "after": ["ok"],
        },
    ],
}
BODIES: Mapping[str, tuple[Json, Json | None]] = MappingProxyType(
    {
        f"{_DRUID}/supervisor": (_SPEC, _SPEC_EXAMPLE),
        "/api/v1/supervisors/validate": (_SPEC, _SPEC_EXAMPLE),
        "/api/v1/flows": (_FLOW, _FLOW_EXAMPLE),
        "/api/v1/flows/validate": (_FLOW, _FLOW_EXAMPLE),
        f"{_DRUID}/task": (_TASK, None),
        f"{_DRUID}/sampler": (_SAMPLE, None),
        f"{_DRUID}/supervisor/{{supervisor_id}}/resetOffsets": (_OFFSETS, None),
    }
)
"""Path of a POST -> schema, and an example if the route itself has none."""


def with_bodies(document: Json) -> Json:
    """Add the schemas of these bodies to the document, in place."""
    components = cast("dict[str, Json]", document["components"])
    schemas = components["schemas"]
    schemas["SupervisorSpec"] = _outline(spec_schema()["$defs"]["document"])
    schemas |= _flow_schemas()
    schemas[SamplerConfig.__name__] = SamplerConfig.model_json_schema(mode="validation")
    _add_bodies(cast("dict[str, dict[str, Json]]", document["paths"]))
    return document


def _flow_schemas() -> dict[str, object]:
    """Return the schemas of a flow: the document, each type of step and of trigger.

    Steps inside of steps are any objects here: tools that make requests know no schema that has
    itself in it.  The whole schema is docs/reference/flow.schema.json.
    """
    whole = flow_schema()
    whole.pop("$schema")
    parts = cast("dict[str, Json]", whole.pop("$defs"))
    for name, part in parts.items():
        if name != STEP:
            parts[name] = cast("Json", _referred(part, {f"{_DEFS}{STEP}": _INNER_STEP}))
    return {_NAMES.get(name, name): _referred(part, {}) for name, part in parts.items()} | {
        "Flow": _referred(whole, {})
    }


def _referred(value: object, instead: Mapping[str, Json]) -> object:
    """Return a part of a schema that refers to the components of the document."""
    match value:
        case {"$ref": str(ref)} if ref in instead:
            return instead[ref]
        case {"$ref": str(ref), **others} if ref.startswith(_DEFS):
            name = ref.removeprefix(_DEFS)
            return {"$ref": f"{_REF}{_NAMES.get(name, name)}", **others}
        case dict():
            return {key: _referred(each, instead) for key, each in value.items()}
        case list():
            return [_referred(each, instead) for each in value]
        case _:
            return value


def _add_bodies(paths: dict[str, dict[str, Json]]) -> None:
    for path, (schema, example) in BODIES.items():
        body = cast("Json", paths[path]["post"]["requestBody"])
        content = cast("dict[str, Json]", body["content"])["application/json"]
        content["schema"] = schema
        if example is not None:
            content["example"] = example
