"""The checkers of tables, one after the other."""

from tests.simulation.checkers.ledger import Watched
from tests.simulation.checkers.tables.contents import (
    tables_are_what_was_published,
    tables_change_rightly,
)
from tests.simulation.checkers.tables.files import exports_keep_their_word, files_go_rightly
from tests.simulation.checkers.tables.rest import nothing_of_tables_is_left
from tests.simulation.checkers.tables.rows import read_files


def tables_after_event(world: Watched, *, committed: bool) -> list[str]:
    """Return what the last event broke; `committed`: since the last look something was."""
    if not world.tables.runs:
        return []
    ledger = world.ledger.tables
    violations: list[str] = []
    now = read_files(world.store_connection) if committed else dict(ledger.files)
    if committed:
        violations += tables_change_rightly(ledger, now, world)
        violations += exports_keep_their_word(ledger, now, world)
        ledger.files = now
    violations += files_go_rightly(ledger, now, world)
    return violations


def tables_at_end(world: Watched) -> list[str]:
    """Return what does not hold of tables at the end of a run."""
    if not world.tables.runs:
        return []
    ledger = world.ledger.tables
    return [
        *tables_are_what_was_published(ledger, ledger.files, world),
        *nothing_of_tables_is_left(ledger.files, world),
    ]
