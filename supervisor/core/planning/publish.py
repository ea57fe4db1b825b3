"""The judgement on a publish request: a closed set of outcomes from the facts alone (P22).

A successor that is ready early waits.  Of two replicas the first wins, and the other gets that
answer.  A task whose generation was discarded is superseded.  The following compare-and-swap of the
transaction repeats the comparison on the rows themselves.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from pydantic import Field

from supervisor.core.model.rows import CommittedOffset, Generation, GenerationState, Task
from tasks.contract.messages import PublishAnswer, PublishOutcome, PublishRequest
from tasks.contract.offsets import TopicPartition


class Check(StrEnum):
    """The check that decided a judgement: the last check that was made."""

    ANSWERED_BEFORE = "answered-before"
    PUBLISHED_BEFORE = "published-before"
    """The range is published: by this task, or by another replica."""
    GENERATION_STATE = "generation-state"
    TASK_ENDED = "task-ended"
    RANGE = "range"
    NO_OFFSET = "no-offset"
    TOPIC_ID = "topic-id"
    RESET_EPOCH = "reset-epoch"
    OFFSET_BEHIND = "offset-behind"
    """The range starts behind the committed offset."""
    PREDECESSOR = "predecessor"
    """The range starts beyond the committed offset, or an earlier one is live."""
    ALL_PASSED = "all-passed"
    """The compare-and-swap followed."""
    FILES = "files"
    """The comparison would have succeeded, but the offered files do not fit the range."""
    LOST_RACE = "lost-race"
    """Another publish moved the offsets between check and swap: the request is judged again."""


class Judgement(PublishAnswer):
    """An answer and what decided it, which the task is not told."""

    check: Check = Field(exclude=True)


@dataclass(frozen=True)
class PublishFacts:
    """The facts that the transaction reads before the judgement."""

    task: Task
    generation: Generation
    winner: str | None
    """The task that published this generation, if there is one."""
    committed: Mapping[TopicPartition, CommittedOffset]
    predecessors: Collection[str]
    """Live generations that come first.  The offsets alone do not show one that has read nothing
    of the partitions they share: its compare-and-swap would find them moved."""


def judge(facts: PublishFacts, request: PublishRequest) -> Judgement:
    """Return the outcome of `request`; COMMITTED means: go on to the compare-and-swap."""
    if facts.task.outcome is not None:
        return _answer(facts.task.outcome, Check.ANSWERED_BEFORE, "answered before")
    if (settled := _settled(facts)) is not None:
        return settled
    if request.start != facts.generation.start or request.end != facts.generation.end:
        return _answer(
            PublishOutcome.SUPERSEDED,
            Check.RANGE,
            f"the range of {facts.generation.id} is another one than this task read",
        )
    return _compared(facts, request)


def _settled(facts: PublishFacts) -> Judgement | None:
    generation, task = facts.generation, facts.task
    if facts.winner == task.id:
        return _answer(PublishOutcome.COMMITTED, Check.PUBLISHED_BEFORE, "committed before")
    if facts.winner is not None:
        return _answer(
            PublishOutcome.ALREADY_PUBLISHED,
            Check.PUBLISHED_BEFORE,
            f"{facts.winner} published it first",
        )
    if generation.state is not GenerationState.PUBLISHING:
        return _answer(
            PublishOutcome.SUPERSEDED,
            Check.GENERATION_STATE,
            f"generation {generation.id} is {generation.state}",
        )
    if not task.active:
        return _answer(
            PublishOutcome.SUPERSEDED, Check.TASK_ENDED, f"the task was ended: {task.reason}"
        )
    return None


def _compared(facts: PublishFacts, request: PublishRequest) -> Judgement:
    waits = False
    for partition, start in sorted(request.start.items()):
        row = facts.committed.get(partition)
        if row is None:
            return _answer(
                PublishOutcome.SUPERSEDED,
                Check.NO_OFFSET,
                f"{partition} has no committed offset",
            )
        if request.topic_ids.get(partition.topic) != row.topic_id:
            return _answer(
                PublishOutcome.SUPERSEDED,
                Check.TOPIC_ID,
                f"{partition}: read from topic id {request.topic_ids.get(partition.topic)}, "
                f"the committed offset belongs to {row.topic_id}",
            )
        if facts.generation.reset_epochs.get(partition, 0) != row.reset_epoch:
            return _answer(
                PublishOutcome.SUPERSEDED,
                Check.RESET_EPOCH,
                f"{partition}: its offsets were reset since {facts.generation.id} opened",
            )
        if start < row.next_offset:
            return _answer(
                PublishOutcome.STALE,
                Check.OFFSET_BEHIND,
                f"{partition}: start {start} is behind the committed offset {row.next_offset}",
            )
        waits = waits or start > row.next_offset
    if waits or facts.predecessors:
        earlier = ", ".join(sorted(facts.predecessors)) or "an earlier range"
        return _answer(
            PublishOutcome.WAIT_FOR_PREDECESSOR,
            Check.PREDECESSOR,
            f"{earlier} is not yet published",
        )
    passed = "the compare-and-swap succeeded"
    return _answer(PublishOutcome.COMMITTED, Check.ALL_PASSED, passed)


def _answer(outcome: PublishOutcome, check: Check, reason: str) -> Judgement:
    return Judgement(outcome=outcome, check=check, reason=reason)
