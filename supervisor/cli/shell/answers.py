"""The answers of the API, as far as tables show them; a newer overlord may say more."""

from datetime import datetime

from pydantic import ConfigDict, Field, JsonValue

from tasks.contract.wire import Wire


class Lenient(Wire):
    """Read what is known, pass over the rest."""

    model_config = ConfigDict(extra="ignore")


class SupervisorRow(Lenient):
    """One supervisor of the list."""

    id: str
    data_source: str = ""
    state: str
    detailed_state: str = ""
    healthy: bool = True
    suspended: bool = False


class TaskState(Lenient):
    """One task of a status."""

    id: str
    starting_offsets: dict[str, int] = Field(default_factory=dict)
    current_offsets: dict[str, int] = Field(default_factory=dict)
    start_time: datetime | None = None
    remaining_seconds: float | None = None
    type: str = ""
    lag: dict[str, int] | None = None


class GroupState(Lenient):
    """One generation of a status."""

    generation_id: str
    group: int = 0
    state: str = ""
    start: dict[str, int] = Field(default_factory=dict)
    end: dict[str, int] | None = None
    opened_at: datetime | None = None
    next_publish_due: datetime | None = None
    handoff_why: str | None = None
    asked: str | None = None


class RecentError(Lenient):
    """One error of a status."""

    timestamp: datetime | None = None
    exception_class: str = ""
    message: str = ""


class Payload(Lenient):
    """The inside of a status: Druid's members and ours."""

    data_source: str = ""
    stream: str = ""
    partitions: int = 0
    replicas: int = 1
    state: str
    detailed_state: str = ""
    why: str | None = None
    healthy: bool = True
    suspended: bool = False
    active_tasks: tuple[TaskState, ...] = ()
    publishing_tasks: tuple[TaskState, ...] = ()
    latest_offsets: dict[str, int | None] | None = None
    minimum_lag: dict[str, int | None] | None = None
    aggregate_lag: int | None = None
    committed_offsets: dict[str, int] = Field(default_factory=dict)
    groups: tuple[GroupState, ...] = ()
    slots_needed: int | None = None
    slots_free: int | None = None
    pending_replicas: int | None = None
    recent_errors: tuple[RecentError, ...] = ()
    warnings: tuple[str, ...] = ()


class Status(Lenient):
    """How one supervisor stands."""

    id: str
    generation_time: datetime | None = None
    payload: Payload


class SpecChange(Lenient):
    """One field that a POST of a spec has changed, and what that disturbs."""

    field: str
    old: JsonValue = Field(default=None, alias="from")
    new: JsonValue = Field(default=None, alias="to")
    effect: str = ""


class Applied(Lenient):
    """What a POST of a spec did."""

    id: str
    modified: bool | None = None
    version: int | None = None
    changes: tuple[SpecChange, ...] = ()
    warnings: tuple[str, ...] = ()


class QuarantinedHeader(Lenient):
    """One header of a record; `value` None: it is no text."""

    key: str
    value: str | None = None
    value_base64: str | None = None


class QuarantinedRecord(Lenient):
    """One record that could not be read."""

    topic: str
    partition: int
    offset: int
    time: datetime
    reason: str
    key: str | None = None
    key_base64: str | None = None
    key_bytes: int = 0
    value: str | None = None
    value_base64: str | None = None
    value_bytes: int = 0
    headers: tuple[QuarantinedHeader, ...] = ()
    cut: bool = False


class Quarantined(Lenient):
    """A page of such records."""

    data_source: str
    reasons: dict[str, int] | None = None
    records: tuple[QuarantinedRecord, ...] = ()
    next: str | None = None


class SpecVersion(Lenient):
    """One row of a history."""

    version: str
    version_number: int | None = None
    spec: dict[str, JsonValue]


class TaskRow(Lenient):
    """One task of the list, as Druid writes it."""

    id: str
    status_code: str = ""
    created_time: datetime | None = None
    duration: float | None = None
    data_source: str = ""
    location: dict[str, JsonValue] | None = None
    error_msg: str | None = None
    runner_status_code: str = ""
    supervisor_id: str = ""
    generation_id: str = ""
    replica: int | None = None
    attempt: int | None = None
    worker_id: str = ""
    reason: str = ""


class TaskStatus(Lenient):
    """One task, as Druid writes it."""

    status: TaskRow


class WorkerIdentity(Lenient):
    """Who a worker is."""

    id: str = ""
    host: str = ""
    capacity: int = 0


class WorkerLine(Lenient):
    """One worker of the list."""

    worker: WorkerIdentity
    curr_capacity_used: int = 0
    running_tasks: tuple[str, ...] = ()
    liveness: str = ""
    stopping: bool = False
    disabled: bool = False


class TableColumn(Lenient):
    """One column; a newer overlord may have further types."""

    name: str
    type: str


class FileRow(Lenient):
    """One file of a table."""

    path: str
    published: bool = True
    rows: int = 0
    size_bytes: int = 0
    sha256: str | None = None
    interval_start: datetime | None = None
    interval_end: datetime | None = None
    supervisor_id: str = ""
    generation_id: str | None = None
    task_id: str = ""
    compaction_id: str | None = None
    column_set: int | None = None


class Files(Lenient):
    """The files that are one table."""

    data_source: str
    warehouse: str
    columns: tuple[TableColumn, ...] = ()
    column_sets: tuple[tuple[TableColumn, ...], ...] = ()
    files: tuple[FileRow, ...]
    missing: tuple[str, ...] = ()
    """Ranges whose journaled files could not be asked for."""


class Segment(Lenient):
    """One published file, in use or taken out of its table."""

    id: str
    path: str
    interval_start: datetime
    interval_end: datetime
    rows: int = 0
    size_bytes: int = 0
    used: bool = True
    unused_at: datetime | None = None
    delete_after: datetime | None = None
    deleted_at: datetime | None = None
    compaction_id: str | None = None
    replaced_by: str | None = None


class Segments(Lenient):
    """The segments of one table."""

    data_source: str
    segments: tuple[Segment, ...]
    next: str | None = None


class Marked(Lenient):
    """What a mark changed."""

    num_changed_segments: int


class RetentionRule(Lenient):
    """How long a table keeps its rows; `keep_for` None: for ever."""

    keep_for: str | None = None
    author: str | None = None


class DataSources(Lenient):
    """The tables that have published files."""

    data_sources: tuple[str, ...] = Field(default=())
