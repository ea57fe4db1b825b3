"""Verbs on a supervisor as steps: what they do, give and wait for; and what refuses them."""

import pytest

from supervisor.core.executions.states import ExecutionState, StepState
from supervisor.core.planning.preconditions import etag_of
from tests.supervisor.api.world import TOPIC, spec_document
from tests.supervisor.services.steps.driver import AUTHOR, Driver

SUSPEND = {"type": "suspend", "supervisor": TOPIC}
RESUME = {"type": "resume", "supervisor": TOPIC}
TERMINATE = {"type": "terminate", "supervisor": TOPIC}


def test_a_supervisor_is_applied_suspended_resumed_terminated_and_forgotten(driver: Driver) -> None:
    """Goal: each step ends once its change is in effect, and the next one finds that."""
    driver.world.streams.create(TOPIC, 2)
    execution = driver.start(
        {"type": "apply", "spec": spec_document()},
        {"type": "waitFor", "supervisor": "${ steps.s0.supervisor }", "state": "running"},
        SUSPEND,
        RESUME,
        TERMINATE,
        {"type": "forget", "supervisor": TOPIC},
    )
    ended = driver.run(execution)

    assert ended.state is ExecutionState.SUCCESS, ended.failures
    applied, suspended = driver.step(execution).outputs, driver.step(execution, "s2").outputs
    assert (applied["supervisor"], applied["version"], applied["changed"]) == (TOPIC, 1, True)
    assert (suspended["version"], suspended["changed"]) == (2, True)
    with driver.parts.store.reading() as tx:
        assert tx.specs.newest(TOPIC) is None


def test_what_a_step_changes_is_on_record_for_the_owner_and_names_the_step(driver: Driver) -> None:
    driver.world.start()
    execution = driver.start({**SUSPEND, "wait": False})
    driver.run(execution)
    [operation] = driver.operations("suspend")
    row = driver.parts.chronicle.operation(operation)
    assert row.asked_by == AUTHOR
    assert row.reason is not None
    assert execution in row.reason
    assert driver.step(execution).outputs["operation"] == operation


def test_a_supervisor_that_is_so_already_is_left_as_it_is(driver: Driver) -> None:
    driver.world.start()
    execution = driver.start(RESUME)
    driver.run(execution)
    assert driver.step(execution).outputs == {"changed": False}
    assert driver.operations("resume") == []


def test_a_step_waits_until_what_it_began_is_published(driver: Driver) -> None:
    """Goal: a suspend whose ranges are read on is RUNNING, and says what it waits for."""
    agents = driver.world.start()
    execution = driver.start(SUSPEND)
    driver.run(execution, turns=4)
    run = driver.step(execution)
    assert run.state is StepState.WAITING
    assert run.wait is not None
    assert f"suspend of {TOPIC}" in run.wait.what
    for _ in range(3):
        driver.world.round(agents)
    assert driver.run(execution).state is ExecutionState.SUCCESS


def test_a_handoff_of_groups_that_have_read_nothing_ends(driver: Driver) -> None:
    agents = driver.world.start()
    execution = driver.start({"type": "handoff", "supervisor": TOPIC, "groups": [0]})
    driver.run(execution, turns=3)
    for _ in range(3):
        driver.world.round(agents)
    assert driver.run(execution).state is ExecutionState.SUCCESS
    assert "ranges" in driver.step(execution).outputs


def test_a_reset_gives_its_counts_and_offsets_may_be_worked_out(driver: Driver) -> None:
    driver.world.start()
    execution = driver.start(
        {"type": "reset", "supervisor": TOPIC, "offsets": {"0": 0}, "dryRun": True},
        {
            "type": "reset",
            "supervisor": TOPIC,
            "offsets": {"0": "${ steps.s0.skipped }"},
            "expect": "${ steps.s0.digest }",
        },
    )
    ended = driver.run(execution)
    assert ended.state is ExecutionState.SUCCESS, ended.failures
    assert driver.step(execution, "s1").outputs["changed"] is True
    assert len(driver.operations("reset-offsets")) == 1


@pytest.mark.parametrize(
    "step",
    [
        SUSPEND,
        TERMINATE,
        {"type": "handoff", "supervisor": TOPIC},
        {"type": "reset", "supervisor": TOPIC, "to": "latest"},
    ],
    ids=lambda step: str(step["type"]),
)
def test_a_dry_run_tells_what_it_would_do_and_does_nothing(
    driver: Driver, step: dict[str, object]
) -> None:
    driver.world.start()
    before = driver.parts.service.newest(TOPIC)[0].version
    execution = driver.start({**step, "dryRun": True})
    assert driver.run(execution).state is ExecutionState.SUCCESS
    outputs = driver.step(execution).outputs
    assert outputs["dryRun"] is True
    assert outputs["digest"]
    assert driver.parts.service.newest(TOPIC)[0].version == before
    assert driver.operations(str(step["type"])) == []


def test_a_dry_run_of_an_apply_names_the_fields_that_it_would_change(driver: Driver) -> None:
    driver.world.start()
    changed = spec_document(replicas=1)
    execution = driver.start({"type": "apply", "spec": changed, "dryRun": True})
    driver.run(execution)
    outputs = driver.step(execution).outputs
    assert outputs["exists"] is True
    assert "/spec/ioConfig/replicas" in str(outputs["changes"])
    assert driver.parts.service.newest(TOPIC)[0].version == 1


@pytest.mark.parametrize("kind", ["suspend", "resume", "terminate", "handoff", "reset", "forget"])
def test_a_supervisor_that_is_not_there_fails_the_step_for_good(driver: Driver, kind: str) -> None:
    execution = driver.start({"type": kind, "supervisor": "none", "retry": {"attempts": 3}})
    assert driver.run(execution).state is ExecutionState.FAILED
    run = driver.step(execution)
    assert run.error is not None
    assert (run.error.code, run.error.known) == ("supervisor-not-found", True)
    assert "none" in run.error.message
    assert len(run.attempts) == 1


def test_an_outdated_tag_and_an_outdated_preview_fail_the_step(driver: Driver) -> None:
    driver.world.start()
    execution = driver.start({**SUSPEND, "ifMatch": "1-0123456789abcdef"})
    driver.run(execution)
    error = driver.step(execution).error
    assert error is not None
    assert (error.code, error.passes) == ("precondition-failed", False)

    again = driver.start({**SUSPEND, "expect": "0" * 16})
    driver.run(again)
    outdated = driver.step(again).error
    assert outdated is not None
    assert outdated.code == "preview-outdated"
    assert driver.operations("suspend") == []

    version = driver.parts.service.newest(TOPIC)[0]
    right = driver.start({**SUSPEND, "ifMatch": etag_of(version), "wait": False})
    assert driver.run(right).state is ExecutionState.SUCCESS


def test_a_spec_that_is_refused_fails_the_step_with_its_errors(driver: Driver) -> None:
    execution = driver.start({"type": "apply", "spec": {"type": "kafka"}})
    driver.run(execution)
    error = driver.step(execution).error
    assert error is not None
    assert error.code == "invalid-spec"
    assert "dataSchema" in error.message


def test_a_supervisor_that_is_not_at_rest_is_forgotten_once_it_is(driver: Driver) -> None:
    """Goal: the refusal passes, so that a retry waits for the end of the tasks."""
    driver.world.start()
    retry = {"attempts": 3, "backoff": "PT1S"}
    execution = driver.start({"type": "forget", "supervisor": TOPIC, "retry": retry})
    driver.turn()
    driver.turn()
    run = driver.step(execution)
    assert run.state is StepState.RETRYING
    assert run.error is not None
    assert run.error.code == "not-forgettable"
