"""What the overlord logs: each change of state with the ids of what it is about."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import structlog

from supervisor.core.model.rows import TaskStatus
from supervisor.core.values.errors import StateMoved
from supervisor.core.values.permissions import Role
from tests.supervisor.api.guarded import a_guarded_world, bearer, grants_of
from tests.supervisor.api.world import (
    NOON,
    SUPERVISORS,
    TOPIC,
    World,
    post_json,
    spec_document,
    task_ids,
)
from tests.tidy.sources import ROOT

HANDOFF = f"{SUPERVISORS}/{TOPIC}/taskGroups/handoff"
LEGAL, LONG = "trace-7:a.b_c", "x" * 101
Line = Mapping[str, object]


@pytest.fixture
def lines() -> Iterator[list[Line]]:
    """Return what is logged, with the fields that the context brings."""
    logged: list[Line] = []

    def keep(_: Any, __: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:  # noqa: ANN401 -- structlog's own types
        logged.append(dict(event))
        raise structlog.DropEvent

    before = structlog.get_config()
    processors = [structlog.contextvars.merge_contextvars, structlog.processors.add_log_level, keep]
    structlog.configure(processors=processors)
    yield logged
    structlog.configure(**before)


def of_event(lines: Sequence[Line], event: str) -> list[Line]:
    return [line for line in lines if line["event"] == event]


def test_a_handoff_tells_each_change_with_its_ids(world: World, lines: list[Line]) -> None:
    """Goal: what became of one range can be told from the log by its supervisor and generation."""
    agents = world.start(partitions=1, task_count=1, replicas=2)
    world.streams.append(TOPIC, 0, 5)
    for agent, task_id in task_ids(agents):
        agent.read(task_id, 5)
    world.post(HANDOFF, {"taskGroupIds": [0]})
    world.settle()
    world.round(agents)
    [first] = [line for line in of_event(lines, "generation-opened") if line["ordinal"] == 1]
    held = [(a, t) for a, t in task_ids(agents) if a.held[t].wanted.order.end is not None]
    published, _ = held[0]
    assert published.publish(held[0][1]).status_code == 200
    world.settle()

    mine = [line for line in lines if line.get("generation") == first["generation"]]
    tokens = [agent.held[task_id].wanted.token for agent, task_id in held]
    assert not [line for line in lines if any(token in str(line) for token in tokens)]

    events = [str(line["event"]) for line in mine]
    assert sorted(events) == [
        "generation-end-fixed",
        "generation-opened",
        "generation-pausing",
        "generation-published",
        "handoff-asked",
        "publish",
        "task-ended",
        "task-ended",
        "task-started",
        "task-started",
    ]
    assert all((line["supervisor"], line["group"]) == (TOPIC, 0) for line in mine)
    assert all(line["data_source"] == TOPIC for line in mine if line["event"] != "handoff-asked")
    of_tasks = [line for line in mine if "task" in line]
    assert {line["event"] for line in of_tasks} == {"task-started", "task-ended", "publish"}
    for line in of_tasks:
        agent = next(a for a, t in held if t == line["task"])
        assert (line["attempt"], line["worker"]) == (1, agent.id)
        assert line["replica"] == agent.held[str(line["task"])].wanted.replica


def test_a_publish_tells_what_decided_it(world: World, lines: list[Line]) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=2)
    world.streams.append(TOPIC, 0, 5)
    for agent, task_id in task_ids(agents):
        agent.read(task_id, 5)
    world.post(HANDOFF, {"taskGroupIds": [0]})
    world.settle()
    world.round(agents)
    held = [(a, t) for a, t in task_ids(agents) if a.held[t].wanted.order.end is not None]

    for agent, task_id in held:
        agent.publish(task_id)

    verdicts = of_event(lines, "publish")
    assert [(line["outcome"], line["check"]) for line in verdicts] == [
        ("committed", "all-passed"),
        ("already-published", "published-before"),
    ]


def test_every_line_of_a_request_has_its_id_and_its_caller(
    tmp_path: Path, migrated: Path, lines: list[Line]
) -> None:
    with a_guarded_world(tmp_path, migrated) as guarded:
        ada = guarded.token("ada", *grants_of(Role.OPERATOR, "*"))
        headers = {**bearer(ada), "X-Request-Id": LEGAL}

        answer = post_json(guarded.world.client, SUPERVISORS, json.dumps(spec_document()), headers)

        assert (answer.status_code, answer.headers["X-Request-Id"]) == (200, LEGAL)
    mine = [line for line in lines if line.get("request_id") == LEGAL]
    assert {line["event"] for line in mine} == {"supervisor-created", "request"}
    assert {line["caller"] for line in mine} == {"ada"}
    [request] = of_event(mine, "request")
    assert (request["method"], request["route"], request["status"]) == ("POST", SUPERVISORS, 200)
    assert not [line for line in lines if ada in str(line)], "a token is in the log"


@pytest.mark.parametrize(
    "given", ["", "a b", "a\tb", LONG, '"', "-x", "é".encode().decode("latin-1")]
)
def test_an_id_that_could_not_stand_in_a_log_is_replaced(world: World, given: str) -> None:
    answer = world.client.get("/status/health", headers={"X-Request-Id": given.encode("latin-1")})

    assert re.fullmatch(r"[0-9a-f]{32}", answer.headers["X-Request-Id"])


def test_each_request_without_an_id_gets_one_of_its_own(world: World) -> None:
    answers = [world.client.get(path) for path in ("/status/health", "/nowhere", "/metrics")]
    refused = world.client.get("/metrics", headers={"Host": "evil.example"})

    ids = {answer.headers["X-Request-Id"] for answer in (*answers, refused)}
    assert len(ids) == 4


def test_a_bug_is_answered_and_logged_with_the_id(world: World, lines: list[Line]) -> None:
    def burst() -> None:
        raise RuntimeError("the inside")

    world.client.app.add_api_route("/burst", burst)  # type: ignore[attr-defined]  # a FastAPI

    answer = world.client.get("/burst", headers={"X-Request-Id": LEGAL})

    assert (answer.status_code, answer.headers["X-Request-Id"]) == (500, LEGAL)
    events = [line["event"] for line in lines if line.get("request_id") == LEGAL]
    assert sorted(map(str, events)) == ["a request failed", "request"]


def test_what_is_only_read_leaves_no_line(world: World, lines: list[Line]) -> None:
    world.agent("w1").sync()
    world.get(SUPERVISORS)
    world.client.get("/nowhere")

    assert of_event(lines, "request") == []


def test_a_change_that_is_rolled_back_leaves_no_line(world: World, lines: list[Line]) -> None:
    world.start(partitions=1, task_count=1, replicas=1)
    before = len(lines)

    def change(last: Callable[[], None]) -> None:
        with world.store.leading(1) as tx:
            [task] = tx.tasks.active(TOPIC)
            assert tx.tasks.end(task.id, TaskStatus.FAILED, "no good", NOON)
            last()

    def fail() -> None:
        raise StateMoved("another was faster")

    with pytest.raises(StateMoved):
        change(fail)

    assert lines[before:] == []
    change(lambda: None)
    assert [line["event"] for line in lines[before:]] == ["task-ended"]


def test_a_failure_is_a_warning_and_a_pass_names_its_supervisor(
    world: World, lines: list[Line]
) -> None:
    world.start(partitions=1, task_count=1, replicas=1)
    with world.store.leading(1) as tx:
        [task] = tx.tasks.active(TOPIC)
        tx.tasks.end(task.id, TaskStatus.FAILED, "no good", NOON)

    [ended] = of_event(lines, "task-ended")

    assert (ended["level"], ended["reason"], ended["attempt"]) == ("warning", "no good", 1)
    assert {line["level"] for line in of_event(lines, "task-started")} == {"info"}


def test_the_names_of_the_fields_are_those_of_the_page(world: World, lines: list[Line]) -> None:
    """Goal: one word for one thing in every line: never `dataSource`, `table` or `task_id`."""
    agents = world.start(partitions=1, task_count=1)
    world.post(HANDOFF, {"taskGroupIds": [0]})
    world.settle()
    world.round(agents)
    page = (ROOT / "docs/reference/logs.md").read_text(encoding="utf-8")

    documented = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))

    ids = {
        "supervisor",
        "data_source",
        "group",
        "generation",
        "task",
        "replica",
        "attempt",
        "worker",
    }
    assert documented >= ids | {"request_id", "caller", "level", "event", "timestamp"}
    assert documented >= {key for line in of_event(lines, "task-started") for key in line}
