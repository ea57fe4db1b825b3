"""The wired overlord, without Kafka and workers: what begins, and what is handled, by itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from supervisor.adapters.tables.warehouse import LocalWarehouse
from supervisor.app.overlord import Overlord, wire_overlord
from supervisor.app.server import open_store
from supervisor.chores.segments import SegmentSelection
from supervisor.control.warehouse_owner import take_possession
from supervisor.metadata.store import SqlStore
from supervisor.settings.settings import Settings
from tests.supervisor.chores.tables import TABLE, Tables
from tests.supervisor.yard import CLUSTER_QUEUE, NOBODYS
from tests.waiting import wait_until

FOLDER = f"clicks/data/{NOBODYS}"
SOON = timedelta(milliseconds=50)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        data_dir=tmp_path,
        warehouse=tmp_path / "warehouse",
        sweep_period=timedelta(days=1),
        lease_ttl=timedelta(seconds=3),
        gc_delay=SOON,
        segment_grace=SOON,
    )


@pytest.fixture
def database(settings: Settings) -> Iterator[SqlStore]:
    """A metadata database with its warehouse."""
    store = open_store(settings)
    settings.warehouse.mkdir()
    take_possession(store, LocalWarehouse(settings.warehouse))
    yield store
    store.close()


@contextmanager
def running(settings: Settings, store: SqlStore) -> Iterator[Overlord]:
    overlord = wire_overlord(settings, store, "http://localhost:8090")
    scheduler = overlord.start()
    try:
        wait_until(overlord.wiring.leadership.leads)
        yield overlord
    finally:
        overlord.stop(scheduler)


def test_a_new_leader_searches_the_warehouse_at_once(
    settings: Settings, database: SqlStore
) -> None:
    """Goal: what a crash left behind does not wait for the first period to pass."""
    folder = settings.warehouse / FOLDER
    folder.mkdir(parents=True)
    (folder / "part-0.parquet").write_bytes(b"nobody's")

    with running(settings, database):
        wait_until(lambda: not folder.exists())

    with database.reading() as tx:
        row = tx.events.find(CLUSTER_QUEUE)
    assert row is not None
    assert row.next_seq > 1


def _document(name: str) -> dict[str, object]:
    io = {
        "topic": name,
        "inputFormat": {"type": "json"},
        "consumerProperties": {"bootstrap.servers": "localhost:1"},
    }
    data = {
        "dataSource": name,
        "timestampSpec": {"column": "at", "format": "iso"},
        "dimensionsSpec": {"dimensions": ["id"]},
        "granularitySpec": {"rollup": False},
    }
    return {"type": "kafka", "spec": {"dataSchema": data, "ioConfig": io}}


def test_supervisors_that_came_and_went_leave_nothing_in_memory(
    settings: Settings, database: SqlStore
) -> None:
    with running(settings, database) as overlord:
        for number in range(10):
            overlord.services.service.apply_spec(_document(f"gone-{number}"), "me")
        wait_until(lambda: overlord.wiring.loop.supervisors() == 10)
        for number in range(10):
            overlord.services.service.terminate(f"gone-{number}", "me")

        wait_until(lambda: overlord.wiring.loop.supervisors() == 0)
        wait_until(lambda: not overlord.streams._watched)


def test_an_unused_segment_goes_after_its_grace_time_and_the_others_stay(
    settings: Settings, database: SqlStore
) -> None:
    """Goal: API verb, two queues, handlers and storage, wired as they are shipped."""
    gone, stays = Tables(database).publish(2)
    files = [settings.warehouse / each.file.path for each in (gone, stays)]
    files[0].parent.mkdir(parents=True)
    for file in files:
        file.write_bytes(b"rows")

    with running(settings, database) as overlord:
        life = overlord.services.segments
        assert life.mark_unused(TABLE, SegmentSelection(ids=[gone.id]), "somebody") == 1
        wait_until(lambda: not files[0].exists())
        rows = {view.row.queue.name: view for view in overlord.services.queues.rows()}

    assert files[1].exists()
    with database.reading() as tx:
        assert [each.id for each in tx.segments.of_data_source(TABLE)] == [stays.id]
        condemned = tx.segments.get(gone.id)
    assert condemned is not None
    assert condemned.deleted_at is not None
    assert {"segments", "segment-files"} <= rows.keys()
    assert all(view.healthy for view in rows.values())
