"""The rows of exports, alike on SQLite and on PostgreSQL."""

from dataclasses import replace

from supervisor.core.tables.exports import Export, ExportVersion
from supervisor.core.values.export_formats import ExportFormat
from tests.conformance.stories import HOUR, NOON, Leader

DELTA, ICEBERG = ExportFormat.DELTA, ExportFormat.ICEBERG
ROW = Export("table", DELTA, enabled=True)


def test_a_row_is_kept_as_it_was_put(leader: Leader) -> None:
    full = Export(
        "table",
        DELTA,
        enabled=False,
        sequence=2**40,
        standing=ExportVersion(2**33, "table/metadata/x.json"),
        exported_at=NOON,
        problem="column a is two things",
        behind_since=NOON - HOUR,
    )
    for row in (ROW, full, replace(full, standing=ExportVersion(), behind_since=None)):
        with leader.writes() as tx:
            tx.exports.put(row)
            assert tx.exports.get("table", DELTA) == row
        with leader.reads() as tx:
            assert tx.exports.get("table", DELTA) == row
            assert tx.exports.get("table", ICEBERG) is None


def test_rows_are_listed_by_table_and_format(leader: Leader) -> None:
    rows = [
        replace(ROW, data_source=name, format=f) for name in ("b", "B", "a") for f in ExportFormat
    ]
    with leader.writes() as tx:
        for row in reversed(rows):
            tx.exports.put(row)
    with leader.reads() as tx:
        assert tx.exports.all() == [*rows[2:4], *rows[4:], *rows[:2]]
        assert tx.exports.of("a") == rows[4:]
        assert tx.exports.of("c") == []
