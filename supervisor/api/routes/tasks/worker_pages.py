"""Routes of workers as the leader sees them: the list, and one worker with its work."""

from fastapi import APIRouter

from supervisor.api.http.access import LISTED, needs
from supervisor.api.http.deps import Asking, Parts
from supervisor.core.values.permissions import Permission
from supervisor.views.workers import WorkerDetail, WorkerSummary

router = APIRouter(prefix="/api/v1/workers", tags=["cluster"])


@router.get("", dependencies=[needs(Permission.READ, LISTED)])
def list_worker_summaries(parts: Parts) -> list[WorkerSummary]:
    """List the workers: whether they report, their slots, their release, how they ended before."""
    return parts.worker_pages.all()


@router.get("/{worker}", dependencies=[needs(Permission.READ, LISTED)])
def get_worker(worker: str, parts: Parts, asking: Asking) -> WorkerDetail:
    """Return one worker with its Spark and its work; `worker` is its id, or its `host:port`."""
    return parts.worker_pages.one(worker, asking.may_read)
