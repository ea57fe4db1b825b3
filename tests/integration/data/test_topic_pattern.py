"""One supervisor over several topics, and a second one that feeds the same table.

Slow: several ranges of each topic are published by a worker with Spark.
"""

from collections import Counter

import pytest
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic, produce
from tests.integration.cluster import Cluster
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, record, spec
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

TABLE = "sensors"
TOPICS = ("sensors-eu", "sensors-us", "sensors-late")
ALONE = "probes"
RECORDS = 400


def fill(broker: Broker, topic: str) -> None:
    """Records whose ids tell their topic; offsets are the same in each."""
    produce(broker.bootstrap, topic, (record(n, topic) for n in range(RECORDS)))


def over_pattern(broker: Broker) -> dict[str, JsonValue]:
    """A spec of two groups over every topic of the table."""
    wanted = spec(broker.bootstrap, TABLE, task_duration="PT5S")
    sections = wanted["spec"]
    assert isinstance(sections, dict)
    io_config = sections["ioConfig"]
    assert isinstance(io_config, dict)
    del io_config["topic"]
    io_config["topicPattern"] = f"{TABLE}-[a-z]+"
    return wanted


def second(broker: Broker) -> dict[str, JsonValue]:
    """Another supervisor, of one topic, whose table is the same."""
    wanted = spec(broker.bootstrap, ALONE, task_count=1, task_duration="PT5S")
    sections = wanted["spec"]
    assert isinstance(sections, dict)
    schema = sections["dataSchema"]
    assert isinstance(schema, dict)
    schema["dataSource"] = TABLE
    return wanted | {"id": ALONE}


def runs(cluster: Cluster, supervisor_id: str) -> bool:
    """Whether a task of a supervisor is active; one that is terminated has no status."""
    return any(
        str(task["id"]).startswith(f"index_kafka_{supervisor_id}_") and task["status"] == "RUNNING"
        for task in cluster.tasks(TABLE)
    )


def ends(broker: Broker, *topics: str) -> dict[str, int]:
    """Where topics end, keyed as the status of a pattern is."""
    found = {topic: ends_of(broker.bootstrap, topic) for topic in topics}
    return {f"{t}:{p}": at for t, by_number in found.items() for p, at in by_number.items()}


def test_every_record_of_every_topic_is_in_the_table_once(broker: Broker, cluster: Cluster) -> None:
    """Goal: a topic that appears later is read whole, and two supervisors share a table.

    Source: Druid's topicPattern; Druid's issue 10522.
    """
    for topic in (*TOPICS[:2], ALONE):
        create_topic(broker.bootstrap, topic, partitions=2)
        fill(broker, topic)
    cluster.apply(over_pattern(broker))
    cluster.apply(second(broker))
    wait_until(lambda: bool(cluster.publications(TABLE) and cluster.publications(ALONE)))
    create_topic(broker.bootstrap, TOPICS[2], partitions=3)
    for topic in TOPICS:
        fill(broker, topic)
    wait_until(lambda: cluster.has_read(TABLE, ends(broker, *TOPICS)))
    cluster.post(ALONE, "terminate")
    wait_until(lambda: not runs(cluster, ALONE))
    assert cluster.status(TABLE)["state"] == "RUNNING"
    cluster.post(TABLE, "suspend")
    wait_until(lambda: cluster.is_suspended_and_quiet(TABLE))

    in_table = ids_in_files(cluster.files(TABLE))
    committed = cluster.status(TABLE)["committedOffsets"]
    verified = cluster.tidegate("verify", TABLE)

    in_topics = sum((ids_in_topic(broker.bootstrap, t) for t in (*TOPICS, ALONE)), Counter[str]())
    assert in_table == in_topics
    assert committed == ends(broker, *TOPICS)
    assert verified.returncode == 0, verified.stdout + verified.stderr
