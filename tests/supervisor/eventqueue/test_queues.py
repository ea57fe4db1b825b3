"""Many queues in one process: opened once, run side by side, closed all at once."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from supervisor.adapters.clock import SystemClock
from supervisor.core.queue.events import QueueConfig, QueuedEvent, QueueMode, QueueName
from supervisor.core.values.errors import LeaseLost
from supervisor.eventqueue import dispatcher
from supervisor.eventqueue.handling import Context, EventDone, Handled
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.queues import EventQueues
from supervisor.ports.store import Store
from tests.conformance.stories import take_lease
from tests.supervisor.eventqueue.desk import Noting, event, numbers
from tests.waiting import wait_until

FAST = QueueConfig(iteration_delay=timedelta(milliseconds=10))
NAME = "work"


class House:
    """The queues of one leading process, on the real clock."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.term: int | None = take_lease(store)
        self.meters = Meters()
        self.queues = EventQueues(store, SystemClock(), self.leads, self.meters)

    def leads(self) -> int:
        if self.term is None:
            raise LeaseLost("a story")
        return self.term

    def outstanding(self, container: str, name: str = NAME) -> int:
        with self.store.reading() as tx:
            row = tx.events.find(QueueName(container, name))
        return 0 if row is None else row.outstanding_events

    def adds(self, container: str, count: int, config: QueueConfig = FAST) -> None:
        """Add as other parts of the overlord do: by the transaction alone."""
        with self.store.leading(self.leads()) as tx:
            for number in range(count):
                now = SystemClock().now()
                tx.events.add(QueueName(container, NAME), event(number), config, now)


@pytest.fixture
def house(store: Store) -> Iterator[House]:
    house = House(store)
    house.queues.start()
    yield house
    house.queues.stop(timedelta(seconds=5))


class Held:
    """A handler that does not come back before it is let go."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.let_go = threading.Event()
        self.runs = 0
        self.at_once = 0
        self.most_at_once = 0
        self._lock = threading.Lock()

    def __call__(self, events: Sequence[QueuedEvent], _: Context) -> Handled:
        with self._lock:
            self.runs += 1
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        self.entered.set()
        try:
            assert self.let_go.wait(30)
        finally:
            with self._lock:
                self.at_once -= 1
        return Handled([EventDone()] * len(events))


def test_a_name_gives_the_same_queue_also_when_opened_at_once(house: House) -> None:
    """Source: Q2."""
    handlers = [Noting() for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        opened = list(pool.map(lambda h: house.queues.for_consumer("cluster", NAME, h), handlers))
    assert len({id(each) for each in opened}) == 1
    opened[0].add(event(0))
    wait_until(lambda: house.outstanding("cluster") == 0)
    assert sorted(len(h.batches) for h in handlers) == [0, 0, 1]


def test_a_commit_wakes_the_consumer(house: House) -> None:
    handler = Noting()
    house.queues.for_consumer("cluster", NAME, handler, FAST)
    house.adds("cluster", 25)
    wait_until(lambda: len(handler.keys) == 25)
    assert handler.keys == numbers(0, 25)


def test_a_family_consumes_the_queue_of_its_name_in_every_container(house: House) -> None:
    handler = Noting()
    house.queues.for_every_container(NAME, handler, FAST)
    for container in ("supervisor:a", "supervisor:b", "cluster"):
        house.adds(container, 5)
    wait_until(lambda: len(handler.keys) == 15)
    assert house.queues.config_of(QueueName("supervisor:c", NAME)) == FAST


def test_what_was_added_before_is_found_by_a_poll(store: Store) -> None:
    """Goal: a new leader goes on with what the old one left."""
    house = House(store)
    house.adds("supervisor:a", 12)
    handler = Noting()
    house.queues.for_every_container(NAME, handler, FAST)
    house.queues.start()
    house.queues.poll()
    wait_until(lambda: house.outstanding("supervisor:a") == 0)
    house.queues.stop()
    assert handler.keys == numbers(0, 12)


def test_a_poll_finds_what_a_clock_ahead_has_put_off(store: Store) -> None:
    """Goal: a new leader does not sleep until its clock has caught up.  Source: H1."""
    house, ahead = House(store), SystemClock().now() + timedelta(days=1)
    soon = replace(FAST, delay=timedelta(milliseconds=10))
    with store.leading(house.leads()) as tx:
        tx.events.add(QueueName("supervisor:a", NAME), event(0), soon, ahead)
    handler = Noting()
    house.queues.for_every_container(NAME, handler, soon)
    house.queues.start()
    house.queues.poll()
    wait_until(lambda: house.outstanding("supervisor:a") == 0)
    house.queues.stop()
    assert handler.keys == ["0"]


def test_a_durable_queue_may_be_consumed_later(house: House) -> None:
    durable = house.queues.for_durable_queue("cluster", NAME)
    assert durable.config.mode is QueueMode.DURABLE
    for number in range(5):
        durable.add(event(number))
    assert house.queues.for_durable_queue("cluster", NAME) is durable
    handler = Noting()
    house.queues.for_consumer("cluster", NAME, handler)
    wait_until(lambda: house.outstanding("cluster") == 0)
    assert handler.keys == numbers(0, 5)


def test_a_failing_queue_delays_no_other(house: House) -> None:
    """Source: Q12."""
    sound = {name: Noting() for name in ("supervisor:a", "supervisor:b")}
    broken = Noting(fails=lambda _: "a bug")
    for container, handler in [*sound.items(), ("supervisor:c", broken)]:
        house.queues.for_consumer(container, NAME, handler, FAST)
    for container in ("supervisor:c", *sound):
        house.adds(container, 50)
    wait_until(lambda: all(len(handler.keys) == 50 for handler in sound.values()))
    wait_until(lambda: len(broken.batches) > 3)
    assert house.outstanding("supervisor:c") == 50


def test_handlers_that_hang_hold_up_their_own_queues_alone(house: House) -> None:
    """Goal: more of them than there are threads; each counts as failed, none runs twice at once."""
    quick = QueueConfig(handler_timeout=timedelta(milliseconds=50))
    hung = [Held() for _ in range(6)]
    for number, handler in enumerate(hung):
        house.queues.for_consumer(f"supervisor:{number}", NAME, handler, quick)
        house.adds(f"supervisor:{number}", 1)
    wait_until(lambda: all(handler.entered.is_set() for handler in hung))
    sound = Noting()
    house.queues.for_consumer("cluster", NAME, sound, FAST)
    house.adds("cluster", 30)
    wait_until(lambda: len(sound.keys) == 30)
    wait_until(
        lambda: all(
            house.meters.of(QueueName(f"supervisor:{n}", NAME)).failed_iterations for n in range(6)
        )
    )
    for handler in hung:
        handler.let_go.set()
    wait_until(lambda: not any(house.outstanding(f"supervisor:{n}") for n in range(6)))
    assert {handler.most_at_once for handler in hung} == {1}


def test_a_thousand_queues_are_closed_at_once(house: House) -> None:
    """Goal: no thread per queue, no deadlock.  Source: Q13."""
    before = threading.active_count()
    handler = Noting()
    opened = [house.queues.for_consumer(f"supervisor:{n}", NAME, handler) for n in range(1_000)]
    with house.store.leading(house.leads()) as tx:
        for each in opened[::10]:
            each.add(event(1), tx=tx)
    assert threading.active_count() < before + 20
    with ThreadPoolExecutor(64) as pool:
        assert all(pool.map(lambda each: each.close(), opened * 2))
    assert threading.active_count() < before + 20


def test_a_thousand_idle_queues_have_nothing_scheduled(house: House) -> None:
    """Goal: idle queues cost nothing: the one thread sleeps until it is told."""
    for number in range(1_000):
        house.queues.for_consumer(f"supervisor:{number}", NAME, Noting())
    dispatcher = house.queues._dispatcher

    def rests() -> bool:
        with dispatcher._changed:
            return dispatcher._wait_s() is None

    wait_until(rests)


def test_closing_waits_for_the_running_handler_up_to_its_limit(house: House) -> None:
    held = Held()
    config = QueueConfig(shutdown_timeout=timedelta(milliseconds=50))
    queue = house.queues.for_consumer("cluster", NAME, held, config)
    house.adds("cluster", 20)
    assert held.entered.wait(10)
    assert not queue.close()
    held.let_go.set()
    wait_until(queue.close)  # the limit is short, and what was handled is yet to be written
    assert held.runs == 1


def test_a_closed_queue_may_be_opened_again(house: House) -> None:
    first, second = Noting(), Noting()
    house.queues.for_consumer("cluster", NAME, first).close()
    house.adds("cluster", 3)
    house.queues.for_consumer("cluster", NAME, second)
    wait_until(lambda: second.keys == numbers(0, 3))
    assert first.keys == []


def test_a_stopping_process_tells_its_handlers(house: House) -> None:
    entered = threading.Event()
    stopped = threading.Event()

    def handler(_: Sequence[QueuedEvent], context: Context) -> Handled:
        entered.set()
        wait_until(context.stopping)
        stopped.set()
        raise InterruptedError("the process ends")

    house.queues.for_consumer("cluster", NAME, handler, FAST)
    house.adds("cluster", 1)
    assert entered.wait(10)
    house.queues.stop(timedelta(seconds=10))
    assert stopped.is_set()
    assert house.outstanding("cluster") == 1


def test_a_process_that_lost_the_lease_handles_no_more_until_its_next_term(house: House) -> None:
    handler = Noting()
    house.queues.for_consumer("cluster", NAME, handler, FAST)
    term, house.term = house.term, None
    with house.store.leading(term or 0) as tx:
        now = SystemClock().now()
        tx.events.add(QueueName("cluster", NAME), event(0), FAST, now)
    house.queues.wake(QueueName("cluster", NAME))
    house.term = term
    assert house.outstanding("cluster") == 1 or handler.keys == numbers(0, 1)
    house.queues.poll()
    wait_until(lambda: handler.keys == numbers(0, 1))


def test_a_system_without_threads_holds_queues_up_and_does_not_end_them(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: what could not be begun is begun once there is a thread again."""
    sound, refused = dispatcher._in_thread, threading.Event()

    def in_thread(work: Callable[[object], None], given: object) -> None:
        if not refused.is_set():
            refused.set()
            raise RuntimeError("can't start new thread")
        sound(work, given)

    monkeypatch.setattr(dispatcher, "_in_thread", in_thread)
    noting = Noting()
    house.adds("a", 3)
    house.queues.for_consumer("a", NAME, noting, FAST)
    assert refused.wait(30)

    wait_until(lambda: house.outstanding("a") == 0)
    assert not house.queues.ended
