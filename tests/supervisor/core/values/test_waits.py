"""Waits from stored times, when the clock that told them was ahead of this overlord's.

Goal: whoever takes over waits as long as was meant, never as long as the clocks differ.
Source: faults H1; protocol rules P3 and P13.
"""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.model.rows import TaskStatus
from supervisor.core.planning.actions import (
    BeginHandoff,
    EndTask,
    FixEnd,
    OpenGeneration,
    StartTask,
)
from supervisor.core.planning.observed import Liveness, Observed, PlanLimits
from supervisor.core.planning.plan import plan
from supervisor.core.planning.rules.initial_offsets import SETTLED_AFTER
from supervisor.core.spec.sections.tuning_config import TuningConfig
from supervisor.core.tables.compaction import (
    FAILURES_COUNT_FOR,
    FAILURES_MAX,
    Compaction,
    failed_too_often,
)
from supervisor.core.values.clock_skew import is_ahead, is_over, known_since
from supervisor.core.values.intervals import Interval
from tasks.contract.messages import FailureCode, TaskPhase
from tests.supervisor.core.snapshots import (
    EVEN,
    HOUR,
    MINUTE,
    NOON,
    ODDS,
    TOPIC,
    committed,
    decided,
    failed,
    generation,
    observed,
    offsets,
    pausing,
    report,
    spec,
    stream,
    task,
    worker,
)

DAY, SECOND = timedelta(days=1), timedelta(seconds=1)
AHEAD = [HOUR, DAY]
"""By so much the old leader's clock was ahead."""
_WAITS = st.timedeltas(timedelta(0), DAY)


def at_the_old_clock(seen: Observed, ahead: timedelta) -> Observed:
    """The same rows, seen by an overlord whose clock is behind; it has led for a minute."""
    return replace(seen, now=seen.now - ahead, led_since=seen.now - ahead - MINUTE)


# ------------------------------------------------------------------------------ the rule


@given(st.timedeltas(-DAY, DAY), _WAITS)
def test_a_wait_is_over_a_tenth_late_at_most_whatever_the_clocks_say(
    apart: timedelta, wait: timedelta
) -> None:
    at_takeover, later = NOON, NOON + 1.1 * wait + SECOND

    assert is_over(NOON + apart, wait, at_takeover) or is_over(NOON + apart, wait, later)


@given(_WAITS, _WAITS)
def test_a_wait_by_the_same_clock_is_as_long_as_was_meant(
    wait: timedelta, passed: timedelta
) -> None:
    assert is_over(NOON, wait, NOON + passed) == (passed >= wait)
    assert not is_ahead(NOON, wait, NOON + passed)


@pytest.mark.parametrize(
    ("at", "led_since", "since"),
    [
        (NOON - MINUTE, NOON - HOUR, NOON - MINUTE),
        (NOON + HOUR, NOON - MINUTE, NOON - MINUTE),
        (NOON - HOUR, NOON - MINUTE, NOON - MINUTE),
        (NOON + HOUR, None, NOON + HOUR),
    ],
    ids=["past", "ahead", "before our term", "no term is known"],
)
def test_what_was_stored_before_our_term_is_as_old_as_the_term_at_least(
    at: datetime, led_since: datetime | None, since: datetime
) -> None:
    assert known_since(at, NOON, led_since) == since


# ------------------------------------------------------------------------------ replacement


def fails(failures: int, *, mine: int = 0) -> Observed:
    """The even group's only task has failed at NOON, after `failures` in a row."""
    even = generation(1, EVEN)
    seen = observed(
        generations=(even, ODDS),
        tasks=(task(ODDS),),
        last=(failed(task(even), NOON),),
        workers=(worker("w1", report(task(ODDS), ODDS.start)),),
        failures=failures,
    )
    return replace(seen, failed_attempts={even.id: mine} if mine else {})


def starts(seen: Observed) -> list[str]:
    return [a.generation_id for a in decided(seen) if isinstance(a, StartTask)]


@pytest.mark.parametrize("ahead", AHEAD, ids=str)
@pytest.mark.parametrize("failures", [1, 2, 12])
def test_a_failed_task_is_replaced_at_once_if_it_failed_by_a_clock_ahead(
    failures: int, ahead: timedelta
) -> None:
    assert starts(at_the_old_clock(fails(failures), ahead)) == ["clicks:1"]


def test_a_backoff_is_kept_whatever_seconds_the_clocks_differ_by() -> None:
    """Goal: a crash loop goes no faster for a takeover between clocks that are kept alike (B14)."""
    seen = fails(12)

    assert not starts(replace(seen, now=NOON - 5 * SECOND))
    assert not starts(replace(seen, now=NOON + PlanLimits().backoff_max - SECOND))
    assert starts(replace(seen, now=NOON + PlanLimits().backoff_max)) == ["clicks:1"]


def test_a_success_that_a_clock_ahead_has_told_ends_no_backoff() -> None:
    """Goal: a task that fails again and again is not started in a hot loop meanwhile."""
    seen = fails(0, mine=6)

    assert not starts(replace(seen, now=NOON + 15 * SECOND))
    assert starts(replace(seen, now=NOON + 16 * SECOND)) == ["clicks:1"]
    assert starts(fails(0, mine=1)) == ["clicks:1"]


@pytest.mark.parametrize("ahead", AHEAD, ids=str)
def test_who_failed_for_its_offsets_waits_for_a_look_of_this_term_alone(ahead: timedelta) -> None:
    """Goal: it is replaced once Kafka was looked at anew, and by no look from before."""
    even = generation(1, EVEN)
    last = failed(task(even), NOON, f"{FailureCode.OFFSETS_UNREADABLE}: clicks:0 ...")
    seen = replace(fails(1), last_attempts={(even.id, 0): last})
    now = NOON - ahead
    older = replace(stream(100, 100, 100, 100), read_at=now - 2 * MINUTE)
    newer = replace(older, read_at=now - SECOND)

    assert not starts(at_the_old_clock(replace(seen, stream=older), ahead))
    assert starts(at_the_old_clock(replace(seen, stream=newer), ahead)) == ["clicks:1"]


# ------------------------------------------------------------------------------ handoff

PAUSED = {**EVEN, min(EVEN): 3}


def pauses(*, slow: bool = False, liveness: Liveness = Liveness.ALIVE) -> Observed:
    """The even group was ordered to pause at NOON; its replica has, or reads on."""
    even = pausing(at=0)
    mine = task(even)
    phase = TaskPhase.READING if slow else TaskPhase.PAUSED
    last_report = report(mine, PAUSED, phase, sequence=0 if slow else 1)
    return observed(
        generations=(even, ODDS),
        tasks=(mine, task(ODDS, worker="w2")),
        workers=(
            worker("w1", last_report, liveness=liveness),
            worker("w2", report(task(ODDS), ODDS.start)),
        ),
    )


@pytest.mark.parametrize("ahead", AHEAD, ids=str)
@pytest.mark.parametrize("slow", [True, False], ids=["it reads on", "it has paused"])
def test_a_pause_that_a_clock_ahead_has_ordered_is_ordered_again(
    slow: bool, ahead: timedelta
) -> None:
    """Goal: no group stays PAUSING, and no end is fixed on a lease of which nothing is known."""
    actions = decided(at_the_old_clock(pauses(slow=slow), ahead))

    assert {type(a) for a in actions} == {BeginHandoff}
    [action] = [a for a in actions if isinstance(a, BeginHandoff) and a.generation_id == "clicks:1"]
    assert f"{ahead.total_seconds():.1f} s in the future" in action.why


@pytest.mark.parametrize("ahead", AHEAD, ids=str)
def test_a_worker_that_is_silent_keeps_its_task_though_its_pause_lies_ahead(
    ahead: timedelta,
) -> None:
    silent = pauses(slow=True, liveness=Liveness.UNKNOWN)

    assert not [a for a in decided(at_the_old_clock(silent, ahead)) if isinstance(a, EndTask)]


def test_a_pause_goes_on_if_the_clocks_differ_by_seconds_alone() -> None:
    early = NOON - SECOND

    assert [type(a) for a in decided(replace(pauses(), now=early))][:1] == [FixEnd]
    assert decided(replace(pauses(slow=True), now=early)) == []


# ------------------------------------------------------------------------------ beginnings


@pytest.mark.parametrize("ahead", AHEAD, ids=str)
def test_a_start_delay_is_over_if_the_spec_was_stored_by_a_clock_ahead(ahead: timedelta) -> None:
    base = spec()
    io_config = base.io_config.model_copy(update={"start_delay": 5 * SECOND})
    seen = observed(base.model_copy(update={"io_config": io_config}), workers=(worker(),))

    assert not [a for a in decided(seen) if isinstance(a, OpenGeneration)]
    late = decided(at_the_old_clock(seen, ahead))
    assert [a.group for a in late if isinstance(a, OpenGeneration)] == [0, 1]


@pytest.mark.parametrize("ahead", AHEAD, ids=str)
def test_a_log_that_was_cut_is_told_although_its_range_was_opened_by_a_clock_ahead(
    ahead: timedelta,
) -> None:
    """Goal: nothing is started that could only fail, and a reset that is asked for comes."""
    tuning = TuningConfig(reset_offset_automatically=True)
    wanted = spec(task_count=1).model_copy(update={"tuning_config": tuning})
    read = offsets(50, 50, 50, 50)
    open_range = generation(1, read, task_count=1)
    led_since = NOON - ahead - MINUTE
    cut = stream(7, 100, 100, 100)
    stored = committed(50, 50, 50, 50)
    seen = observed(wanted, stored=stored, generations=(open_range,), workers=(worker(),))
    seen = at_the_old_clock(seen, ahead)

    def at(look: timedelta) -> list[str]:
        found = plan(replace(seen, stream=replace(cut, read_at=led_since + look)))
        return [type(a).__name__ for a in found.actions]

    assert at(SECOND) == []
    assert at(SETTLED_AFTER) == ["ResetOffsets"]


@pytest.mark.parametrize("behind", AHEAD, ids=str)
def test_a_look_from_before_our_term_says_nothing_of_a_range_that_a_clock_behind_opened(
    behind: timedelta,
) -> None:
    """Seed 112108: a leader came back with a look of its first term, and read again what was read.

    Its clock was ahead of the one between, so that the look seemed newer than the range.
    """
    tuning = TuningConfig(reset_offset_automatically=True)
    wanted = spec(task_count=1).model_copy(update={"tuning_config": tuning})
    open_range = generation(1, offsets(50, 50, 50, 50), task_count=1)
    short = stream(7, 100, 100, 100)
    stored = committed(50, 50, 50, 50)
    seen = observed(wanted, stored=stored, generations=(open_range,), workers=(worker(),))
    seen = at_the_old_clock(seen, -behind)
    led_since = seen.now - MINUTE

    def actions_at(read_at: datetime) -> list[str]:
        found = plan(replace(seen, stream=replace(short, read_at=read_at)))
        return [type(a).__name__ for a in found.actions]

    assert "ResetOffsets" not in actions_at(led_since - SECOND)
    assert actions_at(led_since + SETTLED_AFTER) == ["ResetOffsets"]


@pytest.mark.parametrize("ahead", AHEAD, ids=str)
def test_a_period_that_begins_ahead_of_us_is_over(ahead: timedelta) -> None:
    even = generation(1, EVEN)
    seen = observed(
        spec(duration=5 * MINUTE),
        generations=(even, ODDS),
        tasks=(task(even), task(ODDS)),
        workers=(worker("w1", report(task(even), EVEN), report(task(ODDS), ODDS.start)),),
    )

    begun = [a for a in decided(at_the_old_clock(seen, ahead)) if isinstance(a, BeginHandoff)]

    assert begun
    assert "in the future, by this overlord's clock" in begun[0].why


# ------------------------------------------------------------------------------ compaction


def test_failures_of_a_clock_far_ahead_hold_no_compaction_up() -> None:
    blamed = Compaction(
        id="c1",
        data_source=TOPIC,
        supervisor_id=TOPIC,
        interval=Interval(NOON, NOON + HOUR),
        inputs=("s1",),
        columns=(),
        shares=(),
        reason="compaction",
        created_at=NOON,
        status=TaskStatus.FAILED,
        ended_at=NOON,
        blamed=True,
    )
    ended = [blamed] * FAILURES_MAX

    assert failed_too_often(ended, NOON) == {"s1"}
    assert failed_too_often(ended, NOON - FAILURES_COUNT_FOR / 4) == set()
