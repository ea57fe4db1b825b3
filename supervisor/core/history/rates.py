"""Rates of tasks and supervisors over the last minutes, computed from samples of counters.

    counters  ──┬────┬────┬────┬──►  a sample every 15 seconds, and the newest one
    window           └─────────┘     growth within the window, per second of the window

Growth before the first sample does not count, because its time is not known.
Source: Druid's moving averages, which divide by the whole window also when a task is younger.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from tasks.contract.messages import Counters

WINDOWS_S: Mapping[str, float] = MappingProxyType({"1m": 60.0, "5m": 300.0, "15m": 900.0})
STEP_S = 15.0
"""Minimum distance of the outer two of three consecutive samples; growth in between counts as even.
"""
YOUNGEST_S = 10.0
"""The age of the oldest sample from which on a supervisor has a rate in rows per second."""
_NAMES = ("processed", "processed_bytes", "unparseable", "thrown_away", "processed_with_error")


@dataclass(frozen=True)
class CounterSample:
    """The counters of one task at one moment."""

    at_s: float
    """Monotonic seconds."""
    counts: tuple[int, ...]


@dataclass(frozen=True)
class RangeReader:
    """A task that reads a range of offsets, or has read it within the last minutes."""

    generation_id: str
    is_new: bool
    """Whether it began while this leader looked on: unheard of, it has made nothing yet."""


SampleSeries = tuple[CounterSample, ...]
"""Samples of one task, oldest first; the last one is the newest known."""


def sample_of(counters: Counters, at_s: float) -> CounterSample:
    """Return a sample of the counters that have a rate."""
    return CounterSample(at_s, tuple(getattr(counters, name) for name in _NAMES))


def extended(history: SampleSeries, sample: CounterSample) -> SampleSeries:
    """Return `history` with one more sample, without samples older than the longest window needs.

    If a counter falls, a new history begins: the task dropped batches beyond its end.
    """
    if not history or _has_fallen(history[-1].counts, sample.counts):
        return (sample,)
    near = len(history) > 1 and sample.at_s - history[-2].at_s < STEP_S
    kept = [*(history[:-1] if near else history), sample]
    oldest_s = sample.at_s - max(WINDOWS_S.values())
    while len(kept) > 1 and kept[1].at_s <= oldest_s:
        del kept[0]
    return tuple(kept)


def _has_fallen(before: Sequence[int], now: Sequence[int]) -> bool:
    # Most tasks have counted nothing since: that is seen at a glance.
    return now != before and any(n < m for n, m in zip(now, before, strict=True))


def rates(history: SampleSeries, now_s: float) -> dict[str, dict[str, float]]:
    """Return window -> counter -> growth per second; without samples all rates are 0."""
    return {
        window: _rates(history, now_s - seconds, seconds) for window, seconds in WINDOWS_S.items()
    }


def trimmed(history: SampleSeries) -> SampleSeries:
    """Return what rows per second need of a task that has ended."""
    kept = [*history]
    while len(kept) > 1 and kept[1].at_s <= kept[-1].at_s - WINDOWS_S["1m"]:
        del kept[0]
    return tuple(kept)


def row_rate(readers: Iterable[tuple[RangeReader, SampleSeries]], now_s: float) -> float | None:
    """Return the rows per second of a supervisor over the last minute.  None: not known.

    `readers` are its tasks, those too that ended within the last minutes: a handoff makes no dip.
    Replicas read the same records, so of each range the one counts that is furthest.  Until the
    first samples are a minute old, the rate is that since these samples.
    """
    furthest: dict[str, SampleSeries] = {}
    unheard: set[str] = set()
    at, since_s = _NAMES.index("processed"), now_s
    for reader, history in readers:
        if not history:
            if not reader.is_new:
                unheard.add(reader.generation_id)
            continue
        since_s = min(since_s, history[0].at_s)
        best = furthest.get(reader.generation_id)
        if best is None or history[-1].counts[at] > best[-1].counts[at]:
            furthest[reader.generation_id] = history
    if not unheard <= furthest.keys() or now_s - since_s < YOUNGEST_S:
        return None
    since_s = max(since_s, now_s - WINDOWS_S["1m"])
    grown = sum(
        max(0.0, history[-1].counts[at] - _counted_at(history, since_s)[at])
        for history in furthest.values()
    )
    return round(grown / (now_s - since_s), 1)


def _rates(history: SampleSeries, since_s: float, seconds: float) -> dict[str, float]:
    if not history:
        return dict.fromkeys(_NAMES, 0.0)
    before, newest = _counted_at(history, since_s), history[-1].counts
    grown = (max(0.0, n - b) / seconds for n, b in zip(newest, before, strict=True))
    return dict(zip(_NAMES, grown, strict=True))


def _counted_at(history: Sequence[CounterSample], at_s: float) -> tuple[float, ...]:
    if at_s <= history[0].at_s:
        return history[0].counts
    for earlier, later in pairwise(history):
        if at_s < later.at_s:
            share = (at_s - earlier.at_s) / (later.at_s - earlier.at_s)
            pairs = zip(earlier.counts, later.counts, strict=True)
            return tuple(a + (b - a) * share for a, b in pairs)
    return history[-1].counts
