"""Back to an earlier version of a spec."""

import httpx
import pytest

from tests.supervisor.api.world import SUPERVISORS, TOPIC, World, spec_document

CLICKS = f"{SUPERVISORS}/{TOPIC}"
ROLLBACK = f"/api/v1/supervisors/{TOPIC}/rollback"


def replicas(world: World) -> object:
    """What the newest spec says."""
    return world.client.get(CLICKS).json()["spec"]["ioConfig"]["replicas"]


def roll_back(world: World, version: object, query: str = "", **headers: str) -> httpx.Response:
    """Ask for a version."""
    sent: httpx.Response
    sent = world.client.post(f"{ROLLBACK}{query}", json={"version": version}, headers=headers)
    return sent


@pytest.fixture
def changed(world: World) -> World:
    """A supervisor with the versions 1 (2 replicas) and 2 (3 replicas)."""
    world.post(SUPERVISORS, spec_document(replicas=2))
    world.post(SUPERVISORS, spec_document(replicas=3))
    return world


def test_an_earlier_spec_becomes_the_newest_version(changed: World) -> None:
    done = roll_back(changed, 1)

    operation = done.headers["tidegate-operation"]
    assert done.json() == {
        "id": TOPIC,
        "operationId": operation,
        "modified": True,
        "restarted": False,
        "version": 3,
        "changes": [{"field": "/spec/ioConfig/replicas", "from": 3, "to": 2, "effect": "hot"}],
        "to": 1,
        "dryRun": False,
    }
    assert replicas(changed) == 2
    assert done.headers["etag"] == changed.client.get(CLICKS).headers["etag"]
    with changed.store.reading() as tx:
        assert tx.audit.recent(1)[0].action == "rollback"
    stored = changed.get_object(f"/api/v1/operations/{operation}")
    assert (stored["kind"], stored["specVersion"]) == ("rollback", 3)


def test_a_dry_run_tells_the_same_and_changes_nothing(changed: World) -> None:
    preview = roll_back(changed, 1, "?dryRun=true").json()

    assert (preview["version"], preview["dryRun"], len(preview["changes"])) == (3, True, 1)
    assert replicas(changed) == 3


def test_going_to_what_is_there_changes_nothing(changed: World) -> None:
    answer = roll_back(changed, 2).json()

    assert (answer["modified"], answer["version"]) == (False, 2)


def test_a_terminated_supervisor_comes_back(changed: World) -> None:
    changed.post(f"{CLICKS}/terminate")

    seen = roll_back(changed, 2, "?dryRun=true")
    assert (seen.json()["version"], "etag" in seen.headers) == (4, False)
    done = roll_back(changed, 2, **{"If-None-Match": "*"})
    assert (done.json()["version"], done.headers["etag"][:3]) == (4, '"4-')
    assert replicas(changed) == 3


@pytest.mark.parametrize(
    ("version", "status", "detail"),
    [
        (9, 404, "version 9 does not exist; versions with one: 1, 2"),
        (3, 404, "version 3 ended the supervisor and has no spec"),
        (0, 400, "greater than or equal to 1"),
        ("1", 400, "valid integer"),
    ],
)
def test_what_cannot_be_gone_back_to_is_refused(
    changed: World, version: object, status: int, detail: str
) -> None:
    changed.post(f"{CLICKS}/terminate")

    refused = roll_back(changed, version)

    assert refused.status_code == status
    assert detail in refused.json()["detail"]
    assert len(changed.get_rows(f"{CLICKS}/history")) == 3


def test_an_id_that_was_never_used_has_no_history(world: World) -> None:
    assert roll_back(world, 1).json()["type"] == "/problems/no-history"


def test_what_no_spec_may_change_no_rollback_may(world: World) -> None:
    """Goal: a terminated supervisor may begin anew with another table; there is no way back."""
    world.post(SUPERVISORS, spec_document())
    world.post(f"{CLICKS}/terminate")
    other = spec_document()
    other["id"] = TOPIC
    other["spec"]["dataSchema"]["dataSource"] = "another"  # type: ignore[index]  # a document of a test
    assert world.post(SUPERVISORS, other).status_code == 200

    refused = roll_back(world, 1)

    assert refused.status_code == 400
    assert refused.json()["errors"][0]["pointer"] == "/spec/dataSchema/dataSource"


def test_a_rollback_follows_the_version_that_its_caller_saw(changed: World) -> None:
    seen = changed.client.get(CLICKS).headers["etag"]
    changed.post(SUPERVISORS, spec_document(replicas=4))

    assert roll_back(changed, 1, **{"If-Match": seen}).status_code == 412
    assert replicas(changed) == 4
