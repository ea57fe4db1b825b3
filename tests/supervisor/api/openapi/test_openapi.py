"""The description of the API is as the reference says, and complete."""

import json

from supervisor.api.server import build_routes
from tests.supervisor.api.description import description, description_page
from tests.tidy.sources import ROOT

PAGE = "docs/reference/openapi.json"


def test_the_reference_is_up_to_date() -> None:
    stale = f"run: python -m scripts.openapi > {PAGE}"

    assert (ROOT / PAGE).read_text(encoding="utf-8") == description_page(), stale


def test_every_operation_is_described_and_refuses_with_a_problem() -> None:
    document = description()

    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert operation["description"], f"{method} {path}"
            answers = operation["responses"]
            assert {"400", "401", "403", "429", "503"} <= answers.keys()
            assert "default" not in answers, "it would let every answer pass"
            for status in sorted(answers.keys() & {"400", "401", "403", "429"}):
                component = answers[status]["$ref"].rpartition("/")[2]
                content = document["components"]["responses"][component]["content"]
                assert list(content) == ["application/problem+json"]


def test_every_reference_inside_the_description_is_there() -> None:
    text = description_page()
    schemas = json.loads(text)["components"]["schemas"]

    named = {part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]}

    assert named <= schemas.keys()


def test_describing_twice_says_the_same() -> None:
    api = build_routes()

    assert json.dumps(api.openapi()) == json.dumps(api.openapi())
