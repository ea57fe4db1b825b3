"""Two threads of one leader: what one of them counts or copies, the other cannot change unseen.

SQLite's writers take turns, so this is PostgreSQL.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import psycopg
import pytest

from supervisor.adapters.tables.memory_warehouse import MemoryWarehouse
from supervisor.chores.exports import Exporting
from supervisor.control.export_outbox import follow
from supervisor.control.reconcile import apply
from supervisor.core.model.rows import WorkerRow
from supervisor.core.planning.actions import StartTask
from supervisor.core.queue.events import QueuedEvent
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.tables.exports import KIND, Export
from supervisor.core.values.errors import StateMoved
from supervisor.core.values.export_formats import ExportFormat
from supervisor.eventqueue.handling import Context, Handled
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Transaction
from tests.conformance.stories import LEASE_TTL, NOON, P0, opening
from tests.conformance.tables.test_compaction import compaction
from tests.supervisor.chores.exports.exports import NoCopies, Shelf
from tests.supervisor.core.snapshots import NOON as NOON_OF_WORLD
from tests.supervisor.core.snapshots import TOPIC, observed, spec, worker
from tests.supervisor.world import World
from tests.supervisor.yard import owned
from tests.waiting import wait_until

pytestmark = pytest.mark.pg

DELTA = ExportFormat.DELTA
_WAITING = """
SELECT count(*) FROM pg_stat_activity
WHERE wait_event_type = 'Lock' AND datname = current_database()
"""


@dataclass
class Threads:
    """A leader, and two of its threads."""

    url: str
    world: World
    warehouse: MemoryWarehouse = field(default_factory=MemoryWarehouse)

    def act(self, act: Callable[[Transaction], object]) -> object:
        """Act in one transaction; return what came of it."""
        try:
            with self.world.store.leading(self.world.leadership.term()) as tx:
                return act(tx)
        except StateMoved as error:
            return error

    def side_by_side(
        self, first: Callable[[Transaction], object], second: Callable[[Transaction], object]
    ) -> object:
        """Let the second begin while the first is not committed; return what came of the second."""
        with ThreadPoolExecutor(1) as pool:
            with self.world.store.leading(self.world.leadership.term()) as tx:
                first(tx)
                later = pool.submit(self.act, second)
                wait_until(lambda: later.done() or self._somebody_waits())
            return later.result(60)

    def _somebody_waits(self) -> bool:
        with psycopg.connect(self.url) as looking:
            row = looking.execute(_WAITING).fetchone()
        return row is not None and row[0] > 0

    def export(self) -> Export:
        with self.world.store.reading() as tx:
            found = tx.exports.get(TOPIC, DELTA)
        assert found is not None
        return found

    def exported(self) -> Handled:
        """Export the table, and leave the progress to be written."""
        owned(self.warehouse, self.world.store)
        handler = Exporting(DELTA, Shelf(), self.warehouse, NoCopies())
        now, term = self.world.clock.now(), self.world.leadership.term()
        context = Context(self.world.store, term, now, lambda: False)
        return handler([QueuedEvent(KIND, TOPIC)], context)


@pytest.fixture
def threads(postgresql_url: str) -> Iterator[Threads]:
    sql = SqlStore(postgresql_url, lease_ttl=LEASE_TTL)
    yield Threads(postgresql_url, World(sql, _spec(DELTA)))
    sql.close()


def _spec(*formats: ExportFormat) -> SupervisorSpec:
    wanted = spec()
    schema = wanted.data_schema.model_copy(update={"exports": formats})
    return wanted.model_copy(update={"data_schema": schema})


def _stores(supervisor_id: str, *formats: ExportFormat) -> Callable[[Transaction], None]:
    """Store a spec of the table that asks for these exports."""

    def act(tx: Transaction) -> None:
        tx.specs.append(supervisor_id, _spec(*formats), NOON, "me")
        follow(tx, TOPIC, NOON)

    return act


def test_one_slot_is_given_to_one_of_two_passes(threads: Threads) -> None:
    """Goal: two supervisors that see the last free slot at once do not both take it."""
    shell, seen = threads.world.shell, observed(workers=(worker("w3", slots=1),))

    def ready(tx: Transaction) -> None:
        tx.workers.register(WorkerRow("w3", 1, "http://w3", 1, NOON))
        for name in ("one", "other"):
            tx.generations.open(name, "table", opening(f"g-{name}", 1, {P0: 0}), NOON)

    def starts(name: str) -> Callable[[Transaction], None]:
        action = StartTask(f"t-{name}", f"g-{name}", 0, 1, "w3", 1, "a story")
        return lambda tx: apply(action, seen, tx, shell)

    threads.act(ready)
    refused = threads.side_by_side(starts("one"), starts("other"))

    with threads.world.store.reading() as tx:
        assert [task.id for task in tx.tasks.active(worker_id="w3")] == ["t-one"]
    assert isinstance(refused, StateMoved)


def test_an_export_that_a_spec_switches_off_stays_off(threads: Threads) -> None:
    """Goal: the progress of an export is written beside the switch, not over it."""
    threads.act(_stores(TOPIC, DELTA))
    handled = threads.exported()

    threads.side_by_side(_stores(TOPIC), handled.write)

    assert (threads.export().enabled, threads.export().exported_at) == (False, NOON_OF_WORLD)


def test_the_progress_of_an_export_is_kept_when_it_is_switched_off(threads: Threads) -> None:
    threads.act(_stores(TOPIC, DELTA))
    handled = threads.exported()

    threads.side_by_side(handled.write, _stores(TOPIC))

    assert (threads.export().enabled, threads.export().exported_at) == (False, NOON_OF_WORLD)


def test_of_two_specs_at_once_one_of_which_asks_for_an_export_it_is_on(threads: Threads) -> None:
    """Goal: who switches an export off has seen the spec that asks for it, or comes before it."""
    threads.act(_stores(TOPIC, DELTA))

    threads.side_by_side(_stores(TOPIC), _stores("another", DELTA))

    assert threads.export().enabled


def test_live_compactions_are_counted_by_one_at_a_time(threads: Threads) -> None:
    """Goal: the bound of a table holds beside a request, and no file is compacted twice."""

    def begins(name: str) -> Callable[[Transaction], int]:
        def act(tx: Transaction) -> int:
            live = tx.compactions.live_attempts("table", alone=True)
            tx.compactions.add(compaction(name))
            return len(live)

        return act

    assert threads.side_by_side(begins("c1"), begins("c2")) == 1
    with threads.world.store.reading() as tx:
        assert len(tx.compactions.live_attempts("table")) == 2
        assert tx.compactions.live_attempts("other") == []
