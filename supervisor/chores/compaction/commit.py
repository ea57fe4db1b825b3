"""The commit of a compaction: one transaction replaces the inputs by the compacted file.

    every input still used?  ── no ──► FAILED, superseded
        └ yes ─► inputs out, the file in, exports announced, SUCCESS

A reader's list has the inputs or the file, never both and never neither.
"""

import hmac
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog

from supervisor.chores.segments import SegmentLife
from supervisor.chores.task_output import folder_of
from supervisor.control.end_task import TaskEnder
from supervisor.control.export_outbox import announce
from supervisor.core.model.rows import AuditEntry, Segment, TaskStatus
from supervisor.core.tables.compaction import Compaction, merged
from supervisor.core.values.counts import counted
from supervisor.core.values.errors import (
    CompactionNotFound,
    NotAllowed,
    QueueDead,
    StateMoved,
    UnknownWord,
    UnusableFiles,
)
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction
from tasks.contract.messages import (
    CompactedFile,
    PublishAnswer,
    PublishOutcome,
    SegmentFile,
    SyncRequest,
)

log = structlog.get_logger()

FAILED = TaskStatus.FAILED
TAKEN_OUT = "a file was taken out of the table since"


@dataclass(frozen=True)
class Swapping:
    """Handles the compaction calls of workers; one instance per process."""

    store: Store
    clock: Clock
    term: Callable[[], int]
    endings: TaskEnder
    life: SegmentLife
    assign: Callable[[], None]
    """Assigns waiting compactions to workers without one."""
    failpoint: Callable[[str], None] = lambda _: None
    """Called with each named step; a test may end the process there (failpoints)."""

    def heard(self, request: SyncRequest) -> None:
        """End the compactions that a worker reports as failed.

        A compaction whose queue is damaged goes on until the queue is repaired: the worker repeats
        its report, and the rest of its report must be handled all the same.

        Raises:
            LeaseLost, Unavailable: the worker repeats its report.
        """
        failed = {each.compaction_id: each for each in request.compactions if each.failure}
        if not failed:
            return
        with self.store.reading() as tx:
            rows = tx.compactions.rows_of(sorted(failed)).values()
        for row in rows:
            mine = (row.worker_id, row.incarnation) == (request.worker_id, request.incarnation)
            if row.live and mine:
                why = f"{failed[row.id].failure}: {failed[row.id].detail}"
                now = self.clock.now()
                with put_off_if_damaged(row), self.store.leading(self.term()) as tx:
                    self.endings.end_compaction(tx, row, FAILED, why, now, blamed=True)
        self.assign()

    def publish(self, wanted: str, token: str, request: CompactedFile) -> PublishAnswer:
        """Replace the inputs of a compaction by its file; a repeat gets the same answer.

        Raises:
            CompactionNotFound: there is no compaction with this id.
            NotAllowed: the token is not that of this compaction, or its worker is fenced.
            UnusableFiles: the file does not match its inputs together; the compaction has failed.
            TooManyOutstandingBytes, QueueDead: the queue that deletes the inputs refuses.
            LeaseLost, Unavailable: nothing was decided; ask again.
        """
        try:
            answer = self._publish_once(wanted, token, request)
        except UnusableFiles as error:
            self._fail(wanted, str(error), blamed=True)  # else its worker would offer it forever
            raise
        except StateMoved:
            answer = self._fail(wanted, TAKEN_OUT)
        self.assign()
        return answer

    def _fail(self, wanted: str, why: str, *, blamed: bool = False) -> PublishAnswer:
        with self.store.leading(self.term()) as tx:
            row, now = existing(tx, wanted), self.clock.now()
            self.endings.end_compaction(tx, row, FAILED, why, now, blamed=blamed)
            return _answer(existing(tx, wanted))

    def _publish_once(self, wanted: str, token: str, request: CompactedFile) -> PublishAnswer:
        with self.store.leading(self.term()) as tx:
            row = existing(tx, wanted)
            _check_authority(row, token, request)
            if row.status is TaskStatus.UNKNOWN:
                raise UnknownWord(f"compaction {row.id}: {row.detail}")
            if row.live:
                check_file(row, request.file)
                self._swap(tx, row, request.file)
                self.failpoint("compaction:in-transaction")
            answer = _answer(existing(tx, wanted))
        self.failpoint("compaction:committed")
        return answer

    def _swap(self, tx: Transaction, row: Compaction, file: SegmentFile) -> None:
        now = self.clock.now()
        found = tx.segments.listed(row.inputs).values()
        inputs = [each for each in found if each.used and each.data_source == row.data_source]
        if len(inputs) < len(row.inputs):
            raise StateMoved(f"a file of {row.id} was taken out of the table")
        newest = max(inputs, key=lambda segment: (segment.published_at, segment.id))
        segment = Segment(
            id=f"{row.id}/0",
            data_source=row.data_source,
            supervisor_id=row.supervisor_id,
            generation_id=newest.generation_id,
            task_id=newest.task_id,
            published_at=now,
            file=file,
            columns=row.columns,
            compaction_id=row.id,
        )
        replaced = tx.segments.replace(row.inputs, segment, now)
        self.life.leave(tx, replaced, now)
        detail = f"{counted(len(replaced), 'file')} became one of {counted(file.rows, 'row')}"
        if not self.endings.end_compaction(tx, row, TaskStatus.SUCCESS, detail, now):
            raise StateMoved(f"{row.id} has ended")
        announce(tx, row.data_source, now)
        audit_detail = {"compaction": row.id, "files": str(len(replaced)), "rows": str(file.rows)}
        worker = f"worker {row.worker_id}"
        tx.audit.write(AuditEntry(now, worker, "compact", row.data_source, audit_detail))


@contextmanager
def put_off_if_damaged(row: Compaction) -> Iterator[None]:
    """Put off the end of a compaction whose queue is damaged, as for tasks, until the repair.

    The transaction inside is rolled back, and the caller's next try ends the compaction.
    """
    try:
        yield
    except QueueDead as error:
        log.warning("a compaction cannot end yet", compaction=row.id, why=str(error))


def existing(tx: Transaction, wanted: str) -> Compaction:
    """Return one compaction.

    Raises:
        CompactionNotFound: there is no compaction with this id.
    """
    row = tx.compactions.get(wanted)
    if row is None:
        raise CompactionNotFound(wanted)
    return row


def check_file(row: Compaction, file: SegmentFile) -> None:
    """Refuse a file whose numbers do not match those of its inputs together.

    Raises:
        UnusableFiles: the message names the difference.
    """
    path = f"{folder_of(row.data_source, row.id)}/"
    name = file.path.removeprefix(path)
    if name == file.path or "/" in name or name in {"", ".", ".."}:
        raise UnusableFiles(f"{file.path} does not lie in the compaction's folder {path}")
    rows = sum(share.rows for share in row.shares)
    spans = merged(span for share in row.shares for span in share.spans)
    if file.rows != rows or merged(file.spans) != spans:
        raise UnusableFiles(
            f"{file.path} has {file.rows} rows of {merged(file.spans)}, its inputs have {rows} "
            f"of {spans}"
        )
    if (file.interval_start, file.interval_end) != (row.interval.start, row.interval.end):
        raise UnusableFiles(f"{file.path} is not of the interval {row.interval}")
    if not row.interval.start <= file.time_min <= file.time_max < row.interval.end:
        raise UnusableFiles(f"{file.path} has rows outside of the interval {row.interval}")


def _check_authority(row: Compaction, token: str, request: CompactedFile) -> None:
    if not row.token or not hmac.compare_digest(row.token.encode(), token.encode()):
        raise NotAllowed(f"the token is not that of compaction {row.id}")
    if request.compaction_id != row.id:
        raise NotAllowed(f"the request names {request.compaction_id}, the path {row.id}")
    if request.incarnation != row.incarnation:
        raise NotAllowed(f"incarnation {request.incarnation} of worker {row.worker_id} is fenced")


def _answer(row: Compaction) -> PublishAnswer:
    done = row.status is TaskStatus.SUCCESS
    outcome = PublishOutcome.COMMITTED if done else PublishOutcome.SUPERSEDED
    return PublishAnswer(outcome=outcome, reason=row.detail)
