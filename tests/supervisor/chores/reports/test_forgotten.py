"""Reports and logs of a forgotten supervisor go with it, where that is wanted."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest

from supervisor.adapters.reports.logs.memory_logs import MemoryLogStore
from supervisor.adapters.reports.memory import MemoryReports
from supervisor.chores.forget import Forgetting
from supervisor.chores.reports.forgotten import FORGOTTEN_REPORTS, KIND, ReportsGone
from supervisor.core.queue.events import QueuedEvent
from supervisor.core.values.errors import NoReportStore
from supervisor.eventqueue.handling import Context, Fail
from supervisor.ports.reports.reports import ReportQuery
from supervisor.ports.store import Store
from supervisor.ports.store_problems import StoreAway
from tasks.reporting.record import RecordType
from tests.conformance.reports.log_chunks import chunk
from tests.conformance.reports.report_stores import report
from tests.conformance.stories import CLICKS
from tests.supervisor.chores.tables import DELAY, Tables
from tests.supervisor.core.snapshots import NOON

HOUR = timedelta(hours=1)


class Interrupted(MemoryReports):
    """A store that goes away after so many deletions."""

    left = 10_000

    def delete_of_supervisor(self, supervisor: str, before: datetime, limit: int) -> int:
        if self.left == 0:
            raise StoreAway("the database does not answer")
        self.left -= 1
        return super().delete_of_supervisor(supervisor, before, limit)


@dataclass
class Shelves:
    """A terminated supervisor with stored reports, beside those of another one."""

    store: Store
    reports: Interrupted = field(default_factory=Interrupted)
    logs: MemoryLogStore = field(default_factory=MemoryLogStore)

    def __post_init__(self) -> None:
        self.tables = Tables(self.store)
        with self.tables.store.leading(self.tables.term) as tx:
            tx.specs.append(CLICKS, None, NOON, "me")
        old = NOON - HOUR
        mine = [report(f"t{n}", old, supervisor=CLICKS) for n in range(5)]
        event = report("all", old, kind=RecordType.EVENT, supervisor=CLICKS, seq=1)
        other = report("other", old, supervisor="orders")
        young = report("young", NOON + HOUR, supervisor=CLICKS)
        self.reports.put_many([*mine, event, other, young])
        chunks = [chunk(b"line\n", subject=f"t{n}", at=old) for n in range(3)]
        stays = chunk(b"line\n", subject="other", supervisor="orders", at=old)
        self.logs.put_many([*chunks, stays])

    def forget(self, *, with_reports: bool, has_reports: bool = True) -> None:
        own = self.tables.forgetting
        forgetting = Forgetting(own.store, own.clock, own.term, own.delay, has_reports)
        forgetting.forget(CLICKS, "me", with_reports=with_reports)

    def run(self) -> None:
        """Let a leader handle what is due."""
        self.tables.clock.advance(DELAY)
        handler = ReportsGone(self.reports, self.logs, batch=2)
        self.tables.drain(FORGOTTEN_REPORTS, handler, self.tables.forgetting.config)

    def stored(self) -> Sequence[str]:
        return sorted(each.subject for each in self.reports.list(ReportQuery(), 100))

    def logged(self) -> Sequence[str]:
        names = ("t0", "t1", "t2", "other")
        return [each for each in names if self.logs.span(each, 0) is not None]


@pytest.fixture
def shelves(store: Store) -> Shelves:
    return Shelves(store)


def test_they_go_in_batches_and_history_and_what_is_younger_stays(shelves: Shelves) -> None:
    shelves.forget(with_reports=True)
    assert len(shelves.stored()) == 8  # what is on its way may still come in

    shelves.run()

    assert shelves.stored() == ["all", "other", "young"]
    assert shelves.logged() == ["other"]
    shelves.run()
    assert shelves.stored() == ["all", "other", "young"]


def test_they_stay_where_nobody_has_asked_for_it(shelves: Shelves) -> None:
    shelves.forget(with_reports=False)

    shelves.run()

    assert len(shelves.stored()) == 8
    assert len(shelves.logged()) == 4


def test_a_deletion_that_was_interrupted_goes_on_later(shelves: Shelves) -> None:
    shelves.forget(with_reports=True)
    shelves.reports.left = 1

    shelves.run()
    assert len(shelves.stored()) == 6
    assert len(shelves.logged()) == 4

    shelves.reports.left = 10_000
    shelves.run()
    assert shelves.stored() == ["all", "other", "young"]
    assert shelves.logged() == ["other"]


def test_where_nothing_is_stored_nothing_is_forgotten(shelves: Shelves) -> None:
    with pytest.raises(NoReportStore, match="TIDEGATE_REPORTS=off"):
        shelves.forget(with_reports=True, has_reports=False)

    with shelves.store.reading() as tx:
        assert tx.specs.newest(CLICKS) is not None


def test_an_overlord_that_ends_leaves_the_rest_to_the_next_one(shelves: Shelves) -> None:
    context = Context(shelves.store, shelves.tables.term, NOON, lambda: True)
    handler = ReportsGone(shelves.reports, shelves.logs)
    event = QueuedEvent(KIND, CLICKS, {"before": NOON.isoformat()})

    [answer] = handler([event], context).answers
    assert getattr(answer, "body", None) == event.body
    assert len(shelves.stored()) == 8

    for body in ({}, {"before": "noon"}, {"before": "2026-01-01T00:00:00"}):
        [refused] = handler([replace(event, body=body)], context).answers
        assert isinstance(refused, Fail)
