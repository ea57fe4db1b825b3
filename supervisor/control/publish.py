"""Publishing: the one transaction that makes files part of a table, exactly once.

    task ── range and files ──► judge the facts ── committed ──► compare-and-swap of offsets,
                                     │                           segments, outcome: one commit
                                     ├─ any other outcome: stored, a repeat gets the same
                                     └─ unusable files: the task ends FAILED, its range is re-read

If an acknowledgement is lost, the task repeats its request, and the stored publication answers it.
"""

import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import structlog

from supervisor.control.end_task import TaskEnder
from supervisor.control.export_outbox import announce
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.control.metrics import OverlordMeters
from supervisor.control.publishing.offered_files import absent_files, check_files, files_are_absent
from supervisor.control.publishing.publish_outbox import announce_publish
from supervisor.control.publishing.replica_comparison import (
    Compared,
    compare_late,
    compare_siblings,
)
from supervisor.control.reconcile import end_siblings
from supervisor.core.history.log_fields import fields_of_task
from supervisor.core.model.rows import (
    AuditEntry,
    Generation,
    GenerationState,
    Publication,
    Segment,
    Task,
    TaskStatus,
    TaskTotals,
)
from supervisor.core.planning.publish import Check, Judgement, PublishFacts, judge
from supervisor.core.values.counts import counted
from supervisor.core.values.errors import (
    NotAllowed,
    SpecUnreadable,
    StaleCommit,
    StateMoved,
    TaskNotFound,
    UnknownWord,
    UnusableFiles,
)
from supervisor.core.values.table_names import errors_table
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction
from tasks.contract.ingest_spec import Column
from tasks.contract.messages import PublishAnswer, PublishOutcome, PublishRequest, SegmentFile

log = structlog.get_logger()

TRIES = 5
"""The maximum of lost races for one range; in each lost race another publisher wins."""


@dataclass(frozen=True)
class Publisher:
    """Judges and commits publish requests; one instance per process."""

    store: Store
    clock: Clock
    leadership: Leadership
    loop: Loop
    endings: TaskEnder
    failpoint: Callable[[str], None] = lambda _: None
    """Called with each named step; a test may end the process there (failpoints)."""
    meters: OverlordMeters = field(default_factory=OverlordMeters)
    size_of: Callable[[str], int | None] | None = None
    """Returns the size of a file of the warehouse, or None: there is none.  None: nobody looks."""

    def publish(self, task_id: str, token: str, request: PublishRequest) -> PublishAnswer:
        """Answer a task that asks to publish; a repeat gets the stored answer.

        Raises:
            TaskNotFound: there is no such task.
            NotAllowed: the token is not the task's, or its worker's incarnation is fenced.
            UnusableFiles: the files do not fit the range; the task has ended FAILED.
            LeaseLost, Unavailable: nothing was decided; ask again.
        """
        # Outside of the transaction: a warehouse may be slow.
        absent = () if self.size_of is None else absent_files(request, self.size_of)
        for _ in range(TRIES):
            try:
                return self._publish_once(task_id, token, request, absent)
            except (StaleCommit, StateMoved):
                self.meters.publish_refused(Check.LOST_RACE)
                continue  # another replica committed between our read and our swap
            except UnusableFiles:
                self.meters.publish_refused(Check.FILES)
                raise
        raise AssertionError(f"{task_id}: {TRIES} lost races for one range")

    def _publish_once(
        self, task_id: str, token: str, request: PublishRequest, absent: tuple[str, ...]
    ) -> Judgement:
        term = self.leadership.term()
        now = self.clock.now()
        with self.store.leading(term) as tx:
            task = tx.tasks.get(task_id)
            if task is None:
                raise TaskNotFound(task_id)
            _check_authority(task, token, request)
            if task.status is TaskStatus.UNKNOWN:
                raise UnknownWord(f"task {task.id}: {task.reason}")
            # The offsets first: on PostgreSQL each statement sees what is committed by then.  A
            # statement that sees offsets moved by another replica's publish must also see that
            # publish.
            committed = tx.offsets.of(task.supervisor_id)
            generation = tx.generations.get(task.generation_id)
            if generation is None:
                raise AssertionError(f"{task_id} has no generation")
            publication = tx.segments.publication(generation.id)
            winner = None if publication is None else publication.task_id
            before = {other.id for other in tx.generations.predecessors(generation)}
            answer = judge(PublishFacts(task, generation, winner, committed, before), request)
            self.failpoint("publish:judged")
            publish_attempt = _PublishAttempt(task, generation, request, absent)
            settled = self._settled(tx, publish_attempt, answer, now)
            if not isinstance(settled, UnusableFiles):
                self._passed("in-transaction", answer)
        if isinstance(settled, UnusableFiles):
            self._report_unusable(publish_attempt, settled)
            raise settled
        self._passed("committed", answer)
        self._measure(publish_attempt, answer, now)
        self.meters.compared(generation, settled)
        if answer.outcome is not PublishOutcome.WAIT_FOR_PREDECESSOR:
            facts = {"outcome": answer.outcome.value, "check": answer.check.value}
            of = fields_of_task(task, generation)
            log.info("publish", **of, **facts, why=answer.reason)
            self.loop.wake(task.supervisor_id)
        self._passed("answered", answer)
        return answer

    def _settled(
        self, tx: Transaction, attempt: "_PublishAttempt", answer: Judgement, now: datetime
    ) -> Compared | UnusableFiles:
        if attempt.task.outcome is not None:
            return {}
        try:
            return _settle(tx, self.endings, attempt, answer, now)
        except UnusableFiles as error:
            # The files are checked before anything is written.  The task ends in this transaction:
            # else its worker would offer the same files forever.
            _end_unusable(tx, self.endings, attempt, error, now)
            return error

    def _report_unusable(self, attempt: "_PublishAttempt", error: UnusableFiles) -> None:
        of = fields_of_task(attempt.task, attempt.generation)
        log.warning("publish refused", **of, check=Check.FILES.value, why=str(error))
        self.loop.wake(attempt.task.supervisor_id)

    def _measure(self, attempt: "_PublishAttempt", answer: Judgement, now: datetime) -> None:
        self.meters.publish_judged(answer.outcome, answer.check)
        if attempt.task.outcome is None and answer.outcome is PublishOutcome.COMMITTED:
            self.meters.published(attempt.generation, attempt.request.segments, now)

    def _passed(self, step: str, answer: PublishAnswer) -> None:
        """Pass the failpoint of a step of a publish that commits."""
        if answer.outcome is PublishOutcome.COMMITTED:
            self.failpoint(f"publish:{step}")


def _check_authority(task: Task, token: str, request: PublishRequest) -> None:
    if not hmac.compare_digest(task.token.encode(), token.encode()):
        raise NotAllowed(f"the token is not that of task {task.id}")
    if request.task_id != task.id:
        raise NotAllowed(f"the request names task {request.task_id}, the path {task.id}")
    if request.incarnation != task.incarnation:
        raise NotAllowed(
            f"incarnation {request.incarnation} of worker {task.worker_id} is fenced: "
            f"task {task.id} belongs to incarnation {task.incarnation}"
        )


@dataclass(frozen=True)
class _PublishAttempt:
    """One request to publish, with its task and the range."""

    task: Task
    generation: Generation
    request: PublishRequest
    absent: tuple[str, ...] = ()
    """Offered files that are not there."""


def _settle(
    tx: Transaction,
    endings: TaskEnder,
    attempt: _PublishAttempt,
    answer: PublishAnswer,
    now: datetime,
) -> Compared:
    task = attempt.task
    done = TaskTotals(attempt.request.counters, attempt.request.end)
    match answer.outcome:
        case PublishOutcome.COMMITTED:
            return _commit(tx, endings, attempt, now)
        case PublishOutcome.ALREADY_PUBLISHED:
            publication = tx.segments.publication(attempt.generation.id)
            assert publication is not None, "it was there when the request was judged"
            compared = compare_late(tx, attempt.generation, publication, attempt.request, now)
            endings.end(tx, task, TaskStatus.SUCCESS, answer.reason, now, totals=done)
            tx.tasks.store_outcome(task.id, answer.outcome, published=False)
            return compared
        case PublishOutcome.SUPERSEDED | PublishOutcome.STALE:
            why = f"{answer.outcome}: {answer.reason}"
            stale = answer.outcome is PublishOutcome.STALE
            endings.end(tx, task, TaskStatus.FAILED, why, now, keep_files=stale, totals=done)
            tx.tasks.store_outcome(task.id, answer.outcome, published=False)
            _audit(tx, task, f"publish-{answer.outcome}", answer.reason, now)
        case PublishOutcome.WAIT_FOR_PREDECESSOR:
            _finished(tx, attempt.generation, now)
    return {}


def _end_unusable(
    tx: Transaction,
    endings: TaskEnder,
    attempt: _PublishAttempt,
    error: UnusableFiles,
    now: datetime,
) -> None:
    done = TaskTotals(attempt.request.counters, attempt.request.end)
    why = f"unusable files: {error}"
    if endings.end(tx, attempt.task, TaskStatus.FAILED, why, now, totals=done):
        _audit(tx, attempt.task, "publish-unusable-files", str(error), now)


def _finished(tx: Transaction, generation: Generation, now: datetime) -> None:
    """Record that a replica has read the range to its end, unless one has before."""
    if generation.first_finished_at is None:
        tx.generations.finished(generation.id, now)


def _commit(
    tx: Transaction, endings: TaskEnder, attempt: _PublishAttempt, now: datetime
) -> Compared:
    task, generation, request = attempt.task, attempt.generation, attempt.request
    check_files(task, request, rolled_up=_is_rolled_up(tx, generation))
    if attempt.absent:
        raise files_are_absent(attempt.absent)
    tx.offsets.advance(
        task.supervisor_id,
        request.start,
        request.end,
        request.topic_ids,
        generation.reset_epochs,
    )
    # After the offsets, in the order of a reset that ends the range: the two cannot deadlock.
    _finished(tx, generation, now)
    publication = Publication(
        generation_id=generation.id,
        supervisor_id=task.supervisor_id,
        data_source=task.data_source,
        task_id=task.id,
        published_at=now,
        start=request.start,
        end=request.end,
        rows=sum(file.rows for file in request.segments),
        rejected=0 if request.rejects is None else request.rejects.records,
        rejects=request.rejects,
        samples=request.samples,
        digest=request.digest,
    )
    segments = _segments(publication, task.data_source, "", request.segments, request.columns)
    errors = _segments(publication, errors_table(task.data_source), "error-", request.quarantine)
    tx.segments.add(publication, [*segments, *errors])
    announce_publish(tx, publication)
    if segments:
        announce(tx, task.data_source, now)
    closed = tx.generations.close(generation.id, GenerationState.PUBLISHED, now)
    done = TaskTotals(request.counters, request.end)
    ended = endings.end(tx, task, TaskStatus.SUCCESS, "published", now, totals=done)
    if not (closed and ended):  # fenced or discarded since our read: roll back
        raise StateMoved(f"{task.id} or {generation.id} has ended")
    tx.tasks.store_outcome(task.id, PublishOutcome.COMMITTED, published=True)
    compared = compare_siblings(tx, generation, request, endings.last_report, now)
    end_siblings(tx, endings, generation, task.id, now)
    _audit(tx, task, "publish", _format_publication(publication, segments, errors), now)
    return compared


def _format_publication(
    publication: Publication, segments: Sequence[Segment], errors: Sequence[Segment]
) -> str:
    text = f"{counted(publication.rows, 'row')} in {counted(len(segments), 'segment')}"
    kept = sum(segment.file.rows for segment in errors)
    return f"{text}, {counted(kept, 'bad record')} quarantined" if kept else text


def _segments(
    publication: Publication,
    data_source: str,
    prefix: str,
    files: Sequence[SegmentFile],
    columns: tuple[Column, ...] = (),
) -> list[Segment]:
    return [
        Segment(
            id=f"{publication.task_id}/{prefix}{number}",
            data_source=data_source,
            supervisor_id=publication.supervisor_id,
            generation_id=publication.generation_id,
            task_id=publication.task_id,
            published_at=publication.published_at,
            file=file,
            columns=columns,
        )
        for number, file in enumerate(files)
    ]


def _is_rolled_up(tx: Transaction, generation: Generation) -> bool:
    """Return whether one row of a range may be many records; True if an unreadable spec may.

    Raises:
        SpecUnreadable: the newest spec cannot be read either.
    """
    try:
        version = tx.specs.version(generation.supervisor_id, generation.spec_version)
    except SpecUnreadable as error:
        tx.specs.newest(generation.supervisor_id)  # raises if that is unreadable too
        return error.facts.rolls_up is not False
    spec = None if version is None else version.spec
    return spec is not None and spec.data_schema.granularity_spec.rollup


def _audit(tx: Transaction, task: Task, what: str, why: str, now: datetime) -> None:
    detail = {"supervisor": task.supervisor_id, "generation": task.generation_id, "why": why}
    tx.audit.write(AuditEntry(now, f"task {task.id}", what, task.data_source, detail))
