"""Committed offsets: initialised at once or not at all, moved by compare-and-swap."""

from dataclasses import replace

import pytest

from supervisor.core.model.rows import CommittedOffset, GapKind, OffsetGap
from supervisor.core.values.errors import StaleCommit
from tasks.contract.offsets import OffsetsError, TopicPartition
from tests.conformance.stories import (
    CLICKS,
    HOUR,
    IDS,
    NOON,
    P0,
    P1,
    P2,
    TOPIC_ID,
    Leader,
)


@pytest.fixture
def begun(leader: Leader) -> Leader:
    """Two partitions begin at 5 and at 2^40."""
    with leader.writes() as tx:
        assert tx.offsets.initialise(CLICKS, TOPIC_ID, {P0: 5, P1: 2**40})
    return leader


def test_the_first_offset_stays_when_the_committed_one_moves(begun: Leader) -> None:
    with begun.writes() as tx:
        tx.offsets.advance(CLICKS, {P0: 5}, {P0: 9}, IDS)

    with begun.reads() as tx:
        assert tx.offsets.of(CLICKS) == {
            P0: CommittedOffset(CLICKS, P0, 9, 5, TOPIC_ID),
            P1: CommittedOffset(CLICKS, P1, 2**40, 2**40, TOPIC_ID),
        }


def test_initialising_again_changes_nothing(begun: Leader) -> None:
    with begun.writes() as tx:
        assert not tx.offsets.initialise(CLICKS, "another", {P0: 7, P1: 7})
    assert begun.committed() == {P0: 5, P1: 2**40}


def test_initialising_is_refused_whole_if_one_partition_has_a_row(begun: Leader) -> None:
    with begun.writes() as tx:
        assert not tx.offsets.initialise(CLICKS, TOPIC_ID, {P0: 0, P2: 0})
    assert P2 not in begun.committed()


def test_a_new_partition_joins_those_that_have_rows(begun: Leader) -> None:
    with begun.writes() as tx:
        assert tx.offsets.initialise(CLICKS, TOPIC_ID, {P2: 0})
    assert begun.committed() == {P0: 5, P1: 2**40, P2: 0}


def test_supervisors_do_not_share_offsets(begun: Leader) -> None:
    with begun.writes() as tx:
        assert tx.offsets.initialise("other", TOPIC_ID, {P0: 0})
        tx.offsets.advance("other", {P0: 0}, {P0: 3}, IDS)
    assert begun.committed() == {P0: 5, P1: 2**40}


def test_the_offsets_of_many_supervisors_are_read_at_once(begun: Leader) -> None:
    many = [f"s{number}" for number in range(1_200)]
    with begun.writes() as tx:
        tx.offsets.initialise(many[-1], TOPIC_ID, {P2: 7})

    with begun.reads() as tx:
        by_supervisor = tx.offsets.of_each([CLICKS, *many, CLICKS])
        assert tx.offsets.of_each([]) == {}
        assert by_supervisor.keys() == {CLICKS, *many}
        assert by_supervisor[CLICKS] == tx.offsets.of(CLICKS)
        assert by_supervisor[many[-1]] == {P2: CommittedOffset(many[-1], P2, 7, 7, TOPIC_ID)}
        assert by_supervisor[many[0]] == {}


@pytest.mark.parametrize("start", [4, 6], ids=["behind", "ahead"])
def test_one_partition_that_stands_elsewhere_leaves_all_where_they_are(
    begun: Leader, start: int
) -> None:
    """Goal: a commit is all or nothing, even if its transaction goes on after the refusal."""
    with begun.writes() as tx:
        with pytest.raises(StaleCommit) as refused:
            tx.offsets.advance(CLICKS, {P0: 5, P1: 2**40 + start}, {P0: 9, P1: 2**40 + 9}, IDS)
        assert refused.value.partition == "topic:1"
        tx.specs.append(CLICKS, None, NOON, "")

    assert begun.committed() == {P0: 5, P1: 2**40}
    with begun.reads() as tx:
        assert tx.specs.newest(CLICKS) is not None


@pytest.mark.parametrize("ids", [{"topic": "recreated"}, {}], ids=["another", "none"])
def test_another_topic_id_is_stale(begun: Leader, ids: dict[str, str]) -> None:
    """Goal: offsets of a recreated topic mean other records (R13)."""
    with pytest.raises(StaleCommit), begun.writes() as tx:
        tx.offsets.advance(CLICKS, {P0: 5}, {P0: 9}, ids)
    assert begun.committed() == {P0: 5, P1: 2**40}


def test_a_partition_without_a_row_is_stale(begun: Leader) -> None:
    with pytest.raises(StaleCommit), begun.writes() as tx:
        tx.offsets.advance(CLICKS, {P0: 5, P2: 0}, {P0: 9, P2: 1}, IDS)
    assert begun.committed() == {P0: 5, P1: 2**40}


def test_the_same_commit_a_second_time_is_stale(begun: Leader) -> None:
    with begun.writes() as tx:
        tx.offsets.advance(CLICKS, {P0: 5}, {P0: 9}, IDS)
    with pytest.raises(StaleCommit), begun.writes() as tx:
        tx.offsets.advance(CLICKS, {P0: 5}, {P0: 9}, IDS)


def test_an_end_before_its_start_is_a_bug(begun: Leader) -> None:
    with pytest.raises(OffsetsError), begun.writes() as tx:
        tx.offsets.advance(CLICKS, {P0: 5}, {P0: 4}, IDS)
    assert begun.committed() == {P0: 5, P1: 2**40}


def test_declared_gaps_come_back_in_the_order_of_their_declaration(leader: Leader) -> None:
    def gap(first: int, kind: GapKind) -> OffsetGap:
        return OffsetGap(CLICKS, P0, first, 2**50, kind, "ada", "retention", NOON - first * HOUR)

    known = replace(gap(2, GapKind.RECREATED), last_ordinal=2**40)
    declared = [gap(1, GapKind.LOST), gap(0, GapKind.SKIPPED), gap(2, GapKind.REPEATED), known]
    for one in declared:
        with leader.writes() as tx:
            tx.offsets.declare(one)

    with leader.reads() as tx:
        assert tx.offsets.gaps(CLICKS) == declared
        assert tx.offsets.gaps("other") == []


def test_gaps_are_added_up_by_supervisor_and_kind(leader: Leader) -> None:
    gaps = [
        (CLICKS, 1, 2**50, GapKind.LOST),
        (CLICKS, 0, 3, GapKind.LOST),
        (CLICKS, 3, 7, GapKind.REPEATED),
        ("other", 5, 6, GapKind.LOST),
    ]
    for who, first, end, kind in gaps:
        with leader.writes() as tx:
            tx.offsets.declare(OffsetGap(who, P0, first, end, kind, "ada", "so", NOON))

    with leader.reads() as tx:
        assert tx.offsets.gap_sizes() == {
            (CLICKS, GapKind.LOST): 2**50 + 2,
            (CLICKS, GapKind.REPEATED): 4,
            ("other", GapKind.LOST): 1,
        }


def test_a_reset_moves_the_named_partitions_and_counts_their_epoch(begun: Leader) -> None:
    with begun.writes() as tx:
        tx.offsets.reset(CLICKS, {P0: 3}, IDS, {P0: 5})
        tx.offsets.reset(CLICKS, {P0: 8}, IDS, {P0: 3})

    with begun.reads() as tx:
        rows = tx.offsets.of(CLICKS)
    assert rows[P0] == CommittedOffset(CLICKS, P0, 8, 3, TOPIC_ID, reset_epoch=2)
    assert rows[P1] == CommittedOffset(CLICKS, P1, 2**40, 2**40, TOPIC_ID)


def test_a_reset_below_the_first_offset_takes_it_along(begun: Leader) -> None:
    """Goal: `verify` looks from the first offset on: what is read there is no surplus."""
    with begun.writes() as tx:
        tx.offsets.advance(CLICKS, {P0: 5}, {P0: 9}, IDS)
        tx.offsets.reset(CLICKS, {P0: 2}, IDS, {P0: 9})

    with begun.reads() as tx:
        assert tx.offsets.of(CLICKS)[P0].first_offset == 2


def test_another_topic_begins_anew(begun: Leader) -> None:
    with begun.writes() as tx:
        tx.offsets.reset(CLICKS, {P0: 7}, {"topic": "id-2"}, {P0: 5})

    with begun.reads() as tx:
        row = tx.offsets.of(CLICKS)[P0]
    assert row == CommittedOffset(CLICKS, P0, 7, 7, "id-2", reset_epoch=1)


def test_a_reset_stores_partitions_that_have_no_row(begun: Leader) -> None:
    with begun.writes() as tx:
        tx.offsets.reset(CLICKS, {P0: 1, P2: 4}, IDS, {P0: 5})

    with begun.reads() as tx:
        assert tx.offsets.of(CLICKS)[P2] == CommittedOffset(CLICKS, P2, 4, 4, TOPIC_ID)


@pytest.mark.parametrize(
    "expected", [{P0: 4}, {P0: 5, P2: 0}, {}], ids=["moved", "gone", "has come"]
)
def test_a_reset_of_what_has_moved_is_stale_and_changes_nothing(
    begun: Leader, expected: dict[TopicPartition, int]
) -> None:
    """Goal: the declared gap is that between the two offsets, whoever publishes meanwhile."""
    with pytest.raises(StaleCommit), begun.writes() as tx:
        tx.offsets.reset(CLICKS, {P0: 0}, IDS, expected)

    assert begun.committed() == {P0: 5, P1: 2**40}


def test_a_commit_of_before_a_reset_is_stale(begun: Leader) -> None:
    """Goal: the same offset is another one after a reset: the epoch tells (P22)."""
    with begun.writes() as tx:
        tx.offsets.reset(CLICKS, {P0: 5}, IDS, {P0: 5})

    with pytest.raises(StaleCommit), begun.writes() as tx:
        tx.offsets.advance(CLICKS, {P0: 5}, {P0: 9}, IDS)
    with begun.writes() as tx:
        tx.offsets.advance(CLICKS, {P0: 5}, {P0: 9}, IDS, {P0: 1})
    assert begun.committed()[P0] == 9


def test_a_commit_of_a_later_epoch_is_stale_too(begun: Leader) -> None:
    with pytest.raises(StaleCommit), begun.writes() as tx:
        tx.offsets.advance(CLICKS, {P0: 5}, {P0: 9}, IDS, {P0: 1})


def test_a_dropped_partition_leaves_the_others_and_may_come_back(begun: Leader) -> None:
    with begun.writes() as tx:
        tx.offsets.drop(CLICKS, [P1])
        tx.offsets.drop("other", [P0])
    assert begun.committed() == {P0: 5}

    with begun.writes() as tx:
        assert tx.offsets.initialise(CLICKS, TOPIC_ID, {P1: 0})
    assert begun.committed() == {P0: 5, P1: 0}


@pytest.mark.pg
def test_a_publish_between_look_and_reset_makes_the_reset_stale(postgresql_leader: Leader) -> None:
    """Goal: where writers run side by side, no published record is left out of the declared gap."""
    with postgresql_leader.writes() as tx:
        assert tx.offsets.initialise(CLICKS, TOPIC_ID, {P0: 5})

    with postgresql_leader.writes() as slow:
        seen = slow.offsets.of(CLICKS)[P0].next_offset
        with postgresql_leader.writes() as fast:
            fast.offsets.advance(CLICKS, {P0: 5}, {P0: 9}, IDS)
        with pytest.raises(StaleCommit):
            slow.offsets.reset(CLICKS, {P0: 0}, IDS, {P0: seen})

    assert postgresql_leader.committed() == {P0: 9}


@pytest.mark.pg
@pytest.mark.parametrize("others", [{P0: 0}, {P1: 0}, {P0: 0, P1: 0}])
def test_offsets_that_come_between_look_and_reset_make_the_reset_stale(
    postgresql_leader: Leader, others: dict[TopicPartition, int]
) -> None:
    """Goal: no reset says that it moved a partition that stands where somebody else put it."""

    def overtaken() -> None:
        with postgresql_leader.writes() as slow:
            assert slow.offsets.of(CLICKS) == {}
            with postgresql_leader.writes() as fast:
                assert fast.offsets.initialise(CLICKS, TOPIC_ID, others)
            slow.offsets.reset(CLICKS, {P0: 7, P1: 7}, IDS, {})

    with pytest.raises(StaleCommit):
        overtaken()
    assert postgresql_leader.committed() == others
