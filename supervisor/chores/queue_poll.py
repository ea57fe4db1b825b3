"""The duty that polls the event queues, to make up for lost wake-ups."""

from dataclasses import dataclass

from supervisor.chores.duty import Duty
from supervisor.chores.wake import PERIOD
from supervisor.eventqueue.queues import EventQueues


@dataclass(frozen=True)
class PollQueues:
    """The duty that polls queues."""

    queues: EventQueues

    def run_once(self) -> None:
        """Wake the queues that have waiting events."""
        self.queues.poll()


DUTY = Duty("poll-queues", lambda w: PollQueues(w.queues), lambda _: PERIOD)
