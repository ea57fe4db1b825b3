"""The code that people are given to read a table with Spark, in a real one."""

import runpy
from collections import Counter
from pathlib import Path

import pytest
from pyarrow import parquet

from supervisor.adapters.memory import MemoryStore
from supervisor.core.snippets import Reader, snippet
from tests.cli.overlord import Reply, overlord
from tests.service.exports import Harbour, ids_in
from tests.service.test_exporting import more, whole


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_the_snippet_for_spark_reads_exactly_the_published_rows(tmp_path: Path) -> None:
    """Goal: also where files have different columns, and one beside them is not published."""
    harbour = Harbour(MemoryStore(), tmp_path / "ware[house]{1,2}*?\\")
    gone = harbour.publish_range()
    harbour.publish_range(extra=more)
    harbour.publish_range(extra=whole)
    harbour.mark(gone, used=False)
    published = harbour.published()
    code = tmp_path / "read.py"
    with overlord() as server:
        files = [
            {"uri": str(harbour.root / path), "columnSet": number}
            for number, path in enumerate(published)
        ]
        server.on("GET", "/api/v1/datasources/clicks/files", Reply({"files": files}))
        code.write_text(snippet(Reader.SPARK, "clicks", server.url, warehouse=str(harbour.root)))

        rows = runpy.run_path(str(code))["rows"]

    # Not collected: PySpark leaves the socket of a result open.
    rows.write.parquet(str(tmp_path / "read"))
    read = parquet.read_table(tmp_path / "read")
    assert ids_in(read) == sum(published.values(), Counter())
    assert sorted(set(read["score"].to_pylist())) == [1.5, 7.0]
