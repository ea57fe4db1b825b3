"""A path given to DuckDB is that file's and no other's."""

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from supervisor.core.tables.path_patterns import pattern_of


@pytest.mark.parametrize(
    ("name", "beside"),
    [("w[1]", "w1"), ("a*b", "axb"), ("a?b", "axb"), ("a]!^-", "a]"), ("p", "q")],
)
def test_a_folder_whose_name_is_a_pattern_stands_for_itself(
    tmp_path: Path, name: str, beside: str
) -> None:
    for number, folder in enumerate((name, beside)):
        (tmp_path / folder).mkdir()
        pq.write_table(pa.table({"n": [number]}), tmp_path / folder / "part.parquet")

    rows = duckdb.read_parquet(pattern_of(str(tmp_path / name / "part.parquet"))).fetchall()

    assert rows == [(0,)]
