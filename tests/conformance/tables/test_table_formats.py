"""One port, two formats, and Iceberg's catalog on both databases: the same stories."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyiceberg.table import StaticTable

from supervisor.adapters.tables import delta
from supervisor.adapters.tables.delta import DeltaFormat
from supervisor.adapters.tables.iceberg import SNAPSHOTS_KEPT, IcebergFormat
from supervisor.core.tables.exports import ExportChange, ExportedFile, misread_in
from supervisor.core.values.errors import ExportUnavailable, NotExportable
from supervisor.core.values.export_formats import ExportFormat
from supervisor.database.engine import bounded_url
from supervisor.ports.tables.exports import TableFormat
from tests.conformance.stories import HOUR, NOON

TABLE = "web.clicks-1"
_POSTGRES = pytest.param("postgresql", marks=pytest.mark.pg)


@pytest.fixture(params=["delta", "sqlite", _POSTGRES])
def tables(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TableFormat]:
    """Each format, in a warehouse whose path has a space and more than ASCII."""
    root = tmp_path / "ware house ä"
    if request.param == "delta":
        yield DeltaFormat(root)
        return
    url = request.getfixturevalue(f"{request.param}_url")
    yield IcebergFormat(root, bounded_url(url, timedelta(seconds=10)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "ware house ä" / TABLE
    found.mkdir(parents=True)
    return found


def write(folder: Path, path: str, **columns: pa.Array) -> ExportedFile:
    """A file of two rows."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    times = pa.array([NOON, NOON + HOUR], pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"__time": times, **columns}), file)
    return ExportedFile(path, file.stat().st_size, 2, NOON, NOON + HOUR, NOON)


def test_there_is_no_table_before_the_first_commit(tables: TableFormat, folder: Path) -> None:
    opened = tables.open(TABLE)

    assert (set(opened.held), opened.standing.version) == (set(), None)
    assert list(folder.iterdir()) == []


def test_what_was_committed_is_held_and_the_version_grows_by_one(
    tables: TableFormat, folder: Path
) -> None:
    one, two = (write(folder, f"data/task-{n}/b-1/part.parquet") for n in (1, 2))
    first = tables.open(TABLE).commit(ExportChange((one,)), 1, NOON)
    second = tables.open(TABLE).commit(ExportChange((two,), (one.path,)), 2, NOON)

    opened = tables.open(TABLE)
    assert set(opened.held) == {two.path}
    assert opened.standing == second
    assert first.version is not None
    assert second.version == first.version + 1
    assert (folder.parent / second.location).exists()


@pytest.mark.parametrize("table_format", ExportFormat)
@pytest.mark.parametrize(
    "name", ["a%41", "a%b", "a\\b", "a#b", "a?b", "a [x]*{y}", "a^`|<>~$'\"&;é"]
)
def test_what_a_format_misreads_in_a_path_is_known(
    tmp_path: Path, table_format: ExportFormat, name: str
) -> None:
    """Goal: a spec is refused where its export would land elsewhere, and nowhere else."""
    root = tmp_path / name
    file = write(root / TABLE, "data/task-1/b-1/part.parquet")
    catalog = f"sqlite:///{tmp_path / 'catalog.db'}"
    formats: dict[ExportFormat, TableFormat] = {
        ExportFormat.DELTA: DeltaFormat(root),
        ExportFormat.ICEBERG: IcebergFormat(root, catalog),
    }
    tables = formats[table_format]
    try:
        tables.open(TABLE).commit(ExportChange((file,)), 1, NOON)
        works = set(tables.open(TABLE).held) == {file.path}
    except ExportUnavailable:
        works = False

    assert works == (table_format not in misread_in(str(root)))


def test_a_commit_of_nothing_is_a_version_too(tables: TableFormat, folder: Path) -> None:
    """Goal: it shuts out whoever has opened the version before."""
    one, two = (write(folder, f"data/task-{n}/b-1/part.parquet") for n in (1, 2))
    first = tables.open(TABLE).commit(ExportChange((one,)), 1, NOON)
    late = tables.open(TABLE)

    second = tables.open(TABLE).commit(ExportChange(), 2, NOON)

    assert first.version is not None
    assert second.version == first.version + 1
    assert set(tables.open(TABLE).held) == {one.path}
    with pytest.raises(ExportUnavailable):
        late.commit(ExportChange((two,)), 1, NOON)
    assert tables.open(TABLE).standing == second


def test_what_was_opened_before_a_commit_commits_no_more(tables: TableFormat, folder: Path) -> None:
    """Goal: no retry of a library makes an old list the newest."""
    one, two, three = (write(folder, f"data/t/{n}.parquet") for n in range(3))
    tables.open(TABLE).commit(ExportChange((one,)), 1, NOON)
    changes = (
        ExportChange((three,)),
        ExportChange(remove=(one.path,)),
        ExportChange((three,), (one.path,)),
    )
    stale = [tables.open(TABLE) for _ in changes]
    tables.open(TABLE).commit(ExportChange((two,)), 2, NOON)

    for opened, change in zip(stale, changes, strict=True):
        with pytest.raises(ExportUnavailable):
            opened.commit(change, 3, NOON)

    assert set(tables.open(TABLE).held) == {one.path, two.path}


def test_a_file_that_is_taken_out_and_added_stays_with_its_new_size(
    tables: TableFormat, folder: Path
) -> None:
    """Goal: a copy that was lost may come out with other bytes; of readers some go by the size."""
    one, two = (write(folder, f"data/t/{n}.parquet", a=pa.array([n, n])) for n in range(2))
    tables.open(TABLE).commit(ExportChange((one, two)), 1, NOON)
    held = tables.open(TABLE).held
    assert held == {file.path: file.size_bytes for file in (one, two)}
    (folder / one.path).unlink()
    again = write(folder, one.path, a=pa.array([7, 8]), b=pa.array(["x" * 1_000, None]))

    tables.open(TABLE).commit(ExportChange((again,), (one.path,)), 2, NOON)

    assert again.size_bytes != one.size_bytes
    assert tables.open(TABLE).held == {file.path: file.size_bytes for file in (again, two)}
    assert rows_of(tables, folder, "a") == {"a": [1, 1, 7, 8]}
    text = write(folder, one.path, a=pa.array(["7", "8"]))
    other = write(folder, two.path, a=pa.array(["1", "1"]))
    tables.open(TABLE).commit(ExportChange((text, other), (one.path, two.path)), 3, NOON)
    assert tables.open(TABLE).held == {file.path: file.size_bytes for file in (text, other)}
    assert rows_of(tables, folder, "a") == {"a": ["1", "1", "7", "8"]}


def test_of_two_that_make_the_table_one_is_refused(tables: TableFormat, folder: Path) -> None:
    one, two = (write(folder, f"data/t/{n}.parquet") for n in range(2))
    first, second = tables.open(TABLE), tables.open(TABLE)
    first.commit(ExportChange((one,)), 1, NOON)

    with pytest.raises(ExportUnavailable):
        second.commit(ExportChange((two,)), 1, NOON)

    assert set(tables.open(TABLE).held) == {one.path}


def test_a_stale_commit_that_brings_a_column_is_refused_too(
    tables: TableFormat, folder: Path
) -> None:
    """Goal: Delta's version of its own for columns is fenced like any other."""
    one, two = (write(folder, f"data/t/{n}.parquet") for n in range(2))
    wide = write(folder, "data/t/wide.parquet", extra=pa.array(["a", "b"]))
    tables.open(TABLE).commit(ExportChange((one,)), 1, NOON)
    stale = tables.open(TABLE)
    tables.open(TABLE).commit(ExportChange((two,)), 2, NOON)

    with pytest.raises(ExportUnavailable):
        stale.commit(ExportChange((wide,)), 3, NOON)
    tables.open(TABLE).commit(ExportChange((wide,), (one.path,)), 4, NOON)

    assert set(tables.open(TABLE).held) == {two.path, wide.path}


def test_a_file_that_is_not_there_is_told_as_something_to_try_again(
    tables: TableFormat, folder: Path
) -> None:
    there = write(folder, "data/t/0.parquet")
    with pytest.raises(ExportUnavailable):
        tables.open(TABLE).commit(ExportChange((replace(there, path="data/t/1.parquet"),)), 1, NOON)

    assert tables.open(TABLE).standing.version is None


def test_what_does_not_fit_commits_nothing(tables: TableFormat, folder: Path) -> None:
    text = write(folder, "data/t/0.parquet", a=pa.array(["1", "2"]))
    number = write(folder, "data/t/1.parquet", a=pa.array([1, 2]))
    fine = write(folder, "data/t/2.parquet", b=pa.array([1, 2]))
    for change in (ExportChange((text, number)), ExportChange((fine, text, number))):
        with pytest.raises(NotExportable, match=r"\ba\b"):
            tables.open(TABLE).commit(change, 1, NOON)
        assert tables.open(TABLE).standing.version is None

    tables.open(TABLE).commit(ExportChange((text,)), 1, NOON)
    before = tables.open(TABLE).standing
    with pytest.raises(NotExportable):
        tables.open(TABLE).commit(ExportChange((fine, number)), 2, NOON)
    assert tables.open(TABLE).standing == before


def test_names_that_no_table_may_have_are_named_and_commit_nothing(
    tables: TableFormat, folder: Path
) -> None:
    """Goal: somebody hears which columns they are; it is not tried again without end."""
    ones = pa.array([1, 2])
    both = write(folder, "data/t/0.parquet", userId=ones, USERID=ones)
    one = write(folder, "data/t/1.parquet", userId=ones)
    other = write(folder, "data/t/2.parquet", userid=ones)
    ours = write(folder, "data/t/3.parquet", __TIME=ones)
    cut = write(folder, "data/t/4.parquet", **{"a\0b": ones})
    for change, named in (
        (ExportChange((both,)), "userId.*USERID|USERID.*userId"),
        (ExportChange((one, other)), "userid.*userId"),
        (ExportChange((ours,)), "__TIME.*__time"),
        (ExportChange((cut,)), r"'a\\x00b'"),
    ):
        with pytest.raises(NotExportable, match=named):
            tables.open(TABLE).commit(change, 1, NOON)
        assert tables.open(TABLE).standing.version is None

    tables.open(TABLE).commit(ExportChange((one,)), 1, NOON)
    for file in (both, other, cut):
        with pytest.raises(NotExportable):
            tables.open(TABLE).commit(ExportChange((file,)), 2, NOON)


def test_a_column_gets_another_type_with_the_files_that_have_it(
    tables: TableFormat, folder: Path
) -> None:
    """Goal: in one version, together with other columns; what has not the column stays as it is."""
    number = write(folder, "data/t/0.parquet", a=pa.array([1, 2]))
    none = write(folder, "data/t/1.parquet", b=pa.array(["x", "y"]))
    text = write(folder, "data/t/2.parquet", a=pa.array(["1", "2"]))
    wide = write(folder, "data/t/3.parquet", a=pa.array(["z", None]), c=pa.array([0.5, None]))
    first = tables.open(TABLE).commit(ExportChange((number, none)), 1, NOON)

    second = tables.open(TABLE).commit(ExportChange((text, wide), (number.path,)), 2, NOON)

    assert first.version is not None
    assert second.version == first.version + 1
    assert set(tables.open(TABLE).held) == {none.path, text.path, wide.path}
    assert rows_of(tables, folder, "a", "b", "c") == {
        "a": ["1", "2", None, None, None, "z"],
        "b": [None, None, None, None, "x", "y"],
        "c": [0.5, None, None, None, None, None],
    }
    third = tables.open(TABLE).commit(ExportChange((number,), (text.path, wide.path)), 3, NOON)
    assert third.version == second.version + 1
    assert rows_of(tables, folder, "a") == {"a": [1, 2, None, None]}


def test_a_stale_commit_that_changes_a_type_is_refused(tables: TableFormat, folder: Path) -> None:
    """Goal: the version that no library writes is fenced like any other, both ways."""
    number, more = (write(folder, f"data/t/{n}.parquet", a=pa.array([1, 2])) for n in range(2))
    text = write(folder, "data/t/text.parquet", a=pa.array(["1", "2"]))
    tables.open(TABLE).commit(ExportChange((number,)), 1, NOON)
    stale = tables.open(TABLE)
    tables.open(TABLE).commit(ExportChange((more,)), 2, NOON)
    with pytest.raises(ExportUnavailable):
        stale.commit(ExportChange((text,), (number.path,)), 3, NOON)
    assert set(tables.open(TABLE).held) == {number.path, more.path}

    late = tables.open(TABLE)
    tables.open(TABLE).commit(ExportChange((text,), (number.path, more.path)), 4, NOON)
    with pytest.raises(ExportUnavailable):
        late.commit(ExportChange(remove=(number.path,)), 3, NOON)

    assert rows_of(tables, folder, "a") == {"a": ["1", "2"]}


LONGS, DOUBLES, TEXTS = (pa.list_(kind) for kind in (pa.int64(), pa.float64(), pa.string()))


def rows_of(tables: TableFormat, folder: Path, *columns: str) -> dict[str, list[object]]:
    """What readers of the format find, sorted by its text."""
    location = str(folder.parent / tables.open(TABLE).standing.location)
    if isinstance(tables, DeltaFormat):
        table = DeltaTable(location).to_pyarrow_table()
    else:
        table = StaticTable.from_metadata(location).scan().to_arrow()
    return {name: sorted(table[name].to_pylist(), key=str) for name in columns}


def test_arrays_are_lists_of_the_format(tables: TableFormat, folder: Path) -> None:
    """Goal: also where a later file brings one, or has none; elements and lists may be null."""
    first = write(folder, "data/t/0.parquet", n=pa.array([[1, None], []], LONGS))
    texts = pa.array([["a", None, ""], None], TEXTS)
    second = write(folder, "data/t/1.parquet", s=texts, n=pa.array([None, [2]], LONGS))
    third = write(folder, "data/t/2.parquet", d=pa.array([[0.5], [None]], DOUBLES))

    tables.open(TABLE).commit(ExportChange((first,)), 1, NOON)
    tables.open(TABLE).commit(ExportChange((second, third)), 2, NOON)

    assert rows_of(tables, folder, "n", "s", "d") == {
        "n": [None, None, None, [1, None], [2], []],
        "s": [None, None, None, None, None, ["a", None, ""]],
        "d": [None, None, None, None, [0.5], [None]],
    }


@pytest.mark.parametrize("other", [DOUBLES, TEXTS, pa.int64(), pa.string()], ids=str)
def test_arrays_of_two_types_do_not_fit_into_one_table(
    tables: TableFormat, folder: Path, other: pa.DataType
) -> None:
    """Goal: nothing is committed that a reader would fail over."""
    first = write(folder, "data/t/0.parquet", n=pa.array([[1], []], LONGS))
    second = write(folder, "data/t/1.parquet", n=pa.array([None, None], other))
    with pytest.raises(NotExportable, match=r"\bn\b|list<long>"):
        tables.open(TABLE).commit(ExportChange((first, second)), 1, NOON)
    assert tables.open(TABLE).standing.version is None

    tables.open(TABLE).commit(ExportChange((first,)), 1, NOON)
    before = tables.open(TABLE).standing
    with pytest.raises(NotExportable):
        tables.open(TABLE).commit(ExportChange((second,)), 2, NOON)

    assert tables.open(TABLE).standing == before
    assert rows_of(tables, folder, "n") == {"n": [[1], []]}


def test_iceberg_forgets_old_versions_and_keeps_its_manifests_few(
    sqlite_url: str, folder: Path
) -> None:
    """Goal: the thousandth commit costs what the hundredth did."""
    tables = IcebergFormat(folder.parent, sqlite_url)
    files = [write(folder, f"data/t/{n}.parquet") for n in range(SNAPSHOTS_KEPT + 25)]
    for number, file in enumerate(files):
        tables.open(TABLE).commit(ExportChange((file,)), number, NOON)

    opened = tables.open(TABLE)
    assert set(opened.held) == {file.path for file in files}
    metadata = json.loads((folder.parent / opened.standing.location).read_text())
    assert len(metadata["snapshots"]) <= SNAPSHOTS_KEPT + 1
    table = StaticTable.from_metadata(str(folder.parent / opened.standing.location))
    assert table.scan().to_arrow().num_rows == 2 * len(files)
    snapshot = table.current_snapshot()
    assert snapshot is not None
    assert len(snapshot.manifests(table.io)) < SNAPSHOTS_KEPT + 1
    assert len(list((folder / "metadata").glob("*.metadata.json"))) <= SNAPSHOTS_KEPT + 1


def test_a_delta_table_from_before_its_statistics_were_named_gets_that_with_its_next_commit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: a filter in deltalake loses no row of it either; later commits add nothing to that."""
    tables = DeltaFormat(folder.parent)
    one, two, three = (write(folder, f"data/t/{n}.parquet", a=pa.array([n, 7])) for n in range(3))
    with monkeypatch.context() as early:
        early.setattr(delta, "_CONFIGURATION", {"delta.appendOnly": "false"})
        first = tables.open(TABLE).commit(ExportChange((one,)), 1, NOON)
    assert rows_where(folder, "a", 0) == 0, "the fault of the early version"
    stale = tables.open(TABLE)

    second = tables.open(TABLE).commit(ExportChange(), 2, NOON)
    with pytest.raises(ExportUnavailable):
        stale.commit(ExportChange((two,)), 1, NOON)
    third = tables.open(TABLE).commit(ExportChange((three,)), 3, NOON)

    assert (first.version, second.version, third.version) == (0, 2, 3)
    assert (rows_where(folder, "a", 0), rows_where(folder, "a", 7)) == (1, 2)


def test_a_delta_table_from_before_whose_column_gets_another_type_is_filtered_right(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = DeltaFormat(folder.parent)
    number = write(folder, "data/t/0.parquet", a=pa.array([1, 2]))
    text = write(folder, "data/t/1.parquet", a=pa.array(["1", "2"]))
    with monkeypatch.context() as early:
        early.setattr(delta, "_CONFIGURATION", {"delta.appendOnly": "false"})
        tables.open(TABLE).commit(ExportChange((number,)), 1, NOON)

    tables.open(TABLE).commit(ExportChange((text,), (number.path,)), 2, NOON)

    assert rows_where(folder, "a", "1") == 1


def rows_where(folder: Path, column: str, value: object) -> int:
    """How many rows deltalake finds by a filter."""
    found = DeltaTable(str(folder)).to_pyarrow_table(filters=[(column, "=", value)])
    return len(found[column])
