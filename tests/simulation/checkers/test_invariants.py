"""Every checker speaks when its rule is broken, and is silent about a sound world."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from tasks.contract.messages import FailureCode, Order, RunState, TaskPhase
from tasks.machine.state import Failure
from tests.simulation.checkers.broken import CANARY, LATER, P0, SUP, TOPIC, Broken
from tests.simulation.checkers.invariants import after_event, at_end

Story = Callable[[Broken], None]


def _half_published(world: Broken) -> None:
    """Five of ten records are published rightly, and the successor reads on."""
    world.fix_end("g1", 5)
    world.generation("g2", 2, start=5)
    world.task("t2", "g2")
    assert after_event(world) == []
    world.publish("g1", "t1", 0, 5)


def _all_published(world: Broken) -> None:
    _half_published(world)
    assert after_event(world) == []
    world.fix_end("g2", 10)
    world.publish("g2", "t2", 5, 10)


def test_a_sound_run_is_not_complained_of(world: Broken) -> None:
    _all_published(world)
    assert after_event(world) == []
    assert at_end(world) == []


def _wrong_rows(world: Broken) -> None:
    _half_published(world)
    (rows,) = world.warehouse.files.values()
    rows[0] = rows[1]


def _aborted_row(world: Broken) -> None:
    world.kafka.log["id-1", 0][2] = (2, 102, "aborted")
    _half_published(world)


def _file_gone(world: Broken) -> None:
    _half_published(world)
    world.warehouse.files.clear()


def _offset_without_publication(world: Broken) -> None:
    world.sql("UPDATE committed_offsets SET next_offset=3")


def _publication_behind_the_offset(world: Broken) -> None:
    _half_published(world)
    assert after_event(world) == []
    world.fix_end("g2", 10)
    world.publish("g2", "t2", 4, 10)


def _offset_moved_back(world: Broken) -> None:
    _half_published(world)
    assert after_event(world) == []
    world.sql("UPDATE committed_offsets SET next_offset=2")


def _epoch_without_audit(world: Broken) -> None:
    world.sql("UPDATE committed_offsets SET reset_epoch=1")


def _reset_without_gap(world: Broken) -> None:
    world.insert("audit", at=LATER, actor="u", action="reset", subject=SUP, detail="{}")
    world.sql("UPDATE committed_offsets SET reset_epoch=1, next_offset=4")


def _partition_joined_late(world: Broken) -> None:
    world.kafka.log["id-1", 1] = [(0, 7, "data"), (1, 8, "data")]
    where = {"supervisor_id": SUP, "topic": TOPIC, "partition": 1, "topic_id": "id-1"}
    world.insert("committed_offsets", **where, next_offset=2, first_offset=2, reset_epoch=0)


def _two_winners(world: Broken) -> None:
    world.task("t1b", "g1", replica=1)
    _half_published(world)
    world.sql(
        "UPDATE tasks SET published=1, outcome='committed', status='SUCCESS', ended_at=?"
        " WHERE id='t1b'",
        LATER,
    )


def _state_left(world: Broken) -> None:
    _half_published(world)
    assert after_event(world) == []
    world.sql("UPDATE generations SET state='PUBLISHING', ended_at=NULL WHERE id='g1'")


def _status_left(world: Broken) -> None:
    _half_published(world)
    assert after_event(world) == []
    world.sql("UPDATE tasks SET status='FAILED' WHERE id='t1'")


def _end_changed(world: Broken) -> None:
    world.fix_end("g1", 5)
    assert after_event(world) == []
    world.sql("UPDATE generation_partitions SET end_offset=6")


def _empty_range(world: Broken) -> None:
    world.fix_end("g1", 0)


def _two_holders(world: Broken) -> None:
    world.sql("DROP INDEX uq_generation_partitions_open")
    world.generation("g2", 2)


def _two_active(world: Broken) -> None:
    world.sql("DROP INDEX uq_tasks_active")
    world.task("t1b", "g1")


def _chain_broken(world: Broken) -> None:
    world.fix_end("g1", 5)
    world.generation("g2", 2, start=0)


def _predecessor_overtaken(world: Broken) -> None:
    world.fix_end("g1", 5)
    world.generation("g2", 2, start=5)
    world.task("t2", "g2")
    assert after_event(world) == []
    world.fix_end("g2", 10)
    world.publish("g2", "t2", 5, 10)


def _no_outcome(world: Broken) -> None:
    _half_published(world)
    world.sql("UPDATE tasks SET outcome=NULL, published=0 WHERE id='t1'")


def _failed_though_published(world: Broken) -> None:
    world.task("t1b", "g1", replica=1)
    _half_published(world)
    world.sql("UPDATE tasks SET status='FAILED', ended_at=? WHERE id='t1b'", LATER)


def _refused(world: Broken) -> None:
    world.fix_end("g1", 5)
    assert after_event(world) == []
    world.sql("UPDATE tasks SET status='FAILED', outcome='stale', ended_at=?", LATER)


def _runs_on(world: Broken) -> None:
    world.task("t1b", "g1", replica=1)
    _half_published(world)


def _old_term(world: Broken) -> None:
    world.happened("commit", overlord="a", term=1)
    world.sql("UPDATE leader_term SET term=2")
    assert after_event(world) == []
    world.happened("commit", overlord="a", term=1)
    world.sql("UPDATE tasks SET reason='x'")


def _term_shared(world: Broken) -> None:
    world.happened("commit", overlord="a", term=1)
    world.happened("commit", overlord="b", term=1)
    world.sql("UPDATE tasks SET reason='x'")


def _lost_in_a_lapse(world: Broken) -> None:
    world.happened("leads", overlord="a", loses_from=60.0)
    world.happened("lost", overlord="a", worker="w1", leads=True, at=61.0)
    world.sql("UPDATE tasks SET reason='x'")
    assert after_event(world) == []
    world.happened("leads", overlord="a", loses_from=80.0)
    world.happened("lost", overlord="a", worker="w1", leads=True, at=79.0)
    world.sql("UPDATE tasks SET reason='y'")


def _lost_by_a_follower(world: Broken) -> None:
    world.happened("lost", overlord="a", worker="w1", leads=False, at=61.0)
    world.sql("UPDATE tasks SET reason='x'")


def _end_before_its_row(world: Broken) -> None:
    world.hold("t1")
    world.put("t1", end={P0: 5})


def _other_end(world: Broken) -> None:
    world.fix_end("g1", 5)
    world.hold("t1")
    world.put("t1", end={P0: 6})


def _beyond_its_end(world: Broken) -> None:
    world.fix_end("g1", 5)
    world.hold("t1", TaskPhase.PUBLISHING)
    world.put("t1", end={P0: 5})


def _paused_with_an_end(world: Broken) -> None:
    world.fix_end("g1", 5)
    world.hold("t1")
    world.put("t1", end={P0: 5}, paused_until=9.0)


def _paused_for_ever(world: Broken) -> None:
    lease = timedelta(seconds=10)
    world.hold("t1")
    order = Order(term=1, sequence=1, state=RunState.PAUSE, pause_lease=lease)
    world.put("t1", order=order, paused_until=10.0, phase=TaskPhase.PAUSED)
    assert after_event(world) == []
    world.clock.at = 20.0


def _order_fell(world: Broken) -> None:
    world.hold("t1")
    world.put("t1", order=Order(term=2, sequence=3, state=RunState.RUN))
    assert after_event(world) == []
    world.put("t1", order=Order(term=2, sequence=2, state=RunState.RUN))


def _winner_says_it_failed(world: Broken) -> None:
    _half_published(world)
    world.hold("t1", TaskPhase.FAILED)
    world.put("t1", failure=Failure(FailureCode.REFUSED, "no overlord answered"))


def _without_a_row(world: Broken) -> None:
    world.hold("nobody")


BROKEN: dict[str, tuple[str, Story]] = {
    "rows are not the records": ("I2", _wrong_rows),
    "an aborted record is a row": ("I2", _aborted_row),
    "a published file is gone": ("I2", _file_gone),
    "an offset moved without a publication": ("I1", _offset_without_publication),
    "a range overlaps the one before": ("I1", _publication_behind_the_offset),
    "a range is published before its predecessor": ("I1", _predecessor_overtaken),
    "a partition joined past its records": ("I1", _partition_joined_late),
    "a reset skipped records in silence": ("I1", _reset_without_gap),
    "an offset moved back": ("I4", _offset_moved_back),
    "an epoch grew without an audit row": ("I4", _epoch_without_audit),
    "two tasks won one range": ("I3", _two_winners),
    "an ended generation came back": ("I3", _state_left),
    "an ended task ended again": ("I3", _status_left),
    "two open generations hold a partition": ("I3", _two_holders),
    "a replica has two active tasks": ("I3", _two_active),
    "a fixed end was changed": ("I6", _end_changed),
    "an end was told before it was stored": ("I6", _end_before_its_row),
    "a task has an end of its own": ("I6", _other_end),
    "a task publishes another range": ("I6", _beyond_its_end),
    "an empty range was fixed": ("I11", _empty_range),
    "a task of an ended generation runs on": ("I11", _runs_on),
    "a successor does not start at the end": ("I10", _chain_broken),
    "the winner has no stored outcome": ("I7", _no_outcome),
    "a task failed whose range was published": ("I7", _failed_though_published),
    "the winner says that it failed": ("I7", _winner_says_it_failed),
    "a live task was refused": ("I8", _refused),
    "a leader of an old term committed": ("I5", _old_term),
    "two leaders share a term": ("I5", _term_shared),
    "a lapse counts against a worker": ("P6", _lost_in_a_lapse),
    "a worker is lost in a lapse": ("P6", _lost_by_a_follower),
    "a task obeyed a lower order": ("I5", _order_fell),
    "a task is paused though its end is fixed": ("I9", _paused_with_an_end),
    "a pause outlasted its lease": ("I9", _paused_for_ever),
    "a task runs without a row": ("P23", _without_a_row),
}


@pytest.mark.parametrize("name", list(BROKEN))
def test_a_broken_rule_is_named(world: Broken, name: str) -> None:
    rule, story = BROKEN[name]
    story(world)
    found = after_event(world)
    assert rule in {line.partition(" ")[0] for line in found}, found


def _lag(world: Broken) -> None:
    _half_published(world)


def _orphan(world: Broken) -> None:
    _all_published(world)
    world.sql("PRAGMA foreign_keys = OFF")
    world.sql("UPDATE segments SET generation_id='nobody' WHERE task_id='t2'")


def _wasted(world: Broken) -> None:
    _all_published(world)
    for _ in range(2):
        world.happened("read", task="t1", worker="w1", start={P0: 0}, end={P0: 5})


def _leaked(world: Broken) -> None:
    _all_published(world)
    world.sql("UPDATE tasks SET reason=?", f"could not log in with {CANARY}")


def _secret_answered(world: Broken) -> None:
    _all_published(world)
    world.happened("told", text=f"refused: {CANARY}")


def _token_leaked(world: Broken) -> None:
    _all_published(world)
    world.insert("plans", supervisor_id=SUP, at=LATER, term=1, actions='["token-of-t1"]', error="")


def _old_plan(world: Broken) -> None:
    _all_published(world)
    for term in (2, 1):
        world.insert("plans", supervisor_id=SUP, at=LATER, term=term, actions="[]", error="")


def _file_lost_later(world: Broken) -> None:
    _all_published(world)
    assert after_event(world) == []
    world.warehouse.files.popitem()


def _still_publishing(world: Broken) -> None:
    _all_published(world)
    world.generation("g3", 3, start=10, end=12)


def _file_of_nobody(world: Broken) -> None:
    _all_published(world)
    world.sql("UPDATE tasks SET folder_deleted_at=?", LATER)
    world.warehouse.files[f"{SUP}/data/t1/late.parquet"] = []


AT_THE_END: dict[str, tuple[str, Story]] = {
    "records are left": ("I11", _lag),
    "a generation is stuck": ("I11", _still_publishing),
    "a segment has no publication": ("I11", _orphan),
    "a task read its range twice": ("I10", _wasted),
    "a canary is stored": ("I12", _leaked),
    "a canary is in an answer": ("I12", _secret_answered),
    "a token stands in a plan": ("I12", _token_leaked),
    "an old leader stored a plan": ("I5", _old_plan),
    "a file was lost after it was published": ("I2", _file_lost_later),
    "a file is left that nobody will delete": ("P23", _file_of_nobody),
}


@pytest.mark.parametrize("name", list(AT_THE_END))
def test_what_is_wrong_at_the_end_is_named(world: Broken, name: str) -> None:
    rule, story = AT_THE_END[name]
    story(world)
    found = at_end(world)
    assert rule in {line.partition(" ")[0] for line in found}, found


def test_what_is_not_committed_is_not_looked_at(world: Broken) -> None:
    """A process that is held inside its transaction has done nothing yet."""
    world.sql("BEGIN")
    world.sql("UPDATE committed_offsets SET next_offset=3")
    assert after_event(world) == []
    world.sql("ROLLBACK")
    assert after_event(world) == []


def test_a_reset_on_record_is_no_violation(world: Broken) -> None:
    world.reset(to=4)
    world.generation("g2", 2, start=4, epoch=1)
    world.task("t2", "g2")
    assert after_event(world) == []
    world.fix_end("g2", 10)
    world.publish("g2", "t2", 4, 10)
    assert at_end(world) == []


def test_a_worker_that_is_gone_or_frozen_breaks_no_pause(world: Broken) -> None:
    """Its task cannot act; once it can, the pause is counted from there."""
    world.hold("t1")
    order = Order(term=1, sequence=1, state=RunState.PAUSE, pause_lease=timedelta(seconds=10))
    world.put("t1", order=order, paused_until=10.0, phase=TaskPhase.PAUSED)
    assert after_event(world) == []
    world.clock.at, world.workers[0].frozen = 60.0, True
    assert after_event(world) == []
    world.workers[0].frozen = False
    assert after_event(world) == []
    world.clock.at = 80.0
    assert [line[:2] for line in after_event(world)] == ["I9"]
