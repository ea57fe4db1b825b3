"""No row of the metadata database holds a secret, whoever wrote the text of it."""

import json

from pydantic import JsonValue
from sqlalchemy import NullPool, create_engine, select, text

from supervisor.core.history.lifecycle_events import EventKind, LifecycleEvent
from supervisor.core.model.rows import StoredPlan, TaskStatus
from supervisor.metadata.schema.column_types import METADATA
from supervisor.metadata.store import SqlStore
from tasks.runtime.secrets import known_secrets
from tests.conformance.stories import CLICKS, NOON, P0, Leader, attempt, opening, take_lease
from tests.security.leaks import BY_NAME, BY_VALUE, CANARY, SECRET


def test_what_a_worker_or_a_library_says_is_stored_without_its_secrets(
    database_url: str, database: SqlStore
) -> None:
    """Goal: a reason, a plan, a happening; by the name beside a secret, and by its value."""
    known_secrets().learn(SECRET)
    leader = Leader(database, take_lease(database))
    with leader.writes() as tx:
        tx.generations.open(CLICKS, "table", opening("g1", 1, {P0: 3}), NOON)
        for number, why in enumerate((BY_NAME, BY_VALUE)):
            tx.tasks.start(attempt(f"t{number}", "g1", 0, number))
            tx.tasks.end(f"t{number}", TaskStatus.FAILED, why, NOON)
            action = {"action": "StartTask", "about": "t", "why": why}
            tx.plans.record(StoredPlan(CLICKS, NOON, 1, (action,), error=why))
            detail: dict[str, JsonValue] = {"why": why, "more": [why]}
            tx.happenings.record(LifecycleEvent(NOON, EventKind.STATE_CHANGED, CLICKS, detail))
        tx.generations.begin_handoff("g1", 0, must_end=False, why=BY_NAME, now=NOON)

    with create_engine(database_url, poolclass=NullPool).connect() as connection:
        rows = {
            table.name: str(connection.execute(select(table)).all())
            for table in METADATA.sorted_tables
        }
    assert "StartTask" in rows["plans"]
    assert [name for name, held in rows.items() if CANARY in held] == []


def test_what_an_earlier_version_has_stored_is_masked_when_it_is_read(
    database_url: str, database: SqlStore
) -> None:
    """Goal: viewers do not see a password that stands in a row since before an upgrade."""
    leader = Leader(database, take_lease(database))
    with leader.writes() as tx:
        tx.generations.open(CLICKS, "table", opening("g1", 1, {P0: 3}), NOON)
        tx.tasks.start(attempt("t1", "g1", 0, 0))
        tx.plans.record(StoredPlan(CLICKS, NOON, 1, ({"why": "x"},)))
    with create_engine(database_url, poolclass=NullPool).begin() as connection:
        connection.execute(text("UPDATE tasks SET reason = :held"), {"held": BY_NAME})
        held = json.dumps([{"why": BY_NAME}])
        connection.execute(text("UPDATE plans SET actions = :held"), {"held": held})

    with leader.reads() as tx:
        task, [plan] = tx.tasks.get("t1"), tx.plans.recent(CLICKS, 10)
    assert task is not None
    assert CANARY not in f"{task} {plan}"
    assert "same cache key" in f"{task} {plan}"
