"""The samples of one worker: read beside its tasks, answered once, forgotten.

    listed, new ─► waits ─► read ─► answered, or nobody waits any more ─► forgotten
    no longer listed, or out of time ─► cancelled

Samples are neither stored nor reported.  The caller repeats a request whose sample was lost.
"""

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from threading import Condition, Thread, Timer

import structlog

from tasks.contract.connection_policy import connection_refusal
from tasks.contract.sample import DesiredSample, SampleAnswer
from tasks.ports import (
    BatchCancelled,
    Fenced,
    OverlordRefused,
    OverlordUnavailable,
    Sampler,
    StreamTimeout,
    TaskError,
)
from tasks.worker.options import WorkerOptions
from tasks.worker.runner import World

_SEEN_MAX = 1_000
_TEXT_MAX = 4_000
_ANSWER_BYTES_MAX = 12 * 1024 * 1024
"""An overlord takes messages up to 16 MiB."""


class WorkerSamples:
    """All samples of one incarnation of a worker; safe to call from many threads."""

    def __init__(self, world: World, sampler: Sampler | None, options: WorkerOptions) -> None:
        """Without a `sampler`, every sample is answered with the reason."""
        self._world = world
        self._sampler = sampler
        self._options = options
        self._changed = Condition()
        self._waiting: OrderedDict[str, DesiredSample] = OrderedDict()
        self._running: dict[str, float] = {}
        """Running sample -> the monotonic time from which nobody waits for it."""
        self._unwanted: set[str] = set()
        """Running samples that are no longer wanted."""
        self._seen: OrderedDict[str, float] = OrderedDict()
        """Sample -> the same time; no sample is begun twice."""
        self._threads: list[Thread] = []
        self._at_work = 0
        """Threads that will look for another sample before they end."""
        self._closing = False

    def apply(self, desired: Sequence[DesiredSample]) -> None:
        """Take the listed samples as the whole wanted set; repeatable."""
        with self._changed:
            listed = {order.sample_id for order in desired}
            for sample_id in self._waiting.keys() - listed:
                del self._waiting[sample_id]
            self._unwanted |= self._running.keys() - listed
            for order in desired:
                if order.sample_id not in self._seen and not self._closing:
                    self._take(order)
            self._changed.notify_all()
        self._cancel()

    def close(self) -> None:
        """Begin and answer nothing more, and cancel what runs; returns at once."""
        with self._changed:
            self._closing = True
            self._waiting.clear()
            self._unwanted |= self._running.keys()
            self._changed.notify_all()
        self._cancel()

    def join(self, timeout_s: float) -> bool:
        """Wait, after `close`, for the threads to end; False after the timeout."""
        until = self._world.monotonic() + timeout_s
        for thread in self._threads:
            while thread.is_alive():
                if (left := until - self._world.monotonic()) <= 0:
                    return False
                thread.join(min(left, self._options.limits.cancel_again_s))
                self._cancel()
        return True

    # -- the listed samples, under the lock ----------------------------------------------------

    def _take(self, order: DesiredSample) -> None:
        self._waiting[order.sample_id] = order
        self._seen[order.sample_id] = self._world.monotonic() + order.within.total_seconds()
        while len(self._seen) > _SEEN_MAX:
            self._seen.popitem(last=False)
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        at_once = 1 if self._sampler is None else self._sampler.at_once
        if self._at_work < at_once:
            self._at_work += 1
            self._threads.append(self._world.start_thread("sampler", self._run))

    def _cancel(self) -> None:
        """Cancel unwanted samples, repeatedly: a cancel may not have reached the engine."""
        with self._changed:
            unwanted = sorted(self._unwanted)
        cancel = self._world.cancel or self._world.engine.cancel
        for sample_id in unwanted:
            with suppress(Exception):  # the sync thread must go on; the cancel is repeated
                cancel(sample_id)

    # -- the threads ---------------------------------------------------------------------------

    def _run(self) -> None:
        while (order := self._next()) is not None:
            late = Timer(order.within.total_seconds(), self._time_is_over, (order.sample_id,))
            late.daemon = True
            late.start()
            try:
                self._answer(order, self._taken(order))
            finally:
                late.cancel()
                with self._changed:
                    del self._running[order.sample_id]
                    self._unwanted.discard(order.sample_id)

    def _next(self) -> DesiredSample | None:
        with self._changed:
            while self._waiting:
                _, order = self._waiting.popitem(last=False)
                until = self._seen.get(order.sample_id, 0.0)
                if until > self._world.monotonic():
                    self._running[order.sample_id] = until
                    return order
            self._at_work -= 1
            return None

    def _time_is_over(self, sample_id: str) -> None:
        with self._changed:
            if sample_id in self._running:
                self._unwanted.add(sample_id)
                self._changed.notify_all()
        self._cancel()

    def _taken(self, order: DesiredSample) -> SampleAnswer | None:
        """Return the answer to a sample; None: nobody waits for it."""
        if refusal := self._refusal(order):
            return _failed(order, refusal)
        assert self._sampler is not None
        try:
            answer = self._sampler.sample(order)
        except BatchCancelled:
            return None
        except (TaskError, StreamTimeout) as error:
            return _failed(order, str(error))
        except Exception as error:  # noqa: BLE001 -- any error fails this sample only
            structlog.get_logger().error("sample failed", sample=order.sample_id, exc_info=error)
            return _failed(order, f"the worker failed: {type(error).__name__}")
        if len(answer.to_json().encode()) > _ANSWER_BYTES_MAX:
            return _failed(order, "its records are too large to be shown: ask for fewer")
        return answer

    def _refusal(self, order: DesiredSample) -> str:
        """Return why a sample must not begin, or ''; nothing connects before this check."""
        if self._sampler is None:
            return "this worker takes no samples"
        return connection_refusal(self._options.connections, order.spec)

    def _answer(self, order: DesiredSample, answer: SampleAnswer | None) -> None:
        """Send the answer until an overlord takes or refuses it, or nobody waits for it."""
        tries = 0
        while (
            answer is not None
            and self._is_wanted(order.sample_id)
            and not self._is_heard(order, answer)
        ):
            tries += 1
            with self._changed:
                self._changed.wait_for(
                    lambda: not self._is_wanted(order.sample_id),
                    self._options.limits.retry_s(tries),
                )

    def _is_heard(self, order: DesiredSample, answer: SampleAnswer) -> bool:
        log = structlog.get_logger().bind(sample=order.sample_id)
        try:
            self._world.overlord.answer_sample(order, answer)
        except OverlordUnavailable as error:
            log.info("sample not taken", why=str(error))
            return False
        except OverlordRefused as error:
            log.warning("sample refused", why=str(error))
            return True
        except Fenced:
            self._world.fenced()
            return False
        log.info("sample answered", records=len(answer.records), failure=answer.failure)
        return True

    def _is_wanted(self, sample_id: str) -> bool:
        return not self._closing and sample_id not in self._unwanted


def _failed(order: DesiredSample, why: str) -> SampleAnswer:
    return SampleAnswer(sample_id=order.sample_id, failure=why[:_TEXT_MAX])
