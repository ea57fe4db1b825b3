"""Admission of a spec: the operator's policy, the impact on live ranges, and the result."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from supervisor.control.observe import specs_of
from supervisor.core.model.rows import CommittedOffset, Generation, SpecVersion
from supervisor.core.planning.impact import NO_IMPACT, SpecImpact, on_live_ranges
from supervisor.core.planning.observed import Observed, PlanLimits, StreamState
from supervisor.core.planning.preconditions import AnyVersion, Expected, etag_of, is_ended
from supervisor.core.spec.operator_policy import (
    forbidden_connections,
    lacking_exports,
    misplaced_exports,
)
from supervisor.core.spec.reader import ReadSpec
from supervisor.core.spec.spec import SupervisorSpec, ingest_spec
from supervisor.core.tables.column_types import mixed_types
from supervisor.core.values.errors import (
    AlreadyInState,
    FieldError,
    InvalidRequest,
    InvalidSpec,
    SupervisorNotFound,
)
from supervisor.core.values.export_formats import ExportFormat
from supervisor.ports.store import Transaction
from tasks.contract.connection_policy import ConnectionPolicy
from tasks.contract.messages import SyncRequest
from tasks.contract.offsets import TopicPartition
from tasks.contract.registry import refused_registries

CLOCK_AHEAD_MAX = timedelta(days=366)
"""An incarnation is a time in milliseconds, or counts on from one."""


Judge = Callable[[Transaction, SpecImpact], None]
"""Called in the transaction of a verb with its impact; it raises if that is not what is wanted."""


def any_impact(_: Transaction, __: SpecImpact) -> None:
    """Accept whatever a verb does."""


@dataclass(frozen=True)
class OperatorPolicy:
    """The operator's rules for specs."""

    pause_lease: timedelta
    connections: ConnectionPolicy = field(default_factory=ConnectionPolicy)
    worker_allow: tuple[str, ...] | None = None
    """Hosts (`host` or `host:port`) at which workers may be; None: any."""
    exports: frozenset[ExportFormat] = frozenset(ExportFormat)
    """Export formats that this installation can write."""
    misread: Mapping[ExportFormat, str] = field(default_factory=dict)
    """Format -> the part of the warehouse's path that the format cannot read."""

    def check(self, spec: SupervisorSpec) -> None:
        """Refuse a spec that breaks the operator's rules.

        Raises:
            InvalidSpec: the message names the hosts, or the format of an export.
        """
        for errors in (
            forbidden_connections(spec, self.connections),
            lacking_exports(spec, self.exports),
            misplaced_exports(spec, self.misread),
        ):
            if errors:
                raise InvalidSpec(errors)

    def check_worker(self, request: SyncRequest, now: datetime) -> None:
        """Refuse a worker whose address or incarnation cannot be right.

        Raises:
            InvalidRequest: the overlord would call an address that the operator does not allow, or
                no later start of this worker could ever fence this one.
        """
        errors = []
        if hosts := refused_registries((request.url,), self.worker_allow):
            message = f"{', '.join(hosts)}: not an address at which workers may be"
            hint = "have the operator extend TIDEGATE_WORKER_ALLOW of the overlords"
            errors.append(FieldError("/url", message, hint))
        if request.incarnation > int((now + CLOCK_AHEAD_MAX).timestamp() * 1_000):
            message = f"lies more than {CLOCK_AHEAD_MAX.days} days ahead of this overlord's clock"
            errors.append(FieldError("/incarnation", message, "set the clock of the worker's host"))
        if errors:
            raise InvalidRequest(errors)


@dataclass(frozen=True)
class Stored:
    """A stored version, and the operation that shows when the version is in effect."""

    version: SpecVersion
    operation: str
    impact: SpecImpact


@dataclass(frozen=True)
class Applied:
    """The result of posting a spec, or of its dry run."""

    supervisor_id: str
    version: int
    modified: bool
    warnings: tuple[str, ...]
    impact: SpecImpact = NO_IMPACT
    etag: str = ""
    """The tag of the version that is now the newest; empty: there is no spec."""
    operation: str | None = None
    """The id of the operation; None: nothing was stored."""


def unchanged(newest: SpecVersion, read: ReadSpec) -> Applied:
    """Return the result for a spec that equals the newest version."""
    return Applied(newest.supervisor_id, newest.version, False, read.warnings, etag=etag_of(newest))


def applied(stored: Stored, read: ReadSpec) -> Applied:
    """Return the result for a stored spec."""
    version, etag = stored.version, etag_of(stored.version)
    named = version.supervisor_id, version.version
    return Applied(*named, True, read.warnings, stored.impact, etag, stored.operation)


def not_applied(newest: AnyVersion | None, read: ReadSpec, impact: SpecImpact) -> Applied:
    """Return the predicted result of storing a spec; its tag is that of the present version."""
    etag = "" if newest is None or is_ended(newest) else etag_of(newest)
    return Applied(read.spec.id, number_after(newest), True, read.warnings, impact, etag)


def number_after(newest: AnyVersion | None) -> int:
    """Return the number of the next version."""
    return 1 if newest is None else newest.version + 1


@dataclass(frozen=True)
class LiveRows:
    """The rows of one supervisor by which the impact of a version is judged."""

    live: tuple[Generation, ...]
    """Its live ranges, by ordinal."""
    specs: Mapping[int, SupervisorSpec]
    """Version -> spec, of live ranges; versions that this release cannot read are left out."""
    committed: Mapping[TopicPartition, CommittedOffset]


def live_rows(tx: Transaction, version: SpecVersion) -> LiveRows:
    """Return the rows of the supervisor that `version`, stored or not, is of."""
    live = tuple(tx.generations.live(version.supervisor_id))
    return LiveRows(live, specs_of(tx, version, live), tx.offsets.of(version.supervisor_id))


def live_rows_of_each(tx: Transaction, supervisor_ids: Sequence[str]) -> dict[str, LiveRows]:
    """Return the rows of each of many supervisors, in few queries, however many there are."""
    live: dict[str, list[Generation]] = {each: [] for each in supervisor_ids}
    for generation in tx.generations.live():
        if generation.supervisor_id in live:
            live[generation.supervisor_id].append(generation)
    wanted = {(each, g.spec_version) for each, ranges in live.items() for g in ranges}
    stored = tx.specs.versions(wanted) if wanted else {}
    specs: dict[str, dict[int, SupervisorSpec]] = {each: {} for each in supervisor_ids}
    for (supervisor_id, number), row in stored.items():
        if isinstance(row, SpecVersion) and row.spec is not None:
            specs[supervisor_id][number] = row.spec
    committed = tx.offsets.of_each(supervisor_ids)
    return {each: LiveRows(tuple(live[each]), specs[each], committed[each]) for each in live}


def impact_on_rows(
    rows: LiveRows, impact: SpecImpact, version: SpecVersion, stream: StreamState | None
) -> SpecImpact:
    """Return the impact of `version`, stored or not, on the live ranges of the rows.

    `stream` is from the last pass, if there was one: the topics that match a pattern decide on the
    groups.
    """
    own = {} if version.spec is None else {version.version: version.spec}
    seen = Observed(
        now=version.created_at,
        limits=PlanLimits(),
        current=version,
        specs={**rows.specs, **own},
        committed=rows.committed,
        stream=StreamState() if stream is None else stream,
        generations=rows.live,
        newest=rows.live[-1] if rows.live else None,
        tasks=(),
        last_attempts={},
        workers=(),
    )
    return on_live_ranges(impact, seen)


def with_mixed_types(tx: Transaction, newest: AnyVersion | None, read: ReadSpec) -> ReadSpec:
    """Return the spec with warnings for columns that have another type in its table.

    Live ranges have the column types of their own specs, and are published later.  The types of a
    live range are unknown if its spec cannot be read here.
    """
    sets = tx.segments.column_sets(read.spec.data_source)
    live = tx.generations.live(read.spec.id)
    if newest is not None and live:
        bound = {generation.spec_version for generation in live}
        specs = sorted(specs_of(tx, newest, live).items())
        sets += [ingest_spec(spec).columns for version, spec in specs if version in bound]
    mixed = mixed_types(ingest_spec(read.spec).columns, sets)
    return replace(read, warnings=(*read.warnings, *mixed))


def suspension(
    tx: Transaction, supervisor_id: str, expected: Expected, *, suspended: bool
) -> tuple[SpecVersion, SupervisorSpec]:
    """Return the newest version, and the spec that suspends or resumes its supervisor.

    Raises:
        AlreadyInState: it is as it should become.
        PreconditionFailed: the newest version is not as `expected`.
        SupervisorNotFound, SpecUnreadable: as `existing`.
    """
    newest, spec = existing(tx, supervisor_id)
    wanted = with_suspension(supervisor_id, spec, suspended=suspended)
    expected.check(supervisor_id, newest)
    return newest, wanted


def with_suspension(supervisor_id: str, spec: SupervisorSpec, *, suspended: bool) -> SupervisorSpec:
    """Return the spec that suspends or resumes a supervisor with this one.

    Raises:
        AlreadyInState: it is as it should become.
    """
    if spec.suspended == suspended:
        raise AlreadyInState(supervisor_id, "suspended" if suspended else "running")
    return spec.model_copy(update={"suspended": suspended})


def existing_stored(tx: Transaction, supervisor_id: str) -> AnyVersion:
    """Return the newest stored version, also one that this release cannot read.

    Raises:
        SupervisorNotFound: the supervisor was never stored, or is terminated.
    """
    newest = tx.specs.newest_stored(supervisor_id)
    if newest is None or is_ended(newest):
        raise SupervisorNotFound(supervisor_id)
    return newest


def existing(tx: Transaction, supervisor_id: str) -> tuple[SpecVersion, SupervisorSpec]:
    """Return the newest version and its spec.

    Raises:
        SupervisorNotFound: the supervisor was never stored, or is terminated.
        SpecUnreadable: this release cannot read the spec.
    """
    newest = tx.specs.newest(supervisor_id)
    if newest is None or newest.spec is None:
        raise SupervisorNotFound(supervisor_id)
    return newest, newest.spec
