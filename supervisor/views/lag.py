"""The lag of a supervisor over time, as it is shown."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from supervisor.core.history.lag import Lag, stepped
from tasks.contract.wire import Instant, Wire


class LagSample(Wire):
    """How far a supervisor was behind; of several samples in a step the worst."""

    at: Instant
    """When the step begins; without steps, when the sample was taken."""
    records: int | None
    """Null: not known then."""
    millis: int | None
    """Age of the oldest record that was not read yet; null: not known then."""


class LagHistory(Wire):
    """The lag of a supervisor, oldest first; one sample a minute is kept for 24 hours."""

    supervisor_id: str
    samples: list[LagSample]


def lag_history(
    supervisor_id: str, samples: Sequence[tuple[datetime, Lag]], step: timedelta | None
) -> LagHistory:
    """Return samples as they are shown."""
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
