"""Response models of a supervisor's lag over time."""

from collections.abc import Sequence
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
                millis=None if lag.age is None else lag.age // timedelta(milliseconds=1),
            )
            for at, lag in selected
        ],
    )
