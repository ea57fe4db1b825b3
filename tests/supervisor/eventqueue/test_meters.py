"""What a process counts of its queues."""

import threading

import pytest

from supervisor.core.queue.events import QueueName
from supervisor.eventqueue.meters import BATCH_BOUNDS_S, LATENCIES_KEPT, Latency, Meter, Meters

CLICKS = QueueName("supervisor:clicks", "task-output")
ORDERS = QueueName("supervisor:orders", "task-output")


def test_a_queue_that_was_never_used_has_counted_nothing() -> None:
    meters = Meters()

    assert meters.of(CLICKS) == Meter()
    assert meters.all() == {}


def test_each_queue_counts_for_itself() -> None:
    """Goal: one supervisor's stuck queue does not show on another's."""
    meters = Meters()
    meters.failed_iteration(ORDERS)
    meters.failed_events(CLICKS, 2)
    meters.failed_events(CLICKS, 3)
    meters.truncated(CLICKS)
    meters.refused(CLICKS, "EventTooLarge")
    meters.refused(CLICKS, "EventTooLarge")
    meters.refused(CLICKS, "QueueDead")

    clicks = meters.of(CLICKS)

    assert list(meters.all()) == [CLICKS, ORDERS]
    assert (clicks.failed_events, clicks.truncations, clicks.failed_iterations) == (5, 1, 0)
    assert clicks.refused == {"EventTooLarge": 2, "QueueDead": 1}
    assert meters.of(ORDERS).failed_iterations == 1


def test_99_of_100_events_are_not_slower_than_the_p99() -> None:
    meters = Meters()
    meters.handled(CLICKS, [float(number) for number in range(100, 0, -1)])

    assert meters.of(CLICKS).latency == Latency(average_s=50.5, p99_s=99.0, count=100)


def test_one_event_is_its_own_average_and_p99() -> None:
    meters = Meters()
    meters.handled(CLICKS, [7.0])

    assert meters.of(CLICKS).latency == Latency(7.0, 7.0, 1)


def test_latency_is_of_the_newest_events_and_the_count_of_all() -> None:
    """Goal: an hour of trouble long ago does not colour what is told now, nor fill memory."""
    meters = Meters()
    meters.handled(CLICKS, [3_600.0] * 50)
    meters.handled(CLICKS, [1.0] * LATENCIES_KEPT)

    meter = meters.of(CLICKS)

    assert meter.handled == LATENCIES_KEPT + 50
    assert meter.latency == Latency(1.0, 1.0, LATENCIES_KEPT)


@pytest.mark.parametrize(
    ("seconds", "bucket"),
    [
        (0.0, 0),
        (BATCH_BOUNDS_S[0], 0),
        (BATCH_BOUNDS_S[0] * 1.01, 1),
        (BATCH_BOUNDS_S[-1], len(BATCH_BOUNDS_S) - 1),
        (BATCH_BOUNDS_S[-1] + 1, len(BATCH_BOUNDS_S)),
    ],
)
def test_a_batch_falls_into_the_bucket_whose_bound_it_does_not_exceed(
    seconds: float, bucket: int
) -> None:
    meters = Meters()
    meters.batch(CLICKS, seconds)

    batches = meters.of(CLICKS).batches

    assert [number for number, count in enumerate(batches.buckets) if count] == [bucket]
    assert (batches.count, batches.seconds) == (1, seconds)


def test_what_was_told_does_not_change_afterwards() -> None:
    meters = Meters()
    meters.refused(CLICKS, "QueueDead")
    before = meters.of(CLICKS)

    meters.refused(CLICKS, "QueueDead")

    assert before.refused == {"QueueDead": 1}


def test_threads_lose_no_count() -> None:
    meters = Meters()

    def work() -> None:
        for _ in range(500):
            meters.handled(CLICKS, [0.5, 0.5])
            meters.refused(CLICKS, "QueueDead")
            meters.all()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    found = meters.of(CLICKS)
    assert (found.handled, found.refused["QueueDead"]) == (4_000, 2_000)
