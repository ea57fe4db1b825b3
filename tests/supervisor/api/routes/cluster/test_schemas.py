"""The JSON Schemas of specs and flows, for forms: whole, conditional, for whoever has signed in."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from supervisor.core.flows.json_schema import flow_schema
from supervisor.core.spec.json_schema import spec_schema
from supervisor.core.values.permissions import Kind, Role
from tests.supervisor.api.guarded import a_guarded_world, grants_of
from tests.supervisor.api.world import World, spec_document

PATH = "/api/v1/schemas/supervisor-spec"
FLOW = "/api/v1/schemas/flow"


def test_the_schema_is_the_one_of_the_code_and_takes_a_spec(world: World) -> None:
    schema = world.get_object(PATH)

    assert schema == json.loads(json.dumps(spec_schema()))
    Draft202012Validator(schema).validate(spec_document())


def test_the_schema_of_a_flow_has_each_type_of_step(world: World) -> None:
    schema = world.get_object(FLOW)

    assert schema == json.loads(json.dumps(flow_schema()))
    steps = [{"name": "a", "type": "compact", "table": "clicks"}]
    Draft202012Validator(schema).validate({"flow": "f", "steps": steps})


@pytest.mark.parametrize("path", [PATH, FLOW])
def test_a_client_that_has_the_schema_gets_304(world: World, path: str) -> None:
    first = world.client.get(path, headers={"Accept-Encoding": "gzip"})
    tag = first.headers["etag"]
    assert first.headers["content-encoding"] == "gzip"

    again = world.client.get(path, headers={"If-None-Match": tag})
    other = world.client.get(path, headers={"If-None-Match": '"other"'})

    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert (other.status_code, other.headers["etag"]) == (200, tag)
    assert world.client.get(path, headers={"If-None-Match": "other"}).status_code == 400


def test_it_is_read_by_whoever_has_signed_in_and_by_no_worker(
    tmp_path: Path, migrated: Path
) -> None:
    with a_guarded_world(tmp_path, migrated) as guarded:
        viewer = guarded.token("viewer", *grants_of(Role.VIEWER))
        worker = guarded.token("worker", kind=Kind.WORKER)

        for path in (PATH, FLOW):
            assert guarded.ask("GET", path, viewer).status_code == 200
            assert guarded.ask("GET", path, worker).status_code in {401, 403}
            assert guarded.ask("GET", path, None).status_code == 401
