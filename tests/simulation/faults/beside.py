"""What fewer runs have beside: another supervisor, processes that leave in order.

Drawn from a stream of its own, so that nothing else of a run's parameters depends on it.
"""

from dataclasses import dataclass
from enum import StrEnum
from random import Random

_NEIGHBOUR_SHARE, _LEAVING_SHARE = 0.2, 0.3
JOURNAL_STEPS = (
    "worker:torn:Append",
    "worker:unsynced:Append",
    "worker:torn:Replace",
    "worker:unsynced:Replace",
    "worker:unsynced:Rename",
    "worker:unsynced:Delete",
    "worker:half:drop",
    "worker:leaving:begun",
    "worker:leaving:finished",
)


class Neighbour(StrEnum):
    """What the other supervisor is like; of a sound one everything is published at the end."""

    SOUND = "sound"
    FAILING = "failing"
    """No batch of it ever ends well."""
    UNREADABLE = "unreadable"
    """From some moment on its spec is one of a newer release."""
    UPGRADED = "upgraded"
    """The same, until the overlords are of that release."""


HELD_BACK = {Neighbour.FAILING, Neighbour.UNREADABLE}
"""Of these nothing has to be published."""


@dataclass(frozen=True)
class Beside:
    """The parameters of one run, beside its `Swarm`."""

    neighbour: Neighbour | None = None
    more_slots: int = 0
    """Of each worker, for the neighbour's task; 0: it has to find room beside all the others."""
    leaves_every_s: float | None = None
    """Mean time between two processes that are asked to end; None: only kills end them."""
    stop_grace_s: float = 4.0
    """So long a batch of a worker that leaves may go on."""
    targets: tuple[str, ...] = ()
    """As `Swarm.targets`: steps in which a worker writes its journal."""


NOTHING_BESIDE = Beside()


def draw_beside(random: Random, *, slots: int) -> Beside:
    """Draw what this run has of it; `slots`: of all workers."""
    kind = random.choice(list(Neighbour)) if random.random() < _NEIGHBOUR_SHARE else None
    more = 1 if slots < 2 else random.choice([0, 0, 1])
    leaves = random.random() < _LEAVING_SHARE
    every_s, grace_s = random.choice([4.0, 8.0, 15.0]), random.choice([0.3, 1.0, 4.0])
    targets = tuple(random.sample(JOURNAL_STEPS, random.choice([0, 0, 0, 1])))
    return Beside(
        neighbour=kind,
        more_slots=0 if kind is None else more,
        leaves_every_s=every_s if leaves else None,
        stop_grace_s=grace_s,
        targets=targets,
    )
