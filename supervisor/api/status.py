"""How this process is."""

from fastapi import APIRouter

from supervisor.api.deps import Parts
from tasks.wire import Wire

router = APIRouter(prefix="/status", tags=["process"])


class ProcessStatus(Wire):
    """Druid's members; `leader` and `leaderUrl` are additions."""

    version: str
    modules: list[str]
    leader: bool
    leader_url: str | None


@router.get("")
def get_process_status(parts: Parts) -> ProcessStatus:
    """Return the version, and who leads."""
    return ProcessStatus(
        version=parts.version,
        modules=[],
        leader=parts.views.leadership.leads(),
        leader_url=parts.service.leader_url(),
    )


@router.get("/health")
def get_process_health(parts: Parts) -> bool:
    """Answer `true` while the process serves and the metadata database answers, else 503."""
    parts.views.check()
    return True
