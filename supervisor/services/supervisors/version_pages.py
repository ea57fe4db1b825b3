"""Pages of the stored versions of specs, newest first, bounded in number and in bytes.

Versions are read one at a time: only those of the page are ever in memory.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

from supervisor.core.history.version_facts import version_facts
from supervisor.core.model.rows import SpecVersion
from supervisor.core.planning.preconditions import AnyVersion, is_ended
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import (
    VERSIONS_SHOWN_MAX,
    NoHistory,
    SpecUnreadable,
    SupervisorNotFound,
    VersionNotFound,
)
from supervisor.core.values.page_cursors import read_cursor, write_cursor
from supervisor.ports.store import Store, Transaction
from supervisor.views.supervisors.specs import HistoryRow, VersionLines, version_lines
from tasks.contract.wire import iso_utc

COUNT = 100
"""Versions of a page, unless its caller asks for another number."""
SIZE_BYTES_MAX = 8 * 1024 * 1024
"""The size of a page as JSON, beyond which a page has one version."""
COUNT_OF_EACH = 10
SIZE_BYTES_OF_EACH = 1024 * 1024
"""The bounds of each supervisor's versions in a page of all supervisors."""


@dataclass(frozen=True)
class PageBounds:
    """The bounds of a page; it has at least one version."""

    count: int = COUNT
    size_bytes: int = SIZE_BYTES_MAX


@dataclass
class VersionPage:
    """Some versions of one spec, newest first."""

    rows: list[HistoryRow] = field(default_factory=list)
    size_bytes: int = 0
    before: int | None = None
    """The next page has the versions before this number; None: there is none."""


@dataclass(frozen=True)
class AllVersionsPage:
    """Some versions of some specs, by id."""

    pages: dict[str, list[HistoryRow]]
    after: str | None
    """The next page has the ids after this one; None: there is none."""


MayRead = Callable[[str | None], bool]
"""Whether the caller may read a table; None: a table that is not known any more."""


def version_page(
    store: Store,
    supervisor_id: str,
    may_read: MayRead,
    *,
    before: int | None = None,
    bounds: PageBounds = PageBounds(),
) -> VersionPage:
    """Return the newest versions whose number is below `before`, as far as the caller may read.

    Raises:
        NoHistory: the id was never used.
        SpecUnreadable: this release cannot read the first version of the page.
    """
    with store.reading() as tx:
        if tx.specs.newest_stored(supervisor_id) is None:
            raise NoHistory(supervisor_id)
        return _page(tx, supervisor_id, may_read, before, bounds)


def all_versions_page(
    store: Store, may_read: MayRead, *, after: str | None = None, count: int = COUNT_OF_EACH
) -> AllVersionsPage:
    """Return the newest versions of ids after `after`, without ids that this release cannot read.

    Terminated supervisors are included.
    """
    pages: dict[str, list[HistoryRow]] = {}
    bounds, size_bytes, last = PageBounds(count, SIZE_BYTES_OF_EACH), 0, None
    with store.reading() as tx:
        for supervisor_id in sorted(each.supervisor_id for each in tx.specs.heads()):
            if after is not None and supervisor_id <= after:
                continue
            if size_bytes > SIZE_BYTES_MAX:
                return AllVersionsPage(pages, last)
            with suppress(SpecUnreadable):  # a request for this id reports the error
                page = _page(tx, supervisor_id, may_read, None, bounds)
                size_bytes += page.size_bytes
                if page.rows:
                    pages[supervisor_id] = page.rows
            last = supervisor_id
    return AllVersionsPage(pages, None)


def version_lines_page(
    store: Store, supervisor_id: str, may_read: MayRead, limit: int, cursor: str | None = None
) -> VersionLines:
    """Return the newest versions without their specs, as far as the caller may read.

    The versions of a page are read in one query, with the one before the last, to compare.

    Raises:
        SupervisorNotFound: the id was never used.
        BadCursor: the cursor does not belong to this list.
    """
    name = f"versions {supervisor_id}"
    with store.reading() as tx:
        newest = tx.specs.newest_stored(supervisor_id)
        if newest is None:
            raise SupervisorNotFound(supervisor_id)
        place = read_cursor(name, cursor)
        first = newest.version if place is None else min(place - 1, newest.version)
        numbers = range(first, max(0, first - limit), -1)
        wanted = [(supervisor_id, number) for number in (*numbers, first - limit) if number > 0]
        stored = {n: each for (_, n), each in tx.specs.versions(wanted).items()}
        operations = tx.operations.of_versions(supervisor_id, numbers)
    facts = [
        version_facts(stored[n], stored.get(n - 1), operations.get(n))
        for n in numbers
        if n in stored and may_read(_table_of(stored[n], stored.get(n - 1)))
    ]
    more = first - limit in stored
    following = write_cursor(name, first - limit + 1) if more else None
    return version_lines(supervisor_id, facts, following)


def _table_of(version: AnyVersion, before: AnyVersion | None) -> str | None:
    """Return the table of a version; a tombstone's is that of the version which it ended."""
    if not isinstance(version, SpecVersion):
        return version.data_source
    if version.spec is not None:
        return version.spec.data_source
    return None if before is None or is_ended(before) else _table_of(before, None)


def spec_of(tx: Transaction, supervisor_id: str, number: int) -> SupervisorSpec:
    """Return the spec of one version.

    Raises:
        NoHistory: the id was never used.
        VersionNotFound: there is no such version, or it is a tombstone.
        SpecUnreadable: this release cannot read it.
    """
    version = tx.specs.version(supervisor_id, number)
    if version is not None and version.spec is not None:
        return version.spec
    if tx.specs.newest_stored(supervisor_id) is None:
        raise NoHistory(supervisor_id)
    known = newest_with_a_spec(tx, supervisor_id, VERSIONS_SHOWN_MAX)
    raise VersionNotFound(supervisor_id, number, known, is_tombstone=version is not None)


def newest_with_a_spec(tx: Transaction, supervisor_id: str, limit: int) -> list[int]:
    """Return the numbers of the newest versions with a spec that can be read here, ascending."""
    with_one = (
        each.version
        for each in _stored(tx, supervisor_id)
        if isinstance(each, SpecVersion) and each.spec is not None
    )
    return sorted(islice(with_one, limit))


def _stored(
    tx: Transaction, supervisor_id: str, before: int | None = None
) -> Iterator[SpecVersion | SpecUnreadable]:
    """Yield the versions whose number is below `before`, newest first, one in memory at a time.

    Numbers have no gaps: a forgotten supervisor loses its oldest versions.
    """
    newest = tx.specs.newest_stored(supervisor_id)
    number = 0 if newest is None else newest.version
    if before is not None:
        number = min(number, before - 1)
    while number > 0:
        try:
            version = tx.specs.version(supervisor_id, number)
        except SpecUnreadable as error:
            yield error
        else:
            if version is None:
                return
            yield version
        number -= 1


def _page(
    tx: Transaction, supervisor_id: str, may_read: MayRead, before: int | None, bounds: PageBounds
) -> VersionPage:
    page = VersionPage()
    try:
        for version, table in _with_tables(_stored(tx, supervisor_id, before)):
            if not may_read(table):
                continue
            row = _row(version, table)
            size_bytes = len(json.dumps(row.spec))
            full = len(page.rows) == bounds.count
            if page.rows and (full or page.size_bytes + size_bytes > bounds.size_bytes):
                page.before = page.rows[-1].version_number
                return page
            page.rows.append(row)
            page.size_bytes += size_bytes
    except SpecUnreadable:
        if not page.rows:
            raise
        page.before = page.rows[-1].version_number
    return page


def _with_tables(
    versions: Iterator[SpecVersion | SpecUnreadable],
) -> Iterator[tuple[SpecVersion, str | None]]:
    """Yield each version with its table; a tombstone's is that of the version which it ended.

    Raises:
        SpecUnreadable: this release cannot read the next version.
    """
    tombstones: list[SpecVersion] = []
    for version in versions:
        if isinstance(version, SpecUnreadable):
            raise version
        if version.spec is None:
            tombstones.append(version)
            continue
        for tombstone in tombstones:
            yield tombstone, version.spec.data_source
        tombstones.clear()
        yield version, version.spec.data_source
    for tombstone in tombstones:
        yield tombstone, None


def _row(version: SpecVersion, table: str | None) -> HistoryRow:
    spec = _tombstone(table) if version.spec is None else version.spec.normalised()
    return HistoryRow(
        spec=spec, version=iso_utc(version.created_at), version_number=version.version
    )


def _tombstone(table: str | None) -> dict[str, object]:
    """Return Druid's NoopSupervisorSpec of a table."""
    return {
        "type": "noop",
        "id": None,
        "dataSources": [] if table is None else [table],
        "suspended": False,
        "source": "noop",
    }
