"""A worker process without a JVM: `python -m tests.chaos.processes.light_worker`, set by its
environment.

Roster, runner, journal, sync, publish and the engine's order of work are the product's; only what
Spark does, reading a range and writing Parquet, is done here by a consumer and pyarrow.  It starts
in two seconds instead of thirty, so that a worker can die a hundred times in a few minutes.
"""

import json
import os
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka import TopicPartition as KafkaPartition

from supervisor.app.process import configure_logging, failpoints
from supervisor.app.worker import _transport, _way, worker_options
from supervisor.settings.settings import Settings, load_settings
from tasks.contract.kafka_client import librdkafka_properties
from tasks.contract.offsets import TopicPartition, count
from tasks.ingest.decode.observed import Kept, ObservedRecords
from tasks.ingest.formats.schemas import Schemas
from tasks.kafka.stream import KafkaStream, environment_secret
from tasks.ports import BatchJob, StreamTimeout
from tasks.reporting.levels import read_levels
from tasks.rows.discovery import ColumnKinds
from tasks.sending.doors import Doors
from tasks.worker.options import WorkerOptions
from tasks.worker.overlord_client import HttpOverlord
from tasks.worker.reporting.reports import WorkerReports
from tasks.worker.reporting.task_logs import TaskLogs
from tasks.worker.worker import WorkerPorts, run_worker
from tests.tasks.bits import bits_of
from tests.tasks.memory import NOON
from tests.tasks.plain_engine import PlainEngine

_READ_WITHIN_S = 10.0
Records = dict[TopicPartition, list[tuple[int, str]]]
"""(offset, id) of each record, in order."""


DRIFT = "TIDEGATE_TEST_DRIFT"
"""Environment: what this worker, unlike others, appends to each id."""


class LightEngine(PlainEngine):
    """Reads a range of the topic with a consumer of its own and keeps the ids."""

    _drift = os.environ.get(DRIFT, "")

    def _write(
        self,
        job: BatchJob,
        _span: object,
        _found: ColumnKinds,
        folder: Path,
        *,
        schemas: Schemas,  # noqa: ARG002 -- this engine reads JSON alone
    ) -> ObservedRecords:
        folder.mkdir()
        kept, bits = {}, 0
        for partition, records in _read(job).items():
            read_records = [(offset, record_id + self._drift) for offset, record_id in records]
            bits ^= bits_of((partition, offset, record_id) for offset, record_id in read_records)
            if read_records:
                _write_file(folder / f"part-{partition.partition}.parquet", partition, read_records)
                kept[partition] = Kept(len(read_records), read_records[0][0], read_records[-1][0])
        number = sum(k.rows for k in kept.values())
        assert number == count(job.start, job.end), "this topic has no holes"
        return ObservedRecords(number, number * 200, 0, kept, (), (), (), digest=bits)


def _read(job: BatchJob) -> Records:
    records: Records = {p: [] for p in sorted(job.start)}
    unread = {p for p in records if job.start[p] < job.end[p]}
    consumer = Consumer(
        {
            **librdkafka_properties(job.spec.kafka, environment_secret),
            "group.id": f"light-{job.task_id}",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
            "log_level": 0,
        }
    )
    until = time.monotonic() + _READ_WITHIN_S
    try:
        consumer.assign([KafkaPartition(p.topic, p.partition, job.start[p]) for p in unread])
        while unread:
            if time.monotonic() > until:
                raise StreamTimeout(f"no record for {_READ_WITHIN_S} s")
            for message in consumer.consume(1_000, timeout=0.5):
                if (error := message.error()) is not None:
                    _raise(error)
                    continue
                topic, number, offset = message.topic(), message.partition(), message.offset()
                assert topic is not None
                assert number is not None
                assert offset is not None
                partition = TopicPartition(topic, number)
                if offset < job.end[partition]:
                    record_id = json.loads(message.value() or b"{}")["id"]
                    records[partition].append((offset, record_id))
                if offset + 1 >= job.end[partition]:
                    unread.discard(partition)
    finally:
        consumer.close()
    return records


def _raise(error: KafkaError) -> None:
    """Raise for what ends a read; a lost connection is tried again until the deadline."""
    if not error.retriable() and error.code() not in {
        KafkaError._TRANSPORT,
        KafkaError._ALL_BROKERS_DOWN,
    }:
        raise KafkaException(error)


def _write_file(path: Path, partition: TopicPartition, records: list[tuple[int, str]]) -> None:
    rows = len(records)
    table = pa.table(
        {
            "__time": pa.array([NOON] * rows, pa.timestamp("us", tz="UTC")),
            "id": pa.array([record_id for _, record_id in records]),
            "__partition": pa.array([partition.partition] * rows, pa.int32()),
            "__offset": pa.array([offset for offset, _ in records], pa.int64()),
        }
    )
    pq.write_table(table, path, compression="none", use_dictionary=False)


def _reports(settings: Settings, options: WorkerOptions, doors: Doors) -> WorkerReports | None:
    transport = _transport(settings, options.worker_id, doors)
    if transport is None:
        return None
    waits = _way(settings) == "direct" and settings.reports == "auto"
    return WorkerReports(
        options.data_dir,
        options.worker_id,
        transport,
        when_known=doors.when_known if waits else None,
        levels=read_levels(settings.reports_level),
        inline=settings.reports_mode == "inline",
    )


def main() -> int:
    """Run one worker until SIGTERM, as the product's composition root does."""
    settings = load_settings()
    options = worker_options(settings)
    logs = TaskLogs(options.data_dir)
    configure_logging(logs, worker=options.worker_id)
    reach = failpoints()
    settings.warehouse.mkdir(parents=True, exist_ok=True)
    doors = Doors(settings.reports_persister)
    with HttpOverlord(options.overlords, token=options.token, hear_doors=doors.hear) as overlord:
        outside = WorkerPorts(
            engine=LightEngine(settings.warehouse.absolute()),
            stream=KafkaStream(environment_secret),
            overlord=overlord,
            failpoint=reach,
            logs=logs,
            reports=_reports(settings, options, doors),
        )
        return run_worker(options, outside)


if __name__ == "__main__":
    sys.exit(main())
