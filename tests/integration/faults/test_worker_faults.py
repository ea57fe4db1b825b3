"""The JVM of a real worker hangs, then dies: the worker ends, the next goes on from the journal.

Slow: a JVM has to hang for as long as a worker waits for it, twice.
"""

import signal
from pathlib import Path

import psutil
import pytest
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic
from tests.integration.cluster import Cluster, running
from tests.integration.journals import journal_in
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, spec, streaming
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

PATIENT = {
    "TIDEGATE_PROGRESS_TIMEOUT": "PT1M",  # the worker's own is 36 s, and 12 s more to give up
    "TIDEGATE_WORKER_TIMEOUT": "PT3M",  # else a slow start has its tasks replaced, rightly
}


def jvm_of(cluster: Cluster) -> psutil.Process:
    """Return the JVM of worker w1."""
    worker = psutil.Process(cluster.children["w1"].pid)
    [jvm] = [child for child in worker.children(recursive=True) if child.name() == "java"]
    return jvm


def journaled(cluster: Cluster) -> list[dict[str, JsonValue]]:
    """Return the batches in w1's only journal, as they lie on disk."""
    [path] = (cluster.folder / "w1" / "journal").glob("*.jsonl")
    return journal_in(path).batches


def has_batches(cluster: Cluster, more_than: int) -> bool:
    """Whether w1 has a journal with so many batches."""
    journals = list((cluster.folder / "w1" / "journal").glob("*.jsonl"))
    return bool(journals) and len(journaled(cluster)) > more_than


def ends_with_1(cluster: Cluster) -> None:
    """Wait for w1 to end by itself."""
    child = cluster.children.pop("w1")
    wait_until(lambda: not child.alive())
    assert child.exit_code() == 1, child.log.read_text()[-4_000:]


def goes_on(cluster: Cluster, before: list[dict[str, JsonValue]]) -> None:
    """Start w1 again: what was journaled stays, and the next batch starts behind it."""
    cluster.start_worker("w1")
    wait_until(lambda: has_batches(cluster, len(before)))
    after = journaled(cluster)
    assert after[: len(before)] == before
    next_one, last = after[len(before)], before[-1]
    assert next_one["start"] == last["end"], "no journaled offset is read again"
    assert next_one["incarnation"] != last["incarnation"]


def test_a_jvm_that_hangs_or_dies_costs_the_worker_and_no_record(
    broker: Broker, tmp_path: Path
) -> None:
    """Source: protocol rules P7, P20; faults B2, B12, B15.

    A frozen JVM answers nothing: no cancel, no stop.  The worker sees that nothing moves, gives
    it up, kills it and ends with 1, as it does when the JVM dies alone.
    """
    topic = "worker-faults"
    create_topic(broker.bootstrap, topic, partitions=2)
    with running(Cluster(tmp_path, more=PATIENT)) as cluster:
        with streaming(broker.bootstrap, topic, rate_per_s=200):
            cluster.apply(spec(broker.bootstrap, topic, task_count=1, task_duration="PT1H"))
            wait_until(lambda: has_batches(cluster, 2))

            frozen = jvm_of(cluster)
            frozen.send_signal(signal.SIGSTOP)
            ends_with_1(cluster)
            assert not frozen.is_running()
            assert "engine stuck" in (tmp_path / "logs" / "w1.log").read_text()
            goes_on(cluster, journaled(cluster))

            jvm_of(cluster).kill()
            ends_with_1(cluster)
            goes_on(cluster, journaled(cluster))

        ends = ends_of(broker.bootstrap, topic)
        wait_until(lambda: cluster.has_read(topic, ends))
        cluster.post(topic, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(topic))
        in_table = ids_in_files(cluster.files(topic))
        tasks = cluster.tasks(topic)

    assert in_table == ids_in_topic(broker.bootstrap, topic)
    assert [task["status"] for task in tasks] == ["SUCCESS"], "the one task was never replaced"
