"""Bytes of the tables of a metadata database, their indexes included."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from supervisor.metadata.schema.tables import METADATA

_SQLITE = """\
SELECT schema.tbl_name, sum(pages.pgsize)
FROM dbstat AS pages JOIN sqlite_schema AS schema ON schema.name = pages.name
WHERE pages.aggregate = 1 GROUP BY schema.tbl_name"""


@dataclass(frozen=True)
class TableSize:
    """One table with rows: their number, and the bytes of its pages and of its indexes' pages."""

    table: str
    rows: int
    size_bytes: int

    @property
    def bytes_per_row(self) -> float:
        """Bytes by rows."""
        return self.size_bytes / self.rows


def sizes_of_sqlite(file: Path) -> list[TableSize]:
    """Return the tables of a database that have rows, largest first."""
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as connection:
        sizes = dict(connection.execute(_SQLITE).fetchall())
        tables = [table.name for table in METADATA.sorted_tables]
        rows = {name: _count(connection, name) for name in tables}
    connection.close()
    found = [TableSize(name, rows[name], sizes[name]) for name in tables if rows[name]]
    return sorted(found, key=lambda each: -each.size_bytes)


def _count(connection: sqlite3.Connection, table: str) -> int:
    counted = f'SELECT count(*) FROM "{table}"'  # noqa: S608 -- names of ours
    return int(connection.execute(counted).fetchone()[0])


def sizes_of_postgresql(url: str) -> list[TableSize]:
    """Return the tables of a database that have rows, largest first."""
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1))
    found = []
    with engine.connect() as connection:
        for table in METADATA.sorted_tables:
            size = sa.func.pg_total_relation_size(table.name)
            rows = connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
            if rows:
                size_bytes = connection.execute(sa.select(size)).scalar_one()
                found.append(TableSize(table.name, rows, size_bytes))
    engine.dispose()
    return sorted(found, key=lambda each: -each.size_bytes)
