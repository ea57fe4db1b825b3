"""What people do with queues: look, replay, drop, repair; on every backing."""

from dataclasses import replace
from datetime import timedelta

import pytest

from supervisor.adapters.manual_clock import ManualClock
from supervisor.core.queue.events import (
    CLUSTER,
    QueueConfig,
    QueueHealth,
    QueueMode,
    QueueName,
    decode,
    encode,
)
from supervisor.core.values.errors import (
    FailedEventNotFound,
    LeaseLost,
    NotReplayable,
    QueueDead,
    QueueNotDead,
    QueueNotFound,
)
from supervisor.eventqueue.operations import REPLAYED_MAX, Repaired, ReplayedAll
from tests.conformance.stories import NOON
from tests.supervisor.eventqueue.desk import QUEUE, SECOND, Desk, event, fill, numbers
from tests.supervisor.eventqueue.office import CONFIG, HARMED, Office

NOBODY = QueueName(CLUSTER, "nobody")


@pytest.fixture
def office(desk: Desk) -> Office:
    """An operator and a queue to which nothing was added yet."""
    return Office(desk)


@pytest.fixture
def used(office: Office) -> Office:
    """An operator at a queue that has taken twenty events and handled them."""
    with office.desk.writes() as tx:
        for number in range(20):
            office.processor.add(event(number), tx=tx, exempt=True)
    office.desk.runs(office.processor)
    office.handler.batches.clear()
    return office


# -- looking ---------------------------------------------------------------------------------------


def test_an_idle_queue_is_healthy_and_has_no_oldest_event(used: Office) -> None:
    [view] = used.queues.rows()

    assert (view.row.queue, view.healthy, view.why) == (QUEUE, True, "")
    assert (view.oldest, view.failed_events, view.row.outstanding_events) == (None, 0, 0)
    assert view.meter.handled == 20
    assert view == used.queues.show(QUEUE)


def test_the_age_of_a_queue_is_that_of_its_first_waiting_event(used: Office) -> None:
    fill(used.processor, 1)
    used.desk.clock.advance(SECOND * 30)
    fill(used.processor, 1)
    used.desk.clock.advance(SECOND * 10)

    oldest = used.queues.show(QUEUE).oldest

    assert oldest is not None
    assert (oldest.seq, oldest.kind, oldest.key) == (21, "count", "0")
    assert (oldest.age, oldest.due_at - oldest.enqueued_at) == (SECOND * 40, CONFIG.delay)


def test_a_queue_above_its_limit_is_unhealthy_and_names_its_oldest_event(used: Office) -> None:
    """Source: protocol rule P24."""
    with used.desk.writes() as tx:
        for number in range(10):
            used.processor.add(event(number), tx=tx, exempt=True)

    why = used.queues.show(QUEUE).why

    assert "the limit is 500" in why
    assert "event 21 (count, 0)" in why


def test_a_durable_queue_has_no_limit_to_be_above_of(office: Office) -> None:
    config = QueueConfig(mode=QueueMode.DURABLE)
    with office.desk.writes() as tx:
        for number in range(10):
            tx.events.add(QUEUE, event(number), config, NOON)

    assert office.queues.show(QUEUE).healthy


def test_a_failing_queue_says_where_and_why(used: Office) -> None:
    used.handler.fails = lambda _: "no such bucket"
    fill(used.processor, 1)
    used.desk.runs(used.processor, looks=3)

    why = used.queues.show(QUEUE).why

    assert "2 times in a row" in why
    assert "event 21" in why
    assert "no such bucket" in why


def test_a_dead_queue_says_which_command_repairs_it(office: Office) -> None:
    office.dies(5)

    view = office.queues.show(QUEUE)

    assert "tidegate queue repair supervisor:clicks work" in view.why
    assert [row.queue for row in office.queues.dead()] == [QUEUE]


def test_a_queue_that_nobody_added_to_is_not_found(used: Office) -> None:
    for call in (
        lambda: used.queues.show(NOBODY),
        lambda: used.queues.failed(NOBODY, 1),
        lambda: used.queues.replay(NOBODY, 1, "ann"),
        lambda: used.queues.replay_all(NOBODY, "ann"),
        lambda: used.queues.drop(NOBODY, 1, "ann"),
        lambda: used.queues.repair(NOBODY, "ann"),
    ):
        with pytest.raises(QueueNotFound) as refused:
            call()
        assert (refused.value.container, refused.value.queue) == ("cluster", "nobody")


# -- failed events ---------------------------------------------------------------------------------


def test_a_replayed_event_is_handled_again_as_if_it_was_new(used: Office) -> None:
    """Goal: it goes to the tail, its tries count anew, and it is in one place at a time."""
    used.set_aside((7, encode(replace(event(6), attempts=3))))

    used.queues.replay(QUEUE, 7, "ann")

    [waits] = used.waiting()
    assert (waits.seq, decode(waits.payload)) == (21, event(6))
    assert waits.due_at == used.desk.clock.now() + CONFIG.delay
    assert used.queues.failed(QUEUE, 10)[0] == []
    assert used.woken == [QUEUE]
    audited = used.audited()
    assert (audited.actor, audited.action) == ("ann", "queue-replay")
    assert (audited.subject, audited.detail) == (str(QUEUE), {"seq": "7", "key": "6"})
    used.desk.runs(used.processor)
    assert used.handler.keys == ["6"]


def test_a_full_queue_takes_replayed_events(used: Office) -> None:
    """Goal: they settle work that exists: no brake is for them (P24)."""
    used.set_aside((7, encode(event(6))))
    with used.desk.writes() as tx:
        for number in range(20):
            used.processor.add(event(number), tx=tx, exempt=True)

    used.queues.replay(QUEUE, 7, "ann")

    assert [decode(row.payload).key for row in used.waiting()][-1] == "6"


@pytest.mark.parametrize(
    ("payload", "reason", "message"),
    [
        (b"\xff", "it cannot be decoded", "not an event"),
        (b'{"v": 2}', "it cannot be decoded", "version 2"),
        (encode(event(6)), "damaged: the checksum does not fit", "the checksum does not fit"),
        (encode(event(6, padding=1 << 20)), "it failed", "too large"),
    ],
)
def test_what_is_no_sound_event_is_not_replayed_and_stays(
    used: Office, payload: bytes, reason: str, message: str
) -> None:
    """Goal: a damaged event that happens to be readable is not acted upon."""
    used.set_aside((7, payload), reason=reason)

    with pytest.raises(NotReplayable) as refused:
        used.queues.replay(QUEUE, 7, "ann")

    assert message in str(refused.value)
    assert "tidegate queue drop supervisor:clicks work 7" in str(refused.value)
    assert [failed.seq for failed in used.queues.failed(QUEUE, 10)[0]] == [7]
    assert not used.waiting()
    assert not used.woken


def test_all_failed_events_are_replayed_in_their_order_but_for_those_that_cannot(
    used: Office,
) -> None:
    used.set_aside((3, encode(event(2))), (5, b"\xff"), (9, encode(event(8))))

    done = used.queues.replay_all(QUEUE, "ann")

    assert done == ReplayedAll(replayed=2, left=1)
    assert [decode(row.payload).key for row in used.waiting()] == ["2", "8"]
    assert [failed.seq for failed in used.queues.failed(None, 10)[0]] == [5]
    assert used.audited().detail == {"replayed": "2", "left": "1"}


def test_a_replay_of_all_is_bounded_and_tells_what_is_left(used: Office) -> None:
    used.set_aside(*((seq, encode(event(seq))) for seq in range(1, REPLAYED_MAX + 4)))

    assert used.queues.replay_all(QUEUE, "ann") == ReplayedAll(REPLAYED_MAX, 3)
    assert used.queues.replay_all(QUEUE, "ann") == ReplayedAll(3, 0)


def test_a_dropped_event_is_gone_and_its_key_and_reason_are_on_record(used: Office) -> None:
    used.set_aside((7, encode(event(6))))

    used.queues.drop(QUEUE, 7, "ann")

    assert not used.queues.failed(QUEUE, 10)[0]
    assert not used.waiting()
    audited = used.audited()
    assert (audited.action, audited.detail["key"]) == ("queue-drop", "7")
    assert audited.detail["reason"] == "it cannot work"


def test_a_failed_event_is_replayed_or_dropped_once(used: Office) -> None:
    used.set_aside((7, encode(event(6))), (8, encode(event(7))))
    used.queues.replay(QUEUE, 7, "ann")
    used.queues.drop(QUEUE, 8, "ann")

    for seq in (7, 8):
        with pytest.raises(FailedEventNotFound):
            used.queues.replay(QUEUE, seq, "ann")
        with pytest.raises(FailedEventNotFound):
            used.queues.drop(QUEUE, seq, "ann")
        with pytest.raises(FailedEventNotFound):
            used.queues.failed_event(QUEUE, seq)
    assert len(used.waiting()) == 1


def test_nothing_is_replayed_into_a_dead_queue(office: Office) -> None:
    office.dies(5)
    office.set_aside((1, encode(event(0))))

    for replays in (
        lambda: office.queues.replay(QUEUE, 1, "ann"),
        lambda: office.queues.replay_all(QUEUE, "ann"),
    ):
        with pytest.raises(QueueDead):
            replays()

    assert [failed.seq for failed in office.queues.failed(QUEUE, 10)[0]] == [1]


# -- repair ----------------------------------------------------------------------------------------


def test_a_repair_sets_the_damaged_aside_and_keeps_the_order_of_the_rest(office: Office) -> None:
    """Goal: what is sound is handled, in order, with its tries counted on and at its time."""
    office.dies(5, 8)
    due = {row.due_at for row in office.waiting()}

    done = office.queues.repair(QUEUE, "ann")

    assert done == Repaired(again=6, set_aside=2, missing=0)
    assert office.desk.row().state is QueueHealth.LIVE
    waiting = office.waiting()
    assert [decode(row.payload).key for row in waiting] == ["2", "3", "5", "6", "8", "9"]
    assert {decode(row.payload).attempts for row in waiting} == {2}
    assert {row.due_at for row in waiting} == due
    assert [(f.seq, f.payload) for f in office.queues.failed(QUEUE, 10)[0]] == [
        (5, HARMED),
        (8, HARMED),
    ]
    audited = office.audited()
    assert (audited.action, audited.detail["position"]) == ("queue-repair", "5")
    assert (audited.detail["again"], audited.detail["set_aside"]) == ("6", "2")
    assert office.woken == [QUEUE]


def test_a_repair_by_a_clock_behind_lets_nothing_wait_longer_than_was_meant(
    office: Office,
) -> None:
    """Source: H1."""
    office.dies(5)
    behind = ManualClock(NOON - timedelta(days=1))
    queues = replace(office.queues, clock=behind)

    queues.repair(QUEUE, "ann")

    assert {row.due_at for row in office.waiting()} == {behind.now() + CONFIG.delay}


def test_a_repaired_queue_is_handled_to_its_end(office: Office) -> None:
    office.dies(5)
    office.queues.repair(QUEUE, "ann")
    fill(office.processor, 1)

    office.desk.runs(office.processor)

    assert office.handler.keys[-8:] == [*numbers(2, 4), *numbers(5, 10), "0"]
    assert office.queues.show(QUEUE).why == ""


def test_what_was_damaged_is_never_replayed(office: Office) -> None:
    office.dies(5)
    office.queues.repair(QUEUE, "ann")

    with pytest.raises(NotReplayable):
        office.queues.replay(QUEUE, 5, "ann")

    assert office.queues.replay_all(QUEUE, "ann") == ReplayedAll(0, 1)


def test_a_repair_tells_how_many_events_are_lost(office: Office) -> None:
    office.dies(lost=4)

    assert office.queues.repair(QUEUE, "ann") == Repaired(again=7, set_aside=0, missing=1)


def test_a_sound_event_of_a_newer_version_is_set_aside_by_a_repair(office: Office) -> None:
    """Goal: a repair does not die of what it cannot read; a later version replays it."""
    with office.desk.writes() as tx:
        tx.events.add(QUEUE, replace(event(0), attempts="many"), CONFIG, NOON)  # type: ignore[arg-type]  # as a newer version may
        office.processor.add(event(1), tx=tx)
    with office.desk.writes() as tx:
        tx.events.declare_dead(office.desk.row(), 1, "somebody says so")

    done = office.queues.repair(QUEUE, "ann")

    assert done == Repaired(again=1, set_aside=1, missing=0)
    [failed] = office.queues.failed(QUEUE, 10)[0]
    assert "not an event" in failed.reason


def test_only_a_dead_queue_is_repaired(used: Office) -> None:
    before = used.desk.row()

    with pytest.raises(QueueNotDead):
        used.queues.repair(QUEUE, "ann")

    assert used.desk.row() == before
    assert used.woken == []


def test_only_the_leader_changes_anything(office: Office) -> None:
    office.dies(5)
    office.set_aside((1, encode(event(0))))
    office.desk.held_term -= 1

    for verb in (
        lambda: office.queues.replay(QUEUE, 1, "ann"),
        lambda: office.queues.replay_all(QUEUE, "ann"),
        lambda: office.queues.drop(QUEUE, 1, "ann"),
        lambda: office.queues.repair(QUEUE, "ann"),
    ):
        with pytest.raises(LeaseLost):
            verb()

    assert office.desk.row().state is QueueHealth.DEAD
    assert [failed.seq for failed in office.queues.failed(QUEUE, 10)[0]] == [1]
