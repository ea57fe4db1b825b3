"""What `verify` reads of the published files, and every way in which a file can be wrong."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from supervisor.verify.files import PublicationContent, read_publication
from supervisor.verify.ledger import CheckedLedger
from supervisor.verify.runs import Runs
from supervisor.verify.verdict import FindingKind
from supervisor.views.lenient import lenient
from tasks.contract.offsets import TopicPartition
from tests.supervisor.cli.table.tables import Publisher, rows_of

P0, P1 = TopicPartition("clicks", 0), TopicPartition("clicks", 1)


@pytest.fixture
def publisher(tmp_path: Path) -> Publisher:
    return Publisher(tmp_path)


def read(publisher: Publisher) -> PublicationContent:
    [publication] = lenient(CheckedLedger).model_validate(publisher.ledger()).publications
    return read_publication(publisher.warehouse, publication, lambda _: None)


def path_of(publisher: Publisher) -> Path:
    return publisher.warehouse / str(publisher.files[0]["path"])


def test_rows_in_any_order_become_runs_by_partition(publisher: Publisher) -> None:
    rows = [*reversed(rows_of(1, 5, 9)), *rows_of(0, 0, 4), *rows_of(0, 6, 8)]
    publisher.publish({0: 0, 1: 5}, {0: 8, 1: 9}, rows, rejects=[(0, 4, 5)])

    content = read(publisher)

    assert content.findings == []
    assert content.held[P0].rows == Runs([(0, 4), (6, 8)])
    assert content.held[P0].rejects == Runs([(4, 6)])
    assert content.held[P1].rows == Runs([(5, 9)])
    assert (content.held[P0].surplus, content.held[P0].repeated) == (0, Runs())


def test_repeated_rows_are_counted(publisher: Publisher) -> None:
    publisher.publish({0: 0}, {0: 4}, [*rows_of(0, 0, 4), (0, 2), (0, 2), (0, 3)])

    held = read(publisher).held[P0]

    assert (held.rows, held.repeated, held.surplus) == (Runs([(0, 4)]), Runs([(2, 4)]), 3)


def test_a_record_that_is_rejected_twice_is_counted(publisher: Publisher) -> None:
    publisher.publish({0: 0}, {0: 4}, [(0, 3)], rejects=[(0, 0, 2), (0, 1, 1)])

    held = read(publisher).held[P0]

    assert (held.rejects, held.repeated, held.surplus) == (Runs([(0, 3)]), Runs([(1, 2)]), 1)


def test_a_range_without_rows_is_held_as_such(publisher: Publisher) -> None:
    publisher.publish({0: 7}, {0: 9}, [])

    assert (read(publisher).held[P0].rows, read(publisher).findings) == (Runs(), [])


def test_a_row_without_an_offset_is_unknown(publisher: Publisher) -> None:
    publisher.publish({0: 0}, {0: 2}, rows_of(0, 0, 2))
    table = pq.read_table(path_of(publisher), partitioning=None)
    position = table.schema.get_field_index("__offset")
    pq.write_table(
        table.set_column(position, "__offset", pa.array([0, None], pa.int64())), path_of(publisher)
    )

    assert FindingKind.UNKNOWN_ROW in {found.kind for found in read(publisher).findings}


def test_rows_that_carry_no_offsets_are_told_apart(publisher: Publisher) -> None:
    publisher.publish({0: 0}, {0: 2}, rows_of(0, 0, 2))
    table = pq.read_table(path_of(publisher), partitioning=None)
    pq.write_table(table.drop_columns(["__offset"]), path_of(publisher))

    assert not read(publisher).held[P0].carries_offsets


def roll_up(publisher: Publisher, counts: list[int | None]) -> None:
    """Put rows that stand for so many records in the place of those of the only file."""
    table = pa.table({"user": ["a"] * len(counts), "__count": pa.array(counts, pa.int64())})
    pq.write_table(table, path_of(publisher))


def test_rows_that_are_rolled_up_are_counted(publisher: Publisher) -> None:
    publisher.publish({0: 0, 1: 0}, {0: 9, 1: 9}, [*rows_of(0, 0, 4), *rows_of(1, 2, 9)])
    roll_up(publisher, [10, 1])

    content = read(publisher)

    counts = {at: (held.carries_offsets, held.counted) for at, held in content.held.items()}
    assert counts == {P0: (False, 4), P1: (False, 7)}
    assert content.held[P1].bounds == Runs([(2, 9)])
    assert not any("stand for" in found.detail for found in content.findings)


@pytest.mark.parametrize("counts", [[9, 1], [11, 1], [12, -1], [11, None], []])
def test_rolled_up_rows_that_do_not_add_up_are_found(
    publisher: Publisher, counts: list[int | None]
) -> None:
    publisher.publish({0: 0, 1: 0}, {0: 9, 1: 9}, [*rows_of(0, 0, 4), *rows_of(1, 2, 9)])
    roll_up(publisher, counts)

    assert any("stand for" in found.detail for found in read(publisher).findings)


def _remove(path: Path) -> None:
    path.unlink()


def _flip_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[10] ^= 1
    path.write_bytes(bytes(content))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:50])


@pytest.mark.parametrize(
    ("harm", "kind"),
    [
        (_remove, FindingKind.MISSING_FILE),
        (_flip_a_byte, FindingKind.DIGEST_MISMATCH),
        (_cut, FindingKind.DIGEST_MISMATCH),
    ],
)
@pytest.mark.parametrize("which", ["0.parquet", "rejects.parquet"])
def test_a_harmed_file_is_found(
    publisher: Publisher, harm: Callable[[Path], None], kind: FindingKind, which: str
) -> None:
    publisher.publish({0: 0}, {0: 10}, rows_of(0, 0, 9), rejects=[(0, 9, 9)])
    harm(path_of(publisher).with_name(which))

    assert kind in {found.kind for found in read(publisher).findings}


def test_a_path_out_of_the_warehouse_is_not_followed(publisher: Publisher, tmp_path: Path) -> None:
    publisher.warehouse = tmp_path / "warehouse"
    publisher.publish({0: 0}, {0: 2}, rows_of(0, 0, 2))
    ledger = publisher.ledger()
    publisher.publications[0]["segments"][0]["path"] = "clicks/../../outside.parquet"  # type: ignore[index]  # JSON
    (tmp_path / "outside.parquet").write_bytes(b"secret")

    [publication] = lenient(CheckedLedger).model_validate(ledger).publications
    content = read_publication(publisher.warehouse, publication, lambda _: None)

    assert [(f.kind, f.detail) for f in content.findings] == [
        (
            FindingKind.MISSING_FILE,
            "clicks/../../outside.parquet leads out of the warehouse",
        )
    ]


@pytest.mark.parametrize(("name", "by"), [("rows", 1), ("rejected", 1)])
def test_a_wrong_count_on_record_is_found(publisher: Publisher, name: str, by: int) -> None:
    publisher.publish({0: 0}, {0: 10}, rows_of(0, 0, 9), rejects=[(0, 9, 9)])
    publisher.publications[0][name] = int(str(publisher.publications[0][name])) + by

    [found] = read(publisher).findings
    assert (found.kind, found.records) == (FindingKind.ROW_COUNT, by)


def test_files_that_were_let_go_are_not_read_and_still_count(publisher: Publisher) -> None:
    """Goal: a table that dropped old rows on purpose is no damaged table."""
    publisher.publish({0: 0}, {0: 10}, rows_of(0, 0, 10))
    publisher.let_go(0)

    content = read(publisher)

    assert (content.findings, content.held[P0].rows) == ([], Runs())
    publisher.publications[0]["rows"] = 11
    [found] = read(publisher).findings
    assert (found.kind, found.records) == (FindingKind.ROW_COUNT, 1)


def test_a_wrong_span_on_record_is_found(publisher: Publisher) -> None:
    publisher.publish({0: 0}, {0: 10}, rows_of(0, 0, 10))
    publisher.publications[0]["segments"][0]["spans"][0]["last"] = 11  # type: ignore[index]  # JSON

    [found] = read(publisher).findings
    assert found.kind is FindingKind.ROW_COUNT
    assert "0..9 (10), on record are clicks:0 0..11" in found.detail
