"""Submitted tasks for stories: their documents, and a worker that reads one to its end."""

from tests.supervisor.api.agents import TOPIC
from tests.supervisor.api.world import TASKS, Agent, World, spec_document, task_ids

TASK = f"{TASKS}/task"
Json = dict[str, object]


def task_document(first: int = 0, end: int = 10, **more: object) -> Json:
    """A task of type `index_kafka`, as a scheduler posts it."""
    sections = spec_document(1, 1)["spec"]
    assert isinstance(sections, dict)
    io = dict(sections["ioConfig"])
    for name in ("topic", "taskDuration", "useEarliestOffset", "taskCount", "replicas"):
        io.pop(name)
    numbers = {
        name: {"type": name[:3], "stream": TOPIC, "partitionSequenceNumberMap": {"0": at}}
        for name, at in (("startSequenceNumbers", first), ("endSequenceNumbers", end))
    }
    return {
        "type": "index_kafka",
        "dataSchema": sections["dataSchema"],
        "ioConfig": io | numbers,
        **more,
    }


def status_of(world: World, task_id: str) -> Json:
    """The status of a task, as a poll has it."""
    found = world.get_object(f"{TASK}/{task_id}/status")
    assert found["task"] == task_id
    status = found["status"]
    assert isinstance(status, dict)
    return status


def read_to_the_end(world: World, agent: Agent, task_id: str, end: int = 20) -> None:
    """Let a worker read and publish what a submitted task names, up to the offset `end`."""
    for _ in range(4):
        agent.sync()
        for _, replica in list(task_ids([agent])):
            held = agent.held[replica]
            if held.wanted.order.end is not None:
                assert agent.publish(replica).status_code == 200
            elif min(held.position.values()) < end:
                agent.read(replica, 15)
        agent.sync()
        world.settle(task_id)
