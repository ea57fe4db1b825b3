"""Payloads of executions that are too large for a record: cut, or stored whole beside the logs."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from supervisor.adapters.reports.logs.memory_logs import MemoryLogStore
from supervisor.chores.reports.executions import ReportExecutions
from supervisor.core.executions.inputs import Succeeded
from supervisor.core.values.permissions import ANYONE
from supervisor.metadata.store import SqlStore
from supervisor.reports.incoming import parts_of
from supervisor.services.tasks.stored_search import StoredSearch
from tasks.reporting.levels import ReportLevels
from tasks.reporting.record import RecordType, ReportRecord, read_record
from tests.conformance.history.execution_story import LOAD_AND_VERIFY, runs, starts
from tests.conformance.history.test_leader_reports import _Store
from tests.conformance.stories import LEASE_TTL, Leader, take_lease
from tests.environment.executions import executions_sqlite_url, migrated_executions_file
from tests.sqlite_memory import empty_file
from tests.supervisor.core.crashes.scenarios.stored import Stored

__all__ = ["executions_sqlite_url", "migrated_executions_file"]

LARGE = "é" * 400_000


@pytest.fixture
def leader(tmp_path: Path) -> Iterator[Leader]:
    """A leader."""
    file = empty_file(tmp_path / "metadata.db")
    store = SqlStore(f"sqlite:///{file}", lease_ttl=LEASE_TTL)
    yield Leader(store, take_lease(store))
    store.close()


@pytest.fixture
def stored(executions_sqlite_url: str) -> Iterator[Stored]:
    """An execution whose first step has given more than a record takes."""
    with closing(Stored(executions_sqlite_url, {})) as engine:
        starts(engine, LOAD_AND_VERIFY, "nightly:1")
        outputs = {"load": [Succeeded({"text": LARGE})], "verify": [Succeeded()]}
        runs(engine, "nightly:1", outputs)
        yield engine


def _reported(leader: Leader, stored: Stored, *, spills: bool) -> tuple[_Store, MemoryLogStore]:
    topic, logs = _Store(), MemoryLogStore()
    levels = ReportLevels(spills=spills)
    known = (leader.store, lambda: leader.term, stored.store, topic, None, levels)
    ReportExecutions(*known).run_once()
    chunks = [parts_of(each.to_json().encode()).chunk for each in topic.chunks]
    logs.put_many([each for each in chunks if each is not None])
    assert [read_record(each.to_json().encode()) for each in topic.sent] == topic.sent
    return topic, logs


def _of_load(topic: _Store) -> ReportRecord:
    kind = RecordType.TASK_RESULT
    [result] = [e for e in topic.sent if (e.subject, e.type) == ("nightly:1/load", kind)]
    return result


def test_what_is_spilled_is_read_whole_by_the_id_of_its_record(
    leader: Leader, stored: Stored
) -> None:
    topic, logs = _reported(leader, stored, spills=True)
    result = _of_load(topic)
    assert result.truncated is not None
    assert len(result.to_json().encode()) < 600_000

    whole = StoredSearch(topic.stored, logs).report(result.record_id, ANYONE)

    assert whole.truncated is None
    assert whole.payload["outputs"] == {"text": LARGE}
    assert (whole.record_id, whole.status) == (result.record_id, "SUCCESS")


def test_where_its_log_is_not_whole_it_is_cut_and_says_so(leader: Leader, stored: Stored) -> None:
    topic, logs = _reported(leader, stored, spills=True)
    result = _of_load(topic)

    for some in (MemoryLogStore(), None):
        assert StoredSearch(topic.stored, some).report(result.record_id, ANYONE) == result
    assert logs.size_bytes() > len(LARGE.encode())


def test_otherwise_it_is_cut(leader: Leader, stored: Stored) -> None:
    topic, logs = _reported(leader, stored, spills=False)
    result = _of_load(topic)
    assert result.truncated is not None
    assert result.truncated.spilled_to is None
    assert StoredSearch(topic.stored, logs).report(result.record_id, ANYONE) == result
