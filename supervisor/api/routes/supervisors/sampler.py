"""Routes of the sampler: Druid's sampler for people, and the answers of workers."""

import asyncio

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool

from supervisor.api.http.access import SPEC, needs
from supervisor.api.http.deps import Asking, Document, Parts, Token
from supervisor.core.planning.dry_run import Probed
from supervisor.core.spec.sample_request import SampleRequest, read_sample
from supervisor.core.values.errors import FieldError, InvalidRequest, SampleFailed, SampleUnanswered
from supervisor.core.values.permissions import Permission
from supervisor.services.access.applying import applying
from supervisor.services.services import Services
from supervisor.views.sample import SampleView, sample_view
from tasks.contract.sample import SampleAnswer
from tasks.contract.wire import Wire
from tasks.runtime.secrets import without_secrets

router = APIRouter(tags=["sampler"])

GRACE_S = 1.0
"""Seconds beyond the deadline for an answer that is under way."""
SAMPLER_BODY: dict[str, object] = {
    "requestBody": {
        "required": True,
        "description": (
            "`type` (kafka), `spec` (a supervisor spec with its own `type`, of which dataSource, "
            "timestampSpec, dimensionsSpec and inputFormat may be left out) and `samplerConfig` "
            "(`numRows` up to 5000, 200 by default; `timeoutMs` up to 60000, 10000 by default; "
            "`maxBytesInMemory`, `maxClientResponseBytes`)."
        ),
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}


class Taken(Wire):
    """The answer was heard."""

    taken: bool = True


@router.post(
    "/druid/indexer/v1/sampler",
    response_model_exclude_unset=True,
    openapi_extra=SAMPLER_BODY,
    dependencies=[needs(Permission.APPLY, SPEC)],
)
async def sample(document: Document, parts: Parts, asking: Asking) -> SampleView:
    """Read some records of a topic and show the rows that a task would make of them.

    The caller needs what applying the spec needs, for its dataSource and its topic.
    """
    request = read_sample(document)
    applying(asking)(request.spec.data_source, request.spec)
    return await sampled(parts, request)


@router.post("/internal/v1/samples/{sample_id}", dependencies=[needs(Permission.WORK)])
def answer_sample(sample_id: str, body: SampleAnswer, token: Token, parts: Parts) -> Taken:
    """Take what a worker read for whoever waits."""
    if sample_id != body.sample_id:
        raise InvalidRequest(
            [FieldError("/sampleId", f"is {body.sample_id}, the path {sample_id}")]
        )
    parts.sampling.answered(sample_id, token, body)
    return Taken()


async def sampled(
    parts: Services, request: SampleRequest, seen: Probed | None = None
) -> SampleView:
    """Order a sample from a worker and await it; no thread waits meanwhile.

    Raises:
        SampleUnanswered: the answer did not come in time.
        SampleFailed: the worker could not read the records.
        The errors of `SampleRequests.begin`.
    """
    pending = await run_in_threadpool(parts.sampling.begin, request, seen)
    try:
        waited = asyncio.wrap_future(pending.answer)
        answer = await asyncio.wait_for(waited, pending.left_s() + GRACE_S)
    except TimeoutError:
        raise SampleUnanswered(pending.worker_id, request.within) from None
    finally:
        parts.sampling.end(pending)
    if answer.failure:
        raise SampleFailed(without_secrets(answer.failure))
    return sample_view(request, answer)
