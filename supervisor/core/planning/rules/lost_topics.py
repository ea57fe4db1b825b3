"""Deleted and recreated topics: the records of their stored offsets are gone.

The message names each partition with its offset, the ranges that are not published yet, and what
people can do.  Nothing of that is done automatically.

Source: faults.md E6, E7.
"""

from collections.abc import Collection, Iterable, Sequence

from supervisor.core.model.rows import Generation
from supervisor.core.planning.observed import Observed, StreamTrouble
from supervisor.core.planning.offset_ranges import format_range

SHOWN = 10
"""The maximum of partitions, and of ranges, that a message names; of others it has the number."""


def changed_topic(seen: Observed) -> str | None:
    """Describe a topic that was recreated since its offsets were stored; None: there is none."""
    for partition, row in sorted(seen.committed.items()):
        now = seen.stream.topic_ids.get(partition.topic)
        if now is not None and now != row.topic_id:
            return (
                f"topic {partition.topic} was deleted and created again: its id is {now}, the "
                f"stored offsets belong to {row.topic_id}, and nothing is read from it. "
                f"{_left(seen, {partition.topic})}. {_command(seen, 'reset')} takes the new topic "
                f"up, {_command(seen, 'terminate')} ends the supervisor"
            )
    return None


def gone_topics(seen: Observed) -> str | None:
    """Describe topics with stored offsets that no longer exist; None: there are none.

    A broker that has just started may know few topics.  So the only topic of a supervisor counts as
    gone after as many looks as make a stream unhealthy.
    """
    spec = seen.current.spec
    if spec is None:
        return None
    stored = {p.topic for p in seen.committed if spec.io_config.reads(p.topic)}
    if seen.stream.trouble is StreamTrouble.NO_TOPIC:
        sure = seen.stream.failures >= seen.limits.unhealthiness_threshold
        return _all_gone(seen, stored) if stored and sure else None
    gone = stored - seen.stream.topic_ids.keys()
    if not gone or not seen.stream.known or spec.io_config.topic is not None:
        return None
    return (
        f"topic {_named(sorted(gone))} does not exist any more: what was published of it is kept, "
        f"the other topics go on. {_left(seen, gone)}. {_command(seen, 'reset')} forgets its "
        "offsets, and begins again in the other topics, too"
    )


def _all_gone(seen: Observed, topics: Collection[str]) -> str:
    return (
        f"topic {_named(sorted(topics))} does not exist any more: what was published of it is "
        f"kept. {_left(seen, topics)}. Make it anew and then {_command(seen, 'reset')}, or end "
        f"the supervisor: {_command(seen, 'terminate')}"
    )


def _left(seen: Observed, topics: Collection[str]) -> str:
    """Describe the offsets of the partitions, and their unpublished ranges."""
    stand = [
        f"{partition} stands at {row.next_offset}"
        for partition, row in sorted(seen.committed.items())
        if partition.topic in topics
    ]
    mine = [g for g in seen.generations if any(p.topic in topics for p in g.start)]
    if not mine:
        return f"{_named(stand)}; no range of it waits to be published"
    return (
        f"{_named(stand)}; not published, and lost but for what a task has read already: "
        f"{_named(_ranges(mine))}"
    )


def _ranges(generations: Iterable[Generation]) -> list[str]:
    return [f"{generation.id} ({format_range(generation)})" for generation in generations]


def _named(texts: Sequence[str]) -> str:
    more = len(texts) - SHOWN
    return ", ".join(texts[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def _command(seen: Observed, verb: str) -> str:
    return f"`tidegate supervisor {verb} {seen.current.supervisor_id}`"
