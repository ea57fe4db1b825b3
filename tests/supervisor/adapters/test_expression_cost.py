"""Expressions that would be busy for long with large values: refused before they begin."""

import pytest
from pydantic import JsonValue

from supervisor.adapters.expression_cost import WORK_MAX, work_of
from supervisor.adapters.expressions import CelExpressions
from supervisor.core.executions.expressions import ExpressionFailed, Known

LANGUAGE = CelExpressions()
LARGE: dict[str, JsonValue] = {"inputs": {"l": list(range(20_000)), "s": "x" * 100_000}}
USUAL: dict[str, JsonValue] = {
    "inputs": {"days": [f"2026-01-{number}" for number in range(90)]},
    "steps": {
        "asks": {"state": "SUCCESS", "body": [{"name": f"n{n}", "ok": True} for n in range(200)]},
        "other": {"state": "SUCCESS", "body": "x" * 2_000_000},
    },
}


@pytest.mark.parametrize(
    "text",
    [
        "inputs.l.map(a, inputs.l.map(b, 1))",
        "inputs.l.map(a, inputs)",
        "inputs.l.map(a, inputs.s)",
        "inputs.l.map(a, inputs.l.filter(b, b > a ? ')' == '(' : true))",
        "inputs.l.map(a, ''' ' ) ' ''' == 'x' ? [] : inputs.l.map(b, 1))",
        "inputs.l.//\nmap(a, inputs.l.map//\n(b, 1))",
        "inputs.s" + "+inputs.s" * 100,
        "inputs.s.matches('(((a{30}){30}){30})')",
        "inputs.s.matches(inputs.s)",
        "inputs.s.matches('((a\\x7b30}){30})')",
        "inputs.s.matches('a') || inputs.s.matches(inputs.s)",
        "[1, 2].map(a, [inputs.l, inputs.l].map(b, b.map//)\n(c, inputs.s)))",
    ],
)
def test_a_bomb_is_refused_and_not_begun(text: str) -> None:
    with pytest.raises(ExpressionFailed, match=r"too long|more than 2 lists"):
        LANGUAGE.value(text, LARGE)


@pytest.mark.parametrize(
    "text",
    [
        "inputs.days.map(d, 'day-' + d + '/' + string(size(inputs.days)))",
        "inputs.days.filter(d, d.matches('^2026-01-1[0-9]$')).map(d, {'day': d})",
        "steps.asks.body.filter(b, b.ok).map(b, b.name)",
        "inputs.days.all(a, inputs.days.exists(b, a == b))",
        "inputs.days + inputs.days + inputs.days",
    ],
)
def test_what_people_write_is_worked_out(text: str) -> None:
    assert work_of(text, USUAL) <= WORK_MAX
    assert LANGUAGE.value(text, USUAL)


@pytest.mark.parametrize(
    "text",
    [
        "[1].//\nmap(a, [1].//\nmap(b, [1].//\nmap(c, c)))",
        "[1].map(a, [1].map//\n(b, [1]\n. map (c, c)))",
    ],
)
def test_a_comment_hides_no_list_from_the_count(text: str) -> None:
    with pytest.raises(ExpressionFailed, match="more than 2 lists"):
        LANGUAGE.check(text, Known())


@pytest.mark.parametrize(
    "text",
    ["(" * 499 + "1" + ")" * 499, "[" * 499 + "1" + "]" * 499, "true?" * 140 + "1" + ":1" * 140],
    ids=["brackets", "lists", "conditions"],
)
def test_deep_nesting_is_an_error_and_no_crash(text: str) -> None:
    with pytest.raises(ExpressionFailed, match="does not parse"):
        LANGUAGE.check(text, Known())
