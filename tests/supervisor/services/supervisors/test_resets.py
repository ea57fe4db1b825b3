"""Resets: durable and on record when they return, on every kind of store."""

from datetime import timedelta

import pytest

from supervisor.control.loop import Loop
from supervisor.control.observe import observe
from supervisor.core.model.rows import GapKind, OffsetGap, TaskStatus
from supervisor.core.planning.observed import StreamTrouble
from supervisor.core.planning.states import roll_up
from supervisor.core.values.errors import (
    InvalidOffsets,
    StreamUnavailable,
    SupervisorNotFound,
    TopicMissing,
)
from supervisor.core.values.ids import ordinal_of
from supervisor.ports.store import Store
from supervisor.services.supervisors.reset import ResetDone, Resets
from tasks.contract.messages import PublishOutcome
from tasks.contract.offsets import TopicPartition
from tests.supervisor.core.snapshots import HOUR, TOPIC, offsets, part, spec
from tests.supervisor.scenarios.promises import assert_promises
from tests.supervisor.world import ENDINGS, World

RECORDS = 15
"""Of each partition; the first range of the world's story is fixed at their end."""


def resets(world: World) -> Resets:
    """The verbs; the loop is never started."""
    return Resets(
        world.store,
        world.streams,
        world.clock,
        world.leadership,
        Loop(lambda _: None, world.clock, threads=1),
        ENDINGS,
    )


def committed(world: World) -> dict[int, int]:
    with world.store.reading() as tx:
        return {p.partition: row.next_offset for p, row in tx.offsets.of(TOPIC).items()}


def gaps(world: World) -> list[tuple[int, int, int, GapKind]]:
    with world.store.reading() as tx:
        return [_row_of(gap) for gap in tx.offsets.gaps(TOPIC)]


def _row_of(gap: OffsetGap) -> tuple[int, int, int, GapKind]:
    return gap.partition.partition, gap.first, gap.end, gap.kind


def publish_all(world: World) -> list[PublishOutcome]:
    """Let every replica that has reached its end ask to publish."""
    return [world.publish(h, r).outcome for h, r in world.ready_to_publish()]


def go_on(world: World, rounds: int = 4) -> None:
    """Let what is asked for be started, read and published."""
    for _ in range(rounds):
        world.settle()
        world.sync()
        world.read(1_000)
        world.sync()
        world.clock.advance(HOUR)
        for _ in range(2):
            world.settle()
            world.sync()
        publish_all(world)


def state(world: World) -> tuple[str, str]:
    seen = observe(TOPIC, world.shell.sources, world.clock.now())
    assert seen is not None
    rolled = roll_up(seen, None)
    return rolled.detailed, rolled.why


def published(world: World, partition: int) -> list[tuple[int, int]]:
    with world.store.reading() as tx:
        return [
            (p.start[part(partition)], p.end[part(partition)])
            for p in tx.segments.publications(TOPIC)
            if part(partition) in p.start
        ]


def _came_later(world: World) -> list[bool]:
    """Tell of each publication of partition 0 whether its generation is later than the reset."""
    with world.store.reading() as tx:
        last = tx.offsets.gaps(TOPIC)[0].last_ordinal
        mine = [p for p in tx.segments.publications(TOPIC) if part(0) in p.start]
    assert last is not None
    return [ordinal_of(p.generation_id) > last for p in mine]


def test_a_reset_begins_again_and_declares_what_is_read_twice(world: World) -> None:
    assert PublishOutcome.COMMITTED in publish_all(world)
    world.settle()

    done = resets(world).reset(TOPIC, "ada")

    assert committed(world) == {0: 0, 1: 0}
    repeated = GapKind.REPEATED
    assert gaps(world) == [(0, 0, RECORDS, repeated), (1, 0, RECORDS, repeated)]
    assert [move.count(repeated) for move in done.moves] == [RECORDS, RECORDS]
    go_on(world)
    assert published(world, 0) == [(0, RECORDS), (0, RECORDS)]
    assert committed(world) == {0: RECORDS, 1: RECORDS}


def test_a_publish_that_is_under_way_is_superseded(world: World) -> None:
    """Goal: Druid leaves publishing tasks alone, and they may still commit (H7)."""
    resets(world).reset(TOPIC, "ada")

    assert set(publish_all(world)) == {PublishOutcome.SUPERSEDED}
    assert committed(world) == {0: 0, 1: 0}
    with world.store.reading() as tx:
        assert tx.generations.live(TOPIC) == []
        assert tx.tasks.active(TOPIC) == []
        ended = tx.tasks.find(status=TaskStatus.FAILED, supervisor_id=TOPIC)
        assert ended
        assert all("reset by ada" in task.reason for task in ended)
    go_on(world)
    assert_promises(world.store)


def test_who_what_and_why_is_on_record(world: World) -> None:
    publish_all(world)

    resets(world).reset_offsets(TOPIC, {part(1): 3}, "ada")

    with world.store.reading() as tx:
        entries = {e.action: e for e in tx.audit.recent(20)}
    assert entries["reset-offsets"].actor == "ada"
    assert entries["reset-offsets"].detail["moved"] == "clicks:1 from 15 to 3 (12 repeated)"
    assert entries["discard"].detail["unpublished"] == "clicks:0 from 15, clicks:1 from 15"


def test_only_the_named_partitions_move(world: World) -> None:
    publish_all(world)

    resets(world).reset_offsets(TOPIC, {part(1): 3}, "ada")

    assert committed(world) == {0: RECORDS, 1: 3}
    assert gaps(world) == [(1, 3, RECORDS, GapKind.REPEATED)]


def test_later_offsets_skip_what_kafka_holds_and_lose_what_it_does_not(world: World) -> None:
    """Goal: the number of lost records is exact (E4)."""
    publish_all(world)
    world.write(20)
    world.streams.expire(TOPIC, 0, 18)

    done = resets(world).reset_offsets(TOPIC, {part(0): 30}, "ada")

    assert gaps(world) == [(0, 15, 18, GapKind.LOST), (0, 18, 30, GapKind.SKIPPED)]
    assert str(done.moves[0]) == "clicks:0 from 15 to 30 (12 skipped, 3 lost)"


def test_a_range_that_shares_no_partition_reads_on(store: Store) -> None:
    """Source: P16: transitively, and no further."""
    world = World(store, spec(task_count=2))
    world.read_along()

    done = resets(world).reset_offsets(TOPIC, {part(0): 5}, "ada")

    assert [g.group for g in done.discarded] == [0]
    with world.store.reading() as tx:
        assert [set(g.start) for g in tx.generations.live(TOPIC)] == [{part(1)}]


def test_a_range_in_another_layout_that_shares_a_partition_goes_too(store: Store) -> None:
    """Source: P16."""
    world = World(store, spec(task_count=1))
    world.read_along()
    world.set_spec(spec(task_count=2))
    for _ in range(3):
        world.settle()
        world.sync()

    done = resets(world).reset_offsets(TOPIC, {part(0): 0}, "ada")

    assert sorted(len(g.start) for g in done.discarded) == [1, 1, 2]
    go_on(world)
    assert_promises(world.store)


def test_a_dry_run_tells_the_same_and_changes_nothing(world: World) -> None:
    publish_all(world)
    before = committed(world)

    dry = resets(world).reset(TOPIC, "ada", dry_run=True)

    assert committed(world) == before
    assert gaps(world) == []
    done = resets(world).reset(TOPIC, "ada")
    assert (dry.moves, dry.discarded) == (done.moves, done.discarded)
    assert dry == ResetDone(TOPIC, True, done.moves, done.discarded, done.digest)


def test_without_kafkas_offsets_nothing_is_done(world: World) -> None:
    world.streams.fail(StreamTrouble.UNREACHABLE, "no route")

    with pytest.raises(StreamUnavailable, match="no route"):
        resets(world).reset(TOPIC, "ada")

    assert publish_all(world)[0] is PublishOutcome.COMMITTED


@pytest.mark.parametrize(
    ("new_offsets", "message"),
    [
        ({part(9): 0}, "clicks:9 is no partition of it"),
        ({part(0): 99}, "clicks:0: 99 is not an offset to go on at"),
        ({part(0): 5, part(1): 1}, "clicks:1: 1 is not an offset"),
    ],
)
def test_offsets_that_cannot_be_read_are_refused_whole(
    world: World, new_offsets: dict[TopicPartition, int], message: str
) -> None:
    world.streams.expire(TOPIC, 1, 2)

    with pytest.raises(InvalidOffsets, match=message):
        resets(world).reset_offsets(TOPIC, new_offsets, "ada")

    assert gaps(world) == []
    assert committed(world) == {0: 0, 1: 0}


def test_a_new_supervisor_can_be_told_where_to_begin(store: Store) -> None:
    """Goal: post it suspended, set its offsets, resume: the way that Druid's users know."""
    world = World(store, spec(task_count=1, suspended=True))
    world.write(10)

    resets(world).reset_offsets(TOPIC, {part(1): 7}, "ada")
    world.set_spec(spec(task_count=1))
    go_on(world)

    assert gaps(world) == []
    assert published(world, 0) == [(0, 10)]
    assert published(world, 1) == [(7, 10)]


def test_what_is_terminated_cannot_be_reset(world: World) -> None:
    world.set_spec(None)

    with pytest.raises(SupervisorNotFound):
        resets(world).reset(TOPIC, "ada")


def test_a_reset_takes_up_a_topic_that_was_made_anew_with_fewer_partitions(world: World) -> None:
    """Goal: the way out of TOPIC_CHANGED; nothing of the two topics mixes (E7)."""
    publish_all(world)
    world.streams.create(TOPIC, 1, "id-2")
    world.ends = {part(0): 0}
    world.write(40)
    assert state(world)[0] == "TOPIC_CHANGED"
    with pytest.raises(InvalidOffsets, match="deleted and created again"):
        resets(world).reset_offsets(TOPIC, {part(0): 3}, "ada")

    resets(world).reset(TOPIC, "ada")

    assert committed(world) == {0: 0}
    anew = GapKind.RECREATED
    assert gaps(world) == [(0, 0, RECORDS, anew), (1, 0, RECORDS, anew)]
    go_on(world)
    assert state(world)[0] == "RUNNING"
    assert published(world, 0) == [(0, RECORDS), (0, 40)]
    assert _came_later(world) == [False, True]


def test_nothing_of_a_deleted_topic_is_forgotten_and_no_task_is_started(world: World) -> None:
    """Source: E6."""
    publish_all(world)
    before = committed(world)
    world.streams.fail(StreamTrouble.NO_TOPIC, "topic clicks does not exist")
    for _ in range(3):
        world.settle()
        world.clock.advance(timedelta(minutes=1))
    lost = {r.wanted.task_id for _, r in world.replicas()}
    with world.store.sound.leading(world.leadership.term()) as tx:
        for task in tx.tasks.active(TOPIC):
            tx.tasks.end(task.id, TaskStatus.FAILED, "OFFSETS_UNREADABLE: gone", world.clock.now())

    for _ in range(20):
        world.settle()
        world.sync()
        world.clock.advance(timedelta(minutes=5))

    assert lost
    assert list(world.replicas()) == []
    assert committed(world) == before
    assert state(world)[0] == "TOPIC_GONE"
    with pytest.raises(TopicMissing, match="make it anew and reset then"):
        resets(world).reset(TOPIC, "ada")
    assert committed(world) == before
    world.streams.heal()
    world.write(3)
    go_on(world)
    assert_promises(world.store)


def test_an_automatic_reset_happens_once_and_everything_else_is_read(store: Store) -> None:
    """Goal: the lost range, exactly, is on record; nothing else is missing (E4)."""
    wanted = spec(task_count=1)
    tuning = wanted.tuning_config.model_copy(update={"reset_offset_automatically": True})
    world = World(store, wanted.model_copy(update={"tuning_config": tuning}))
    world.write(10)
    world.hands.all["w1"].slots = world.hands.all["w2"].slots = 0
    world.settle()
    world.streams.expire(TOPIC, 0, 4)
    world.settle()
    world.hands.all["w1"].slots = 4

    go_on(world)

    assert gaps(world) == [(0, 0, 4, GapKind.LOST)]
    assert published(world, 0) == [(4, 10)]
    assert published(world, 1) == [(0, 10)]
    reset_actions = [a for p in world.passes for a in p.decided.actions if "reset" in a.why.lower()]
    assert len(reset_actions) == 1


def test_a_cut_log_is_read_again_from_its_end_only_when_it_is_asked_for(world: World) -> None:
    """Source: E3, E5."""
    publish_all(world)
    world.settle()
    world.sync()
    world.hands.all.clear()
    with world.store.sound.leading(world.leadership.term()) as tx:
        for task in tx.tasks.active(TOPIC):
            tx.tasks.end(task.id, TaskStatus.FAILED, "gone", world.clock.now(), lost=True)
    world.clock.advance(timedelta(minutes=1))
    world.streams.cut(TOPIC, 0, 9)
    world.settle()
    detailed, why = state(world)
    assert detailed == "LOST_CONTINUITY"
    assert "offset 15 has been read already, Kafka holds 0 to 9" in why
    assert committed(world)[0] == RECORDS

    resets(world).reset_offsets(TOPIC, {part(0): 9}, "ada")

    assert gaps(world) == [(0, 9, RECORDS, GapKind.REPEATED)]
    assert state(world)[0] != "LOST_CONTINUITY"
    assert offsets(9, RECORDS) == {part(n): at for n, at in committed(world).items()}
