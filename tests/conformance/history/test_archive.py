"""The archive of events and audit on each database: what is sent, what may go, what comes twice."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from supervisor.adapters.manual_clock import ManualClock
from supervisor.adapters.reports.memory import MemoryReports
from supervisor.chores.expiry import EndOfHistory
from supervisor.chores.reports.archive import ArchiveHistory
from supervisor.core.history.archive import RESEND_AFTER, ArchivePosition, entry_of, event_of
from supervisor.core.history.expiry import HistoryAges
from supervisor.core.history.lifecycle_events import EventKind
from supervisor.core.history.windows import EVERY_EVENT
from supervisor.core.model.rows import AuditEntry
from supervisor.core.reports.status import StoreOutcome
from supervisor.core.values.errors import LeaseLost
from supervisor.metadata.store import SqlStore
from tasks.reporting.record import RecordType
from tests.conformance.history.archive_story import Topic, acts, archive_of, happens
from tests.conformance.stories import CLICKS, HOUR, LEASE_TTL, NOON, Leader, take_lease
from tests.environment.burdens import Burdens

EVENT, AUDIT = RecordType.EVENT, RecordType.AUDIT
KEPT = 10
DAY = 24 * HOUR


@pytest.fixture
def leader(database_url: str) -> Iterator[Leader]:
    """A leader whose table keeps ten events."""
    store = SqlStore(database_url, lease_ttl=LEASE_TTL, happenings_kept=KEPT)
    yield Leader(store, take_lease(store))
    store.close()


def positions(leader: Leader) -> dict[RecordType, ArchivePosition]:
    with leader.reads() as tx:
        return {**tx.archive.positions()}


def trimmed(leader: Leader) -> int:
    with leader.reads() as tx:
        return tx.happenings.trimmed()


def test_events_and_entries_are_sent_once_as_they_are(leader: Leader) -> None:
    topic = Topic()
    happens(leader, 8)
    acts(leader, "suspend", "resume")
    duty = archive_of(leader, topic)

    assert [duty.run_once(), duty.run_once()] == [10, 0]

    assert (topic.numbers(EVENT), topic.numbers(AUDIT)) == ([*range(1, 9)], [1, 2])
    assert {*topic.outcomes} == {StoreOutcome.STORED}
    assert positions(leader) == {EVENT: ArchivePosition(8, 8, 1), AUDIT: ArchivePosition(2, 2, 1)}
    with leader.reads() as tx:
        events, entries = tx.happenings.after(0, 99), tx.audit.page(99)
    sent = [event_of(each) for each in topic.sent if each.type is EVENT]
    assert sent == events
    sent_entries = [(each.place, entry_of(each)) for each in topic.sent if each.type is AUDIT]
    assert sent_entries == entries[::-1]


def test_nothing_is_sent_within_a_transaction(
    leader: Leader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: a broker that hangs holds up no transaction."""
    burdens = Burdens()
    burdens.during(monkeypatch, SqlStore, "reading", "writing", "leading")
    for owner, name in ((Topic, "send"), (MemoryReports, "numbers")):
        burdens.before(monkeypatch, owner, name)
    happens(leader, 8)
    acts(leader, "suspend")
    assert archive_of(leader, Topic()).run_once() == 9

    assert {call for call, _, _ in burdens.calls} == {"Topic.send", "MemoryReports.numbers"}
    assert burdens.burdened() == []


def test_only_what_is_stored_is_trimmed(leader: Leader) -> None:
    """Goal: a persister that is behind, and a topic that is away, lose nothing."""
    topic = Topic()
    happens(leader, 4)
    duty = archive_of(leader, topic)
    duty.run_once()
    topic.held = True
    happens(leader, 26)
    duty.run_once()
    assert (positions(leader)[EVENT].sent_to, positions(leader)[EVENT].stored_to) == (30, 4)
    happens(leader, 10)
    assert trimmed(leader) <= 4
    topic.away = True
    happens(leader, 10)
    duty.run_once()
    assert trimmed(leader) <= 4

    topic.held = topic.away = False
    topic.persist()
    duty.run_once()
    happens(leader, 11)

    assert positions(leader)[EVENT] == ArchivePosition(50, 50, 1)
    assert trimmed(leader) > 30
    assert topic.stored.size_bytes() > 0
    assert topic.numbers(EVENT) == [*range(1, 51)]


def test_what_was_sent_before_a_takeover_is_a_conflict_after_it(leader: Leader) -> None:
    """Goal: a leader that dies between the acknowledgement and its position loses nothing."""
    topic, reached = Topic(), list[str]()
    happens(leader, 5)

    class Killed(BaseException):
        """The process ends."""

    def dies(step: str) -> None:
        reached.append(step)
        if len(reached) > 1:
            raise Killed

    first = archive_of(leader, topic)
    first.reach = dies
    with pytest.raises(Killed):
        first.run_once()
    newer = Leader(leader.store, take_lease(leader.store, "second"))
    happens(newer, 2)
    archive_of(newer, topic).run_once()

    assert topic.numbers(EVENT) == [1, 2, 3, 4, 5, 4, 5, 6, 7]
    assert topic.outcomes.count(StoreOutcome.CONFLICT) == 2
    assert StoreOutcome.MISMATCH not in topic.outcomes
    assert positions(newer)[EVENT] == ArchivePosition(7, 7, 1)


def test_nothing_is_trimmed_unsaved_once_a_leader_has_an_archive(leader: Leader) -> None:
    """Goal: also before the first record is acknowledged."""
    topic = Topic(away=True)
    archive_of(leader, topic).run_once()
    happens(leader, 30)
    assert trimmed(leader) == 0


def test_a_leader_whose_term_is_over_moves_no_position(leader: Leader) -> None:
    topic = Topic()
    happens(leader, 5)
    take_lease(leader.store, "second")

    with pytest.raises(LeaseLost):
        archive_of(leader, topic).run_once()

    assert positions(leader) == {}


def test_a_record_that_the_store_never_got_is_sent_again(leader: Leader) -> None:
    """Goal: a record that the topic lost, and later ones did not, is no hole for ever."""
    topic, clock = Topic(held=True), ManualClock(NOON)
    happens(leader, 6)
    duty = archive_of(leader, topic, clock)
    duty.run_once()
    topic.persist(but=[3])
    duty.run_once()
    assert positions(leader)[EVENT].stored_to == 2
    topic.held = False
    clock.advance(RESEND_AFTER)
    duty.run_once()
    duty.run_once()

    assert topic.numbers(EVENT) == [1, 2, 3, 4, 5, 6, 3, 4, 5, 6]
    assert positions(leader)[EVENT].stored_to == 6


def test_an_archive_that_begins_later_has_what_was_kept_and_says_from_when_it_is_whole(
    leader: Leader,
) -> None:
    topic = Topic()
    happens(leader, 5, EventKind.STATE_CHANGED)
    happens(leader, 20)
    gone = trimmed(leader)
    assert gone > 5

    duty = archive_of(leader, topic)
    duty.run_once()
    duty.run_once()

    assert topic.numbers(EVENT) == [*range(1, 6), *range(gone + 1, 26)]
    assert positions(leader)[EVENT] == ArchivePosition(25, 25, gone + 1, NOON)


def test_without_an_archive_rows_go_as_ever(leader: Leader) -> None:
    topic = Topic(held=True)
    happens(leader, 5)
    archive_of(leader, topic).run_once()
    happens(leader, 30)
    assert trimmed(leader) == 0

    ended = ArchiveHistory(leader.store, ManualClock(NOON), lambda: leader.term, None, None)
    ended.run_once()
    ended.run_once()
    happens(leader, 1)

    assert (positions(leader), trimmed(leader)) == ({}, 36 - KEPT)


def test_old_rows_end_once_they_are_stored_or_twice_as_old(leader: Leader) -> None:
    topic = Topic(held=True)
    happens(leader, 3, EventKind.STATE_CHANGED)
    acts(leader, "one", "two")
    archive_of(leader, topic).run_once()
    topic.persist(but=[2])
    archive_of(leader, topic).run_once()

    def left(days: int) -> list[str]:
        ages = HistoryAges(audit=10 * DAY, events=10 * DAY)
        now = ManualClock(NOON + days * DAY)
        EndOfHistory(leader.store, now, lambda: leader.term, ages).run_once()
        with leader.reads() as tx:
            return [each.action for each in tx.audit.recent(9)]

    assert left(9) == ["two", "one"]
    assert left(11) == ["two"]
    assert left(21) == []


def test_kept_events_end_once_they_are_stored_or_twice_as_old(leader: Leader) -> None:
    happens(leader, 3, EventKind.STATE_CHANGED)
    happens(leader, 20)
    assert trimmed(leader) > 3
    topic = Topic(held=True)
    archive_of(leader, topic).run_once()
    topic.persist(but=[2])
    archive_of(leader, topic).run_once()

    def left(days: int) -> list[int]:
        ages = HistoryAges(events=10 * DAY)
        now = ManualClock(NOON + days * DAY)
        EndOfHistory(leader.store, now, lambda: leader.term, ages).run_once()
        with leader.reads() as tx:
            return [each.number for each in tx.happenings.lasting(EVERY_EVENT, 99, 0, 99)]

    assert left(9) == [3, 2, 1]
    assert left(11) == [3, 2]
    assert left(21) == []


@pytest.mark.pg
def test_an_entry_that_commits_late_is_not_passed_by(postgresql_url: str) -> None:
    """Goal: PostgreSQL numbers entries before their commit, and a lower one may come later."""
    store = SqlStore(postgresql_url, lease_ttl=LEASE_TTL)
    leader, topic = Leader(store, take_lease(store)), Topic()
    duty = archive_of(leader, topic)
    with ExitStack() as late:
        tx = late.enter_context(leader.writes())
        tx.audit.write(AuditEntry(NOON, "ann", "late", CLICKS))
        acts(leader, "early")
        duty.run_once()
        assert topic.numbers(AUDIT) == []
        second = late.enter_context(leader.writes())
        second.audit.write(AuditEntry(NOON, "ann", "later", CLICKS))
        duty.run_once()
        assert topic.numbers(AUDIT) == []
    duty.run_once()
    assert topic.numbers(AUDIT) == [1, 2, 3]
    store.close()
