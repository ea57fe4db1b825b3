"""Early handoff as Druid has it.  Source: Druid 33's `taskGroups/handoff`."""

import pytest

from tests.supervisor.api.world import SUPERVISORS, TOPIC, Json, World, task_ids

HANDOFF = f"{SUPERVISORS}/{TOPIC}/taskGroups/handoff"


def groups(world: World) -> list[Json]:
    found = world.payload()["groups"]
    assert isinstance(found, list)
    return found


def test_the_named_group_hands_off_before_it_is_due_and_the_other_reads_on(world: World) -> None:
    """Goal: publish now; 202 and an empty body, as Druid."""
    agents = world.start(partitions=2)
    for agent, task_id in task_ids(agents):
        agent.read(task_id, 5)

    answer = world.post(HANDOFF, {"taskGroupIds": [1]})
    world.settle()

    assert (answer.status_code, answer.content) == (202, b"")
    assert [(g["group"], g["state"]) for g in groups(world)] == [(0, "READING"), (1, "PAUSING")]
    world.round(agents)
    assert [(g["group"], g["state"]) for g in groups(world)] == [
        (0, "READING"),
        (1, "PUBLISHING"),
        (1, "READING"),
    ]


def test_a_group_that_hands_off_already_is_left_alone(world: World) -> None:
    world.start(partitions=2)
    world.post(HANDOFF, {"taskGroupIds": [0]})
    world.settle()

    again = world.post(HANDOFF, {"taskGroupIds": [0]})
    world.settle()

    assert again.status_code == 202
    assert [g["asked"] for g in groups(world) if g["group"] == 1] == [""]


def test_an_unknown_group_is_refused_with_the_known_ones(world: World) -> None:
    """Goal: a typing error is no silent success; Druid accepts it."""
    world.start(partitions=2)

    answer = world.post(HANDOFF, {"taskGroupIds": [0, 7]})
    world.settle()

    assert answer.status_code == 400
    assert answer.json()["type"] == "/problems/unknown-groups"
    assert answer.json()["known"] == [0, 1]
    assert "7" in answer.json()["detail"]
    assert [g["state"] for g in groups(world)] == ["READING", "READING"]


@pytest.mark.parametrize(
    "body",
    [{"taskGroupIds": []}, {}, {"taskGroupIds": ["0"]}, {"taskGroupIds": [-1]}, {"groups": [0]}],
    ids=["empty", "missing", "text", "negative", "other-key"],
)
def test_a_body_that_names_no_group_is_refused(world: World, body: Json) -> None:
    world.start(partitions=2)

    answer = world.post(HANDOFF, body)

    assert answer.status_code == 400
    assert answer.json()["type"] == "/problems/invalid-request"


def test_an_unknown_or_terminated_supervisor_is_not_found(world: World) -> None:
    world.start(partitions=2)
    world.post(f"{SUPERVISORS}/{TOPIC}/terminate")

    for path in (HANDOFF, f"{SUPERVISORS}/never/taskGroups/handoff"):
        assert world.post(path, {"taskGroupIds": [0]}).status_code == 404


def test_a_follower_asks_nobody(follower: World) -> None:
    """Goal: only a leader writes (P1)."""
    answer = follower.post(HANDOFF, {"taskGroupIds": [0]})

    assert answer.status_code == 503
    assert answer.json()["type"] == "/problems/not-the-leader"
