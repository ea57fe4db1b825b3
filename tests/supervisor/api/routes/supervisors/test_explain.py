"""Why a supervisor stands as it does, in sentences."""

from datetime import timedelta
from typing import cast

from tasks.contract.messages import FailureCode, TaskPhase
from tests.supervisor.api.world import SUPERVISORS, TOPIC, Json, World, spec_document, task_ids
from tests.waiting import wait_until

PATH = f"/api/v1/supervisors/{TOPIC}/explain"


def sentences(world: World, about: str) -> list[str]:
    found = world.get_object(PATH)["sentences"]
    assert isinstance(found, list)
    return [str(each["text"]) for each in found if each["about"] == about]


def test_a_running_one_says_when_it_hands_off_and_what_was_decided(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=1)

    [state] = sentences(world, "state")
    assert state == f"{TOPIC} is RUNNING."
    assert any("Group 0 hands off next" in text for text in sentences(world, "next"))
    assert any(text.startswith("Decided last: start task ") for text in sentences(world, "decided"))
    assert sentences(world, "failure") == []


def test_a_handoff_that_is_late_is_not_said_to_come_next(world: World) -> None:
    """Goal: nobody reads a moment that is over as one to wait for."""
    world.start(partitions=1, task_count=1, replicas=1)
    world.clock.advance(timedelta(hours=2))

    [late] = [text for text in sentences(world, "next") if "Group 0" in text]
    assert "Group 0 was due to hand off at" in late


def links(world: World, about: str) -> list[object]:
    found = world.get_object(PATH)["sentences"]
    assert isinstance(found, list)
    return [each["links"] for each in found if each["about"] == about]


def test_sentences_link_to_the_ranges_and_tasks_that_they_name(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)

    [(_, task_id)] = task_ids(agents)
    groups = world.payload()["groups"]
    assert isinstance(groups, list)
    link = {"kind": "generation", "id": groups[0]["generationId"]}
    assert links(world, "next")[0] == [link]
    assert [{"kind": "task", "id": task_id}] in links(world, "decided")
    assert links(world, "state") == [[]]


def test_a_remedy_is_data_and_what_it_says_helps(world: World) -> None:
    """Goal: a button needs no sentence to be parsed; status and explanation have the same."""
    world.start(partitions=2, task_count=1, replicas=1)
    world.post(f"{SUPERVISORS}/{TOPIC}/suspend")
    world.settle()

    [remedy] = cast("list[Json]", world.get_object(PATH)["remedies"])

    assert world.payload()["remedies"] == [remedy]
    assert remedy == {
        "action": "resume",
        "label": "Resume",
        "params": {},
        "permission": "suspend",
        "command": f"tidegate supervisor resume {TOPIC}",
    }
    assert world.post(f"{SUPERVISORS}/{TOPIC}/{remedy['action']}").status_code == 200
    world.settle()
    assert world.get_object(PATH)["remedies"] == []


def test_a_failed_task_is_linked_from_the_sentence_that_names_it(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(agent, task_id)] = task_ids(agents)
    request = agent.request()
    failure = {"phase": TaskPhase.FAILED, "failure": FailureCode.READ_FAILED, "detail": "away"}
    report = request.tasks[0].model_copy(update=failure)
    assert agent.post(request.model_copy(update={"tasks": (report,)})).status_code == 200
    world.settle()

    assert links(world, "failure") == [[{"kind": "task", "id": task_id}]]


def test_one_without_slots_says_so_and_what_would_help(world: World) -> None:
    world.streams.create(TOPIC, 1)
    world.post(SUPERVISORS, spec_document())
    world.settle()

    [state] = sentences(world, "state")
    assert "NO_CAPACITY" in state
    assert any("wait for a slot" in text for text in sentences(world, "waits"))
    assert any("another worker" in text for text in sentences(world, "changes"))


def test_a_suspended_one_says_since_when_and_how_it_goes_on(world: World) -> None:
    world.watch()
    agents = world.start(partitions=1, task_count=1, replicas=1)
    for agent, task_id in task_ids(agents):
        agent.read(task_id, 5)
    world.post(f"{SUPERVISORS}/{TOPIC}/suspend")
    world.settle()

    def noted() -> Json:
        return world.get_object(PATH)["sentences"][0]  # type: ignore[index,no-any-return]

    wait_until(lambda: noted()["since"] is not None)
    assert "SUSPENDED" in str(noted()["text"])
    assert any("resume" in text for text in sentences(world, "changes"))
    assert any("have paused" in text for text in sentences(world, "waits"))


def test_a_worker_that_is_silent_is_named_with_what_it_has(world: World) -> None:
    """Goal: its tasks keep the last word that was heard of them, which may be an old one."""
    agents = world.start(partitions=2, task_count=2, replicas=1)
    assert sentences(world, "failure") == []
    world.clock.advance(timedelta(seconds=6))
    agents[1].sync()

    warning = "worker w1 is silent: what is shown of 1 task is what it last reported"
    assert sentences(world, "failure") == [f"{warning}."]
    assert world.payload()["warnings"] == [warning]
    agents[0].sync()
    assert world.payload()["warnings"] == []


def test_who_is_not_there_is_not_found(world: World) -> None:
    assert world.client.get("/api/v1/supervisors/never/explain").status_code == 404
