"""The compactions of one simulated worker: the product's compactor without its thread.

What is taken up, reported, offered and given up is the product's; a rewrite takes simulated time,
may get stuck until it is cancelled, and may fail.
"""

from collections.abc import Callable
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING, cast

from tasks.contract.messages import (
    CompactedFile,
    DesiredCompaction,
    FailureCode,
    PublishAnswer,
    SegmentFile,
)
from tasks.ports import Fenced, OverlordRefused, TaskError
from tasks.worker.compaction import Compactor, _failure, _Held
from tasks.worker.world import World
from tests.simulation.processes.tables.overlord import OfferRefused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.simulation.processes.tables.worker import TableWorker

STUCK_S = 10_000.0


class _Offers(BaseException):
    """An answer has to come before the compaction can go on."""

    def __init__(self, file: CompactedFile) -> None:
        super().__init__(file.compaction_id)
        self.file = file


class SimCompactor(Compactor):
    """Implements what the thread of the product's compactor does as events of its worker's life."""

    def __init__(self, worker: "TableWorker", world: World) -> None:
        limits = worker.around.pace.limits
        no_thread = replace(world, start_thread=self._no_thread)
        super().__init__(no_thread, limits, worker.incarnation)
        self._worker = worker
        self._job = 0
        self._file: SegmentFile | None = None
        """What the present rewrite has written."""
        self._heard: PublishAnswer | OfferRefused | None = None

    def _no_thread(self, name: str, run: Callable[[], None]) -> Thread:
        del name, run
        return cast("Thread", self)

    def apply(self, desired: "Sequence[DesiredCompaction]") -> None:
        """Take the listed compactions as the whole wanted set, and begin the first."""
        super().apply(desired)
        self._worker.later(0.0, self._go_on)

    def _go_on(self) -> None:
        if self._current is not None or all(held.failure for held in self._held.values()):
            return
        order = self._next()
        assert order is not None, "it does not close"
        self._job += 1
        job = self._job
        self._worker.reach("compact:before")
        self._worker.later(self._worker.compaction_s(), lambda: self._end_of_job(job, order))

    def _end_of_job(self, job: int, order: DesiredCompaction) -> None:
        if job != self._job:
            return
        try:
            failed = self._carried_out(order)
        except _Offers as offers:
            self._offer(job, order, offers.file, 0)
            return
        except Exception as error:  # noqa: BLE001 -- as in the product's thread
            failed = _failure(order, error)
        self._done(order, failed)

    def _compacted(self, order: DesiredCompaction) -> SegmentFile:
        if self._file is None:
            if self._worker.failing_compactions:
                self._worker.failing_compactions -= 1
                raise TaskError(FailureCode.READ_FAILED, "an input cannot be read")
            self._file = super()._compacted(order)
        return self._file

    def _answer(self, offered: CompactedFile) -> PublishAnswer | None:
        if self._wanted(offered.compaction_id) is None:
            return None
        match self._heard:
            case None:
                raise _Offers(offered)
            case OfferRefused(why):
                raise OverlordRefused(why)
            case answer:
                return answer

    def _offer(self, job: int, order: DesiredCompaction, file: CompactedFile, tries: int) -> None:
        wanted = self._wanted(order.compaction_id) if job == self._job else None
        if wanted is None:
            self._end_of_job(job, order)
            return

        def heard(answer: object) -> None:
            if isinstance(answer, PublishAnswer | OfferRefused) and job == self._job:
                self._heard = answer
                self._end_of_job(job, order)
                return
            if isinstance(answer, Fenced):
                self._worker.fenced()
            wait_s = self._limits.retry_s(tries + 1)
            self._worker.later(wait_s, lambda: self._offer(job, order, file, tries + 1))

        self._worker.offer(wanted, file, heard)

    def _cancel(self) -> None:
        job = self._job
        if self._current is not None and self._unwanted():
            self._worker.later(self._worker.random.uniform(0.01, 0.3), lambda: self._cut(job))

    def _cut(self, job: int) -> None:
        if job == self._job and self._current is not None and self._unwanted():
            self._done(self._held[self._current].order, None)

    def _done(self, order: DesiredCompaction, failed: _Held | None) -> None:
        self._job += 1
        self._file = self._heard = None
        self._end(order.compaction_id, failed)
        self._world.changed()
        self._go_on()
