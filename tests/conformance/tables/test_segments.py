"""Publications and their files: one per generation, each file once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest

from supervisor.core.attention.divergence import DivergedRange
from supervisor.core.model.replica_digests import Comparison, Divergence
from supervisor.core.values.errors import MetadataBusy, StateMoved
from supervisor.metadata.schema.rows import AT_ONCE
from tasks.contract.digests import digest_of
from tasks.contract.ingest_spec import Column
from tasks.contract.messages import OffsetSpan, RejectSample, RejectsFile
from tasks.contract.offsets import TopicPartition
from tests.conformance.stories import (
    CLICKS,
    HOUR,
    NOON,
    P0,
    P1,
    Leader,
    attempt,
    opening,
    publication,
    segment,
)


@pytest.fixture
def ready(leader: Leader) -> Leader:
    """Task t1 of generation g1 and t2 of g2 are about to publish."""
    leader.opens(opening("g1", 1, {P0: 0}))
    leader.opens(opening("g2", 2, {P1: 0}))
    with leader.writes() as tx:
        tx.tasks.start(attempt("t1", "g1"))
        tx.tasks.start(attempt("t2", "g2"))
    return leader


def test_a_publication_is_read_back_whole(ready: Leader) -> None:
    rejects = RejectsFile(path="table/data/t1/r.parquet", records=2, size_bytes=9, sha256="1" * 64)
    sample = RejectSample(topic="topic", partition=0, offset=2**40, reason="bad", input="\0{")
    whole = replace(publication(), rows=2**40, rejected=2, rejects=rejects, samples=(sample,))
    files = [segment("table/b", NOON), segment("table/a", NOON)]
    with ready.writes() as tx:
        tx.segments.add(whole, files)

    with ready.reads() as tx:
        assert tx.segments.publication("g1") == whole
        assert tx.segments.publications(CLICKS) == [whole]
        assert tx.segments.of_data_source("table") == files[::-1]
        assert tx.segments.of_supervisor(CLICKS) == files[::-1]


def test_many_spans_are_read_back_whole_and_are_taken_once(ready: Leader) -> None:
    """Goal: what goes to the database in one text is what goes there value by value."""
    base = segment("table/a", NOON)
    spans = tuple(
        OffsetSpan(topic=topic, partition=n, first=2**53 + n, last=2**62, rows=n + 1)
        for topic in ("topic", "t.o_p-i")
        for n in range(AT_ONCE)
    )
    file = replace(base, file=base.file.model_copy(update={"spans": spans}))
    with ready.writes() as tx:
        tx.segments.add(publication(), [file])

    with ready.reads() as tx:
        [found] = tx.segments.of_data_source("table")
    assert found == file
    with pytest.raises(StateMoved), ready.writes() as tx:
        tx.segments.add(publication(), [file])


def test_a_table_has_the_columns_of_its_used_files(ready: Leader) -> None:
    texts, longs = (Column(name="x"),), (Column(name="x", type="long"),)
    files = [segment(f"table/{number}", NOON) for number in range(4)]
    listed = [
        replace(file, columns=held)
        for file, held in zip(files, (texts, texts, longs, ()), strict=True)
    ]
    with ready.writes() as tx:
        tx.segments.add(publication(), listed)
        both = tx.segments.column_sets("table")
        tx.segments.mark_unused([listed[2].id], NOON)

    with ready.reads() as tx:
        assert set(both) == {texts, longs}
        assert tx.segments.column_sets("table") == [texts]
        assert tx.segments.column_sets("other") == []


def test_replicas_that_differ_are_kept_with_what_was_published(ready: Leader) -> None:
    """Goal: who looks days later finds which replica came to what."""
    one = Divergence("t9", digest_of(2), 2**40, Comparison.OTHER_ROWS)
    other = Divergence("t8", digest_of(3), 0, Comparison.OTHER_RECORDS)
    known = replace(publication(), digest=digest_of(1))
    with ready.writes() as tx:
        tx.segments.add(known, [])
        tx.segments.add(publication("g2", "t2"), [])
    with ready.writes() as tx:
        assert tx.segments.diverged(CLICKS, NOON) == []
        tx.segments.add_diverged("g1", one)
        tx.segments.add_diverged("g1", other)

    whole = replace(known, diverged=(one, other))
    with ready.reads() as tx:
        assert tx.segments.publication("g1") == whole
        assert tx.segments.diverged(CLICKS, NOON) == [whole]
        assert tx.segments.diverged(CLICKS, NOON + HOUR) == []
        assert tx.segments.diverged("other", NOON) == []
        lately = tx.segments.lately_diverged(NOON)
        assert lately == [DivergedRange(CLICKS, known.data_source, "g1", known.published_at)]
        assert tx.segments.lately_diverged(NOON + HOUR) == []
    with ready.writes() as tx:
        tx.segments.forget_publications(CLICKS, NOON)
        assert tx.segments.diverged(CLICKS, NOON) == []
        assert tx.segments.lately_diverged(NOON) == []


def test_replicas_that_read_other_records_made_no_other_rows(ready: Leader) -> None:
    """Goal: nobody is woken by a compacted topic."""
    other = Divergence("t8", digest_of(3), 0, Comparison.OTHER_RECORDS)
    with ready.writes() as tx:
        tx.segments.add(replace(publication(), digest=digest_of(1)), [])
        tx.segments.add_diverged("g1", other)

    with ready.reads() as tx:
        assert len(tx.segments.diverged(CLICKS, NOON)) == 1
        assert tx.segments.lately_diverged(NOON) == []


def test_replicas_that_differ_at_the_same_time_are_all_kept(ready: Leader) -> None:
    """Goal: two workers tell at once, and neither overwrites what the other told."""
    with ready.writes() as tx:
        tx.segments.add(publication(), [])
    divergences = [
        Divergence(f"t{n}", digest_of(n), n, Comparison.OTHER_ROWS) for n in range(2, 10)
    ]
    gate = Barrier(len(divergences))

    def report(one: Divergence) -> None:
        gate.wait(60)
        while True:
            try:
                with ready.writes() as tx:
                    tx.segments.add_diverged("g1", one)
            except MetadataBusy:  # a worker asks again
                continue
            return

    with ThreadPoolExecutor(len(divergences)) as pool:
        for done in [pool.submit(report, one) for one in divergences]:
            done.result(60)

    with ready.reads() as tx:
        found = tx.segments.publication("g1")
    assert found is not None
    assert sorted(one.task_id for one in found.diverged) == [one.task_id for one in divergences]


def test_a_range_without_rows_is_published_without_files(ready: Leader) -> None:
    with ready.writes() as tx:
        tx.segments.add(replace(publication(), rows=0), [])
    with ready.reads() as tx:
        assert tx.segments.publication("g1") == replace(publication(), rows=0)
        assert tx.segments.of_data_source("table") == []
        assert tx.segments.data_sources() == ["table"]


def test_a_generation_is_published_once(ready: Leader) -> None:
    """Goal: at most one winner per range; nothing is left of the loser's files (I3)."""
    with ready.writes() as tx:
        tx.segments.add(publication(), [segment("table/a", NOON)])
    with ready.writes() as tx:
        with pytest.raises(StateMoved):
            tx.segments.add(publication(task_id="t2"), [segment("table/b", NOON)])
        tx.segments.add(publication("g2", "t2"), [])

    with ready.reads() as tx:
        assert [s.file.path for s in tx.segments.of_data_source("table")] == ["table/a"]
        assert [p.task_id for p in tx.segments.publications(CLICKS)] == ["t1", "t2"]


def test_a_file_is_published_once(ready: Leader) -> None:
    with ready.writes() as tx:
        tx.segments.add(publication(), [segment("table/a", NOON)])
    again = replace(segment("table/a", NOON, "g2", "t2"), id="another id")
    with pytest.raises(StateMoved), ready.writes() as tx:
        tx.segments.add(publication("g2", "t2"), [segment("table/b", NOON, "g2", "t2"), again])

    with ready.reads() as tx:
        assert tx.segments.publication("g2") is None
        assert [s.file.path for s in tx.segments.of_data_source("table")] == ["table/a"]


def test_files_come_by_interval_then_path(ready: Leader) -> None:
    files = [
        segment("z", NOON - HOUR),
        segment("B", NOON),
        segment("a", NOON),
        segment("b", NOON),
    ]
    with ready.writes() as tx:
        tx.segments.add(publication(), [files[3], files[1]])
        tx.segments.add(publication("g2", "t2"), [files[2], files[0]])
    with ready.reads() as tx:
        assert [s.file.path for s in tx.segments.of_data_source("table")] == ["z", "B", "a", "b"]


def test_tables_and_supervisors_are_told_apart(ready: Leader) -> None:
    """Goal: two supervisors may feed one table, and one id may name another's table."""
    other = replace(publication("g2", "t2"), supervisor_id="other", data_source="A table")
    file = replace(segment("x", NOON, "g2", "t2"), supervisor_id="other", data_source="A table")
    with ready.writes() as tx:
        tx.segments.add(publication(), [segment("a", NOON)])
        tx.segments.add(other, [file])

    with ready.reads() as tx:
        assert tx.segments.data_sources() == ["A table", "table"]
        assert tx.segments.of_data_source("A table") == [file]
        assert tx.segments.of_supervisor("other") == [file]
        assert tx.segments.publications("other") == [other]
        assert tx.segments.publication("never") is None
        assert tx.segments.of_supervisor("never") == []


def test_a_file_of_another_table_than_its_publication_makes_that_a_table(ready: Leader) -> None:
    """Goal: an errors table is listed as soon as it has a file, and apart from its table."""
    rows, errors = segment("a", NOON), replace(segment("b", NOON), data_source="table__errors")
    with ready.writes() as tx:
        tx.segments.add(publication(), [rows, errors])

    with ready.reads() as tx:
        assert tx.segments.data_sources() == ["table", "table__errors"]
        assert tx.segments.of_data_source("table") == [rows]
        assert tx.segments.of_data_source("table__errors") == [errors]
        assert tx.segments.of_supervisor(CLICKS) == [rows, errors]


def test_publications_come_oldest_first(ready: Leader) -> None:
    with ready.writes() as tx:
        tx.segments.add(publication("g1", "t1", NOON + HOUR), [])
        tx.segments.add(publication("g2", "t2", NOON), [])
    with ready.reads() as tx:
        assert [p.generation_id for p in tx.segments.publications(CLICKS)] == ["g2", "g1"]


def test_the_newest_publications_come_newest_first_and_bounded(ready: Leader) -> None:
    """Goal: a status page reads a few rows, however long the history is."""
    with ready.writes() as tx:
        tx.segments.add(publication("g1", "t1", NOON + HOUR), [])
        tx.segments.add(publication("g2", "t2", NOON), [])
    with ready.reads() as tx:
        recent = {n: tx.segments.recent_publications(CLICKS, n) for n in (0, 1, 2, 9)}
        assert [[p.generation_id for p in rows] for rows in recent.values()] == [
            [],
            ["g1"],
            ["g1", "g2"],
            ["g1", "g2"],
        ]
        assert recent[9] == tx.segments.publications(CLICKS)[::-1]
        assert tx.segments.recent_publications("never", 9) == []


def test_publications_of_one_moment_have_one_order(ready: Leader) -> None:
    """Goal: newest first is the exact reverse of oldest first, ties included."""
    with ready.writes() as tx:
        tx.segments.add(publication("g2", "t2"), [])
        tx.segments.add(publication("g1", "t1"), [])
    with ready.reads() as tx:
        oldest = [p.generation_id for p in tx.segments.publications(CLICKS)]
        newest = [p.generation_id for p in tx.segments.recent_publications(CLICKS, 2)]
    assert (oldest, newest) == (["g1", "g2"], ["g2", "g1"])


def test_rejected_records_are_counted_per_supervisor(ready: Leader) -> None:
    other = replace(publication("g2", "t2"), supervisor_id="other", rejected=5)
    with ready.reads() as tx:
        assert tx.segments.rejected(CLICKS) == 0
    with ready.writes() as tx:
        tx.segments.add(replace(publication(), rejected=2**40), [])
        tx.segments.add(other, [])

    with ready.reads() as tx:
        counted = {name: tx.segments.rejected(name) for name in (CLICKS, "other", "never")}
    assert counted == {CLICKS: 2**40, "other": 5, "never": 0}


def test_rejected_records_of_several_publications_add_up(ready: Leader) -> None:
    with ready.writes() as tx:
        tx.segments.add(replace(publication(), rejected=3), [])
        tx.segments.add(replace(publication("g2", "t2"), rejected=4), [])
    with ready.reads() as tx:
        assert tx.segments.rejected(CLICKS) == 7


def test_the_files_of_one_task_are_told_from_those_of_others(ready: Leader) -> None:
    """Goal: cleaning deletes what is not named, so it has to hear every name."""
    own = [segment("b", NOON), segment("a", NOON), segment("z", NOON - HOUR)]
    with ready.writes() as tx:
        tx.segments.add(publication(), own)
        tx.segments.add(publication("g2", "t2"), [segment("c", NOON, "g2", "t2")])
    with ready.reads() as tx:
        assert tx.segments.of_task("t1") == [own[2], own[1], own[0]]
        assert [s.file.path for s in tx.segments.of_task("t2")] == ["c"]
        assert tx.segments.of_task("never") == []


def test_published_ranges_are_those_that_count(ready: Leader) -> None:
    """Goal: coverage needs neither files nor samples; a forgotten publication covers nothing."""
    one = replace(publication(), rows=2**40, rejected=3, start={P0: 2**53}, end={P0: 2**62})
    other = replace(publication("g2", "t2"), published_at=NOON + HOUR, ranges=7)
    forgotten = replace(publication("g3", "t3"), forgotten_at=NOON)
    with ready.writes() as tx:
        tx.segments.add(one, [])
        tx.segments.add(other, [])
    ready.opens(opening("g3", 3, {TopicPartition("topic", 2): 0}))
    with ready.writes() as tx:
        tx.tasks.start(attempt("t3", "g3"))
        tx.segments.add(forgotten, [])

    with ready.reads() as tx:
        ranges = tx.segments.published_ranges(CLICKS)
        assert sorted(ranges) == [
            ("g1", one.published_at, {P0: 2**53}, {P0: 2**62}, 2**40, 3, 1),
            ("g2", NOON + HOUR, other.start, other.end, other.rows, other.rejected, 7),
        ]
        newer = tx.segments.published_ranges(CLICKS, NOON + HOUR)
        assert [each.generation_id for each in newer] == ["g2"]
        assert tx.segments.published_ranges("other") == []
