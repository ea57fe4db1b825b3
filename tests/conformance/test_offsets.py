"""Committed offsets: initialised at once or not at all, moved by compare-and-swap."""

import pytest

from supervisor.core.errors import StaleCommit
from supervisor.core.model import CommittedOffset, GapKind, OffsetGap
from tasks.offsets import OffsetsError
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

    declared = [gap(1, GapKind.LOST), gap(0, GapKind.SKIPPED), gap(2, GapKind.REPEATED)]
    for one in declared:
        with leader.writes() as tx:
            tx.offsets.declare(one)

    with leader.reads() as tx:
        assert tx.offsets.gaps(CLICKS) == declared
        assert tx.offsets.gaps("other") == []
