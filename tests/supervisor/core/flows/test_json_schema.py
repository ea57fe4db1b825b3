"""The JSON Schema of a flow takes what the server takes, and refuses what no flow has."""

import random
import re
import textwrap
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import JsonValue

from supervisor.core.flows.json_schema import STEP, TRIGGER, flow_schema
from supervisor.core.flows.steps import STEP_TYPES
from supervisor.core.flows.triggers import TRIGGER_TYPES
from tests.supervisor.executions.lives.world.documents import Documents

_SCHEMA = Draft202012Validator(flow_schema())
_DOCS = Path(__file__).parents[4] / "docs"
_STEP: dict[str, JsonValue] = {"name": "a", "type": "noop"}


def test_it_is_a_schema_with_each_type_of_step_and_of_trigger() -> None:
    Draft202012Validator.check_schema(flow_schema())
    parts = flow_schema()["$defs"]

    for name, models in ((STEP, STEP_TYPES), (TRIGGER, TRIGGER_TYPES)):
        kinds = [parts[one["$ref"].removeprefix("#/$defs/")] for one in parts[name]["anyOf"]]
        assert [one["properties"]["type"]["const"] for one in kinds] == list(models)
        for one, model in zip(kinds, models.values(), strict=True):
            fields = {field.alias or name for name, field in model.model_fields.items()}
            assert one["properties"].keys() == fields
            assert one["title"] == one["properties"]["type"]["const"]
            assert one["description"]


@pytest.mark.parametrize("page", ["reference/flows.md", "tutorial/first-flow.md"])
def test_it_takes_the_flows_of_the_pages(page: str) -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", (_DOCS / page).read_text(), re.DOTALL)
    flows = [yaml.safe_load(textwrap.dedent(block)) for block in blocks]
    whole = [flow for flow in flows if isinstance(flow, dict) and "flow" in flow]

    assert whole
    for flow in whole:
        _SCHEMA.validate(flow)


@pytest.mark.parametrize("seed", range(20))
def test_it_takes_flows_as_people_write_them(seed: int) -> None:
    for flow in Documents(random.Random(seed)).all():
        _SCHEMA.validate(flow)


@pytest.mark.parametrize(
    "change",
    [
        {"flow": "a b"},
        {"steps": []},
        {"finaly": [_STEP]},
        {"steps": [{"name": "a", "type": "nop"}]},
        {"steps": [_STEP | {"aftr": []}]},
        {"steps": [_STEP | {"retry": {"attempts": 0}}]},
        {"steps": [{"name": "a", "type": "parallel", "steps": [{"name": "b", "type": "http"}]}]},
        {"steps": [{"name": "a", "type": "set", "values": {"no name": 1}}]},
        {"triggers": [{"name": "t", "type": "schedule"}]},
        {"triggers": [{"name": "t", "type": "schedule", "cron": "* * * * *", "catchUp": 1_001}]},
        {"inputs": [{"name": "day", "type": "days"}]},
    ],
)
def test_it_refuses_what_no_flow_has(change: dict[str, JsonValue]) -> None:
    flow: dict[str, JsonValue] = {"flow": "f", "steps": [_STEP]}
    _SCHEMA.validate(flow)

    assert not _SCHEMA.is_valid(flow | change)
