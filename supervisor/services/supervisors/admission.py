"""Admission of a spec: what the operator allows, its impact on live ranges, what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from supervisor.control.observe import specs_of
from supervisor.core.model.rows import SpecVersion
from supervisor.core.planning.impact import NO_IMPACT, SpecImpact, on_live_ranges
from supervisor.core.planning.observed import Observed, PlanLimits, StreamState
from supervisor.core.planning.preconditions import AnyVersion, etag_of, is_ended
from supervisor.core.spec.operator_policy import (
    forbidden_brokers,
    forbidden_registries,
    lacking_exports,
    misplaced_exports,
)
from supervisor.core.spec.reader import ReadSpec
from supervisor.core.spec.spec import SupervisorSpec, ingest_spec
from supervisor.core.tables.column_types import mixed_types
from supervisor.core.values.errors import InvalidSpec, SupervisorNotFound
from supervisor.core.values.export_formats import ExportFormat
from supervisor.ports.store import Transaction


@dataclass(frozen=True)
class OperatorPolicy:
    """What the operator allows."""

    kafka_allow: tuple[str, ...] | None
    """Broker hosts that specs may name; None allows all (loopback only)."""
    pause_lease: timedelta
    registry_allow: tuple[str, ...] | None = ()
    """Schema registries that specs may name; None allows all (loopback only)."""
    exports: frozenset[ExportFormat] = frozenset(ExportFormat)
    """Formats that can be written here."""
    misread: Mapping[ExportFormat, str] = field(default_factory=dict)
    """Formats that cannot lie in this warehouse, and what in its path is in the way."""

    def check(self, spec: SupervisorSpec) -> None:
        """Refuse what is not allowed.

        Raises:
            InvalidSpec: naming the hosts, or the format of an export.
        """
        for errors in (
            forbidden_brokers(spec, self.kafka_allow),
            forbidden_registries(spec, self.registry_allow),
            lacking_exports(spec, self.exports),
            misplaced_exports(spec, self.misread),
        ):
            if errors:
                raise InvalidSpec(errors)


@dataclass(frozen=True)
class Stored:
    """A version that was stored, and the operation that tells when it has come true."""

    version: SpecVersion
    operation: str
    impact: SpecImpact


@dataclass(frozen=True)
class Applied:
    """What a POST of a spec did, or would do."""

    supervisor_id: str
    version: int
    modified: bool
    warnings: tuple[str, ...]
    impact: SpecImpact = NO_IMPACT
    etag: str = ""
    """Of the version that is now the newest; empty: there is no spec."""
    operation: str | None = None
    """Its id; None: nothing was stored."""


def unchanged(newest: SpecVersion, read: ReadSpec) -> Applied:
    """Return what became of a spec that is the newest already."""
    return Applied(newest.supervisor_id, newest.version, False, read.warnings, etag=etag_of(newest))


def applied(stored: Stored, read: ReadSpec) -> Applied:
    """Return what became of a spec that was stored."""
    version, etag = stored.version, etag_of(stored.version)
    named = version.supervisor_id, version.version
    return Applied(*named, True, read.warnings, stored.impact, etag, stored.operation)


def not_applied(newest: AnyVersion | None, read: ReadSpec, impact: SpecImpact) -> Applied:
    """Return what storing the spec would do now; its tag is that of the present version."""
    etag = "" if newest is None or is_ended(newest) else etag_of(newest)
    return Applied(read.spec.id, number_after(newest), True, read.warnings, impact, etag)


def number_after(newest: AnyVersion | None) -> int:
    """Return the number of the version that would be stored next."""
    return 1 if newest is None else newest.version + 1


def impact_on_rows(
    tx: Transaction, impact: SpecImpact, version: SpecVersion, stream: StreamState
) -> SpecImpact:
    """Return the impact of `version`, stored or not, with the live ranges as they are in the rows.

    `stream` is what the last pass knew: which topics of a pattern there are decides on groups.
    """
    live = tuple(tx.generations.live(version.supervisor_id))
    seen = Observed(
        now=version.created_at,
        limits=PlanLimits(),
        current=version,
        specs=specs_of(tx, version, live),
        committed=tx.offsets.of(version.supervisor_id),
        stream=stream,
        generations=live,
        newest=live[-1] if live else None,
        tasks=(),
        last_attempts={},
        workers=(),
    )
    return on_live_ranges(impact, seen)


def with_mixed_types(tx: Transaction, newest: AnyVersion | None, read: ReadSpec) -> ReadSpec:
    """Return a spec with warnings of columns that its table has with another type.

    A range that is being read has the types of the spec it was begun with, and is published later;
    nobody knows them if that spec cannot be read here.
    """
    sets = tx.segments.column_sets(read.spec.data_source)
    live = tx.generations.live(read.spec.id)
    if newest is not None and live:
        bound = {generation.spec_version for generation in live}
        specs = sorted(specs_of(tx, newest, live).items())
        sets += [ingest_spec(spec).columns for version, spec in specs if version in bound]
    mixed = mixed_types(ingest_spec(read.spec).columns, sets)
    return replace(read, warnings=(*read.warnings, *mixed))


def existing_stored(tx: Transaction, supervisor_id: str) -> AnyVersion:
    """Return the newest version as it is stored, also one that cannot be read here.

    Raises:
        SupervisorNotFound: never stored, or terminated.
    """
    newest = tx.specs.newest_stored(supervisor_id)
    if newest is None or is_ended(newest):
        raise SupervisorNotFound(supervisor_id)
    return newest


def existing(tx: Transaction, supervisor_id: str) -> tuple[SpecVersion, SupervisorSpec]:
    """Return the newest version and its spec.

    Raises:
        SupervisorNotFound: never stored, or terminated.
        SpecUnreadable: this release cannot read it.
    """
    newest = tx.specs.newest(supervisor_id)
    if newest is None or newest.spec is None:
        raise SupervisorNotFound(supervisor_id)
    return newest, newest.spec
