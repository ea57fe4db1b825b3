"""The pure judgement of a verification: the topic's records against the ledger and the files.

    committed     first_offset                              next_offset
                       ├──── publication 1 ────┼─ publication 2 ─┤      tile, or give a reason
    topic              ■■■■■■■■■·■■■■■■■■■■■■■■■■■■■■■■■·■■■■■■■■■      · is no record (a marker)
    rows               ■■■■■■■■■ ■■■■■■■ ■■■■■■■■■■■■■■■ ■■■■■■■■■      every ■ of the topic is
    rejects                             ■                               exactly once here or there
    let go               └ rows dropped on purpose: `dropped.py`        or no more than these

It shares no code with the planner or the publishing transaction.

Source: protocol rule P25; faults.md I1-I4.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from supervisor.verify.dropped import explain
from supervisor.verify.facts import DeclaredGap, PartitionFacts, PublishedRange
from supervisor.verify.runs import NOTHING, Runs
from supervisor.verify.verdict import (
    Finding,
    FindingKind,
    PartitionVerdict,
    RangeVerdict,
    Verdict,
    Verification,
    worst,
)
from tasks.contract.offsets import TopicPartition


def judge(
    supervisor_id: str,
    facts: Iterable[PartitionFacts],
    file_findings: Sequence[Finding] = (),
    *,
    publications: int,
    notes: tuple[str, ...] = (),
    quarantined: int = 0,
    spoiled: frozenset[str] = frozenset(),
) -> Verification:
    """Return the verdict on all partitions; `file_findings` are those of `files.py`.

    `spoiled` are generations with rows in a compacted file that has findings.
    """
    wrong = spoiled | {found.generation_id for found in file_findings}
    partitions = tuple(_spoil(judge_partition(each), wrong) for each in facts)
    findings = (*file_findings, *(found for each in partitions for found in each.findings))
    verdict = worst(each.verdict for each in partitions)
    return Verification(
        supervisor_id,
        Verdict.VIOLATED if findings else verdict,
        partitions,
        findings,
        publications,
        notes,
        quarantined,
    )


def judge_partition(facts: PartitionFacts) -> PartitionVerdict:
    """Return the verdict on one partition and on each range of it."""
    judged = [_judge_range(facts, each) for each in facts.ranges]
    twice = _repeated_between_ranges(facts)
    findings = [*_tiling(facts), *(found for each in judged for found in each.findings)]
    if twice:
        detail = "rows of several publications have the same offset"
        findings.append(Finding.at(FindingKind.DUPLICATE, facts.partition, twice, detail))
    verdicts = [each.verdict for each in judged]
    published = _union(Runs([(each.start, each.end)]) for each in facts.ranges)
    return PartitionVerdict(
        partition=facts.partition,
        first_offset=facts.first_offset,
        next_offset=facts.next_offset,
        verdict=Verdict.VIOLATED if findings else worst(v.verdict for v in verdicts),
        ranges=tuple(verdicts),
        findings=tuple(findings),
        records=_union(each.accounted & facts.topic for each in judged).count()
        + sum(each.counted for each in judged),
        unproven=(published & _union(each.unproven for each in judged)).count(),
        lost=_missing(facts, judged) + sum(each.short for each in judged),
        duplicated=sum(each.duplicated for each in judged) + twice.count(),
        rejected=sum(each.held.rejects.count() for each in facts.ranges),
        declared=_union(Runs([(g.first, g.end)]) for g in facts.gaps).count(),
        dropped=sum(each.dropped for each in facts.ranges),
        counted=sum(each.counted for each in judged),
    )


@dataclass(frozen=True)
class _JudgedRange:
    verdict: RangeVerdict
    findings: tuple[Finding, ...]
    accounted: Runs
    unproven: Runs
    lost: Runs
    duplicated: int
    counted: int = 0
    short: int = 0
    """Missing records, known by number only."""


def _judge_range(facts: PartitionFacts, published: PublishedRange) -> _JudgedRange:
    held, span = published.held, Runs([(published.start, published.end)])
    accounted = held.rows | held.rejects
    if not held.carries_offsets:
        return _judge_counts(facts, published, span)
    topic = facts.topic & span
    untold = (span - facts.topic if facts.compacted else facts.unreadable & span) - accounted
    let_go = explain(topic - accounted, untold, published.let_go)
    again = _union(Runs([(g.first, g.end)]) for g in facts.gaps if g.repeated)
    lost = let_go.lost - _held_by_others(facts, published, again & let_go.lost)
    foreign = accounted - span
    unknown = ((accounted & span) - facts.unreadable) - topic
    unproven = facts.unreadable & span
    why = "expired in Kafka" if unproven else ""
    if replaced := unknown & again:  # after a truncation, Kafka uses these offsets for new records
        unproven, unknown, why = unproven | replaced, unknown - again, "replaced in Kafka"
    if facts.compacted and unknown:
        unproven, unknown, why = unproven | unknown, Runs(), "compacted away in Kafka"
    both = held.rows & held.rejects
    named = (
        (FindingKind.LOST_WRITE, lost, "records of the topic are neither rows nor rejected"),
        (FindingKind.DUPLICATE, held.repeated, f"offsets have {held.surplus} rows too many"),
        (FindingKind.DUPLICATE, both, "records are both a row and rejected"),
        (FindingKind.UNKNOWN_ROW, foreign, "rows or rejects lie outside of the published range"),
        (FindingKind.UNKNOWN_ROW, unknown, "the topic has no records at these offsets"),
    )
    findings = tuple(
        Finding.at(kind, facts.partition, runs, detail, published.generation_id)
        for kind, runs, detail in named
        if runs
    )
    findings += _not_gone(facts, published, let_go.excess)
    judged = _verdict(published, findings, accounted, unproven, why=why)
    return replace(judged, lost=lost, duplicated=held.surplus + both.count())


def _judge_counts(facts: PartitionFacts, published: PublishedRange, span: Runs) -> _JudgedRange:
    """Compare counts where rows have no offsets; weaker, as a loss may hide a duplicate."""
    held = published.held
    if held.counted is None:
        return _verdict(published, (), Runs(), span, why="its rows carry no offsets")
    findings = [
        Finding.at(FindingKind.UNKNOWN_ROW, facts.partition, runs, detail, published.generation_id)
        for runs, detail in (
            ((held.bounds | held.rejects) - span, "counts or rejects lie outside of the range"),
            ((held.rejects & span) - facts.topic - facts.unreadable, "no such records, rejected"),
        )
        if runs and not facts.compacted
    ]
    expected = ((facts.topic & span) - held.rejects).count()
    counted = held.counted + published.dropped
    read_again = any(Runs([(g.first, g.end)]) & span for g in facts.gaps if g.repeated)
    gone = facts.unreadable & span
    more = 0 if facts.compacted or gone or read_again else counted - expected
    if more:
        kind = FindingKind.LOST_WRITE if more < 0 else FindingKind.DUPLICATE
        detail = f"rows stand for {counted} records, the topic has {expected} to be kept"
        at = published.generation_id
        findings.append(Finding(kind, detail, at, facts.partition, records=abs(more)))
    why = f"rolled up: {counted} records are counted, not named"
    rejects = held.rejects & span
    judged = _verdict(published, tuple(findings), rejects, gone, why=why)
    surplus = max(0, more)
    return replace(judged, counted=held.counted, short=max(0, -more), duplicated=surplus)


def _held_by_others(facts: PartitionFacts, published: PublishedRange, wanted: Runs) -> Runs:
    """Return the wanted offsets that another publication holds, in ranges that were read twice."""
    if not wanted:
        return NOTHING
    others = (each.held for each in facts.ranges if each is not published)
    return wanted & _union(held.rows | held.rejects for held in others)


def _not_gone(facts: PartitionFacts, published: PublishedRange, excess: int) -> tuple[Finding, ...]:
    if not excess:
        return ()
    detail = f"{published.dropped} rows are on record as dropped, but some of them are still there"
    at = published.generation_id
    return (Finding(FindingKind.ROW_COUNT, detail, at, facts.partition, records=excess),)


def _verdict(
    published: PublishedRange,
    findings: tuple[Finding, ...],
    accounted: Runs,
    unproven: Runs,
    *,
    why: str,
) -> _JudgedRange:
    whole = not unproven and not published.dropped and published.held.carries_offsets
    verdict = Verdict.PROVEN if whole else Verdict.OFFSETS_ONLY
    if published.dropped:
        note = f"{published.dropped} rows were dropped from the table on purpose"
        why = f"{why}, {note}" if why else note
    if findings:
        verdict = Verdict.VIOLATED
        why = ", ".join(sorted({found.kind.value for found in findings}))
    range_verdict = RangeVerdict(
        generation_id=published.generation_id,
        task_id=published.task_id,
        start=published.start,
        end=published.end,
        verdict=verdict,
        rows=published.held.rows.count() + published.held.surplus,
        rejected=published.held.rejects.count(),
        why=why,
    )
    return _JudgedRange(range_verdict, findings, accounted, unproven, Runs(), 0)


def _tiling(facts: PartitionFacts) -> Iterator[Finding]:
    """Check that the ranges cover the committed offsets once each, except for declared breaks."""
    gap, over, beyond = [], [], []
    for first, end, covers, repeats, absent in _pieces(facts):
        committed = facts.first_offset <= first < facts.next_offset
        if committed and not covers and not absent:
            gap.append((first, end))
        if committed and covers > 1 + repeats:
            over.append((first, end))
        if not committed and covers > repeats:
            beyond.append((first, end))
    for kind, pairs, detail in (
        (FindingKind.GAP, gap, "committed offsets that no publication covers"),
        (FindingKind.OVERLAP, over, "offsets that more than one publication covers"),
        (FindingKind.OVERLAP, beyond, "published offsets outside of the committed ones"),
    ):
        if pairs:
            yield Finding.at(kind, facts.partition, Runs(pairs), detail)


def _pieces(facts: PartitionFacts) -> Iterator[tuple[int, int, int, int, bool]]:
    """Yield (first, end, publications, declared repeats, declared absent) of each piece."""
    changes: dict[int, list[int]] = {}
    edges: list[tuple[int, int, int]] = [(each.start, each.end, 0) for each in facts.ranges]
    edges += [(g.first, g.end, 1 if g.repeated else 2) for g in facts.gaps]
    edges.append((facts.first_offset, facts.next_offset, 3))  # cuts where committed begins and ends
    for first, end, what in edges:
        if first < end:
            changes.setdefault(first, [0, 0, 0, 0])[what] += 1
            changes.setdefault(end, [0, 0, 0, 0])[what] -= 1
    counts = [0, 0, 0, 0]
    cuts = sorted(changes)
    for at, until in pairwise(cuts):
        counts = [count + change for count, change in zip(counts, changes[at], strict=True)]
        yield at, until, counts[0], counts[1], counts[2] > 0


def _repeated_between_ranges(facts: PartitionFacts) -> Runs:
    """Return the offsets of rows in more publications than the declarations allow."""
    crowded = Runs(
        (first, end)
        for first, end, covers, repeats, _ in _pieces(facts)
        if covers > 1 and covers > 1 + repeats
    )
    if not crowded:
        return Runs()
    seen, twice = Runs(), Runs()
    for each in facts.ranges:
        rows = each.held.rows & crowded
        seen, twice = seen | rows, twice | (seen & rows)
    return twice


def _missing(facts: PartitionFacts, judged: Sequence[_JudgedRange]) -> int:
    """Count records that are neither a row nor a reject, in ranges and in undeclared gaps."""
    absent = _union(Runs([(g.first, g.end)]) for g in facts.gaps if not g.repeated)
    covered = _union(Runs([(each.start, each.end)]) for each in facts.ranges)
    committed = facts.topic.clip(facts.first_offset, facts.next_offset)
    return (_union(each.lost for each in judged) | (committed - covered - absent)).count()


def _union(many: Iterable[Runs]) -> Runs:
    """Return the union, pair by pair, which stays cheap for many small sets."""
    sets = list(many)
    while len(sets) > 1:
        sets = [a | b for a, b in zip(sets[::2], [*sets[1::2], Runs()], strict=False)]
    return sets[0] if sets else Runs()


def _spoil(judged: PartitionVerdict, generations: frozenset[str | None]) -> PartitionVerdict:
    """Set the verdict VIOLATED on ranges of generations with findings in their files."""
    ranges = tuple(
        replace(each, verdict=Verdict.VIOLATED, why=each.why or "its files: see the findings")
        if each.generation_id in generations
        else each
        for each in judged.ranges
    )
    return replace(
        judged, ranges=ranges, verdict=worst([judged.verdict, *(r.verdict for r in ranges)])
    )


def facts_by_partition(
    committed: Mapping[TopicPartition, tuple[int, int]],
    gaps: Mapping[TopicPartition, Sequence[DeclaredGap]],
    ranges: Mapping[TopicPartition, Sequence[PublishedRange]],
    topic: Mapping[TopicPartition, Runs],
    unreadable: Mapping[TopicPartition, Runs],
    *,
    compacted: frozenset[str] = frozenset(),
) -> Iterator[PartitionFacts]:
    """Join the facts from the ledger, the files and the topic, partition by partition.

    A partition without a committed offset has the committed range `[0, 0)`.  A partition of a
    recreated topic comes once for each topic of that name: only the last topic can be read.
    """
    for partition in sorted(committed.keys() | ranges.keys() | gaps.keys()):
        mine, declared = list(ranges.get(partition, ())), list(gaps.get(partition, ()))
        earlier = [gap for gap in declared if gap.new_topic]
        for number, last in enumerate(earlier):
            at = declared.index(last)
            topic_gaps, declared = declared[:at], declared[at + 1 :]
            theirs = [each for each in mine if each.topics_before == number]
            yield _gone(partition, last, topic_gaps, theirs)
        mine = [each for each in mine if each.topics_before == len(earlier)]
        if earlier and not mine and partition not in committed:
            continue  # the partition no longer exists
        first, end = committed.get(partition, (0, 0))
        yield PartitionFacts(
            partition=partition,
            first_offset=first,
            next_offset=end,
            topic=topic.get(partition, Runs()),
            unreadable=unreadable.get(partition, Runs()),
            compacted=partition.topic in compacted,
            gaps=tuple(declared),
            ranges=tuple(mine),
        )


def _gone(
    partition: TopicPartition,
    last: DeclaredGap,
    gaps: Sequence[DeclaredGap],
    ranges: Sequence[PublishedRange],
) -> PartitionFacts:
    """Return the facts of a deleted topic: its ranges must tile, its records are unknown."""
    return PartitionFacts(
        partition=partition,
        first_offset=last.first,
        next_offset=last.end,
        topic=Runs(),
        unreadable=_union(Runs([(each.start, each.end)]) for each in ranges),
        gaps=tuple(gaps),
        ranges=tuple(ranges),
    )
