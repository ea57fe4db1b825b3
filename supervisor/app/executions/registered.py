"""The executors that have registered in the database of executions; what doctor asks."""

from collections.abc import Sequence
from contextlib import closing

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.executors import SqlExecutors
from supervisor.app.executions.calls import executions_url
from supervisor.ports.flows.executors import ExecutorRow
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from supervisor.settings.settings import Settings

__all__ = ["registered_executors"]


def registered_executors(settings: Settings) -> Sequence[ExecutorRow] | None:
    """Return their rows, by name; None: the database cannot be read."""
    try:
        with closing(ExecutionDatabase(executions_url(settings))) as database:
            return SqlExecutors(database).all()
    except (ValueError, StoreAway, StoreRefuses):
        return None
