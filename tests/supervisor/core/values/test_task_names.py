"""A task's id is a folder's name: what the overlord gives, every worker takes."""

from supervisor.core.values.ids import base_sequence_name, task_id
from supervisor.core.values.table_names import name_problem
from tasks.contract.ids import is_safe_name
from tests.supervisor.core.snapshots import offsets


def test_the_longest_supervisor_id_makes_a_task_id_that_workers_take() -> None:
    """Goal: no accepted spec has tasks that every worker refuses."""
    longest = "x" * 128
    base = base_sequence_name(longest, "digest", offsets(1, 2))

    longest_id = task_id(base, f"{longest}:1", replica=0, attempt=1)

    assert name_problem(longest) is None
    assert name_problem(longest + "x") is not None
    assert is_safe_name(longest_id)
    assert len(longest_id.encode()) < 255  # what file systems take
