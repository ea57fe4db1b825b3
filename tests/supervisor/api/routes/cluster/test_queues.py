"""Event queues over HTTP: how they stand, what failed, and the verbs with their author."""

import base64
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import event

from supervisor.core.queue.events import (
    FailedEvent,
    QueueConfig,
    QueuedEvent,
    QueueName,
    QueueRow,
    container_of,
    encode,
)
from supervisor.eventqueue.meters import Meters
from tests.supervisor.api.world import NOON, SUPERVISORS, TOPIC, Json, World

QUEUES = "/api/v1/queues"
QUEUE = QueueName(container_of(TOPIC), "task-output")
OTHER = QueueName(container_of("orders"), "task-output")
PATH = f"{QUEUES}/{QUEUE.container}/{QUEUE.name}"
EVENT = QueuedEvent("task_output", "task-1", {"folder": "clicks/data/task-1"})


def add(world: World, event: QueuedEvent = EVENT, queue: QueueName = QUEUE) -> None:
    """Queue an event."""
    with world.store.leading(world.leadership.term()) as tx:
        tx.events.add(queue, event, QueueConfig(), world.clock.now(), exempt=True)


def set_aside(world: World, seq: int, payload: bytes, reason: str = "no such bucket") -> None:
    """Let an event of the queue have failed."""
    with world.store.leading(world.leadership.term()) as tx:
        failed = FailedEvent(QUEUE, seq, "task-1", payload, reason, NOON, NOON, attempts=3)
        tx.events.set_aside(failed)


def row(world: World, queue: QueueName = QUEUE) -> QueueRow:
    """The queue's row."""
    with world.store.reading() as tx:
        found = tx.events.find(queue)
    assert found is not None
    return found


def kill(world: World, queue: QueueName = QUEUE, seq: int = 1) -> None:
    """Let somebody have found the queue damaged."""
    found = row(world, queue)
    with world.store.leading(world.leadership.term()) as tx:
        tx.events.declare_dead(found, seq, "its checksum does not fit")


def meters(world: World) -> Meters:
    """What this overlord has counted."""
    counted = world.client.app.state.parts.queues.meters  # type: ignore[attr-defined]  # a FastAPI
    assert isinstance(counted, Meters)
    return counted


def test_a_queue_tells_what_waits_since_when_and_how_long_work_takes(world: World) -> None:
    add(world)
    world.clock.advance(timedelta(seconds=90))
    add(world, replace(EVENT, key="task-2"))
    meters(world).handled(QUEUE, [1.0, 3.0])

    [queue] = world.get_rows(QUEUES)

    assert queue == world.get(PATH)
    assert (
        queue
        | {
            "container": "supervisor:clicks",
            "name": "task-output",
            "state": "LIVE",
            "mode": "CONSUMER",
            "outstandingEvents": 2,
            "outstandingBytes": row(world).outstanding_bytes,
            "oldestAge": 90.0,
            "latency": {"average": 2.0, "p99": 3.0, "count": 2},
            "failedIterations": 0,
            "lastError": "",
            "failedEvents": 0,
            "deadSeq": None,
            "deadWhy": "",
            "healthy": True,
            "why": "",
        }
        == queue
    )
    oldest = queue["oldest"]
    assert isinstance(oldest, dict)
    assert (oldest["seq"], oldest["kind"], oldest["key"]) == (1, "task_output", "task-1")


def test_no_queue_is_an_empty_list_and_an_unknown_one_a_404(world: World) -> None:
    assert (world.get(QUEUES), failed(world, f"{QUEUES}/failed")) == ([], [])
    for path in (PATH, f"{PATH}/failed", f"{PATH}/failed/1"):
        found = world.get_object(path, 404)
        assert found["type"] == "/problems/queue-not-found"
        assert (found["container"], found["queue"]) == (QUEUE.container, QUEUE.name)


def failed(world: World, path: str) -> list[dict[str, object]]:
    """What a list of failed events holds that is one page."""
    page = world.get_object(path)
    assert page["next"] is None
    return rows_of(page)


def rows_of(page: dict[str, object]) -> list[dict[str, object]]:
    rows = page["failed"]
    assert isinstance(rows, list)
    return [row for row in rows if isinstance(row, dict)]


def test_failed_events_are_read_page_by_page_while_some_are_dropped(world: World) -> None:
    """Goal: each that stays is seen once, also behind one that went meanwhile."""
    add(world)
    add(world, queue=OTHER)
    for seq in range(1, 6):
        set_aside(world, seq, encode(EVENT))
    for path in (f"{PATH}/failed", f"{QUEUES}/failed"):
        first = world.get_object(f"{path}?limit=2")
        assert [row["seq"] for row in rows_of(first)] == [1, 2]

        second = world.get_object(f"{path}?limit=2&cursor={first['next']}")

        assert [row["seq"] for row in rows_of(second)] == [3, 4]
        last = world.get_object(f"{path}?limit=2&cursor={second['next']}")
        assert ([row["seq"] for row in rows_of(last)], last["next"]) == ([5], None)
    cursor = world.get_object(f"{PATH}/failed?limit=2")["next"]
    world.client.delete(f"{PATH}/failed/2").raise_for_status()
    left = world.get_object(f"{PATH}/failed?cursor={cursor}")
    assert [row["seq"] for row in rows_of(left)] == [3, 4, 5]
    assert world.client.get(f"{PATH}/failed?cursor=x").status_code == 400


def test_failed_events_are_listed_for_one_queue_and_for_all(world: World) -> None:
    add(world)
    add(world, queue=OTHER)
    set_aside(world, 1, encode(EVENT))
    set_aside(world, 2, b"\xff")

    rows = failed(world, f"{PATH}/failed")

    assert [(r["seq"], r["reason"], r["attempts"]) for r in rows] == [
        (1, "no such bucket", 3),
        (2, "no such bucket", 3),
    ]
    assert "payload" not in rows[0]
    assert failed(world, f"{QUEUES}/failed") == rows
    assert failed(world, f"{QUEUES}/{OTHER.container}/{OTHER.name}/failed") == []
    assert world.get_object(PATH)["failedEvents"] == 2
    assert world.client.get(f"{PATH}/failed?limit=0").status_code == 400


@pytest.mark.parametrize(
    ("payload", "content", "text"),
    [
        (encode(EVENT), {"v": 1, "kind": "task_output", "key": "task-1", "attempts": 0}, None),
        (b'{"v": 9}', {"v": 9}, None),
        (b"\xff\x00", None, base64.b64encode(b"\xff\x00").decode()),
        (b"NaN", None, base64.b64encode(b"NaN").decode()),
        (b"[" * 100_000, None, base64.b64encode(b"[" * 100_000).decode()),
    ],
)
def test_a_payload_is_shown_as_json_and_what_is_none_as_base64(
    world: World, payload: bytes, content: Json | None, text: str | None
) -> None:
    """Goal: whatever was stored can be looked at, and none of it breaks the answer."""
    add(world)
    set_aside(world, 1, payload)

    event = world.get_object(f"{PATH}/failed/1")

    shown = event["payload"]
    assert event["payloadBase64"] == text
    assert (
        shown is None
        if content is None
        else isinstance(shown, dict) and content.items() <= shown.items()
    )


def test_a_failed_event_is_replayed_with_its_author(world: World) -> None:
    add(world)
    set_aside(world, 1, encode(EVENT))

    answer = world.client.post(f"{PATH}/failed/1/replay", headers={"X-Druid-Author": "ann"})

    assert answer.json() == {"container": QUEUE.container, "name": QUEUE.name, "seq": 1}
    assert failed(world, f"{PATH}/failed") == []
    assert row(world).outstanding_events == 2
    with world.store.reading() as tx:
        assert (tx.audit.recent(1)[0].actor, tx.audit.recent(1)[0].action) == (
            "ann",
            "queue-replay",
        )
    again = world.post(f"{PATH}/failed/1/replay")
    assert (again.status_code, again.json()["type"]) == (404, "/problems/failed-event-not-found")


def test_all_failed_events_are_replayed_but_for_the_unreadable(world: World) -> None:
    add(world)
    set_aside(world, 1, encode(EVENT))
    set_aside(world, 2, b"\xff")

    assert world.post(f"{PATH}/failed/replay").json() == {"replayed": 1, "left": 1}

    refused = world.post(f"{PATH}/failed/2/replay")
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/not-replayable")


def test_a_failed_event_is_dropped(world: World) -> None:
    add(world)
    set_aside(world, 1, encode(EVENT))

    assert world.client.delete(f"{PATH}/failed/1").json()["seq"] == 1

    assert failed(world, f"{PATH}/failed") == []
    assert world.client.delete(f"{PATH}/failed/1").status_code == 404


def test_a_dead_queue_is_repaired_once(world: World) -> None:
    add(world)
    kill(world)
    assert world.get_object(PATH)["healthy"] is False

    assert world.post(f"{PATH}/repair").json() == {"again": 1, "setAside": 0, "missing": 0}

    assert world.get_object(PATH)["state"] == "LIVE"
    again = world.post(f"{PATH}/repair")
    assert (again.status_code, again.json()["type"]) == (409, "/problems/queue-not-dead")


def test_only_the_leader_takes_the_verbs_and_any_overlord_tells(follower: World) -> None:
    assert follower.get(QUEUES) == []
    for answer in (
        follower.post(f"{PATH}/repair"),
        follower.post(f"{PATH}/failed/replay"),
        follower.post(f"{PATH}/failed/1/replay"),
        follower.client.delete(f"{PATH}/failed/1"),
    ):
        assert (answer.status_code, answer.json()["type"]) == (503, "/problems/not-the-leader")


# -- what depends on a dead queue ------------------------------------------------------------------


def test_a_dead_queue_makes_the_process_unhealthy_and_says_how_it_is_repaired(
    world: World,
) -> None:
    """Goal: the first is told like any problem, all of them are listed."""
    for queue in (QUEUE, OTHER):
        add(world, queue=queue)
    assert world.get("/status/health") is True
    kill(world, OTHER, 1)
    kill(world, QUEUE, 1)

    problem = world.get_object("/status/health", 503)

    assert problem["type"] == "/problems/event-queue-dead"
    assert (problem["container"], problem["queue"]) == (QUEUE.container, QUEUE.name)
    assert problem["position"] == 1
    assert problem["repair"] == "tidegate queue repair supervisor:clicks task-output"
    dead = problem["dead"]
    assert isinstance(dead, list)
    assert [(each["container"], each["position"]) for each in dead] == [
        (QUEUE.container, 1),
        (OTHER.container, 1),
    ]
    assert "checksum" in dead[1]["detail"]


def test_a_repair_makes_the_process_healthy_again(world: World) -> None:
    add(world)
    kill(world)
    assert world.client.get("/status/health").status_code == 503

    world.post(f"{PATH}/repair")

    assert world.get("/status/health") is True


def test_a_supervisor_whose_queue_is_dead_is_unhealthy_and_no_other_one(world: World) -> None:
    world.start()
    add(world, queue=OTHER)
    kill(world, OTHER)
    assert world.payload()["healthy"] is True

    add(world)
    kill(world)

    payload = world.payload()
    assert (payload["state"], payload["detailedState"]) == (
        "UNHEALTHY_SUPERVISOR",
        "EVENT_QUEUE_DEAD",
    )
    assert "tidegate queue repair supervisor:clicks task-output" in str(payload["why"])
    assert world.client.get(f"{SUPERVISORS}/{TOPIC}/health").status_code == 503


def test_queues_are_listed_page_by_page_and_filtered(world: World) -> None:
    """Goal: the unhealthy ones of thousands, without reading the others."""
    names = [QueueName(container_of(f"s{number}"), "task-output") for number in range(5)]
    for queue in (*names, names[3]):
        add(world, queue=queue)
    kill(world, names[1])
    kill(world, names[3])

    pages, path = [], f"{QUEUES}?limit=2"
    while path:
        answer = world.client.get(path)
        pages.append([row["container"] for row in answer.json()])
        _, _, path = answer.headers.get("link", "").partition("<")
        path = path.partition(">")[0]
    dead = world.client.get(f"{QUEUES}?unhealthy=true&limit=1")
    world.client.post(f"{QUEUES}/{names[1].container}/{names[1].name}/repair")
    following = dead.headers["link"].partition("<")[2].partition(">")[0]

    assert [[name[-2:] for name in page] for page in pages] == [["s0", "s1"], ["s2", "s3"], ["s4"]]
    assert [row["container"] for row in dead.json()] == ["supervisor:s1"]
    # The queue that the cursor names is healthy by now.
    [last] = world.get_rows(following)
    assert (last["container"], last["outstandingEvents"]) == ("supervisor:s3", 2)
    assert world.get_object(f"{QUEUES}?cursor=abc", 400)["type"] == "/problems/bad-cursor"


def test_a_list_of_many_queues_takes_as_many_statements_as_one_of_few(world: World) -> None:
    def statements() -> int:
        counted = 0

        def count(*_: object) -> None:
            nonlocal counted
            counted += 1

        engine = world.store._engine
        event.listen(engine, "before_cursor_execute", count)
        world.get_rows(QUEUES)
        event.remove(engine, "before_cursor_execute", count)
        return counted

    add(world)
    few = statements()
    for number in range(20):
        add(world, queue=QueueName(container_of(f"s{number}"), "task-output"))

    assert statements() == few
