"""Routes of this process's status: version, leader and health."""

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from supervisor.api.http.access import needs
from supervisor.api.http.deps import Asking, Parts
from supervisor.api.http.problems import render_error
from supervisor.core.queue.events import QueueRow
from supervisor.core.values.errors import QueueDead, Unavailable
from supervisor.core.values.permissions import Permission
from tasks.contract.wire import Wire

router = APIRouter(prefix="/status", tags=["process"])


class ProcessStatus(Wire):
    """Druid's members; `leader` and `leaderUrl` are additions."""

    version: str
    modules: list[str]
    leader: bool
    leader_url: str | None


@router.get("", dependencies=[needs(Permission.SIGNED_IN)])
def get_process_status(parts: Parts) -> ProcessStatus:
    """Return the version, and who leads."""
    return ProcessStatus(
        version=parts.version,
        modules=[],
        leader=parts.leadership.leads(),
        leader_url=parts.service.leader_url(),
    )


@router.get("/health", response_model=bool, dependencies=[needs(Permission.OPEN)])
def get_process_health(request: Request, parts: Parts, asking: Asking) -> Response:
    """Answer `true` while the metadata database answers and no event queue is dead, else 503.

    503 as well if the loop that competes for the lease has ended: the process is about to.
    """
    parts.check()
    if dead := [_error(row) for row in parts.queues.dead()]:
        if not asking.reads_all:  # open to all callers, so without names
            return render_error(request, Unavailable("an event queue is dead"))
        listed = [vars(error) | {"detail": str(error)} for error in dead]
        return render_error(request, dead[0], {"dead": listed})
    return JSONResponse(True)


class SelfDiscovered(Wire):
    """Druid's answer; a server that answers has found itself."""

    self_discovered: bool = True


@router.get("/selfDiscovered/status", dependencies=[needs(Permission.SIGNED_IN)])
def get_self_discovered() -> SelfDiscovered:
    """Answer that this overlord serves, as Druid's once they are announced."""
    return SelfDiscovered()


@router.get("/selfDiscovered", response_class=Response, dependencies=[needs(Permission.SIGNED_IN)])
def is_self_discovered() -> Response:
    """Answer 200 with no body, for load balancers."""
    return Response()


def _error(row: QueueRow) -> QueueDead:
    return QueueDead(row.queue.container, row.queue.name, row.dead_seq, row.dead_why)
