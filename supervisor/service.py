"""All that the API may ask for: verbs of the supervisors, and what workers ask of the overlord.

Reads are answered from the rows and the soft state.  Writes happen under the leader's term and
then wake the loop; they never wait for Kafka, a worker or a pass.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from supervisor.core.changes import NO_CHANGES, Changes, compare, forbidden
from supervisor.core.errors import (
    AlreadyInState,
    FieldError,
    InvalidSpec,
    MetadataBusy,
    NoHistory,
    StateMoved,
    SupervisorNotFound,
    WorkerFenced,
)
from supervisor.core.model import AuditEntry, SpecVersion, WorkerRow
from supervisor.core.spec import SupervisorSpec, ingest_spec
from supervisor.core.spec_exports import ExportFormat
from supervisor.core.spec_reader import read_spec
from supervisor.desired import desired_state
from supervisor.export_events import follow
from supervisor.leadership import Leadership
from supervisor.loop import Loop
from supervisor.ownership import newest_table
from supervisor.ports import Clock, Store, Transaction
from supervisor.registry import WorkerRegistry
from supervisor.signals import Broadcast
from tasks.contract import RunState, SyncRequest, SyncResponse
from tasks.kafka_client import refused_hosts
from tasks.registry import refused_registries

TRIES = 100
"""Rounds of a race for the next version of one spec; each round, one of the racers wins."""
_Done = TypeVar("_Done")


@dataclass(frozen=True)
class Rules:
    """What the operator allows."""

    kafka_allow: tuple[str, ...] | None
    """Broker hosts that specs may name; None allows all (loopback only)."""
    pause_lease: timedelta
    registry_allow: tuple[str, ...] | None = ()
    """Schema registries that specs may name; None allows all (loopback only)."""
    exports: frozenset[ExportFormat] = frozenset(ExportFormat)
    """Formats that can be written here."""


@dataclass(frozen=True)
class Applied:
    """What a POST of a spec did."""

    supervisor_id: str
    version: int
    modified: bool
    warnings: tuple[str, ...]
    changes: Changes = NO_CHANGES
    """Against the version before; none if there was none, or only a tombstone."""


class Service:
    """The overlord's verbs; one instance per process, safe to call from many threads."""

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        leadership: Leadership,
        registry: WorkerRegistry,
        loop: Loop,
        changed: Broadcast,
        rules: Rules,
        reach: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Keep the parts; `reach` is told of each place passed (failpoints)."""
        self._store = store
        self._clock = clock
        self._leadership = leadership
        self._registry = registry
        self._loop = loop
        self._changed = changed
        self._rules = rules
        self._reach = reach

    # -- specs ---------------------------------------------------------------------------------

    def apply_spec(
        self, document: object, author: str, allowed: Callable[[str], None] = lambda _: None
    ) -> Applied:
        """Store a spec as the next version, unless it equals the newest one.

        `allowed` raises for a table that the caller may not change: the spec's and the old one's.

        Raises:
            InvalidSpec: with every field that is wrong.
            LeaseLost: this overlord does not lead.
        """
        read = read_spec(document)
        spec = read.spec
        allowed(spec.data_source)
        self._check_brokers(spec)
        self._check_registries(spec)
        self._check_exports(spec)

        def apply(tx: Transaction) -> Applied:
            newest = tx.specs.newest(spec.id)
            if (before := newest_table(tx, spec.id)) is not None:
                allowed(before)
            if newest is not None and newest.spec == spec:
                return Applied(spec.id, newest.version, False, read.warnings)
            changes = _changes(newest, spec)
            version = self._append(
                tx, spec.id, spec, author, "apply", after=0 if newest is None else newest.version
            ).version
            self._follow_exports(tx, spec)
            return Applied(spec.id, version, True, read.warnings, changes)

        applied = self._judged(apply)
        self._reach("apply:committed")
        self._loop.wake(spec.id)
        return applied

    def _judged(self, write: Callable[[Transaction], _Done]) -> _Done:
        """Write what follows from the newest version; if another came first, judge anew (H8)."""
        with self._store.leading(self._leadership.term()) as tx:
            for _ in range(TRIES):
                try:
                    return write(tx)
                except StateMoved:
                    continue
        raise MetadataBusy("others keep storing versions of this supervisor")

    def _check_brokers(self, spec: SupervisorSpec) -> None:
        refused = refused_hosts(spec.io_config.client.bootstrap_servers, self._rules.kafka_allow)
        if refused:
            pointer = "/spec/ioConfig/consumerProperties/bootstrap.servers"
            raise InvalidSpec(
                [
                    FieldError(
                        pointer,
                        f"{', '.join(refused)}: not a host:port that this overlord may connect to",
                        "name allowed brokers, or have the operator extend TIDEGATE_KAFKA_ALLOW",
                    )
                ]
            )

    def _check_registries(self, spec: SupervisorSpec) -> None:
        urls = ingest_spec(spec).registry_urls
        if refused := refused_registries(urls, self._rules.registry_allow):
            raise InvalidSpec(
                [
                    FieldError(
                        "/spec/ioConfig/inputFormat",
                        f"{', '.join(refused)}: not a schema registry that workers may connect to",
                        "name an allowed one, or have the operator extend TIDEGATE_REGISTRY_ALLOW",
                    )
                ]
            )

    def _check_exports(self, spec: SupervisorSpec) -> None:
        wanted = spec.data_schema.exports
        if lacking := [each for each in wanted if each not in self._rules.exports]:
            raise InvalidSpec(
                [
                    FieldError(
                        "/spec/dataSchema/exports",
                        f"{', '.join(lacking)}: this overlord lacks the package that writes it",
                        f"leave it out, or have the operator install tidegate[{lacking[0]}]",
                    )
                ]
            )

    def _follow_exports(self, tx: Transaction, spec: SupervisorSpec) -> None:
        if spec.data_schema.exports or tx.exports.of(spec.data_source):
            follow(tx, spec.data_source, self._clock.now())

    def suspend(self, supervisor_id: str, author: str) -> SupervisorSpec:
        """Start nothing new; what reads hands off and publishes."""
        return self._set_suspended(supervisor_id, author, suspended=True)

    def resume(self, supervisor_id: str, author: str) -> SupervisorSpec:
        """Go on where it stopped."""
        return self._set_suspended(supervisor_id, author, suspended=False)

    def _set_suspended(self, supervisor_id: str, author: str, *, suspended: bool) -> SupervisorSpec:
        verb = "suspend" if suspended else "resume"

        def change(tx: Transaction) -> SupervisorSpec:
            newest = _existing(tx, supervisor_id)
            if newest.spec is None:
                raise SupervisorNotFound(supervisor_id)
            if newest.spec.suspended == suspended:
                raise AlreadyInState(supervisor_id, "suspended" if suspended else "running")
            spec = newest.spec.model_copy(update={"suspended": suspended})
            self._append(tx, supervisor_id, spec, author, verb, after=newest.version)
            return spec

        spec = self._judged(change)
        self._reach(f"{verb}:committed")
        self._loop.wake(supervisor_id)
        return spec

    def terminate(self, supervisor_id: str, author: str) -> None:
        """End a supervisor: a tombstone, then its tasks hand off; its history stays."""

        def end(tx: Transaction) -> None:
            newest = _existing(tx, supervisor_id)
            if newest.spec is None:
                raise SupervisorNotFound(supervisor_id)
            self._append(tx, supervisor_id, None, author, "terminate", after=newest.version)

        self._judged(end)
        self._reach("terminate:committed")
        self._loop.wake(supervisor_id)

    def _append(
        self,
        tx: Transaction,
        supervisor_id: str,
        spec: SupervisorSpec | None,
        author: str,
        what: str,
        *,
        after: int,
    ) -> SpecVersion:
        now = self._clock.now()
        version = tx.specs.append(supervisor_id, spec, now, author, after=after)
        detail = {"version": str(version.version)}
        tx.audit.write(AuditEntry(now, author, what, supervisor_id, detail))
        self._reach(f"{what}:in-transaction")
        return version

    def supervisor_ids(self) -> list[str]:
        """Return the ids of supervisors that are not terminated."""
        with self._store.reading() as tx:
            return [v.supervisor_id for v in tx.specs.all_newest() if not v.terminated]

    def spec(self, supervisor_id: str) -> SupervisorSpec:
        """Return the newest spec.

        Raises:
            SupervisorNotFound: never stored, or terminated.
        """
        with self._store.reading() as tx:
            newest = tx.specs.newest(supervisor_id)
        if newest is None or newest.spec is None:
            raise SupervisorNotFound(supervisor_id)
        return newest.spec

    def history(self, supervisor_id: str, limit: int | None = None) -> list[SpecVersion]:
        """Return the versions of one id, newest first, tombstones included.

        Raises:
            NoHistory: the id was never used.
        """
        with self._store.reading() as tx:
            found = tx.specs.history(supervisor_id, limit)
        if not found:
            raise NoHistory(supervisor_id)
        return found

    def histories(self) -> dict[str, list[SpecVersion]]:
        """Return the versions of every id."""
        with self._store.reading() as tx:
            ids = [v.supervisor_id for v in tx.specs.all_newest()]
            return {supervisor_id: tx.specs.history(supervisor_id) for supervisor_id in ids}

    # -- workers -------------------------------------------------------------------------------

    def sync(self, request: SyncRequest) -> SyncResponse:
        """Take a worker's report and return what it should run.

        Raises:
            WorkerFenced: a newer incarnation of the worker has registered.
            LeaseLost: this overlord does not lead; the worker tries another one.
        """
        term = self._leadership.term()
        if self._registry.known_incarnation(request.worker_id) != request.incarnation:
            self._register(request, term)
        if news := self._registry.record(request):
            self._wake_owners(news, request.worker_id)
        with self._store.reading() as tx:
            answer = desired_state(tx, request.worker_id, term, self._rules.pause_lease)
        for place in _places_of(answer):
            self._reach(place)
        return answer

    def _register(self, request: SyncRequest, term: int) -> None:
        now = self._clock.now()
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
            tx.tasks.take_up(request.worker_id, request.incarnation, tokens)
        self._registry.registered(row)
        self.wake_all()

    def _wake_owners(self, task_ids: set[str], worker_id: str) -> None:
        with self._store.reading() as tx:
            owners = {
                t.supervisor_id for t in tx.tasks.active(worker_id=worker_id) if t.id in task_ids
            }
        for owner in owners:
            self._loop.wake(owner)

    def wake_all(self) -> None:
        """Make a pass over every supervisor that may have work: terminated ones too."""
        with self._store.reading() as tx:
            ids = {v.supervisor_id for v in tx.specs.all_newest() if not v.terminated}
            ids |= {g.supervisor_id for g in tx.generations.live()}
            ids |= {t.supervisor_id for t in tx.tasks.active()}
        for supervisor_id in sorted(ids):
            self._loop.wake(supervisor_id)

    def start_term(self) -> None:
        """Begin to lead: forget soft state, look at every supervisor (adoption)."""
        with self._store.reading() as tx:
            rows = tx.workers.all()
        self._registry.reset(rows)
        self._reach("term:begun")
        self.wake_all()
        self._changed.notify()

    def require_leader(self) -> int:
        """Return the term.

        Raises:
            LeaseLost: this overlord does not lead.
        """
        return self._leadership.term()

    def leader_url(self) -> str | None:
        """Return the address of whoever leads."""
        return self._leadership.leader_url()


def _places_of(answer: SyncResponse) -> list[str]:
    """Name what the answer to a sync tells a worker, before the answer leaves."""
    paused = any(task.order.state is RunState.PAUSE for task in answer.tasks)
    ends = any(task.order.end is not None for task in answer.tasks)
    told = {"sync:told-pause": paused, "sync:told-end": ends, "sync:answered": True}
    return [place for place, holds in told.items() if holds]


def new_token() -> str:
    """Return the secret of one task: 32 random bytes as text."""
    return secrets.token_urlsafe(32)


def _existing(tx: Transaction, supervisor_id: str) -> SpecVersion:
    newest = tx.specs.newest(supervisor_id)
    if newest is None:
        raise SupervisorNotFound(supervisor_id)
    return newest


def _changes(newest: SpecVersion | None, spec: SupervisorSpec) -> Changes:
    """Return what `spec` changes.

    Raises:
        InvalidSpec: it changes what cannot change while offsets are stored (H5).
    """
    if newest is None or newest.spec is None:
        return NO_CHANGES
    if errors := forbidden(newest.spec, spec):
        raise InvalidSpec(errors)
    return compare(newest.spec, spec)
