"""What a worker's Spark would do: read a range into a file, merge files; in no time of its own.

The actor decides how long a job lasts and where it is cut; here is what it leaves on disk.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from tasks.contract.digests import digest_of
from tasks.contract.ingest_spec import BadRecords, Column
from tasks.contract.kafka_client import java_properties
from tasks.contract.messages import (
    Counters,
    DesiredCompaction,
    FailureCode,
    OffsetSpan,
    RejectSample,
    RejectsFile,
    SegmentFile,
)
from tasks.contract.offsets import TopicPartition
from tasks.durable_files import NoSpace
from tasks.kafka.stream import environment_secret
from tasks.ports import BatchJob, DataFile, JournalEntry, MergeJob, MergeResult, TaskError
from tests.simulation.world.clocks import EPOCH
from tests.simulation.world.disk import Row, Warehouse, size_of
from tests.simulation.world.kafka import BROKEN, Kafka
from tests.tasks.bits import bits_of

_CHUNK_RECORDS = 20
"""So many records in a row are of one time chunk; there are two, in turn."""
CHUNKS = (EPOCH, EPOCH - timedelta(hours=2))
"""Where they begin: the hour in which a run begins, and one that ended an hour before it."""
_COLUMNS = (Column(name="user"),)


class SimEngine:
    """The engine of one worker machine; implements `tasks.ports.Engine`."""

    def __init__(
        self, kafka: Kafka, warehouse: Warehouse, machine: str, reached: Callable[[str], None]
    ) -> None:
        self._kafka = kafka
        self._warehouse = warehouse
        self._machine = machine
        self._reached = reached
        self.full = False
        """The disk is."""
        self.drifts = False
        """What it makes of records is not what others make of them."""
        self.in_chunks = False
        """A file of rows has those of one time chunk alone."""

    def read_batch(self, job: BatchJob) -> JournalEntry:
        """Read a range, write its file, sync it.

        Raises:
            StreamUnavailable, TaskError: as `Kafka.read`.
            TaskError: a record of it is too much for this spec.
            NoSpace: the disk is full.
        """
        curse = self._kafka.curse
        if curse is not None and curse.strikes(job):
            raise TaskError(FailureCode.READ_FAILED, f"{curse.partition}: {curse.offset} hurts")
        if bad := sorted(self._kafka.failing.intersection(p.topic for p in job.start)):
            raise TaskError(FailureCode.READ_FAILED, f"{bad[0]} hurts")
        login = java_properties(job.spec.kafka, environment_secret)["sasl.jaas.config"]
        self._kafka.log_in(login)
        found = self._kafka.read(job.start, job.end)
        read = [(p, o, i, kind) for p, records in sorted(found.items()) for o, i, kind in records]
        rows = tuple((p, o, i) for p, o, i, kind in read if kind != BROKEN)
        broken = tuple((p, o, i) for p, o, i, kind in read if kind == BROKEN)
        folder = f"{job.spec.data_source}/data/{job.task_id}/{job.incarnation}-{job.number}"
        files = tuple(self._rows_written(folder, rows))
        rejects = self._rejects(f"{folder}-rejects.parquet", broken)
        keeps = bool(broken) and job.spec.tuning.bad_records is BadRecords.QUARANTINE
        raw = (self._written(f"{folder}-errors.parquet", broken),) if keeps else ()
        self._reached("worker:unsynced:ReadBatch")
        self.sync([file.path for file in (*files, *raw, rejects) if file is not None])
        return JournalEntry(
            number=job.number,
            incarnation=job.incarnation,
            start=dict(job.start),
            end=dict(job.end),
            files=files,
            rejects=rejects,
            quarantine=raw,
            counters=Counters(
                processed=len(rows), unparseable=len(broken), processed_bytes=len(rows) * 10
            ),
            chunk_rows=Counter(f"chunk {_chunk(offset)}" for _, offset, _ in rows),
            samples=_samples(broken[: job.spec.tuning.saved_parse_exceptions_max]),
            digest=self._digest(job, read),
        )

    def _digest(self, job: BatchJob, read: Sequence[tuple[object, ...]]) -> str:
        content: list[object] = [*read]
        if self.drifts and content:
            content.append((self._machine, job.task_id, job.number))
        return digest_of(bits_of(content))

    def merge(self, job: MergeJob) -> MergeResult:
        """Write the files of all entries as one, synced; a single one is taken as it is.

        Raises:
            NoSpace: the disk is full.
        """
        files = [f for entry in job.entries for f in entry.files]
        refused = [entry.rejects for entry in job.entries if entry.rejects is not None]
        folder = f"{job.spec.data_source}/data/{job.task_id}/{job.incarnation}"
        rejects = refused[0] if len(refused) == 1 else None
        if len(refused) > 1:
            broken = self._rows_of([file.path for file in refused])
            rejects = self._rejects(f"{folder}-merged-rejects.parquet", broken)
        if len(files) > 1:
            rows = self._rows_of([file.path for file in files])
            files = list(self._rows_written(f"{folder}-merged", rows))
            self._reached("worker:unsynced:Merge")
        raw = [f for entry in job.entries for f in entry.quarantine]
        if len(raw) > 1:
            broken = self._rows_of([file.path for file in raw])
            raw = [self._written(f"{folder}-merged-errors.parquet", broken)]
        paths = [file.path for file in (*files, *raw, rejects) if file is not None]
        self.sync([path for path in paths if "-merged" in path])  # the others are since their batch
        if rejects is not None:
            kept = sum(file.rows for file in raw) if raw else None
            rejects = rejects.model_copy(update={"quarantined": kept})
        columns = _COLUMNS if self.in_chunks else ()
        return MergeResult(_segments(files), rejects, _segments(raw), columns)

    def compact(self, order: DesiredCompaction) -> SegmentFile:
        """Write the rows of all inputs as one file, synced.

        Raises:
            NoSpace: the disk is full.
            TaskError: an input is not there.
        """
        paths = [some.file.path for some in order.inputs]
        for path in paths:
            if self._warehouse.rows(path) is None:
                raise TaskError(FailureCode.READ_FAILED, f"{path} is not there")
        folder = f"{order.data_source}/data/{order.compaction_id}"
        rows, begins = self._rows_of(paths), order.inputs[0].file.interval_start
        file = self._written(f"{folder}/segment-00000.parquet", rows, begins)
        self.sync([file.path])
        return _segment(file)

    def _rows_of(self, paths: Sequence[str]) -> tuple[Row, ...]:
        rows: list[Row] = []
        for path in paths:
            held = self._warehouse.rows(path)
            if held is None:
                raise AssertionError(f"{path}, which the journal names, is not there")
            rows += held
        return tuple(rows)

    def _rejects(self, path: str, broken: tuple[Row, ...]) -> RejectsFile | None:
        if not broken:
            return None
        self._written(path, broken)
        return RejectsFile(
            path=path, records=len(broken), size_bytes=size_of(broken), sha256=_digest(path)
        )

    def _rows_written(self, folder: str, rows: tuple[Row, ...]) -> Iterator[DataFile]:
        """Write one file, or one of each time chunk."""
        if not self.in_chunks:
            if rows:
                yield self._written(f"{folder}.parquet", rows)
            return
        for number, begins in enumerate(CHUNKS):
            mine = tuple(row for row in rows if _chunk(row[1]) == number)
            if mine:
                yield self._written(f"{folder}-chunk{number}.parquet", mine, begins)

    def _written(self, path: str, rows: tuple[Row, ...], begins: datetime = EPOCH) -> DataFile:
        if self.full:
            raise NoSpace(f"{path}: no space")
        self._warehouse.write(path, rows, self._machine)
        return _data_file(path, rows, begins)

    def sync(self, paths: Sequence[str]) -> None:
        """Make files durable."""
        self._warehouse.sync(list(paths))

    def drop(self, task_id: str, entries: Sequence[JournalEntry]) -> None:
        """Delete the files of entries that do not count."""
        del task_id
        for entry in entries:
            for file in (*entry.files, *entry.quarantine, entry.rejects):
                if file is not None:
                    self._reached("worker:half:drop")
                    self._warehouse.delete(file.path)

    def cancel(self, task_id: str) -> None:
        """Do nothing: the actor cuts its own job."""


def _samples(broken: Sequence[Row]) -> tuple[RejectSample, ...]:
    return tuple(
        RejectSample(topic=p.topic, partition=p.partition, offset=o, reason="broken", input="{")
        for p, o, _ in broken
    )


def _digest(path: str) -> str:
    return hashlib.sha256(path.encode()).hexdigest()


def _chunk(offset: int) -> int:
    return offset // _CHUNK_RECORDS % len(CHUNKS)


def _data_file(path: str, rows: Sequence[Row], begins: datetime) -> DataFile:
    offsets: dict[TopicPartition, list[int]] = {}
    for partition, offset, _ in rows:
        offsets.setdefault(partition, []).append(offset)
    return DataFile(
        path=path,
        rows=len(rows),
        size_bytes=size_of(rows),
        sha256=_digest(path),
        time_min=begins,
        time_max=begins,
        spans=tuple(
            OffsetSpan(topic=p.topic, partition=p.partition, first=min(o), last=max(o), rows=len(o))
            for p, o in sorted(offsets.items())
        ),
    )


def _segments(files: Sequence[DataFile]) -> tuple[SegmentFile, ...]:
    return tuple(_segment(file) for file in files)


def _segment(file: DataFile) -> SegmentFile:
    return SegmentFile(
        path=file.path,
        interval_start=file.time_min,
        interval_end=file.time_min + timedelta(hours=1),
        rows=file.rows,
        size_bytes=file.size_bytes,
        sha256=file.sha256,
        time_min=file.time_min,
        time_max=file.time_max,
        spans=file.spans,
    )
