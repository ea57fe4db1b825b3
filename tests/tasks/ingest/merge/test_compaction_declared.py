"""Compaction of a declared column that held texts before and holds numbers now."""

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from supervisor.cli.table.table_sql import view_of
from tasks.contract.messages import CompactionInput, DesiredCompaction
from tasks.ingest.engine import SparkEngine
from tasks.rows.discovery import common
from tests.supervisor.cli.table.tables import table_files
from tests.supervisor.cli.table.test_table_sql import TEXTS
from tests.tasks.ingest.merge.compactions import NOON, order_of, published, rows_in

pytestmark = pytest.mark.spark


def test_numbers_become_their_texts_and_texts_stay(engine: SparkEngine, tmp_path: Path) -> None:
    """Goal: `tidegate query` shows before the compaction what it shows after it."""
    doubles: list[object] = list(TEXTS)
    longs: list[object] = [7, 2**53 + 1, -1]
    texts: list[object] = ["a", "5", "", None, '"q"']
    kinds: tuple[tuple[str, list[object]], ...] = (
        ("double", doubles),
        ("long", longs),
        ("float", [0.5, 2.0]),
        ("string", texts),
    )
    inputs = []
    for number, (kind, values) in enumerate(kinds):
        rows = [
            {"__time": NOON, "v": value, "__partition": number, "__offset": at}
            for at, value in enumerate(values)
        ]
        inputs.append(published(tmp_path, number, rows, {"v": kind}))
    order = order_of(*inputs)
    columns = common((some.columns for some in inputs), declared={"v"})
    order = order.model_copy(update={"columns": columns})
    before = _queried(tmp_path, order, inputs)

    file = engine.compact(order)

    values_by_place = {(r["__partition"], r["__offset"]): r["v"] for r in rows_in(tmp_path, file)}
    wanted = [*TEXTS.values(), *map(str, longs), "0.5", "2", *texts]
    assert values_by_place == before
    assert sorted(map(str, values_by_place.values())) == sorted(map(str, wanted))
    assert pq.read_schema(tmp_path / file.path).field("v").type == pa.string()


def _queried(
    root: Path, order: DesiredCompaction, inputs: list[CompactionInput]
) -> dict[tuple[object, object], object]:
    """What `tidegate query` shows: place -> value."""
    files = ((each.file.path, number) for number, each in enumerate(inputs))
    table = table_files(root, order.columns, [each.columns for each in inputs], files)
    view = view_of(table, [str(root / i.file.path) for i in inputs], pq.read_schema)
    with duckdb.connect() as connection:
        rows = connection.sql(f"SELECT __partition, __offset, v FROM ({view.sql})").fetchall()  # noqa: S608 -- a test's own
    return {(partition, offset): value for partition, offset, value in rows}
