"""Logs of executions: from their events while these are kept, then from the store of logs."""

import re
from dataclasses import dataclass

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.plan import all_steps
from supervisor.core.executions.reduced import ExecutionEvent
from supervisor.core.history.execution_log import LOG_BYTES, execution_log
from supervisor.core.history.execution_records import execution_subject
from supervisor.core.values.errors import ExecutionNotFound, ReportStoreUnavailable
from supervisor.ports.flows.executions import ExecutionStore
from supervisor.ports.reports.logs import LogStore
from supervisor.ports.store_problems import StoreAway, StoreMissing, StoreRefuses
from supervisor.ports.workers.task_logs import LogPart
from supervisor.services.flows.access import answered

__all__ = ["ExecutionLogs", "has_step"]

_ANSWER_BYTES_MAX = 1024 * 1024
_EVENTS = 1_000


@dataclass(frozen=True)
class ExecutionLogs:
    """Shows logs of executions; any overlord can, as each reads both databases."""

    executions: ExecutionStore
    stored: LogStore | None
    """None: no log is stored."""

    def log(self, execution_id: str, step: str | None, offset: int) -> LogPart:
        """Return a piece of a log from `offset`; a negative one counts from the end.

        `step`: only its lines, by its name or by the id of a task run; of an execution that was
        deleted its name alone is known.

        Raises:
            ExecutionNotFound: there is no such execution or step, and no log of it is stored.
            ExecutionStoreUnavailable: the database of executions does not answer.
            ReportStoreUnavailable: the execution was deleted, and the store does not answer.
        """
        with answered(), self.executions.reading() as rows:
            execution = rows.execution(execution_id)
            events: list[ExecutionEvent] = []
            while execution is not None:
                page = rows.events(execution_id, len(events), _EVENTS)
                events += page
                if len(page) < _EVENTS:
                    break
        if execution is None:
            return self._from_store(execution_id, step, offset)
        if step is not None and not has_step(execution, step):
            raise ExecutionNotFound(f"{execution_id} with a step {step}")
        return _piece(execution_log(execution, events, step), offset, "")

    def _from_store(self, execution_id: str, step: str | None, offset: int) -> LogPart:
        try:
            content, missing = self._stored(execution_subject(execution_id))
        except StoreMissing:
            content, missing = None, ""
        except (StoreAway, StoreRefuses) as error:
            raise ReportStoreUnavailable(f"the store of reports and logs: {error}") from error
        if content is None:
            raise ExecutionNotFound(execution_id)
        if step is not None:
            content = _lines_of(content, step)
            if not content and not missing:
                raise ExecutionNotFound(f"{execution_id} with a step {step}")
        return _piece(content, offset, missing)

    def _stored(self, subject: str) -> tuple[bytes | None, str]:
        """Return what is stored of a log, and what of it is missing; None: nothing is stored."""
        span = None if self.stored is None else self.stored.span(subject, 0)
        if self.stored is None or span is None:
            return None, ""
        content, missing, at = b"", "", 0
        for part in self.stored.read(subject, 0, 0, LOG_BYTES * 2):
            if part.offset > at or part.missing:
                end = part.offset + part.missing_bytes
                why = part.missing or "they did not reach the store"
                missing = missing or f"{end - at} bytes from {at} on: {why}"
            content += part.content
            at = part.offset + part.missing_bytes + len(part.content)
        if not span.is_whole:
            missing = missing or f"what follows the first {at} bytes did not reach the store"
        return content, missing


def has_step(execution: Execution, step: str) -> bool:
    """Whether there is such a step, by its name or by the id of a task run."""
    runs = execution.runs.values()
    return any(step in {each.step, each.id} for each in runs) or step in _names(execution)


def _names(execution: Execution) -> set[str]:
    return {each.name for each in all_steps(execution.plan)}


def _lines_of(content: bytes, step: str) -> bytes:
    """Return a step's lines out of a stored log, each with what is shifted under it."""
    name = re.escape(step.encode())
    own = re.compile(rb"\S+ [A-Z]+ +step %b(\[[0-9]+\])?(:| begins| has ended)" % name)
    lines: list[bytes] = []
    mine = False
    for line in content.splitlines(keepends=True):
        mine = mine if line.startswith(b"    ") else own.match(line) is not None
        if mine:
            lines.append(line)
    return b"".join(lines)


def _piece(content: bytes, offset: int, missing: str) -> LogPart:
    start = max(0, len(content) + offset) if offset < 0 else min(offset, len(content))
    return LogPart(content[start : start + _ANSWER_BYTES_MAX], start, len(content), missing)
