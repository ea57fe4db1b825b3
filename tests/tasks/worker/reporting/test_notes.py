"""Notes of whose logs begin: nobody waits for the disk, and no log is sent before its note."""

import json
from collections.abc import Mapping
from pathlib import Path
from threading import Event

import pytest

from tasks.sending.held_logs import HeldLogs
from tasks.sending.log_tail import LogTail
from tasks.worker.reporting.notes import LogNotes
from tests.waiting import wait_until

ABOUT = {"attempt": 3}


def test_a_disk_that_hangs_holds_up_nobody_and_no_log_goes_without_its_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on, write = Event(), LogTail.begin

    def hangs(tail: LogTail, task: str, about: Mapping[str, object]) -> None:
        goes_on.wait()
        write(tail, task, about)

    monkeypatch.setattr(LogTail, "begin", hangs)
    folder = tmp_path / "task-logs"
    notes = LogNotes(folder, HeldLogs(folder))
    tail = LogTail(folder, lambda _: False, is_noted=notes.is_written)
    notes.put("task-1", ABOUT, at_once=True)
    notes.put("task-2", ABOUT, at_once=False)
    wait_until(folder.exists)
    for name in ("task-1", "task-2"):
        (folder / f"{name}.log").write_text("a line\n")

    assert not notes.is_written("task-1")
    assert list(tail.due(100.0)) == []

    goes_on.set()
    wait_until(lambda: notes.is_written("task-2"))
    [piece] = tail.due(200.0)
    assert (piece.task, piece.about) == ("task-1", ABOUT), "the other one is held"
    notes.close(30.0)


def test_what_waits_is_written_at_the_end(tmp_path: Path) -> None:
    notes = LogNotes(tmp_path, HeldLogs(tmp_path))
    for number in range(50):
        notes.put(f"task-{number}", ABOUT, at_once=True)

    notes.close(30.0)

    read = [json.loads(path.read_text()) for path in tmp_path.glob("*.about")]
    assert read == [ABOUT] * 50
