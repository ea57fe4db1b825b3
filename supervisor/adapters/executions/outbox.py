"""Letters in the database of executions until they are on the topics."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.schema import OUTBOX
from supervisor.ports.flows.executions import OutboxLetter
from supervisor.ports.flows.outbox import StoredLetter

__all__ = ["SqlOutbox", "put_letters", "unsent_since"]

_O = OUTBOX.c


def put_letters(connection: Connection, letters: Sequence[OutboxLetter]) -> None:
    """Store letters in the transaction of what they belong to."""
    rows = [{"entity": each.entity, "body": each.body.decode(), "at": each.at} for each in letters]
    if rows:
        connection.execute(insert(OUTBOX), rows)


def unsent_since(connection: Connection, execution_id: str | None) -> datetime | None:
    """Return the time of the first letter, about one execution or any; None: there is none."""
    query = select(_O.at).order_by(_O.number).limit(1)
    if execution_id is not None:
        query = query.where(_O.entity == execution_id)
    first: datetime | None = connection.execute(query).scalar()
    return first


class SqlOutbox:
    """Implements `ports.flows.outbox.LetterOutbox`; safe to use from many threads."""

    def __init__(self, database: ExecutionDatabase) -> None:
        """Use a database that somebody else closes."""
        self._database = database

    def first(self, limit: int) -> Sequence[StoredLetter]:
        """Return those that wait longest."""
        query = select(_O.number, _O.entity, _O.body).order_by(_O.number).limit(limit)
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
        return [StoredLetter(row.number, row.entity, row.body.encode()) for row in rows]

    def drop_to(self, number: int) -> None:
        """Delete what is on the topics."""
        with self._database.writing() as connection:
            connection.execute(delete(OUTBOX).where(_O.number <= number))
