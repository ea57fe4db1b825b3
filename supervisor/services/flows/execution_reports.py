"""Reports of executions and steps in Druid's shape: from their rows, then from what is stored.

An execution goes by its id, a step by `<execution>/<step>`, as in its stored records.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from supervisor.core.history.execution_records import (
    attempts_of,
    execution_report,
    execution_subject,
    oldest_first,
    step_subject,
)
from supervisor.core.values.errors import (
    ExecutionNotFound,
    NoTaskReports,
    ReportStoreUnavailable,
)
from supervisor.ports.flows.executions import ExecutionStore
from supervisor.ports.reports.reports import ReportQuery, ReportStore
from supervisor.ports.store_problems import StoreAway, StoreMissing, StoreRefuses
from supervisor.services.flows.access import answered
from supervisor.services.flows.logs import has_step
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord

__all__ = ["ExecutionReports"]

ATTEMPTS_MAX = 1_000
"""Of a step whose execution was deleted: the newest."""
_EXECUTION, _STEP = "execution", "executionStep"


@dataclass(frozen=True)
class ExecutionReports:
    """Shows reports of executions; any overlord can, as each reads both databases."""

    executions: ExecutionStore
    stored: ReportStore | None
    """None: no report is stored."""

    def reports(self, execution_id: str, step: str | None) -> dict[str, object]:
        """Return the report of an execution, or of one of its steps with all attempts.

        `step`: its name, or the id of a task run; of a deleted execution its name alone is known.

        Raises:
            ExecutionNotFound: there is no such execution or step, and none is stored.
            NoTaskReports: the step has neither ended nor an attempt.
            ExecutionStoreUnavailable: the database of executions does not answer.
            ReportStoreUnavailable: the execution was deleted, and the store does not answer.
        """
        with answered(), self.executions.reading() as rows:
            execution = rows.execution(execution_id)
        if execution is None:
            return self._stored(execution_id, step)
        if step is None:
            return _shaped(_EXECUTION, execution_id, execution_report(execution))
        if not has_step(execution, step):
            raise ExecutionNotFound(f"{execution_id} with a step {step}")
        attempts = attempts_of(execution, step)
        if not attempts:
            raise NoTaskReports(f"{execution_id}/{step}")
        return _of_step(execution_id, step, attempts)

    def _stored(self, execution_id: str, step: str | None) -> dict[str, object]:
        kind = RecordType.TASK_REPORT if step is None else RecordType.TASK_RESULT
        subject = execution_subject(execution_id)
        if step is not None:
            subject = step_subject(execution_id, step)
        records = self._list(subject, kind)
        if step is None and records:
            return _shaped(_EXECUTION, execution_id, records[0].payload)
        if not records:
            name = execution_id if step is None else f"{execution_id} with a step {step}"
            raise ExecutionNotFound(name)
        assert step is not None, "an execution alone was answered"
        attempts = [{"attempt": each.attempt, **each.payload} for each in records]
        return _of_step(execution_id, step, oldest_first(attempts))

    def _list(self, subject: str, kind: RecordType) -> Sequence[ReportRecord]:
        if self.stored is None:
            return []
        query = ReportQuery(types=frozenset({kind}), subject=subject, origin=RecordOrigin.EXECUTION)
        try:
            return self.stored.list(query, ATTEMPTS_MAX)
        except StoreMissing:
            return []
        except (StoreAway, StoreRefuses) as error:
            raise ReportStoreUnavailable(f"the store of reports and logs: {error}") from error


def _of_step(
    execution_id: str, step: str, attempts: Sequence[Mapping[str, JsonValue]]
) -> dict[str, object]:
    payload = {"execution": execution_id, "step": step, "attempts": [dict(a) for a in attempts]}
    return _shaped(_STEP, f"{execution_id}/{step}", payload)


def _shaped(kind: str, subject: str, payload: Mapping[str, object]) -> dict[str, object]:
    return {kind: {"type": kind, "taskId": subject, "payload": dict(payload)}}
