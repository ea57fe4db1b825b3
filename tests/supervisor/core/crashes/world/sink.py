"""The place where effects come about, with a ledger: it answers each key once and for all.

What it has answered, also a failure, is kept under the key and answered again.  So a failure that
is *known* says that no effect of this key will come, whoever else has its call in hand.
"""

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from supervisor.core.executions.entities import StepError
from supervisor.core.executions.inputs import Fails, Outcome, Succeeded, Waits
from supervisor.core.executions.reduced import StepCall

UNKNOWN = StepError("connection", "nobody knows whether it came", passes=True, known=False)


@dataclass
class Work:
    """Something that a verb has begun."""

    key: str
    over_at: datetime
    good: bool


@dataclass
class Sink:
    """The ledger."""

    chance: random.Random
    trouble: bool = True
    answers: dict[str, Outcome] = field(default_factory=dict)
    works: dict[str, Work] = field(default_factory=dict)
    visits: list[tuple[StepCall, str, datetime]] = field(default_factory=list)
    """Each call that came, with the life of its runner."""
    applied: dict[str, set[str]] = field(default_factory=dict)
    """Task run -> keys whose effect came about, and was not taken back by a failure."""

    def call(self, job: StepCall, life: str, now: datetime) -> Outcome:
        """Take one call."""
        self.visits.append((job, life, now))
        dice = self.chance.random() if self.trouble else 0.0
        if dice > 0.94:
            return Fails(UNKNOWN)
        outcome = self.answers.get(job.key)
        if outcome is None:
            outcome = self.answers[job.key] = self._decide(job, now)
        return Fails(UNKNOWN) if dice > 0.88 else outcome

    def look(self, job: StepCall, now: datetime) -> Outcome:
        """Say how far the work is that a verb has begun."""
        work = self.works[str(job.state)]
        if now < work.over_at:
            return Waits("the work", job.state)
        if work.good:
            return Succeeded({"n": 2})
        self.applied[job.run].discard(work.key)
        return Fails(StepError("work", "it has failed", passes=True))

    def _decide(self, job: StepCall, now: datetime) -> Outcome:
        dice = self.chance.random()
        if self.trouble and dice < 0.15:
            return Fails(StepError("busy", "not now", passes=dice < 0.1))
        self.applied.setdefault(job.run, set()).add(job.key)
        if self.chance.random() < 0.2:
            seconds = self.chance.uniform(0, 20)
            good = not self.trouble or self.chance.random() < 0.7
            self.works[job.key] = Work(job.key, now + timedelta(seconds=seconds), good)
            return Waits("the work", job.key)
        return Succeeded({"n": 1})
