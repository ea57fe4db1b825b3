"""Verbs for all supervisors at once.  Source: Druid's SupervisorResource."""

import pytest

from tests.supervisor.api.world import SUPERVISORS, World, spec_document

DONE = {"status": "success"}
NAMES = ("one", "two", "three")


def _store_three(world: World) -> None:
    for name in NAMES:
        document = spec_document()
        assert world.post(SUPERVISORS, document | {"id": name}).status_code == 200


def _suspended(world: World) -> dict[object, object]:
    return {row["id"]: row["suspended"] for row in world.get_rows(f"{SUPERVISORS}?full=true")}


def _audited(world: World, action: str) -> list[tuple[str, str]]:
    with world.store.reading() as tx:
        return sorted((e.subject, e.actor) for e in tx.audit.recent(100) if e.action == action)


def test_all_are_suspended_and_resumed_each_with_its_own_audit_row(world: World) -> None:
    """Goal: those that stand so already are passed over, without a new version."""
    _store_three(world)
    assert world.post(f"{SUPERVISORS}/two/suspend").status_code == 200

    answer = world.client.post(f"{SUPERVISORS}/suspendAll", headers={"X-Druid-Author": "ann"})

    assert (answer.status_code, answer.json()) == (200, DONE)
    assert _suspended(world) == dict.fromkeys(NAMES, True)
    assert _audited(world, "suspend") == [("one", "ann"), ("three", "ann"), ("two", "anonymous")]
    assert world.post(f"{SUPERVISORS}/suspendAll").json() == DONE
    assert len(_audited(world, "suspend")) == 3

    assert world.post(f"{SUPERVISORS}/resumeAll").json() == DONE

    assert _suspended(world) == dict.fromkeys(NAMES, False)
    assert len(world.get_rows(f"{SUPERVISORS}/two/history")) == 3


def test_all_are_terminated(world: World) -> None:
    _store_three(world)

    answer = world.post(f"{SUPERVISORS}/terminateAll")

    assert (answer.status_code, answer.json()) == (200, DONE)
    assert world.get(SUPERVISORS) == []
    assert [subject for subject, _ in _audited(world, "terminate")] == sorted(NAMES)


@pytest.mark.parametrize("verb", ["suspendAll", "resumeAll", "terminateAll"])
def test_where_there_is_none_it_is_a_success(world: World, verb: str) -> None:
    answer = world.post(f"{SUPERVISORS}/{verb}")

    assert (answer.status_code, answer.json()) == (200, DONE)


@pytest.mark.parametrize("verb", ["suspendAll", "resumeAll", "terminateAll"])
def test_only_the_leader_does_it(follower: World, verb: str) -> None:
    answer = follower.post(f"{SUPERVISORS}/{verb}")

    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/not-the-leader")
