"""Druid's verbs for all supervisors at once, each with a dry run.

Source: Druid 33's API reference.
"""

from collections.abc import Callable
from typing import Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from supervisor.api.http.access import needs
from supervisor.api.http.deps import Author, Parts
from supervisor.api.http.previews import DryRun, Expect, preview_of, previewed
from supervisor.core.history.operations import OperationKind
from supervisor.core.values.permissions import Permission
from supervisor.services.supervisors.bulk import BulkDone
from supervisor.views.attention.foreseen import VerbPreview
from tasks.contract.wire import Wire

router = APIRouter(prefix="/druid/indexer/v1/supervisor", tags=["supervisors"])


class Done(Wire):
    """Druid's answer, also when nothing had to change; with `expect` it says what was done."""

    status: Literal["success"] = "success"
    changed: list[str] | None = None
    """The ids of those that were changed."""
    left: list[str] | None = None
    """Those of the preview that were left alone, because by their turn it would have done something
    else to them."""


@router.post(
    "/suspendAll",
    response_model=Done | VerbPreview,
    response_model_exclude_none=True,
    dependencies=[needs(Permission.SUSPEND)],
)
def suspend_all(
    author: Author, parts: Parts, *, expect: Expect = None, dry_run: DryRun = False
) -> Done | JSONResponse:
    """Suspend every supervisor that runs; each hands off and publishes what it has."""
    if dry_run:
        return preview_of(parts.bulk.foresee(OperationKind.SUSPEND))
    return _done(parts.bulk.suspend, author, expect)


@router.post(
    "/resumeAll",
    response_model=Done | VerbPreview,
    response_model_exclude_none=True,
    dependencies=[needs(Permission.SUSPEND)],
)
def resume_all(
    author: Author, parts: Parts, *, expect: Expect = None, dry_run: DryRun = False
) -> Done | JSONResponse:
    """Resume every supervisor that is suspended."""
    if dry_run:
        return preview_of(parts.bulk.foresee(OperationKind.RESUME))
    return _done(parts.bulk.resume, author, expect)


@router.post(
    "/terminateAll",
    response_model=Done | VerbPreview,
    response_model_exclude_none=True,
    dependencies=[needs(Permission.TERMINATE)],
)
def terminate_all(
    author: Author, parts: Parts, *, expect: Expect = None, dry_run: DryRun = False
) -> Done | JSONResponse:
    """End every supervisor: their tasks hand off and publish, their tables stay."""
    if dry_run:
        return preview_of(parts.bulk.foresee(OperationKind.TERMINATE))
    return _done(parts.bulk.terminate, author, expect)


def _done(verb: Callable[[str, str | None], BulkDone], author: str, expect: str | None) -> Done:
    with previewed():
        done = verb(author, expect)
    if expect is None:
        return Done()
    return Done(changed=list(done.changed), left=list(done.left))
