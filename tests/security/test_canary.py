"""A password that nothing may show: not an answer, not a log, not a file, not a command line.

Slow: a cluster with Spark uses the password before all its traces are searched.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from pydantic import JsonValue

from tests.environment.brokers import create_topic, produce
from tests.integration.cluster import SUPERVISORS, Cluster
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, record, spec
from tests.security.answers import all_answers
from tests.security.brokers import PASSWORD, USER, SecuredBroker
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]
TOPIC = "whispered"
RECORDS = 2_000
CANARY = re.search(r"canary-\w+", PASSWORD)
LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "SCRAM-SHA-256",
    "sasl.username": USER,
}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    broker = SecuredBroker(tmp_path_factory.mktemp("guarded"))
    broker.start()
    try:
        broker.set_password(PASSWORD)
        create_topic(broker.bootstrap, TOPIC, partitions=2)
        produce(broker.bootstrap, TOPIC, (record(n) for n in range(RECORDS)))
        yield broker
    finally:
        broker.stop()


def test_a_password_is_used_and_never_shown(guarded: SecuredBroker, tmp_path: Path) -> None:
    """Goal: a table made over a login; then everything that was written or is answered, searched.

    Its spec names a variable; a second one holds the password itself, a third has no secret.
    """
    assert CANARY is not None
    environment = {"TIDEGATE_SECRET_WHISPER": PASSWORD, "TIDEGATE_SUPERVISOR_PERIOD": "PT1S"}
    with Cluster(tmp_path / "cluster", more=environment) as cluster:
        cluster.start_overlord()
        cluster.start_worker()
        _post(cluster, guarded, TOPIC, {"sasl.password": "TIDEGATE_SECRET_WHISPER"})
        _post(cluster, guarded, "no-such-secret", {"sasl.password": "TIDEGATE_SECRET_ABSENT"})
        refused = _posted(cluster, guarded, "spoken", {}, {"sasl.password": PASSWORD})
        ends = ends_of(guarded.bootstrap, TOPIC)
        wait_until(lambda: cluster.has_read(TOPIC, ends))
        command_lines = _command_lines(cluster)
        cluster.post(TOPIC, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(TOPIC))

        answers = all_answers(cluster, (TOPIC, "no-such-secret"))

        assert ids_in_files(cluster.files(TOPIC)) == ids_in_topic(guarded.bootstrap, TOPIC)
        assert refused.status_code == httpx.codes.BAD_REQUEST
    shown = {
        "the refusal": refused.text.encode(),
        **answers,
        **{f"the command line of {pid}": line for pid, line in command_lines.items()},
        **{str(p): p.read_bytes() for p in cluster.folder.rglob("*") if p.is_file()},
    }
    assert any("metadata.db" in name for name in shown)
    assert any("worker" in name or "w1" in name for name in shown)
    assert _showing(b"TIDEGATE_SECRET_WHISPER", shown), "what is searched for would not be found"
    assert _showing(CANARY[0].encode(), shown) == []


def _showing(what: bytes, shown: dict[str, bytes]) -> list[str]:
    return [name for name, text in shown.items() if what in text]


def _post(cluster: Cluster, broker: SecuredBroker, name: str, secrets: dict[str, str]) -> None:
    answer = _posted(cluster, broker, name, secrets, {})
    assert answer.status_code == httpx.codes.OK, answer.text


def _posted(
    cluster: Cluster,
    broker: SecuredBroker,
    name: str,
    secrets: dict[str, str],
    more: dict[str, str],
) -> httpx.Response:
    properties: dict[str, JsonValue] = {**LOGIN, **more}
    properties["bootstrap.servers"] = broker.address("AUTH")
    if secrets:
        provider: dict[str, JsonValue] = {"type": "environment", "variables": {**secrets}}
        properties["druid.dynamic.config.provider"] = provider
    document = spec(broker.address("AUTH"), TOPIC)
    sections = document["spec"]
    assert isinstance(sections, dict)
    io = sections["ioConfig"]
    assert isinstance(io, dict)
    io["consumerProperties"] = properties
    document["id"] = name
    return cluster.http.post(SUPERVISORS, json=document)


def _command_lines(cluster: Cluster) -> dict[int, bytes]:
    """Return the command lines of all processes of the cluster, their JVMs' included."""
    lines: dict[int, bytes] = {}
    for child in cluster.children.values():
        assert child.pid is not None
        parent = psutil.Process(child.pid)
        for process in (parent, *parent.children(recursive=True)):
            lines[process.pid] = " ".join(process.cmdline()).encode()
    assert any(b"java" in line for line in lines.values()), "no JVM was looked at"
    return lines
