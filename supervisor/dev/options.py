"""What one run of everything on this machine is asked for."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class DevOptions:
    """What one `tidegate dev` is asked for, beside the settings."""

    sample: bool = False
    """Fill a topic with a sample stream, and supervise it."""
    demo: bool = False
    """With the sample: go on to the first publish, verify it and show a query."""
    once: bool = False
    """End when the demo has been shown."""
    kafka: str | None = None
    """`host:port` of the user's own broker; None: one is started."""
    task_duration: timedelta = timedelta(seconds=60)
    rate: int = 200
    """Records a second of the sample stream."""
