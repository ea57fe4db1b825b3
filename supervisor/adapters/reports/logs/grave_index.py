"""SQL of the search in the warnings and errors of stored logs."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Row

from supervisor.adapters.reports.newest_first import Condition, NewestFirst, read_page
from supervisor.adapters.reports.schema import GRAVE_LINES
from supervisor.core.reports.grave import GraveLevel, GraveLine
from supervisor.database.name_patterns import matching
from supervisor.ports.reports.logs import (
    LINES_LOOKED_AT_MAX,
    GraveHit,
    GravePage,
    GravePlace,
    LogQuery,
)

__all__ = ["grave_page", "lines_listed"]

_G = GRAVE_LINES.c
_ORDER = (_G.at, _G.subject, _G.attempt, _G.offset)
_OWNERS = ("subject", "supervisor", "worker", "data_source")


def grave_page(connection: Connection, query: LogQuery, limit: int) -> GravePage:
    """Return the newest lines that match, at most `limit`."""
    listed = lines_listed(query, on_sqlite=connection.dialect.name == "sqlite")
    page = read_page(connection, listed, [*_G], limit, LINES_LOOKED_AT_MAX)
    return GravePage([_hit(row) for row in page.rows], _place(page.behind, query.subject))


def _place(behind: tuple[Any, ...] | None, subject: str | None) -> GravePlace | None:
    match behind:
        case None:
            return None
        case (at,):  # behind all lines of that time
            return GravePlace(at, "", 0, 0)
        case (at, attempt, offset):
            return GravePlace(at, subject or "", attempt, offset)
    return GravePlace(*behind)


def lines_listed(query: LogQuery, *, on_sqlite: bool) -> NewestFirst:
    """Return the list of a query, with the index that leaves the fewest rows, most likely."""
    wanted = {name: value for name in _OWNERS if (value := getattr(query, name)) is not None}
    owner = next(iter(wanted), None)
    order: Sequence[sa.Column[Any]] = _ORDER
    after: tuple[Any, ...] | None = query.after
    if owner == "subject":  # it is not twice in the index
        order = (_G.at, _G.attempt, _G.offset)
        after = None if after is None else _without_subject(after, query.subject)
    return NewestFirst(
        table=GRAVE_LINES,
        index=f"ix_grave_lines_{owner or 'newest'}",
        order=order,
        owner=None if owner is None else (_G[owner], wanted.pop(owner)),
        since=query.since,
        until=query.until,
        after=after,
        others=[
            *(_G[name] == value for name, value in wanted.items()),
            *_further(query, on_sqlite),
        ],
    )


def _without_subject(after: tuple[Any, ...], subject: str | None) -> tuple[Any, ...]:
    """Return a place in the list of one subject, behind a place in the list of all."""
    at, of, attempt, offset = after
    if of == subject:
        return at, attempt, offset
    return (at,) if subject is not None and subject > of else (at, 2**62, 0)


def _further(query: LogQuery, on_sqlite: bool) -> list[Condition]:
    conditions: list[Condition] = []
    if query.level is not None and query.level > min(GraveLevel):
        conditions.append(_G.level >= query.level.value)
    if query.text:
        # Logs are ASCII, where LIKE and ILIKE agree on letters.
        conditions.append(_G.text.icontains(query.text, autoescape=True))
    if query.tables is not None:
        any_of = [matching(_G.data_source, each, on_sqlite) for each in query.tables]
        conditions.append(sa.or_(sa.false(), *any_of))
    return conditions


def _hit(row: Row[Any]) -> GraveHit:
    place = GravePlace(row.at, row.subject, row.attempt, row.offset)
    line = GraveLine(row.offset, GraveLevel(row.level), row.text)
    return GraveHit(place, line, row.supervisor, row.data_source, row.worker)
