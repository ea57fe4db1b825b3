"""The spec verbs of supervisors, and the worker sync.

Reads are answered from the rows and the soft state.  Writes run under the leader's term and then
wake the loop; they never wait for Kafka, a worker or a pass.
"""

import secrets
from collections.abc import Callable
from typing import TypeVar

from supervisor.control.export_outbox import follow
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop, wake_all
from supervisor.control.sync_answers import SyncAnswers
from supervisor.control.tables import refuse_taken_name
from supervisor.control.wakeups import Wakeups
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.history.operations import Operation, OperationKind
from supervisor.core.model.rows import AuditEntry, SpecVersion, WorkerRow
from supervisor.core.planning.impact import SpecImpact, judge_change
from supervisor.core.planning.preconditions import WHATEVER, AnyVersion, Expected
from supervisor.core.spec.reader import ReadSpec, read_spec
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import (
    MetadataBusy,
    StateMoved,
    WorkerFenced,
)
from supervisor.ports.clock import Clock
from supervisor.ports.store import TouchingStore, Transaction
from supervisor.services.access.ownership import Allowed, allowed_before, everything
from supervisor.services.foresight.leaders_view import leaders_view
from supervisor.services.supervisors.admission import (
    Applied,
    Judge,
    LiveRows,
    OperatorPolicy,
    Stored,
    any_impact,
    applied,
    existing,
    existing_stored,
    impact_on_rows,
    live_rows,
    not_applied,
    number_after,
    suspension,
    unchanged,
    with_mixed_types,
)
from supervisor.services.supervisors.version_pages import spec_of
from tasks.contract.messages import RunState, SyncRequest, SyncResponse

TRIES = 100
"""Rounds of a race for the next version of one spec; in each round, one of the racers wins."""
_Done = TypeVar("_Done")


class Service:
    """The spec verbs and the worker sync; one instance per process, safe from many threads."""

    def __init__(
        self,
        *,
        store: TouchingStore,
        clock: Clock,
        leadership: Leadership,
        registry: WorkerRegistry,
        loop: Loop,
        changed: Wakeups,
        rules: OperatorPolicy,
        failpoint: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`failpoint` is called with each named step; a test may end the process there."""
        self._store = store
        self._clock = clock
        self._leadership = leadership
        self._registry = registry
        self._loop = loop
        self._changed = changed
        self._rules = rules
        self._failpoint = failpoint
        self._answers = SyncAnswers(store, clock, rules.pause_lease, changed)

    # -- specs ---------------------------------------------------------------------------------

    def apply_spec(
        self,
        document: object,
        author: str,
        expected: Expected = WHATEVER,
        *,
        what: OperationKind = OperationKind.APPLY,
        allowed: Allowed = everything,
        submitted: bool = False,
    ) -> Applied:
        """Store a spec as the next version, unless it equals the newest one.

        `allowed` is called with the spec's table and the old one; it raises if the caller may not
        change it.  `submitted` marks a submitted task.

        Raises:
            InvalidSpec: with every invalid field; also if the name of a new table is taken.
            PreconditionFailed: the newest version is not as `expected`.
            LeaseLost: this overlord does not lead.
        """
        read = self.read(document, allowed)
        spec = read.spec

        def apply(tx: Transaction) -> Applied:
            newest = tx.specs.newest_stored(spec.id)
            allowed_before(tx, spec.id, allowed)
            expected.check(spec.id, newest)
            judged = with_mixed_types(tx, newest, read)
            if isinstance(newest, SpecVersion) and newest.spec == spec:
                return unchanged(newest, judged)
            refuse_taken_name(tx, spec)
            wish, impact = (what, spec.id, author), judge_change(newest, spec)
            after = 0 if newest is None else newest.version
            stored = self._append(tx, wish, spec, impact, after=after, submitted=submitted)
            self._follow_exports(tx, spec)
            return applied(stored, judged)

        done = self._judged(apply)
        self._failpoint(f"{what}:committed")
        self._loop.wake(spec.id)
        return done

    def preview(
        self, document: object, expected: Expected = WHATEVER, allowed: Allowed = everything
    ) -> Applied:
        """Return the predicted result of `apply_spec`, and store nothing; raises as it does."""
        read = self.read(document, allowed)
        with leaders_view(self._store, self._leadership) as tx:
            newest = tx.specs.newest_stored(read.spec.id)
            allowed_before(tx, read.spec.id, allowed)
            refuse_taken_name(tx, read.spec)
            read = with_mixed_types(tx, newest, read)
            expected.check(read.spec.id, newest)
            if isinstance(newest, SpecVersion) and newest.spec == read.spec:
                return unchanged(newest, read)
            return not_applied(newest, read, self.impact(tx, newest, read.spec))

    def impact(
        self, tx: Transaction, newest: AnyVersion | None, spec: SupervisorSpec
    ) -> SpecImpact:
        """Return the changes and disturbances if `spec` were stored behind `newest`.

        Raises:
            InvalidSpec: the spec changes a field that must not change.
        """
        version = SpecVersion(spec.id, number_after(newest), self._clock.now(), spec)
        return self.on_rows(live_rows(tx, version), judge_change(newest, spec), version)

    def on_rows(self, rows: LiveRows, impact: SpecImpact, version: SpecVersion) -> SpecImpact:
        """Return an impact with what becomes of the live ranges by `version`, stored or not."""
        last = self._loop.last_pass(version.supervisor_id)
        return impact_on_rows(rows, impact, version, None if last is None else last.seen.stream)

    def read(self, document: object, allowed: Allowed = everything) -> ReadSpec:
        """Read a spec and check it against the policy, storing nothing; raises as `apply_spec`."""
        read = read_spec(document)
        allowed(read.spec.data_source, read.spec)
        self.check(read.spec)
        return read

    def check(self, spec: SupervisorSpec) -> None:
        """Refuse a spec that breaks the operator's rules, before anything connects.

        Raises:
            InvalidSpec: the message names the hosts, or the format of an export.
        """
        self._rules.check(spec)

    def _judged(self, write: Callable[[Transaction], _Done]) -> _Done:
        """Run a write that depends on the newest version; repeat it if another came first (H8)."""
        with self._store.leading(self._leadership.term()) as tx:
            for _ in range(TRIES):
                try:
                    return write(tx)
                except StateMoved:
                    continue
        raise MetadataBusy("others keep storing versions of this supervisor")

    def _follow_exports(self, tx: Transaction, spec: SupervisorSpec) -> None:
        if spec.data_schema.exports or tx.exports.of(spec.data_source):
            follow(tx, spec.data_source, self._clock.now())

    def suspend(
        self,
        supervisor_id: str,
        author: str,
        expected: Expected = WHATEVER,
        *,
        judge: Judge = any_impact,
        suspended: bool = True,
    ) -> Stored:
        """Suspend a supervisor: live groups hand off and publish, and nothing new starts."""
        verb = OperationKind.SUSPEND if suspended else OperationKind.RESUME

        def change(tx: Transaction) -> Stored:
            newest, wanted = suspension(tx, supervisor_id, expected, suspended=suspended)
            wish, impact = (verb, supervisor_id, author), judge_change(newest, wanted)
            stored = self._append(tx, wish, wanted, impact, after=newest.version)
            judge(tx, stored.impact)
            return stored

        done = self._judged(change)
        self._failpoint(f"{verb}:committed")
        self._loop.wake(supervisor_id)
        return done

    def resume(
        self,
        supervisor_id: str,
        author: str,
        expected: Expected = WHATEVER,
        *,
        judge: Judge = any_impact,
    ) -> Stored:
        """Resume a supervisor at its committed offsets."""
        return self.suspend(supervisor_id, author, expected, judge=judge, suspended=False)

    def terminate(
        self,
        supervisor_id: str,
        author: str,
        expected: Expected = WHATEVER,
        *,
        judge: Judge = any_impact,
    ) -> str:
        """End a supervisor: a tombstone, then its tasks hand off; return the operation's id.

        The newest spec need not be readable here.
        """
        verb = OperationKind.TERMINATE

        def end(tx: Transaction) -> str:
            newest = existing_stored(tx, supervisor_id)
            expected.check(supervisor_id, newest)
            wish, impact = (verb, supervisor_id, author), judge_change(newest, None)
            stored = self._append(tx, wish, None, impact, after=newest.version)
            judge(tx, stored.impact)
            return stored.operation

        operation = self._judged(end)
        self._failpoint(f"{verb}:committed")
        self._loop.wake(supervisor_id)
        return operation

    def _append(
        self,
        tx: Transaction,
        wish: tuple[OperationKind, str, str],
        spec: SupervisorSpec | None,
        impact: SpecImpact,
        *,
        after: int,
        submitted: bool = False,
    ) -> Stored:
        """Store a version; `wish` has the verb, the supervisor and the author."""
        what, supervisor_id, author = wish
        now = self._clock.now()
        version = tx.specs.append(
            supervisor_id, spec, now, author, after=after, submitted=submitted
        )
        detail = {"version": str(version.version)}
        tx.audit.write(AuditEntry(now, author, what, supervisor_id, detail))
        impact = self.on_rows(live_rows(tx, version), impact, version)
        operation = Operation(
            supervisor_id,
            what,
            author,
            now,
            spec_version=version.version,
            ranges=impact.leaving,
            disturbs=impact.needs_passes,
        )
        stored = tx.operations.add(operation)
        self._failpoint(f"{what}:in-transaction")
        return Stored(version, stored.id, impact)

    def supervisor_ids(self) -> list[str]:
        """Return the ids of supervisors that are not terminated, also of those unreadable here."""
        with self._store.reading() as tx:
            return [head.supervisor_id for head in tx.specs.heads() if not head.terminated]

    def spec(self, supervisor_id: str) -> SupervisorSpec:
        """Return the newest spec; raises as `newest` does."""
        return self.newest(supervisor_id)[1]

    def newest(self, supervisor_id: str) -> tuple[SpecVersion, SupervisorSpec]:
        """Return the newest version and its spec.

        Raises:
            SupervisorNotFound: the supervisor was never stored, or is terminated.
        """
        with self._store.reading() as tx:
            return existing(tx, supervisor_id)

    def spec_of_version(self, supervisor_id: str, number: int) -> SupervisorSpec:
        """Return the spec of one version; raises as `version_pages.spec_of`."""
        with self._store.reading() as tx:
            return spec_of(tx, supervisor_id, number)

    # -- workers -------------------------------------------------------------------------------

    def sync(self, request: SyncRequest) -> SyncResponse:
        """Take a worker's report and return its desired state.

        Raises:
            WorkerFenced: a newer incarnation of the worker has registered.
            LeaseLost: this overlord does not lead; the worker tries another one.
        """
        term = self._leadership.term()
        if self._registry.known_incarnation(request.worker_id) != request.incarnation:
            self._register(request, term)
        if news := self._registry.record(request):
            self._wake_owners(news, request.worker_id)
        return self._answer(request, term)

    def look_again(self, request: SyncRequest) -> SyncResponse:
        """Return the desired state of a worker whose report was taken; raises as `sync`.

        Its report is no new sign of life.
        """
        term = self._leadership.term()
        if self._registry.known_incarnation(request.worker_id) != request.incarnation:
            self._register(request, term)
        return self._answer(request, term)

    def _answer(self, request: SyncRequest, term: int) -> SyncResponse:
        answer = self._answers.answer(request.worker_id, term)
        self._registry.listed(request.worker_id, (task.task_id for task in answer.tasks))
        for place in _places_of(answer):
            self._failpoint(place)
        return answer

    def _register(self, request: SyncRequest, term: int) -> None:
        now = self._clock.now()
        self._rules.check_worker(request, now)
        row = WorkerRow(request.worker_id, request.incarnation, request.url, request.slots, now)
        with self._store.leading(term) as tx:
            newest = tx.workers.register(row)
            if newest != request.incarnation:
                raise WorkerFenced(request.worker_id, request.incarnation, newest)
            older = [
                task.id
                for task in tx.tasks.active(worker_id=request.worker_id)
                if task.incarnation != request.incarnation
            ]
            tokens = {task_id: new_token() for task_id in older}
            unseen = self._registry.unheard(row.id, term)
            tx.tasks.take_up(row.id, row.incarnation, tokens, unseen)
        self._registry.registered(row)
        wake_all(self._store, self._loop)

    def _wake_owners(self, task_ids: set[str], worker_id: str) -> None:
        with self._store.reading() as tx:
            owners = {
                t.supervisor_id for t in tx.tasks.active(worker_id=worker_id) if t.id in task_ids
            }
        for owner in owners:
            self._loop.wake(owner)

    def start_term(self) -> None:
        """Begin a term: drop the soft state, and wake every supervisor (adoption)."""
        with self._store.reading() as tx:
            rows = tx.workers.all()
        self._registry.reset(rows)
        self._answers.forget()
        self._failpoint("term:begun")
        wake_all(self._store, self._loop)
        self._changed.notify()

    def require_leader(self) -> int:
        """Return the term.

        Raises:
            LeaseLost: this overlord does not lead.
        """
        return self._leadership.term()

    def leader_url(self) -> str | None:
        """Return the leader's address; None: no leader is known."""
        return self._leadership.leader_url()


def _places_of(answer: SyncResponse) -> list[str]:
    """Return the failpoints of an answer to a sync, before the answer is sent."""
    paused = any(task.order.state is RunState.PAUSE for task in answer.tasks)
    ends = any(task.order.end is not None for task in answer.tasks)
    failpoints = {"sync:told-pause": paused, "sync:told-end": ends, "sync:answered": True}
    return [place for place, holds in failpoints.items() if holds]


def new_token() -> str:
    """Return the secret of one task: 32 random bytes as text."""
    return secrets.token_urlsafe(32)
