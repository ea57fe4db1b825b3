"""Rows that were dropped on purpose: `verify` explains them, and nothing beside them."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from supervisor.verify.dropped import LetGo
from supervisor.verify.facts import PartitionContents, PartitionFacts, PublishedRange
from supervisor.verify.judge import judge, judge_partition
from supervisor.verify.runs import Runs
from supervisor.verify.verdict import FindingKind, PartitionVerdict, Verdict
from tasks.contract.offsets import TopicPartition

P0 = TopicPartition("clicks", 0)
Pair = tuple[int, int]


def facts(rows: Sequence[Pair], *let_go: LetGo, rejects: Sequence[Pair] = ()) -> PartitionFacts:
    """One publication of [0, 100), a record at every offset; `rows` are those in use."""
    held = PartitionContents(Runs(rows), rejects=Runs(rejects))
    published = PublishedRange("g", "t", 0, 100, held, let_go)
    return PartitionFacts(P0, 0, 100, topic=Runs([(0, 100)]), ranges=(published,))


def kinds(seen: PartitionVerdict) -> set[FindingKind]:
    return {finding.kind for finding in seen.findings}


def test_dropped_rows_are_no_loss_and_are_told() -> None:
    seen = judge_partition(facts([(0, 40)], LetGo(40, 100, 60)))

    assert (seen.verdict, seen.findings) == (Verdict.OFFSETS_ONLY, ())
    assert (seen.records, seen.lost, seen.dropped, seen.unproven) == (40, 0, 60, 0)
    assert seen.ranges[0].why == "60 rows were dropped from the table on purpose"


def test_files_that_share_their_offsets_are_told_apart_by_their_numbers() -> None:
    """Goal: segments are cut by time, so that offsets of one lie among those of others."""
    seen = judge_partition(facts([(0, 20), (30, 100)], LetGo(5, 90, 10)))

    assert (seen.verdict, seen.lost, seen.dropped) == (Verdict.OFFSETS_ONLY, 0, 10)


def test_one_record_more_than_was_dropped_is_lost() -> None:
    seen = judge_partition(facts([(0, 20), (31, 100)], LetGo(5, 90, 10)))

    assert seen.verdict is Verdict.VIOLATED
    assert kinds(seen) == {FindingKind.LOST_WRITE}
    assert seen.findings[0].runs == ((20, 31),)


def test_a_missing_record_outside_of_what_was_dropped_is_lost() -> None:
    seen = judge_partition(facts([(0, 20), (30, 95), (96, 100)], LetGo(20, 30, 10)))

    [found] = seen.findings
    assert (found.kind, found.runs, seen.lost) == (FindingKind.LOST_WRITE, ((95, 96),), 1)


def test_a_dropped_row_that_is_still_there_is_a_wrong_number() -> None:
    seen = judge_partition(facts([(0, 41)], LetGo(40, 100, 60)))

    [found] = seen.findings
    assert (found.kind, found.records, found.generation_id) == (FindingKind.ROW_COUNT, 1, "g")


def test_what_was_dropped_here_explains_nothing_there() -> None:
    """Goal: numbers are set off span by span, not in all."""
    seen = judge_partition(
        facts([(0, 10), (19, 50), (61, 100)], LetGo(10, 20, 10), LetGo(50, 60, 10))
    )

    assert kinds(seen) == {FindingKind.LOST_WRITE, FindingKind.ROW_COUNT}


def test_rejects_of_a_dropped_file_s_range_still_count() -> None:
    seen = judge_partition(facts([], LetGo(0, 100, 99), rejects=[(7, 8)]))

    assert (seen.verdict, seen.rejected, seen.dropped) == (Verdict.OFFSETS_ONLY, 1, 99)


def test_dropped_rows_whose_records_expired_are_not_asked_for() -> None:
    """Goal: old rows are dropped when Kafka has long deleted their records."""
    gone = facts([(60, 100)], LetGo(0, 80, 60))
    expired = replace(gone, topic=Runs([(50, 100)]), unreadable=Runs([(0, 50)]))

    seen = judge_partition(expired)

    assert (seen.verdict, seen.findings) == (Verdict.OFFSETS_ONLY, ())
    assert seen.ranges[0].why == (
        "expired in Kafka, 60 rows were dropped from the table on purpose"
    )


def test_an_expired_part_bounds_what_was_dropped() -> None:
    gone = facts([(60, 100)], LetGo(0, 80, 60))
    expired = replace(gone, topic=Runs([(10, 100)]), unreadable=Runs([(0, 9)]))

    assert kinds(judge_partition(expired)) == {FindingKind.ROW_COUNT}


def test_dropped_rows_may_have_been_compacted_away_in_kafka() -> None:
    gone = facts([(60, 100)], LetGo(0, 60, 60))
    compacted = replace(gone, topic=Runs([(30, 100)]), compacted=True)

    assert judge_partition(compacted).findings == ()


def test_the_last_line_tells_what_was_dropped() -> None:
    seen = judge("clicks", [facts([(0, 40)], LetGo(40, 100, 60))], publications=1)

    assert "0 lost, 0 duplicated" in seen.summary()
    assert seen.summary().endswith("60 rows dropped on purpose)")
    assert seen.to_dict()["dropped"] == 60


@st.composite
def tables(draw: st.DrawFn) -> list[frozenset[int]]:
    """Offsets 0 to 39, spread over some files as time spreads them."""
    owners = draw(st.lists(st.integers(0, 3), min_size=40, max_size=40))
    return [frozenset(o for o in range(40) if owners[o] == number) for number in range(4)]


def of_files(
    files: Sequence[frozenset[int]], dropped: frozenset[int], lost: int = -1
) -> PartitionFacts:
    held = {o for n, file in enumerate(files) if n not in dropped for o in file} - {lost}
    let_go = [LetGo(min(f), max(f) + 1, len(f)) for n, f in enumerate(files) if n in dropped and f]
    runs = Runs((offset, offset + 1) for offset in sorted(held))
    published = PublishedRange("g", "t", 0, 40, PartitionContents(runs), tuple(let_go))
    return PartitionFacts(P0, 0, 40, topic=Runs([(0, 40)]), ranges=(published,))


@given(tables(), st.frozensets(st.integers(0, 3)))
def test_whatever_files_are_dropped_nothing_is_lost(
    files: list[frozenset[int]], dropped: frozenset[int]
) -> None:
    seen = judge_partition(of_files(files, dropped))

    assert seen.findings == ()
    assert seen.dropped == sum(len(files[number]) for number in dropped)


@given(tables(), st.frozensets(st.integers(0, 3)), st.data())
def test_whatever_files_are_dropped_every_lost_row_is_found(
    files: list[frozenset[int]], dropped: frozenset[int], data: st.DataObject
) -> None:
    held = sorted(o for n, file in enumerate(files) if n not in dropped for o in file)
    if not held:
        return
    lost = data.draw(st.sampled_from(held))

    seen = judge_partition(of_files(files, dropped, lost))

    assert kinds(seen) == {FindingKind.LOST_WRITE}
    assert seen.lost >= 1
