"""Forgetting a terminated supervisor: only when asked, only at rest, and never its table."""

import pytest

from supervisor.chores.forget import FORGOTTEN, KIND, SupervisorGone
from supervisor.core.model.rows import GapKind, OffsetGap, StoredPlan
from supervisor.core.queue.events import QueuedEvent
from supervisor.core.values.errors import LeaseLost, NotForgettable, SupervisorNotFound
from supervisor.eventqueue.handling import Context, Fail
from supervisor.ports.store import Store
from tests.conformance.stories import CLICKS, P0, TOPIC_ID, attempt, opening
from tests.supervisor.chores.tables import DELAY, TABLE, Tables
from tests.supervisor.core.snapshots import NOON, spec


@pytest.fixture
def tables(store: Store) -> Tables:
    tables = Tables(store)
    append(tables, terminated=False)
    return tables


def append(tables: Tables, *, terminated: bool = True) -> None:
    with tables.store.leading(tables.term) as tx:
        tx.specs.append(CLICKS, None if terminated else spec(), NOON, "me")


def forget(tables: Tables) -> None:
    tables.forgetting.forget(CLICKS, "me")


def generations(tables: Tables, *numbers: int) -> list[int]:
    with tables.store.reading() as tx:
        return [n for n in numbers if tx.generations.get(f"{CLICKS}:{n}") is not None]


def test_offsets_gaps_and_history_go_and_the_table_stays(tables: Tables) -> None:
    files = tables.publish(2)
    with tables.store.leading(tables.term) as tx:
        tx.offsets.declare(OffsetGap(CLICKS, P0, 0, 1, GapKind.SKIPPED, author="", why="", at=NOON))
        tx.plans.record(StoredPlan(CLICKS, NOON, 1, ()))
    append(tables)

    forget(tables)

    with tables.store.reading() as tx:
        assert tx.specs.history(CLICKS) == []
        assert (tx.offsets.of(CLICKS), tx.offsets.gaps(CLICKS)) == ({}, [])
        assert tx.plans.recent(CLICKS, 9) == []
        assert [p.forgotten_at for p in tx.segments.publications(CLICKS)] == [NOON]
    assert len(tables.of_table()) == 2
    tables.pass_time(DELAY)
    assert tables.holds(*files) == [True, True]
    assert [(e.actor, e.action, e.subject) for e in tables.audit()] == [("me", "forget", CLICKS)]


def test_a_supervisor_that_is_not_terminated_is_not_forgotten(tables: Tables) -> None:
    with pytest.raises(NotForgettable, match="terminate it first"):
        forget(tables)


def test_a_supervisor_with_a_range_to_publish_is_not_forgotten(tables: Tables) -> None:
    with tables.store.leading(tables.term) as tx:
        tx.generations.open(CLICKS, TABLE, opening("clicks:1", 1, {P0: 0}), NOON)
    append(tables)

    with pytest.raises(NotForgettable, match="1 ranges"):
        forget(tables)


def test_a_supervisor_whose_task_has_not_ended_is_not_forgotten(tables: Tables) -> None:
    tables.give_up()
    with tables.store.leading(tables.term) as tx:
        tx.tasks.start(attempt("late", "clicks:1", number=1))
    append(tables)

    with pytest.raises(NotForgettable, match="1 tasks"):
        forget(tables)


def test_an_id_that_nobody_used_cannot_be_forgotten_nor_twice(tables: Tables) -> None:
    append(tables)
    forget(tables)

    with pytest.raises(SupervisorNotFound):
        forget(tables)
    with pytest.raises(SupervisorNotFound):
        tables.forgetting.forget("nobody", "me")


def test_who_does_not_lead_forgets_nothing(tables: Tables) -> None:
    append(tables)
    tables.term += 1

    with pytest.raises(LeaseLost):
        forget(tables)
    with tables.store.reading() as tx:
        assert len(tx.specs.history(CLICKS)) == 2


def test_rows_of_unpublished_work_go_a_little_later(tables: Tables) -> None:
    tables.publish()
    tasks = [tables.give_up() for _ in range(5)]
    append(tables)
    forget(tables)
    assert generations(tables, 2, 6) == [2, 6]

    tables.pass_time(DELAY)

    assert generations(tables, *range(1, 7)) == [1, 6]  # published, and counted on from
    with tables.store.reading() as tx:
        assert tx.tasks.rows_of(tasks) == {}
        assert [task.id for task in tx.tasks.of_generations(["clicks:1"])] == ["task-clicks-1"]


def test_rows_are_kept_until_their_folders_are_settled(tables: Tables) -> None:
    """Goal: the row of a task is what the cleanup of its folder goes by."""
    task = tables.give_up(settled=False)
    tables.give_up()
    append(tables)
    forget(tables)

    tables.pass_time(DELAY)
    tables.pass_time(DELAY)
    assert generations(tables, 1, 2) == [1, 2]

    with tables.store.leading(tables.term) as tx:
        tx.tasks.folder_deleted(task, NOON)
    tables.pass_time(DELAY)

    assert generations(tables, 1, 2) == [2]
    with tables.store.reading() as tx:
        row = tx.events.find(FORGOTTEN)
        assert row is not None
        assert row.outstanding_events == 0


def test_the_id_begins_anew_and_no_generation_id_is_given_twice(tables: Tables) -> None:
    """Goal: what is left of the old supervisor is never taken for the new one's."""
    tables.publish()
    tables.give_up()
    append(tables)
    forget(tables)

    append(tables, terminated=False)
    with tables.store.leading(tables.term) as tx:
        newest = tx.specs.newest(CLICKS)
        assert newest is not None
        assert newest.version == 1
        assert tx.offsets.initialise(CLICKS, TOPIC_ID, {P0: 20})
    [file] = tables.publish()
    tables.pass_time(DELAY)

    assert file.generation_id == "clicks:3"
    assert generations(tables, 1, 2, 3) == [1, 3]
    with tables.store.reading() as tx:
        forgotten = [p.forgotten_at is not None for p in tx.segments.publications(CLICKS)]
    assert forgotten == [True, False]


def test_the_new_supervisors_rows_are_not_deleted_with_the_old_ones(tables: Tables) -> None:
    tables.give_up()
    append(tables)
    forget(tables)
    append(tables, terminated=False)
    of_new = tables.give_up()

    tables.pass_time(DELAY)

    assert generations(tables, 1, 2) == [2]
    with tables.store.reading() as tx:
        assert tx.tasks.get(of_new) is not None


def test_a_supervisor_that_never_read_anything_leaves_no_event(tables: Tables) -> None:
    append(tables)
    forget(tables)

    with tables.store.reading() as tx:
        assert tx.events.find(FORGOTTEN) is None


def test_a_repeated_event_changes_nothing_more(tables: Tables) -> None:
    tables.publish()
    tables.give_up()
    tables.give_up()
    append(tables)
    forget(tables)
    handler = SupervisorGone()
    event = QueuedEvent(KIND, CLICKS, {"upTo": 3})
    context = Context(tables.store, tables.term, NOON, lambda: False)

    first = handler([event], context).answers
    assert handler([event], context).answers == first
    assert generations(tables, 1, 2, 3) == [1, 3]
    [answer] = handler([QueuedEvent(KIND, CLICKS, {})], context).answers
    assert isinstance(answer, Fail)
