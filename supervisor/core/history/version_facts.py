"""What each version of a spec did: its kind, its author, and the fields that it changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from supervisor.core.history.operations import Operation, OperationKind
from supervisor.core.model.rows import SpecVersion
from supervisor.core.planning.preconditions import AnyVersion
from supervisor.core.spec.changes import Changes, compare

SUSPENDED = "/suspended"


class VersionKind(StrEnum):
    """What a version did to its supervisor."""

    CREATED = "created"
    CHANGED = "changed"
    ROLLED_BACK = "rolled-back"
    SUSPENDED = "suspended"
    RESUMED = "resumed"
    TERMINATED = "terminated"


@dataclass(frozen=True)
class VersionFacts:
    """One stored version, without its spec."""

    version: int
    at: datetime
    author: str | None
    """None: this release cannot read the version."""
    kind: VersionKind | None
    """None: this release cannot read the version."""
    operation: Operation | None
    """None: none is kept."""
    changes: Changes | None
    """None: there is no version before, or one of the two cannot be read; see `unknown`."""
    reason: str | None = None
    """Why, in the words of the author; None: no reason was given, or it cannot be read."""
    unknown: str = ""
    """Why the changes, or the kind, are not known; empty: they are, or there are none to know."""


def version_facts(
    version: AnyVersion, before: AnyVersion | None, operation: Operation | None
) -> VersionFacts:
    """Return the facts of a version; `before`: the one with the number before, if it is stored."""
    if not isinstance(version, SpecVersion):
        at, number = version.created_at, version.version
        return VersionFacts(number, at, None, None, operation, None, unknown=str(version))
    kind, changes, unknown = _kind(version, before, operation)
    return VersionFacts(
        version.version,
        version.created_at,
        version.author,
        kind,
        operation,
        changes,
        version.reason,
        unknown,
    )


def _kind(
    version: SpecVersion, before: AnyVersion | None, operation: Operation | None
) -> tuple[VersionKind, Changes | None, str]:
    if version.spec is None:
        return VersionKind.TERMINATED, None, ""
    if version.version == 1 or (isinstance(before, SpecVersion) and before.terminated):
        return VersionKind.CREATED, None, ""
    rolled_back = operation is not None and operation.kind is OperationKind.ROLLBACK
    kind = VersionKind.ROLLED_BACK if rolled_back else VersionKind.CHANGED
    if not isinstance(before, SpecVersion) or before.spec is None:
        why = "the version before is not stored any more" if before is None else str(before)
        return kind, None, why
    changes = compare(before.spec, version.spec)
    if not rolled_back and _only_suspended([change.field for change in changes.fields]):
        kind = VersionKind.SUSPENDED if version.spec.suspended else VersionKind.RESUMED
    return kind, changes, ""


def _only_suspended(fields: Sequence[str]) -> bool:
    return list(fields) == [SUSPENDED]
