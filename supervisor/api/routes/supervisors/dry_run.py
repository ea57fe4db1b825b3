"""The route of the dry run: a posted spec is judged by the same rules, and nothing is changed."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool

from supervisor.api.http.access import SPEC, needs
from supervisor.api.http.deps import Asking, Document, Parts
from supervisor.api.http.preconditions import Precondition
from supervisor.api.routes.supervisors.sampler import sampled
from supervisor.api.routes.supervisors.supervisors import SPEC_BODY
from supervisor.core.spec.sample_request import SamplerConfig, SampleRequest
from supervisor.core.values.errors import Refused, Unavailable
from supervisor.core.values.permissions import Permission
from supervisor.services.access.applying import applying
from supervisor.views.supervisors.dry_run import DryRunView, dry_run_view
from tasks.contract.sample import ROWS_MAX

router = APIRouter(prefix="/api/v1/supervisors", tags=["supervisors"])


@router.post(
    "/validate",
    response_model_exclude_unset=True,
    openapi_extra=SPEC_BODY,
    dependencies=[needs(Permission.APPLY, SPEC)],
)
async def validate(
    document: Document,
    asking: Asking,
    parts: Parts,
    expected: Precondition,
    sample: Annotated[
        int, Query(ge=0, le=ROWS_MAX, description="Show so many records as rows, too.")
    ] = 0,
    *,
    connect: Annotated[bool, Query(description="Look at the topics, for some seconds.")] = True,
) -> DryRunView:
    """Tell what a POST of this spec would do: errors, changes, what restarts, what Kafka holds."""
    verdict = await run_in_threadpool(
        parts.dry_run.judge,
        document,
        connect=connect or sample > 0,
        expected=expected,
        allowed=applying(asking),
    )
    if not sample or not verdict.valid or verdict.spec is None or verdict.seen is None:
        return dry_run_view(verdict)
    within = SamplerConfig().within
    request = SampleRequest(spec=verdict.spec, rows=sample, within=within)
    try:
        return dry_run_view(verdict, await sampled(parts, request, verdict.seen))
    except (Refused, Unavailable) as error:
        return dry_run_view(verdict, sample_error=str(error))
