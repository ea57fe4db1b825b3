"""Reset and reset to given offsets: complete, durable and on record when they return.

    Kafka's offsets as last seen ─► new committed offsets ─┐ one transaction under the term:
                                                           ├ offsets, gaps, discards, audit (P16)
    committed offsets ─► what is skipped, lost, repeated ──┘

A dry run stops before the transaction and returns the same numbers, with a digest.  An act that is
given the digest does exactly that, or nothing.  A reset waits only a moment for Kafka, and does
nothing without its offsets.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from supervisor.control.discard import Cause, doomed, move_offsets
from supervisor.control.end_task import TaskEnder
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.core.history.operations import Operation, OperationKind
from supervisor.core.model.rows import CommittedOffset, Generation, SpecVersion
from supervisor.core.planning.observed import StreamState, StreamTrouble
from supervisor.core.planning.offset_moves import (
    LogEnd,
    NewOffsets,
    OffsetMove,
    moves,
    preview_digest,
)
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import (
    FieldError,
    InvalidOffsets,
    InvalidRequest,
    MetadataBusy,
    PreviewOutdated,
    StaleCommit,
    StateMoved,
    StreamUnavailable,
    TopicMissing,
)
from supervisor.ports.clock import Clock
from supervisor.ports.generations import Generations
from supervisor.ports.store import Store, Streams
from supervisor.services.foresight.leaders_view import leaders_view
from supervisor.services.supervisors.admission import existing
from supervisor.services.supervisors.previews import Previews
from tasks.contract.offsets import Offsets, TopicPartition

FRESH = timedelta(seconds=5)
"""The maximum age of a read of Kafka: retention may have deleted older offsets."""
PATIENCE_S = 0.6
"""Seconds to wait for a read of Kafka that is under way; callers expect an answer within 1 s."""
TRIES = 5
"""The maximum of restarts because a publish moved an offset meanwhile."""
_LOOK_AGAIN_S = 0.02


@dataclass(frozen=True)
class ResetDone:
    """The result of a reset, or its prediction by a dry run."""

    supervisor_id: str
    dry_run: bool
    moves: tuple[OffsetMove, ...]
    discarded: tuple[Generation, ...]
    """Live ranges that are given up: their records are read again or skipped."""
    digest: str
    """Of all this: an act that is given it does the same, or nothing."""
    operation: str | None = None
    """The id of the operation; None: a dry run."""


@dataclass(frozen=True)
class _ResetRequest:
    """One of the reset verbs: its author, and its target offsets from spec, Kafka and rows."""

    kind: OperationKind
    author: str
    expect: str | None
    """The digest of the preview that the author has read; None: whatever it does."""
    why: Callable[[SupervisorSpec], str]
    target: Callable[
        [SupervisorSpec, StreamState, Mapping[TopicPartition, CommittedOffset]], NewOffsets
    ]


@dataclass(frozen=True)
class Resets:
    """The reset verbs; one instance per process, safe to call from many threads."""

    store: Store
    streams: Streams
    clock: Clock
    leadership: Leadership
    loop: Loop
    endings: TaskEnder
    previews: Previews = field(default_factory=Previews)

    def reset(
        self,
        supervisor_id: str,
        author: str,
        *,
        to: LogEnd | None = None,
        expect: str | None = None,
        dry_run: bool = False,
    ) -> ResetDone:
        """Forget the stored offsets and begin again, as a new supervisor would.

        All partitions of the present topic begin at the earliest or at the last stable offset: at
        `to`, else by useEarliestOffset.  A reset is the way out of TOPIC_CHANGED.  `expect` is the
        digest of the preview that the author has read.

        Raises:
            PreviewOutdated: it would do something else than `expect`; nothing is done.
            InvalidRequest: a bounded supervisor has no other beginning than its first offsets.
            SupervisorNotFound: never stored, or terminated.
            StreamUnavailable: Kafka's offsets are not known; nothing is done.
            TopicMissing: Kafka has no such topic; nothing is done.
            LeaseLost: this overlord does not lead.
        """

        def target(
            spec: SupervisorSpec, seen: StreamState, rows: Mapping[TopicPartition, CommittedOffset]
        ) -> NewOffsets:
            first = _initial(spec, seen, to)
            mine = {p for p in rows if _is_read(spec, p)}
            return NewOffsets(first, seen.topic_ids, seen.earliest, frozenset(mine - first.keys()))

        def why(spec: SupervisorSpec) -> str:
            where = LogEnd.EARLIEST if spec.io_config.use_earliest_offset else LogEnd.LATEST
            named = "first" if spec.io_config.starts is not None else str(to or where)
            return f"reset by {author}: it begins again at the {named} offsets"

        request = _ResetRequest(OperationKind.RESET, author, expect, why, target)
        return self._move(supervisor_id, request, dry_run=dry_run)

    def reset_offsets(
        self,
        supervisor_id: str,
        offsets: Offsets,
        author: str,
        *,
        expect: str | None = None,
        dry_run: bool = False,
    ) -> ResetDone:
        """Go on at `offsets`; partitions that are not named stay where they are.

        Before the first offsets are stored, the others begin as useEarliestOffset says.

        Raises:
            InvalidOffsets: a partition is unknown, or Kafka does not hold that offset.
            PreviewOutdated, SupervisorNotFound, StreamUnavailable, TopicMissing, LeaseLost: as
                `reset`.
        """

        def target(
            spec: SupervisorSpec, seen: StreamState, rows: Mapping[TopicPartition, CommittedOffset]
        ) -> NewOffsets:
            mine = {p: row for p, row in rows.items() if _is_read(spec, p)}
            to = dict(offsets) if mine else {**_initial(spec, seen, None), **offsets}
            _check_bounds(spec, to)
            _check(to, mine, seen)
            return NewOffsets(to, seen.topic_ids, seen.earliest)

        why = f"offsets set by {author}"
        request = _ResetRequest(OperationKind.RESET_OFFSETS, author, expect, lambda _: why, target)
        return self._move(supervisor_id, request, dry_run=dry_run)

    def look(self, supervisor_id: str, spec: SupervisorSpec) -> StreamState:
        """Return a fresh read of Kafka's offsets, after a bounded wait.

        Raises:
            StreamUnavailable: Kafka's offsets are not known.
            TopicMissing: Kafka has no such topic.
        """
        started_at, until = self.clock.now(), self.clock.monotonic() + PATIENCE_S
        while True:
            seen = self.streams.state(supervisor_id, spec)
            if seen.known and seen.read_at is not None and seen.read_at >= started_at - FRESH:
                return seen
            if seen.trouble is StreamTrouble.NO_TOPIC:
                stream = spec.io_config.stream
                raise TopicMissing(
                    f"Kafka has no topic {stream} now, so nothing was reset: make it anew and "
                    f"reset then, or end the supervisor: `tidegate supervisor terminate "
                    f"{supervisor_id}`"
                )
            failed = seen.trouble not in {None, StreamTrouble.CONNECTING}
            if failed or self.clock.monotonic() >= until:
                reason = seen.detail or "it has not answered yet"
                raise StreamUnavailable(
                    f"the offsets of {spec.io_config.stream} in Kafka are not known ({reason}), so "
                    "nothing was reset: try again once Kafka answers"
                )
            threading.Event().wait(_LOOK_AGAIN_S)

    def _move(self, supervisor_id: str, request: _ResetRequest, *, dry_run: bool) -> ResetDone:
        for _ in range(TRIES):
            self.leadership.term()  # only a leader has read Kafka
            with self.store.reading() as tx:
                version, spec = existing(tx, supervisor_id)
            seen = self.look(supervisor_id, spec)
            try:
                if dry_run:
                    return self._foresee(supervisor_id, request, spec, seen)
                return self._act(supervisor_id, request, version, seen)
            except (StaleCommit, StateMoved):
                continue
        raise MetadataBusy(f"the offsets of {supervisor_id} moved {TRIES} times meanwhile")

    def _foresee(
        self, supervisor_id: str, request: _ResetRequest, spec: SupervisorSpec, seen: StreamState
    ) -> ResetDone:
        with leaders_view(self.store, self.leadership) as tx:
            rows = tx.offsets.of(supervisor_id)
            new = request.target(spec, seen, rows)
            done = foreseen(supervisor_id, request.kind, new, rows, tx.generations)
        self.previews.keep(done.digest, new)
        return done

    def _act(
        self, supervisor_id: str, request: _ResetRequest, looked_at: SpecVersion, seen: StreamState
    ) -> ResetDone:
        with self.store.leading(self.leadership.term()) as tx:
            newest, spec = existing(tx, supervisor_id)  # it may be terminated or forgotten
            if newest.version != looked_at.version:
                raise StateMoved(f"{supervisor_id} has another spec than when Kafka was looked at")
            cause = Cause(request.author, request.kind, request.why(spec), self.clock.now())
            rows = tx.offsets.of(supervisor_id)
            new = self.expected(request.expect, seen) or request.target(spec, seen, rows)
            done = foreseen(supervisor_id, request.kind, new, rows, tx.generations)
            if request.expect not in {None, done.digest}:
                fresh = request.target(spec, seen, rows)
                now = foreseen(supervisor_id, request.kind, fresh, rows, tx.generations)
                self.previews.keep(now.digest, fresh)
                raise PreviewOutdated(supervisor_id, now)
            move_offsets(tx, self.endings, supervisor_id, new, cause, rows=rows)
            existing(tx, supervisor_id)  # a submitted task may have been retired meanwhile
            wish = Operation(supervisor_id, request.kind, request.author, cause.now)
            operation = tx.operations.add(wish)
        self.loop.wake(supervisor_id)
        return replace(done, dry_run=False, operation=operation.id)

    def expected(self, expect: str | None, seen: StreamState) -> NewOffsets | None:
        """Return the offsets of the preview that the author has read, if they are known."""
        return None if expect is None else self.previews.recall(expect, seen)


def foreseen(
    supervisor_id: str,
    kind: OperationKind,
    new: NewOffsets,
    rows: Mapping[TopicPartition, CommittedOffset],
    generations: Generations,
    *options: str,
) -> ResetDone:
    """Return what setting the committed offsets `rows` to `new` does, with its digest."""
    offset_moves = moves(rows, new)
    given_up = doomed(generations.live(supervisor_id), new.touched)
    subject = (kind, supervisor_id, *options)
    digest = preview_digest(subject, offset_moves, (each.id for each in given_up))
    return ResetDone(supervisor_id, True, offset_moves, given_up, digest)


def _initial(
    spec: SupervisorSpec, seen: StreamState, to: LogEnd | None
) -> dict[TopicPartition, int]:
    if (starts := spec.io_config.starts) is not None:
        if to is not None:
            hint = "leave `to` out; resetOffsets takes offsets inside of its ranges"
            raise InvalidRequest([FieldError("/query/to", "it is bounded", hint)])
        return {p: at for p, at in starts.items() if p in seen.earliest}
    earliest = spec.io_config.use_earliest_offset if to is None else to is LogEnd.EARLIEST
    source = seen.earliest if earliest else seen.stable
    return {p: source[p] for p in sorted(seen.earliest) if spec.io_config.reads(p.topic)}


def _is_read(spec: SupervisorSpec, partition: TopicPartition) -> bool:
    ends = spec.io_config.ends
    return spec.io_config.reads(partition.topic) and (ends is None or partition in ends)


def _check_bounds(spec: SupervisorSpec, to: Offsets) -> None:
    """Refuse offsets outside the ranges of a bounded supervisor.

    Raises:
        InvalidOffsets: the message names each partition and its range.
    """
    starts, ends = spec.io_config.starts, spec.io_config.ends
    if starts is None or ends is None:
        return
    named = ", ".join(str(p) for p in ends)
    wrong = [
        FieldError(
            "", f"{p} is not read: boundedStreamConfig does not name it", f"it names {named}"
        )
        if p not in ends
        else FieldError("", f"{p}: {at} lies outside its range", f"{starts[p]} to {ends[p]}")
        for p, at in sorted(to.items())
        if p not in ends or not starts[p] <= at <= ends[p]
    ]
    if wrong:
        raise InvalidOffsets(wrong)


def _check(to: Offsets, rows: Mapping[TopicPartition, CommittedOffset], seen: StreamState) -> None:
    """Refuse offsets that Kafka does not hold.

    Raises:
        InvalidOffsets: the message names each partition and its valid offsets.
    """
    wrong = []
    for partition, offset in sorted(to.items()):
        if partition not in seen.earliest or (rows and partition not in rows):
            known = ", ".join(str(p) for p in sorted(seen.earliest.keys() & (rows or to).keys()))
            wrong.append(FieldError("", f"{partition} is no partition of it", f"it has {known}"))
            continue
        if rows and rows[partition].topic_id != seen.topic_ids[partition.topic]:
            message = f"topic {partition.topic} was deleted and created again"
            wrong.append(FieldError("", message, "a whole reset takes the new topic up"))
            continue
        first, last = seen.earliest[partition], seen.latest[partition]
        if not first <= offset <= last:
            message = f"{partition}: {offset} is not an offset to go on at"
            wrong.append(FieldError("", message, f"Kafka holds {first} to {last}"))
    if wrong:
        raise InvalidOffsets(wrong)
