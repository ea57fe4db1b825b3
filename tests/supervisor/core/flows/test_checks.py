"""Mistakes between the fields of a flow: each is named with its place, and with what to do."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from supervisor.adapters.expressions import CelExpressions
from supervisor.core.flows.literals import SUPERVISOR_STATES
from supervisor.core.flows.reading import FLOW_BYTES_MAX, read_flow, read_stored
from supervisor.core.values.errors import FieldError, InvalidFlow

_INPUTS: list[object] = [
    {"name": "day", "type": "date"},
    {"name": "rows", "type": "integer"},
    {"name": "lands", "type": "list", "required": False},
]
_NOOP = {"name": "x", "type": "noop"}


def flow(*steps: object, **fields: object) -> dict[str, object]:
    """Return a flow with inputs; without steps it has one."""
    given = list(steps) or [{"name": "a", "type": "noop"}]
    return {"flow": "f", "inputs": _INPUTS, "steps": given, **fields}


def step(kind: str, **fields: object) -> dict[str, object]:
    """Return a flow with one step before a second one."""
    return flow({"name": "a", "type": "noop"}, {"name": "b", "type": kind, **fields})


def errors_of(document: object) -> Sequence[FieldError]:
    """Return why a flow is refused."""
    try:
        read_flow(document, CelExpressions())
    except InvalidFlow as refused:
        return refused.errors
    return ()


def each(**fields: object) -> dict[str, object]:
    """Return a flow with a `forEach`."""
    return step("forEach", **{"items": [1], "steps": [_NOOP], **fields})


@pytest.mark.parametrize(
    ("document", "pointer", "says"),
    [
        (step("noop", **{"if": "1"}), "/steps/1/if", "true or false is needed"),
        (step("noop", **{"if": "inputs.dya == ''"}), "/steps/1/if", "did you mean day?"),
        (step("noop", **{"if": "inputs.rows == 'x'"}), "/steps/1/if", "`==` does not take"),
        (step("noop", **{"if": "steps['a'].n > 1"}), "/steps/1/if", "the step a is not before"),
        (step("noop", **{"if": "item == 1 && item.x"}), "/steps/1/if", "and this is null"),
        (step("noop", **{"if": "${ true }"}), "/steps/1/if", "write it without ${ }"),
        (step("set", values={"n": [{"m": "${ nosuch(1) }"}]}), "/steps/1/values/n/0/m", "nosuch"),
        (step("switch", value="execution.nope", cases={"x": [_NOOP]}), "/steps/1/value", "no nope"),
        (step("sleep", seconds="${ inputs.day }"), "/steps/1/seconds", "gives a text"),
        (step("sleep", seconds="10"), "/steps/1/seconds", "write duration: PT10S"),
        (step("http", url="${ inputs.x"), "/steps/1/url", "close it with a brace"),
        (each(items="${ inputs.rows }"), "/steps/1/items", "and a list is needed"),
        (each(items="${ inputs.day },x"), "/steps/1/items", "one expression and no more"),
        (each(items="days"), "/steps/1/items", "this text is no list"),
        (each(items=[{"d": "${ inputs.dya }"}]), "/steps/1/items/0/d", "did you mean day?"),
        (each(items=list(range(1_001))), "/steps/1/items", "such as batch: 1000"),
        (each(items=list(range(501)), steps=[_NOOP, {**_NOOP, "name": "y"}]), "/steps/1/items", ""),
        (each(batch=501, steps=[_NOOP, {**_NOOP, "name": "y"}]), "/steps/1/batch", "at most 500"),
        (each(onError="pause"), "/steps/1/onError", "put it on the steps inside"),
        (step("set", values={}, onError="pause"), "/steps/1/onError", "leave it out"),
        (step("fail", message="x", onError="pause"), "/steps/1/onError", "leave it out"),
        (step("parallel", steps=[_NOOP], onError="pause"), "/steps/1/onError", "inside"),
        (flow(outputs={"n": "${ steps.x.n }"}), "/outputs/n", "the step x is not before"),
        (flow(concurrency={"limit": 1, "key": "${ inputs.d }"}), "/concurrency/key", "no input d"),
        (flow(concurrency={"limt": 1}), "/concurrency/limt", "did you mean limit?"),
        (flow(concurrency={"limit": 1, "whenFull": "cancl"}), "/concurrency/whenFull", "cancel?"),
        (flow(inputs=[{"nam": "x"}]), "/inputs/0/nam", "did you mean name?"),
        (flow(inputs=[{"type": "date"}]), "/inputs/0/name", "letters, digits and `_`"),
        (flow(inputs=[{"name": "x", "type": "dat"}]), "/inputs/0/type", "did you mean date?"),
        (
            flow(inputs=[{"name": "x", "type": "date", "default": "foo"}]),
            "/inputs/0/default",
            "foo is no date write 2026-11-25",
        ),
        (step("noop", retry={"atempts": 1}), "/steps/1/retry/atempts", "did you mean attempts?"),
        (step("noop", onError="contine"), "/steps/1/onError", "did you mean continue?"),
        (step("http", url="http://x", method="PSOT"), "/steps/1/method", "did you mean POST?"),
        (flow({"name": "a"}), "/steps/0", "use one of noop, http"),
        (
            step("waitFor", supervisor="s", state="RUNING"),
            "/steps/1/state",
            "did you mean RUNNING?",
        ),
        (step("waitFor", table="t", exported="detla"), "/steps/1/exported", "did you mean delta?"),
        (step("backfill", supervisor="s", day="2026-13-01"), "/steps/1/day", "write 2026-11-25"),
        (
            step("backfill", supervisor="s", **{"from": "x", "to": "2026-11-25"}),
            "/steps/1/from",
            "x is no time",
        ),
        (step("compact", table="t", interval="yesterday"), "/steps/1/interval", "start/end"),
        (step("markUnused", table="t", interval="a/b"), "/steps/1/interval", "is no interval"),
        (step("http", url="hooks.example"), "/steps/1/url", "http:// or https://"),
        (step("http", url="ftp://x/${ inputs.day }"), "/steps/1/url", "http:// or https://"),
        (step("http", url="http://u:p@x/${ inputs.day }"), "/steps/1/url", "as a secret"),
        (
            step("http", url="http://x", headers={"A": {"secrt": "X"}}),
            "/steps/1/headers/A/secrt",
            "did you mean secret?",
        ),
        (
            step("http", url="http://x", headers={"A": {"sec": 1}}),
            "/steps/1/headers/A/sec",
            "did you mean secret?",
        ),
        (
            step("http", url="http://x", headers={"A": {"secret": "TOKEN"}}),
            "/steps/1/headers/A/secret",
            "TIDEGATE_SECRET_",
        ),
        (step("http", url="http://x", headers={"A": {}}), "/steps/1/headers/A", "is required"),
        (step("http", url="http://x", headers={"A": [1]}), "/steps/1/headers/A", "a text"),
        (step("http", url="http://x", headers={"Host": "y"}), "/steps/1/headers/Host", "itself"),
        (step("http", url="http://x", headers={"a b": "y"}), "/steps/1/headers/a b", "no name"),
    ],
)
def test_a_mistake_is_named_with_what_to_do(document: object, pointer: str, says: str) -> None:
    errors = {error.pointer: f"{error.message} {error.hint}" for error in errors_of(document)}

    assert pointer in errors, errors
    assert says in errors[pointer]
    assert all(error.hint for error in errors_of(document))


@pytest.mark.parametrize(
    "document",
    [
        step("noop", **{"if": "inputs.rows > 0 && inputs.day != '2026-11-25'"}),
        each(items=list(range(1_000))),
        each(items=list(range(1_001)), batch=1_000),
        each(items="${ inputs.lands }", steps=[{"name": "x", "type": "noop", "if": "index > 0"}]),
        each(items="${ [inputs.day] }"),
        step("sleep", seconds="${ duration('1h') }"),
        step("approve", question="go?", timeout="PT1H"),
        step("noop", onError="pause"),
        step("subflow", flow="other", onError="pause"),
        step("http", url="https://${ inputs.day }.example/x"),
        step("http", url="${ inputs.day }"),
        step(
            "http", url="https://x.example:8443/${ inputs.day }", headers={"A": "${ inputs.day }"}
        ),
        step("http", url="http://x", headers={"A": {"secret": "TIDEGATE_SECRET_X"}, "B": 1}),
        step("backfill", supervisor="s", day="${ inputs.day }"),
        step("compact", table="t", interval="2026-01-01/2026-01-02"),
        step("waitFor", supervisor="s", state="running"),
        flow(**{"finally": [{**_NOOP, "if": "steps.a.n == 1"}]}),
    ],
)
def test_a_flow_without_a_mistake_is_taken(document: object) -> None:
    assert errors_of(document) == ()


@pytest.mark.parametrize(
    ("inputs", "pointer", "says"),
    [
        ({"rows": "${ trigger.rwos }"}, "/triggers/0/inputs/rows", "did you mean rows?"),
        ({"rows": "${ trigger.slot }"}, "/triggers/0/inputs/rows", "published has no slot"),
        ({"rows": "${ inputs.day }"}, "/triggers/0/inputs/rows", "there is no variable inputs"),
        ({"rows": "many"}, "/triggers/0/inputs/rows", "many is no integer"),
    ],
)
def test_inputs_of_a_trigger_are_checked(
    inputs: dict[str, object], pointer: str, says: str
) -> None:
    trigger = {"name": "t", "type": "published", "table": "x", "inputs": inputs}
    wanted = [{"name": "rows", "type": "integer"}]
    errors = errors_of(flow(inputs=wanted, triggers=[trigger]))

    assert [(pointer, True)] == [
        (error.pointer, says in f"{error.message} {error.hint}") for error in errors
    ]


def test_a_cycle_says_what_to_take_out() -> None:
    steps = [{**_NOOP, "name": "a", "after": ["b"]}, {**_NOOP, "name": "b", "after": ["a"]}]
    [error] = errors_of(flow(*steps))

    assert error.hint in {
        "take a out of `after` of b, or the other way round",
        "take b out of `after` of a, or the other way round",
    }


def test_a_flow_of_more_than_256_kib_is_refused() -> None:
    large = step("set", values={"x": "x" * FLOW_BYTES_MAX})
    [error] = errors_of(large)

    assert error.pointer == ""
    assert "at most 262144 (256 KiB)" in error.message
    assert "subflow" in error.hint


def test_a_stored_flow_goes_on_though_it_could_not_be_applied_any_more() -> None:
    stored = read_stored(step("noop", **{"if": "inputs.nothing"}))

    assert stored.flow == "f"
    with pytest.raises(InvalidFlow):
        read_stored(step("noop", iff="x"))


def test_every_state_of_a_supervisor_may_be_waited_for() -> None:
    text = (Path(__file__).parents[4] / "supervisor/core/planning/states.py").read_text()
    words = {word for word in text.replace('"', " ").replace("`", " ").split() if _is_state(word)}

    assert words - set(SUPERVISOR_STATES) == set()
    assert set(SUPERVISOR_STATES) - words == set()


def _is_state(word: str) -> bool:
    plain = word.strip(",():=|")
    return (
        plain == word
        and len(word) > 3
        and word.isupper()
        and word[0] != "_"
        and word.replace("_", "").isalpha()
    )
