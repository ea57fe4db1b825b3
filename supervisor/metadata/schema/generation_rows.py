"""Mapping between a generation and its database rows, and the queries for both kinds of rows."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from sqlalchemy import ColumnElement, RowMapping, Select, or_, select

from supervisor.core.history.windows import RangeWindow
from supervisor.core.model.rows import Generation, GenerationState
from supervisor.core.planning.actions import OpenGeneration
from supervisor.core.values.errors import UnknownWord
from supervisor.metadata.schema.column_types import known, unknown
from supervisor.metadata.schema.tables import generation_partitions, generations
from tasks.contract.offsets import TopicPartition

_AT = generations.c
_PART = generation_partitions.c
_BY_ORDINAL = select(generations).order_by(_AT.supervisor_id, _AT.ordinal, _AT.id)
_PARTS = (
    select(
        _PART.generation_id,
        _PART.topic,
        _PART.partition,
        _PART.start_offset,
        _PART.end_offset,
        _PART.reset_epoch,
    )
    .join(generations, _AT.id == _PART.generation_id)
    .order_by(_PART.topic, _PART.partition)
)


LIVE_INDEX = "INDEXED BY ix_generations_live"
"""Hint for SQLite, which without statistics takes the index of all ranges that ever were."""


class RangeQuery:
    """A pair of queries: ranges by (supervisor, ordinal), and their partitions.

    `live`: the conditions ask for live ranges alone.
    """

    def __init__(self, *conditions: ColumnElement[bool], live: bool = False) -> None:
        self.ranges = _BY_ORDINAL.where(*conditions)
        self.parts = _PARTS.where(*conditions)
        if live:
            self.ranges = self.ranges.with_hint(generations, LIVE_INDEX, "sqlite")
            self.parts = self.parts.with_hint(generations, LIVE_INDEX, "sqlite")


def ids_within(
    supervisor_id: str, window: RangeWindow, between: tuple[int | None, int], limit: int
) -> Select[str]:
    """Return the query for the newest ids of a window; `between`: ordinals, both exclusive."""
    before, down_to = between
    conditions = [_AT.supervisor_id == supervisor_id, *_within(window)]
    if before is not None:
        conditions.append(_AT.ordinal < before)
    if down_to > 0:
        conditions.append(_AT.ordinal > down_to)
    return select(_AT.id).where(*conditions).order_by(_AT.ordinal.desc()).limit(limit)


def _within(window: RangeWindow) -> Iterator[ColumnElement[bool]]:
    if window.group is not None:
        yield _AT.group_number == window.group
    if window.states:
        yield _AT.state.in_(sorted(window.states))
    if window.begin is not None:
        yield or_(_AT.ended_at.is_(None), _AT.ended_at > window.begin)
    if window.end is not None:
        yield _AT.opened_at < window.end


def new_row(
    supervisor_id: str, data_source: str, action: OpenGeneration, now: datetime
) -> dict[str, object]:
    """Return the row of a new generation."""
    return {
        "id": action.generation_id,
        "supervisor_id": supervisor_id,
        "data_source": data_source,
        "ordinal": action.ordinal,
        "layout_version": action.layout_version,
        "task_count": action.task_count,
        "partition_count": action.partition_count,
        "group_number": action.group,
        "spec_version": action.spec_version,
        "state": GenerationState.READING,
        "opened_at": now,
        "timer_started_at": now,
        "sequence": 0,
        "handoff_why": "",
        "must_end": False,
    }


def new_partitions(supervisor_id: str, action: OpenGeneration) -> list[dict[str, object]]:
    """Return the rows of the partitions of a new generation."""
    return [
        {
            "generation_id": action.generation_id,
            "supervisor_id": supervisor_id,
            "topic": partition.topic,
            "partition": partition.partition,
            "start_offset": action.start[partition],
            "open": True,
            "reset_epoch": action.reset_epochs.get(partition, 0),
        }
        for partition in sorted(action.start)  # one order for all writers: no deadlock
    ]


def read_generation(
    row: RowMapping, ranges: Iterable[RowMapping], *, to_show: bool = False
) -> Generation:
    """Return a generation from its row and the rows of its partitions.

    With `to_show`, a state that a newer release wrote is read as UNKNOWN.

    Raises:
        UnknownWord: a newer release wrote the state, and `to_show` is False.
    """
    state = known(GenerationState, row["state"])
    if state is None and not to_show:
        raise UnknownWord(unknown(GenerationState, row["state"]))
    start, end, epochs = {}, {}, {}
    for part in ranges:
        partition = TopicPartition(part["topic"], part["partition"])
        start[partition] = part["start_offset"]
        end[partition] = part["end_offset"]
        if part["reset_epoch"]:
            epochs[partition] = part["reset_epoch"]
    return Generation(
        id=row["id"],
        supervisor_id=row["supervisor_id"],
        data_source=row["data_source"],
        ordinal=row["ordinal"],
        layout_version=row["layout_version"],
        task_count=row["task_count"],
        partition_count=row["partition_count"],
        group=row["group_number"],
        spec_version=row["spec_version"],
        state=state or GenerationState.UNKNOWN,
        start=start,
        # Decided by the generation's own row: the partitions may have been read a moment later.
        end=None if row["end_fixed_at"] is None else end,
        opened_at=row["opened_at"],
        timer_started_at=row["timer_started_at"],
        sequence=row["sequence"],
        handoff_request=row["asked"] or "",
        reset_epochs=epochs,
        handoff_why=row["handoff_why"] if state else unknown(GenerationState, row["state"]),
        must_end=row["must_end"],
        paused_at=row["paused_at"],
        end_fixed_at=row["end_fixed_at"],
        ended_at=row["ended_at"],
        first_finished_at=row["first_finished_at"],
    )
