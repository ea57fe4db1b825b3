"""Who leads, and which workers there are.  Source: druid-supervisor.md 1.6."""

from fastapi import APIRouter
from fastapi.responses import JSONResponse, PlainTextResponse

from supervisor.api.deps import Parts
from supervisor.core.errors import LeaseLost
from supervisor.views_workers import Capacity, WorkerLine
from tasks.wire import Wire

router = APIRouter(prefix="/druid/indexer/v1", tags=["cluster"])


class IsLeader(Wire):
    """Druid's answer; 404 if it is false."""

    leader: bool


@router.get("/leader", response_class=PlainTextResponse)
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
)
def is_leader(parts: Parts) -> JSONResponse:
    """Answer 200 on the overlord that leads, 404 on the others."""
    leads = parts.views.leadership.leads()
    return JSONResponse({"leader": leads}, 200 if leads else 404)


@router.get("/workers")
def list_workers(parts: Parts) -> list[WorkerLine]:
    """List the workers with their slots and what runs on them."""
    return parts.views.workers()


@router.get("/totalWorkerCapacity")
def get_capacity(parts: Parts) -> Capacity:
    """Return the slots there are and those in use."""
    return parts.views.capacity()
