"""Large outputs: kept apart before the report, given to later steps, refused above the limits."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest
from pydantic import JsonValue

from supervisor.adapters.secrets import read_secret
from supervisor.core.executions.inputs import Fails, Outcome, Stopped, Succeeded
from supervisor.core.executions.reduced import StepCall
from supervisor.core.flows.artifacts import (
    ARTIFACT_BYTES_MAX,
    INLINE_BYTES_MAX,
    artifact_of,
    json_size,
    reference_of,
)
from supervisor.executions import artifacts
from supervisor.executions.artifacts import LargeOutputs
from tasks.contract.kafka_client import SecretRef
from tests.environment.memory_artifacts import MemoryArtifacts

LARGE = "x" * INLINE_BYTES_MAX


@dataclass
class Verb:
    """A verb that gives what the test says, and notes what it got."""

    outputs: Mapping[str, JsonValue] = field(default_factory=dict)
    calls: list[StepCall] = field(default_factory=list)

    def __call__(self, call: StepCall, _: threading.Event) -> Outcome:
        """Give the outputs."""
        self.calls.append(call)
        return Succeeded(self.outputs)


def _call(arguments: Mapping[str, JsonValue] | None = None, attempt: int = 1) -> StepCall:
    return StepCall("e1", "ab12", "get", attempt, 1, "http", arguments or {})


def _make(verb: Verb, store: MemoryArtifacts, call: StepCall | None = None) -> Outcome:
    return LargeOutputs(verb, store)(call or _call(), threading.Event())


def _failure(outcome: Outcome) -> tuple[str, str]:
    assert isinstance(outcome, Fails), outcome
    return outcome.error.code, outcome.error.message


def test_small_outputs_stay_in_the_record() -> None:
    store, verb = MemoryArtifacts(), Verb({"rows": 3, "body": "x" * 10_000})

    assert _make(verb, store) == Succeeded(verb.outputs)
    assert store.stored == {}


def test_the_largest_outputs_are_kept_apart_until_the_others_are_small_enough() -> None:
    verb = Verb({"a": "a" * 9_000, "b": ["b" * 12_000], "n": 1})
    store = MemoryArtifacts()

    outcome = _make(verb, store)

    assert isinstance(outcome, Succeeded)
    assert (outcome.outputs["a"], outcome.outputs["n"]) == ("a" * 9_000, 1)
    ref = reference_of(outcome.outputs["b"])
    assert ref is not None
    assert [one.value for _, one in store.stored.values()] == [["b" * 12_000]]
    assert json_size(outcome.outputs) <= INLINE_BYTES_MAX


def test_a_secret_that_a_server_sends_back_is_in_no_artifact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TIDEGATE_SECRET_LARGE", "canary-77ab")
    secret = read_secret(SecretRef(environment="TIDEGATE_SECRET_LARGE"))
    store = MemoryArtifacts()

    _make(Verb({"body": [f"you sent {secret}", LARGE]}), store)

    assert [one.value for _, one in store.stored.values()] == [["you sent ***", LARGE]]


def test_the_same_outputs_of_an_attempt_are_stored_once() -> None:
    verb, store = Verb({"body": LARGE}), MemoryArtifacts()

    assert _make(verb, store) == _make(verb, store)
    assert len(store.stored) == 1
    _make(verb, store, _call(attempt=2))
    assert len(store.stored) == 2


def test_a_later_step_gets_the_content_wherever_its_arguments_name_it() -> None:
    store, verb = MemoryArtifacts(), Verb()
    text, rows = artifact_of("ab12", 1, LARGE), artifact_of("cd34", 1, [1, 2])
    for each in (text, rows):
        store.put("e1", each)
    body: JsonValue = {"all": [rows.ref.value], "text": text.ref.value}
    arguments: dict[str, JsonValue] = {"url": "u", "body": body}

    _make(verb, store, _call(arguments))

    assert verb.calls[0].arguments == {"url": "u", "body": {"all": [[1, 2]], "text": LARGE}}
    assert verb.calls[0].key == _call().key


def test_an_artifact_that_is_gone_fails_the_step_before_its_call() -> None:
    verb, gone = Verb(), artifact_of("ab12", 1, LARGE)

    outcome = _make(verb, MemoryArtifacts(), _call({"body": gone.ref.value}))

    assert _failure(outcome)[0] == "artifact-gone"
    assert gone.ref.id in _failure(outcome)[1]
    assert verb.calls == []


def test_arguments_of_too_many_bytes_fail_the_step_before_its_call() -> None:
    verb = Verb()
    huge: JsonValue = {"artifact": "ab-1-" + "0" * 32, "bytes": ARTIFACT_BYTES_MAX, "sha256": "0"}

    outcome = _make(verb, MemoryArtifacts(), _call({"body": [huge, huge]}))

    assert _failure(outcome)[0] == "arguments-too-large"
    assert verb.calls == []


def test_what_is_larger_than_the_limits_fails_the_step_and_says_which_output_it_was() -> None:
    huge = _make(Verb({"body": "x" * (ARTIFACT_BYTES_MAX + 1)}), MemoryArtifacts())
    full = _make(Verb({"body": LARGE}), MemoryArtifacts(bytes_max=INLINE_BYTES_MAX - 1))
    many = _make(Verb({f"n{each}": "x" * 100 for each in range(200)}), MemoryArtifacts())

    for outcome in (huge, full, many):
        assert _failure(outcome)[0] == "output-too-large"
        assert isinstance(outcome, Fails)
        assert not outcome.error.known, "it was made: a retry repeats its key"
    assert "the output body has 8,388,609 bytes, of 8,388,608 at most" in _failure(huge)[1]
    assert "the output body" in _failure(full)[1]


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "_AGAIN_S", 0.001)


@pytest.mark.usefixtures("_at_once")
def test_a_store_that_is_away_is_waited_for_and_the_call_is_made_once() -> None:
    verb, store = Verb({"body": LARGE}), MemoryArtifacts()
    before = artifact_of("cd34", 1, "before")
    store.put("e1", before)
    store.away = 3

    outcome = _make(verb, store, _call({"body": before.ref.value}))
    store.away = 3
    again = _make(verb, store)

    assert isinstance(outcome, Succeeded)
    assert isinstance(again, Succeeded)
    assert len(verb.calls) == 2


@pytest.mark.parametrize("before", [True, False], ids=["before the call", "after it"])
def test_a_cancel_ends_the_waiting(before: bool) -> None:
    store, cancel = MemoryArtifacts(away=1_000_000), threading.Event()
    arguments = {"body": artifact_of("ab", 1, LARGE).ref.value} if before else {}
    outcomes: list[Outcome] = []

    def make(act: Callable[[], Outcome]) -> None:
        outcomes.append(act())

    verb = Verb({"body": LARGE})
    large = LargeOutputs(verb, store)
    thread = threading.Thread(target=make, args=(lambda: large(_call(arguments), cancel),))
    thread.start()
    cancel.set()
    thread.join(60)

    assert outcomes == [Stopped()]
    assert len(verb.calls) == (0 if before else 1)
