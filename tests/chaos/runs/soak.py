"""A soak: the schedule of a seed, carried out on a run."""

import signal
import time
from collections.abc import Iterable

from tests.chaos.judges.amount import Amount, Wanted
from tests.chaos.points import OVERLORD_POINTS
from tests.chaos.processes.fleet import OVERLORDS
from tests.chaos.processes.proxy import FaultProxy, Mode
from tests.chaos.runs.run import Run, Unarmed
from tests.chaos.runs.schedule import KILLS, Fault, Kind

_KILLED = -9
_DELAY_S = 0.4
_PUBLISH = b" rows in "
"""Stands in the audit row of a publish, and so in the transaction whose reply is lost."""
MODES = {
    Kind.POSTGRES_CUT: Mode.CUT,
    Kind.POSTGRES_DELAY: Mode.DELAY,
    Kind.POSTGRES_HOLE: Mode.HOLE,
    Kind.POSTGRES_MUTE: Mode.MUTE,
    Kind.SYNC_CUT: Mode.CUT,
    Kind.SYNC_DELAY: Mode.DELAY,
    Kind.SYNC_MUTE: Mode.MUTE,
    Kind.BROKER_CUT: Mode.CUT,
    Kind.BROKER_DELAY: Mode.DELAY,
    Kind.BROKER_HOLE: Mode.HOLE,
}
"""What a wire does, for each kind that is of one."""


class Soak:
    """Disturbs a run; `broker` is the wire to Kafka, if it has one."""

    def __init__(self, run: Run, broker: FaultProxy | None = None) -> None:
        """Disturb nothing yet; what counts is what happens from now on."""
        self._run = run
        self._broker = broker
        self._first = len(run.faults.injected)
        self._began = time.monotonic()
        self._next_failpoint: dict[str, str] = {}
        self._armed: dict[str, str] = {}

    @property
    def amount(self) -> Amount:
        """What this soak has done so far."""
        return Amount(
            kinds=dict(self._run.faults.kinds(self._first)),
            records=len(self._run.stream.ledger.acknowledged),
            minutes=round((time.monotonic() - self._began) / 60, 2),
        )

    def run(self, faults: Iterable[Fault], wanted: Wanted, within_s: float) -> Amount:
        """Carry the faults out, one after the other, and return what they came to.

        It ends when that is what is `wanted`, when no fault is left, or after `within_s`, which a
        fault may exceed by its own length; `wanted.short_of` tells the one from the others.
        """
        self._run.arming = self
        until = time.monotonic() + within_s
        for fault in faults:
            if time.monotonic() > until or not wanted.short_of(self.amount):
                break
            self._run.go_on(fault.after_s)
            self._run.say(f"after {self.amount.kills} kills: {fault}")
            self._disturb(fault)
        self._run.arming = Unarmed()
        for name in list(self._armed):  # it must not die armed in the quiet phase
            self._kill(name, "kill")
        self._armed.clear()
        return self.amount

    def failpoint_for(self, name: str) -> str:
        """Return what the schedule wants of the next start."""
        if failpoint := self._next_failpoint.pop(name, ""):
            self._armed[name] = failpoint
        return failpoint

    def ended(self, name: str, code: int | None) -> None:
        """Count a process that died at its failpoint."""
        if self._armed.pop(name, None) is not None and code == _KILLED:
            self._run.faults.note(Kind.FAILPOINT, name)

    def _disturb(self, fault: Fault) -> None:
        if fault.kind in KILLS:
            # An armed start is a kill like others; the kind counts when it dies at its point.
            kind = "kill" if fault.kind is Kind.FAILPOINT else fault.kind
            for name in self._victims(fault):
                self._kill(name, kind)
                if fault.kind is Kind.FAILPOINT:
                    self._next_failpoint[name] = _failpoint(fault)
        elif fault.kind in {Kind.FREEZE_LEADER, Kind.FREEZE_WORKER}:
            self._freeze(fault)
        elif fault.kind is Kind.POSTGRES_COMMIT:
            self._lose_a_reply(fault)
        else:
            self._disturb_wire(fault)

    def _victims(self, fault: Fault) -> tuple[str, ...]:
        leader = self._run.leader() or OVERLORDS[0]
        workers = self._run.fleet.shape.workers
        match fault.kind:
            case Kind.KILL_FOLLOWER:
                return (self._run.follower(),)
            case Kind.KILL_BOTH:
                return OVERLORDS
            case Kind.KILL_WORKERS:
                return workers
            case Kind.KILL_WORKER:
                return (workers[int(fault.pick * len(workers))],)
            case _:
                return (leader,)

    def _kill(self, name: str, kind: str) -> None:
        self._run.kill(name, kind)  # starts it first, and armed, if it had just ended
        self._armed.pop(name, None)  # so it does not die at a point

    def _freeze(self, fault: Fault) -> None:
        run, workers = self._run, self._run.fleet.shape.workers
        touched: tuple[str, ...] = ()
        if fault.kind is Kind.FREEZE_WORKER:
            name = workers[int(fault.pick * len(workers))]
            touched = (name,)
        else:
            name = run.leader() or OVERLORDS[0]
        run.faults.note(fault.kind, name, workers=touched)
        run.fleet.signal(name, signal.SIGSTOP)
        for worker in touched:
            run.witness.falls_asleep(worker, run.books)
        run.go_on(fault.lasts_s)
        for worker in touched:
            run.witness.goes_on(worker, run.books)
        run.fleet.thaw(name)
        run.faults.touch(*touched)

    def _lose_a_reply(self, fault: Fault) -> None:
        run = self._run
        wires = run.fleet.to_postgres.values()
        before = sum(w.swallowed for w in wires)
        for wire in wires:
            wire.swallow_commits(1, _PUBLISH)
        until = time.monotonic() + 30
        while time.monotonic() < until and sum(w.swallowed for w in wires) == before:
            run.tick()
        for wire in wires:
            wire.swallow_commits(0)
        if sum(w.swallowed for w in wires) > before:
            run.faults.note(fault.kind, "PostgreSQL")

    def _disturb_wire(self, fault: Fault) -> None:
        run = self._run
        leader = run.leader() or OVERLORDS[0]
        touched: tuple[str, ...] = ("*",)
        if fault.kind.startswith("postgres"):
            wire, touched = run.fleet.to_postgres[leader], ()
        elif fault.kind.startswith("broker"):
            assert self._broker is not None, "this run has no wire to its broker"
            wire = self._broker
        else:
            wire = run.fleet.to_overlord[leader]
        run.faults.note(fault.kind, leader, workers=touched)
        run.quiet = not fault.kind.startswith("broker")
        wire.set(MODES[fault.kind], delay_s=_DELAY_S)
        run.go_on(fault.lasts_s)
        wire.set(Mode.PASS)
        run.quiet = True
        run.faults.touch(*touched)


def _failpoint(fault: Fault) -> str:
    points = [p for p in OVERLORD_POINTS if p.verb is None]
    return points[int(fault.pick * len(points))].failpoint
