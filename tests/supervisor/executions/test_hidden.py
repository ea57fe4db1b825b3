"""Secrets in what came of a call: a server that answers with them, a library that prints them."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from supervisor.adapters.executions.http.call import HttpCalls
from supervisor.adapters.secrets import read_secret
from supervisor.core.executions.entities import Execution, Runner, StepError
from supervisor.core.executions.inputs import Fails, Outcome, Waits
from supervisor.core.executions.plan import CallWork, FlowPlan, Step
from supervisor.core.executions.reduced import StepCall
from supervisor.executions.hidden import hidden
from supervisor.executions.runner import CallRunner
from tests.supervisor.adapters.executions.sink import Sent, Sink, a_sink
from tests.supervisor.core.crashes.scenarios.stored import Stored
from tests.supervisor.core.crashes.world.world import BEGAN
from tests.waiting import wait_until

VARIABLE = "TIDEGATE_SECRET_ECHO"
CANARY = "canary-4be1"
SECRET = f"{CANARY} of a hook"
HEADERS: JsonValue = {"Authorization": {"secret": VARIABLE}}


@pytest.fixture
def sink() -> Iterator[Sink]:
    """A server that answers with the header that it was sent."""
    with a_sink() as running:
        yield running


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, SECRET)


def _echoes(sent: Sent, status: int) -> tuple[int, dict[str, str], bytes]:
    header = sent.headers["Authorization"]
    return status, {"Content-Type": "text/plain"}, f"you sent {header}".encode()


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_secret_that_comes_back_is_in_no_row_of_the_execution(
    sink: Sink, stored: Stored, tmp_path: Path, status: int
) -> None:
    sink.answer = lambda sent: _echoes(sent, status)
    work = CallWork("http", {"url": sink.url(), "method": "POST", "headers": HEADERS})
    verbs = {"http": HttpCalls((), read_secret, {})}
    runner = CallRunner(stored.engine, Runner("r", "one"), verbs, 1, look_s=0.01)
    stored.engine.work(starts=[Execution("e1", FlowPlan("f", 1, (Step("a", work),)), {}, BEGAN)])
    runner.start()
    wait_until(lambda: stored.get("e1").state.ended)
    runner.stop()
    rows = b"".join(each.read_bytes() for each in tmp_path.glob("executions.db*"))

    assert [one.headers["Authorization"] for one in sink.ledger] == [SECRET]
    assert b"you sent" in rows, "what is searched for would not be found"
    assert CANARY.encode() not in rows


def test_a_library_that_prints_a_header_shows_no_secret(
    sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, f"{SECRET}\n with two lines")
    arguments: dict[str, JsonValue] = {"url": sink.url(), "headers": HEADERS}
    call = StepCall("e", "r", "a", 1, 1, "http", arguments)

    outcome = hidden(HttpCalls((), read_secret, {})(call, threading.Event()))

    assert isinstance(outcome, Fails)
    assert CANARY not in str(outcome)
    assert sink.ledger == []


@pytest.mark.parametrize(
    "outcome",
    [
        Fails(StepError("x", f"password={SECRET}")),
        Waits(f"sasl.password={SECRET}"),
    ],
)
def test_each_text_of_an_outcome_is_masked(outcome: Outcome) -> None:
    assert CANARY not in str(hidden(outcome))
