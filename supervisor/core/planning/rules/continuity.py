"""What should be read next and cannot be: Kafka no longer holds it, or does not hold it yet.

    earliest ■■■■■■■■■■■■■■■■■■■■■ latest
    ▲ next                                  below: deleted by age; the records are lost
                                     next ▲ above: the log was cut; its offsets come again

A replica that lives goes on: its journal may hold what Kafka does not.  Nothing new is started
on such a range, for it could only fail.

Source: faults.md E3-E7.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from supervisor.core.model.rows import Generation, Task, TaskStatus
from supervisor.core.planning.observed import Observed, StreamTrouble
from supervisor.core.planning.progress import reports_by_range
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.clock_skew import known_since
from supervisor.core.values.counts import counted
from tasks.contract.messages import FailureCode, TaskReport
from tasks.contract.offsets import TopicPartition


@dataclass(frozen=True)
class Unreadable:
    """One partition where reading cannot go on, with the numbers."""

    partition: TopicPartition
    next_offset: int
    """What is to be read next; above the log's end: what is to be read up to."""
    earliest: int
    latest: int
    generation: Generation | None = None
    """Whose range it is; None: the next one to be opened."""

    @property
    def lost(self) -> int:
        """How many records Kafka has deleted before they were read."""
        return max(0, self.earliest - self.next_offset)

    def __str__(self) -> str:
        """Say it for people."""
        holds = f"Kafka holds {self.earliest} to {self.latest}"
        if self.lost:
            return (
                f"{self.partition}: the next offset to read is {self.next_offset}, {holds}: "
                f"{counted(self.lost, 'record is', 'records are')} lost"
            )
        return (
            f"{self.partition}: offset {self.next_offset} has been read already, {holds}: its log "
            "was cut"
        )


def unreadable(seen: Observed) -> tuple[Unreadable, ...]:
    """Return where nobody can read on, by partition, the oldest range first."""
    spec = seen.current.spec
    if spec is None:
        return ()
    tended = {task.generation_id for task in seen.tasks}
    reports = reports_by_range(seen)
    by_partition: dict[TopicPartition, Unreadable] = {}
    for generation in seen.generations:
        if generation.id in tended:
            stuck = _waits_above(seen, generation, reports.get(generation.id, ()))
        else:
            stuck = _of_range(seen, generation)
        for each in stuck:
            by_partition.setdefault(each.partition, each)
    if not spec.suspended:
        by_partition |= {each.partition: each for each in _between_ranges(seen, spec)}
    return tuple(by_partition[p] for p in sorted(by_partition))


def deleted_unread(seen: Observed) -> tuple[Unreadable, ...]:
    """Return where Kafka has deleted what is to be read next, by partition.

    Partitions of a suspended supervisor count as well: it is to be read once it is resumed.
    """
    spec = seen.current.spec
    if spec is None:
        return ()
    lost = {each.partition: each for each in unreadable(seen) if each.lost}
    lost |= {each.partition: each for each in _between_ranges(seen, spec)}
    return tuple(lost[p] for p in sorted(lost))


def _between_ranges(seen: Observed, spec: SupervisorSpec) -> Iterator[Unreadable]:
    """Yield the partitions that no live range holds, and whose next records are deleted."""
    held = {p for g in seen.generations for p in g.start}
    ends = spec.io_config.ends
    for partition in seen.committed.keys() - held:
        at = seen.committed[partition].next_offset
        if ends is not None and at >= ends.get(partition, 0):
            continue  # nothing more is asked for there
        earliest, latest = _log(seen, partition)
        if at < earliest:
            yield Unreadable(partition, at, earliest, latest)


def _of_range(seen: Observed, generation: Generation) -> Iterator[Unreadable]:
    for partition, start in sorted(generation.start.items()):
        if partition not in seen.stream.earliest or other_topic(seen, partition):
            continue
        earliest, latest = _log(seen, partition)
        end = None if generation.end is None else generation.end[partition]
        if start < earliest and (end is None or start < end):
            yield Unreadable(partition, start, earliest, latest, generation)
        elif end is None and _is_awaited(seen, partition, start):
            continue
        elif (end if end is not None else start) > latest and _is_newer(seen, generation):
            at = start if end is None else end
            yield Unreadable(partition, at, earliest, latest, generation)


def _waits_above(
    seen: Observed, generation: Generation, reports: Iterable[TaskReport]
) -> Iterator[Unreadable]:
    """Find replicas that wait where the log ends no more, though a look saw them there."""
    stream = seen.stream
    if not stream.known or stream.read_at is None:
        return
    ends = stream.latest
    for report in reports:
        if stream.read_at <= seen.now - report.idle_for:
            continue  # it has read on since
        # Almost always there is none, and this is asked for each partition of each supervisor.
        beyond = [p for p, at in report.position.items() if at > ends.get(p, at)]
        for partition in sorted(beyond):
            at = report.position[partition]
            if not other_topic(seen, partition) and not _is_awaited(seen, partition, at):
                yield Unreadable(partition, at, *_log(seen, partition), generation)


def _is_awaited(seen: Observed, partition: TopicPartition, at: int) -> bool:
    """Whether a fixed range begins there, and nothing of it was read: its records may come yet."""
    spec = seen.current.spec
    starts = None if spec is None else spec.io_config.starts
    return starts is not None and starts.get(partition) == at


def _log(seen: Observed, partition: TopicPartition) -> tuple[int, int]:
    """Return what Kafka holds of a partition; as if all were well while that is not known."""
    stream = seen.stream
    if partition not in stream.earliest or other_topic(seen, partition):
        return 0, 0
    return stream.earliest[partition], stream.latest[partition]


def _is_newer(seen: Observed, generation: Generation) -> bool:
    """Whether the last look at Kafka began after a range's offsets were known.

    An older one shows an older end of the log, which says nothing.
    """
    read_at = seen.stream.read_at
    since = offsets_known_since(seen, generation)
    return seen.stream.known and read_at is not None and read_at > since


def offsets_known_since(seen: Observed, generation: Generation) -> datetime:
    """Return from when on a look at Kafka says something about a range's last offsets."""
    at = generation.end_fixed_at or generation.opened_at
    return known_since(at, seen.now, seen.led_since)


def other_topic(seen: Observed, partition: TopicPartition) -> bool:
    """Whether the topic is not the one that the stored offsets belong to."""
    row, now = seen.committed.get(partition), seen.stream.topic_ids.get(partition.topic)
    return row is not None and now is not None and now != row.topic_id


def may_start(seen: Observed, generation: Generation) -> bool:
    """Whether a new replica of a generation could read its range, as far as is known.

    One that failed for it is not replaced before Kafka has been looked at anew.
    """
    if any(other_topic(seen, p) for p in generation.start):
        return False
    if seen.stream.trouble is StreamTrouble.NO_TOPIC:
        return False
    if seen.stream.known and any(p.topic not in seen.stream.topic_ids for p in generation.start):
        return False  # one of several topics is gone
    if any(_of_range(seen, generation)):
        return False
    refused = _last_refused(seen, generation)
    if refused is None:
        return True
    read_at = seen.stream.read_at
    since = known_since(refused, seen.now, seen.led_since)
    return seen.stream.known and read_at is not None and read_at > since


def _last_refused(seen: Observed, generation: Generation) -> datetime | None:
    """Return when a replica last ended because Kafka has not what it should read."""
    lasts = [t for (g, _), t in seen.last_attempts.items() if g == generation.id]
    ended = [t.ended_at for t in lasts if _refused(t) and t.ended_at is not None]
    return max(ended, default=None)


def _refused(task: Task) -> bool:
    codes = (FailureCode.OFFSETS_UNREADABLE, FailureCode.TOPIC_CHANGED)
    return task.status is TaskStatus.FAILED and task.reason.startswith(codes)
