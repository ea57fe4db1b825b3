"""Rights of files: what other accounts of the machine may read, of a process with an open umask.

Source: tokens of tasks are in the metadata database, samples of records in journals and logs.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from supervisor.app.process import data_folder
from supervisor.metadata.migrate import migrate
from tasks.durable_files import make_private
from tasks.worker.journal import journals_below
from tasks.worker.reporting.task_logs import TaskLogs

OTHERS = 0o077


@pytest.fixture(autouse=True)
def _open_umask() -> Iterator[None]:
    """An account that shares all that it does not make private."""
    before = os.umask(0)
    yield
    os.umask(before)


def rights(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_new_data_folder_is_its_owners_alone_and_an_older_one_stays_as_it_is(
    tmp_path: Path,
) -> None:
    """Goal: tables that lie in an older one are read by others as before."""
    older = tmp_path / "older"
    older.mkdir(mode=0o755)

    data_folder(tmp_path / "new")
    data_folder(older)

    assert (rights(tmp_path / "new"), rights(older)) == (0o700, 0o755)


def test_journals_and_logs_are_their_owners_alone_in_any_folder(tmp_path: Path) -> None:
    for name in ("journal", "task-logs"):
        (tmp_path / name).mkdir(mode=0o755)

    journals_below(tmp_path)
    logs = TaskLogs(tmp_path)
    logs.begin("task-1", "token")
    logs(None, "info", {"task": "task-1", "event": "reads", "level": "info"})

    assert [rights(tmp_path / name) for name in ("journal", "task-logs")] == [0o700, 0o700]
    assert rights(tmp_path / "task-logs" / "task-1.log") & OTHERS == 0


def test_a_missing_parent_is_no_ones_secret(tmp_path: Path) -> None:
    make_private(tmp_path / "shared" / "private")

    assert rights(tmp_path / "shared" / "private") == 0o700
    assert rights(tmp_path / "shared") & OTHERS


def test_the_metadata_database_is_its_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "metadata.db"
    older = tmp_path / "older.db"
    older.touch(mode=0o644)

    for each in (file, older):
        migrate(f"sqlite:///{each}")

    assert {rights(path) & OTHERS for path in tmp_path.glob("metadata.db*")} == {0}
    assert rights(older) == 0o644, "a sidecar of the operator's may read it"
