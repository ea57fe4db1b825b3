"""Fixed ranges over HTTP: what is refused at once, and how COMPLETED is shown."""

from tests.supervisor.api.routes.cluster.test_metrics import families
from tests.supervisor.api.world import TOPIC, World, spec_document

SUPERVISORS = "/druid/indexer/v1/supervisor"
EMPTY = {"startSequenceNumbers": {"0": 0, "1": 0}, "endSequenceNumbers": {"0": 0, "1": 0}}


def post(world: World, bounds: object) -> tuple[int, object]:
    answer = world.post(SUPERVISORS, spec_document(boundedStreamConfig=bounds))
    return answer.status_code, answer.json()


def test_completed_is_shown_by_status_list_health_and_metrics(world: World) -> None:
    """Source: test_boundedSupervisor_withEmptyRange_completesImmediately."""
    world.streams.create(TOPIC, 3)
    assert post(world, EMPTY)[0] == 200
    world.settle()

    payload = world.payload()
    rows = world.get(f"{SUPERVISORS}?state=true")
    samples = families(world)["tidegate_supervisor_state"].samples

    assert (payload["state"], payload["detailedState"]) == ("COMPLETED", "COMPLETED")
    assert payload["healthy"] is True
    assert payload["why"] == "all that boundedStreamConfig names is published"
    assert isinstance(rows, list)
    assert [row["state"] for row in rows] == ["COMPLETED"]
    assert world.get(f"{SUPERVISORS}/{TOPIC}/health") == {"healthy": True}
    assert [s.labels for s in samples] == [
        {"supervisor": TOPIC, "state": "COMPLETED", "detailed": "COMPLETED"}
    ]

    status, again = post(world, EMPTY)
    assert (status, isinstance(again, dict) and again["modified"]) == (200, False)
    assert world.payload()["state"] == "COMPLETED"


def test_a_wrong_range_is_refused_with_its_place(world: World) -> None:
    """Goal: a problem with a pointer and a hint; nothing is stored."""
    status, problem = post(world, {**EMPTY, "endSequenceNumbers": {"0": 5}})

    assert status == 400
    assert isinstance(problem, dict)
    [error] = problem["errors"]
    assert error["pointer"] == "/spec/ioConfig/boundedStreamConfig"
    assert error["hint"] == "name the same partitions in both"


def test_an_end_cannot_be_lowered(world: World) -> None:
    world.streams.create(TOPIC, 2)
    assert post(world, {**EMPTY, "endSequenceNumbers": {"0": 5, "1": 5}})[0] == 200

    status, problem = post(world, EMPTY)

    assert status == 400
    assert "cannot be lower than 5" in str(problem)
