"""Attention rules of workers: silent, lost, stopped as they were to."""

from dataclasses import replace
from datetime import timedelta

import pytest

from supervisor.core.attention.items import AttentionItem, AttentionKind, Severity
from supervisor.core.attention.remedies import RemedyAction
from supervisor.core.attention.watched import WatchedSupervisor
from supervisor.core.attention.workers import (
    FIRST_SYNC,
    PENDING_AFTER,
    WorkerTasks,
    is_anyone_there,
    no_workers,
    version_items,
    worker_items,
)
from supervisor.core.planning.observed import Liveness, WorkerView
from tasks.contract.worker_facts import WorkerFacts
from tests.supervisor.core.attention.watched_rows import KNOWN, row
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
        "worker w2 is lost: it is silent for too long to be waited for; 6 tasks of it ended, "
        "and their ranges go to workers with a free slot"
    )
    assert [remedy.action for remedy in item.remedies] == [
        RemedyAction.START_WORKER,
        RemedyAction.FORGET_WORKER,
    ]
    assert item.remedies[1].command == "tidegate worker forget w2"
    assert "1 task of it wait" in items(LOST, WorkerTasks({"w2": 1}, {}))[0].text


def test_a_worker_that_is_not_heard_names_whose_records_are_read_late() -> None:
    """Goal: from the worker, the way to the supervisors and partitions that are behind is short."""
    tasks = WorkerTasks({"w2": 2}, {}, {"w1": ("other",), "w2": ("clicks", "orders")})

    for view in (LOST, SILENT):
        [item] = items(view, tasks)
        assert item.text.endswith("; this concerns clicks and orders")
        assert item.supervisors == ("clicks", "orders")


@pytest.mark.parametrize("change", [{"stopping": True}, {"disabled": True}, {"heard_at": None}])
def test_a_worker_that_was_perhaps_meant_to_go_is_only_to_know(change: dict[str, bool]) -> None:
    """Goal: a change of leader wakes nobody for workers that were stopped long ago."""
    gone = replace(LOST, **change)  # type: ignore[arg-type]  # fields of it

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

    shown = list(worker_items([unheard], NO_TASKS, NOON + led_for, NOON))

    assert [item.since for item in shown] == [NOON] * count


def of_release(name: str, version: str, minutes: int, **changes: object) -> WorkerView:
    facts = WorkerFacts(version=version, running_for=timedelta(0))
    started = NOON + minutes * MINUTE
    return replace(worker(name), facts=facts, started_at=started, **changes)  # type: ignore[arg-type]  # fields of it


def test_workers_of_different_releases_are_to_know() -> None:
    """Goal: an upgrade that was left half done is seen; one that is done, is not."""
    old = [of_release("w1", "0.1.0", 0), of_release("w2", "0.1.0", 1)]

    [item] = version_items([*old, of_release("w3", "0.2.0", 7), of_release("w4", "0.2.0", 9)])

    assert (item.severity, item.kind) == (Severity.TO_KNOW, AttentionKind.WORKER_VERSIONS)
    assert item.text.startswith(
        "the workers are of 2 releases: 0.1.0 (w1, w2), 0.2.0 (w3, w4); that is fine during"
    )
    assert item.since == NOON + 7 * MINUTE
    assert not list(version_items([*old, worker("w5")]))
    assert not list(version_items([*old, of_release("w3", "0.2.0", 7, liveness=Liveness.LOST)]))


@pytest.mark.parametrize(
    ("view", "led_for", "is_there"),
    [
        (worker("w1"), FIRST_SYNC * 2, True),
        (replace(SILENT, heard_at=None), FIRST_SYNC, True),
        (replace(SILENT, heard_at=None), FIRST_SYNC * 2, False),
        (SILENT, FIRST_SYNC, False),
        (LOST, FIRST_SYNC, False),
        (None, FIRST_SYNC, False),
    ],
)
def test_nobody_is_there_once_each_worker_had_time_to_report(
    view: WorkerView | None, led_for: timedelta, is_there: bool
) -> None:
    assert is_anyone_there([view] if view else [], NOON + led_for, NOON) is is_there


def test_without_a_worker_one_item_names_whatever_waits() -> None:
    waiting = [
        WatchedSupervisor(row(name), None, replace(KNOWN, pending_since=NOON + MINUTE * at))
        for at, name in enumerate(("orders", "clicks", "logs", "web"))
    ]
    idle = WatchedSupervisor(row("idle"), None, KNOWN)

    [item] = no_workers([*waiting, idle], LATER)

    assert (item.severity, item.kind) == (Severity.BROKEN, AttentionKind.NO_WORKERS)
    assert item.text == (
        "no worker is connected, so nothing is read and nothing is published of clicks, logs, "
        "orders and 1 more"
    )
    assert (item.since, item.data_source) == (NOON, None)
    assert item.supervisors == ("clicks", "logs", "orders", "web")
    assert item.remedies[0].command == "tidegate worker"
    [alone] = no_workers(waiting[:1], LATER)
    assert alone.data_source == "orders"
    assert list(no_workers(waiting[:1], NOON + PENDING_AFTER)) == []
    assert list(no_workers([idle], LATER)) == []
