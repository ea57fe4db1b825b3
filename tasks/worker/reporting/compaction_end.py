"""How a compaction ended, and the records that say so.

A compaction has one attempt, number 0: each new one has a new id.  It ends in success if its file
took the place of its inputs; one that its worker's end interrupts has not ended.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from tasks.contract.messages import (
    DesiredCompaction,
    FailureCode,
    PublishOutcome,
    SegmentFile,
    TaskPhase,
)
from tasks.reporting.levels import ReportLevels, TaskEnding
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of
from tasks.reporting.sizes import PAYLOAD_BYTES, RecordLimits, fitted

__all__ = ["CompactionEnd"]

_ORIGIN = RecordOrigin.COMPACTION


@dataclass(frozen=True)
class CompactionEnd:
    """How a compaction ended."""

    order: DesiredCompaction
    started_at: datetime
    ended_at: datetime
    outcome: str
    """What the overlord answered; or `failed`, or `cancelled`: it is no longer wanted."""
    failure: FailureCode | None = None
    detail: str = ""
    file: SegmentFile | None = None
    """The new file, if it was written."""

    @property
    def task_id(self) -> str:
        """The subject of its records."""
        return self.order.compaction_id

    @property
    def succeeded(self) -> bool:
        """Whether its file is part of the table."""
        return self.outcome == PublishOutcome.COMMITTED

    def records(
        self, worker: str, levels: ReportLevels, logged: dict[str, JsonValue]
    ) -> Iterator[ReportRecord]:
        """Yield the records of the end, as far as the level takes it.

        `logged`: the warnings and errors of its log.
        """
        # Of one that was taken back or came too late nobody has to know more.
        ending = TaskEnding(succeeded=self.failure is None, failure=self.failure)
        if not levels.wants(_ORIGIN, ending, debug=False):
            yield self._record(worker, RecordType.COMPLETION, {})
            return
        yield self._record(worker, RecordType.TASK_RESULT, self._result())
        inputs: list[JsonValue] = [each.file.path for each in self.order.inputs]
        report = {**self._result(), "inputs": inputs, "logged": logged}
        yield self._record(worker, RecordType.TASK_REPORT, report)

    def _result(self) -> dict[str, JsonValue]:
        written = self.file
        return {
            "outcome": str(self.outcome),
            "failure": None if self.failure is None else str(self.failure),
            "detail": self.detail,
            "startedAt": self.started_at.isoformat(),
            "endedAt": self.ended_at.isoformat(),
            "files": len(self.order.inputs),
            "rows": None if written is None else written.rows,
            "bytes": None if written is None else written.size_bytes,
        }

    def _record(self, worker: str, kind: RecordType, payload: dict[str, JsonValue]) -> ReportRecord:
        record = ReportRecord(
            type=kind,
            record_id=record_id_of(self.task_id, 0, kind, 0),
            subject=self.task_id,
            origin=_ORIGIN,
            worker=worker,
            data_source=self.order.data_source,
            status=TaskPhase.SUCCESS if self.succeeded else TaskPhase.FAILED,
            at=self.ended_at,
            seq=0,
            final=True,
            payload=payload,
        )
        return fitted(record, RecordLimits(PAYLOAD_BYTES))
