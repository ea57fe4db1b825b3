"""Each defence of the rows alone: what another one would hide from the simulation (P27).

`python -m tests.simulation --mutants` plants the fault and expects the test to fail.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from pathlib import Path

import pytest

from supervisor.control.discard import Cause, discard
from supervisor.core.model.rows import GenerationState, Lease, WorkerRow
from supervisor.core.planning.actions import FixEnd, OpenGeneration
from supervisor.core.values.errors import StaleCommit
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Transaction
from tests.sqlite_memory import empty_file
from tests.supervisor.core.snapshots import NOON, TOPIC, generation, offsets, part
from tests.supervisor.world import ENDINGS

_IDS = {TOPIC: "id-1"}
_TILES = ((0, 4), (4, 7), (7, 9))


@pytest.fixture
def sql(tmp_path: Path) -> Iterator[SqlStore]:
    """The rows as they ship, and a leader in term 1."""
    file = empty_file(tmp_path / "metadata.db")
    store = SqlStore(f"sqlite:///{file}", lease_ttl=timedelta(seconds=6))
    with store.writing() as tx:
        assert tx.lease.take(None, "me", "http://me") == Lease(1, "me", "http://me", 0)
    with store.leading(1) as tx:
        assert tx.offsets.initialise(TOPIC, "id-1", offsets(0, 0))
    yield store
    store.close()


def _at(tx: Transaction, number: int = 0) -> int:
    return tx.offsets.of(TOPIC)[part(number)].next_offset


@pytest.mark.parametrize("order", list(permutations(range(len(_TILES)))))
def test_the_swap_alone_takes_ranges_in_their_order_only(
    sql: SqlStore, order: tuple[int, ...]
) -> None:
    """Source: R5, P22, M11: the statement alone, against every order of the ranges."""
    committed = 0
    for number in order:
        first, end = _TILES[number]
        with sql.leading(1) as tx:
            if first == committed:
                tx.offsets.advance(TOPIC, offsets(first), offsets(end), _IDS)
                committed = end
            else:
                with pytest.raises(StaleCommit):
                    tx.offsets.advance(TOPIC, offsets(first), offsets(end), _IDS)
            assert _at(tx) == committed


def test_the_swap_alone_refuses_a_range_from_before_a_reset(sql: SqlStore) -> None:
    """Source: P22, H7; the offsets agree, the epoch does not."""
    with sql.leading(1) as tx:
        tx.offsets.reset(TOPIC, offsets(0), _IDS, offsets(0))
        with pytest.raises(StaleCommit):
            tx.offsets.advance(TOPIC, offsets(0), offsets(4), _IDS)
        assert _at(tx) == 0
        tx.offsets.advance(TOPIC, offsets(0), offsets(4), _IDS, {part(0): 1})
        assert _at(tx) == 4


def test_a_reset_counts_the_epoch_up(sql: SqlStore) -> None:
    """Source: H7; a publish in flight compares it."""
    with sql.leading(1) as tx:
        tx.offsets.reset(TOPIC, offsets(3), _IDS, offsets(0))
        rows = tx.offsets.of(TOPIC)
    assert (rows[part(0)].next_offset, rows[part(0)].reset_epoch) == (3, 1)
    assert (rows[part(1)].next_offset, rows[part(1)].reset_epoch) == (0, 0)


def test_initial_offsets_are_stored_all_or_none(sql: SqlStore) -> None:
    """Source: P10; of two that store them at once, one stores nothing."""
    with sql.leading(1) as tx:
        assert not tx.offsets.initialise(TOPIC, "id-1", offsets(5, 5, 5))
        assert tx.offsets.of(TOPIC).keys() == offsets(0, 0).keys()


def test_an_earlier_incarnation_is_told_that_it_is_fenced(sql: SqlStore) -> None:
    """Source: P7; the newest incarnation is the answer to whoever registers."""
    row = WorkerRow("w1", 2, "http://w1", 4, NOON)
    with sql.leading(1) as tx:
        assert tx.workers.register(row) == 2
        assert tx.workers.register(replace(row, incarnation=1)) == 2


def test_a_discard_takes_every_later_range_with_it(sql: SqlStore) -> None:
    """Source: P16; a range that shares no partition with the first may share one with the second.

    1 ── partition 0        2 ── partitions 0, 1        3 ── partition 1
    """
    spans = [{part(0): 0}, {part(0): 0, part(1): 0}, {part(1): 0}]
    cause = Cause("somebody", "discard", "for the test", NOON)
    with sql.leading(1) as tx:
        for ordinal, start in enumerate(spans, start=1):
            one = generation(ordinal, start)
            tx.generations.open(
                TOPIC,
                TOPIC,
                OpenGeneration(one.id, ordinal, 1, 1, 2, 0, spec_version=1, start=start, why=""),
                NOON,
            )
            _free_its_partitions(tx, one.id, last=ordinal == len(spans))
        gone = discard(tx, ENDINGS, TOPIC, cause, generation_id=generation(1, spans[0]).id)
        assert [one.id for one in gone] == [generation(n, {}).id for n in (1, 2, 3)]
        assert tx.generations.live(TOPIC) == []


def _free_its_partitions(tx: Transaction, generation_id: str, *, last: bool) -> None:
    """Fix the end, so that a later one may hold them."""
    one = tx.generations.get(generation_id)
    assert one is not None
    if last:
        return
    tx.generations.begin_handoff(generation_id, 0, must_end=False, why="", now=NOON)
    end = {p: at + 1 for p, at in one.start.items()}
    assert tx.generations.fix_end(FixEnd(generation_id, 1, end, None, ""), NOON)
    assert one.state is GenerationState.READING
