"""The options of one run of `tidegate dev`."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class DevOptions:
    """The options of one `tidegate dev`, beside the settings."""

    sample: bool = False
    """Whether to fill a topic with a sample stream, and supervise it."""
    demo: bool = False
    """With the sample: whether to go on to the first publish, verify it and show a query."""
    once: bool = False
    """Whether to end after the demo."""
    kafka: str | None = None
    """`host:port` of the user's own broker; None: start one."""
    task_duration: timedelta = timedelta(seconds=60)
    rate: int = 200
    """Records a second of the sample stream."""
