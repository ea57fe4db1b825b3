"""Stored specs: what a POST did, the versions, and rows of the list, as they are shown."""

from pydantic import Field, JsonValue

from supervisor.core.spec.section import Effect
from tasks.contract.wire import Wire


class SupervisorLine(Wire):
    """One supervisor of the list."""

    id: str
    data_source: str | None
    """Null: its spec cannot be read here, nor can the name of its table."""
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
    """False: the stored spec says the same, and no version was added."""
    restarted: bool
    """Something that ran is handed off for it; false for a change that is hot, and at first."""
    changes: tuple[PostedChange, ...] = ()
    """What differs from the version before; absent if nothing does, or there was none."""
    version: int
    warnings: tuple[str, ...] = ()
    """What has no effect, and columns that become another type; absent if there is nothing."""
    operation_id: str | None = None
    """`GET /api/v1/operations/{id}` tells when it is done; absent if nothing was stored."""


class Named(Wire):
    """Druid's answer to a verb that has only the id to tell; `operationId` is an addition."""

    id: str
    operation_id: str


class Health(Wire):
    """Druid's answer; 503 if it is false."""

    healthy: bool


class HistoryRow(Wire):
    """One stored version: a spec as GET answers it, or a tombstone (`"type": "noop"`)."""

    spec: dict[str, object]
    version: str
    """When it was stored, as in Druid."""
    version_number: int
    """Counts from 1, as in the answer to a POST."""
