"""resetToLatestAndBackfill: skip to the end of the topic, and have the skipped range read beside.

    offsets moved, ranges given up, gaps on record ─┐ one transaction under the term: a crash
    the bounded supervisor over exactly the gap ────┘ leaves both or neither

If a publish moves an offset meanwhile, the verb starts again from the new offsets.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from string import ascii_lowercase

from supervisor.control.discard import Cause, begin_offsets, move_offsets
from supervisor.core.history.operations import Operation, OperationKind
from supervisor.core.model.rows import AuditEntry, CommittedOffset, SpecVersion
from supervisor.core.planning.backfill import (
    ID_LETTERS,
    OffsetRange,
    at_latest,
    backfill_id,
    backfill_spec,
    check_backfill,
    skipped_ranges,
    task_count_of,
)
from supervisor.core.planning.observed import StreamState
from supervisor.core.planning.offset_moves import NewOffsets, moves
from supervisor.core.planning.preconditions import WHATEVER, Expected
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import (
    MetadataBusy,
    NoBackfill,
    PreviewOutdated,
    StaleCommit,
    StateMoved,
)
from supervisor.ports.store import Transaction
from supervisor.services.foresight.leaders_view import leaders_view
from supervisor.services.supervisors.admission import existing
from supervisor.services.supervisors.reset import TRIES, ResetDone, Resets, foreseen
from tasks.contract.offsets import TopicPartition

VERB = OperationKind.RESET_TO_LATEST_AND_BACKFILL


def new_letters() -> str:
    """Return random letters for the end of a backfill's id."""
    return "".join(secrets.choice(ascii_lowercase) for _ in range(ID_LETTERS))


@dataclass(frozen=True)
class BackfillDone:
    """The result for both supervisors, or its prediction."""

    moved: ResetDone
    """The reset of the first supervisor; the backfill reads the range that it skips."""
    backfill_id: str | None
    """The id of the bounded supervisor; None: a dry run."""
    ranges: Mapping[TopicPartition, OffsetRange]
    task_count: int


@dataclass(frozen=True)
class _BackfillRequest:
    supervisor_id: str
    author: str
    task_count: int | None
    expected: Expected
    expect: str | None
    """The digest of the preview that the author has read; None: whatever it does."""


@dataclass(frozen=True)
class Backfills:
    """The backfill verb; one instance per process, safe to call from many threads."""

    resets: Resets
    """Reads Kafka's offsets, and has the store, the clock and the loop."""
    check: Callable[[SupervisorSpec], None]
    """Raises InvalidSpec for a spec that the operator does not allow."""
    letters: Callable[[], str] = new_letters
    """Return random letters for the end of an id."""
    failpoint: Callable[[str], None] = lambda _: None
    """Called with each named step; a test may end the process there (failpoints)."""

    def run(
        self,
        supervisor_id: str,
        author: str,
        task_count: int | None = None,
        *,
        expected: Expected = WHATEVER,
        expect: str | None = None,
        dry_run: bool = False,
    ) -> BackfillDone:
        """Go on at the last stable offsets; a bounded supervisor reads the skipped ranges.

        `task_count` is that of the bounded supervisor; None: as many groups as the spec has.

        Raises:
            SupervisorNotFound: the supervisor was never stored, or is terminated.
            NoBackfill: nothing would be skipped, or this supervisor allows no backfill.
            PreconditionFailed: the newest version is not as `expected`.
            PreviewOutdated: it would do something else than the preview with the digest `expect`.
            InvalidSpec: the operator no longer allows its spec.
            StreamUnavailable: Kafka's offsets are not known; nothing is done.
            MetadataBusy: publishes kept moving the offsets; nothing is done.
            LeaseLost: this overlord does not lead.
        """
        request = _BackfillRequest(supervisor_id, author, task_count, expected, expect)
        for _ in range(TRIES):
            newest, seen = self._look(request)
            try:
                return self._foresee(request, seen) if dry_run else self._act(request, newest, seen)
            except (StaleCommit, StateMoved):
                continue
        raise MetadataBusy(f"the offsets of {supervisor_id} moved {TRIES} times meanwhile")

    def _look(self, request: _BackfillRequest) -> tuple[SpecVersion, StreamState]:
        resets = self.resets
        resets.leadership.term()  # only a leader has read Kafka
        with resets.store.reading() as tx:
            newest, spec = _judged(tx, request)
        self.check(spec)
        return newest, resets.look(request.supervisor_id, spec)

    def _foresee(self, request: _BackfillRequest, seen: StreamState) -> BackfillDone:
        with leaders_view(self.resets.store, self.resets.leadership) as tx:
            _, spec = _judged(tx, request)
            return self._foreseen(tx, request, spec, seen)

    def _foreseen(
        self, tx: Transaction, request: _BackfillRequest, spec: SupervisorSpec, seen: StreamState
    ) -> BackfillDone:
        rows = tx.offsets.of(request.supervisor_id)
        new = at_latest(request.supervisor_id, rows, seen)
        done = _effect(tx, request, spec, new, rows)
        self.resets.previews.keep(done.moved.digest, new)
        return done

    def _act(
        self, request: _BackfillRequest, looked_at: SpecVersion, seen: StreamState
    ) -> BackfillDone:
        own_id = backfill_id(request.supervisor_id, self.letters())
        resets, supervisor_id = self.resets, request.supervisor_id
        why = f"reset to latest by {request.author}: {own_id} reads what is skipped"
        cause = Cause(request.author, VERB, why, resets.clock.now())
        with resets.store.leading(resets.leadership.term()) as tx:
            newest, spec = _judged(tx, request)
            if newest.version != looked_at.version:
                raise StateMoved(f"{supervisor_id} has another spec than when Kafka was looked at")
            rows = tx.offsets.of(supervisor_id)
            new = resets.expected(request.expect, seen) or at_latest(supervisor_id, rows, seen)
            try:
                done = _effect(tx, request, spec, new, rows)
            except NoBackfill:  # all that the preview was about is published by now
                done = self._foreseen(tx, request, spec, seen)
            if request.expect not in {None, done.moved.digest}:
                raise PreviewOutdated(supervisor_id, self._foreseen(tx, request, spec, seen))
            ranges, count = done.ranges, done.task_count
            move_offsets(tx, resets.endings, supervisor_id, new, cause, rows=rows)
            operation = tx.operations.add(Operation(supervisor_id, VERB, request.author, cause.now))
            self.failpoint("backfill:in-transaction")
            _store(tx, backfill_spec(spec, own_id, ranges, count), request, cause)
            # In this transaction: the ranges belong to the present topic, not to a recreated one.
            starts = {partition: each.first for partition, each in ranges.items()}
            ids = {p.topic: seen.topic_ids[p.topic] for p in starts}
            begin_offsets(tx, own_id, ids, starts, cause)
        self.failpoint("backfill:committed")
        for each in (supervisor_id, own_id):
            resets.loop.wake(each)
        moved = replace(done.moved, dry_run=False, operation=operation.id)
        return BackfillDone(moved, own_id, ranges, count)


def _effect(
    tx: Transaction,
    request: _BackfillRequest,
    spec: SupervisorSpec,
    new: NewOffsets,
    rows: Mapping[TopicPartition, CommittedOffset],
) -> BackfillDone:
    supervisor_id = request.supervisor_id
    ranges = skipped_ranges(supervisor_id, moves(rows, new))
    count = task_count_of(spec, ranges, request.task_count)
    moved = foreseen(supervisor_id, VERB, new, rows, tx.generations, str(count))
    return BackfillDone(moved, None, ranges, count)


def _judged(tx: Transaction, request: _BackfillRequest) -> tuple[SpecVersion, SupervisorSpec]:
    newest, spec = existing(tx, request.supervisor_id)
    request.expected.check(request.supervisor_id, newest)
    check_backfill(spec)
    return newest, spec


def _store(tx: Transaction, spec: SupervisorSpec, request: _BackfillRequest, cause: Cause) -> None:
    """Store the bounded supervisor as a POST would: version, audit, operation.

    Raises:
        StateMoved: the id was used before.
    """
    stored = tx.specs.append(spec.id, spec, cause.now, request.author, after=0)
    detail = {"version": str(stored.version), "backfillOf": request.supervisor_id}
    tx.audit.write(AuditEntry(cause.now, request.author, OperationKind.APPLY, spec.id, detail))
    wish = Operation(
        spec.id, OperationKind.APPLY, request.author, cause.now, spec_version=stored.version
    )
    tx.operations.add(wish)
