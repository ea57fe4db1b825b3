"""Samples of tasks that ended: kept for a while, of so many, and of no supervisor that is gone."""

from supervisor.core.history.task_histories import (
    KEPT_S,
    MOST_ENDED,
    TaskHistories,
    rows_per_second,
)
from tasks.contract.messages import Counters, TaskPhase, TaskReport
from tests.supervisor.core.snapshots import generation, offsets, task

RANGE = generation(1, offsets(0))
TASK = task(RANGE)
ID = RANGE.supervisor_id


def _report(task_id: str, rows: int) -> dict[str, TaskReport]:
    report = TaskReport(
        task_id=task_id,
        phase=TaskPhase.READING,
        order_term=1,
        order_sequence=0,
        position=offsets(1),
        counters=Counters(processed=rows),
    )
    return {task_id: report}


def _read() -> TaskHistories:
    histories = TaskHistories()
    histories.reads(ID, [TASK])
    for at in range(61):
        histories.record(_report(TASK.id, 100 * at), float(at))
    return histories


def test_a_task_that_has_ended_counts_until_its_rows_are_a_minute_old() -> None:
    histories = _read()
    histories.end([TASK.id], 61.0)
    histories.reads(ID, [])

    assert rows_per_second(histories.readers(), 90.0) == {ID: 50.0}
    assert rows_per_second(histories.readers(), 120.0) == {ID: 0.0}


def test_samples_of_ended_tasks_go_and_leave_nothing() -> None:
    histories = _read()
    histories.end([TASK.id], 61.0)

    histories.record({}, 61.0 + KEPT_S)
    assert histories.series(TASK.id)
    histories.record({}, 61.1 + KEPT_S)
    assert not histories.series(TASK.id)
    histories.reads(ID, [])
    assert histories.readers() == {}
    assert not any((histories._ended, histories._series, histories._supervisor_of))


def test_no_more_than_so_many_ended_tasks_are_kept() -> None:
    histories = _read()
    histories.end([TASK.id], 61.0)

    many = [f"t{number}" for number in range(MOST_ENDED)]
    for task_id in many:
        histories._series[task_id] = histories.series(TASK.id)
    histories.end(many, 62.0)

    assert len(histories._ended) == len(histories._series) == MOST_ENDED
    assert not histories.series(TASK.id), "the oldest goes first"


def test_a_task_that_is_reported_again_is_not_ended() -> None:
    histories = _read()
    histories.end([TASK.id], 61.0)
    histories.record(_report(TASK.id, 7_000), 70.0)
    histories.record({}, 70.0 + 2 * KEPT_S)

    assert histories.series(TASK.id)[-1].counts[0] == 7_000


def test_a_new_term_begins_with_nothing() -> None:
    histories = _read()
    histories.clear()

    assert histories.readers() == {}
    assert not histories.series(TASK.id)
