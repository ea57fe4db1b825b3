"""What is foreign shows nowhere in what is archived and stored: no list, filter, cursor or id.

Whoever may read all sees the canary in each list, so each list has something to hide.
"""

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from pydantic import JsonValue

from supervisor.adapters.reports import report_pages
from supervisor.adapters.reports.database import ReportDatabase, migrate_reports
from supervisor.adapters.reports.logs import grave_index
from supervisor.adapters.reports.logs.sql_logs import SqlLogStore
from supervisor.adapters.reports.sql import SqlReports
from supervisor.chores.reports.archive import ArchiveHistory
from supervisor.core.history.lifecycle_events import EventKind, LifecycleEvent
from supervisor.core.model.rows import AuditEntry, GenerationState
from supervisor.core.planning.actions import OpenGeneration
from supervisor.core.values.ids import generation_id
from supervisor.core.values.permissions import Role
from supervisor.metadata.store import SqlStore
from supervisor.ports.reports.reports import ReportPage, ReportPlace, ReportQuery
from supervisor.services.history import archive_reader
from supervisor.services.history.archive_reader import ArchiveReader
from supervisor.services.history.history import History
from supervisor.services.services import Services
from tasks.contract.offsets import TopicPartition
from tasks.reporting.record import RecordOrigin, RecordType
from tests.conformance.history.archive_story import Topic
from tests.conformance.reports.log_chunks import chunk, line
from tests.conformance.reports.report_stores import report
from tests.conformance.stories import LEASE_TTL
from tests.supervisor.api.guarded import FOREIGN, OWN, Guarded, a_guarded_world, bearer, grants_of
from tests.supervisor.api.routes.cluster.test_events import serving
from tests.supervisor.api.world import NOON, SUPERVISORS, TASKS, Json, spec_document

CANARY = "canary9f2"
MOVED, REUSED = "moved", "reused"
"""A supervisor that fed the foreign table before; an id whose first owner was forgotten."""
SECOND = timedelta(seconds=1)
V1 = "/api/v1"


@dataclass
class _History:
    """An overlord with a past that was archived and trimmed, and who asks."""

    guarded: Guarded
    reports: SqlReports
    logs: SqlLogStore
    everybody: str
    others: dict[str, str]
    """Name -> token, of those that may not read what is foreign."""

    @property
    def parts(self) -> Services:
        parts: Services = self.guarded.world.client.app.state.parts  # type: ignore[attr-defined]  # a FastAPI
        return parts

    def post(self, supervisor: str, table: str) -> None:
        """Store a spec that rests."""
        document = spec_document() | {"id": supervisor, "suspended": True}
        section = document["spec"]
        assert isinstance(section, dict)
        section["dataSchema"] = section["dataSchema"] | {"dataSource": table}
        answer = self.guarded.ask("POST", SUPERVISORS, self.everybody, document)
        assert answer.status_code == 200, answer.text
        self.guarded.world.clock.advance(SECOND)

    def terminate(self, supervisor: str) -> None:
        path = f"{SUPERVISORS}/{supervisor}/terminate"
        assert self.guarded.ask("POST", path, self.everybody).status_code == 200
        self.guarded.world.settle(supervisor)

    def range_of(self, supervisor: str, table: str, topic: str) -> None:
        """Record a range of a supervisor that ended without rows."""
        clock, term = self.guarded.world.clock, self.guarded.world.leadership.term
        with self.parts.store.leading(term()) as tx:
            newest = tx.generations.newest(supervisor)
            ordinal = 1 if newest is None else newest.ordinal + 1
            start, name = {TopicPartition(topic, 0): 0}, generation_id(supervisor, ordinal)
            opened = OpenGeneration(name, ordinal, 1, 1, 1, 0, spec_version=1, start=start, why="")
            tx.generations.open(supervisor, table, opened, clock.now())
            tx.generations.close(name, GenerationState.EMPTY, clock.now())

    def past(self, facts: list[LifecycleEvent]) -> None:
        """Record events and entries of the audit log, archive them, and trim the tables."""
        world, topic = self.guarded.world, Topic()
        small = SqlStore(f"sqlite:///{world.database}", lease_ttl=LEASE_TTL, happenings_kept=2)
        term = world.leadership.term
        duty = ArchiveHistory(small, world.clock, term, topic, topic.stored)
        duty.run_once()
        for fact in facts:
            with small.leading(term()) as tx:
                tx.happenings.record(fact)
                detail = {"supervisor": fact.supervisor_id, "why": str(fact.detail)}
                tx.audit.write(AuditEntry(fact.at, "ann", "act", fact.supervisor_id, detail))
            duty.run_once()
        with small.leading(term()) as tx:
            assert tx.happenings.trimmed() > 0
            assert tx.expiry.delete_audit(world.clock.now(), 1_000) > 0
        small.close()
        self.reports.put_many(topic.sent)

    def store(self) -> None:
        """Store reports and logs of both tables, and of none, each newer than the one before."""
        records, chunks = [], []
        for number, table in enumerate([FOREIGN, OWN, FOREIGN, None, FOREIGN, OWN, FOREIGN] * 3):
            name = f"own{number}" if table == OWN else f"{CANARY}-{number}"
            who = OWN if table == OWN else f"{CANARY}-supervisor"
            at, worker = NOON + number * SECOND, f"{who}-worker"
            payload: dict[str, JsonValue] = {"detail": name}
            for kind in (RecordType.TASK_RESULT, RecordType.PROGRESS):
                one = report(name, at, kind=kind, worker=worker, status="FAILED", payload=payload)
                origin = RecordOrigin.STREAM if table else RecordOrigin.EXECUTION
                more = {"supervisor": who, "data_source": table, "origin": origin}
                records.append(one.model_copy(update=more))
            text = line("ERROR", name, number)
            chunks.append(
                chunk(text, subject=name, supervisor=who, data_source=table, worker=worker)
            )
        self.reports.put_many(records)
        self.logs.put_many([replace(each, at=NOON + 99 * SECOND) for each in chunks])


def _fact(history: _History, supervisor: str, text: str) -> LifecycleEvent:
    """An event a second after the one before."""
    now = history.guarded.world.clock.advance(SECOND)
    detail: dict[str, JsonValue] = {"state": "RUNNING", "why": text}
    return LifecycleEvent(now, EventKind.STATE_CHANGED, supervisor, detail, task_id=f"{text}-task")


@pytest.fixture
def history(tmp_path: Path, migrated: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[_History]:
    """A past of four supervisors; pages look at few rows, so that they end at foreign ones."""
    monkeypatch.setattr(report_pages, "LOOKED_AT_MAX", 7)
    monkeypatch.setattr(grave_index, "LINES_LOOKED_AT_MAX", 3)
    monkeypatch.setattr(archive_reader, "SCANNED_MAX", 3)
    url = f"sqlite:///{tmp_path}/reports.db"
    migrate_reports(url)
    database = ReportDatabase(url)
    reports, logs = SqlReports(database), SqlLogStore(database)
    with a_guarded_world(tmp_path, migrated) as guarded:
        others = {
            "viewer": guarded.token("viewer", *grants_of(Role.VIEWER)),
            "admin": guarded.token("admin", *grants_of(Role.ADMIN)),
            "nobody": guarded.token("nobody", *grants_of(Role.VIEWER, "else")),
        }
        everybody = guarded.token("all", *grants_of(Role.ADMIN, "*"))
        world = guarded.world
        one = _History(guarded, reports, logs, everybody, others)
        reader = ArchiveReader(reports, world.store)
        chronicle = History(world.store, world.clock, reader)
        world.client.app.state.parts = replace(one.parts, chronicle=chronicle)  # type: ignore[attr-defined]  # a FastAPI
        world.store_reports(reports)
        world.store_logs(logs)
        for supervisor, table in ((OWN, OWN), (FOREIGN, FOREIGN), (MOVED, FOREIGN)):
            one.post(supervisor, table)
        one.post(REUSED, FOREIGN)
        facts = [
            _fact(one, who, OWN if who == OWN else CANARY)
            for who in (OWN, FOREIGN, MOVED, REUSED, OWN, FOREIGN)
        ]
        one.range_of(REUSED, FOREIGN, CANARY)
        for supervisor in (MOVED, REUSED):
            one.terminate(supervisor)
        one.parts.forgetting.forget(REUSED, "ann")
        for supervisor in (MOVED, REUSED):
            one.post(supervisor, OWN)
        one.range_of(REUSED, OWN, "own again")
        facts += [_fact(one, who, "own again") for who in (OWN, REUSED, OWN)]
        one.past(facts)
        one.store()
        yield one
    database.close()


def _decoded(cursor: str) -> str:
    """Return what a cursor says to who looks into it."""
    whole = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    return whole.decode("utf-8", "replace")


def _pages(history: _History, path: str, token: str, first: str = "") -> tuple[str, list[str]]:
    """Return the text of all pages of a list with what their cursors say, and the cursors."""
    texts, cursors, cursor = [], list[str](), first
    while True:
        mark = "&" if "?" in path else "?"
        url = f"{path}{mark}cursor={cursor}" if cursor else path
        answer = history.guarded.ask("GET", url, token)
        assert answer.status_code == 200, answer.text
        texts.append(answer.text)
        cursor = answer.json()["next"] or ""
        if not cursor:
            return "\n".join(texts), cursors
        assert cursor not in cursors, "a list ends"
        cursors.append(cursor)
        texts.append(_decoded(cursor))


_EVENTS = [
    *(f"limit={limit}" for limit in (1, 2, 1_000)),
    *(f"supervisor={who}" for who in (FOREIGN, MOVED, REUSED)),
    "type=state-changed&limit=2",
    f"from={quote(NOON.isoformat())}&type=state-changed",
]
_REPORTS = [
    *(f"limit={limit}" for limit in (1, 2, 1_000)),
    f"supervisor={CANARY}-supervisor",
    f"dataSource={FOREIGN}",
    f"worker={CANARY}-supervisor-worker&limit=1",
    f"task={CANARY}-0",
    "status=FAILED&limit=2",
    "type=progress",
    "origin=execution",
    "origin=stream",
]
_LOGS = [
    *(f"limit={limit}" for limit in (1, 2, 1_000)),
    f"supervisor={CANARY}-supervisor",
    f"dataSource={FOREIGN}&limit=1",
    f"worker={CANARY}-supervisor-worker",
    f"task={CANARY}-0",
    f"text={CANARY}",
    "level=ERROR&limit=2",
]


@pytest.mark.parametrize(
    ("kind", "queries"), [("events", _EVENTS), ("reports", _REPORTS), ("logs", _LOGS)]
)
def test_no_list_filter_or_cursor_shows_what_is_foreign(
    history: _History, kind: str, queries: list[str]
) -> None:
    for query in queries:
        path = f"{V1}/{kind}?{query}"
        everything, cursors = _pages(history, path, history.everybody)
        assert CANARY in everything
        for token in history.others.values():
            for first in ("", *cursors[:2]):
                own, _ = _pages(history, path, token, first)
                assert CANARY not in own


def test_what_is_ones_own_is_all_there(history: _History) -> None:
    viewer = history.others["viewer"]
    for limit in (1, 2, 1_000):
        events, _ = _pages(history, f"{V1}/events?limit={limit}&type=state-changed", viewer)
        assert (events.count('"why":"clicks"'), events.count('"why":"own again"')) == (2, 3)
        reports, _ = _pages(history, f"{V1}/reports?limit={limit}", viewer)
        assert reports.count(f'"dataSource":"{OWN}"') == 12
        logs, _ = _pages(history, f"{V1}/logs?limit={limit}", viewer)
        assert logs.count(f'"dataSource":"{OWN}"') == 6


def test_the_ranges_of_a_forgotten_supervisor_are_for_who_may_read_all(history: _History) -> None:
    for limit in (1, 2, 1_000):
        path = f"{V1}/supervisors/{REUSED}/generations?limit={limit}"
        everything, _ = _pages(history, path, history.everybody)
        assert (everything.count(CANARY), everything.count("own again")) == (1, 1)
        own, _ = _pages(history, path, history.others["viewer"])
        assert (own.count(CANARY), own.count("own again")) == (0, 1)


def test_the_audit_log_and_its_archive_are_for_who_audits_all(history: _History) -> None:
    for wanted in ("", f"supervisor={FOREIGN}", "action=act", "actor=ann", "limit=1", "denied"):
        path = f"{V1}/audit/denied" if wanted == "denied" else f"{V1}/audit?{wanted}"
        if wanted != "denied":
            assert CANARY in _pages(history, path, history.everybody)[0]
        for token in history.others.values():
            answer = history.guarded.ask("GET", path, token)
            assert (answer.status_code, CANARY in answer.text) == (403, False)


def test_no_id_shows_what_is_foreign(history: _History) -> None:
    """Goal: also not that there is something: the answer is that of an id of nothing."""
    page, ask = history.reports.page, history.guarded.ask
    records = [each for each in _all_records(page) if each[1] != OWN]
    assert len(records) > 30

    def answer(path: str, token: str) -> httpx.Response:
        return ask("GET", path, token)

    for record_id, _ in records:
        for token in history.others.values():
            assert _same_as_nothing(answer, f"{V1}/reports/{{}}", record_id, "0" * 32, token)
    for part in ("log", "reports", "status"):
        for task in (f"{CANARY}-0", f"{CANARY}-3", FOREIGN):
            for token in history.others.values():
                path = f"{TASKS}/task/{{}}/{part}"
                assert _same_as_nothing(answer, path, task, "nothing", token)


def _all_records(page: Callable[..., ReportPage]) -> list[tuple[str, str | None]]:
    rows: list[tuple[str, str | None]] = []
    after: ReportPlace | None = None
    while True:
        part = page(ReportQuery(after=after), 1_000)
        rows += [(each.record_id, each.data_source) for each in part.lines]
        if (after := part.behind) is None:
            return rows


def _same_as_nothing(
    answer: Callable[[str, str], httpx.Response], path: str, name: str, nothing: str, token: str
) -> bool:
    one, other = answer(path.format(name), token), answer(path.format(nothing), token)
    assert one.status_code == 404
    return one.text.replace(name, "") == other.text.replace(nothing, "")


def test_the_stream_repeats_nothing_foreign(history: _History) -> None:
    with serving(history.guarded.world) as served:
        seen = {}
        for name, token in (("all", history.everybody), ("viewer", history.others["viewer"])):
            headers = bearer(token) | {"Last-Event-ID": "0"}
            with served.follow("", **headers) as events:
                seen[name] = _up_to_the_last(events)
    assert CANARY in seen["all"]
    assert CANARY not in seen["viewer"]
    assert seen["viewer"].count('"why": "clicks"') == 2


def _up_to_the_last(events: Iterator[Json]) -> str:
    """Return the events up to the last one of the story: the third of its own."""
    text = ""
    for event in events:
        text += json.dumps(event)
        if text.count('"why": "own again"') == 3:
            return text
    raise AssertionError("the stream has ended")
