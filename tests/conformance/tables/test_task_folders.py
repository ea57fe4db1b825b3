"""Which tasks' folders may hold what nothing names: told by their rows alone."""

from supervisor.core.model.rows import TaskStatus
from tasks.contract.messages import PublishOutcome
from tests.conformance.stories import MINUTE, NOON, P0, P1, Leader, attempt, opening


def test_a_folder_is_unsettled_from_the_end_of_its_task_until_it_was_found_empty(
    leader: Leader,
) -> None:
    """Goal: rule P23; whoever looks at the warehouse can place every file of an ended task."""
    assert leader.opens(opening("g1", 1, {P0: 0}))
    assert leader.opens(opening("g2", 2, {P1: 0}))
    tasks = [attempt(f"t{n}", f"g{1 + n % 2}", replica=n) for n in range(6)]
    with leader.writes() as tx:
        for task in tasks:
            tx.tasks.start(task)
        for task in tasks[:0:-1]:
            tx.tasks.end(task.id, TaskStatus.FAILED, "a story", NOON)
        tx.tasks.store_outcome("t1", PublishOutcome.STALE, published=False)
        tx.tasks.store_outcome("t2", PublishOutcome.COMMITTED, published=True)
        tx.tasks.store_outcome("t3", PublishOutcome.COMMITTED, published=True)
        tx.tasks.folder_deleted("t3", NOON + MINUTE)
        tx.tasks.folder_deleted("t4", NOON + MINUTE)

    with leader.reads() as tx:
        found = tx.tasks.unsettled_folders()

    assert [(task.id, task.outcome) for task in found] == [
        ("t1", PublishOutcome.STALE),
        ("t2", PublishOutcome.COMMITTED),
        ("t5", None),
    ]


def test_without_ended_tasks_no_folder_is_unsettled(leader: Leader) -> None:
    with leader.reads() as tx:
        assert tx.tasks.unsettled_folders() == []
