"""Events and audit entries that have left their tables: the same routes, ids and filters."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from supervisor.adapters.reports.memory import MemoryReports
from supervisor.api.routes.cluster import events as stream
from supervisor.chores.reports.archive import ArchiveHistory
from supervisor.core.history.lifecycle_events import EventKind
from supervisor.core.model.rows import AuditEntry
from supervisor.metadata.store import SqlStore
from supervisor.ports.reports.reports import NumberedQuery
from supervisor.ports.store_problems import StoreAway
from supervisor.services.history import archive_reader
from supervisor.services.history.archive_reader import ArchiveReader
from supervisor.services.history.history import History
from tasks.reporting.record import RecordType, ReportRecord
from tests.conformance.history.archive_story import Topic
from tests.conformance.stories import LEASE_TTL
from tests.supervisor.api.routes.cluster.test_events import (
    EVENTS,
    FACT,
    Served,
    _events_of,
    serving,
    take,
)
from tests.supervisor.api.world import NOON, TOPIC, Json, World

AUDIT = "/api/v1/audit"
OTHER = "orders"
MINUTE = timedelta(minutes=1)


class Reports(MemoryReports):
    """The report store, which may be away."""

    away = False

    def numbered(self, query: NumberedQuery, limit: int) -> list[ReportRecord]:
        """Return records by their numbers."""
        if self.away:
            raise StoreAway("a story")
        return [*super().numbered(query, limit)]


@pytest.fixture
def reports(world: World) -> Reports:
    """The report store of a world that reads it."""
    reports, parts = Reports(), world.client.app.state.parts  # type: ignore[attr-defined]  # a FastAPI
    reader = ArchiveReader(reports, world.store)
    history = History(world.store, world.clock, reader)
    world.client.app.state.parts = replace(parts, chronicle=history)  # type: ignore[attr-defined]  # a FastAPI
    return reports


@pytest.fixture
def served(world: World, reports: Reports) -> Iterator[Served]:
    """The world behind a server."""
    assert not reports.away
    with serving(world) as running:
        yield running


def archived(world: World, reports: Reports, number: int = 24) -> int:
    """Record events a minute apart, archive and trim them; return the number of the last trimmed.

    Each third one is of a state, each second one of another supervisor.
    """
    topic, term = Topic(reports), world.leadership.term()
    small = SqlStore(f"sqlite:///{world.database}", lease_ttl=LEASE_TTL, happenings_kept=5)
    duty = ArchiveHistory(small, world.clock, world.leadership.term, topic, reports)
    for each in range(1, number + 1):
        kind = EventKind.STATE_CHANGED if each % 3 == 0 else EventKind.TASK_STARTED
        who = OTHER if each % 2 == 0 else TOPIC
        fact = replace(FACT, at=NOON + each * MINUTE, kind=kind, supervisor_id=who)
        duty.run_once()
        with small.leading(term) as tx:
            tx.happenings.record(fact)
    with small.reading() as tx:
        trimmed = tx.happenings.trimmed()
    small.close()
    assert trimmed > number / 2
    return trimmed


def pages(world: World, path: str) -> list[Json]:
    """Return all pages of a list."""
    listed_pages = [world.get_object(path)]
    while listed_pages[-1]["next"] is not None:
        listed_pages.append(world.get_object(f"{path}&cursor={listed_pages[-1]['next']}"))
    return listed_pages


def ids(listed_pages: list[Json]) -> list[int]:
    """Return the ids of the events of pages."""
    return [int(str(event["id"])) for page in listed_pages for event in _events_of(page)]


def test_the_list_goes_on_in_the_archive(world: World, reports: Reports) -> None:
    archived(world, reports)

    for limit in (1, 2, 7, 1_000):
        listed_pages = pages(world, f"{EVENTS}?limit={limit}")
        assert ids(listed_pages) == [*range(24, 0, -1)]
        assert {page["completeSince"] for page in listed_pages} == {None}
        assert {page["missing"] for page in listed_pages} == {None}


@pytest.mark.parametrize("scanned", [3, 2_000])
def test_filters_work_as_in_the_table(
    world: World, reports: Reports, monkeypatch: pytest.MonkeyPatch, scanned: int
) -> None:
    archived(world, reports)
    monkeypatch.setattr(archive_reader, "SCANNED_MAX", scanned)
    begin, end = (f"{NOON + n * MINUTE:%Y-%m-%dT%H:%M:%SZ}" for n in (4, 16))

    of_kind = ids(pages(world, f"{EVENTS}?type=task-started&limit=3"))
    of_one = ids(pages(world, f"{EVENTS}?supervisor={OTHER}&limit=3"))
    of_time = ids(pages(world, f"{EVENTS}?from={begin}&to={end}&limit=3"))
    of_all = ids(
        pages(world, f"{EVENTS}?supervisor={OTHER}&type=state-changed&from={begin}&to={end}")
    )

    assert of_kind == [n for n in range(24, 0, -1) if n % 3]
    assert of_one == [n for n in range(24, 0, -1) if n % 2 == 0]
    assert of_time == [*range(15, 3, -1)]
    assert of_all == [12, 6]


def test_an_archive_that_is_away_is_no_silent_hole(world: World, reports: Reports) -> None:
    trimmed = archived(world, reports)
    reports.away = True

    listed_pages = pages(world, f"{EVENTS}?limit=1000")

    kept = [n for n in range(trimmed, 0, -1) if n % 3 == 0]
    assert ids(listed_pages) == [*range(24, trimmed, -1), *kept]
    assert "cannot be read now: a story" in str(listed_pages[-1]["missing"])
    assert world.get_object(f"{EVENTS}?limit=2")["missing"] is None


def test_what_was_never_archived_is_named(world: World, reports: Reports) -> None:
    small = SqlStore(f"sqlite:///{world.database}", lease_ttl=LEASE_TTL, happenings_kept=5)
    for _ in range(20):
        with small.leading(world.leadership.term()) as tx:
            tx.happenings.record(replace(FACT, kind=EventKind.TASK_STARTED))
    with small.reading() as tx:
        before = tx.happenings.trimmed()
    small.close()
    archived(world, reports, 60)

    listed_pages = pages(world, f"{EVENTS}?limit=9")

    assert ids(listed_pages) == [*range(80, before, -1)]
    since = {datetime.fromisoformat(str(page["completeSince"])) for page in listed_pages}
    assert since == {NOON}


def test_the_stream_repeats_all_from_the_first_on(served: Served, reports: Reports) -> None:
    archived(served.world, reports)
    with served.follow("?after=0") as events:
        seen = take(events, 24)
    assert [each["id"] for each in seen] == [str(n) for n in range(1, 25)]
    assert "trimmed" not in {each["event"] for each in seen}
    with served.follow(**{"Last-Event-ID": "3"}) as events:
        assert next(events)["id"] == "4"


def test_the_stream_names_what_the_archive_lacks(served: Served, reports: Reports) -> None:
    archived(served.world, reports)
    lost = [each for each in reports.numbered(_all(served.world), 99) if each.place in {5, 6}]
    for each in lost:
        del reports._entries[each.record_id]
    with served.follow("?after=3") as events:
        first, hole, behind = take(events, 3)
    assert first["id"] == "4"
    assert (hole["event"], hole["data"]) == ("trimmed", {"from": 5, "to": 6})
    assert behind["id"] == "7"


def test_a_stream_waits_for_the_archive_and_then_names_the_hole(
    served: Served, reports: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    trimmed = archived(served.world, reports)
    monkeypatch.setattr(stream, "ARCHIVE_WAIT_S", 0.0)
    reports.away = True
    with served.follow("?after=2") as events:
        hole, behind = take(events, 2)
    assert (hole["event"], hole["id"]) == ("trimmed", str(trimmed))
    assert hole["data"] == {"from": 3, "to": trimmed, "why": "a story"}
    assert behind["id"] == str(trimmed + 1)


def test_audit_entries_that_have_ended_come_from_the_archive(
    world: World, reports: Reports
) -> None:
    topic, term = Topic(reports), world.leadership.term()
    duty = ArchiveHistory(world.store, world.clock, world.leadership.term, topic, reports)
    for number in range(1, 10):
        who, subject = ("ann", TOPIC) if number % 2 else ("bob", "a table")
        detail = {"supervisor": OTHER} if number % 3 == 0 else {"n": str(number)}
        entry = AuditEntry(
            NOON + number * MINUTE, who, f"act-{number}", subject, detail, f"because {number}"
        )
        with world.store.leading(term) as tx:
            tx.audit.write(entry)
    wanted = world.get_object(f"{AUDIT}?limit=1000")["entries"]
    duty.run_once()
    with world.store.leading(term) as tx:
        assert tx.expiry.delete_audit(NOON + 7 * MINUTE, 100) == 6

    def listed(query: str) -> list[Json]:
        listed_pages = pages(world, f"{AUDIT}?{query}")
        return [entry for page in listed_pages for entry in page["entries"]]  # type: ignore[attr-defined]  # a list

    assert isinstance(wanted, list)
    for limit in (1, 2, 3, 9, 100):
        assert listed(f"limit={limit}") == wanted
    assert [each["action"] for each in listed("limit=2&actor=bob")] == [
        f"act-{n}" for n in (8, 6, 4, 2)
    ]
    assert [each["action"] for each in listed(f"limit=1&supervisor={OTHER}")] == [
        f"act-{n}" for n in (9, 6, 3)
    ]
    reports.away = True
    away = world.get_object(f"{AUDIT}?limit=100")
    assert away["entries"] == wanted[:3]
    assert "cannot be read now" in str(away["missing"])


def _all(world: World) -> NumberedQuery:
    with world.store.reading() as tx:
        return NumberedQuery(RecordType.EVENT, tx.installation.name())
