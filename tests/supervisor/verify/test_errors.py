"""What `verify` finds in the errors table: each bad record once, and no other one."""

from pathlib import Path

import pytest

from supervisor.core.values.table_names import errors_table
from supervisor.verify.compaction import read_compacted
from supervisor.verify.errors import read_errors
from supervisor.verify.files import THROWN_AWAY, read_publication
from supervisor.verify.ledger import CheckedLedger
from supervisor.verify.verdict import Finding, FindingKind
from supervisor.views.lenient import lenient
from supervisor.views.tables.ledger import LedgerLetGo
from tasks.ingest.formats.reject_reasons import RejectReason
from tests.supervisor.cli.table.tables import MIDNIGHT, Publisher, rows_of

BAD = [(0, 4), (0, 5), (0, 9), (1, 0)]


@pytest.fixture
def publisher(tmp_path: Path) -> Publisher:
    """A range with four bad records in two partitions; nobody has kept them."""
    publisher = Publisher(tmp_path)
    rows = [*rows_of(0, 0, 4), *rows_of(0, 6, 9), *rows_of(1, 1, 5)]
    publisher.publish({0: 0, 1: 0}, {0: 10, 1: 5}, rows, rejects=[(0, 4, 5), (0, 9, 9), (1, 0, 0)])
    return publisher


def findings_of(publisher: Publisher, *, let_go: bool = False) -> list[Finding]:
    [publication] = lenient(CheckedLedger).model_validate(publisher.ledger()).publications
    if let_go:
        gone = tuple(
            LedgerLetGo(file=f, unused_at=MIDNIGHT, deleted_at=None) for f in publication.errors[:1]
        )
        changed = {"errors": publication.errors[1:], "errors_let_go": gone}
        publication = publication.model_copy(update=changed)
    content = read_publication(publisher.warehouse, publication, lambda _: None)
    assert content.findings == []
    return read_errors(publisher.warehouse, publication, content.bad)


def kinds(findings: list[Finding]) -> list[tuple[FindingKind, tuple[tuple[int, int], ...]]]:
    return [(each.kind, each.runs) for each in findings]


def test_each_bad_record_in_the_errors_table_is_no_finding(publisher: Publisher) -> None:
    publisher.quarantine(0, BAD[:2], kept=4)
    publisher.quarantine(0, BAD[2:], kept=4)

    assert findings_of(publisher) == []


def test_a_bad_record_that_is_not_there_is_lost(publisher: Publisher) -> None:
    publisher.quarantine(0, BAD[:2], kept=2)

    assert kinds(findings_of(publisher)) == [
        (FindingKind.LOST_WRITE, ((9, 10),)),
        (FindingKind.LOST_WRITE, ((0, 1),)),
    ]


def test_a_bad_record_that_is_there_twice_is_a_duplicate(publisher: Publisher) -> None:
    publisher.quarantine(0, BAD, kept=5)
    publisher.quarantine(0, BAD[:1], kept=5)

    assert kinds(findings_of(publisher)) == [(FindingKind.DUPLICATE, ((4, 5),))]


def test_a_record_that_is_a_row_and_quarantined_is_unknown(publisher: Publisher) -> None:
    publisher.quarantine(0, [*BAD, (1, 3)], kept=5)

    assert kinds(findings_of(publisher)) == [(FindingKind.UNKNOWN_ROW, ((3, 4),))]


def test_a_number_that_is_not_that_of_the_files_is_told(publisher: Publisher) -> None:
    publisher.quarantine(0, BAD, kept=3)

    assert kinds(findings_of(publisher)) == [(FindingKind.ROW_COUNT, ())]


def test_a_range_that_does_not_say_that_it_keeps_all_may_lack_some(publisher: Publisher) -> None:
    """Goal: ranges of an earlier release, and those that drop, are as they were."""
    assert findings_of(publisher) == []
    publisher.quarantine(0, [*BAD[:1], (1, 3)])

    assert kinds(findings_of(publisher)) == [(FindingKind.UNKNOWN_ROW, ((3, 4),))]


def test_errors_that_were_let_go_are_explained_and_others_are_not(publisher: Publisher) -> None:
    publisher.quarantine(0, BAD[:1], kept=4)
    publisher.quarantine(0, BAD[1:], kept=4)
    assert findings_of(publisher, let_go=True) == []

    other = Publisher(publisher.warehouse / "other")
    other.publish({0: 0}, {0: 4}, rows_of(0, 0, 2), rejects=[(0, 2, 3)])
    other.quarantine(0, [(0, 2)], kept=1)
    assert kinds(findings_of(other, let_go=True)) == [(FindingKind.LOST_WRITE, ((3, 4),))]


@pytest.fixture
def two(tmp_path: Path) -> Publisher:
    """Two ranges with three bad records each."""
    publisher = Publisher(tmp_path)
    publisher.publish({0: 0}, {0: 9}, rows_of(0, 3, 9), rejects=[(0, 0, 2)])
    publisher.publish({0: 9}, {0: 20}, rows_of(0, 12, 20), rejects=[(0, 9, 11)])
    return publisher


FIRST, SECOND = rows_of(0, 0, 3), rows_of(0, 9, 12)


def findings_together(publisher: Publisher) -> list[Finding]:
    ledger = lenient(CheckedLedger).model_validate(publisher.ledger())
    shared = read_compacted(publisher.warehouse, ledger.errors_compacted(), raw=True)
    findings = shared.findings
    for publication in ledger.publications:
        content = read_publication(publisher.warehouse, publication, lambda _: None)
        pieces = shared.pieces.get(publication.generation_id)
        findings += read_errors(publisher.warehouse, publication, content.bad, pieces)
    return findings


def test_bad_records_of_two_ranges_in_one_file_are_no_finding(two: Publisher) -> None:
    two.quarantine_together({0: FIRST, 1: SECOND})

    ledger = lenient(CheckedLedger).model_validate(two.ledger())
    assert findings_together(two) == []
    assert ledger.tables() == [ledger.data_source, errors_table(ledger.data_source)]
    assert set(ledger.paths()) == {
        *("clicks/data/task-g0/0.parquet", "clicks/data/task-g1/0.parquet"),
        "clicks/data/compact_1/segment-00000.parquet",
    }


@pytest.mark.parametrize(
    ("shares", "more", "wanted"),
    [
        ({0: FIRST, 1: SECOND[:2]}, [], {(FindingKind.LOST_WRITE, ((11, 12),))}),
        (
            {0: FIRST, 1: SECOND},
            SECOND[:1],
            {(FindingKind.ROW_COUNT, ()), (FindingKind.DUPLICATE, ((9, 10),))},
        ),
        (
            {0: FIRST, 1: SECOND},
            [(0, 30)],
            {(FindingKind.ROW_COUNT, ()), (FindingKind.UNKNOWN_ROW, ((30, 31),))},
        ),
        ({0: FIRST, 1: [*SECOND, (0, 13)]}, [], {(FindingKind.UNKNOWN_ROW, ((13, 14),))}),
    ],
)
def test_no_fault_of_a_compacted_errors_file_is_hidden(
    two: Publisher,
    shares: dict[int, list[tuple[int, int]]],
    more: list[tuple[int, int]],
    wanted: set[tuple[FindingKind, tuple[tuple[int, int], ...]]],
) -> None:
    two.quarantine_together(shares, more)

    assert set(kinds(findings_together(two))) >= wanted


def test_a_compacted_errors_file_that_holds_rows_is_told(two: Publisher) -> None:
    two.quarantine_together({0: FIRST, 1: SECOND})
    path = two.warehouse / "clicks/data/compact_1/segment-00000.parquet"
    path.write_bytes((two.warehouse / "clicks/data/task-g0/0.parquet").read_bytes())

    assert {FindingKind.DIGEST_MISMATCH, FindingKind.LOST_WRITE} <= {
        each.kind for each in findings_together(two)
    }


def test_an_errors_file_that_is_another_or_gone_is_told(publisher: Publisher) -> None:
    publisher.quarantine(0, BAD, kept=4)
    path = publisher.warehouse / "clicks/data/task-g0/errors-0.parquet"
    content = path.read_bytes()

    path.write_bytes(content[:-1] + b"x")
    assert FindingKind.DIGEST_MISMATCH in {each.kind for each in findings_of(publisher)}
    path.unlink()
    assert FindingKind.MISSING_FILE in {each.kind for each in findings_of(publisher)}


def test_the_reasons_that_are_no_fault_are_those_of_the_workers() -> None:
    """Goal: `verify` keeps a list of its own, and it is the same."""
    assert {r.value for r in RejectReason if r.thrown_away} == THROWN_AWAY
