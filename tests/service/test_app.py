"""The wired overlord, without Kafka and workers: what begins by itself with a term."""

from datetime import timedelta
from pathlib import Path

from supervisor.adapters.warehouse import LocalWarehouse
from supervisor.app import open_store
from supervisor.overlord import wire_overlord
from supervisor.settings import Settings
from supervisor.warehouse_owner import take_possession
from tests.service.yard import CLUSTER_QUEUE, NOBODYS
from tests.waiting import wait_until

FOLDER = f"clicks/data/{NOBODYS}"


def test_a_new_leader_searches_the_warehouse_at_once(tmp_path: Path) -> None:
    """Goal: what a crash left behind does not wait for the first period to pass."""
    settings = Settings(
        data_dir=tmp_path, warehouse=tmp_path / "warehouse", sweep_period=timedelta(days=1)
    )
    store = open_store(settings)
    (tmp_path / "warehouse").mkdir()
    take_possession(store, LocalWarehouse(tmp_path / "warehouse"))
    (tmp_path / "warehouse" / FOLDER).mkdir(parents=True)
    overlord = wire_overlord(settings, store, "http://localhost:8090")
    scheduler = overlord.start()

    def is_queued() -> bool:
        with store.reading() as tx:
            return FOLDER in tx.events.outstanding_keys(CLUSTER_QUEUE)

    try:
        wait_until(is_queued)
    finally:
        overlord.stop(scheduler)
