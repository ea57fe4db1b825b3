"""Faults of the stores: repeats, and the order in which bytes and rows become durable."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

import sqlalchemy as sa

from supervisor.adapters.reports import entries, sql
from supervisor.adapters.reports.entries import ReportEntry
from supervisor.adapters.reports.logs.segment_files import Disk, SegmentWriter
from supervisor.adapters.reports.logs.segments import SegmentLogStore
from supervisor.adapters.reports.schema import REPORTS
from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.logs import StoredChunk
from supervisor.ports.store_problems import ContentRefused
from tests.simulation.planted.patches import Function, Mutant, Patches

_PIPELINE = "tests/supervisor/reports/test_pipeline.py"
_STORE = "tests/conformance/reports/test_report_store.py"
_CRASH = "tests/conformance/reports/test_segment_crash.py"


def conflict_as_failure(patches: Patches) -> None:
    def make(outcomes_of: Function) -> object:
        def strict(
            given: Sequence[ReportEntry], before: Mapping[str, bytes]
        ) -> Sequence[StoreOutcome]:
            outcomes: Sequence[StoreOutcome] = outcomes_of(given, before)
            if StoreOutcome.CONFLICT in outcomes:
                raise ContentRefused("the id is taken")
            return outcomes

        return strict

    patches.function(entries, "outcomes_of", make)


def mismatch_unnoticed(patches: Patches) -> None:
    def make(outcomes_of: Function) -> object:
        def blind(
            given: Sequence[ReportEntry], before: Mapping[str, bytes]
        ) -> Sequence[StoreOutcome]:
            stored = StoreOutcome.STORED
            outcomes: Sequence[StoreOutcome] = outcomes_of(given, before)
            return [each if each is stored else StoreOutcome.CONFLICT for each in outcomes]

        return blind

    patches.function(entries, "outcomes_of", make)


def last_write_wins(patches: Patches) -> None:
    def make(insert: Function) -> object:
        def replacing(
            connection: sa.Connection, given: Mapping[str, ReportEntry], now: datetime
        ) -> Mapping[str, bytes]:
            before = sql._digests(connection, [*given])
            connection.execute(sa.delete(REPORTS).where(REPORTS.c.record_id.in_(before)))
            insert(connection, given, now)
            return before

        return replacing

    patches.function(sql, "_insert_on_sqlite", make)


class _Later(Disk):
    """Keeps syncs for later."""

    def __init__(self, disk: Disk, *, files: bool, folders: bool) -> None:
        self._disk, self._files, self._folders = disk, files, folders
        self._due: list[Callable[[], None]] = []

    def create(self, path: Path) -> int:
        return self._disk.create(path)

    def write(self, descriptor: int, content: memoryview) -> int:
        return self._disk.write(descriptor, content)

    def sync(self, descriptor: int) -> None:
        self._do(self._files, partial(self._disk.sync, descriptor))

    def sync_folder(self, folder: Path) -> None:
        self._do(self._folders, partial(self._disk.sync_folder, folder))

    def catch_up(self) -> None:
        for sync in self._due:
            sync()

    def _do(self, late: bool, sync: Callable[[], None]) -> None:
        if late:
            self._due.append(sync)
        else:
            sync()


def index_before_fsync(patches: Patches) -> None:
    def make(put_many: Function) -> object:
        def hasty(store: SegmentLogStore, chunks: Sequence[StoredChunk]) -> object:
            disk = store._writer._disk
            later = _Later(disk, files=True, folders=False)
            store._writer._disk = later
            try:
                outcomes = put_many(store, chunks)
            finally:
                store._writer._disk = disk
            later.catch_up()
            return outcomes

        return hasty

    patches.method(SegmentLogStore, "put_many", make)


def _without(patches: Patches, *, files: bool, folders: bool) -> None:
    def make(append: Function) -> object:
        def unsynced(writer: SegmentWriter, pieces: Sequence[tuple[str, bytes]]) -> object:
            disk = writer._disk
            writer._disk = _Later(disk, files=files, folders=folders)
            try:
                return append(writer, pieces)
            finally:
                writer._disk = disk

        return unsynced

    patches.method(SegmentWriter, "append", make)


def stored_without_fsync(patches: Patches) -> None:
    _without(patches, files=True, folders=False)


def new_file_without_its_entry(patches: Patches) -> None:
    _without(patches, files=False, folders=True)


MUTANTS = (
    Mutant(
        "conflict-as-failure",
        "II.5.1, P2",
        "a record whose id is stored already is refused",
        conflict_as_failure,
        direct=f"{_PIPELINE}::test_a_repeated_record_is_stored_once_and_is_a_conflict",
    ),
    Mutant(
        "mismatch-unnoticed",
        "II.5.1",
        "another content under a known id counts as the same one",
        mismatch_unnoticed,
        direct=f"{_PIPELINE}"
        "::test_another_content_under_the_same_id_is_a_mismatch_and_the_first_is_kept",
    ),
    Mutant(
        "last-write-wins",
        "II.5.1",
        "another content under a known id replaces what is stored",
        last_write_wins,
        direct=f"{_STORE}"
        "::test_another_content_under_the_same_id_is_a_mismatch_and_the_first_wins[sqlite]",
    ),
    Mutant(
        "index-before-fsync",
        "II.5",
        "the rows of a log are committed, and then its bytes are synced",
        index_before_fsync,
        direct=f"{_CRASH}::test_a_crash_at_any_step_loses_nothing_that_was_stored",
    ),
    Mutant(
        "stored-without-fsync",
        "II.5",
        "bytes that are written count as stored",
        stored_without_fsync,
        direct=f"{_CRASH}::test_what_was_returned_as_stored_outlives_a_loss_of_power",
    ),
    Mutant(
        "new-file-without-its-entry",
        "II.5",
        "a new file is synced, and the folder that names it is not",
        new_file_without_its_entry,
        direct=f"{_CRASH}::test_what_was_returned_as_stored_outlives_a_loss_of_power",
    ),
)
