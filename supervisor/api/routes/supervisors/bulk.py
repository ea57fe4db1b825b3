"""Druid's verbs for all supervisors at once.  Source: Druid 33's API reference."""

from typing import Literal

from fastapi import APIRouter

from supervisor.api.http.access import needs
from supervisor.api.http.deps import Author, Parts
from supervisor.core.values.permissions import Permission
from tasks.contract.wire import Wire

router = APIRouter(prefix="/druid/indexer/v1/supervisor", tags=["supervisors"])


class Done(Wire):
    """Druid's answer, also when nothing had to change."""

    status: Literal["success"] = "success"


@router.post("/suspendAll", dependencies=[needs(Permission.SUSPEND)])
def suspend_all(author: Author, parts: Parts) -> Done:
    """Suspend every supervisor that runs; each hands off and publishes what it has."""
    parts.bulk.suspend(author)
    return Done()


@router.post("/resumeAll", dependencies=[needs(Permission.SUSPEND)])
def resume_all(author: Author, parts: Parts) -> Done:
    """Resume every supervisor that is suspended."""
    parts.bulk.resume(author)
    return Done()


@router.post("/terminateAll", dependencies=[needs(Permission.TERMINATE)])
def terminate_all(author: Author, parts: Parts) -> Done:
    """End every supervisor: their tasks hand off and publish, their tables stay."""
    parts.bulk.terminate(author)
    return Done()
