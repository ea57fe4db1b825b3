"""Task logs make room: never too many, never too large together, and what is stored goes first."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.worker.reporting.task_logs import TaskLogs
from tests.tasks.worker.reporting.test_task_logs import SMALL, TOKEN, logging_to, say


@pytest.fixture
def small(tmp_path: Path) -> Iterator[TaskLogs]:
    """Logs with small bounds."""
    task_logs = TaskLogs(tmp_path, SMALL)
    with logging_to(task_logs):
        yield task_logs


def test_the_oldest_logs_of_ended_tasks_make_room(small: TaskLogs, tmp_path: Path) -> None:
    """Goal: never more files than allowed, and a running task keeps its own, however old."""
    folder = tmp_path / "task-logs"
    for number in range(6):
        name = f"task-{number}"
        small.begin(name, TOKEN)
        say(name, "hello")
        os.utime(folder / f"{name}.log", (number, number))
        if number != 0:
            small.end(name)

    left = {path.name for path in folder.iterdir()}

    assert left == {f"task-{n}.{kind}" for n in (0, 4, 5) for kind in ("log", "key")}


def test_what_a_store_has_makes_room_before_what_it_has_not(
    small: TaskLogs, tmp_path: Path
) -> None:
    folder = tmp_path / "task-logs"
    for number in range(3):
        name = f"task-{number}"
        small.begin(name, TOKEN)
        say(name, "hello")
        small.end(name)
        (folder / f"{name}.about").write_text("{}")
    (folder / "task-2.sent").write_text("6 all\n")
    (folder / "task-1.sent").write_text("3\n")

    small.begin("task-3", TOKEN)

    assert {path.stem for path in folder.glob("*.log")} == {"task-0", "task-1"}
    assert not [*folder.glob("task-2.*")]
    assert small.unsent_total == 0

    say("task-3", "hello")
    small.begin("task-4", TOKEN)

    assert not [*folder.glob("task-0.*")]
    assert small.unsent_total == 1


def test_all_logs_together_have_a_bound(small: TaskLogs, tmp_path: Path) -> None:
    for name in ("task-1", "task-2"):
        small.begin(name, TOKEN)
        for number in range(100):
            say(name, f"batch {number}", "error")
        small.end(name)
    small.begin("task-3", TOKEN)

    sizes = [path.stat().st_size for path in (tmp_path / "task-logs").glob("*.log")]

    assert sum(sizes) <= SMALL.total_bytes_max
