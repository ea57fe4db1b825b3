"""I3, I7, I8, I10 and the states: what no sequence of commits may do to generations and tasks."""

from collections import Counter
from collections.abc import Iterator

from tests.simulation.checkers.database import LIVE, OPEN, Generation, Rows, Task
from tests.simulation.checkers.ledger import Ledger, chain_of


def generations_move_forward(ledger: Ledger, now: Rows) -> Iterator[str]:
    """An ended generation stays as it is; starts and ends never change; orders only grow."""
    for generation in now.generations.values():
        old = ledger.rows.generations.get(generation.id)
        yield from _coherent(generation, now)
        if old is None:
            continue
        if old.ended_at is not None and old != generation:
            yield f"I3 {old.id} had ended {old.state} and became {generation.state}"
        if generation.sequence < old.sequence:
            yield f"I5 {old.id}: its order fell from {old.sequence} to {generation.sequence}"
        moved = generation.state != old.state and generation.state in LIVE
        if moved and generation.sequence == old.sequence:
            yield f"I5 {old.id} became {generation.state} without a new order"
        before, after = ledger.rows.ranges[old.id], now.ranges.get(generation.id, {})
        for part, was in before.items():
            part_now = after.get(part)
            if part_now is None or part_now.start != was.start or part_now.epoch != was.epoch:
                yield f"I6 {old.id}: the start of {part.topic}:{part.partition} was changed"
            elif was.end is not None and part_now.end != was.end:
                yield f"I6 {old.id}: the end {was.end} was changed to {part_now.end}"


def _coherent(generation: Generation, now: Rows) -> Iterator[str]:
    ranges = now.ranges.get(generation.id, {})
    if (generation.state in LIVE) != (generation.ended_at is None):
        yield f"I3 {generation.id} is {generation.state} and ended at {generation.ended_at}"
    if any(r.open != (generation.state in OPEN) for r in ranges.values()):
        yield f"I3 {generation.id} is {generation.state}, its partitions say another thing"
    if generation.state in {"PUBLISHING", "PUBLISHED"}:
        if any(r.end is None for r in ranges.values()):
            yield f"I6 {generation.id} is {generation.state} without a fixed end"
        elif all(r.end == r.start for r in ranges.values()):
            yield f"I11 {generation.id}: an empty range was persisted"


def one_holder_of_each_part(now: Rows) -> Iterator[str]:
    """P3: one open generation per partition, one active task per replica."""
    held = Counter(
        part
        for generation in now.generations.values()
        if generation.state in OPEN
        for part in now.ranges.get(generation.id, {})
    )
    for part, number in held.items():
        if number > 1:
            yield f"I3 {part.topic}:{part.partition} is held by {number} open generations"
    active = Counter((t.generation, t.replica) for t in now.tasks.values() if t.ended_at is None)
    for (generation, replica), number in active.items():
        if number > 1:
            yield f"I3 replica {replica} of {generation} has {number} active tasks"


def ranges_are_a_chain(ledger: Ledger, now: Rows) -> Iterator[str]:
    """I10, A7: a new generation starts where the newest one before it ends."""
    for generation in now.generations.values():
        if generation.id in ledger.rows.generations:
            continue
        for part, mine in now.ranges.get(generation.id, {}).items():
            chain = chain_of(ledger, now, generation.id, part)
            before = [
                (other.ordinal, now.ranges[other.id][part].end)
                for other in now.generations.values()
                if other.supervisor == generation.supervisor
                and other.ordinal < generation.ordinal
                and _state_then(ledger, generation, other) not in {"EMPTY", "DISCARDED"}
                and (theirs := now.ranges.get(other.id, {}).get(part)) is not None
                and theirs.epoch == mine.epoch
                and chain_of(ledger, now, other.id, part) is chain
            ]
            wanted = max(before)[1] if before else chain.first if chain else mine.start
            if mine.start != wanted:
                where = f"{part.topic}:{part.partition}"
                yield f"I10 {generation.id} starts {where} at {mine.start}, not at {wanted}"


def _state_then(ledger: Ledger, new: Generation, other: Generation) -> str:
    """Return the state that `other` had when `new` was opened, as far as that can be known.

    A reset may discard both before anybody looks: then `new` began where `other` still ended.
    What it did not discard had ended as it did, before `new` was opened.
    """
    old = ledger.rows.generations.get(other.id)
    both_discarded = new.state == other.state == "DISCARDED"
    return old.state if both_discarded and old is not None else other.state


def tasks_end_once(ledger: Ledger, now: Rows) -> Iterator[str]:
    """E21: a terminal status, and a stored outcome, are never left."""
    for task in now.tasks.values():
        old = ledger.rows.tasks.get(task.id)
        ended = old is not None and old.ended_at is not None
        if old is not None and ended and (old.status, old.ended_at) != (task.status, task.ended_at):
            yield f"I3 {task.id} had ended {old.status} and became {task.status}"
        if old is not None and old.outcome is not None and task.outcome != old.outcome:
            yield f"I3 {task.id}: its stored answer {old.outcome} became {task.outcome}"
        if old is not None and task.incarnation < old.incarnation:
            yield f"I5 {task.id} went back to incarnation {task.incarnation}"
        generation = now.generations.get(task.generation)
        if generation is None:
            yield f"I11 {task.id} has no generation"
        elif task.ended_at is None and generation.ended_at is not None:
            yield f"I11 {task.id} runs on though {generation.id} has ended {generation.state}"


def winners_are_successes(ledger: Ledger, now: Rows) -> Iterator[str]:
    """I3, I7: one winner per range, stored as such; nobody fails whose range is published."""
    for generation, publication in now.publications.items():
        state = now.generations[generation].state if generation in now.generations else "gone"
        if state not in {"PUBLISHED", "gone"}:
            yield f"I3 {generation} is published and {state}"
        winner = now.tasks.get(publication.task)
        if winner is not None and not _won(winner):
            stored = f"{winner.status}, outcome {winner.outcome}"
            yield f"I7 {winner.id} published {generation}, and is {stored}"
    for task in now.tasks.values():
        publication_of_it = now.publications.get(task.generation)
        if publication_of_it is None:
            continue
        if task.published and publication_of_it.task != task.id:
            yield f"I3 {task.id} and {publication_of_it.task} both published {task.generation}"
        old = ledger.rows.tasks.get(task.id)
        was_published = ledger.rows.publications.get(task.generation) is not None
        running = old is not None and old.ended_at is None
        if running and task.status == "FAILED" and not was_published:
            # It ran when the range was not published, and failed in the step that published it.
            if task.ended_at is not None and task.ended_at >= publication_of_it.published_at:
                yield f"I7 {task.id} is FAILED though {task.generation} is published"
        elif running and task.status == "FAILED":
            yield f"I7 {task.id} is FAILED after {task.generation} was published"


def _won(task: Task) -> bool:
    return task.status == "SUCCESS" and task.outcome == "committed" and task.published


def live_attempts_are_not_refused(ledger: Ledger, now: Rows) -> Iterator[str]:
    """I8: a live, unfenced attempt hears SUPERSEDED or STALE only after a reset or a discard."""
    for task in now.tasks.values():
        old = ledger.rows.tasks.get(task.id)
        if task.outcome not in {"superseded", "stale"} or old is None:
            continue
        if old.outcome is not None or old.ended_at is not None:
            continue  # answered before, or fenced before it asked
        generation = now.generations.get(task.generation)
        if generation is None or generation.state == "DISCARDED":
            continue
        ranges = now.ranges.get(task.generation, {})
        if any(
            (row := now.committed.get(part)) is None or row.epoch != mine.epoch
            for part, mine in ranges.items()
        ):
            continue
        yield f"I8 {task.id} lived, was not fenced, and was answered {task.outcome}"


def nothing_vanishes(ledger: Ledger, now: Rows) -> Iterator[str]:
    """Rows of what was published stay; the others go only with their supervisor."""
    for generation in ledger.rows.publications.keys() - now.publications.keys():
        yield f"I2 the publication of {generation} is gone"
    forgotten = now.resets > ledger.rows.resets
    for gone in ledger.rows.tasks.keys() - now.tasks.keys():
        if not forgotten and ledger.rows.tasks[gone].ended_at is None:
            yield f"I11 the row of the running task {gone} is gone"
