"""Attention rules of workers: silent, lost, stopped as they were to."""

from dataclasses import replace
from datetime import timedelta

import pytest

from supervisor.core.attention.items import AttentionItem, AttentionKind, Severity
from supervisor.core.attention.remedies import RemedyAction
from supervisor.core.attention.workers import FIRST_SYNC, WorkerTasks, worker_items
from supervisor.core.planning.observed import Liveness, WorkerView
from tests.supervisor.core.snapshots import MINUTE, NOON, worker

HEARD = NOON + 5 * MINUTE
LATER = NOON + 10 * MINUTE
NO_TASKS = WorkerTasks({}, {})
LOST = replace(worker("w2", liveness=Liveness.LOST), heard_at=HEARD)
SILENT = replace(worker("w2", liveness=Liveness.UNKNOWN), heard_at=HEARD)


def items(view: WorkerView, tasks: WorkerTasks = NO_TASKS) -> list[AttentionItem]:
    return list(worker_items([worker("w1"), view], tasks, LATER, NOON))


def test_a_lost_worker_is_broken_with_what_became_of_its_tasks() -> None:
    [item] = items(LOST, WorkerTasks({"w1": 3}, {"w2": 6}))

    assert (item.severity, item.kind) == (Severity.BROKEN, AttentionKind.WORKER_LOST)
    assert (item.about.id, item.since) == ("w2", HEARD)
    assert item.text == (
        "worker w2 is lost: it is silent for too long to be waited for; 6 tasks of it were given "
        "to others"
    )
    assert [remedy.action for remedy in item.remedies] == [
        RemedyAction.START_WORKER,
        RemedyAction.FORGET_WORKER,
    ]
    assert item.remedies[1].command == "tidegate worker forget w2"
    assert "1 task of it wait" in items(LOST, WorkerTasks({"w2": 1}, {}))[0].text


@pytest.mark.parametrize("change", [{"stopping": True}, {"disabled": True}])
def test_a_worker_that_was_meant_to_go_is_only_to_know(change: dict[str, bool]) -> None:
    gone = replace(LOST, **change)  # type: ignore[arg-type]  # both are flags

    assert items(gone)[0].severity is Severity.TO_KNOW
    assert items(gone, WorkerTasks({"w2": 1}, {}))[0].severity is Severity.BROKEN


def test_a_silent_worker_is_at_risk_while_it_has_tasks() -> None:
    [item] = items(SILENT, WorkerTasks({"w2": 2}, {}))

    assert (item.severity, item.kind) == (Severity.AT_RISK, AttentionKind.WORKER_SILENT)
    assert item.since == HEARD
    assert "whether its 2 tasks go on" in item.text
    assert items(SILENT)[0].severity is Severity.TO_KNOW


@pytest.mark.parametrize(("led_for", "count"), [(FIRST_SYNC, 0), (FIRST_SYNC * 2, 1)])
def test_a_new_leader_gives_workers_time_to_report(led_for: timedelta, count: int) -> None:
    """Goal: a change of leader makes no worker silent."""
    unheard = replace(SILENT, heard_at=None)

    found = list(worker_items([unheard], NO_TASKS, NOON + led_for, NOON))

    assert [item.since for item in found] == [NOON] * count
