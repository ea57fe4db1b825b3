"""The effect of a step: once per key, whatever is lost; a known failure begins a new one."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from supervisor.chores.flows.executions import StepKeys
from supervisor.core.executions.entities import RunAttempt
from supervisor.core.executions.states import AttemptState, ExecutionState, StepState
from supervisor.core.values.errors import KeyInUse, MetadataBusy, MetadataUnavailable
from supervisor.core.values.idempotency import KeyClaim, StoredAnswer
from supervisor.services.access.idempotency import Idempotency, KeyedRequest
from supervisor.services.steps.errors import error_of
from supervisor.services.steps.once import OncePerEffect
from supervisor.services.steps.product import ProductStep
from tests.supervisor.api.world import TOPIC, spec_document
from tests.supervisor.services.steps.driver import Driver

SUSPEND = {"type": "suspend", "supervisor": TOPIC, "wait": False}
VERBS: Mapping[str, Mapping[str, object]] = {
    "apply": {"type": "apply", "spec": spec_document(replicas=1)},
    "suspend": SUSPEND,
    "handoff": {"type": "handoff", "supervisor": TOPIC, "wait": False},
    "reset": {"type": "reset", "supervisor": TOPIC, "offsets": {"0": 0}},
    "terminate": {"type": "terminate", "supervisor": TOPIC, "wait": False},
}


class Forgetful(Idempotency):
    """Keys whose answers are never stored: the process ended just before."""

    def end(self, claim: KeyClaim, answer: StoredAnswer | None) -> None:
        """Lose the answer."""
        if answer is not None:
            raise MetadataUnavailable("the process has ended")
        super().end(claim, answer)


def _attempts(driver: Driver, execution: str) -> list[RunAttempt]:
    return list(driver.step(execution).attempts)


def _operations(driver: Driver, kind: str) -> list[str]:
    wanted = {"reset": "reset-offsets"}.get(kind, kind)
    return driver.operations(wanted)


@pytest.mark.parametrize("kind", VERBS)
def test_a_runner_lost_between_effect_and_report_repeats_and_acts_once(
    driver: Driver, kind: str
) -> None:
    driver.world.start()
    before = len(_operations(driver, kind))
    execution = driver.start(VERBS[kind])
    driver.turn()
    driver.die()
    assert driver.run(execution).state is ExecutionState.SUCCESS

    first, second = _attempts(driver, execution)
    assert (first.state, second.state) == (AttemptState.LOST, AttemptState.SUCCESS)
    assert first.effect == second.effect
    assert len(_operations(driver, kind)) == before + 1
    assert driver.step(execution).outputs["operation"] == _operations(driver, kind)[0]


@pytest.mark.parametrize("kind", VERBS)
def test_a_process_lost_between_the_commit_and_its_answer_acts_once(
    driver: Driver, kind: str
) -> None:
    """Goal: the repeat finds what the first one did, by the reason that names the effect."""
    driver.world.start()
    before = len(_operations(driver, kind))
    execution = driver.start(VERBS[kind])
    keys = driver.parts.keys
    once = OncePerEffect(Forgetful(keys.store, keys.clock, keys.term))
    whole = driver.verbs
    driver.verbs = {kind: _with(whole[kind], once)}
    driver.turn()
    driver.verbs = whole
    driver.world.clock.advance(timedelta(minutes=2))  # an answer may still come within a minute
    driver.die()
    assert driver.run(execution).state is ExecutionState.SUCCESS

    assert len(_operations(driver, kind)) == before + 1
    assert driver.step(execution).outputs["operation"] == _operations(driver, kind)[0]


def _with(verb: object, once: OncePerEffect) -> ProductStep:
    assert isinstance(verb, ProductStep)
    return replace(verb, once=once)


def test_a_forgotten_supervisor_is_forgotten_once(driver: Driver) -> None:
    execution = driver.start(
        {"type": "apply", "spec": spec_document()},
        {"type": "terminate", "supervisor": TOPIC},
        {"type": "forget", "supervisor": TOPIC},
    )
    for _ in range(40):
        if driver.calls and driver.calls[-1].verb == "forget":
            break
        if not driver.turn() and not driver.reports:
            driver.pass_time(timedelta(seconds=1))
    driver.die()
    ended = driver.run(execution)
    assert ended.state is ExecutionState.SUCCESS, ended.failures
    assert driver.step(execution, "s2").outputs == {"supervisor": TOPIC}


def test_a_known_failure_takes_the_next_key_and_an_unknown_one_repeats_it(driver: Driver) -> None:
    busy = error_of(MetadataBusy("x"))
    refused = error_of(KeyInUse("x"))
    assert (busy.passes, busy.known) == (True, False)
    assert (refused.passes, refused.known) == (False, True)
    driver.world.start()
    retry = {"attempts": 3, "backoff": "PT1S", "errors": ["precondition-failed"]}
    execution = driver.start({**SUSPEND, "ifMatch": "9-0123456789abcdef", "retry": retry})
    driver.run(execution)
    assert [each.effect for each in _attempts(driver, execution)] == [1, 2, 3]


def test_a_second_attempt_waits_for_the_first_one_that_still_acts(driver: Driver) -> None:
    """Goal: a cancelled call whose thread goes on acts once, beside its repeat."""
    driver.world.start()
    execution = driver.start(SUSPEND)
    keys, run = driver.parts.keys, driver.step(execution)
    digest = OncePerEffect(keys)
    claim = keys.begin(
        KeyedRequest(f"execution/{execution}", f"{run.id}/1", digest.digest("suspend"))
    )
    assert isinstance(claim, KeyClaim)
    driver.run(execution, turns=3)
    waiting = driver.step(execution)
    assert waiting.state is StepState.WAITING
    assert driver.operations("suspend") == []

    keys.end(claim, None)  # it came to nothing
    assert driver.run(execution).state is ExecutionState.SUCCESS
    assert len(driver.operations("suspend")) == 1


def test_keys_live_as_long_as_their_execution(driver: Driver) -> None:
    """Goal: a step that is repeated after a long weekend acts once all the same."""
    driver.world.start()
    execution = driver.start(SUSPEND)
    driver.turn()
    driver.world.clock.advance(timedelta(days=4))
    driver.world.leadership.step()
    driver.parts.keys.begin(KeyedRequest("somebody", "else", "x"))  # it trims
    duty = StepKeys(driver.parts.store, driver.world.clock, driver.parts.keys.term, driver.engine)
    assert duty.run_once() == 0
    driver.die()
    assert driver.run(execution).state is ExecutionState.SUCCESS
    assert len(driver.operations("suspend")) == 1

    assert duty.run_once() == 1
    with driver.parts.store.reading() as tx:
        run = driver.step(execution)
        assert tx.keys.find(f"execution/{execution}", f"{run.id}/1") is None
