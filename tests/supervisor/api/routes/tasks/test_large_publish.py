"""A publish as large as a busy table makes it, over HTTP, and what keeps its memory bounded.

Slow: thousands of files are published in one request.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from supervisor.api.http.edge import INTERNAL_SIZE_BYTES_MAX, PUBLISH_SIZE_BYTES_MAX, Bodies
from supervisor.core.values.permissions import ANYONE, Kind, Role
from supervisor.metadata.migrate import migrate
from tasks.contract.messages import OffsetSpan, PublishOutcome, PublishRequest, SegmentFile
from tasks.ports import OverlordRefused
from tasks.worker.overlord_client import HttpOverlord
from tests.supervisor.api.guarded import Guarded, a_guarded_world, grants_of
from tests.supervisor.api.routes.cluster.test_events import serving
from tests.supervisor.api.world import NOON, SUPERVISORS, TOPIC, World, a_world, task_ids

DEADLINE_S = 30.0
HOURS, PARTITIONS = 90 * 24, 100
RECORDS = 93
"""Of each partition in each hour: 20 million rows in all."""
FIRST = 3_000_000_000
"""The offset of the first of them: what lies before was taken out by transactions."""
PUBLISH = "/internal/v1/tasks/index_kafka_clicks_0/publish"
LARGE = b'{"taskId": "' + b"x" * INTERNAL_SIZE_BYTES_MAX + b'"}'
JSON = {"Content-Type": "application/json"}


def of_ninety_days(request: PublishRequest) -> PublishRequest:
    """The same range as hourly files of 90 days, each with rows of every partition."""
    [whole] = request.segments
    return request.model_copy(
        update={"segments": tuple(_hour(whole, number) for number in range(HOURS))}
    )


def _hour(whole: SegmentFile, number: int) -> SegmentFile:
    begin = NOON + number * timedelta(hours=1)
    spans = tuple(
        OffsetSpan(
            topic=s.topic,
            partition=s.partition,
            first=FIRST + number * RECORDS,
            last=FIRST + (number + 1) * RECORDS - 1,
            rows=RECORDS,
        )
        for s in whole.spans
    )
    return whole.model_copy(
        update={
            "path": whole.path.replace("part-0", f"part-{number}"),
            "interval_start": begin,
            "interval_end": begin + timedelta(hours=1),
            "time_min": begin,
            "time_max": begin,
            "rows": len(spans) * RECORDS,
            "spans": spans,
        }
    )


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.pg)])
def stored(request: pytest.FixtureRequest, tmp_path: Path, migrated: Path) -> Iterator[World]:
    """An overlord that leads, on each kind of database."""
    url = None
    if request.param == "postgresql":
        url = str(request.getfixturevalue("postgresql_database"))
        migrate(url)
    with a_world(tmp_path, migrated, url=url) as stored_world:
        yield stored_world


def test_a_range_of_ninety_days_by_hours_and_a_hundred_partitions_is_published(
    stored: World,
) -> None:
    """Goal: a worker is not refused for the number of its files and partitions."""
    world = stored
    agents = world.start(partitions=PARTITIONS, task_count=1, replicas=1)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, FIRST + HOURS * RECORDS)
    agent.sync()
    world.post(f"{SUPERVISORS}/{TOPIC}/suspend")
    world.settle()
    world.round(agents)
    request = of_ninety_days(agent.publish_request(task_id))
    assert len(request.to_json()) > INTERNAL_SIZE_BYTES_MAX
    for file in request.segments:
        world.warehouse.write(file.path, file.size_bytes)

    with serving(world) as served, HttpOverlord([served.url]) as overlord:
        answer = overlord.publish(agent.held[task_id].wanted, request)
        again = overlord.publish(agent.held[task_id].wanted, request)

    assert [answer.outcome, again.outcome] == [PublishOutcome.COMMITTED] * 2
    with world.store.reading() as tx:
        [publication] = tx.segments.publications(TOPIC)
        # Not with their spans: 216,000 take longer to read than a busy machine's transaction lasts.
        assert len(tx.segments.keys_of_supervisor(TOPIC)) == HOURS
    assert publication.rows == HOURS * PARTITIONS * RECORDS


@pytest.fixture
def guarded(tmp_path: Path, migrated: Path) -> Iterator[Guarded]:
    with a_guarded_world(tmp_path, migrated) as guarded_world:
        yield guarded_world


def _sends(guarded: Guarded, token: str, path: str = PUBLISH) -> int:
    headers = JSON | {"X-Tidegate-Token": token, "Authorization": "Bearer x"}
    answer: httpx.Response = guarded.world.client.post(path, content=LARGE, headers=headers)
    return answer.status_code


def test_only_a_worker_may_send_a_large_publish_and_nothing_else_large(guarded: Guarded) -> None:
    """Goal: who may not publish costs no more memory than before."""
    worker = guarded.token("w1", kind=Kind.WORKER)
    admin = guarded.token("ci", *grants_of(Role.ADMIN, "*"))

    assert _sends(guarded, worker) == 400, "it was read, and is no publish"
    assert _sends(guarded, worker, "/internal/v1/compactions/c/publish") == 400
    assert _sends(guarded, worker, "/internal/v1/workers/w1/sync") == 413
    assert _sends(guarded, worker, "/internal/v1/tasks/a/b/publish") == 413
    assert _sends(guarded, admin) == 413
    assert _sends(guarded, "wrong") == 401


def test_a_publish_is_bounded_too_and_the_worker_hears_so_once(world: World) -> None:
    """Goal: the answer is a refusal, which ends the task, and says what is taken."""
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 1)
    request = agent.publish_request(task_id)
    topic = "x" * PUBLISH_SIZE_BYTES_MAX
    with (
        serving(world) as served,
        HttpOverlord([served.url]) as overlord,
        pytest.raises(OverlordRefused, match=f"413 .*{PUBLISH_SIZE_BYTES_MAX} bytes"),
    ):
        overlord.publish(
            agent.held[task_id].wanted, request.model_copy(update={"topic_ids": {"t": topic}})
        )


# ---------------------------------------------------------------- one at a time


@dataclass
class Held:
    """An application that keeps each body until the test lets it go."""

    entered: int = 0
    two: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, request: Request) -> PlainTextResponse:
        size = len(await request.body())
        self.entered += 1
        if self.entered == 2:
            self.two.set()
        await self.go.wait()
        return PlainTextResponse(str(size))


class Known:
    """Says of each caller that it may do everything."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["caller"] = ANYONE
        await self._app(scope, receive, send)


@contextmanager
def held_app() -> Iterator[tuple[Held, Starlette]]:
    held = Held()
    routes = [Route("/{path:path}", held.serve, methods=["POST"])]
    yield held, Starlette(routes=routes, middleware=[Middleware(Known), Middleware(Bodies)])


@pytest.mark.parametrize("with_length", [True, False], ids=["by length", "in parts"])
def test_of_large_bodies_one_is_in_memory_at_a_time_and_small_ones_pass(
    *, with_length: bool
) -> None:
    """Goal: what workers send at once takes no more memory than the largest of it."""

    async def parts() -> AsyncIterator[bytes]:
        for begin in range(0, len(LARGE), 1 << 20):
            yield LARGE[begin : begin + (1 << 20)]

    async def story() -> None:
        with held_app() as (held, app):
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://o") as client:
                bodies = [LARGE if with_length else parts() for _ in range(3)]
                large = [
                    asyncio.create_task(client.post(PUBLISH, content=body, headers=JSON))
                    for body in bodies
                ]
                small = asyncio.create_task(client.post(PUBLISH, content=b"{}", headers=JSON))
                async with asyncio.timeout(DEADLINE_S):
                    await held.two.wait()
                    await asyncio.wait(large, timeout=0.3)  # what else comes, comes now
                    assert held.entered == 2, "a small one, and one that is large"
                    held.go.set()
                    answers = [(await each).text for each in (*large, small)]
        assert answers == [str(len(LARGE))] * 3 + ["2"]

    asyncio.run(story())
