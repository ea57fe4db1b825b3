"""The description of the API; `python -m supervisor.api.openapi` writes the reference page."""

import json
import sys
from typing import cast

from supervisor.api.edge import INTERNAL_PATH
from supervisor.api.idempotency import HEADER, METHODS
from supervisor.api.problems import MEDIA_TYPE, ProblemDocument
from supervisor.core.idempotency import KEY_CHARACTERS_MAX

_KEY = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "description": "Of this action alone: a repeat with it is answered alike and does nothing.",
    "schema": {"type": "string", "minLength": 1, "maxLength": KEY_CHARACTERS_MAX},
}
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
    answer = {
        "description": "A problem, with Druid's `error` member",
        "content": {MEDIA_TYPE: {"schema": {"$ref": _REF + "ProblemDocument"}}},
    }
    for path in cast("dict[str, dict[str, dict[str, object]]]", document["paths"]).values():
        for operation in path.values():
            responses = cast("dict[str, object]", operation["responses"])
            responses.pop("422", None)
            responses["default"] = answer
    _add_keys(document)
    return document


def _add_keys(document: dict[str, object]) -> None:
    """Tell that each action takes a key, once."""
    paths = cast("dict[str, dict[str, dict[str, object]]]", document["paths"])
    for path, operations in paths.items():
        for method, operation in operations.items():
            taken = cast("list[object]", operation.setdefault("parameters", []))
            counts = method.upper() in METHODS and not path.startswith(INTERNAL_PATH)
            if counts and _KEY not in taken:
                taken.append(_KEY)
            if not taken:
                del operation["parameters"]


def page() -> str:
    """Return docs/reference/openapi.json."""
    from supervisor.api.server import build_routes

    return json.dumps(build_routes().openapi(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
