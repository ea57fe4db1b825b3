"""The model of a runner: it asks for each call, makes what it is granted, and reports.

renew ─► read answers ─► claim new calls, look ─► run ─► effect ─► result ─► mark the offset
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from supervisor.core.executions.entities import Runner
from supervisor.core.executions.inputs import Claim, Outcome, Report, Stopped
from supervisor.core.executions.reduced import Cancel, ClaimReply, StepCall
from tests.supervisor.core.crashes.world.log import Record
from tests.supervisor.core.crashes.world.messages import CALLS, HISTORY, RESULTS, Addressed
from tests.supervisor.core.crashes.world.world import Sent, World, partition_of

Key = tuple[str, int]
"""Task run and attempt."""


@dataclass
class RunnerLife:
    """One life of a runner."""

    world: World
    name: str
    heard: int = 0
    read: dict[int, int] = field(default_factory=dict)
    """Partition -> offset of the next call."""
    claimed: dict[int, list[tuple[int, Sent | None]]] = field(default_factory=dict)
    """Partition -> offset and claim of the calls that were read, in order."""
    pending: dict[Key, StepCall] = field(default_factory=dict)
    running: dict[Key, tuple[StepCall, datetime]] = field(default_factory=dict)
    """What runs, and until when."""
    begun: set[Key] = field(default_factory=set)
    job_of: dict[Key, StepCall] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin to hear at the end of what there is."""
        self.begin_anew()

    def begin_anew(self) -> None:
        """Be another life of the runner: nothing of the one before is known."""
        self.runner = Runner(self.name, self.world.next_life())
        self.heard = self.world.log.end((RESULTS, 0))
        for part in (self.pending, self.running, self.begun, self.read, self.claimed):
            part.clear()

    def beat(self) -> None:
        """Renew the row of this life, and stay a member of the group."""
        self.world.registry.renew(self.runner, self.world.now)
        self.world.runners.poll(self.name, self.world.now)

    def steps(self) -> Iterator[str]:
        """Go on for ever."""
        world = self.world
        while True:
            if not world.registry.renew(self.runner, world.now):
                world.faults["a runner is taken for dead"] += 1
                self.begin_anew()
                yield "poll"
                continue
            yield from self.hear()
            mine = world.runners.owned(self.name, world.now)
            for part in [part for part in self.read if part not in mine]:
                del self.read[part], self.claimed[part]
            for part in sorted(mine):
                yield from self.take_calls(part)
            for key in [key for key, (_, until) in self.running.items() if until <= world.now]:
                yield from self.make(key)
            yield "poll"

    def hear(self) -> Iterator[str]:
        """Read answers to claims, and what shall stop."""
        records, self.heard = self.world.log.read((RESULTS, 0), self.heard)
        for record in records:
            match record.value:
                case ClaimReply(run, attempt, runner, granted) if runner == self.runner:
                    job = self.pending.pop((run, attempt), None)
                    if job is not None and self.may_run(granted=granted):
                        yield "grant"
                        self.begin(job)
                case Cancel(run, attempt, runner) if runner == self.runner:
                    if self.running.pop((run, attempt), None) is not None:
                        yield "cancel"
                        job = self.job_of[(run, attempt)]
                        self.report(job, Stopped())
                case _:
                    pass

    def may_run(self, *, granted: bool) -> bool:
        """Whether a call may begin."""
        return granted

    def begin(self, job: StepCall) -> None:
        """Begin a call; it takes its time."""
        key = (job.run, job.attempt)
        if key in self.begun:
            return
        self.begun.add(key)
        self.job_of[key] = job
        seconds = self.world.chance.choice([0.0, 0.1, 1.0, 5.0, 10.0])
        self.running[key] = (job, self.world.now + timedelta(seconds=seconds))

    def take_calls(self, part: int) -> Iterator[str]:
        """Claim what is new in a partition, make looks, and mark what needs no repeat."""
        world, place = self.world, (CALLS, part)
        start = self.read.setdefault(part, world.runners.committed.get(part, 0))
        claimed = self.claimed.setdefault(part, [])
        records, following = world.log.read(place, start, 3)
        newest = {each.key: each.offset for each in world.log.read(place, start)[0]}
        for record in records:
            job = record.value
            # An owner has one look for a step, the newest: who is behind makes no other.
            if isinstance(job, StepCall) and not (job.check and newest[record.key] > record.offset):
                yield "look" if job.check else "claim"
                claimed.append((record.offset, self.take(job, record)))
        self.read[part] = following
        marked = world.runners.committed.get(part, 0)
        while claimed and (claimed[0][1] is None or self.is_safe(claimed[0][1])):
            marked = claimed.pop(0)[0] + 1
        yield "mark the offset"
        if part in world.runners.owned(self.name, world.now):
            world.runners.committed[part] = max(marked, world.runners.committed.get(part, 0))

    def is_safe(self, sent: Sent) -> bool:
        """Whether a claim is in the log, so that its call need not be read again."""
        return sent.arrived

    def take(self, job: StepCall, record: Record) -> Sent | None:
        """Look, or claim."""
        del record
        if job.check:
            return self.report(job, self.world.sink.look(job, self.world.now))
        key = (job.run, job.attempt)
        if key in self.begun:
            return None
        self.pending[key] = job
        claim = Claim(job.run, job.attempt, self.runner)
        return self.send(job, claim)

    def make(self, key: Key) -> Iterator[str]:
        """Let the effect of a call come about, and report it."""
        yield "run"
        taken = self.running.pop(key, None)
        if taken is None:
            return
        job = taken[0]
        outcome = self.world.sink.call(job, self.runner.incarnation, self.world.now)
        yield "effect"
        self.report(job, outcome)
        yield "result"

    def report(self, job: StepCall, outcome: Outcome) -> Sent:
        """Report what came of a call or of a look."""
        holder = None if job.check else self.runner
        return self.send(job, Report(job.run, job.attempt, outcome, holder, job.check))

    def send(self, job: StepCall, given: Claim | Report) -> Sent:
        """Let an input go to the owner of the execution."""
        place = (HISTORY, partition_of(job.execution))
        return self.world.send(self.name, place, job.execution, Addressed(given))
