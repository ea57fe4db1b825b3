"""Which tables there are: those that are fed, or were published into."""

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
    """Return tables that a supervisor feeds, or, terminated, still works for."""
    fed = set(tables_of(tx.specs.newest_or_unreadable()).values())
    return fed | set(tx.generations.live_tables().values())


def known_tables(tx: Transaction) -> set[str]:
    """Return every table that is fed, or was published into; of errors, those that hold some."""
    return fed_tables(tx) | set(tx.segments.data_sources())


def require_table(tx: Transaction, data_source: str) -> None:
    """Return if there is such a table; beside each stands one for errors, though it be empty.

    Raises:
        DataSourceNotFound: nobody feeds it, and nobody did.
    """
    if rows_table(data_source) not in known_tables(tx):
        raise DataSourceNotFound(data_source)


def name_taken(tx: Transaction, spec: SupervisorSpec) -> list[FieldError]:
    """Return what is wrong with the name of a new table beside those that there are."""
    published = tx.segments.data_sources()
    if spec.data_source in published:  # most calls: not every spec has to be read for them
        return []
    return taken_name(spec, fed_tables(tx) | set(published))


def refuse_taken_name(tx: Transaction, spec: SupervisorSpec) -> None:
    """Refuse a spec of a new table whose name differs in case only from that of another.

    Raises:
        InvalidSpec: naming that table.
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
