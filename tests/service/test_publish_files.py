"""Which files a task may offer: its own, within its range, each once."""

import pytest

from supervisor.publishing import UnusableFiles, check_files
from tasks.contract import PublishOutcome, PublishRequest, RejectsFile
from tests.core.snapshots import TOPIC
from tests.service.publishers import (
    asks,
    assert_nothing_was_published,
    committed,
    first,
    fixed_end,
    task_of,
)
from tests.service.world import Replica, World, publish_request, segment_file


def refused(world: World, replica: Replica, request: PublishRequest, why: str) -> None:
    with pytest.raises(UnusableFiles, match=why):
        asks(world, request, replica.wanted.token)
    assert_nothing_was_published(world)
    assert task_of(world, replica).active  # it may offer others


@pytest.mark.parametrize(
    "path",
    [
        "other.parquet",
        f"{TOPIC}/data/another-task/part-0.parquet",
        "TASK-and-more/part-0.parquet",
        "TASK/../another-task/part-0.parquet",
        "TASK//part-0.parquet",
        "TASK/./part-0.parquet",
        "TASK/..",
        "TASK/",
        "TASK",
    ],
)
def test_a_file_outside_the_tasks_folder_is_refused(world: World, path: str) -> None:
    """Goal: no task makes rows of what another one wrote."""
    _, replica = first(world)
    request = publish_request(replica.wanted)
    inside = path.replace("TASK", f"{TOPIC}/data/{request.task_id}")
    file = request.segments[0].model_copy(update={"path": inside})
    rejects = RejectsFile(path=inside, records=1, size_bytes=1, sha256="0" * 64)

    refused(world, replica, request.model_copy(update={"segments": (file,)}), "folder")
    only_rejects = request.model_copy(update={"segments": (), "rejects": rejects})
    refused(world, replica, only_rejects, "folder")


def test_a_file_offered_twice_is_refused(world: World) -> None:
    _, replica = first(world)
    request = publish_request(replica.wanted)
    twice = request.model_copy(update={"segments": request.segments * 2})

    refused(world, replica, twice, "twice")


def test_offsets_outside_the_range_are_refused(world: World) -> None:
    """Goal: a file holds offsets of the range that is committed, and no others."""
    _, replica = first(world)
    request = publish_request(replica.wanted)
    file = request.segments[0]
    span = file.spans[0]
    wrong: list[dict[str, int | str]] = [
        {"last": span.last + 1},
        {"first": span.first - 1},
        {"first": span.last, "last": span.first},
        {"partition": 9},
        {"topic": "another"},
    ]

    for change in wrong:
        spans = (span.model_copy(update=change), *file.spans[1:])
        offered = (file.model_copy(update={"spans": spans}),)
        refused(world, replica, request.model_copy(update={"segments": offered}), "out of range")


def test_spans_that_do_not_add_up_to_the_rows_are_refused(world: World) -> None:
    _, replica = first(world)
    request = publish_request(replica.wanted)
    less = request.segments[0].model_copy(update={"rows": 1})

    refused(world, replica, request.model_copy(update={"segments": (less,)}), "add up")


def test_rolled_up_rows_may_stand_for_more_records_and_never_for_less(world: World) -> None:
    _, replica = first(world)
    request = publish_request(replica.wanted)
    file = request.segments[0]
    fewer = request.model_copy(update={"segments": (file.model_copy(update={"rows": 1}),)})
    more = file.model_copy(update={"rows": file.rows + 1})
    again = file.model_copy(update={"path": f"{file.path}.2", "rows": 1})

    check_files(task_of(world, replica), fewer, rolled_up=True)
    for files, why in (((more,), "add up"), ((*fewer.segments, again), "do not fit")):
        offered = request.model_copy(update={"segments": files})
        with pytest.raises(UnusableFiles, match=why):
            check_files(task_of(world, replica), offered, rolled_up=True)


def test_more_rows_than_a_span_has_offsets_are_refused(world: World) -> None:
    """Goal: rows too many in one partition do not hide behind rows too few in another."""
    _, replica = first(world)
    request = publish_request(replica.wanted)
    file = request.segments[0]
    a, b = file.spans[:2]
    moved = (
        a.model_copy(update={"rows": a.rows + b.rows + 1}),
        b.model_copy(update={"rows": -1}),
        *file.spans[2:],
    )
    offered = (file.model_copy(update={"spans": moved}),)

    refused(world, replica, request.model_copy(update={"segments": offered}), "rows do not fit")


def test_more_rows_and_rejects_than_offsets_are_refused(world: World) -> None:
    """Goal: a record that is offered twice, in two files or as row and reject, is found out."""
    _, replica = first(world)
    wanted = replica.wanted
    request = publish_request(wanted)
    assert wanted.order.end is not None
    again = segment_file(wanted.task_id, wanted.start, wanted.order.end, "part-1.parquet")
    rejects = RejectsFile(
        path=f"{TOPIC}/data/{wanted.task_id}/rejects.parquet",
        records=1,
        size_bytes=1,
        sha256="0" * 64,
    )

    both = request.model_copy(update={"segments": (*request.segments, again)})
    refused(world, replica, both, "do not fit")
    refused(world, replica, request.model_copy(update={"rejects": rejects}), "do not fit")


def test_a_range_without_rows_needs_no_files(world: World) -> None:
    """Goal: holes and control records take offsets and make no rows (P12)."""
    _, replica = first(world)
    request = publish_request(replica.wanted).model_copy(update={"segments": ()})

    check_files(task_of(world, replica), request)
    assert asks(world, request, replica.wanted.token).outcome is PublishOutcome.COMMITTED
    assert committed(world) == {fixed_end(replica)}


def test_an_end_before_its_start_is_refused(world: World) -> None:
    _, replica = first(world)
    request = publish_request(replica.wanted)
    turned = request.model_copy(update={"start": request.end, "end": request.start})

    with pytest.raises(UnusableFiles):
        check_files(task_of(world, replica), turned)
