"""Leaders die between the acknowledgement and their position: no event is missing or comes twice.

Slow: four overlords start one after the other, and three of them are killed.
"""

import json
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.sql import SqlReports
from supervisor.core.history.lifecycle_events import EventKind, LifecycleEvent
from supervisor.core.model.rows import AuditEntry
from supervisor.dev.broker import Broker
from supervisor.metadata.migrate import migrate
from supervisor.metadata.store import SqlStore
from supervisor.ports.reports.reports import NumberedQuery
from tasks.reporting.record import RecordType
from tests.conformance.stories import CLICKS, NOON, take_lease
from tests.integration.overlords import Overlord, Overlords
from tests.integration.reports.persisters import Persisters
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.long]

TAKEOVERS = 3
EACH = int(os.environ.get("TIDEGATE_TEST_RECORDS", "2000")) // (TAKEOVERS + 1)
WITHIN_S = 3_600.0
"""Ends only a run that hangs; `scripts/prove history` has 200,000 events."""
KEPT = 50
TTL = timedelta(seconds=5)


@pytest.fixture
def history(tmp_path: Path) -> Iterator[SqlStore]:
    """The metadata of the overlords."""
    url = f"sqlite:///{tmp_path}/tidegate.db"
    migrate(url)
    store = SqlStore(url, lease_ttl=TTL)
    yield store
    store.close()


def _trim(tmp_path: Path, term: int, up_to: int) -> None:
    """Record events in a table that keeps fifty, until those up to `up_to` have left it.

    A transaction trims a bounded number of rows.
    """
    store = SqlStore(f"sqlite:///{tmp_path}/tidegate.db", lease_ttl=TTL, happenings_kept=KEPT)
    while _trimmed(store) < up_to:
        before = _trimmed(store)
        _record(store, term, 2 * KEPT)
        assert _trimmed(store) > before
    store.close()


def _trimmed(store: SqlStore) -> int:
    with store.reading() as tx:
        return tx.happenings.trimmed()


def _record(store: SqlStore, term: int, number: int) -> None:
    """Record events, ten in each transaction, and an audit entry with them."""
    for first in range(0, number, 10):
        with store.leading(term) as tx:
            for each in range(first, first + 10):
                fact = {"why": f"number {each}"}
                tx.happenings.record(LifecycleEvent(NOON, EventKind.TASK_STARTED, CLICKS, {**fact}))
            tx.audit.write(AuditEntry(NOON, "ann", "act", CLICKS, {"n": str(first)}))


def _stored(store: SqlStore) -> tuple[int, int]:
    """Return up to where the archive has events, and the newest one."""
    with store.reading() as tx:
        position = tx.archive.positions().get(RecordType.EVENT)
        return 0 if position is None else position.stored_to, tx.happenings.newest()


def _listed(overlord: Overlord) -> list[int]:
    ids: list[int] = []
    cursor = ""
    while True:
        page = overlord.http.get(f"/api/v1/events?limit=1000{cursor}").json()
        assert page["missing"] is None
        ids += [each["id"] for each in page["events"]]
        if page["next"] is None:
            return ids
        cursor = f"&cursor={page['next']}"


def _streamed(overlord: Overlord, newest: int) -> list[int]:
    """Return the ids that a stream repeats from the first on."""
    ids: list[int] = []
    url = f"{overlord.url}/api/v1/events/stream"
    with httpx.stream("GET", url, headers={"Last-Event-ID": "0"}, timeout=600) as answer:
        for line in answer.iter_lines():
            name, _, value = line.partition(": ")
            if name == "event":
                assert value == EventKind.TASK_STARTED
            if name == "data":
                ids.append(json.loads(value)["id"])
                if ids[-1] == newest:
                    return ids
    raise AssertionError("the stream has ended")


def test_no_event_is_missing_after_three_takeovers(
    broker: Broker, tmp_path: Path, history: SqlStore
) -> None:
    """Source: reports, "after a takeover no number is missing, repeats are conflicts"."""
    env = {
        "TIDEGATE_REPORTS_KAFKA": broker.bootstrap,
        "TIDEGATE_REPORTS_PREFIX": "archive-takeovers.",
        "TIDEGATE_LEASE_TTL": "PT5S",
    }
    with (
        Persisters(tmp_path, env) as persisters,
        Overlords(tmp_path, f"sqlite:///{tmp_path}/tidegate.db", env) as overlords,
    ):
        persister = persisters.start()
        for turn in range(1, TAKEOVERS + 1):
            _record(history, take_lease(history, f"writer-{turn}"), EACH)
            leader = overlords.start(TIDEGATE_FAILPOINTS="archive:sent:kill")
            wait_until(lambda leader=leader: not leader.child.alive())  # type: ignore[misc]  # bound
        _record(history, take_lease(history, "writer"), EACH)
        leader = overlords.start()
        wait_until(leader.leads)
        wait_until(lambda: _stored(history)[0] == (TAKEOVERS + 1) * EACH, WITHIN_S)
        _trim(tmp_path, overlords.term(), (TAKEOVERS + 1) * EACH - KEPT)
        _, newest = _stored(history)
        wait_until(lambda: _stored(history)[0] == newest)
        with history.reading() as tx:
            installation = tx.installation.name()

        every = [*range(1, newest + 1)]
        assert _listed(leader) == every[::-1]
        assert _streamed(leader, newest) == every
        assert persister.metric("tidegate_persister_conflicts_total") > 0
        assert persister.metric("tidegate_persister_mismatch_total") == 0
    reports = SqlReports(ReportDatabase(f"sqlite:///{tmp_path}/reports.db"))
    for kind, numbers in ((RecordType.EVENT, every), (RecordType.AUDIT, every[: newest // 10])):
        assert reports.numbers(NumberedQuery(kind, installation), 2 * newest) == numbers
    reports.close()
