"""The discard rule: ranges that are given up unpublished (P16).

Reasons are a reset, a broken spec and a tombstone.

So is one whose spec a newer one has followed, that this release cannot read, once no task of it
lives: none could be started.

One whose predecessor was given up while it opened goes the same way.

Nothing else is ever discarded (P15).  What is given up takes every later range that shares a
partition with it, so a later one is not named again; each of those partitions goes on from its
committed offset.
"""

from collections.abc import Iterator

from supervisor.core.model.rows import Generation, GenerationState
from supervisor.core.planning.actions import DiscardGeneration
from supervisor.core.planning.offset_ranges import chain_end
from supervisor.core.planning.view import PassView
from supervisor.core.values.counts import counted
from tasks.contract.offsets import TopicPartition


def discards(view: PassView) -> Iterator[DiscardGeneration]:
    """Discard ranges that can no longer be published, only the earliest of each chain."""
    gone = set[TopicPartition]()
    for generation in view.seen.generations:
        if not gone.isdisjoint(generation.start):
            gone.update(generation.start)
        elif (why := _reason(view, generation)) is not None:
            gone.update(generation.start)
            yield DiscardGeneration(generation.id, why)


def _reason(view: PassView, generation: Generation) -> str | None:
    if (why := _reset(view, generation) or _cut_off(view, generation)) is not None:
        return why
    if view.replicas(generation):
        return None  # a live task may still publish the range
    if why := _after_the_tombstone(view, generation) or _unreadable_spec(view, generation):
        return why
    return _broken_spec(view, generation)


def _reset(view: PassView, generation: Generation) -> str | None:
    """A reset raced with the opening of the range, so its publish could only be refused."""
    for partition in sorted(generation.start):
        row = view.seen.committed.get(partition)
        if row is None:
            return f"{partition} has no stored offset any more"
        if row.reset_epoch != generation.reset_epochs.get(partition, 0):
            return f"the offsets of {partition} were reset since it opened"
    return None


def _cut_off(view: PassView, generation: Generation) -> str | None:
    """The predecessor was discarded while the range opened, so its publish would wait for ever."""
    before = [g for g in view.seen.generations if g.ordinal < generation.ordinal]
    for partition, start in sorted(generation.start.items()):
        at = chain_end(before, partition, view.seen.committed[partition].next_offset)
        if start > at:
            return f"nothing leads to its start {start} of {partition} any more, only to {at}"
    return None


def _broken_spec(view: PassView, generation: Generation) -> str | None:
    """A spec that fails every task is given up once there is a newer version (P17)."""
    failed = view.seen.failed_attempts.get(generation.id, 0)
    if failed < view.seen.limits.unhealthiness_threshold:
        return None
    current = view.seen.current
    if current.spec is None or view.governing_spec(generation) is current.spec:
        return None  # no newer version, or a version with the same tasks
    return (
        f"{counted(failed, 'task')} failed with spec version {generation.spec_version}: the range "
        f"is read again from its start with version {current.version}"
    )


def _unreadable_spec(view: PassView, generation: Generation) -> str | None:
    """An unreadable spec can start no replacement; the newer spec reads the records again."""
    current = view.seen.current
    if current.terminated or view.readable(generation):
        return None
    return (
        f"no task of it runs any more, and spec version {generation.spec_version} cannot be read "
        f"here: the range is read again from its start with version {current.version}"
    )


def _after_the_tombstone(view: PassView, generation: Generation) -> str | None:
    """After a tombstone a lost range is discarded, not replaced (P19); unread is not lost."""
    if not view.seen.current.terminated:
        return None
    tried = any(found == generation.id for found, _ in view.seen.last_attempts)
    if generation.state is not GenerationState.PUBLISHING and not tried:
        return None
    return "the supervisor is terminated and no task of it runs any more"
