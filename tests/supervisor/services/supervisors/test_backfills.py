"""resetToLatestAndBackfill on every kind of store: each record is read by one of the two, once.

Source: Druid 39's resetToLatestAndBackfill, whose documentation admits duplicates.
"""

from collections.abc import Iterator

import pytest

from supervisor.control.observe import observe
from supervisor.core.history.operations import OperationKind
from supervisor.core.model.rows import GapKind, GenerationState
from supervisor.core.planning.states import State, roll_up
from supervisor.core.spec.reader import read_spec
from supervisor.core.values.errors import MetadataBusy
from supervisor.core.values.export_formats import ExportFormat
from supervisor.metadata.migrate import migrate
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Store
from supervisor.services.supervisors.reset import TRIES
from tasks.contract.messages import PublishOutcome
from tasks.contract.offsets import TopicPartition
from tests.conformance.stories import LEASE_TTL
from tests.supervisor.control.test_publish_race import MeddledStore
from tests.supervisor.core.snapshots import TOPIC, part, spec
from tests.supervisor.scenarios.promises import assert_promises
from tests.supervisor.scenarios.publishers import fix_a_range
from tests.supervisor.services.supervisors.backfilling import (
    BEHIND,
    OWN,
    assert_each_is_there_once,
    backfills,
    go_on,
    run,
    spec_of,
)
from tests.supervisor.services.supervisors.test_resets import RECORDS, committed, gaps, publish_all
from tests.supervisor.world import Crash, World


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
        kinds = [h.happening.kind for h in tx.happenings.before(None, 20, supervisor_id=OWN)]
    assert gap.why == f"reset to latest by ada: {OWN} reads what is skipped"
    verbs = {e.subject: (e.actor, e.action) for e in reversed(entries) if e.action != "discard"}
    assert verbs[TOPIC] == ("ada", "reset-to-latest-and-backfill")
    assert verbs[OWN] == ("ada", "apply")
    assert operations == {
        TOPIC: OperationKind.RESET_TO_LATEST_AND_BACKFILL,
        OWN: OperationKind.APPLY,
    }
    assert kinds == ["offsets-initialised", "supervisor-created"]


@pytest.mark.parametrize(
    ("task_count", "own", "given"), [(None, 2, 2), (None, 5, 2), (1, 2, 1), (9, 1, 2)]
)
def test_its_groups_are_those_asked_for_and_no_more_than_partitions(
    store: Store, task_count: int | None, own: int, given: int
) -> None:
    world = World(store, spec(task_count=own))
    world.settle()
    world.write(BEHIND)

    assert run(world, task_count).task_count == given

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
