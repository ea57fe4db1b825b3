"""Druid's verbs on the life of a supervisor, each with a dry run.

Source: Druid 33's API reference.
"""

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from supervisor.api.http.access import SUPERVISOR, needs
from supervisor.api.http.deps import Author, Parts
from supervisor.api.http.preconditions import Precondition
from supervisor.api.http.previews import DryRun, Expect, preview_of, previewed
from supervisor.api.routes.supervisors.operations import named
from supervisor.core.history.operations import OperationKind
from supervisor.core.planning.preconditions import etag_of
from supervisor.core.values.permissions import Permission
from supervisor.services.supervisors.admission import Stored
from supervisor.views.attention.foreseen import VerbPreview
from supervisor.views.supervisors.specs import Named

router = APIRouter(prefix="/druid/indexer/v1/supervisor", tags=["supervisors"])


@router.post(
    "/{supervisor_id}/suspend",
    response_model=dict[str, object] | VerbPreview,
    dependencies=[needs(Permission.SUSPEND, SUPERVISOR)],
)
def suspend(
    supervisor_id: str,
    author: Author,
    parts: Parts,
    expected: Precondition,
    response: Response,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> dict[str, object] | JSONResponse:
    """Start nothing new; groups that read now hand off and publish what they have."""
    verb = OperationKind.SUSPEND
    if dry_run:
        return preview_of(parts.foresight.of_version(verb, supervisor_id, expected))
    judge = parts.foresight.judge_version(verb, supervisor_id, expect)
    with previewed():
        stored = parts.service.suspend(supervisor_id, author, expected, judge=judge)
    return _posted(stored, response)


@router.post(
    "/{supervisor_id}/resume",
    response_model=dict[str, object] | VerbPreview,
    dependencies=[needs(Permission.SUSPEND, SUPERVISOR)],
)
def resume(
    supervisor_id: str,
    author: Author,
    parts: Parts,
    expected: Precondition,
    response: Response,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> dict[str, object] | JSONResponse:
    """Go on where it stopped."""
    verb = OperationKind.RESUME
    if dry_run:
        return preview_of(parts.foresight.of_version(verb, supervisor_id, expected))
    judge = parts.foresight.judge_version(verb, supervisor_id, expect)
    with previewed():
        stored = parts.service.resume(supervisor_id, author, expected, judge=judge)
    return _posted(stored, response)


def _posted(stored: Stored, response: Response) -> dict[str, object]:
    version = stored.version
    assert version.spec is not None
    response.headers["ETag"] = etag_of(version)
    named(response, stored.operation)
    return version.spec.normalised()


@router.post(
    "/{supervisor_id}/terminate",
    response_model=Named | VerbPreview,
    dependencies=[needs(Permission.TERMINATE, SUPERVISOR)],
)
def terminate(
    supervisor_id: str,
    author: Author,
    parts: Parts,
    expected: Precondition,
    response: Response,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> Named | JSONResponse:
    """End a supervisor: its tasks hand off and publish, its history and its table stay."""
    verb = OperationKind.TERMINATE
    if dry_run:
        return preview_of(parts.foresight.of_version(verb, supervisor_id, expected))
    judge = parts.foresight.judge_version(verb, supervisor_id, expect)
    with previewed():
        operation = parts.service.terminate(supervisor_id, author, expected, judge=judge)
    named(response, operation)
    return Named(id=supervisor_id, operation_id=operation)


@router.post(
    "/{supervisor_id}/shutdown",
    response_model=Named | VerbPreview,
    deprecated=True,
    dependencies=[needs(Permission.TERMINATE, SUPERVISOR)],
)
def shutdown(
    supervisor_id: str,
    author: Author,
    parts: Parts,
    expected: Precondition,
    response: Response,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> Named | JSONResponse:
    """Do what terminate does, under Druid's older name."""
    return terminate(
        supervisor_id, author, parts, expected, response, expect=expect, dry_run=dry_run
    )
