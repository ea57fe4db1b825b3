"""What `verify` says of rows that name no offset: their numbers must agree with the topic's."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from supervisor.verify.dropped import LetGo
from supervisor.verify.facts import DeclaredGap, PartitionContents, PartitionFacts, PublishedRange
from supervisor.verify.judge import judge, judge_partition
from supervisor.verify.runs import Runs
from supervisor.verify.verdict import FindingKind, PartitionVerdict, Verdict
from tasks.contract.offsets import TopicPartition

P0 = TopicPartition("clicks", 0)
Pair = tuple[int, int]


def counted(
    number: int, *, rejects: Sequence[Pair] = (), bounds: Pair = (0, 100)
) -> PartitionContents:
    return PartitionContents(
        carries_offsets=False, counted=number, rejects=Runs(rejects), bounds=Runs([bounds])
    )


def rolled_up(held: PartitionContents) -> PublishedRange:
    return PublishedRange("g", "t", 0, 100, held)


def test_rolled_up_rows_are_counted_against_the_topic() -> None:
    seen = judge_partition(facts(rolled_up(counted(99, rejects=[(7, 8)]))))

    assert (seen.verdict, seen.findings) == (Verdict.OFFSETS_ONLY, ())
    assert (seen.records, seen.counted, seen.rejected, seen.unproven) == (100, 99, 1, 0)
    assert seen.ranges[0].why == "rolled up: 99 records are counted, not named"
    verdict = judge("pages", [facts(rolled_up(counted(99, rejects=[(7, 8)])))], publications=1)
    assert verdict.summary() == (
        "pages: offsets only: 100 records in 1 partitions, 0 lost, 0 duplicated (1 publications, "
        "1 rejected and explained, 99 counted only, because their rows are rolled up)"
    )
    holes = replace(facts(rolled_up(counted(90))), topic=Runs([(0, 50), (60, 100)]))
    assert judge_partition(holes).findings == ()


@pytest.mark.parametrize(
    ("held", "kind", "records"),
    [
        (counted(98, rejects=[(7, 8)]), FindingKind.LOST_WRITE, 1),
        (counted(102), FindingKind.DUPLICATE, 2),
        (counted(0), FindingKind.LOST_WRITE, 100),
        (counted(100, bounds=(0, 101)), FindingKind.UNKNOWN_ROW, 1),
        (counted(100, rejects=[(100, 103)]), FindingKind.UNKNOWN_ROW, 3),
    ],
)
def test_a_record_too_few_or_too_many_is_found_among_rolled_up_ones(
    held: PartitionContents, kind: FindingKind, records: int
) -> None:
    seen = judge_partition(facts(rolled_up(held)))

    assert [(found.kind, found.records) for found in seen.findings] == [(kind, records)]
    assert seen.lost == (records if kind is FindingKind.LOST_WRITE else 0)
    assert seen.duplicated == (records if kind is FindingKind.DUPLICATE else 0)


def test_rejects_of_what_the_topic_does_not_have_are_found_among_rolled_up_ones() -> None:
    known = replace(facts(rolled_up(counted(99, rejects=[(7, 8)]))), topic=Runs([(0, 7), (8, 100)]))

    assert kinds(judge_partition(known)) == {FindingKind.UNKNOWN_ROW}


def test_rolled_up_rows_are_not_counted_against_a_topic_that_forgets() -> None:
    partition = facts(rolled_up(counted(98)))

    for forgetful in (
        replace(partition, compacted=True),
        replace(partition, unreadable=Runs([(0, 5)]), topic=Runs([(5, 100)])),
        replace(partition, gaps=(DeclaredGap(50, 100, repeated=True),)),
    ):
        assert judge_partition(forgetful).verdict is Verdict.OFFSETS_ONLY


def test_rolled_up_rows_that_were_dropped_count_as_well() -> None:
    dropped = replace(rolled_up(counted(60)), let_go=(LetGo(0, 50, 40),))

    assert judge_partition(facts(dropped)).findings == ()
    less = replace(rolled_up(counted(59)), let_go=(LetGo(0, 50, 40),))
    assert kinds(judge_partition(facts(less))) == {FindingKind.LOST_WRITE}


def facts(published: PublishedRange) -> PartitionFacts:
    """A partition whose topic has a record at each of 100 offsets, all committed."""
    return PartitionFacts(P0, 0, 100, topic=Runs([(0, 100)]), ranges=(published,))


def kinds(verdict: PartitionVerdict) -> set[FindingKind]:
    return {finding.kind for finding in verdict.findings}
