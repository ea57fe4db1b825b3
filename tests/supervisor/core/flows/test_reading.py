"""Flows that are refused, each with its pointer and what to do; and one that has everything."""

from datetime import timedelta

import pytest
import yaml

from supervisor.adapters.expressions import CelExpressions
from supervisor.core.executions.plan import OnLost
from supervisor.core.flows.compiling import compile_flow
from supervisor.core.flows.document import FlowDocument, bind_inputs
from supervisor.core.flows.reading import read_flow
from supervisor.core.values.errors import InvalidFlow, InvalidInputs
from tests.supervisor.core.executions.world import ExecutionState, StepState, World

_WHOLE = """
flow: orders-day
description: Proves a day, and tells.
labels: {team: finance}
inputs:
  - {name: day, type: date}
  - {name: lands, type: list, default: [de, fr]}
concurrency: {limit: 3, key: "${ inputs.day }", whenFull: queue}
timeout: PT12H
steps:
  - {name: pack, type: noop, retry: {attempts: 3, backoff: PT10S}, timeout: PT1H}
  - name: each
    type: forEach
    after: [pack]
    items: "${ inputs.lands }"
    concurrency: 2
    steps:
      - {name: one, type: http, method: POST, url: "https://hooks.example/${ item }"}
  - {name: ok, type: approve, question: "tell ${ inputs.day }?", after: [each], if: "1 == 1"}
  - name: how
    type: switch
    after: [ok]
    value: inputs.day
    cases:
      "2026-11-25":
        - {name: wait, type: sleep, duration: PT1M}
    default:
      - {name: stop, type: fail, message: "another day"}
onFailure:
  - {name: page, type: http, url: "https://pager.example/", body: {why: "${ execution.failures }"}}
finally:
  - {name: tidy, type: set, values: {n: "${ steps.each.count }"}}
outputs: {count: "${ steps.each.count }"}
"""


def read(document: object) -> FlowDocument:
    """Read a flow with CEL."""
    return read_flow(document, CelExpressions())


def whole() -> dict[str, object]:
    """Return a document that has everything."""
    document = yaml.safe_load(_WHOLE)
    assert isinstance(document, dict)
    return document


def test_a_whole_flow_is_read_compiled_and_runs() -> None:
    flow = read(whole())
    plan = compile_flow(flow, 4)
    world = World()
    values = bind_inputs(flow, {"day": "2026-11-25"})
    world.start(plan, "e1", **values)

    world.make_calls()

    assert plan.timeout == timedelta(hours=12)
    assert [job.arguments.get("url") for job in world.done] == [
        None,
        "https://hooks.example/de",
        "https://hooks.example/fr",
    ]
    assert world.states()["ok"] is StepState.WAITING
    assert world.get().state is ExecutionState.RUNNING


def test_an_http_call_that_changes_something_asks_before_it_is_repeated() -> None:
    steps = [
        {"name": "a", "type": "http", "url": "https://x.example", "method": "POST"},
        {"name": "b", "type": "http", "url": "https://x.example", "method": "GET"},
        {
            "name": "c",
            "type": "http",
            "url": "https://x.example",
            "method": "POST",
            "idempotent": True,
        },
        {
            "name": "d",
            "type": "http",
            "url": "https://x.example",
            "method": "POST",
            "onLost": "fail",
        },
    ]
    plan = compile_flow(read({"flow": "f", "steps": steps}), 1)

    lost = [step.on_lost for step in plan.steps]
    assert lost == [OnLost.ASK, OnLost.RETRY, OnLost.RETRY, OnLost.FAIL]


def _with(**fields: object) -> dict[str, object]:
    return {"flow": "f", "steps": [{"name": "a", "type": "noop"}], **fields}


def _step(**fields: object) -> dict[str, object]:
    first = {"name": "a", "type": "noop"}
    return {"flow": "f", "steps": [first, {"name": "b", "type": "noop", **fields}]}


@pytest.mark.parametrize(
    ("document", "pointer", "says"),
    [
        ([], "", "must be an object"),
        (_with(step=[]), "/step", "did you mean steps?"),
        (_with(steps=[]), "/steps", "at least 1"),
        (_with(flow="a b"), "/flow", ""),
        ({"steps": [{"name": "a", "type": "noop"}]}, "/flow", "flow is required"),
        (_step(type="nop"), "/steps/1", "did you mean noop?"),
        (_step(afer=["a"]), "/steps/1/afer", "did you mean after?"),
        (_step(after=["c"]), "/steps/1/after/0", "no step c here"),
        (_step(after=["b"]), "/steps", "b → b"),
        (_step(name="a"), "/steps/1/name", "another step"),
        (_step(name="my-step"), "/steps/1/name", ""),
        (_step(**{"if": "inputs."}), "/steps/1/if", "does not parse"),
        (_step(**{"if": "steps.a.n == 1"}), "/steps/1/if", "the step a is not before this one"),
        (_step(retry={"attempts": 0}), "/steps/1/retry/attempts", "at least 1"),
        (_step(timeout="P1M"), "/steps/1/timeout", "no fixed length"),
        (_step(onError="stop"), "/steps/1/onError", "fail"),
        (_step(type="http", url="${ inputs.x"), "/steps/1/url", "no end"),
        (_step(type="sleep"), "/steps/1", "a duration or seconds"),
        (_step(type="http"), "/steps/1/url", "url is required"),
        (_with(inputs=[{"name": "x"}, {"name": "x"}]), "/inputs/1/name", "twice"),
        (_with(outputs={"n": "${ steps.z.n }"}), "/outputs/n", "the step z is not before"),
        (_with(concurrency={"limit": 0}), "/concurrency/limit", "at least 1"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(document: object, pointer: str, says: str) -> None:
    with pytest.raises(InvalidFlow) as refused:
        read(document)

    errors = {error.pointer: f"{error.message} {error.hint}" for error in refused.value.errors}
    assert pointer in errors, errors
    assert says in errors[pointer]


def test_a_cycle_is_named_by_its_path() -> None:
    steps = [
        {"name": name, "type": "noop", "after": [after]}
        for name, after in zip("abc", "bca", strict=True)
    ]
    with pytest.raises(InvalidFlow, match=r"steps wait for each other: \w → \w → \w → \w"):
        read({"flow": "f", "steps": steps})


def test_too_many_and_too_deep_steps_are_refused() -> None:
    many = [{"name": f"s{number}", "type": "noop"} for number in range(201)]
    deep: list[dict[str, object]] = [{"name": "leaf", "type": "noop"}]
    for number in range(5):
        deep = [{"name": f"d{number}", "type": "parallel", "steps": deep}]
    for steps, says in [(many, "at most 200 steps"), (deep, "at most 5 deep")]:
        with pytest.raises(InvalidFlow, match=says):
            read({"flow": "f", "steps": steps})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "day is required"),
        ({"day": "tomorrow"}, "tomorrow is no date"),
        ({"day": "2026-11-25", "dya": 1}, "dya is no input of orders-day"),
        ({"day": "2026-11-25", "lands": "de"}, "de is no list"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(given: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidInputs, match=says):
        bind_inputs(read(whole()), given)  # type: ignore[arg-type]


def test_a_default_fills_what_is_not_given() -> None:
    values = bind_inputs(read(whole()), {"day": "2026-11-25"})

    assert values == {"day": "2026-11-25", "lands": ["de", "fr"]}


@pytest.mark.parametrize(
    "text",
    ["[1].all(a, [1].all(b, [1].all(c, true)))", "x" * 1_001, "1 +"],
    ids=["three lists", "long", "no end"],
)
def test_expressions_that_may_never_end_are_refused(text: str) -> None:
    with pytest.raises(InvalidFlow):
        read(_step(**{"if": text}))


def test_a_document_full_of_errors_names_a_hundred() -> None:
    with pytest.raises(InvalidFlow) as refused:
        read(_with(**{f"x{number}": 1 for number in range(500)}))

    assert len(refused.value.errors) == 101
