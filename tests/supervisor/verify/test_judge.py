"""The judgement of `verify`: what it calls proven, and that it finds every planted violation."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.verify.facts import DeclaredGap, PartitionContents, PartitionFacts, PublishedRange
from supervisor.verify.judge import judge, judge_partition
from supervisor.verify.runs import Runs
from supervisor.verify.verdict import Finding, FindingKind, PartitionVerdict, Verdict
from tasks.contract.offsets import TopicPartition

P0 = TopicPartition("clicks", 0)
Pair = tuple[int, int]


def published(
    start: int,
    end: int,
    *,
    rows: Sequence[Pair] | None = None,
    rejects: Sequence[Pair] = (),
    name: str = "g",
) -> PublishedRange:
    """A publication of [start, end); `rows` are all of them unless given."""
    held = PartitionContents(Runs([(start, end)] if rows is None else rows), rejects=Runs(rejects))
    return PublishedRange(f"{name}{start}", f"task-{name}{start}", start, end, held)


def facts(*ranges: PublishedRange, end: int = 100, first: int = 0) -> PartitionFacts:
    """A partition whose topic has a record at every offset up to `end`, all committed."""
    return PartitionFacts(P0, first, end, topic=Runs([(0, end)]), ranges=ranges)


def kinds(verdict: PartitionVerdict) -> set[FindingKind]:
    return {finding.kind for finding in verdict.findings}


def test_ranges_that_tile_and_hold_every_record_are_proven() -> None:
    seen = judge_partition(facts(published(0, 40), published(40, 100)))

    assert seen.verdict is Verdict.PROVEN
    assert (seen.records, seen.lost, seen.duplicated, seen.findings) == (100, 0, 0, ())
    assert [each.verdict for each in seen.ranges] == [Verdict.PROVEN, Verdict.PROVEN]


def test_a_rejected_record_is_explained() -> None:
    seen = judge_partition(facts(published(0, 100, rows=[(0, 30), (31, 100)], rejects=[(30, 31)])))

    assert (seen.verdict, seen.records, seen.rejected) == (Verdict.PROVEN, 100, 1)


def test_holes_of_control_records_are_no_loss() -> None:
    topic = Runs([(0, 10), (11, 20)])  # 10 is a transaction's marker

    seen = judge_partition(replace(facts(published(0, 20, rows=list(topic)), end=20), topic=topic))

    assert (seen.verdict, seen.records) == (Verdict.PROVEN, 19)


def test_an_empty_publication_over_markers_alone_is_proven() -> None:
    seen = judge_partition(replace(facts(published(0, 3, rows=[]), end=3), topic=Runs()))

    assert (seen.verdict, seen.records) == (Verdict.PROVEN, 0)


VIOLATIONS: dict[str, tuple[PartitionFacts, FindingKind, int, int]] = {
    # name: (facts, finding, lost, duplicated)
    "a record is nowhere": (
        facts(published(0, 100, rows=[(0, 50), (51, 100)])),
        FindingKind.LOST_WRITE,
        1,
        0,
    ),
    "a range is not published": (
        facts(published(0, 40), published(60, 100)),
        FindingKind.GAP,
        20,
        0,
    ),
    "the end is not published": (facts(published(0, 90)), FindingKind.GAP, 10, 0),
    "the beginning is not published": (facts(published(10, 100)), FindingKind.GAP, 10, 0),
    "nothing is published": (facts(), FindingKind.GAP, 100, 0),
    "two publications share offsets": (
        facts(published(0, 60), published(40, 100)),
        FindingKind.OVERLAP,
        0,
        20,
    ),
    "a range is published twice": (
        facts(published(0, 100), published(0, 100, name="h")),
        FindingKind.OVERLAP,
        0,
        100,
    ),
    "published past what is committed": (
        facts(published(0, 100), published(100, 110), end=100),
        FindingKind.OVERLAP,
        0,
        0,
    ),
    "published before the first offset": (
        facts(published(0, 20), published(20, 100), first=20),
        FindingKind.OVERLAP,
        0,
        0,
    ),
    "a row of another range": (
        facts(published(0, 50, rows=[(0, 51)]), published(50, 100)),
        FindingKind.UNKNOWN_ROW,
        0,
        0,
    ),
    "a row that the topic never had": (
        replace(facts(published(0, 100)), topic=Runs([(0, 70), (71, 100)])),
        FindingKind.UNKNOWN_ROW,
        0,
        0,
    ),
    "a reject that the topic never had": (
        replace(
            facts(published(0, 100, rows=[(0, 70), (71, 100)], rejects=[(70, 71)])),
            topic=Runs([(0, 70), (71, 100)]),
        ),
        FindingKind.UNKNOWN_ROW,
        0,
        0,
    ),
    "a row that is rejected too": (
        facts(published(0, 100, rejects=[(3, 5)])),
        FindingKind.DUPLICATE,
        0,
        2,
    ),
    "a row that is there three times": (
        facts(
            PublishedRange(
                "g",
                "t",
                0,
                100,
                PartitionContents(Runs([(0, 100)]), repeated=Runs([(7, 8)]), surplus=2),
            )
        ),
        FindingKind.DUPLICATE,
        0,
        2,
    ),
}


@pytest.mark.parametrize("name", VIOLATIONS)
def test_a_violation_is_named_and_counted(name: str) -> None:
    partition, kind, lost, duplicated = VIOLATIONS[name]

    seen = judge_partition(partition)

    assert seen.verdict is Verdict.VIOLATED
    assert kind in kinds(seen)
    assert (seen.lost, seen.duplicated) == (lost, duplicated)


def test_a_finding_names_the_offsets() -> None:
    seen = judge_partition(facts(published(0, 100, rows=[(0, 50), (52, 90), (91, 100)])))

    [finding] = seen.findings
    assert (finding.kind, finding.records, finding.runs) == (
        FindingKind.LOST_WRITE,
        3,
        ((50, 52), (90, 91)),
    )
    assert (finding.generation_id, finding.partition) == ("g0", P0)


def test_what_kafka_no_longer_has_is_judged_by_offsets_only() -> None:
    partition = facts(published(0, 40), published(40, 100))
    expired = replace(partition, topic=Runs([(50, 100)]), unreadable=Runs([(0, 50)]))

    seen = judge_partition(expired)

    assert seen.verdict is Verdict.OFFSETS_ONLY
    assert [each.verdict for each in seen.ranges] == [Verdict.OFFSETS_ONLY, Verdict.OFFSETS_ONLY]
    assert (seen.records, seen.unproven, seen.findings) == (50, 50, ())


def test_an_expired_part_hides_no_violation_of_the_rest() -> None:
    partition = facts(published(0, 100, rows=[(0, 70), (71, 100)]))
    expired = replace(partition, topic=Runs([(50, 100)]), unreadable=Runs([(0, 50)]))

    assert kinds(judge_partition(expired)) == {FindingKind.LOST_WRITE}


def test_a_compacted_topic_may_have_dropped_what_is_a_row() -> None:
    partition = replace(facts(published(0, 100)), topic=Runs([(0, 70), (71, 100)]), compacted=True)

    seen = judge_partition(partition)

    assert (seen.verdict, seen.unproven) == (Verdict.OFFSETS_ONLY, 1)


def test_a_compacted_topic_loses_nothing_unnoticed() -> None:
    partition = replace(facts(published(0, 100, rows=[(0, 99)])), compacted=True)

    assert kinds(judge_partition(partition)) == {FindingKind.LOST_WRITE}


def test_rows_without_offsets_are_judged_by_ranges_only() -> None:
    rolled = PublishedRange("g", "t", 0, 100, PartitionContents(carries_offsets=False))

    assert judge_partition(facts(rolled)).verdict is Verdict.OFFSETS_ONLY
    assert kinds(judge_partition(facts(rolled, end=120))) == {FindingKind.GAP}


def test_a_declared_skip_is_no_gap() -> None:
    partition = facts(published(0, 40), published(60, 100))

    seen = judge_partition(replace(partition, gaps=(DeclaredGap(40, 60, repeated=False),)))

    assert (seen.verdict, seen.lost, seen.declared) == (Verdict.PROVEN, 0, 20)


def test_a_declared_repeat_is_no_overlap() -> None:
    """Goal: after a reset from 100 back to 60 the offsets in between are published again."""
    partition = facts(published(0, 100), published(60, 120), end=120)

    seen = judge_partition(replace(partition, gaps=(DeclaredGap(60, 100, repeated=True),)))

    assert (seen.verdict, seen.duplicated, seen.declared) == (Verdict.PROVEN, 0, 40)


def test_a_reset_that_was_not_yet_read_again_is_no_overlap() -> None:
    partition = facts(published(0, 100), end=60)
    reset = replace(partition, topic=Runs([(0, 100)]), gaps=(DeclaredGap(60, 100, repeated=True),))

    assert judge_partition(reset).verdict is Verdict.PROVEN


def test_one_declared_repeat_allows_one_copy_only() -> None:
    partition = facts(published(0, 100), published(60, 100), published(60, 100, name="h"))

    seen = judge_partition(replace(partition, gaps=(DeclaredGap(60, 100, repeated=True),)))

    assert FindingKind.OVERLAP in kinds(seen)


def test_a_declaration_explains_its_own_offsets_only() -> None:
    partition = facts(published(0, 40), published(60, 100))

    seen = judge_partition(replace(partition, gaps=(DeclaredGap(40, 59, repeated=False),)))

    [found] = seen.findings
    assert (found.kind, found.runs) == (FindingKind.GAP, ((59, 60),))


def test_a_spoiled_file_spoils_its_ranges_and_the_whole() -> None:
    spoiled = Finding(FindingKind.DIGEST_MISMATCH, "a.parquet differs", "g40")

    seen = judge("clicks", [facts(published(0, 40), published(40, 100))], [spoiled], publications=2)

    assert seen.verdict is Verdict.VIOLATED
    [partition] = seen.partitions
    assert [each.verdict for each in partition.ranges] == [Verdict.PROVEN, Verdict.VIOLATED]


def test_the_last_line_says_what_was_proven() -> None:
    seen = judge(
        "clicks",
        [facts(published(0, 100, rows=[(0, 90), (91, 100)], rejects=[(90, 91)]))],
        publications=1,
    )

    assert seen.summary() == (
        "clicks: proven: 100 records in 1 partitions, 0 lost, 0 duplicated "
        "(1 publications, 1 rejected and explained)"
    )


# -- properties: any history is proven, and any single fault planted in it is found


@dataclass(frozen=True)
class History:
    """A topic that was published without a fault: records, cuts between ranges, rejects."""

    records: frozenset[int]
    cuts: tuple[int, ...]
    rejected: frozenset[int]

    def facts(self, rows: Counter[int] | None = None) -> PartitionFacts:
        """What is found if the table has `rows`; by default, what it should have."""
        row_counts = Counter(self.records - self.rejected) if rows is None else rows
        spans = pairwise(self.cuts)
        return PartitionFacts(
            P0,
            self.cuts[0],
            self.cuts[-1],
            topic=_runs(self.records),
            ranges=tuple(self._range(start, end, row_counts) for start, end in spans),
        )

    def _range(self, start: int, end: int, rows: Counter[int]) -> PublishedRange:
        mine = {offset: rows[offset] for offset in range(start, end) if rows[offset]}
        held = PartitionContents(
            _runs(frozenset(mine)),
            _runs(frozenset(offset for offset, copies in mine.items() if copies > 1)),
            sum(mine.values()) - len(mine),
            _runs(frozenset(o for o in self.rejected if start <= o < end)),
        )
        return PublishedRange(f"g{start}", "t", start, end, held)


def _runs(offsets: frozenset[int]) -> Runs:
    return Runs((offset, offset + 1) for offset in sorted(offsets))


@st.composite
def histories(draw: st.DrawFn) -> History:
    records = draw(st.frozensets(st.integers(0, 39), min_size=1))
    cuts = draw(st.sets(st.integers(1, 39), max_size=5))
    rejected = draw(st.frozensets(st.sampled_from(sorted(records))))
    return History(records, (0, *sorted(cuts), 40), rejected)


@given(histories())
def test_every_faultless_history_is_proven(history: History) -> None:
    seen = judge_partition(history.facts())

    assert seen.verdict is Verdict.PROVEN
    assert (seen.records, seen.lost, seen.duplicated) == (len(history.records), 0, 0)
    assert seen.rejected == len(history.rejected)


@given(histories(), st.data())
def test_every_lost_row_is_found(history: History, data: st.DataObject) -> None:
    rows = Counter(history.records - history.rejected)
    if not rows:
        return
    lost = data.draw(st.sampled_from(sorted(rows)))
    del rows[lost]

    seen = judge_partition(history.facts(rows))

    assert (seen.lost, kinds(seen)) == (1, {FindingKind.LOST_WRITE})


@given(histories(), st.data())
def test_every_repeated_row_is_found(history: History, data: st.DataObject) -> None:
    rows = Counter(history.records - history.rejected)
    if not rows:
        return
    rows[data.draw(st.sampled_from(sorted(rows)))] += 1

    seen = judge_partition(history.facts(rows))

    assert (seen.duplicated, kinds(seen)) == (1, {FindingKind.DUPLICATE})


@given(histories(), st.data())
def test_every_row_of_no_record_is_found(history: History, data: st.DataObject) -> None:
    strangers = sorted(set(range(40)) - history.records)
    if not strangers:
        return
    rows = Counter(history.records - history.rejected)
    rows[data.draw(st.sampled_from(strangers))] += 1

    assert kinds(judge_partition(history.facts(rows))) == {FindingKind.UNKNOWN_ROW}


@given(histories(), st.data())
def test_every_publication_left_out_is_found(history: History, data: st.DataObject) -> None:
    whole = history.facts()
    left_out = data.draw(st.sampled_from(whole.ranges))

    seen = judge_partition(
        replace(whole, ranges=tuple(each for each in whole.ranges if each != left_out))
    )

    assert kinds(seen) == {FindingKind.GAP}
    assert seen.lost == len([o for o in history.records if left_out.start <= o < left_out.end])


@given(histories(), st.data())
def test_every_publication_made_twice_is_found(history: History, data: st.DataObject) -> None:
    whole = history.facts()
    again = data.draw(st.sampled_from(whole.ranges))

    seen = judge_partition(replace(whole, ranges=(*whole.ranges, again)))

    assert FindingKind.OVERLAP in kinds(seen)
    assert seen.duplicated == again.held.rows.count()
