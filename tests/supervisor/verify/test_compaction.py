"""`verify` and compaction: nothing changes but the files, and no fault of theirs is hidden."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.model.rows import Segment
from supervisor.verify.verdict import FindingKind, Verdict, Verification
from tests.supervisor.verify.compacting import Cell, Change, Table

TWO_FILES: dict[int, list[Cell]] = {0: [(0, 0), (1, 0), (0, 0), (1, 0)], 1: [(0, 0), None, (0, 0)]}
"""Two partitions, rows of two chunks, one offset that is no record."""


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Three ranges, each with a file in each of two chunks."""
    table = Table(tmp_path)
    for _ in range(3):
        table.publish(TWO_FILES)
    return table


def kinds(verdict: Verification) -> set[FindingKind]:
    return {found.kind for found in verdict.findings}


def of_ranges(verdict: Verification) -> dict[str, set[Verdict]]:
    verdicts: dict[str, set[Verdict]] = {}
    for each in (each for partition in verdict.partitions for each in partition.ranges):
        verdicts.setdefault(each.generation_id, set()).add(each.verdict)
    return verdicts


# -- what is as it should be -----------------------------------------------------------------------


@pytest.mark.parametrize("merged_spans", [False, True])
def test_a_table_of_compacted_files_is_proven_range_by_range(
    table: Table, *, merged_spans: bool
) -> None:
    table.merged_spans = merged_spans
    before = table.verify()
    table.compact("task-g1/0", "task-g2/0")
    again = table.compact("task-g1/1", "task-g2/1")
    table.compact(again, "task-g3/1")
    table.delete("task-g1/0", "task-g2/1", again)

    after = table.verify()

    assert before.verdict is Verdict.PROVEN
    assert after.to_dict() == before.to_dict()


def test_what_was_replaced_is_neither_a_file_of_the_table_nor_let_go(table: Table) -> None:
    compacted_id = table.compact("task-g1/0", "task-g3/0")

    first, second, third = table.ledger().publications

    assert [file.path for file in first.segments] == ["clicks/data/task-g1/1.parquet"]
    assert [len(each.segments) for each in (first, second, third)] == [1, 2, 1]
    assert [len(each.let_go) for each in (first, second, third)] == [0, 0, 0]
    paths = {each.file.path for each in (*first.compacted, *third.compacted)}
    assert paths == {str(table.path(compacted_id).relative_to(table.root))}
    assert (second.compacted, [each.rows for each in first.compacted]) == ((), [4])


def test_a_compacted_file_that_was_dropped_is_let_go_by_each_of_its_ranges(table: Table) -> None:
    compacted_id = table.compact("task-g1/0", "task-g2/0")
    table.take_out(compacted_id)
    table.delete(compacted_id)

    verdict = table.verify()

    assert (verdict.verdict, verdict.findings) == (Verdict.OFFSETS_ONLY, ())
    assert [each.dropped for each in verdict.partitions] == [4, 4]
    whole, dropped = {Verdict.PROVEN}, {Verdict.OFFSETS_ONLY}
    assert of_ranges(verdict) == {"g:1": dropped, "g:2": dropped, "g:3": whole}


def test_a_compacted_file_that_comes_back_is_proven_again(table: Table) -> None:
    compacted_id = table.compact("task-g1/0", "task-g2/0")
    table.take_out(compacted_id)
    table.put_back(compacted_id, "task-g1/0")

    assert table.verify().verdict is Verdict.PROVEN


def test_rows_of_a_forgotten_supervisor_are_known_and_not_judged(tmp_path: Path) -> None:
    """Goal: a file with rows of it and of its successor is no riddle to the successor's proof."""
    table = Table(tmp_path)
    [old, older_too] = table.publish({0: [(0, 0), (0, 0), (1, 0)]})
    table.forget()
    [new] = table.publish({0: [(0, 0), (0, 0)]})
    compacted_id = table.compact(old, new)

    verdict = table.verify()

    assert (verdict.verdict, verdict.findings) == (Verdict.PROVEN, ())
    assert verdict.total("records") == 2
    [share] = table.ledger().forgotten
    assert (share.file.path, share.rows) == (str(table.path(compacted_id).relative_to(tmp_path)), 2)
    table.take_out(older_too)
    table.take_out(compacted_id)
    assert table.verify().total("dropped") == 2
    assert table.ledger().forgotten == ()


def test_a_file_of_forgotten_ranges_alone_is_left_out(tmp_path: Path) -> None:
    table = Table(tmp_path)
    files = table.publish({0: [(0, 0), (0, 1)]})
    table.compact(*files)
    table.forget()
    table.publish({0: [(0, 0)]})

    assert table.verify().verdict is Verdict.PROVEN
    assert table.ledger().forgotten == ()


def test_rows_of_a_forgotten_supervisor_are_not_lost_track_of(tmp_path: Path) -> None:
    """Goal: a compaction may not lose what nobody compares with the topic any more."""
    table = Table(tmp_path)
    [old] = table.publish({0: [(0, 0), (0, 0)]})
    table.forget()
    [new] = table.publish({0: [(0, 0)]})
    table.compact(old, new, change=lambda rows: rows[1:])

    verdict = table.verify()

    assert kinds(verdict) == {FindingKind.ROW_COUNT}
    assert any("a forgotten range" in found.detail for found in verdict.findings)


def test_rows_that_are_rolled_up_are_counted_by_the_shares_of_their_file(tmp_path: Path) -> None:
    table = Table(tmp_path, rolled_up=True)
    files = [table.publish(TWO_FILES)[0] for _ in range(3)]
    before = table.verify()
    table.compact(*files[:2])

    after = table.verify()

    assert after.findings == ()
    assert after.verdict is Verdict.OFFSETS_ONLY
    assert after.to_dict() == before.to_dict()


# -- planted faults --------------------------------------------------------------------------------


def _lose(rows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return rows[1:]


def _double(rows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [*rows, rows[2]]


def _exchange(rows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [*rows[1:], rows[2]]


def _of_another_range(rows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [*rows, (0, 8)]  # of g3, whose rows are in files of their own


def _of_nobody(rows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [*rows, (0, 1_000)]


def _of_another_chunk(rows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [*rows, (0, 1)]  # of g1 as well, between two rows that are in the file


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (_lose, {FindingKind.ROW_COUNT, FindingKind.LOST_WRITE}),
        (_double, {FindingKind.ROW_COUNT, FindingKind.DUPLICATE}),
        (_exchange, {FindingKind.ROW_COUNT, FindingKind.LOST_WRITE, FindingKind.DUPLICATE}),
        (_of_another_range, {FindingKind.ROW_COUNT, FindingKind.UNKNOWN_ROW}),
        (_of_nobody, {FindingKind.ROW_COUNT, FindingKind.UNKNOWN_ROW}),
        (_of_another_chunk, {FindingKind.ROW_COUNT, FindingKind.DUPLICATE}),
    ],
)
def test_what_a_compaction_did_wrong_is_found(
    table: Table, change: Change, expected: set[FindingKind]
) -> None:
    """Goal: the record of the new file agrees with the file, and the rows are wrong."""
    table.compact("task-g1/0", "task-g2/0", change=change)

    verdict = table.verify()

    assert kinds(verdict) == expected
    violated, whole = {Verdict.VIOLATED}, {Verdict.PROVEN}
    assert of_ranges(verdict) == {"g:1": violated, "g:2": violated, "g:3": whole}


def test_a_fault_survives_further_compactions(table: Table) -> None:
    bad = table.compact("task-g1/0", "task-g2/0", change=_lose)
    table.compact(bad, "task-g3/0")

    assert FindingKind.LOST_WRITE in kinds(table.verify())


def test_a_replaced_file_that_readers_are_given_again_is_found(table: Table) -> None:
    table.compact("task-g1/0", "task-g2/0")

    verdict = table.verify("task-g2/0")

    [found] = verdict.findings
    assert found.kind is FindingKind.UNKNOWN_ROW
    assert "task-g2/0.parquet is in the table's list, of no publication" in found.detail


def test_a_replaced_file_that_is_used_again_has_its_rows_twice(table: Table) -> None:
    """Goal: the defence of `mark_used` does its work, and without it the proof fails."""
    table.compact("task-g1/0", "task-g2/0")
    table.put_back("task-g1/0", "task-g2/0")
    assert table.verify().verdict is Verdict.PROVEN

    table.resurrected = {"task-g2/0"}

    verdict = table.verify()
    assert kinds(verdict) == {FindingKind.DUPLICATE, FindingKind.ROW_COUNT}
    assert verdict.total("duplicated") == 4


def _flip_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[6] ^= 1
    path.write_bytes(content)


def test_a_compacted_file_that_is_gone_is_found_once_and_spoils_its_ranges(table: Table) -> None:
    compacted_id = table.compact("task-g1/0", "task-g2/0")
    table.path(compacted_id).unlink()

    verdict = table.verify()

    assert kinds(verdict) == {FindingKind.MISSING_FILE, FindingKind.LOST_WRITE}
    assert [f.kind for f in verdict.findings].count(FindingKind.MISSING_FILE) == 1
    assert of_ranges(verdict)["g:3"] == {Verdict.PROVEN}
    assert of_ranges(verdict)["g:2"] == {Verdict.VIOLATED}


def test_a_compacted_file_that_was_changed_spoils_each_of_its_ranges(table: Table) -> None:
    compacted_id = table.compact("task-g1/0", "task-g2/0")
    _flip_a_byte(table.path(compacted_id))

    verdict = table.verify()

    assert FindingKind.DIGEST_MISMATCH in kinds(verdict)
    violated, whole = {Verdict.VIOLATED}, {Verdict.PROVEN}
    assert of_ranges(verdict) == {"g:1": violated, "g:2": violated, "g:3": whole}


def test_rolled_up_rows_that_stand_for_too_few_records_are_found(tmp_path: Path) -> None:
    table = Table(tmp_path, rolled_up=True)
    files = [table.publish(TWO_FILES)[0] for _ in range(2)]
    table.compact(*files, change=_lose)

    verdict = table.verify()

    assert kinds(verdict) == {FindingKind.ROW_COUNT}
    assert set().union(*of_ranges(verdict).values()) == {Verdict.VIOLATED}


# -- whatever happens ------------------------------------------------------------------------------

_places = st.one_of(st.none(), st.tuples(st.integers(0, 2), st.integers(0, 1)))
_cells = st.dictionaries(st.integers(0, 2), st.lists(_places, max_size=5), min_size=1)


@given(data=st.data(), rolled_up=st.booleans(), merged_spans=st.booleans())
def test_whatever_is_compacted_the_verdict_is_that_of_the_files_as_published(
    data: st.DataObject, *, rolled_up: bool, merged_spans: bool
) -> None:
    """Goal: a table that is compacted, and one that never is, are told alike to the last number."""
    with tempfile.TemporaryDirectory() as folder:
        table = Table(Path(folder, "a"), rolled_up, merged_spans)
        twin = Table(Path(folder, "b"), rolled_up)
        for _ in range(data.draw(st.integers(1, 12), "steps")):
            _step(data, table, twin)

        verification, expected = table.verify(), twin.verify()

    assert verification.findings == ()
    assert verification.to_dict() == expected.to_dict()


def _step(data: st.DataObject, table: Table, twin: Table) -> None:
    """Do something to both, but compact only the first one's files."""
    what = data.draw(st.sampled_from(["publish", "compact", "compact", "out", "back", "delete"]))
    if what == "publish":
        cells = data.draw(_cells)
        assert table.publish(cells) == twin.publish(cells)
        return
    known = [each for each in table.segments() if each.replaced_by is None]
    if what == "compact":
        _compact(data, table, [each for each in known if each.used])
        return
    if not (ids := sorted(each.id for each in known if each.used is (what == "out"))):
        return
    chosen = data.draw(st.sampled_from(ids))
    same = table.origins.get(chosen, (chosen,))
    if what == "out":
        table.take_out(chosen)
        twin.take_out(*same)
    elif what == "back":
        table.put_back(chosen)
        twin.put_back(*same)
    else:
        table.delete(chosen)
        twin.delete(*same)


def _compact(data: st.DataObject, table: Table, used: list[Segment]) -> None:
    if not used:
        return
    chunk = data.draw(st.sampled_from(sorted({each.file.interval_start for each in used})))
    ids = sorted(each.id for each in used if each.file.interval_start == chunk)
    chosen = data.draw(st.lists(st.sampled_from(ids), min_size=1, unique=True))
    replaced = [each for each in chosen if data.draw(st.booleans(), f"delete {each}")]
    table.compact(*chosen)
    table.delete(*replaced)
