"""A real overlord with real state for schemathesis to ask: tables, tasks, rules, the past."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from pydantic import JsonValue

from supervisor.api.http.deps import WORKERS_HEADER
from supervisor.dev.ports import LOOPBACK
from tests.environment.brokers import create_topic, produce
from tests.integration.cluster import SUPERVISORS, Cluster, running
from tests.waiting import wait_until

CLICKS, VIEWS, GONE = "contract-clicks", "contract-views", "contract-gone"
ADMIN, WORKER = "admin", "worker"
RECORDS = 200
_AUTHENTICATED = {
    "TIDEGATE_AUTH": "required",
    "TIDEGATE_KAFKA_ALLOW": LOOPBACK,
    # What is asked here comes as fast as one client can, and half of it with a wrong token.
    "TIDEGATE_RATE_LIMIT": "100000",
    "TIDEGATE_LOCKOUT_FAILURES": "1000",
    "TIDEGATE_PASSWORD_MEMORY": "8",
    "TIDEGATE_PASSWORD_PASSES": "1",
}


@dataclass(frozen=True)
class Site:
    """Where the overlord is, and who may ask it."""

    url: str
    bootstrap: str
    topic: str
    folder: Path
    tokens: dict[str, str]
    """Role -> token; empty: nobody is asked."""

    def headers(self) -> dict[str, str]:
        """What the administrator sends."""
        return {"Authorization": f"Bearer {self.tokens[ADMIN]}"} if self.tokens else {}

    def restore(self) -> None:
        """Have its supervisors run again: what asks for all it can asks to end them, too."""
        with httpx.Client(base_url=self.url, headers=self.headers(), timeout=60) as client:
            for table in (CLICKS, VIEWS):
                client.post(SUPERVISORS, json=spec(self.bootstrap, self.topic, table))


@contextmanager
def serving(folder: Path, bootstrap: str, *, authenticated: bool) -> Iterator[Site]:
    """Run an overlord and a worker until the block ends.

    `authenticated`: callers say who they are.
    """
    cluster = Cluster(folder, more=dict(_AUTHENTICATED) if authenticated else {}, light=True)
    tokens = _tokens(cluster) if authenticated else {}
    if authenticated:
        cluster.more = {**cluster.more, "TIDEGATE_TOKEN": tokens[WORKER]}
        cluster.http.headers["Authorization"] = f"Bearer {tokens[ADMIN]}"
        cluster.http.headers[WORKERS_HEADER] = tokens[WORKER]
    with running(cluster):
        topic = f"contract-{'asked' if authenticated else 'open'}"
        _seed(cluster, bootstrap, topic)
        yield Site(cluster.url, bootstrap, topic, folder, tokens)


@contextmanager
def bare(folder: Path, bootstrap: str) -> Iterator[Site]:
    """Run an overlord alone that asks who calls: it has supervisors, and no worker."""
    topic = "contract-bare"
    create_topic(bootstrap, topic, partitions=2)
    cluster = Cluster(folder, more=dict(_AUTHENTICATED))
    tokens = _tokens(cluster)
    cluster.http.headers["Authorization"] = f"Bearer {tokens[ADMIN]}"
    with running(cluster, workers=()):
        for table in (CLICKS, VIEWS, GONE):
            cluster.apply(spec(bootstrap, topic, table))
        cluster.post(GONE, "terminate")
        _ask(cluster, "POST", f"{SUPERVISORS}/{VIEWS}/suspend")
        yield Site(cluster.url, bootstrap, topic, folder, tokens)


def _tokens(cluster: Cluster) -> dict[str, str]:
    folder = cluster.folder / "tokens"
    folder.mkdir()
    done = cluster.tidegate("access", "bootstrap", "--folder", str(folder))
    assert done.returncode == 0, done.stderr
    files = {ADMIN: "admin.token", WORKER: "workers.token"}
    return {name: (folder / file).read_text().strip() for name, file in files.items()}


def spec(bootstrap: str, topic: str, data_source: str) -> dict[str, JsonValue]:
    """A spec of one topic."""
    return {
        "type": "kafka",
        "spec": {
            "dataSchema": {
                "dataSource": data_source,
                "timestampSpec": {"column": "time", "format": "iso"},
                "dimensionsSpec": {"dimensions": ["id"]},
                "granularitySpec": {"segmentGranularity": "HOUR", "rollup": False},
            },
            "ioConfig": {
                "topic": topic,
                "inputFormat": {"type": "json"},
                "consumerProperties": {"bootstrap.servers": bootstrap},
                "taskCount": 1,
                "taskDuration": "PT1M",
                "useEarliestOffset": True,
            },
        },
    }


def _seed(cluster: Cluster, bootstrap: str, topic: str) -> None:
    create_topic(bootstrap, topic, partitions=2)
    records = [json.dumps({"id": f"r{n}", "time": "2026-01-01T00:00:00Z"}) for n in range(RECORDS)]
    produce(bootstrap, topic, records)
    for table in (CLICKS, VIEWS, GONE):
        cluster.apply(spec(bootstrap, topic, table))
    halves = {"0": RECORDS // 2, "1": RECORDS // 2}
    wait_until(lambda: cluster.has_read(GONE, halves))
    cluster.post(GONE, "terminate")
    cluster.apply(_changed(bootstrap, topic))
    wait_until(lambda: cluster.has_read(CLICKS, halves))
    _ask(cluster, "POST", f"{SUPERVISORS}/{CLICKS}/taskGroups/handoff", {"taskGroupIds": [0]})
    wait_until(lambda: bool(cluster.files(GONE)) and bool(cluster.files(CLICKS)))
    _ask(cluster, "PUT", f"/api/v1/datasources/{CLICKS}/retention", {"keepFor": "P3650D"})
    _ask(cluster, "PUT", f"/api/v1/datasources/{CLICKS}/compaction", {})
    _ask(cluster, "POST", f"{SUPERVISORS}/{VIEWS}/suspend")


def _changed(bootstrap: str, topic: str) -> dict[str, JsonValue]:
    """A second version of a spec."""
    return spec(bootstrap, topic, CLICKS) | {"context": {"team": "web"}}


def _ask(cluster: Cluster, method: str, path: str, body: JsonValue = None) -> None:
    answer = cluster.http.request(method, path, json=body)
    assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
