"""Response models of stored specs: the result of a POST, versions, rows of the list."""

from pydantic import Field, JsonValue

from supervisor.core.spec.section import Effect
from tasks.contract.wire import Wire


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
