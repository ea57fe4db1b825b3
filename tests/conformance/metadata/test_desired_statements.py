"""The answer to a sync: its cost in the database does not grow with each task."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import Connection, event

from supervisor.control.desired_state import desired_state
from supervisor.metadata.store import SqlStore
from tests.conformance.stories import NOON, TOPIC_ID, Leader, attempt, opening, take_lease
from tests.supervisor.core.snapshots import offsets, spec

LEASE = timedelta(seconds=60)


def _starts(leader: Leader, names: list[str]) -> None:
    """Let w1 run a task of each of these supervisors."""
    start = offsets(0)
    with leader.writes() as tx:
        for name in names:
            tx.specs.append(name, spec(), NOON, "")
            tx.offsets.initialise(name, TOPIC_ID, start)
            tx.generations.open(name, "clicks", opening(f"g {name}", 1, start), NOON)
            tx.tasks.start(replace(attempt(f"t {name}", f"g {name}"), supervisor_id=name))


@contextmanager
def _statements(database: SqlStore) -> Iterator[list[str]]:
    """Collect the statements of reading transactions."""
    collected: list[str] = []

    def executed(_: Connection, __: object, statement: str, *___: object) -> None:
        collected.append(statement)

    event.listen(database._engine, "before_cursor_execute", executed)
    yield collected
    event.remove(database._engine, "before_cursor_execute", executed)


def _answered(database: SqlStore, leader: Leader) -> tuple[int, int]:
    """Return the number of tasks in the answer, and the number of statements for it."""
    with _statements(database) as collected, database.reading() as tx:
        answer = desired_state(tx, "w1", leader.term, LEASE)
    return len(answer.tasks), len(collected)


def test_forty_tasks_cost_no_more_statements_than_two(database: SqlStore) -> None:
    """Goal: a sync each second of each worker, with hundreds of supervisors."""
    leader = Leader(database, take_lease(database))
    _starts(leader, ["a", "b"])
    few, statements = _answered(database, leader)
    _starts(leader, [f"s{number}" for number in range(38)])

    assert few == 2
    assert _answered(database, leader) == (40, statements)
