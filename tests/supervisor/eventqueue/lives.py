"""What the processes do that the tests kill: add and consume until nothing is left, or the end.

Started by `multiprocessing`'s forkserver, so that a life of 200 ms is not spent on imports.
"""

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Event as Signal

from supervisor.adapters.clock import SystemClock
from supervisor.core.queue.events import QueueConfig, QueuedEvent
from supervisor.eventqueue.handling import Context, EventDone, Handled
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.queues import EventQueues
from supervisor.metadata.store import SqlStore
from tests.conformance.stories import LEASE_TTL, take_lease
from tests.supervisor.eventqueue.desk import QUEUE, event
from tests.waiting import wait_until

PADDING = 400
CONFIG = QueueConfig(truncate_every_bytes=32 * 1024)
ADDED_AT_ONCE = 25


def processes() -> ForkServerContext:
    """Return where the processes come from."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "sqlalchemy.dialects.postgresql", "psycopg"])
    return context


@contextmanager
def _leads(url: str) -> Iterator[tuple[SqlStore, int]]:
    """Lead without waiting for the dead one's lease: the test knows that it is dead."""
    store = SqlStore(url, lease_ttl=LEASE_TTL)
    try:
        yield store, take_lease(store, f"life-{os.getpid()}")
    finally:
        store.close()


class _Ledger:
    """Lines of a file that outlive kill -9: one write each, appended."""

    def __init__(self, file: Path) -> None:
        self._fd = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(self, *words: object) -> None:
        os.write(self._fd, (" ".join(map(str, words)) + "\n").encode())


def adds_then_waits(url: str, ledger: Path, count: int) -> None:
    """Add to a durable queue, note each one that was committed, and hang."""
    noted = _Ledger(ledger)
    with _leads(url) as (store, term):
        queues = EventQueues(store, SystemClock(), lambda: term, Meters())
        durable = queues.for_durable_queue(QUEUE.container, QUEUE.name)
        for number in range(count):
            durable.add(event(number))
            noted.note(number)
        noted.note("hangs")
        Signal().wait()


def adds_and_consumes(url: str, ledger: Path, total: int, leads: Connection) -> None:
    """Add what is not added yet, and handle what is there, until all `total` are handled.

    Says so once it leads: its life is counted from there, not from the first connection.
    """
    noted = _Ledger(ledger)
    life = os.getpid()

    def handler(events: Sequence[QueuedEvent], _: Context) -> Handled:
        noted.note(life, *(each.key for each in events))
        return Handled([EventDone()] * len(events))

    with _leads(url) as (store, term):
        leads.send("leads")
        queues = EventQueues(store, SystemClock(), lambda: term, Meters())
        queue = queues.for_consumer(QUEUE.container, QUEUE.name, handler, CONFIG)
        queues.start()
        while (added := _added(store)) < total:
            with store.leading(term) as tx:
                for number in range(added, min(added + ADDED_AT_ONCE, total)):
                    queue.add(event(number, PADDING), tx=tx)
        wait_until(lambda: not _waiting(store))
        queues.stop(timedelta(seconds=5))


def _added(store: SqlStore) -> int:
    with store.reading() as tx:
        row = tx.events.find(QUEUE)
    return 0 if row is None else row.next_seq - 1


def _waiting(store: SqlStore) -> int:
    with store.reading() as tx:
        row = tx.events.find(QUEUE)
    return 0 if row is None else row.outstanding_events


def kill(process: BaseProcess) -> None:
    """kill -9, and wait for the end; a process may have come to its own end just before."""
    process.kill()
    process.join(10)
    assert process.exitcode in (0, -signal.SIGKILL)
