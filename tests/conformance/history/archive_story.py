"""An archive in memory: a topic, a persister that can be behind, and the leader's duty."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from supervisor.adapters.manual_clock import ManualClock
from supervisor.adapters.reports.memory import MemoryReports
from supervisor.chores.reports.archive import ArchiveHistory
from supervisor.core.history.lifecycle_events import EventKind, LifecycleEvent
from supervisor.core.model.rows import AuditEntry
from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.letter_desks import LetterCall
from supervisor.ports.store_problems import StoreAway
from supervisor.reports.watch import PersisterWatch
from supervisor.services.tasks.letters import LetterPick, LetterRequests
from tasks.reporting.record import RecordType, ReportRecord
from tests.conformance.metadata.writes.keys import Story
from tests.conformance.stories import CLICKS, NOON, Leader
from tests.supervisor.cli.cluster.test_reports import letter
from tests.supervisor.reports.desks import PersistersHere

__all__ = ["Topic", "acts", "archive_of", "happens", "history_is_archived", "letters_are_handled"]


@dataclass
class Topic:
    """A `RecordSender`; what it takes is stored at once, unless the persister is held."""

    stored: MemoryReports = field(default_factory=MemoryReports)
    held: bool = False
    away: bool = False
    sent: list[ReportRecord] = field(default_factory=list)
    outcomes: list[StoreOutcome] = field(default_factory=list)
    _waiting: list[ReportRecord] = field(default_factory=list)

    def send(self, records: Sequence[ReportRecord]) -> None:
        """Take records."""
        if self.away:
            raise StoreAway("a story")
        self.sent += records
        self._waiting += [ReportRecord.from_json(each.to_json()) for each in records]
        if not self.held:
            self.persist()

    def persist(self, *, but: Sequence[int] = ()) -> None:
        """Store what waits; records with the numbers `but` are lost."""
        good = [each for each in self._waiting if each.place not in but]
        self.outcomes += self.stored.put_many(good)
        self._waiting.clear()

    def close(self) -> None:
        """Do nothing."""

    def numbers(self, kind: RecordType) -> list[int]:
        """Return the numbers that were sent."""
        return [each.place for each in self.sent if each.type is kind]


def archive_of(leader: Leader, topic: Topic, clock: ManualClock | None = None) -> ArchiveHistory:
    """The duty of a leader; pages are of three."""
    now = ManualClock(NOON) if clock is None else clock
    term = leader.term
    return ArchiveHistory(leader.store, now, lambda: term, topic, topic.stored, page=3)


def happens(leader: Leader, times: int, kind: EventKind = EventKind.TASK_STARTED) -> None:
    """Record events, one in each transaction."""
    for _ in range(times):
        with leader.writes() as tx:
            tx.happenings.record(LifecycleEvent(NOON, kind, CLICKS, {"why": "a story"}))


def acts(leader: Leader, *actions: str) -> None:
    """Write audit entries."""
    for action in actions:
        with leader.writes() as tx:
            tx.audit.write(AuditEntry(NOON, "ann", action, CLICKS, {"n": "1"}, "a reason"))


def history_is_archived(story: Story) -> None:
    """Events are sent and compared, then there is no archive any more; each write is overtaken."""
    store, clock, topic = story.store, story.world.clock, Topic()
    duty = ArchiveHistory(store, clock, story.term, topic, topic.stored)
    story.does("archive", duty.run_once)
    ended = ArchiveHistory(store, clock, story.term, None, None)
    story.does("end the archive", ended.run_once)


class _Desks:
    """A persister with one letter, whatever is wanted of it."""

    def call(self, url: str, call: LetterCall) -> bytes:
        return json.dumps(letter(9, persister=url, path=call.path)).encode()


def letters_are_handled(story: Story) -> None:
    """A dead letter is replayed through the overlord; its audit entry is overtaken."""
    world = story.world
    url = "http://p-1:8092"
    watch = PersisterWatch(world.clock, PersistersHere({url}), [url])

    def replay() -> object:
        # Each try has the leadership of then: another one leads after a rival has struck.
        known = (story.store, world.clock, world.leadership)
        return LetterRequests(*known, _Desks(), watch).replay(LetterPick(0, 9), "ann")

    story.does("replay a letter", replay)
