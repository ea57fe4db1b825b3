"""The judgement on a publish request: a closed set of outcomes from the facts alone (P22).

A successor that is ready early waits; of two replicas the first wins and the other hears so; a
task whose generation was given up is superseded.  The compare-and-swap of the transaction that
follows repeats the comparison on the rows themselves.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from supervisor.core.model import CommittedOffset, Generation, GenerationState, Task
from tasks.contract import PublishAnswer, PublishOutcome, PublishRequest
from tasks.offsets import TopicPartition


@dataclass(frozen=True)
class PublishFacts:
    """What the transaction read before it decides."""

    task: Task
    generation: Generation
    winner: str | None
    """Task that published this generation, if one did."""
    committed: Mapping[TopicPartition, CommittedOffset]
    predecessors: Collection[str]
    """Live generations that come first.  The offsets alone do not show one that has read nothing
    of the partitions they share: its compare-and-swap would find them moved."""


def judge(facts: PublishFacts, request: PublishRequest) -> PublishAnswer:
    """Return the outcome of `request`; COMMITTED means: go on to the compare-and-swap."""
    if facts.task.outcome is not None:
        return _answer(facts.task.outcome, "answered before")
    if (settled := _settled(facts)) is not None:
        return settled
    if request.start != facts.generation.start or request.end != facts.generation.end:
        return _answer(
            PublishOutcome.SUPERSEDED,
            f"the range of {facts.generation.id} is another one than this task read",
        )
    return _compared(facts, request)


def _settled(facts: PublishFacts) -> PublishAnswer | None:
    generation, task = facts.generation, facts.task
    if facts.winner == task.id:
        return _answer(PublishOutcome.COMMITTED, "committed before")
    if facts.winner is not None:
        return _answer(PublishOutcome.ALREADY_PUBLISHED, f"{facts.winner} published it first")
    if generation.state is not GenerationState.PUBLISHING:
        return _answer(
            PublishOutcome.SUPERSEDED, f"generation {generation.id} is {generation.state}"
        )
    if not task.active:
        return _answer(PublishOutcome.SUPERSEDED, f"the task was ended: {task.reason}")
    return None


def _compared(facts: PublishFacts, request: PublishRequest) -> PublishAnswer:
    waits = False
    for partition, start in sorted(request.start.items()):
        row = facts.committed.get(partition)
        if row is None:
            return _answer(PublishOutcome.SUPERSEDED, f"{partition} has no committed offset")
        if request.topic_ids.get(partition.topic) != row.topic_id:
            return _answer(
                PublishOutcome.SUPERSEDED,
                f"{partition}: read from topic id {request.topic_ids.get(partition.topic)}, "
                f"the committed offset belongs to {row.topic_id}",
            )
        if facts.generation.reset_epochs.get(partition, 0) != row.reset_epoch:
            return _answer(
                PublishOutcome.SUPERSEDED,
                f"{partition}: its offsets were reset since {facts.generation.id} opened",
            )
        if start < row.next_offset:
            return _answer(
                PublishOutcome.STALE,
                f"{partition}: start {start} is behind the committed offset {row.next_offset}",
            )
        waits = waits or start > row.next_offset
    if waits or facts.predecessors:
        earlier = ", ".join(sorted(facts.predecessors)) or "an earlier range"
        return _answer(PublishOutcome.WAIT_FOR_PREDECESSOR, f"{earlier} is not yet published")
    return _answer(PublishOutcome.COMMITTED, "the compare-and-swap succeeded")


def _answer(outcome: PublishOutcome, reason: str) -> PublishAnswer:
    return PublishAnswer(outcome=outcome, reason=reason)
