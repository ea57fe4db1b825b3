"""The engine of a worker: `tasks.ports.Engine` on one Spark application and a local warehouse.

    <warehouse>/<data source>/data/<task>/b<number>-<incarnation>/part-….parquet   a batch
                                                                 /rejects.parquet
                                                                 /errors-….parquet
                                         /m<incarnation>/segment-….parquet         a merge
                                                        /errors/segment-….parquet
                                         /rejects-<incarnation>.parquet
                            /<compaction>/segment-00000.parquet               a compaction

A folder is removed before it is written: what lies there was left by a crash, and no journal
names it.
"""

import shutil
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from tasks.contract.ingest_spec import BadRecords, Discovery
from tasks.contract.kafka_client import ReadSecret, java_properties
from tasks.contract.messages import DesiredCompaction, RejectsFile, SegmentFile
from tasks.contract.offsets import Offsets, count
from tasks.ingest.decode.chunks import Chunks
from tasks.ingest.decode.columns import (
    ColumnBook,
    columns_in,
    digested,
    fits,
    grown,
    judged,
    kinds_so_far,
    peeked,
)
from tasks.ingest.decode.java_clock import chunks_of
from tasks.ingest.decode.numbers import NumberBook
from tasks.ingest.decode.observed import ObservedRecords
from tasks.ingest.formats.parse import reasons_of
from tasks.ingest.formats.schemas import SchemaBook, Schemas
from tasks.ingest.merge.append import put_together
from tasks.ingest.merge.compaction import CompactionJob, checked, combine, compaction_of
from tasks.ingest.merge.merge import Rewrite, as_segments, check_rewritten, order_of
from tasks.ingest.merge.quarantine import bad_ones, keep_raw, merge_raw, number_kept, range_of
from tasks.ingest.merge.rollup import Rollup, roll_up
from tasks.ingest.merge.sizes import PART_ROWS_MIN, fullest, may_stay, target_of
from tasks.ingest.spark.failures import judge
from tasks.ingest.spark.jobs import Jobs, Run
from tasks.ingest.spark.source import ONE_BY_ONE, BatchRange, read_range
from tasks.ingest.warm import warm_up
from tasks.ingest.write.entries import entry_of
from tasks.ingest.write.files import (
    data_paths,
    describe,
    local_folder,
    prepare_folder,
    remove_folder,
    sync_folders,
)
from tasks.ingest.write.rejects import as_runs, joined, read_rejects, write_rejects
from tasks.ingest.write.skipped import skip
from tasks.ingest.write.write import ROWS_PER_FILE, check_rows, write_rows
from tasks.kafka.private_key import with_open_key
from tasks.kafka.schema_registry import RegistryClient
from tasks.ports import (
    BatchCancelled,
    BatchJob,
    Care,
    DataFile,
    JournalEntry,
    MergeJob,
    MergeResult,
    SchemaSource,
    SchemasUnavailable,
    TaskError,
)
from tasks.rows.discovery import ColumnKinds, columns_of, kinds_new, typed_of, unsettled
from tasks.rows.row_plan import measured, metric_columns
from tasks.spark.session import COMPACTING_POOL, FINISHING_POOL, LIVE_POOL, SparkRuntime

_PEEK_ROWS = 1_000
"""Records per partition that are read before the first batch of a table without columns."""

_FAILURES = (PySparkException, Py4JError, OSError, pa.ArrowException)


class SparkEngine:
    """Reads, merges and drops for all tasks of one worker; safe to call from many threads."""

    def __init__(
        self,
        runtime: SparkRuntime,
        warehouse: str,
        read_secret: ReadSecret,
        *,
        poll_timeout: timedelta = timedelta(seconds=30),
        schemas: SchemaSource | None = None,
    ) -> None:
        """Use `warehouse`, a folder.  `poll_timeout` bounds each wait for a broker.

        `schemas` looks up schemas that records name by number; None: any registry is allowed.

        Raises:
            TaskError: the warehouse is in a kind of store that is not supported yet.
        """
        self._runtime = runtime
        self._warehouse = local_folder(warehouse)
        self._read_secret = read_secret
        self._poll_timeout = poll_timeout
        self._schemas = SchemaBook(schemas or RegistryClient(read_secret))
        self._columns = ColumnBook()
        self._numbers = NumberBook()
        self._jobs = Jobs(runtime)

    def read_batch(self, job: BatchJob) -> JournalEntry:
        """Read `[start, end)` into files, synced and checked.  See `tasks.ports.Engine`.

        Raises:
            BatchCancelled: `cancel` was called; the batch's files are gone.
            NoSpace: the disk is full; the batch's files are gone.
            StreamUnavailable: the brokers, or a registry of schemas, did not answer in time; a
                repeat may succeed.
            TaskError: the range cannot be read, or its rows cannot be written.
        """
        span, known = BatchRange.of(job), kinds_so_far(job.spec, job.columns, job.kinds)
        if not span.start:
            return entry_of(job, None, (), None, kinds=known)
        number = f"b{job.number}-{job.incarnation}"
        doing = f"batch {number} of {span}"
        pool = FINISHING_POOL if job.finishing else LIVE_POOL
        with self._jobs.run(job.task_id, pool) as run:
            task = self._warehouse / job.spec.data_source / "data" / job.task_id
            with self._guarded(run, task / number, doing):
                prepare_folder(self._warehouse, job.spec.data_source, job.task_id)
                if job.care is Care.SKIP:
                    return skip(job, span, known, task / number, self._warehouse)
                return self._read(job, span, run, task / number)

    def merge(self, job: MergeJob) -> MergeResult:
        """Turn journaled files into segments, synced and checked.  See `tasks.ports.Engine`.

        Raises:
            BatchCancelled: `cancel` was called; the files of the merge are gone.
            NoSpace: the disk is full; the files of the merge are gone.
            TaskError: the files cannot be read, or the segments cannot be written.
        """
        with self._jobs.run(job.task_id, FINISHING_POOL) as run:
            task = prepare_folder(self._warehouse, job.spec.data_source, job.task_id)
            folder = task / f"m{job.incarnation}"
            with self._guarded(run, folder, f"merge of {len(job.entries)} batches"):
                files = tuple(file for entry in job.entries for file in entry.files)
                chunks = chunks_of(self._runtime.session, job.spec.segment_granularity)
                merged = self._merged(job, files, run, folder, chunks)
                raw = self._merged_raw(job, run, folder / "errors", chunks)
                rejects = self._merged_rejects(job, task)
                sync_folders(task, self._warehouse)
                run.check()
                segments, errors = as_segments(merged, chunks), as_segments(raw, chunks)
        columns = (*columns_in(job.spec, job.entries), *metric_columns(job.spec))
        return MergeResult(segments, rejects, errors, columns)

    def compact(self, order: DesiredCompaction) -> SegmentFile:
        """Rewrite published files as one, synced and checked.  See `tasks.ports.Engine`.

        Raises:
            BatchCancelled: `cancel` was called; the new file is gone.
            NoSpace: the disk is full; the new file is gone.
            TaskError: an input is missing or damaged, these files cannot be one, or the new file
                cannot be written.
        """
        with self._jobs.run(order.compaction_id, COMPACTING_POOL) as run:
            work = compaction_of(order, self._warehouse, run.step)
            folder = self._warehouse / order.data_source / "data" / order.compaction_id
            with self._guarded(run, folder, f"compaction of {len(work.inputs)} files"):
                prepare_folder(self._warehouse, order.data_source, order.compaction_id)
                path = self._combined(work, folder)
                run.check()
                file = checked(work, path, self._warehouse, run.step)
                sync_folders(folder, self._warehouse)
                run.check()
                return file

    @property
    def jobs(self) -> Jobs:
        """The runs of this application, all of which `cancel` finds."""
        return self._jobs

    def cancel(self, task_id: str) -> None:
        """Cancel the present job of `task_id`, if any; returns at once."""
        self._jobs.cancel(task_id)

    def unended(self) -> Mapping[str, float]:
        """Return task or sample -> seconds for which Spark has worked on after its run was over."""
        return self._jobs.unended()

    def progress(self, task_id: str) -> Hashable:
        """Return the progress of the job of `task_id`; another value means that it moved."""
        return self._jobs.progress(task_id)

    def drop(self, task_id: str, entries: Sequence[JournalEntry]) -> None:
        """Delete the files of journaled batches that no longer count; repeatable.

        Raises:
            TaskError: a file of the task cannot be deleted, or one belongs to another task.
        """
        paths = [file.path for entry in entries for file in (*entry.files, *entry.quarantine)]
        paths += [entry.rejects.path for entry in entries if entry.rejects is not None]
        for path in (self._warehouse / path for path in paths):
            assert path.parent.parent.name == task_id, f"{path} is no file of {task_id}"
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise judge(error, f"deleting {path}", path.parent) from error
            with suppress(OSError):  # not empty yet, or gone
                path.parent.rmdir()

    def warm(self) -> None:
        """Run the code of a batch and a merge on made-up records, so the first real ones are fast.

        Nothing is left in the warehouse.  Reading from Kafka is not warmed up.
        """
        warm_up(self._runtime.session, self._runtime.work_dir / "warm")
        self._runtime.parser_memory.bound()  # compiles the code of the bound

    @contextmanager
    def _guarded(self, run: Run, folder: Path, doing: str) -> Iterator[None]:
        """Remove the folder unless the body ends well; turn Spark's errors into ours."""
        remove_folder(folder)
        try:
            yield
        except (*_FAILURES, TaskError, BatchCancelled, SchemasUnavailable) as error:
            self._clean(run, folder)
            if run.cancelled:
                raise BatchCancelled(run.group) from error
            if isinstance(error, _FAILURES):
                raise judge(error, doing, folder) from error
            raise
        except BaseException:
            self._clean(run, folder)
            raise

    def _clean(self, run: Run, folder: Path) -> None:
        if self._runtime.alive():
            with suppress(*_FAILURES):  # report the first error only
                self._jobs.settle(run)
        shutil.rmtree(folder, ignore_errors=True)

    def _read(self, job: BatchJob, span: BatchRange, run: Run, folder: Path) -> JournalEntry:
        kinds = kinds_so_far(job.spec, job.columns, job.kinds)
        discovers = job.spec.discovery is not Discovery.NOTHING
        if not job.columns and (discovers or job.spec.typed):
            known = self._columns.begin(job.spec)
            if not known and count(span.start, span.end) > _PEEK_ROWS:
                known = self._peek(job, span)
            kinds = grown(kinds, known)
        schemas = self._schemas.begin(job.spec)
        while True:
            run.check()
            typed = typed_of(job.spec, kinds)
            observed = self._write(job, span, kinds, folder, schemas=schemas)
            run.check()
            wider = grown(kinds, kinds_new(job.spec, observed.unknown)) if discovers else kinds
            wider = grown(wider, dict(zip(unsettled(typed), observed.kinds, strict=True)))
            if not observed.missing_schemas and wider == kinds:
                break
            # A key was no column yet, a value did not fit its column, or a schema was unknown:
            # read the range again.
            remove_folder(folder)
            kinds = wider
            schemas = self._schemas.answered(schemas, job.spec, observed.missing_schemas, run.check)
        self._columns.learn(job.spec, kinds)
        self._numbers.learn(job.spec, observed)
        arguments = (self._warehouse, span.topic, run.step)
        described = [describe(path, *arguments) for path in data_paths(folder)]
        files = tuple(file for file in described if file is not None)
        check_rows(observed, files, span.start, span.end)
        rejected = as_runs(observed.rejects)
        rejects = write_rejects(rejected, folder / "rejects.parquet", self._warehouse)
        raw = self._quarantined(job, observed, run, folder)
        if files or rejects:
            sync_folders(folder, self._warehouse)
        else:
            remove_folder(folder)
        run.check()
        chunks = chunks_of(self._runtime.session, job.spec.segment_granularity)
        held = fullest(files, chunks, self._warehouse)
        entry = entry_of(job, observed, files, rejects, kinds=kinds, raw=raw)
        return entry.model_copy(update={"chunk_rows": held})

    def _quarantined(
        self, job: BatchJob, observed: ObservedRecords, run: Run, folder: Path
    ) -> tuple[DataFile, ...]:
        bad = bad_ones(observed.rejects)
        if not bad or job.spec.tuning.bad_records is not BadRecords.QUARANTINE:
            return ()
        run.check()
        start, end = range_of(bad)
        records = self._records(job, start, end, beside=True)
        return keep_raw(records, bad, folder / "rejects.parquet", self._warehouse, run.step)

    def _write(
        self, job: BatchJob, span: BatchRange, kinds: ColumnKinds, folder: Path, *, schemas: Schemas
    ) -> ObservedRecords:
        spec = job.spec
        straight = self._numbers.straight(spec)
        read = self._records(job, span.start, span.end)
        frame = judged(read, spec, kinds, schemas, straight=straight)
        records = count(span.start, span.end)
        files = max(1, min(len(span.start) * 4, records // ROWS_PER_FILE))
        columns = (*columns_of(spec, kinds), *measured(spec))
        # A file that is large enough to be part of a segment has to be sorted like a segment.
        in_order = not spec.rollup and records >= PART_ROWS_MIN
        return write_rows(
            frame,
            columns,
            folder,
            start=span.start,
            files_max=files,
            reasons=reasons_of(spec),
            topics=spec.topic_column,
            form=spec.tuning.files,
            digested=digested(spec, kinds),
            order=order_of(columns) if in_order else (),
        )

    def _peek(self, job: BatchJob, span: BatchRange) -> ColumnKinds:
        """Return the columns of a range's first records, which are usually all of its columns."""
        near = {p: min(span.end[p], span.start[p] + _PEEK_ROWS) for p in span.start}
        return peeked(self._records(job, span.start, near), job.spec)

    def _records(
        self, job: BatchJob, start: Offsets, end: Offsets, *, beside: bool = False
    ) -> DataFrame:
        client = java_properties(job.spec.kafka, self._read_secret)
        return read_range(
            self._runtime.session,
            start,
            end,
            client=with_open_key(client) | (ONE_BY_ONE if job.care is Care.RECORDS else {}),
            group_id=job.task_id,
            poll_timeout=self._poll_timeout,
            partitions=len(job.start),
            beside=beside or job.spec.kafka_columns is not None,
        )

    def _merged(
        self, job: MergeJob, files: tuple[DataFile, ...], run: Run, folder: Path, chunks: Chunks
    ) -> tuple[DataFile, ...]:
        had = [(columns_in(job.spec, (entry,)), entry) for entry in job.entries]
        columns = columns_in(job.spec, job.entries)
        form, target = job.spec.tuning.files, target_of(job.spec.tuning)
        written = {file.path: c for c, entry in had for file in entry.files if not fits(c, columns)}
        stay = not (job.spec.rollup or written) and may_stay(files, chunks, target)
        if not files or stay:
            return files
        topics, topic = job.spec.topic_column, files[0].spans[0].topic
        session, warehouse = self._runtime.session, self._warehouse
        place = {"warehouse": warehouse, "folder": folder}
        run.check()
        if job.spec.rollup:
            one = None if topics else topic
            rolled = Rollup(files, columns, job.spec, chunks, target, one, written, form)
            merged = roll_up(session, rolled, **place, step=run.step)
        else:
            stored = (*columns, *measured(job.spec))
            work = Rewrite(files, stored, chunks, target, topics, written, form)
            alike = {file.path for c, entry in had for file in entry.files if c == columns}
            merged = put_together(session, work, alike, topic=topic, **place, step=run.step)
        run.check()
        check_rewritten(files, merged)
        sync_folders(folder, self._warehouse)
        return merged

    def _combined(self, work: CompactionJob, folder: Path) -> Path:
        return combine(self._runtime.session, work, warehouse=self._warehouse, folder=folder)

    def _merged_raw(
        self, job: MergeJob, run: Run, folder: Path, chunks: Chunks
    ) -> tuple[DataFile, ...]:
        files = tuple(file for entry in job.entries for file in entry.quarantine)
        target = target_of(job.spec.tuning)
        session, warehouse = self._runtime.session, self._warehouse
        run.check()
        place = {"warehouse": warehouse, "folder": folder}
        merged = merge_raw(session, files, chunks, target, **place, step=run.step)
        if merged != files:
            sync_folders(folder, warehouse)
        return merged

    def _merged_rejects(self, job: MergeJob, task: Path) -> RejectsFile | None:
        named = [entry.rejects for entry in job.entries if entry.rejects is not None]
        runs = [run for rejects in named for run in read_rejects(self._warehouse / rejects.path)]
        path = task / f"rejects-{job.incarnation}.parquet"
        return write_rejects(joined(runs), path, self._warehouse, number_kept(job))
