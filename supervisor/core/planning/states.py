"""The state of a supervisor for people and for `/health`: Druid's words, rolled up from one view.

| state | healthy | detailedState besides the same word |
|---|---|---|
| PENDING, SUSPENDED, COMPLETED | yes | |
| STOPPING | yes, unless a range of it stands still | |
| RUNNING | yes | CONNECTING_TO_STREAM, DISCOVERING_INITIAL_TASKS, CREATING_TASKS, NO_CAPACITY |
| UNHEALTHY_SUPERVISOR | no | UNABLE_TO_CONNECT_TO_STREAM, LOST_CONTACT_WITH_STREAM, TOPIC_CHANGED |
| UNHEALTHY_SUPERVISOR | no | OFFSETS_UNREADABLE, LOST_CONTINUITY, TOPIC_GONE |
| UNHEALTHY_SUPERVISOR | no | NO_SUCH_PARTITION, BOUNDS_MISMATCHED |
| UNHEALTHY_SUPERVISOR | no | SCHEMA_REGISTRY_UNAVAILABLE |
| UNHEALTHY_SUPERVISOR, whatever else is true | no | EVENT_QUEUE_DEAD |
| UNHEALTHY_SUPERVISOR, whatever else is true | no | UNREADABLE_SPEC, UNREADABLE_ROWS |
| UNHEALTHY_TASKS | no | |
"""

from dataclasses import dataclass
from enum import StrEnum

from supervisor.core.model.rows import GenerationState, TaskStatus
from supervisor.core.planning.actions import SlotNeed
from supervisor.core.planning.observed import Liveness, Observed, StreamState, StreamTrouble
from supervisor.core.planning.passes import Pass, PassError
from supervisor.core.planning.progress import report_of
from supervisor.core.planning.rules.bounds import is_completed, mismatched, missing_partitions
from supervisor.core.planning.rules.continuity import unreadable
from supervisor.core.planning.rules.idle import is_idle
from supervisor.core.planning.rules.lost_topics import changed_topic, gone_topics
from supervisor.core.planning.rules.standstill import standstill
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.counts import counted, grouped
from supervisor.core.values.errors import SpecUnreadable, UnknownWord, repair_command
from supervisor.core.values.hysteresis import streak_of
from tasks.contract.messages import Lack


class State(StrEnum):
    """Druid's `state`."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    SUSPENDED = "SUSPENDED"
    IDLE = "IDLE"
    COMPLETED = "COMPLETED"
    STOPPING = "STOPPING"
    UNHEALTHY_SUPERVISOR = "UNHEALTHY_SUPERVISOR"
    UNHEALTHY_TASKS = "UNHEALTHY_TASKS"


_LACKING = {Lack.SCHEMA_REGISTRY: "SCHEMA_REGISTRY_UNAVAILABLE"}


@dataclass(frozen=True)
class SupervisorState:
    """A state with its detail and the sentence that explains it."""

    state: State
    detailed: str
    healthy: bool
    why: str = ""


COMPLETED = SupervisorState(
    State.COMPLETED,
    State.COMPLETED,
    healthy=True,
    why="all that boundedStreamConfig names is published",
)


def roll_up(seen: Observed, slots: SlotNeed | None) -> SupervisorState:
    """Return the one state that is true of a supervisor and its tasks together.

    Source: Druid's SupervisorStateManager; NO_CAPACITY, TOPIC_CHANGED, OFFSETS_UNREADABLE,
    LOST_CONTINUITY, NO_SUCH_PARTITION, BOUNDS_MISMATCHED, SCHEMA_REGISTRY_UNAVAILABLE,
    EVENT_QUEUE_DEAD, UNREADABLE_SPEC and UNREADABLE_ROWS are additions.
    """
    if (dead := _dead_queue(seen)) is not None:
        return dead
    still = standstill(seen)
    if seen.current.spec is None:
        why = still or "it is terminated; its tasks publish what they have read, and end"
        return SupervisorState(State.STOPPING, State.STOPPING, healthy=still is None, why=why)
    if not seen.current.spec.suspended and is_completed(seen.current.spec, seen.committed):
        return COMPLETED
    if (broken := _broken_stream(seen)) is not None:
        return broken
    if seen.current.spec.suspended and not seen.generations:
        return _healthy(State.SUSPENDED)
    if (trouble := _stream_trouble(seen)) is not None:
        return trouble
    if (outside := _out_of_bounds(seen, seen.current.spec)) is not None:
        return outside
    if is_idle(seen):
        return _healthy(State.IDLE, why="all is read, and no task runs while nothing comes")
    if (lacking := _lacking_tasks(seen)) is not None:
        return lacking
    if (failing := _suspect_offsets(seen) or _failing_tasks(seen) or still) is not None:
        state = State.UNHEALTHY_TASKS
        return SupervisorState(state, state, healthy=False, why=failing)
    if seen.current.spec.suspended:
        return _healthy(State.SUSPENDED, why=_still_publishing(seen, slots))
    return _running(seen, slots)


def unread_state(error: SpecUnreadable | UnknownWord) -> SupervisorState:
    """Return the state of a supervisor of which only a newer release can read the spec or rows."""
    detailed = "UNREADABLE_SPEC" if isinstance(error, SpecUnreadable) else "UNREADABLE_ROWS"
    return SupervisorState(State.UNHEALTHY_SUPERVISOR, detailed, healthy=False, why=str(error))


def _still_publishing(seen: Observed, slots: SlotNeed | None) -> str:
    count = len(seen.generations)
    summary = f"{counted(count, 'range is', 'ranges are')} still to be published"
    return summary if slots is None else f"{summary}; {_capacity(seen, slots)}"


def _out_of_bounds(seen: Observed, spec: SupervisorSpec) -> SupervisorState | None:
    """The ranges of a bounded supervisor are not there, or not the ones it has begun."""
    if spec.suspended:
        return None  # what is to be read next is not asked for now
    unhealthy = State.UNHEALTHY_SUPERVISOR
    if (absent := missing_partitions(spec, seen)) is not None:
        return SupervisorState(unhealthy, "NO_SUCH_PARTITION", healthy=False, why=absent)
    if (other := mismatched(spec, seen.committed)) is not None:
        return SupervisorState(unhealthy, "BOUNDS_MISMATCHED", healthy=False, why=other)
    return None


def _lacking_tasks(seen: Observed) -> SupervisorState | None:
    """Say that tasks wait for what they cannot read without; they read on by themselves."""
    for task in seen.tasks:
        report = report_of(seen, task)
        if report is None or report.lacks is None:
            continue
        word, why = _LACKING[report.lacks], f"{task.id}: {report.detail}"
        return SupervisorState(State.UNHEALTHY_SUPERVISOR, word, healthy=False, why=why)
    return None


def _suspect_offsets(seen: Observed) -> str | None:
    """Name offsets at which the JVM of a worker ended twice or more often."""
    for task in seen.tasks:
        report = report_of(seen, task)
        if report is not None and report.suspect:
            return f"{task.id}: {report.suspect}"
    return None


def _failing_tasks(seen: Observed) -> str | None:
    """Say how tasks fail: three in a row begin it, three good ones in a row end it."""
    threshold = seen.limits.unhealthiness_threshold
    outcomes = [task.status is TaskStatus.SUCCESS for task in reversed(seen.last_ended)]
    streak = streak_of(outcomes, threshold)
    if seen.failures_in_a_row >= threshold:
        why = f"{grouped(seen.failures_in_a_row)} tasks in a row failed"
    elif streak.failing:
        why = (
            f"{grouped(threshold)} or more tasks in a row failed, "
            f"{grouped(streak.good)} succeeded since"
        )
    else:
        return None
    last = next((t for t in seen.last_ended if t.status is TaskStatus.FAILED), None)
    return why if last is None else f"{why}; the last: {last.id}: {last.reason}"


def _running(seen: Observed, slots: SlotNeed | None) -> SupervisorState:
    if not seen.committed:
        detailed = "CONNECTING_TO_STREAM" if not seen.stream.known else "DISCOVERING_INITIAL_TASKS"
        return _healthy(State.RUNNING, detailed, seen.stream.detail)
    if slots is not None:
        return _healthy(State.RUNNING, "NO_CAPACITY", _capacity(seen, slots))
    if all(report_of(seen, task) is None for task in seen.tasks):
        return _healthy(State.RUNNING, "CREATING_TASKS")
    return _healthy(State.RUNNING)


def _capacity(seen: Observed, slots: SlotNeed) -> str:
    """Say what is wanted of workers; publishing takes no slot, and a worker all the same."""
    todo = _wanted_of_workers(seen)
    if slots.needed:
        return f"{counted(slots.needed, 'more slot')} needed, {slots.free} free: {todo}"
    tended = {task.generation_id for task in seen.tasks}
    fixed = [g for g in seen.generations if g.state is GenerationState.PUBLISHING]
    waiting = sum(generation.id not in tended for generation in fixed)
    return f"no worker takes the tasks that publish {counted(waiting, 'range')}: {todo}"


def _wanted_of_workers(seen: Observed) -> str:
    """Say what to do so that tasks get a worker; the disabled ones that run are named."""
    running = [w for w in seen.workers if w.liveness is not Liveness.LOST]
    disabled = ", ".join(w.id for w in running if w.disabled)
    if disabled:
        return f"enable a worker that is disabled ({disabled}), or start another one"
    if not running:
        return "no worker is connected: start one, or wait until the one that starts is ready"
    return "start another worker"


def _dead_queue(seen: Observed) -> SupervisorState | None:
    """No task ends while the queue is dead that cleans up behind it: this hides all other words."""
    if not seen.dead_queues:
        return None
    row = seen.dead_queues[0]
    why = (
        f"its event queue {row.queue.name} is damaged at event {row.dead_seq}: {row.dead_why}; no "
        f"task ends or publishes before it is repaired: "
        f"{repair_command(row.queue.container, row.queue.name)}"
    )
    return SupervisorState(State.UNHEALTHY_SUPERVISOR, "EVENT_QUEUE_DEAD", healthy=False, why=why)


def _stream_trouble(seen: Observed) -> SupervisorState | None:
    if (changed := changed_topic(seen)) is not None:
        return SupervisorState(
            State.UNHEALTHY_SUPERVISOR, "TOPIC_CHANGED", healthy=False, why=changed
        )
    if (gone := gone_topics(seen)) is not None:
        return SupervisorState(State.UNHEALTHY_SUPERVISOR, "TOPIC_GONE", healthy=False, why=gone)
    stream = seen.stream
    if stream.trouble is None or stream.trouble is StreamTrouble.CONNECTING:
        return None
    if stream.failures < seen.limits.unhealthiness_threshold:
        return None
    detailed = _lost(stream)
    return SupervisorState(State.UNHEALTHY_SUPERVISOR, detailed, healthy=False, why=stream.detail)


def _broken_stream(seen: Observed) -> SupervisorState | None:
    """Kafka does not hold what is to be read next: say the numbers, and what to do (E3-E5)."""
    unreadable_partitions = unreadable(seen)
    if not unreadable_partitions or seen.current.spec is None:
        return None
    lost = [each for each in unreadable_partitions if each.lost]
    word = "OFFSETS_UNREADABLE" if lost else "LOST_CONTINUITY"
    # What is lost is told first: nothing brings it back.
    numbers = "; ".join(
        str(each) for each in sorted(unreadable_partitions, key=lambda each: not each.lost)
    )
    if seen.current.spec.tuning_config.reset_offset_automatically:
        todo = "resetOffsetAutomatically goes on at the nearest offset once no task reads there"
    else:
        todo = (
            "nothing is read there until you decide: `resetOffsets` goes on at offsets that you "
            "name, tuningConfig.resetOffsetAutomatically does it by itself, `reset` begins again "
            "in all partitions"
        )
    state = State.UNHEALTHY_SUPERVISOR
    return SupervisorState(state, word, healthy=False, why=f"{numbers}; {todo}")


def _lost(stream: StreamState) -> str:
    never = stream.read_at is None
    return "UNABLE_TO_CONNECT_TO_STREAM" if never else "LOST_CONTACT_WITH_STREAM"


def _healthy(state: State, detailed: str | None = None, why: str = "") -> SupervisorState:
    return SupervisorState(state, detailed or state, healthy=True, why=why)


def _needs_no_pass(wanted: SupervisorSpec, seen: Observed) -> bool:
    return wanted.suspended or is_completed(wanted, seen.committed)


def failing_state(failing_pass: PassError) -> SupervisorState:
    """Return the state of a supervisor whose passes fail."""
    state = State.UNHEALTHY_SUPERVISOR
    return SupervisorState(state, state, healthy=False, why=failing_pass.message)


def state_of(
    seen: Observed, last_pass: Pass | None, failing_pass: PassError | None
) -> SupervisorState:
    """Return the state: PENDING before the first pass, unhealthy while passes fail.

    A completed supervisor needs no pass: what is stored of it says so.
    """
    if failing_pass is not None:
        return failing_state(failing_pass)
    wanted = seen.current.spec
    if last_pass is None and wanted is not None and not _needs_no_pass(wanted, seen):
        return SupervisorState(State.PENDING, State.PENDING, healthy=True, why="no pass made yet")
    return roll_up(seen, None if last_pass is None else last_pass.decided.waiting_for_slots)
