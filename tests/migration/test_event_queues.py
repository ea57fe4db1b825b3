"""From revision 0001 with data: what had ended gets its cleanup events, once, and all is kept.

Slow: each schema is migrated on both databases.
"""

from collections.abc import Iterator
from datetime import datetime

import pytest
from sqlalchemy import MetaData, Table, insert, inspect, text

from supervisor.core.queue.events import QueueConfig, QueuedEvent, QueueName, damage_of, decode
from supervisor.metadata.migrate import migrate, migrating
from supervisor.metadata.store import SqlStore
from tests.conformance.stories import HOUR, LEASE_TTL, MINUTE, NOON, take_lease
from tests.migration.command import alembic

pytestmark = [pytest.mark.process, pytest.mark.long]

CLICKS, VIEWS = (QueueName(f"supervisor:{name}", "task-output") for name in ("clicks", "views"))
ENDED = {
    "clicks:late": ("FAILED", "already-published", NOON + HOUR),
    "clicks:won": ("SUCCESS", "committed", NOON + MINUTE),
    "clicks:killed": ("FAILED", None, NOON + MINUTE),
    "views:killed": ("FAILED", None, NOON),
    "views:stale": ("FAILED", "stale", NOON),
}
"""Task -> status, outcome, when it ended."""


@pytest.fixture
def before(url: str) -> str:
    """A database of revision 0001: tasks that run, have ended, and were settled."""
    alembic(url, "upgrade", "0001")
    with migrating(url) as connection:
        tables = {
            name: Table(name, MetaData(), autoload_with=connection)
            for name in ("generations", "tasks")
        }
        connection.execute(insert(tables["generations"]), [_generation()])
        rows = [_task(task_id, *row) for task_id, row in ENDED.items()]
        rows.append(_task("clicks:active", "RUNNING", None, None))
        rows.append(_task("clicks:settled", "FAILED", None, NOON, NOON + HOUR))
        rows.append(_task("gone:settled", "FAILED", None, NOON, NOON + HOUR))
        connection.execute(insert(tables["tasks"]), rows)
    return url


def _generation() -> dict[str, object]:
    return {
        "id": "g1",
        "supervisor_id": "clicks",
        "data_source": "table",
        "ordinal": 1,
        "layout_version": 1,
        "task_count": 1,
        "partition_count": 1,
        "group_number": 0,
        "spec_version": 1,
        "state": "READING",
        "opened_at": NOON,
        "timer_started_at": NOON,
        "sequence": 0,
        "handoff_why": "",
        "must_end": False,
    }


def _task(
    task_id: str,
    status: str,
    outcome: str | None,
    ended_at: datetime | None,
    deleted_at: datetime | None = None,
) -> dict[str, object]:
    return {
        "id": task_id,
        "supervisor_id": task_id.partition(":")[0],
        "data_source": "table",
        "generation_id": "g1",
        "replica": 0,
        "attempt": 0,
        "worker_id": "w1",
        "incarnation": 1,
        "token": "t",
        "status": status,
        "created_at": NOON,
        "reason": "",
        "ended_at": ended_at,
        "taken_up": False,
        "outcome": outcome,
        "published": outcome == "committed",
        "folder_deleted_at": deleted_at,
    }


@pytest.fixture
def upgraded(before: str) -> Iterator[SqlStore]:
    """The same database, brought to the present schema."""
    migrate(before)
    store = SqlStore(before, lease_ttl=LEASE_TTL)
    yield store
    store.close()


def _waiting(store: SqlStore, queue: QueueName) -> list[QueuedEvent]:
    """Read a queue from its position; its rows are sound."""
    with store.reading() as tx:
        row = tx.events.find(queue)
        assert row is not None
        read = tx.events.read(row.id, row.processed_seq, 100)
    assert damage_of(row, read) is None
    assert row.outstanding_events == len(read)
    assert row.outstanding_bytes == sum(len(one.payload) for one in read)
    return [decode(one.payload) for one in read]


def test_each_unsettled_folder_gets_one_event_in_the_order_of_the_ends(upgraded: SqlStore) -> None:
    """Goal: rule P23; nobody else looks for them any more, and a STALE task keeps its files."""
    killed, won, late = (f"clicks:{name}" for name in ("killed", "won", "late"))
    assert _waiting(upgraded, CLICKS) == [
        QueuedEvent("task_output", key) for key in (killed, won, late)
    ]
    assert _waiting(upgraded, VIEWS) == [QueuedEvent("task_output", "views:killed")]
    with upgraded.reading() as tx:
        assert [row.queue for row in tx.events.all()] == [CLICKS, VIEWS]
        due = [(each.due_at, each.enqueued_at) for each in tx.events.waiting()]
        assert due == [(NOON + MINUTE, NOON + MINUTE), (NOON, NOON)]
        assert len(tx.tasks.of_generations(["g1"])) == len(ENDED) + 3


def test_events_added_afterwards_go_on_behind_them(upgraded: SqlStore) -> None:
    """Goal: also in a queue that is new, whose number the database draws."""
    term, new = take_lease(upgraded), QueueName("cluster", "task-output")
    with upgraded.leading(term) as tx:
        for queue in (CLICKS, new):
            tx.events.add(queue, QueuedEvent("task_output", "next"), QueueConfig(), NOON)
    assert [event.key for event in _waiting(upgraded, CLICKS)][2:] == ["clicks:late", "next"]
    assert [event.key for event in _waiting(upgraded, new)] == ["next"]


def test_a_database_with_nothing_to_clean_gets_no_queue(url: str) -> None:
    alembic(url, "upgrade", "0001")
    migrate(url)
    store = SqlStore(url, lease_ttl=LEASE_TTL)
    with store.reading() as tx:
        assert tx.events.all() == []
    store.close()


def test_the_way_down_keeps_the_tasks_and_the_way_up_finds_them_again(
    before: str, upgraded: SqlStore
) -> None:
    """Goal: the events go with their tables; what they stood for is still told by the tasks."""
    first = _waiting(upgraded, CLICKS)
    alembic(before, "downgrade", "0001")
    with migrating(before) as connection:
        inspector = inspect(connection)
        assert not {"events", "event_queues", "retention_rules"} & set(inspector.get_table_names())
        assert "unused_at" not in {column["name"] for column in inspector.get_columns("segments")}
        assert "ix_tasks_unsettled" in {index["name"] for index in inspector.get_indexes("tasks")}
        count = connection.execute(text("SELECT count(*) FROM tasks")).scalar_one()
        assert count == len(ENDED) + 3
    migrate(before)
    assert _waiting(upgraded, CLICKS) == first
