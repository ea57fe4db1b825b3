"""Response models of stored specs: the result of a POST, versions, rows of the list."""

from collections.abc import Iterable

from pydantic import Field, JsonValue

from supervisor.core.history.version_facts import VersionFacts, VersionKind
from supervisor.core.spec.section import Effect
from tasks.contract.wire import Instant, Wire


class SupervisorLine(Wire):
    """One supervisor of the list."""

    id: str
    data_source: str | None
    """The table; null: this release cannot read the spec."""
    state: str
    detailed_state: str
    healthy: bool
    suspended: bool


class PostedChange(Wire):
    """One field that differs from the version before."""

    field: str
    """JSON pointer into the nested form of the spec."""
    old: JsonValue = Field(alias="from")
    new: JsonValue = Field(alias="to")
    effect: Effect


class Posted(Wire):
    """What a POST of a spec did; `id`, `modified` and `restarted` are Druid's."""

    id: str
    modified: bool
    """False: the stored spec is equal, and no version was added."""
    restarted: bool
    """Whether something that ran is handed off; false for a hot change and for a first version."""
    changes: tuple[PostedChange, ...] = ()
    """Changes of the version before; absent if there are none, or no version before."""
    version: int
    warnings: tuple[str, ...] = ()
    """Fields without effect, and columns that become another type; absent if there are none."""
    operation_id: str | None = None
    """Id for `GET /api/v1/operations/{id}`, which has the progress; absent if nothing was stored.
    """


class Named(Wire):
    """Druid's answer to a verb that returns the id alone; `operationId` is an addition."""

    id: str
    operation_id: str


class Health(Wire):
    """Druid's answer; 503 if it is false."""

    healthy: bool


class HistoryRow(Wire):
    """One stored version: a spec as GET answers it, or a tombstone (`"type": "noop"`)."""

    spec: dict[str, object]
    version: str
    """The time when the version was stored, as in Druid."""
    version_number: int
    """The number of the version from 1, as in the answer to a POST."""


class VersionLine(Wire):
    """One stored version without its spec: who stored it, and what it did."""

    version_number: int
    at: Instant
    author: str | None
    """Null: this release cannot read the version, see `unknown`."""
    kind: VersionKind | None
    """Null: this release cannot read the version, see `unknown`."""
    reason: str | None = None
    """Why, in the words of the author; null: no reason was given."""
    operation_id: str | None
    """Of the operation that stored it; null: none is kept."""
    changed: list[str] | None
    """JSON pointers of the fields that differ from the version before.  Null: the version is a
    first one or a tombstone, or see `unknown`."""
    effect: Effect | None
    """The strongest effect of these changes; null: there are none, or they are not known."""
    unknown: str | None
    """Why the changes are not known; null: they are, or there are none to know."""


class VersionLines(Wire):
    """The versions of a spec, newest first; specs by themselves are in Druid's history."""

    supervisor_id: str
    versions: list[VersionLine]
    next: str | None
    """The `cursor` of the next page; null: there is none."""


def version_lines(
    supervisor_id: str, versions: Iterable[VersionFacts], following: str | None
) -> VersionLines:
    """Return the response for one page of versions."""
    return VersionLines(
        supervisor_id=supervisor_id,
        versions=[_version_line(each) for each in versions],
        next=following,
    )


def _version_line(facts: VersionFacts) -> VersionLine:
    changes = facts.changes
    return VersionLine(
        version_number=facts.version,
        at=facts.at,
        author=facts.author,
        kind=facts.kind,
        reason=facts.reason,
        operation_id=None if facts.operation is None else facts.operation.id,
        changed=None if changes is None else [change.field for change in changes.fields],
        effect=None if changes is None else changes.effect,
        unknown=facts.unknown or None,
    )
