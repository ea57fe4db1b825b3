"""What a restore of the topics reads of the tables: rows as records, and what rows are missing."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, exists, select

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.schema import (
    ARTIFACT_USES,
    ARTIFACTS,
    ENGINE,
    EXECUTIONS,
    GATES,
    RUNS,
)
from supervisor.core.executions.records import StateRecord

__all__ = ["SqlRestorableTables", "of_topics"]


def of_topics(connection: Connection) -> Sequence[ColumnElement[bool]]:
    """Return which rows of executions the topics have: none from before Kafka, or unsent."""
    # Version 0: its letter is in no topic yet.  Before the engine: it is in none at all.
    return [EXECUTIONS.c.version > 0, *_since_kafka(connection)]


def _since_kafka(connection: Connection) -> Sequence[ColumnElement[bool]]:
    since = connection.execute(select(ENGINE.c.since).where(ENGINE.c.kind == "kafka"))
    began = since.scalar_one_or_none()
    return [] if began is None else [EXECUTIONS.c.created_at >= began]


class SqlRestorableTables:
    """Implements `ports.flows.restoring.RestorableTables`."""

    def __init__(self, database: ExecutionDatabase) -> None:
        """Use a database that somebody else closes and migrates."""
        self._database = database

    def executions(self) -> Sequence[str]:
        """Return those of the time of Kafka, whose start is sent or not."""
        with self._database.reading() as connection:
            of_them = _since_kafka(connection)
            query = select(EXECUTIONS.c.id).where(*of_them).order_by(EXECUTIONS.c.id)
            return connection.execute(query).scalars().all()

    def records(self, executions: Collection[str]) -> Mapping[str, Sequence[StateRecord]]:
        """Return the rows of each execution as its records."""
        names = sorted(executions)
        heads = select(EXECUTIONS.c.id, EXECUTIONS.c.head, EXECUTIONS.c.plan)
        runs = select(RUNS.c.execution, RUNS.c.id, RUNS.c.body)
        with self._database.reading() as connection:
            records = {
                row.id: list(_head(row.id, row.head, row.plan))
                for row in connection.execute(heads.where(EXECUTIONS.c.id.in_(names)))
            }
            for row in connection.execute(runs.where(RUNS.c.execution.in_(names))):
                if row.execution in records:
                    key = f"e/{row.execution}/r/{row.id}"
                    records[row.execution].append(StateRecord(key, row.body.encode()))
        return records

    def gates(self) -> Sequence[StateRecord]:
        """Return the rows of gates."""
        with self._database.reading() as connection:
            rows = connection.execute(select(GATES.c.name, GATES.c.body).order_by(GATES.c.name))
            return [StateRecord(f"g/{row.name}", row.body.encode()) for row in rows]

    def lost_artifacts(self) -> Sequence[tuple[str, str]]:
        """Return uses of artifacts that have no row."""
        uses = ARTIFACT_USES.c
        query = (
            select(uses.execution, uses.artifact)
            .where(~exists().where(ARTIFACTS.c.id == uses.artifact))
            .order_by(uses.execution, uses.artifact)
        )
        with self._database.reading() as connection:
            return [(row.execution, row.artifact) for row in connection.execute(query)]


def _head(name: str, head: str, plan: str) -> Iterator[StateRecord]:
    yield StateRecord(f"e/{name}", head.encode())
    yield StateRecord(f"e/{name}/plan", plan.encode())
