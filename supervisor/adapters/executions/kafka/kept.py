"""The topics as they were when executions began: kept in their database, for the next start."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.schema import LOG_TOPICS, PROJECTED
from supervisor.ports.flows.execution_log import LogTopic

__all__ = ["KeptTopic", "KeptTopics"]


@dataclass(frozen=True)
class KeptTopic:
    """A topic that entities live on.  A topic that is made anew under its name has another id."""

    of: LogTopic
    name: str
    partitions: int
    topic_id: str
    settings: Mapping[str, str] | None = None
    """What an executor asks of it, as it was then; None: a release that did not ask has kept it."""


class KeptTopics:
    """The rows of the topics; who comes first decides."""

    def __init__(self, database: ExecutionDatabase) -> None:
        """Use a database that somebody has migrated."""
        self._database = database

    def all(self) -> Mapping[LogTopic, KeptTopic]:
        """Return what is kept; nothing before the first start.

        Raises:
            StoreAway, StoreRefuses: the database.
        """
        with self._database.reading() as connection:
            rows = connection.execute(select(LOG_TOPICS)).all()
        return {
            (of := LogTopic(row.topic)): KeptTopic(
                of,
                row.name,
                row.partitions,
                row.id,
                None if row.settings is None else json.loads(row.settings),
            )
            for row in rows
        }

    def keep(self, topics: Sequence[KeptTopic]) -> None:
        """Keep the first ones; what is there stays.

        Raises:
            StoreAway, StoreRefuses: the database.
        """
        with self._database.writing() as connection:
            # Two executors that start at once both come here: the database says who was first.
            rows = _rows(topics)
            on_sqlite = connection.dialect.name == "sqlite"
            put = sqlite.insert(LOG_TOPICS) if on_sqlite else postgresql.insert(LOG_TOPICS)
            connection.execute(put.on_conflict_do_nothing(), rows)

    def replace(self, topics: Sequence[KeptTopic]) -> None:
        """Keep these and no others; projectors read them from their beginning.

        Raises:
            StoreAway, StoreRefuses: the database.
        """
        with self._database.writing() as connection:
            for table in (LOG_TOPICS, PROJECTED):
                connection.execute(delete(table))
            connection.execute(insert(LOG_TOPICS), _rows(topics))


def _rows(topics: Sequence[KeptTopic]) -> list[dict[str, object]]:
    return [
        {
            "topic": each.of,
            "name": each.name,
            "partitions": each.partitions,
            "id": each.topic_id,
            "settings": None if each.settings is None else json.dumps(dict(each.settings)),
        }
        for each in topics
    ]
