"""The JSON Schema of a flow's document, with each type of step and of trigger.

The schema is generated from the models that read a flow, so it has the same fields.  It checks
names, types and bounds.  Rules over several fields, the order of steps and expressions are checked
by the server alone.  Source: JSON Schema 2020-12.
"""

from collections.abc import Mapping
from typing import Any

from supervisor.core.flows.document import FlowDocument
from supervisor.core.flows.steps import STEP_TYPES
from supervisor.core.flows.triggers import TRIGGER_TYPES
from supervisor.core.spec.field_facts import title_of

__all__ = ["STEP", "TRIGGER", "flow_schema"]

Schema = dict[str, Any]

STEP, TRIGGER = "Step", "Trigger"
"""The definitions that are one of each type."""
_BOUNDS = {"ge": "minimum", "le": "maximum"}
"""What pydantic leaves of the bounds of a number whose reading is our own."""


def flow_schema() -> Schema:
    """Return the schema of the body of `POST /api/v1/flows`."""
    whole = FlowDocument.model_json_schema()
    choices = {STEP: _choice(STEP_TYPES), TRIGGER: _choice(TRIGGER_TYPES)}
    refs = {_names_of(choice): name for name, choice in choices.items()}
    parts = {name: _part(part, refs) for name, part in whole.pop("$defs").items()}
    for kind, model in (STEP_TYPES | TRIGGER_TYPES).items():
        parts[model.__name__]["title"] = kind
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_part(whole, refs),
        "title": "Flow",
        "$defs": dict(sorted((parts | choices).items())),
    }


def _choice(models: Mapping[str, type]) -> Schema:
    # No value fits two of them, as each has its own `type`: `anyOf` is what tools know better.
    return {"anyOf": [{"$ref": f"#/$defs/{model.__name__}"} for model in models.values()]}


def _names_of(choice: Schema) -> frozenset[str]:
    options = choice.get("oneOf") or choice.get("anyOf") or ()
    return frozenset(one.get("$ref", "") for one in options)


def _part(part: Schema, refs: Mapping[frozenset[str], str]) -> Schema:
    """Return a definition as editors show it: with titles of words, and no choice twice."""
    written = _written(part, refs)
    assert isinstance(written, dict)
    for name, field in written.get("properties", {}).items():
        field["title"] = title_of(name)
    return written


def _written(value: object, refs: Mapping[frozenset[str], str]) -> object:
    if isinstance(value, list):
        return [_written(each, refs) for each in value]
    if not isinstance(value, dict):
        return value
    if (name := refs.get(_names_of(value))) is not None:
        return {"$ref": f"#/$defs/{name}"}
    closed = {"additionalProperties": False} if "patternProperties" in value else {}
    return closed | {
        _BOUNDS.get(key, key): (
            {name: _written(field, refs) for name, field in each.items()}
            if key == "properties"
            else _written(each, refs)
        )
        for key, each in value.items()
        if key != "title"
    }
