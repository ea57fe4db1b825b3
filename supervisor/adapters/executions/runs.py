"""Task runs in SQL: a row each, and one more with the items of a `forEach`, written once."""

from collections.abc import Iterator

from sqlalchemy import Connection
from sqlalchemy.dialects import postgresql, sqlite

from supervisor.adapters.executions.schema import RUNS
from supervisor.core.executions.records import StateRecord, items_record, run_record
from supervisor.ports.flows.executions import ExecutionChanges

__all__ = ["put_runs", "text_of"]


def put_runs(connection: Connection, changes: ExecutionChanges) -> None:
    """Store the task runs that a batch has changed, and items that are new."""
    rows = [
        {
            "execution": execution,
            "id": record.key.removeprefix(f"e/{execution}/r/"),
            "body": text_of(record),
        }
        for execution, record in _records(changes)
    ]
    if rows:
        on_sqlite = connection.dialect.name == "sqlite"
        put = sqlite.insert(RUNS) if on_sqlite else postgresql.insert(RUNS)
        keys = [RUNS.c.execution, RUNS.c.id]
        upsert = put.on_conflict_do_update(index_elements=keys, set_={"body": put.excluded.body})
        connection.execute(upsert, rows)


def _records(changes: ExecutionChanges) -> Iterator[tuple[str, StateRecord]]:
    for some, record_of in ((changes.runs, run_record), (changes.items, items_record)):
        for execution, runs in some.items():
            for run in sorted(runs):
                yield execution, record_of(changes.executions[execution], run)


def text_of(record: StateRecord) -> str:
    """Return the JSON of a record that is not over."""
    assert record.value is not None
    return record.value.decode()
