"""What the answer to a POST tells of a change."""

from tests.supervisor.api.world import SUPERVISORS, World, spec_document


def test_a_post_tells_each_change_and_what_it_disturbs(world: World) -> None:
    """Source: Druid 39's `modified` and `restarted`; the list of changes is ours."""
    world.post(SUPERVISORS, spec_document(task_count=2, replicas=2))

    hot = world.post(SUPERVISORS, spec_document(task_count=2, replicas=1)).json()
    both = world.post(SUPERVISORS, spec_document(task_count=1, replicas=2)).json()

    replicas = {"field": "/spec/ioConfig/replicas", "effect": "hot"}
    groups = {"field": "/spec/ioConfig/taskCount", "from": 2, "to": 1, "effect": "restart-tasks"}
    assert hot["changes"] == [replicas | {"from": 2, "to": 1}]
    assert (hot["modified"], hot["restarted"]) == (True, False)
    assert both["changes"] == [replicas | {"from": 1, "to": 2}, groups]
    assert (both["modified"], both["restarted"]) == (True, True)


def test_a_topic_cannot_be_exchanged_for_a_pattern(world: World) -> None:
    """Goal: the recipe stands in the answer (H5)."""
    world.post(SUPERVISORS, spec_document())
    pattern = spec_document(topic=None, topicPattern="clicks.*")

    answer = world.post(SUPERVISORS, pattern)

    assert answer.status_code == 400
    assert "/spec/ioConfig/topicPattern" in answer.text
    assert "another id" in answer.text
