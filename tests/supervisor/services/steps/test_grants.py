"""Grants of owners: looked at when a flow is applied, and anew at each call."""

import pytest
from pydantic import JsonValue

from supervisor.core.executions.entities import StepError
from supervisor.core.executions.states import ExecutionState
from supervisor.core.flows.steps import STEP_TYPES, VerbFields
from supervisor.core.values.permissions import Grant, Role
from supervisor.services.steps.grants import NEEDS
from tests.supervisor.api.guarded import Guarded
from tests.supervisor.api.world import TOPIC, spec_document
from tests.supervisor.services.steps.driver import Driver

ALL = "*"
SUSPEND = {"type": "suspend", "supervisor": TOPIC, "wait": False}
TERMINATE = {"type": "terminate", "supervisor": TOPIC, "wait": False}
DELETES = {"type": "markUnused", "table": TOPIC, "interval": "2026-01-01/2026-01-02"}


def _error(driver: Driver, execution: str) -> StepError:
    assert driver.run(execution).state is ExecutionState.FAILED
    error = driver.step(execution).error
    assert error is not None
    return error


def _flow(*steps: dict[str, object]) -> dict[str, object]:
    return {"flow": "f", "steps": [{"name": f"s{n}", **step} for n, step in enumerate(steps)]}


def test_every_verb_has_its_need_its_fields_and_its_product(driver: Driver) -> None:
    verbs = {name for name, model in STEP_TYPES.items() if issubclass(model, VerbFields)}
    assert set(NEEDS) == verbs
    assert set(driver.verbs) == verbs


@pytest.mark.usefixtures("guarded_driver")
@pytest.mark.parametrize(
    ("step", "permission"), [(TERMINATE, "terminate"), (DELETES, "delete")], ids=["t", "d"]
)
def test_a_flow_with_a_verb_that_its_author_may_not_call_is_refused_with_the_step(
    guarded: Guarded, step: dict[str, object], permission: str
) -> None:
    operator = guarded.token("olga", Grant(Role.OPERATOR, ALL))
    inside: dict[str, object] = {"type": "parallel", "steps": [{"name": "deep", **step}]}
    for document in (_flow(SUSPEND, step), _flow(SUSPEND, inside)):
        refused = guarded.ask("POST", "/api/v1/flows", operator, document)
        assert refused.status_code == 403
        assert refused.json()["type"] == "/problems/not-allowed"
        named = "deep" if "deep" in str(document) else "s1"
        assert f"the step {named}: olga may not {step['type']}" in refused.json()["detail"]
        assert f"permission {permission}" in refused.json()["detail"]
    admin = guarded.token("root", Grant(Role.ADMIN, ALL))
    assert guarded.ask("POST", "/api/v1/flows", admin, _flow(SUSPEND, step)).status_code == 200
    assert guarded.ask("POST", "/api/v1/flows", operator, _flow(SUSPEND)).status_code == 200
    back = guarded.ask("POST", "/api/v1/flows/f/versions/1/rollback", operator)
    assert back.status_code == 403


def test_a_step_runs_with_the_grants_that_its_owner_has_now(
    guarded: Guarded, guarded_driver: Driver
) -> None:
    """Goal: a grant that is taken away stops the next step of a flow that runs."""
    driver = guarded_driver
    guarded.token("olga", Grant(Role.OPERATOR, ALL))
    applied = driver.start({"type": "apply", "spec": spec_document()}, author="olga")
    assert driver.run(applied).state is ExecutionState.SUCCESS, driver.get(applied).failures

    guarded.principals.grant("olga", (Grant(Role.VIEWER, ALL),), "root")
    error = _error(driver, driver.start(SUSPEND, author="olga"))
    assert (error.code, error.known) == ("not-allowed", True)
    assert f"olga may not suspend [{TOPIC}]: it needs the permission suspend" in error.message

    guarded.principals.grant("olga", (Grant(Role.OPERATOR, TOPIC),), "root")
    assert driver.run(driver.start(SUSPEND, author="olga")).state is ExecutionState.SUCCESS
    error = _error(driver, driver.start(TERMINATE, author="olga"))
    assert f"olga may not terminate [{TOPIC}]" in error.message


def test_what_an_owner_may_not_see_is_not_there(guarded: Guarded, guarded_driver: Driver) -> None:
    driver = guarded_driver
    guarded.token("root", Grant(Role.ADMIN, ALL))
    driver.run(driver.start({"type": "apply", "spec": spec_document()}, author="root"))
    guarded.token("eve", Grant(Role.OPERATOR, "views"))
    for step, code in (
        (SUSPEND, "supervisor-not-found"),
        ({"type": "compact", "table": TOPIC}, "data-source-not-found"),
        ({"type": "waitFor", "operation": "op_1"}, "operation-not-found"),
        ({"type": "apply", "spec": spec_document()}, "not-allowed"),
    ):
        error = _error(driver, driver.start(step, author="eve"))
        assert error.code == code, error


@pytest.mark.parametrize("author", ["gone", "nobody"])
def test_an_owner_without_access_owns_nothing(
    guarded: Guarded, guarded_driver: Driver, author: str
) -> None:
    guarded.token("gone", Grant(Role.ADMIN, ALL))
    guarded.principals.revoke("gone", "root")
    error = _error(guarded_driver, guarded_driver.start(SUSPEND, author=author))
    assert error.code == "not-allowed"
    assert author in error.message
    assert "applies the flow anew" in error.message


def test_whoever_starts_an_execution_lends_it_no_grants(
    guarded: Guarded, guarded_driver: Driver
) -> None:
    """Goal: an administrator who starts somebody's flow does not do what that one may not."""
    driver = guarded_driver
    guarded.token("eve", Grant(Role.VIEWER, ALL))
    driver.start(TERMINATE, author="eve")
    admin = guarded.token("root", Grant(Role.ADMIN, ALL))
    started = guarded.ask("POST", "/api/v1/flows/f/executions", admin, {})
    assert started.status_code == 202
    body: dict[str, JsonValue] = started.json()
    assert _error(driver, str(body["id"])).code in {"not-allowed", "supervisor-not-found"}


def test_an_equal_flow_that_somebody_else_applies_has_a_new_owner(
    guarded: Guarded, guarded_driver: Driver
) -> None:
    """Goal: what somebody has left behind can be taken over as it is."""
    driver = guarded_driver
    guarded.token("gone", Grant(Role.ADMIN, ALL))
    driver.run(driver.start({"type": "apply", "spec": spec_document()}, author="gone"))
    driver.start(SUSPEND, author="gone")
    guarded.principals.revoke("gone", "root")
    guarded.token("root", Grant(Role.ADMIN, ALL))
    version = driver.parts.flows.get("f").version
    assert driver.run(driver.start(SUSPEND, author="root")).state is ExecutionState.SUCCESS
    assert driver.parts.flows.get("f").version == version + 1
    driver.start(SUSPEND, author="root")
    assert driver.parts.flows.get("f").version == version + 1
