"""Hostile requests to a real overlord: each is refused, nothing runs, nothing is asked or made.

Source: the attacks on Druid, Spark and Kafka's clients that have a number, and their relatives.

Slow: some 200 hostile requests go to a running overlord.
"""

import copy
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from pydantic import JsonValue

from supervisor.dev.ports import LOOPBACK
from tests.integration.cluster import SUPERVISORS, Cluster
from tests.integration.oracle import spec
from tests.security.attacked import ALLOWED, refused
from tests.supervisor.core.spec.test_names import HOSTILE

pytestmark = [pytest.mark.usefixtures("nothing_happened"), pytest.mark.long]

Document = dict[str, JsonValue]


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


def test_the_spec_that_is_attacked_is_a_sound_one(cluster: Cluster) -> None:
    """Goal: each refusal below is for what is hostile, and for nothing else."""
    answer = _post(cluster, _spec(lambda d: d.update(unknownField=1)))
    refused(answer)
    assert [error["pointer"] for error in answer.json()["errors"]] == ["/unknownField"]


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_no_name_leads_out_of_the_warehouse(name: str, cluster: Cluster) -> None:
    as_table = _post(cluster, _spec(lambda d: _section(d, "dataSchema").update(dataSource=name)))
    as_id = _post(cluster, _spec(lambda d: d.update(id=name)))

    refused(as_table)
    refused(as_id)


INJECTIONS = [
    "x' OR '1'='1",
    "x'; DROP TABLE supervisors; --",
    'x" UNION SELECT * FROM tasks --',
    "x') ; DELETE FROM segments; --",
    "%' OR 1=1 --",
    "1; ATTACH DATABASE '/tmp/x.db' AS x",
]
PATHS = [
    f"{SUPERVISORS}/{{}}/status",
    f"{SUPERVISORS}/{{}}/history",
    "/druid/indexer/v1/task/{}/status",
    "/api/v1/datasources/{}/files",
    "/api/v1/supervisors/{}/ledger",
    "/api/v1/queues/{}/task-files",
]


@pytest.mark.parametrize("text", INJECTIONS)
@pytest.mark.parametrize("path", PATHS)
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
        refused(_post(cluster, document), text="bootstrap.servers")
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
    refused(answer, text=name.strip().lower())
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
    refused(_post(cluster, _spec(lambda d: d.update(context={name: "x"}))), text="spark")


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
    refused(_post(cluster, document), text="/transformSpec/transforms/0")


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
    "descriptors from a file": lambda d: _section(d, "ioConfig").update(
        inputFormat={
            "type": "protobuf",
            "protoBytesDecoder": {"type": "file", "descriptor": "file:///etc/passwd"},
        }
    ),
    "descriptors from elsewhere": lambda d: _section(d, "ioConfig").update(
        inputFormat={
            "type": "protobuf",
            "protoBytesDecoder": {"type": "file", "descriptor": "http://169.254.169.254/x.desc"},
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
    refused(_post(cluster, _spec(STRUCTURES[what])))
