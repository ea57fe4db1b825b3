"""What ended tasks left behind: deleted once nobody writes there and nothing names it (P23)."""

from pathlib import Path

import pytest

from supervisor.chores.task_output import TaskOutput
from supervisor.control.end_task import KIND
from supervisor.core.planning.observed import Liveness
from supervisor.core.queue.events import QueuedEvent
from supervisor.core.values.errors import LeaseLost
from supervisor.eventqueue.handling import Context
from tasks.contract.messages import PublishOutcome
from tests.supervisor.scenarios.publishers import first
from tests.supervisor.world import GC_DELAY, Hand, Replica, World
from tests.supervisor.yard import SECOND, DiskYard

Dead = tuple[Hand, Replica, Path]


@pytest.fixture
def yard(world: World, tmp_path: Path) -> DiskYard:
    """Two replicas whose range is fixed, and their warehouse."""
    return DiskYard(world, tmp_path / "warehouse")


@pytest.fixture
def dead(yard: DiskYard) -> Dead:
    """A task that failed with a file in its folder; its worker has not heard of it yet."""
    hand, replica = first(yard.world)
    file = yard.writes(replica, "batch-0.parquet")
    yard.ends(replica)
    return hand, replica, file


def test_nothing_is_deleted_while_the_worker_still_reports_the_task(
    yard: DiskYard, dead: Dead
) -> None:
    """Goal: no folder goes while somebody may be writing there; the event waits on."""
    _, replica, file = dead

    for _ in range(5):
        yard.waits()

    assert file.exists()
    assert not yard.is_settled(replica)
    assert yard.keys() == [replica.wanted.task_id]
    assert yard.failed() == []


def test_nothing_is_deleted_before_the_delay(yard: DiskYard, dead: Dead) -> None:
    hand, replica, file = dead
    yard.stops(hand, replica)

    yard.waits(GC_DELAY - SECOND)
    assert file.exists()

    yard.waits(SECOND)
    assert not file.exists()


def test_the_folder_goes_once_the_worker_no_longer_reports_the_task(
    yard: DiskYard, dead: Dead
) -> None:
    hand, replica, _ = dead
    yard.waits()
    yard.stops(hand, replica)

    yard.waits()

    assert not yard.path(replica).exists()
    assert not yard.is_settled(replica)  # a late write may still come


@pytest.mark.parametrize("liveness", [Liveness.UNKNOWN, Liveness.LOST])
def test_a_worker_that_is_silent_has_confirmed_nothing(
    yard: DiskYard, dead: Dead, liveness: Liveness
) -> None:
    """Goal: a lost worker may be alive behind a broken network, and write."""
    hand, replica, file = dead
    yard.stops(hand, replica)
    hand.liveness = liveness

    for _ in range(3):
        yard.waits()

    assert file.exists()
    assert not yard.is_settled(replica)


def test_a_worker_that_nobody_knows_has_confirmed_nothing(yard: DiskYard, dead: Dead) -> None:
    hand, _, file = dead
    del yard.world.hands.all[hand.id]

    yard.waits()

    assert file.exists()


def test_a_worker_that_was_forgotten_confirms_nothing_and_nobody_waits(
    yard: DiskYard, dead: Dead
) -> None:
    """Goal: a machine that is gone for good leaves no folder for ever, and no event."""
    hand, replica, file = dead
    hand.liveness = Liveness.LOST
    yard.waits()
    assert file.exists()
    with yard.world.store.leading(yard.world.leadership.term()) as tx:
        assert tx.workers.forget(hand.id, hand.incarnation)
    del yard.world.hands.all[hand.id]

    for _ in range(3):
        yard.waits()

    assert not file.exists()
    assert yard.is_settled(replica)
    assert yard.waiting() == []


@pytest.mark.parametrize("liveness", list(Liveness))
def test_a_newer_incarnation_is_proof_that_the_old_one_is_gone(
    yard: DiskYard, dead: Dead, liveness: Liveness
) -> None:
    """Goal: the lock on the data folder lets the newer one start only after it."""
    hand, _, file = dead
    hand.incarnation, hand.liveness = 2, liveness

    yard.waits()

    assert not file.exists()


def test_a_folder_that_comes_back_is_deleted_again(yard: DiskYard, dead: Dead) -> None:
    """Goal: a thread that was about to write when the task was stopped leaves nothing (P23)."""
    hand, replica, _ = dead
    yard.stops(hand, replica)
    yard.waits()
    assert not yard.path(replica).exists()
    yard.writes(replica, "late.parquet")

    yard.waits()
    assert not yard.path(replica).exists()

    yard.waits()  # found empty for the first time: it counts from the last find
    yard.waits(GC_DELAY - SECOND)
    assert not yard.is_settled(replica)
    yard.waits(SECOND)
    assert yard.is_settled(replica)
    assert yard.waiting() == []


def test_what_comes_between_the_two_looks_is_deleted_and_looked_for_again(
    yard: DiskYard, dead: Dead
) -> None:
    hand, replica, _ = dead
    yard.stops(hand, replica)
    yard.waits().waits()  # deleted, then found empty once
    yard.writes(replica, "late.parquet")

    yard.waits().waits()

    assert not yard.path(replica).exists()
    assert not yard.is_settled(replica)
    assert yard.waits().is_settled(replica)


def test_an_empty_folder_goes_too(yard: DiskYard) -> None:
    hand, replica = first(yard.world)
    (yard.path(replica) / "b0-1").mkdir(parents=True)
    yard.ends(replica)
    yard.stops(hand, replica)

    yard.waits()

    assert not yard.path(replica).exists()


def test_a_folder_that_was_never_there_is_settled_by_the_second_look(yard: DiskYard) -> None:
    """Goal: a missing file is success."""
    hand, replica = first(yard.world)
    yard.ends(replica)
    yard.stops(hand, replica)

    assert not yard.waits().is_settled(replica)
    assert not yard.waits(GC_DELAY - SECOND).is_settled(replica)
    assert yard.waits(SECOND).is_settled(replica)
    assert yard.waiting() == []


def test_the_next_overlord_goes_on_where_the_last_one_stopped(yard: DiskYard, dead: Dead) -> None:
    """Goal: what was seen is on record, so that restarts put nothing off for ever."""
    hand, replica, _ = dead
    yard.stops(hand, replica)
    yard.waits().waits()

    yard.world.take_over()

    assert yard.waits().is_settled(replica)


def test_a_deposed_leader_deletes_and_settles_nothing(yard: DiskYard, dead: Dead) -> None:
    hand, replica, file = dead
    yard.stops(hand, replica)
    world = yard.world
    term = world.leadership.term()
    world.take_over()
    handler = TaskOutput(yard.warehouse, world.hands)

    with pytest.raises(LeaseLost):
        handler.handle(
            [QueuedEvent(KIND, replica.wanted.task_id)],
            Context(world.store, term, world.clock.now(), lambda: False),
        )

    assert file.exists()


def test_a_process_that_stops_leaves_the_rest_for_the_next(yard: DiskYard, dead: Dead) -> None:
    hand, replica, file = dead
    yard.stops(hand, replica)
    world = yard.world
    event = QueuedEvent(KIND, replica.wanted.task_id, {"look": "second"})

    handled = TaskOutput(yard.warehouse, world.hands).handle(
        [event], Context(world.store, world.leadership.term(), world.clock.now(), lambda: True)
    )
    with world.store.leading(world.leadership.term()) as tx:
        handled.write(tx)

    assert file.exists()
    assert not yard.is_settled(replica)


def test_a_running_task_keeps_its_folder(yard: DiskYard) -> None:
    """Goal: also one that somebody queued, and whose worker has not reported it yet."""
    hand, replica = first(yard.world)
    file = yard.writes(replica, "batch-0.parquet")
    yard.stops(hand, replica)
    yard.queues(replica.wanted.task_id)

    for _ in range(3):
        yard.waits()

    assert file.exists()
    assert not yard.is_settled(replica)
    assert yard.waiting() == []
    yard.ends(replica)
    yard.waits()
    assert not file.exists()


@pytest.mark.parametrize("by_hand", [False, True])
def test_stale_files_are_kept_for_people(yard: DiskYard, world: World, *, by_hand: bool) -> None:
    hand, replica = first(world)
    file = yard.writes(replica, "part-0.parquet")
    yard.ends(replica, PublishOutcome.STALE)
    yard.stops(hand, replica)
    assert yard.waiting() == []
    if by_hand:
        yard.queues(replica.wanted.task_id)

    for _ in range(3):
        yard.waits()

    assert file.exists()
    assert not yard.is_settled(replica)


def test_the_folders_of_other_tasks_stay(yard: DiskYard, dead: Dead, world: World) -> None:
    hand, replica, _ = dead
    (_, sibling) = next((h, r) for h, r in world.ready_to_publish() if r is not replica)
    other = yard.writes(sibling, "batch-0.parquet")
    yard.stops(hand, replica)

    yard.waits()

    assert not yard.path(replica).exists()
    assert other.exists()


def test_a_folder_outside_the_warehouse_is_not_followed(
    yard: DiskYard, dead: Dead, tmp_path: Path
) -> None:
    """Goal: a link in a task's folder goes, what it points to stays."""
    hand, replica, _ = dead
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious")
    (yard.path(replica) / "link").symlink_to(outside)
    (yard.path(replica) / "file-link").symlink_to(outside / "precious")
    yard.stops(hand, replica)

    yard.waits()

    assert not yard.path(replica).exists()
    assert (outside / "precious").read_text() == "precious"
