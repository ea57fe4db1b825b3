"""The compactions of one worker: run one after the other, offered to the overlord, forgotten.

    listed, new ──► waits ──► rewritten ──► offered, until an answer comes ──► forgotten
                      │           └─ failed ──► reported, until no longer listed
    no longer listed ─┴──► cancelled ──the thread has stopped it──► no longer reported

A reported compaction may still write: the overlord deletes a folder only when no report lists its
compaction.  A forgotten id is never begun again, because its file name would be used a second
time.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Condition, Thread

import structlog

from tasks.contract.ids import is_safe_name
from tasks.contract.messages import (
    CompactedFile,
    CompactionReport,
    DesiredCompaction,
    FailureCode,
    PublishAnswer,
    PublishOutcome,
    SegmentFile,
)
from tasks.machine.pacing import Limits
from tasks.ports import BatchCancelled, Fenced, OverlordUnavailable, TaskError
from tasks.runtime.secrets import without_secrets
from tasks.worker.metrics import CANCELLED, DONE, FAILED
from tasks.worker.reporting.compaction_end import CompactionEnd
from tasks.worker.reporting.compaction_notes import CompactionNotes
from tasks.worker.runner import World

_FORGOTTEN_MAX = 10_000
_DETAIL_MAX = 4_000


@dataclass(frozen=True)
class _Held:
    """One reported compaction; without a failure it waits or runs."""

    order: DesiredCompaction
    failure: FailureCode | None = None
    detail: str = ""

    def report(self) -> CompactionReport:
        return CompactionReport(
            compaction_id=self.order.compaction_id,
            failure=self.failure,
            detail=self.detail[:_DETAIL_MAX],
        )


class Compactor:
    """All compactions of one incarnation of a worker; safe to call from many threads."""

    def __init__(
        self, world: World, limits: Limits, incarnation: int, notes: CompactionNotes | None = None
    ) -> None:
        self._world = world
        self._notes = notes or CompactionNotes()
        self._published: tuple[SegmentFile | None, PublishAnswer | None] = (None, None)
        """Of the current compaction, its file and the overlord's answer."""
        self._limits = limits
        self._incarnation = incarnation
        self._changed = Condition()
        self._held: dict[str, _Held] = {}
        """In the order of their first listing."""
        self._current: str | None = None
        """The compaction that the thread runs now."""
        self._given_up = False
        """Whether the current compaction is no longer listed."""
        self._gone: OrderedDict[str, bool] = OrderedDict()
        """Compactions that are never begun again -> whether an overlord has answered."""
        self._thread: Thread | None = None
        self._closing = False

    def apply(self, desired: Sequence[DesiredCompaction]) -> None:
        """Take the listed compactions as the whole wanted set; a repeat changes nothing."""
        with self._changed:
            before = self.reports()
            listed = {order.compaction_id for order in desired}
            for compaction_id in sorted(self._held.keys() - listed):
                if compaction_id == self._current:
                    self._given_up = True
                else:
                    self._forget(compaction_id, answered=False)
            for order in desired:
                self._take(order)
            is_news = self.reports() != before
            self._changed.notify_all()
        self._cancel()
        if is_news:
            self._world.changed()

    def reports(self) -> tuple[CompactionReport, ...]:
        """Return the reports for the overlord."""
        with self._changed:
            return tuple(held.report() for held in self._held.values())

    def close(self) -> None:
        """Begin and offer nothing more, and cancel what runs; returns at once."""
        with self._changed:
            self._closing = True
            waiting = [k for k, held in self._held.items() if held.failure is None]
            for compaction_id in waiting:
                if compaction_id != self._current:
                    self._forget(compaction_id, answered=False)
            self._changed.notify_all()
        self._cancel()

    def join(self, timeout_s: float) -> bool:
        """Wait, after `close`, for the thread to end; False if it did not in time."""
        until = self._world.monotonic() + timeout_s
        while (thread := self._thread) is not None and thread.is_alive():
            if (left := until - self._world.monotonic()) <= 0:
                return False
            thread.join(min(left, self._limits.cancel_again_s))
            self._cancel()
        return True

    # -- the listed compactions, under the lock ------------------------------------------------

    def _take(self, order: DesiredCompaction) -> None:
        compaction_id = order.compaction_id
        held = self._held.get(compaction_id)
        if held is not None:
            self._held[compaction_id] = replace(held, order=order)  # the token may be a new one
        elif not self._closing and not self._gone.get(compaction_id, False):
            self._held[compaction_id] = self._judged(order)
            if self._thread is None and self._held[compaction_id].failure is None:
                self._thread = self._world.start_thread("compactor", self._run)

    def _judged(self, order: DesiredCompaction) -> _Held:
        names = {"compaction id": order.compaction_id, "dataSource": order.data_source}
        for what, name in names.items():
            if not is_safe_name(name):
                text = f"{what} {name[:200]!r} cannot be the name of a folder"
                return _Held(order, FailureCode.REFUSED, text)
        if order.compaction_id in self._gone:
            text = "this worker has stopped it on request: it is not begun a second time"
            return _Held(order, FailureCode.REFUSED, text)
        return _Held(order)

    def _forget(self, compaction_id: str, *, answered: bool) -> None:
        del self._held[compaction_id]
        self._gone[compaction_id] = answered or self._gone.get(compaction_id, False)
        self._gone.move_to_end(compaction_id)
        while len(self._gone) > _FORGOTTEN_MAX:
            self._gone.popitem(last=False)

    def _unwanted(self) -> bool:
        return self._given_up or self._closing

    # -- the thread ----------------------------------------------------------------------------

    def _cancel(self) -> None:
        """Cancel the unwanted compaction, repeatedly: a cancel may not have reached the engine."""
        with self._changed:
            compaction_id = self._current if self._unwanted() else None
        if compaction_id is None:
            return
        try:
            (self._world.cancel or self._world.engine.cancel)(compaction_id)
        except Exception:  # noqa: BLE001 -- the sync thread must go on; the cancel is repeated
            structlog.get_logger().exception("cancel failed", compaction=compaction_id)

    def _run(self) -> None:
        while (order := self._next()) is not None:
            began = datetime.now(UTC)
            with self._notes.log_of(order):
                try:
                    failed = self._carried_out(order)
                except Exception as error:  # noqa: BLE001 -- any error fails this compaction only
                    if self._engine_is_dead():
                        return  # the worker ends; the next incarnation gets the compaction again
                    failed = _failure(order, error)
                self._note_end(order, began, failed)
            self._end(order.compaction_id, failed)
            self._world.changed()

    def _note_end(self, order: DesiredCompaction, began: datetime, failed: _Held | None) -> None:
        """Note how it ended for the reports; one that the worker's own end stops has not ended."""
        file, answer = self._published
        if answer is None and failed is None and self._closing:
            return
        outcome = CANCELLED if failed is None else FAILED
        detail = "" if failed is None else failed.detail[:_DETAIL_MAX]
        if answer is not None:
            outcome, detail = answer.outcome, answer.reason
        failure = None if failed is None else failed.failure
        end = CompactionEnd(
            order,
            started_at=began,
            ended_at=datetime.now(UTC),
            outcome=outcome,
            failure=failure,
            detail=detail,
            file=file,
        )
        self._notes.ended(end)

    def _next(self) -> DesiredCompaction | None:
        with self._changed:
            while not self._closing:
                waiting = (held.order for held in self._held.values() if held.failure is None)
                if (order := next(waiting, None)) is not None:
                    self._current = order.compaction_id
                    return order
                self._changed.wait()
            return None

    def _carried_out(self, order: DesiredCompaction) -> _Held | None:
        """Rewrite and offer; return the failure, or None if there is nothing left to report."""
        log = structlog.get_logger().bind(**_about(order))
        self._published = (None, None)
        log.info("compaction begins", files=len(order.inputs))
        try:
            file = self._compacted(order)
        except BatchCancelled:
            if self._unwanted():
                return None
            return _Held(order, FailureCode.INTERNAL, "its job was cancelled, and nobody asked")
        self._world.failpoint("compact:written")
        offered = CompactedFile(
            compaction_id=order.compaction_id, incarnation=self._incarnation, file=file
        )
        answer = self._answer(offered)
        self._published = (file, answer)
        if answer is None:
            return None
        self._world.failpoint("compact:published")
        log.info("compaction ends", outcome=answer.outcome, reason=answer.reason)
        if answer.outcome in {PublishOutcome.COMMITTED, PublishOutcome.SUPERSEDED}:
            with self._changed:
                self._gone[order.compaction_id] = True
            return None
        text = f"the overlord answered {answer.outcome}: {answer.reason}"
        return _Held(order, FailureCode.INTERNAL, text)

    def _compacted(self, order: DesiredCompaction) -> SegmentFile:
        began, outcome = self._world.monotonic(), FAILED
        try:
            file = self._world.engine.compact(order)
            outcome = DONE
        except BatchCancelled:
            outcome = CANCELLED
            raise
        finally:
            self._world.meters.compacted(outcome, self._world.monotonic() - began)
        return file

    def _answer(self, offered: CompactedFile) -> PublishAnswer | None:
        """Offer the file until an overlord answers; None: the compaction is no longer wanted."""
        tries = 0
        while (order := self._wanted(offered.compaction_id)) is not None:
            try:
                return self._world.overlord.publish_compaction(order, offered)
            except OverlordUnavailable as error:
                structlog.get_logger().warning(
                    "compaction not published", **_about(order), why=str(error)
                )
            except Fenced:
                self._world.fenced()
            tries += 1
            with self._changed:
                self._changed.wait_for(self._unwanted, self._limits.retry_s(tries))
        return None

    def _wanted(self, compaction_id: str) -> DesiredCompaction | None:
        with self._changed:
            return None if self._unwanted() else self._held[compaction_id].order

    def _end(self, compaction_id: str, failed: _Held | None) -> None:
        with self._changed:
            if failed is None or self._given_up:
                self._forget(compaction_id, answered=False)
            else:
                self._held[compaction_id] = failed
            self._current, self._given_up = None, False

    def _engine_is_dead(self) -> bool:
        """Return whether the engine died: then a failed job says nothing about the files."""
        if self._world.engine_alive():
            # The pipe to a process breaks a little before the process is seen to have ended.
            with self._changed:
                self._changed.wait_for(lambda: self._closing, self._world.engine_doubt_s)
        return not self._world.engine_alive()


def _about(order: DesiredCompaction) -> dict[str, str]:
    return {"compaction": order.compaction_id, "data_source": order.data_source}


def _failure(order: DesiredCompaction, error: Exception) -> _Held:
    log = structlog.get_logger().bind(**_about(order))
    match error:
        case TaskError():
            failed = _Held(order, error.code, str(error))
        case OSError():
            failed = _Held(order, FailureCode.WRITE_FAILED, without_secrets(str(error)))
        case _:
            log.error("compaction failed", exc_info=error)
            text = without_secrets(f"{type(error).__name__}: {error}")
            return _Held(order, FailureCode.INTERNAL, text)
    log.warning("compaction failed", code=failed.failure, why=failed.detail)
    return failed
