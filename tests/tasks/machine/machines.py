"""A machine on a bench, with small batches, and ways to carry it on."""

from tasks.contract.ingest_spec import Tuning
from tasks.machine.events import (
    Ticked,
)
from tasks.machine.pacing import Limits
from tasks.ports import JournalEntry
from tests.tasks.machine.bench import Bench
from tests.tasks.memory import LIVELY, MemoryLog, at, desired

SMALL = Limits(rows_first=10, catch_up_batches=1_000)


def bench(stable: int = 0, *, tuning: Tuning = LIVELY, limits: Limits = SMALL) -> Bench:
    return Bench(desired(tuning=tuning), MemoryLog(at(0), at(stable)), limits)


def until(b: Bench, kind: type) -> None:
    """Carry out effects until one of this kind is next."""
    for _ in range(50):
        if b.todo and isinstance(b.todo[0], kind):
            return
        if not b.todo:
            assert b.state.wake_at is not None
            b.now = max(b.now, b.state.wake_at)
            b.deliver(Ticked(b.now))
        else:
            b.carry_out()
    raise AssertionError(f"no {kind.__name__} in 50 steps")


def ranges(entries: list[JournalEntry]) -> list[tuple[int, int]]:
    return [(e.start[p], e.end[p]) for e in entries for p in sorted(e.start)[:1]]
