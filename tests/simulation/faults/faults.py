"""What may go wrong in a run, and how often: drawn anew for each seed, so that runs differ."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from tests.simulation.faults.lives import Lives
from tests.simulation.faults.rare import Rare, draw_rare

CRASHES = ("overlord crash", "worker crash", "power loss")
"""Of processes, at any port call; of machines."""
MOMENTS = (
    "overlord kill",
    "worker kill",
    "all workers killed",
    "worker power loss",
    "disk wiped",
    "overlord freeze",
    "worker freeze",
    "cut",
    "database down",
    "database slow",
    "disk full",
    "job stuck",
    "job deaf",
    "brokers down",
    "open transaction",
    "aborted transaction",
    "control records",
    "holes",
    "retention",
    "partition added",
    "suspend and resume",
    "other spec",
    "rescale",
    "other replicas",
    "terminate and post again",
    "early handoff",
    "bad weather",
    "storm of kills",
)
"""What happens at moments of its own."""
BREAKS = (
    "retention of unread records",
    "topic recreated",
    "topic gone for a while",
    "reset",
    "reset to offsets",
)
"""The same, in fewer runs: what breaks the chain of offsets, and what mends it."""


TARGETS = (
    "before BeginHandoff",
    "after BeginHandoff",
    "before FixEnd",
    "inside FixEnd",
    "after FixEnd",
    "before StartTask",
    "after StartTask",
    "inside publish",
    "after publish",
    "publish:answer",
    "publish:answered",
    "sync:told-pause",
    "sync:told-end",
    "sync:answer",
    "apply:in-transaction",
    "suspend:in-transaction",
    "suspend:committed",
    "terminate:in-transaction",
    "terminate:committed",
    "worker:before:Look",
    "worker:unsynced:ReadBatch",
    "worker:unsynced:Append",
    "worker:unsynced:Merge",
    "worker:after:Merge",
    "worker:before:Publish",
    "worker:after:Publish",
    "worker:half:drop",
    "worker:before:RecordEnd",
)
"""Ends of names of crash points; each run prefers a few."""
TARGET_RATE = 0.2


@dataclass(frozen=True)
class Swarm:
    """The parameters of one run."""

    overlords: int
    workers: int
    slots: int
    replicas: int
    task_count: int
    partitions: int
    task_duration_s: int
    stop_task_count: int | None
    start_earliest: bool
    records_per_s: float
    batch_s: float
    merge_s: float
    rows_first: int
    faults_for_s: float
    between_s: float
    """Mean time between two moments."""
    moments: tuple[str, ...]
    resets_itself: bool = False
    """The spec says resetOffsetAutomatically."""
    crash: Mapping[str, float] = field(default_factory=dict)
    """Kind of point -> probability that a process dies there."""
    targets: tuple[str, ...] = ()
    """Crash points, by the ends of their names, at which processes like to end."""
    hold: float = 0.0
    """Probability of a stop at a port call of an overlord."""
    lost_ack: float = 0.0
    """Probability that a commit is not acknowledged."""
    drop: float = 0.0
    double: float = 0.0
    slow: float = 0.0
    rare: Rare = field(default_factory=Rare)
    lives: Lives = field(default_factory=Lives)


def draw(random: Random, rare: Random) -> Swarm:
    """Draw the parameters of a run."""
    partitions = random.randint(1, 4)
    replicas = random.choice([1, 1, 1, 2, 2, 3])
    workers = random.randint(1, 3)
    task_count = random.choice([1, 1, 1, 2, 2, 3])
    needed = replicas * task_count
    spare = random.choice([0, 0, 1, 2])
    duration = random.choice([6, 8, 10, 12])
    records_per_s = random.choice([0.0, 0.5, 2.0, 2.0, 5.0, 5.0, 10.0, 10.0, 20.0])
    moments = [name for name in MOMENTS if random.random() < 0.45]
    if random.random() < 0.3:
        moments += [name for name in BREAKS if random.random() < 0.5]
    return Swarm(
        overlords=random.choice([1, 2, 2]),
        workers=workers,
        slots=-(-needed // workers) + spare,
        replicas=replicas,
        task_count=task_count,
        partitions=partitions,
        task_duration_s=duration,
        stop_task_count=random.choice([None, None, 1]),
        start_earliest=random.random() < 0.7,
        records_per_s=records_per_s,
        batch_s=random.choice([0.2, 0.5, 1.0]),
        merge_s=random.choice([0.2, 1.0, 3.0]),
        rows_first=random.choice([5, 50, 500]),
        faults_for_s=duration * (8.0 if records_per_s else 3.0),
        between_s=random.choice([0.8, 1.5, 2.5]),
        moments=tuple(moments),
        resets_itself=random.random() < 0.3,
        crash=_crashes(random),
        targets=tuple(random.sample(TARGETS, random.randint(0, 4))),
        hold=random.choice([0.0, 0.005, 0.02]),
        lost_ack=random.choice([0.0, 0.0, 0.01, 0.03]),
        drop=random.choice([0.0, 0.0, 0.01, 0.05]),
        double=random.choice([0.0, 0.0, 0.02, 0.1]),
        slow=random.choice([0.0, 0.02, 0.1]),
        rare=draw_rare(rare),
    )


def _crashes(random: Random) -> dict[str, float]:
    """Often at one kind of point, hardly ever at others."""
    return {
        "leading": random.choice([0.0, 0.005, 0.02]),
        "store": random.choice([0.0, 0.0, 0.002]),
        "answer": random.choice([0.0, 0.0, 0.005]),
        "effect": random.choice([0.0, 0.002, 0.01]),
        "sync": random.choice([0.0, 0.0, 0.003]),
        "power": random.choice([0.0, 0.3, 0.6]),
    }


def kind_of(point: str) -> str:
    """Return which probability holds at a crash point."""
    if point.startswith("store.leading"):
        return "leading"
    if point.startswith("store."):
        return "store"
    if point.endswith(":answer"):
        return "answer"
    if point.startswith("worker:"):
        return "effect"
    return "sync" if point.startswith("sync:") else "leading"
