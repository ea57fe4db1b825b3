"""P14, P20: what a task took for journaled is in its file for good, and the files it names are.

    journaled   a task has a batch in its state ──► the file holds it, without power as well
    dropped     only a batch that reaches beyond the fixed end of its range may go (P14)
    named       each file of a batch in the journal of a task that goes on is there, and synced

Only a disk that was wiped loses a journal.  A worker that ends in any way, and its restart, do not.
"""

from collections.abc import Iterator, Mapping

from tasks.contract.messages import FailureCode
from tasks.contract.offsets import TopicPartition
from tests.simulation.checkers.database import Rows
from tests.simulation.checkers.ledger import Ledger, Watched, WorkerSeen
from tests.simulation.checkers.machines.lines import NO_LINES, Batch, read_lines

Key = tuple[str, str]


def journals_keep_what_they_acknowledged(
    ledger: Ledger, now: Rows, world: Watched
) -> Iterator[str]:
    """Look at each journal of each machine, whether its worker runs or not."""
    memory = ledger.machines
    for line in world.log[memory.heard_wiped :]:
        if line.kind == "wiped":
            for key in [k for k in memory.journaled if k[0] == line.detail["worker"]]:
                _forget(ledger, key)
    memory.heard_wiped = len(world.log)
    look_through = world.warehouse.removals != memory.removals
    memory.removals = world.warehouse.removals
    for worker in world.workers:
        journals = worker.journals
        if worker.alive:
            yield from _take_over_states(ledger, now, worker)
        for key in [k for k in memory.journaled if k[0] == worker.id]:
            if not _goes_on(now, key[1]):
                _forget(ledger, key)
                continue
            content = journals.get(key[1], b"")
            end = _fixed_end(now, key[1])
            mark = (content, memory.journaled[key], end)
            if memory.looked_at.get(key) != mark:
                memory.looked_at[key] = mark
                yield from _judged(ledger, key, content, end)
                look_through = True
        if look_through:
            for task_id, content in journals.items():
                if _goes_on(now, task_id):
                    yield from _named(ledger, world, (worker.id, task_id), content)


def _take_over_states(ledger: Ledger, now: Rows, worker: WorkerSeen) -> Iterator[str]:
    memory = ledger.machines
    for task_id, task in worker.tasks.items():
        key, entries = (worker.id, task_id), task.state.entries
        failure = task.state.failure
        if failure is not None and failure.code is FailureCode.JOURNAL_LOST:
            if memory.journaled.get(key) and _goes_on(now, task_id):
                yield f"P20 {task_id} lost the journal that its worker had written"
            continue
        if memory.entries.get(key) is not entries and _goes_on(now, task_id):
            memory.entries[key] = entries
            memory.journaled[key] = tuple((e.number, dict(e.end)) for e in entries)


def _judged(
    ledger: Ledger, key: Key, content: bytes, end: Mapping[TopicPartition, int] | None
) -> Iterator[str]:
    batches = _batches(ledger, key, content)
    held = {(batch.number, tuple(sorted(batch.end.items()))) for batch in batches}
    for number, reached in ledger.machines.journaled[key]:
        lies_within = end is None or all(at <= end.get(p, at) for p, at in reached.items())
        if lies_within and (number, tuple(sorted(reached.items()))) not in held:
            yield f"P20 {key[1]}: batch {number} was journaled, and is not in the file for good"


def _named(ledger: Ledger, world: Watched, key: Key, content: bytes) -> Iterator[str]:
    for batch in _batches(ledger, key, content):
        for path in batch.files:
            if not world.warehouse.durable(path):
                yield f"P20 the journal of {key[1]} names {path}, which is not on disk for good"


def _batches(ledger: Ledger, key: Key, content: bytes) -> tuple[Batch, ...]:
    lines = ledger.machines.lines
    lines[key] = read_lines(content, lines.get(key, NO_LINES))
    return lines[key].batches


def _goes_on(now: Rows, task_id: str) -> bool:
    row = now.tasks.get(task_id)
    return row is not None and row.ended_at is None


def _fixed_end(now: Rows, task_id: str) -> Mapping[TopicPartition, int] | None:
    row = now.tasks[task_id]
    ends = {
        TopicPartition(part.topic, part.partition): r.end
        for part, r in now.ranges.get(row.generation, {}).items()
        if r.end is not None
    }
    return ends or None


def _forget(ledger: Ledger, key: Key) -> None:
    memory = ledger.machines
    memory.journaled.pop(key, None)
    memory.entries.pop(key, None)
    memory.lines.pop(key, None)
    memory.looked_at.pop(key, None)
