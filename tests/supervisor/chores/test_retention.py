"""Retention rules: what is too old leaves its table, and nothing else does."""

from datetime import timedelta

import pytest

from supervisor.chores.segments import SEGMENTS, SegmentSelection
from supervisor.core.queue.events import QueueName, container_of
from supervisor.core.values.errors import DataSourceNotFound, LeaseLost
from supervisor.ports.store import Store
from tests.conformance.stories import CLICKS, HOUR
from tests.supervisor.chores.tables import DAY, TABLE, Tables

ERRORS = f"{TABLE}__errors"


@pytest.fixture
def tables(store: Store) -> Tables:
    return Tables(store)


def keep(tables: Tables, period: timedelta) -> None:
    tables.retention.set(TABLE, period, "me")


def test_a_new_rule_takes_out_at_once_what_is_too_old(tables: Tables) -> None:
    old, young = tables.publish(ago=10 * DAY), tables.publish()

    keep(tables, 7 * DAY)

    assert tables.of_table() == [young[0].id]
    assert old[0].id not in tables.of_table()
    assert [(e.actor, e.action) for e in tables.audit()] == [
        ("me", "set-retention"),
        ("retention", "mark-unused"),
    ]


def test_an_interval_that_ended_just_so_long_ago_is_too_old(tables: Tables) -> None:
    """Goal: the end of the interval counts; a segment goes whole, once all of it is too old."""
    tables.publish(2)  # the hour up to noon, and the one before

    keep(tables, HOUR)

    assert tables.of_table() == ["task-clicks-1/0"]


def test_time_that_passes_makes_more_too_old(tables: Tables) -> None:
    tables.publish()
    keep(tables, DAY)
    tables.clock.advance(DAY - HOUR)
    assert tables.retention.run_once() == 0

    tables.clock.advance(HOUR)

    assert tables.retention.run_once() == 1
    assert tables.retention.run_once() == 0
    assert tables.of_table() == []


def test_without_a_rule_everything_stays(tables: Tables) -> None:
    tables.publish(ago=3_000 * DAY)
    keep(tables, 10_000 * DAY)

    assert tables.retention.drop(TABLE, "me")
    assert not tables.retention.drop(TABLE, "me")
    tables.clock.advance(9_000 * DAY)

    assert tables.retention.run_once() == 0
    assert tables.retention.rule(TABLE) is None
    assert [e.action for e in tables.audit()] == ["set-retention", "drop-retention"]


def test_a_rule_that_was_dropped_meanwhile_takes_nothing_out(tables: Tables) -> None:
    """Goal: who says "keep for ever" is not overtaken by a run that read the rule before."""
    tables.publish(ago=DAY)
    keep(tables, 5 * DAY)
    tables.clock.advance(9 * DAY)
    with tables.store.reading() as tx:
        [read_before] = tx.retention.all()

    tables.retention.drop(TABLE, "me")
    marked = tables.retention.apply(read_before, tables.clock.now())

    assert (marked, len(tables.of_table())) == (0, 1)


def test_a_later_rule_replaces_the_one_before(tables: Tables) -> None:
    tables.publish(ago=3 * DAY)
    keep(tables, 5 * DAY)
    keep(tables, 2 * DAY)

    rule = tables.retention.rule(TABLE)

    assert rule is not None
    assert (rule.keep_for, rule.author) == (2 * DAY, "me")
    assert tables.of_table() == []


def test_what_was_put_back_and_is_too_old_goes_again(tables: Tables) -> None:
    tables.publish(ago=3 * DAY)
    keep(tables, 2 * DAY)
    tables.segments.mark_used(TABLE, SegmentSelection(), "me")

    assert tables.retention.run_once() == 1


def test_a_rule_for_a_table_that_nobody_knows_is_refused(tables: Tables) -> None:
    with pytest.raises(DataSourceNotFound):
        keep(tables, DAY)
    with pytest.raises(DataSourceNotFound):
        tables.retention.rule(TABLE)


def test_who_does_not_lead_sets_no_rule(tables: Tables) -> None:
    tables.publish()
    tables.term += 1

    with pytest.raises(LeaseLost):
        keep(tables, DAY)


def test_a_dead_queue_holds_up_its_own_supervisor_alone(tables: Tables) -> None:
    """Goal: a rule is stored and applied as far as it goes; the chore tries the rest again."""
    tables.publish(ago=9 * DAY)
    tables.publish(supervisor_id="others", ago=9 * DAY)
    die(tables)

    keep(tables, DAY)

    assert tables.of_table() == ["task-clicks-1/0"]
    assert tables.retention.run_once() == 0
    assert tables.retention.rule(TABLE) is not None


def die(tables: Tables) -> None:
    """Let the queue of unused segments of CLICKS be damaged."""
    queue = QueueName(container_of(CLICKS), SEGMENTS)
    tables.segments.mark_unused(TABLE, SegmentSelection(ids=["task-clicks-1/0"]), "me")
    tables.segments.mark_used(TABLE, SegmentSelection(), "me")
    with tables.store.leading(tables.term) as tx:
        row = tx.events.find(queue)
        assert row is not None
        tx.events.declare_dead(row, 1, "a story")


def test_a_rule_holds_for_the_errors_of_its_table(tables: Tables) -> None:
    """Goal: raw records of last year are not what somebody wants who keeps rows for a month."""
    tables.publish(ago=10 * DAY, errors=True)
    young = tables.publish(errors=True)

    keep(tables, 7 * DAY)

    assert tables.of_table(ERRORS) == [young[0].id]
    shown = tables.retention.rule(ERRORS)
    assert shown is not None
    assert (shown.data_source, shown.keep_for) == (TABLE, 7 * DAY)


def test_errors_with_a_rule_of_their_own_go_by_it_alone(tables: Tables) -> None:
    old = tables.publish(ago=10 * DAY, errors=True)
    older = tables.publish(ago=30 * DAY, errors=True)
    rows = tables.publish(ago=10 * DAY)
    tables.retention.set(ERRORS, 20 * DAY, "me")

    keep(tables, 7 * DAY)
    tables.retention.run_once()

    assert tables.of_table(ERRORS) == [old[0].id]
    assert older[0].id not in tables.of_table(ERRORS)
    assert rows[0].id not in tables.of_table()
    tables.retention.drop(ERRORS, "me")
    assert tables.retention.run_once() == 1
    assert tables.of_table(ERRORS) == []
