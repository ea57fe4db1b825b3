"""The metadata database is restored from a backup while a worker lives on with what came later.

Source: faults F12.

Slow: a cluster reads on after its database has gone back in time.
"""

import shutil
from pathlib import Path

import pytest

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, spec, streaming
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.long]

TOPIC = "restored"


def _publishes_more(cluster: Cluster) -> None:
    before = len(cluster.publications(TOPIC))
    wait_until(lambda: len(cluster.publications(TOPIC)) >= before + 2)


def test_a_restored_database_reads_again_what_it_does_not_know_and_doubles_nothing(
    broker: Broker, tmp_path: Path
) -> None:
    """Goal: the table is that of the backup, then whole again; no late task adds to it."""
    create_topic(broker.bootstrap, TOPIC, partitions=2)
    with running(Cluster(tmp_path, light=True)) as cluster:
        database, backup = tmp_path / "metadata.db", tmp_path / "backup.db"
        with streaming(broker.bootstrap, TOPIC, rate_per_s=200):
            cluster.apply(spec(broker.bootstrap, TOPIC, task_duration="PT5S"))
            _publishes_more(cluster)
            assert cluster.stop("overlord") == 0
            shutil.copy(database, backup)  # its log is empty after a stop in good order
            left = list(tmp_path.glob("metadata.db-*"))
            cluster.start_overlord()
            _publishes_more(cluster)
            lost = cluster.files(TOPIC)
            cluster.kill("overlord")
            for each in tmp_path.glob("metadata.db*"):
                each.unlink()
            shutil.copy(backup, database)
            cluster.start_overlord()
            _publishes_more(cluster)
        ends = ends_of(broker.bootstrap, TOPIC)
        wait_until(lambda: cluster.has_read(TOPIC, ends))
        cluster.post(TOPIC, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(TOPIC))
        files = cluster.files(TOPIC)
        in_table = ids_in_files(files)
        verified = cluster.tidegate("verify", TOPIC)

    assert left == [], "the backup lacks what is still in the log"
    assert not set(lost) <= set(files), "nothing was lost by the restore"
    assert in_table == ids_in_topic(broker.bootstrap, TOPIC)
    assert verified.returncode == 0, verified.stdout + verified.stderr
