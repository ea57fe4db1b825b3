"""Routes of the leader and the workers.  Source: Druid 33's API reference."""

from typing import Literal, NoReturn

from fastapi import APIRouter
from fastapi.responses import JSONResponse, PlainTextResponse

from supervisor.api.http.access import LISTED, needs
from supervisor.api.http.deps import Asking, Author, Parts
from supervisor.api.http.previews import DryRun, Expect, preview_of, previewed
from supervisor.core.values.errors import LeaseLost, NotOffered
from supervisor.core.values.permissions import Caller, Permission
from supervisor.services.access.ownership import Ownership
from supervisor.services.foresight.looks import bound
from supervisor.services.tasks.workers import address_of
from supervisor.views.attention.foreseen import VerbPreview
from supervisor.views.workers import Capacity, ForgottenWorker, WorkerLine
from tasks.contract.wire import Wire

router = APIRouter(prefix="/druid/indexer/v1", tags=["cluster"])


class IsLeader(Wire):
    """Druid's answer; 404 if it is false."""

    leader: bool


class SelectStrategy(Wire):
    """Druid's name for the choice of the worker with the most free slots."""

    type: Literal["equalDistribution"] = "equalDistribution"


class WorkerBehaviour(Wire):
    """Druid's worker behaviour config."""

    type: Literal["default"] = "default"
    select_strategy: SelectStrategy = SelectStrategy()
    auto_scaler: None = None


@router.get("/leader", response_class=PlainTextResponse, dependencies=[needs(Permission.SIGNED_IN)])
def get_leader(parts: Parts) -> str:
    """Return the leader's address as text."""
    url = parts.service.leader_url()
    if url is None:
        raise LeaseLost("nobody leads at the moment")
    return url


@router.get(
    "/isLeader",
    response_model=IsLeader,
    responses={404: {"model": IsLeader, "description": "Another overlord leads"}},
    dependencies=[needs(Permission.SIGNED_IN)],
)
def is_leader(parts: Parts) -> JSONResponse:
    """Answer 200 on the overlord that leads, 404 on the others."""
    leads = parts.leadership.leads()
    return JSONResponse({"leader": leads}, 200 if leads else 404)


@router.get("/workers", dependencies=[needs(Permission.READ, LISTED)])
def list_workers(parts: Parts, asking: Asking) -> list[WorkerLine]:
    """List the workers with their slots and what runs on them."""
    lines = parts.tasks.workers()
    return lines if asking.reads_all else [_without_foreign(line, parts, asking) for line in lines]


def _without_foreign(line: WorkerLine, parts: Parts, asking: Caller) -> WorkerLine:
    tables = Ownership(parts.store)
    owners = {task: tables.of_task(task) for task in line.running_tasks}
    tasks = [task for task, table in owners.items() if table and asking.may_read(table)]
    groups = sorted({task.rpartition("_")[0] for task in tasks})
    return line.model_copy(update={"running_tasks": tasks, "availability_groups": groups})


@router.get("/worker", dependencies=[needs(Permission.SIGNED_IN)])
def get_behaviour() -> WorkerBehaviour:
    """Return how workers are chosen: always the one with the most free slots."""
    return WorkerBehaviour()


@router.post("/worker", response_model=None, dependencies=[needs(Permission.WORKERS)])
def set_behaviour() -> NoReturn:
    """Refuse: how workers are chosen is not configurable."""
    raise NotOffered(
        "how workers are chosen is not configurable: tasks go to the worker with the most free "
        "slots, replicas to different ones; POST /druid/indexer/v1/worker/{host}/disable takes "
        "one out"
    )


@router.get("/worker/history", dependencies=[needs(Permission.SIGNED_IN)])
def get_behaviour_history() -> list[dict[str, object]]:
    """Answer that it never changed."""
    return []


@router.post(
    "/worker/{host}/enable",
    response_model=dict[str, str] | VerbPreview,
    dependencies=[needs(Permission.WORKERS)],
)
def enable_worker(
    host: str, author: Author, parts: Parts, *, expect: Expect = None, dry_run: DryRun = False
) -> dict[str, str] | JSONResponse:
    """Let a worker take tasks again; `host` is its `host:port`, or its id."""
    if dry_run:
        return preview_of(parts.table_foresight.of_worker(host, disables=False))
    judge = parts.table_foresight.judge_worker(expect, disables=False)
    with previewed():
        return {address_of(parts.workers.enable(host, author, judge)): "enabled"}


@router.post(
    "/worker/{host}/disable",
    response_model=dict[str, str] | VerbPreview,
    dependencies=[needs(Permission.WORKERS)],
)
def disable_worker(
    host: str, author: Author, parts: Parts, *, expect: Expect = None, dry_run: DryRun = False
) -> dict[str, str] | JSONResponse:
    """Give a worker nothing new; it finishes what it has.  It stays so over restarts."""
    if dry_run:
        return preview_of(parts.table_foresight.of_worker(host, disables=True))
    judge = parts.table_foresight.judge_worker(expect, disables=True)
    with previewed():
        return {address_of(parts.workers.disable(host, author, judge)): "disabled"}


@router.post(
    "/worker/{host}/forget",
    response_model=ForgottenWorker | VerbPreview,
    dependencies=[needs(Permission.WORKERS)],
)
def forget_worker(
    host: str, author: Author, parts: Parts, *, expect: Expect = None, dry_run: DryRun = False
) -> ForgottenWorker | JSONResponse:
    """Forget a worker that is gone for good, so that files that its tasks left are deleted.

    It has to be LOST, without tasks.  If it comes back all the same, it registers as a new one.
    """
    look = parts.looks.forget_worker(host)
    if dry_run:
        return preview_of(parts.looks.shown(look))
    with previewed():
        return parts.workers.forget(host, author, bound(expect, look))


@router.get("/totalWorkerCapacity", dependencies=[needs(Permission.SIGNED_IN)])
def get_capacity(parts: Parts) -> Capacity:
    """Return the slots there are and those in use."""
    return parts.tasks.capacity()
