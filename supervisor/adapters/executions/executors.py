"""The registry of executors in SQL; its times are those of the database, so clocks may differ."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, delete, func, insert, select, update

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.schema import EXECUTORS
from supervisor.core.executions.entities import Runner
from supervisor.ports.flows.executions import CallPlace
from supervisor.ports.flows.executors import IDLE, ExecutorDoing, ExecutorRow

__all__ = ["SqlExecutors"]

_TICK = timedelta(milliseconds=1)  # SQLite's clock has no finer one
_MAKES_MAX = 100
"""Calls that a row names."""


class SqlExecutors:
    """Implements `ports.flows.executors.ExecutorRegistry`."""

    def __init__(self, database: ExecutionDatabase) -> None:
        """Use a database that somebody has migrated."""
        self._database = database
        self._started: dict[Runner, datetime] = {}

    def register(self, runner: Runner, url: str, doing: ExecutorDoing = IDLE) -> None:
        """Write the row of a process that begins.

        A later life starts later than the one before it, also within one tick of the database's
        clock, or after that clock was set back: `renew` tells lives apart by it.
        """
        with self._database.writing() as connection:
            now = _now(connection)
            before = _started_at(connection, runner.name)
            started = now if before is None else max(now, before + _TICK)
            self._started[runner] = started
            _put(connection, runner, url, (started, now), doing)

    def renew(self, runner: Runner, url: str, doing: ExecutorDoing) -> bool:
        """Say that a process lives, and what it does.

        A row that is gone, or is of an earlier life, comes of a restored database: it is written
        anew.
        """
        with self._database.writing() as connection:
            now = _now(connection)
            renewed = connection.execute(
                update(EXECUTORS)
                .where(
                    EXECUTORS.c.name == runner.name,
                    EXECUTORS.c.incarnation == runner.incarnation,
                )
                .values(
                    renewed_at=now,
                    partitions=json.dumps(list(doing.partitions)),
                    doing=_written(doing),
                )
            )
            if renewed.rowcount == 1:
                return True
            started = self._started.get(runner, now)
            other = _started_at(connection, runner.name)
            if other is not None and other > started:
                return False
            _put(connection, runner, url, (started, now), doing)
        return True

    def leave(self, runner: Runner) -> None:
        """Delete the row of a process that ends."""
        with self._database.writing() as connection:
            connection.execute(
                delete(EXECUTORS).where(
                    EXECUTORS.c.name == runner.name,
                    EXECUTORS.c.incarnation == runner.incarnation,
                )
            )

    def all(self) -> Sequence[ExecutorRow]:
        """Return every row, by name."""
        with self._database.reading() as connection:
            now = _now(connection)
            rows = connection.execute(select(EXECUTORS).order_by(EXECUTORS.c.name)).all()
        return [
            ExecutorRow(
                Runner(row.name, row.incarnation),
                row.url,
                _read(row.partitions, row.doing),
                (now - row.renewed_at).total_seconds(),
            )
            for row in rows
        ]


def _written(doing: ExecutorDoing) -> str:
    makes = [
        [each.execution, each.run, each.attempt, each.look] for each in doing.makes[:_MAKES_MAX]
    ]
    return json.dumps({"makes": makes, "reason": doing.reason, "offers": [*doing.offers]})


def _read(partitions: str, doing: str) -> ExecutorDoing:
    """Return what a row says; one of an older release says less."""
    read = json.loads(doing)
    makes = [CallPlace(*each) for each in read.get("makes", ())]
    return ExecutorDoing(
        json.loads(partitions), makes, read.get("reason", ""), tuple(read.get("offers", ()))
    )


def _started_at(connection: Connection, name: str) -> datetime | None:
    """Return when the life whose row is there started."""
    started: datetime | None = connection.execute(
        select(EXECUTORS.c.started_at).where(EXECUTORS.c.name == name)
    ).scalar()
    return started


def _put(
    connection: Connection,
    runner: Runner,
    url: str,
    times: tuple[datetime, datetime],
    doing: ExecutorDoing,
) -> None:
    started, now = times
    connection.execute(delete(EXECUTORS).where(EXECUTORS.c.name == runner.name))
    connection.execute(
        insert(EXECUTORS).values(
            name=runner.name,
            incarnation=runner.incarnation,
            url=url,
            started_at=started,
            renewed_at=now,
            partitions=json.dumps(list(doing.partitions)),
            doing=_written(doing),
        )
    )


def _now(connection: Connection) -> datetime:
    """Return the time of the database."""
    if connection.dialect.name == "sqlite":
        text = connection.execute(select(func.strftime("%Y-%m-%d %H:%M:%f", "now"))).scalar_one()
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    now: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
    return now.astimezone(UTC)
