"""Looks at what a step waits for: each reads a few rows, and no thread waits in between.

state of the wait                                  over when
{operation: id}                                    it is done; superseded or failed: the step fails
{compactions: [id], failed: n, why: text}          none of them lives; one has failed: it fails
{completed: supervisor}                            all that it is to read is published
{supervisor: id, state: word}                      its state, or its detailed one, is that
{supervisor: id, lagAtMost: records}               its lag is known, and no more
{supervisor: id, published: {partition: offset}}   its committed offsets are there
{table: name, exported: format, sequence: n}       the export has handled the change n
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue

from supervisor.chores.compaction.compacting import Compacting
from supervisor.core.executions.entities import StepError
from supervisor.core.executions.inputs import Fails, Outcome, Succeeded, Waits
from supervisor.core.history.operations import OperationState
from supervisor.core.model.rows import TaskStatus
from supervisor.core.planning.states import State
from supervisor.core.tables.exports import queue_of
from supervisor.core.values.counts import counted, grouped
from supervisor.core.values.errors import CompactionNotFound
from supervisor.core.values.export_formats import ExportFormat
from supervisor.ports.store import Store
from supervisor.services.history.history import History
from supervisor.services.supervisors.queries import SupervisorQueries
from tasks.contract.offsets import TopicPartition

__all__ = ["Looks"]


@dataclass(frozen=True)
class Looks:
    """Judges waits; every look raises the errors of the services that it reads by."""

    store: Store
    history: History
    compacting: Compacting
    supervisors: SupervisorQueries

    def look(self, waits: Mapping[str, JsonValue]) -> Outcome:
        """Return what became of a wait: it goes on, or it has ended."""
        if "operation" in waits:
            return self._operation(waits)
        if "compactions" in waits:
            return self._compactions(waits)
        if "completed" in waits:
            return self._completed(waits)
        if "table" in waits:
            return self._exported(waits)
        if "state" in waits:
            return self._state(waits)
        return self._lag(waits) if "lagAtMost" in waits else self._published(waits)

    def _operation(self, waits: Mapping[str, JsonValue]) -> Outcome:
        view = self.history.operation(str(waits["operation"]))
        match view.state:
            case OperationState.DONE:
                return Succeeded()
            case OperationState.RUNNING:
                what = f"{view.kind} of {view.supervisor} ({view.id}): {view.waits_for}"
                return Waits(what, dict(waits))
            case OperationState.SUPERSEDED:
                why = f"a newer version of {view.supervisor} was stored before {view.id} was done"
                return Fails(StepError("superseded", why))
            case OperationState.FAILED:
                return Fails(StepError("operation-failed", f"{view.id} has failed", passes=True))

    def _compactions(self, waits: Mapping[str, JsonValue]) -> Outcome:
        left: list[JsonValue] = []
        failed, why = cast("int", waits["failed"]), str(waits["why"])
        for each in cast("list[str]", waits["compactions"]):
            try:
                row = self.compacting.get(each)
            except CompactionNotFound:  # its row has expired, so that it ended long ago
                continue
            if row.live:
                left.append(each)
            elif row.status is not TaskStatus.SUCCESS:
                failed, why = failed + 1, why or f"{each}: {row.detail}"
        if left:
            what = counted(len(left), "compaction", "compactions")
            return Waits(what, {"compactions": left, "failed": failed, "why": why})
        if failed:
            text = f"{counted(failed, 'compaction has', 'compactions have')} failed; {why}"
            return Fails(StepError("compaction-failed", text, passes=True))
        return Succeeded()

    def _completed(self, waits: Mapping[str, JsonValue]) -> Outcome:
        name = str(waits["completed"])
        state = self.supervisors.state(name)
        if state.state is State.COMPLETED:
            return Succeeded()
        why = f": {state.why}" if state.why else ""
        return Waits(f"{name} to have read its ranges; it is {state.detailed}{why}", dict(waits))

    def _state(self, waits: Mapping[str, JsonValue]) -> Outcome:
        name, word = str(waits["supervisor"]), str(waits["state"])
        state = self.supervisors.state(name)
        if word in {state.state, state.detailed}:
            return Succeeded({"state": state.state, "detailedState": state.detailed})
        return Waits(f"{name} to be {word}; it is {state.detailed}", dict(waits))

    def _lag(self, waits: Mapping[str, JsonValue]) -> Outcome:
        name, most = str(waits["supervisor"]), cast("int", waits["lagAtMost"])
        self.supervisors.state(name)  # raises if there is none
        lag = self.supervisors.lags().get(name)
        if lag is None or lag.records is None:
            return Waits(f"the lag of {name}, which is not known yet", dict(waits))
        if lag.records <= most:
            return Succeeded({"lag": lag.records})
        what = f"a lag of {name} of {grouped(most)} at most; it is {grouped(lag.records)}"
        return Waits(what, dict(waits))

    def _published(self, waits: Mapping[str, JsonValue]) -> Outcome:
        name = str(waits["supervisor"])
        wanted = cast("Mapping[str, int]", waits["published"])
        self.supervisors.state(name)
        with self.store.reading() as tx:
            committed = tx.offsets.of(name)
        left = 0
        for key, offset in wanted.items():
            row = committed.get(TopicPartition.parse(key))
            left += max(0, offset - (0 if row is None else row.next_offset))
        if not left:
            return Succeeded()
        what = f"{name} to have published {counted(left, 'more offset', 'more offsets')}"
        return Waits(what, dict(waits))

    def _exported(self, waits: Mapping[str, JsonValue]) -> Outcome:
        table, sequence = str(waits["table"]), cast("int", waits["sequence"])
        kind = ExportFormat(str(waits["exported"]))
        with self.store.reading() as tx:
            export = tx.exports.get(table, kind)
            row = tx.events.find(queue_of(table, kind))
        if export is None or not export.enabled:
            return Fails(StepError("not-exported", f"{table} is not exported as {kind}"))
        if row is None or row.processed_seq >= sequence:
            return Succeeded({"version": export.standing.version})
        why = export.problem or row.dead_why or row.last_error
        what = f"the {kind} export of {table}" + (f", which is behind: {why}" if why else "")
        return Waits(what, dict(waits))
