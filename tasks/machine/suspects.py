"""Suspects: offsets whose reading the end of the engine's process cut off; pure.

    a batch runs ──the process ends──► suspect: read alone, as a whole
                                          │ the process ends again
                                          ▼
                  read alone, one record at a time, half of the range ──ends──► the half is left
                                          │ one offset is left, and the process ends
                                          ▼ twice more
                                      condemned: never read again, rejected as `too-large`

A batch that ends well clears its offsets, so what ran beside the culprit is soon read as ever.  One
poll of the consumer returns records far beyond a batch, and unpacks them.  So a normal batch is
to blame up to its `reach`.  One record at a time, a batch reaches no further than its end.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tasks.contract.offsets import Offsets, TopicPartition, count
from tasks.contract.wire import Wire, WireOffsets
from tasks.ports import Care

REACH = 5_000
"""Offsets beyond its end that a normal batch may unpack: those of one poll."""

RECORDS_MAX = 1_000
"""Offsets of a batch that reads one record at a time, at most: each of them costs a poll."""

ENGINE_DIED, PROCESS_DIED = 2, 1
"""Weight of an end of the engine alone, and of one with its worker, which may have been killed."""

CONDEMNED = 4
"""Weight of the ends at one offset that condemn it: two of the engine alone."""

KNOWN_MAX = 1_000
"""Suspects of one worker, at most; the oldest ones are forgotten."""


class RunningBatch(Wire):
    """A batch that a task has begun; `reach` is the end of what may be unpacked for it."""

    task_id: str
    supervisor_id: str
    start: WireOffsets
    reach: WireOffsets
    alone: bool = False
    """Whether no other batch of the worker runs meanwhile."""


class Suspect(Wire):
    """A range of a supervisor at which the process has ended; only partitions with offsets."""

    supervisor_id: str
    start: WireOffsets
    end: WireOffsets
    ends: int
    """How often the process has ended in this range, or in one that it was a part of."""
    weight: int = 0
    """Weight of the ends while nothing but this one offset was read; 0 for a longer range."""

    @property
    def condemned(self) -> bool:
        """Whether it is one record, which is never read again."""
        return self.weight >= CONDEMNED

    def __str__(self) -> str:
        """Return the range as text for people."""
        return ", ".join(f"{p} [{self.start[p]}, {self.end[p]})" for p in sorted(self.start))


@dataclass(frozen=True)
class Caution:
    """Bounds of the next batch: up to `end`, at most `rows_max` offsets, read with `care`."""

    end: Offsets
    rows_max: int
    care: Care


def blamed(
    suspects: Sequence[Suspect], batches: Sequence[RunningBatch], weight: int
) -> tuple[Suspect, ...]:
    """Return the suspects after the process ended while `batches` ran."""
    kept = [s for s in suspects if s.condemned or not any(_overlap(s, b) for b in batches)]
    fresh = [_blamed(suspects, batch, weight) for batch in batches]
    return (*kept, *fresh)[-KNOWN_MAX:]


def _blamed(suspects: Sequence[Suspect], batch: RunningBatch, weight: int) -> Suspect:
    before = [s for s in suspects if not s.condemned and _overlap(s, batch)]
    start = {p: first for p, first in batch.start.items() if first < batch.reach[p]}
    end = {p: batch.reach[p] for p in start}
    single = batch.alone and count(start, end) == 1
    alike = max((s.weight for s in before if (s.start, s.end) == (start, end)), default=0)
    return Suspect(
        supervisor_id=batch.supervisor_id,
        start=start,
        end=end,
        ends=1 + max((s.ends for s in before), default=0),
        weight=alike + weight if single else 0,
    )


def cleared(suspects: Sequence[Suspect], batch: RunningBatch) -> tuple[Suspect, ...]:
    """Return the suspects after `batch` was read; what is condemned stays condemned."""
    return tuple(left for s in suspects if (left := _without(s, batch)).start)


def _without(suspect: Suspect, batch: RunningBatch) -> Suspect:
    if suspect.condemned or not _overlap(suspect, batch):
        return suspect
    start = {
        p: max(first, batch.reach[p]) if batch.start.get(p, first + 1) <= first else first
        for p, first in suspect.start.items()
    }
    start = {p: first for p, first in start.items() if first < suspect.end[p]}
    end = {p: suspect.end[p] for p in start}
    return suspect.model_copy(update={"start": start, "end": end})


def _overlap(suspect: Suspect, batch: RunningBatch) -> bool:
    return suspect.supervisor_id == batch.supervisor_id and any(
        p in batch.start and batch.start[p] < suspect.end[p] and suspect.start[p] < batch.reach[p]
        for p in suspect.start
    )


def caution(position: Offsets, readable: Offsets, suspects: Sequence[Suspect]) -> Caution:
    """Return the bounds of the next batch from `position`, of which `readable` is the end.

    `suspects` are those of the task's supervisor.  The batch has an offset if there is one to read.
    """
    condemned = [s for s in suspects if s.condemned]
    live = [s for s in suspects if not s.condemned]
    deadly = [*condemned, *(s for s in live if s.ends > 1)]
    for one in condemned:
        if here := _at(position, readable, one.start, one.end):
            return Caution({**position, **here}, 1, Care.SKIP)
    for one in live:
        if here := _at(position, readable, one.start, one.end):
            here = {p: min(end, _next(condemned, p, position[p], end)) for p, end in here.items()}
            rows = sum(end - position[p] for p, end in here.items())
            to = {**position, **here}
            if one.ends > 1:
                return Caution(to, min(RECORDS_MAX, (rows + 1) // 2), Care.RECORDS)
            if any(_next(deadly, p, position[p], e + REACH) < e + REACH for p, e in here.items()):
                return Caution(to, min(RECORDS_MAX, rows), Care.RECORDS)
            return Caution(to, rows, Care.ALONE)
    return _before(position, readable, deadly, live)


def _at(
    position: Offsets, readable: Offsets, start: Offsets, end: Offsets
) -> dict[TopicPartition, int]:
    """Return partition -> end of what is readable of a range that `position` is in."""
    return {
        p: min(end[p], readable[p])
        for p in sorted(start)
        if p in position and start[p] <= position[p] < min(end[p], readable[p])
    }


def _before(
    position: Offsets, readable: Offsets, deadly: Sequence[Suspect], live: Sequence[Suspect]
) -> Caution:
    """Return the bounds of a batch that begins outside all suspects and unpacks no deadly one."""
    near, far = {}, dict(position)
    for p, to in readable.items():
        if to <= position[p]:
            continue
        ahead = _next(deadly, p, position[p], to + REACH)
        if ahead <= position[p] + REACH:
            near[p] = min(to, ahead)
        far[p] = min(_next(live, p, position[p], to), max(position[p], ahead - REACH))
    if near:
        return Caution({**position, **near}, RECORDS_MAX, Care.RECORDS)
    return Caution(far, count(position, far), Care.NONE)


def _next(suspects: Iterable[Suspect], p: TopicPartition, position: int, end: int) -> int:
    """Return where the nearest suspect ahead of `position` starts, at most `end`."""
    starts = (s.start[p] for s in suspects if s.start.get(p, -1) > position)
    return min((end, *starts))


def reach_of(start: Offsets, end: Offsets, stable: Offsets, care: Care) -> Offsets:
    """Return the end of what a batch `[start, end)` may unpack, of a log up to `stable`."""
    if care in {Care.RECORDS, Care.SKIP}:
        return end
    return {
        p: max(to, min(to + REACH, stable[p])) if to > start[p] else to for p, to in end.items()
    }


def describe_suspect(suspects: Sequence[Suspect], position: Offsets) -> str:
    """Name the range ahead at which the process ended twice or more often; empty: there is none."""
    for one in suspects:
        ahead = any(position[p] < end for p, end in one.end.items() if p in position)
        if ahead and one.ends > 1 and not one.condemned:
            return (
                f"the JVM of the worker ended {one.ends} times while it read {one}; these offsets "
                "are read alone, in smaller and smaller parts, until the record is found"
            )
    return ""
