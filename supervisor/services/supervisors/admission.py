"""How a spec that is to be stored is judged, and what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from supervisor.core.model.rows import SpecVersion
from supervisor.core.planning.foresee import Foreseen
from supervisor.core.planning.preconditions import AnyVersion, etag_of
from supervisor.core.planning.restarts import Restarts, restarts_of
from supervisor.core.spec.changes import (
    NO_CHANGES,
    Changes,
    compare,
    forbidden,
    forbidden_after,
    replaces,
)
from supervisor.core.spec.operator_policy import (
    forbidden_brokers,
    forbidden_registries,
    lacking_exports,
    misplaced_exports,
)
from supervisor.core.spec.reader import ReadSpec
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import InvalidSpec, SpecUnreadable, SupervisorNotFound
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
    ranges: Foreseen
    """What becomes of the live ranges for it."""


@dataclass(frozen=True)
class Applied:
    """What a POST of a spec did."""

    supervisor_id: str
    version: int
    modified: bool
    warnings: tuple[str, ...]
    changes: Changes = NO_CHANGES
    """Against the version before; none if there was none, or only a tombstone."""
    etag: str = ""
    """Of the version that is now the newest; empty: there is no spec."""
    operation: str | None = None
    """Its id; None: nothing was stored."""
    restarts: Restarts = Restarts.NONE
    """What is stopped or handed off for it."""


def unchanged(newest: SpecVersion, read: ReadSpec) -> Applied:
    """Return what became of a spec that is the newest already."""
    return Applied(newest.supervisor_id, newest.version, False, read.warnings, etag=etag_of(newest))


def applied(stored: Stored, read: ReadSpec, changes: Changes) -> Applied:
    """Return what became of a spec that was stored."""
    version = stored.version
    named = version.supervisor_id, version.version
    restarts = restarts_of(changes, stored.ranges)
    etag = etag_of(version)
    return Applied(*named, True, read.warnings, changes, etag, stored.operation, restarts)


def foreseen(newest: AnyVersion | None, read: ReadSpec, ranges: Foreseen) -> Applied:
    """Return what storing the spec would do now; its tag is that of the present version.

    Raises:
        InvalidSpec: it changes what cannot change.
    """
    if isinstance(newest, SpecVersion) and newest.spec == read.spec:
        return unchanged(newest, read)
    version = 1 if newest is None else newest.version + 1
    etag = "" if newest is None or is_ended(newest) else etag_of(newest)
    changes = changes_to(newest, read.spec)
    restarts = restarts_of(changes, ranges)
    return Applied(read.spec.id, version, True, read.warnings, changes, etag, restarts=restarts)


def is_ended(newest: AnyVersion) -> bool:
    """Whether a newest version ends its supervisor; one that cannot be read does not."""
    return isinstance(newest, SpecVersion) and newest.terminated


def version_after(newest: AnyVersion | None, spec: SupervisorSpec, now: datetime) -> SpecVersion:
    """Return the version that storing `spec` would make."""
    return SpecVersion(spec.id, 1 if newest is None else newest.version + 1, now, spec)


def changes_to(newest: AnyVersion | None, spec: SupervisorSpec) -> Changes:
    """Return what `spec` changes; behind a version that cannot be read here, all.

    Raises:
        InvalidSpec: it changes what cannot change while offsets are stored (H5).
    """
    if isinstance(newest, SpecUnreadable):
        if errors := forbidden_after(newest, spec):
            raise InvalidSpec(errors)
        return replaces(newest)
    if newest is None or newest.spec is None:
        return NO_CHANGES
    if errors := forbidden(newest.spec, spec):
        raise InvalidSpec(errors)
    return compare(newest.spec, spec)


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
