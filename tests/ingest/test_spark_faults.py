"""What the engine tells of a running job, and what a full disk does to a real one."""

import resource
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from supervisor.dev.broker import Broker
from tasks.folders import NoSpace
from tasks.ingest.engine import SparkEngine
from tasks.ports import MergeJob
from tasks.spark_session import SparkRuntime
from tests.brokers import produce
from tests.ingest.batches import batch, paths_below, places_of, record, spec_for
from tests.small_disks import can_mount, mounted

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

NewTopic = Callable[[int], str]
RECORDS = 40_000
SMALL_BYTES = 64 * 1024


def test_progress_changes_while_a_job_runs_and_is_nothing_without_one(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic
) -> None:
    """Goal: the worker's progress deadline sees a job that moves (fault: stuck job)."""
    topic = new_topic(2)
    for partition in (0, 1):
        produce(broker.bootstrap, topic, map(record, range(RECORDS)), partition=partition)
    job = batch(spec_for(broker.bootstrap), topic, {0: (0, RECORDS), 1: (0, RECORDS)})
    assert engine.progress(job.task_id) is None
    seen: set[Hashable] = set()
    reader = threading.Thread(target=lambda: engine.read_batch(job))
    reader.start()
    while reader.is_alive():
        seen.add(engine.progress(job.task_id))
        reader.join(0.05)

    assert len(seen - {None}) > 2, seen
    assert engine.progress(job.task_id) is None


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
