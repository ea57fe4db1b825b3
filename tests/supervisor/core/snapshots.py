"""Builders of snapshots for tests of the planner: a world in rows, by default at rest."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from supervisor.core.model.rows import (
    CommittedOffset,
    Generation,
    GenerationState,
    SpecVersion,
    Task,
    TaskStatus,
)
from supervisor.core.planning.actions import Action
from supervisor.core.planning.observed import (
    Liveness,
    Observed,
    PlanLimits,
    StreamState,
    WorkerView,
)
from supervisor.core.planning.plan import plan
from supervisor.core.spec.sections.tuning_config import TuningConfig
from supervisor.core.spec.spec import SupervisorSpec
from tasks.contract.messages import FailureCode, TaskPhase, TaskReport
from tasks.contract.offsets import Offsets, TopicPartition

NOON = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
TOPIC = "clicks"


def spec(
    task_count: int = 2,
    replicas: int = 1,
    *,
    duration: timedelta = timedelta(hours=1),
    suspended: bool = False,
    stop_task_count: int | None = None,
    earliest: bool = True,
) -> SupervisorSpec:
    """A valid spec of the topic."""
    return SupervisorSpec.model_validate(
        {
            "dataSchema": {"dataSource": TOPIC, "timestampSpec": {"column": "time"}},
            "ioConfig": {
                "topic": TOPIC,
                "consumerProperties": {"bootstrap.servers": "localhost:9092"},
                "inputFormat": {"type": "json"},
                "taskCount": task_count,
                "replicas": replicas,
                "taskDuration": f"PT{int(duration.total_seconds())}S",
                "stopTaskCount": stop_task_count,
                "useEarliestOffset": earliest,
            },
            "suspended": suspended,
        }
    )


def other_spec() -> SupervisorSpec:
    """A spec of the same supervisor that asks for other tasks."""
    return spec().model_copy(update={"tuning_config": TuningConfig(max_rows_per_segment=1_000)})


def offsets(*values: int) -> dict[TopicPartition, int]:
    """Offsets of partitions 0, 1, ... in order."""
    return {TopicPartition(TOPIC, number): value for number, value in enumerate(values)}


def part(number: int) -> TopicPartition:
    """One partition of the topic."""
    return TopicPartition(TOPIC, number)


def stream(*ends: int, earliest: int = 0, topic_id: str = "id-1") -> StreamState:
    """A topic whose partitions end at `ends`."""
    return StreamState(
        topic_ids={TOPIC: topic_id},
        earliest=dict.fromkeys(offsets(*ends), earliest),
        latest=offsets(*ends),
        stable=offsets(*ends),
        read_at=NOON,
    )


def committed(*values: int, topic_id: str = "id-1") -> dict[TopicPartition, CommittedOffset]:
    """Stored offsets of partitions 0, 1, ..."""
    return {p: CommittedOffset(TOPIC, p, at, 0, topic_id) for p, at in offsets(*values).items()}


def generation(
    ordinal: int,
    start: Offsets,
    end: Offsets | None = None,
    *,
    group: int = 0,
    state: GenerationState = GenerationState.READING,
    task_count: int = 2,
    partition_count: int = 4,
) -> Generation:
    """A generation opened at NOON."""
    return Generation(
        id=f"{TOPIC}:{ordinal}",
        supervisor_id=TOPIC,
        data_source=TOPIC,
        ordinal=ordinal,
        layout_version=1,
        task_count=task_count,
        partition_count=partition_count,
        group=group,
        spec_version=1,
        state=state,
        start=start,
        end=end,
        opened_at=NOON,
        timer_started_at=NOON,
    )


def task(
    of: Generation, replica: int = 0, *, worker: str = "w1", attempt: int = 1, name: str = ""
) -> Task:
    """An active task of a generation."""
    return Task(
        id=name or f"task-{of.ordinal}-{replica}-{attempt}",
        supervisor_id=TOPIC,
        data_source=TOPIC,
        generation_id=of.id,
        replica=replica,
        attempt=attempt,
        worker_id=worker,
        incarnation=1,
        token="secret",
        status=TaskStatus.RUNNING,
        created_at=NOON,
    )


def failed(gone: Task, at: datetime, reason: str = "killed") -> Task:
    """The row of a task after it failed."""
    return replace(gone, status=TaskStatus.FAILED, ended_at=at, reason=reason)


def report(
    of: Task,
    position: Offsets,
    phase: TaskPhase = TaskPhase.READING,
    *,
    sequence: int = 0,
    failure: FailureCode | None = None,
    stalled: timedelta = timedelta(0),
) -> TaskReport:
    """What a worker says of a task."""
    return TaskReport(
        task_id=of.id,
        phase=phase,
        order_term=1,
        order_sequence=sequence,
        position=dict(position),
        failure=failure,
        stalled_for=stalled,
    )


def worker(
    name: str = "w1",
    *reports: TaskReport,
    slots: int = 4,
    used: int = 0,
    liveness: Liveness = Liveness.ALIVE,
    stopping: bool = False,
) -> WorkerView:
    """A worker as the leader sees it."""
    return WorkerView(
        id=name,
        incarnation=1,
        liveness=liveness,
        slots=slots,
        stopping=stopping,
        reports={r.task_id: r for r in reports},
        used_slots=used,
    )


def observed(
    wanted: SupervisorSpec | None = None,
    *,
    now: datetime = NOON,
    stored: dict[TopicPartition, CommittedOffset] | None = None,
    seen: StreamState | None = None,
    generations: tuple[Generation, ...] = (),
    newest: Generation | None = None,
    tasks: tuple[Task, ...] = (),
    last: tuple[Task, ...] = (),
    workers: tuple[WorkerView, ...] = (),
    failures: int = 0,
    terminated: bool = False,
    version: int = 1,
    older: dict[int, SupervisorSpec] | None = None,
) -> Observed:
    """A snapshot of one supervisor over four partitions, two groups, unless told otherwise."""
    current = wanted or spec()
    return Observed(
        now=now,
        limits=PlanLimits(),
        current=SpecVersion(TOPIC, version, NOON, None if terminated else current),
        specs={version: current, **(older or {})},
        committed=committed(0, 0, 0, 0) if stored is None else stored,
        stream=stream(100, 100, 100, 100) if seen is None else seen,
        generations=generations,
        newest=newest or (generations[-1] if generations else None),
        tasks=tasks,
        last_attempts={(t.generation_id, t.replica): t for t in last},
        workers=workers,
        failures_in_a_row=failures,
    )


EVEN = {part(0): 0, part(2): 0}
ODD = {part(1): 0, part(3): 0}
HOUR = timedelta(hours=1)

END = {part(0): 9, part(2): 4}
PUBLISHES = generation(1, EVEN, END, state=GenerationState.PUBLISHING)
FOLLOWS = generation(3, END)
ODDS = generation(2, ODD, group=1)


def decided(seen: Observed) -> list[Action]:
    """What the planner does."""
    return list(plan(seen).actions)


def reading() -> tuple[Generation, Generation, Task, Task]:
    """Two groups at work, a task each."""
    even, odd = generation(1, EVEN), generation(2, ODD, group=1)
    return even, odd, task(even), task(odd)


def pausing(at: int = 60, *, must_end: bool = False) -> Generation:
    """The even group, ordered to pause `at` seconds after NOON."""
    return replace(
        generation(1, EVEN, state=GenerationState.PAUSING),
        sequence=1,
        handoff_why="taskDuration is over",
        paused_at=NOON + timedelta(seconds=at),
        must_end=must_end,
    )
