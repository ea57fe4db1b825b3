"""Periodic looks at the event queues: they make up for a wake-up that got lost."""

from dataclasses import dataclass

from supervisor.chores.duty import Duty
from supervisor.chores.wake import PERIOD
from supervisor.eventqueue.queues import EventQueues


@dataclass(frozen=True)
class PollQueues:
    """One chore."""

    queues: EventQueues

    def run_once(self) -> None:
        """Look which queues have something waiting."""
        self.queues.poll()


DUTY = Duty("poll-queues", lambda w: PollQueues(w.queues), lambda _: PERIOD)
