"""Secrets of flows: used by steps and triggers, sent back by a server, and shown by nothing.

On topics: overlord, executor, both databases, all records, every answer and every log are searched.

Slow: an overlord and an executor start, and every route is asked.
"""

import json
from pathlib import Path
from typing import cast

import httpx
import pytest

from supervisor.dev.broker import Broker
from supervisor.ports.flows.execution_log import LogTopic
from tests.integration.executors.processes import ExecutorProcess, Executors
from tests.integration.overlords import Overlord, Overlords
from tests.security.answers import answers_of
from tests.supervisor.adapters.executions.sink import Sent, Sink, a_sink
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.process, pytest.mark.long]

CANARY = "canary-9d27"
HOOK, TRIGGER = "TIDEGATE_SECRET_FLOW_HOOK", "TIDEGATE_SECRET_FLOW_TRIGGER"
SECRETS = {HOOK: f"{CANARY} of a hook", TRIGGER: f"{CANARY}-of-a-trigger"}
HEADERS = {"Authorization": {"secret": HOOK}}


def _flow(sink: Sink) -> dict[str, object]:
    call = {"type": "http", "method": "POST", "headers": HEADERS, "onError": "continue"}
    return {
        "flow": "whispers",
        "triggers": [
            {"name": "in", "type": "webhook", "secret": TRIGGER, "auth": "token"},
        ],
        "steps": [
            {"name": "tried", **call, "url": sink.url("/200")},
            {"name": "refused", **call, "url": sink.url("/400"), "after": ["tried"]},
            {"name": "failed", **call, "url": sink.url("/500"), "after": ["refused"]},
            {
                "name": "again",
                **call,
                "url": sink.url("/200"),
                "body": {"heard": "${ steps.tried.body }"},
                "after": ["failed"],
            },
        ],
        "outputs": {"heard": "${ steps.tried.body }"},
    }


def _echoes(sent: Sent) -> tuple[int, dict[str, str], bytes]:
    """Answer with what came, as a careless server does."""
    body = json.dumps({"you": f"sent {sent.headers['Authorization']}"}).encode()
    return int(sent.path[1:]), {"Content-Type": "application/json"}, body


def _all_of_executor(one: ExecutorProcess) -> dict[str, bytes]:
    return {
        f"executor {path}": one.http.get(path).content for path in ("/ping", "/status", "/metrics")
    }


def _hook(overlord: Overlord, token: str) -> httpx.Response:
    headers = {"X-Tidegate-Hook-Token": token, "Content-Type": "application/json"}
    return overlord.http.post("/api/v1/hooks/whispers/in", json={}, headers=headers)


def test_no_secret_of_a_flow_is_shown(broker: Broker, tmp_path: Path) -> None:
    executors = Executors(tmp_path, broker.bootstrap, SECRETS)
    env = {
        **SECRETS,
        "TIDEGATE_EXECUTIONS_URL": executors.url,
        "TIDEGATE_EXECUTIONS_KAFKA": broker.bootstrap,
        "TIDEGATE_EXECUTIONS_PREFIX": executors.prefix,
    }
    overlords = Overlords(tmp_path, f"sqlite:///{tmp_path}/metadata.db", env)
    with a_sink() as sink, overlords, executors:
        sink.answer = _echoes
        leader = overlords.start_leader()
        one = executors.start(TIDEGATE_OVERLORDS=leader.url)
        applied = leader.http.post("/api/v1/flows", json=_flow(sink))
        assert applied.is_success, applied.text
        refused = _hook(leader, f"{CANARY}-nearly")
        assert refused.status_code == httpx.codes.UNAUTHORIZED
        answer = _hook(leader, SECRETS[TRIGGER])
        assert answer.status_code == httpx.codes.ACCEPTED, answer.text
        execution = str(answer.json()["execution"])

        def state() -> str:
            got = leader.http.get(f"/api/v1/executions/{execution}").json()
            return str(cast("dict[str, object]", got).get("state"))

        wait_until(lambda: state() in {"SUCCESS", "WARNING", "FAILED"})
        wait_until(lambda: execution in executors.ends())
        names = {
            "flow": ["whispers"],
            "execution": [execution],
            "trigger": ["in"],
            "version": ["1"],
        }
        shown = answers_of(leader.http, names) | _all_of_executor(one)
        shown |= {"the refusal": refused.content, "the answer": answer.content}
        for topic in LogTopic:
            records = executors.log.read(topic)
            shown[f"topic {topic}"] = b"".join(
                each.key.encode() + (each.value or b"") + str(each.headers).encode()
                for each in records
            )
    shown |= {str(each): each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()}

    assert [sent.headers["Authorization"] for sent in sink.ledger] == [SECRETS[HOOK]] * 4
    assert b"sent ***" in shown["topic state"], "what is searched for would not be found"
    assert b"sent ***" in shown[f"GET /api/v1/executions/{execution}"]
    assert any("executions.db" in name for name in shown)
    assert any("executor-1.log" in name for name in shown)
    assert [name for name, text in shown.items() if CANARY.encode() in text] == []
