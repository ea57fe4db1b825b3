"""`tidegate dev` is killed in the middle of a flow, with all that it has started.

Slow: the whole product starts twice, with its broker and its worker.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import httpx
import psutil
import pytest

from supervisor.dev.ports import LOOPBACK, free_port
from tests.integration.deployment.test_dev import dev_process
from tests.supervisor.adapters.executions.sink import Sent, Sink, a_sink
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

Json = dict[str, object]
_NAME = "half:one"


@contextmanager
def _blocked_once(sink: Sink, path: str) -> Iterator[None]:
    """Answer the first request for a path when the block ends, and every other one at once."""
    over, at_once = threading.Event(), sink.answer

    def answer(sent: Sent) -> tuple[int, dict[str, str], bytes]:
        if [one.path for one in sink.ledger].count(path) == 1 and sent.path == path:
            over.wait(600)
        return at_once(sent)

    sink.answer = answer
    try:
        yield
    finally:
        over.set()


def _flow(sink: Sink) -> Json:
    call = {"type": "http", "method": "POST", "idempotent": True}
    return {
        "flow": "half",
        "steps": [
            {"name": "before", **call, "url": sink.url("/before")},
            {"name": "hold", **call, "url": sink.url("/hold"), "after": ["before"]},
            {"name": "ok", "type": "approve", "question": "on?", "after": ["before"]},
            {"name": "after", **call, "url": sink.url("/after"), "after": ["hold", "ok"]},
        ],
    }


def _states(http: httpx.Client) -> dict[str, str]:
    """Return step -> state; nothing while nobody answers."""
    with suppress(httpx.TransportError):
        answer = http.get(f"/api/v1/executions/{_NAME}")
        if answer.is_success:
            runs = cast("list[Json]", answer.json()["runs"])
            return {str(run["step"]): str(run["state"]) for run in runs}
    return {}


def _kill_all(dev: "subprocess.Popen[str]") -> None:
    """Kill it and whatever it has started, at once."""
    every = [psutil.Process(dev.pid), *psutil.Process(dev.pid).children(recursive=True)]
    for process in every:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(every, timeout=60)
    dev.communicate()


def _get(port: int, *options: str) -> str:
    command = ("execution", "get", _NAME, "--server", f"http://{LOOPBACK}:{port}", *options)
    done = subprocess.run(
        (sys.executable, "-m", "supervisor.cli.main", *command),
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


def test_a_flow_goes_on_at_its_step_after_everything_was_killed(tmp_path: Path) -> None:
    """Goal: no person, no command; and `get` says since when it has waited, and for what."""
    folder, port = tmp_path / "data", free_port()
    http = httpx.Client(base_url=f"http://{LOOPBACK}:{port}", timeout=30.0)
    with a_sink() as sink, http, _blocked_once(sink, "/hold"):
        first = dev_process(folder, "--port", str(port))
        try:
            wait_until(lambda: _answers(http))
            http.post("/api/v1/flows", json=_flow(sink)).raise_for_status()
            http.post("/api/v1/flows/half/executions", json={"key": "one"}).raise_for_status()
            wait_until(lambda: _states(http).get("ok") == "WAITING")
            wait_until(lambda: "/hold" in {one.path for one in sink.ledger})
            wait_until(lambda: _states(http).get("hold") == "RUNNING")
        finally:
            _kill_all(first)
        killed = datetime.now(UTC)
        second = dev_process(folder, "--port", str(port))
        try:
            wait_until(lambda: _states(http).get("hold") == "SUCCESS")
            shown, held = _get(port), json.loads(_get(port, "-o", "json"))
            [run] = [one for one in held["runs"] if one["step"] == "ok"]
            path = f"/api/v1/executions/{_NAME}/runs/{run['id']}/answer"
            http.post(path, json={"yes": True}).raise_for_status()
            wait_until(lambda: _states(http).get("after") == "SUCCESS")
        finally:
            _kill_all(second)

    assert "ok: waits for " in shown
    [wait] = [one for one in held["waitsFor"] if one["step"] == "ok"]
    assert datetime.fromisoformat(wait["since"]) < killed
    paths = [one.path for one in sink.ledger]
    assert sorted(paths) == ["/after", "/before", "/hold", "/hold"]
    keys = {one.headers["Idempotency-Key"] for one in sink.ledger if one.path == "/hold"}
    assert len(keys) == 1, "the call that was lost is repeated with its key"


def _answers(http: httpx.Client) -> bool:
    with suppress(httpx.TransportError):
        return http.get("/api/v1/executor").is_success and http.get("/api/v1/flows").is_success
    return False
