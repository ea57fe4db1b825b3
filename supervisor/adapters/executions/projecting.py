"""The tables of executions as the topics say: written by a projector, without a leader's term.

The position of a partition is compared and moved first.  Its row is locked until the commit, so two
projectors of one partition never interleave, and the slower one stores nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import Connection, Insert, Table, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from supervisor.adapters.executions.artifacts import drop_artifacts
from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.remembered import RememberedExecutions
from supervisor.adapters.executions.restoring import of_topics
from supervisor.adapters.executions.schema import (
    CALLS,
    CLAIMS,
    EVENTS,
    EXECUTIONS,
    GATES,
    LABELS,
    PROJECTED,
    RUNS,
)
from supervisor.adapters.executions.store import SqlExecutionRows
from supervisor.core.executions.entities import Execution
from supervisor.core.executions.gates import Gate
from supervisor.core.executions.plan import CallWork
from supervisor.core.executions.records import (
    EVENT_FORM,
    StateRecord,
    UnreadableRecord,
    overlaid,
    restore,
)
from supervisor.core.executions.reduced import ExecutionEvent
from supervisor.core.executions.states import StepState
from supervisor.ports.flows.execution_log import LogTopic
from supervisor.ports.flows.executions import ExecutionChanges
from supervisor.ports.flows.projection import Place, ProjectedSteps, ProjectionStep

__all__ = ["SqlProjection"]

_OF_EXECUTIONS = (EVENTS, CALLS, CLAIMS, RUNS, LABELS)
_P = PROJECTED.c
_CALLED = {StepState.SUBMITTED, StepState.RUNNING}


class SqlProjection:
    """Implements `ports.flows.projection.ProjectionStore`."""

    def __init__(self, database: ExecutionDatabase) -> None:
        """Own `database`, which somebody has migrated: `close` closes it."""
        self._database = database
        self._known = RememberedExecutions()

    def positions(self) -> Mapping[Place, int]:
        """Return how far the tables are."""
        with self._database.reading() as connection:
            rows = connection.execute(select(PROJECTED)).all()
        return {(LogTopic(row.topic), row.partition): row.next for row in rows}

    def known(self, executions: Collection[str]) -> frozenset[str]:
        """Return those of which there is a row."""
        query = select(EXECUTIONS.c.id).where(EXECUTIONS.c.id.in_(sorted(executions)))
        with self._database.reading() as connection:
            return frozenset(connection.execute(query).scalars())

    def project(self, steps: Sequence[ProjectionStep]) -> ProjectedSteps:
        """Store steps in one transaction; see the port."""
        with self._database.writing() as connection:
            won = [step for step in steps if _move(connection, step)]
            rows = SqlExecutionRows(connection, self._known)
            unreadable: dict[str, str] = {}
            for step in won:
                _put_records(rows, step.records, unreadable)
                _put_events(connection, step.events)
        self._known.put(rows.seen.values())
        return ProjectedSteps(
            frozenset({each.place for each in steps if each not in won}), unreadable
        )

    def clear(self) -> int:
        """Delete everything that the topics say; see the port."""
        with self._database.writing() as connection:
            chosen_rows = of_topics(connection)
            chosen = select(EXECUTIONS.c.id).where(*chosen_rows)
            for table in _OF_EXECUTIONS:
                connection.execute(delete(table).where(table.c.execution.in_(chosen)))
            gone = connection.execute(delete(EXECUTIONS).where(*chosen_rows)).rowcount
            for table in (PROJECTED, GATES):
                connection.execute(delete(table))
        return gone

    def close(self) -> None:
        """Close its connections."""
        self._database.close()


def _move(connection: Connection, step: ProjectionStep) -> bool:
    """Move a position if it is where the step starts; return whether it was."""
    topic, partition = step.place
    if step.start is None:
        row = {"topic": topic, "partition": partition, "next": step.next}
        put = _if_absent(connection, PROJECTED).returning(_P.next)
        return connection.execute(put, row).first() is not None
    of_it = (_P.topic == topic, _P.partition == partition, _P.next == step.start)
    moved = update(PROJECTED).where(*of_it).values(next=step.next)
    return connection.execute(moved).rowcount == 1


def _put_records(
    rows: SqlExecutionRows, records: Iterable[StateRecord], unreadable: dict[str, str]
) -> None:
    """Lay records over what is stored."""
    executions: dict[str, list[StateRecord]] = defaultdict(list)
    gates: dict[str, Gate] = {}
    for record in records:
        kind, _, rest = record.key.partition("/")
        if kind == "e":
            executions[rest.partition("/")[0]].append(record)
        elif record.value is None:
            gates[rest] = Gate(rest)  # at rest: its row goes
        else:
            restored = restore([record])
            gates.update(restored.gates)
            unreadable.update(restored.unreadable)
    gone = [name for name, some in executions.items() if _has_ended(name, some)]
    _forget(rows.connection, gone)
    there = rows.versions(executions.keys() - set(gone))
    changed: dict[str, Execution] = {}
    runs: dict[str, set[str]] = {}
    items: dict[str, set[str]] = {}
    for name in sorted(executions.keys() - set(gone)):
        try:
            stored = rows.execution(name) if name in there else None
            execution = overlaid(stored, executions[name])
        except UnreadableRecord as error:
            unreadable[f"e/{name}"] = str(error)
            continue
        if stored is None or execution.version > stored.version:
            changed[name] = execution
            runs[name], items[name] = _changed_runs(name, executions[name])
    new = changed.keys() - there.keys()
    rows.store(ExecutionChanges(changed, new, runs, gates, items=items))
    _put_calls(rows.connection, changed, runs)


def _put_calls(
    connection: Connection,
    executions: Mapping[str, Execution],
    runs: Mapping[str, Collection[str]],
) -> None:
    """Note which task runs wait for a call; what it says only their owner works out."""
    rows = [
        {
            "execution": name,
            "run": run.id,
            "attempt": run.attempts[-1].number,
            "look": 0,
            "body": "",
        }
        for name, execution in executions.items()
        for run in (execution.runs[each] for each in sorted(runs[name]))
        if run.state in _CALLED
        and run.attempts
        and isinstance(execution.plan.step(run.step).work, CallWork)
    ]
    if rows:
        connection.execute(_if_absent(connection, CALLS), rows)


def _changed_runs(name: str, records: Iterable[StateRecord]) -> tuple[set[str], set[str]]:
    """Return the ids of the task runs that records are of, and of those with new items."""
    prefix = f"e/{name}/r/"
    keys = [one.key.removeprefix(prefix) for one in records if one.key.startswith(prefix)]
    runs = {key for key in keys if "/" not in key}
    return runs, {key.partition("/")[0] for key in keys if "/" in key}


def _has_ended(name: str, records: Iterable[StateRecord]) -> bool:
    """Whether nothing of an execution is kept any more."""
    return any(one.key == f"e/{name}" and one.value is None for one in records)


def _forget(connection: Connection, executions: Sequence[str]) -> None:
    if executions:
        for table in _OF_EXECUTIONS:
            connection.execute(delete(table).where(table.c.execution.in_(executions)))
        connection.execute(delete(EXECUTIONS).where(EXECUTIONS.c.id.in_(executions)))
        drop_artifacts(connection, executions)


def _put_events(connection: Connection, events: Sequence[tuple[str, ExecutionEvent]]) -> None:
    rows = [
        {"execution": name, "number": each.number, "body": EVENT_FORM.write(each).decode()}
        for name, each in events
    ]
    if rows:
        connection.execute(_if_absent(connection, EVENTS), rows)


def _if_absent(connection: Connection, table: Table) -> Insert:
    """Return an insert that leaves a row with the same key as it is."""
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table).on_conflict_do_nothing()
    return postgresql.insert(table).on_conflict_do_nothing()
