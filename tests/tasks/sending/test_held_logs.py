"""Held logs: nothing of them is sent before their task has ended, and then all or nothing."""

from pathlib import Path

from tasks.sending.held_logs import HeldLogs
from tasks.sending.log_tail import LogTail

LINES = "a line\nanother line\n"


def _sent(folder: Path) -> str:
    """Return what a sender of a new life would send, and has it stored."""
    tail, text = LogTail(folder, lambda _: False), ""
    while pieces := [*tail.due(0.0)]:
        for piece in pieces:
            text += piece.text
            tail.sent(piece)
    return text


def _held(folder: Path) -> HeldLogs:
    held = HeldLogs(folder)
    held.hold("task-1")
    (folder / "task-1.log").write_text(LINES)
    return held


def test_a_log_is_sent_once_its_task_is_wanted(tmp_path: Path) -> None:
    held = _held(tmp_path)

    assert (_sent(tmp_path), held.undecided()) == ("", ["task-1"])
    held.send("task-1")
    assert (_sent(tmp_path), held.undecided()) == (LINES, [])
    held.send("task-1")


def test_a_log_that_nobody_wants_is_never_sent_and_makes_room_as_if_it_were(
    tmp_path: Path,
) -> None:
    held = _held(tmp_path)
    held.drop("task-1")
    with (tmp_path / "task-1.log").open("a") as log:
        log.write("a last line\n")

    assert (_sent(tmp_path), held.undecided()) == ("", [])
    assert (tmp_path / "task-1.sent").read_text() == f"{len(LINES)} all\n"


def test_a_task_that_goes_on_is_decided_anew(tmp_path: Path) -> None:
    held = _held(tmp_path)
    held.drop("task-1")
    held.hold("task-1")
    assert held.undecided() == ["task-1"]
    held.send("task-1")

    assert _sent(tmp_path) == LINES


def test_a_name_that_leads_elsewhere_holds_nothing(tmp_path: Path) -> None:
    held = HeldLogs(tmp_path / "logs")
    for act in (held.hold, held.send, held.drop):
        act("../task-1")
        act("task-1")

    assert [*tmp_path.iterdir()] == []
