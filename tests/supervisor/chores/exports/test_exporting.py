"""Exported tables follow the published list: the same rows, the same files, in publish order."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from supervisor.chores.exports import CompareAll
from supervisor.chores.segments import READERS
from supervisor.control.export_outbox import announce, awaited, still_naming
from supervisor.core.model.listed_segments import SegmentKey
from supervisor.core.values.errors import Unavailable
from supervisor.core.values.export_formats import ExportFormat
from supervisor.metadata.repositories.segments import SqlSegments
from supervisor.ports.store import Store, Transaction
from tests.supervisor.chores.exports.exports import DELTA, GRACE, ICEBERG, Extra, Harbour
from tests.supervisor.chores.exports.exports_read import (
    columns_of,
    names_in,
    rows_at,
    rows_in,
    version_of,
)
from tests.supervisor.core.snapshots import HOUR, TOPIC
from tests.supervisor.world import GC_DELAY

BOTH = pytest.mark.parametrize("table_format", list(ExportFormat))


@pytest.fixture
def harbour(store: Store, tmp_path: Path) -> Harbour:
    return Harbour(store, tmp_path / "warehouse", DELTA, ICEBERG)


def assert_equal(harbour: Harbour, table_format: ExportFormat) -> None:
    """What a reader sees is what was published, and the files are the very same ones."""
    published = harbour.published()
    assert rows_in(harbour, table_format) == sum(published.values(), Counter())
    assert names_in(harbour, table_format) == set(published)
    assert rows_at(harbour, table_format) == sum(published.values(), Counter())


@BOTH
def test_what_is_published_is_exported_without_a_copy(
    harbour: Harbour, table_format: ExportFormat
) -> None:
    harbour.publish_range()
    harbour.export(table_format)
    first = version_of(harbour, table_format)
    assert_equal(harbour, table_format)

    harbour.publish_range()
    harbour.publish_range()
    harbour.export(table_format)

    assert_equal(harbour, table_format)
    assert version_of(harbour, table_format) == first + 1  # one commit for the two
    assert harbour.row(table_format).standing.version == first + 1
    assert harbour.queue(table_format).outstanding_events == 0


@BOTH
def test_files_leave_and_come_back_with_their_segments(
    harbour: Harbour, table_format: ExportFormat
) -> None:
    first, second = harbour.publish_range(), harbour.publish_range()
    harbour.export(table_format)

    harbour.mark(first, used=False)
    harbour.export(table_format)
    assert_equal(harbour, table_format)

    before = version_of(harbour, table_format)
    harbour.mark(first, used=True)
    harbour.mark(second, used=False)
    harbour.export(table_format)
    assert_equal(harbour, table_format)
    assert version_of(harbour, table_format) == before + 1  # nobody saw both, or neither

    harbour.mark(second, used=True)
    harbour.export(table_format)
    assert_equal(harbour, table_format)


@BOTH
def test_a_table_that_lost_all_its_rows_is_empty_and_no_error(
    harbour: Harbour, table_format: ExportFormat
) -> None:
    path = harbour.publish_range()
    harbour.export(table_format)
    harbour.mark(path, used=False)
    harbour.export(table_format)
    assert rows_in(harbour, table_format) == Counter()

    harbour.publish_range()
    harbour.export(table_format)
    assert_equal(harbour, table_format)


@BOTH
def test_an_event_that_is_repeated_commits_nothing(
    harbour: Harbour, table_format: ExportFormat
) -> None:
    harbour.publish_range()
    harbour.export(table_format)
    before = version_of(harbour, table_format)

    with harbour.store.leading(harbour.leadership.term()) as tx:
        announce(tx, TOPIC, harbour.clock.now())
    harbour.export(table_format)
    assert version_of(harbour, table_format) == before

    harbour.compare_all()  # a term begins: it does commit, to shut others out
    harbour.export(table_format)
    assert version_of(harbour, table_format) == before + 1
    assert_equal(harbour, table_format)
    assert harbour.row(table_format).sequence == harbour.queue(table_format).next_seq - 1


@BOTH
def test_a_new_column_is_null_in_older_rows(harbour: Harbour, table_format: ExportFormat) -> None:
    harbour.publish_range()
    harbour.export(table_format)
    harbour.publish_range(extra=more)
    harbour.export(table_format)

    assert_equal(harbour, table_format)
    columns = columns_of(harbour, table_format)
    assert sorted(columns["tags"], key=str) == [None] * 6 + [["a", "b"]] * 6
    assert sorted(columns["score"], key=str) == [1.5] * 6 + [None] * 6


def more(rows: int) -> Extra:
    return {
        "score": pa.array([1.5] * rows, pa.float64()),
        "tags": pa.array([["a", "b"]] * rows),
        "sketch": pa.array([b"\0\1"] * rows),
    }


def whole(rows: int) -> Extra:
    """Give the column of `more` another type, which `more`'s is wider than."""
    return {"score": pa.array([7] * rows, pa.int64())}


def conflict(rows: int) -> Extra:
    return {"score": pa.array(["high"] * rows)}


@BOTH
def test_a_column_of_two_types_stops_its_export_with_a_name(
    harbour: Harbour, table_format: ExportFormat
) -> None:
    """Goal: one problem is one event for people, however often the table is published after it."""
    harbour.publish_range(extra=more)
    harbour.export(table_format)
    stood = version_of(harbour, table_format)
    since = harbour.clock.now() + HOUR
    bad = harbour.publish_range(extra=conflict)
    harbour.export(table_format)
    harbour.publish_range(extra=more)
    harbour.export(table_format)

    assert version_of(harbour, table_format) == stood
    row = harbour.row(table_format)
    assert "score" in row.problem
    assert bad.partition("/")[2] in row.problem
    assert row.behind_since == since
    [failed] = harbour.failed()
    assert failed.reason == row.problem

    harbour.mark(bad, used=False)
    harbour.export(table_format)
    assert_equal(harbour, table_format)
    assert (harbour.row(table_format).problem, harbour.row(table_format).behind_since) == ("", None)


@BOTH
def test_names_that_differ_in_case_only_stop_the_export(
    harbour: Harbour, table_format: ExportFormat
) -> None:
    harbour.publish_range(extra=more)
    harbour.publish_range(extra=lambda rows: {"Score": pa.array([1.5] * rows)})
    harbour.export(table_format)

    assert "differs in case only from" in harbour.row(table_format).problem


def test_iceberg_widens_a_column_where_delta_stands_still(harbour: Harbour) -> None:
    harbour.publish_range(extra=lambda rows: {"n": pa.array([1] * rows, pa.int32())})
    for each in ExportFormat:
        harbour.export(each)
    harbour.publish_range(extra=lambda rows: {"n": pa.array([2**40] * rows)})
    for each in ExportFormat:
        harbour.export(each)

    assert_equal(harbour, ICEBERG)
    assert harbour.row(ICEBERG).problem == ""
    assert "column n is integer in the exported table and long" in harbour.row(DELTA).problem


@BOTH
def test_switched_off_it_stays_as_it_was_and_on_again_it_catches_up_at_once(
    harbour: Harbour, table_format: ExportFormat
) -> None:
    first = harbour.publish_range()
    harbour.export(table_format)
    stood, rows = version_of(harbour, table_format), rows_in(harbour, table_format)
    harbour.ask_for()
    harbour.publish_range()
    harbour.mark(first, used=False)
    harbour.publish_range()
    harbour.export(table_format)
    assert (version_of(harbour, table_format), rows_in(harbour, table_format)) == (stood, rows)

    harbour.ask_for(table_format)
    harbour.export(table_format)
    assert_equal(harbour, table_format)
    assert version_of(harbour, table_format) == stood + 1


def test_a_file_is_deleted_only_once_no_export_names_it(harbour: Harbour) -> None:
    """Goal: a reader of the newest version never meets a file that is gone."""
    gone = harbour.publish_range()
    harbour.publish_range()
    for each in ExportFormat:
        harbour.export(each)
    harbour.mark(gone, used=False)
    harbour.export(ICEBERG)

    harbour.end_lives(GRACE)
    harbour.end_lives(GC_DELAY)
    harbour.end_lives(timedelta(days=1))
    assert (harbour.root / gone).exists()  # the Delta table still names it

    harbour.export(DELTA)
    harbour.end_lives(GC_DELAY)
    assert (harbour.root / gone).exists()  # who opened the Delta table before may still read it
    harbour.end_lives(READERS - timedelta(seconds=1))
    assert (harbour.root / gone).exists()
    harbour.end_lives(GC_DELAY)
    assert not (harbour.root / gone).exists()
    for each in ExportFormat:
        assert_equal(harbour, each)


def test_a_file_stays_for_readers_of_an_export_that_caught_up_just_before_its_deletion(
    harbour: Harbour,
) -> None:
    """Goal: an export that named a file beyond its grace time was late, whoever looks when."""
    gone = harbour.publish_range()
    harbour.publish_range()
    for each in ExportFormat:
        harbour.export(each)
    harbour.mark(gone, used=False)
    harbour.export(ICEBERG)
    harbour.end_lives(GRACE)  # it is condemned, and the Delta table names it

    harbour.clock.advance(GC_DELAY - timedelta(seconds=1))
    harbour.export(DELTA)
    harbour.end_lives(timedelta(seconds=2))
    assert (harbour.root / gone).exists()
    harbour.end_lives(READERS - timedelta(seconds=1))
    assert (harbour.root / gone).exists()
    harbour.end_lives(GC_DELAY)
    assert not (harbour.root / gone).exists()


def test_a_file_stays_as_long_as_the_queue_is_dead_that_would_tell_its_export(
    harbour: Harbour,
) -> None:
    """Goal: the exported table stands still, and what it names is there; a repair catches up."""
    gone = harbour.publish_range()
    harbour.publish_range()
    for each in ExportFormat:
        harbour.export(each)
    harbour.die(DELTA)
    harbour.mark(gone, used=False)
    harbour.export(ICEBERG)

    harbour.end_lives(GRACE)
    for _ in range(3):
        harbour.end_lives(timedelta(days=1))
    assert gone in names_in(harbour, DELTA)
    assert (harbour.root / gone).exists()

    harbour.repair(DELTA)
    harbour.export(DELTA)
    for _ in range(2):
        harbour.end_lives(timedelta(days=1))
    assert not (harbour.root / gone).exists()
    for each in ExportFormat:
        assert_equal(harbour, each)


def test_a_term_compares_its_exports_once_and_again_if_it_could_not(harbour: Harbour) -> None:
    """Goal: a metadata database that was busy as the term began leaves no export behind."""
    busy = [Unavailable("it is busy")]

    def term() -> int:
        if busy:
            raise busy.pop()
        return harbour.leadership.term()

    compare = CompareAll(harbour.store, harbour.clock, term)
    before = harbour.queue().outstanding_events
    with pytest.raises(Unavailable):
        compare.run_once()
    waits = []
    for _ in range(2):
        compare.run_once()
        waits.append(harbour.queue().outstanding_events)

    assert waits == [before + 1, before + 1]


class ChangedBehindTheList:
    """A store in which a table changes right after a leader's transaction that read its list."""

    def __init__(self, store: Store, change: Callable[[], None]) -> None:
        self._store, self._change = store, change
        self.listed = False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- whatever a store has
        return getattr(self._store, name)

    @contextmanager
    def leading(self, term: int) -> Iterator[Transaction]:
        with self._store.leading(term) as tx:
            yield tx
        if self.listed:
            self.listed, change, self._change = False, self._change, lambda: None
            change()


@BOTH
def test_a_change_during_the_look_is_not_taken_for_exported(
    harbour: Harbour, table_format: ExportFormat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: no file is deleted that the exported table names, whenever it left the list."""
    gone = harbour.publish_range()
    harbour.publish_range()
    sound = harbour.store
    keys = SqlSegments.keys

    def change() -> None:
        harbour.mark(gone, used=False)

    def lists(self: SqlSegments, data_source: str, **which: Any) -> list[SegmentKey]:  # noqa: ANN401
        meddled.listed = True
        return keys(self, data_source, **which)

    meddled = ChangedBehindTheList(sound, change)
    processor = harbour.processor(table_format)
    monkeypatch.setattr(processor, "_kit", replace(processor._kit, store=meddled))
    monkeypatch.setattr(SqlSegments, "keys", lists)

    processor.run_once()

    assert gone in names_in(harbour, table_format)
    with sound.reading() as tx:
        needed = awaited(tx, TOPIC)
        late = still_naming(tx, TOPIC, {**needed})
    assert table_format in late
    harbour.export(table_format)
    assert gone not in names_in(harbour, table_format)
