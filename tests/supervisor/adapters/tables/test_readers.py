"""Every reader that the docs name finds the rows that a filter wants, and no others."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

from tests.supervisor.adapters.tables.readers import (
    READERS,
    arrow_filter,
    delta_dataset,
    iceberg_filter,
    iceberg_table,
)
from tests.supervisor.adapters.tables.readers_table import (
    FILES,
    ROWS,
    TABLE,
    TYPES,
    Filter,
    Shelf,
    filters,
    rows_of,
    shelf,
)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """A table of several files, with different columns."""
    with shelf(tmp_path_factory.mktemp("readers") / "warehouse") as opened:
        for number in FILES:
            opened.publish(f"data/t{number}/part.parquet", rows_of(number))
        yield opened


@pytest.fixture(scope="module")
def compacted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """The same rows, all but the last file's in one."""
    with shelf(tmp_path_factory.mktemp("readers") / "warehouse") as opened:
        names = [f"data/t{number}/part.parquet" for number in FILES]
        for number, name in enumerate(names):
            opened.publish(name, rows_of(number))
        last = rows_of(FILES[-1])
        opened.publish("data/compact/part.parquet", ROWS[: -len(last)], remove=names[:-1])
        yield opened


@pytest.mark.parametrize("table", ["published", "compacted"])
@pytest.mark.parametrize("reader", READERS)
def test_a_filter_finds_its_rows_in_every_reader(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, reader: str, table: str
) -> None:
    """Goal: on each type of column, also with odd names, before and after a compaction."""
    monkeypatch.setenv("POLARS_ICEBERG_PLANNER", "pyiceberg")  # else it warns that it has no other
    find = READERS[reader](request.getfixturevalue(table))

    wrong = [
        (each, found, wanted)
        for each in filters()
        if not _is_refused(reader, each) and (found := find(each)) != (wanted := each.wanted())
    ]

    assert wrong == []


def _is_refused(reader: str, wanted: Filter) -> bool:
    """PyIceberg 0.12 raises over a list, and over a dot in a name, whoever wrote the table."""
    is_list = pa.types.is_list(TYPES[wanted.column])
    return reader == "pyiceberg" and (is_list or "." in wanted.column)


@pytest.mark.parametrize("table", ["published", "compacted"])
def test_statistics_of_time_still_prune(request: pytest.FixtureRequest, table: str) -> None:
    """Goal: who wants an hour opens the files of that hour, in both formats."""
    shelf: Shelf = request.getfixturevalue(table)
    wanted = Filter("__time", "=", ROWS[-1]["__time"])

    files = delta_dataset(shelf).get_fragments(filter=arrow_filter(wanted))
    tasks = iceberg_table(shelf).scan(row_filter=iceberg_filter(wanted)).plan_files()

    last = f"data/t{FILES[-1]}/part.parquet"
    assert [file.path for file in files] == [last]
    assert [task.file.file_path for task in tasks] == [f"file://{shelf.root}/{TABLE}/{last}"]
