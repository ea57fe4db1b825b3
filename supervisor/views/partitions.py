"""Response models of a supervisor's partitions: log, offsets, tasks and retention headroom."""

from collections.abc import Sequence
from datetime import timedelta

from pydantic import Field
from pydantic.alias_generators import to_camel

from supervisor.core.history.partitions import (
    OnlyPartitions,
    PartitionState,
    PartitionTask,
    PartitionTrouble,
    SortedBy,
    sorted_partitions,
)
from supervisor.core.planning.observed import Observed, StreamTrouble
from supervisor.core.values.page_cursors import page_behind, place_of
from supervisor.views.attention.explain import Explanation
from supervisor.views.attention.overview import Overview
from supervisor.views.listing import ListedRow
from tasks.contract.wire import Instant, Wire

_DESCENDING = "-"
_MILLISECOND = timedelta(milliseconds=1)


class PartitionTaskView(Wire):
    """A task that reads or publishes a range of the partition."""

    id: str
    generation_id: str
    replica: int
    worker_id: str
    position: int | None
    """The next offset that it reads; null: its worker has not reported it."""
    lag: int | None
    """Records up to the last stable offset, or to the fixed end of its range; null: not known."""


class PartitionTroubleView(Wire):
    """What is wrong with one partition."""

    code: PartitionTrouble
    """The word of `detailedState`."""
    text: str


class PartitionView(Wire):
    """One partition; a member that is null has its reason in `unknown`."""

    topic: str
    partition: int
    group: int | None
    generation_id: str | None
    """The range that reads it, else the newest that is still to be published."""
    topic_id: str | None
    """The topic that the stored offsets belong to; without any, the present topic."""
    earliest: int | None
    """What Kafka still holds begins here."""
    first_offset: int | None
    """Where this supervisor began to read."""
    committed: int | None
    """The next offset that is in no published file."""
    stable: int | None
    """The last stable offset; records from here on are behind an open transaction."""
    latest: int | None
    """The high watermark."""
    lag_records: int | None
    """Records between the best reader and the last stable offset."""
    lag_millis: int | None
    """The age of the oldest unread record at `readAt`."""
    headroom_records: int | None
    """From the earliest to the committed offset.  Below 0: so many records were deleted before they
    were published."""
    headroom_millis: int | None
    """The time from `readAt` until retention deletes records that are not published, from the slope
    of the earliest offset; 0: it is there already."""
    at_risk: bool
    """Whether the headroom is below twice the time to catch up and publish (below a day for a
    supervisor that does not catch up), or used up.  False as well while it is not known."""
    tasks: list[PartitionTaskView]
    trouble: PartitionTroubleView | None
    """Null: nothing is wrong with it."""
    unknown: dict[str, str]
    """Name of a member that is null -> why it is not known; without `trouble`."""


class LookTrouble(Wire):
    """Why the last look at Kafka failed; what is shown is of the look before."""

    code: StreamTrouble
    text: str


class PartitionsPage(Wire):
    """Partitions of a supervisor, as the newest look of the leader saw them."""

    supervisor_id: str
    read_at: Instant | None
    """When that look began; null: there was none yet."""
    trouble: LookTrouble | None = None
    """Null: the last look went well."""
    count: int
    """The number of all partitions of the supervisor."""
    fitting: int
    """The number of those that `only` asks for, of all pages."""
    partitions: list[PartitionView]
    next: str | None = Field(description="The `cursor` of the next page; null: there is none.")
    overview: Overview | None = None
    """As `/api/v1/overview` has it; null: the request does not name it in `along`."""
    row: ListedRow | None = None
    """The supervisor in the list; null: the request does not name it in `along`."""
    explanation: Explanation | None = None
    """As `explain` has it; null: the request does not name it in `along`."""


def partitions_page(
    seen: Observed,
    states: Sequence[PartitionState],
    sort: str,
    limit: int,
    cursor: str | None,
    *,
    only: OnlyPartitions | None = None,
) -> PartitionsPage:
    """Return one page of partitions; `sort` is a column, with `-` before it for the highest first.

    `only` None: all of them.

    Raises:
        BadCursor: the cursor is of another list or order, or its partition is no longer there.
    """
    supervisor_id = seen.current.supervisor_id
    by = SortedBy(sort.removeprefix(_DESCENDING))
    ordered = sorted_partitions(states, by, descending=sort.startswith(_DESCENDING))
    # The place is one in the list of all: a partition may cease to fit between two pages.
    name = f"partitions {supervisor_id} {sort} {only or 'all'}"
    begin = place_of(name, cursor, [str(state.partition) for state in ordered])
    left = [state for state in ordered[begin:] if only is None or only.fits(state)]
    shown, following = page_behind(left, [str(state.partition) for state in left], limit, name)
    stream = seen.stream
    trouble = stream.trouble
    return PartitionsPage(
        supervisor_id=supervisor_id,
        read_at=stream.read_at,
        trouble=None if trouble is None else LookTrouble(code=trouble, text=stream.detail),
        count=len(ordered),
        fitting=len(ordered) if only is None else sum(map(only.fits, ordered)),
        partitions=[_partition(state) for state in shown],
        next=following,
    )


def _partition(state: PartitionState) -> PartitionView:
    trouble = state.trouble
    # The ages go out under other names than they have inside.
    names = {"lag_age": "lag_millis", "headroom_left": "headroom_millis"}
    return PartitionView(
        topic=state.partition.topic,
        partition=state.partition.partition,
        group=state.group,
        generation_id=state.generation_id,
        topic_id=state.topic_id,
        earliest=state.earliest,
        first_offset=state.first_offset,
        committed=state.committed,
        stable=state.stable,
        latest=state.latest,
        lag_records=state.lag_records,
        lag_millis=_millis(state.lag_age),
        headroom_records=state.headroom_records,
        headroom_millis=_millis(state.headroom_left),
        at_risk=state.at_risk,
        tasks=[_task(task) for task in state.tasks],
        trouble=None if trouble is None else PartitionTroubleView(code=trouble[0], text=trouble[1]),
        unknown={to_camel(names.get(name, name)): why for name, why in state.unknown.items()},
    )


def _task(task: PartitionTask) -> PartitionTaskView:
    return PartitionTaskView.model_validate(vars(task))


def _millis(age: timedelta | None) -> int | None:
    return None if age is None else age // _MILLISECOND
