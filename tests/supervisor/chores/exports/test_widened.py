"""Exports of a table whose discovered columns grow: the same rows, in the types of today.

Slow: each export is read by every reader, some in processes of their own.
"""

import signal
from collections import Counter
from datetime import timedelta
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from supervisor.chores import exports
from supervisor.core.tables.exports import copies_of
from supervisor.core.values.export_formats import ExportFormat
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Store
from supervisor.services.tables.warehouse import warehouse_files
from tasks.contract.ingest_spec import Column, ColumnType
from tests.sqlite_memory import empty_file
from tests.supervisor.chores.exports.exports import DELTA, GRACE, ICEBERG, Harbour
from tests.supervisor.chores.exports.exports_lives import life_of
from tests.supervisor.chores.exports.exports_read import (
    columns_of,
    names_in,
    rows_at,
    rows_in,
    version_of,
)
from tests.supervisor.core.snapshots import TOPIC
from tests.supervisor.world import GC_DELAY

BOTH = pytest.mark.parametrize("table_format", list(ExportFormat))
_ARROW: dict[ColumnType, pa.DataType] = {
    "long": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "json": pa.string(),
    "array<long>": pa.list_(pa.int64()),
    "array<double>": pa.list_(pa.float64()),
    "array<string>": pa.list_(pa.string()),
}


@pytest.fixture
def harbour(store: Store, tmp_path: Path) -> Harbour:
    return Harbour(store, tmp_path / "warehouse", DELTA, ICEBERG)


def publish(harbour: Harbour, kind: ColumnType, *values: object) -> str:
    """Publish a range whose records have `x` of this type, or null, and one they share."""
    harbour.columns = (Column(name="same", type="long"), Column(name="x", type=kind))

    def extra(rows: int) -> dict[str, pa.Array]:
        held = [*values, *[None] * (rows - len(values))]
        return {"same": pa.array(range(rows)), "x": pa.array(held, _ARROW[kind])}

    return harbour.publish_range(extra=extra)


def values_of(harbour: Harbour, table_format: ExportFormat) -> list[object]:
    """What a reader finds in `x`, by its text; nulls left out."""
    found = columns_of(harbour, table_format)["x"]
    return sorted((value for value in found if value is not None), key=str)


def assert_right(harbour: Harbour, table_format: ExportFormat) -> None:
    """A reader finds the rows that were published, and nothing waits or was set aside."""
    rows = sum(harbour.published().values(), Counter())
    assert rows_in(harbour, table_format) == rows_at(harbour, table_format) == rows
    assert (harbour.row(table_format).problem, harbour.failed()) == ("", [])
    assert harbour.queue(table_format).outstanding_events == 0


@BOTH
def test_whole_numbers_that_become_fractions_are_exported_as_fractions(
    harbour: Harbour, table_format: ExportFormat
) -> None:
    """Goal: in one version, from the widening on; files of neither type are the very same ones."""
    old = publish(harbour, "long", 7, -1)
    harbour.columns = ()
    without = harbour.publish_range()
    harbour.export(table_format)
    stood = version_of(harbour, table_format)

    new = publish(harbour, "double", 0.5)
    harbour.export(table_format)

    assert_right(harbour, table_format)
    assert values_of(harbour, table_format) == [-1.0, 0.5, 7.0]
    names = names_in(harbour, table_format)
    assert {without, new} < names
    [copy] = names - {without, new}
    assert copy.startswith(f"{copies_of(old)}/")
    assert version_of(harbour, table_format) == stood + 1

    publish(harbour, "double", 2.5)
    publish(harbour, "long", 3)
    harbour.export(table_format)
    assert values_of(harbour, table_format) == [-1.0, 0.5, 2.5, 3.0, 7.0]
    assert version_of(harbour, table_format) == stood + 2


@BOTH
def test_a_column_goes_through_every_type_to_json_and_back(
    harbour: Harbour, table_format: ExportFormat
) -> None:
    """Goal: values are what `tidegate query` shows; the type is that of the list, whichever."""
    publish(harbour, "long", 1, 2**53)
    publish(harbour, "double", 0.5, 4.0, 1e300)
    harbour.export(table_format)
    text = publish(harbour, "string", 'a "b"', "7")
    harbour.export(table_format)

    assert_right(harbour, table_format)
    assert values_of(harbour, table_format) == sorted(
        ["1", str(2**53), "0.5", "4", "1e300", '"a \\"b\\""', '"7"'], key=str
    )
    lists = publish(harbour, "array<double>", [0.5, None], [])
    harbour.export(table_format)
    assert {"[]", '["0.5",null]'} < set(map(str, values_of(harbour, table_format)))

    for gone in (text, lists):
        harbour.mark(gone, used=False)
    harbour.export(table_format)

    assert_right(harbour, table_format)
    assert values_of(harbour, table_format) == [0.5, 1.0, 1e300, 4.0, 2.0**53]


@BOTH
@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("array<double>", [[0.5]], [[0.5], [1.0, None], []]),
        ("array<string>", [["a"]], [["1", None], ["a"], []]),
        ("long", [7], ['["1",null]', "7", "[]"]),
    ],
)
def test_lists_grow_too(
    harbour: Harbour,
    table_format: ExportFormat,
    kind: ColumnType,
    values: list[object],
    expected: list[object],
) -> None:
    publish(harbour, "array<long>", [1, None], [])
    harbour.export(table_format)
    publish(harbour, kind, *values)
    harbour.export(table_format)

    assert_right(harbour, table_format)
    assert values_of(harbour, table_format) == sorted(expected, key=str)


@BOTH
def test_polars_reads_a_column_that_has_grown(
    harbour: Harbour, table_format: ExportFormat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLARS_ICEBERG_PLANNER", "pyiceberg")  # else it warns that it has no other
    publish(harbour, "long", 7)
    harbour.export(table_format)
    publish(harbour, "double", 0.5)
    harbour.export(table_format)

    location = str(harbour.root / harbour.row(table_format).standing.location)
    scan = pl.scan_delta if table_format is DELTA else pl.scan_iceberg
    frame = scan(location).select("x", "same").collect()

    assert frame["x"].drop_nulls().sort().to_list() == [0.5, 7.0]
    assert frame.schema["x"] == pl.Float64
    assert frame["same"].null_count() == 0


def test_a_table_that_has_grown_before_its_first_export(harbour: Harbour) -> None:
    publish(harbour, "long", 7)
    publish(harbour, "double", 0.5)
    for each in ExportFormat:
        harbour.export(each)
        assert_right(harbour, each)
        assert values_of(harbour, each) == [0.5, 7.0]


def test_copies_are_made_some_at_a_time_and_never_twice(
    harbour: Harbour, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: a table of any size is through one day; what is made stays."""
    monkeypatch.setattr(exports, "COPIED_BYTES", 1)
    old = [publish(harbour, "long", 7), publish(harbour, "long", 8), publish(harbour, "long", 9)]
    harbour.export(DELTA)
    before = version_of(harbour, DELTA)
    publish(harbour, "double", 0.5)
    counts = []
    for _ in old:
        again = harbour.export(DELTA)
        counts.append(len(_copies(harbour)))
        harbour.clock.advance(again or timedelta(0))

    assert counts == [1, 2, 3]
    assert version_of(harbour, DELTA) == before + 1
    assert_right(harbour, DELTA)
    modified_ns = {copy: copy.stat().st_mtime_ns for copy in _copies(harbour)}
    harbour.export(ICEBERG)
    assert {copy: copy.stat().st_mtime_ns for copy in _copies(harbour)} == modified_ns
    assert values_of(harbour, ICEBERG) == [0.5, 7.0, 8.0, 9.0]


def test_copies_go_when_their_file_goes_and_are_answered_for_until_then(harbour: Harbour) -> None:
    old = publish(harbour, "long", 7)
    new = publish(harbour, "double", 0.5)
    for each in ExportFormat:
        harbour.export(each)
    [copy] = _copies(harbour)
    recorded = warehouse_files(harbour.store, str(harbour.root))
    harbour.mark(old, used=False)
    harbour.end_lives(GRACE)
    harbour.end_lives(GC_DELAY)
    harbour.end_lives(timedelta(days=1))
    assert copy.exists(), "the exports still name it"

    for each in ExportFormat:
        harbour.export(each)
    for _ in range(2):
        harbour.end_lives(timedelta(days=1))

    assert [each.path for each in recorded.copies] == [copy.relative_to(harbour.root).as_posix()]
    assert copies_of(old) in recorded.copied
    assert (copy.exists(), copy.parent.exists()) == (False, False)
    for each in ExportFormat:
        assert names_in(harbour, each) == {new}
        assert_right(harbour, each)


@pytest.mark.chaos
@BOTH
@pytest.mark.parametrize("place", ["export:copied", "export:decided", "export:committed"])
def test_a_process_that_is_killed_while_it_widens_leaves_the_table_before_or_after(
    tmp_path: Path, table_format: ExportFormat, place: str
) -> None:
    """Goal: no reader finds a column of two types, and what was copied is not copied again."""
    url = f"sqlite:///{empty_file(tmp_path / 'metadata.db')}"
    store = SqlStore(url, lease_ttl=timedelta(seconds=6))
    harbour = Harbour(store, tmp_path / "warehouse", DELTA, ICEBERG)
    publish(harbour, "long", 7)
    harbour.export(table_format)
    publish(harbour, "double", 0.5)

    assert life_of(harbour, url, table_format, f"{place}:kill").live() == -signal.SIGKILL
    [copy] = _copies(harbour)
    modified_ns = copy.stat().st_mtime_ns
    committed = place == "export:committed"
    assert values_of(harbour, table_format) == ([0.5, 7.0] if committed else [7])
    harbour.export(table_format)

    assert_right(harbour, table_format)
    assert values_of(harbour, table_format) == [0.5, 7.0]
    assert copy.stat().st_mtime_ns == modified_ns
    store.close()


def _copies(harbour: Harbour) -> list[Path]:
    return sorted((harbour.root / TOPIC / "widened").rglob("*.parquet"))
