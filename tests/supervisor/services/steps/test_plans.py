"""What each step of a flow would do now: dry runs for the caller, a bounded number of them."""

from dataclasses import replace
from typing import cast

from pydantic import JsonValue

from supervisor.core.executions.states import ExecutionState
from supervisor.core.flows.costs import STEP_COSTS
from supervisor.core.flows.foreseen import StepOutlook
from supervisor.core.values.errors import StreamUnavailable
from supervisor.core.values.permissions import ANYONE, Actor, Caller, Grant, Kind, Role
from supervisor.services.steps.plans import DRY_RUNS, UNANSWERED, outlook_on
from supervisor.services.supervisors.sampler import SampleRequests
from tests.supervisor.api.guarded import Guarded
from tests.supervisor.api.routes.tables.test_compaction import compactions, publish_two
from tests.supervisor.api.world import TOPIC, Json, spec_document
from tests.supervisor.services.steps.driver import Driver

COMPACT = {"name": "pack", "type": "compact", "table": TOPIC}
VERIFY = {"name": "prove", "type": "verify", "supervisor": TOPIC, "after": ["pack"]}


class _Away:
    """Kafka does not answer."""

    def look_at(self, *_: object) -> None:
        """Fail."""
        raise StreamUnavailable("away")


def _plan(
    driver: Driver, *steps: object, caller: Caller = ANYONE, **flow: object
) -> list[StepOutlook]:
    document = driver.parts.flows.check({"flow": "f", "steps": list(steps), **flow})
    author = Actor.named("ann", None)
    return list(outlook_on(driver.parts, document, {}, caller, author).steps)


def _codes(steps: list[StepOutlook]) -> list[str | None]:
    return [None if each.error is None else each.error.code for each in steps]


def test_a_verb_shows_its_dry_run_and_does_nothing(driver: Driver) -> None:
    publish_two(driver.world)
    expects = {**COMPACT, "name": "again", "expect": "${ steps.pack.digest }", "after": ["pack"]}
    call = {"name": "tell", "type": "http", "url": "http://h", "headers": {"x": "y"}}

    pack, prove, again, calls = _plan(driver, COMPACT, VERIFY, expects, call)

    assert pack.effect is not None
    assert "digest" in pack.effect
    assert prove.effect == {"supervisor": TOPIC, "strict": False}
    assert (again.effect, again.step.depends_on) == (None, ("pack",))
    assert calls.effect == {"method": "GET", "url": "http://h"}
    assert compactions(driver.world) == []


def test_a_step_that_would_fail_says_why_and_the_others_go_on(driver: Driver) -> None:
    publish_two(driver.world)
    steps = _plan(
        driver,
        {"name": "a", "type": "suspend", "supervisor": "none"},
        {"name": "b", "type": "verify", "supervisor": "none"},
        {"name": "c", "type": "compact", "table": TOPIC, "interval": "${ 'today' }"},
        {"name": "d", "type": "apply", "spec": {"type": "kafka"}, "if": "false"},
        COMPACT,
    )
    missing = "supervisor-not-found"
    assert _codes(steps) == [missing, missing, "invalid-request", None, None]
    assert steps[3].effect is None


def test_a_dry_run_is_made_with_the_grants_of_the_caller(
    guarded: Guarded, guarded_driver: Driver
) -> None:
    guarded.token("root", Grant(Role.ADMIN, "*"))
    stored = guarded_driver.start({"type": "apply", "spec": spec_document()}, author="root")
    assert guarded_driver.run(stored).state is ExecutionState.SUCCESS
    viewer = Caller("vera", Kind.USER, (Grant(Role.VIEWER, TOPIC),))
    stranger = replace(viewer, grants=(Grant(Role.ADMIN, "foreign"),))
    suspend = {"name": "a", "type": "suspend", "supervisor": TOPIC}

    assert _codes(_plan(guarded_driver, suspend, caller=viewer)) == ["not-allowed"]
    assert _codes(_plan(guarded_driver, suspend, caller=stranger)) == ["supervisor-not-found"]


def test_there_are_so_many_dry_runs_and_no_more(driver: Driver) -> None:
    publish_two(driver.world)
    items: list[JsonValue] = list(range(DRY_RUNS + 5))
    each = {"name": "all", "type": "forEach", "items": items, "steps": [COMPACT]}

    _, *steps = _plan(driver, each)

    assert [step.looked for step in steps] == [True] * DRY_RUNS + [False] * 5
    assert [step.effect is None for step in steps] == [False] * DRY_RUNS + [True] * 5


def test_what_does_not_answer_is_not_asked_again_and_again(driver: Driver) -> None:
    driver.world.start()
    sampling = cast("SampleRequests", _Away())
    driver.parts = replace(driver.parts, sampling=sampling)
    back = {"name": "back", "type": "backfill", "supervisor": TOPIC, "day": "2026-01-05"}
    each = {"name": "all", "type": "forEach", "items": list(range(9)), "steps": [back]}

    _, *steps = _plan(driver, each)

    assert [step.looked for step in steps] == [True] * UNANSWERED + [False] * (9 - UNANSWERED)
    assert set(_codes(steps[:UNANSWERED])) == {"stream-unavailable"}


def test_a_subflow_shows_its_bound_inputs_or_why_it_cannot_begin(driver: Driver) -> None:
    """Goal: the words are those with which the step would fail."""
    day: Json = {"name": "day", "type": "date", "default": "2026-11-25"}
    child: Json = {"flow": "child", "inputs": [day], "steps": [{"name": "x", "type": "noop"}]}
    driver.parts.flows.apply(child, Actor.named("ann", None))
    given: dict[str, Json] = {"fits": {}, "wrong": {"day": "soon"}, "late": {"day": "${ trigger }"}}
    steps: list[Json] = [
        {"name": name, "type": "subflow", "flow": "child", "inputs": inputs}
        for name, inputs in given.items()
    ]
    others: list[Json] = [{"name": each, "type": "subflow", "flow": each} for each in ("f", "g")]

    fits, wrong, late, itself, nobody = _plan(driver, *steps, *others)

    assert fits.effect == {"flow": "child", "inputs": {"day": "2026-11-25"}}
    assert wrong.error is not None
    assert "/inputs/day: soon is no date" in wrong.error.message
    assert (late.effect, late.error, late.step.depends_on) == (None, None, ("trigger",))
    assert itself.effect == {"flow": "f", "inputs": {}}
    assert nobody.error is not None
    assert nobody.error.message == "there is no flow g"
    assert _codes([wrong, nobody]) == ["child-refused", "child-refused"]


def test_each_step_says_what_it_costs(driver: Driver) -> None:
    publish_two(driver.world)

    pack, prove = _plan(driver, COMPACT, VERIFY)

    assert pack.costs == STEP_COSTS["compact"].costs
    assert prove.costs == STEP_COSTS["verify"].costs
