"""A generated history is one that the product could have written, and its reads do not scan it.

Goal: the figures of `bench size` say something about a database that the product has filled.
Slow: eight days of ranges are long enough to tell a read of history from one of what runs.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from bench.year.chronicle import RECORDS
from bench.year.plane import Plane, open_plane
from bench.year.rows import COLUMNS, counters_of
from bench.year.shape import FleetShape
from bench.year.syncs import FleetWorkers
from bench.year.table_sizes import sizes_of_sqlite
from bench.year.work import OURS, Publishing, ask, pass_once
from supervisor.control.end_task import TaskEnder
from supervisor.control.loop import Loop
from supervisor.control.publish import Publisher
from supervisor.core.queue.events import QueueConfig
from supervisor.metadata.schema.tables import METADATA
from supervisor.metadata.store import SqlStore
from tasks.contract.messages import TaskReport
from tests.conformance.stories import LEASE_TTL
from tests.sqlite_memory import empty_file
from tests.supervisor.core.snapshots import spec
from tests.supervisor.world import World, publish_request

_DAY = 24
_SMALL = FleetShape(supervisors=2, ranges=2 * _DAY)
_WRITTEN_AT_ONCE = ("generations", "generation_partitions", "tasks", "publications", "segments")
_STEPS = 20
"""Instructions of SQLite's machine between two calls of the counter."""


@pytest.fixture
def plane(tmp_path: Path) -> Iterator[Plane]:
    """An overlord over two days of two supervisors, one of them compacted."""
    with open_plane(f"sqlite:///{tmp_path}/year.db", _SMALL, tmp_path) as opened:
        yield opened


def _ledger(plane: Plane, name: str) -> Mapping[str, object]:
    found = plane.get(f"{OURS}/{name}/ledger")
    assert isinstance(found, dict)
    return found


def test_the_ledger_of_a_generated_history_has_each_offset_once(plane: Plane) -> None:
    for name in plane.chronicle.names:
        ledger = _ledger(plane, name)

        publications = ledger["publications"]
        assert isinstance(publications, list)
        assert len(publications) == _SMALL.ranges * _SMALL.groups
        spans: dict[int, list[tuple[int, int]]] = {}
        for publication in publications:
            files = publication["segments"] + publication["compacted"]
            rows = sum(f["rows"] for f in files)
            assert rows == publication["rows"] == RECORDS * _SMALL.partitions
            for span in (
                s for f in files for s in (f["spans"] if "spans" in f else f["file"]["spans"])
            ):
                assert span["rows"] == span["last"] - span["first"] + 1
                spans.setdefault(span["partition"], []).append((span["first"], span["last"]))
        assert len(spans) == _SMALL.partition_count
        for partition in spans.values():
            ends = [(first, last + 1) for first, last in sorted(partition)]
            assert ends[0][0] == 0
            assert [end for _, end in ends[:-1]] == [first for first, _ in ends[1:]]
            assert ends[-1][1] == _SMALL.ranges * RECORDS


def test_one_table_is_compacted_and_the_other_is_not(plane: Plane) -> None:
    compacted, plain = (_ledger(plane, name)["publications"] for name in plane.chronicle.names)

    assert isinstance(compacted, list)
    assert isinstance(plain, list)
    assert any(each["compacted"] for each in compacted)
    assert not any(each["compacted"] for each in plain)


def test_the_list_of_supervisors_has_the_whole_fleet(plane: Plane) -> None:
    listed = plane.get(OURS)

    assert isinstance(listed, dict)
    assert sorted(row["id"] for row in listed["supervisors"]) == plane.chronicle.names


def test_an_overlord_works_on_a_generated_history(plane: Plane) -> None:
    workers = FleetWorkers(plane)
    workers.report()

    for name in plane.chronicle.names:
        pass_once(plane, name)  # asserts that the planner finds nothing to do
    assert all(answers for answers in ask([plane], 1).values())
    workers.unchanged(1)  # asserts that each answer is short
    assert len(workers.news(4).values) == 4  # asserts that each order arrives
    publishing = Publishing(plane)
    for _ in range(2 * _SMALL.supervisors * _SMALL.groups):
        publishing.publish()  # asserts that it is committed

    ledger = _ledger(plane, plane.chronicle.names[1])
    committed = ledger["committed"]
    assert isinstance(committed, list)
    assert {row["nextOffset"] for row in committed} == {(_SMALL.ranges + 2) * RECORDS}


def test_no_row_of_a_generated_history_breaks_a_foreign_key(plane: Plane) -> None:
    with sqlite3.connect(_file_of(plane)) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    tables = {each.table: each.rows for each in sizes_of_sqlite(_file_of(plane))}
    assert tables["tasks"] == (_SMALL.ranges + 1) * _SMALL.tasks
    assert tables["publications"] == _SMALL.ranges * _SMALL.groups * _SMALL.supervisors


def _file_of(plane: Plane) -> Path:
    return Path(str(plane.store._engine.url.database))


# -- as the product writes -------------------------------------------------------------------------


def _forms(file: Path, table: str, where: str = "1") -> set[tuple[tuple[str, str], ...]]:
    """Return the forms of a table's rows: of each column whether it is null, and its type."""
    names = [column.name for column in METADATA.tables[table].c]
    types = ", ".join(f'typeof("{name}")' for name in names)
    with sqlite3.connect(file) as connection:
        asked = f'SELECT DISTINCT {types} FROM "{table}" WHERE {where}'  # noqa: S608 -- ours
        rows = connection.execute(asked)
        found = {tuple(zip(names, row, strict=True)) for row in rows.fetchall()}
    connection.close()
    return found


def _publisher(world: World) -> Publisher:
    """Return a publisher that knows the last reports of tasks, as the overlord's does."""

    def last_report(worker: str, task: str) -> TaskReport | None:
        return world.hands.all[worker].heard.get(task)

    loop = Loop(lambda _: None, world.clock, threads=1)
    ender = TaskEnder(QueueConfig(), last_report)
    return Publisher(world.store, world.clock, world.leadership, loop, ender)


def _one_range(file: Path) -> None:
    """Let the product itself publish one range of two groups by two replicas."""
    store = SqlStore(f"sqlite:///{empty_file(file)}", lease_ttl=LEASE_TTL)
    world = World(store, spec(2, 2), partitions=4)
    world.read_along()
    world.clock.advance(spec().io_config.task_duration)
    for _ in range(3):
        world.settle()
        world.sync()
    world.write(5)
    for hand, replica in world.ready_to_publish():
        request = publish_request(replica.wanted, hand.incarnation).model_copy(
            update={
                "columns": COLUMNS,
                "counters": counters_of(2),
                "digest": "1:0123456789abcdef",
            }
        )
        _publisher(world).publish(request.task_id, replica.wanted.token, request)
    with store.leading(world.leadership.term()) as tx:
        for task in tx.tasks.unsettled_folders():
            tx.tasks.folder_deleted(task.id, world.clock.now())
    store.close()


def test_generated_rows_have_the_form_of_those_that_the_product_writes(tmp_path: Path) -> None:
    """Goal: no column is filled that the product leaves empty, and none is left out."""
    shape = replace(_SMALL, compacted_every=0)
    with open_plane(f"sqlite:///{tmp_path}/year.db", shape, tmp_path):
        pass
    _one_range(tmp_path / "product.db")

    ended = {"generations": "ended_at IS NOT NULL", "tasks": "ended_at IS NOT NULL"}
    closed = {"generation_partitions": "NOT open", "audit": "action = 'publish'"}
    for table in (*_WRITTEN_AT_ONCE, "segment_spans", "audit", "committed_offsets"):
        where = (ended | closed).get(table, "1")
        written = _forms(tmp_path / "product.db", table, where)
        assert written, f"the product wrote no {table}"
        assert _forms(tmp_path / "year.db", table, where) == written, table


# -- what is asked all the time --------------------------------------------------------------------


def _steps(plane: Plane, work: Callable[[], object]) -> int:
    """Return how often SQLite's machine called the counter during the second of two runs."""
    count = 0

    def step() -> None:
        nonlocal count
        count += 1

    def watch(connection: sqlite3.Connection, _: object) -> None:
        connection.set_progress_handler(step, _STEPS)

    for engine in (plane.store._engine, plane.store._writers):
        engine.dispose()
        sa.event.listen(engine, "connect", watch)
    work()
    count = 0
    work()
    return count


@pytest.mark.parametrize("analysed", [False, True], ids=["no statistics", "statistics"])
def test_what_an_overlord_does_all_the_time_reads_no_history(
    tmp_path: Path, *, analysed: bool
) -> None:
    """Goal: a pass, a sync, a publish and the lists of what runs cost the same after a year."""
    steps: list[dict[str, int]] = []
    for days in (1, 8):
        folder = tmp_path / f"{days}"
        folder.mkdir()
        shape = replace(_SMALL, ranges=days * _DAY)
        with open_plane(f"sqlite:///{folder}/year.db", shape, folder) as plane:
            if analysed:
                with sqlite3.connect(folder / "year.db") as connection:
                    connection.execute("ANALYZE")
                connection.close()
            FleetWorkers(plane).report()
            steps.append({name: _steps(plane, work) for name, work in _often(plane).items()})

    young, old = steps
    assert all(young.values()), young
    assert {name: old[name] for name in old if old[name] > 1.3 * young[name] + 20} == {}, young


def _often(plane: Plane) -> dict[str, Callable[[], object]]:
    workers, publishing = FleetWorkers(plane), Publishing(plane)

    def tables() -> list[str]:
        with plane.store.reading() as tx:
            return tx.segments.data_sources()

    def running() -> object:
        with plane.store.reading() as tx:
            return tx.tasks.active(), tx.generations.live(), tx.generations.live_tables()

    return {
        "first sync": workers.report,
        "sync": lambda: workers.unchanged(1),
        "pass": lambda: pass_once(plane, plane.chronicle.names[0]),
        "metrics": lambda: asyncio.run(plane.call("GET", "/metrics")),
        "tables": tables,
        "running": running,
        "publish": publishing.publish,
    }
