"""Which files a task may offer: its own, within its range, each once."""

import pytest

from supervisor.control.publishing.offered_files import check_files
from supervisor.core.model.rows import TaskStatus
from supervisor.core.values.errors import UnusableFiles
from tasks.contract.messages import PublishOutcome, PublishRequest, RejectsFile, SegmentFile
from tests.supervisor.core.snapshots import TOPIC
from tests.supervisor.scenarios.publishers import (
    asks,
    assert_nothing_was_published,
    committed,
    first,
    fixed_end,
    task_of,
)
from tests.supervisor.world import Hand, Replica, World, publish_request, segment_file


def refused(world: World, replica: Replica, request: PublishRequest, why: str) -> None:
    with pytest.raises(UnusableFiles, match=why):
        check_files(task_of(world, replica), request)


@pytest.fixture
def unusable(world: World) -> tuple[Hand, Replica, PublishRequest]:
    """A task that offers a file twice."""
    hand, replica = first(world)
    request = publish_request(replica.wanted)
    return hand, replica, request.model_copy(update={"segments": request.segments * 2})


def test_files_that_do_not_fit_end_their_task_and_people_can_read_why(
    world: World, unusable: tuple[Hand, Replica, PublishRequest]
) -> None:
    """Goal: what is refused for good ends; nobody offers the same files for ever."""
    _, replica, request = unusable

    with pytest.raises(UnusableFiles, match="twice"):
        asks(world, request, replica.wanted.token)

    assert_nothing_was_published(world)
    task = task_of(world, replica)
    assert (task.status, task.lost) == (TaskStatus.FAILED, False)
    assert "a file is offered twice" in task.reason
    with world.store.reading() as tx:
        [entry] = [e for e in tx.audit.recent(100) if e.action == "publish-unusable-files"]
    assert entry.actor == f"task {task.id}"
    assert "a file is offered twice" in entry.detail["why"]


def test_a_worker_of_before_that_offers_the_same_files_again_is_stopped(
    world: World, unusable: tuple[Hand, Replica, PublishRequest]
) -> None:
    """Goal: one that takes a 400 for no answer, and asks again, hears an end as well."""
    hand, replica, request = unusable
    with pytest.raises(UnusableFiles):
        asks(world, request, replica.wanted.token)

    again = asks(world, request, replica.wanted.token)
    world.sync(hand.id)

    assert again.outcome is PublishOutcome.SUPERSEDED
    assert "a file is offered twice" in again.reason
    assert replica.wanted.task_id not in hand.held


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


def quarantining(request: PublishRequest, *, quarantined: int | None = 2) -> PublishRequest:
    """The same range, whose first partition has two bad records in place of its last rows."""
    file = request.segments[0]
    span = file.spans[0]
    fewer = span.model_copy(update={"last": span.last - 2, "rows": span.rows - 2})
    bad = span.model_copy(update={"first": span.last - 1, "rows": 2})
    folder = f"{TOPIC}/data/{request.task_id}"
    rejects = RejectsFile(
        path=f"{folder}/rejects.parquet",
        records=2,
        size_bytes=1,
        sha256="0" * 64,
        quarantined=quarantined,
    )
    rows = file.model_copy(update={"rows": file.rows - 2, "spans": (fewer, *file.spans[1:])})
    errors = file.model_copy(
        update={"path": f"{folder}/errors.parquet", "rows": 2, "spans": (bad,)}
    )
    return request.model_copy(
        update={"segments": (rows,), "rejects": rejects, "quarantine": (errors,)}
    )


def test_bad_records_become_segments_of_the_errors_table(world: World) -> None:
    """Goal: in the same transaction; they are no rows of the table, and a repeat adds nothing."""
    _, replica = first(world)
    request = quarantining(publish_request(replica.wanted))

    outcomes = [asks(world, request, replica.wanted.token).outcome for _ in range(2)]

    assert outcomes == [PublishOutcome.COMMITTED] * 2
    with world.store.reading() as tx:
        [rows] = tx.segments.of_data_source(TOPIC)
        [errors] = tx.segments.of_data_source(f"{TOPIC}__errors")
        [publication] = tx.segments.publications(TOPIC)
        assert tx.segments.data_sources() == [TOPIC, f"{TOPIC}__errors"]
    assert (rows.file, errors.file) == (request.segments[0], request.quarantine[0])
    assert (rows.id, errors.id) == (f"{rows.task_id}/0", f"{rows.task_id}/error-0")
    assert (publication.rows, publication.rejected) == (rows.file.rows, 2)
    assert publication.rejects is not None
    assert publication.rejects.quarantined == 2


def test_of_two_replicas_only_the_errors_of_the_winner_count(world: World) -> None:
    (_, winner), (_, sibling) = world.ready_to_publish()
    for replica in (winner, sibling):
        asks(world, quarantining(publish_request(replica.wanted)), replica.wanted.token)

    with world.store.reading() as tx:
        found = tx.segments.of_supervisor(TOPIC)
    assert {segment.task_id for segment in found} == {winner.wanted.task_id}
    assert len(found) == 2


def test_bad_records_that_cannot_be_the_ranges_are_refused(world: World) -> None:
    """Goal: as rows are; and there are no more of them than rejects, nor fewer than are told."""
    _, replica = first(world)
    good = quarantining(publish_request(replica.wanted))
    [errors], [span] = good.quarantine, good.quarantine[0].spans
    more = span.model_copy(update={"first": span.first - 1, "rows": 3})
    wrong = (
        ({"quarantine": (errors.model_copy(update={"path": good.segments[0].path}),)}, "twice"),
        ({"quarantine": (errors.model_copy(update={"path": "x.parquet"}),)}, "folder"),
        ({"quarantine": (errors.model_copy(update={"rows": 1}),)}, "add up"),
        ({"quarantine": ()}, "2 quarantined records are told, their files have 0"),
        ({"rejects": None}, "more than 0 rejects"),
        (
            {"quarantine": (errors.model_copy(update={"rows": 3, "spans": (more,)}),)},
            "more than 2 rejects",
        ),
        (
            {"quarantine": (_moved(errors, span.last + 1),)},
            "out of range",
        ),
    )
    for change, why in wrong:
        refused(world, replica, good.model_copy(update=change), why)


def _moved(file: SegmentFile, last: int) -> SegmentFile:
    span = file.spans[0].model_copy(update={"last": last})
    return file.model_copy(update={"spans": (span,)})
