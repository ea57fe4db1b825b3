"""Which tables there are: those that are fed, or were published into."""

from supervisor.core.data_source import rows_table
from supervisor.core.errors import FieldError, InvalidSpec
from supervisor.core.spec import SupervisorSpec
from supervisor.core.spec_rules import taken_name
from supervisor.ownership import tables_of
from supervisor.ports import Transaction
from supervisor.views_files import DataSourceNotFound


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
