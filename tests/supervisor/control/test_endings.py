"""A task and the event that cleans up behind it: one transaction, one event, whatever ended it."""

import ast
from collections import Counter

import pytest

from supervisor.control.end_task import KIND, TaskEnder
from supervisor.control.reconcile import apply
from supervisor.core.model.rows import Task, TaskStatus
from supervisor.core.planning.actions import DiscardGeneration
from supervisor.core.queue.events import QueueConfig, decode
from supervisor.core.values.errors import QueueDead
from supervisor.ports.store import Store
from tasks.contract.messages import PublishOutcome
from tests.supervisor.control.test_reconcile import ActionStory
from tests.supervisor.core.snapshots import NOON, TOPIC, offsets
from tests.supervisor.scenarios.publishers import (
    asks,
    assert_nothing_was_published,
    first,
    task_of,
)
from tests.supervisor.world import ENDINGS, GC_DELAY, World, publish_request
from tests.supervisor.yard import QUEUE
from tests.tidy.sources import python_files, text_of


def events_of(store: Store) -> Counter[str]:
    """How often each task stands in the queue; nothing has been handled yet."""
    with store.reading() as tx:
        row = tx.events.find(QUEUE)
        stored = [] if row is None else tx.events.read(row.id, 0, 10_000)
    events = [decode(each.payload) for each in stored]
    assert {event.kind for event in events} <= {KIND}
    return Counter(event.key for event in events)


def ended(store: Store) -> dict[str, str]:
    """Why each ended task did."""
    with store.reading() as tx:
        found = tx.tasks.find(supervisor_id=TOPIC, limit=10_000)
    return {task.id: task.reason for task in found if not task.active}


def test_every_way_a_task_ends_has_exactly_one_event() -> None:
    """Goal: no folder is forgotten, and none is looked at twice for nothing."""
    story = ActionStory()
    for step in story.steps():
        story.apply(step)
        story.apply(step)
        assert events_of(story.store) == dict.fromkeys(ended(story.store), 1), step[0]

    why = " | ".join(ended(story.store).values())
    for way in ("published", "published the range", "it read nothing", "is lost"):
        assert way in why, why


def test_the_tasks_of_a_range_that_is_given_up_have_one_event_each(world: World) -> None:
    """Goal: also those of the ranges behind it, which go with it (P16)."""
    _, replica = first(world)
    generation_id = task_of(world, replica).generation_id
    action = DiscardGeneration(generation_id, "no worker has it")
    seen = world.one_pass().seen
    with world.store.leading(world.leadership.term()) as tx:
        apply(action, seen, tx, world.shell)

    assert len(ended(world.store)) == 4
    assert events_of(world.store) == dict.fromkeys(ended(world.store), 1)


def test_a_publish_ends_winner_and_sibling_with_one_event_each(world: World) -> None:
    hand, replica = first(world)
    assert world.publish(hand, replica).outcome is PublishOutcome.COMMITTED
    world.publish(hand, replica)  # a repeat, as after a lost acknowledgement
    for other in world.ready_to_publish():
        world.publish(*other)

    assert len(ended(world.store)) == 2
    assert events_of(world.store) == dict.fromkeys(ended(world.store), 1)


def test_a_superseded_task_has_one_event(world: World) -> None:
    """Goal: a range that ended without it leaves its files to the cleanup."""
    _, replica = first(world)
    request = publish_request(replica.wanted)
    beyond = request.model_copy(update={"end": offsets(99, 99)})

    assert asks(world, beyond, replica.wanted.token).outcome is PublishOutcome.SUPERSEDED

    assert task_of(world, replica).status is TaskStatus.FAILED
    assert events_of(world.store) == {replica.wanted.task_id: 1}


def test_a_stale_task_has_no_event(world: World) -> None:
    hand, replica = first(world)
    with world.store.leading(world.leadership.term()) as tx:
        tx.offsets.advance(TOPIC, offsets(0, 0), offsets(1, 1), {TOPIC: "id-1"})

    assert world.publish(hand, replica).outcome is PublishOutcome.STALE

    assert not task_of(world, replica).active
    assert events_of(world.store) == {}


class Interrupted(Exception):
    pass


def test_a_rollback_leaves_neither_the_ending_nor_the_event(world: World) -> None:
    _, replica = first(world)
    task = task_of(world, replica)

    def interrupted() -> None:
        with world.store.leading(world.leadership.term()) as tx:
            assert ENDINGS.end(tx, task, TaskStatus.FAILED, "killed", NOON)
            raise Interrupted

    with pytest.raises(Interrupted):
        interrupted()

    assert task_of(world, replica).active
    assert events_of(world.store) == {}


def test_an_event_is_due_after_the_delay_and_is_never_refused_for_fullness(world: World) -> None:
    """Goal: what settles existing work is exempt from the queue's brake (P24)."""
    full = TaskEnder(QueueConfig(delay=GC_DELAY, max_outstanding_bytes=1))
    now = world.clock.now()
    with world.store.leading(world.leadership.term()) as tx:
        for task in tx.tasks.active():
            assert full.end(tx, task, TaskStatus.FAILED, "killed", now)

    with world.store.reading() as tx:
        row = tx.events.find(QUEUE)
        assert row is not None
        due = {event.due_at for event in tx.events.read(row.id, 0, 10)}
    assert row.outstanding_events >= 2
    assert due == {now + GC_DELAY}


def test_a_task_does_not_end_while_its_supervisors_queue_is_dead(world: World) -> None:
    """Goal: an ending without its event would leave a folder to nobody; repaired, it goes on."""
    hand, replica = first(world)
    with world.store.leading(world.leadership.term()) as tx:
        ENDINGS.end(tx, _a_reader(world), TaskStatus.FAILED, "killed", NOON)
    with world.store.leading(world.leadership.term()) as tx:
        row = tx.events.find(QUEUE)
        assert row is not None
        tx.events.declare_dead(row, 1, "damaged")

    with pytest.raises(QueueDead):
        world.publish(hand, replica)

    assert task_of(world, replica).active
    assert_nothing_was_published(world)

    with world.store.leading(world.leadership.term()) as tx:
        tx.events.rebuild(QUEUE)
    assert world.publish(hand, replica).outcome is PublishOutcome.COMMITTED


def _a_reader(world: World) -> Task:
    offered = {replica.wanted.task_id for _, replica in world.ready_to_publish()}
    with world.store.reading() as tx:
        return next(task for task in tx.tasks.active() if task.id not in offered)


def test_nothing_else_in_the_product_ends_a_task() -> None:
    """Goal: an ending that forgets its event leaves an orphan."""
    places = [
        f"{path}:{node.lineno}"
        for path in python_files("supervisor")
        if path != "supervisor/control/end_task.py"
        for node in ast.walk(ast.parse(text_of(path) or ""))
        if isinstance(node, ast.Attribute) and ast.unparse(node).endswith("tasks.end")
    ]

    assert places == []
