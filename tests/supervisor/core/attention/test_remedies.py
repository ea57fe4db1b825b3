"""Each state that somebody can change has steps, with the values of what was seen."""

import shlex
from dataclasses import replace

import pytest

from supervisor.core.attention.changes import CHANGES, change_of
from supervisor.core.attention.remedies import Remedy, RemedyAction, remedies_of
from supervisor.core.model.rows import TaskStatus
from supervisor.core.planning.observed import (
    Observed,
    PlanLimits,
    StreamState,
    StreamTrouble,
)
from supervisor.core.planning.states import roll_up
from supervisor.core.values.permissions import Permission
from tasks.contract.ingest_spec import BadRecords
from tests.supervisor.core.planning.test_states import CASES, RUNS, SUSPECT, TASK, dead_queue
from tests.supervisor.core.snapshots import (
    NOON,
    TOPIC,
    committed,
    failed,
    observed,
    spec,
    stream,
    worker,
)

BY_TIME = frozenset(
    {
        "PENDING",
        "CONNECTING_TO_STREAM",
        "DISCOVERING_INITIAL_TASKS",
        "CREATING_TASKS",
        "STOPPING",
        "IDLE",
        "COMPLETED",
        "SCHEMA_REGISTRY_UNAVAILABLE",
        "UNREADABLE_SPEC",
        "UNREADABLE_ROWS",
        "UNHEALTHY_SUPERVISOR",
    }
)
"""States that only time ends, or what lies outside of the overlord."""
LOST = observed(stored=committed(0, 40, 0, 0), seen=stream(100, 100, 100, 100, earliest=20))


def stream_away(trouble: StreamTrouble) -> StreamState:
    failures = PlanLimits().unhealthiness_threshold
    return StreamState(trouble=trouble, trouble_since=NOON, detail="why", failures=failures)


def remedies(seen: Observed) -> tuple[Remedy, ...]:
    return remedies_of(seen, roll_up(seen, None))


@pytest.mark.parametrize("name", CASES)
def test_a_state_that_somebody_can_change_has_a_step(name: str) -> None:
    """Goal: a new word of the states needs its remedy."""
    case = CASES[name]
    if case.detailed == "UNHEALTHY_TASKS" and "jvm" not in name:
        return  # no task of these is known to have failed
    steps = remedies_of(case.seen, roll_up(case.seen, case.slots))

    assert bool(steps) == (case.detailed not in BY_TIME | {"RUNNING"})


def test_every_state_in_between_says_what_changes_it() -> None:
    assert {case.detailed for case in CASES.values()} - {"RUNNING"} <= CHANGES.keys()


def test_unreadable_offsets_go_on_where_kafka_holds_records() -> None:
    """Goal: what is still there is not left out; partition 1 is not behind and stays."""
    first, second = remedies(LOST)

    assert first.action is RemedyAction.RESET_OFFSETS
    assert first.params == {"offsets": {"0": 20, "2": 20, "3": 20}}
    assert first.label == "Go on in 3 partitions at the nearest offsets that Kafka holds"
    assert first.permission is Permission.RESET
    assert first.command == (
        f"tidegate supervisor reset {TOPIC} --offset 0=20 --offset 2=20 --offset 3=20"
    )
    assert (second.action, second.permission) == (RemedyAction.EDIT_SPEC, Permission.APPLY)
    assert second.params == {
        "pointer": "/spec/tuningConfig/resetOffsetAutomatically",
        "value": True,
    }


def test_one_unreadable_partition_is_named_with_its_offset() -> None:
    one = replace(LOST, committed=committed(20, 40, 5, 20))

    assert remedies(one)[0].label == "Go on in partition 2 at offset 20"


def test_with_a_pattern_partitions_are_named_with_their_topics() -> None:
    wanted = spec()
    io_config = wanted.io_config.model_copy(update={"topic": None, "topic_pattern": "clicks.*"})
    seen = replace(
        LOST,
        current=replace(LOST.current, spec=wanted.model_copy(update={"io_config": io_config})),
    )

    assert remedies(seen)[0].params == {
        "offsets": {f"{TOPIC}:0": 20, f"{TOPIC}:2": 20, f"{TOPIC}:3": 20}
    }


def test_who_lets_offsets_go_on_by_themselves_is_not_offered_it() -> None:
    wanted = spec()
    tuning = wanted.tuning_config.model_copy(update={"reset_offset_automatically": True})
    automatic = wanted.model_copy(update={"tuning_config": tuning})
    seen = replace(LOST, current=replace(LOST.current, spec=automatic))

    assert [step.action for step in remedies(seen)] == [RemedyAction.RESET_OFFSETS]


@pytest.mark.parametrize("name", ["topic-gone", "never-there"])
def test_a_topic_that_is_not_there_is_created_or_read_no_more(name: str) -> None:
    """Goal: nobody is sent to look for brokers and credentials, which work."""
    lacking = stream_away(StreamTrouble.NO_TOPIC)
    seen = replace(RUNS, stream=lacking)
    if name == "never-there":
        seen = replace(seen, committed={}, generations=(), tasks=(), stream=lacking)
    state = roll_up(seen, None)
    steps = remedies_of(seen, state)

    assert [step.action for step in steps] == [
        RemedyAction.CREATE_TOPIC,
        RemedyAction.TERMINATE,
        RemedyAction.SUSPEND,
    ]
    size = " --partitions 4" if seen.committed else ""
    brokers = spec().io_config.client.bootstrap_servers
    assert steps[0].command == (
        f"kafka-topics.sh --bootstrap-server {brokers} --create --topic {TOPIC}{size}"
    )
    change = change_of(state.detailed, is_topic_missing=True)
    assert change is not None
    assert "topic is created" in change
    assert "credentials" not in change


def test_of_a_pattern_a_topic_that_is_gone_is_left_by_a_reset() -> None:
    wanted = spec()
    update = {"topic": None, "topic_pattern": "clicks.*"}
    io_config = wanted.io_config.model_copy(update=update)
    current = replace(RUNS.current, spec=wanted.model_copy(update={"io_config": io_config}))
    seen = replace(RUNS, current=current, stream=stream_away(StreamTrouble.NO_TOPIC))

    assert [step.action for step in remedies(seen)] == [
        RemedyAction.RESET,
        RemedyAction.TERMINATE,
    ]


def test_brokers_that_cannot_be_read_are_looked_for_in_the_spec() -> None:
    seen = replace(RUNS, stream=stream_away(StreamTrouble.UNREACHABLE))

    [step] = remedies(seen)

    assert step.params == {"pointer": "/spec/ioConfig/consumerProperties"}


def test_a_disabled_worker_is_enabled_before_another_one_is_started() -> None:
    seen = replace(RUNS, workers=(replace(worker("w 2"), disabled=True), worker("w1")))
    case = CASES["no-slots"]
    steps = remedies_of(seen, roll_up(seen, case.slots))

    assert [step.action for step in steps] == [
        RemedyAction.ENABLE_WORKER,
        RemedyAction.START_WORKER,
        RemedyAction.EDIT_SPEC,
    ]
    assert steps[0].params == {"worker": "w 2"}
    assert shlex.split(steps[0].command) == ["tidegate", "worker", "enable", "w 2"]
    assert steps[1].permission is None


def test_a_dead_queue_is_named_for_its_repair() -> None:
    [step] = remedies(replace(RUNS, dead_queues=(dead_queue(),)))

    assert step.params == {"container": f"supervisor:{TOPIC}", "queue": "task-output"}
    assert step.permission is Permission.REPAIR
    assert step.command == f"tidegate queue repair supervisor:{TOPIC} task-output"


def test_failing_tasks_lead_to_the_log_of_the_last_one() -> None:
    gone = [failed(replace(TASK, id=f"gone-{number}"), NOON) for number in range(3)]
    good = replace(TASK, id="good", status=TaskStatus.SUCCESS, ended_at=NOON)
    enough = PlanLimits().unhealthiness_threshold
    seen = replace(RUNS, last_ended=(good, *gone), failures_in_a_row=enough)

    [step] = remedies(seen)

    assert (step.action, step.params) == (RemedyAction.OPEN_LOG, {"task": "gone-0"})


_POISON = f"1 records cannot be read, 0 in part, badRecords is fail; one is {TOPIC}:2 8 (not JSON)"
"""As `tasks.machine.state.too_many_exceptions` writes it."""


def failing(reason: str, mode: str = "fail", **committed_at: int) -> Observed:
    """Tasks that fail for a reason, in a row; of `bad_records` in a mode."""
    wanted = spec()
    tuning = wanted.tuning_config.model_copy(update={"bad_records": BadRecords(mode)})
    current = replace(RUNS.current, spec=wanted.model_copy(update={"tuning_config": tuning}))
    return replace(
        RUNS,
        current=current,
        committed=committed(0, 0, committed_at.get("at", 8), 0),
        last_ended=(failed(replace(TASK, id="gone"), NOON, reason),),
        failures_in_a_row=PlanLimits().unhealthiness_threshold,
    )


def test_a_bad_record_that_ends_tasks_is_set_aside_or_skipped() -> None:
    """Goal: the values of each step are those that the task has named."""
    log, aside, skip = remedies(failing(_POISON))

    assert log.action is RemedyAction.OPEN_LOG
    assert (aside.action, aside.permission) == (RemedyAction.EDIT_SPEC, Permission.APPLY)
    assert aside.params == {"pointer": "/spec/tuningConfig/badRecords", "value": "quarantine"}
    assert (skip.action, skip.permission) == (RemedyAction.RESET_OFFSETS, Permission.RESET)
    assert skip.params == {"offsets": {"2": 9}}
    assert skip.label == "Skip the record at offset 8 of partition 2"
    assert skip.command == f"tidegate supervisor reset {TOPIC} --offset 2=9"


def test_a_skip_says_what_else_it_skips() -> None:
    skip = remedies(failing(_POISON, at=5))[-1]

    assert skip.label == "Skip the record at offset 8 of partition 2, with 3 records before it"


def test_a_bad_record_that_is_behind_is_not_skipped() -> None:
    steps = remedies(failing(_POISON, at=9))

    assert [each.action for each in steps] == [RemedyAction.OPEN_LOG, RemedyAction.EDIT_SPEC]


def test_too_many_bad_records_lead_to_the_number_that_is_allowed() -> None:
    reason = _POISON.replace("badRecords is fail", "maxParseExceptions is 0")
    [_, edit, _] = remedies(failing(reason, "drop"))

    assert edit.params == {"pointer": "/spec/tuningConfig/maxParseExceptions"}


def test_a_failure_without_a_record_has_the_log_alone() -> None:
    assert len(remedies(failing("killed: one is enough"))) == 1


def test_a_task_at_suspect_offsets_comes_before_those_that_failed() -> None:
    seen = replace(RUNS, workers=(worker("w1", SUSPECT),))

    [step] = remedies(seen)

    assert step.params == {"task": TASK.id}


def test_the_id_of_a_supervisor_is_quoted_for_a_shell() -> None:
    """Goal: who copies a command runs that command and nothing else."""
    named = replace(LOST.current, supervisor_id="x; rm -rf $HOME")

    command = remedies(replace(LOST, current=named))[0].command

    assert shlex.split(command)[:4] == ["tidegate", "supervisor", "reset", "x; rm -rf $HOME"]
