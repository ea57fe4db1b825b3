"""Cleaning up behind tasks that published: the table stays whole, what nothing names goes (P23)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tasks.contract.messages import PublishOutcome, RejectsFile
from tests.supervisor.core.snapshots import TOPIC
from tests.supervisor.scenarios.publishers import first
from tests.supervisor.world import GC_DELAY, Replica, World, publish_request
from tests.supervisor.yard import SECOND, DiskYard


@dataclass
class Published:
    """A task that has published a file and rejects, with the batches of its merge beside them."""

    replica: Replica
    named: Sequence[Path]
    unnamed: Sequence[Path]


@pytest.fixture
def yard(world: World, tmp_path: Path) -> DiskYard:
    """Two replicas whose range is fixed, and their warehouse."""
    return DiskYard(world, tmp_path / "warehouse")


@pytest.fixture
def published(yard: DiskYard) -> Published:
    hand, replica = first(yard.world)
    request = publish_request(replica.wanted)
    [file] = request.segments
    spans = tuple(s.model_copy(update={"last": s.last - 1, "rows": s.rows - 1}) for s in file.spans)
    rows = sum(s.rows for s in spans)
    rejects = RejectsFile(
        path=f"{TOPIC}/data/{replica.wanted.task_id}/rejects/rejects.parquet",
        records=2,
        size_bytes=1,
        sha256="0" * 64,
    )
    request = request.model_copy(
        update={
            "segments": (file.model_copy(update={"spans": spans, "rows": rows}),),
            "rejects": rejects,
        }
    )
    named = [
        yard.writes(replica, "part-0.parquet"),
        yard.writes(replica, "rejects/rejects.parquet"),
    ]
    unnamed = [
        yard.writes(replica, "batch-0.parquet"),
        yard.writes(replica, "batches/1/batch-1.parquet"),
        yard.writes(replica, "rejects/old.parquet"),
    ]
    answer = yard.world.publishing.publish(request.task_id, replica.wanted.token, request)
    assert answer.outcome is PublishOutcome.COMMITTED
    yard.stops(hand, replica)
    return Published(replica, named, unnamed)


def exist(files: Sequence[Path]) -> list[bool]:
    return [file.exists() for file in files]


def take_out(world: World, task_id: str) -> None:
    """Take what a task published out of its table."""
    with world.store.leading(world.leadership.term()) as tx:
        ids = [segment.id for segment in tx.segments.of_task(task_id)]
        tx.segments.mark_unused(ids, world.clock.now())


def condemn(world: World, task_id: str) -> None:
    """Let the time pass by in which it can be put back."""
    with world.store.leading(world.leadership.term()) as tx:
        for segment in tx.segments.of_task(task_id):
            assert segment.unused_at is not None
            assert tx.segments.condemn(segment.id, segment.unused_at, world.clock.now())


def test_of_a_published_task_only_unnamed_files_go_and_only_after_the_delay(
    yard: DiskYard, published: Published
) -> None:
    """Goal: the table stays whole; a reader of yet unpublished rows has time to finish."""
    yard.waits(GC_DELAY - SECOND)
    assert exist(published.unnamed) == [True] * 3

    yard.waits(SECOND)

    assert exist(published.unnamed) == [False] * 3
    assert exist(published.named) == [True] * 2
    assert not (yard.path(published.replica) / "batches").exists()


def test_a_published_task_is_settled_and_keeps_its_files(
    yard: DiskYard, published: Published
) -> None:
    yard.waits().waits()
    assert not yard.is_settled(published.replica)

    yard.waits()

    assert yard.is_settled(published.replica)
    assert exist(published.named) == [True] * 2
    yard.queues(published.replica.wanted.task_id)  # as a person may, who replays an event
    for _ in range(3):
        yard.waits()
    assert exist(published.named) == [True] * 2


def test_a_file_of_the_table_that_was_taken_out_is_left_to_the_queue_of_segment_files(
    yard: DiskYard, published: Published
) -> None:
    """Goal: an unused segment can be put back, and an export may name one that is condemned."""
    [part, _] = published.named
    take_out(yard.world, published.replica.wanted.task_id)
    for _ in range(2):
        yard.waits()
    assert exist([part, *published.unnamed]) == [True, False, False, False]

    condemn(yard.world, published.replica.wanted.task_id)
    yard.queues(published.replica.wanted.task_id)
    for _ in range(3):
        yard.waits()

    assert part.exists()
    assert yard.is_settled(published.replica)


def test_a_worker_that_comes_back_late_does_not_cost_an_export_its_file(
    yard: DiskYard, published: Published
) -> None:
    """Goal: the cleanup behind a task that begins only after its segment was condemned spares it.

    The event waited for the worker; the export stands still, so the file waits for the export.
    """
    [part, _] = published.named
    take_out(yard.world, published.replica.wanted.task_id)
    condemn(yard.world, published.replica.wanted.task_id)

    for _ in range(3):
        yard.waits()

    assert exist([part, *published.unnamed]) == [True, False, False, False]
    assert yard.is_settled(published.replica)


def test_a_link_under_a_published_task_is_not_followed(
    yard: DiskYard, published: Published, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious")
    (yard.path(published.replica) / "link").symlink_to(outside)
    (yard.path(published.replica) / "file-link").symlink_to(outside / "precious")

    for _ in range(3):
        yard.waits()

    assert not (yard.path(published.replica) / "link").is_symlink()
    assert (outside / "precious").read_text() == "precious"
    assert exist(published.named) == [True] * 2


@pytest.mark.parametrize("is_published", [False, True])
def test_a_task_folder_that_is_itself_a_link_is_not_followed(
    yard: DiskYard, tmp_path: Path, *, is_published: bool
) -> None:
    """Goal: what lies outside the warehouse is never deleted."""
    hand, replica = first(yard.world)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious")
    yard.path(replica).symlink_to(outside)
    if is_published:
        assert yard.world.publish(hand, replica).outcome is PublishOutcome.COMMITTED
    else:
        yard.ends(replica)
    yard.stops(hand, replica)

    for _ in range(3):
        yard.waits()

    assert (outside / "precious").read_text() == "precious"
    assert yard.is_settled(replica)


def test_the_sibling_of_a_published_task_loses_its_whole_folder(
    yard: DiskYard, published: Published, world: World
) -> None:
    """Goal: files of the replica that did not win are nobody's."""
    hand, sibling = next(
        (h, r) for h, r in world.replicas() if r is not published.replica and r.wanted.order.end
    )
    file = yard.writes(sibling, "part-0.parquet")
    yard.stops(hand, sibling)

    yard.waits()

    assert not yard.path(sibling).exists()
    assert not file.exists()
    assert exist(published.named) == [True] * 2
