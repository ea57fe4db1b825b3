"""Publishing on each store: every outcome as rows, and each defence with the others away."""

from itertools import product

import pytest

from supervisor.control.end_task import task_output_of
from supervisor.control.publish import _PublishAttempt, _settle
from supervisor.core.model.rows import GenerationState, Publication, TaskStatus, WorkerRow
from supervisor.core.values.errors import NotAllowed, StaleCommit, StateMoved, TaskNotFound
from supervisor.ports.store import Store
from tasks.contract.messages import PublishAnswer, PublishOutcome
from tests.supervisor.core.snapshots import NOON, TOPIC, offsets, part, spec
from tests.supervisor.scenarios.promises import assert_promises
from tests.supervisor.scenarios.publishers import (
    asks,
    assert_nothing_was_published,
    committed,
    first,
    fixed_end,
    task_of,
)
from tests.supervisor.world import ENDINGS, Replica, World, publish_request

READ = 5


def test_the_first_replica_wins_and_its_sibling_hears_so(world: World) -> None:
    """Goal: at most one replica's files become the table's rows (P22)."""
    (hand, winner), (other, sibling) = world.ready_to_publish()

    assert world.publish(hand, winner).outcome is PublishOutcome.COMMITTED
    assert world.publish(other, sibling).outcome is PublishOutcome.ALREADY_PUBLISHED

    assert committed(world) == {fixed_end(winner)}
    won, also = task_of(world, winner), task_of(world, sibling)
    assert (won.status, won.published) == (TaskStatus.SUCCESS, True)
    assert (also.status, also.published) == (TaskStatus.SUCCESS, False)
    with world.store.reading() as tx:
        assert [s.task_id for s in tx.segments.of_supervisor(TOPIC)] == [won.id]
    assert_promises(world.store)


def test_a_repeated_request_hears_the_same_and_changes_nothing(world: World) -> None:
    """Goal: a lost acknowledgement costs nothing (R7)."""
    hand, replica = first(world)
    world.publish(hand, replica)
    with world.store.reading() as tx:
        before = (tx.segments.publications(TOPIC), tx.offsets.of(TOPIC), tx.audit.recent(99))

    assert world.publish(hand, replica).outcome is PublishOutcome.COMMITTED

    with world.store.reading() as tx:
        now = (tx.segments.publications(TOPIC), tx.offsets.of(TOPIC), tx.audit.recent(99))
    assert now == before


def test_a_successor_waits_for_its_predecessor_as_often_as_it_asks(world: World) -> None:
    """Goal: ready early is no failure (R6)."""
    early = world.ready_to_publish()
    world.write(READ)
    world.settle()
    world.sync()
    world.read(READ)
    world.set_spec(spec(task_count=1, replicas=2, suspended=True))
    for _ in range(4):
        world.settle()
        world.sync()
    start = early[0][1].wanted.start
    successors = [both for both in world.ready_to_publish() if both[1].wanted.start != start]
    hand, successor = successors[0]

    for _ in range(3):
        assert world.publish(hand, successor).outcome is PublishOutcome.WAIT_FOR_PREDECESSOR
    assert task_of(world, successor).outcome is None
    assert committed(world) == {0}
    world.publish(*early[0])
    assert world.publish(hand, successor).outcome is PublishOutcome.COMMITTED

    assert committed(world) == {fixed_end(successor)}
    assert_promises(world.store)


def test_a_task_that_was_ended_is_superseded(world: World) -> None:
    """Goal: a zombie of a lost worker publishes nothing, its replacement does (M13)."""
    hand, zombie = first(world)
    with world.store.leading(world.leadership.term()) as tx:
        tx.tasks.end(zombie.wanted.task_id, TaskStatus.FAILED, "lost", NOON)

    answer = world.publish(hand, zombie)

    assert (answer.outcome, committed(world)) == (PublishOutcome.SUPERSEDED, {0})
    assert "lost" in answer.reason
    assert task_of(world, zombie).outcome is PublishOutcome.SUPERSEDED


def test_a_range_behind_the_committed_offset_is_stale_and_keeps_its_files(world: World) -> None:
    """Goal: what only a bug or a restored database explains is left for people (P22)."""
    hand, replica = first(world)
    with world.store.leading(world.leadership.term()) as tx:
        tx.offsets.advance(TOPIC, offsets(0, 0), offsets(1, 1), {TOPIC: "id-1"})

    assert world.publish(hand, replica).outcome is PublishOutcome.STALE

    assert task_of(world, replica).status is TaskStatus.FAILED
    with world.store.reading() as tx:
        assert replica.wanted.task_id not in tx.events.outstanding_keys(task_output_of(TOPIC))
        assert [e.action for e in tx.audit.recent(1)] == ["publish-stale"]
        assert tx.segments.publications(TOPIC) == []


def test_a_range_of_a_discarded_generation_is_superseded(world: World) -> None:
    hand, replica = first(world)
    with world.store.leading(world.leadership.term()) as tx:
        tx.generations.close(replica.wanted.generation_id, GenerationState.DISCARDED, NOON)

    assert world.publish(hand, replica).outcome is PublishOutcome.SUPERSEDED
    assert committed(world) == {0}


# -------------------------------------------------------------- who may ask


def test_a_wrong_token_is_refused(world: World) -> None:
    _, replica = first(world)

    for token in ("", "wrong", replica.wanted.token + "x"):
        with pytest.raises(NotAllowed, match="token"):
            asks(world, publish_request(replica.wanted), token)

    assert task_of(world, replica).active


def test_the_token_of_a_sibling_is_refused(world: World) -> None:
    (_, replica), (_, sibling) = world.ready_to_publish()

    with pytest.raises(NotAllowed, match="token"):
        asks(world, publish_request(replica.wanted), sibling.wanted.token)


def test_a_request_for_another_task_is_refused(world: World) -> None:
    """Goal: the token of one task does not publish in the name of another."""
    (_, replica), (_, sibling) = world.ready_to_publish()

    with pytest.raises(NotAllowed, match="names task"):
        world.publishing.publish(
            replica.wanted.task_id, replica.wanted.token, publish_request(sibling.wanted)
        )


def test_a_fenced_incarnation_is_refused_with_the_old_token_and_the_new(world: World) -> None:
    """Goal: of two processes of one worker only the newer one publishes (P7)."""
    hand, replica = first(world)
    task_id = replica.wanted.task_id
    with world.store.leading(world.leadership.term()) as tx:
        tx.workers.register(WorkerRow(hand.id, 2, "http://w1", 4, NOON))
        tx.tasks.take_up(hand.id, 2, {task_id: "new token"})

    for token in (replica.wanted.token, "new token"):
        with pytest.raises(NotAllowed):
            asks(world, publish_request(replica.wanted, incarnation=1), token)
    answer = asks(world, publish_request(replica.wanted, incarnation=2), "new token")

    assert answer.outcome is PublishOutcome.COMMITTED


def test_an_unknown_task_is_not_found(world: World) -> None:
    with pytest.raises(TaskNotFound):
        world.publishing.publish("never", "token", publish_request(first(world)[1].wanted))


# -------------------------------------------------------------- each defence alone


def judged_committed(world: World, replica: Replica) -> None:
    """Commit as if the judge had said yes: what is left are the guards of the rows."""
    with world.store.leading(world.leadership.term()) as tx:
        task = tx.tasks.get(replica.wanted.task_id)
        generation = tx.generations.get(replica.wanted.generation_id)
        assert task is not None
        assert generation is not None
        yes = PublishAnswer(outcome=PublishOutcome.COMMITTED, reason="no judge")
        attempt = _PublishAttempt(task, generation, publish_request(replica.wanted))
        _settle(tx, ENDINGS, attempt, yes, NOON)


def test_without_the_judge_a_zombie_still_publishes_nothing(world: World) -> None:
    _, zombie = first(world)
    with world.store.leading(world.leadership.term()) as tx:
        tx.tasks.end(zombie.wanted.task_id, TaskStatus.FAILED, "lost", NOON)

    with pytest.raises(StateMoved):
        judged_committed(world, zombie)

    assert_nothing_was_published(world)


def test_without_the_judge_a_discarded_range_is_still_not_published(world: World) -> None:
    _, replica = first(world)
    with world.store.leading(world.leadership.term()) as tx:
        tx.generations.close(replica.wanted.generation_id, GenerationState.DISCARDED, NOON)

    with pytest.raises(StateMoved):
        judged_committed(world, replica)

    assert_nothing_was_published(world)


def test_without_the_judge_a_sibling_still_does_not_publish_again(world: World) -> None:
    """Goal: the compare-and-swap alone keeps a range from counting twice."""
    (hand, winner), (_, sibling) = world.ready_to_publish()
    world.publish(hand, winner)

    with pytest.raises(StaleCommit):
        judged_committed(world, sibling)

    assert_promises(world.store)


POINTS = range(5)
RANGES = [(a, b) for a, b in product(POINTS, POINTS) if a <= b]


def test_of_two_ranges_only_adjacent_ones_are_committed_by_the_swap_alone(store: Store) -> None:
    """Goal: `=`, not `<=`: every pair of ranges, overlapping, nested, apart, adjacent (M11)."""
    world = World(store, spec())
    term = world.leadership.term()
    for number, (one, other) in enumerate(product(RANGES, RANGES)):
        supervisor_id = f"{TOPIC}-{number}"
        committed = 0
        with world.store.leading(term) as tx:
            tx.offsets.initialise(supervisor_id, "id-1", offsets(0))
            for start, end in (one, other):
                try:
                    tx.offsets.advance(supervisor_id, offsets(start), offsets(end), {TOPIC: "id-1"})
                except StaleCommit:
                    assert start != committed, f"{one} then {other}"
                else:
                    assert start == committed, f"{one} then {other}"
                    committed = end
            assert tx.offsets.of(supervisor_id)[part(0)].next_offset == committed


def test_a_swap_of_two_partitions_moves_both_or_none(store: Store) -> None:
    """Goal: for every position of either partition beside where the range begins."""
    world = World(store, spec())
    for number, (a, b) in enumerate(product(POINTS, POINTS)):
        supervisor_id = f"{TOPIC}-{number}"
        with world.store.leading(world.leadership.term()) as tx:
            tx.offsets.initialise(supervisor_id, "id-1", offsets(a, b))
            fits = (a, b) == (2, 2)
            try:
                tx.offsets.advance(supervisor_id, offsets(2, 2), offsets(4, 3), {TOPIC: "id-1"})
            except StaleCommit:
                assert not fits
            now = {p: row.next_offset for p, row in tx.offsets.of(supervisor_id).items()}
        assert now == (offsets(4, 3) if fits else offsets(a, b))


def test_a_generation_is_published_once_by_its_key_alone(world: World) -> None:
    """Goal: with neither judge nor swap, the row of a publication is unique (I3)."""
    (_, one), (_, other) = world.ready_to_publish()

    def publication(of: Replica) -> Publication:
        return Publication(
            generation_id=of.wanted.generation_id,
            supervisor_id=TOPIC,
            data_source=TOPIC,
            task_id=of.wanted.task_id,
            published_at=NOON,
            start=of.wanted.start,
            end=of.wanted.order.end or {},
            rows=0,
            rejected=0,
        )

    with world.store.leading(world.leadership.term()) as tx:
        tx.segments.add(publication(one), [])
    with pytest.raises(StateMoved), world.store.leading(world.leadership.term()) as tx:
        tx.segments.add(publication(other), [])

    with world.store.reading() as tx:
        assert [p.task_id for p in tx.segments.publications(TOPIC)] == [one.wanted.task_id]
