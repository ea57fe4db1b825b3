"""The state of a supervisor: a table of what is, and the words for it."""

from dataclasses import dataclass, replace

import pytest

from supervisor.core.model.rows import TaskStatus
from supervisor.core.planning.actions import SlotNeed
from supervisor.core.planning.observed import Observed, PlanLimits, StreamState, StreamTrouble
from supervisor.core.planning.plan import plan
from supervisor.core.planning.states import State, roll_up
from supervisor.core.queue.events import QueueHealth, QueueMode, QueueName, QueueRow, container_of
from tasks.contract.messages import Lack, TaskPhase
from tests.supervisor.core.snapshots import (
    FOLLOWS,
    MINUTE,
    NOON,
    PUBLISHES,
    TOPIC,
    committed,
    generation,
    observed,
    offsets,
    report,
    spec,
    stream,
    task,
    worker,
)

EVERYTHING = generation(1, offsets(0, 0, 0, 0), task_count=1)
TASK = task(EVERYTHING)
READS = worker("w1", report(TASK, offsets(0, 0, 0, 0), TaskPhase.READING))
LACKING = report(TASK, offsets(0, 0, 0, 0)).model_copy(
    update={"lacks": Lack.SCHEMA_REGISTRY, "detail": "the schema registry does not answer: 503"}
)
SUSPECT = report(TASK, offsets(0, 0, 0, 0)).model_copy(
    update={"suspect": "the JVM of the worker ended 2 times while it read clicks:0 [3, 9)"}
)
RUNS = observed(generations=(EVERYTHING,), tasks=(TASK,), workers=(READS,))


@dataclass(frozen=True)
class Case:
    """What is seen, and what it is called."""

    seen: Observed
    state: State
    detailed: str
    healthy: bool = True
    slots: SlotNeed | None = None
    why: str = ""


def troubled(trouble: StreamTrouble, failures: int, *, ever: bool = True) -> StreamState:
    before = stream(9, 9) if ever else StreamState()
    return replace(before, trouble=trouble, failures=failures, detail="no route")


def dead_queue(name: str = "task-output") -> QueueRow:
    queue = QueueName(container_of(TOPIC), name)
    row = QueueRow(1, queue, QueueMode.CONSUMER, next_seq=9, processed_seq=3)
    return replace(row, state=QueueHealth.DEAD, dead_seq=4, dead_why="event 4 is missing")


def test_a_terminated_one_is_not_over_while_a_queue_of_it_stands_still() -> None:
    assert not plan(replace(observed(terminated=True), dead_queues=(dead_queue(),))).over


def suspended(**seen: object) -> Observed:
    """A suspended supervisor with a range whose end is fixed."""
    wanted = observed(spec(suspended=True), generations=(PUBLISHES,), tasks=(task(PUBLISHES),))
    return replace(wanted, **seen)  # type: ignore[arg-type]  # members by name


RUNNING, SICK = State.RUNNING, State.UNHEALTHY_SUPERVISOR
ENOUGH = PlanLimits().unhealthiness_threshold
AWAY = StreamTrouble.UNREACHABLE
CASES = {
    "running": Case(RUNS, RUNNING, "RUNNING"),
    "terminated": Case(replace(observed(terminated=True)), State.STOPPING, "STOPPING"),
    "suspended": Case(observed(spec(suspended=True)), State.SUSPENDED, "SUSPENDED"),
    "suspended-without-broker": Case(
        observed(spec(suspended=True), seen=troubled(AWAY, 9)), State.SUSPENDED, "SUSPENDED"
    ),
    "a-suspended-one-that-still-publishes": Case(
        suspended(), State.SUSPENDED, "SUSPENDED", why="1 range is still to be published"
    ),
    "a-suspended-one-that-nobody-publishes": Case(
        suspended(tasks=()),
        State.SUSPENDED,
        "SUSPENDED",
        slots=SlotNeed(0, 0),
        why="no worker takes the tasks that publish 1 range",
    ),
    "a-suspended-one-whose-topic-was-made-anew": Case(
        suspended(committed=committed(0, 0, topic_id="old")),
        SICK,
        "TOPIC_CHANGED",
        healthy=False,
    ),
    "a-suspended-one-whose-topic-was-deleted": Case(
        suspended(stream=troubled(StreamTrouble.NO_TOPIC, ENOUGH)),
        SICK,
        "TOPIC_GONE",
        healthy=False,
    ),
    "a-suspended-one-without-broker-that-still-publishes": Case(
        suspended(stream=troubled(AWAY, ENOUGH)), SICK, "LOST_CONTACT_WITH_STREAM", healthy=False
    ),
    "a-suspended-one-that-fails-to-publish": Case(
        suspended(failures_in_a_row=ENOUGH),
        State.UNHEALTHY_TASKS,
        "UNHEALTHY_TASKS",
        healthy=False,
    ),
    "a-suspended-one-without-schemas": Case(
        suspended(tasks=(TASK,), workers=(worker("w1", LACKING),)),
        SICK,
        "SCHEMA_REGISTRY_UNAVAILABLE",
        healthy=False,
    ),
    "a-suspended-one-at-rest-with-failures-behind-it": Case(
        replace(observed(spec(suspended=True)), failures_in_a_row=ENOUGH),
        State.SUSPENDED,
        "SUSPENDED",
    ),
    "connecting": Case(
        observed(stored={}, seen=troubled(StreamTrouble.CONNECTING, 9, ever=False)),
        RUNNING,
        "CONNECTING_TO_STREAM",
    ),
    "discovering": Case(observed(stored={}), RUNNING, "DISCOVERING_INITIAL_TASKS"),
    "creating": Case(
        observed(generations=(EVERYTHING,), tasks=(TASK,), workers=(worker("w1"),)),
        RUNNING,
        "CREATING_TASKS",
    ),
    "no-slots": Case(RUNS, RUNNING, "NO_CAPACITY", slots=SlotNeed(3, 1), why="3 more slots"),
    "nobody-to-publish": Case(
        replace(RUNS, generations=(PUBLISHES, FOLLOWS), tasks=(task(FOLLOWS),)),
        RUNNING,
        "NO_CAPACITY",
        slots=SlotNeed(0, 0),
        why=("no worker takes the tasks that publish 1 range: start another worker"),
    ),
    "no-worker-yet": Case(
        replace(RUNS, workers=(), tasks=()),
        RUNNING,
        "NO_CAPACITY",
        slots=SlotNeed(2, 0),
        why="2 more slots needed, 0 free: no worker is connected: start one, or wait until",
    ),
    "a-few-failed-looks": Case(
        replace(RUNS, stream=troubled(AWAY, ENOUGH - 1)), RUNNING, "RUNNING"
    ),
    "never-connected": Case(
        observed(stored={}, seen=troubled(AWAY, ENOUGH, ever=False)),
        SICK,
        "UNABLE_TO_CONNECT_TO_STREAM",
        healthy=False,
        why="no route",
    ),
    "lost-contact": Case(
        replace(RUNS, stream=troubled(AWAY, ENOUGH)),
        SICK,
        "LOST_CONTACT_WITH_STREAM",
        healthy=False,
    ),
    "without-schemas": Case(
        replace(RUNS, workers=(worker("w1", LACKING),)),
        SICK,
        "SCHEMA_REGISTRY_UNAVAILABLE",
        healthy=False,
        why="503",
    ),
    "another-topic": Case(
        replace(RUNS, committed=committed(0, 0, 0, 0, topic_id="old")),
        SICK,
        "TOPIC_CHANGED",
        healthy=False,
        why="old",
    ),
    "dead-queue": Case(
        replace(RUNS, dead_queues=(dead_queue(),)),
        SICK,
        "EVENT_QUEUE_DEAD",
        healthy=False,
        why="tidegate queue repair supervisor:clicks task-output",
    ),
    "a-dead-queue-of-a-suspended-one": Case(
        replace(observed(spec(suspended=True)), dead_queues=(dead_queue(),)),
        SICK,
        "EVENT_QUEUE_DEAD",
        healthy=False,
    ),
    "a-dead-queue-holds-up-an-ending": Case(
        replace(observed(terminated=True), dead_queues=(dead_queue(),)),
        SICK,
        "EVENT_QUEUE_DEAD",
        healthy=False,
    ),
    "a-few-failed-tasks": Case(replace(RUNS, failures_in_a_row=ENOUGH - 1), RUNNING, "RUNNING"),
    "failing-tasks": Case(
        replace(RUNS, failures_in_a_row=ENOUGH),
        State.UNHEALTHY_TASKS,
        "UNHEALTHY_TASKS",
        healthy=False,
    ),
    "offsets-that-end-the-jvm": Case(
        replace(RUNS, workers=(worker("w1", SUSPECT),)),
        State.UNHEALTHY_TASKS,
        "UNHEALTHY_TASKS",
        healthy=False,
        why="the JVM of the worker ended 2 times while it read clicks:0 [3, 9)",
    ),
    "the-broker-explains-failing-tasks": Case(
        replace(RUNS, failures_in_a_row=ENOUGH, stream=troubled(AWAY, ENOUGH)),
        SICK,
        "LOST_CONTACT_WITH_STREAM",
        healthy=False,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_state_has_its_facts(name: str) -> None:
    """Goal: one word that is true of the supervisor and its tasks; source: Druid's states."""
    case = CASES[name]

    rolled_up = roll_up(case.seen, case.slots)

    assert (rolled_up.state, rolled_up.detailed, rolled_up.healthy) == (
        case.state,
        case.detailed,
        case.healthy,
    )
    assert case.why in rolled_up.why


def test_only_a_healthy_state_is_without_an_explanation() -> None:
    """Goal: who sees a sick supervisor reads why."""
    for name, case in CASES.items():
        rolled_up = roll_up(case.seen, case.slots)
        assert rolled_up.healthy or rolled_up.why, name


def ended(*outcomes: bool) -> Observed:
    """Tasks that ended, the oldest first, one per minute."""
    rows = [
        replace(
            task(EVERYTHING, attempt=number),
            status=TaskStatus.SUCCESS if good else TaskStatus.FAILED,
            ended_at=NOON + number * MINUTE,
            reason="" if good else f"READ_FAILED: number {number}",
        )
        for number, good in enumerate(outcomes)
    ]
    bad = next((n for n, good in enumerate(reversed(outcomes)) if good), len(outcomes))
    return replace(RUNS, last_ended=tuple(reversed(rows)), failures_in_a_row=bad)


@pytest.mark.parametrize(
    ("outcomes", "healthy"),
    [
        ("bb", True),
        ("bbb", False),
        ("bbgb", True),
        ("bbbg", False),
        ("bbbggbgg", False),
        ("bbbggg", True),
        ("bbbgggb", True),
    ],
)
def test_three_failures_in_a_row_begin_it_and_three_good_ones_end_it(
    outcomes: str, *, healthy: bool
) -> None:
    """Goal: one lucky task does not hide that most fail.  Source: Druid's healthinessThreshold."""
    rolled_up = roll_up(ended(*(sign == "g" for sign in outcomes)), None)

    assert rolled_up.healthy is healthy
    assert rolled_up.state is (State.RUNNING if healthy else State.UNHEALTHY_TASKS)


def test_failing_tasks_are_told_with_the_last_of_them_and_its_reason() -> None:
    """Goal: "unhealthy" without a cause helps nobody."""
    rolled_up = roll_up(ended(False, False, False, True), None)

    assert rolled_up.why == (
        "3 or more tasks in a row failed, 1 succeeded since; the last: task-1-0-2: "
        "READ_FAILED: number 2"
    )
