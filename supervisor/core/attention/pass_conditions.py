"""What passes watch of one supervisor from look to look: which conditions hold, and since when.

    conditions ── one more pass ──► conditions        a condition that still holds keeps its `since`

One pass shows that something is so.  That it is so for long, that it rises, or that it is new, only
several passes show.  Nothing of this is stored: a new leader begins anew, and says nothing before
it knows enough.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import nsmallest
from itertools import pairwise
from typing import TypeAlias

from supervisor.core.history.headroom import EarliestHistory, headroom
from supervisor.core.history.lag import Lag
from supervisor.core.history.listing import (
    TREND_RECORDS,
    TREND_SHARE,
    TREND_SPAN,
    Trend,
    trend_of,
)
from supervisor.core.model.rows import Generation, GenerationState
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.pass_summary import governing_spec
from supervisor.core.planning.progress import lag_by_partition, report_of
from supervisor.core.planning.rules.continuity import deleted_unread, other_topic, unreadable
from supervisor.core.planning.rules.handoff_due import handoff_due_at
from supervisor.core.planning.view import PassView
from tasks.contract.offsets import TopicPartition

_SAMPLED_EVERY = timedelta(minutes=1)
DURATIONS_KEPT = 20
"""Handoffs from which the usual duration is taken."""
REASONS_MAX = 100
"""Different reasons of bad records that are watched."""
REASON_KEPT = timedelta(hours=24)
"""A reason that was not seen for so long counts as new once it comes again."""
LEARNING = timedelta(minutes=2)
"""What a leader sees of bad records this soon after it began may be older than its term."""
UNSEEN_HORIZON = timedelta(hours=24)
"""Headroom below which a supervisor that does not catch up at all is at risk: a working day to act,
whatever the hour."""
RISE_AGE = timedelta(minutes=1)
"""A lag rises if it has grown by this in `TREND_SPAN`: the tasks are 7 % slower than the topic."""
FURTHEST_MAX = 3
"""Partitions of which it is known by how much they lag: those that lag most."""
_THIRDS = 3
_Samples: TypeAlias = tuple[tuple[datetime, Lag], ...]
_HANDING_OFF = frozenset({GenerationState.PAUSING, GenerationState.PUBLISHING})


@dataclass(frozen=True)
class RetentionRisk:
    """A partition whose first unpublished record Kafka may delete before it is published."""

    left: timedelta
    """As the pass saw it."""
    catch_up: timedelta | None
    """The time until that record is published, at the present pace; None: never."""
    since: datetime


@dataclass(frozen=True)
class SeenReason:
    """A reason of bad records."""

    first_at: datetime | None
    """When it was first seen; None: it may be older than this leader's term."""
    last_at: datetime


@dataclass(frozen=True)
class PassConditions:
    """What the passes of one leader over one supervisor have shown so far."""

    at: datetime
    """When the newest pass looked."""
    data_source: str | None
    samples: _Samples = ()
    """Lag of the last `TREND_SPAN`, about one a minute, oldest first."""
    rising_since: datetime | None = None
    """When the lag began to rise; None: it does not."""
    furthest: tuple[tuple[TopicPartition, int], ...] = ()
    """Partitions that lagged most in the newest sample, with their unread records, the worst first.
    """
    headroom: timedelta | None = None
    """The least headroom of a partition; None: retention is not known to move towards any."""
    risks: Mapping[TopicPartition, RetentionRisk] = field(default_factory=dict)
    passed: Mapping[TopicPartition, datetime] = field(default_factory=dict)
    """Partition whose next records Kafka has deleted -> when that was first seen."""
    pending_since: datetime | None = None
    """When a replica first had no task; None: each has one."""
    unread: tuple[TopicPartition, ...] = ()
    """Partitions whose open range has no task: nobody reads them; sorted."""
    handoffs: Mapping[str, datetime] = field(default_factory=dict)
    """Range that hands off -> when that began."""
    durations: tuple[timedelta, ...] = ()
    """Of the last handoffs that ended, to the pass that saw it; oldest first."""
    reasons: Mapping[str, SeenReason] = field(default_factory=dict)
    worker_tasks: Mapping[str, int] = field(default_factory=dict)
    """Worker -> its active tasks."""
    replaced_tasks: Mapping[str, int] = field(default_factory=dict)
    """Worker -> its tasks in live ranges that ended because the worker was lost."""

    def wants_lag(self, now: datetime) -> bool:
        """Whether the next pass should bring the lag as well."""
        return not self.samples or now - self.samples[-1][0] >= _SAMPLED_EVERY

    @property
    def partitions_at_risk(self) -> Collection[TopicPartition]:
        """Partitions of which Kafka may delete unpublished records, or has done so already."""
        return self.risks.keys() | self.passed.keys()

    def is_foreign(self, seen: Observed) -> bool:
        """Whether they are of an earlier term, or of another table under the same id."""
        earlier = seen.led_since is not None and self.at < seen.led_since
        return earlier or self.data_source != _table(seen)


def conditions_after(
    before: PassConditions | None, seen: Observed, lag: Lag | None, moves: EarliestHistory
) -> PassConditions:
    """Return the conditions after one more pass; `lag` and `moves` are as that pass saw them.

    `lag` None: it was not worked out this time.
    """
    if before is not None and before.is_foreign(seen):
        before = None
    known = before or PassConditions(seen.now, _table(seen))
    samples = known.samples if lag is None else _sampled(known.samples, seen.now, lag)
    furthest = known.furthest if lag is None else _furthest(seen)
    rooms = _rooms(seen, moves)
    handoffs = {g.id: _began(g) for g in seen.generations if g.state in _HANDING_OFF}
    live = {g.id for g in seen.generations}
    ended = [seen.now - at for range_id, at in known.handoffs.items() if range_id not in live]
    tended = Counter(task.generation_id for task in seen.tasks)
    lacking = _lacking(seen, tended)
    return PassConditions(
        at=seen.now,
        data_source=_table(seen),
        samples=samples,
        rising_since=(known.rising_since or samples[0][0]) if is_rising(samples) else None,
        furthest=furthest,
        headroom=min(rooms.values(), default=None),
        risks=_risks(known, seen, samples, rooms),
        passed={p: known.passed.get(p, seen.now) for p in _passed(seen)},
        pending_since=(known.pending_since or seen.now) if lacking else None,
        unread=tuple(
            sorted(p for range_ in lacking if not tended[range_.id] for p in range_.start)
        ),
        handoffs=handoffs,
        durations=(*known.durations, *ended)[-DURATIONS_KEPT:],
        reasons=_reasons(known, seen),
        worker_tasks=Counter(task.worker_id for task in seen.tasks),
        replaced_tasks=Counter(t.worker_id for t in seen.last_attempts.values() if t.lost),
    )


def _table(seen: Observed) -> str | None:
    if seen.current.spec is not None:
        return seen.current.spec.data_source
    return seen.generations[0].data_source if seen.generations else None


def _began(generation: Generation) -> datetime:
    return generation.paused_at or generation.end_fixed_at or generation.opened_at


def _lacking(seen: Observed, tended: Mapping[str, int]) -> list[Generation]:
    """Return the open ranges with fewer tasks than replicas."""
    view = PassView(seen)
    return [
        generation
        for generation in seen.generations
        if generation.open
        and (spec := governing_spec(view, generation)) is not None
        and tended.get(generation.id, 0) < spec.io_config.replicas
    ]


# -- lag -------------------------------------------------------------------------------------------


def _sampled(samples: _Samples, at: datetime, lag: Lag) -> _Samples:
    """Return the samples with one more; none if the lag is not known, for a rise has no gap."""
    if lag.records is None:
        return ()
    # One sample from before the span stays: the span is whole only with it.
    behind = [sample for sample in samples if sample[0] <= at - TREND_SPAN]
    return (*behind[-1:], *(s for s in samples if s[0] > at - TREND_SPAN), (at, lag))


def _furthest(seen: Observed) -> tuple[tuple[TopicPartition, int], ...]:
    lags = [(p, lag) for p, lag in lag_by_partition(seen).items() if lag]
    return tuple(nsmallest(FURTHEST_MAX, lags, key=lambda pair: (-pair[1], pair[0])))


def is_rising(samples: _Samples) -> bool:
    """Return whether the lag has risen over all of `TREND_SPAN`, in each third of it.

    The lag in time counts where it is known, else that in records.
    """
    if not samples or samples[-1][0] - samples[0][0] < TREND_SPAN:
        return False
    at = samples[-1][0]
    marks = [
        _sample_at(samples, at - TREND_SPAN * part / _THIRDS) for part in range(_THIRDS, -1, -1)
    ]
    ages = [lag.age for lag in marks if lag.age is not None]
    if len(ages) == len(marks):
        grown = all(a < b for a, b in pairwise(ages))
        return grown and ages[-1] - ages[0] >= RISE_AGE
    records = [lag.records for lag in marks if lag.records is not None]
    if len(records) < len(marks):
        return False
    grown = all(a < b for a, b in pairwise(records))
    return grown and records[-1] - records[0] > max(TREND_RECORDS, TREND_SHARE * records[0])


def _sample_at(samples: _Samples, at: datetime) -> Lag:
    """Return the newest sample of a moment or before it; the first one is old enough."""
    return [lag for when, lag in samples if when <= at][-1]


def catch_up_time(samples: _Samples, publish_in: timedelta) -> timedelta | None:
    """Return the time until all that is unread now is read and published; None: never.

    `publish_in`: the time until the next handoff begins.  A lag that neither rises nor falls is
    that of records that come all the time: each is read within the age of the lag.
    """
    if not samples or not samples[-1][1].records:
        return publish_in
    (began, before), (ended, now) = samples[0], samples[-1]
    trend = trend_of(before, now)
    if trend is Trend.RISING or is_rising(samples):
        return None
    if trend is not Trend.FALLING:
        return (now.age or timedelta(0)) + publish_in
    if before.age is not None and now.age is not None:
        had, has = before.age.total_seconds(), now.age.total_seconds()
    else:
        had, has = float(before.records or 0), float(now.records or 0)
    return (ended - began) * (has / (had - has)) + publish_in


# -- retention -------------------------------------------------------------------------------------


def is_too_short(headroom_left: timedelta, catch_up: timedelta | None) -> bool:
    """Return whether a headroom is below twice the time to catch up and publish; None: never."""
    return headroom_left < (UNSEEN_HORIZON if catch_up is None else 2 * catch_up)


def _rooms(seen: Observed, moves: EarliestHistory) -> dict[TopicPartition, timedelta]:
    """Return partition -> the time until Kafka deletes what is not published, where it is known."""
    if seen.stream.read_at is None:
        return {}
    return {
        p: room.left
        for p, at in moves.moves.items()
        if len(at.moves) > 1 and p in seen.committed and p in seen.stream.latest
        if not other_topic(seen, p)
        for room in [
            headroom(at, seen.committed[p].next_offset, seen.stream.latest[p], seen.stream.read_at)
        ]
        if room.left is not None
    }


def _risks(
    known: PassConditions,
    seen: Observed,
    samples: _Samples,
    rooms: Mapping[TopicPartition, timedelta],
) -> dict[TopicPartition, RetentionRisk]:
    """Return the partitions at risk; a supervisor that waits for an offset is broken instead."""
    if not rooms:
        return {}
    broken = {each.partition for each in unreadable(seen)} | _passed(seen)
    waits = _publish_waits(seen)
    risks = {}
    for partition in sorted(rooms.keys() - broken):
        left, wait = rooms[partition], waits.get(partition)
        catch_up = None if wait is None else catch_up_time(samples, wait)
        if is_too_short(left, catch_up):
            before = known.risks.get(partition)
            since = seen.now if before is None else before.since
            risks[partition] = RetentionRisk(left, catch_up, since)
    return risks


def _passed(seen: Observed) -> set[TopicPartition]:
    return {each.partition for each in deleted_unread(seen)}


def _publish_waits(seen: Observed) -> dict[TopicPartition, timedelta]:
    """Return partition -> the time until its range begins to hand off; no task reads the others."""
    view, tended = PassView(seen), {task.generation_id for task in seen.tasks}
    waits: dict[TopicPartition, timedelta] = {}
    for generation in seen.generations:
        spec = governing_spec(view, generation)
        if generation.id not in tended or spec is None:
            continue
        wait = timedelta(0)
        if generation.state is GenerationState.READING:
            wait = max(wait, handoff_due_at(generation, spec) - seen.now)
        for partition in generation.start:
            waits.setdefault(partition, wait)  # the oldest range has the first unpublished record
    return waits


# -- bad records -----------------------------------------------------------------------------------


def _reasons(known: PassConditions, seen: Observed) -> dict[str, SeenReason]:
    kept = {
        reason: each
        for reason, each in known.reasons.items()
        if seen.now - each.last_at < REASON_KEPT
    }
    is_learning = seen.led_since is not None and seen.now - seen.led_since < LEARNING
    for reason in _sampled_reasons(seen):
        before = kept.get(reason)
        if before is not None:
            kept[reason] = SeenReason(before.first_at, seen.now)
        elif len(kept) < REASONS_MAX:
            kept[reason] = SeenReason(None if is_learning else seen.now, seen.now)
    return kept


def _sampled_reasons(seen: Observed) -> Iterator[str]:
    for task in seen.tasks:
        report = report_of(seen, task)
        if report is not None:
            yield from (sample.reason for sample in report.samples)
