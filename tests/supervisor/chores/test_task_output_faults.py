"""Cleaning up while the storage fails: events are retried, wait, or are set aside; none is lost.

Source: Q15, Q16.
"""

from dataclasses import replace

import pytest

from supervisor.adapters.tables.memory_warehouse import MemoryWarehouse
from supervisor.chores.task_output import TaskOutput
from supervisor.control.end_task import KIND
from supervisor.core.queue.events import QueuedEvent, decode
from supervisor.eventqueue.handling import Context, EventDone, Later
from tasks.contract.messages import PublishOutcome
from tests.supervisor.core.snapshots import TOPIC
from tests.supervisor.scenarios.publishers import first
from tests.supervisor.world import ENDINGS, Hand, Replica, World
from tests.supervisor.yard import CLUSTER_QUEUE, NOBODYS, QUEUE, MemoryYard

Dead = tuple[Hand, Replica, str]


@pytest.fixture
def yard(world: World) -> MemoryYard:
    """Two replicas whose range is fixed, and a warehouse that can fail."""
    return MemoryYard(world)


@pytest.fixture
def dead(yard: MemoryYard) -> Dead:
    """A task that failed and was stopped, with a file in its folder."""
    hand, replica = first(yard.world)
    file = yard.writes(replica, "b0-1/batch-0.parquet")
    yard.ends(replica)
    yard.stops(hand, replica)
    return hand, replica, file


def test_a_file_that_cannot_be_deleted_is_tried_three_times_then_set_aside(
    yard: MemoryYard, dead: Dead
) -> None:
    """Goal: people see what is in the way, and everything behind it goes on (Q15)."""
    _, replica, file = dead
    yard.files.fail_deletions(file, times=3)

    yard.waits().waits()
    assert yard.failed() == []
    yard.waits()

    [failed] = yard.failed()
    assert (failed.key, failed.attempts) == (replica.wanted.task_id, 3)
    assert file in failed.reason
    assert yard.waiting() == []
    assert yard.files.holds(file)
    assert not yard.is_settled(replica)


def test_what_was_set_aside_can_be_replayed(yard: MemoryYard, dead: Dead) -> None:
    """Goal: once the cause is gone, the same event does its work (Q15)."""
    _, replica, file = dead
    yard.files.fail_deletions(file, times=3)
    yard.waits().waits().waits()
    [failed] = yard.failed()
    world = yard.world

    with world.store.leading(world.leadership.term()) as tx:
        again = replace(decode(failed.payload), attempts=0)
        tx.events.add(QUEUE, again, ENDINGS.config, world.clock.now(), exempt=True)
        assert tx.events.drop_failed(QUEUE, failed.seq)
    yard.waits()

    assert not yard.files.holds(file)
    assert yard.waits().waits().is_settled(replica)


def test_a_deletion_that_fails_twice_is_made_up_for(yard: MemoryYard, dead: Dead) -> None:
    _, replica, file = dead
    other = yard.writes(replica, "b0-1/batch-1.parquet")
    yard.files.fail_deletions(file, times=2)

    yard.waits().waits().waits()

    assert not yard.files.holds(file)
    assert not yard.files.holds(other)
    assert yard.failed() == []
    assert yard.waits().waits().is_settled(replica)


def test_one_tasks_trouble_does_not_hold_up_the_others(yard: MemoryYard, world: World) -> None:
    files = []
    for hand, replica in world.ready_to_publish():
        files.append(yard.writes(replica, "batch-0.parquet"))
        yard.ends(replica)
        yard.stops(hand, replica)
    yard.files.fail_deletions(files[0], times=3)

    yard.waits()

    assert [yard.files.holds(file) for file in files] == [True, False]


def test_a_file_that_is_gone_already_is_success(yard: MemoryYard, dead: Dead) -> None:
    """Goal: a run that died after its deletions is simply made again (Q15)."""
    _, replica, file = dead
    yard.files.delete_file(file)
    yard.files.prune(yard.folder(replica))

    assert yard.waits().waits().is_settled(replica)
    assert yard.failed() == []


def test_events_wait_while_the_storage_is_down(yard: MemoryYard, dead: Dead) -> None:
    """Goal: no attempt is used up, no hot loop, nothing is taken for deleted (Q16)."""
    _, replica, file = dead
    yard.files.go_down()
    yard.waits()

    for _ in range(9):
        yard.world.clock.advance(ENDINGS.config.backoff_cap)
        yard.handles()

    assert yard.waits_s == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]
    assert yard.failures_in_a_row() == 10
    [waiting] = yard.waiting()
    assert decode(waiting.payload).attempts == 0
    assert yard.failed() == []

    yard.files.come_back()
    yard.waits()
    assert not yard.files.holds(file)
    assert yard.waits().waits().is_settled(replica)
    assert yard.failures_in_a_row() == 0


def test_storage_that_goes_down_in_the_middle_uses_no_attempt_up(
    yard: MemoryYard, dead: Dead
) -> None:
    """Goal: that all deletions fail is the storage's fault, not the events'."""
    _, replica, file = dead
    files, calls = yard.files, []
    sound = files.owner

    def last_answer() -> str | None:
        calls.append(1)
        answer = sound()
        files.go_down()
        return answer

    yard.files.owner = last_answer  # type: ignore[method-assign]  # this object's, for once
    yard.waits()

    assert calls
    [waiting] = yard.waiting()
    assert decode(waiting.payload).attempts == 0
    assert yard.failures_in_a_row() == 1
    files.come_back()
    assert yard.files.holds(file)
    assert not yard.is_settled(replica)


def test_an_unmounted_warehouse_is_not_taken_for_an_empty_one(
    yard: MemoryYard, world: World
) -> None:
    """Goal: nothing is settled because a disk was away: its files would come back with it."""
    hand, replica = first(world)
    unnamed = yard.writes(replica, "batch-0.parquet")
    assert world.publish(hand, replica).outcome is PublishOutcome.COMMITTED
    yard.stops(hand, replica)
    mounted, bare = yard.files, MemoryYard(world, MemoryWarehouse())

    for _ in range(4):
        bare.waits()
    assert bare.failures_in_a_row() > 0
    assert not yard.is_settled(replica)

    yard.waits()
    assert not mounted.holds(unnamed)


def test_what_is_named_is_read_again_before_each_deletion(
    yard: MemoryYard, dead: Dead, world: World
) -> None:
    """Goal: a verdict that comes in the middle saves the files that are still there."""
    _, replica, file = dead
    second = yard.writes(replica, "b0-1/batch-1.parquet")
    delete = yard.files.delete_file

    def judged_meanwhile(path: str) -> None:
        delete(path)
        with world.store.leading(world.leadership.term()) as tx:
            tx.tasks.store_outcome(replica.wanted.task_id, PublishOutcome.STALE, published=False)

    yard.files.delete_file = judged_meanwhile  # type: ignore[method-assign]  # this object's
    for _ in range(4):
        yard.waits()

    assert [yard.files.holds(path) for path in (file, second)] == [False, True]
    assert not yard.is_settled(replica)


def test_an_event_of_another_kind_is_set_aside(yard: MemoryYard) -> None:
    yard.queues("t1", kind="something_else")

    yard.waits()

    assert [each.key for each in yard.failed()] == ["t1"]


# -------------------------------------------------------------- folders without a row

FOLDER = f"{TOPIC}/data/{NOBODYS}"


@pytest.fixture
def nobodys(yard: MemoryYard) -> str:
    """A file in a folder that no row stands for; its event waits."""
    yard.queues(FOLDER, CLUSTER_QUEUE)
    return yard.files.write(f"{FOLDER}/b0-1/part-0.parquet")


def test_a_folder_that_no_row_stands_for_goes_whole(yard: MemoryYard, nobodys: str) -> None:
    yard.waits()

    assert not yard.files.holds(nobodys)
    assert not yard.files.holds(FOLDER)
    assert yard.keys(CLUSTER_QUEUE) == [FOLDER]  # it is looked at twice more
    yard.waits().waits()
    assert yard.waiting(CLUSTER_QUEUE) == []


@pytest.mark.parametrize("has_ended", [False, True])
def test_a_folder_that_has_a_row_by_now_is_left_to_the_rows_own_event(
    yard: MemoryYard, world: World, *, has_ended: bool
) -> None:
    """Goal: only the row tells whether its worker may still be writing."""
    _, replica = first(world)
    file = yard.writes(replica, "batch-0.parquet")
    yard.queues(yard.folder(replica), CLUSTER_QUEUE)  # listed before the row stood
    if has_ended:
        yard.ends(replica)

    for _ in range(3):
        yard.waits()

    assert yard.files.holds(file)
    assert yard.waiting(CLUSTER_QUEUE) == []
    assert not yard.is_settled(replica)


def test_a_row_of_another_table_stands_for_nothing_here(yard: MemoryYard, world: World) -> None:
    _, replica = first(world)
    own = yard.writes(replica, "batch-0.parquet")
    folder = f"others/data/{replica.wanted.task_id}"
    stray = yard.files.write(f"{folder}/batch-0.parquet")
    yard.queues(folder, CLUSTER_QUEUE)

    yard.waits()

    assert not yard.files.holds(stray)
    assert yard.files.holds(own)


@pytest.mark.parametrize(
    "key",
    [
        f"../data/{NOBODYS}",
        f"clicks/../{NOBODYS}",
        f"/etc/data/{NOBODYS}",
        f"clicks/other/{NOBODYS}",
        "clicks/data/..",
        "clicks/data/precious",
        "clicks/data",
        f"clicks/data/{NOBODYS}/b0-1",
    ],
)
def test_what_is_not_a_tasks_folder_is_set_aside(yard: MemoryYard, key: str) -> None:
    """Goal: an event that was made wrongly deletes nothing."""
    precious = yard.files.write("clicks/data/precious/file")
    yard.queues(key, CLUSTER_QUEUE)

    yard.waits()

    assert [each.key for each in yard.failed(CLUSTER_QUEUE)] == [key]
    assert yard.files.holds(precious)


def test_a_task_whose_row_is_gone_is_left_to_the_sweep(yard: MemoryYard) -> None:
    file = yard.files.write(f"{FOLDER}/part-0.parquet")
    yard.queues(NOBODYS)

    yard.waits()

    assert yard.waiting() == []
    assert yard.failed() == []
    assert yard.files.holds(file)


def test_a_batch_is_answered_in_its_order(yard: MemoryYard, dead: Dead, world: World) -> None:
    _, replica, _ = dead
    events = [
        QueuedEvent(KIND, NOBODYS),
        QueuedEvent(KIND, replica.wanted.task_id),
        QueuedEvent(KIND, FOLDER),
    ]

    handled = TaskOutput(yard.files, world.hands).handle(
        events, Context(world.store, world.leadership.term(), world.clock.now(), lambda: False)
    )

    assert [type(answer) for answer in handled.answers] == [EventDone, Later, Later]
