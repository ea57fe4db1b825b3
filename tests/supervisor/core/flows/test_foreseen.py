"""A flow gone through before it runs: what is known, and what depends on steps before."""

from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from supervisor.adapters.expressions import CelExpressions
from supervisor.core.flows.compiling import compile_flow
from supervisor.core.flows.document import bind_inputs
from supervisor.core.flows.foreseen import (
    STEPS_FORESEEN,
    ForeseenStep,
    StepBegins,
    foresee_flow,
)
from supervisor.core.flows.reading import read_flow

Json = dict[str, object]
_LANGUAGE = CelExpressions()
_INPUTS = [{"name": "day", "type": "date"}, {"name": "days", "type": "list", "default": []}]
_PACK: Json = {"name": "pack", "type": "compact", "table": "orders"}


def _read(steps: list[Json], **flow: object) -> tuple[list[ForeseenStep], int]:
    document = {"flow": "f", "inputs": _INPUTS, "steps": steps, **flow}
    read = read_flow(document, _LANGUAGE)
    given: Mapping[str, JsonValue] = {"day": "2026-11-25", "days": ["mon", "tue"]}
    return foresee_flow(compile_flow(read, 1), bind_inputs(read, given), _LANGUAGE)


def _foreseen(*steps: Json, **flow: object) -> dict[str, ForeseenStep]:
    shown, left_out = _read(list(steps), **flow)
    assert left_out == 0
    return {"/".join((*each.inside, each.step)): each for each in shown}


def _step(name: str, *after: str, **more: object) -> Json:
    return {"name": name, "type": "noop", "after": list(after), **more}


def _tells(name: str, url: str, *after: str, **more: object) -> Json:
    return _step(name, *after, **{"type": "http", "url": url, **more})


def test_arguments_are_worked_out_with_the_inputs_and_with_what_set_steps_give() -> None:
    values = {"host": "http://h", "path": "${ inputs.day }"}
    url = "${ steps.where.host }/${ steps.where.path }"
    steps = _foreseen(_tells("tell", url, "where"), _step("where", type="set", values=values))
    assert list(steps) == ["where", "tell"]
    arguments = steps["tell"].arguments
    assert arguments is not None
    assert arguments["url"] == "http://h/2026-11-25"
    assert steps["tell"].begins is StepBegins.YES


def test_arguments_that_need_an_output_name_its_step_once() -> None:
    url = "http://h/${ steps.pack.files + steps.pack.compactions }/${ trigger.type }"
    step = _foreseen(_PACK, _tells("tell", url, "pack"))["tell"]
    assert (step.arguments, step.depends_on) == (None, ("pack", "trigger"))
    assert step.begins is StepBegins.YES


def test_an_input_with_the_name_of_a_variable_is_known() -> None:
    inputs = [{"name": "item", "type": "integer", "default": 3}]
    read = read_flow(
        {"flow": "f", "inputs": inputs, "steps": [_tells("a", "http://h/${ inputs.item }")]},
        _LANGUAGE,
    )
    [step], _ = foresee_flow(compile_flow(read, 1), bind_inputs(read, {}), _LANGUAGE)
    assert step.depends_on == ()


@pytest.mark.parametrize(
    ("condition", "begins", "depends_on"),
    [
        ("inputs.day == '2026-11-25'", StepBegins.YES, ()),
        ("inputs.day == 'never'", StepBegins.NO, ()),
        ("steps.pack.files > 0", StepBegins.OPEN, ("pack",)),
    ],
)
def test_a_condition_says_whether_a_step_begins(
    condition: str, begins: StepBegins, depends_on: tuple[str, ...]
) -> None:
    inner = {"type": "parallel", "steps": [_step("inner")], "if": condition}
    steps = _foreseen(_PACK, _step("tell", "pack", **inner))
    assert (steps["tell"].begins, steps["tell"].depends_on) == (begins, depends_on)
    assert steps["tell/inner"].begins is begins


def test_what_comes_after_a_step_that_is_left_out_knows_its_state() -> None:
    steps = _foreseen(
        _step("a", **{"if": "false"}), _step("b", "a", **{"if": "steps.a.state == 'SKIPPED'"})
    )
    assert steps["b"].begins is StepBegins.YES


def test_each_item_of_a_list_is_shown_and_one_stands_for_a_list_that_is_not_known() -> None:
    tells = _tells("tell", "http://h/${ item }/${ index }")
    each: Json = {"type": "forEach", "steps": [tells], "after": ["pack"]}
    known = _foreseen(_PACK, _step("all", "pack", **{**each, "items": "${ inputs.days }"}))
    urls = [step.arguments["url"] for step in known.values() if step.arguments and step.inside]
    assert urls == ["http://h/mon/0", "http://h/tue/1"]
    assert known["all[1]/tell"].inside == ("all[1]",)

    open_ = _foreseen(_PACK, _step("all", "pack", **{**each, "items": "${ steps.pack.days }"}))
    assert open_["all"].depends_on == ("pack",)
    assert open_["all/tell"].depends_on == ("item", "index")


def test_a_switch_shows_its_case_or_all_that_may_be_chosen() -> None:
    cases = {"a": [_step("first")], "b": [_step("second")]}
    switch: Json = {"type": "switch", "cases": cases, "default": [_step("other")]}
    known = _foreseen(_step("way", value="inputs.day == '2026-11-25' ? 'b' : 'a'", **switch))
    assert list(known) == ["way", "way/second"]

    open_ = _foreseen(_PACK, _step("way", "pack", value="steps.pack.way", **switch))
    assert {name: each.begins.value for name, each in open_.items()} == {
        "pack": "yes",
        "way": "yes",
        "way/first": "open",
        "way/second": "open",
        "way/other": "open",
    }


def test_steps_after_a_failure_say_so_and_those_at_the_end_begin() -> None:
    steps = _foreseen(
        _PACK,
        onFailure=[_tells("page", "http://h/${ execution.failures[0].step }")],
        **{"finally": [_step("tidy")]},
    )
    assert steps["page"].begins is StepBegins.FAILURE
    assert steps["page"].depends_on == ("execution",)
    assert steps["tidy"].begins is StepBegins.YES


def test_an_expression_without_a_value_says_why() -> None:
    step = _foreseen(_tells("tell", "http://h/${ inputs.days[7] }"))["tell"]
    assert step.arguments is None
    assert "`inputs.days[7]` has no value" in step.error


def test_a_long_list_is_cut_and_counted() -> None:
    items = list(range(STEPS_FORESEEN))
    shown, left_out = _read([_step("all", type="forEach", items=items, steps=[_step("one")])])
    assert len(shown) == STEPS_FORESEEN
    assert left_out == 1
