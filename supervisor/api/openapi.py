"""The description of the API; `python -m supervisor.api.openapi` writes the reference page."""

import json
import sys
from typing import cast

from supervisor.api.problems import MEDIA_TYPE, ProblemDocument

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
    return document


def page() -> str:
    """Return docs/reference/openapi.json."""
    from supervisor.api.server import build_routes

    return json.dumps(build_routes().openapi(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
