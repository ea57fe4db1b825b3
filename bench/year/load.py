"""Fills a metadata database with a fleet and its history, by bulk inserts through the schema.

rows of the chronicle, hour by hour ──► bulk inserts
live ranges and their tasks ──► the product's own repositories
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy import Connection, Engine, Table, delete, insert, select

from bench.year.bounded import (
    happening_rows,
    lag_rows,
    opening_of,
    plan_rows,
    standing_rows,
)
from bench.year.chronicle import Chronicle, token_of
from bench.year.queues import queue_rows
from bench.year.rows import INCARNATION, Row, compaction_rows, rows_of
from bench.year.shape import COMPACTED_AFTER
from supervisor.control.leadership import Leadership
from supervisor.core.model.rows import Task, TaskStatus
from supervisor.database.column_types import UtcTime
from supervisor.metadata.schema.column_types import AnyOf, MaskedText, OneOf
from supervisor.metadata.schema.history import happening_counter
from supervisor.metadata.schema.tables import METADATA
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Transaction

_Bind: TypeAlias = Callable[[Any], object]
_ROWS_AT_ONCE = 50_000
_SUPERVISORS_AT_ONCE = 50
_ORDER = {table.name: number for number, table in enumerate(METADATA.sorted_tables)}


class _Bulk:
    """Collects rows and inserts them table by table, parents first.

    Values are bound by the processors of their columns' types, once for equal times and texts:
    SQLAlchemy's own executemany takes three times as long.
    """

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._rows: dict[Table, list[tuple[object, ...]]] = {}
        self._binders: dict[Table, list[tuple[str, _Bind | None]]] = {}
        self._collected = 0

    def add(self, table: Table, row: Row) -> None:
        binders = self._binders.get(table)
        if binders is None:
            binders = self._binders[table] = [*_binders(table, row, self._db.dialect)]
        values = tuple(row[name] if bind is None else bind(row[name]) for name, bind in binders)
        self._rows.setdefault(table, []).append(values)
        self._collected += 1
        if self._collected >= _ROWS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        for table in sorted(self._rows, key=lambda each: _ORDER[each.name]):
            names = [name for name, _ in self._binders[table]]
            compiled = insert(table).values(dict.fromkeys(names)).compile(dialect=self._db.dialect)
            order = compiled.positiontup or names
            assert order == names, f"{table.name}: {order} are bound, {names} are given"
            self._db.exec_driver_sql(str(compiled), self._rows[table])
        self._rows, self._collected = {}, 0


def _binders(table: Table, row: Row, dialect: sa.Dialect) -> Iterator[tuple[str, _Bind | None]]:
    for column in table.c:
        if column.name in row:
            bind = column.type.dialect_impl(dialect).bind_processor(dialect)
            often = isinstance(column.type, (UtcTime, OneOf, AnyOf, MaskedText))
            yield column.name, lru_cache(4_096)(bind) if bind is not None and often else bind


def load(url: str, chronicle: Chronicle) -> None:
    """Insert the history of a fleet into a migrated, empty database."""
    engine = _fast(url)
    try:
        with engine.begin() as connection:
            connection.execute(delete(happening_counter))
            bulk = _Bulk(connection)
            for table, row in chain(
                standing_rows(chronicle),
                _history(chronicle),
                plan_rows(chronicle),
                happening_rows(chronicle),
                lag_rows(chronicle),
                queue_rows(chronicle),
            ):
                bulk.add(table, row)
            bulk.flush()
            _follow_given_ids(connection)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            # SQLite's statistics are the product's own: `SqlStore.optimize`.
            sqlite = engine.dialect.name == "sqlite"
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)" if sqlite else "ANALYZE")
    finally:
        engine.dispose()


def _history(chronicle: Chronicle) -> Iterator[tuple[Table, Row]]:
    """Yield the rows of all ranges and compactions in the order of time."""
    shape = chronicle.shape
    for number in range(shape.ranges + 1):
        for supervisor in range(shape.supervisors):
            past = chronicle.compaction(supervisor, number - COMPACTED_AFTER)
            if past is not None:
                yield from compaction_rows(past, chronicle)
            for group in range(shape.groups if number < shape.ranges else 0):
                yield from rows_of(chronicle.range(supervisor, group, number), chronicle)


def begin_live(store: SqlStore, leadership: Leadership, chronicle: Chronicle) -> list[Task]:
    """Open the live range of each group and start its tasks; return these."""
    tasks: list[Task] = []
    supervisors = range(chronicle.shape.supervisors)
    for first in range(0, len(supervisors), _SUPERVISORS_AT_ONCE):
        with store.leading(leadership.term()) as tx:
            for supervisor in supervisors[first : first + _SUPERVISORS_AT_ONCE]:
                tasks += _begin(tx, chronicle, supervisor)
    return tasks


def _begin(tx: Transaction, chronicle: Chronicle, supervisor: int) -> Iterator[Task]:
    name, number, now = chronicle.names[supervisor], chronicle.shape.ranges, chronicle.now
    for group in range(chronicle.shape.groups):
        opening = opening_of(chronicle, supervisor, group, number)
        assert tx.generations.open(name, name, opening, now)
        for replica in range(chronicle.shape.replicas):
            task = live_task(chronicle, (supervisor, group, replica), number, now)
            assert tx.tasks.start(task)
            yield task


def live_task(
    chronicle: Chronicle, place: tuple[int, int, int], number: int, now: datetime
) -> Task:
    """Return the running task of a replica; `place`: supervisor, group and replica."""
    supervisor, group, replica = place
    name = chronicle.names[supervisor]
    task_id = chronicle.task_id(supervisor, group, number, replica)
    return Task(
        id=task_id,
        supervisor_id=name,
        data_source=name,
        generation_id=f"{name}:{chronicle.ordinal(group, number)}",
        replica=replica,
        attempt=1,
        worker_id=chronicle.worker(supervisor, group, replica),
        incarnation=INCARNATION,
        token=token_of(task_id),
        status=TaskStatus.RUNNING,
        created_at=now,
    )


def _fast(url: str) -> Engine:
    """Return an engine that waits for no disk; on SQLite with a cache for the random keys."""
    if url.startswith("postgresql://"):
        return sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1))
    engine = sa.create_engine(url)

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: object, _: object) -> None:
        for pragma in ("synchronous = OFF", "cache_size = -1000000", "temp_store = MEMORY"):
            connection.execute(f"PRAGMA {pragma}")  # type: ignore[attr-defined]  # sqlite3

    return engine


def _follow_given_ids(connection: Connection) -> None:
    """Let PostgreSQL's own numbers go on behind the ids that were given."""
    if connection.dialect.name != "postgresql":
        return
    for table in METADATA.sorted_tables:
        for column in table.primary_key:
            sequence = sa.func.pg_get_serial_sequence(table.name, column.name)
            name = connection.execute(select(sequence)).scalar_one()
            if name is not None and table.autoincrement_column is column:
                highest = select(sa.func.coalesce(sa.func.max(column), 0) + 1)
                number = connection.execute(highest).scalar_one()
                connection.execute(select(sa.func.setval(name, number, False)))
