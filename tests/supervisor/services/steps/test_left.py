"""A verb that still acts when its call is cancelled: nobody waits for it, and it acts once."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

from pydantic import JsonValue

from supervisor.core.executions.inputs import KillIt, Stopped
from supervisor.core.executions.reduced import StepCall
from supervisor.core.executions.states import AttemptState, ExecutionState
from supervisor.executions.runner import CallRunner
from supervisor.services.steps.product import ProductStep, StepVerbs, verbs_to_leave
from supervisor.services.steps.verb import Begun, ProductVerb, VerbRequest
from tests.supervisor.api.world import TOPIC
from tests.supervisor.services.steps.driver import Driver
from tests.waiting import wait_until

SUSPEND = {"type": "suspend", "supervisor": TOPIC, "wait": False}


@dataclass
class Held:
    """A verb that hangs before it acts, for as long as the test wants."""

    verb: ProductVerb
    begun: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    goes_on: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)

    def begin(self, wanted: VerbRequest) -> Begun:
        """Hang, then do it."""
        self.begun.release()
        self.goes_on.wait(240)
        begun = self.verb.begin(wanted)
        self.done.set()
        return begun

    def recall(self, wanted: VerbRequest) -> Begun:
        """Return what it did."""
        return self.verb.recall(wanted)

    def foresee(self, wanted: VerbRequest) -> Mapping[str, JsonValue]:
        """Return what it would do."""
        return self.verb.foresee(wanted)


@contextmanager
def _running(driver: Driver) -> Iterator[Held]:
    step = driver.verbs["suspend"]
    assert isinstance(step, ProductStep)
    held = Held(step.verb)
    verbs: StepVerbs = {**driver.verbs, "suspend": replace(step, verb=held)}
    leaves = verbs_to_leave(verbs)
    runner = CallRunner(driver.engine, driver.runner, verbs, look_s=0.01, leaves=leaves)
    runner.start()
    try:
        yield held
    finally:
        held.goes_on.set()
        runner.stop()


def test_a_kill_waits_for_no_verb_that_still_acts(driver: Driver) -> None:
    driver.world.start()
    execution = driver.start(SUSPEND)
    with _running(driver) as held:
        assert held.begun.acquire(timeout=30)
        driver.engine.work([(execution, KillIt("ann"))])
        wait_until(lambda: driver.get(execution).state.ended)
        assert driver.get(execution).state is ExecutionState.KILLED
        assert driver.operations("suspend") == []

        held.goes_on.set()  # what has begun stays, as if the kill had come later
        assert held.done.wait(30)
    assert len(driver.operations("suspend")) == 1


def test_an_attempt_after_one_that_still_acts_finds_what_it_did(driver: Driver) -> None:
    driver.world.start()
    execution = driver.start({**SUSPEND, "timeout": "PT5S", "retry": {"attempts": 3}})
    with _running(driver) as held:
        assert held.begun.acquire(timeout=30)

        def waits() -> bool:
            driver.pass_time(timedelta(seconds=1))
            return (
                len(driver.step(execution).attempts) > 1 and driver.step(execution).wait is not None
            )

        wait_until(waits)
        held.goes_on.set()

        def ended() -> bool:
            driver.pass_time(timedelta(seconds=1))
            return driver.get(execution).state.ended

        wait_until(ended)
    assert driver.get(execution).state is ExecutionState.SUCCESS
    assert driver.step(execution).attempts[0].state is not AttemptState.SUCCESS
    assert driver.step(execution).outputs["operation"] == driver.operations("suspend")[0]
    assert len(driver.operations("suspend")) == 1
    assert not held.begun.acquire(blocking=False), "it has acted once"


def test_a_call_that_is_cancelled_before_it_begins_does_nothing(driver: Driver) -> None:
    driver.world.start()
    driver.start(SUSPEND)
    orders = driver.engine.serve(driver.runner, (), (), 10)
    call: StepCall = orders.begin[0]
    cancel = threading.Event()
    cancel.set()
    assert driver.verbs[call.verb](call, cancel) == Stopped()
    assert driver.operations("suspend") == []


def test_all_verbs_of_the_product_are_left_but_the_proof(driver: Driver) -> None:
    """Goal: a proof stops by itself, so that its process is ended before its thread is left."""
    assert set(driver.verbs) - set(verbs_to_leave(driver.verbs)) == {"verify"}
