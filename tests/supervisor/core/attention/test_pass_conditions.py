"""Conditions that several passes show: since when, for how long, and what a new leader knows."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.attention.pass_conditions import (
    REASON_KEPT,
    RISE_AGE,
    UNSEEN_HORIZON,
    PassConditions,
    catch_up_time,
    conditions_after,
    is_rising,
)
from supervisor.core.history.headroom import EarliestHistory, with_earliest
from supervisor.core.history.lag import Lag
from supervisor.core.model.rows import GenerationState
from supervisor.core.planning.observed import Observed
from tasks.contract.messages import RejectSample
from tests.supervisor.core.snapshots import (
    END,
    EVEN,
    MINUTE,
    NOON,
    ODDS,
    PUBLISHES,
    TOPIC,
    committed,
    failed,
    generation,
    observed,
    part,
    report,
    spec,
    stream,
    task,
    worker,
)

READS = generation(1, EVEN)
NO_MOVES = EarliestHistory()
SECOND = timedelta(seconds=1)


def aged(seconds: float) -> Lag:
    return Lag(1_000, timedelta(seconds=seconds))


def by_minute(lags: Iterable[Lag]) -> tuple[tuple[datetime, Lag], ...]:
    return tuple((NOON + n * MINUTE, lag) for n, lag in enumerate(lags))


def after(
    passes: Sequence[Observed], lag: Lag | None = None, moves: EarliestHistory = NO_MOVES
) -> PassConditions:
    """What these passes have shown; `led_since` of a snapshot is not known."""
    known: PassConditions | None = None
    for seen in passes:
        known = conditions_after(known, seen, lag, moves)
    assert known is not None
    return known


# -- lag -------------------------------------------------------------------------------------------


@given(st.integers(0, 120), st.integers(0, 100_000))
def test_a_lag_rises_whatever_it_is_already(seconds_a_minute: int, begun: int) -> None:
    """Goal: tasks that stand still for a day are as much behind their topic as after an hour."""
    samples = by_minute(aged(begun + n * seconds_a_minute) for n in range(16))

    assert is_rising(samples) == (15 * seconds_a_minute * SECOND >= RISE_AGE)
    assert not is_rising(samples[1:]), "14 minutes are not 15"


@given(st.integers(0, 2))
def test_a_lag_that_falls_for_a_third_of_the_time_does_not_rise(third: int) -> None:
    ages = [0.0]
    for part_of in range(3):
        ages += [ages[-1] + (-1 if part_of == third else 60) * n for n in range(1, 6)]

    assert not is_rising(by_minute(map(aged, ages)))


def test_without_times_the_records_count() -> None:
    assert is_rising(by_minute(Lag(1_000 + n * 10, None) for n in range(16)))
    assert not is_rising(by_minute(Lag(10_000 + n * 10, None) for n in range(16))), "1.5 % more"
    assert not is_rising(by_minute(Lag(n, None) for n in range(16))), "16 records"


def test_a_rise_keeps_its_beginning_and_ends_where_the_lag_is_not_known() -> None:
    known: PassConditions | None = None
    begun = []
    for n in range(40):
        lag = Lag(None, None) if n == 30 else aged(60 * n)
        known = conditions_after(known, observed(now=NOON + n * MINUTE), lag, NO_MOVES)
        begun.append(known.rising_since)
        assert len(known.samples) <= 17, "memory is bounded"

    assert begun[14:16] == [None, NOON]
    assert set(begun[15:30]) == {NOON}
    assert set(begun[30:]) == {None}


def test_the_partitions_that_lag_most_are_of_the_newest_sample_and_few() -> None:
    stored, log = committed(0, 10, 90, 95), stream(100, 100, 100, 100)
    lags = after([observed(stored=stored, seen=log)], aged(60))

    assert lags.furthest == ((part(0), 100), (part(1), 90), (part(2), 10))
    later = observed(stored=committed(*[100] * 4), seen=log, now=NOON + SECOND)
    assert conditions_after(lags, later, None, NO_MOVES).furthest == lags.furthest, "no sample"
    assert conditions_after(lags, later, aged(0), NO_MOVES).furthest == (), "nothing is unread"


@given(st.integers(200, 1_000_000), st.integers(2, 99), st.integers(1, 15), st.integers(0, 3_600))
def test_the_time_to_catch_up_goes_by_the_pace_of_the_last_minutes(
    before: int, percent: int, minutes: int, publish_s: int
) -> None:
    left = before * percent // 100
    samples = ((NOON, Lag(before, None)), (NOON + minutes * MINUTE, Lag(left, None)))
    wait = timedelta(seconds=publish_s)

    shown = catch_up_time(samples, wait)

    if before - left <= max(100, 0.1 * before) or not left:
        assert shown == wait, "as much comes as is read"
    else:
        assert shown is not None
        pace = (before - left) / (minutes * 60)
        assert (shown - wait).total_seconds() == pytest.approx(left / pace, rel=1e-6, abs=1e-5)


def test_what_rises_is_never_caught_up_with_and_what_is_steady_within_its_age() -> None:
    rising = by_minute(aged(60 * n) for n in range(16))
    steady = by_minute([aged(120)] * 16)

    assert catch_up_time(rising, MINUTE) is None
    assert catch_up_time(rising[:3], MINUTE) is None, "after two minutes as well"
    assert catch_up_time(steady, MINUTE) == 3 * MINUTE
    assert catch_up_time((), MINUTE) == MINUTE, "nothing is known: it reads what there is"


# -- retention -------------------------------------------------------------------------------------


def moved(*earliest: int, until: datetime = NOON) -> EarliestHistory:
    """The beginning of partition 0 moved once a minute, the last time at `until`."""
    history = EarliestHistory()
    begun = until - (len(earliest) - 1) * MINUTE
    for n, offset in enumerate(earliest):
        history = with_earliest(history, begun + n * MINUTE, {part(0): offset}, {TOPIC: "id-1"})
    return history


TEN_A_MINUTE = moved(0, 10, 20, 30)
READING = observed(generations=(READS,), tasks=(task(READS),), stored=committed(60, 0, 0, 0))


def test_a_partition_is_at_risk_below_twice_the_time_to_publish_it() -> None:
    """Retention is 30 records away, which is 3 minutes; the range hands off in an hour."""
    known = after([READING], moves=TEN_A_MINUTE)

    [(partition, risk)] = known.risks.items()
    assert partition == part(0)
    assert (risk.left, risk.catch_up) == (3 * MINUTE, 60 * MINUTE)
    assert risk.since == NOON
    assert known.headroom == 3 * MINUTE
    assert after([READING]).headroom is None, "retention has not moved"


@pytest.mark.parametrize(("minutes", "is_at_risk"), [(1, False), (2, True)])
def test_twice_the_time_is_kept_in_hand(minutes: int, is_at_risk: bool) -> None:
    """Goal: 3 minutes are enough for a handoff in 1, and too few for one in 2."""
    soon = observed(
        spec(duration=minutes * MINUTE),
        generations=(READS,),
        tasks=(task(READS),),
        stored=committed(60, 0, 0, 0),
    )

    assert bool(after([soon], moves=TEN_A_MINUTE).risks) is is_at_risk


def test_a_risk_keeps_its_beginning_and_ends_with_it() -> None:
    later = replace(READING, now=NOON + MINUTE)
    past = replace(later, committed=committed(100, 0, 0, 0))

    assert after([READING, later], moves=TEN_A_MINUTE).risks[part(0)].since == NOON
    assert after([READING, past], moves=TEN_A_MINUTE).risks == {}


@given(st.integers(1, 40))
def test_who_never_catches_up_is_at_risk_a_day_before(hours: int) -> None:
    """Goal: a suspended supervisor with days left is left alone."""
    stopped = observed(spec(suspended=True), stored=committed(30 + hours * 60, 0, 0, 0))
    stopped = replace(stopped, stream=stream(*[10_000] * 4))
    a_record_a_minute = moved(28, 29, 30)

    risks = after([stopped], moves=a_record_a_minute).risks

    assert (part(0) in risks) == (timedelta(hours=hours) < UNSEEN_HORIZON)
    assert all(risk.catch_up is None for risk in risks.values())


def test_what_is_lost_already_is_broken_and_not_at_risk() -> None:
    behind = observed(
        generations=(),
        stored=committed(20, 30, 30, 30),
        seen=stream(100, 100, 100, 100, earliest=30),
    )

    assert after([behind], moves=TEN_A_MINUTE).risks == {}


# -- replicas, handoffs ----------------------------------------------------------------------------


def test_a_replica_that_waits_keeps_its_beginning() -> None:
    lacking = observed(spec(replicas=2), generations=(READS, ODDS), tasks=(task(READS),))
    later = replace(lacking, now=NOON + MINUTE)
    tended = replace(later, tasks=(task(READS), task(READS, 1), task(ODDS), task(ODDS, 1)))

    known = after([lacking, later])

    assert (known.pending_since, known.unread) == (NOON, tuple(sorted(ODDS.start)))
    assert after([lacking, tended]).pending_since is None
    again = replace(lacking, now=NOON + 3 * MINUTE)
    assert after([lacking, tended, again]).pending_since == NOON + 3 * MINUTE


def test_a_handoff_is_timed_from_its_pause_to_the_pass_that_misses_it() -> None:
    paused = generation(1, EVEN, state=GenerationState.PAUSING)
    paused = replace(paused, paused_at=NOON)
    fixed = replace(paused, state=GenerationState.PUBLISHING, end=END, end_fixed_at=NOON + MINUTE)
    passes = [
        observed(now=NOON + n * MINUTE, generations=ranges)
        for n, ranges in enumerate([(paused,), (fixed,), ()])
    ]

    assert after(passes[:2]).handoffs == {paused.id: NOON}
    assert after(passes).durations == (2 * MINUTE,)
    resumed = replace(paused, state=GenerationState.READING, paused_at=None)
    assert after([passes[0], observed(generations=(resumed,))]).durations == (), "it reads on"
    assert after([observed(generations=(PUBLISHES,))]).handoffs == {PUBLISHES.id: NOON}


def test_the_same_pass_taken_in_twice_changes_nothing() -> None:
    """Goal: a pass that fails shows the last good one once more."""
    first = observed(generations=(PUBLISHES, ODDS))
    second = observed(spec(replicas=2), now=NOON + MINUTE, generations=(ODDS,))

    assert after([first, second, second]) == after([first, second])
    assert after([first, second]).durations == (MINUTE,)


def test_tasks_are_counted_by_worker_and_lost_ones_apart() -> None:
    gone = replace(failed(task(READS, worker="w2"), NOON), lost=True)
    own = failed(task(ODDS, worker="w2"), NOON)
    seen = observed(generations=(READS, ODDS), tasks=(task(READS),), last=(gone, own))

    known = after([seen])

    assert (known.worker_tasks, known.replaced_tasks) == ({"w1": 1}, {"w2": 1})


# -- bad records -----------------------------------------------------------------------------------


def bad(minute: int, *reasons: str, led_since: datetime | None = None) -> Observed:
    """A pass whose task has rejected records."""
    samples = tuple(
        RejectSample(topic=TOPIC, partition=0, offset=n, reason=reason, input="{")
        for n, reason in enumerate(reasons)
    )
    heard = report(task(READS), EVEN).model_copy(update={"samples": samples})
    seen = observed(
        now=NOON + minute * MINUTE,
        generations=(READS,),
        tasks=(task(READS),),
        workers=(worker("w1", heard),),
    )
    return replace(seen, led_since=led_since)


def begun(*passes: Observed) -> dict[str, datetime | None]:
    return {reason: each.first_at for reason, each in after(passes).reasons.items()}


def test_a_reason_is_as_old_as_the_first_pass_that_saw_it() -> None:
    assert begun(bad(0), bad(1, "not-json"), bad(2, "not-json", "no-timestamp")) == {
        "not-json": NOON + MINUTE,
        "no-timestamp": NOON + 2 * MINUTE,
    }


def test_what_a_new_leader_finds_may_be_old() -> None:
    """Goal: a change of leader makes no reason new."""
    assert begun(bad(1, "not-json", led_since=NOON)) == {"not-json": None}
    assert begun(
        bad(1, "not-json", led_since=NOON), bad(5, "not-json", "unfit-value", led_since=NOON)
    ) == {"not-json": None, "unfit-value": NOON + 5 * MINUTE}


def test_a_reason_that_was_away_for_a_day_is_new_again() -> None:
    away = REASON_KEPT // MINUTE
    assert begun(bad(0, "not-json"), bad(away + 1, "not-json")) == {
        "not-json": NOON + (away + 1) * MINUTE
    }
    assert begun(bad(0, "not-json"), bad(away - 1, "not-json")) == {"not-json": NOON}


# -- another term, another table -------------------------------------------------------------------


def test_nothing_of_an_earlier_term_or_another_table_is_kept() -> None:
    paused = replace(generation(1, EVEN, state=GenerationState.PAUSING), paused_at=NOON)
    first = observed(generations=(paused,))
    later = replace(observed(now=NOON + 5 * MINUTE), led_since=NOON + MINUTE)
    other = spec().data_schema.model_copy(update={"data_source": "other"})
    renamed = observed(spec().model_copy(update={"data_schema": other}), now=NOON + MINUTE)

    assert after([first, later]).durations == ()
    assert after([first, renamed]).durations == ()
    assert after([first, replace(later, led_since=NOON)]).durations == (5 * MINUTE,)
