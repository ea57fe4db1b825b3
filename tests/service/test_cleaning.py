"""What ended tasks left behind: deleted once nobody writes there and nothing names it (P23)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from supervisor.cleaning import Cleaned, Cleaning
from supervisor.core.errors import LeaseLost
from supervisor.core.model import Liveness, Task, TaskStatus
from tasks.contract import PublishOutcome, RejectsFile
from tests.core.snapshots import TOPIC
from tests.service.publishers import first
from tests.service.world import Hand, Replica, World, publish_request

DELAY = timedelta(minutes=10)
SECOND = timedelta(seconds=1)


@dataclass
class Yard:
    """A warehouse, and the world whose tasks write there."""

    world: World
    warehouse: Path

    def __post_init__(self) -> None:
        self.cleaning = self.after_a_restart()

    def after_a_restart(self) -> Cleaning:
        """The same chore in a process that remembers nothing."""
        return Cleaning(
            self.world.store,
            self.world.hands,
            self.world.clock,
            lambda: self.world.leadership.term(),  # noqa: PLW0108 -- the leader may change
            self.warehouse,
            DELAY,
        )

    def folder(self, replica: Replica) -> Path:
        return self.warehouse / TOPIC / "data" / replica.wanted.task_id

    def writes(self, replica: Replica, name: str) -> Path:
        """Let a task write a file."""
        file = self.folder(replica) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
        return file

    def ends(self, replica: Replica, outcome: PublishOutcome | None = None) -> None:
        """End a task as failed."""
        with self.world.store.leading(self.world.leadership.term()) as tx:
            tx.tasks.end(
                replica.wanted.task_id, TaskStatus.FAILED, "killed", self.world.clock.now()
            )
            if outcome is not None:
                tx.tasks.store_outcome(replica.wanted.task_id, outcome, published=False)

    def stops(self, hand: Hand, replica: Replica) -> None:
        """The worker confirms that it runs the task no more."""
        hand.heard.pop(replica.wanted.task_id, None)

    def task(self, replica: Replica) -> Task:
        with self.world.store.reading() as tx:
            found = tx.tasks.get(replica.wanted.task_id)
        assert found is not None
        return found

    def clean(self) -> Cleaned:
        return self.cleaning.run_once()

    def waits(self, by: timedelta = DELAY) -> "Yard":
        self.world.clock.advance(by)
        return self

    def is_settled(self, replica: Replica) -> bool:
        return self.task(replica).folder_deleted_at is not None


@pytest.fixture
def yard(world: World, tmp_path: Path) -> Yard:
    """Two replicas whose range is fixed, and their warehouse."""
    return Yard(world, tmp_path / "warehouse")


@pytest.fixture
def dead(yard: Yard) -> tuple[Hand, Replica, Path]:
    """A task that failed with a file in its folder; its worker has not heard of it yet."""
    hand, replica = first(yard.world)
    file = yard.writes(replica, "batch-0.parquet")
    yard.ends(replica)
    return hand, replica, file


Dead = tuple[Hand, Replica, Path]


def test_nothing_is_deleted_while_the_worker_still_reports_the_task(yard: Yard, dead: Dead) -> None:
    """Goal: no folder goes while somebody may be writing there."""
    _, replica, file = dead

    for _ in range(3):
        assert yard.waits().clean() == Cleaned(0, 0)

    assert file.exists()
    assert not yard.is_settled(replica)


def test_the_folder_goes_once_the_worker_no_longer_reports_the_task(yard: Yard, dead: Dead) -> None:
    hand, replica, _ = dead
    yard.stops(hand, replica)

    assert yard.clean() == Cleaned(1, 0)

    assert not yard.folder(replica).exists()
    assert not yard.is_settled(replica)  # a late write may still come


@pytest.mark.parametrize("liveness", [Liveness.UNKNOWN, Liveness.LOST])
def test_a_worker_that_is_silent_has_confirmed_nothing(
    yard: Yard, dead: Dead, liveness: Liveness
) -> None:
    """Goal: a lost worker may be alive behind a broken network, and write."""
    hand, replica, file = dead
    yard.stops(hand, replica)
    hand.liveness = liveness

    assert yard.waits().clean() == Cleaned(0, 0)
    assert file.exists()


def test_a_worker_that_nobody_knows_has_confirmed_nothing(yard: Yard, dead: Dead) -> None:
    hand, _, file = dead
    del yard.world.hands.all[hand.id]

    assert yard.waits().clean() == Cleaned(0, 0)
    assert file.exists()


@pytest.mark.parametrize("liveness", list(Liveness))
def test_a_newer_incarnation_is_proof_that_the_old_one_is_gone(
    yard: Yard, dead: Dead, liveness: Liveness
) -> None:
    """Goal: the lock on the data folder lets the newer one start only after it."""
    hand, _, file = dead
    hand.incarnation, hand.liveness = 2, liveness

    assert yard.clean() == Cleaned(1, 0)
    assert not file.exists()


def test_a_folder_that_comes_back_is_deleted_again(yard: Yard, dead: Dead) -> None:
    """Goal: a thread that was about to write when the task was stopped leaves nothing (P23)."""
    hand, replica, _ = dead
    yard.stops(hand, replica)
    yard.clean()
    yard.waits(DELAY / 2)
    yard.writes(replica, "late.parquet")

    assert yard.clean() == Cleaned(1, 0)
    assert not yard.folder(replica).exists()

    assert yard.waits(DELAY - SECOND).clean() == Cleaned(0, 0)  # it counts from the last find
    assert yard.waits(SECOND).clean() == Cleaned(0, 1)
    assert yard.is_settled(replica)


def test_a_folder_that_was_never_there_is_settled_after_the_delay(yard: Yard) -> None:
    hand, replica = first(yard.world)
    yard.ends(replica)
    yard.stops(hand, replica)

    assert yard.clean() == Cleaned(0, 0)
    assert yard.waits(DELAY - SECOND).clean() == Cleaned(0, 0)
    assert yard.waits(SECOND).clean() == Cleaned(0, 1)
    assert yard.clean() == Cleaned(0, 0)


def test_a_restart_waits_the_whole_delay_again(yard: Yard, dead: Dead) -> None:
    """Goal: safe to crash at any line: what was not settled is looked at anew."""
    hand, replica, _ = dead
    yard.stops(hand, replica)
    yard.clean()
    yard.waits()

    yard.cleaning = yard.after_a_restart()

    assert yard.clean() == Cleaned(0, 0)
    assert yard.waits().clean() == Cleaned(0, 1)


def test_a_deposed_leader_deletes_and_settles_nothing(yard: Yard, dead: Dead) -> None:
    hand, replica, file = dead
    yard.stops(hand, replica)
    yard.world.leadership.lost()

    with pytest.raises(LeaseLost):
        yard.clean()

    assert file.exists()


def test_a_running_task_keeps_its_folder(yard: Yard) -> None:
    """Goal: also one whose worker has not reported it yet."""
    hand, replica = first(yard.world)
    file = yard.writes(replica, "batch-0.parquet")
    yard.stops(hand, replica)

    assert yard.waits(10 * DELAY).clean() == Cleaned(0, 0)
    assert file.exists()


def test_stale_files_are_kept_for_people(yard: Yard, world: World) -> None:
    hand, replica = first(world)
    file = yard.writes(replica, "part-0.parquet")
    yard.ends(replica, PublishOutcome.STALE)
    yard.stops(hand, replica)

    for _ in range(3):
        assert yard.waits().clean() == Cleaned(0, 0)

    assert file.exists()


def test_the_folders_of_other_tasks_stay(yard: Yard, dead: Dead, world: World) -> None:
    hand, replica, _ = dead
    (_, sibling) = next((h, r) for h, r in world.ready_to_publish() if r is not replica)
    other = yard.writes(sibling, "batch-0.parquet")
    yard.stops(hand, replica)

    yard.clean()

    assert other.exists()


def test_a_folder_outside_the_warehouse_is_not_followed(
    yard: Yard, dead: Dead, tmp_path: Path
) -> None:
    """Goal: a link in a task's folder goes, what it points to stays."""
    hand, replica, _ = dead
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious")
    (yard.folder(replica) / "link").symlink_to(outside)
    (yard.folder(replica) / "file-link").symlink_to(outside / "precious")
    yard.stops(hand, replica)

    yard.clean()

    assert not yard.folder(replica).exists()
    assert (outside / "precious").read_text() == "precious"


# -------------------------------------------------------------- published tasks


@dataclass
class Published:
    """A task that has published a file and rejects, with the batches of its merge beside them."""

    replica: Replica
    named: Sequence[Path]
    unnamed: Sequence[Path]


@pytest.fixture
def published(yard: Yard) -> Published:
    hand, replica = first(yard.world)
    request = publish_request(replica.wanted)
    [file] = request.segments
    spans = tuple(s.model_copy(update={"last": s.last - 1, "rows": s.rows - 1}) for s in file.spans)
    rows = sum(s.rows for s in spans)
    rejects = RejectsFile(
        path=f"{TOPIC}/data/{replica.wanted.task_id}/rejects/rejects.parquet",
        records=2,
        size_bytes=1,
        sha256="0" * 64,
    )
    request = request.model_copy(
        update={
            "segments": (file.model_copy(update={"spans": spans, "rows": rows}),),
            "rejects": rejects,
        }
    )
    named = [
        yard.writes(replica, "part-0.parquet"),
        yard.writes(replica, "rejects/rejects.parquet"),
    ]
    unnamed = [
        yard.writes(replica, "batch-0.parquet"),
        yard.writes(replica, "batches/1/batch-1.parquet"),
        yard.writes(replica, "rejects/old.parquet"),
    ]
    answer = yard.world.publishing.publish(request.task_id, replica.wanted.token, request)
    assert answer.outcome is PublishOutcome.COMMITTED
    yard.stops(hand, replica)
    return Published(replica, named, unnamed)


def exist(files: Sequence[Path]) -> list[bool]:
    return [file.exists() for file in files]


def test_of_a_published_task_only_unnamed_files_go_and_only_after_the_delay(
    yard: Yard, published: Published
) -> None:
    """Goal: the table stays whole; a reader of yet unpublished rows has time to finish."""
    assert yard.waits(DELAY - SECOND).clean().settled == 0
    assert exist(published.unnamed) == [True] * 3

    yard.waits(SECOND).clean()

    assert exist(published.unnamed) == [False] * 3
    assert exist(published.named) == [True] * 2
    assert not (yard.folder(published.replica) / "batches").exists()


def test_a_published_task_is_settled_and_keeps_its_files(yard: Yard, published: Published) -> None:
    for _ in range(3):
        yard.waits().clean()

    assert yard.is_settled(published.replica)
    assert exist(published.named) == [True] * 2
    for _ in range(3):
        yard.waits().clean()
    assert exist(published.named) == [True] * 2


def test_a_link_under_a_published_task_is_not_followed(
    yard: Yard, published: Published, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious")
    (yard.folder(published.replica) / "link").symlink_to(outside)
    (yard.folder(published.replica) / "file-link").symlink_to(outside / "precious")

    for _ in range(3):
        yard.waits().clean()

    assert (outside / "precious").read_text() == "precious"
    assert exist(published.named) == [True] * 2


@pytest.mark.parametrize("is_published", [False, True])
def test_a_task_folder_that_is_itself_a_link_is_not_followed(
    yard: Yard, tmp_path: Path, *, is_published: bool
) -> None:
    """Goal: what lies outside the warehouse is never deleted."""
    hand, replica = first(yard.world)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious")
    yard.folder(replica).parent.mkdir(parents=True)
    yard.folder(replica).symlink_to(outside)
    if is_published:
        assert yard.world.publish(hand, replica).outcome is PublishOutcome.COMMITTED
    else:
        yard.ends(replica)
    yard.stops(hand, replica)

    for _ in range(3):
        yard.waits().clean()

    assert (outside / "precious").read_text() == "precious"
    assert yard.is_settled(replica)


def test_the_sibling_of_a_published_task_loses_its_whole_folder(
    yard: Yard, published: Published, world: World
) -> None:
    """Goal: files of the replica that did not win are nobody's."""
    hand, sibling = next(
        (h, r) for h, r in world.replicas() if r is not published.replica and r.wanted.order.end
    )
    file = yard.writes(sibling, "part-0.parquet")
    yard.stops(hand, sibling)

    yard.clean()

    assert not file.exists()
    assert exist(published.named) == [True] * 2
