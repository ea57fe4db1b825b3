"""The store of executions in SQL: what a batch has changed, in one transaction of a leader's term.

A result writes the head of its execution and the task runs that it has changed, however many there
are.  The executions that were written last are kept in memory as well; what the database says of
their version decides whether that is used.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, exists, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from supervisor.adapters.executions.artifacts import artifact_used, put_uses
from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.flows import SqlFlows, author_of
from supervisor.adapters.executions.outbox import put_letters, unsent_since
from supervisor.adapters.executions.pages import execution_page
from supervisor.adapters.executions.purging import purge_executions
from supervisor.adapters.executions.remembered import RememberedExecutions
from supervisor.adapters.executions.runs import put_runs, text_of
from supervisor.adapters.executions.schema import (
    CALLS,
    CLAIMS,
    EVENTS,
    EXECUTIONS,
    GATES,
    LABELS,
    RUNS,
)
from supervisor.adapters.executions.sums import execution_sums
from supervisor.adapters.executions.triggers import SqlTriggers
from supervisor.adapters.executions.writing_term import hold_term
from supervisor.core.executions.entities import Execution, Runner, TaskRun
from supervisor.core.executions.gates import Gate
from supervisor.core.executions.records import (
    CALL_FORM,
    EVENT_FORM,
    StateRecord,
    UnreadableExecution,
    UnreadableRecord,
    gate_record,
    head_record,
    plan_record,
    restore,
)
from supervisor.core.executions.reduced import ExecutionEvent, StepCall
from supervisor.core.executions.states import StepState
from supervisor.core.executions.timers import next_due
from supervisor.core.flows.artifacts import Artifact
from supervisor.ports.flows.executions import (
    LABEL_NAME_MAX,
    LABEL_VALUE_MAX,
    CallPlace,
    ExecutionChanges,
    ExecutionPlace,
    ExecutionQuery,
    ExecutionSums,
    FlowAuthor,
    HeldCall,
)

__all__ = ["SqlExecutions"]

_ERROR_MAX = 300
_HELD = {StepState.RUNNING, StepState.KILLING}


class SqlExecutions:
    """Implements `ports.flows.executions.ExecutionStore`."""

    def __init__(self, database: ExecutionDatabase) -> None:
        """Own `database`: `close` closes it."""
        self._database = database
        self._known = RememberedExecutions()

    @contextmanager
    def reading(self) -> Iterator["SqlExecutionRows"]:
        """Open a transaction that only reads."""
        with self._database.reading() as connection:
            rows = SqlExecutionRows(connection, self._known)
            yield rows
        self._known.put(rows.seen.values())

    @contextmanager
    def working(self, term: int) -> Iterator["SqlExecutionRows"]:
        """Open the transaction of a term; see the port."""
        with self._database.writing() as connection:
            hold_term(connection, term)
            rows = SqlExecutionRows(connection, self._known)
            yield rows
        self._known.put(rows.seen.values())

    def close(self) -> None:
        """Close its connections."""
        self._database.close()


@dataclass
class SqlExecutionRows:
    """Implements `ports.flows.executions.ExecutionRows` in one transaction."""

    connection: Connection
    known: RememberedExecutions

    def __post_init__(self) -> None:
        """Begin with nothing read or stored."""
        self.seen: dict[str, Execution] = {}
        """What this transaction has read or stored: known to others once it is committed.

        A version that is rolled back never was, and another one may get its number.
        """

    @property
    def flows(self) -> SqlFlows:
        """The stored flows."""
        return SqlFlows(self.connection)

    @property
    def triggers(self) -> SqlTriggers:
        """The stored triggers."""
        return SqlTriggers(self.connection)

    def execution(self, execution_id: str) -> Execution | None:
        """Return an execution; see the port."""
        if (seen := self.seen.get(execution_id)) is not None:
            return seen
        of_it = EXECUTIONS.c.id == execution_id
        if (known := self.known.get(execution_id)) is not None:
            # After a purge another execution may have its id, and come to the same version.
            query = select(EXECUTIONS.c.version, EXECUTIONS.c.created_at).where(of_it)
            row = self.connection.execute(query).one_or_none()
            if row is not None and tuple(row) == (known.version, known.created_at):
                return known
        record = select(EXECUTIONS.c.head, EXECUTIONS.c.plan).where(of_it)
        row = self.connection.execute(record).one_or_none()
        if row is None:
            return None
        runs = select(RUNS.c.id, RUNS.c.body).where(RUNS.c.execution == execution_id)
        name = f"e/{execution_id}"
        records = [
            StateRecord(name, row.head.encode()),
            StateRecord(f"{name}/plan", row.plan.encode()),
            *(
                StateRecord(f"{name}/r/{run}", body.encode())
                for run, body in self.connection.execute(runs)
            ),
        ]
        restored = restore(records)
        if restored.unreadable:
            raise UnreadableExecution(execution_id, next(iter(restored.unreadable.values())))
        execution = restored.executions[execution_id]
        self.seen[execution_id] = execution
        return execution

    def versions(self, executions: Collection[str]) -> dict[str, int]:
        """Return the versions of those that are there."""
        columns = EXECUTIONS.c
        query = select(columns.id, columns.version).where(columns.id.in_(sorted(executions)))
        return {row.id: row.version for row in self.connection.execute(query)}

    def author_of(self, execution_id: str) -> FlowAuthor | None:
        """Return whose flow an execution runs; see the port."""
        return author_of(self.connection, execution_id)

    def gate(self, name: str) -> Gate | None:
        """Return a gate; see the port."""
        query = select(GATES.c.body).where(GATES.c.name == name)
        body = self.connection.execute(query).scalar_one_or_none()
        if body is None:
            return None
        restored = restore([StateRecord(f"g/{name}", body.encode())])
        if restored.unreadable:
            raise UnreadableRecord(f"gate {name}: {restored.unreadable[f'g/{name}']}")
        return restored.gates[name]

    def due(self, now: datetime, limit: int) -> Sequence[str]:
        """Return executions whose time has come."""
        due_at = EXECUTIONS.c.due_at
        query = select(EXECUTIONS.c.id).where(due_at <= now).order_by(due_at).limit(limit)
        return self.connection.execute(query).scalars().all()

    def next_due(self) -> datetime | None:
        """Return the earliest time that something waits for."""
        query = select(func.min(EXECUTIONS.c.due_at).label("first"))
        first: datetime | None = self.connection.execute(query).scalar()
        return first

    def calls(self, limit: int) -> Sequence[StepCall]:
        """Return calls that nobody holds, and looks."""
        taken = exists().where(CLAIMS.c.run == CALLS.c.run)
        query = select(CALLS.c.body).where(~taken).order_by(CALLS.c.number).limit(limit)
        return [CALL_FORM.read(body.encode()) for body in self.connection.execute(query).scalars()]

    def calls_of(self, runner: Runner) -> Sequence[StepCall]:
        """Return the calls that a runner holds."""
        query = (
            select(CALLS.c.body)
            .join(CLAIMS, (CLAIMS.c.run == CALLS.c.run) & (CLAIMS.c.attempt == CALLS.c.attempt))
            .where(
                CLAIMS.c.runner == runner.name,
                CLAIMS.c.incarnation == runner.incarnation,
                ~CLAIMS.c.cancelled,
            )
            .order_by(CALLS.c.number)
        )
        return [CALL_FORM.read(body.encode()) for body in self.connection.execute(query).scalars()]

    def held(self, runner: Runner | None = None) -> Sequence[HeldCall]:
        """Return the calls that runners make."""
        columns = CLAIMS.c
        query = select(CLAIMS).order_by(columns.run)
        if runner is not None:
            query = query.where(
                columns.runner == runner.name, columns.incarnation == runner.incarnation
            )
        return [
            HeldCall(
                CallPlace(row.execution, row.run, row.attempt),
                Runner(row.runner, row.incarnation),
                row.cancelled,
            )
            for row in self.connection.execute(query)
        ]

    def page(
        self, wanted: ExecutionQuery, limit: int, before: ExecutionPlace | None = None
    ) -> Sequence[Execution]:
        """Return wanted executions, newest first."""
        return execution_page(self.connection, wanted, limit, before)

    def events(self, execution_id: str, after: int, limit: int) -> Sequence[ExecutionEvent]:
        """Return events behind a number."""
        columns = EVENTS.c
        query = (
            select(columns.body)
            .where(columns.execution == execution_id, columns.number > after)
            .order_by(columns.number)
            .limit(limit)
        )
        return [EVENT_FORM.read(body.encode()) for body in self.connection.execute(query).scalars()]

    def sums(self) -> ExecutionSums:
        """Count what has not ended."""
        return execution_sums(self.connection)

    def unsent_since(self, execution_id: str | None = None) -> datetime | None:
        """Return since when a letter waits."""
        return unsent_since(self.connection, execution_id)

    def artifact(self, execution_id: str, artifact_id: str) -> Artifact | None:
        """Return an artifact of an execution; see the port."""
        return artifact_used(self.connection, execution_id, artifact_id)

    def purge(self, before: datetime, of_each: int, limit: int) -> Sequence[str]:
        """Delete executions that ended long ago; see the port."""
        return purge_executions(self.connection, before, of_each, limit)

    def store(self, changes: ExecutionChanges) -> None:
        """Store what a batch has changed."""
        for execution in changes.executions.values():
            self._put_head(execution, new=execution.id in changes.new)
        changed = [
            (changes.executions[execution], changes.executions[execution].runs[run])
            for execution, runs in changes.runs.items()
            for run in sorted(runs)
        ]
        put_runs(self.connection, changes)
        put_uses(self.connection, changes)
        self._put_gates(list(changes.gates.values()))
        self._put_calls(changed, changes.calls)
        self._put_claims(changed)
        events = [
            {
                "execution": execution,
                "number": each.number,
                "body": EVENT_FORM.write(each).decode(),
            }
            for execution, some in changes.events.items()
            for each in some
        ]
        if events:
            self.connection.execute(insert(EVENTS), events)
        put_letters(self.connection, changes.letters)
        self.seen.update(changes.executions)

    def _put_head(self, execution: Execution, *, new: bool) -> None:
        values = {
            "state": execution.state,
            "version": execution.version,
            "ended_at": execution.ended_at,
            "due_at": next_due(execution),
            "error": execution.error[:_ERROR_MAX] or None,
            "head": text_of(head_record(execution)),
        }
        if not new:
            of_it = EXECUTIONS.c.id == execution.id
            self.connection.execute(update(EXECUTIONS).where(of_it).values(**values))
            return
        fixed = {
            "id": execution.id,
            "flow": execution.flow,
            "flow_version": execution.plan.version,
            "created_at": execution.created_at,
            "parent": execution.parent,
            "started_by": execution.started_by,
            "trigger": execution.trigger_name,
            "plan": text_of(plan_record(execution)),
        }
        self.connection.execute(insert(EXECUTIONS), {**fixed, **values})
        about = {"execution": execution.id, "created_at": execution.created_at}
        kept = {n[:LABEL_NAME_MAX]: v[:LABEL_VALUE_MAX] for n, v in execution.labels.items()}
        labels = [{**about, "name": n, "value": v} for n, v in kept.items()]
        if labels:
            self.connection.execute(insert(LABELS), labels)

    def _put_gates(self, gates: Sequence[Gate]) -> None:
        for gate in gates:
            self.connection.execute(delete(GATES).where(GATES.c.name == gate.name))
            if not gate.at_rest:
                row = {"name": gate.name, "body": text_of(gate_record(gate))}
                self.connection.execute(insert(GATES), row)

    def _put_calls(
        self, changed: Sequence[tuple[Execution, TaskRun]], calls: Sequence[StepCall]
    ) -> None:
        """Keep the one call that each run waits for; the others are answered, or are too late."""
        looks = {each.run: each.check for each in calls}
        wanted = {run.id: _wanted(run, looks.get(run.id, 0)) for _, run in changed}
        new = [
            {
                "execution": each.execution,
                "run": each.run,
                "attempt": each.attempt,
                "look": each.check,
                "body": CALL_FORM.write(each).decode(),
            }
            for each in calls
            if wanted.get(each.run) == (each.attempt, each.check)
        ]
        if changed:
            gone = delete(CALLS).where(
                CALLS.c.run == bindparam("of_run"),
                (CALLS.c.attempt != bindparam("of_attempt"))
                | (CALLS.c.look != bindparam("of_look")),
            )
            rows = [
                {"of_run": run, "of_attempt": place[0], "of_look": place[1]}
                for run, place in wanted.items()
            ]
            self.connection.execute(gone, rows)
        if new:
            on_sqlite = self.connection.dialect.name == "sqlite"
            put = sqlite.insert(CALLS) if on_sqlite else postgresql.insert(CALLS)
            self.connection.execute(put.on_conflict_do_nothing(), new)

    def _put_claims(self, changed: Sequence[tuple[Execution, TaskRun]]) -> None:
        if not changed:
            return
        gone = delete(CLAIMS).where(CLAIMS.c.run == bindparam("of_run"))
        self.connection.execute(gone, [{"of_run": run.id} for _, run in changed])
        rows = [
            {
                "run": run.id,
                "execution": execution.id,
                "attempt": run.attempts[-1].number,
                "runner": runner.name,
                "incarnation": runner.incarnation,
                "cancelled": run.state is StepState.KILLING,
            }
            for execution, run in changed
            if run.state in _HELD and run.attempts and (runner := run.attempts[-1].runner)
        ]
        if rows:
            self.connection.execute(insert(CLAIMS), rows)


def _wanted(run: TaskRun, look: int) -> tuple[int, int]:
    """Return the attempt and the look that a task run waits for; (-1, -1): for none.

    `look`: the one that this batch asks for; an earlier one is answered, or nobody's any more.
    """
    if not run.attempts:  # a step of steps runs without one
        return -1, -1
    if run.state in {StepState.SUBMITTED, StepState.RUNNING}:
        return run.attempts[-1].number, 0
    if run.state is StepState.WAITING and look > 0:
        return run.attempts[-1].number, look
    return -1, -1
