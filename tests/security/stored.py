"""What persisters have stored, to be searched: records and logs as they were before compression."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.logs.segments import SegmentLogStore
from supervisor.adapters.reports.sql import SqlReports
from supervisor.ports.reports.reports import ReportQuery
from tests.environment.brokers import read_all
from tests.integration.reports.persisters import PersisterProcess, Persisters

__all__ = ["DEAD", "TOPICS", "Shelf"]

TOPICS = ("completed.default", "completed-others")
DEAD = "dead.persister"
_RECORDS_MAX, _BYTES_MAX = 100_000, 64 * 1024 * 1024


@dataclass(frozen=True)
class Shelf:
    """A persister beside a cluster, and all that went through it."""

    folder: Path
    """Of the database of reports, and of the persister's own files."""
    bootstrap: str

    @property
    def env(self) -> dict[str, str]:
        """The settings of all processes."""
        return {
            "TIDEGATE_REPORTS_KAFKA": self.bootstrap,
            "TIDEGATE_REPORTS_URL": f"sqlite:///{self.folder}/reports.db",
        }

    @contextmanager
    def persister(self, warehouse: Path) -> Iterator[PersisterProcess]:
        """Run one; `warehouse`: of the cluster, where segments of logs lie."""
        self.folder.mkdir()
        own = self.env | {"TIDEGATE_WAREHOUSE": str(warehouse)}
        with Persisters(self.folder / "persister", own) as persisters:
            yield persisters.start()

    def stored(self, warehouse: Path) -> dict[str, bytes]:
        """Return each stored record as JSON, and each stored log."""
        database = ReportDatabase(self.env["TIDEGATE_REPORTS_URL"])
        logs = SegmentLogStore(database, warehouse / ".tidegate", "searcher", SystemClock())
        try:
            records = SqlReports(database).list(ReportQuery(), _RECORDS_MAX)
            texts = {
                f"stored log of {subject}, attempt {attempt}": b"".join(
                    part.content for part in logs.read(subject, attempt, 0, _BYTES_MAX)
                )
                for subject in {each.subject for each in records}
                for attempt in logs.attempts(subject)
            }
        finally:
            database.close()
        return {
            f"stored {each.type} {each.record_id}": each.to_json().encode() for each in records
        } | texts

    def topics(self) -> dict[str, bytes]:
        """Return what senders have sent, and what was set aside."""
        return {
            f"topic {topic}": b"\n".join(chain.from_iterable(self._read(topic)))
            for topic in (*TOPICS, DEAD)
        }

    def of_a_newer_worker(self) -> list[bytes]:
        """Return what was sent of tasks, in a version that no persister of this release reads."""
        sent = chain.from_iterable(self._read(TOPICS[0]))
        return [json.dumps(json.loads(each) | {"v": 9}).encode() for each in sent]

    def _read(self, topic: str) -> Iterable[Sequence[bytes]]:
        return read_all(self.bootstrap, topic).values()
