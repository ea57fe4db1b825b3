"""Response models of a supervisor's lag over time."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from supervisor.core.history.lag import Lag, stepped
from tasks.contract.wire import Instant, Wire


class LagSample(Wire):
    """How far a supervisor was behind; of several samples in a step the worst."""

    at: Instant
    """The begin of the step; without steps, the time of the sample."""
    records: int | None
    """Unread records; null: not known at that time."""
    millis: int | None
    """Age of the oldest unread record; null: not known at that time."""


class LagHistory(Wire):
    """The lag of a supervisor, oldest first; one sample a minute is kept for 24 hours."""

    supervisor_id: str
    samples: list[LagSample]


class LagSeries(Wire):
    """The lag of one supervisor, three lists of equal length, oldest first."""

    at: list[Instant]
    """The begin of each step that has a sample."""
    records: list[int | None]
    """Unread records, the worst of the step; null: not known then."""
    millis: list[int | None]
    """Age of the oldest unread record, the worst of the step; null: not known then."""


class LagsView(Wire):
    """The lag of several supervisors."""

    lag: dict[str, LagSeries]
    """Supervisor -> its lag; one without a sample in the window, or that is not there, is not."""


def lags_view(found: Mapping[str, Sequence[tuple[datetime, Lag]]]) -> LagsView:
    """Return the response for the steps of several supervisors."""
    series = {
        supervisor_id: LagSeries(
            at=[at for at, _ in steps],
            records=[lag.records for _, lag in steps],
            millis=[_millis(lag) for _, lag in steps],
        )
        for supervisor_id, steps in sorted(found.items())
    }
    return LagsView(lag=series)


def _millis(lag: Lag) -> int | None:
    return None if lag.age is None else lag.age // timedelta(milliseconds=1)


def lag_history(
    supervisor_id: str, samples: Sequence[tuple[datetime, Lag]], step: timedelta | None
) -> LagHistory:
    """Return the response for lag samples; `step` None: each sample by itself."""
    selected = samples if step is None else stepped(samples, step)
    return LagHistory(
        supervisor_id=supervisor_id,
        samples=[
            LagSample(
                at=at,
                records=lag.records,
                millis=_millis(lag),
            )
            for at, lag in selected
        ],
    )
