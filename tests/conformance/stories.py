"""What the stories are made of: names, times, and rows with only what matters filled in."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta

from supervisor.core.model.listed_segments import ListedFile, ListedSegment
from supervisor.core.model.rows import Generation, Publication, Segment, Task, TaskStatus
from supervisor.core.planning.actions import FixEnd, OpenGeneration
from supervisor.ports.store import Store, Transaction
from tasks.contract.ingest_spec import Column
from tasks.contract.messages import OffsetSpan, SegmentFile
from tasks.contract.offsets import Offsets, TopicPartition

LEASE_TTL = timedelta(seconds=30)
"""A session may idle for a third of it: the machine may have other work in a transaction."""
SHORT_TTL = timedelta(seconds=6)
"""For tests that wait for its lock and statement timeouts."""
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
CLICKS = "clicks"
TOPIC_ID = "id-of-the-topic"
IDS = {"topic": TOPIC_ID}
P0, P1, P2 = (TopicPartition("topic", number) for number in range(3))


@dataclass(frozen=True)
class Leader:
    """A store together with the term that may write to it."""

    store: Store
    term: int

    def writes(self) -> AbstractContextManager[Transaction]:
        """Open a leader's transaction."""
        return self.store.leading(self.term)

    def reads(self) -> AbstractContextManager[Transaction]:
        """Open a reading transaction."""
        return self.store.reading()

    def opens(self, action: OpenGeneration, now: datetime = NOON) -> bool:
        """Open a generation of CLICKS in a transaction of its own."""
        with self.writes() as tx:
            return tx.generations.open(CLICKS, "table", action, now)

    def generation(self, generation_id: str) -> Generation:
        """Read one generation that exists."""
        with self.reads() as tx:
            found = tx.generations.get(generation_id)
        assert found is not None
        return found

    def task(self, task_id: str) -> Task:
        """Read one task that exists."""
        with self.reads() as tx:
            found = tx.tasks.get(task_id)
        assert found is not None
        return found

    def committed(self) -> dict[TopicPartition, int]:
        """Read the committed offsets of CLICKS."""
        with self.reads() as tx:
            return {p: row.next_offset for p, row in tx.offsets.of(CLICKS).items()}


def take_lease(store: Store, holder: str = "first") -> int:
    """Take the lease as it is seen now, and return the new term."""
    with store.reading() as tx:
        seen = tx.lease.read()
    with store.writing() as tx:
        taken = tx.lease.take(seen, holder, f"http://{holder}:8090")
    assert taken is not None
    return taken.term


def opening(generation_id: str, ordinal: int, start: Offsets) -> OpenGeneration:
    """A range of group 0 in the first layout."""
    return OpenGeneration(
        generation_id,
        ordinal,
        layout_version=1,
        task_count=1,
        partition_count=len(start),
        group=0,
        spec_version=1,
        start=start,
        why="a story",
    )


def end_at(generation_id: str, sequence: int, end: Offsets) -> FixEnd:
    """Fix the end of a generation that stands at `sequence`."""
    return FixEnd(generation_id, sequence, end, successor=None, why="a story")


def attempt(task_id: str, generation_id: str = "g1", replica: int = 0, number: int = 0) -> Task:
    """A new task of worker w1, for a replica of a generation."""
    return Task(
        task_id,
        CLICKS,
        "table",
        generation_id,
        replica,
        number,
        worker_id="w1",
        incarnation=1,
        token=f"token of {task_id}",
        status=TaskStatus.RUNNING,
        created_at=NOON,
    )


COLUMNS = (Column(name="user"), Column(name="\0 \N{SNOWMAN} 'x'", type="double"))
"""Those of each segment."""


def publication(generation_id: str = "g1", task_id: str = "t1", at: datetime = NOON) -> Publication:
    """What a task published of P0."""
    return Publication(
        generation_id,
        CLICKS,
        "table",
        task_id,
        at,
        start={P0: 0},
        end={P0: 10},
        rows=10,
        rejected=0,
    )


def segment(path: str, at: datetime, generation_id: str = "g1", task_id: str = "t1") -> Segment:
    """One published file of an hour, with ten rows of P0 and P1."""
    return Segment(
        f"id of {path}",
        "table",
        CLICKS,
        generation_id,
        task_id,
        NOON,
        SegmentFile(
            path=path,
            interval_start=at,
            interval_end=at + HOUR,
            rows=10,
            size_bytes=2**40,
            sha256="0" * 64,
            time_min=at,
            time_max=at + MINUTE,
            spans=(
                OffsetSpan(topic="topic", partition=1, first=0, last=4, rows=5),
                OffsetSpan(topic="topic", partition=0, first=2**33, last=2**33 + 4, rows=5),
            ),
        ),
        columns=COLUMNS,
    )


def listed(*segments: Segment) -> list[ListedSegment]:
    """The same segments as lists have them: without spans."""
    files = ({f.name: getattr(s.file, f.name) for f in fields(ListedFile)} for s in segments)
    return [
        ListedSegment(**{**vars(each), "file": ListedFile(**file)})
        for each, file in zip(segments, files, strict=True)
    ]
