"""What `verify` reads of one compacted file: whose each row is, and what is nobody's."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from supervisor.verify.compaction import Compacted, read_compacted
from supervisor.verify.ledger import CheckedLedger
from supervisor.verify.runs import Runs
from supervisor.verify.verdict import FindingKind
from supervisor.views.lenient import lenient
from tasks.contract.offsets import TopicPartition
from tests.supervisor.cli.table.tables import MIDNIGHT

PATH = "clicks/data/compact_clicks_0123456789abcde_abcdefgh/0.parquet"
Span = tuple[str, int, int, int, int]
"""Topic, partition, first, last, rows."""


def read(
    folder: Path, table: pa.Table, shares: Mapping[str, Sequence[Span]], garbage: bytes = b""
) -> Compacted:
    """Write a file, and read it with these shares on record: generation -> spans."""
    place = folder / PATH
    place.parent.mkdir(parents=True)
    pq.write_table(table, place)
    content = garbage or place.read_bytes()
    place.write_bytes(content)
    at = MIDNIGHT.isoformat()
    file = {
        "path": PATH,
        "rows": len(table),
        "sizeBytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "spans": [],
        **dict.fromkeys(("intervalStart", "intervalEnd", "timeMin", "timeMax"), at),
    }
    names = ("topic", "partition", "first", "last", "rows")
    publications = [
        {
            "generationId": generation,
            "taskId": f"task-{generation}",
            "publishedAt": at,
            "start": {},
            "end": {},
            "rows": sum(span[-1] for span in spans),
            "rejected": 0,
            "compacted": [
                {
                    "file": file,
                    "rows": sum(span[-1] for span in spans),
                    "spans": [dict(zip(names, span, strict=True)) for span in spans],
                }
            ],
        }
        for generation, spans in shares.items()
    ]
    ledger = {
        "supervisorId": "clicks",
        "dataSource": "clicks",
        "warehouse": str(folder),
        "topic": "clicks",
        "kafka": {"bootstrapServers": "127.0.0.1:9"},
        "committed": [],
        "publications": publications,
    }
    return read_compacted(folder, lenient(CheckedLedger).model_validate(ledger).compacted())


def rows(
    places: Sequence[tuple[int | None, int | None]], topics: Sequence[str | None] = ()
) -> pa.Table:
    columns: dict[str, object] = {
        "__partition": pa.array([p for p, _ in places], pa.int32()),
        "__offset": pa.array([offset for _, offset in places], pa.int64()),
    }
    return pa.table(columns | ({"__topic": pa.array(topics, pa.string())} if topics else {}))


def held(compacted: Compacted) -> dict[tuple[str, str, int], Runs]:
    return {
        (generation, at.topic, at.partition): pieces.part(at).rows
        for generation, pieces in compacted.pieces.items()
        for at in pieces.partitions()
    }


def test_rows_of_several_topics_are_told_apart_by_the_topic_that_they_name(tmp_path: Path) -> None:
    table = rows([(0, 5), (0, 5), (0, 6), (0, 9)], ["a", "b", "b", "a"])
    shares = {"g1": [("a", 0, 5, 5, 1), ("b", 0, 5, 6, 2)], "g2": [("a", 0, 9, 9, 1)]}

    compacted = read(tmp_path, table, shares)

    assert compacted.findings == []
    assert held(compacted) == {
        ("g1", "a", 0): Runs([(5, 6)]),
        ("g1", "b", 0): Runs([(5, 7)]),
        ("g2", "a", 0): Runs([(9, 10)]),
    }


def test_rows_from_before_a_table_had_several_topics_are_told_by_their_partition(
    tmp_path: Path,
) -> None:
    """Goal: an input without `__topic` and one with it become one file, with nulls."""
    table = rows([(0, 1), (0, 2), (1, 7)], [None, None, "b"])
    shares = {"g1": [("a", 0, 1, 2, 2)], "g2": [("b", 1, 7, 7, 1)]}

    compacted = read(tmp_path, table, shares)

    assert compacted.findings == []
    assert held(compacted) == {("g1", "a", 0): Runs([(1, 3)]), ("g2", "b", 1): Runs([(7, 8)])}


def test_a_share_may_come_in_several_spans_that_overlap(tmp_path: Path) -> None:
    """Goal: two files of one range, each with offsets here and there, are one share."""
    table = rows([(0, offset) for offset in range(10)])
    shares = {
        "g1": [("a", 0, 0, 6, 4), ("a", 0, 1, 7, 4)],
        "g2": [("a", 0, 8, 9, 2)],
    }

    compacted = read(tmp_path, table, shares)

    assert compacted.findings == []
    assert held(compacted) == {("g1", "a", 0): Runs([(0, 8)]), ("g2", "a", 0): Runs([(8, 10)])}


def test_spans_of_two_ranges_that_overlap_are_a_finding_and_no_row_counts_twice(
    tmp_path: Path,
) -> None:
    """Goal: what the planner must never do is seen if it does."""
    table = rows([(0, 0), (0, 1), (0, 2), (0, 3)])
    shares = {"g1": [("a", 0, 0, 2, 2)], "g2": [("a", 0, 1, 3, 2)]}

    compacted = read(tmp_path, table, shares)

    assert {each.kind for each in compacted.findings} == {FindingKind.ROW_COUNT}
    assert sum(runs.count() for runs in held(compacted).values()) == 4
    assert compacted.spoiled == {"g1", "g2"}


@pytest.mark.parametrize("place", [(0, None), (None, 3)])
def test_a_row_without_a_place_is_unknown(
    tmp_path: Path, place: tuple[int | None, int | None]
) -> None:
    compacted = read(tmp_path, rows([(0, 1), place]), {"g1": [("a", 0, 1, 1, 1)]})

    assert FindingKind.UNKNOWN_ROW in {each.kind for each in compacted.findings}
    assert held(compacted) == {("g1", "a", 0): Runs([(1, 2)])}


def test_rows_of_a_topic_or_a_partition_of_no_share_are_unknown(tmp_path: Path) -> None:
    table = rows([(0, 1), (0, 1), (5, 1)], ["a", "elsewhere", "a"])

    compacted = read(tmp_path, table, {"g1": [("a", 0, 1, 1, 1)]})

    unknown = [each for each in compacted.findings if each.kind is FindingKind.UNKNOWN_ROW]
    assert {(each.partition, each.runs) for each in unknown} == {
        (TopicPartition("elsewhere", 0), ((1, 2),)),
        (TopicPartition("a", 5), ((1, 2),)),
    }


def test_rows_that_tell_neither_offsets_nor_records_are_ranges_alone(tmp_path: Path) -> None:
    table = pa.table({"user": ["x"] * 3})

    compacted = read(tmp_path, table, {"g1": [("a", 0, 0, 1, 2)], "g2": [("a", 0, 2, 2, 1)]})

    assert compacted.findings == []
    assert [pieces.carries_offsets for pieces in compacted.pieces.values()] == [False, False]
    assert held(compacted) == {}


def _mixed(counts: Sequence[int | None]) -> pa.Table:
    """One row that names its offset, and rolled-up ones."""
    named = rows([(0, 5), *((None, None) for _ in counts)])
    return named.append_column("__count", pa.array([None, *counts], pa.int64()))


MIXED = {"g1": [("a", 0, 5, 5, 1)], "g2": [("a", 0, 10, 11, 2)]}


def test_rows_from_before_and_after_rollup_may_be_in_one_file(tmp_path: Path) -> None:
    """Goal: a table whose spec was changed is told range by range, each as it can be."""
    compacted = read(tmp_path, _mixed([1, 1]), MIXED)

    assert compacted.findings == []
    assert held(compacted) == {("g1", "a", 0): Runs([(5, 6)]), ("g2", "a", 0): Runs()}
    assert compacted.pieces["g2"].counted == {TopicPartition("a", 0): 2}
    assert [compacted.pieces[each].carries_offsets for each in ("g1", "g2")] == [True, False]


@pytest.mark.parametrize(
    ("counts", "kinds"),
    [
        ([1, 2], {FindingKind.ROW_COUNT}),
        ([1, None], {FindingKind.ROW_COUNT, FindingKind.UNKNOWN_ROW}),
        ([2, 0], {FindingKind.UNKNOWN_ROW}),
        ([None, None], {FindingKind.ROW_COUNT, FindingKind.UNKNOWN_ROW}),
    ],
)
def test_rolled_up_rows_among_others_have_to_tell_and_to_agree(
    tmp_path: Path, counts: Sequence[int | None], kinds: set[FindingKind]
) -> None:
    compacted = read(tmp_path, _mixed(counts), MIXED)

    assert {each.kind for each in compacted.findings} == kinds


@pytest.mark.parametrize("counts", [[3, 3], [3, None], [7, 0]])
def test_rolled_up_rows_have_to_stand_for_the_records_of_all_shares(
    tmp_path: Path, counts: list[int | None]
) -> None:
    table = pa.table({"__count": pa.array(counts, pa.int64())})

    compacted = read(tmp_path, table, {"g1": [("a", 0, 0, 6, 7)]})

    assert FindingKind.ROW_COUNT in {each.kind for each in compacted.findings}
    assert compacted.pieces["g1"].counted == {TopicPartition("a", 0): 7}


def test_what_is_no_parquet_is_a_finding_of_all_its_ranges(tmp_path: Path) -> None:
    shares = {"g1": [("a", 0, 1, 1, 1)], "g2": [("a", 0, 2, 2, 1)]}

    compacted = read(tmp_path, rows([(0, 1), (0, 2)]), shares, garbage=b"no Parquet at all")

    assert [each.kind for each in compacted.findings] == [FindingKind.DIGEST_MISMATCH]
    assert not compacted.pieces
    assert compacted.spoiled == {"g1", "g2"}
