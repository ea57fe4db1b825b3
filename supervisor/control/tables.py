"""The known tables: tables that a supervisor feeds, and tables with published segments."""

from supervisor.core.spec.operator_policy import taken_name
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import (
    DataSourceNotFound,
    FieldError,
    InvalidSpec,
)
from supervisor.core.values.table_names import rows_table
from supervisor.ports.store import Transaction


def fed_tables(tx: Transaction) -> set[str]:
    """Return the tables that a supervisor feeds, or that have live ranges of a terminated one."""
    return {*tables_by_supervisor(tx).values(), *tx.generations.live_tables().values()}


def known_tables(tx: Transaction) -> set[str]:
    """Return every table that is fed or has segments; errors tables only if they have some."""
    return fed_tables(tx) | set(tx.segments.data_sources())


def require_table(tx: Transaction, data_source: str) -> None:
    """Return if the table is known; the errors table of a known table is known too, even if empty.

    Raises:
        DataSourceNotFound: no supervisor feeds the table, and none ever did.
    """
    table = rows_table(data_source)
    if table not in fed_tables(tx) and table not in tx.segments.data_sources():
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


def tables_by_supervisor(tx: Transaction) -> dict[str, str]:
    """Return supervisor -> the table that its newest spec names; tombstones are left out."""
    return {each: table for each, table in tx.specs.tables().items() if table is not None}
