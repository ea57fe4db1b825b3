"""Attention rules of one supervisor: each trouble is one sentence, and none is an echo."""

import re
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.attention.items import AttentionItem, AttentionKind, Severity
from supervisor.core.attention.lag import rough
from supervisor.core.attention.pass_conditions import (
    PassConditions,
    RetentionRisk,
    SeenReason,
    conditions_after,
)
from supervisor.core.attention.remedies import RemedyAction
from supervisor.core.attention.supervisors import (
    HANDOFF_FLOOR,
    late_after,
    supervisor_items,
)
from supervisor.core.attention.watched import WatchedSupervisor
from supervisor.core.history.headroom import EarliestHistory
from supervisor.core.history.lag import Lag
from supervisor.core.history.listing import ListedSupervisor, ListedVersion
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.pass_summary import ReplicaCounts
from supervisor.core.planning.states import State, SupervisorState, roll_up
from tests.supervisor.core.snapshots import MINUTE, NOON, TOPIC, committed, observed, part, spec
from tests.supervisor.core.snapshots import stream as a_stream

HEALTHY = SupervisorState(State.RUNNING, State.RUNNING, healthy=True)
KNOWN = PassConditions(NOON, TOPIC)
LATER = NOON + 30 * MINUTE


def row(state: SupervisorState = HEALTHY, **facts: object) -> ListedSupervisor:
    newest = ListedVersion(TOPIC, 1, NOON, "ada", TOPIC, TOPIC, suspended=False)
    listed = ListedSupervisor(newest, state, NOON, NOON)
    return replace(listed, **facts)  # type: ignore[arg-type]  # each test names what it needs


def items(
    listed: ListedSupervisor | None = None,
    conditions: PassConditions | None = KNOWN,
    seen: Observed | None = None,
    *,
    now: datetime = LATER,
    free_slots: int | None = 2,
) -> list[AttentionItem]:
    watched = WatchedSupervisor(listed or row(), seen or observed(), conditions)
    return list(supervisor_items(watched, now, free_slots))


def test_what_is_well_needs_nobody() -> None:
    assert items() == []
    assert items(conditions=None) == []


def test_an_unhealthy_supervisor_is_broken_with_its_reason_and_its_remedies() -> None:
    lost = observed(stored=committed(0, 40, 0, 0), seen=a_stream(100, 100, 100, 100, earliest=20))
    state = roll_up(lost, None)

    [item] = items(row(state), seen=lost)

    assert (item.severity, item.kind) == (Severity.BROKEN, AttentionKind.SUPERVISOR_UNHEALTHY)
    assert item.text == f"{TOPIC} is UNHEALTHY_SUPERVISOR (OFFSETS_UNREADABLE): {state.why}"
    assert (item.since, item.about.id, item.data_source) == (NOON, TOPIC, TOPIC)
    assert item.remedies[0].action is RemedyAction.RESET_OFFSETS


def test_an_unhealthy_supervisor_is_not_also_slow_and_short_of_slots() -> None:
    """Goal: one cause is one item."""
    sick = SupervisorState(State.UNHEALTHY_TASKS, State.UNHEALTHY_TASKS, healthy=False, why="3")
    conditions = replace(
        KNOWN,
        rising_since=NOON,
        samples=((NOON, Lag(9, None)),),
        pending_since=NOON,
        unread=(part(1),),
    )
    waiting = ReplicaCounts(2, 1, 1)

    assert [item.kind for item in items(row(sick, replicas=waiting), conditions)] == [
        AttentionKind.SUPERVISOR_UNHEALTHY
    ]
    assert {item.kind for item in items(row(replicas=waiting), conditions)} == {
        AttentionKind.LAG_RISING,
        AttentionKind.REPLICAS_PENDING,
    }


def test_retention_names_the_nearest_partition_and_says_how_many_more() -> None:
    risks = {
        part(0): RetentionRisk(130 * MINUTE, 90 * MINUTE, NOON),
        part(2): RetentionRisk(125 * MINUTE, 90 * MINUTE, NOON - MINUTE),
    }

    [item] = items(conditions=replace(KNOWN, risks=risks))

    assert (item.severity, item.since) == (Severity.AT_RISK, NOON - MINUTE)
    assert item.text == (
        f"{TOPIC} has not published records of partition 2 of topic {TOPIC} (and of 1 more) that "
        "Kafka's retention reaches in about 2 h, and it takes about 90 min until they are published"
    )
    assert item.partitions == (part(2), part(0)), "the nearest first"
    assert [remedy.action for remedy in item.remedies] == [RemedyAction.EDIT_SPEC]
    never = {part(0): RetentionRisk(130 * MINUTE, None, NOON)}
    stopped = observed(spec(suspended=True))
    [item] = items(conditions=replace(KNOWN, risks=never))
    assert "nobody reads it fast enough" in item.text
    [item] = items(conditions=replace(KNOWN, risks=never), seen=stopped)
    assert item.text.endswith("in about 2 h, and it is suspended")
    assert [remedy.action for remedy in item.remedies] == [RemedyAction.RESUME]


def test_a_rising_lag_says_how_far_it_is_behind_and_where_unless_it_is_suspended() -> None:
    rising = replace(
        KNOWN,
        rising_since=NOON,
        samples=((NOON, Lag(71_204, timedelta(minutes=16, seconds=5))),),
        furthest=((part(3), 71_203), (part(0), 1)),
    )

    [item] = items(conditions=rising)

    assert item.text == (
        f"{TOPIC} reads more slowly than its topic grows, for 15 minutes or longer: it is 16 min "
        f"and 71,204 records behind, most of it in partition 3 of topic {TOPIC} (71,203), "
        "partition 0 (1)"
    )
    assert (item.severity, item.since) == (Severity.AT_RISK, NOON)
    assert item.partitions == (part(3), part(0)), "the worst first"
    suspended = items(conditions=rising, seen=observed(spec(suspended=True)))
    assert [item.kind for item in suspended] == [AttentionKind.SUSPENDED_BEHIND]


SUSPENDED = SupervisorState(State.SUSPENDED, State.SUSPENDED, healthy=True)
WAITING = replace(
    KNOWN, samples=((NOON, Lag(1_204, None)),), furthest=((part(3), 1_000), (part(0), 204))
)


def test_a_suspended_supervisor_whose_topic_grows_may_have_been_forgotten() -> None:
    stopped = observed(spec(suspended=True))
    growing = replace(WAITING, rising_since=NOON + MINUTE)

    [item] = items(row(SUSPENDED), growing, stopped)

    assert (item.severity, item.kind) == (Severity.TO_KNOW, AttentionKind.SUSPENDED_BEHIND)
    assert item.text == (
        f"{TOPIC} is suspended while its topic grows: 1,204 records are unread, most of it in "
        f"partition 3 of topic {TOPIC} (1,000), partition 0 (204)"
    )
    assert item.since == NOON, "suspended since"
    assert [remedy.action for remedy in item.remedies] == [RemedyAction.RESUME]
    assert item.partitions == (part(3), part(0))
    still_reads = SupervisorState(State.PENDING, State.PENDING, healthy=True)
    [item] = items(row(still_reads), growing, stopped)
    assert item.since == NOON + MINUTE, "else since its lag grows"


def test_retention_that_moves_towards_a_suspended_supervisor_is_to_know_too() -> None:
    """Goal: a lag of before it was suspended does not grow, and its records still go one day."""
    stopped = observed(spec(suspended=True))
    shrinking = replace(WAITING, headroom=timedelta(days=3))
    at = {"conditions": shrinking, "seen": stopped}

    [item] = items(row(SUSPENDED), now=NOON + 15 * MINUTE, **at)  # type: ignore[arg-type]

    assert item.kind is AttentionKind.SUSPENDED_BEHIND
    assert item.text.endswith(". Kafka deletes the first of them in about 3 d")
    assert items(row(SUSPENDED), now=NOON + 14 * MINUTE, **at) == []  # type: ignore[arg-type]


def test_a_suspended_supervisor_is_one_item_and_none_while_its_lag_is_not_known() -> None:
    stopped = observed(spec(suspended=True))
    near = {part(0): RetentionRisk(130 * MINUTE, None, NOON)}
    growing = replace(WAITING, rising_since=NOON, headroom=130 * MINUTE)

    [graver] = items(row(SUSPENDED), replace(growing, risks=near), stopped)

    assert (graver.severity, graver.kind) == (Severity.AT_RISK, AttentionKind.RETENTION_RISK)
    assert items(row(SUSPENDED), replace(growing, samples=()), stopped) == []
    nothing = replace(growing, samples=((NOON, Lag(0, None)),))
    assert items(row(SUSPENDED), nothing, stopped) == []
    assert items(row(SUSPENDED), WAITING, stopped) == [], "it neither grows nor is deleted"


def test_kafka_has_deleted_what_a_suspended_supervisor_would_read_next() -> None:
    """Goal: the loss is known before somebody resumes, with the offsets to go on at."""
    deleted = observed(
        spec(suspended=True),
        stored=committed(0, 40, 19, 20),
        seen=a_stream(100, 100, 100, 100, earliest=20),
    )
    conditions = conditions_after(None, deleted, None, EarliestHistory())
    later = conditions_after(conditions, replace(deleted, now=LATER), None, EarliestHistory())
    suspended = row(SupervisorState(State.SUSPENDED, State.SUSPENDED, healthy=True))

    [item] = items(suspended, later, deleted)

    assert (item.severity, item.kind) == (Severity.BROKEN, AttentionKind.RETENTION_PASSED)
    assert item.text == (
        f"{TOPIC} would next read 20 records of partition 0 of topic {TOPIC} and 1 record of 1 "
        "more that Kafka has deleted. It is suspended, and once resumed it reads nothing there "
        "until somebody sets its offsets"
    )
    assert item.partitions == (part(0), part(2))
    assert item.since == NOON, "the first pass that saw it"
    [reset] = item.remedies[:1]
    assert (reset.action, reset.params) == (
        RemedyAction.RESET_OFFSETS,
        {"offsets": {"0": 20, "2": 20}},
    )
    assert reset.command == f"tidegate supervisor reset {TOPIC} --offset 0=20 --offset 2=20"


def test_a_state_that_names_deleted_records_is_the_only_item_of_them() -> None:
    lost = observed(stored=committed(0, 40, 0, 0), seen=a_stream(100, 100, 100, 100, earliest=20))
    conditions = conditions_after(None, lost, None, EarliestHistory())
    dead = SupervisorState(State.UNHEALTHY_SUPERVISOR, "EVENT_QUEUE_DEAD", healthy=False)

    assert [item.kind for item in items(row(roll_up(lost, None)), conditions, lost)] == [
        AttentionKind.SUPERVISOR_UNHEALTHY
    ]
    assert [item.kind for item in items(row(dead), conditions, lost)] == [
        AttentionKind.SUPERVISOR_UNHEALTHY,
        AttentionKind.RETENTION_PASSED,
    ]


@pytest.mark.parametrize(("seconds", "count"), [(5, 0), (6, 1)])
def test_replicas_wait_for_a_slot_once_five_seconds_are_over(seconds: int, count: int) -> None:
    conditions = replace(KNOWN, pending_since=NOON)
    listed = row(replicas=ReplicaCounts(42, 39, 3))

    now = NOON + timedelta(seconds=seconds)

    shown = items(listed, conditions, now=now)

    assert len(shown) == count
    assert items(listed, conditions, now=now, free_slots=None) == [], "no worker: another item"
    for item in shown:
        assert item.severity is Severity.TO_KNOW
        assert item.text == (
            f"{TOPIC} needs 42 slots and has 39: 3 replicas of it wait for a worker; 2 slots are "
            "free"
        )
        assert RemedyAction.START_WORKER in [remedy.action for remedy in item.remedies]


def test_a_range_that_nobody_reads_is_at_risk() -> None:
    unread = tuple(part(number) for number in range(5))
    conditions = replace(KNOWN, pending_since=NOON, unread=unread[:1])

    [item] = items(row(replicas=ReplicaCounts(2, 1, 1)), conditions)
    [many] = items(row(replicas=ReplicaCounts(2, 1, 1)), replace(conditions, unread=unread))

    assert item.severity is Severity.AT_RISK
    assert f"1 replica of it waits for a worker, so nobody reads {TOPIC}:0; 2 " in item.text
    label = "Lower taskCount or replicas: 2 x 1 tasks for 0 slots"
    assert label in [remedy.label for remedy in item.remedies]
    assert item.partitions == unread[:1]
    assert f"so nobody reads {TOPIC}:0, {TOPIC}:1, {TOPIC}:2 and 2 more partitions; " in many.text


@given(st.lists(st.integers(0, 3_600).map(lambda s: timedelta(seconds=s)), max_size=20))
def test_a_handoff_is_late_after_three_times_the_usual_and_never_before_the_floor(
    durations: list[timedelta],
) -> None:
    limit = late_after(durations)

    assert limit >= HANDOFF_FLOOR
    if len(durations) < 3:
        assert limit == 3 * HANDOFF_FLOOR
    else:
        assert sum(3 * each <= limit for each in durations) * 2 >= len(durations)
        assert limit == HANDOFF_FLOOR or sum(3 * each >= limit for each in durations) * 2 >= len(
            durations
        )


def test_the_oldest_late_handoff_is_named() -> None:
    minutes = (MINUTE, 3 * MINUTE, 2 * MINUTE)
    handoffs = {"g2": NOON + 2 * MINUTE, "g1": NOON, "g3": NOON + 25 * MINUTE}
    conditions = replace(KNOWN, handoffs=handoffs, durations=minutes)

    [item] = items(conditions=conditions)

    assert (item.severity, item.kind) == (Severity.AT_RISK, AttentionKind.HANDOFF_LATE)
    assert item.text == (
        f"2 ranges of {TOPIC} should be published by now, the oldest is g1 (usual time of a "
        "handoff: 120 s)"
    )
    assert item.since == NOON
    assert items(conditions=conditions, now=NOON + 6 * MINUTE) == []
    unknown = replace(conditions, durations=())
    assert "not known yet" in items(conditions=unknown)[0].text
    assert items(conditions=unknown, now=NOON + 15 * MINUTE) == []


@pytest.mark.parametrize(("minutes", "is_new"), [(59, True), (60, False)])
def test_a_reason_is_new_for_an_hour(minutes: int, is_new: bool) -> None:
    reasons = {
        "not-json": SeenReason(NOON, NOON),
        "no-timestamp": SeenReason(None, NOON),
        "unfit-value": SeenReason(NOON - 61 * MINUTE, NOON),
    }

    shown = items(row(bad_records=12), replace(KNOWN, reasons=reasons), now=NOON + minutes * MINUTE)

    assert bool(shown) is is_new
    for item in shown:
        assert item.severity is Severity.TO_KNOW
        assert item.text == (
            f"{TOPIC} gets bad records for a reason that is new: not-json; 12 of the records that "
            "are read now are bad"
        )
        assert item.since == NOON
        [step] = item.remedies
        assert (step.action, item.data_source) == (RemedyAction.OPEN_BAD_RECORDS, TOPIC)
        assert step.command == f"tidegate quarantine list {TOPIC}"


@given(st.integers(0, 10**8))
def test_a_rough_length_is_right_within_its_unit(seconds: int) -> None:
    number, unit = rough(timedelta(seconds=seconds)).split()

    size = {"s": 1, "min": 60, "h": 3_600, "d": 86_400}[unit]
    assert int(number) * size <= seconds < (int(number) + 1) * size
    assert re.fullmatch(r"\d{1,4}", number)
