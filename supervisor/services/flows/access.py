"""The database of executions as services use it: its problems become those of the API."""

from collections.abc import Iterator
from contextlib import contextmanager

from supervisor.core.executions.records import NewerRecord, UnreadableRecord
from supervisor.core.values.errors import ExecutionStoreUnavailable
from supervisor.ports.store_problems import ContentRefused, StoreAway, StoreRefuses

__all__ = ["answered"]


@contextmanager
def answered() -> Iterator[None]:
    """Raise what the database has as `ExecutionStoreUnavailable`."""
    try:
        yield
    except (StoreAway, StoreRefuses, ContentRefused, UnreadableRecord, NewerRecord) as error:
        raise ExecutionStoreUnavailable(str(error)) from error
