"""Hostile requests to a real overlord: each is refused, nothing runs, nothing is asked or made.

Source: the attacks on Druid, Spark and Kafka's clients that have a number, and their relatives.
"""

import copy
import json
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import httpx
import psutil
import pytest
from pydantic import JsonValue

from supervisor.dev.ports import LOOPBACK
from tests.core.test_spec_names import HOSTILE
from tests.integration.cluster import SUPERVISORS, Cluster
from tests.integration.oracle import spec

ALLOWED = "kafka.example:9092"
LISTS = {"TIDEGATE_KAFKA_ALLOW": ALLOWED, "TIDEGATE_REGISTRY_ALLOW": "registry.example:8081"}
MIB = 1024 * 1024
Document = dict[str, JsonValue]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """An overlord alone: what is refused never comes to a worker."""
    folder = tmp_path_factory.mktemp("hostile") / "cluster"
    with Cluster(folder, more=LISTS) as started:
        started.start_overlord()
        yield started


@pytest.fixture(autouse=True)
def nothing_happened(cluster: Cluster) -> Iterator[None]:
    """After each attack: no supervisor, no table, no file beside those of the overlord."""
    before = _left_behind(cluster)
    yield
    assert cluster.http.get(SUPERVISORS).json() == []
    assert _left_behind(cluster) == before
    assert cluster.http.get("/status/health").status_code == httpx.codes.OK


def _left_behind(cluster: Cluster) -> tuple[set[str], dict[str, int]]:
    files = {str(p) for p in cluster.folder.parent.rglob("*") if p.name != "metadata.db-journal"}
    with sqlite3.connect(f"file:{cluster.folder}/metadata.db?mode=ro", uri=True) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        rows = {
            name: database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # noqa: S608 -- its own names
            for (name,) in tables
            if name.startswith(("supervisor", "spec", "segment", "task", "generation", "offset"))
        }
    database.close()
    assert rows, "no table was counted"
    return files, rows


def _spec(change: Callable[[Document], None] = lambda _: None) -> Document:
    document = copy.deepcopy(spec(ALLOWED, "attacked"))
    change(document)
    return document


def _section(document: Document, name: str) -> Document:
    sections = document["spec"]
    assert isinstance(sections, dict)
    found = sections[name]
    assert isinstance(found, dict)
    return found


def _post(cluster: Cluster, document: object) -> httpx.Response:
    return cluster.http.post(SUPERVISORS, json=document)


def _refused(answer: httpx.Response, *, told: str = "") -> None:
    assert 400 <= answer.status_code < 500, f"{answer.status_code}: {answer.text[:300]}"
    problem = answer.json()
    assert problem["status"] == answer.status_code
    assert told in answer.text, answer.text[:600]


def test_the_spec_that_is_attacked_is_a_sound_one(cluster: Cluster) -> None:
    """Goal: each refusal below is for what is hostile, and for nothing else."""
    answer = _post(cluster, _spec(lambda d: d.update(unknownField=1)))
    _refused(answer)
    assert [error["pointer"] for error in answer.json()["errors"]] == ["/unknownField"]


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_no_name_leads_out_of_the_warehouse(name: str, cluster: Cluster) -> None:
    as_table = _post(cluster, _spec(lambda d: _section(d, "dataSchema").update(dataSource=name)))
    as_id = _post(cluster, _spec(lambda d: d.update(id=name)))

    _refused(as_table)
    _refused(as_id)


INJECTIONS = [
    "x' OR '1'='1",
    "x'; DROP TABLE supervisors; --",
    'x" UNION SELECT * FROM tasks --',
    "x') ; DELETE FROM segments; --",
    "%' OR 1=1 --",
    "1; ATTACH DATABASE '/tmp/x.db' AS x",
]
ASKED = [
    f"{SUPERVISORS}/{{}}/status",
    f"{SUPERVISORS}/{{}}/history",
    "/druid/indexer/v1/task/{}/status",
    "/api/v1/datasources/{}/files",
    "/api/v1/supervisors/{}/ledger",
    "/api/v1/queues/{}/task-files",
]


@pytest.mark.parametrize("text", INJECTIONS)
@pytest.mark.parametrize("path", ASKED)
def test_sql_in_a_name_is_a_name_that_is_not_there(path: str, text: str, cluster: Cluster) -> None:
    answer = cluster.http.get(path.format(quote(text, safe="")))
    assert answer.status_code == httpx.codes.NOT_FOUND, answer.text


@pytest.mark.parametrize("text", INJECTIONS)
@pytest.mark.parametrize("name", ["state", "datasource", "max", "type"])
def test_sql_in_a_filter_finds_nothing(name: str, text: str, cluster: Cluster) -> None:
    answer = cluster.http.get("/druid/indexer/v1/tasks", params={name: text})
    assert answer.status_code == httpx.codes.BAD_REQUEST or answer.json() == []


@contextmanager
def _listener() -> Iterator[tuple[str, list[object]]]:
    """Something on this machine that must not be called; who calls is in the list."""
    calls: list[object] = []
    with socket.create_server((LOOPBACK, 0)) as server:
        server.settimeout(0.2)
        over = threading.Event()

        def accept() -> None:
            while not over.is_set():
                try:
                    connection, caller = server.accept()
                except TimeoutError:
                    continue
                calls.append(caller)
                connection.close()

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield f"{LOOPBACK}:{server.getsockname()[1]}", calls
        finally:
            over.set()
            thread.join()


SERVERS: list[Callable[[str], str]] = [
    lambda here: here,
    lambda here: f"{ALLOWED},{here}",
    lambda here: f"localhost:{here.rpartition(':')[2]}",
    lambda here: f"[::ffff:127.0.0.1]:{here.rpartition(':')[2]}",
    lambda here: f"0x7f000001:{here.rpartition(':')[2]}",
    lambda here: f"2130706433:{here.rpartition(':')[2]}",
    lambda here: f"kafka.example@{here}",
    lambda here: f"PLAINTEXT://{here}",
    lambda here: f"{here}/?x={ALLOWED}",
    lambda _: "169.254.169.254:80",
    lambda _: "[::1]:5432",
    lambda _: "kafka.example.evil.example:9092",
]


@pytest.mark.parametrize("servers", SERVERS)
def test_only_brokers_of_the_list_are_called(
    servers: Callable[[str], str], cluster: Cluster
) -> None:
    with _listener() as (here, calls):
        given: JsonValue = {"bootstrap.servers": servers(here)}
        document = _spec(lambda d: _section(d, "ioConfig").update(consumerProperties=given))
        _refused(_post(cluster, document), told="bootstrap.servers")
    assert calls == []


def _properties(here: str, marker: Path) -> dict[str, str]:
    evil = "com.sun.security.auth.module"
    ldap = f'{evil}.JndiLoginModule required user.provider.url="ldap://{here}/x";'
    return {
        "plugin.library.paths": str(marker),
        " Plugin.Library.Paths ": str(marker),
        "ssl.engine.location": str(marker),
        "ssl.providers": str(marker),
        "ssl.ca.location": "/etc/passwd",
        "ssl.key.location": "/etc/shadow",
        "ssl.keystore.location": "/etc/passwd",
        "ssl.truststore.location": "/no/such/file",
        "sasl.kerberos.kinit.cmd": f"touch {marker}",
        "sasl.kerberos.keytab": "/etc/krb5.keytab",
        "sasl.jaas.config": ldap,
        "sasl.login.callback.handler.class": "java.lang.Runtime",
        "sasl.client.callback.handler.class": "java.lang.Runtime",
        "sasl.oauthbearer.token.endpoint.url": f"http://{here}/token",
        "sasl.oauthbearer.jwks.endpoint.url": f"file://{marker}",
        "sasl.oauthbearer.assertion.private.key.file": "/etc/shadow",
        "https.ca.location": "/etc/passwd",
        "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
        "interceptor.classes": "java.lang.Runtime",
        "metric.reporters": "java.lang.Runtime",
        "key.deserializer": "java.lang.Runtime",
        "value.deserializer": "java.lang.Runtime",
        "security.providers": "java.lang.Runtime",
        "test.mock.num.brokers": "3",
        "group.id": "stolen",
        "auto.offset.reset": "latest",
        "enable.auto.commit": "true",
        "sasl.password": "canary-in-the-spec",
        "ssl.key.pem": "-----BEGIN PRIVATE KEY-----\ncanary-in-the-spec",
    }


@pytest.mark.parametrize("name", sorted(_properties("x:1", Path("/x"))))
def test_no_property_runs_code_reads_files_or_calls_out(
    name: str, cluster: Cluster, tmp_path: Path
) -> None:
    marker = tmp_path / "was-here"
    with _listener() as (here, calls):
        hostile: Document = {
            "bootstrap.servers": ALLOWED,
            name: _properties(here, marker)[name],
        }
        document = _spec(lambda d: _section(d, "ioConfig").update(consumerProperties=hostile))
        answer = _post(cluster, document)
    _refused(answer, told=name.strip().lower())
    assert "canary" not in answer.text
    assert (calls, marker.exists()) == ([], False)


@pytest.mark.parametrize("path", ["/etc/passwd", "/no/such/file"])
def test_a_path_that_exists_is_refused_as_one_that_does_not(path: str, cluster: Cluster) -> None:
    hostile: Document = {"bootstrap.servers": ALLOWED, "ssl.ca.location": path}
    document = _spec(lambda d: _section(d, "ioConfig").update(consumerProperties=hostile))
    answer = _post(cluster, document)
    assert path not in answer.text


CONTEXTS = [
    "spark.driver.extraJavaOptions",
    "spark.jars",
    "spark.jars.packages",
    "spark.pyspark.python",
    "spark.plugins",
    "spark.hadoop.fs.defaultFS",
    "spark.executor.memory",
]


@pytest.mark.parametrize("name", CONTEXTS)
def test_no_setting_of_spark_comes_by_a_spec(name: str, cluster: Cluster) -> None:
    _refused(_post(cluster, _spec(lambda d: d.update(context={name: "x"}))), told="spark")


EXPRESSIONS = [
    "java_method('java.lang.Runtime', 'getRuntime')",
    "reflect('java.lang.System', 'exit', 1)",
    "__import__('os').system('touch /tmp/x')",
    "concat(id, (SELECT 1))",
    "id; DROP TABLE x",
    "${env:PATH}",
    "javascript('function(x) { return x }')",
    "input_file_name()",
    "assert_true(false)",
    "`id` || current_user()",
    "(" * 3_000 + "1" + ")" * 3_000,
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda text: text[:30])
def test_an_expression_is_of_our_grammar_or_a_400(expression: str, cluster: Cluster) -> None:
    transform = {"type": "expression", "name": "x", "expression": expression}
    hostile: JsonValue = {"transforms": [transform]}  # type: ignore[list-item]
    document = _spec(lambda d: _section(d, "dataSchema").update(transformSpec=hostile))
    _refused(_post(cluster, document), told="/transformSpec/transforms/0")


STRUCTURES: dict[str, Callable[[Document], None]] = {
    "a filter in JavaScript": lambda d: _section(d, "dataSchema").update(
        transformSpec={
            "filter": {"type": "javascript", "dimension": "id", "function": "function(x){}"}
        }
    ),
    "an empty key": lambda d: _section(d, "dataSchema").update({"": {"enabled": True}}),
    "a parser of old": lambda d: _section(d, "dataSchema").update(
        parser={"type": "string", "parseSpec": {"format": "javascript", "function": "f"}}
    ),
    "a database": lambda d: _section(d, "ioConfig").update(
        connectorConfig={"connectURI": "jdbc:mysql://169.254.169.254/x?autoDeserialize=true"}
    ),
    "a file to read": lambda d: _section(d, "ioConfig").update(
        inputSource={"type": "local", "baseDir": "/etc", "filter": "passwd"}
    ),
    "a registry elsewhere": lambda d: _section(d, "ioConfig").update(
        inputFormat={
            "type": "avro_stream",
            "avroBytesDecoder": {"type": "schema_registry", "url": "http://169.254.169.254/"},
        }
    ),
    "a schema from a file": lambda d: _section(d, "ioConfig").update(
        inputFormat={
            "type": "avro_stream",
            "avroBytesDecoder": {"type": "schema_registry", "url": "file:///etc/passwd"},
        }
    ),
}


@pytest.mark.parametrize("what", STRUCTURES)
def test_what_other_systems_ran_is_no_part_of_a_spec(what: str, cluster: Cluster) -> None:
    _refused(_post(cluster, _spec(STRUCTURES[what])))


TEXTS: dict[str, bytes] = {
    "10,000 deep": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "a list 100,000 deep": b"[" * 100_000,
    "a repeated key": b'{"type":"kafka","type":"kafka"}',
    "not a number": b'{"type":NaN}',
    "a number of a million digits": b'{"type":' + b"9" * 1_000_000 + b"}",
    "half a surrogate": b'{"type":"\\ud800"}',
    "no UTF-8": b'{"type":"\xff\xfe"}',
    "YAML with aliases": b"a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n",
    "nothing": b"",
    "HTML": b"<script>alert(1)</script>",
}


@pytest.mark.parametrize("what", TEXTS)
def test_what_is_no_plain_json_is_refused(what: str, cluster: Cluster) -> None:
    headers = {"Content-Type": "application/json"}
    _refused(cluster.http.post(SUPERVISORS, content=TEXTS[what], headers=headers))


def test_a_gigabyte_costs_no_memory(cluster: Cluster) -> None:
    """Goal: told by its length it is not read; told by nothing it is cut off."""
    overlord = psutil.Process(cluster.children["overlord"].pid or 0)
    before = overlord.memory_info().rss
    length = {"Content-Type": "application/json", "Content-Length": str(1024 * MIB)}
    asked = f"POST {SUPERVISORS} HTTP/1.1\r\nHost: {LOOPBACK}:{cluster.port}\r\n"
    head = asked + "".join(f"{name}: {value}\r\n" for name, value in length.items()) + "\r\n"
    with socket.create_connection((LOOPBACK, cluster.port), timeout=20) as connection:
        connection.sendall(head.encode())
        assert b" 413 " in connection.recv(4096)

    def endless() -> Iterator[bytes]:
        for _ in range(64):
            yield b" " * MIB

    try:
        answer = cluster.http.post(
            SUPERVISORS, content=endless(), headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == httpx.codes.REQUEST_ENTITY_TOO_LARGE
    except httpx.TransportError:
        pass  # it hung up on us in the middle, which is as good

    assert overlord.memory_info().rss - before < 50 * MIB


def test_a_map_of_very_many_partitions_is_bounded(cluster: Cluster) -> None:
    many = {str(n): 1 for n in range(60_000)}
    offsets = {"type": "end", "stream": "t", "partitionOffsetMap": many}
    body = {"type": "kafka", "partitions": offsets}
    assert len(json.dumps(body)) < MIB
    answer = cluster.http.post(f"{SUPERVISORS}/none/resetOffsets", json=body)
    assert answer.status_code == httpx.codes.NOT_FOUND


def test_many_slow_callers_do_not_keep_others_waiting(cluster: Cluster) -> None:
    """Goal: 200 connections that send half a request; the next caller is served all the same."""
    half = f"POST {SUPERVISORS} HTTP/1.1\r\nHost: {LOOPBACK}\r\nContent-Type: application/json\r\n"
    held = []
    try:
        for _ in range(200):
            connection = socket.create_connection((LOOPBACK, cluster.port), timeout=20)
            held.append(connection)
            connection.sendall(half.encode() + b'Content-Length: 100\r\n\r\n{"type"')
        assert cluster.http.get("/status/health").status_code == httpx.codes.OK
        assert cluster.http.get(SUPERVISORS).json() == []
    finally:
        for connection in held:
            connection.close()


def test_an_author_cannot_forge_lines_of_a_log(cluster: Cluster) -> None:
    author = "eve\x1b[2J\x7f\u202e" + "x" * 5_000
    headers = {b"X-Druid-Author": author.encode()}
    answer = cluster.http.post(f"{SUPERVISORS}/none/suspend", headers=headers)
    assert answer.status_code in {httpx.codes.NOT_FOUND, httpx.codes.BAD_REQUEST}
    log = b"".join(p.read_bytes() for p in (cluster.folder / "logs").rglob("*") if p.is_file())
    assert log, "there is no log"
    assert b"\x1b[2J" not in log
