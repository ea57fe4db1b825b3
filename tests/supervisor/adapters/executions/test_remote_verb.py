"""Verbs of the leader, asked over HTTP: who is asked, how often, and when it ends."""

import json
import threading
from collections.abc import Iterator

import pytest

from supervisor.adapters.executions.http.remote import STEPS_PATH, RemoteVerb
from supervisor.core.executions.inputs import Fails, Outcome, Stopped, Succeeded
from supervisor.core.executions.records import OUTCOME_FORM
from supervisor.core.executions.reduced import StepCall
from supervisor.dev.ports import free_port
from tests.supervisor.adapters.executions.sink import Sent, Sink, a_sink
from tests.waiting import wait_until

CALL = StepCall("e1", "r1", "tell", 1, 2, "compact", {"table": "orders"})
JSON = {"Content-Type": "application/json"}


def _outcome(_: Sent) -> tuple[int, dict[str, str], bytes]:
    body = json.loads(OUTCOME_FORM.write(Succeeded({"rows": 3})))
    return 200, JSON, json.dumps({"outcome": body}).encode()


def _problem(status: int, **members: object) -> tuple[int, dict[str, str], bytes]:
    return status, JSON, json.dumps({"type": "/problems/x", "detail": "no", **members}).encode()


@pytest.fixture
def leader() -> Iterator[Sink]:
    """Answers each call with success."""
    with a_sink() as sink:
        sink.answer = _outcome
        yield sink


def _ask(*overlords: str, cancel: threading.Event | None = None) -> Outcome:
    verb = RemoteVerb(overlords, "a-token")
    return verb(CALL, threading.Event() if cancel is None else cancel)


def test_the_call_goes_to_the_leader_whom_a_follower_names(leader: Sink) -> None:
    with a_sink() as follower:
        follower.answer = lambda _: _problem(503, leader=leader.url(""))
        nobody = f"http://127.0.0.1:{free_port()}"
        assert _ask(follower.url(""), nobody, leader.url("")) == Succeeded({"rows": 3})

    [sent] = leader.ledger
    assert (sent.method, sent.path) == ("POST", STEPS_PATH)
    assert sent.headers["X-Tidegate-Token"] == "a-token"
    call = json.loads(sent.body)["call"]
    assert (call["execution"], call["effect"], call["verb"]) == ("e1", 2, "compact")


def test_a_call_without_an_answer_is_made_again_with_the_same_body(leader: Sink) -> None:
    answers = iter([_problem(503), _problem(500), (200, {}, b"no JSON"), _problem(401)])
    leader.answer = lambda sent: next(answers, None) or _outcome(sent)

    assert _ask(leader.url("")) == Succeeded({"rows": 3})
    assert len(leader.ledger) == 5
    assert len({sent.body for sent in leader.ledger}) == 1


@pytest.mark.parametrize(("status", "code"), [(404, "unknown-verb"), (422, "refused")])
def test_what_stays_refused_fails(leader: Sink, status: int, code: str) -> None:
    leader.answer = lambda _: _problem(status)
    outcome = _ask(leader.url(""))
    assert isinstance(outcome, Fails)
    assert (outcome.error.code, outcome.error.message) == (code, "no")


def test_a_call_that_a_frozen_overlord_holds_is_made_by_the_one_that_leads_by_now(
    leader: Sink,
) -> None:
    goes_on = threading.Event()
    with a_sink() as frozen:

        def never(sent: Sent) -> tuple[int, dict[str, str], bytes]:
            goes_on.wait(60)
            return _outcome(sent)

        frozen.answer = never
        leader.answer = lambda _: _problem(503, leader=frozen.url(""))  # it does not lead yet
        outcomes = list[Outcome]()
        verb = RemoteVerb((frozen.url(""), leader.url("")), "a-token", others_after_s=0.05)
        asking = threading.Thread(target=lambda: outcomes.append(verb(CALL, threading.Event())))
        asking.start()
        wait_until(lambda: len(leader.ledger) >= 2)
        assert outcomes == []

        leader.answer = _outcome

        asking.join(60)
        goes_on.set()
    assert outcomes == [Succeeded({"rows": 3})]
    assert len(frozen.ledger) == 1
    assert verb.in_turn()[0] == leader.url("").rstrip("/")


def test_a_call_that_is_cancelled_ends_whether_it_waits_or_is_under_way(leader: Sink) -> None:
    goes_on = threading.Event()

    def answer(sent: Sent) -> tuple[int, dict[str, str], bytes]:
        goes_on.wait(60)
        return _outcome(sent)

    leader.answer = answer
    for url in (leader.url(""), f"http://127.0.0.1:{free_port()}"):
        cancel, outcomes = threading.Event(), list[Outcome]()
        asking = threading.Thread(target=lambda: outcomes.append(_ask(url, cancel=cancel)))  # noqa: B023 -- it is joined below
        asking.start()
        if url == leader.url(""):
            wait_until(lambda: len(leader.ledger) == 1)
        cancel.set()
        asking.join(60)
        assert outcomes == [Stopped()]
    goes_on.set()
