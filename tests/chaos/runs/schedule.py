"""What happens to a soak, and when: all of it from one seed, before anything runs."""

import random
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """One way to disturb."""

    KILL_LEADER = "kill-leader"
    KILL_FOLLOWER = "kill-follower"
    KILL_BOTH = "kill-both-overlords"
    KILL_WORKER = "kill-worker"
    KILL_WORKERS = "kill-all-workers"
    FREEZE_LEADER = "freeze-leader"
    FREEZE_WORKER = "freeze-worker"
    FAILPOINT = "failpoint"
    """The next start of an overlord is armed."""
    POSTGRES_CUT = "postgres-cut"
    POSTGRES_DELAY = "postgres-delay"
    POSTGRES_HOLE = "postgres-hole"
    POSTGRES_MUTE = "postgres-mute"
    POSTGRES_COMMIT = "postgres-commit-reply-lost"
    SYNC_CUT = "worker-overlord-cut"
    SYNC_DELAY = "worker-overlord-delay"
    SYNC_MUTE = "worker-overlord-mute"
    BROKER_CUT = "broker-cut"
    BROKER_DELAY = "broker-delay"
    BROKER_HOLE = "broker-hole"


KILLS = frozenset(
    {
        Kind.KILL_LEADER,
        Kind.KILL_FOLLOWER,
        Kind.KILL_BOTH,
        Kind.KILL_WORKER,
        Kind.KILL_WORKERS,
        Kind.FAILPOINT,
    }
)
_WEIGHTS = {
    Kind.KILL_LEADER: 30,
    Kind.KILL_FOLLOWER: 8,
    Kind.KILL_BOTH: 6,
    Kind.KILL_WORKER: 7,
    Kind.KILL_WORKERS: 1,
    Kind.FREEZE_LEADER: 4,
    Kind.FREEZE_WORKER: 2,
    Kind.FAILPOINT: 20,
    Kind.POSTGRES_CUT: 3,
    Kind.POSTGRES_DELAY: 2,
    Kind.POSTGRES_HOLE: 2,
    Kind.POSTGRES_MUTE: 2,
    Kind.POSTGRES_COMMIT: 6,
    Kind.SYNC_CUT: 2,
    Kind.SYNC_DELAY: 2,
    Kind.SYNC_MUTE: 2,
    Kind.BROKER_CUT: 1,
    Kind.BROKER_DELAY: 1,
    Kind.BROKER_HOLE: 1,
}
_LASTS_S = {
    Kind.FREEZE_LEADER: (2.0, 12.0),  # shorter and longer than the lease
    Kind.FREEZE_WORKER: (2.0, 20.0),
    Kind.SYNC_CUT: (1.0, 6.0),
    Kind.SYNC_DELAY: (2.0, 8.0),
    Kind.SYNC_MUTE: (1.0, 6.0),
    Kind.BROKER_HOLE: (2.0, 15.0),
}
_LASTS_ELSE_S = (1.0, 8.0)


@dataclass(frozen=True)
class Fault:
    """One disturbance."""

    after_s: float
    """Between the end of the one before and its begin; 0: no rest."""
    kind: Kind
    lasts_s: float
    pick: float
    """Chooses among targets, in [0, 1)."""


BRIEF = (
    Fault(0.5, Kind.POSTGRES_CUT, 1.0, 0.0),
    Fault(0.5, Kind.SYNC_DELAY, 1.5, 0.0),
    Fault(0.5, Kind.POSTGRES_HOLE, 1.5, 0.0),
    Fault(0.5, Kind.SYNC_MUTE, 1.5, 0.0),
    Fault(0.5, Kind.POSTGRES_COMMIT, 0.0, 0.0),
    Fault(0.5, Kind.FREEZE_LEADER, 6.5, 0.0),  # longer than its lease: another one leads meanwhile
)
"""Each thing a wire can do, and a leader that sleeps, in the time that a test has."""


def kinds_of(*, broker: bool) -> tuple[Kind, ...]:
    """Return every kind there is; `broker` says whether its wire can be disturbed."""
    return tuple(k for k in _WEIGHTS if broker or not k.startswith("broker"))


def schedule(seed: int, count: int, *, broker: bool) -> list[Fault]:
    """Return the faults of a seed: first each kind once, in some order, then by their weights.

    `broker` says whether its wire can be disturbed.
    """
    chance = random.Random(seed)
    kinds = kinds_of(broker=broker)
    first = chance.sample(kinds, len(kinds))
    weights = [_WEIGHTS[k] for k in kinds]
    faults = []
    for kind in (*first, *chance.choices(kinds, weights, k=max(0, count - len(first))))[:count]:
        rest = 0.0 if chance.random() < 0.2 else chance.uniform(0.5, 6.0)
        lasts = 0.0 if kind in KILLS else chance.uniform(*_LASTS_S.get(kind, _LASTS_ELSE_S))
        faults.append(Fault(round(rest, 2), kind, round(lasts, 2), chance.random()))
    return faults
