"""Adaptive size of micro-batches, in offsets: additive increase, multiplicative decrease.

A live batch should last `batch_target`, because a pause waits for the end of the batch.  Far behind
the end of the log, a batch may last longer: its fixed cost matters more there, and a pause cancels
the batch.
"""

from dataclasses import dataclass, replace
from typing import Self

from tasks.contract.ingest_spec import Tuning


@dataclass(frozen=True)
class Limits:
    """Settings of the task loop by the operator of a worker; the spec's `Tuning` holds the rest."""

    rows_first: int = 20_000
    """Offsets of the first batch, before anything is measured."""
    catch_up_target_s: float = 10.0
    """How long a batch may last while the lag is large."""
    catch_up_batches: int = 4
    """The lag is large when it exceeds this many live batches."""
    pause_target_s: float | None = None
    """A batch that would run longer than this after a pause began is cancelled.  None: batch
    target + 0.5 s."""
    poll_s: float = 0.25
    """How often Kafka is asked while there is nothing to read."""
    cancel_again_s: float = 0.5
    """A cancelled job that still runs is cancelled again after this."""
    turn_s: float = 10.0
    """A task that waits for its predecessor asks again after this time, even without a new turn."""
    retry_first_s: float = 0.5
    retry_max_s: float = 10.0
    """A request that a neighbour did not answer is repeated after 0.5, 1, 2 ... 10 s, without
    end."""
    progress_s: float = 180.0
    """A job without progress for this long is cancelled and run again.  This time is below the
    overlord's own deadline, after which the overlord replaces the task."""
    give_up_s: float = 60.0
    """If a cancelled job still runs after this time, the engine is stuck and the worker ends."""

    @property
    def unended_s(self) -> float:
        """Seconds that the engine may work on after a job was cancelled or has failed.

        It is longer than a job waits for a silent broker, which no cancel may end.
        """
        return self.progress_s + self.give_up_s

    @property
    def look_s(self) -> float:
        """Period in which the progress of a running job is checked."""
        return min(5.0, self.progress_s / 10)

    def retry_s(self, tries: int) -> float:
        """Return the seconds to wait after `tries` (1 or more) unanswered requests in a row."""
        return min(self.retry_max_s, self.retry_first_s * 2.0 ** min(tries - 1, 20))

    def pause_s(self, tuning: Tuning) -> float:
        """Return the seconds within which a pause should have stopped the reading."""
        if self.pause_target_s is not None:
            return self.pause_target_s
        return tuning.batch_target.total_seconds() + 0.5


@dataclass(frozen=True)
class BatchSize:
    """A bound for one batch, and how long a batch of that size should last."""

    rows: int
    target_s: float
    catch_up: bool


@dataclass(frozen=True)
class Pace:
    """The measured speed of the batches so far."""

    rows: int
    """Offsets that a live batch may span."""
    rows_per_s: float | None = None
    """Smoothed over the last few batches; None before the first."""

    def size(self, tuning: Tuning, limits: Limits, *, lag: int, ending: bool) -> BatchSize:
        """Return the bound of the next batch; `lag` is the number of offsets readable now."""
        live_s = tuning.batch_target.total_seconds()
        if ending:  # no pause can come any more
            return BatchSize(tuning.batch_rows_max, limits.catch_up_target_s, catch_up=True)
        if lag <= self.rows * limits.catch_up_batches:
            return BatchSize(min(self.rows, tuning.batch_rows_max), live_s, catch_up=False)
        target_s = max(live_s, limits.catch_up_target_s)
        # Before anything is measured, a small batch: rows show soon, however cold the worker is.
        longer = target_s / max(live_s, 0.001) if self.rows_per_s is not None else 1.0
        rows = min(int(self.rows * longer), tuning.batch_rows_max)
        return BatchSize(max(1, rows), target_s, catch_up=True)

    def expected_s(self, rows: int, target_s: float) -> float:
        """Return how long a batch of `rows` will probably last."""
        return rows / self.rows_per_s if self.rows_per_s else target_s

    def after(self, size: BatchSize, rows: int, seconds: float, tuning: Tuning) -> Self:
        """Return the pace after a batch of `rows` (at most `size.rows`) that took `seconds`."""
        seconds = max(seconds, 0.001)
        speed = rows / seconds
        known = speed if self.rows_per_s is None else (self.rows_per_s + speed) / 2
        if seconds > size.target_s:
            wanted = int(self.rows * max(0.5, size.target_s / seconds))
        elif rows < size.rows:
            wanted = self.rows  # it was not the bound that ended it: nothing learnt about it
        elif seconds < size.target_s / 2:
            wanted = self.rows * 2
        else:
            wanted = self.rows + tuning.batch_rows_min
        return replace(self, rows=_within(wanted, tuning), rows_per_s=known or None)

    def cancelled(self, tuning: Tuning) -> Self:
        """Return the pace after a pause had to cancel a batch: it was too large.

        Far behind as well: where taskDuration is shorter than a batch, every pause would cancel
        the only one, nothing would ever be read, and the same batch would begin again.
        """
        return replace(self, rows=_within(self.rows // 2, tuning))


def first_pace(tuning: Tuning, limits: Limits) -> Pace:
    """Return the pace of a task that has not read yet."""
    return Pace(rows=_within(limits.rows_first, tuning))


def _within(rows: int, tuning: Tuning) -> int:
    return max(1, min(tuning.batch_rows_max, max(tuning.batch_rows_min, rows)))
