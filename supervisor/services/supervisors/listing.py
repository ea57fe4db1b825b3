"""The list of all supervisors, from rows and from what the last passes saw.

    rows: versions, states, last publications, lag 15 min ago,
          newest operations of the rows of the page ────────────┐
    memory: last pass of each, failed passes, rows a second ────┴──► rows of the list

Kafka and the workers are not asked, and no supervisor is observed anew.  So the list of a thousand
supervisors takes as many statements as the list of one.  Only the leader has what passes saw:
another overlord raises LeaseLost with the leader's address.
"""

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from supervisor.control.leadership import Leadership
from supervisor.control.loop import NO_TROUBLES, Loop, PassTroubles, dead_owners
from supervisor.control.state_recorder import StateRecorder
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.attention.remedies import Remedy, remedies_of
from supervisor.core.history.lag import Lag
from supervisor.core.history.listing import (
    TREND_SPAN,
    ListedPage,
    ListedSupervisor,
    ListedVersion,
    ListFilter,
    ListOrder,
    finished_row,
    page_of,
    trend_of,
)
from supervisor.core.history.operations import (
    Operation,
    OperationState,
    Progress,
    progress_in_pass,
)
from supervisor.core.history.partitions import least_headroom
from supervisor.core.model.rows import PresentVersion
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.pass_summary import PassSummary, newest_error, summary_of
from supervisor.core.planning.passes import Pass, PassError
from supervisor.core.planning.preconditions import AnyVersion
from supervisor.core.planning.rules.bounds import records_of
from supervisor.core.planning.states import (
    COMPLETED,
    State,
    SupervisorState,
    failing_state,
    unread_state,
)
from supervisor.core.values.errors import SpecUnreadable
from supervisor.ports.clock import Clock
from supervisor.ports.state_history import StoredState
from supervisor.ports.store import Store, Transaction
from supervisor.views.attention.warnings import warnings

MayRead = Callable[[str | None], bool]
"""Whether the caller may read a table; None: the table is not known."""
SAMPLE_AGE = timedelta(minutes=5)
"""By how much the lag sample of a trend may be older than `TREND_SPAN`, after a change of leader.
"""

UNSEEN = SupervisorState(
    State.PENDING,
    State.PENDING,
    healthy=True,
    why="the leading overlord has made no pass over it yet",
)
"""The state of a supervisor that no pass of this leader has seen."""


@dataclass(frozen=True)
class _KnownVersion:
    """A newest version, and the state of a supervisor whose spec cannot be read."""

    listed: ListedVersion
    unread: SupervisorState | None = None

    def is_of(self, present: PresentVersion) -> bool:
        """Whether the row is still the one that was read; numbers restart once one is forgotten."""
        mine = self.listed
        return (mine.version, mine.created_at) == (present.version, present.created_at)


@dataclass(frozen=True)
class _KeptSummary:
    """What a list needs of a pass; worked out by the first list after the pass."""

    of: weakref.ReferenceType[Pass]
    """Weak: the loop decides how long a pass is kept, with all that it saw."""
    summary: PassSummary
    lag: Lag
    warnings: tuple[str, ...]
    headroom: timedelta | None
    looked_at: datetime | None
    """When the look at Kafka began that the lag is of; None: the lag is not known."""


@dataclass(frozen=True)
class _Facts:
    """What one answer reads from rows, from the registry and from the loop; by supervisor."""

    states: Mapping[str, StoredState]
    lag_before: Mapping[str, Lag]
    published: Mapping[str, datetime]
    rates: Mapping[str, float | None]
    """Rows per second, of supervisors with tasks; None: not known."""
    passes: Mapping[str, Pass]
    """The last good ones."""
    troubles: Mapping[str, PassTroubles]


@dataclass(frozen=True)
class ShownPage:
    """A page of the list, and what is worked out of its rows alone; by supervisor."""

    page: ListedPage
    remedies: Mapping[str, Remedy]
    """The best step of each state that has one."""
    running: Mapping[str, tuple[Operation, Progress]]
    """The operations that run."""


@dataclass(frozen=True)
class SupervisorListing:
    """Lists supervisors; one instance per process, safe from many threads."""

    store: Store
    clock: Clock
    leadership: Leadership
    loop: Loop
    watching: StateRecorder
    registry: WorkerRegistry
    _versions: dict[str, _KnownVersion] = field(default_factory=dict)
    _summaries: dict[str, _KeptSummary] = field(default_factory=dict)

    def page(
        self,
        may_read: MayRead,
        wanted: ListFilter,
        order: ListOrder,
        limit: int,
        cursor: str | None = None,
    ) -> ShownPage:
        """Return a page of the supervisors that the caller may read and that are not terminated.

        Raises:
            BadCursor: the cursor is of another list, or of another order.
            LeaseLost: this overlord does not lead.
        """
        self.leadership.term()
        with self.store.reading() as tx:
            rows = self.rows(tx, may_read)
        page = page_of(rows, wanted, order, limit, cursor)
        passes = self.loop.last_passes(row.id for row in page.rows)
        seen = {
            row.id: last.seen
            for row in page.rows
            if (last := _of_same_table(passes.get(row.id), row.newest)) is not None
        }
        with self.store.reading() as tx:
            operations = tx.operations.newest_of(seen)
        return ShownPage(page, _first_remedies(page.rows, seen), _running(operations, seen))

    def rows(self, tx: Transaction, may_read: MayRead) -> list[ListedSupervisor]:
        """Return the row of each supervisor that the caller may read, in no order.

        The caller has checked that this overlord leads.
        """
        now = self.clock.now()
        present = tx.specs.present()
        versions = self._known_versions(tx, present)
        facts = _Facts(
            states=tx.watched.states(),
            lag_before=tx.watched.lag_about(now - TREND_SPAN - SAMPLE_AGE, now - TREND_SPAN),
            published=tx.segments.last_published(),
            rates=self.registry.rows_per_second(),
            passes=self.loop.last_passes(versions),
            troubles=self.loop.troubles(versions),
        )
        dead = dead_owners(tx)
        self._drop_gone(versions)
        return [
            self._row(known, facts, rests=each.rests, dead=each.supervisor_id in dead)
            for each in present
            if may_read((known := versions[each.supervisor_id]).listed.data_source)
        ]

    def _known_versions(
        self, tx: Transaction, present: Sequence[PresentVersion]
    ) -> dict[str, _KnownVersion]:
        """Return supervisor -> its newest version; documents are read only of new versions."""
        known: dict[str, _KnownVersion] = {}
        for each in present:
            kept = self._versions.get(each.supervisor_id)
            if kept is not None and kept.is_of(each):
                known[each.supervisor_id] = kept
        missing = [each for each in present if each.supervisor_id not in known]
        numbers = [(each.supervisor_id, each.version) for each in missing]
        read = tx.specs.versions(numbers) if numbers else {}
        for each, number in zip(missing, numbers, strict=True):
            known[each.supervisor_id] = _known(each, read[number])
        self._versions.update(known)
        return known

    def _drop_gone(self, versions: Mapping[str, _KnownVersion]) -> None:
        for kept in (self._versions, self._summaries):
            for supervisor_id in [*kept]:
                if supervisor_id not in versions:
                    kept.pop(supervisor_id, None)

    def _row(
        self, known: _KnownVersion, facts: _Facts, *, rests: bool, dead: bool
    ) -> ListedSupervisor:
        supervisor_id = known.listed.supervisor_id
        last_pass = _of_same_table(facts.passes.get(supervisor_id), known.listed)
        kept = None if last_pass is None else self._summary(last_pass)
        if rests and not (dead and kept is not None):
            since = _since(facts, supervisor_id, COMPLETED)
            published = facts.published.get(supervisor_id)
            return finished_row(known.listed, COMPLETED, since, published)
        troubles = facts.troubles.get(supervisor_id, NO_TROUBLES)
        state = known.unread or self._state(kept, troubles.failing)
        error = newest_error(None if kept is None else kept.summary.last_error, troubles.errors)
        since = _since(facts, supervisor_id, state)
        published = facts.published.get(supervisor_id)
        if kept is None:
            return ListedSupervisor(
                known.listed, state, since, None, last_published_at=published, last_error=error
            )
        summary = kept.summary
        return ListedSupervisor(
            newest=known.listed,
            state=state,
            since=since,
            observed_at=summary.observed_at,
            topics=summary.topics,
            lag=kept.lag,
            lag_at=kept.looked_at,
            headroom=kept.headroom,
            trend=trend_of(facts.lag_before.get(supervisor_id), kept.lag),
            rows_per_second=facts.rates.get(supervisor_id, None if summary.tasks else 0.0),
            groups=summary.groups,
            replicas=summary.replicas,
            next_publish_due=summary.next_publish_due,
            last_published_at=published,
            last_error=error,
            warnings=kept.warnings,
            bad_records=summary.bad_records,
            bounded_left=summary.bounded_left,
        )

    @staticmethod
    def _state(kept: _KeptSummary | None, failing: PassError | None) -> SupervisorState:
        if failing is not None:
            return failing_state(failing)
        if kept is not None:
            return kept.summary.state
        return UNSEEN

    def _summary(self, last_pass: Pass) -> _KeptSummary:
        """Return what a pass over a supervisor with a spec saw."""
        supervisor_id, spec = last_pass.seen.current.supervisor_id, last_pass.seen.current.spec
        assert spec is not None, "a pass over another table is not shown"
        kept = self._summaries.get(supervisor_id)
        if kept is None or kept.of() is not last_pass:
            summary, seen = summary_of(last_pass), last_pass.seen
            texts = warnings(seen, spec, (), bad=summary.bad_records)
            lag = self.watching.lag(seen)
            room = least_headroom(seen, self.watching.moves(seen))
            kept = _KeptSummary(
                of=weakref.ref(last_pass),
                summary=summary,
                lag=lag,
                warnings=tuple(texts),
                headroom=room,
                looked_at=None if lag.records is None else seen.stream.read_at,
            )
            self._summaries[supervisor_id] = kept
        return kept


def _of_same_table(last_pass: Pass | None, listed: ListedVersion) -> Pass | None:
    """Return a pass, unless it was over another table.

    An id may come back with another table, which not the same people may read.
    """
    spec = None if last_pass is None else last_pass.seen.current.spec
    return None if spec is None or spec.data_source != listed.data_source else last_pass


def _first_remedies(
    rows: Sequence[ListedSupervisor], seen: Mapping[str, Observed]
) -> dict[str, Remedy]:
    steps = {row.id: remedies_of(seen[row.id], row.state) for row in rows if row.id in seen}
    return {supervisor_id: found[0] for supervisor_id, found in steps.items() if found}


def _running(
    newest: Mapping[str, Operation], seen: Mapping[str, Observed]
) -> dict[str, tuple[Operation, Progress]]:
    judged = {who: (each, progress_in_pass(each, seen[who])) for who, each in newest.items()}
    return {who: pair for who, pair in judged.items() if pair[1].state is OperationState.RUNNING}


def _known(present: PresentVersion, read: AnyVersion) -> _KnownVersion:
    """Return what the list shows of a version; it is read in the same view, and no tombstone."""
    if isinstance(read, SpecUnreadable):
        facts = read.facts
        stream = facts.topic or facts.topic_pattern
        listed = _listed(present, facts.data_source, stream, suspended=False)
        return _KnownVersion(listed, unread_state(read))
    assert read.spec is not None, "a present version has a spec"
    spec = read.spec
    listed = _listed(present, spec.data_source, spec.io_config.stream, suspended=spec.suspended)
    return _KnownVersion(replace(listed, bounded_records=records_of(spec)))


def _listed(
    present: PresentVersion, data_source: str | None, stream: str | None, *, suspended: bool
) -> ListedVersion:
    return ListedVersion(
        supervisor_id=present.supervisor_id,
        version=present.version,
        created_at=present.created_at,
        author=present.author,
        data_source=data_source,
        stream=stream,
        suspended=suspended,
    )


def _since(facts: _Facts, supervisor_id: str, state: SupervisorState) -> datetime | None:
    stored = facts.states.get(supervisor_id)
    if stored is None or (stored.state, stored.detailed) != (str(state.state), state.detailed):
        return None
    return stored.since
