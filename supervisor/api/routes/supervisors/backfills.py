"""The route resetToLatestAndBackfill, on Druid's path.  Source: Druid 33's API reference.

Druid's answer is `{id, backfillSupervisorId}`; the other members are the result of both parts.
"""

from collections.abc import Mapping
from typing import Annotated, cast

from fastapi import APIRouter, Query, Response

from supervisor.api.http.access import SUPERVISOR, needs
from supervisor.api.http.deps import Author, Parts
from supervisor.api.http.preconditions import Precondition
from supervisor.api.http.previews import DryRun, Expect, previewed
from supervisor.api.routes.supervisors.operations import named
from supervisor.api.routes.supervisors.resets import moved
from supervisor.core.values.permissions import Permission
from supervisor.services.supervisors.backfill import BackfillDone
from supervisor.views.supervisors.resets import Backfilled, BackfillRange

router = APIRouter(prefix="/druid/indexer/v1/supervisor", tags=["supervisors"])

TASK_COUNT_MAX = 1_000
TaskCount = Annotated[
    int | None,
    Query(
        alias="backfillTaskCount",
        ge=1,
        le=TASK_COUNT_MAX,
        description="Groups that read what lies before at once; else as many as the spec has.",
    ),
]


@router.post(
    "/{supervisor_id}/resetToLatestAndBackfill",
    dependencies=[needs(Permission.RESET, SUPERVISOR)],
)
def reset_to_latest_and_backfill(
    supervisor_id: str,
    author: Author,
    parts: Parts,
    *,
    expected: Precondition,
    response: Response,
    task_count: TaskCount = None,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> Backfilled:
    """Go on at the latest offsets, and have a bounded supervisor read what lies before, once.

    Both are one transaction: each record is read by one of the two.
    """
    with previewed(_members):
        done = parts.backfills.run(
            supervisor_id, author, task_count, expected=expected, expect=expect, dry_run=dry_run
        )
    named(response, done.moved.operation)
    return _backfilled(done)


def _members(now: object) -> Mapping[str, object]:
    return _backfilled(cast("BackfillDone", now)).model_dump(mode="json", by_alias=True)


def _backfilled(done: BackfillDone) -> Backfilled:
    return Backfilled(
        **dict(moved(done.moved)),
        backfill_supervisor_id=done.backfill_id,
        backfill=[
            BackfillRange(topic=p.topic, partition=p.partition, start=each.first, to=each.end)
            for p, each in sorted(done.ranges.items())
        ],
        backfill_task_count=done.task_count,
    )
