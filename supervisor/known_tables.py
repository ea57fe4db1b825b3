"""Which tables there are: those that are fed, or were published into."""

from supervisor.core.data_source import rows_table
from supervisor.ownership import tables_of
from supervisor.ports import Transaction
from supervisor.views_files import DataSourceNotFound


def fed_tables(tx: Transaction) -> set[str]:
    """Return tables that a supervisor feeds, or, terminated, still works for."""
    fed = set(tables_of(tx.specs.newest_or_unreadable()).values())
    return fed | {generation.data_source for generation in tx.generations.live()}


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
