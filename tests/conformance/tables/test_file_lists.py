"""Lists of files in small pages: each is one version of the list, whatever happens meanwhile.

Slow: many page sizes, on both databases, with changes between the pages.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from threading import Event

import pytest

from supervisor.chores import file_lists
from supervisor.chores.file_lists import whole
from supervisor.core.model.listed_segments import SegmentKey
from supervisor.core.model.rows import Segment
from supervisor.core.values.errors import MetadataBusy
from supervisor.ports.queue_events import Heard
from supervisor.ports.store import Store, Transaction
from tasks.contract.ingest_spec import Column
from tests.conformance.metadata.databases import execute
from tests.conformance.stories import (
    CLICKS,
    HOUR,
    NOON,
    P0,
    P1,
    Leader,
    attempt,
    listed,
    opening,
    publication,
    segment,
)
from tests.conformance.tables.test_compaction import add, compaction

TABLE = "table"
LATER = NOON + HOUR
FILES = 7
SWAPS = 12


def _file(number: int) -> Segment:
    """Files of three hours, with two lists of columns, not published in the order of lists."""
    columns = (Column(name="x", type="long" if number % 2 else "string"),)
    path = f"table/data/t1/{FILES - number}"
    return replace(segment(path, NOON + (number % 3) * HOUR), columns=columns)


ALL = [_file(number) for number in range(FILES)]
OTHERS = replace(segment("other/a", NOON, "g2", "t2"), data_source="other")


@pytest.fixture(params=[1, 2, 3, FILES, 100])
def page(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """So many files in a page, of facts and of spans."""
    monkeypatch.setattr(file_lists, "FILES_AT_ONCE", request.param)
    monkeypatch.setattr(file_lists, "SPANS_OF_AT_ONCE", request.param)
    return int(request.param)


@pytest.fixture
def published(leader: Leader) -> Leader:
    leader.opens(opening("g1", 1, {P0: 0}))
    leader.opens(opening("g2", 2, {P1: 0}))
    with leader.writes() as tx:
        tx.tasks.start(attempt("t1", "g1"))
        tx.tasks.start(attempt("t2", "g2"))
        tx.segments.add(publication(), ALL)
        tx.segments.add(replace(publication("g2", "t2"), data_source="other"), [OTHERS])
    add(leader, *(compaction(f"c{number}") for number in range(SWAPS)))
    return leader


def _keys(leader: Leader, *, used: bool | None = True) -> list[SegmentKey]:
    with leader.reads() as tx:
        return tx.segments.keys(TABLE, used=used)


def _read(store: Store, keys: Sequence[SegmentKey]) -> list[Segment]:
    return whole(store, file_lists.listed(store, keys))


def _at_once(leader: Leader) -> list[Segment]:
    with leader.reads() as tx:
        return tx.segments.of_data_source(TABLE)


def _swap(leader: Leader, number: int, *inputs: str) -> Segment:
    """Put one file in the place of others; rows stay as many as they were."""
    with leader.writes() as tx:
        old = tx.segments.choose(TABLE, ids=inputs)
        name = f"c{number}"
        new = segment(f"table/data/{name}/x", NOON)
        rows = {"rows": sum(each.file.rows for each in old)}
        new = replace(new, compaction_id=name, file=new.file.model_copy(update=rows))
        tx.segments.replace(inputs, new, LATER)
    return new


@pytest.mark.usefixtures("page")
def test_pages_are_the_list_that_one_query_reads(published: Leader) -> None:
    expected = _at_once(published)
    keys = _keys(published)

    assert [each.id for each in keys] == [each.id for each in expected]
    assert _read(published.store, keys) == expected
    assert file_lists.listed(published.store, keys) == listed(*expected)
    assert _read(published.store, []) == []


@pytest.mark.usefixtures("page")
def test_a_supervisors_list_has_every_table_and_what_was_taken_out(published: Leader) -> None:
    with published.writes() as tx:
        tx.segments.mark_unused([ALL[1].id, ALL[4].id], NOON)
        tx.segments.condemn(ALL[4].id, NOON, LATER)
    with published.reads() as tx:
        keys = tx.segments.keys_of_supervisor(CLICKS)
        expected = tx.segments.of_supervisor(CLICKS)

    assert _read(published.store, keys) == expected
    assert OTHERS in expected


def test_keys_are_chosen_by_state_interval_and_id(published: Leader) -> None:
    with published.writes() as tx:
        tx.segments.mark_unused([ALL[0].id, ALL[3].id], NOON)
        tx.segments.condemn(ALL[3].id, NOON, LATER)

    def ids(**chosen: object) -> set[str]:
        with published.reads() as tx:
            return {key.id for key in tx.segments.keys(TABLE, **chosen)}  # type: ignore[arg-type]

    every = {each.id for each in ALL}
    assert ids(used=False) == {ALL[0].id}
    assert ids(used=True) == every - {ALL[0].id, ALL[3].id}
    assert ids() == every - {ALL[3].id}
    assert ids(deleted=True) == every
    assert ids(end=NOON + HOUR, deleted=True) == {ALL[0].id, ALL[3].id, ALL[6].id}
    assert ids(start=NOON + 2 * HOUR) == {ALL[2].id, ALL[5].id}
    assert ids(ids=[ALL[1].id, OTHERS.id, "never"]) == {ALL[1].id}


def test_inputs_count_as_used_only_together_and_in_their_table(published: Leader) -> None:
    with published.writes() as tx:
        tx.segments.mark_unused([ALL[0].id], NOON)
    with published.reads() as tx:
        assert tx.segments.all_used(TABLE, [ALL[1].id, ALL[2].id, ALL[1].id])
        assert not tx.segments.all_used(TABLE, [ALL[0].id, ALL[1].id])
        assert not tx.segments.all_used(TABLE, [ALL[1].id, OTHERS.id])
        assert not tx.segments.all_used(TABLE, [ALL[1].id, "never"])


# -- what happens between two pages ----------------------------------------------------------------


@dataclass
class Between:
    """A store in which something happens between two pages: before each reading after the first."""

    store: Store
    act: Callable[[], object]
    readings: int = 0

    def reading(self) -> AbstractContextManager[Transaction]:
        return self._reading()

    def writing(self) -> AbstractContextManager[Transaction]:
        return self.store.writing()

    def leading(self, term: int) -> AbstractContextManager[Transaction]:
        return self.store.leading(term)

    def on_added(self, heard: Heard) -> None:
        self.store.on_added(heard)

    @contextmanager
    def _reading(self) -> Iterator[Transaction]:
        self.readings += 1
        if self.readings > 1:
            self.act()
        with self.store.reading() as tx:
            yield tx


@pytest.mark.usefixtures("page")
def test_a_swap_between_two_pages_gives_the_old_list_and_then_the_new_one(
    published: Leader,
) -> None:
    """Goal: a reader never has the inputs and their file, nor neither of them."""
    old = _at_once(published)
    swaps = enumerate([(ALL[0].id, ALL[3].id), (ALL[1].id, ALL[6].id)])

    def act() -> None:
        for number, inputs in swaps:
            _swap(published, number, *inputs)
            return

    assert _read(Between(published.store, act), _keys(published)) == old
    act()
    new = _at_once(published)
    assert _read(published.store, _keys(published)) == new
    assert sum(each.file.rows for each in new) == sum(each.file.rows for each in old)


@pytest.mark.usefixtures("page")
def test_what_is_marked_or_published_between_two_pages_is_no_part_of_the_list(
    published: Leader,
) -> None:
    old, late = _at_once(published), segment("table/data/t2/late", NOON, "g3", "t3")

    def act() -> None:
        with published.writes() as tx:
            tx.segments.mark_unused([ALL[2].id, ALL[5].id], LATER)
            tx.segments.condemn(ALL[5].id, LATER, LATER)
            if not tx.generations.get("g3"):
                tx.generations.open("late", TABLE, opening("g3", 3, {P0: 0}), NOON)
                tx.tasks.start(attempt("t3", "g3"))
                tx.segments.add(publication("g3", "t3"), [late])

    keys = _keys(published)
    assert _read(Between(published.store, act), keys) == old
    act()

    left = {each.id for each in _read(published.store, _keys(published))}
    assert left == {each.id for each in (*ALL, late)} - {ALL[2].id, ALL[5].id}
    assert _read(published.store, keys) == old, "a list stays what it was"


def test_every_list_beside_swaps_has_each_row_once(published: Leader, page: int) -> None:
    """Goal: rows are in the inputs or in the compacted file, in each list that anybody reads."""
    rows = sum(each.file.rows for each in ALL)
    done = Event()

    def swaps() -> None:
        try:
            last = ALL[0].id
            for number in range(min(SWAPS, page + FILES - 1)):
                after = ALL[number + 1].id if number + 1 < FILES else None
                inputs = [last] if after is None else [last, after]
                last = _swap(published, number, *inputs).id
        finally:
            done.set()

    with ThreadPoolExecutor(1) as pool:
        swapping = pool.submit(swaps)
        while True:
            ended = done.is_set()
            found = _read(published.store, _keys(published))
            assert sum(each.file.rows for each in found) == rows
            if ended:
                break
        swapping.result(60)


def test_a_row_that_is_gone_is_no_shorter_list(published: Leader, database_url: str) -> None:
    """Goal: a list that misses a file would have an export drop that file."""
    keys = _keys(published)
    execute(database_url, "DELETE FROM segment_spans WHERE segment_id LIKE '%/5'")
    execute(database_url, "DELETE FROM segments WHERE id LIKE '%/5'")

    with pytest.raises(MetadataBusy, match="was deleted while its list was read"):
        _read(published.store, keys)
