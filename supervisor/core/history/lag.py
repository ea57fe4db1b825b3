"""Lag in time: how old the oldest record is that is not read yet, told from the log's ends.

    ends    .──────.────────.──────────.   (when, end) as looks at Kafka found them
                      ▲ our position: the end passed it between two looks

Source: Druid 39's `lagMillis`, which reads a record's timestamp; here no record is read for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import itemgetter

from tasks.contract.offsets import Offsets, TopicPartition

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAG_KEPT = timedelta(hours=24)
"""How far back samples are kept."""
ENDS_KEPT = 120
"""Looks per supervisor; older ones become sparse, so that they reach far back in little memory."""


@dataclass(frozen=True)
class LogEnds:
    """Where the log of each partition ended when it was looked at."""

    at: datetime
    ends: Offsets


def with_look(history: Sequence[LogEnds], look: LogEnds) -> tuple[LogEnds, ...]:
    """Return the history with one more look, oldest first.

    A look that is no newer than the last is left out.  Beyond the bound every second look of the
    older half goes: the newer half stays fine, and the oldest look stays.
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
    """Return for how long the record at `position` has been there; zero: there is none yet.

    Between two looks the log is taken to have grown evenly.  None: it ended beyond the position at
    the first look already, or was never looked at.
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
    """Return when the log grew beyond a position, which it had not at `before`."""
    then, had = before
    part = (position - had) / (end - had)
    return then + max(0.0, min(1.0, part)) * (at - then)


@dataclass(frozen=True)
class Lag:
    """How far a supervisor is behind: records, and the age of the oldest of them."""

    records: int | None
    age: timedelta | None
    """None: not known."""


def lag_ages(
    history: Sequence[LogEnds], positions: Offsets, now: datetime, lag: Offsets
) -> dict[TopicPartition, timedelta]:
    """Return the age of the oldest unread record of each partition where it is known.

    Where `lag` is 0 it is zero: records beyond the end of a fixed range are nobody's to read.
    """
    ages = {
        p: timedelta(0) if lag.get(p) == 0 else age_at(history, p, at, now)
        for p, at in sorted(positions.items())
    }
    return {p: age for p, age in ages.items() if age is not None}


def stepped(samples: Sequence[tuple[datetime, Lag]], step: timedelta) -> list[tuple[datetime, Lag]]:
    """Return the worst of each step that has samples, by when the step begins; oldest first.

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
