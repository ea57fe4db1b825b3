"""Druid's clients that others wrote, against a running overlord: `python -m tests.clients`.

The hook of Airflow's Druid provider and druidpy, of the versions in clients.lock, are installed in
a place of their own and used unchanged: both submit a task and poll until it ends.  A broker and
two overlords with a Spark worker each are started as children: Airflow logs in with a password,
druidpy, which cannot, asks where nobody is asked.

The exit code is 0 only if each client took what it got for Druid's answer, and the tables hold
each record of the topic once.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

from supervisor.dev.ports import LOOPBACK
from tests.environment.brokers import create_topic, produce, shared_cache_dir, start_test_broker
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, record, spec

RECORDS = 5_000
TOPIC = "clients"
USER, PASSWORD = "airflow", "of-the-clients-run"  # of an overlord that ends with this process
WITHIN_S = 300
GIVES_UP_AFTER_S = 5
_HERE = Path(__file__).parent
_LOCK = _HERE / "clients.lock"
Done = subprocess.CompletedProcess[str]


class Unlike(Exception):
    """A client did not get what it would get of Druid."""


def main() -> int:
    """Run once and return the exit code."""
    python = _installed()
    with (
        tempfile.TemporaryDirectory(prefix="tidegate-clients-") as temporary,
        start_test_broker(Path(temporary) / "kafka") as broker,
    ):
        folder = Path(temporary)
        create_topic(broker.bootstrap, TOPIC, partitions=2)
        produce(broker.bootstrap, TOPIC, (record(n) for n in range(RECORDS)))
        try:
            with running(_asking(folder / "asked")) as cluster:
                _airflow(python, cluster, broker.bootstrap, folder)
            with running(Cluster(folder / "open")) as cluster:
                _druidpy(python, cluster, broker.bootstrap, folder)
        except Unlike as error:
            _say(f"FAILED: {error}")
            return 1
    return 0


def _airflow(python: Path, cluster: Cluster, bootstrap: str, folder: Path) -> None:
    connection = {
        "conn_type": "http",
        "host": "127.0.0.1",
        "port": cluster.port,
        "login": USER,
        "password": PASSWORD,
        "extra": {"endpoint": "druid/indexer/v1/task"},
    }
    environment = {
        "AIRFLOW_HOME": str(folder / "airflow"),
        "AIRFLOW_CONN_DRUID_INGEST_DEFAULT": json.dumps(connection),
    }

    def submits(document: Mapping[str, JsonValue], within_s: int) -> Done:
        file = folder / f"{document['id']}.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        return _run(python, "airflow_hook", str(file), str(within_s), more=environment)

    whole = task("by-airflow", bootstrap, ends_of(bootstrap, TOPIC))
    succeeded = submits(whole, WITHIN_S)
    _check(succeeded.returncode == 0, succeeded.stderr)
    _holds_all(cluster, "by-airflow", bootstrap)
    _say(f"airflow's hook: submitted, polled to SUCCESS; {RECORDS} ids, each once")

    beyond = {p: end + 1 for p, end in ends_of(bootstrap, TOPIC).items()}
    waits = task("given-up", bootstrap, beyond)
    gave_up = submits(waits, GIVES_UP_AFTER_S).stderr
    _check(f"took more than {GIVES_UP_AFTER_S} seconds" in gave_up, gave_up)
    _check(_task_status(cluster, "given-up") == "FAILED", "the hook's shutdown did not end it")
    _say("airflow's hook: gave up what would wait for records, and shut it down: FAILED")

    wrong = task("not-taken", bootstrap, beyond) | {"ioConfig": {"topic": TOPIC}}
    refused = submits(wrong, WITHIN_S).stderr
    _check("Did not get 200 or 202" in refused, refused)
    _check(_task_status(cluster, "not-taken") is None, "what was refused is there")
    _say("airflow's hook: raised at a document that is refused")


def _druidpy(python: Path, cluster: Cluster, bootstrap: str, folder: Path) -> None:
    file = folder / "by-druidpy.json"
    document = task("by-druidpy", bootstrap, ends_of(bootstrap, TOPIC))
    file.write_text(json.dumps(document), encoding="utf-8")
    done = _run(python, "druidpy_calls", cluster.url, str(file))
    _check(done.returncode == 0, done.stderr)
    answers = json.loads(done.stdout)
    _check(answers["health"] is True, f"health: {answers['health']}")
    _check("version" in answers["status"], f"status: {answers['status']}")
    _check(answers["leader"] == cluster.url, f"leader: {answers['leader']}")
    _check(answers["ingested"] == "ingestion is successfull", f"ingestion: {answers['ingested']}")
    _holds_all(cluster, "by-druidpy", bootstrap)
    _say(f"druidpy: status, health, leader; submitted, polled to SUCCESS; {RECORDS} ids, each once")


def task(name: str, bootstrap: str, ends: Mapping[str, int]) -> dict[str, JsonValue]:
    """A task as Druid's users submit it: everything of the topic up to `ends`."""
    supervisor = spec(bootstrap, TOPIC)["spec"]
    assert isinstance(supervisor, dict)
    schema, reading = supervisor["dataSchema"], supervisor["ioConfig"]
    assert isinstance(schema, dict)
    assert isinstance(reading, dict)
    return {
        "type": "index_kafka",
        "id": name,
        "dataSchema": schema | {"dataSource": name},
        "ioConfig": {
            "consumerProperties": reading["consumerProperties"],
            "inputFormat": reading["inputFormat"],
            "startSequenceNumbers": _sequence(dict.fromkeys(ends, 0)),
            "endSequenceNumbers": _sequence(ends),
        },
    }


def _sequence(offsets: Mapping[str, int]) -> JsonValue:
    return {"stream": TOPIC, "partitionSequenceNumberMap": dict(offsets)}


def _asking(folder: Path) -> Cluster:
    """A cluster that asks who calls, and knows Airflow by a password."""
    cluster = Cluster(folder, more={"TIDEGATE_AUTH": "required", "TIDEGATE_KAFKA_ALLOW": LOOPBACK})
    tokens = folder / "tokens"
    tokens.mkdir()
    commands = (
        (("bootstrap", "--folder", str(tokens)), None),
        (("user", "add", USER, "--role", "operator", "--on", "*"), f"{PASSWORD}\n"),
    )
    for words, typed in commands:
        done = cluster.tidegate("access", *words, typed=typed)
        _check(done.returncode == 0, done.stderr)
    own = {name: (tokens / f"{name}.token").read_text().strip() for name in ("admin", "workers")}
    cluster.more = {**cluster.more, "TIDEGATE_TOKEN": own["workers"]}
    cluster.http.headers["Authorization"] = f"Bearer {own['admin']}"
    return cluster


def _holds_all(cluster: Cluster, table: str, bootstrap: str) -> None:
    found, wanted = ids_in_files(cluster.files(table)), ids_in_topic(bootstrap, TOPIC)
    _check(wanted == Counter(f"r-{n}" for n in range(RECORDS)), "the topic is another one")
    _check(found == wanted, f"{table} holds other records than the topic")


def _task_status(cluster: Cluster, name: str) -> str | None:
    answer = cluster.http.get(f"/druid/indexer/v1/task/{name}/status")
    return None if answer.is_client_error else str(answer.json()["status"]["status"])


def _run(python: Path, script: str, *words: str, more: Mapping[str, str] | None = None) -> Done:
    return subprocess.run(
        (str(python), str(_HERE / f"{script}.py"), *words),
        env={**os.environ, **(more or {})},
        capture_output=True,
        text=True,
        timeout=2 * WITHIN_S,
        check=False,
    )


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Unlike(otherwise)


def _installed() -> Path:
    """Return a Python that has what clients.lock names, each file checked against its hash."""
    digest = hashlib.sha256(_LOCK.read_bytes()).hexdigest()[:16]
    venv = shared_cache_dir() / f"clients-{digest}"
    python, stamp = venv / "bin" / "python", venv / "installed"
    if not stamp.exists():
        _say(f"installing {_LOCK.name} in {venv}")
        uv = Path(sys.executable).with_name("uv")
        steps: tuple[tuple[str, ...], ...] = (
            ("venv", "--quiet", "--clear", "--python", sys.executable, str(venv)),
            ("pip", "sync", "--quiet", "--require-hashes", "--python", str(python), str(_LOCK)),
        )
        for step in steps:
            subprocess.run((str(uv), *step), check=True)
        stamp.touch()
    return python


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
