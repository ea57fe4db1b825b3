"""Workers: a newer incarnation fences the older."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from supervisor.core.model.rows import WorkerRow
from tests.conformance.stories import HOUR, NOON, P0, Leader, attempt, opening


def _register(leader: Leader, worker_id: str, incarnation: int, slots: int = 4) -> int:
    row = WorkerRow(worker_id, incarnation, f"http://{worker_id}", slots, NOON + incarnation * HOUR)
    with leader.writes() as tx:
        return tx.workers.register(row)


def test_workers_come_by_id_as_they_registered(leader: Leader) -> None:
    assert _register(leader, "w2", 1) == 1
    assert _register(leader, "w1", 2**20) == 2**20

    with leader.reads() as tx:
        found = tx.workers.all()
    assert [(w.id, w.incarnation) for w in found] == [("w1", 2**20), ("w2", 1)]
    assert found[1] == WorkerRow("w2", 1, "http://w2", 4, NOON + HOUR)


def test_a_newer_incarnation_replaces_the_older(leader: Leader) -> None:
    _register(leader, "w1", 1)
    assert _register(leader, "w1", 2, slots=8) == 2

    with leader.reads() as tx:
        [found] = tx.workers.all()
    assert (found.incarnation, found.slots, found.registered_at) == (2, 8, NOON + 2 * HOUR)


def test_an_older_incarnation_changes_nothing_and_hears_the_newest(leader: Leader) -> None:
    _register(leader, "w1", 2)
    assert _register(leader, "w1", 1, slots=8) == 2

    with leader.reads() as tx:
        [found] = tx.workers.all()
    assert (found.incarnation, found.slots) == (2, 4)


def test_a_worker_is_forgotten_as_it_was_seen(leader: Leader) -> None:
    """Goal: one that has registered again meanwhile stays."""
    _register(leader, "w1", 2)
    _register(leader, "w2", 1)

    with leader.writes() as tx:
        forgotten = [tx.workers.forget("w1", n) for n in (1, 2, 2)]
        assert [row.id for row in tx.workers.all()] == ["w2"]
        assert not tx.workers.holds("w1", 2)

    assert forgotten == [False, True, False]
    assert _register(leader, "w1", 1) == 1, "it may come back, from its beginning"


def test_only_the_newest_incarnation_holds(leader: Leader) -> None:
    _register(leader, "w1", 1)
    _register(leader, "w1", 2)

    with leader.writes() as tx:
        held = [tx.workers.holds("w1", n) for n in (1, 2, 3)]
        assert (held, tx.workers.holds("w2", 1)) == ([False, True, False], False)


def test_nobody_registers_until_who_asked_has_ended(leader: Leader) -> None:
    """Goal: a task that starts meanwhile is seen, and taken up, by the new incarnation (P7)."""
    _register(leader, "w1", 1)
    leader.opens(opening("g1", 1, {P0: 0}))
    with ThreadPoolExecutor(1) as pool:
        with leader.writes() as tx:
            assert tx.workers.holds("w1", 1)
            later = pool.submit(_register, leader, "w1", 2)
            with pytest.raises(TimeoutError):
                later.result(timeout=0.3)
            tx.tasks.start(attempt("t1"))
        assert later.result(timeout=10) == 2


def test_the_same_incarnation_may_register_again(leader: Leader) -> None:
    _register(leader, "w1", 2)
    assert _register(leader, "w1", 2, slots=8) == 2
    with leader.reads() as tx:
        assert [w.slots for w in tx.workers.all()] == [8]


def _set_disabled(leader: Leader, worker_id: str, *, disabled: bool) -> bool:
    with leader.writes() as tx:
        return tx.workers.set_disabled(worker_id, disabled=disabled)


def _flags(leader: Leader, worker_id: str) -> tuple[bool, bool]:
    """Return whether its row says disabled, and whether it takes tasks."""
    with leader.reads() as tx:
        [row] = [row for row in tx.workers.all() if row.id == worker_id]
        return row.disabled, tx.workers.takes_tasks(worker_id)


def test_a_disabled_worker_stays_so_over_its_starts(leader: Leader) -> None:
    _register(leader, "w1", 1)
    assert _flags(leader, "w1") == (False, True)

    assert _set_disabled(leader, "w1", disabled=True)
    _register(leader, "w1", 2, slots=8)

    assert _flags(leader, "w1") == (True, False)
    assert _set_disabled(leader, "w1", disabled=False)
    assert _flags(leader, "w1") == (False, True)


def test_disabling_what_stands_so_or_is_not_there_changes_nothing(leader: Leader) -> None:
    _register(leader, "w1", 1)

    assert not _set_disabled(leader, "w1", disabled=False)
    assert _set_disabled(leader, "w1", disabled=True)
    assert not _set_disabled(leader, "w1", disabled=True)
    assert not _set_disabled(leader, "w2", disabled=True)
    with leader.reads() as tx:
        assert not tx.workers.takes_tasks("w2")
