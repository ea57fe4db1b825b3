"""A large answer on its way through topics: kept apart, given to a later step, gone by a purge."""

import json
from pathlib import Path
from typing import cast

import httpx
import pytest

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.executions.artifacts import SqlArtifacts
from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.dev.broker import Broker
from supervisor.executions.sequencer.letters import ExecutionPurge
from supervisor.ports.flows.execution_log import LogTopic
from tests.integration.executors.processes import Executors
from tests.integration.overlords import Overlords
from tests.supervisor.adapters.executions.sink import a_sink
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.process]

Json = dict[str, object]
ROWS = {"rows": [f"row {number}" for number in range(20_000)]}
NAME = "carry:one"
SECRET = "kept-by-nobody-4711"


def _flow(url: str) -> Json:
    headers = {"Authorization": {"secret": "TIDEGATE_SECRET_LARGE"}}
    send = {"method": "POST", "url": f"{url}take", "body": "${ steps.fetch.body }"}
    return {
        "flow": "carry",
        "steps": [
            {"name": "fetch", "type": "http", "url": f"{url}give", "headers": headers},
            {"name": "send", "type": "http", "after": ["fetch"], **send},
        ],
        "outputs": {"rows": "${ steps.fetch.body }", "bytes": "${ steps.fetch.body.bytes }"},
    }


def test_a_large_answer_goes_from_step_to_step_on_topics(broker: Broker, tmp_path: Path) -> None:
    large = json.dumps({**ROWS, "echo": SECRET}).encode()
    executors = Executors(tmp_path, broker.bootstrap)
    env = {
        "TIDEGATE_EXECUTIONS_URL": executors.url,
        "TIDEGATE_EXECUTIONS_KAFKA": broker.bootstrap,
        "TIDEGATE_EXECUTIONS_PREFIX": executors.prefix,
    }
    overlords = Overlords(tmp_path, f"sqlite:///{tmp_path}/metadata.db", env)
    with a_sink() as sink, overlords, executors:
        sink.answer = lambda sent: (200, {}, large if sent.path == "/give" else b"{}")
        leader = overlords.start_leader()
        leader.http.post("/api/v1/flows", json=_flow(sink.url())).raise_for_status()
        started = leader.http.post("/api/v1/flows/carry/executions", json={"key": "one"})
        assert started.status_code == httpx.codes.ACCEPTED
        executors.start(TIDEGATE_OVERLORDS=leader.url, TIDEGATE_SECRET_LARGE=SECRET)

        def read() -> Json:
            answer = leader.http.get(f"/api/v1/executions/{NAME}")
            return cast("Json", answer.raise_for_status().json())

        wait_until(lambda: read()["state"] == "SUCCESS")
        runs = {str(run["step"]): run for run in cast("list[Json]", read()["runs"])}
        [ref] = cast("list[Json]", runs["fetch"]["artifacts"])
        path = f"/api/v1/executions/{NAME}/artifacts/{ref['id']}"
        expected = {**ROWS, "echo": "***"}

        assert [json.loads(one.body) for one in sink.ledger if one.path == "/take"] == [expected]
        assert leader.http.get(path).json() == expected
        assert cast("Json", read()["outputs"])["bytes"] == ref["bytes"]
        sizes = [len(one.value or b"") for one in executors.log.read(LogTopic.STATE)]
        assert max(sizes) < 10_000, "no record has the content"
        written = [one.value or b"" for topic in LogTopic for one in executors.log.read(topic)]
        assert not any(SECRET.encode() in value for value in written)

        executors.send(NAME, ExecutionPurge())
        wait_until(lambda: leader.http.get(path).status_code == httpx.codes.NOT_FOUND)
        database = ExecutionDatabase(executors.url)
        assert SqlArtifacts(database, SystemClock()).get(str(ref["id"])) is None
        database.close()
