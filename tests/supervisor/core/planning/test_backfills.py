"""What a backfill reads, and what the supervisor beside it does: nothing twice, nothing never."""

from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.model.rows import CommittedOffset, GapKind
from supervisor.core.planning.backfill import (
    at_latest,
    backfill_id,
    backfill_spec,
    skipped_ranges,
    task_count_of,
)
from supervisor.core.planning.observed import StreamState
from supervisor.core.planning.offset_moves import moves
from supervisor.core.spec.reader import read_spec
from supervisor.core.values.errors import NoBackfill
from supervisor.core.values.table_names import name_problem
from supervisor.verify.ledger import BREAKS_SHOWN, CheckedLedger
from supervisor.views.lenient import lenient
from tests.supervisor.core.snapshots import NOON, TOPIC, part, spec

_OFFSETS = st.integers(0, 50)


@given(
    committed=st.lists(st.none() | _OFFSETS, min_size=1, max_size=5),
    logs=st.lists(st.tuples(_OFFSETS, _OFFSETS), min_size=5, max_size=5),
    task_count=st.none() | st.integers(1, 9),
)
def test_each_offset_is_read_by_one_of_the_two_or_lost_in_kafka(
    committed: list[int | None], logs: list[tuple[int, int]], task_count: int | None
) -> None:
    """Goal: whatever is committed, new, deleted by retention or read beyond what Kafka showed."""
    rows = {
        part(n): CommittedOffset(TOPIC, part(n), next_offset=at, first_offset=0, topic_id="id-1")
        for n, at in enumerate(committed)
        if at is not None
    }
    seen = _seen([(min(log), max(log)) for log in logs])
    new = at_latest(TOPIC, rows, seen)
    moved = {move.partition: move for move in moves(rows, new)}
    try:
        ranges = skipped_ranges(TOPIC, moved.values())
    except NoBackfill:
        ranges = {}
    for partition, row in rows.items():
        goes_on = new.offsets.get(partition, row.next_offset)
        beside = ranges.get(partition)
        lost = moved[partition].count(GapKind.LOST) if partition in moved else 0
        assert goes_on >= row.next_offset, "nothing is read a second time"
        if beside is None:
            assert goes_on == row.next_offset + lost
        else:
            assert (beside.first, beside.end) == (row.next_offset + lost, goes_on)
            assert seen.earliest[partition] <= beside.first < beside.end
    assert new.offsets.keys() <= rows.keys(), "what is new is read from its beginning"
    if ranges:
        count = task_count_of(spec(), ranges, task_count)
        backfill = backfill_spec(spec(), "other", ranges, count)
        assert 1 <= count <= len(ranges)
        assert read_spec(backfill.normalised()).spec == backfill


def _seen(logs: list[tuple[int, int]]) -> StreamState:
    ends = {part(n): end for n, (_, end) in enumerate(logs)}
    return StreamState(
        topic_ids={TOPIC: "id-1"},
        earliest={part(n): first for n, (first, _) in enumerate(logs)},
        latest={p: end + 3 for p, end in ends.items()},  # an open transaction holds these
        stable=ends,
        read_at=NOON,
    )


@given(st.from_regex(r"[a-z0-9][a-z0-9_-]{0,127}", fullmatch=True))
def test_its_id_is_one_however_long_the_first_is(supervisor_id: str) -> None:
    new_id = backfill_id(supervisor_id, "abcdefgh")

    assert len(new_id) <= 128
    assert new_id.endswith("_backfill_abcdefgh")
    assert name_problem(new_id) is None


def _ledger(gaps: list[tuple[int, int, str]]) -> CheckedLedger:
    return lenient(CheckedLedger).model_validate(
        {
            "supervisorId": TOPIC,
            "dataSource": TOPIC,
            "warehouse": "/w",
            "topic": TOPIC,
            "kafka": {"bootstrapServers": "localhost:9092"},
            "committed": [],
            "gaps": [
                {
                    "topic": TOPIC,
                    "partition": n,
                    "from": first,
                    "to": end,
                    "kind": "skipped",
                    "why": why,
                    "at": NOON,
                }
                for n, (first, end, why) in enumerate(gaps)
            ],
        }
    )


def test_a_verification_tells_why_offsets_are_missing_the_latest_first() -> None:
    """Goal: who reads the name of the other supervisor knows what to verify beside."""
    ledger = _ledger([(0, 10, "old"), (5, 7, "x_backfill reads"), (0, 4, "x_backfill reads")])

    assert ledger.breaks() == (
        "6 offsets are declared skipped: x_backfill reads",
        "10 offsets are declared skipped: old",
    )
    many = _ledger([(0, 1, f"{n}") for n in range(BREAKS_SHOWN + 3)]).breaks()
    assert (len(many), many[-1]) == (BREAKS_SHOWN + 1, "3 other reasons are in the ledger")
