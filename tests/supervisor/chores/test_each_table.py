"""A duty that goes over tables: while one table always fails, the others have their turn."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from supervisor.adapters.tables.memory_warehouse import MemoryWarehouse
from supervisor.chores.compaction.compacting import Compacting
from supervisor.chores.each_table import each_table
from supervisor.chores.exports import CompareAll
from supervisor.chores.retention import RetentionKeeper
from supervisor.chores.segments import SegmentLife
from supervisor.chores.sweep import Sweep
from supervisor.chores.table import CHORES
from supervisor.control.end_task import TASK_OUTPUT
from supervisor.core.model.rows import Segment
from supervisor.core.queue.events import CLUSTER, QueueName
from supervisor.core.tables.compaction import Target
from supervisor.core.tables.exports import Export, queue_of
from supervisor.core.values.errors import LeaseLost, MetadataBusy, MetadataUnavailable
from supervisor.core.values.export_formats import ExportFormat
from supervisor.metadata.store import SqlTransaction
from supervisor.ports.queue_events import Heard
from supervisor.ports.store import Store, Transaction
from tests.conformance.stories import P0, attempt, opening, publication, segment
from tests.supervisor.chores.tables import DAY, Tables
from tests.supervisor.core.snapshots import NOON
from tests.supervisor.world import ENDINGS, Hands
from tests.supervisor.yard import owned

BAD, GOOD = "a-bad-table", "b-good-table"
"""In the order in which every duty goes over tables."""
OF_NO_TABLE = {
    *(
        "wake",
        "poll-queues",
        "sample-lag",
        "retire-tasks",
        "end-of-history",
        "archive",
        "report-supervisors",
        "report-executions",
        "persisters",
        "executions",
        "step-keys",
        "purge-executions",
        "triggers",
        "watch-flows",
    ),
}


@dataclass
class _Troubled:
    """A part of a transaction in which whatever is about one table fails."""

    _repository: object
    _error: Callable[[], Exception]

    def __getattr__(self, name: str) -> object:
        part = getattr(self._repository, name)
        if not callable(part):
            return part

        def call(*given: object, **named: object) -> object:
            if BAD in repr((given, named)):
                raise self._error()
            return part(*given, **named)

        return call


@dataclass
class TroubledStore:
    """A store in which one table always fails, once `fails` is set."""

    store: Store
    error: Callable[[], Exception] = lambda: MetadataBusy("a story")
    fails: bool = False

    def reading(self) -> AbstractContextManager[Transaction]:
        return self._troubled(self.store.reading())

    def writing(self) -> AbstractContextManager[Transaction]:
        return self.store.writing()

    def leading(self, term: int) -> AbstractContextManager[Transaction]:
        return self._troubled(self.store.leading(term))

    def on_added(self, heard: Heard) -> None:
        self.store.on_added(heard)

    @contextmanager
    def _troubled(self, opened: AbstractContextManager[Transaction]) -> Iterator[Transaction]:
        with opened as tx:
            if self.fails:
                parts = {name: _Troubled(part, self.error) for name, part in vars(tx).items()}
                yield SqlTransaction(**parts)  # type: ignore[arg-type]
            else:
                yield tx


@dataclass
class Duties:
    """The duties of one leader over two tables, each of which has work for every duty."""

    store: TroubledStore
    tables: Tables = field(init=False)
    warehouse: MemoryWarehouse = field(default_factory=MemoryWarehouse)

    def __post_init__(self) -> None:
        self.tables = Tables(self.store)
        owned(self.warehouse, self.store)
        for number, table in enumerate((BAD, GOOD)):
            self._publish(number, table)
            self.warehouse.make_folder(f"{table}/data/index_kafka_clicks_{number:015x}_aaaabbbb")

    def _publish(self, number: int, table: str) -> None:
        """Two small files of ten days ago, rules of all kinds, and an export."""
        name, generation, task = f"feeds {table}", f"g{number}", f"t{number}"
        with self.store.leading(self.tables.term) as tx:
            tx.generations.open(name, table, opening(generation, 1, {P0: 0}), NOON)
            tx.tasks.start(
                replace(attempt(task, generation), supervisor_id=name, data_source=table)
            )
            row = replace(publication(generation, task), supervisor_id=name, data_source=table)
            tx.segments.add(row, [_file(n, table, name, generation, task) for n in range(2)])
            tx.exports.put(Export(table, ExportFormat.DELTA, enabled=True))
        life = self.tables.segments
        self.retention(life).set(table, 90 * DAY, "me")
        self.compacting().set_rule(table, Target(1_000, 2**50), timedelta(0), "me")

    def retention(self, life: SegmentLife) -> RetentionKeeper:
        return RetentionKeeper(self.store, self.tables.clock, lambda: self.tables.term, life)

    def compacting(self) -> Compacting:
        store, clock = self.store, self.tables.clock
        return Compacting(store, clock, lambda: self.tables.term, Hands(), ENDINGS, lambda: "token")

    def run(self, duty: str) -> None:
        """Let one duty run once."""
        store, clock = self.store, self.tables.clock

        def term() -> int:
            return self.tables.term

        match duty:
            case "retention":
                clock.advance(100 * DAY)
                life = SegmentLife(store, clock, term, DAY)
                self.retention(life).run_once()
            case "compaction":
                self.compacting().run_once()
            case "compare-exports":
                CompareAll(store, clock, term).run_once()
            case "sweep":
                Sweep(store, self.warehouse, clock, term, ENDINGS).run_once()
            case _:
                raise AssertionError(f"nobody knows how to run {duty}")

    def had_its_turn(self, duty: str, table: str) -> bool:
        """Whether the work of a duty is done for a table."""
        with self.store.store.reading() as tx:
            match duty:
                case "retention":
                    return not tx.segments.keys(table, used=True)
                case "compaction":
                    return bool(tx.compactions.live_attempts(table))
                case "compare-exports":
                    return tx.events.find(queue_of(table, ExportFormat.DELTA)) is not None
                case "sweep":
                    keys = tx.events.outstanding_keys(QueueName(CLUSTER, TASK_OUTPUT))
                    return any(key.startswith(f"{table}/") for key in keys)
        raise AssertionError(f"nobody knows what {duty} does")


def _file(number: int, table: str, supervisor_id: str, generation_id: str, task_id: str) -> Segment:
    path = f"{table}/data/{task_id}/{number}.parquet"
    file = segment(path, NOON - 10 * DAY, generation_id, task_id)
    return replace(file, data_source=table, supervisor_id=supervisor_id)


OVER_TABLES = sorted({duty.name for duty in CHORES} - OF_NO_TABLE)


@pytest.mark.parametrize("duty", OVER_TABLES)
@pytest.mark.parametrize(
    "error", [lambda: MetadataBusy("a story"), lambda: RuntimeError("a bug")], ids=["busy", "bug"]
)
def test_while_one_table_always_fails_the_next_one_has_its_turn(
    store: Store, duty: str, error: Callable[[], Exception]
) -> None:
    duties = Duties(TroubledStore(store, error))
    duties.store.fails = True

    with capture_logs() as logs:
        for _ in range(2):
            with suppress(RuntimeError):  # a bug is raised once each table has had its turn
                duties.run(duty)

    turns = [duties.had_its_turn(duty, table) for table in (BAD, GOOD)]
    assert turns == [False, True]
    reported = {(e["duty"], e["table"]) for e in logs if e["event"] == "a duty failed in part"}
    assert reported <= {(duty, BAD), (duty, f"{BAD}__errors")}
    assert (duty, BAD) in reported

    duties.store.fails = False
    duties.run(duty)

    assert duties.had_its_turn(duty, BAD)


def test_a_folder_that_cannot_be_read_holds_up_no_other_table(store: Store) -> None:
    """Goal: one table on a broken disk, or of other rights, does not end every sweep."""
    duties = Duties(TroubledStore(store))
    duties.warehouse.break_table(BAD)

    duties.run("sweep")

    assert [duties.had_its_turn("sweep", table) for table in (BAD, GOOD)] == [False, True]


@pytest.mark.parametrize("error", [LeaseLost("another leads"), MetadataUnavailable("away")])
def test_what_is_no_trouble_of_a_table_ends_the_run(error: Exception) -> None:
    done: list[str] = []

    def fails() -> int:
        raise error

    def works() -> int:
        done.append(GOOD)
        return 1

    with pytest.raises(type(error)):
        each_table("retention", [(BAD, fails), (GOOD, works)])

    assert done == []


def test_a_bug_is_raised_when_every_table_has_had_its_turn() -> None:
    """Goal: what nobody expected is seen, and holds up nobody."""
    done: list[str] = []

    def fails() -> int:
        raise KeyError("a bug")

    def works() -> int:
        done.append(GOOD)
        return 1

    with pytest.raises(KeyError, match="a bug"):
        each_table("retention", [(BAD, fails), (GOOD, works)])

    assert done == [GOOD]
