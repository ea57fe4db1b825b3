"""The known tables: tables that a supervisor feeds, and tables with published segments."""

from collections.abc import Iterable

from supervisor.core.model.rows import SpecVersion
from supervisor.core.spec.operator_policy import taken_name
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import (
    DataSourceNotFound,
    FieldError,
    InvalidSpec,
    SpecUnreadable,
)
from supervisor.core.values.table_names import rows_table
from supervisor.ports.store import Transaction


def fed_tables(tx: Transaction) -> set[str]:
    """Return the tables that a supervisor feeds, or that have live ranges of a terminated one."""
    fed = set(tables_of(tx.specs.newest_or_unreadable()).values())
    return fed | set(tx.generations.live_tables().values())


def known_tables(tx: Transaction) -> set[str]:
    """Return every table that is fed or has segments; errors tables only if they have some."""
    return fed_tables(tx) | set(tx.segments.data_sources())


def require_table(tx: Transaction, data_source: str) -> None:
    """Return if the table is known; the errors table of a known table is known too, even if empty.

    Raises:
        DataSourceNotFound: no supervisor feeds the table, and none ever did.
    """
    if rows_table(data_source) not in known_tables(tx):
        raise DataSourceNotFound(data_source)


def name_taken(tx: Transaction, spec: SupervisorSpec) -> list[FieldError]:
    """Return the errors in the name of a new table that clashes with an existing one."""
    published = tx.segments.data_sources()
    if spec.data_source in published:  # the common case, without reading every spec
        return []
    return taken_name(spec, fed_tables(tx) | set(published))


def refuse_taken_name(tx: Transaction, spec: SupervisorSpec) -> None:
    """Refuse a spec of a new table whose name differs only in case from that of another.

    Raises:
        InvalidSpec: the message names the other table.
    """
    if errors := name_taken(tx, spec):
        raise InvalidSpec(errors)


def tables_of(newest: Iterable[SpecVersion | SpecUnreadable]) -> dict[str, str]:
    """Return supervisor -> the table that its newest spec names; tombstones are left out."""
    found = ((each.supervisor_id, _table_of(each)) for each in newest)
    return {supervisor_id: table for supervisor_id, table in found if table is not None}


def _table_of(version: SpecVersion | SpecUnreadable) -> str | None:
    named = version if isinstance(version, SpecUnreadable) else version.spec
    return None if named is None else named.data_source
