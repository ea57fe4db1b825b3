"""The report of a compaction, in the shape of a task's: from its row, and what its worker sent."""

from collections.abc import Mapping

from pydantic import JsonValue

from supervisor.core.model.rows import TaskStatus
from supervisor.core.tables.compaction import Compaction
from supervisor.views.tasks import row_stats
from tasks.contract.messages import Counters

__all__ = ["payload_of"]


def payload_of(row: Compaction, sent: Mapping[str, JsonValue] | None) -> dict[str, object]:
    """Return the payload of the report of a compaction that has ended.

    `sent`: the payload of its stored report; None: there is none.
    """
    done = row.status is TaskStatus.SUCCESS
    rows = sum(share.rows for share in row.shares)
    return {
        "ingestionState": "COMPLETED" if done else "BUILD_SEGMENTS",
        "unparseableEvents": {"buildSegments": []},
        "rowStats": row_stats(Counters(processed=rows if done else 0)),
        "errorMsg": None if done else row.detail,
        "segmentAvailabilityConfirmed": done,
        "segmentAvailabilityWaitTimeMs": 0,
        "compaction": None if sent is None else dict(sent),
    }
