"""The pipeline of a persister: records that wait, writers that store them, one outcome for each.

    submit ─► waiting ─writer─► skipped, dead letter, log store, report store ─► done

A free writer takes at once what waits, up to a batch.  So nothing waits while there is no pressure,
and batches form when there is.  A batch that failed goes back to the front, and its records that
are done are left out.  A record is done when each of its parts is stored, or when its dead letter
is acknowledged, and never before.
"""

import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import islice

import structlog

from supervisor.core.reports.batches import BatchBounds
from supervisor.core.reports.flow import InFlight
from supervisor.core.reports.pace import PaceBucket
from supervisor.core.reports.status import (
    BackOff,
    PersisterState,
    PersisterStatus,
    StoreOutcome,
)
from supervisor.ports.reports.feed import FeedPartition
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from supervisor.reports.incoming import Incoming
from supervisor.reports.meters import PersisterMeters
from supervisor.reports.storing import Storing

__all__ = ["Pipeline", "PipelineOptions", "PipelineStatus"]

log = structlog.get_logger()

_IDLE_S = 1.0
"""How long a writer sleeps at most while nothing comes."""


@dataclass(frozen=True)
class PipelineOptions:
    """Bounds and pace."""

    writers: int = 4
    batch: BatchBounds = field(default_factory=BatchBounds)
    back_off: BackOff = field(default_factory=BackOff)
    records_per_s: float | None = None
    bytes_per_s: float | None = None


@dataclass(frozen=True)
class PipelineStatus:
    """The pipeline now."""

    status: PersisterStatus
    in_flight: InFlight
    oldest_s: float
    """Since when the oldest record waits or is being stored; 0: there is none."""


@dataclass
class _Waiting:
    item: Incoming
    since: float


class Pipeline:
    """Writers over the stores; thread-safe."""

    def __init__(
        self,
        storing: Storing,
        options: PipelineOptions | None = None,
        meters: PersisterMeters | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Prepare; `start` begins.  `chance` scatters the waits between tries, from 0 to 1."""
        self._storing, self._chance = storing, chance
        self.options = options or PipelineOptions()
        self.meters = meters or PersisterMeters()
        self._records = _bucket(self.options.records_per_s)
        self._bytes = _bucket(self.options.bytes_per_s)
        self._batch = self.options.batch.within_rate(
            None if self._records is None else self._records.capacity
        )
        self._news = threading.Condition()
        self._waiting: deque[_Waiting] = deque()
        self._in_hand: dict[int, Sequence[_Waiting]] = {}
        """Writer -> the batch that it stores."""
        self._status = PersisterStatus()
        self._epoch = 0
        """Of failures: writers that fail together have failed once."""
        self._retry_at = 0.0
        self._killed = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Start the writers; the first thing they do is to try the stores."""
        for number in range(self.options.writers):
            thread = threading.Thread(
                target=self._run, args=(number,), name=f"report-store-{number}", daemon=True
            )
            self._threads.append(thread)
            thread.start()

    def submit(self, items: Collection[Incoming]) -> None:
        """Let records be stored; it never waits, so the caller heeds `status().in_flight`."""
        now = time.monotonic()
        with self._news:
            self._waiting.extend(_Waiting(item, now) for item in items)
            self._news.notify(len(items))

    def discard(self, places: Collection[FeedPartition], within_s: float) -> None:
        """Forget what waits of these partitions, and wait for what is being stored of them."""
        gone = set(places)
        with self._news:
            self._waiting = deque(each for each in self._waiting if _place(each) not in gone)
            self._news.wait_for(
                lambda: (
                    not any(
                        _place(each) in gone for batch in self._in_hand.values() for each in batch
                    )
                ),
                within_s,
            )

    def status(self) -> PipelineStatus:
        """Return how it is, and what is under way."""
        with self._news:
            under_way = [*self._waiting, *(e for b in self._in_hand.values() for e in b)]
            size = sum(len(each.item.body) for each in under_way)
            oldest = min((each.since for each in under_way), default=None)
            return PipelineStatus(
                self._status,
                InFlight(len(under_way), size),
                0.0 if oldest is None else time.monotonic() - oldest,
            )

    @property
    def state(self) -> PersisterState:
        """The state alone: `status` looks at each record that is under way."""
        with self._news:
            return self._status.state

    def pause(self, reason: str) -> None:
        """Store nothing from now on, until `resume`; what is being stored is finished."""
        with self._news:
            self._status = self._status.paused(reason)

    def resume(self) -> None:
        """Try again at once."""
        with self._news:
            self._status = self._status.ready()
            self._epoch += 1
            self._retry_at = 0.0
            self._news.notify_all()

    def stop(self, within_s: float) -> bool:
        """Store what waits, and end; return False if it was not all stored within `within_s`."""
        deadline = time.monotonic() + within_s
        with self._news:
            self._status = self._status.drained()
            self._news.notify_all()
        for thread in self._threads:
            thread.join(max(deadline - time.monotonic(), 0.0))
        self._killed.set()
        with self._news:
            whole = not self._waiting and not self._in_hand
            self._status = self._status.ended()
            self._waiting.clear()
            self._news.notify_all()
        return whole

    def _run(self, writer: int) -> None:
        while (taken := self._take(writer)) is not None:
            batch, epoch = taken
            began = time.monotonic()
            left, outcome, reason = self._try([each.item for each in batch])
            if batch:
                self.meters.batch(len(batch), time.monotonic() - began)
            with self._news:
                unfinished = [each for each in batch if each.item in left]
                self._waiting.extendleft(reversed(unfinished))
                del self._in_hand[writer]
                self._judge(epoch, outcome, reason)
                self._news.notify_all()

    def _try(self, batch: Sequence[Incoming]) -> tuple[Collection[Incoming], StoreOutcome, str]:
        """Store a batch; return what is not done, and how the try as a whole ended."""
        left = dict.fromkeys(batch)

        def done(item: Incoming, outcome: StoreOutcome) -> None:
            del left[item]
            self.meters.done(outcome, len(item.body))
            item.done(item, outcome)

        try:
            if batch:
                self._keep_pace(batch)
                self._storing.store(batch, done)
            else:
                self._storing.ping()
        except StoreAway as error:
            return left, StoreOutcome.DEFERRED, str(error)
        except StoreRefuses as error:
            return left, StoreOutcome.FATAL, str(error)
        except Exception as error:
            # A fault of ours must not lose records, nor end the writer: it is tried again, seen.
            log.exception("a batch of reports was not stored")
            return left, StoreOutcome.DEFERRED, f"{type(error).__name__}: {error}"
        return left, StoreOutcome.STORED, ""

    def _take(self, writer: int) -> tuple[Sequence[_Waiting], int] | None:
        """Return a batch, or an empty one to try the stores alone; None: it is to end."""
        with self._news:
            while not self._killed.is_set():
                now = time.monotonic()
                if self._is_over():
                    return None
                wait_s = self._wait_s(now)
                if wait_s <= 0.0 and (self._waiting or self._is_unsure()):
                    number = self._batch.length_of(len(each.item.body) for each in self._waiting)
                    batch = [*islice(self._waiting, number)]
                    for _ in batch:
                        self._waiting.popleft()
                    self._in_hand[writer] = batch
                    return batch, self._epoch
                self._news.wait(min(max(wait_s, 0.0), _IDLE_S) or _IDLE_S)
            return None

    def _is_over(self) -> bool:
        draining = self._status.state is PersisterState.DRAINING
        return draining and not self._waiting and not self._in_hand

    def _is_unsure(self) -> bool:
        """Whether the stores are to be tried even if nothing waits; by one writer at once."""
        unsure = {PersisterState.STARTING, PersisterState.BACKING_OFF}
        return self._status.state in unsure and not self._in_hand

    def _wait_s(self, now: float) -> float:
        """Return how long no writer may try; more than `_IDLE_S` without a known end."""
        if self._status.state is PersisterState.STOPPED:
            return 2 * _IDLE_S
        return self._retry_at - now

    def _judge(self, epoch: int, outcome: StoreOutcome, reason: str) -> None:
        """Note how a try ended; of writers that failed in one epoch the first counts."""
        if outcome is StoreOutcome.STORED:
            if epoch == self._epoch:
                self._status = self._status.succeeded()
            return
        self.meters.failed()
        if epoch != self._epoch:
            return
        before = self._status.state
        self._epoch += 1
        self._status = self._status.failed(outcome, reason, self.options.back_off)
        tries = max(self._status.tries, 1)
        self._retry_at = time.monotonic() + self.options.back_off.wait_s(tries, self._chance())
        if self._status.state is not before:
            log.warning("reports wait in their topics", state=self._status.state, why=reason)

    def _keep_pace(self, batch: Sequence[Incoming]) -> None:
        """Wait until the pace allows a batch; all writers share the tokens."""
        wanted: Counter[str] = Counter(records=len(batch), bytes=sum(len(e.body) for e in batch))
        for name, bucket in (("records", self._records), ("bytes", self._bytes)):
            while bucket is not None and not self._killed.is_set():
                with self._news:
                    now = time.monotonic()
                    wait_s = bucket.wait_s(wanted[name], now)
                    if wait_s <= 0.0:
                        bucket.take(wanted[name], now)
                        break
                self.meters.waited(wait_s)
                self._killed.wait(wait_s)


def _bucket(rate: float | None) -> PaceBucket | None:
    return None if rate is None else PaceBucket(rate)


def _place(waiting: _Waiting) -> FeedPartition:
    return FeedPartition(waiting.item.topic, waiting.item.partition)
