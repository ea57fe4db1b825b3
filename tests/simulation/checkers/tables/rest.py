"""T4: what is left of the life of tables once all faults are over and the quiet has passed."""

from collections.abc import Iterator, Mapping

from tests.simulation.checkers.ledger import Watched
from tests.simulation.checkers.tables.files import differences
from tests.simulation.checkers.tables.rows import TableFile

_LEFT = {
    "compactions still run": "SELECT count(*) FROM compactions WHERE ended_at IS NULL",
    "events of tables wait": (
        "SELECT coalesce(sum(next_seq - 1 - processed_seq), 0) FROM event_queues q"
        " JOIN event_positions p ON p.queue_id = q.id"
        " WHERE q.name IN ('segments', 'segment-files') OR q.name LIKE 'export-%'"
    ),
    "events of tables were set aside": (
        "SELECT count(*) FROM events_failed JOIN event_queues q ON q.id = queue_id"
        " WHERE q.name IN ('segments', 'segment-files') OR q.name LIKE 'export-%'"
    ),
    "queues are dead": "SELECT count(*) FROM event_positions WHERE state <> 'LIVE'",
}


def nothing_of_tables_is_left(now: Mapping[str, TableFile], world: Watched) -> Iterator[str]:
    """Every file that left its table is gone, every export equals its table."""
    for what, query in _LEFT.items():
        if number := world.store_connection.execute(query).fetchone()[0]:
            yield f"T4 {number} {what}"
    for file in now.values():
        there = world.warehouse.rows(file.path) is not None
        if not file.used and (there or file.deleted_at is None):
            yield f"T4 {file.path} has left {file.table} and is still there"
    enabled = "SELECT data_source, format FROM exports WHERE enabled ORDER BY 1, 2"
    for table, name in world.store_connection.execute(enabled).fetchall():
        export = (table, name)
        yield from differences(export, now, world.tables.exported().get(export, ()))
