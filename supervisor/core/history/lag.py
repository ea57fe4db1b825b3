"""Lag in time: the age of the oldest unread record, estimated from past end offsets of the log.

    ends    .──────.────────.──────────.   (time, end offset) samples from Kafka
                      ▲ our position: the end passed it between two samples

Source: Druid 39's `lagMillis`, which reads a record's timestamp; here no record is read for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import itemgetter

from supervisor.core.values.errors import FieldError, InvalidRequest
from tasks.contract.offsets import Offsets, TopicPartition

_SAMPLED_EVERY, _SECOND = timedelta(minutes=1), timedelta(seconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAG_KEPT = timedelta(hours=24)
"""The age of the oldest lag sample that is kept."""
ENDS_KEPT = 120
"""Samples of log ends per supervisor; older ones become sparse, to reach far back in little memory.
"""


@dataclass(frozen=True)
class LogEnds:
    """A sample of the log ends: partition -> end offset at one moment."""

    at: datetime
    ends: Offsets


def with_look(history: Sequence[LogEnds], look: LogEnds) -> tuple[LogEnds, ...]:
    """Return the history with one more sample, oldest first.

    A sample that is not newer than the last is left out.  Beyond `ENDS_KEPT` every second sample of
    the older half is dropped, but never the oldest one.
    """
    if history and look.at <= history[-1].at:
        return tuple(history)
    grown = (*history, look)
    if len(grown) <= ENDS_KEPT:
        return grown
    half = ENDS_KEPT // 2
    return (*grown[:half:2], *grown[half:])


def age_at(
    history: Sequence[LogEnds], partition: TopicPartition, position: int, now: datetime
) -> timedelta | None:
    """Return the age of the record at `position`; zero: there is no such record yet.

    Between two samples the log is assumed to have grown evenly.  None: there is no sample, or the
    log ended beyond the position in the first one already.
    """
    before: tuple[datetime, int] | None = None
    for look in history:
        end = look.ends.get(partition)
        if end is None:
            continue
        if end > position:
            if before is None:
                return None
            return max(timedelta(0), now - _passed(before, look.at, end, position))
        before = look.at, end
    return None if before is None else timedelta(0)


def _passed(before: tuple[datetime, int], at: datetime, end: int, position: int) -> datetime:
    """Return when the log grew beyond a position, between the sample `before` and the next."""
    then, had = before
    part = (position - had) / (end - had)
    return then + max(0.0, min(1.0, part)) * (at - then)


@dataclass(frozen=True)
class Lag:
    """Lag of a supervisor: unread records, and the age of the oldest; None: not known."""

    records: int | None
    age: timedelta | None


UNKNOWN_LAG = Lag(None, None)


def lag_ages(
    history: Sequence[LogEnds], positions: Offsets, now: datetime, lag: Offsets
) -> dict[TopicPartition, timedelta]:
    """Return partition -> age of its oldest unread record, of the partitions where it is known.

    The age is zero where `lag` is 0: records beyond the end of a fixed range do not count.
    """
    ages = {
        p: timedelta(0) if lag.get(p) == 0 else age_at(history, p, at, now)
        for p, at in sorted(positions.items())
    }
    return {p: age for p, age in ages.items() if age is not None}


STEPS_MAX = 300
"""Steps of one answer per supervisor: a day by five minutes."""


def check_steps(begin: datetime, end: datetime, step: timedelta) -> None:
    """Refuse a step that lag cannot be counted by, and a window of too many steps.

    Raises:
        InvalidRequest: with the place in the query.
    """
    if step < _SAMPLED_EVERY or step % _SECOND:
        why = "is less than a minute, or has a part of a second"
        raise InvalidRequest([FieldError("/query/step", why, "PT15M")])
    if (end - begin) / step > STEPS_MAX:
        why = f"the window has more than {STEPS_MAX} steps"
        raise InvalidRequest([FieldError("/query/step", why, "a longer step, or a later `from`")])


def stepped(samples: Sequence[tuple[datetime, Lag]], step: timedelta) -> list[tuple[datetime, Lag]]:
    """Return (begin of the step, worst lag) of each step that has samples, oldest first.

    Steps begin at multiples of `step` since 1970.
    """
    worst: dict[datetime, Lag] = {}
    for at, lag in samples:
        begin = at - (at - _EPOCH) % step
        known = worst.get(begin, Lag(None, None))
        records = [n for n in (known.records, lag.records) if n is not None]
        ages = [age for age in (known.age, lag.age) if age is not None]
        worst[begin] = Lag(max(records, default=None), max(ages, default=None))
    return sorted(worst.items(), key=itemgetter(0))
