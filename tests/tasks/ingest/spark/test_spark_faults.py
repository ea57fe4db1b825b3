"""What the engine tells of a running job, and what a full disk does to a real one."""

import resource
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest

from supervisor.dev.broker import Broker
from tasks.contract.ingest_spec import Column, RegexFormat, TimestampSpec
from tasks.contract.messages import FailureCode
from tasks.durable_files import NoSpace
from tasks.ingest.engine import SparkEngine
from tasks.ingest.write.write import ROWS_PER_FILE
from tasks.ports import BatchJob, MergeJob, TaskError
from tasks.spark.session import SparkRuntime
from tests.environment.brokers import produce
from tests.environment.small_disks import can_mount, mounted
from tests.tasks.ingest.batches import batch, paths_below, places_of, record, spec_for
from tests.waiting import wait_until

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

NewTopic = Callable[[int], str]
RECORDS = 40_000
SMALL_BYTES = 64 * 1024


def test_progress_changes_while_a_job_runs_and_is_nothing_without_one(
    spark: SparkRuntime, broker: Broker, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: the worker's progress deadline sees a job that moves (fault: stuck job).

    The job asks for records that are not there yet, so it stands until the test lets it go on.
    """
    topic = new_topic(2)
    patient = timedelta(seconds=120)
    engine = SparkEngine(spark, str(tmp_path), lambda _: "", poll_timeout=patient)
    rows = ROWS_PER_FILE  # enough for a task per partition
    job = batch(spec_for(broker.bootstrap), topic, {0: (0, rows), 1: (0, rows)})
    assert engine.progress(job.task_id) is None
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(engine.read_batch, job)
        wait_until(lambda: _ended_tasks(engine, job) == 0)
        standing = engine.progress(job.task_id)

        produce(broker.bootstrap, topic, map(record, range(rows)), partition=0)
        wait_until(lambda: _ended_tasks(engine, job) == 1)
        assert engine.progress(job.task_id) != standing

        produce(broker.bootstrap, topic, map(record, range(rows)), partition=1)
        assert sum(file.rows for file in read.result(timeout=60).files) == 2 * rows
    assert engine.progress(job.task_id) is None


def _ended_tasks(engine: SparkEngine, job: BatchJob) -> int | None:
    """How many tasks of the job's stages have ended; None before a stage is known."""
    moved = engine.progress(job.task_id)
    assert moved is None or isinstance(moved, tuple)
    stages = [each for each in moved or () if isinstance(each, tuple)]
    return sum(ended for ended, *_ in stages) if stages else None


@contextmanager
def full(kind: str, spark: SparkRuntime, warehouse: Path) -> Iterator[None]:
    """Let there be no space for a file of a batch; the errors are the kernel's."""
    if kind == "limit":
        jvm = psutil.Process(spark.pid)
        before = jvm.rlimit(resource.RLIMIT_FSIZE)
        jvm.rlimit(resource.RLIMIT_FSIZE, (SMALL_BYTES, before[1]))
        try:
            yield
        finally:
            jvm.rlimit(resource.RLIMIT_FSIZE, before)
        return
    with mounted(warehouse, size=str(SMALL_BYTES)):
        yield


@pytest.mark.parametrize("kind", ["limit", *(["disk"] if can_mount() else [])])
def test_a_batch_and_a_merge_without_space_leave_nothing_and_can_be_repeated(
    kind: str,
    spark: SparkRuntime,
    broker: Broker,
    new_topic: NewTopic,
    tmp_path: Path,
) -> None:
    """Source: protocol rule P20; a full disk is waited for, so it must be told from other ends."""
    topic = new_topic(1)
    produce(broker.bootstrap, topic, map(record, range(RECORDS)))
    spec = spec_for(broker.bootstrap, segment_rows_max=RECORDS)
    engine = SparkEngine(spark, str(tmp_path), lambda _: "")
    bounds = [(0, RECORDS // 2), (RECORDS // 2, RECORDS - 1), (RECORDS - 1, RECORDS)]
    jobs = [batch(spec, topic, {0: bound}, number=n) for n, bound in enumerate(bounds)]

    with full(kind, spark, tmp_path):
        with pytest.raises(NoSpace) as refused:
            engine.read_batch(jobs[0])
        assert f"below {tmp_path}" in str(refused.value)
        assert {path for path in paths_below(tmp_path) if "README" not in path} == set()

    entries = tuple(engine.read_batch(job) for job in jobs)
    merge = MergeJob(jobs[0].task_id, 1, spec, entries)
    before = paths_below(tmp_path)
    if kind == "limit":  # the other kind hides the batches
        with full(kind, spark, tmp_path), pytest.raises(NoSpace):
            engine.merge(merge)
        assert paths_below(tmp_path) == before
    assert len(places_of(tmp_path, [f for e in entries for f in e.files])) == RECORDS
    assert sum(segment.rows for segment in engine.merge(merge).segments) == RECORDS


def test_a_pattern_that_overflows_the_stack_ends_its_batch_and_not_the_worker(
    spark: SparkRuntime, broker: Broker, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: other tasks of the worker run on, and people are told what to change.

    Source: Java's `Pattern` calls itself for each turn of a loop over alternatives.
    """
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [b"x,y", b"a" * 60_000 + b",x"])
    spec = spec_for(broker.bootstrap, columns=[Column(name="a")])
    pattern = RegexFormat(pattern=r'((?:[^,"]|"")*),(.*)', columns=("a", "b"))
    now = TimestampSpec(column="t", missing_value=datetime(2024, 5, 1, tzinfo=UTC))
    spec = spec.model_copy(update={"value_format": pattern, "timestamp": now})
    engine = SparkEngine(spark, str(tmp_path), lambda _: "")
    pid = spark.pid

    with pytest.raises(TaskError, match="regular expression") as failed:
        engine.read_batch(batch(spec, topic, {0: (0, 2)}))

    assert failed.value.code is FailureCode.REFUSED
    assert engine.read_batch(batch(spec, topic, {0: (0, 1)}, number=1)).files[0].rows == 1
    assert spark.alive()
    assert spark.pid == pid
    calm = RegexFormat(pattern=r'((?:[^,"]|"")*+),(.*)', columns=("a", "b"))
    spec = spec.model_copy(update={"value_format": calm})
    assert engine.read_batch(batch(spec, topic, {0: (1, 2)}, number=2)).files[0].rows == 1
