"""Steps that are verbs of the product: what they are compiled to, and what is refused."""

from collections.abc import Mapping

import pytest

from supervisor.adapters.expressions import CelExpressions
from supervisor.core.executions.plan import CallWork, OnLost
from supervisor.core.flows.compiling import compile_flow
from supervisor.core.flows.reading import read_flow
from supervisor.core.values.errors import InvalidFlow

TAKEN: tuple[Mapping[str, object], ...] = (
    {"type": "apply", "spec": {"type": "kafka", "spec": {"dataSchema": None}}},
    {"type": "apply", "spec": "${ inputs.spec }", "ifMatch": "1-0123456789abcdef"},
    {"type": "suspend", "supervisor": "s", "wait": False},
    {"type": "resume", "supervisor": "s"},
    {"type": "handoff", "supervisor": "s", "groups": [0, 1]},
    {"type": "reset", "supervisor": "s", "offsets": {"0": 1}},
    {"type": "reset", "supervisor": "s", "to": "latest", "dryRun": True},
    {"type": "terminate", "supervisor": "s", "expect": "0123456789abcdef"},
    {"type": "forget", "supervisor": "s", "withReports": True},
    {"type": "markUnused", "table": "t", "interval": "2026-01-01/2026-01-02"},
    {"type": "markUnused", "table": "t", "segmentIds": ["a"]},
    {"type": "backfill", "supervisor": "s", "day": "${ inputs.day }"},
    {"type": "backfill", "supervisor": "s", "from": "2026-01-01", "to": "2026-01-02"},
    {"type": "backfill", "supervisor": "s", "ranges": {"0": {"from": 0, "to": 9}}},
    {"type": "compact", "table": "t", "targetRows": 1000, "filesMin": "${ 3 }"},
    {"type": "waitFor", "operation": "op_1"},
    {"type": "waitFor", "supervisor": "s", "lagAtMost": 100},
    {"type": "waitFor", "supervisor": "s", "published": "latest"},
    {"type": "waitFor", "table": "t", "exported": "delta"},
    {"type": "verify", "supervisor": "s", "strict": True},
)
REFUSED: tuple[tuple[Mapping[str, object], str, str], ...] = (
    ({"type": "suspend"}, "/steps/0/supervisor", "required"),
    ({"type": "suspend", "supervisro": "s"}, "/steps/0/supervisro", "not known"),
    ({"type": "reset", "supervisor": "s", "to": "latest", "offsets": {}}, "/steps/0", "not both"),
    ({"type": "markUnused", "table": "t"}, "/steps/0", "either"),
    ({"type": "backfill", "supervisor": "s"}, "/steps/0", "give `ranges`"),
    ({"type": "backfill", "supervisor": "s", "from": "2026-01-01"}, "/steps/0", "give `ranges`"),
    ({"type": "waitFor", "supervisor": "s"}, "/steps/0", "one of `state`"),
    ({"type": "waitFor", "operation": "op_1", "table": "t"}, "/steps/0", "give `operation`"),
    ({"type": "compact", "table": "${ steps.x.y }"}, "/steps/0/table", "not before"),
    ({"type": "compact", "table": "t", "targetRows": True}, "/steps/0/targetRows", "must be"),
)


def _flow(step: Mapping[str, object]) -> dict[str, object]:
    inputs = [{"name": "day", "type": "date"}, {"name": "spec", "type": "object"}]
    return {"flow": "f", "inputs": inputs, "steps": [{"name": "a", **step}]}


@pytest.mark.parametrize("step", TAKEN, ids=lambda step: str(step["type"]))
def test_a_verb_is_a_call_with_its_own_fields(step: Mapping[str, object]) -> None:
    [compiled] = compile_flow(read_flow(_flow(step), CelExpressions()), 1).steps
    assert isinstance(compiled.work, CallWork)
    assert compiled.work.verb == step["type"]
    assert compiled.on_lost is OnLost.RETRY
    given = {name: value for name, value in step.items() if name != "type"}
    assert {name: compiled.work.arguments.get(name) for name in given} == given
    assert not {"name", "after", "retry", "onLost"} & set(compiled.work.arguments)


@pytest.mark.parametrize(("step", "place", "words"), REFUSED)
def test_a_verb_that_says_too_little_or_too_much_is_refused(
    step: Mapping[str, object], place: str, words: str
) -> None:
    with pytest.raises(InvalidFlow) as refused:
        read_flow(_flow(step), CelExpressions())
    errors = {error.pointer: error.message for error in refused.value.errors}
    assert place in errors, errors
    assert words in errors[place]
