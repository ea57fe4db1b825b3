"""Workers stand still, then are gone: every answer comes at once, and says what is missing.

Source: E13; protocol rule P6: doubt kills no task, and a silent worker is asked by nobody for long.

Slow: a worker has to be away for longer than it is waited for.
"""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from pydantic import JsonValue

from supervisor.adapters.workers.http import WHOLE_S
from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic, produce
from tests.integration.cluster import SUPERVISORS, Cluster, running
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, record, spec
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.long]

TOPIC = "workers-down"
ORDERED = "workers-down-ordered"
VERBS = ("taskGroups/handoff", "suspend", "resume")
WORKERS = ("w1", "w2")
AT_ONCE_S = WHOLE_S
"""As long as the API waits for one worker: no answer waits for two, and no order for any."""
RECORDS = 200
FILES = f"/api/v1/datasources/{TOPIC}/files"
TASK = "/druid/indexer/v1/task"
PATIENT = {"TIDEGATE_WORKER_TIMEOUT": "PT10M"}
"""No task is replaced meanwhile, however long a loaded machine takes."""


@dataclass(frozen=True)
class Answers:
    """Path -> answer, and those that came too late."""

    answers: dict[str, httpx.Response] = field(default_factory=dict)
    late: list[tuple[str, float]] = field(default_factory=list)

    def json(self, path: str) -> dict[str, JsonValue]:
        """Return one answer, an object."""
        found: dict[str, JsonValue] = self.answers[path].json()
        return found

    @property
    def refused(self) -> dict[str, int]:
        """Path -> status of all that is not 200."""
        return {
            p: a.status_code for p, a in self.answers.items() if a.status_code != httpx.codes.OK
        }


def _ask(cluster: Cluster, task_id: str) -> Answers:
    """Ask first what has to ask the worker: five seconds later nobody would."""
    answered = Answers()
    for path in (
        f"{FILES}?include=journaled",
        f"{TASK}/{task_id}/log",
        f"{TASK}/{task_id}/status",
        f"{TASK}/{task_id}/reports",
        "/druid/indexer/v1/tasks",
        "/druid/indexer/v1/workers",
        SUPERVISORS,
        f"{SUPERVISORS}?full=true",
        f"{SUPERVISORS}/{TOPIC}/status",
        f"{SUPERVISORS}/{TOPIC}/stats",
        f"{SUPERVISORS}/{TOPIC}/health",
        f"/api/v1/supervisors/{TOPIC}/explain",
        f"/api/v1/supervisors/{TOPIC}/generations",
        FILES,
        "/api/v1/files",
        "/status",
        "/metrics",
    ):
        began = time.monotonic()
        answered.answers[path] = cluster.http.get(path)
        if (took_s := time.monotonic() - began) >= AT_ONCE_S:
            answered.late.append((path, took_s))
    return answered


def _order(cluster: Cluster, verb: str) -> tuple[str, int, float]:
    """Return a verb, what it was answered with, and after how long."""
    body = {"taskGroupIds": [0]} if verb.endswith("handoff") else None
    began = time.monotonic()
    answer = cluster.http.post(f"{SUPERVISORS}/{ORDERED}/{verb}", json=body)
    return verb, answer.status_code, time.monotonic() - began


def _warned(answered: Answers) -> list[str]:
    payload = answered.json(f"{SUPERVISORS}/{TOPIC}/status")["payload"]
    assert isinstance(payload, dict)
    assert isinstance(payload["warnings"], list)
    return [str(warning) for warning in payload["warnings"]]


def _missing(answered: Answers) -> list[str]:
    """Return what was said of each generation whose journaled files are not told."""
    found = answered.json(f"{FILES}?include=journaled")["missing"]
    assert isinstance(found, list)
    return [str(each) for each in found]


def _says_what_is_missing(answered: Answers, task_id: str) -> None:
    """All is told but the log, and what only workers know is named."""
    assert answered.late == []
    assert answered.refused == {f"{TASK}/{task_id}/log": httpx.codes.SERVICE_UNAVAILABLE}
    problem = answered.json(f"{TASK}/{task_id}/log")
    assert problem["type"] == "/problems/worker-unavailable"
    assert "does not answer" in str(problem["detail"])
    assert "Retry-After" in answered.answers[f"{TASK}/{task_id}/log"].headers
    assert [each.partition(": ")[0] for each in _missing(answered)] == [f"{TOPIC}:1", f"{TOPIC}:2"]


def _knows_them_silent(answered: Answers) -> None:
    assert [warning.partition(":")[0] for warning in _warned(answered)] == [
        "worker w1 is silent",
        "worker w2 is silent",
    ]
    explained = answered.answers[f"/api/v1/supervisors/{TOPIC}/explain"].text
    assert "worker w1 is silent" in explained
    lines = answered.answers["/druid/indexer/v1/workers"].json()
    assert [line["liveness"] for line in lines] == ["UNKNOWN", "UNKNOWN"]


def _silent(cluster: Cluster) -> bool:
    lines = cluster.http.get("/druid/indexer/v1/workers").json()
    return {line["liveness"] for line in lines} == {"UNKNOWN"}


@contextmanager
def _all_read(broker: Broker, folder: Path, topic: str) -> Iterator[tuple[Cluster, dict[str, int]]]:
    """Yield a cluster whose two workers have read a topic to the offsets beside it."""
    create_topic(broker.bootstrap, topic, partitions=4)
    produce(broker.bootstrap, topic, (record(n) for n in range(RECORDS)))
    with running(Cluster(folder, light=True, more=PATIENT), workers=WORKERS) as cluster:
        cluster.apply(spec(broker.bootstrap, topic, replicas=2, task_duration="PT1H"))
        ends = ends_of(broker.bootstrap, topic)
        wait_until(lambda: cluster.has_read(topic, ends))
        yield cluster, ends


def test_what_asks_a_worker_that_is_down_answers_at_once_and_says_so(
    broker: Broker, tmp_path: Path
) -> None:
    """Goal: two replicas on two workers that stand still hold an answer up no longer than one."""
    with _all_read(broker, tmp_path, TOPIC) as (cluster, ends):
        task_id = str(cluster.tasks(TOPIC)[0]["id"])
        well = _ask(cluster, task_id)
        for name in WORKERS:
            cluster.freeze(name)
        frozen = _ask(cluster, task_id)
        wait_until(lambda: _silent(cluster))
        silent = _ask(cluster, task_id)
        for name in WORKERS:
            cluster.kill(name)
        gone = _ask(cluster, task_id)
        for name in WORKERS:
            cluster.start_worker(name)
        wait_until(lambda: cluster.has_read(TOPIC, ends))
        again = _ask(cluster, task_id)
        cluster.post(TOPIC, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(TOPIC))
        in_table = ids_in_files(cluster.files(TOPIC))

    for answered in (well, again):
        assert (answered.refused, _missing(answered), _warned(answered)) == ({}, [], [])
    assert _missing(frozen)
    assert all("does not answer" in each for each in _missing(frozen)), "nobody was asked"
    for answered in (frozen, silent, gone):
        _says_what_is_missing(answered, task_id)
    for answered in (silent, gone):
        _knows_them_silent(answered)
    assert in_table == ids_in_topic(broker.bootstrap, TOPIC)


def test_what_is_ordered_of_workers_that_stand_still_is_taken_at_once_and_done_later(
    broker: Broker, tmp_path: Path
) -> None:
    with _all_read(broker, tmp_path, ORDERED) as (cluster, _):
        for name in WORKERS:
            cluster.freeze(name)
        ordered = [_order(cluster, verb) for verb in VERBS]
        wait_until(lambda: _silent(cluster))
        ordered += [_order(cluster, verb) for verb in (*VERBS, "suspend")]
        for name in WORKERS:
            cluster.children[name].signal(signal.SIGCONT)
        wait_until(lambda: cluster.is_suspended_and_quiet(ORDERED))
        in_table = ids_in_files(cluster.files(ORDERED))

    assert {status for _, status, _ in ordered} <= {httpx.codes.OK, httpx.codes.ACCEPTED}
    assert [(verb, took_s) for verb, _, took_s in ordered if took_s >= AT_ONCE_S] == []
    assert in_table == ids_in_topic(broker.bootstrap, ORDERED)
