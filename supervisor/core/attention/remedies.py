"""Remedies: steps that may help a supervisor out of a state, to be offered.

    what is seen ──► remedies_of  steps with their values, permission and command; the best first

A remedy is offered and never taken.  Its values are those of the last look, so that a client shows
the step's preview before it acts.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from supervisor.core.model.rows import TaskStatus
from supervisor.core.planning.observed import Liveness, Observed, StreamTrouble
from supervisor.core.planning.partition_names import by_name, names_topics
from supervisor.core.planning.placement import slots_for
from supervisor.core.planning.progress import report_of
from supervisor.core.planning.rules.continuity import Unreadable, unreadable
from supervisor.core.planning.states import SupervisorState
from supervisor.core.queue.events import QueueName
from supervisor.core.values.counts import counted, grouped
from supervisor.core.values.errors import repair_command
from supervisor.core.values.permissions import Permission
from tasks.contract.ingest_spec import BadRecords
from tasks.contract.offsets import TopicPartition

_ONE_IS = re.compile(r"; one is ([\w.-]{1,249}):(\d{1,9}) (\d{1,18})(?= \(|$)", re.ASCII)
"""How a task that failed for bad records names one of them."""
RemedyValue: TypeAlias = str | int | bool | dict[str, int]


class RemedyAction(StrEnum):
    """The kind of a step."""

    RESUME = "resume"
    SUSPEND = "suspend"
    RESET = "reset"
    """Begin again in all partitions."""
    RESET_OFFSETS = "reset-offsets"
    """Go on at `offsets`: partition, as the status names it -> next offset."""
    TERMINATE = "terminate"
    EDIT_SPEC = "edit-spec"
    """Change the member at `pointer` of the spec, to `value` if there is one."""
    ENABLE_WORKER = "enable-worker"
    START_WORKER = "start-worker"
    FORGET_WORKER = "forget-worker"
    REPAIR_QUEUE = "repair-queue"
    REPLAY_EVENTS = "replay-events"
    """Queue the events of a queue again that were set aside."""
    ASK_BROKERS = "ask-brokers"
    """Find out why the brokers of the list `brokers` do not answer."""
    ASK_DATABASE = "ask-database"
    """Find out why the metadata database does not answer."""
    ASK_OVERLORD = "ask-overlord"
    """Find out why the overlord at the address `overlord` was silent."""
    START_OVERLORD = "start-overlord"
    RENEW_CERTIFICATE = "renew-certificate"
    CREATE_TOPIC = "create-topic"
    """Create `topic` by the tools of Kafka."""
    RESUME_PERSISTER = "resume-persister"
    """Let the one at the address `persister` store again."""
    ASK_PERSISTER = "ask-persister"
    """Find out how the one at the address `persister` is."""
    LIST_DEAD_LETTERS = "list-dead-letters"
    """Look at what the one at the address `persister` could not store."""
    OPEN_EXECUTORS = "open-executors"
    LIST_DEAD_INPUTS = "list-dead-inputs"
    OPEN_LOG = "open-log"
    """Read the log of `task`."""
    OPEN_RANGE = "open-range"
    """Look at `range`, the id of a range."""
    OPEN_BAD_RECORDS = "open-bad-records"
    """Look at the records that the supervisor could not read."""


@dataclass(frozen=True)
class Remedy:
    """A step that may help."""

    action: RemedyAction
    label: str
    """The step in words, as a button shows it."""
    permission: Permission | None
    """What a caller needs for it, on the supervisor's table; None: it is nothing of the API."""
    params: Mapping[str, RemedyValue] = field(default_factory=dict)
    command: str = ""
    """The same by the command line; empty: there is no single command for it."""


def remedies_of(seen: Observed, state: SupervisorState) -> tuple[Remedy, ...]:
    """Return the steps that may help a supervisor out of a state, the best first."""
    steps = _STEPS.get(state.detailed)
    return () if steps is None else tuple(steps(seen))


def diverged_steps(supervisor_id: str, range_id: str) -> tuple[Remedy, ...]:
    """Return the steps after replicas have made different rows of a range."""
    return (
        Remedy(
            RemedyAction.OPEN_RANGE,
            f"Look at the range {range_id}",
            Permission.READ,
            {"range": range_id},
            f"tidegate supervisor ranges {shlex.quote(supervisor_id)}",
        ),
    )


def bad_record_steps(supervisor_id: str) -> tuple[Remedy, ...]:
    """Return the step after a supervisor gets bad records for a new reason."""
    return (
        Remedy(
            RemedyAction.OPEN_BAD_RECORDS,
            "Look at the bad records",
            Permission.READ,
            command=f"tidegate quarantine list {shlex.quote(supervisor_id)}",
        ),
    )


def more_slots(seen: Observed) -> tuple[Remedy, ...]:
    """Return the steps that give waiting replicas a slot."""
    return tuple(_capacity(seen))


def resumption(seen: Observed) -> tuple[Remedy, ...]:
    """Return the step that lets a suspended supervisor read on; none: it is not suspended."""
    return tuple(_resume(seen))


def faster_reading() -> tuple[Remedy, ...]:
    """Return the step that lets a supervisor read faster."""
    return tuple(_edit("Raise taskCount, so that more tasks read", "/spec/ioConfig/taskCount"))


def a_worker() -> tuple[Remedy, ...]:
    """Return the step after no worker is connected."""
    return (_ANOTHER_WORKER,)


def lost_worker(worker_id: str) -> tuple[Remedy, ...]:
    """Return the steps after a worker is lost."""
    name = shlex.quote(worker_id)
    return _ANOTHER_WORKER, Remedy(
        RemedyAction.FORGET_WORKER,
        f"Forget worker {worker_id}, if it is gone for good",
        Permission.WORKERS,
        {"worker": worker_id},
        f"tidegate worker forget {name}",
    )


def repair_of(queue: QueueName) -> Remedy:
    """Return the step that makes a dead queue live again."""
    return Remedy(
        RemedyAction.REPAIR_QUEUE,
        f"Repair the event queue {queue.name}",
        Permission.REPAIR,
        {"container": queue.container, "queue": queue.name},
        repair_command(shlex.quote(queue.container), shlex.quote(queue.name)),
    )


def replay_of(queue: QueueName) -> Remedy:
    """Return the step that queues failed events again."""
    place = f"{shlex.quote(queue.container)} {shlex.quote(queue.name)}"
    return Remedy(
        RemedyAction.REPLAY_EVENTS,
        "Try the events that were set aside again",
        Permission.REPLAY,
        {"container": queue.container, "queue": queue.name},
        f"tidegate queue replay {place} --all",
    )


_ANOTHER_WORKER = Remedy(
    RemedyAction.START_WORKER, "Start another worker", None, command="tidegate worker"
)


def _resume(seen: Observed) -> Iterator[Remedy]:
    if seen.current.spec is not None and seen.current.spec.suspended:
        command = _command(seen, "resume")
        yield Remedy(RemedyAction.RESUME, "Resume", Permission.SUSPEND, command=command)


def _elsewhere(seen: Observed) -> Iterator[Remedy]:
    return _nearest(seen, unreadable(seen))


def after_deletion(seen: Observed, deleted: Sequence[Unreadable]) -> tuple[Remedy, ...]:
    """Return the steps that let a supervisor go on at the earliest records that Kafka holds."""
    return tuple(_nearest(seen, deleted))


def _nearest(seen: Observed, broken: Sequence[Unreadable]) -> Iterator[Remedy]:
    """Go on at the nearest offset that Kafka holds: nothing that is there is left out."""
    spec = seen.current.spec
    if not broken or spec is None:
        return
    nearest = {each.partition: each.earliest if each.lost else each.latest for each in broken}
    offsets = by_name(nearest, topics=names_topics(spec, nearest))
    yield Remedy(
        RemedyAction.RESET_OFFSETS,
        _go_on(offsets),
        Permission.RESET,
        {"offsets": offsets},
        _command(seen, "reset", *(f"--offset {name}={at}" for name, at in offsets.items())),
    )
    if not spec.tuning_config.reset_offset_automatically:
        yield Remedy(
            RemedyAction.EDIT_SPEC,
            "Let it go on by itself, now and later",
            Permission.APPLY,
            {"pointer": "/spec/tuningConfig/resetOffsetAutomatically", "value": True},
        )


def _go_on(offsets: Mapping[str, int]) -> str:
    if len(offsets) == 1:
        [(name, at)] = offsets.items()
        return f"Go on in partition {name} at offset {at}"
    return f"Go on in {grouped(len(offsets))} partitions at the nearest offsets that Kafka holds"


def _new_topic(seen: Observed) -> Iterator[Remedy]:
    yield Remedy(
        RemedyAction.RESET,
        "Begin again in all partitions",
        Permission.RESET,
        command=_command(seen, "reset"),
    )
    yield from _terminate(seen)


def _gone_topic(seen: Observed) -> Iterator[Remedy]:
    """Create the topic again, or stop reading it; of a pattern the other topics may begin again."""
    yield from _create_topic(seen)
    spec = seen.current.spec
    if spec is not None and spec.io_config.topic is None:
        yield from _new_topic(seen)
        return
    yield from _terminate(seen)
    if spec is None or spec.suspended:
        return
    yield Remedy(
        RemedyAction.SUSPEND,
        "Suspend",
        Permission.SUSPEND,
        command=_command(seen, "suspend"),
    )


def _create_topic(seen: Observed) -> Iterator[Remedy]:
    """Create a topic with as many partitions as it had; those of a pattern have no single name."""
    spec = seen.current.spec
    if spec is None or (topic := spec.io_config.topic) is None:
        return
    partitions = max((each.partition for each in seen.committed), default=-1) + 1
    size = f" --partitions {partitions}" if partitions else ""
    brokers = shlex.quote(spec.io_config.client.bootstrap_servers)
    yield Remedy(
        RemedyAction.CREATE_TOPIC,
        f"Create the topic {topic}",
        None,
        {"topic": topic},
        f"kafka-topics.sh --bootstrap-server {brokers} --create --topic {shlex.quote(topic)}{size}",
    )


def _terminate(seen: Observed) -> Iterator[Remedy]:
    yield Remedy(
        RemedyAction.TERMINATE,
        "Terminate",
        Permission.TERMINATE,
        command=_command(seen, "terminate"),
    )


def _capacity(seen: Observed) -> Iterator[Remedy]:
    for worker in seen.workers:
        if worker.disabled and worker.liveness is not Liveness.LOST:
            yield Remedy(
                RemedyAction.ENABLE_WORKER,
                f"Enable worker {worker.id}",
                Permission.WORKERS,
                {"worker": worker.id},
                f"tidegate worker enable {shlex.quote(worker.id)}",
            )
    yield _ANOTHER_WORKER
    label = "Lower taskCount or replicas"
    if seen.current.spec is not None:
        config = seen.current.spec.io_config
        slots = slots_for(seen.workers, seen.generations, seen.tasks)
        label += f": {config.task_count} x {config.replicas} tasks for {counted(slots, 'slot')}"
    yield from _edit(label, "/spec/ioConfig/taskCount")


def _repair(seen: Observed) -> Iterator[Remedy]:
    for row in seen.dead_queues:
        yield repair_of(row.queue)


def _failed_task(seen: Observed) -> Iterator[Remedy]:
    """Open the log of a task that reads suspect offsets, else of the last that failed."""
    reports = ((task, report_of(seen, task)) for task in seen.tasks)
    suspects = [task.id for task, report in reports if report is not None and report.suspect]
    failed = [task for task in seen.last_ended if task.status is TaskStatus.FAILED]
    for task_id in (suspects + [task.id for task in failed])[:1]:
        yield Remedy(
            RemedyAction.OPEN_LOG,
            f"Read the log of {task_id}",
            Permission.READ,
            {"task": task_id},
            f"tidegate task logs {shlex.quote(task_id)}",
        )
    if failed and not suspects:
        yield from _bad_record(seen, failed[0].reason)


def _bad_record(seen: Observed, reason: str) -> Iterator[Remedy]:
    """Go on although records cannot be read: set them aside, or begin after the one that is named.

    The first way skips nothing that can be read.
    """
    named, spec = _ONE_IS.search(reason), seen.current.spec
    if named is None or spec is None:
        return
    if spec.tuning_config.bad_records is BadRecords.FAIL:
        field, value = "/spec/tuningConfig/badRecords", BadRecords.QUARANTINE.value
        yield Remedy(
            RemedyAction.EDIT_SPEC,
            "Set bad records aside, and read the others",
            Permission.APPLY,
            {"pointer": field, "value": value},
        )
    else:
        yield from _edit("Allow more bad records", "/spec/tuningConfig/maxParseExceptions")
    partition, offset = TopicPartition(named[1], int(named[2])), int(named[3])
    committed = seen.committed.get(partition)
    if committed is None or committed.next_offset > offset:
        return  # it is behind by now
    offsets = by_name({partition: offset + 1}, topics=names_topics(spec, [partition]))
    [(name, following)] = offsets.items()
    between = offset - committed.next_offset
    before = f", with {counted(between, 'record')} before it" if between else ""
    yield Remedy(
        RemedyAction.RESET_OFFSETS,
        f"Skip the record at offset {offset} of partition {name}{before}",
        Permission.RESET,
        {"offsets": offsets},
        _command(seen, "reset", f"--offset {name}={following}"),
    )


def _edit(label: str, pointer: str) -> Iterator[Remedy]:
    yield Remedy(RemedyAction.EDIT_SPEC, label, Permission.APPLY, {"pointer": pointer})


def _connection(seen: Observed) -> Iterator[Remedy]:
    if seen.stream.trouble is StreamTrouble.NO_TOPIC:
        return _gone_topic(seen)
    return _edit("Check brokers and credentials", "/spec/ioConfig/consumerProperties")


def _bounds(_: Observed) -> Iterator[Remedy]:
    return _edit("Correct boundedStreamConfig", "/spec/ioConfig/boundedStreamConfig")


def _command(seen: Observed, verb: str, *options: str) -> str:
    words = ("tidegate supervisor", verb, shlex.quote(seen.current.supervisor_id), *options)
    return " ".join(words)


_Steps: TypeAlias = Callable[[Observed], Iterator[Remedy]]
_STEPS: Mapping[str, _Steps] = MappingProxyType(
    {
        "SUSPENDED": _resume,
        "NO_CAPACITY": _capacity,
        "UNABLE_TO_CONNECT_TO_STREAM": _connection,
        "LOST_CONTACT_WITH_STREAM": _connection,
        "TOPIC_CHANGED": _new_topic,
        "TOPIC_GONE": _gone_topic,
        "OFFSETS_UNREADABLE": _elsewhere,
        "LOST_CONTINUITY": _elsewhere,
        "NO_SUCH_PARTITION": _bounds,
        "BOUNDS_MISMATCHED": _bounds,
        "EVENT_QUEUE_DEAD": _repair,
        "UNHEALTHY_TASKS": _failed_task,
    }
)
"""Detailed state -> its steps; the others are left by time alone, or outside of the overlord."""
