"""A reset does what its preview has shown, or nothing: while ranges publish and records come."""

from collections.abc import Callable

import pytest

from supervisor.core.model.rows import GapKind
from supervisor.core.planning.observed import StreamState
from supervisor.core.planning.offset_moves import LogEnd, NewOffsets, preview_digest
from supervisor.core.values.errors import InvalidRequest, PreviewOutdated
from supervisor.services.supervisors.previews import KEPT_MAX, Previews
from supervisor.services.supervisors.reset import ResetDone, _initial
from tests.supervisor.core.planning.plan.test_bounds import bounded
from tests.supervisor.core.snapshots import TOPIC, offsets, part, stream
from tests.supervisor.services.supervisors.test_resets import (
    RECORDS,
    committed,
    gaps,
    publish_all,
    resets,
)
from tests.supervisor.world import World


def shown(done: ResetDone) -> list[tuple[int, int, int, GapKind]]:
    """What a preview says, in the form of the gaps that are declared."""
    return sorted(
        (move.partition.partition, each.first, each.end, each.kind)
        for move in done.moves
        for each in move.breaks
    )


def outdated(act: Callable[[], object]) -> ResetDone:
    with pytest.raises(PreviewOutdated) as caught:
        act()
    assert isinstance(caught.value.now, ResetDone)
    return caught.value.now


@pytest.mark.parametrize("to", [*LogEnd])
def test_what_is_shown_is_what_happens(world: World, to: LogEnd) -> None:
    publish_all(world)
    world.settle()
    for partition in range(2):
        world.streams.append(TOPIC, partition, 7)
    verbs = resets(world)

    preview = verbs.reset(TOPIC, "ada", to=to, dry_run=True)
    assert gaps(world) == []
    done = verbs.reset(TOPIC, "ada", to=to, expect=preview.digest)

    assert (done.moves, done.discarded) == (preview.moves, preview.discarded)
    assert (done.digest, done.dry_run) == (preview.digest, False)
    assert sorted(gaps(world)) == shown(preview) != []


def test_records_that_come_meanwhile_do_not_move_the_end_that_was_shown(world: World) -> None:
    """Goal: on a busy topic nobody could ever confirm a reset to the latest offsets."""
    verbs = resets(world)
    preview = verbs.reset(TOPIC, "ada", to=LogEnd.LATEST, dry_run=True)
    ends = {move.partition.partition: move.to for move in preview.moves}
    for partition in range(2):
        world.streams.append(TOPIC, partition, 7)

    verbs.reset(TOPIC, "ada", to=LogEnd.LATEST, expect=preview.digest)

    assert committed(world) == ends


def test_another_process_knows_the_digest_and_not_the_end(world: World) -> None:
    """Goal: a new leader does the same or nothing, too."""
    preview = resets(world).reset(TOPIC, "ada", to=LogEnd.LATEST, dry_run=True)
    same = resets(world).reset(TOPIC, "ada", to=LogEnd.LATEST, dry_run=True)
    assert same.digest == preview.digest
    for partition in range(2):
        world.streams.append(TOPIC, partition, 7)
    before = committed(world)

    now = outdated(
        lambda: resets(world).reset(TOPIC, "ada", to=LogEnd.LATEST, expect=preview.digest)
    )

    assert committed(world) == before
    assert now.dry_run
    assert now.digest != preview.digest


def test_a_publish_outdates_a_preview_and_the_new_one_can_be_confirmed(world: World) -> None:
    verbs = resets(world)
    preview = verbs.reset(TOPIC, "ada", to=LogEnd.EARLIEST, dry_run=True)
    assert shown(preview) == []
    publish_all(world)
    world.settle()

    now = outdated(lambda: verbs.reset(TOPIC, "ada", to=LogEnd.EARLIEST, expect=preview.digest))

    assert gaps(world) == []
    assert shown(now) == [(p, 0, RECORDS, GapKind.REPEATED) for p in range(2)]
    verbs.reset(TOPIC, "ada", to=LogEnd.EARLIEST, expect=now.digest)
    assert sorted(gaps(world)) == shown(now)


def test_the_preview_of_another_verb_confirms_nothing(world: World) -> None:
    """Goal: the same offsets by another verb may mean another thing."""
    publish_all(world)
    world.settle()
    verbs = resets(world)
    preview = verbs.reset(TOPIC, "ada", to=LogEnd.EARLIEST, dry_run=True)
    same = verbs.reset_offsets(TOPIC, offsets(0, 0), "ada", dry_run=True)
    assert (preview.moves, preview.discarded) == (same.moves, same.discarded)

    outdated(lambda: verbs.reset_offsets(TOPIC, offsets(0, 0), "ada", expect=preview.digest))


def test_without_a_preview_it_acts_as_before(world: World) -> None:
    done = resets(world).reset(TOPIC, "ada")

    assert (done.dry_run, done.operation is not None) == (False, True)


def test_a_bounded_supervisor_begins_where_its_range_does() -> None:
    with pytest.raises(InvalidRequest, match="bounded"):
        _initial(bounded(), stream(9, 9), LogEnd.LATEST)


def test_the_digest_is_of_all_that_is_shown(world: World) -> None:
    publish_all(world)
    world.settle()
    moves = resets(world).reset(TOPIC, "ada", to=LogEnd.EARLIEST, dry_run=True).moves
    whole = preview_digest(("reset", TOPIC), moves, ["g1", "g2"])

    assert preview_digest(("reset", TOPIC), moves, ["g2", "g1"]) == whole
    others = [
        preview_digest(("reset", "other"), moves, ["g1", "g2"]),
        preview_digest(("reset", TOPIC), moves[1:], ["g1", "g2"]),
        preview_digest(("reset", TOPIC), moves, ["g1"]),
    ]
    assert len({whole, *others}) == 4


def seen(*ends: int, earliest: int = 0) -> StreamState:
    return stream(*ends, earliest=earliest)


def test_offsets_that_kafka_no_longer_holds_are_not_taken_again() -> None:
    previews = Previews()
    new = NewOffsets({part(0): 5}, {TOPIC: "id-1"}, {part(0): 0})
    previews.keep("a", new)

    assert previews.recall("a", seen(9)) == new
    assert previews.recall("a", seen(9, earliest=6)) is None
    assert previews.recall("a", seen(4)) is None
    assert previews.recall("b", seen(9)) is None


def test_the_oldest_of_too_many_previews_goes() -> None:
    previews = Previews()
    new = NewOffsets({}, {}, {})
    for number in range(KEPT_MAX + 1):
        previews.keep(str(number), new)

    assert previews.recall("0", seen(9)) is None
    assert previews.recall("1", seen(9)) is not None
