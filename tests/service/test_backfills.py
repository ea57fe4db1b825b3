"""resetToLatestAndBackfill on every kind of store: each record is read by one of the two, once.

Source: Druid 39's resetToLatestAndBackfill, whose documentation admits duplicates.
"""

from collections.abc import Callable, Iterator

import pytest

from supervisor.backfills import BackfillDone, Backfills
from supervisor.core.backfills import NoBackfill
from supervisor.core.errors import (
    InvalidSpec,
    MetadataBusy,
    StreamUnavailable,
    SupervisorNotFound,
)
from supervisor.core.model import GapKind, GenerationState
from supervisor.core.observed import StreamTrouble
from supervisor.core.operations import OperationKind
from supervisor.core.preconditions import Expected, PreconditionFailed
from supervisor.core.spec import SupervisorSpec
from supervisor.core.spec_bounds import BoundedStreamConfig
from supervisor.core.spec_exports import ExportFormat
from supervisor.core.spec_reader import read_spec
from supervisor.core.states import State, roll_up
from supervisor.metadata.migrate import migrate
from supervisor.metadata.store import SqlStore
from supervisor.observe import observe
from supervisor.ports import Store
from supervisor.resets import TRIES
from tasks.contract import PublishOutcome
from tasks.offsets import TopicPartition
from tests.conformance.stories import LEASE_TTL
from tests.core.snapshots import HOUR, TOPIC, part, spec
from tests.service.promises import assert_promises
from tests.service.publishers import fix_a_range
from tests.service.test_publish_race import MeddledStore
from tests.service.test_resets import RECORDS, committed, gaps, publish_all, resets
from tests.service.test_resets import go_on as read_to_the_end
from tests.service.world import Crash, World

OWN = f"{TOPIC}_backfill_aaaaaaaa"
BEHIND = 20
"""Records of each partition that nobody has read yet."""


def _fine(_: SupervisorSpec) -> None:
    """Allow every spec."""


def backfills(
    world: World,
    letters: Callable[[], str] = lambda: "aaaaaaaa",
    reach: Callable[[str], None] = lambda _: None,
    check: Callable[[SupervisorSpec], None] = _fine,
) -> Backfills:
    return Backfills(resets(world), check, letters, reach)


def run(world: World, task_count: int | None = None) -> BackfillDone:
    return backfills(world).run(TOPIC, "ada", task_count)


class _Beside(World):
    id = OWN


def beside(world: World) -> World:
    """The backfill's supervisor, in the world of the first one."""
    second = _Beside.__new__(_Beside)
    second.__dict__.update(world.__dict__)
    second.made = []
    return second


def go_on(world: World, rounds: int = 5) -> None:
    """Let both be started, read and published, until nothing is left."""
    both = (world, beside(world))
    for _ in range(rounds):
        for each in both:
            each.settle()
        world.sync()
        world.read(1_000)
        world.sync()
        world.clock.advance(HOUR)
        for _ in range(2):
            for each in both:
                each.settle()
            world.sync()
        publish_all(world)
    for each in both:
        each.settle()


def spec_of(store: Store, supervisor_id: str = OWN) -> SupervisorSpec | None:
    with store.reading() as tx:
        newest = tx.specs.newest(supervisor_id)
    return None if newest is None else newest.spec


def offsets_read(store: Store) -> list[tuple[int, int]]:
    """(partition, offset) of every row of both, as their files tell."""
    with store.reading() as tx:
        segments = [*tx.segments.of_supervisor(TOPIC), *tx.segments.of_supervisor(OWN)]
    return sorted(
        (span.partition, at)
        for segment in segments
        for span in segment.file.spans
        for at in range(span.first, span.last + 1)
    )


def assert_each_is_there_once(world: World) -> None:
    wanted = [(p.partition, at) for p, end in world.ends.items() for at in range(end)]
    assert offsets_read(world.store) == sorted(wanted)
    assert_promises(world.store, OWN)


def test_it_goes_on_at_the_end_and_another_reads_exactly_what_lies_before(world: World) -> None:
    publish_all(world)
    world.write(BEHIND)

    done = run(world)

    end = RECORDS + BEHIND
    assert committed(world) == {0: end, 1: end}
    skipped = GapKind.SKIPPED
    assert gaps(world) == [(0, RECORDS, end, skipped), (1, RECORDS, end, skipped)]
    assert (done.backfill_id, done.task_count) == (OWN, 1)
    wanted = spec_of(world.store)
    assert wanted is not None
    assert wanted.io_config.starts == {part(0): RECORDS, part(1): RECORDS}
    assert wanted.io_config.ends == {part(0): end, part(1): end}
    assert read_spec(wanted.normalised()).spec == wanted, "it is a spec as a user would post it"
    world.write(7)
    go_on(world)
    assert_each_is_there_once(world)
    seen = observe(OWN, world.shell.sources, world.clock.now())
    assert seen is not None
    assert roll_up(seen, None).state is State.COMPLETED


def test_what_was_read_and_not_published_is_given_up_and_read_by_the_other(world: World) -> None:
    """Goal: Druid leaves these tasks alone, so that their rows come twice."""
    world.write(BEHIND)

    done = run(world)

    assert [g.state for g in done.moved.discarded] == [
        GenerationState.PUBLISHING,
        GenerationState.READING,
    ]
    assert set(publish_all(world)) == {PublishOutcome.SUPERSEDED}
    go_on(world)
    assert_each_is_there_once(world)


def test_who_reads_what_is_on_record(world: World) -> None:
    world.write(BEHIND)

    done = run(world)

    with world.store.reading() as tx:
        entries = tx.audit.recent(20)
        [gap, *_] = tx.offsets.gaps(TOPIC)
        assert done.moved.operation is not None
        operations = {o.supervisor_id: o.kind for o in tx.operations.page(20)}
        told = [h.happening.kind for h in tx.happenings.before(None, 20, supervisor_id=OWN)]
    assert gap.why == f"reset to latest by ada: {OWN} reads what is skipped"
    verbs = {e.subject: (e.actor, e.action) for e in reversed(entries) if e.action != "discard"}
    assert verbs[TOPIC] == ("ada", "reset-to-latest-and-backfill")
    assert verbs[OWN] == ("ada", "apply")
    assert operations == {
        TOPIC: OperationKind.RESET_TO_LATEST_AND_BACKFILL,
        OWN: OperationKind.APPLY,
    }
    assert told == ["supervisor-created"]


@pytest.mark.parametrize(
    ("asked", "own", "given"), [(None, 2, 2), (None, 5, 2), (1, 2, 1), (9, 1, 2)]
)
def test_its_groups_are_those_asked_for_and_no_more_than_partitions(
    store: Store, asked: int | None, own: int, given: int
) -> None:
    world = World(store, spec(task_count=own))
    world.settle()
    world.write(BEHIND)

    assert run(world, asked).task_count == given

    wanted = spec_of(store)
    assert wanted is not None
    assert wanted.io_config.task_count == given


def test_a_partition_that_is_not_behind_reads_on(store: Store) -> None:
    """Goal: nothing is given up that nobody has to read again."""
    world = World(store, spec(task_count=2))
    for _ in range(3):
        world.settle()
        world.sync()
    world.write_to(part(0), BEHIND)

    done = run(world)

    assert [move.partition for move in done.moved.moves] == [part(0)]
    assert [set(g.start) for g in done.moved.discarded] == [{part(0)}]
    world.write(3)
    go_on(world)
    assert_each_is_there_once(world)


def test_a_partition_that_was_just_added_is_read_from_its_beginning(world: World) -> None:
    """Goal: it has no committed offset yet; neither of the two may pass its records over."""
    world.write(BEHIND)
    world.add_partitions(TOPIC, 1)
    world.write_to(part(2), 5)

    done = run(world)

    assert part(2) not in done.ranges
    go_on(world)
    assert_each_is_there_once(world)


def test_what_kafka_holds_no_more_is_lost_on_record_and_not_asked_of_the_other(
    world: World,
) -> None:
    publish_all(world)
    world.write(BEHIND)
    world.streams.expire(TOPIC, 0, RECORDS + 4)

    done = run(world)

    assert gaps(world)[:2] == [
        (0, RECORDS, RECORDS + 4, GapKind.LOST),
        (0, RECORDS + 4, RECORDS + BEHIND, GapKind.SKIPPED),
    ]
    assert done.ranges[part(0)].first == RECORDS + 4
    go_on(world)
    assert_promises(world.store, OWN)


def test_it_asks_for_no_exports_of_its_own(store: Store) -> None:
    """Goal: an export that is taken out of the first spec ends, whoever reads beside."""
    wanted = spec()
    schema = wanted.data_schema.model_copy(update={"exports": (ExportFormat.DELTA,)})
    world = World(store, wanted.model_copy(update={"data_schema": schema}))
    world.settle()
    world.write(BEHIND)

    run(world)

    own = spec_of(store)
    assert own is not None
    assert own.data_schema.exports == ()


def test_a_dry_run_tells_the_same_and_changes_nothing(world: World) -> None:
    world.write(BEHIND)
    before = committed(world)

    dry = backfills(world).run(TOPIC, "ada", dry_run=True)

    assert (committed(world), gaps(world), spec_of(world.store)) == (before, [], None)
    done = run(world)
    assert (dry.ranges, dry.task_count) == (done.ranges, done.task_count)
    assert (dry.moved.moves, dry.moved.discarded) == (done.moved.moves, done.moved.discarded)
    assert (dry.backfill_id, dry.moved.operation) == (None, None)


def _bounded() -> SupervisorSpec:
    bounds = BoundedStreamConfig(
        start_sequence_numbers={0: 0, 1: 0}, end_sequence_numbers={0: 90, 1: 90}
    )
    source = spec().io_config.model_copy(update={"bounded_stream_config": bounds})
    return spec().model_copy(update={"io_config": source})


def _pattern() -> SupervisorSpec:
    source = spec().io_config.model_copy(update={"topic": None, "topic_pattern": "cli.*"})
    return spec().model_copy(update={"io_config": source})


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (_bounded(), "reads fixed ranges already"),
        (_pattern(), "reads topicPattern"),
        (spec(suspended=True), "is suspended.*resume it first"),
    ],
)
def test_what_no_other_can_read_in_its_place_is_refused(
    store: Store, wanted: SupervisorSpec, told: str
) -> None:
    world = World(store, wanted)
    world.settle()
    world.write(BEHIND)
    before = committed(world)

    with pytest.raises(NoBackfill, match=told):
        run(world)

    assert (committed(world), gaps(world), spec_of(store)) == (before, [], None)


def test_without_anything_behind_it_is_refused(store: Store) -> None:
    """Goal: before the first offsets are stored, and when all is published."""
    world = World(store, spec())
    world.write(BEHIND)
    with pytest.raises(NoBackfill, match="nothing to backfill"):
        run(world)
    read_to_the_end(world)
    with pytest.raises(NoBackfill, match="nothing to backfill"):
        run(world)
    assert gaps(world) == []
    assert spec_of(store) is None


def test_offsets_of_a_topic_that_was_made_anew_are_nobodys_to_read(world: World) -> None:
    publish_all(world)
    world.streams.create(TOPIC, 2, "id-2")
    world.streams.append(TOPIC, 0, 90)

    with pytest.raises(NoBackfill, match="deleted and created again"):
        run(world)

    assert committed(world) == {0: RECORDS, 1: RECORDS}


def test_without_kafkas_offsets_nothing_is_done(world: World) -> None:
    world.write(BEHIND)
    world.streams.fail(StreamTrouble.UNREACHABLE, "no route")

    with pytest.raises(StreamUnavailable, match="no route"):
        run(world)

    assert publish_all(world)[0] is PublishOutcome.COMMITTED
    assert spec_of(world.store) is None


def test_who_is_not_there_has_another_version_or_is_not_allowed_any_more_is_refused(
    world: World,
) -> None:
    world.write(BEHIND)

    def forbids(_: SupervisorSpec) -> None:
        raise InvalidSpec([])

    with pytest.raises(PreconditionFailed):
        backfills(world).run(TOPIC, "ada", expected=Expected(match=frozenset({'"9-0"'})))
    with pytest.raises(InvalidSpec):
        backfills(world, check=forbids).run(TOPIC, "ada")
    world.set_spec(None)
    with pytest.raises(SupervisorNotFound):
        run(world)
    assert gaps(world) == []
    assert spec_of(world.store) is None


def test_a_publish_that_comes_before_the_transaction_is_counted(world: World) -> None:
    """Goal: the look at Kafka is older than the publish; the offsets are read in the act."""
    world.write(BEHIND)

    def publishes() -> str:
        publish_all(world)
        return "aaaaaaaa"

    done = backfills(world, publishes).run(TOPIC, "ada")

    assert {each.first for each in done.ranges.values()} == {RECORDS}
    go_on(world)
    assert_each_is_there_once(world)


def test_a_spec_that_is_stored_meanwhile_is_the_one_that_is_read_with(world: World) -> None:
    world.write(BEHIND)
    drawn = iter("ab")

    def changes() -> str:
        letter = next(drawn)
        if letter == "a":
            world.set_spec(spec(task_count=2))
        return letter * 8

    done = backfills(world, changes).run(TOPIC, "ada")

    assert (done.backfill_id, done.task_count) == (f"{TOPIC}_backfill_bbbbbbbb", 2)


def test_an_id_that_was_used_before_is_not_used_again(world: World) -> None:
    world.write(BEHIND)
    run(world)
    world.settle()
    world.write(BEHIND)
    moved = committed(world)

    with pytest.raises(MetadataBusy, match=f"{TRIES} times"):
        run(world)

    assert committed(world) == moved
    drawn = iter(("aaaaaaaa", "bbbbbbbb"))
    assert backfills(world, lambda: next(drawn)).run(TOPIC, "ada").backfill_id is not None


@pytest.mark.parametrize(
    ("place", "done"), [("backfill:in-transaction", False), ("backfill:committed", True)]
)
def test_a_crash_leaves_both_or_neither(world: World, place: str, *, done: bool) -> None:
    """Goal: between the moved offsets and the new supervisor, and just after the commit."""
    world.write(BEHIND)
    before = committed(world)

    def dies(reached: str) -> None:
        if reached == place:
            raise Crash(place)

    with pytest.raises(Crash):
        backfills(world, reach=dies).run(TOPIC, "ada")

    assert (committed(world) != before) == done
    assert (spec_of(world.store) is not None) == done
    assert bool(gaps(world)) == done
    world.take_over()
    if not done:
        run(world)
    go_on(world)
    assert_each_is_there_once(world)


@pytest.fixture
def meddled(postgresql_database: str) -> Iterator[MeddledStore]:
    """A migrated PostgreSQL."""
    migrate(postgresql_database)
    sql = SqlStore(postgresql_database, lease_ttl=LEASE_TTL)
    yield MeddledStore(sql)
    sql.close()


@pytest.mark.pg
@pytest.mark.parametrize("after", [("specs", "newest"), ("offsets", "of"), ("generations", "live")])
def test_a_publish_that_commits_inside_the_transaction_makes_it_begin_anew(
    meddled: MeddledStore, after: tuple[str, str]
) -> None:
    """Goal: on PostgreSQL each statement sees what is committed by then (P26)."""
    world = World(meddled, spec(task_count=1))
    fix_a_range(world)
    [(hand, replica)] = world.ready_to_publish()
    world.write(BEHIND)
    heard = []
    meddled.happens = lambda: heard.append(world.publish(hand, replica).outcome)
    meddled.after = after

    done = run(world)

    assert heard == [PublishOutcome.COMMITTED]
    assert replica.wanted.order.end is not None
    first: dict[TopicPartition, int] = {p: each.first for p, each in done.ranges.items()}
    assert first == replica.wanted.order.end
    go_on(world)
    assert_each_is_there_once(world)


@pytest.mark.pg
@pytest.mark.parametrize("place", ["backfill:in-transaction", "backfill:committed"])
def test_a_crash_on_postgresql_leaves_both_or_neither(meddled: MeddledStore, place: str) -> None:
    world = World(meddled, spec(task_count=1))
    fix_a_range(world)
    test_a_crash_leaves_both_or_neither(world, place, done=place.endswith("committed"))
