"""The partitions of a supervisor side by side: what is known of each, and why something is not."""

from dataclasses import fields, replace
from datetime import timedelta

import pytest

from supervisor.core.history.headroom import EarliestHistory, with_earliest
from supervisor.core.history.lag import LogEnds
from supervisor.core.history.partitions import (
    NO_LOOK,
    NO_PARTITION,
    NO_RANGE,
    NOT_STORED,
    OTHER_TOPIC,
    PartitionState,
    PartitionTrouble,
    SortedBy,
    least_headroom,
    partition_states,
    sorted_partitions,
)
from supervisor.core.model.rows import GenerationState
from supervisor.core.planning.observed import Observed, StreamState, StreamTrouble
from supervisor.core.spec.sections.bounded import BoundedStreamConfig
from tests.supervisor.core.snapshots import (
    NOON,
    committed,
    generation,
    observed,
    offsets,
    part,
    report,
    spec,
    stream,
    task,
    worker,
)

MINUTE = timedelta(minutes=1)
NONE_OF = {"trouble"}
"""Members that are None if all is well."""


def looked(seen: Observed, *earliest: int) -> list[PartitionState]:
    """The rows after looks each minute, of which the last is that of `seen`."""
    moves, ids = EarliestHistory(), seen.stream.topic_ids
    for minute, offset in enumerate(earliest):
        offsets_then = dict.fromkeys(seen.committed, offset)
        moves = with_earliest(moves, NOON + minute * MINUTE, offsets_then, ids)
    ends = LogEnds(NOON, dict.fromkeys(seen.committed, 0))
    at = seen.stream.read_at
    looks = [ends] if at is None else [ends, LogEnds(at, seen.stream.stable)]
    return partition_states(seen, looks, moves)


def complete(state: PartitionState) -> PartitionState:
    """Check that each value is there or has its reason, never both."""
    absent = {each.name for each in fields(state) if getattr(state, each.name) is None}
    assert absent - NONE_OF == set(state.unknown)
    assert all(state.unknown.values())
    return state


def test_a_row_has_the_log_the_offsets_the_tasks_and_the_risk() -> None:
    even = generation(3, {part(0): 300})
    old = generation(1, {part(0): 200}, {part(0): 300}, state=GenerationState.PUBLISHING)
    first, second, publishes = task(even, 0), task(even, 1, worker="w2"), task(old)
    at = NOON + 3 * MINUTE
    seen = observed(
        spec(1),
        stored=committed(200),
        seen=replace(stream(900, earliest=120), read_at=at, latest=offsets(950)),
        generations=(old, even),
        tasks=(first, second, publishes),
        workers=(
            worker("w1", report(first, offsets(800)), report(publishes, offsets(300))),
            worker("w2", report(second, offsets(500))),
        ),
        now=at + MINUTE,
    )

    [row] = looked(seen, 0, 40, 80, 120)

    complete(row)
    assert (row.group, row.generation_id, row.topic_id) == (0, even.id, "id-1")
    log = row.earliest, row.first_offset, row.committed, row.stable, row.latest
    assert log == (120, 0, 200, 900, 950)
    assert row.lag_records == 100
    assert row.lag_age is not None
    assert abs(row.lag_age - timedelta(seconds=20)) < timedelta(milliseconds=1), "at that look"
    assert (row.headroom_records, row.headroom_left) == (80, 2 * MINUTE)
    assert [(t.id, t.replica, t.worker_id, t.position, t.lag) for t in row.tasks] == [
        (publishes.id, 0, "w1", 300, 0),
        (first.id, 0, "w1", 800, 100),
        (second.id, 1, "w2", 500, 400),
    ]
    assert row.trouble is None


@pytest.mark.parametrize(
    ("stored", "least"), [((200, 160), 1 * MINUTE), ((200, 900), 2 * MINUTE), ((900, 900), None)]
)
def test_the_least_headroom_is_that_of_the_partition_that_retention_reaches_first(
    stored: tuple[int, ...], least: timedelta | None
) -> None:
    log = replace(stream(900, 900, earliest=120), read_at=NOON + 3 * MINUTE)
    seen = observed(spec(1), stored=committed(*stored), seen=log, now=NOON + 4 * MINUTE)
    moves = EarliestHistory()
    for minute, offset in enumerate((0, 40, 80, 120)):
        earliest = dict.fromkeys(seen.committed, offset)
        moves = with_earliest(moves, NOON + minute * MINUTE, earliest, seen.stream.topic_ids)

    assert least_headroom(seen, moves) == least
    assert least_headroom(seen, EarliestHistory()) is None, "nobody has looked"


def test_before_the_first_look_only_the_rows_are_known() -> None:
    stored = observed(stored=committed(7), seen=StreamState(trouble=StreamTrouble.CONNECTING))

    [row] = looked(stored)

    complete(row)
    assert (row.committed, row.first_offset, row.group, row.generation_id) == (7, 0, 0, None)
    assert {row.unknown[name] for name in ("earliest", "latest", "stable", "lag_records")} == {
        NO_LOOK
    }
    assert row.unknown["headroom_left"] == row.unknown["headroom_records"] == NO_LOOK
    assert row.unknown["generation_id"] == NO_RANGE


def test_a_new_partition_has_a_log_and_no_offsets() -> None:
    rows = looked(observed(stored=committed(0, 0), seen=stream(9, 9, 9)), 0)

    complete(rows[2])
    assert (rows[2].latest, rows[2].committed, rows[2].lag_records) == (9, None, None)
    assert rows[2].unknown["lag_records"] == rows[2].unknown["headroom_left"]
    assert rows[2].unknown["committed"] == NOT_STORED


def test_a_topic_that_was_made_anew_is_not_compared_with_the_old_offsets() -> None:
    """Goal: neither lag nor headroom is the difference of two logs."""
    stored = committed(500, topic_id="old")
    [row] = looked(observed(stored=stored, seen=stream(100, topic_id="new")), 0)

    complete(row)
    assert (row.latest, row.committed, row.topic_id) == (100, 500, "old")
    assert (row.lag_records, row.headroom_records) == (None, None)
    assert row.unknown["lag_records"] == row.unknown["headroom_left"] == OTHER_TOPIC
    assert row.trouble is not None
    assert row.trouble[0] is PartitionTrouble.TOPIC_CHANGED


def test_a_partition_that_is_gone_says_so() -> None:
    [_, row] = looked(observed(stored=committed(5, 5), seen=stream(9)), 0)
    complete(row)
    assert row.unknown["latest"] == row.unknown["lag_records"] == NO_PARTITION


@pytest.mark.parametrize(
    ("at", "earliest", "code"),
    [
        (50, 80, PartitionTrouble.OFFSETS_UNREADABLE),
        (99, 0, None),
        (120, 0, PartitionTrouble.LOST_CONTINUITY),
    ],
)
def test_what_cannot_be_read_is_named_by_its_partition(
    at: int, earliest: int, code: PartitionTrouble | None
) -> None:
    held = generation(1, {part(0): at})
    seen = observed(
        spec(1),
        stored=committed(at),
        seen=replace(stream(100, earliest=earliest), read_at=NOON + MINUTE),
        generations=(held,),
        now=NOON + 2 * MINUTE,
    )

    [row] = looked(seen, earliest)

    complete(row)
    assert (None if row.trouble is None else row.trouble[0]) == code
    if code is PartitionTrouble.OFFSETS_UNREADABLE:
        assert (row.headroom_records, row.headroom_left) == (-30, timedelta(0))
    if code is PartitionTrouble.LOST_CONTINUITY:
        assert (row.headroom_records, row.headroom_left) == (None, None)
        assert row.unknown["headroom_left"].endswith("its log was cut")


def test_only_what_a_bounded_supervisor_reads_is_listed() -> None:
    bounds = BoundedStreamConfig(start_sequence_numbers={1: 0}, end_sequence_numbers={1: 50})
    source = spec(1).io_config.model_copy(update={"bounded_stream_config": bounds})
    bounded = spec(1).model_copy(update={"io_config": source})

    seen = observed(bounded, stored=committed(0, 0))

    assert [row.partition.partition for row in looked(seen, 0)] == [1]


@pytest.mark.parametrize("descending", [False, True])
def test_unknown_values_are_last_in_either_order(descending: bool) -> None:
    seen = observed(stored=committed(90, 10, 50), seen=stream(100, 100, 100, 100))
    rows = looked(seen, 0)

    lags = sorted_partitions(rows, SortedBy.LAG_RECORDS, descending=descending)
    names = sorted_partitions(rows, SortedBy.PARTITION, descending=descending)

    known = [10, 50, 90]
    assert [row.lag_records for row in lags] == [*(known[::-1] if descending else known), None]
    numbers = [row.partition.partition for row in names]
    assert numbers == ([3, 2, 1, 0] if descending else [0, 1, 2, 3])
