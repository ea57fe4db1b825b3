"""A world whose small files are compacted, by a worker whose hand writes them."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from supervisor.chores.compaction.commit import Swapping
from supervisor.chores.compaction.compacting import Compacting
from supervisor.control.desired_state import desired_state
from supervisor.core.planning.observed import PlanLimits
from supervisor.core.tables.compaction import Compaction, Target, merged
from supervisor.core.values.export_formats import ExportFormat
from supervisor.ports.store import Store
from tasks.contract.ingest_spec import Column
from tasks.contract.messages import (
    CompactedFile,
    CompactionReport,
    DesiredCompaction,
    FailureCode,
    PublishAnswer,
    PublishOutcome,
    SegmentFile,
    SyncRequest,
)
from tests.supervisor.chores.exports.exports import Harbour, Ids
from tests.supervisor.core.snapshots import TOPIC
from tests.supervisor.world import ENDINGS

TARGET = Target(rows=1_000, size_bytes=10_000_000)
COLUMNS = (Column(name="name", type="string"),)


@dataclass
class Assignment:
    """What one worker was told to compact, and as which incarnation it does."""

    order: DesiredCompaction
    incarnation: int


class Dock(Harbour):
    """One supervisor with real files, and what compacts them."""

    columns: tuple[Column, ...] = COLUMNS

    def __init__(self, store: Store, root: Path, *formats: ExportFormat) -> None:
        """Begin with nothing published."""
        super().__init__(store, root, *formats)
        self.tokens = iter(f"compaction-token-{n}" for n in range(1_000_000))

    # -- the overlord ------------------------------------------------------------------------------

    @property
    def compacting(self) -> Compacting:
        """The verbs and the chore, of a process that remembers nothing."""
        term = self.leadership.term
        return Compacting(
            self.store,
            self.clock,
            term,
            self.hands,
            ENDINGS,
            lambda: next(self.tokens),
        )

    @property
    def swapping(self) -> Swapping:
        """What workers ask."""
        term, life = self.leadership.term, self.segments
        assign = self.compacting.assign
        return Swapping(self.store, self.clock, term, ENDINGS, life, assign)

    def compact(self, target: Target = TARGET) -> list[Compaction]:
        """Ask for a compaction of the table."""
        return self.compacting.compact(TOPIC, target, "me")

    def compactions(self) -> list[Compaction]:
        """All there are, oldest first."""
        with self.store.reading() as tx:
            return tx.compactions.recent(TOPIC, 1_000)[::-1]

    # -- the workers -------------------------------------------------------------------------------

    def assignments(self) -> list[Assignment]:
        """What the workers are told to compact now."""
        assignments = []
        for name, hand in self.hands.all.items():
            with self.store.reading() as tx:
                answer = desired_state(tx, name, self.leadership.term(), PlanLimits().pause_lease)
            assignments += [Assignment(order, hand.incarnation) for order in answer.compactions]
        return assignments

    def write_file(self, assignment: Assignment) -> CompactedFile:
        """Do what is asked for: put the rows of all inputs into one file."""
        order = assignment.order
        tables = [pq.read_table(self.root / each.file.path) for each in order.inputs]
        path = f"{order.data_source}/data/{order.compaction_id}/segment-00000.parquet"
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.concat_tables(tables, promote_options="permissive"), place)
        files = [each.file for each in order.inputs]
        file = SegmentFile(
            path=path,
            interval_start=files[0].interval_start,
            interval_end=files[0].interval_end,
            rows=sum(each.rows for each in files),
            size_bytes=place.stat().st_size,
            sha256="0" * 64,
            time_min=min(each.time_min for each in files),
            time_max=max(each.time_max for each in files),
            spans=merged(span for each in files for span in each.spans),
        )
        return CompactedFile(
            compaction_id=order.compaction_id, incarnation=assignment.incarnation, file=file
        )

    def offer(self, assignment: Assignment, file: CompactedFile) -> PublishAnswer:
        """Ask to publish."""
        return self.swapping.publish(assignment.order.compaction_id, assignment.order.token, file)

    def work(self) -> list[PublishAnswer]:
        """Let every worker do what it is told, once."""
        return [
            self.offer(assignment, self.write_file(assignment)) for assignment in self.assignments()
        ]

    def fail(self, assignment: Assignment, worker_id: str) -> None:
        """Let a worker say that it cannot."""
        report = CompactionReport(
            compaction_id=assignment.order.compaction_id,
            failure=FailureCode.READ_FAILED,
            detail="no",
        )
        self.swapping.heard(
            SyncRequest(
                worker_id=worker_id,
                incarnation=assignment.incarnation,
                sequence=1,
                url="http://w",
                slots=1,
                compactions=(report,),
            )
        )

    def all_rows(self) -> Ids:
        """The records that readers of the table see."""
        return sum(self.published().values(), Counter())


@pytest.fixture
def dock(store: Store, tmp_path: Path) -> Dock:
    """A table of three published files."""
    dock = Dock(store, tmp_path / "warehouse")
    for _ in range(3):
        dock.publish_range()
    return dock


def outcomes(dock: Dock) -> list[PublishOutcome]:
    """Let every worker do what it is told; return what it hears."""
    return [answer.outcome for answer in dock.work()]
