"""Expressions that fail whatever their values are: refused before they run, and no others.

Source: the types of https://github.com/google/cel-spec/blob/master/doc/langdef.md.
"""

import random

import pytest
from pydantic import JsonValue

from supervisor.adapters.cel.kinds import FUNCTIONS, called
from supervisor.adapters.expressions import CelExpressions
from supervisor.core.executions.expressions import ANY, ExpressionFailed, Known, ValueKind
from supervisor.core.flows.visible import flow_variables

LANGUAGE = CelExpressions()
FLAG = frozenset({ValueKind.BOOL})
INPUTS = {
    "day": Known(frozenset({ValueKind.STRING})),
    "rows": Known(frozenset({ValueKind.INT})),
    "share": Known(frozenset({ValueKind.INT, ValueKind.DOUBLE})),
    "lands": Known(frozenset({ValueKind.LIST})),
    "rule": Known(frozenset({ValueKind.MAP})),
    "late": Known(frozenset({ValueKind.BOOL})),
    "since": Known(frozenset({ValueKind.STRING, ValueKind.NULL})),
}
HERE = flow_variables(INPUTS, {"pack", "look"}, in_each=True)
VALUES: dict[str, JsonValue] = {
    "inputs": {
        "day": "2026-11-25",
        "rows": 3,
        "share": 0.5,
        "lands": ["de", "fr"],
        "rule": {"a": 1, "b": "x"},
        "late": False,
        "since": None,
    },
    "steps": {"pack": {"state": "SUCCESS", "n": 1}, "look": {"state": "FAILED", "t": "x"}},
    "trigger": {"type": "request", "by": "a"},
    "item": "de",
    "index": 0,
    "execution": {"id": "e", "flow": "f", "failures": []},
}


def refusal(text: str, wanted: frozenset[ValueKind] = ANY) -> str:
    """Return why an expression is refused, and what to do; empty: it is not."""
    try:
        LANGUAGE.check(text, HERE, wanted)
    except ExpressionFailed as error:
        return f"{error} ({error.hint})"
    return ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1 + 'a' > 2", "`+` does not take a whole number and a text"),
        ("inputs.rows + 1.5", "`+` does not take a whole number and a number with a fraction"),
        ("foo.bar", "there is no variable foo"),
        ("itme", "did you mean item?"),
        ("day('x')", "there is no function day"),
        ("nosuch(1)", "known are all, bytes"),
        ("inputs.day.startWith('2026')", "did you mean startsWith?"),
        ("steps.pack.n.nosuch()", "there is no function nosuch"),
        ("inputs.dya", "did you mean day?"),
        ("inputs['dya']", "did you mean day?"),
        ('inputs["nothing"]', "its inputs are day, rows"),
        ("inputs.rows == '3'", "`==` does not take a whole number and a text"),
        ("inputs.rows > '3'", "`>` does not take"),
        ("inputs.since + 1", "`+` does not take a text or null and a whole number"),
        ("execution.nope", "an execution has no nope"),
        ("execution.fialures", "did you mean failures?"),
        ("steps['nope']", "the step nope is not before this one"),
        ("steps.packk.n", "did you mean pack?"),
        ("inputs.lands.map(l, steps.nope.n)", "the step nope is not before"),
        ("inputs.rows.map(l, l)", "goes through a list, and this is a whole number"),
        ("inputs.lands.all(l, 1)", "true or false"),
        ("inputs.rows && true", "beside `&&` there must be true or false"),
        ("inputs.rows ? 1 : 2", "before `?` there must be true or false"),
        ("!inputs.day", "`!` does not take a text"),
        ("inputs.day.x", "`.x` is for an object, and this is a text"),
        ("inputs.rows[0]", "is for a list or an object"),
        ("inputs.lands['a']", "an item of a list has a number"),
        ("size(inputs.rows)", "`size` does not take a whole number"),
        ("duration('PT1H')", "has no value"),
        ("1 / 0", "has no value"),
        ("(1 +", "write CEL"),
        ("${ inputs.day }", "write it without ${ }"),
        ("execution.id > timestamp('2026-01-01T00:00:00Z')", "timestamp(x)"),
    ],
)
def test_what_fails_whatever_the_values_are_is_refused(text: str, says: str) -> None:
    assert says in refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "inputs.day == '2026-11-25' && inputs.rows > 0",
        "inputs.share > 1 || inputs.share == 0.5",
        "inputs.share + 1",
        "inputs.since == null || inputs.since > '2026'",
        "has(inputs.rule.a) ? inputs.rule.a > 1 : false",
        "steps.pack.n > 0 && steps['pack'].state == 'SUCCESS'",
        "steps.pack.body.items.exists(i, i.name == inputs.day)",
        "inputs.lands.filter(l, l != 'de').size() > 0",
        "inputs.lands.map(l, l.startsWith('d'), l + '!')",
        "inputs.lands.map(inputs, inputs.size())",
        "'de' in inputs.lands && 'a' in inputs.rule",
        "timestamp(inputs.day + 'T00:00:00Z') + duration('24h')",
        "timestamp(inputs.day + 'T00:00:00Z').getDayOfWeek() == 0",
        "string(inputs.rows) + ' rows'",
        "type(inputs.share) == double",
        "type(inputs.share) == int ? inputs.share : int(inputs.share)",
        "execution.failures.size() > 0 && execution.failures[0].code == 'lost'",
        "trigger.by == 'me' || trigger.nothing == 1",
        "item.x.y[0] + index",
        "{'a': inputs.day, 'b': [1, 2.5]}.a",
        "[1, 'a', null][index]",
        "optional.of(item).orValue(1)",
        "-inputs.rows < 0x1F && 1u < 2u",
        r"r'a\b' + 'c' // a comment",
        "'''a'b''' + \"c\\\"d\"",
        "(" * 40 + "inputs.rows" + ")" * 40,
        " + ".join(["inputs.rows"] * 70),
        "inputs.late ? 1 : inputs.rows > 1 ? 'a' : null",
        "dyn(inputs.rows) == 'a' || dyn(1) < 2.5",
    ],
)
def test_what_may_have_a_value_is_taken(text: str) -> None:
    assert refusal(text) == ""


@pytest.mark.parametrize(
    ("text", "wanted", "says"),
    [
        ("1", FLAG, "gives a whole number, and true or false is needed"),
        ("inputs.day", FLAG, "compare it"),
        ("inputs.late ? 1 : 'a'", FLAG, "gives a whole number or a text"),
        ("inputs.late", FLAG, ""),
        ("steps.pack.ok", FLAG, ""),
        ("inputs.rule", frozenset({ValueKind.LIST}), "gives an object, and a list is needed"),
    ],
)
def test_the_type_that_its_place_needs_is_looked_at(
    text: str, wanted: frozenset[ValueKind], says: str
) -> None:
    assert says in refusal(text, wanted)
    assert bool(says) == bool(refusal(text, wanted))


def test_the_library_has_every_function_that_is_known() -> None:
    for name in FUNCTIONS:
        forms = [
            called(name, owner, arguments) for owner in (None, ANY) for arguments in ((), (ANY,))
        ]
        assert any(forms), name


_LEAVES = [f"inputs.{name}" for name in INPUTS] + [
    *("1", "2u", "0.5", "'a'", "true", "null", "[1, 2]", "{'a': 1}", "b'a'"),
    *("duration('1s')", "timestamp('2026-11-25T00:00:00Z')", "steps.pack.n", "item", "index"),
]


def _expression(chance: random.Random, depth: int) -> str:
    """Return an expression without the forms that are refused though they may have a value.

    These are comparisons of unlike values, and branches that are not taken.
    """
    if not depth or chance.random() < 0.2:
        return chance.choice(_LEAVES)
    one, other = _expression(chance, depth - 1), _expression(chance, depth - 1)
    match chance.randrange(6):
        case 0 | 1:
            return f"({one} {chance.choice(['+', '-', '*', '/', '%', '<', '>=', 'in'])} {other})"
        case 2:
            return f"{chance.choice(FUNCTIONS)}({one})"
        case 3:
            name = chance.choice(["contains", "startsWith", "endsWith", "matches", "size"])
            return f"({one}).{name}({'' if name == 'size' else other})"
        case 4:
            return f"({one})[{other}]" if chance.random() < 0.5 else f"({one}).a"
        case _:
            return f"{chance.choice('!-')}({one})"


@pytest.mark.parametrize("seed", range(20))
def test_no_expression_that_has_a_value_is_refused(seed: int) -> None:
    chance = random.Random(seed)
    worked = 0
    for _ in range(300):
        text = _expression(chance, 3)
        try:
            LANGUAGE.value(text, VALUES)
        except ExpressionFailed as error:
            if "cannot be kept" not in str(error):
                continue
        worked += 1
        assert refusal(text) == "", text
    assert worked
