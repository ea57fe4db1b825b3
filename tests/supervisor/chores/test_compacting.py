"""Small files become one, and no reader ever sees a gap or a row twice."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from supervisor.control.end_task import task_output_of
from supervisor.core.model.rows import TaskStatus
from supervisor.core.planning.observed import Liveness
from supervisor.core.spec.sections.index import IndexSpec
from supervisor.core.spec.sections.tuning_config import TuningConfig
from supervisor.core.tables.compaction import LASTS_AT_MOST
from tasks.contract.ingest_spec import FileFormat
from tasks.contract.messages import PublishOutcome
from tests.sqlite_memory import SqliteInMemory
from tests.supervisor.chores.compactions import TARGET, Dock, dock, outcomes
from tests.supervisor.chores.exports.exports import DELTA, GRACE, ICEBERG
from tests.supervisor.chores.exports.exports_read import names_in, rows_in
from tests.supervisor.core.snapshots import HOUR, TOPIC, spec
from tests.supervisor.world import Crash

__all__ = ["dock"]

COMMITTED, SUPERSEDED = PublishOutcome.COMMITTED, PublishOutcome.SUPERSEDED


# -- the swap --------------------------------------------------------------------------------------


def test_three_files_become_one_with_every_row_once(dock: Dock) -> None:
    before = dock.all_rows()
    [row] = dock.compact()

    assert outcomes(dock) == [COMMITTED]

    [path] = dock.published()
    assert path == f"{TOPIC}/data/{row.id}/segment-00000.parquet"
    assert dock.all_rows() == before
    [ended] = dock.compactions()
    assert (ended.status, ended.detail) == (TaskStatus.SUCCESS, "3 files became one of 18 rows")
    assert dock.assignments() == []


def test_readers_see_the_old_files_until_the_very_moment_of_the_swap(dock: Dock) -> None:
    before = dock.published()
    dock.compact()
    [assignment] = dock.assignments()
    file = dock.write_file(assignment)
    assert dock.published() == before

    dock.offer(assignment, file)

    assert len(dock.published()) == 1


def test_the_new_file_is_to_be_written_as_the_newest_spec_asks(dock: Dock) -> None:
    """Goal: also when its supervisor was ended since."""
    index = IndexSpec(dimension_compression="none", dictionary_encoding=False)
    asking = spec().model_copy(update={"tuning_config": TuningConfig(index_spec=index)})
    dock.compact()
    [before] = dock.assignments()

    orders = []
    for version in (asking, None):
        with dock.store.leading(dock.leadership.term()) as tx:
            tx.specs.append(TOPIC, version, dock.clock.now(), "me")
        orders += dock.assignments()

    plain = FileFormat(compressed=False, dictionary=False)
    assert before.order.files == FileFormat()
    assert [assignment.order.files for assignment in orders] == [plain, plain]


def test_a_repeated_request_hears_the_same_and_changes_nothing(dock: Dock) -> None:
    dock.compact()
    [assignment] = dock.assignments()
    file = dock.write_file(assignment)
    answers = [dock.offer(assignment, file) for _ in range(3)]

    assert [answer.outcome for answer in answers] == [COMMITTED] * 3
    assert len(dock.published()) == 1
    assert len(dock.compactions()) == 1


def test_files_that_are_published_meanwhile_stay_beside_it(dock: Dock) -> None:
    dock.compact()
    [assignment] = dock.assignments()
    file = dock.write_file(assignment)
    newer = dock.publish_range()
    before = dock.all_rows()

    dock.offer(assignment, file)

    assert newer in dock.published()
    assert (len(dock.published()), dock.all_rows()) == (2, before)


def test_what_was_compacted_is_compacted_again(dock: Dock) -> None:
    dock.compact()
    dock.work()
    dock.publish_range()
    before = dock.all_rows()
    [again] = dock.compact()

    assert outcomes(dock) == [COMMITTED]

    assert (len(dock.published()), dock.all_rows()) == (1, before)
    assert len(again.shares) == 4


def test_an_input_that_was_taken_out_ends_it_and_nothing_changes(dock: Dock) -> None:
    dock.compact()
    [assignment] = dock.assignments()
    file = dock.write_file(assignment)
    gone = next(iter(dock.published()))
    dock.mark(gone, used=False)
    before = dock.published()

    assert dock.assignments() == [], "a worker is told to stop"
    assert dock.offer(assignment, file).outcome is SUPERSEDED

    assert dock.published() == before
    [ended] = dock.compactions()
    assert (ended.status, ended.blamed) == (TaskStatus.FAILED, False)
    dock.mark(gone, used=True)
    assert len(dock.all_rows()) == 18


def test_an_input_never_comes_back_beside_the_file_that_holds_it(dock: Dock) -> None:
    """Goal: no row twice, whatever people do."""
    inputs = list(dock.published())
    dock.compact()
    dock.work()
    before = dock.all_rows()

    dock.mark(*inputs, used=True)

    assert dock.all_rows() == before
    assert max(before.values()) == 1


def test_the_file_itself_can_be_taken_out_and_put_back(dock: Dock) -> None:
    dock.compact()
    dock.work()
    [path] = dock.published()
    before = dock.all_rows()

    dock.mark(path, used=False)
    assert dock.published() == {}
    dock.mark(path, used=True)

    assert dock.all_rows() == before


def test_inputs_are_deleted_after_their_grace_time_and_the_file_stays(dock: Dock) -> None:
    inputs = list(dock.published())
    dock.compact()
    dock.work()

    for _ in range(2):
        dock.end_lives(GRACE)

    assert [(dock.root / path).exists() for path in inputs] == [False] * 3
    assert sum(dock.all_rows().values()) == 18


@pytest.mark.parametrize("table_format", [DELTA, ICEBERG])
def test_exports_follow_and_each_version_has_every_row_once(
    tmp_path: Path, table_format: str
) -> None:
    """Goal: readers of Delta and Iceberg see the swap as one commit."""
    chosen = DELTA if table_format == DELTA else ICEBERG
    dock = Dock(SqliteInMemory(), tmp_path / "warehouse", chosen)
    for _ in range(3):
        dock.publish_range()
    dock.export(chosen)
    before = rows_in(dock, chosen)
    dock.compact()
    dock.work()
    assert rows_in(dock, chosen) == before, "the export has not followed yet"

    dock.export(chosen)

    assert rows_in(dock, chosen) == before
    assert names_in(dock, chosen) == set(dock.published())
    for _ in range(2):
        dock.end_lives(GRACE)
    assert rows_in(dock, chosen) == before


# -- crashes and changes of leader -----------------------------------------------------------------


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_crash_around_the_swap_is_healed_by_asking_again(dock: Dock, moment: str) -> None:
    before = dock.all_rows()
    dock.compact()
    [assignment] = dock.assignments()
    file = dock.write_file(assignment)
    at = dock.store.before if moment == "before" else dock.store.after
    at.add(dock.store.calls)
    with pytest.raises(Crash):
        dock.offer(assignment, file)
    dock.take_over()

    assert dock.offer(assignment, file).outcome is COMMITTED

    assert (len(dock.published()), dock.all_rows()) == (1, before)


def test_the_next_leader_goes_on_with_what_waits_and_runs(dock: Dock) -> None:
    dock.compact()
    [assignment] = dock.assignments()
    dock.take_over()

    assert dock.assignments() == [assignment]
    assert outcomes(dock) == [COMMITTED]


def test_a_worker_that_starts_anew_loses_it_and_another_attempt_begins(dock: Dock) -> None:
    before = dock.all_rows()
    [first] = dock.compact()
    [assignment] = dock.assignments()
    file = dock.write_file(assignment)
    owner = next(n for n, hand in dock.hands.all.items() if _has(dock, n))
    dock.hands.all[owner].incarnation += 1
    dock.compacting.run_once()
    assert dock.offer(assignment, file).outcome is SUPERSEDED, "it writes on, for nothing"

    [second] = dock.compact()
    assert second.id != first.id, "no two attempts share a folder"
    assert outcomes(dock) == [COMMITTED]

    assert (len(dock.published()), dock.all_rows()) == (1, before)
    assert [each.status for each in dock.compactions()] == [TaskStatus.FAILED, TaskStatus.SUCCESS]


def _has(dock: Dock, worker_id: str) -> bool:
    with dock.store.reading() as tx:
        return bool(tx.compactions.live(worker_id=worker_id))


def test_files_whose_compaction_takes_its_worker_with_it_are_left_alone(dock: Dock) -> None:
    """Goal: a job that the heap is too small for does not end a worker again and again."""
    dock.compacting.set_rule(TOPIC, TARGET, timedelta(0), "me")
    for _ in range(3):
        assert dock.compacting.run_once() == 1
        for hand in dock.hands.all.values():
            hand.incarnation += 1

    assert dock.compacting.run_once() == 0
    assert [each.live for each in dock.compactions()] == [False] * 3


def test_a_lost_worker_loses_it_a_silent_one_does_not(dock: Dock) -> None:
    dock.compact()
    for liveness, live in ((Liveness.UNKNOWN, True), (Liveness.LOST, False)):
        for hand in dock.hands.all.values():
            hand.liveness = liveness
        dock.compacting.run_once()

        assert [each.live for each in dock.compactions()] == [live]


def test_one_that_runs_far_too_long_is_given_up(dock: Dock) -> None:
    dock.compact()
    dock.clock.advance(LASTS_AT_MOST + HOUR)
    dock.hands.led = LASTS_AT_MOST + HOUR
    dock.compacting.run_once()

    [ended] = dock.compactions()
    assert (ended.status, ended.blamed) == (TaskStatus.FAILED, True)
    assert ended.detail == "it ran for more than 6 hours"


def test_how_long_one_runs_is_told_by_no_other_leaders_clock(dock: Dock) -> None:
    """Goal: a leader whose clock is ahead by hours ends nothing that has just begun."""
    dock.compact()
    ahead = LASTS_AT_MOST + HOUR
    dock.clock.advance(ahead)
    dock.hands.led = timedelta(minutes=1)
    dock.compacting.run_once()
    assert [each.live for each in dock.compactions()] == [True]

    dock.hands.led = ahead
    dock.compacting.run_once()
    assert [each.live for each in dock.compactions()] == [False]


def test_a_damaged_queue_makes_no_worker_silent(dock: Dock) -> None:
    """Goal: P24: what waits in it waits, and all else goes on: syncs, and other compactions."""
    dock.compact()
    [assignment] = dock.assignments()
    worker = dock.compactions()[0].worker_id
    queue = task_output_of(TOPIC)
    with dock.store.leading(dock.leadership.term()) as tx:
        row = tx.events.find(queue)
        assert row is not None
        tx.events.declare_dead(row, 1, "a test")

    dock.fail(assignment, worker)
    dock.hands.all[worker].incarnation += 1
    assert dock.compacting.run_once() == 0
    assert [each.live for each in dock.compactions()] == [True]

    with dock.store.leading(dock.leadership.term()) as tx:
        tx.events.rebuild(queue)
    dock.compacting.run_once()
    [ended] = dock.compactions()
    assert (ended.live, ended.blamed) == (False, True)


def test_a_worker_that_cannot_is_believed_only_about_its_own(dock: Dock) -> None:
    dock.compact()
    [assignment] = dock.assignments()
    dock.fail(assignment, "somebody")
    dock.fail(replace(assignment, incarnation=7), "w1")
    assert [each.live for each in dock.compactions()] == [True]

    dock.fail(assignment, dock.compactions()[0].worker_id)

    [ended] = dock.compactions()
    assert (ended.live, ended.blamed, ended.detail) == (False, True, "READ_FAILED: no")
