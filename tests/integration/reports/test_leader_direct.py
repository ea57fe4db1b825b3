"""What the leader itself reports reaches a persister without Kafka, and outlives what it is about.

Slow: an overlord and a persister start as processes.
"""

from pathlib import Path

import pytest

from supervisor.dev.ports import LOOPBACK
from supervisor.metadata.migrate import migrate
from supervisor.metadata.store import SqlStore
from tasks.reporting.record import RecordType
from tests.conformance.stories import LEASE_TTL
from tests.integration.overlords import Overlord, Overlords
from tests.integration.reports.persisters import Persisters
from tests.waiting import wait_until

pytestmark = pytest.mark.process

DOOR = {"TIDEGATE_REPORTS_KEY": "a-key-for-the-door", "TIDEGATE_TOKEN": "a-token-of-operators"}
KEYS = {"TIDEGATE_REPORTS_KEY": DOOR["TIDEGATE_REPORTS_KEY"]}
FLOW = {"flow": "day", "steps": [{"name": "pack", "type": "noop"}]}


def _origins(leader: Overlord) -> set[str]:
    answer = leader.http.get("/api/v1/reports", params={"type": "task_result", "task": "day:one"})
    return {each["origin"] for each in answer.json().get("reports", [])}


def _archived(store: SqlStore) -> int:
    """Return up to which audit entry the archive has all."""
    with store.reading() as tx:
        return tx.archive.positions()[RecordType.AUDIT].stored_to


def test_executions_and_events_are_stored_by_http_alone(tmp_path: Path) -> None:
    """Source: reports, "everything above by `direct`"."""
    url = f"sqlite:///{tmp_path}/tidegate.db"
    migrate(url)
    with Persisters(tmp_path, DOOR) as persisters:
        persister = persisters.start()
        env = {**KEYS, "TIDEGATE_REPORTS_PERSISTER": f"http://{LOOPBACK}:{persister.port}"}
        with Overlords(tmp_path, url, env) as overlords:
            leader = overlords.start_leader()
            wait_until(lambda: leader.http.post("/api/v1/flows", json=FLOW).status_code == 200)
            started = leader.http.post("/api/v1/flows/day/executions", json={"key": "one"})
            assert started.status_code == 202
            wait_until(lambda: "execution" in _origins(leader))
            wait_until(lambda: persister.metric("tidegate_persister_stored_total") > 0)

            page = leader.http.get("/api/v1/reports", params={"task": "day:one"}).json()
            kinds = {each["type"]: each["status"] for each in page["reports"]}
            assert kinds == {"task_result": "SUCCESS", "task_report": "SUCCESS"}
            step = leader.http.get("/api/v1/reports", params={"task": "day:one/pack"}).json()
            assert [each["attempt"] for each in step["reports"]] == [1]
            store = SqlStore(url, lease_ttl=LEASE_TTL)
            wait_until(lambda: _archived(store) > 0)
            store.close()
            log = leader.http.get("/api/v1/executions/day:one/log").text
            assert log.endswith("the execution has ended: SUCCESS\n")
