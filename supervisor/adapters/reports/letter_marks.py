"""What people did with dead letters: a row for each letter that somebody replayed or dropped."""

from collections.abc import Collection, Mapping

from sqlalchemy import Table, and_, func, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from supervisor.adapters.reports.schema import LETTER_MARKS
from supervisor.adapters.side.database import SideDatabase
from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.kept_letters import (
    LetterExtent,
    LetterMark,
    LetterPlace,
    LetterVerb,
)

__all__ = ["SqlLetterMarks"]

_KEY = ("source", "partition", "offset")


class SqlLetterMarks:
    """Implements `ports.reports.kept_letters.LetterMarks`."""

    def __init__(self, database: SideDatabase, table: Table = LETTER_MARKS) -> None:
        """Use a table like `LETTER_MARKS`; somebody else closes `database`."""
        self._database = database
        self._table = table

    def of(self, source: str, places: Collection[LetterPlace]) -> Mapping[LetterPlace, LetterMark]:
        """Return the marks of letters; see the port."""
        if not places:
            return {}
        columns = self._table.c
        wanted = [
            and_(columns.partition == each.partition, columns.offset == each.offset)
            for each in places
        ]
        query = select(self._table).where(columns.source == source, or_(*wanted))
        with self._database.reading() as connection:
            rows = connection.execute(query).mappings().all()
        return {
            LetterPlace(row["partition"], row["offset"]): LetterMark(
                verb=LetterVerb(row["verb"]),
                outcome=None if row["outcome"] is None else StoreOutcome(row["outcome"]),
                detail=row["detail"],
                by=row["by"],
                reason=row["reason"],
                at=row["at"],
                digest=bytes(row["digest"]),
            )
            for row in rows
        }

    def note(self, source: str, place: LetterPlace, mark: LetterMark) -> None:
        """Note what was done; see the port."""
        values = {
            "digest": mark.digest,
            "verb": mark.verb.value,
            "outcome": None if mark.outcome is None else mark.outcome.value,
            "detail": mark.detail,
            "by": mark.by,
            "reason": mark.reason,
            "at": mark.at,
        }
        key = {"source": source, "partition": place.partition, "offset": place.offset}
        dialect = sqlite if self._database.on_sqlite else postgresql
        insert = dialect.insert(self._table).values(**key, **values)
        with self._database.writing() as connection:
            connection.execute(insert.on_conflict_do_update(index_elements=_KEY, set_=values))

    def handled(self, source: str, extents: Collection[LetterExtent]) -> int:
        """Return how many letters are handled; see the port."""
        columns = self._table.c
        done = or_(columns.outcome.is_(None), columns.outcome != StoreOutcome.REJECTED.value)
        number = 0
        with self._database.reading() as connection:
            for each in extents:
                within = (columns.partition == each.partition, columns.offset >= each.first)
                query = select(func.count()).where(columns.source == source, *within, done)
                number += connection.execute(query).scalar_one()
        return number
