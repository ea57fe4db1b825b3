"""kill -9 at any moment: nothing is lost, order stays, at most one batch comes again.

Slow: a process is killed again and again while its queue works.
"""

import signal
from pathlib import Path

import pytest

from supervisor.adapters.clock import SystemClock
from supervisor.core.queue.events import QueueConfig
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.processor import EventProcessor, ProcessorParts
from supervisor.metadata.store import SqlStore
from tests.conformance.stories import LEASE_TTL, take_lease
from tests.supervisor.eventqueue.desk import QUEUE, Noting, numbers
from tests.supervisor.eventqueue.lives import (
    CONFIG,
    adds_and_consumes,
    adds_then_waits,
    kill,
    processes,
)
from tests.waiting import wait_until

pytestmark = [pytest.mark.chaos, pytest.mark.long]
TOTAL = 10_000
LIFE_S = 0.2
LIFE_MAX_S = 10.0
LEAST = TOTAL // 100
"""If a life consumes fewer events, the next one is longer: the machine may be busy."""


def test_a_durable_queue_outlives_the_process_that_filled_it(
    database_url: str, tmp_path: Path
) -> None:
    """Source: Q3."""
    ledger = tmp_path / "ledger"
    process = processes().Process(target=adds_then_waits, args=(database_url, ledger, 100))
    process.start()
    wait_until(lambda: ledger.exists() and ledger.read_text().endswith("hangs\n"))
    kill(process)
    assert process.exitcode == -signal.SIGKILL

    store = SqlStore(database_url, lease_ttl=LEASE_TTL)
    term = take_lease(store)
    handler = Noting()
    kit = ProcessorParts(store, SystemClock(), lambda: term, Meters())
    queue = EventProcessor(QUEUE, QueueConfig(), handler, kit)
    while queue.run_once() is not None:
        pass
    store.close()

    assert handler.keys == numbers(0, 100)


def test_ten_thousand_events_through_a_process_that_is_killed_every_200_ms(
    database_url: str, tmp_path: Path
) -> None:
    """Goal: each at least once, in order, at most one batch again per kill, the store bounded."""
    ledger = tmp_path / "ledger"
    ledger.touch()
    kills, life_s = 0, LIFE_S
    while True:
        before = _consumed(ledger)
        receiver, sender = processes().Pipe(duplex=False)
        process = processes().Process(
            target=adds_and_consumes, args=(database_url, ledger, TOTAL, sender)
        )
        process.start()
        assert receiver.poll(20), "it never leads"
        process.join(life_s)
        kill(process)
        if process.exitcode == 0:
            break
        kills += 1
        life_s += LIFE_S if _consumed(ledger) < before + LEAST else 0
        assert life_s < LIFE_MAX_S, "it never gets on"

    assert kills >= 5
    batches = _batches(ledger)
    _check_order(batches, kills)
    _check_bounds(database_url)


def _consumed(ledger: Path) -> int:
    return sum(len(numbers) for _, numbers in _batches(ledger))


def _batches(ledger: Path) -> list[tuple[str, list[int]]]:
    """Return (life, numbers) of each batch that a handler was given; the last may be cut short."""
    batches = []
    for line in ledger.read_text().splitlines():
        life, *words = line.split()
        batches.append((life, [int(word) for word in words]))
    return batches


def _check_order(batches: list[tuple[str, list[int]]], kills: int) -> None:
    seen: set[int] = set()
    reached, repeated = -1, 0
    previous_life = ""
    for life, batch in batches:
        assert batch == list(range(batch[0], batch[0] + len(batch)))
        assert len(batch) <= CONFIG.max_items_at_once
        again = [number for number in batch if number in seen]
        if again:
            assert life != previous_life, "a batch came again without a kill"
            repeated += len(again)
        assert batch[0] <= reached + 1, "an event was passed over"
        assert batch[0] > reached - CONFIG.max_items_at_once, "more than one batch came again"
        seen.update(batch)
        reached = max(reached, batch[-1])
        previous_life = life
    assert seen == set(range(TOTAL))
    assert repeated <= kills * CONFIG.max_items_at_once


def _check_bounds(database_url: str) -> None:
    store = SqlStore(database_url, lease_ttl=LEASE_TTL)
    with store.reading() as tx:
        row = tx.events.find(QUEUE)
        assert row is not None
        left = tx.events.read(row.id, 0, TOTAL)
    store.close()
    assert (row.processed_seq, row.outstanding_bytes) == (TOTAL, 0)
    one_batch = CONFIG.max_items_at_once * 1_024
    assert sum(each.size_bytes for each in left) < CONFIG.truncate_every_bytes + one_batch
