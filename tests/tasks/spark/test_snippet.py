"""The code that people are given to read a table with Spark, in a real one."""

import runpy
from collections import Counter
from functools import partial, reduce
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from supervisor.core.tables.snippets import Reader, snippet
from tasks.spark.session import SparkRuntime
from tests.sqlite_memory import SqliteInMemory
from tests.supervisor.adapters.tables.readers_table import (
    FILES,
    ODD,
    Filter,
    filters,
    rows_of,
    shelf,
)
from tests.supervisor.chores.exports.exports import Extra, Harbour, ids_in
from tests.supervisor.chores.exports.test_exporting import more, whole
from tests.supervisor.cli.overlord import Reply, overlord


@pytest.mark.spark
def test_the_snippet_for_spark_keeps_names_apart_that_differ_in_case_only(
    tmp_path: Path, spark: SparkRuntime
) -> None:
    """Goal: no value under another field's name, in one file or in two."""
    harbour = Harbour(SqliteInMemory(), tmp_path / "warehouse")
    for fields in ({"userId": "1"}, {"userid": "2"}, {"userId": "3", "USERID": "x"}):
        held = {name: pa.array([value] * 2) for name, value in fields.items()}
        harbour.publish_range(1, extra=partial(_same, held))
    before = spark.session.conf.get("spark.sql.caseSensitive", "false") or "false"
    spark.session.conf.set("spark.sql.caseSensitive", "false")  # what it is unless somebody sets it
    try:
        rows = _read(harbour, tmp_path)
        rows.write.parquet(str(tmp_path / "read"))
    finally:
        spark.session.conf.set("spark.sql.caseSensitive", before)

    read = parquet.read_table(tmp_path / "read").select(["userId", "userid", "USERID"])
    assert {tuple(row.values()) for row in read.to_pylist()} == {
        ("1", None, None),
        (None, "2", None),
        ("3", None, "x"),
    }


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_the_snippet_for_spark_reads_exactly_the_published_rows(tmp_path: Path) -> None:
    """Goal: also where files have different columns, and one beside them is not published."""
    harbour = Harbour(SqliteInMemory(), tmp_path / "ware[house]{1,2}*?\\")
    gone = harbour.publish_range()
    harbour.publish_range(extra=more)
    harbour.publish_range(extra=whole)
    harbour.mark(gone, used=False)
    published = harbour.published()
    rows = _read(harbour, tmp_path)

    # Not collected: PySpark leaves the socket of a result open.
    rows.write.parquet(str(tmp_path / "read"))
    read = parquet.read_table(tmp_path / "read")
    assert ids_in(read) == sum(published.values(), Counter())
    assert sorted(set(read["score"].to_pylist())) == [1.5, 7.0]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_filter_finds_its_rows_through_the_snippet_for_spark(tmp_path: Path) -> None:
    """Goal: on each type of column, also with odd names and where files lack the column."""
    wanted = [f for f in filters() if f.op == "in" or (f.op == "null" and f.column not in ODD)]
    with shelf(tmp_path / "warehouse") as table:
        for number in FILES:
            table.publish(f"data/t{number}/part.parquet", rows_of(number))
        rows = table.rows(Reader.SPARK)
    parts = [
        rows.filter(_condition(each)).select(fn.lit(number).alias("n"), "__offset")
        for number, each in enumerate(wanted)
    ]
    reduce(DataFrame.union, parts).coalesce(1).write.parquet(str(tmp_path / "read"))

    read = parquet.read_table(tmp_path / "read").to_pylist()
    found = [{row["__offset"] for row in read if row["n"] == n} for n in range(len(wanted))]
    assert found == [each.wanted() for each in wanted]


def _condition(wanted: Filter) -> SparkColumn:
    column = fn.col(f"`{wanted.column.replace('`', '``')}`")
    return column.isNull() if wanted.op == "null" else column.isin(list(wanted.value))


def _same(columns: Extra, _: int) -> Extra:
    return columns


def _read(harbour: Harbour, folder: Path) -> DataFrame:
    """What the snippet reads."""
    code = folder / "read.py"
    with overlord() as server:
        files = [
            {"uri": str(harbour.root / path), "columnSet": number}
            for number, path in enumerate(harbour.published())
        ]
        server.on("GET", "/api/v1/datasources/clicks/files", Reply({"files": files}))
        code.write_text(snippet(Reader.SPARK, "clicks", server.url, warehouse=str(harbour.root)))
        found = runpy.run_path(str(code))["rows"]
    assert isinstance(found, DataFrame)
    return found
