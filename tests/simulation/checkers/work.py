"""I10: no task reads an offset twice, unless what it had read was taken from it.

    read        a batch begins: from where the task stands, to where it will stand
    taken back  a job was cut or failed, a tail was dropped, its process ended: the task stands
                where its journal on disk ends
    wiped       the disk of a worker is empty: its tasks stand at their starts

So what a task reads is its range, and what it took back or lost in a crash of its own worker.
An overlord that dies takes nothing: what follows from a handover alone is never read again.
"""

from collections.abc import Iterator, Mapping

from tasks.contract.offsets import TopicPartition
from tests.simulation.checkers.ledger import Watched

Standing = dict[TopicPartition, int]


def nothing_is_read_again_in_vain(world: Watched) -> Iterator[str]:
    """Follow every batch of every task through the whole run."""
    positions: dict[str, Standing] = {}
    at_work: dict[str, object] = {}
    for line in world.log:
        task = str(line.detail.get("task", ""))
        match line.kind:
            case "read":
                at_work[task] = line.detail["worker"]
                yield from _read(task, line.detail, positions)
            case "taken back":
                positions[task] = dict(_offsets(line.detail["to"]))
            case "wiped":
                for one in [t for t, worker in at_work.items() if worker == line.detail["worker"]]:
                    positions.pop(one, None)
            case _:
                pass


def _read(task: str, batch: Mapping[str, object], positions: dict[str, Standing]) -> Iterator[str]:
    start, end = _offsets(batch["start"]), _offsets(batch["end"])
    known = positions.setdefault(task, dict(start))
    for partition, first in start.items():
        if (at := known.get(partition, first)) > first:
            again = min(at, end[partition]) - first
            yield f"I10 {task} reads {again} offsets of {partition} again, from {first}"
    last = batch.get("last")
    if last is not None:
        for partition, bound in _offsets(last).items():
            if end[partition] > bound:
                yield f"I10 {task} reads {partition} to {end[partition]}, its range ends at {bound}"
    known.update(end)


def _offsets(given: object) -> Mapping[TopicPartition, int]:
    assert isinstance(given, Mapping)
    return given
