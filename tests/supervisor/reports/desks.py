"""Persisters within the test's process, as an overlord reaches their dead letters."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from starlette.testclient import TestClient

from supervisor.adapters.reports.database import ReportDatabase, migrate_reports
from supervisor.adapters.reports.dead_letter_files import DeadLetterFiles
from supervisor.adapters.reports.kept_letter_files import KeptLetterFiles
from supervisor.adapters.reports.letter_marks import SqlLetterMarks
from supervisor.api.persister.server import create_persister_api
from supervisor.core.reports.flow import FlowBounds
from supervisor.ports.reports.dead_letters import DeadLetter
from supervisor.ports.reports.letter_desks import DeskRefuses, DeskSilent, LetterCall
from supervisor.ports.reports.persisters import PersisterAnswer, PersisterSilent
from supervisor.reports.door import Door
from supervisor.reports.letters import LetterDesk
from supervisor.reports.pipeline import Pipeline
from supervisor.reports.service import Persister
from tests.supervisor.reports.shelves import NOW, Shelves, record

__all__ = ["TOKEN", "DesksHere", "PersistersHere", "a_persister"]

TOKEN = "a-token-for-tests"
_OK = 200


@contextmanager
def a_persister(folder: Path, *more: DeadLetter) -> Iterator[TestClient]:
    """A persister with three dead letters, of which the first can be stored, and with more."""
    url = f"sqlite:///{folder}/reports.db"
    migrate_reports(url)
    database, shelves = ReportDatabase(url), Shelves()
    files = DeadLetterFiles(folder)
    for body in (record("task").to_json().encode(), b"\xff\x00 no text", b"no json"):
        files.put([DeadLetter(None, body, "direct", 0, 0, "unknown version")])
    files.put(more)
    pipeline = Pipeline(shelves.storing())
    pipeline.resume()
    desk = LetterDesk(
        KeptLetterFiles(folder, "p-1"),
        SqlLetterMarks(database),
        lambda: NOW,
        shelves.storing(),
        pipeline,
    )
    persister = Persister(pipeline, None, Door(pipeline, FlowBounds()), desk)
    yield TestClient(create_persister_api(persister, TOKEN, "the-key-of-the-door"))
    database.close()


@dataclass
class DesksHere:
    """Implements `ports.reports.letter_desks.LetterDesks` over the real routes of persisters."""

    by_url: Mapping[str, TestClient] = field(default_factory=dict)
    """Those that answer."""
    token: str = TOKEN

    def call(self, url: str, call: LetterCall) -> bytes:
        """Return a persister's answer; see the port."""
        if url not in self.by_url:
            raise DeskSilent("connection refused")
        answer = self.by_url[url].request(
            call.method,
            f"/dead-letters{call.path}",
            params=dict(call.params),
            headers={"Authorization": f"Bearer {self.token}"},
        )
        if answer.status_code != _OK:
            raise DeskRefuses(answer.status_code, str(answer.json().get("detail")))
        return bytes(answer.content)


@dataclass
class PersistersHere:
    """Implements `ports.reports.persisters.Persisters`: those of `alive` run."""

    alive: set[str]

    def status(self, url: str) -> PersisterAnswer:
        """Return how one is; see the port."""
        if url not in self.alive:
            raise PersisterSilent(f"{url} does not answer")
        return PersisterAnswer("RUNNING")
