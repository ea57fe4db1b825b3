"""The projector of a process: it begins and leaves when it is bid, and outlives its database."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from supervisor.executions.projector import Projector
from supervisor.executions.sequencer.both import OwnersAndProjector
from supervisor.executions.sequencer.owners import PartitionOwners
from supervisor.ports.flows.execution_log import LogTopic
from supervisor.ports.flows.projection import Place, ProjectedSteps, ProjectionStep
from supervisor.ports.store_problems import StoreAway
from tests.environment.memory_feed import MemoryFeed
from tests.supervisor.executions.sequencer.test_loop import PLAN, Owners
from tests.waiting import wait_until


@dataclass
class Rows:
    """Implements `ProjectionStore`: positions, and the keys that came."""

    away: bool = False
    next: dict[Place, int] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)

    def positions(self) -> Mapping[Place, int]:
        """Return how far it is."""
        if self.away:
            raise StoreAway("the database is away")
        return dict(self.next)

    def known(self, executions: Collection[str]) -> frozenset[str]:
        """Return those that came."""
        return frozenset(each for each in executions if f"e/{each}" in self.keys)

    def project(self, steps: Sequence[ProjectionStep]) -> ProjectedSteps:
        """Take steps."""
        if self.away:
            raise StoreAway("the database is away")
        lost = frozenset(step.place for step in steps if self.next.get(step.place) != step.start)
        for step in steps:
            if step.place not in lost:
                self.next[step.place] = step.next
                self.keys |= {record.key for record in step.records}
        return ProjectedSteps(lost)

    def clear(self) -> int:
        """Begin anew."""
        self.next.clear()
        return 0


@contextmanager
def _projector(owners: Owners, rows: Rows) -> Iterator[Projector]:
    projector = Projector(lambda: MemoryFeed(owners.topics), rows, again_s=0.01)
    projector.start()
    yield projector
    projector.stop()


def test_it_projects_what_it_is_given_until_it_is_taken_away() -> None:
    owners, rows = Owners(2), Rows()
    with _projector(owners, rows) as projector:
        both = OwnersAndProjector(PartitionOwners(lambda part: owners.owners[part]), projector)
        projector.begin([0, 1])
        owners.start(PLAN)
        owners.work()
        wait_until(lambda: "e/e1" in rows.keys)
        wait_until(lambda: projector.lag() == {0: 0, 1: 0})

        assert both.leave([0, 1])
        before = dict(rows.next)
        owners.start(PLAN, "e2")
        owners.work()

    assert rows.next == before
    assert both.positions() == {}


def test_a_database_that_is_away_is_waited_for() -> None:
    owners, rows = Owners(), Rows(away=True)
    with _projector(owners, rows) as projector:
        projector.begin([0])
        wait_until(lambda: projector.troubles() == {0: "the database is away"})
        owners.start(PLAN)
        owners.work()
        rows.away = False
        wait_until(lambda: "e/e1" in rows.keys)
        wait_until(lambda: not projector.troubles())

        assert rows.next[LogTopic.STATE, 0] == len(owners.topics.of(LogTopic.STATE))


def test_a_projector_that_has_not_begun_leaves_at_once() -> None:
    owners = Owners()
    projector = Projector(lambda: MemoryFeed(owners.topics), Rows())
    projector.begin([0])

    assert projector.leave([0])
    projector.stop()
