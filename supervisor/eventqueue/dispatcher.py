"""The dispatcher: a scheduler that runs due queues in parallel, with one run at a time per queue.

One thread waits, and a bounded number of threads work.  A queue without work holds no thread.  A
hanging handler keeps its thread but no longer counts against the bound, so that it does not delay
other queues.  Threads are daemons, so a handler that never returns does not keep the process alive.
"""

import heapq
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import structlog

from supervisor.core.queue.events import QueueName
from supervisor.core.values.errors import LeaseLost, SupervisorError
from supervisor.eventqueue.decide import backoff
from supervisor.eventqueue.processor import EventProcessor
from supervisor.ports.clock import Clock

log = structlog.get_logger()

Given = TypeVar("Given")
HANGING_MAX = 64
"""The maximum of hanging handlers; beyond it, queues wait until one of the handlers returns."""


HELD_UP_S = 1.0
"""Seconds that the dispatcher waits after a failed round, for example without a free thread."""


@dataclass
class _Entry:
    processor: EventProcessor
    due: float | None = None
    """When the queue runs next; None: not before a wake-up."""
    since: float | None = None
    """When the present run began."""
    hangs: bool = False
    failures: int = 0


class Dispatcher:
    """Schedules processors; `wake` may be called from any thread, also before `start`."""

    def __init__(self, clock: Clock, *, threads: int) -> None:
        self._clock = clock
        self._threads = threads
        self._changed = threading.Condition()
        self._due: list[tuple[float, QueueName]] = []
        self._entries: dict[QueueName, _Entry] = {}
        self._stopping = False
        self._thread = threading.Thread(target=self._dispatch, name="events", daemon=True)

    def start(self) -> None:
        """Begin to run due processors."""
        self._thread.start()

    @property
    def ended(self) -> bool:
        """Whether the thread has ended without `stop`, so that nothing is handled any more."""
        return self._thread.ident is not None and not self._thread.is_alive() and not self._stopping

    def stop(self, within_s: float) -> None:
        """Start no more runs, and wait at most `within_s` for the present ones."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
            running = self._changed.wait_for(lambda: not self._running(), within_s)
        if not running:
            log.warning("event handlers did not come back in time")
        if self._thread.is_alive():
            self._thread.join(timeout=within_s)

    def wake(self, processor: EventProcessor, in_s: float = 0.0) -> None:
        """Run a processor soon, or in some seconds; an earlier scheduled time stays."""
        with self._changed:
            if not self._stopping:
                entry = self._entries.setdefault(processor.queue, _Entry(processor))
                entry.processor = processor
                self._schedule(entry, self._clock.monotonic() + max(in_s, 0.0))

    def drop(self, processor: EventProcessor) -> None:
        """Never run a processor again."""
        with self._changed:
            entry = self._entries.get(processor.queue)
            if entry is not None and entry.processor is processor:
                del self._entries[processor.queue]

    def _schedule(self, entry: _Entry, at: float) -> None:
        if entry.due is None or at < entry.due:
            entry.due = at
            heapq.heappush(self._due, (at, entry.processor.queue))
            self._changed.notify_all()

    def _running(self) -> list[_Entry]:
        return [entry for entry in self._entries.values() if entry.since is not None]

    # -- the thread --------------------------------------------------------------------------------

    def _dispatch(self) -> None:
        while not self._stopping:
            try:
                self._dispatch_next()
            except Exception:  # a failed round is repeated
                log.exception("event queues are held up")
                with self._changed:
                    self._changed.wait_for(lambda: self._stopping, HELD_UP_S)

    def _dispatch_next(self) -> None:
        """Begin a due run, or wait until a run is due."""
        with self._changed:
            for late in self._overdue():
                _in_thread(_tolerating, late.processor.overdue)
                late.hangs = True
            entry = self._next()
            if entry is None:
                if not self._stopping:
                    self._changed.wait(self._wait_s())
                return
            entry.due, entry.since = None, self._clock.monotonic()
        try:
            _in_thread(self._run, entry)
        except RuntimeError:  # the system has no thread left
            with self._changed:
                entry.since = None
                self._schedule(entry, self._clock.monotonic())
            raise

    def _overdue(self) -> list[_Entry]:
        now = self._clock.monotonic()
        return [e for e in self._running() if not e.hangs and now >= _deadline(e)]

    def _next(self) -> _Entry | None:
        """Return the first due entry that does not run yet, if there is a thread for it."""
        if self._stopping:
            return None
        if not self._has_room():
            return None
        while self._due and self._due[0][0] <= self._clock.monotonic():
            at, queue = heapq.heappop(self._due)
            entry = self._entries.get(queue)
            # Skip an entry with a new time, and a running one: its return schedules it again.
            if entry is not None and entry.due == at and entry.since is None:
                return entry
        return None

    def _has_room(self) -> bool:
        running = self._running()
        hanging = sum(entry.hangs for entry in running)
        return len(running) - hanging < self._threads and hanging < HANGING_MAX

    def _wait_s(self) -> float | None:
        moments = [_deadline(entry) for entry in self._running() if not entry.hangs]
        if self._due and self._has_room():
            moments.append(self._due[0][0])
        return max(0.0, min(moments) - self._clock.monotonic()) if moments else None

    def _run(self, entry: _Entry) -> None:
        processor, failures = entry.processor, entry.failures
        structlog.contextvars.bind_contextvars(**_about(processor.queue))  # the thread ends with it
        try:
            again = processor.run_once()
            failures = 0
        except LeaseLost:
            again = None  # the next term begins with a poll of every queue
        except Exception as error:  # noqa: BLE001 -- around one run, as around a pass
            failures += 1
            again = backoff(failures, processor.config)
            _complain(processor, error)
        with self._changed:
            entry.since, entry.hangs, entry.failures = None, False, failures
            woken, entry.due = entry.due, None
            moments = [] if woken is None else [woken]
            if again is not None:
                moments.append(self._clock.monotonic() + again / timedelta(seconds=1))
            if moments and self._entries.get(processor.queue) is entry and not self._stopping:
                self._schedule(entry, min(moments))
            self._changed.notify_all()


def _about(queue: QueueName) -> dict[str, str]:
    """Return the log fields that name a queue and its container."""
    kind, _, name = queue.container.partition(":")
    field = {"supervisor": "supervisor", "table": "data_source"}.get(kind)
    return {"queue": str(queue)} if field is None else {"queue": str(queue), field: name}


def _in_thread(work: Callable[[Given], None], given: Given) -> None:
    threading.Thread(target=work, args=(given,), name="event", daemon=True).start()


def _deadline(entry: _Entry) -> float:
    assert entry.since is not None, "it runs"
    return entry.since + entry.processor.config.handler_timeout.total_seconds()


def _complain(processor: EventProcessor, error: Exception) -> None:
    expected = isinstance(error, SupervisorError)
    log.error(
        "an event queue could not be looked at",
        queue=str(processor.queue),
        error=str(error),
        exc_info=None if expected else error,
    )


def _tolerating(chore: Callable[[], None]) -> None:
    try:
        chore()
    except Exception as error:  # noqa: BLE001 -- around a run; the handler hangs all the same
        log.warning("a hanging handler could not be recorded", error=str(error))
