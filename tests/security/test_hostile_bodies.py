"""Bodies that are too much, or no JSON, and callers that are slow or many."""

import json
import socket
from collections.abc import Iterator

import httpx
import psutil
import pytest

from supervisor.dev.ports import LOOPBACK
from tests.integration.cluster import SUPERVISORS, Cluster
from tests.security.attacked import refused

pytestmark = pytest.mark.usefixtures("nothing_happened")
MIB = 1024 * 1024
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
def test_what_is_no_plain_json_isrefused(what: str, cluster: Cluster) -> None:
    headers = {"Content-Type": "application/json"}
    refused(cluster.http.post(SUPERVISORS, content=TEXTS[what], headers=headers))


def test_a_gigabyte_costs_no_memory(cluster: Cluster) -> None:
    """Goal: told by its length it is not read; told by nothing it is cut off."""
    overlord = psutil.Process(cluster.children["overlord"].pid or 0)
    before = overlord.memory_info().rss
    length = {"Content-Type": "application/json", "Content-Length": str(1024 * MIB)}
    request_line = f"POST {SUPERVISORS} HTTP/1.1\r\nHost: {LOOPBACK}:{cluster.port}\r\n"
    head = request_line + "".join(f"{name}: {value}\r\n" for name, value in length.items()) + "\r\n"
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
