"""`verify` and the end of history: old publications are folded, and the proof is the same."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.model.replica_digests import Comparison, Divergence
from supervisor.verify.verdict import FindingKind, Verdict, Verification
from tests.conformance.stories import CLICKS, NOON
from tests.supervisor.verify.compacting import Cell, Table
from tests.supervisor.verify.test_compaction import _step

TWO_FILES: dict[int, list[Cell]] = {0: [(0, 0), (1, 0), (0, 0), (1, 0)], 1: [(0, 0), None, (0, 0)]}
"""Two partitions, rows of two chunks, one offset that is no record."""
TOTALS = ("records", "unproven", "lost", "duplicated", "rejected", "declared", "dropped", "counted")


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Four ranges, each with a file in each of two chunks."""
    table = Table(tmp_path)
    for _ in range(4):
        table.publish(TWO_FILES)
    return table


def totals(verdict: Verification) -> dict[str, int]:
    return {name: verdict.total(name) for name in TOTALS}


def test_old_ranges_become_one_and_are_proven_as_before(table: Table) -> None:
    before = table.verify()

    table.end_history()

    after, ledger = table.verify(), table.ledger()
    assert [each.ranges for each in ledger.publications] == [3, 1], "the newest range stays"
    assert len(ledger.publications[0].segments) == 6
    assert (before.verdict, after.verdict) == (Verdict.PROVEN, Verdict.PROVEN)
    assert totals(after) == totals(before)
    assert totals(after)["records"] == 4 * 6


def test_what_was_ended_once_is_not_ended_again(table: Table) -> None:
    assert table.end_history() > 0
    ledger = table.ledger()

    assert table.end_history() == 0
    assert table.ledger() == ledger


def test_new_ranges_are_folded_into_the_old_one_later(table: Table) -> None:
    table.end_history()
    for _ in range(3):
        table.publish(TWO_FILES)
    table.end_history()

    assert [each.ranges for each in table.ledger().publications] == [6, 1]
    assert table.verify().verdict is Verdict.PROVEN
    assert table.verify().total("records") == 7 * 6


def test_a_file_that_was_dropped_leaves_its_numbers_and_no_row(table: Table) -> None:
    table.take_out("task-g1/0", "task-g2/1")
    table.delete("task-g1/0", "task-g2/1")
    before = table.verify()

    table.end_history()

    after, [old, _] = table.verify(), table.ledger().publications
    assert old.dropped_long_ago is not None
    assert (old.dropped_long_ago.files, old.dropped_long_ago.rows, old.let_go) == (2, 6, ())
    assert after.findings == ()
    assert (after.verdict, totals(after)) == (before.verdict, totals(before))
    assert totals(after)["dropped"] == 6


def test_a_compacted_file_keeps_the_shares_of_folded_ranges(table: Table) -> None:
    compacted = table.compact("task-g1/0", "task-g3/0", "task-g4/0")
    table.delete("task-g1/0", "task-g3/0", "task-g4/0")
    before = table.verify()

    table.end_history()

    [file] = table.ledger().compacted()
    assert sorted((owner, share.rows) for owner, share in file.shares) == [("g:1", 8), ("g:4", 4)]
    assert totals(table.verify()) == totals(before)
    table.take_out(compacted)
    table.delete(compacted)
    dropped = table.verify()
    table.end_history()
    assert table.verify().findings == ()
    assert totals(table.verify()) == totals(dropped)
    with table.store.reading() as tx:
        assert tx.compactions.recent(None, 10) == []


def test_a_range_whose_replica_differed_is_kept_as_it_is(table: Table) -> None:
    with table.store.leading(table.term) as tx:
        tx.segments.add_diverged("g:2", Divergence("another", "0" * 64, 6, Comparison.OTHER_ROWS))

    table.end_history()

    assert [each.generation_id for each in table.ledger().publications] == [
        "g:1",
        "g:2",
        "g:3",
        "g:4",
    ]


# -- planted faults --------------------------------------------------------------------------------


def test_a_folded_file_that_is_gone_is_found(table: Table) -> None:
    table.end_history()
    table.path("task-g2/0").unlink()

    verdict = table.verify()

    assert {found.kind for found in verdict.findings} == {
        FindingKind.MISSING_FILE,
        FindingKind.LOST_WRITE,
    }
    assert verdict.total("lost") == 4


def test_a_compaction_that_loses_a_row_of_a_folded_range_is_found(table: Table) -> None:
    table.end_history()
    table.compact("task-g1/0", "task-g2/0", change=lambda rows: rows[1:])

    assert FindingKind.LOST_WRITE in {found.kind for found in table.verify().findings}


def test_more_rows_than_were_dropped_are_found(table: Table) -> None:
    """Goal: the numbers of files that are long gone still have to agree."""
    table.take_out("task-g1/0")
    table.delete("task-g1/0")
    table.end_history()
    assert table.verify().findings == ()
    with table.store.leading(table.term) as tx:
        tx.segments.mark_unused(["task-g2/0"], NOON)
        [old] = tx.segments.choose(CLICKS, ids=["task-g2/0"])
        tx.expiry.drop_segments([old], {})

    verdict = table.verify()

    assert FindingKind.LOST_WRITE in {found.kind for found in verdict.findings}


# -- whatever happens ------------------------------------------------------------------------------


@given(data=st.data(), rolled_up=st.booleans())
def test_whenever_history_ends_the_proof_is_that_of_a_history_kept_whole(
    data: st.DataObject, *, rolled_up: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = Table(Path(folder, "a"), rolled_up)
        twin = Table(Path(folder, "b"), rolled_up)
        for _ in range(data.draw(st.integers(1, 12), "steps")):
            if data.draw(st.integers(0, 3), "history ends") == 0:
                table.end_history()
            _step(data, table, twin)
        table.end_history()

        verification, expected = table.verify(), twin.verify()

    assert verification.findings == ()
    assert verification.verdict is expected.verdict
    assert totals(verification) == totals(expected)
