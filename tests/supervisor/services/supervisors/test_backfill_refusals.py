"""Backfills that are refused: nothing is moved, nothing is stored, and the text says what to do."""

import pytest

from supervisor.core.planning.observed import StreamTrouble
from supervisor.core.planning.preconditions import Expected
from supervisor.core.spec.sections.bounded import BoundedStreamConfig
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import (
    InvalidSpec,
    NoBackfill,
    PreconditionFailed,
    PreviewOutdated,
    StreamUnavailable,
    SupervisorNotFound,
)
from supervisor.ports.store import Store
from supervisor.services.supervisors.backfill import BackfillDone
from tasks.contract.messages import PublishOutcome
from tests.supervisor.core.snapshots import TOPIC, spec
from tests.supervisor.services.supervisors.backfilling import BEHIND, backfills, run, spec_of
from tests.supervisor.services.supervisors.test_resets import RECORDS, committed, gaps, publish_all
from tests.supervisor.services.supervisors.test_resets import go_on as read_to_the_end
from tests.supervisor.world import World


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
    ("wanted", "message"),
    [
        (_bounded(), "reads fixed ranges already"),
        (_pattern(), "reads topicPattern"),
        (spec(suspended=True), "is suspended.*resume it first"),
    ],
)
def test_what_no_other_can_read_in_its_place_is_refused(
    store: Store, wanted: SupervisorSpec, message: str
) -> None:
    world = World(store, wanted)
    world.settle()
    world.write(BEHIND)
    before = committed(world)

    with pytest.raises(NoBackfill, match=message):
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


def test_a_preview_that_a_publish_has_overtaken_is_outdated_though_it_has_nothing_left(
    world: World,
) -> None:
    """Goal: what it was about is published, and newer records wait: they are in the new preview."""
    world.write(BEHIND)
    verb = backfills(world)
    shown = verb.run(TOPIC, "ada", dry_run=True)
    read_to_the_end(world)
    assert committed(world) == {0: RECORDS + BEHIND, 1: RECORDS + BEHIND}
    world.write(BEHIND)

    with pytest.raises(PreviewOutdated) as refused:
        verb.run(TOPIC, "ada", expect=shown.moved.digest)

    now = refused.value.now
    assert isinstance(now, BackfillDone)
    assert {each.first for each in now.ranges.values()} == {RECORDS + BEHIND}
    assert (gaps(world), spec_of(world.store)) == ([], None)
    assert verb.run(TOPIC, "ada", expect=now.moved.digest).ranges == now.ranges


def test_a_preview_that_a_publish_has_overtaken_is_refused_where_nothing_is_behind(
    world: World,
) -> None:
    world.write(BEHIND)
    verb = backfills(world)
    shown = verb.run(TOPIC, "ada", dry_run=True)
    read_to_the_end(world)

    with pytest.raises(NoBackfill, match="nothing to backfill"):
        verb.run(TOPIC, "ada", expect=shown.moved.digest)

    assert (gaps(world), spec_of(world.store)) == ([], None)


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
