"""What compactions left behind: deleted once nobody writes there and no segment names it (P23)."""

from dataclasses import replace
from pathlib import Path

import pytest

from supervisor.chores.sweep import Swept
from supervisor.chores.task_output import folder_of
from supervisor.core.model.rows import Segment, TaskStatus
from supervisor.core.planning.observed import Liveness
from supervisor.core.tables.compaction import Compaction
from supervisor.core.values.ids import compaction_id
from supervisor.core.values.intervals import Interval
from tasks.contract.messages import PublishOutcome
from tests.conformance.stories import HOUR
from tests.supervisor.core.snapshots import NOON, TOPIC
from tests.supervisor.scenarios.publishers import first
from tests.supervisor.world import ENDINGS, GC_DELAY, World
from tests.supervisor.yard import CLUSTER_QUEUE, SECOND, DiskYard

ID = compaction_id(TOPIC, ["a", "b"], 1)
FOLDER = folder_of(TOPIC, ID)


class Compacting(DiskYard):
    """A yard with one compaction."""

    def begins(self, worker_id: str = "w1") -> None:
        """Assign it to a worker, which reports it; an empty id: it waits for one."""
        row = Compaction(
            ID,
            TOPIC,
            TOPIC,
            Interval(NOON, NOON + HOUR),
            inputs=("a", "b"),
            columns=(),
            shares=(),
            reason="a story",
            created_at=NOON,
        )
        with self.world.store.leading(self.world.leadership.term()) as tx:
            assert tx.compactions.add(row)
            if worker_id:
                assert tx.compactions.assign(ID, worker_id, 1, "token", NOON)
                self.world.hands.all[worker_id].compacts.add(ID)

    def ended(self, status: TaskStatus = TaskStatus.FAILED, *, queue: bool = True) -> None:
        """End it, as whoever ends compactions does."""
        now = self.world.clock.now()
        with self.world.store.leading(self.world.leadership.term()) as tx:
            assert tx.compactions.end(ID, status, "a story", now)
            row = tx.compactions.get(ID)
            assert row is not None
            if queue:
                ENDINGS.compaction_ended(tx, row, now)

    def stopped(self) -> None:
        """The worker confirms that it runs the compaction no more."""
        self.world.hands.all["w1"].compacts.clear()

    def file(self, name: str = "part.parquet") -> Path:
        """Let the compaction write a file."""
        path = self.root / FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        return path

    def row(self) -> Compaction:
        with self.world.store.reading() as tx:
            found = tx.compactions.get(ID)
        assert found is not None
        return found

    def has_settled(self) -> bool:
        return self.row().folder_deleted_at is not None

    def publishes(self, file: Path) -> Segment:
        """Let a task publish a file, and the compaction's file take its place."""
        hand, replica = first(self.world)
        assert self.world.publish(hand, replica).outcome is PublishOutcome.COMMITTED
        with self.world.store.leading(self.world.leadership.term()) as tx:
            [segment] = tx.segments.of_task(replica.wanted.task_id)
            path = str(file.relative_to(self.root))
            named = segment.file.model_copy(update={"path": path})
            compacted = replace(segment, id=f"{ID}/0", compaction_id=ID, file=named)
            tx.segments.replace([segment.id], compacted, NOON)
        return compacted


@pytest.fixture
def yard(world: World, tmp_path: Path) -> Compacting:
    """A warehouse in which nothing was compacted yet."""
    return Compacting(world, tmp_path / "warehouse")


@pytest.fixture
def failed(yard: Compacting) -> Path:
    """A file of a compaction that failed; its worker has not heard of it yet."""
    yard.begins()
    file = yard.file()
    yard.ended()
    return file


def test_nothing_is_deleted_while_the_worker_still_reports_it(
    yard: Compacting, failed: Path
) -> None:
    """Goal: no folder goes while somebody may be writing there; the event waits on."""
    for _ in range(5):
        yard.waits()

    assert failed.exists()
    assert not yard.has_settled()
    assert (yard.keys(), yard.failed()) == ([ID], [])


def test_the_folder_of_a_failed_one_goes_and_is_found_empty_twice(
    yard: Compacting, failed: Path
) -> None:
    yard.stopped()
    yard.waits(GC_DELAY - SECOND)
    assert failed.exists()

    yard.waits(SECOND)
    assert not (yard.root / FOLDER).exists()
    assert not yard.has_settled()  # a late write may still come
    late = yard.file("late.parquet")
    yard.waits()
    assert not late.exists()
    yard.waits().waits()

    assert yard.has_settled()
    assert yard.keys() == []


@pytest.mark.parametrize("liveness", [Liveness.UNKNOWN, Liveness.LOST])
def test_a_worker_that_is_silent_has_confirmed_nothing(
    yard: Compacting, failed: Path, liveness: Liveness
) -> None:
    """Goal: a lost worker may be alive behind a broken network, and write."""
    yard.stopped()
    yard.world.hands.all["w1"].liveness = liveness

    yard.waits().waits()

    assert failed.exists()


@pytest.mark.parametrize("liveness", list(Liveness))
def test_a_newer_incarnation_is_proof_that_the_old_one_is_gone(
    yard: Compacting, failed: Path, liveness: Liveness
) -> None:
    hand = yard.world.hands.all["w1"]
    hand.incarnation, hand.liveness = 2, liveness

    yard.waits()

    assert not failed.exists()


def test_one_that_no_worker_ever_had_is_settled_without_one(yard: Compacting) -> None:
    """Goal: what was given up while it waited holds nothing up."""
    yard.begins(worker_id="")
    yard.ended()

    yard.waits().waits()

    assert yard.has_settled()


def test_of_one_that_succeeded_only_what_no_segment_names_goes(yard: Compacting) -> None:
    yard.begins()
    kept, left = yard.file(), yard.file("_temporary/part.parquet")
    yard.publishes(kept)
    yard.ended(TaskStatus.SUCCESS)
    yard.stopped()

    yard.waits().waits().waits()

    assert kept.exists()
    assert not left.parent.exists()
    assert yard.has_settled()
    assert yard.sweeps() == Swept(0)


def test_a_compacted_file_that_is_condemned_is_left_to_the_queue_of_segment_files(
    yard: Compacting,
) -> None:
    """Goal: an export that stands still may name it, and the queue of its files waits for that."""
    yard.begins()
    kept, left = yard.file(), yard.file("half/left.parquet")
    compacted = yard.publishes(kept)
    yard.ended(TaskStatus.SUCCESS)
    yard.stopped()
    with yard.world.store.leading(yard.world.leadership.term()) as tx:
        tx.segments.mark_unused([compacted.id], NOON)
        assert tx.segments.condemn(compacted.id, NOON, NOON)

    yard.waits().waits().waits()

    assert kept.exists()
    assert not left.exists()
    assert yard.has_settled()
    assert yard.sweeps() == Swept(0)


def test_a_live_one_is_left_alone_whoever_asks(yard: Compacting) -> None:
    """Goal: its ending queues it again."""
    yard.begins()
    file = yard.file()
    yard.stopped()
    yard.queues(ID)

    yard.waits().waits()

    assert file.exists()
    assert not yard.has_settled()
    assert (yard.keys(), yard.sweeps()) == ([], Swept(0))


def test_one_that_was_already_queued_is_not_queued_by_the_sweep(
    yard: Compacting, failed: Path
) -> None:
    assert failed.exists()
    assert yard.sweeps() == Swept(0)
    assert yard.keys() == [ID]


def test_a_lost_event_is_queued_again(yard: Compacting) -> None:
    yard.begins()
    file = yard.file()
    yard.ended(queue=False)
    yard.stopped()

    assert [yard.sweeps(), yard.sweeps()] == [Swept(1), Swept(0)]

    assert yard.keys() == [ID]
    yard.waits()
    assert not file.exists()


def test_a_settled_folder_that_is_there_again_goes_again(yard: Compacting, failed: Path) -> None:
    yard.stopped()
    yard.waits().waits().waits()
    assert yard.has_settled()
    assert not failed.exists()
    again = yard.file()

    assert yard.sweeps() == Swept(1)

    yard.waits()
    assert not again.exists()


def test_a_folder_without_a_row_is_queued_and_deleted(yard: Compacting) -> None:
    file = yard.file()

    assert yard.sweeps() == Swept(1)

    assert yard.keys(CLUSTER_QUEUE) == [FOLDER]
    yard.waits()
    assert not file.exists()


def test_a_row_that_names_another_table_does_not_answer_for_a_folder(yard: Compacting) -> None:
    """Goal: as for tasks, a folder is known by its table as well as by its name."""
    yard.begins()
    stray = yard.root / folder_of("others", ID) / "part.parquet"
    stray.parent.mkdir(parents=True)
    stray.write_text("stray")

    assert yard.sweeps() == Swept(1)

    yard.waits()
    assert not stray.exists()
