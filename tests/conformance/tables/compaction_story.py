"""The compactions of the story in `tests/conformance/metadata/test_write_skew.py`: each kind of
their writes, overtaken.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from supervisor.chores.compaction.commit import Swapping
from supervisor.chores.compaction.compacting import Compacting
from supervisor.chores.segments import SegmentLife, SegmentSelection
from supervisor.chores.task_output import folder_of
from supervisor.core.model.rows import Segment
from supervisor.core.tables.compaction import Candidate, Compaction, Target, merged, shares_of
from supervisor.ports.store import Store
from tasks.contract.messages import CompactedFile, CompactionReport, FailureCode, SyncRequest
from tests.supervisor.core.snapshots import HOUR, TOPIC
from tests.supervisor.world import ENDINGS, World

_ME = "ann"


class Story(Protocol):
    """The story, as far as it is needed here."""

    world: World

    def does(self, name: str, act: Callable[[], object]) -> None: ...
    def term(self) -> int: ...


@dataclass
class Compactions:
    """A leader's compactions over a store whose leader is overtaken."""

    story: Story
    store: Store
    tokens: list[str] = field(default_factory=list)

    def plays(self) -> None:
        """Let each kind of write be overtaken once; one segment of the table is enough."""
        story = self.story
        target = Target(rows=10, size_bytes=10_000)
        story.does("set", lambda: self.compacting.set_rule(TOPIC, target, HOUR, _ME))
        story.does("drop", lambda: self.compacting.drop_rule(TOPIC, _ME))
        self._begun()
        story.does("swap", self._publish)
        self._begun()
        story.does("mark unused", self._take_out)
        story.does("swap for nothing", self._publish)
        story.does("mark used", self._put_back)
        self._begun()
        story.does("cancel", lambda: self.compacting.cancel(self._newest().id, _ME))
        self._begun()
        story.does("hear", self._fail)
        self._begun()
        for hand in story.world.hands.all.values():
            hand.incarnation += 1
        story.does("end", self.compacting.run_once)

    @property
    def compacting(self) -> Compacting:
        return Compacting(
            self.store,
            self.story.world.clock,
            self.story.term,
            self.story.world.hands,
            ENDINGS,
            lambda: "token",
        )

    @property
    def swapping(self) -> Swapping:
        clock, term = self.story.world.clock, self.story.term
        life = SegmentLife(self.store, clock, term, grace=timedelta(days=1))
        assign = self.compacting.assign
        return Swapping(self.store, clock, term, ENDINGS, life, assign)

    def _begun(self) -> None:
        self.story.does("begin", self._begin)
        self.story.does("assign", self.compacting.assign)

    def _begin(self) -> object:
        with self.store.reading() as tx:
            segment = tx.segments.of_data_source(TOPIC)[0]
            written = [segment.compaction_id] if segment.compaction_id else []
            shares = shares_of(segment, tx.compactions.rows_of(written))
        batch = (Candidate(segment, shares),)
        return self.compacting._begin(TOPIC, [batch], _ME)

    def _newest(self) -> Compaction:
        with self.store.reading() as tx:
            return tx.compactions.recent(TOPIC, 1)[0]

    def _input(self) -> Segment:
        row = self._newest()
        with self.store.reading() as tx:
            found = tx.segments.get(row.inputs[0])
        assert found is not None
        return found

    def _publish(self) -> object:
        row, file = self._newest(), self._input().file
        path = f"{folder_of(TOPIC, row.id)}/segment-00000.parquet"
        spans = merged(span for share in row.shares for span in share.spans)
        request = CompactedFile(
            compaction_id=row.id,
            incarnation=row.incarnation,
            file=file.model_copy(update={"path": path, "spans": spans}),
        )
        return self.swapping.publish(row.id, "token", request)

    def _fail(self) -> None:
        row = self._newest()
        report = CompactionReport(compaction_id=row.id, failure=FailureCode.READ_FAILED)
        self.swapping.heard(
            SyncRequest(
                worker_id=row.worker_id,
                incarnation=row.incarnation,
                sequence=1,
                url="http://w",
                slots=1,
                compactions=(report,),
            )
        )

    def _take_out(self) -> None:
        life = self.swapping.life
        life.mark_unused(TOPIC, SegmentSelection(ids=self._newest().inputs), _ME)

    def _put_back(self) -> None:
        self.swapping.life.mark_used(TOPIC, SegmentSelection(), _ME)
