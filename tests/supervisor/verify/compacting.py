"""A table whose files are compacted, by no code of the product: rows in memory, files on disk."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from supervisor.adapters.manual_clock import ManualClock
from supervisor.chores.expiry import EndOfHistory
from supervisor.core.history.expiry import HistoryAges
from supervisor.core.model.rows import (
    CommittedOffset,
    GenerationState,
    Publication,
    Segment,
    TaskStatus,
)
from supervisor.core.tables.compaction import Compaction, Share
from supervisor.core.values.ids import compaction_id, ordinal_of
from supervisor.core.values.intervals import Interval
from supervisor.verify.ledger import CheckedLedger
from supervisor.verify.runs import Runs
from supervisor.verify.topic import TopicRead
from supervisor.verify.verdict import Verification
from supervisor.verify.verifier import compare
from supervisor.views.tables.ledger import compactions_of, ledger_of
from tasks.contract.messages import OffsetSpan, SegmentFile
from tasks.contract.offsets import TopicPartition
from tests.conformance.stories import CLICKS, HOUR, NOON, attempt, opening, take_lease
from tests.sqlite_memory import SqliteInMemory
from tests.supervisor.core.snapshots import spec

Row = tuple[int, int]
"""Partition and offset."""
Place = tuple[int, int]
"""Time chunk, and number of the file of it."""
Cell = Place | None
"""Where the record at an offset goes; None: it is no record."""
Change = Callable[[list[Row]], list[Row]]
RECORDS = 3
"""That each row of a rolled-up table stands for."""


def _unchanged(rows: list[Row]) -> list[Row]:
    return rows


@dataclass
class Table:
    """Publishes, compacts, takes out, puts back; and has the proof made."""

    root: Path
    rolled_up: bool = False
    merged_spans: bool = False
    """A compaction writes one span of each partition down, not those of its inputs."""
    rows: dict[str, list[Row]] = field(default_factory=dict)
    """Segment -> what is in its file."""
    origins: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Compacted segment -> the published ones that it is made of."""
    resurrected: set[str] = field(default_factory=set)
    """Segments that a fault of the store has put back."""
    ends: dict[int, int] = field(default_factory=dict)
    begins: dict[int, int] = field(default_factory=dict)
    records: dict[int, list[tuple[int, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.store = SqliteInMemory()
        self.term = take_lease(self.store)
        self.generations = 0

    # -- what happens ----------------------------------------------------------------------------

    def publish(self, cells: Mapping[int, Sequence[Cell]]) -> list[str]:
        """Publish the next range: per partition what becomes of each offset; return the files."""
        self.generations += 1
        number = self.generations
        start = {p: self.ends.get(p, 0) for p in cells}
        files: dict[Place, list[Row]] = {}
        for partition, of in cells.items():
            for offset, place in enumerate(of, start[partition]):
                if place is not None:
                    files.setdefault(place, []).append((partition, offset))
                    self.records.setdefault(partition, []).append((offset, offset + 1))
            self.ends[partition] = start[partition] + len(of)
            self.begins.setdefault(partition, start[partition])
        segments = [
            self._segment(number, chunk, n, rows)
            for n, ((chunk, _), rows) in enumerate(sorted(files.items()))
        ]
        self._store(number, start, segments)
        return [each.id for each in segments]

    def compact(self, *inputs: str, change: Change = _unchanged) -> str:
        """Rewrite files of one chunk as one, and swap it in; return its id.

        `change` is a fault of the worker: what it makes of the rows.
        """
        with self.store.reading() as tx:
            replaced = tx.segments.choose(CLICKS, ids=inputs)
            shares = [s for each in replaced for s in self._shares(tx.compactions.rows_of, each)]
            attempts = len(tx.compactions.recent(None, 1_000))
        name = compaction_id(CLICKS, inputs, attempts)
        rows = change([row for each in replaced for row in self.rows[each.id]])
        newest = max(replaced, key=lambda each: ordinal_of(each.generation_id))
        file = self._write(f"{CLICKS}/data/{name}/0.parquet", rows)
        compacted = replace(
            newest,
            id=f"{name}/0",
            compaction_id=name,
            file=newest.file.model_copy(update=file),
        )
        with self.store.leading(self.term) as tx:
            tx.compactions.add(
                Compaction(
                    name,
                    CLICKS,
                    CLICKS,
                    Interval(newest.file.interval_start, newest.file.interval_end),
                    tuple(inputs),
                    columns=(),
                    shares=self._joined(shares),
                    reason="a story",
                    created_at=NOON,
                )
            )
            tx.segments.replace(inputs, compacted, NOON)
            tx.compactions.end(name, TaskStatus.SUCCESS, "done", NOON)
        self.rows[compacted.id] = rows
        self.origins[compacted.id] = tuple(o for i in inputs for o in self.origins.get(i, (i,)))
        return compacted.id

    def take_out(self, *ids: str) -> None:
        """Take files out of the table."""
        with self.store.leading(self.term) as tx:
            tx.segments.mark_unused(ids, NOON)

    def put_back(self, *ids: str) -> None:
        """Put files back that are not deleted."""
        with self.store.leading(self.term) as tx:
            tx.segments.mark_used(ids)

    def delete(self, *ids: str) -> None:
        """Delete unused files, and those that were replaced."""
        with self.store.leading(self.term) as tx:
            for each in ids:
                assert tx.segments.condemn(each, NOON, NOON)
        for each in ids:
            self.path(each).unlink(missing_ok=True)

    def forget(self) -> None:
        """Forget the supervisor; one of the same id goes on where the topic ends."""
        with self.store.leading(self.term) as tx:
            tx.segments.forget_publications(CLICKS, NOON)
        self.begins = dict(self.ends)

    def end_history(self) -> int:
        """A year later the old history becomes compact; return how many rows that were."""
        with self.store.leading(self.term) as tx:
            for task in tx.tasks.unsettled_folders():
                tx.tasks.folder_deleted(task.id, NOON)
            for compaction in tx.compactions.unsettled():
                tx.compactions.folder_deleted(compaction.id, NOON)
        clock = ManualClock(NOON + timedelta(days=365))
        return EndOfHistory(self.store, clock, lambda: self.term, HistoryAges()).run_once()

    # -- what is seen ----------------------------------------------------------------------------

    def path(self, segment_id: str) -> Path:
        """Where a file lies."""
        with self.store.reading() as tx:
            found = tx.segments.get(segment_id)
        assert found is not None
        return self.root / found.file.path

    def segments(self) -> list[Segment]:
        """Everything that was published or compacted, and is not deleted."""
        with self.store.reading() as tx:
            return [self._shown(each) for each in tx.segments.choose(CLICKS)]

    def ledger(self) -> CheckedLedger:
        """What the product's API tells."""
        with self.store.reading() as tx:
            segments = [self._shown(each) for each in tx.segments.of_supervisor(CLICKS)]
            publications = tx.segments.publications(CLICKS)
            folded = tx.expiry.folded([each.generation_id for each in publications])
            compactions = tx.compactions.rows_of(compactions_of(segments))
        committed = [
            CommittedOffset(
                CLICKS, self._at(p), end * self._weight, self.begins[p] * self._weight, ""
            )
            for p, end in sorted(self.ends.items())
        ]
        ledger = ledger_of(
            spec(),
            str(self.root),
            committed,
            [],
            publications=publications,
            folded=folded,
            segments=segments,
            compactions=compactions,
        )
        return CheckedLedger.model_validate_json(ledger.model_dump_json())

    def verify(self, *listed_too: str) -> Verification:
        """The verdict; `listed_too` are files that readers are given besides."""
        ledger = self.ledger()
        known = {p.generation_id for p in ledger.publications}
        used = [s for s in self.segments() if s.used and s.generation_id in known]
        listed = {s.file.path for s in used} | {
            str(self.path(each).relative_to(self.root)) for each in listed_too
        }
        records = {
            self._at(p): Runs.unsorted((a * self._weight, b * self._weight) for a, b in pairs)
            for p, pairs in self.records.items()
        }
        found = TopicRead(records)
        return compare(ledger, self.root, frozenset(listed), lambda: found, rows=lambda _: None)

    # -- how -------------------------------------------------------------------------------------

    def _shown(self, segment: Segment) -> Segment:
        if segment.id not in self.resurrected:
            return segment
        return replace(segment, unused_at=None, replaced_by=None)

    @property
    def _weight(self) -> int:
        return RECORDS if self.rolled_up else 1

    def _at(self, partition: int) -> TopicPartition:
        return TopicPartition(CLICKS, partition)

    def _segment(self, ordinal: int, chunk: int, number: int, rows: list[Row]) -> Segment:
        generation, task = f"g:{ordinal}", f"task-g{ordinal}"
        file = self._write(f"{CLICKS}/data/{task}/{number}.parquet", rows)
        begin = NOON + chunk * HOUR
        times = {"interval_start": begin, "interval_end": begin + HOUR}
        times |= {"time_min": begin, "time_max": begin + timedelta(minutes=1)}
        segment_file = SegmentFile.model_validate(file | times)
        self.rows[f"{task}/{number}"] = rows
        return Segment(f"{task}/{number}", CLICKS, CLICKS, generation, task, NOON, segment_file)

    def _write(self, path: str, rows: list[Row]) -> dict[str, object]:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(self._content(rows), place)
        content = place.read_bytes()
        return {
            "path": path,
            "rows": len(rows),
            "size_bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
            "spans": tuple(self._spans(rows)),
        }

    def _content(self, rows: list[Row]) -> pa.Table:
        time: dict[str, object] = {
            "__time": pa.array([NOON] * len(rows), pa.timestamp("us", "UTC"))
        }
        if self.rolled_up:
            return pa.table(time | {"__count": pa.array([RECORDS] * len(rows), pa.int64())})
        partitions, offsets = [p for p, _ in rows], [offset for _, offset in rows]
        places = {"__partition": pa.array(partitions, pa.int32())}
        return pa.table(time | places | {"__offset": pa.array(offsets, pa.int64())})

    def _spans(self, rows: Sequence[Row]) -> Iterator[OffsetSpan]:
        for partition in sorted({p for p, _ in rows}):
            offsets = [offset for p, offset in rows if p == partition]
            yield OffsetSpan(
                topic=CLICKS,
                partition=partition,
                first=min(offsets) * self._weight,
                last=(max(offsets) + 1) * self._weight - 1,
                rows=len(offsets) * self._weight,
            )

    def _shares(
        self, rows_of: Callable[[Sequence[str]], Mapping[str, Compaction]], of: Segment
    ) -> Sequence[Share]:
        if of.compaction_id is None:
            return [Share(of.generation_id, of.file.rows, of.file.spans)]
        return rows_of([of.compaction_id])[of.compaction_id].shares

    def _joined(self, shares: Sequence[Share]) -> tuple[Share, ...]:
        joined: dict[str, Share] = {}
        for each in shares:
            known = joined.get(each.generation_id, Share(each.generation_id, 0, ()))
            spans = (*known.spans, *each.spans)
            joined[each.generation_id] = replace(known, rows=known.rows + each.rows, spans=spans)
        if not self.merged_spans:
            return tuple(joined.values())
        return tuple(replace(each, spans=merged(each.spans)) for each in joined.values())

    def _store(self, number: int, start: Mapping[int, int], segments: Sequence[Segment]) -> None:
        generation, task = f"g:{number}", f"task-g{number}"
        begin = {self._at(p): offset * self._weight for p, offset in start.items()}
        end = {self._at(p): self.ends[p] * self._weight for p in start}
        publication = Publication(
            generation,
            CLICKS,
            CLICKS,
            task,
            _at(number),
            start=begin,
            end=end,
            rows=sum(each.file.rows for each in segments),
            rejected=0,
        )
        with self.store.leading(self.term) as tx:
            tx.generations.open(CLICKS, CLICKS, opening(generation, number, begin), NOON)
            tx.tasks.start(attempt(task, generation))
            tx.segments.add(publication, segments)
            tx.tasks.end(task, TaskStatus.SUCCESS, "published", NOON)
            tx.generations.close(generation, GenerationState.DISCARDED, NOON)  # partitions are free


def merged(spans: Sequence[OffsetSpan]) -> tuple[OffsetSpan, ...]:
    """One span of each partition in place of several."""
    by_partition: dict[TopicPartition, OffsetSpan] = {}
    for span in spans:
        at = TopicPartition(span.topic, span.partition)
        known = by_partition.get(at, span.model_copy(update={"rows": 0}))
        by_partition[at] = OffsetSpan(
            topic=span.topic,
            partition=span.partition,
            first=min(known.first, span.first),
            last=max(known.last, span.last),
            rows=known.rows + span.rows,
        )
    return tuple(by_partition[at] for at in sorted(by_partition))


def _at(number: int) -> datetime:
    return NOON + timedelta(seconds=number)
