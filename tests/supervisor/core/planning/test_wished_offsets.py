"""Offsets of a time, of an end of the log, of a shift: what is exact, and what is the nearest."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.planning.dry_run import Probed
from supervisor.core.planning.wished_offsets import (
    NO_PARTITION,
    NOT_STORED,
    AtTime,
    LogPlace,
    OffsetWish,
    TimedOffsets,
    TimedRecord,
    WishedOffset,
    wished_offsets,
)
from supervisor.core.spec.sections.bounded import BoundedStreamConfig
from tests.supervisor.core.snapshots import NOON, committed, offsets, part, spec

SECOND = timedelta(seconds=1)
LOG = Probed(offsets(10, 10), offsets(120, 100), offsets(110, 100))
RECORDS = {part(0): TimedRecord(40, NOON)}


def wished(wish: OffsetWish, *stored: int) -> list[WishedOffset]:
    return wished_offsets(wish, spec(), committed(*stored), TimedOffsets(LOG, RECORDS))


def test_the_ends_of_the_log_are_exact() -> None:
    """Goal: the latest is the last stable offset, as a reset to it takes it."""
    assert wished(OffsetWish(LogPlace.EARLIEST), 50, 50) == [
        WishedOffset(part(0), 10, exact=True),
        WishedOffset(part(1), 10, exact=True),
    ]
    assert [each.offset for each in wished(OffsetWish(LogPlace.LATEST), 50, 50)] == [110, 100]


def test_a_time_is_exact_only_where_a_record_has_it() -> None:
    first, second = wished(OffsetWish(AtTime(NOON)), 50, 50)
    assert (first.offset, first.exact, first.time, first.why) == (40, True, NOON, "")
    assert (second.offset, second.exact, second.time) == (100, False, None)
    assert "end of the log" in second.why

    [later, _] = wished(OffsetWish(AtTime(NOON - SECOND)), 50, 50)
    assert (later.offset, later.exact, later.time) == (40, False, NOON)
    assert "next one" in later.why


def test_a_shift_counts_from_the_committed_offset_and_stays_in_the_log() -> None:
    back, none = wished(OffsetWish(LogPlace.COMMITTED, -30), 50, 20)
    assert (back.offset, back.exact, back.why) == (20, True, "")
    assert (none.offset, none.exact) == (10, False)
    assert none.why == "Kafka holds 10 to 100, and not -10"
    assert [each.offset for each in wished(OffsetWish(LogPlace.COMMITTED, 10**18), 50, 50)] == [
        110,
        100,
    ]


def test_what_is_not_known_is_no_number() -> None:
    assert [(each.offset, each.why) for each in wished(OffsetWish(LogPlace.COMMITTED, 1))] == [
        (None, NOT_STORED)
    ] * 2
    gone = wished(OffsetWish(LogPlace.LATEST), 50, 50, 50)[2]
    assert (gone.partition, gone.offset, gone.exact, gone.why) == (
        part(2),
        None,
        False,
        NO_PARTITION,
    )


def test_once_offsets_are_stored_only_their_partitions_are_listed() -> None:
    """Goal: `resetOffsets` takes the whole answer; a new partition has no row yet."""
    assert [each.partition for each in wished(OffsetWish(LogPlace.LATEST))] == [part(0), part(1)]
    assert [each.partition for each in wished(OffsetWish(LogPlace.LATEST), 50)] == [part(0)]


@pytest.mark.parametrize(
    ("wish", "offset", "exact"),
    [
        (OffsetWish(LogPlace.EARLIEST), 20, False),
        (OffsetWish(LogPlace.LATEST), 60, False),
        (OffsetWish(AtTime(NOON)), 40, True),
        (OffsetWish(LogPlace.COMMITTED, 5), 55, True),
        (OffsetWish(LogPlace.COMMITTED, 15), 60, False),
    ],
)
def test_a_bounded_supervisor_is_not_led_out_of_its_range(
    wish: OffsetWish, offset: int, exact: bool
) -> None:
    bounds = BoundedStreamConfig(start_sequence_numbers={0: 20}, end_sequence_numbers={0: 60})
    source = spec().io_config.model_copy(update={"bounded_stream_config": bounds})
    bounded = spec().model_copy(update={"io_config": source})

    [only] = wished_offsets(wish, bounded, committed(50, 50), TimedOffsets(LOG, RECORDS))

    assert (only.partition, only.offset, only.exact) == (part(0), offset, exact)
    assert bool(only.why) != exact


def test_a_shift_counts_from_any_place_or_time() -> None:
    last = wished(OffsetWish(LogPlace.LATEST, -30), 50, 50)
    assert [(each.offset, each.exact) for each in last] == [(80, True), (70, True)]
    early, _ = wished(OffsetWish(LogPlace.EARLIEST, -1), 50, 50)
    assert (early.offset, early.exact) == (10, False)
    behind, none = wished(OffsetWish(AtTime(NOON), 5), 50, 50)
    assert (behind.offset, behind.exact, behind.time) == (45, True, None)
    assert (none.offset, none.exact) == (100, False)


@given(st.integers(-(10**6), 10**6), st.integers(0, 200), st.integers(0, 500), st.integers(0, 500))
def test_a_shift_ends_at_the_nearest_offset_that_kafka_holds(
    by: int, earliest: int, retained: int, at: int
) -> None:
    log = Probed(offsets(earliest), offsets(earliest + retained), offsets(earliest + retained))

    [only] = wished_offsets(
        OffsetWish(LogPlace.COMMITTED, by), spec(), committed(at), TimedOffsets(log)
    )

    assert only.offset is not None
    assert earliest <= only.offset <= earliest + retained
    assert only.exact == (earliest <= at + by <= earliest + retained)
    if not only.exact:
        assert only.offset in {earliest, earliest + retained}
