"""What a reset means to `verify`: declared breaks are explained, and exactly where declared."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import JsonValue

from supervisor.verify.facts import DeclaredGap, PartitionContents, PartitionFacts, PublishedRange
from supervisor.verify.judge import facts_by_partition, judge, judge_partition
from supervisor.verify.ledger import CheckedLedger
from supervisor.verify.runs import Runs
from supervisor.verify.verdict import FindingKind, PartitionVerdict, Verdict, Verification
from supervisor.views.lenient import lenient
from tasks.contract.offsets import TopicPartition

P0 = TopicPartition("clicks", 0)
NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
Gaps = Mapping[TopicPartition, Sequence[DeclaredGap]]


def published(
    start: int, end: int, number: int = 0, *, topic: int = 0, rows: Runs | None = None
) -> PublishedRange:
    """A publication of [start, end) of the `topic`-th topic; every row is there unless given."""
    held = PartitionContents(Runs([(start, end)]) if rows is None else rows)
    name = f"g{number}-{start}"
    return PublishedRange(name, f"t-{name}", start, end, held, topics_before=topic)


def facts(*ranges: PublishedRange, end: int, gaps: tuple[DeclaredGap, ...] = ()) -> PartitionFacts:
    """A partition whose topic has a record at every offset up to `end`, all committed."""
    return PartitionFacts(P0, 0, end, topic=Runs([(0, end)]), gaps=gaps, ranges=ranges)


def anew(end: int) -> DeclaredGap:
    """The topic was made anew when [0, end) was committed."""
    return DeclaredGap(0, end, repeated=False, new_topic=True)


def kinds(verdict: PartitionVerdict) -> set[FindingKind]:
    return {finding.kind for finding in verdict.findings}


def whole(
    ranges: Sequence[PublishedRange],
    gaps: Gaps,
    committed: Mapping[TopicPartition, tuple[int, int]],
) -> Verification:
    """The verdict on a topic that now holds the records of what is committed now."""
    topic = {p: Runs([span]) for p, span in committed.items()}
    facts = facts_by_partition(committed, gaps, {P0: ranges}, topic, {})
    return judge("clicks", facts, publications=len(ranges))


REPEATED = DeclaredGap(60, 100, repeated=True)


def test_a_record_that_either_reading_of_a_repeated_range_holds_is_not_lost() -> None:
    """Goal: after the log was cut, other records stand at the same offsets."""
    before = published(0, 100, rows=Runs([(0, 70), (71, 100)]))
    partition = facts(before, published(60, 100, 1), end=100, gaps=(REPEATED,))

    assert judge_partition(partition).verdict is Verdict.PROVEN
    undeclared = judge_partition(replace(partition, gaps=()))
    assert {FindingKind.LOST_WRITE, FindingKind.OVERLAP} <= kinds(undeclared)


def test_a_record_that_both_readings_lack_is_lost() -> None:
    first = published(0, 100, rows=Runs([(0, 70), (71, 100)]))
    second = published(60, 100, 1, rows=Runs([(60, 70), (71, 100)]))

    judged = judge_partition(facts(first, second, end=100, gaps=(REPEATED,)))

    assert FindingKind.LOST_WRITE in kinds(judged)
    assert judged.lost == 1


def test_rows_that_a_cut_log_does_not_show_are_unproven_where_that_is_declared() -> None:
    """Source: E3, E5."""
    cut = replace(facts(published(0, 100), end=60), gaps=(REPEATED,))

    judged = judge_partition(cut)

    assert (judged.verdict, judged.unproven) == (Verdict.OFFSETS_ONLY, 40)
    assert FindingKind.UNKNOWN_ROW in kinds(judge_partition(replace(cut, gaps=())))
    part_of_it = replace(cut, gaps=(DeclaredGap(61, 100, repeated=True),))
    assert FindingKind.UNKNOWN_ROW in kinds(judge_partition(part_of_it))


@pytest.mark.parametrize("declared", [True, False])
def test_a_lost_range_is_explained_only_where_it_is_declared(declared: bool) -> None:
    """Source: E4; I1 with gaps."""
    ranges = (published(0, 10), published(60, 100, 1))
    partition = facts(*ranges, end=100, gaps=(DeclaredGap(10, 60, repeated=False),) * declared)

    judged = judge_partition(replace(partition, topic=Runs([(60, 100)])))

    assert (FindingKind.GAP in kinds(judged)) is not declared


def test_a_topic_that_was_made_anew_is_judged_apart_from_the_one_before() -> None:
    """Goal: the same offsets, other records: neither doubled nor unknown (E7)."""
    ranges = [published(0, 100, 1), published(0, 40, 2, topic=1)]

    verdict = whole(ranges, {P0: [anew(100)]}, {P0: (0, 40)})

    assert verdict.findings == ()
    assert [p.verdict for p in verdict.partitions] == [Verdict.OFFSETS_ONLY, Verdict.PROVEN]
    assert "40 records in 1 partitions" in verdict.summary()
    assert whole(ranges, {}, {P0: (0, 40)}).verdict is Verdict.VIOLATED


def test_the_ranges_of_the_topic_before_must_tile_all_the_same() -> None:
    verdict = whole([published(0, 90, 1)], {P0: [anew(100)]}, {P0: (0, 0)})

    assert [found.kind for found in verdict.findings] == [FindingKind.GAP]
    assert verdict.findings[0].runs == ((90, 100),)


def test_what_was_declared_for_the_topic_before_explains_nothing_of_the_new_one() -> None:
    lost = DeclaredGap(10, 30, repeated=False)
    before = [published(0, 10, 1), published(30, 40, 2)]
    ranges = [*before, *(replace(each, topics_before=1) for each in before)]

    verdict = whole(ranges, {P0: [lost, anew(40)]}, {P0: (0, 40)})

    assert [found.kind for found in verdict.findings] == [FindingKind.GAP]
    assert verdict.findings[0].runs == ((10, 30),)
    assert whole(ranges, {P0: [lost, anew(40), lost]}, {P0: (0, 40)}).findings == ()


def test_a_partition_that_is_gone_keeps_its_rows() -> None:
    verdict = whole([published(0, 100, 1)], {P0: [anew(100)]}, {})

    assert (verdict.verdict, verdict.findings) == (Verdict.OFFSETS_ONLY, ())


def test_a_topic_may_be_made_anew_twice() -> None:
    ranges = [published(0, 100), published(0, 50, topic=1), published(0, 7, topic=2)]

    verdict = whole(ranges, {P0: [anew(100), anew(50)]}, {P0: (0, 7)})

    assert verdict.findings == ()
    assert [p.next_offset for p in verdict.partitions] == [100, 50, 7]


NEW_TOPIC: dict[str, JsonValue] = {
    "topic": "clicks",
    "partition": 0,
    "from": 0,
    "to": 900,
    "kind": "recreated",
    "at": (NOON + 5 * MINUTE).isoformat(),
}


def ledger(gap: dict[str, JsonValue], *publications: dict[str, JsonValue]) -> CheckedLedger:
    """[3, 7) of the present topic is committed."""
    return lenient(CheckedLedger).model_validate(
        {
            "supervisorId": "clicks",
            "dataSource": "clicks",
            "warehouse": "/w",
            "topic": "clicks",
            "kafka": {"bootstrapServers": "localhost:9092"},
            "committed": [{"topic": "clicks", "partition": 0, "firstOffset": 3, "nextOffset": 7}],
            "gaps": [gap],
            "publications": list(publications),
        }
    )


def publication(ordinal: int, start: int, end: int, at: int) -> dict[str, JsonValue]:
    """Of the generation of an ordinal, `at` minutes after noon by its leader's clock."""
    return {
        "generationId": f"clicks:{ordinal}",
        "taskId": f"t{ordinal}",
        "publishedAt": (NOON + at * MINUTE).isoformat(),
        "start": {"clicks:0": start},
        "end": {"clicks:0": end},
        "rows": end - start,
        "rejected": 0,
    }


def came_after(checked: CheckedLedger) -> list[bool]:
    """Tell of each publication whether it is of the new topic."""
    [gap] = checked.new_topics()[P0]
    return [each.comes_after(gap) for each in checked.publications]


def test_only_the_present_topic_is_read() -> None:
    """Goal: the offsets of the one before say nothing about how far to read."""
    checked = ledger(
        NEW_TOPIC | {"lastOrdinal": 1}, publication(1, 0, 900, 1), publication(2, 3, 7, 9)
    )

    assert came_after(checked) == [False, True]
    assert checked.extent() == {P0: (3, 7)}
    assert checked.declared() == {P0: [anew(900)]}


@pytest.mark.parametrize(("before", "after"), [(90, 9), (1, -60)], ids=["ahead", "behind"])
def test_clocks_that_differ_move_no_range_to_another_topic(before: int, after: int) -> None:
    """Goal: three leaders, and the clock of one is an hour off."""
    ranges = publication(1, 0, 900, before), publication(2, 3, 7, after)

    checked = ledger(NEW_TOPIC | {"lastOrdinal": 1}, *ranges)

    assert came_after(checked) == [False, True]
    assert checked.extent() == {P0: (3, 7)}


def test_what_an_earlier_version_declared_is_told_apart_by_times() -> None:
    checked = ledger(NEW_TOPIC, publication(1, 0, 900, 5), publication(2, 3, 7, 6))

    assert came_after(checked) == [False, True]
    assert checked.extent() == {P0: (3, 7)}
