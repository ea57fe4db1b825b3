"""Specs inside flows: what is wrong with them is said when the flow is applied."""

from copy import deepcopy
from typing import Any

import pytest

from supervisor.core.values.permissions import Grant, Role
from tests.supervisor.api.guarded import Guarded
from tests.supervisor.api.world import TOPIC, World, spec_document

pytestmark = pytest.mark.usefixtures("driver")
FLOWS = "/api/v1/flows"


def flow(spec: object, *, inside: bool = False) -> dict[str, Any]:
    step = {"name": "save", "type": "apply", "spec": spec}
    whole = {"name": "all", "type": "parallel", "steps": [step]} if inside else step
    return {"flow": "f", "steps": [{"name": "pack", "type": "noop"}, whole]}


def misspelt() -> dict[str, Any]:
    document: dict[str, Any] = deepcopy(spec_document())
    document["spec"]["ioConfig"]["taskDuratoin"] = "PT10M"
    return document


@pytest.mark.parametrize("path", [FLOWS, f"{FLOWS}/validate"])
@pytest.mark.parametrize(
    ("inside", "place"), [(False, "/steps/1"), (True, "/steps/1/steps/0")], ids=["flat", "inside"]
)
def test_a_mistake_in_a_spec_is_an_error_of_the_flow_with_its_place(
    world: World, path: str, inside: bool, place: str
) -> None:
    refused = world.post(path, flow(misspelt(), inside=inside))

    assert refused.status_code == 400
    assert refused.json()["type"] == "/problems/invalid-flow"
    [error] = refused.json()["errors"]
    assert error["pointer"] == f"{place}/spec/spec/ioConfig/taskDuratoin"
    assert "taskDuration" in error["hint"]
    assert world.get_object(FLOWS)["flows"] == []


def test_a_good_spec_and_one_with_an_expression_are_stored(world: World) -> None:
    assert world.post(FLOWS, flow(spec_document())).status_code == 200
    later = misspelt()
    later["spec"]["ioConfig"]["topic"] = "${ execution.flow }"
    assert world.post(FLOWS, flow(later)).status_code == 200, "it is read when the step runs"


@pytest.mark.usefixtures("guarded_driver")
def test_a_spec_of_a_table_that_its_author_may_not_apply_is_refused_with_the_step(
    guarded: Guarded,
) -> None:
    grants = (Grant(Role.OPERATOR, "*", topics="web.*"),)
    olga = guarded.token("olga", *grants)

    refused = guarded.ask("POST", FLOWS, olga, flow(spec_document()))

    assert refused.status_code == 403
    assert f"the step save: you may not read {TOPIC} into" in refused.json()["detail"]
