"""What cannot be worked out is told with its place, and SQL texts have a bound.  No Spark."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.rows.expression.compile import HEIGHT_MAX, compile_expression, names_in
from tasks.rows.expression.errors import ExpressionError
from tasks.rows.expression.functions.known import ABSENT, FUNCTIONS
from tasks.rows.expression.let import SQL_MAX, let
from tasks.rows.expression.parse import TEXT_MAX, parse
from tasks.rows.expression.value import (
    Value,
    as_double,
    as_json,
    as_long,
    as_string,
    as_truth,
    of_double,
    of_long,
    of_text,
)
from tasks.rows.sql.text import text
from tests.tasks.rows.expression.evaluate import fields


def compiled(expression: str) -> Value:
    return compile_expression(parse(expression), fields)


@pytest.mark.parametrize(
    ("expression", "at", "message", "fix"),
    [
        ("1 + nope(x)", 4, "no function nope", "see the list"),
        ("strlenn(s)", 0, "no function strlenn", "did you mean strlen?"),
        ("CONCATT(s)", 0, "no function CONCATT", "did you mean concat?"),
        ("x + lookup(s, 'a')", 4, "known to Druid and not built", "join"),
        ("Subtract_Months(x, 1)", 0, "known to Druid", "timestamp_shift"),
        ("strlen()", 0, "strlen does not take 0 arguments", "write strlen(text)"),
        ("strlen(s, s)", 0, "does not take 2", "write strlen(text)"),
        ("pi(1)", 0, "does not take 1", "write pi()"),
        ("if(1, 2)", 0, "does not take 2", "write if("),
        ("case_simple(1, 2)", 0, "does not take 2", "write case_simple("),
        ("json_object('a')", 12, "a value for each key", "add one"),
        ("json_object(s, 1)", 12, "must be a literal text", "write it out"),
        ("json_value(js, s)", 15, "the path of json_value must be a literal text", "write"),
        ("json_value(js, 'a')", 15, "the path 'a' cannot be read", "$"),
        ("json_value(js, '$.a[*]')", 15, "cannot be read", "$"),
        ("json_value(js, '$..a')", 15, "cannot be read", "$"),
        ("json_value(js, '$.a', 'INT')", 22, "no type 'INT'", "LONG"),
        ("cast(x, s)", 8, "the type of cast must be a literal text", "write"),
        ("cast(x, 'INT')", 8, "no type 'INT'", "LONG"),
        ("regexp_like(s, s)", 15, "the pattern of regexp_like must be a literal", "write"),
        ("regexp_like(s, '(')", 15, "cannot be read", "correct"),
        ("regexp_like(s, '*')", 15, "cannot be read", "correct"),
        ("regexp_like(s, '[a')", 15, "cannot be read", "correct"),
        ("regexp_extract(s, 'a', 1)", 23, "no group 1", "use 0 to 0"),
        ("regexp_extract(s, '(a)', -1)", 25, "no group -1", "use 0 to 1"),
        ("regexp_extract(s, '(a)', x)", 25, "must be a literal whole number", "write"),
        ("regexp_replace(s, 'a', '$1')", 23, "'$1' names no group", "write \\$"),
        ("regexp_replace(s, 'a', '$')", 23, "'$' names no group", "write \\$"),
        ("regexp_replace(s, 'a', '\\\\')", 23, "names no group", "write \\\\"),
        ("regexp_replace(s, 'a', '${b}')", 23, "'${b}' names no group", "write \\$"),
        ("like(s, s)", 8, "must be a literal text", "write"),
        ("like(s, 'a', 'bc')", 13, "one character", "write one"),
        ("parse_long(s, 37)", 14, "37 is no radix", "2 to 36"),
        ("replace(s, '', 'a')", 11, "something to replace", "write"),
        ("left(x, 1)", 5, "left needs a text", "cast"),
        ("round(y, x)", 9, "must be a literal whole number", "write"),
        ("round(y, 100000)", 0, "too many", "400"),
        ("human_readable_decimal_format(x, 4)", 33, "not in 0 to 3", "0 to 3"),
        ("ipv4_match(ip, '1.2.3')", 15, "no subnet", "write one like"),
        ("ipv4_match(ip, '1.2.3.4/33')", 15, "no subnet", "write one like"),
        ("ipv6_match(ip, '1.2.3.4/8')", 15, "no subnet of IPv6", "write one like"),
        ("ipv6_match(ip, '2001:db8::')", 15, "no subnet of IPv6", "write one like"),
        ("ipv6_match(ip, '2001:db8::/129')", 15, "no subnet of IPv6", "write one like"),
        ("ipv6_match(ip, 'fe80::1%eth0/64')", 15, "no subnet of IPv6", "write one like"),
        ("ipv6_match(ip, s)", 15, "must be a literal text", "write"),
        ("json_merge(js)", 0, "does not take 1", "write json_merge("),
        ("json_merge(js, x)", 15, "takes nested data, and texts", "json_object"),
        ("json_merge(arr, js)", 11, "takes nested data, and texts", "json_object"),
        ("json_query_array(js, '$.m')", 0, "known to Druid", "json_query"),
        ("format(s, x)", 7, "the pattern of format must be a literal text", "write"),
        ("format('%', x)", 7, "'%' is no part", "%%"),
        ("format('a %5', x)", 7, "'%5' is not known", "%%"),
        ("format('%y', x)", 7, "'%y' is not known", "%%"),
        ("format('%c', x)", 7, "'%c' is not known", "%s"),
        ("format('%tY', x)", 7, "'%t' is not known", "timestamp_format"),
        ("format('%5%', x)", 7, "'%5%' is not known", "%%"),
        ("format('%5n', x)", 7, "'%5n' is not known", "%%"),
        ("format('%s %s', x)", 7, "'%s' has no value", "one more"),
        ("format('%2$s', x)", 7, "'%2$s' has no value", "one more"),
        ("format('%0$s', x)", 7, "'%0$s' has no value", "one more"),
        ("format('%<s', x)", 7, "'%<s' has no value", "one more"),
        ("format('%1$<s', x)", 7, "is not known", "%%"),
        ("format('%-d', x)", 7, "the width is missing", "as Java"),
        ("format('%0d', x)", 7, "the width is missing", "as Java"),
        ("format('%-05d', x)", 7, "do not go together", "as Java"),
        ("format('%+ d', x)", 7, "do not go together", "as Java"),
        ("format('%++d', x)", 7, "the flag '+'", "as Java"),
        ("format('%#d', x)", 7, "the flag '#'", "as Java"),
        ("format('%+x', x)", 7, "the flag '+'", "as Java"),
        ("format('%,e', y)", 7, "the flag ','", "as Java"),
        ("format('%#g', y)", 7, "the flag '#'", "as Java"),
        ("format('%(a', y)", 7, "the flag '('", "as Java"),
        ("format('%#s', s)", 7, "the flag '#'", "as Java"),
        ("format('%.2d', x)", 7, "no precision", "as Java"),
        ("format('%20000d', x)", 7, "too long", "10000"),
        ("format('%.6000f %.6000f', y, y)", 7, "too long", "10000"),
        ("format('%d', y)", 13, "'%d' takes a long", "cast(x, 'LONG')"),
        ("format('%d', s)", 13, "takes a long", "cast"),
        ("format('%.1f', x)", 15, "takes a double", "cast(x, 'DOUBLE')"),
        ("format('%s', arr)", 13, "no arrays", "array_to_string"),
        ("format('%s', js)", 13, "no nested data", "to_json_string"),
        ("timestamp_extract(x, 'EON')", 21, "the unit 'EON'", "EPOCH"),
        ("timestamp_extract(x, 'DAY', 'Europe/Pariss')", 28, "no time zone", "Europe/Paris?"),
        ("timestamp_extract(x, 'DAY', s)", 28, "must be a literal text", "write"),
        ("timestamp_extract(x, 'MICROSECOND')", 21, "'MICROSECOND' is not known", "MILLISECOND"),
        ("timestamp_extract(s, 'DAY')", 18, "takes a long", "cast"),
        ("mv_to_array('1')", 12, "takes a field", "array"),
        ("arr + 1", 4, "'+' takes no array", "map"),
        ("-arr", 0, "takes a number", "cast"),
        ("-s", 0, "takes a number", "cast"),
        ("arr == nums", 4, "do not mix", "cast"),
        ("if(1, arr, nums)", 0, "do not mix", "cast"),
        ("array(arr, arr)", 0, "array of arrays", "array_concat"),
        ("array_append(arr, arr)", 18, "no array", "array_concat"),
        ("array_contains(nums, arr)", 21, "texts among numbers", "cast"),
        ("greatest(1, arr)", 12, "takes no arrays", "take an element"),
        ("map(arr, arr)", 4, "map needs a lambda", "write a lambda"),
        ("map((a, b) -> a, arr)", 4, "needs 1 names, not 2", "name each"),
        ("fold(a -> a, arr, 0)", 5, "needs 2 names, not 1", "name each"),
        ("map(a -> array(a), arr)", 4, "array of arrays", "one value"),
        ("fold((a, b) -> arr, arr, 0)", 0, "makes an array", "begin with an array"),
        ("cartesian_fold((a, b) -> a, arr, arr, 0)", 15, "needs 3 names, not 2", "name each"),
        ("cartesian_fold((a, b, c) -> arr, arr, arr, 0)", 0, "makes an array", "begin with"),
        ("cartesian_fold(arr, arr, 0)", 15, "needs a lambda", "write a lambda"),
        ("strlen(a -> a)", 7, "takes no lambda", "write strlen"),
        ("map(e -> nope(e), arr)", 9, "no function nope", "see"),
    ],
)
def test_what_cannot_be_worked_out_is_told(
    expression: str, at: int, message: str, fix: str
) -> None:
    with pytest.raises(ExpressionError) as caught:
        compiled(expression)

    assert message in caught.value.message, caught.value
    assert caught.value.at == at, caught.value
    assert fix in caught.value.fix


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("a + b * a", {"a", "b"}),
        ("1 + 'a'", set()),
        ("f(-a, !b)", {"a", "b"}),
        ("map(a -> a + b, c)", {"b", "c"}),
        ("map(a -> a, a)", {"a"}),
        ("map(a -> map(b -> a + b + c, b), d)", {"b", "c", "d"}),
        ("fold((x, y) -> x + y + z, x, y)", {"x", "y", "z"}),
        ('"a b" + "c"', {"a b", "c"}),
        ("[1, 2]", set()),
        (" + ".join("ab" * 1_200), {"a", "b"}),
    ],
)
def test_free_names(expression: str, names: set[str]) -> None:
    assert names_in(parse(expression)) == names


@pytest.mark.parametrize(
    "expression",
    [
        "+".join(["x"] * 5_000),
        "&&".join(["any_long"] * 1_000),
        "concat(" + ",".join(["any_long"] * 1_000) + ")",
        "if(" * 60 + "any_long" + ", any_text, any_double)" * 60,
        "case_searched(" + ",".join(["any_text == any_long", "any_word"] * 300) + ")",
        "map(a -> concat(" * 15 + "a" + "), arr)" * 15,
        "round(" * 98 + "any_long + any_double" + ")" * 98 + " + 1" * 30,
        "least(" + ",".join(["greatest(any_text, any_long, y)"] * 290) + ")",
    ],
    ids=["sum", "ands", "concat", "ifs", "cases", "lambdas", "height", "least"],
)
def test_a_hostile_expression_is_refused(expression: str) -> None:
    assert len(expression) <= TEXT_MAX

    with pytest.raises(ExpressionError) as caught:
        compiled(expression)

    assert "too complicated" in caught.value.message
    assert caught.value.fix


@pytest.mark.parametrize(
    "expression",
    [
        " + ".join(["x"] * (HEIGHT_MAX - 1)),
        " || ".join([f"any_word == 'w{n}'" for n in range(60)]),
        "cast(cast(" * 20 + "x" + ", 'STRING'), 'LONG')" * 20,
        "lower(trim(" * 20 + "any_text" + "))" * 20,
        "1.5 / (any_double * " * 40 + "y" + ")" * 40,
        "".join(f"if(any_word == 'w{n}', {n}, " for n in range(20)) + "any_long" + ")" * 20,
    ],
    ids=["sum", "ors", "casts", "texts", "divisions", "elses"],
)
def test_a_long_expression_of_a_user_is_not_refused(expression: str) -> None:
    assert max(map(len, compiled(expression).texts)) < SQL_MAX / 2


def test_a_text_that_is_used_often_is_written_once() -> None:
    long = "upper(" * 10 + "s" + ")" * 10

    assert let(long, lambda s: f"f({s})") == f"f({long})"
    assert let(long, lambda s: f"f({s}, {s})").count(long) == 1
    assert let("s", lambda s: f"f({s}, {s})") == "f(s, s)"


_QUOTES = itertools.chain(["'", "\\'", "''", "\\", "`", "${env:HOME}", "-- ", "/*", "\n", "\0"])


@pytest.mark.parametrize("hostile", list(_QUOTES))
def test_a_users_text_stays_inside_its_quotes(hostile: str) -> None:
    assert re.fullmatch(r"'(?:[^'\\$]|\\.)*'", text(hostile), re.DOTALL)


@given(st.text(max_size=30))
def test_any_text_stays_inside_its_quotes(hostile: str) -> None:
    assert re.fullmatch(r"'(?:[^'\\$]|\\.)*'", text(hostile), re.DOTALL)


def test_names_of_functions_and_of_absent_ones_differ() -> None:
    assert not FUNCTIONS.keys() & ABSENT.keys()
    assert all(name == name.lower() for name in [*FUNCTIONS, *ABSENT])
    assert all(ABSENT.values())


def test_case_of_a_functions_name_does_not_matter() -> None:
    assert compiled("STRLEN(s)") == compiled("strlen(s)") == compiled("StrLen(s)")


def test_a_value_without_anything_is_a_null_of_each_type() -> None:
    forms = (as_string, as_long, as_double, as_truth, as_json)

    assert [form(Value()) for form in forms] == [
        f"CAST(NULL AS {kind})" for kind in ("STRING", "BIGINT", "DOUBLE", "BOOLEAN", "STRING")
    ]


def test_a_value_of_one_type() -> None:
    assert of_long("a") == Value(long="a")
    assert of_double("a") == Value(double="a")
    assert of_text("a") == Value(string="a")
