"""What schemathesis found at the API, each by its name, shown first and mended then."""

import pytest

from tests.supervisor.api.world import SUPERVISORS, TOPIC, World, spec_document

TABLE = f"/api/v1/datasources/{TOPIC}"
BEYOND = 2**63


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        (SUPERVISORS, "GET, POST"),
        (f"{TABLE}/retention", "DELETE, GET, PUT"),
        (f"/druid/indexer/v1/datasources/{TOPIC}", "DELETE, POST"),
        (f"{SUPERVISORS}/resumeAll", "POST"),  # and no supervisor of that name
        ("/api/v1/queues/a/b/failed/replay", "POST"),
    ],
)
def test_a_405_tells_every_method_of_the_path(world: World, path: str, allowed: str) -> None:
    """Goal: the router tells the methods of the first route that has the path, and no others."""
    answer = world.client.request("PATCH", path)

    assert (answer.status_code, answer.headers["Allow"]) == (405, allowed)


def test_a_405_that_is_told_again_for_its_key_has_its_methods_too(world: World) -> None:
    headers = {"Idempotency-Key": "one"}

    first = world.client.patch(SUPERVISORS, headers=headers)
    again = world.client.patch(SUPERVISORS, headers=headers)

    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.headers["Allow"] == first.headers["Allow"] == "GET, POST"


@pytest.mark.parametrize(
    "path", [f"{SUPERVISORS}/a%00b", "/api/v1/events?supervisor=a%00b", f"{TABLE}%00/files"]
)
def test_an_address_with_a_nul_is_refused(world: World, path: str) -> None:
    """Goal: PostgreSQL takes it for no text, and the look would end in a 500."""
    answer = world.client.get(path)

    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/nul-in-address")


@pytest.mark.parametrize("verb", ["GET", "DELETE"])
def test_the_number_of_an_event_is_bounded(world: World, verb: str) -> None:
    """Goal: no database has a number of more than 64 bits, and says so in a 500."""
    answer = world.client.request(verb, f"/api/v1/queues/{TOPIC}/x/failed/{BEYOND}")

    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/invalid-request")


def test_the_version_to_go_back_to_is_bounded(world: World) -> None:
    world.streams.create(TOPIC, 1)
    world.post(SUPERVISORS, spec_document())

    answer = world.post(f"/api/v1/supervisors/{TOPIC}/rollback", {"version": BEYOND})

    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "/version")


def test_the_number_of_a_group_is_bounded(world: World) -> None:
    world.streams.create(TOPIC, 1)
    world.post(SUPERVISORS, spec_document())

    path = f"{SUPERVISORS}/{TOPIC}/taskGroups/handoff"
    answer = world.post(path, {"taskGroupIds": [BEYOND]})

    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "/taskGroupIds/0")


@pytest.mark.parametrize("verb", ["GET", "DELETE"])
def test_the_number_of_an_event_is_no_word(world: World, verb: str) -> None:
    """Goal: a look at the path that replays all was told that `replay` is no number."""
    answer = world.client.request(verb, f"/api/v1/queues/{TOPIC}/x/failed/replay")

    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


def test_a_truth_is_no_number_of_seconds(world: World) -> None:
    report = {"taskId": "t", "phase": "READING", "batchSeconds": False}
    body = {"workerId": "w1", "incarnation": 1, "sequence": 1, "slots": 1, "tasks": [report]}

    answer = world.post("/internal/v1/workers/w1/sync", body)

    assert answer.status_code == 400
    assert "/tasks/0/batchSeconds" in {each["pointer"] for each in answer.json()["errors"]}


@pytest.mark.parametrize("wait", [False, True])
def test_a_truth_is_no_duration(world: World, wait: bool) -> None:
    """Goal: false was taken for no time at all."""
    body = {"workerId": "w1", "incarnation": 1, "sequence": 1, "slots": 1, "wait": wait}

    answer = world.post("/internal/v1/workers/w1/sync", body)

    assert answer.status_code == 400
    assert {"/wait"} & {each["pointer"] for each in answer.json()["errors"]}


def test_a_table_that_is_not_exported_has_no_snippet_and_the_description_says_so(
    world: World,
) -> None:
    """Goal: the answer 409 of a look was not described."""
    world.start()
    path = "/api/v1/datasources/{data_source}/snippets"

    answer = world.client.get(path.format(data_source=TOPIC), params={"reader": "deltalake"})
    described = world.get_object("/openapi.json")["paths"]

    assert answer.status_code in {404, 409}
    assert isinstance(described, dict)
    assert "409" in described[path]["get"]["responses"]
