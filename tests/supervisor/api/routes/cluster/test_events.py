"""What happened, as a list and as a stream."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import httpx
import pytest
import uvicorn

from supervisor.api.routes.cluster.events import _next_rows
from supervisor.core.history.lifecycle_events import EventKind, LifecycleEvent
from supervisor.core.values.permissions import Role
from supervisor.metadata.store import SqlStore
from supervisor.services.history.event_stream import LISTENERS_OF_ONE_MAX
from tests.conformance.stories import LEASE_TTL
from tests.supervisor.api.guarded import FOREIGN, OWN, a_guarded_world, bearer, grants_of
from tests.supervisor.api.world import NOON, SUPERVISORS, TOPIC, Json, World, spec_document
from tests.waiting import wait_until

EVENTS = "/api/v1/events"
FACT = LifecycleEvent(NOON, EventKind.STATE_CHANGED, TOPIC, {"state": "RUNNING"})


@dataclass(frozen=True)
class Served:
    """A world behind a real server: a stream has no end that a test client could wait for."""

    world: World
    url: str

    @contextmanager
    def follow(self, query: str = "", **headers: str) -> Iterator[Iterator[Json]]:
        """Read events from the stream."""
        with httpx.stream("GET", f"{self.url}{EVENTS}/stream{query}", headers=headers) as answer:
            assert answer.status_code == 200, answer.read()
            assert answer.headers["content-type"].startswith("text/event-stream")
            yield events_of(answer.iter_lines())

    def record(self, *events: LifecycleEvent) -> None:
        with self.world.store.leading(self.world.leadership.term()) as tx:
            for each in events:
                tx.happenings.record(each)


def events_of(lines: Iterator[str]) -> Iterator[Json]:
    """Yield `{id, event, data}` as a browser would."""
    event: Json = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if line and name in {"id", "event"}:
            event[name] = value
        elif name == "data":
            event["data"] = json.loads(value)
        elif not line and "data" in event:
            yield event
            event = {}


@pytest.fixture
def served(world: World) -> Iterator[Served]:
    with serving(world) as running:
        yield running


@contextmanager
def serving(world: World) -> Iterator[Served]:
    """Serve a world's API by a real server."""
    bound = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(world.client.app, log_config=None, timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: server.run(sockets=[bound]), daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    yield Served(world, f"http://127.0.0.1:{bound.getsockname()[1]}")
    server.should_exit = True
    world.changed.close()
    thread.join(20)
    assert not thread.is_alive(), "a stream ends when the process is to end"


def take(events: Iterator[Json], count: int) -> list[Json]:
    return [next(events) for _ in range(count)]


def test_a_story_is_told_and_says_what_the_rows_say(world: World) -> None:
    """Goal: nothing is forgotten: each row that came or changed has its event."""
    agents = world.start(partitions=2, task_count=1, replicas=1)
    for agent in agents:
        for task_id in sorted(agent.held):
            agent.read(task_id, 5)
    world.post(f"{SUPERVISORS}/{TOPIC}/suspend")
    world.settle()
    world.round(agents)
    for agent in agents:
        for task_id in sorted(agent.held):
            agent.publish(task_id)
    world.settle()

    events = world.get_object(EVENTS)["events"]
    assert isinstance(events, list)
    assert [event["type"] for event in events][::-1] == [
        "supervisor-created",
        "offsets-initialised",
        "generation-opened",
        "task-started",
        "supervisor-suspended",
        "generation-pausing",
        "generation-end-fixed",
        "generation-published",
        "task-ended",
    ]
    with world.store.reading() as tx:
        (generation,) = tx.generations.recent(TOPIC, 10)
        (task,) = tx.tasks.of_generations([generation.id])
        publication = tx.segments.publication(generation.id)
    assert publication is not None
    by_type = {event["type"]: event for event in events}
    published = by_type["generation-published"]
    assert published["detail"]["rows"] == publication.rows == 10
    assert published["detail"]["publishedBy"] == task.id
    assert published["detail"]["end"] == {str(p): at for p, at in publication.end.items()}
    ended = by_type["task-ended"]
    assert (ended["taskId"], ended["detail"]["status"]) == (task.id, task.status.value)
    assert {e["generationId"] for e in events if e["generationId"]} == {generation.id}
    assert {e["group"] for e in events if e["generationId"]} == {generation.group}
    assert {e["schema"] for e in events} == {1}


def test_the_list_is_paged_and_filtered(world: World) -> None:
    world.start()
    every = world.get_object(f"{EVENTS}?supervisor={TOPIC}")["events"]
    assert isinstance(every, list)
    page = world.get_object(f"{EVENTS}?limit=3")
    behind = world.get_object(f"{EVENTS}?limit=1000&cursor={page['next']}")
    assert [*page["events"], *behind["events"]] == every  # type: ignore[misc]  # both are lists
    assert world.get_object(f"{EVENTS}?supervisor=other")["events"] == []
    assert world.client.get(f"{EVENTS}?cursor=abc").status_code == 400


def test_a_stream_replays_from_an_id_and_goes_on(served: Served) -> None:
    served.record(*[replace(FACT, detail={"n": n}) for n in range(1_200)])  # more than a page
    with served.follow("?after=0") as events:
        first = take(events, 1_200)
        served.record(replace(FACT, detail={"n": 1_200}))
        last = next(events)
    assert [e["data"]["detail"]["n"] for e in [*first, last]] == list(range(1_201))  # type: ignore[index]
    assert [e["id"] for e in first[:2]] == ["1", "2"]
    with served.follow(**{"Last-Event-ID": "1200"}) as events:
        assert next(events) == last


def test_without_an_id_it_begins_now(served: Served) -> None:
    served.record(FACT)
    with served.follow() as events:
        served.record(replace(FACT, supervisor_id="new"))
        assert next(events)["id"] == "2"


def test_a_stream_of_one_supervisor_has_nothing_of_others(served: Served) -> None:
    with served.follow("?supervisor=mine&after=0") as events:
        served.record(FACT, replace(FACT, supervisor_id="mine"), FACT)
        served.record(replace(FACT, supervisor_id="mine"))
        assert [e["id"] for e in take(events, 2)] == ["2", "4"]


def test_a_stream_of_some_types_has_nothing_else(served: Served) -> None:
    kinds = EventKind.STATE_CHANGED, EventKind.GAP_DECLARED, EventKind.SPEC_STORED
    with served.follow("?type=gap-declared&type=state-changed&after=0") as events:
        served.record(FACT, *(replace(FACT, kind=kind) for kind in kinds))
        served.record(replace(FACT, kind=EventKind.GAP_DECLARED))
        assert [e["id"] for e in take(events, 4)] == ["1", "2", "3", "5"]


def test_many_listeners_hear_the_same_and_cost_one_reader(served: Served) -> None:
    with served.follow("?after=0") as one, served.follow("?after=0") as two:
        served.record(FACT, FACT)
        assert take(one, 2) == take(two, 2)
        readers = [thread for thread in threading.enumerate() if thread.name == "feed"]
        assert len(readers) == 1
    wait_until(lambda: not any(thread.name == "feed" for thread in threading.enumerate()))


def test_who_follows_too_often_hears_so_before_the_answer(tmp_path: Path, migrated: Path) -> None:
    """Goal: one caller leaves places to the others, and no answer begins that breaks off."""
    path = f"{EVENTS}/stream"
    with a_guarded_world(tmp_path, migrated) as guarded, serving(guarded.world) as served:
        greedy = guarded.token("greedy", *grants_of(Role.ADMIN, "*"))
        other = guarded.token("other", *grants_of(Role.ADMIN, "*"))
        with ExitStack() as following:
            for _ in range(LISTENERS_OF_ONE_MAX):
                following.enter_context(served.follow(**bearer(greedy)))
            refused = httpx.get(f"{served.url}{path}", headers=bearer(greedy))
            following.enter_context(served.follow(**bearer(other)))
        feed = guarded.world.client.app.state.parts.chronicle.feed  # type: ignore[attr-defined]  # a FastAPI
        wait_until(lambda: feed._listeners == 0 and not feed._of_each)

    assert (refused.status_code, refused.json()["type"]) == (503, "/problems/too-many-listeners")
    assert int(refused.headers["retry-after"]) > 0


def test_a_hole_that_was_trimmed_is_told(served: Served) -> None:
    """Goal: a client that was away too long knows that it has to look at the rows again."""
    small = SqlStore(f"sqlite:///{served.world.database}", lease_ttl=LEASE_TTL, happenings_kept=5)
    for _ in range(12):
        with small.leading(served.world.leadership.term()) as tx:
            tx.happenings.record(FACT)
    small.close()
    with served.follow("?after=2") as events:
        hole, first = take(events, 2)
    with served.world.store.reading() as tx:
        trimmed = tx.happenings.trimmed()
    assert trimmed > 2
    assert (hole["event"], hole["data"]) == ("trimmed", {"from": 3, "to": trimmed})
    assert (hole["id"], first["id"]) == (str(trimmed), str(trimmed + 1))


def test_a_slow_reader_hears_of_a_hole_that_came_up_meanwhile(served: Served) -> None:
    """Goal: what was trimmed between two pages of a reader is not passed over in silence."""
    _trim_all_but_the_newest(served.world)
    parts = served.world.client.app.state.parts  # type: ignore[attr-defined]  # a FastAPI
    page = asyncio.run(_next_rows(parts, 2))
    assert page.trimmed > 2
    assert page.rows[0].number == page.trimmed + 1
    with served.follow("?after=2") as events:
        hole, first = take(events, 2)
    assert (hole["event"], hole["data"]) == ("trimmed", {"from": 3, "to": page.trimmed})
    assert first["id"] == str(page.trimmed + 1)


def test_the_list_has_the_states_of_before_the_trimming(served: Served) -> None:
    """Goal: pages go from all events on to those that are kept longer, without a gap or a double.

    The stream names the same hole as ever: it repeats no event that is out of its sequence.
    """
    _trim_all_but_the_newest(served.world)
    world, path = served.world, f"{EVENTS}?limit=2"
    pages = [world.get_object(path)]
    while pages[-1]["next"] is not None:
        pages.append(world.get_object(f"{path}&cursor={pages[-1]['next']}"))
    ids = [int(str(event["id"])) for page in pages for event in _events_of(page)]
    with world.store.reading() as tx:
        trimmed, newest = tx.happenings.trimmed(), tx.happenings.newest()
        oldest = tx.happenings.time_at(trimmed + 1)
    states = [n for n in range(trimmed, 0, -1) if n % 3 == 0]
    assert ids == [*range(newest, trimmed, -1), *states]
    assert oldest is not None
    since = {page["completeSince"] for page in pages}
    assert [datetime.fromisoformat(str(each)) for each in since] == [oldest]
    assert (
        world.get_object(f"{EVENTS}?type=task-started&from={NOON:%Y-%m-%dT%H:%M:%SZ}")["next"]
        is None
    )
    window = f"{EVENTS}?type=state-changed&limit=1000&supervisor={FACT.supervisor_id}"
    assert [e["id"] for e in _events_of(world.get_object(window))][-len(states) :] == states
    with served.follow("?after=2") as events:
        hole, first = take(events, 2)
    assert (hole["event"], hole["data"]) == ("trimmed", {"from": 3, "to": trimmed})
    assert first["id"] == str(trimmed + 1)


def _events_of(page: Json) -> list[Json]:
    events = page["events"]
    assert isinstance(events, list)
    return events


def _trim_all_but_the_newest(world: World) -> None:
    """Record 24 events, each third one of a state, of which the newest 5 to 10 stay."""
    small = SqlStore(f"sqlite:///{world.database}", lease_ttl=LEASE_TTL, happenings_kept=5)
    for number in range(1, 25):
        kind = EventKind.STATE_CHANGED if number % 3 == 0 else EventKind.TASK_STARTED
        with small.leading(world.leadership.term()) as tx:
            tx.happenings.record(replace(FACT, kind=kind))
    small.close()


@pytest.mark.parametrize(
    ("query", "headers"), [("?after=99", {}), ("?after=-1", {}), ("", {"Last-Event-ID": "x"})]
)
def test_an_id_that_is_none_is_refused(world: World, query: str, headers: dict[str, str]) -> None:
    answer = world.client.get(f"{EVENTS}/stream{query}", headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/invalid-request")


def test_a_stream_has_what_its_caller_may_see(tmp_path: Path, migrated: Path) -> None:
    foreign = spec_document(topic=FOREIGN) | {"id": FOREIGN}
    section = foreign["spec"]
    assert isinstance(section, dict)
    section["dataSchema"] = section["dataSchema"] | {"dataSource": FOREIGN}
    with a_guarded_world(tmp_path, migrated) as guarded, serving(guarded.world) as served:
        viewer = guarded.token("viewer", *grants_of(Role.VIEWER))
        everybody = guarded.token("all", *grants_of(Role.ADMIN, "*"))
        for document in (foreign, spec_document()):
            assert guarded.ask("POST", SUPERVISORS, everybody, document).status_code == 200
        fact = replace(FACT, at=guarded.world.clock.now())
        served.record(replace(fact, supervisor_id=FOREIGN), replace(fact, supervisor_id=OWN))
        seen = {}
        for token in (viewer, everybody):
            with served.follow("?after=0", **bearer(token)) as events:
                owners = set()
                for event in events:
                    assert isinstance(event["data"], dict)
                    owners.add(event["data"]["supervisorId"])
                    if (event["event"], event["data"]["supervisorId"]) == ("state-changed", OWN):
                        break
            seen[token] = owners
        assert seen == {viewer: {OWN}, everybody: {OWN, FOREIGN}}
