"""Response models of tasks for Druid's clients, built from rows and from reports of workers."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from urllib.parse import urlsplit

from pydantic.alias_generators import to_camel

from supervisor.core.model.rows import Generation, Publication, Task, TaskStatus
from supervisor.core.planning.partition_names import by_name, checkpoints, names_topics
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.intervals import Interval
from supervisor.ports.store import Transaction
from tasks.contract.messages import Counters, RejectSample, TaskReport
from tasks.contract.wire import Wire, iso_utc

TASK_TYPE = "index_kafka"
UNBOUNDED = 9_223_372_036_854_775_807
"""Druid's end offset of a task whose end is not fixed."""
EPOCH = "1970-01-01T00:00:00.000Z"
_ALL_ENDED = (TaskStatus.SUCCESS, TaskStatus.FAILED, TaskStatus.UNKNOWN)

StatsLeaf = dict[str, dict[str, object]]
"""`{"movingAverages": ..., "totals": ...}` of one task."""


class TaskFilter(StrEnum):
    """What `?state=` takes; nothing ever waits here, since nothing takes locks."""

    RUNNING = "running"
    COMPLETE = "complete"
    WAITING = "waiting"
    PENDING = "pending"


class TaskLocation(Wire):
    """Where a task's worker listens; Druid's values for `nowhere` are null and -1."""

    host: str | None
    port: int
    tls_port: int


class TaskRow(Wire):
    """Druid's row of a task; `reason` (also of a success) and what follows are additions."""

    id: str
    group_id: str
    type: str
    created_time: str
    queue_insertion_time: str
    status_code: TaskStatus
    status: TaskStatus
    runner_status_code: str
    """RUNNING, PENDING (its worker has not reported the task yet), or NONE (the task has ended)."""
    duration: int
    """Milliseconds; -1 while the task runs."""
    location: TaskLocation
    data_source: str
    error_msg: str | None
    reason: str
    supervisor_id: str
    generation_id: str
    replica: int
    attempt: int
    worker_id: str


class TasksPage(Wire):
    """Tasks, newest first; a page may have fewer rows than its `limit`, and `next` leads on."""

    tasks: list[TaskRow]
    next: str | None
    """The `cursor` of the next page; null: there is none."""


class TaskStatusView(Wire):
    """The answer to `GET /task/{id}/status`."""

    task: str
    status: TaskRow


class TaskShort(Wire):
    """Druid's short status of a task."""

    id: str
    status: TaskStatus
    duration: int
    """Milliseconds; -1 while the task runs."""
    error_msg: str | None
    location: TaskLocation


class ParseError(Wire):
    """A record that became no row, in Druid's shape; where it lies is an addition."""

    input: str
    error_type: str
    details: list[str]
    time_of_exception_millis: int
    topic: str
    partition: int
    offset: int


def tasks_of(
    tx: Transaction,
    state: TaskFilter | None,
    data_source: str | None,
    limit: int,
    created: Interval | None,
) -> list[Task]:
    """Return the tasks of a list; those of UNKNOWN status only if `state` is None.

    Active tasks are those of all tables and times.
    """
    rows = [] if state is TaskFilter.COMPLETE else tx.tasks.active()
    ended = {None: _ALL_ENDED, TaskFilter.COMPLETE: _ALL_ENDED[:2]}.get(state, ())
    for status in ended:
        rows += tx.tasks.find(status=status, data_source=data_source, created=created, limit=limit)
    return list({task.id: task for task in rows}.values())


def task_row(task: Task, urls: Mapping[str, str], *, reported: bool) -> TaskRow:
    """Return the row of a task; `urls` maps worker -> address."""
    created = iso_utc(task.created_at)
    runner = ("RUNNING" if reported else "PENDING") if task.active else "NONE"
    return TaskRow(
        id=task.id,
        group_id=f"{TASK_TYPE}_{task.supervisor_id}",
        type=TASK_TYPE,
        created_time=created,
        queue_insertion_time=created if task.active else EPOCH,
        status_code=task.status,
        status=task.status,
        runner_status_code=runner,
        duration=_duration_ms(task),
        location=_location(urls.get(task.worker_id)),
        data_source=task.data_source,
        error_msg=error_of(task),
        reason=task.reason,
        supervisor_id=task.supervisor_id,
        generation_id=task.generation_id,
        replica=task.replica,
        attempt=task.attempt,
        worker_id=task.worker_id,
    )


def task_short(task: Task, urls: Mapping[str, str]) -> TaskShort:
    """Return a short status; `urls` maps worker -> address."""
    return TaskShort(
        id=task.id,
        status=task.status,
        duration=_duration_ms(task),
        error_msg=error_of(task),
        location=_location(urls.get(task.worker_id)),
    )


def error_of(task: Task) -> str | None:
    """Return the reason of a failed task, or of an unknown status; None: any other task."""
    judged = task.status is not TaskStatus.FAILED and task.status is not TaskStatus.UNKNOWN
    return None if judged else task.reason


def _duration_ms(task: Task) -> int:
    ended = task.ended_at
    return -1 if ended is None else int((ended - task.created_at).total_seconds() * 1000)


def _location(url: str | None) -> TaskLocation:
    parts = urlsplit(url or "")
    try:
        port = parts.port or -1
    except ValueError:
        port = -1
    if parts.scheme == "https":
        return TaskLocation(host=parts.hostname, port=-1, tls_port=port)
    return TaskLocation(host=parts.hostname, port=port, tls_port=-1)


def spec_of_range(
    tx: Transaction, generation: Generation, publication: Publication | None
) -> SupervisorSpec | None:
    """Return the spec version of a range; None: its supervisor was forgotten since."""
    if publication is not None and publication.forgotten_at is not None:
        return None  # the stored versions are those of a later supervisor with the same id
    version = tx.specs.version(generation.supervisor_id, generation.spec_version)
    return None if version is None else version.spec


def task_payload(
    task: Task, generation: Generation, spec: SupervisorSpec | None
) -> dict[str, object]:
    """Return `{task, payload}` with Druid's member names; the token is not shown."""
    base = task.id.rpartition("_")[0]
    topics = {partition.topic for partition in generation.start}
    topic = next(iter(topics), "") if spec is None else spec.io_config.stream
    several = names_topics(spec, generation.start)
    end = generation.end or dict.fromkeys(generation.start, UNBOUNDED)
    sections = {} if spec is None else spec.normalised()
    payload: dict[str, object] = {
        "type": TASK_TYPE,
        "id": task.id,
        "resource": {"availabilityGroup": base, "requiredCapacity": 1},
        "dataSchema": sections.get("dataSchema"),
        "tuningConfig": sections.get("tuningConfig"),
        "ioConfig": {
            "type": "kafka",
            "taskGroupId": generation.group,
            "baseSequenceName": base,
            "startSequenceNumbers": {
                **_sequence("start", topic, by_name(generation.start, topics=several)),
                "exclusivePartitions": [],
            },
            "endSequenceNumbers": _sequence("end", topic, by_name(end, topics=several)),
            "useTransaction": True,
            "multiTopic": several,
            **{name: _member(sections, "ioConfig", name) for name in _IO_SHOWN},
        },
        "context": {"checkpoints": checkpoints(generation.start, topics=several)},
        "groupId": f"{TASK_TYPE}_{task.supervisor_id}",
        "dataSource": task.data_source,
        "supervisorId": task.supervisor_id,
        "generationId": generation.id,
    }
    return {"task": task.id, "payload": payload}


_IO_SHOWN = ("consumerProperties", "inputFormat")


def _member(sections: Mapping[str, object], section: str, name: str) -> object:
    found = sections.get(section)
    return found.get(name) if isinstance(found, Mapping) else None


def _sequence(kind: str, topic: str, by_number: Mapping[str, int]) -> dict[str, object]:
    return {
        "type": kind,
        "stream": topic,
        "topic": topic,
        "partitionSequenceNumberMap": by_number,
        "partitionOffsetMap": by_number,
    }


def stats_leaf(counters: Counters, rates: Mapping[str, Mapping[str, float]]) -> StatsLeaf:
    """Return Druid's statistics of a task; `rates`: window -> counter -> growth per second."""
    named = {w: {to_camel(k): v for k, v in rate.items()} for w, rate in rates.items()}
    return {"movingAverages": {"buildSegments": named}, "totals": row_stats(counters)}


def row_stats(counters: Counters) -> dict[str, object]:
    """Return a task's counters with Druid's names, and its rejected records by reason."""
    totals = {
        "processed": counters.processed,
        "processedBytes": counters.processed_bytes,
        "processedWithError": counters.processed_with_error,
        "thrownAway": counters.thrown_away,
        "unparseable": counters.unparseable,
    }
    return {"buildSegments": totals, "rejected": dict(sorted(counters.rejected.items()))}


def parse_errors(
    live: Iterable[tuple[int, TaskReport]], published: Sequence[Publication], limit: int
) -> list[ParseError]:
    """Return error samples, newest first, each record once; `live` has (milliseconds, report)."""
    errors_by_record: dict[tuple[str, int, int], ParseError] = {}
    for at_millis, report in live:
        for sample in report.samples:
            _keep(errors_by_record, sample, at_millis)
    for publication in published:
        at_millis = int(publication.published_at.timestamp() * 1000)
        for sample in publication.samples:
            _keep(errors_by_record, sample, at_millis)
    newest = sorted(
        errors_by_record.values(),
        key=lambda e: (e.time_of_exception_millis, e.offset),
        reverse=True,
    )
    return newest[:limit]


def _keep(
    errors: dict[tuple[str, int, int], ParseError], sample: RejectSample, at_millis: int
) -> None:
    key = (sample.topic, sample.partition, sample.offset)
    error = ParseError(
        input=sample.input,
        error_type="unparseable",
        details=[sample.reason, *([sample.detail] if sample.detail else [])],
        time_of_exception_millis=at_millis,
        topic=sample.topic,
        partition=sample.partition,
        offset=sample.offset,
    )
    errors.setdefault(key, error)
