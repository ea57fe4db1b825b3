"""Bad input, as a user gives it: a clear message that names the field or the fix, never a 500.

Slow: ten stories of one worker with Spark, each with supervisors that start and end.
"""

import base64
import json
import os
import socket
from collections import Counter
from pathlib import Path

import pytest
from pydantic import JsonValue

from supervisor.cli.cluster.doctor.check import Result
from supervisor.cli.cluster.doctor.checks import check_port
from supervisor.cli.cluster.doctor.diagnosis import WORKER_HEALTH
from supervisor.dev.broker import Broker
from supervisor.dev.ports import LOOPBACK, free_port
from tests.environment.brokers import create_topic, produce
from tests.integration.cluster import SUPERVISORS, Cluster
from tests.integration.oracle import ends_of, ids_in_files, record, spec
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

BAD_RECORDS = (
    "this is no JSON",
    '{"id": "cut off',
    "[1, 2, 3]",
    '{"id": "no-time"}',
    '{"id": "odd-time", "time": "yesterday"}',
    "",
)


def test_records_that_become_no_row_are_counted_sampled_and_explained(
    broker: Broker, cluster: Cluster
) -> None:
    """Goal: bad records never block and never silently vanish (E13, P25)."""
    topic = "some-bad-records"
    create_topic(broker.bootstrap, topic, partitions=2)
    produce(broker.bootstrap, topic, (record(n) for n in range(500)))
    produce(broker.bootstrap, topic, BAD_RECORDS)
    produce(broker.bootstrap, topic, (record(n) for n in range(500, 1_000)))
    cluster.apply(spec(broker.bootstrap, topic, task_count=1, task_duration="PT1H"))
    ends = ends_of(broker.bootstrap, topic)
    wait_until(lambda: cluster.has_read(topic, ends))
    cluster.post(topic, "suspend")
    wait_until(lambda: cluster.is_suspended_and_quiet(topic))

    verified = cluster.tidegate("verify", topic)
    kept = cluster.tidegate("query", f'select value from "{topic}__errors"', "-o", "json")  # noqa: S608 -- a name of its own
    errors = cluster.http.get(f"{SUPERVISORS}/{topic}/parseErrors").json()

    assert ids_in_files(cluster.files(topic)) == Counter({f"r-{n}": 1 for n in range(1_000)})
    assert sum(int(str(p["rejected"])) for p in cluster.publications(topic)) == len(BAD_RECORDS)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    summary = f"{len(BAD_RECORDS)} rejected and explained, {len(BAD_RECORDS)} of them quarantined"
    assert summary in verified.stdout
    assert kept.returncode == 0, kept.stdout + kept.stderr
    values = [base64.b64decode(row["value"]).decode() for row in json.loads(kept.stdout)]
    assert Counter(values) == Counter(BAD_RECORDS)
    assert "this is no JSON" in {error["input"] for error in errors}


def test_records_with_unfit_values_are_proven_kept_and_read_by_a_corrected_spec(
    broker: Broker, cluster: Cluster
) -> None:
    """Goal: what a spec is too narrow for lies in quarantine, and ends in the table after all."""
    topic, again = "some-unfit-values", "some-unfit-values-again"
    for name in (topic, again):
        create_topic(broker.bootstrap, name, partitions=1)
    produce(broker.bootstrap, topic, (record(n) for n in range(100)))
    odd = [record(n).replace(f'"amount":{n}', '"amount":0.5') for n in range(100, 103)]
    produce(broker.bootstrap, topic, odd)
    _read_whole(broker, cluster, _judging(broker, topic, topic, "long"), topic)

    verified = cluster.tidegate("verify", topic)
    errors = cluster.http.get(f"{SUPERVISORS}/{topic}/parseErrors").json()
    listed = cluster.tidegate("quarantine", "list", topic, "--reason", "unfit-value", "-o", "json")
    replayed = cluster.tidegate("quarantine", "replay", topic, "--topic", again, "--yes")
    _read_whole(broker, cluster, _judging(broker, topic, again, "double"), again)
    whole = [cluster.tidegate("verify", name) for name in (topic, again)]

    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "3 rejected and explained, 3 of them quarantined" in verified.stdout
    details = ["unfit-value", "amount: a long was expected"]
    assert {tuple(error["details"]) for error in errors} == {tuple(details)}
    assert [found["value"] for found in json.loads(listed.stdout)["records"]] == odd
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
    assert [verdict.returncode for verdict in whole] == [0, 0]
    assert ids_in_files(cluster.files(topic)) == Counter({f"r-{n}": 1 for n in range(103)})


def _judging(broker: Broker, table: str, topic: str, amount: str) -> dict[str, JsonValue]:
    """A spec that makes no row of a record with an unfit value; its id is the topic."""
    document = spec(broker.bootstrap, topic, task_count=1, task_duration="PT1H")
    inner = document["spec"]
    assert isinstance(inner, dict)
    schema = inner["dataSchema"]
    assert isinstance(schema, dict)
    columns: list[JsonValue] = ["id", "user", {"type": amount, "name": "amount"}]
    schema |= {"dataSource": table, "dimensionsSpec": {"dimensions": columns}}
    inner["tuningConfig"] = {"type": "kafka", "unfitValues": "quarantine"}
    return document | {"id": topic}


def _read_whole(
    broker: Broker, cluster: Cluster, document: dict[str, JsonValue], topic: str
) -> None:
    """Read and publish all that a topic has."""
    cluster.apply(document)
    ends = ends_of(broker.bootstrap, topic)
    wait_until(lambda: cluster.has_read(topic, ends))
    cluster.post(topic, "suspend")
    wait_until(lambda: cluster.is_suspended_and_quiet(topic))


def test_a_missing_topic_is_named_with_what_to_do(broker: Broker, cluster: Cluster) -> None:
    """Goal: the state says which topic on which broker, and goes on by itself once it is there."""
    topic = "not-there-yet"
    cluster.apply(spec(broker.bootstrap, topic, task_duration="PT1H"))
    wait_until(lambda: "does not exist" in str(cluster.status(topic)["why"]))
    wait_until(lambda: not cluster.status(topic)["healthy"])
    health = cluster.http.get(f"{SUPERVISORS}/{topic}/health")

    create_topic(broker.bootstrap, topic, partitions=1)
    produce(broker.bootstrap, topic, [record(1)])
    wait_until(lambda: cluster.has_read(topic, {"0": 1}))

    assert health.status_code == 503
    assert cluster.status(topic)["healthy"]
    cluster.post(topic, "terminate")


def test_an_unreachable_broker_is_named_and_nobody_else_is_delayed(
    broker: Broker, cluster: Cluster
) -> None:
    """Goal: R11: no call of the API or the loop waits for a broker (Druid #16272)."""
    nobody = f"{LOOPBACK}:{free_port()}"
    cluster.apply(spec(nobody, "no-broker"))
    topic = "beside-no-broker"
    create_topic(broker.bootstrap, topic, partitions=1)
    produce(broker.bootstrap, topic, [record(1)])
    cluster.apply(spec(broker.bootstrap, topic, task_duration="PT1H"))

    wait_until(lambda: cluster.has_read(topic, {"0": 1}))
    wait_until(lambda: nobody in str(cluster.status("no-broker")["why"]))
    wait_until(
        lambda: cluster.status("no-broker")["detailedState"] == "UNABLE_TO_CONNECT_TO_STREAM", 90
    )
    cluster.post("no-broker", "terminate")
    cluster.post(topic, "terminate")


def _changed(broker: Broker, *path: str, value: JsonValue) -> dict[str, JsonValue]:
    document = spec(broker.bootstrap, "bad")
    inner: JsonValue = document
    for name in path[:-1]:
        assert isinstance(inner, dict)
        inner = inner[name]
    assert isinstance(inner, dict)
    inner[path[-1]] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("spec", "ioConfig", "topic"), None, "topic"),
        (("spec", "ioConfig", "taskDurations"), "PT1M", "taskDuration"),
        (("spec", "ioConfig", "taskDuration"), "one hour", "/spec/ioConfig/taskDuration"),
        (("spec", "dataSchema", "dataSource"), "../x", "/spec/dataSchema/dataSource"),
        (
            ("spec", "ioConfig", "consumerProperties", "plugin.library.paths"),
            "/opt/x.so",
            "plugin.library.paths",
        ),
        (("spec", "dataSchema", "projections"), [{"name": "p"}], "not built yet"),
    ],
)
def test_a_bad_spec_is_refused_with_the_field_and_leaves_nothing(
    broker: Broker, cluster: Cluster, path: tuple[str, ...], value: JsonValue, message: str
) -> None:
    """Goal: the command prints the field and the fix, exits 1, and nothing is stored."""
    file = cluster.folder / "bad.json"
    file.write_text(json.dumps(_changed(broker, *path, value=value)))

    applied = cluster.tidegate("supervisor", "apply", "-f", str(file))

    assert applied.returncode == 1, applied.stdout + applied.stderr
    assert message in applied.stderr
    assert "Traceback" not in applied.stderr
    assert cluster.http.get(f"{SUPERVISORS}/bad").status_code == 404
    assert not (cluster.folder / "x").exists()


def test_a_body_that_is_not_json_is_a_400_that_says_where(cluster: Cluster) -> None:
    """Goal: Druid answers an HTML page with 500 here."""
    answer = cluster.http.post(
        SUPERVISORS, content=b"{oops", headers={"Content-Type": "application/json"}
    )

    assert answer.status_code == 400
    assert "line 1 column 2" in answer.json()["detail"]


@pytest.mark.parametrize("role", ["overlord", "worker"])
def test_a_port_in_use_is_told_before_anything_starts(tmp_path: Path, role: str) -> None:
    """Goal: one line with the port, one with the fix."""
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]
        error_text = _start(tmp_path, role, {"TIDEGATE_PORT": str(port)})

    assert str(port) in error_text
    assert "--port" in error_text


def test_doctor_knows_a_running_worker_from_a_stranger(cluster: Cluster) -> None:
    """Goal: a port held by a worker of ours is no problem."""
    checked = check_port("worker's port", cluster.worker_port("w1"), WORKER_HEALTH)

    assert checked.result is Result.OK, checked


def test_a_missing_java_is_told_with_the_fix(tmp_path: Path) -> None:
    """Goal: a path that leads nowhere is named, and what to install."""
    error_text = _start(tmp_path, "worker", {"TIDEGATE_JAVA": str(tmp_path / "no-java")})

    assert "no-java" in error_text
    assert "17 or 21" in error_text


def test_a_warehouse_that_cannot_be_written_is_told_with_the_fix(tmp_path: Path) -> None:
    """Goal: a file stands where the folder should be: root may write everywhere else."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way")

    error_text = _start(tmp_path, "overlord", {"TIDEGATE_WAREHOUSE": str(blocked / "warehouse")})

    assert str(blocked) in error_text
    assert "TIDEGATE_WAREHOUSE" in error_text


def _start(folder: Path, role: str, own: dict[str, str]) -> str:
    """Start a role that cannot run; return what it said: two lines, no traceback, exit code 1."""
    cluster = Cluster(folder / "cluster", more={"TIDEGATE_PORT": str(free_port()), **own})
    with cluster:
        ended = cluster.tidegate(role)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr, ended.stderr
    assert "fix:" in ended.stderr
    assert os.linesep * 2 not in ended.stderr
    return ended.stderr
