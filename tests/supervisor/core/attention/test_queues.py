"""Attention rules of event queues and of exports, which are fed by queues of their own."""

from dataclasses import replace
from datetime import timedelta

import pytest

from supervisor.core.attention.exports import WatchedExport, export_items
from supervisor.core.attention.items import AttentionKind, Severity
from supervisor.core.attention.queues import (
    LATE_AFTER,
    FailedEvents,
    dead_queues,
    failed_events,
    late_queues,
)
from supervisor.core.queue.events import QueueHealth, QueueMode, QueueName, QueueRow, WaitingQueue
from supervisor.core.tables.exports import Export, ExportState, Waiting
from supervisor.core.values.export_formats import ExportFormat
from tests.supervisor.core.snapshots import MINUTE, NOON

QUEUE = QueueName("supervisor:clicks", "task-output")
ROW = QueueRow(1, QUEUE, QueueMode.CONSUMER, next_seq=8, processed_seq=4)
TABLES = {"clicks": "web"}
LATER = NOON + LATE_AFTER + timedelta(seconds=1)
EXPORT = Export("clicks", ExportFormat.DELTA, enabled=True)


def test_a_dead_queue_is_broken_since_its_supervisor_is() -> None:
    dead = replace(ROW, state=QueueHealth.DEAD, dead_seq=5, dead_why="event 5 is missing")
    other = replace(dead, queue=QueueName("cluster", "x"))

    first, second = dead_queues([dead, other], {"clicks": NOON}, TABLES)

    assert (first.severity, first.kind) == (Severity.BROKEN, AttentionKind.QUEUE_DEAD)
    assert first.about.id == "supervisor:clicks/task-output"
    assert first.text == (
        "the event queue supervisor:clicks/task-output is damaged at event 5: event 5 is missing; "
        "none of its work is done before it is repaired"
    )
    assert (first.since, second.since) == (NOON, None)
    assert (first.data_source, second.data_source) == ("web", None)
    assert first.remedies[0].command == "tidegate queue repair supervisor:clicks task-output"


def test_an_event_is_late_once_it_is_due_for_ten_minutes() -> None:
    """Goal: an event that is meant to wait a day is not late."""
    failing = replace(ROW, failed_iterations=7, last_error="disk full")
    queues = [
        WaitingQueue(ROW, NOON, NOON - MINUTE),
        WaitingQueue(failing, NOON - MINUTE, NOON),
        WaitingQueue(ROW, NOON + timedelta(days=1), NOON - MINUTE),
        WaitingQueue(ROW, None, None),
    ]

    assert list(late_queues(queues, NOON + LATE_AFTER, TABLES)) == []
    first, second = late_queues(queues, LATER, TABLES)

    assert (first.severity, first.since, second.since) == (Severity.AT_RISK, NOON, NOON)
    assert first.text == f"3 events of the event queue {QUEUE} wait for too long"
    assert second.text.endswith(": its handler failed 7 times, the last time because disk full")


def test_events_that_were_set_aside_can_be_tried_again() -> None:
    [item] = failed_events({QUEUE: FailedEvents(1, NOON)}, TABLES)

    assert (item.kind, item.severity) == (AttentionKind.EVENTS_FAILED, Severity.AT_RISK)
    assert item.text.startswith(f"1 event of the event queue {QUEUE} could not be handled")
    assert item.since == NOON
    assert item.remedies[0].command == ("tidegate queue replay supervisor:clicks task-output --all")


@pytest.mark.parametrize(
    ("export", "waiting", "severity"),
    [
        (EXPORT, Waiting(), None),
        (EXPORT, Waiting(NOON + MINUTE), None),
        (EXPORT, Waiting(NOON), Severity.AT_RISK),
        (EXPORT, Waiting(NOON, 3, "no space"), Severity.AT_RISK),
        (replace(EXPORT, problem="columns", behind_since=NOON), Waiting(), Severity.BROKEN),
        (replace(EXPORT, enabled=False, problem="columns"), Waiting(NOON), None),
    ],
)
def test_an_export_that_stays_behind_is_at_risk_and_a_stuck_one_broken(
    export: Export, waiting: Waiting, severity: Severity | None
) -> None:
    shown = list(export_items([WatchedExport(export, waiting)], LATER))

    assert [item.severity for item in shown] == ([] if severity is None else [severity])
    assert [item.since for item in shown] == [NOON] * len(shown)
    assert all(item.about.id == "clicks/delta" for item in shown)
    assert all((waiting.error or export.problem) in item.text for item in shown)


def test_an_export_whose_queue_is_dead_is_no_second_item() -> None:
    dead = WatchedExport(EXPORT, Waiting(error="its event queue is dead"), is_dead=True)

    assert dead.state is ExportState.FAILING
    assert list(export_items([dead], LATER)) == []
