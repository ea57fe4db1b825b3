"""Artifacts in SQL: a row each, and a row for every execution whose records name it.

A row of `artifact_uses` is written in the transaction that stores the record: by the leader, or by
the projector.  What no execution uses any more goes with the last one that did.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, Row, Select, Table, delete, exists, func, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.schema import ARTIFACT_USES, ARTIFACTS, EXECUTIONS
from supervisor.core.executions.entities import TaskRun
from supervisor.core.flows.artifacts import (
    EXECUTION_BYTES_MAX,
    Artifact,
    ArtifactForm,
    ArtifactRef,
    references_in,
)
from supervisor.ports.clock import Clock
from supervisor.ports.flows.artifacts import ArtifactsFull
from supervisor.ports.flows.executions import ExecutionChanges

__all__ = ["SqlArtifacts", "artifact_used", "drop_artifacts", "drop_orphans", "put_uses"]

_A, _U = ARTIFACTS.c, ARTIFACT_USES.c


class SqlArtifacts:
    """Implements `ports.flows.artifacts.ArtifactStore`."""

    def __init__(
        self, database: ExecutionDatabase, clock: Clock, bytes_max: int = EXECUTION_BYTES_MAX
    ) -> None:
        """Use a database that somebody else closes and migrates; `bytes_max`: per execution."""
        self._database = database
        self._clock = clock
        self._bytes_max = bytes_max

    def put(self, execution: str, artifact: Artifact) -> None:
        """Store what a step gave; see the port."""
        ref = artifact.ref
        row = {
            "id": ref.id,
            "execution": execution,
            "at": self._clock.now(),
            "size": ref.bytes,
            "sha256": ref.sha256,
            "form": artifact.form,
            "body": artifact.body,
        }
        has = select(func.coalesce(func.sum(_A.size), 0)).where(
            _A.execution == execution, _A.id != ref.id
        )
        with self._database.writing() as connection:
            if connection.execute(has).scalar_one() + ref.bytes > self._bytes_max:
                raise ArtifactsFull
            _put(connection, ARTIFACTS, [row])

    def get(self, artifact_id: str) -> Artifact | None:
        """Return an artifact; see the port."""
        with self._database.reading() as connection:
            return _one(connection, select(ARTIFACTS).where(_A.id == artifact_id))


def artifact_used(connection: Connection, execution: str, artifact_id: str) -> Artifact | None:
    """Return an artifact that a record of an execution names, or a step of it gave."""
    uses = exists().where(_U.execution == execution, _U.artifact == artifact_id)
    mine = or_(_A.execution == execution, uses)
    return _one(connection, select(ARTIFACTS).where(_A.id == artifact_id, mine))


def put_uses(connection: Connection, changes: ExecutionChanges) -> None:
    """Note what the task runs that a batch has changed name."""
    rows = [
        {"execution": execution, "artifact": name}
        for execution, runs in changes.runs.items()
        for name in _named(changes.executions[execution].runs[run] for run in runs)
    ]
    if rows:
        _put(connection, ARTIFACT_USES, rows)


def drop_artifacts(connection: Connection, executions: Sequence[str]) -> None:
    """Delete what these executions gave or named, unless a record of another one names it."""
    named = connection.execute(select(_U.artifact).where(_U.execution.in_(executions)))
    ids = sorted(set(named.scalars()))
    connection.execute(delete(ARTIFACT_USES).where(_U.execution.in_(executions)))
    used = exists().where(_U.artifact == _A.id)
    gone = or_(_A.execution.in_(executions), _A.id.in_(ids))
    connection.execute(delete(ARTIFACTS).where(gone, ~used))


def drop_orphans(connection: Connection, before: datetime, limit: int) -> None:
    """Delete old artifacts that no record names, such as those of attempts that were lost.

    While their execution lives they stay: a result may still be on its way.
    """
    used = exists().where(_U.artifact == _A.id)
    lives = exists().where(EXECUTIONS.c.id == _A.execution, EXECUTIONS.c.ended_at.is_(None))
    some = select(_A.id).where(_A.at < before, ~used, ~lives).order_by(_A.at).limit(limit)
    ids = connection.execute(some).scalars().all()
    if ids:
        connection.execute(delete(ARTIFACTS).where(_A.id.in_(ids)))


def _named(runs: Iterable[TaskRun]) -> list[str]:
    return sorted({ref.id for run in runs for ref in references_in(run.outputs)})


def _one(connection: Connection, query: Select[tuple[object, ...]]) -> Artifact | None:
    row: Row[tuple[object, ...]] | None = connection.execute(query).one_or_none()
    if row is None:
        return None
    ref = ArtifactRef(row.id, row.size, row.sha256)
    return Artifact(ref, ArtifactForm(row.form), bytes(row.body))


def _put(connection: Connection, table: Table, rows: Sequence[Mapping[str, object]]) -> None:
    """Insert rows; one whose key is there stays as it is."""
    on_sqlite = connection.dialect.name == "sqlite"
    put = sqlite.insert(table) if on_sqlite else postgresql.insert(table)
    connection.execute(put.on_conflict_do_nothing(), rows)
