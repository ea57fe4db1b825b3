"""Routes of the control API, with the paths and answers of Druid's tasks.

Beyond Druid, every order has `term` and `sequence`: a late copy of a request is refused (409), and
a repeated request changes nothing.  Every task has a token, and every pause has a lease.
"""

import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated

import anyio.to_thread
from fastapi import Depends, FastAPI, Header, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import TypeAdapter, ValidationError
from starlette.exceptions import HTTPException

from tasks.contract.messages import JournalFile, JournalView, Order, RunState, TaskPhase
from tasks.contract.offsets import Offsets, OffsetsError, TopicPartition
from tasks.contract.wire import iso_utc
from tasks.rows.discovery import columns_of, kinds_met
from tasks.rows.row_plan import metric_columns
from tasks.runtime.host_names import LOOPBACK, without_port
from tasks.worker.http.body_limit import BodyLimit
from tasks.worker.roster import Roster
from tasks.worker.runner import TaskRunner

UNBOUNDED = 2**63 - 1
"""Druid's answer for a range without an end."""

_BODY_BYTES_MAX = 1024 * 1024
_PAUSE_WAIT_S = 2.0
_LEASE_MAX_S = 3_600.0

# Druid knows five status words; for our other phases the answer has our own word.
_DRUID_STATUS = {
    TaskPhase.FINISHING: "READING",
    TaskPhase.WAITING: "PUBLISHING",
}
_CAN_PAUSE = {TaskPhase.STARTING, TaskPhase.READING, TaskPhase.PAUSED}


class HttpRefusal(Exception):
    """Ends a request with this HTTP status and text."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status
        self.error = error


class Chat:
    """The tasks of the worker, as the routes see them."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster

    def task_ids(self) -> list[str]:
        """Return the ids of the tasks that this worker has."""
        return sorted(runner.desired.task_id for runner in self._roster.runners)

    def find(self, task_id: str, authorization: str | None, meant_for: str | None) -> TaskRunner:
        """Return a task, if the caller has the task's token."""
        runner = self._roster.find(task_id)
        if runner is None:
            raise HttpRefusal(503, f"Can't find chatHandler for handler[{task_id}]")
        if meant_for is not None and meant_for != task_id:
            raise HttpRefusal(400, f"the request is meant for task {meant_for}")
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise HttpRefusal(401, "give the task's token: Authorization: Bearer ...")
        if not hmac.compare_digest(token.encode(), runner.desired.token.encode()):
            raise HttpRefusal(403, "this is not the token of this task")
        return runner


def _chat(request: Request) -> Chat:
    chat = request.app.state.chat
    assert isinstance(chat, Chat)
    return chat


def _task(
    request: Request,
    response: Response,
    task_id: Annotated[str, Path(max_length=300)],
    authorization: Annotated[str | None, Header(max_length=2_000)] = None,
    x_druid_task_id: Annotated[str | None, Header(max_length=300)] = None,
) -> TaskRunner:
    runner = _chat(request).find(task_id, authorization, x_druid_task_id)
    response.headers["X-Druid-Task-Id"] = task_id
    request.state.task_id = task_id
    return runner


def _rank(term: Annotated[int, Query()], sequence: Annotated[int, Query()]) -> tuple[int, int]:
    return term, sequence


Task = Annotated[TaskRunner, Depends(_task)]
Rank = Annotated[tuple[int, int], Depends(_rank)]


@dataclass(frozen=True)
class Listing:
    """Access to the list of tasks: for anybody here, or for callers with the worker's own token."""

    token: str | None = field(default=None, repr=False)
    to_anybody: bool = True

    def check(self, authorization: str | None, host: str) -> None:
        """Return if the caller may see the list, else raise HttpRefusal; `host`: its Host header.

        A page in a browser of this machine may have its own name resolve to loopback.
        """
        if self.to_anybody:
            if without_port(host.lower()) not in LOOPBACK:
                raise HttpRefusal(403, f"{host[:100]!a} is not a name of this worker")
            return
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise HttpRefusal(401, "give the worker's token: Authorization: Bearer ...")
        if self.token is None or not hmac.compare_digest(token.encode(), self.token.encode()):
            raise HttpRefusal(403, "this is not the token of this worker")


ANYBODY = Listing()


def create_app(roster: Roster, *, threads_max: int, listing: Listing = ANYBODY) -> FastAPI:
    """Return the control API over `roster`."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = threads_max
        yield

    app = FastAPI(
        title="Tidegate worker", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan
    )
    app.state.chat = Chat(roster)
    app.state.listing = listing
    app.add_middleware(BodyLimit, bytes_max=_BODY_BYTES_MAX)
    app.add_exception_handler(HttpRefusal, _render)
    app.add_exception_handler(RequestValidationError, _render_invalid)
    app.add_exception_handler(HTTPException, _render_unrouted)
    app.add_exception_handler(Exception, _render_bug)
    app.add_api_route("/status/health", _health)
    app.add_api_route("/druid/worker/v1/tasks", _tasks)
    base = "/druid/worker/v1/chat/{task_id}"
    app.add_api_route(f"{base}/status", _status)
    app.add_api_route(f"{base}/time/start", _started)
    app.add_api_route(f"{base}/offsets/current", _current)
    app.add_api_route(f"{base}/offsets/end", _end)
    app.add_api_route(f"{base}/offsets/end", _set_end, methods=["POST"], response_model=None)
    app.add_api_route(f"{base}/pause", _pause, methods=["POST"], response_model=None)
    app.add_api_route(f"{base}/resume", _resume, methods=["POST"])
    app.add_api_route(f"{base}/rowStats", _row_stats)
    app.add_api_route(f"{base}/unparseableEvents", _unparseable)
    app.add_api_route(f"{base}/journal", _journal)
    return app


# ---------------------------------------------------------------- answers


def _render(request: Request, error: Exception) -> Response:
    assert isinstance(error, HttpRefusal)
    headers = {"Retry-After": "1"} if error.status == 503 else {}  # noqa: PLR2004 -- HTTP's own
    if error.status == 401:  # noqa: PLR2004 -- HTTP's own
        headers["WWW-Authenticate"] = "Bearer"
    if task_id := getattr(request.state, "task_id", None):
        headers["X-Druid-Task-Id"] = task_id
    return JSONResponse({"error": error.error}, error.status, headers)


def _render_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = [f"{e['loc'][-1]}: {e['msg']}" for e in error.errors()]
    return _render(request, HttpRefusal(400, "; ".join(found)))


def _render_unrouted(_: Request, error: Exception) -> Response:
    """Answer a request whose path, or method on that path, has no route."""
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


def _render_bug(request: Request, _: Exception) -> Response:
    return _render(request, HttpRefusal(500, "the worker failed; its log says why"))


def _keyed(runner: TaskRunner, offsets: Offsets) -> dict[str, int]:
    """Name partitions as Druid does: by number, or by topic and number of several topics."""
    single = len({topic for topic, _ in runner.state.start}) == 1
    return {(str(p[1]) if single else str(TopicPartition(*p))): offsets[p] for p in sorted(offsets)}


def _parsed(runner: TaskRunner, body: bytes) -> dict[TopicPartition, int]:
    """Parse offsets keyed by number (of the only topic) or by `topic:number`."""
    if not body:
        raise HttpRefusal(400, "the body has to map each partition to its end offset")
    try:
        given = TypeAdapter(dict[str, int]).validate_json(body, strict=True)
    except ValidationError as error:
        raise HttpRefusal(400, "the body is no map from partition to offset") from error
    topics = {topic for topic, _ in runner.state.start}
    prefix = f"{next(iter(topics))}:" if len(topics) == 1 else ""
    try:
        named = {k if ":" in k else f"{prefix}{k}": offset for k, offset in given.items()}
        offsets = {TopicPartition.parse(name): offset for name, offset in named.items()}
    except OffsetsError as error:
        raise HttpRefusal(400, str(error)) from error
    start = runner.state.start
    if offsets.keys() != start.keys():
        wanted = ", ".join(str(TopicPartition(*p)) for p in sorted(start))
        raise HttpRefusal(400, f"the task reads the partitions {wanted}, and each needs an end")
    for partition, offset in offsets.items():
        if offset < start[partition]:
            raise HttpRefusal(
                400, f"{partition}: {offset} lies before the start {start[partition]}"
            )
    return offsets


def _deliver_order(runner: TaskRunner, order: Order) -> None:
    if order.rank < (seen := runner.state.order.rank):
        term, sequence = seen
        raise HttpRefusal(
            409, f"the task has a later order already: term {term}, sequence {sequence}"
        )
    runner.deliver_order(order)


# ---------------------------------------------------------------- routes


def _health() -> bool:
    return True


def _tasks(
    request: Request, authorization: Annotated[str | None, Header(max_length=2_000)] = None
) -> list[str]:
    listing = request.app.state.listing
    assert isinstance(listing, Listing)
    listing.check(authorization, request.headers.get("host", ""))
    return _chat(request).task_ids()


def _status(task: Task) -> str:
    phase = task.state.phase
    return _DRUID_STATUS.get(phase, phase.value)


def _started(task: Task) -> str:
    return iso_utc(task.started_at)


def _current(task: Task) -> dict[str, int]:
    return _keyed(task, task.state.position)


def _end(task: Task) -> dict[str, int]:
    end = task.state.limit
    return _keyed(task, end if end is not None else dict.fromkeys(task.state.start, UNBOUNDED))


async def _body(request: Request) -> bytes:
    return await request.body()


def _set_end(
    task: Task,
    rank: Rank,
    body: Annotated[bytes, Depends(_body)],
    finish: Annotated[bool, Query()] = True,
) -> dict[str, int]:
    if not finish:
        raise HttpRefusal(400, "finish=false is not offered: an end is the task's last")
    wanted = _parsed(task, body)
    known = task.state.end
    if known is not None and known != wanted:
        raise HttpRefusal(409, "another end is fixed already")
    _deliver_order(task, Order(term=rank[0], sequence=rank[1], state=RunState.RUN, end=wanted))
    if task.state.end != wanted:
        raise HttpRefusal(409, "another order with this term and sequence came first")
    return _keyed(task, wanted)


def _pause(
    task: Task,
    rank: Rank,
    lease: Annotated[float, Query(alias="leaseSeconds", gt=0, le=_LEASE_MAX_S)] = 60.0,
) -> Response:
    if rank >= task.state.order.rank and task.state.phase not in _CAN_PAUSE:
        raise HttpRefusal(409, f"a task that is {task.state.phase} cannot pause")
    lease_s = timedelta(seconds=lease)
    term, sequence = rank
    _deliver_order(
        task, Order(term=term, sequence=sequence, state=RunState.PAUSE, pause_lease=lease_s)
    )
    task.wait_until(lambda s: s.phase is TaskPhase.PAUSED or s.paused_until is None, _PAUSE_WAIT_S)
    state = task.state
    if state.phase is TaskPhase.PAUSED:
        return JSONResponse(_keyed(task, state.position), 200, _named(task))
    if state.paused_until is None:
        raise HttpRefusal(409, "the pause is over: its lease ran out, or a later order came")
    text = "the pause is accepted, the task has not stopped reading yet"
    return JSONResponse({"message": text}, 202, _named(task))


def _named(task: TaskRunner) -> dict[str, str]:
    return {"X-Druid-Task-Id": task.desired.task_id}


def _resume(task: Task, rank: Rank) -> dict[str, str]:
    _deliver_order(task, Order(term=rank[0], sequence=rank[1], state=RunState.RUN))
    return {"status": _status(task)}


def _row_stats(task: Task) -> dict[str, dict[str, dict[str, int]]]:
    counters = task.state.counters
    return {
        "totals": {
            "buildSegments": {
                "processed": counters.processed,
                "processedBytes": counters.processed_bytes,
                "processedWithError": counters.processed_with_error,
                "thrownAway": counters.thrown_away,
                "unparseable": counters.unparseable,
            },
            "rejected": dict(sorted(counters.rejected.items())),
        }
    }


def _unparseable(task: Task) -> list[dict[str, str | int]]:
    return [
        {
            "topic": sample.topic,
            "partition": sample.partition,
            "offset": sample.offset,
            "details": sample.why,
            "input": sample.input,
        }
        for sample in task.state.samples
    ]


def _journal(task: Task) -> JournalView:
    spec = task.desired.spec
    files: list[JournalFile] = []
    for entry in task.state.entries:
        found = kinds_met(spec, entry.columns, entry.kinds)
        columns = (*columns_of(spec, found), *metric_columns(spec))
        files += (
            JournalFile(path=f.path, rows=f.rows, size_bytes=f.size_bytes, columns=columns)
            for f in entry.files
        )
    return JournalView(
        task_id=task.desired.task_id,
        position=dict(task.state.position),
        files=tuple(files),
    )
