"""The JSON Schema of a spec, for forms: whole, conditional, for whoever has signed in."""

import json
from pathlib import Path

from jsonschema import Draft202012Validator

from supervisor.core.spec.json_schema import spec_schema
from supervisor.core.values.permissions import Kind, Role
from tests.supervisor.api.guarded import a_guarded_world, grants_of
from tests.supervisor.api.world import World, spec_document

PATH = "/api/v1/schemas/supervisor-spec"


def test_the_schema_is_the_one_of_the_code_and_takes_a_spec(world: World) -> None:
    schema = world.get_object(PATH)

    assert schema == json.loads(json.dumps(spec_schema()))
    Draft202012Validator(schema).validate(spec_document())


def test_a_client_that_has_the_schema_gets_304(world: World) -> None:
    first = world.client.get(PATH, headers={"Accept-Encoding": "gzip"})
    tag = first.headers["etag"]
    assert first.headers["content-encoding"] == "gzip"

    again = world.client.get(PATH, headers={"If-None-Match": tag})
    other = world.client.get(PATH, headers={"If-None-Match": '"other"'})

    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert (other.status_code, other.headers["etag"]) == (200, tag)
    assert world.client.get(PATH, headers={"If-None-Match": "other"}).status_code == 400


def test_it_is_read_by_whoever_has_signed_in_and_by_no_worker(
    tmp_path: Path, migrated: Path
) -> None:
    with a_guarded_world(tmp_path, migrated) as guarded:
        viewer = guarded.token("viewer", *grants_of(Role.VIEWER))
        worker = guarded.token("worker", kind=Kind.WORKER)

        assert guarded.ask("GET", PATH, viewer).status_code == 200
        assert guarded.ask("GET", PATH, worker).status_code in {401, 403}
        assert guarded.ask("GET", PATH, None).status_code == 401
