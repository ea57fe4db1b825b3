"""Segment files after crashes, full disks and damage: what was returned as stored is not lost.

A crash of the machine leaves of a file what was synced, and any part of what was written behind it.
"""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from supervisor.adapters.reports.logs.segment_files import Disk, SegmentWriter
from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.logs import LogQuery, LogStore
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from tests.conformance.reports.log_chunks import (
    DAY,
    HOUR,
    NOON,
    TASK,
    chunk,
    cut,
    line,
    log_of,
    text_of,
    whole,
)
from tests.conformance.reports.segment_world import (
    CrashError,
    FailingDatabase,
    FailingDisk,
    ForgetfulDisk,
    SegmentWorld,
)

STORED, CONFLICT = StoreOutcome.STORED, StoreOutcome.CONFLICT
LONG_AGO = (NOON - 3 * DAY).timestamp()
WITHIN_S = 60


CALLS = ("folder", "create", "write", "sync", "entry of the file", "entry of the day")
"""The calls of the disk that a first batch takes, in their order."""


def test_a_first_batch_takes_these_calls_and_no_more(segments: SegmentWorld) -> None:
    disk = FailingDisk(len(CALLS), CrashError())
    segments.open(disk).put_many([chunk(b"one\n")])
    assert not disk.has_failed


@pytest.mark.parametrize("number", range(len(CALLS)), ids=CALLS)
def test_a_full_disk_stores_nothing_of_a_batch_and_then_all(
    segments: SegmentWorld, number: int
) -> None:
    """At each step: nothing is stored, the caller hears it, and a repeat succeeds."""
    store = segments.open(FailingDisk(number, OSError(errno.ENOSPC, "No space left on device")))
    text = log_of(8)
    chunks = cut(text, [2_000, 4_000])
    with pytest.raises(StoreAway, match="No space left"):
        store.put_many(chunks)
    assert store.span(TASK, 0) is None
    assert segments.open().span(TASK, 0) is None
    assert segments.files() == []
    assert list(store.put_many(chunks)) == [STORED] * 3
    assert text_of(store) == text


@pytest.mark.parametrize("call", [0, 1], ids=["write", "sync"])
def test_a_disk_that_fails_later_keeps_what_the_file_had(segments: SegmentWorld, call: int) -> None:
    """The file of before is not written again, since nobody knows what its tail is."""
    disk = FailingDisk(len(CALLS) + call, OSError(errno.EIO, "I/O error"))
    store = segments.open(disk)
    store.put_many([chunk(b"one\n")])
    (file,) = segments.files()
    first = file.read_bytes()
    with pytest.raises(StoreAway, match="I/O error"):
        store.put_many([chunk(b"two\n", 4)])
    assert file.read_bytes() == first
    assert list(store.put_many([chunk(b"one\n"), chunk(b"two\n", 4)])) == [CONFLICT, STORED]
    assert text_of(store) == b"one\ntwo\n"
    assert file.read_bytes() == first
    assert len(segments.files()) == 2


@pytest.mark.parametrize("number", range(len(CALLS) + 6))
def test_a_crash_at_any_step_loses_nothing_that_was_stored(
    segments: SegmentWorld, number: int
) -> None:
    """The first batch takes six calls, and each of the three others two."""
    store = segments.open(FailingDisk(number, CrashError()))
    text = log_of(8)
    chunks = [chunk(log_of(3), subject="before"), *cut(text, [2_000, 4_000])]
    returned: list[str] = []

    def put_each() -> None:
        for each in chunks:
            store.put_many([each])
            returned.append(each.record_id)

    with pytest.raises(CrashError):
        put_each()
    after = segments.open()
    outcomes = [after.put_many([each])[0] for each in chunks]
    assert outcomes == [CONFLICT] * len(returned) + [STORED] * (4 - len(returned))
    assert text_of(after) == text
    assert text_of(after, "before") == log_of(3)


def test_what_was_returned_as_stored_outlives_a_loss_of_power(segments: SegmentWorld) -> None:
    disk = ForgetfulDisk()
    store = segments.open(disk)
    text = log_of(30)
    for number, each in enumerate(cut(text, range(3_000, 30_000, 3_000))):
        store.put_many([each])
        if number % 4 == 3:
            segments.clock.advance(HOUR)  # the next one goes into another file
        disk.lose_power(segments.folder)
        assert text_of(segments.open()) == text[: each.offset + len(each.content)]
    assert len(segments.files()) == 3


@pytest.mark.parametrize("error", [CrashError(), StoreAway("cut")], ids=["crash", "away"])
def test_bytes_whose_rows_were_not_committed_are_no_part_of_the_store(
    segments: SegmentWorld, error: BaseException
) -> None:
    database = FailingDatabase(segments.url)
    store = segments.open(database=database)
    store.put_many([chunk(b"one\n")])
    database.error = error
    with pytest.raises(type(error)):
        store.put_many([chunk(b"two\n", 4, ends=True)])
    database.error = None
    assert text_of(store) == b"one\n"
    again = chunk(b"two\nthree\n", 4, ends=True)
    assert list(segments.open().put_many([again])) == [STORED]
    assert list(store.put_many([again])) == [CONFLICT]
    assert text_of(store) == b"one\ntwo\nthree\n"


def test_whatever_is_left_of_a_tail_without_rows_harms_nobody(segments: SegmentWorld) -> None:
    """The machine dies behind the append: any part of the tail may be on the disk."""
    database = FailingDatabase(segments.url)
    store = segments.open(database=database)
    store.put_many([chunk(b"one\n")])
    (file,) = segments.files()
    indexed = file.stat().st_size
    database.error = CrashError()
    with pytest.raises(CrashError):
        store.put_many([chunk(b"two\n", 4)])
    full = file.read_bytes()
    for left in range(indexed, len(full) + 1):
        file.write_bytes(full[:left])
        assert text_of(segments.open()) == b"one\n"
    file.write_bytes(full[:indexed] + bytes(len(full) - indexed))
    after = segments.open()
    assert list(after.put_many([chunk(b"one\n"), chunk(b"two\n", 4)])) == [CONFLICT, STORED]
    assert text_of(after) == b"one\ntwo\n"
    assert file.read_bytes()[:indexed] == full[:indexed]
    assert len(segments.files()) == 2


def test_no_two_processes_write_one_file(segments: SegmentWorld) -> None:
    writers = [SegmentWriter(segments.folder, "p", segments.clock) for _ in range(3)]
    for number in range(2):
        places = [each.append([(f"id-{number}", b"text")])[f"id-{number}"] for each in writers]
        assert len({place.segment for place in places}) == 3
    assert sorted(path.name for path in segments.files()) == ["p-1.seg", "p-2.seg", "p-3.seg"]
    for each in writers:
        each.close()
    with pytest.raises(ValueError, match=r"not '\.\./p'"):
        SegmentWriter(segments.folder, "../p", segments.clock)


def test_of_two_that_take_one_name_at_once_each_has_its_own_file(segments: SegmentWorld) -> None:
    theirs = b"a frame of another process"

    class Racing(Disk):
        def create(self, path: Path) -> int:
            if path.name == "p-1.seg":
                path.write_bytes(theirs)
            return super().create(path)

    store = segments.open(Racing())
    store.put_many([chunk(b"one\n")])
    assert text_of(store) == b"one\n"
    first, second = segments.files()
    assert (first.name, second.name) == ("p-1.seg", "p-2.seg")
    assert first.read_bytes() == theirs


def test_a_file_is_sealed_by_age_and_a_removed_one_is_left(segments: SegmentWorld) -> None:
    store = segments.open()
    texts = [log_of(1, number) for number in range(4)]
    for number, text in enumerate(texts[:3]):
        store.put_many([chunk(text, subject=f"task-{number}")])
        segments.clock.advance(HOUR / 2)
    assert [path.name for path in segments.files()] == ["p-1.seg", "p-2.seg"]
    segments.files()[1].unlink()
    store.put_many([chunk(texts[3], subject="task-3")])
    assert text_of(store, "task-3") == texts[3]
    (part,) = whole(store, "task-2")
    assert part.missing_bytes == len(texts[2])


def test_rows_of_a_file_that_vanished_behind_the_append_are_not_committed(
    segments: SegmentWorld,
) -> None:
    """A process that is frozen for a day between append and commit: its file went as garbage."""

    class Vanishing(Disk):
        def sync(self, descriptor: int) -> None:
            super().sync(descriptor)
            for path in segments.files():
                path.unlink()

    store = segments.open(Vanishing())
    with pytest.raises(StoreAway, match="gone"):
        store.put_many([chunk(b"one\n")])
    assert store.span(TASK, 0) is None


def test_retention_removes_whole_files_and_their_folders(segments: SegmentWorld) -> None:
    store = segments.open()
    store.put_many([chunk(line("ERROR", "disk"))])
    (file,) = segments.files()
    os.utime(file, (LONG_AGO, LONG_AGO))
    assert store.delete_older_than(NOON + HOUR, 100) == 1
    assert segments.files() == []
    assert not file.parent.exists()
    assert list(store.search(LogQuery(), 10).hits) == []
    assert store.delete_older_than(NOON + HOUR, 100) == 0
    assert list(store.put_many([chunk(b"one\n")])) == [STORED]


def test_a_crash_between_rows_and_file_leaves_garbage_that_goes_later(
    segments: SegmentWorld,
) -> None:
    database = FailingDatabase(segments.url)
    store = segments.open(database=database)
    store.put_many([chunk(b"one\n")])
    database.error = CrashError()
    with pytest.raises(CrashError):
        store.delete_older_than(NOON + HOUR, 100)
    assert text_of(segments.open()) == b"one\n"
    # The rows are gone, and the file is young: somebody may be about to write rows for it.
    after = segments.open()
    assert after.delete_older_than(NOON + HOUR, 100) == 1
    (file,) = segments.files()
    os.utime(file, (LONG_AGO, LONG_AGO))
    assert after.delete_older_than(NOON + HOUR, 100) == 0
    assert segments.files() == []


def test_a_young_chunk_that_comes_during_a_deletion_stays(segments: SegmentWorld) -> None:
    writer = segments.open()
    writer.put_many([chunk(b"old", subject="old")])
    database = FailingDatabase(segments.url)
    young = chunk(b"young", subject="young", at=NOON + 2 * HOUR)
    database.before = lambda: writer.put_many([young])
    assert segments.open(database=database).delete_older_than(NOON + HOUR, 100) == 1
    assert len(segments.files()) == 1
    assert whole(writer, "old") == []
    assert text_of(writer, "young") == b"young"


def test_garbage_is_never_a_file_with_a_row(segments: SegmentWorld) -> None:
    store = segments.open()
    store.put_many([chunk(b"one\n"), chunk(b"two\n", subject="other", supervisor="orders")])
    (file,) = segments.files()
    os.utime(file, (LONG_AGO, LONG_AGO))
    assert store.delete_of_supervisor("clicks", NOON + DAY, 100) == 1
    assert store.delete_older_than(NOON - DAY, 100) == 0
    assert text_of(store, "other") == b"two\n"


def test_a_folder_that_may_not_be_written_asks_somebody_to_act(segments: SegmentWorld) -> None:
    store = segments.open(FailingDisk(0, OSError(errno.EROFS, "Read-only file system")))
    with pytest.raises(StoreRefuses, match=r"Read-only file system.*give this user the right"):
        store.put_many([chunk(b"one\n")])
    with pytest.raises(StoreRefuses):
        segments.open(FailingDisk(0, OSError(errno.EACCES, "Permission denied"))).ping()


def test_a_full_folder_fails_the_ping_and_leaves_nothing(segments: SegmentWorld) -> None:
    disk = FailingDisk(2, OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(StoreAway, match="No space left"):
        segments.open(disk).ping()
    assert disk.has_failed
    assert list(segments.folder.iterdir()) == []


WRITER = """
import sys
from pathlib import Path
from pathlib import Path
from supervisor.adapters.clock import SystemClock
from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.logs.segments import SegmentLogStore
from tests.conformance.reports.log_chunks import cut, log_of
folder = Path(sys.argv[1])
store = SegmentLogStore(
    ReportDatabase(f"sqlite:///{folder / 'reports.db'}"), folder / "logs", "p", SystemClock()
)
text = log_of(64)
for number in range(100_000):
    subject = f"{sys.argv[2]}-{number}"
    store.put_many(cut(text, range(9_000, len(text), 9_000), subject))
    print(subject, flush=True)
"""


def test_killed_writers_leave_every_log_that_they_reported_as_stored(
    segments: SegmentWorld,
) -> None:
    text = log_of(64)
    stored: list[str] = []
    for name, logs in (("a", 1), ("b", 7), ("c", 20)):
        argv = [sys.executable, "-c", WRITER, str(segments.folder.parent), name]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            stored += [process.stdout.readline().strip() for _ in range(logs)]
            process.send_signal(signal.SIGKILL)
            stored += process.stdout.read().split()
            assert process.wait(WITHIN_S) == -signal.SIGKILL
    store: LogStore = segments.open()
    assert len(stored) >= 28
    for subject in stored:
        assert text_of(store, subject) == text
        span = store.span(subject, 0)
        assert span is not None
        assert span.is_whole
    for name in ("a", "b", "c"):
        number = sum(each.startswith(name) for each in stored)
        # The batch that was under way is there as a whole, or not at all.
        assert text_of(store, f"{name}-{number}") in (b"", text)
