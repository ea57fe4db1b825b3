"""The OpenAPI document; `python -m scripts.openapi` writes the reference page."""

from typing import cast

from supervisor.api.http.edge import INTERNAL_PATH
from supervisor.api.http.idempotency import HEADER, METHODS
from supervisor.api.http.problems import ProblemDocument
from supervisor.core.values.idempotency import KEY_CHARACTERS_MAX

_KEY = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "description": "Of this action alone: a repeat with it is answered alike and does nothing.",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": KEY_CHARACTERS_MAX,
        "pattern": "^[!-~]+$",
    },
}
_NO_NUL = "^[^\\u0000]*$"
_REF = "#/components/schemas/"
_UNUSED = ("HTTPValidationError", "ValidationError")


def described(document: dict[str, object]) -> dict[str, object]:
    """Replace FastAPI's 422 by our problems, in place."""
    components = cast("dict[str, dict[str, object]]", document.setdefault("components", {}))
    schemas = components.setdefault("schemas", {})
    for name in _UNUSED:
        schemas.pop(name, None)
    problem = ProblemDocument.model_json_schema(mode="serialization", ref_template=_REF + "{model}")
    schemas.update(cast("dict[str, object]", problem.pop("$defs", {})))
    schemas["ProblemDocument"] = problem
    for path in cast("dict[str, dict[str, dict[str, object]]]", document["paths"]).values():
        for operation in path.values():
            responses = cast("dict[str, object]", operation["responses"])
            responses.pop("422", None)  # unless `answers` adds it
            for parameter in cast("list[dict[str, object]]", operation.get("parameters", [])):
                sent = _as_sent(cast("dict[str, object]", parameter["schema"]))
                parameter["schema"] = sent if parameter["in"] == "header" else _without_nul(sent)
    _add_keys(document)
    return document


def _as_sent(schema: dict[str, object]) -> dict[str, object]:
    """Return the schema of a parameter without null: a missing parameter stands for null.

    For a list of tags, which is one line of text, the pattern applies to the line.
    """
    choices = cast("list[dict[str, object]]", schema.get("anyOf", []))
    values = [choice for choice in choices if choice != {"type": "null"}]
    if len(values) != 1 or len(values) == len(choices):
        return schema
    [value] = values
    if value.get("type") == "array" and "pattern" in schema:
        value = {"type": "string"}
    return {
        name: keyword_value for name, keyword_value in schema.items() if name != "anyOf"
    } | value


def _without_nul(schema: dict[str, object]) -> dict[str, object]:
    """Return the schema of a text in an address, where NUL is refused (api/http/edge.py)."""
    constraints = {"pattern", "enum", "const", "format"} & schema.keys()
    return (
        schema if constraints or schema.get("type") != "string" else {**schema, "pattern": _NO_NUL}
    )


def _add_keys(document: dict[str, object]) -> None:
    """Add the Idempotency-Key header to each action, as one component."""
    paths = cast("dict[str, dict[str, dict[str, object]]]", document["paths"])
    for path, operations in paths.items():
        for method, operation in operations.items():
            taken = cast("list[object]", operation.setdefault("parameters", []))
            counts = method.upper() in METHODS and not path.startswith(INTERNAL_PATH)
            if counts and _KEY not in taken:
                taken.append(_KEY)
            if not taken:
                del operation["parameters"]
