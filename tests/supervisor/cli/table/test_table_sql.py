"""Files whose columns have grown since: DuckDB reads their arrays as the merge writes them."""

import math
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from supervisor.cli.table.table_sql import view_of
from tasks.contract.ingest_spec import Column
from tests.supervisor.cli.table.tables import table_files

# A number -> its text, as Java writes it and whole ones without a fraction.
TEXTS = {
    2.0: "2",
    -0.0: "0",
    2.0**53: "9007199254740992",
    0.001: "0.001",
    123456.75: "123456.75",
    -9999999.5: "-9999999.5",
    10000000.5: "1.00000005E7",
    0.00025: "2.5E-4",
    -1.5e-9: "-1.5E-9",
    1e22: "1.0E22",
    1.7976931348623157e308: "1.7976931348623157E308",
    math.inf: "Infinity",
    -math.inf: "-Infinity",
    math.nan: "NaN",
}


def read(folder: Path, values: pa.Array, was: str, wanted: str) -> list[object]:
    """What a column of a file is in a table where it has another type."""
    path = folder / f"{was}.parquet"
    pq.write_table(pa.table({"a": values}), path)
    wide, had = ([Column.model_validate({"name": "a", "type": each})] for each in (wanted, was))
    table = table_files(folder, wide, [had], [(path.name, 0)], "t")
    with duckdb.connect() as connection:
        found = connection.sql(view_of(table, [str(path)], pq.read_schema).sql).fetchall()
    return [row[0] for row in found]


def test_numbers_in_arrays_have_one_text(tmp_path: Path) -> None:
    doubles = pa.array([[*TEXTS, None], [], None], pa.list_(pa.float64()))
    longs = pa.array([[1, None, 2**53 + 1], []], pa.list_(pa.int64()))

    assert read(tmp_path, doubles, "array<double>", "array<string>") == [
        [*TEXTS.values(), None],
        [],
        None,
    ]
    assert read(tmp_path, longs, "array<long>", "array<string>") == [
        ["1", None, "9007199254740993"],
        [],
    ]


def test_numbers_of_a_declared_column_are_their_texts(tmp_path: Path) -> None:
    """Goal: as a compaction writes them, so that it changes no answer."""
    doubles = pa.array([*TEXTS, None], pa.float64())

    assert read(tmp_path, doubles, "double", "string") == [*TEXTS.values(), None]
    assert read(tmp_path, pa.array([0.5, 2.0], pa.float32()), "float", "string") == ["0.5", "2"]
    assert read(tmp_path, pa.array([2**53 + 1, None]), "long", "string") == [str(2**53 + 1), None]


def test_arrays_become_lists_of_doubles_and_json_of_texts(tmp_path: Path) -> None:
    longs = pa.array([[1, None], [], None], pa.list_(pa.int64()))
    doubles = pa.array([[0.5, 2.0]], pa.list_(pa.float64()))
    texts = pa.array([['a "b"', None], []], pa.list_(pa.string()))

    assert read(tmp_path, longs, "array<long>", "array<double>") == [[1.0, None], [], None]
    assert read(tmp_path, longs, "array<long>", "json") == ['["1",null]', "[]", None]
    assert read(tmp_path, doubles, "array<double>", "json") == ['["0.5","2"]']
    assert read(tmp_path, texts, "array<string>", "json") == ['["a \\"b\\"",null]', "[]"]
