"""The tables of duties and of handlers, as an overlord is wired by them."""

import pkgutil
from datetime import timedelta
from importlib import import_module

import supervisor.chores
from supervisor.app.overlord import wire_overlord
from supervisor.chores.duty import Duty, QueueHandler
from supervisor.chores.forget import FORGOTTEN
from supervisor.chores.segments import SEGMENT_FILES, SEGMENTS
from supervisor.chores.table import CHORES, HANDLERS
from supervisor.control.end_task import TASK_OUTPUT
from supervisor.core.queue.events import CLUSTER, QueueMode, QueueName, container_of
from supervisor.core.tables.exports import queue_of
from supervisor.core.values.export_formats import ExportFormat
from supervisor.metadata.store import SqlStore
from supervisor.settings.settings import Settings
from tests.supervisor.app.test_app import database, settings

__all__ = ["database", "settings"]

GRACE, DELAY = timedelta(days=30), timedelta(minutes=1)


def test_every_queue_has_its_consumer_and_its_delay(settings: Settings, database: SqlStore) -> None:
    """Goal: a queue that nobody consumes would be durable, and its work never done."""
    changed = settings.model_copy(update={"segment_grace": GRACE, "gc_delay": DELAY})
    overlord = wire_overlord(changed, database, "http://localhost:8090")

    expected: dict[QueueName, timedelta] = {
        QueueName(container_of("clicks"), SEGMENTS): GRACE,
        QueueName(container_of("others"), SEGMENTS): GRACE,
        QueueName(container_of("clicks"), SEGMENT_FILES): DELAY,
        QueueName(container_of("clicks"), TASK_OUTPUT): DELAY,
        QueueName(CLUSTER, TASK_OUTPUT): DELAY,
        QueueName(CLUSTER, FORGOTTEN.name): DELAY,
        **{queue_of("clicks", each): timedelta(0) for each in ExportFormat},
    }
    for queue, delay in expected.items():
        config = overlord.wiring.queues.config_of(queue)
        assert (queue, config.mode, config.delay) == (queue, QueueMode.CONSUMER, delay)


def test_every_duty_and_handler_of_a_module_is_in_the_table() -> None:
    duties: set[str] = set()
    handlers: list[QueueHandler] = []
    for module in pkgutil.walk_packages(supervisor.chores.__path__, "supervisor.chores."):
        if module.name == "supervisor.chores.table":
            continue
        for value in vars(import_module(module.name)).values():
            rows = value if isinstance(value, tuple) else (value,)
            duties |= {row.name for row in rows if isinstance(row, Duty)}
            handlers += [row for row in rows if isinstance(row, QueueHandler)]

    assert sorted(duties) == sorted(row.name for row in CHORES)
    assert {(row.queue, row.container) for row in handlers} == {
        (row.queue, row.container) for row in HANDLERS
    }


def test_the_periods_of_duties_are_settings_or_short(settings: Settings) -> None:
    """Goal: what makes up for a lost wake-up does so soon, whatever the operator sets."""
    periods = {duty.name: duty.period(settings) for duty in CHORES}

    assert periods["sweep"] == settings.sweep_period
    assert periods["retention"] == settings.retention_period
    assert periods["end-of-history"] == settings.retention_period
    of_settings = {"sweep", "retention", "end-of-history"}
    others = {name: period for name, period in periods.items() if name not in of_settings}
    assert max(others.values()) <= timedelta(minutes=1)
