"""resetToLatestAndBackfill: go on at the end of the topic, have the rest read beside, in one act.

    offsets moved, ranges given up, gaps on record ─┐ one transaction under the term: a crash
    the bounded supervisor over exactly the gap ────┘ leaves both or neither

A publish that comes between moves an offset: then all is judged anew, from where it stands now.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from string import ascii_lowercase

from supervisor.control.discard import Cause, begin_offsets, doomed, move_offsets
from supervisor.core.history.operations import Operation, OperationKind
from supervisor.core.model.rows import AuditEntry, SpecVersion
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
from supervisor.core.planning.offset_moves import moves
from supervisor.core.planning.preconditions import WHATEVER, Expected
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import MetadataBusy, StaleCommit, StateMoved
from supervisor.ports.store import Transaction
from supervisor.services.supervisors.admission import existing
from supervisor.services.supervisors.reset import TRIES, ResetDone, Resets
from tasks.contract.offsets import TopicPartition

VERB = OperationKind.RESET_TO_LATEST_AND_BACKFILL


def new_letters() -> str:
    """Draw the end of a backfill's id."""
    return "".join(secrets.choice(ascii_lowercase) for _ in range(ID_LETTERS))


@dataclass(frozen=True)
class BackfillDone:
    """What became of both supervisors, or would."""

    moved: ResetDone
    """Of the one that goes on; what is skipped there is what the other one reads."""
    backfill_id: str | None
    """None: a dry run."""
    ranges: Mapping[TopicPartition, OffsetRange]
    task_count: int


@dataclass(frozen=True)
class _BackfillRequest:
    supervisor_id: str
    author: str
    task_count: int | None
    expected: Expected


@dataclass(frozen=True)
class Backfills:
    """The verb; one instance per process, safe to call from many threads."""

    resets: Resets
    """Looks at Kafka, and has the store, the clock and the loop."""
    check: Callable[[SupervisorSpec], None]
    """Raises for a spec that the operator does not allow any more."""
    letters: Callable[[], str] = new_letters
    """Draws the end of an id."""
    failpoint: Callable[[str], None] = lambda _: None
    """Is told of each place passed (failpoints)."""

    def run(
        self,
        supervisor_id: str,
        author: str,
        task_count: int | None = None,
        *,
        expected: Expected = WHATEVER,
        dry_run: bool = False,
    ) -> BackfillDone:
        """Go on at the last stable offsets, and have what lies before read by a bounded supervisor.

        `task_count` is that of the bounded one; None: as many groups as the spec has.

        Raises:
            SupervisorNotFound: never stored, or terminated.
            NoBackfill: nothing waits, or this supervisor cannot have it read beside.
            PreconditionFailed: the newest version is not as `expected`.
            InvalidSpec: the operator does not allow its spec any more.
            StreamUnavailable: Kafka's offsets are not known; nothing is done.
            MetadataBusy: publishes kept moving the offsets; nothing is done.
            LeaseLost: this overlord does not lead.
        """
        request = _BackfillRequest(supervisor_id, author, task_count, expected)
        for _ in range(TRIES):
            newest, seen = self._look(request)
            try:
                return self._foresee(request, seen) if dry_run else self._act(request, newest, seen)
            except (StaleCommit, StateMoved):
                continue
        raise MetadataBusy(f"the offsets of {supervisor_id} moved {TRIES} times meanwhile")

    def _look(self, request: _BackfillRequest) -> tuple[SpecVersion, StreamState]:
        resets = self.resets
        resets.leadership.term()  # whoever does not lead has not looked at Kafka
        with resets.store.reading() as tx:
            newest, spec = _judged(tx, request)
        self.check(spec)
        return newest, resets.look(request.supervisor_id, spec)

    def _foresee(self, request: _BackfillRequest, seen: StreamState) -> BackfillDone:
        with self.resets.store.reading() as tx:
            _, spec = _judged(tx, request)
            rows = tx.offsets.of(request.supervisor_id)
            new = at_latest(request.supervisor_id, rows, seen)
            given_up = doomed(tx.generations.live(request.supervisor_id), new.touched)
        offset_moves = moves(rows, new)
        ranges = skipped_ranges(request.supervisor_id, offset_moves)
        moved = ResetDone(request.supervisor_id, True, offset_moves, given_up)
        return BackfillDone(moved, None, ranges, task_count_of(spec, ranges, request.task_count))

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
            new = at_latest(supervisor_id, rows, seen)
            given_up = doomed(tx.generations.live(supervisor_id), new.touched)
            offset_moves = move_offsets(tx, resets.endings, supervisor_id, new, cause, rows=rows)
            operation = tx.operations.add(Operation(supervisor_id, VERB, request.author, cause.now))
            self.failpoint("backfill:in-transaction")
            ranges = skipped_ranges(supervisor_id, offset_moves)
            count = task_count_of(spec, ranges, request.task_count)
            _store(tx, backfill_spec(spec, own_id, ranges, count), request, cause)
            # Now, for the ranges are those of the topic as it is: not of one that is made anew.
            starts = {partition: each.first for partition, each in ranges.items()}
            ids = {p.topic: seen.topic_ids[p.topic] for p in starts}
            begin_offsets(tx, own_id, ids, starts, cause)
        self.failpoint("backfill:committed")
        resets.changed.notify()
        for each in (supervisor_id, own_id):
            resets.loop.wake(each)
        moved = ResetDone(supervisor_id, False, offset_moves, given_up, operation.id)
        return BackfillDone(moved, own_id, ranges, count)


def _judged(tx: Transaction, request: _BackfillRequest) -> tuple[SpecVersion, SupervisorSpec]:
    newest, spec = existing(tx, request.supervisor_id)
    request.expected.check(request.supervisor_id, newest)
    check_backfill(spec)
    return newest, spec


def _store(tx: Transaction, spec: SupervisorSpec, request: _BackfillRequest, cause: Cause) -> None:
    """Store the bounded supervisor as somebody's POST would: version, audit, operation.

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
