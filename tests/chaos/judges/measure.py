"""What a run counts: faults and how soon work went on, and records that were read again."""

import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tests.chaos.judges.amount import kills_of
from tests.chaos.judges.books import TaskRow

_LEEWAY_S = 15.0
"""How long after a worker's fault the ending of its tasks may still be its doing."""


@dataclass
class Injected:
    """One fault; `recovered_s` is known once something was published after it."""

    kind: str
    target: str
    at: float
    """Seconds since the epoch; so are the times of publications."""
    recovered_s: float | None = None


@dataclass
class Faults:
    """Every fault of a run, in order."""

    injected: list[Injected] = field(default_factory=list)
    touched: list[tuple[str, float]] = field(default_factory=list)
    """Which worker was disturbed, and when; a name of `*` is all of them."""

    def note(self, kind: str, target: str, *, workers: tuple[str, ...] = ()) -> None:
        """Count one fault, now; `workers` are those whose tasks it may end."""
        now = time.time()
        self.injected.append(Injected(kind, target, now))
        self.touch(*workers)

    def touch(self, *workers: str) -> None:
        """Remember that tasks of these workers may end now."""
        now = time.time()
        self.touched += [(worker, now) for worker in workers]

    def published(self, at: float | None) -> None:
        """Take the time of the newest publication."""
        for fault in self.injected:
            if at is not None and fault.recovered_s is None and at > fault.at:
                fault.recovered_s = at - fault.at

    def kinds(self, after: int = 0) -> Counter[str]:
        """Return how often each kind happened, leaving out the first `after` faults of the run."""
        return Counter(str(fault.kind) for fault in self.injected[after:])

    def kills(self) -> int:
        """Return how many processes were killed in the whole run."""
        return kills_of(self.kinds())

    def recovery(self) -> tuple[float, float, float]:
        """Return median, 95th percentile and maximum in seconds; -1: none recovered yet."""
        times = sorted(f.recovered_s for f in self.injected if f.recovered_s is not None)
        if not times:
            return -1.0, -1.0, -1.0
        last = len(times) - 1
        return times[last // 2], times[min(last, round(last * 0.95))], times[-1]

    def explains(self, task: TaskRow) -> bool:
        """Whether a disturbed worker is why a task ended as it did."""
        begin = task.created_at.timestamp()
        end = (task.ended_at or datetime.now(UTC)).timestamp() + _LEEWAY_S
        return any(w in {"*", task.worker_id} and begin - 1 <= at <= end for w, at in self.touched)


@dataclass
class Reads:
    """How far each task was seen to have read."""

    furthest: dict[str, int] = field(default_factory=dict)

    def take(self, payload: dict[str, object]) -> None:
        """Take the tasks of a status payload."""
        for key in ("activeTasks", "publishingTasks"):
            tasks = payload.get(key)
            for task in tasks if isinstance(tasks, list) else []:
                read = _sum(task.get("currentOffsets")) - _sum(task.get("startingOffsets"))
                known = self.furthest.get(task["id"], 0)
                self.furthest[task["id"]] = max(known, read)

    def again(self, tasks: list[TaskRow], faults: Faults) -> tuple[int, list[str]]:
        """Return the records of tasks that ended FAILED though no fault touched their worker.

        What such a task had read another one read again: an overlord's crash must not cost that.
        """
        wasted = [t for t in tasks if t.status == "FAILED" and not faults.explains(t)]
        reasons = [f"{t.id}: {t.reason}" for t in wasted]
        return sum(self.furthest.get(t.id, 0) for t in wasted), reasons


def _sum(offsets: object) -> int:
    return sum(int(o) for o in offsets.values()) if isinstance(offsets, dict) else 0
