"""Pages of lists that go from the newest to the oldest, each of which looks at bounded many rows.

    one condition ──► an index: (its column, at, ...), or (at, ...) if there is none
    the others    ──► tried on the newest rows of that index alone, so many at most

The condition is written as a range with the times in it, and the rows are sorted by its column as
well: of a column that equals a value PostgreSQL ignores the order, and may walk the index of the
times, past everything that is newer.

Where a page ends for its bound alone, it ends between two times.  The last row that was looked at
may be one that the caller must not see, and what a page returns goes to the caller as a cursor.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Row

__all__ = ["NewestFirst", "RowPage", "read_page"]

Place = tuple[Any, ...]
Condition = sa.ColumnElement[bool] | sa.TextClause


@dataclass(frozen=True)
class NewestFirst:
    """A list: its index, and what is asked of its rows."""

    table: sa.Table
    index: str
    order: Sequence[sa.Column[Any]]
    """The columns of a place in the list; the first is the time."""
    owner: tuple[sa.Column[Any], str] | None = None
    """The first column of the index, and what it equals.  None: the index begins with the time."""
    of_index: Sequence[Condition] = ()
    """The condition of a partial index."""
    since: datetime | None = None
    until: datetime | None = None
    after: Place | None = None
    """Only what comes behind this place in the list."""
    others: Sequence[Condition] = ()
    """Conditions that the index does not answer."""

    def edge(self, looked_at: int) -> sa.Select[Any]:
        """Return the query of the time of the last of so many rows, before other conditions."""
        times = sa.select(self.order[0]).where(*self.of_index, *self._bounds(None))
        return self._sorted(times).offset(looked_at - 1).limit(1)

    def rows(
        self, columns: Sequence[sa.ColumnElement[Any]], limit: int, edge: Place | None = None
    ) -> sa.Select[Any]:
        """Return the query of the newest rows that meet all conditions, none behind `edge`."""
        rows = sa.select(*columns).where(*self.of_index, *self._bounds(edge), *self.others)
        return self._sorted(rows).limit(limit)

    def _sorted(self, rows: sa.Select[Any]) -> sa.Select[Any]:
        columns = [*([] if self.owner is None else [self.owner[0]]), *self.order]
        hint = f"INDEXED BY {self.index}"
        return rows.order_by(*(each.desc() for each in columns)).with_hint(
            self.table, hint, "sqlite"
        )

    def _bounds(self, edge: Place | None) -> list[Condition]:
        """Return one upper and one lower bound: of two a database may begin at the worse one."""
        upper = [(self.until,)] if self.until is not None else []
        upper += [self.after] if self.after is not None else []
        # The shorter one is less: before a time is before each place of that time.
        lower = edge or (None if self.since is None else (self.since,))
        above = self._compared(lower)
        below = self._compared(min(upper) if upper else None)
        return [
            *([] if above is None else [above[0] >= above[1]]),
            *([] if below is None else [below[0] < below[1] if upper else below[0] <= below[1]]),
        ]

    def _compared(self, place: Place | None) -> tuple[Any, Any] | None:
        """Return the columns of a bound, and its values."""
        columns, values = [*self.order[: len(place or ())]], [*(place or ())]
        if self.owner is not None:
            columns, values = [self.owner[0], *columns], [self.owner[1], *values]
        if not columns:
            return None
        literals = [sa.literal(v, c.type) for c, v in zip(columns, values, strict=True)]
        if len(columns) == 1:
            return columns[0], literals[0]
        return sa.tuple_(*columns), sa.tuple_(*literals)


@dataclass(frozen=True)
class RowPage:
    """Rows of a list, and where it goes on."""

    rows: Sequence[Row[Any]]
    behind: Place | None
    """The place of the last row; or a time alone, behind all rows of it.  None: nothing follows."""


def read_page(
    connection: Connection,
    listed: NewestFirst,
    columns: Sequence[sa.ColumnElement[Any]],
    limit: int,
    looked_at: int,
) -> RowPage:
    """Return the newest rows of a list, at most `limit`, out of the newest `looked_at`.

    Rows of the same time as the last of these are looked at, too.
    """
    edge: Place | None = None
    if listed.others and (last := connection.execute(listed.edge(looked_at)).one_or_none()):
        edge = tuple(last)
    rows = connection.execute(listed.rows(columns, limit + 1, edge)).all()
    if len(rows) <= limit:
        return RowPage(rows, edge)
    shown = rows[:limit]
    names = [column.name for column in listed.order]
    return RowPage(shown, tuple(getattr(shown[-1], name) for name in names) if shown else None)
