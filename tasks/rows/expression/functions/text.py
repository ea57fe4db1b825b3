"""Functions of texts.

Places and lengths count characters; Druid counts UTF-16 units, which differs beyond U+FFFF only.
`strlen` counts as Druid does.  A result of more than a million characters is null.
"""

from collections.abc import Callable

from tasks.rows.expression.functions.given import Function, Given, table
from tasks.rows.expression.let import let, let_both
from tasks.rows.expression.value import Value, of_long, of_text, of_truth
from tasks.rows.sql.text import text

_LENGTH_MAX = 1_000_000
_INT_MAX = 2**31 - 1
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_HEXADECIMAL = 16


def _concat(given: Given) -> Value:
    parts = [given.text(place) for place in range(len(given.values))]
    return of_text(f"concat({', '.join(parts)})") if parts else Value()


def _strlen(given: Given) -> Value:
    return of_long(f"CAST(octet_length(encode({given.text(0)}, 'UTF-16BE')) div 2 AS BIGINT)")


def _strpos(given: Given) -> Value:
    def position_sql(whole: str, part: str) -> str:
        start = f"least(greatest({given.whole(2)}, 0L), CAST(length({whole}) AS BIGINT))"
        return (
            f"CASE WHEN {part} = '' AND {whole} IS NOT NULL THEN {start} "
            f"ELSE CAST(locate({part}, {whole}, {_int(start)} + 1) - 1 AS BIGINT) END"
        )

    return of_long(let_both(given.text(0), given.text(1), position_sql))


def _substring(given: Given) -> Value:
    """As in Druid, null if it begins behind the end; if it begins before 0 Druid fails the row."""
    start, length = given.whole(1), given.whole(2)

    def cut(whole: str, begin: str, size: str) -> str:
        return (
            f"CASE WHEN {begin} >= 0L AND {begin} < length({whole}) THEN substr({whole}, "
            f"{_int(begin)} + 1, CASE WHEN {size} < 0L THEN {_INT_MAX} ELSE {_int(size)} END) END"
        )

    return of_text(let(given.text(0), lambda s: let_both(start, length, lambda b, n: cut(s, b, n))))


def _left(given: Given) -> Value:
    return of_text(
        let(
            given.whole(1),
            lambda n: f"CASE WHEN {n} >= 0L THEN left({_only(given)}, {_int(n)}) END",
        )
    )


def _right(given: Given) -> Value:
    return of_text(
        let(
            given.whole(1),
            lambda n: f"CASE WHEN {n} >= 0L THEN right({_only(given)}, {_int(n)}) END",
        )
    )


def _repeat(given: Given) -> Value:
    def repeat_sql(whole: str, times: str) -> str:
        return (
            f"CASE WHEN {times} > 0L AND {times} <= {_LENGTH_MAX}L "
            f"AND {times} * length({whole}) <= {_LENGTH_MAX}L "
            f"THEN repeat({whole}, {_int(times)}) END"
        )

    return of_text(let_both(_only(given), given.whole(1), repeat_sql))


def _reverse(given: Given) -> Value:
    return of_text(f"reverse({_only(given)})")


def _pad(function: str) -> Callable[[Given], Value]:
    def make(given: Given) -> Value:
        """As in Druid, length 0 gives null, and a negative length an empty text."""
        return of_text(
            let(
                given.whole(1),
                lambda n: (
                    f"CASE WHEN {n} <> 0L AND {n} <= {_LENGTH_MAX}L "
                    f"THEN {function}({given.text(0)}, {_int(f'greatest({n}, 0L)')}, "
                    f"{given.text(2)}) END"
                ),
            )
        )

    return make


def _trim(side: str) -> Callable[[Given], Value]:
    def make(given: Given) -> Value:
        taken = f"coalesce({given.text(1)}, '')" if given.has(1) else "' '"
        return of_text(f"trim({side} {taken} FROM {given.text(0)})")

    return make


def _replace(given: Given) -> Value:
    """An empty text to replace gives null; Druid inserts the replacement between all characters."""
    if given.literal(1) == "":
        raise given.wrong(1, "replace needs something to replace", "write a text")
    return of_text(
        let(
            given.text(1),
            lambda p: (
                f"CASE WHEN {p} <> '' THEN replace({given.text(0)}, {p}, {given.text(2)}) END"
            ),
        )
    )


def _plain(function: str) -> Callable[[Given], Value]:
    return lambda given: of_text(f"{function}({given.text(0)})")


def _contains(given: Given) -> Value:
    wanted = given.literal_text(1, "the text")
    return of_truth(f"contains({given.text(0)}, {text(wanted)})")


def _icontains(given: Given) -> Value:
    wanted = given.literal_text(1, "the text")
    return of_truth(f"contains(lower({given.text(0)}), lower({text(wanted)}))")


def _parse_long(given: Given) -> Value:
    radix = given.literal_whole(1, "the radix") if given.has(1) else 10
    if not 1 < radix <= len(_DIGITS):
        raise given.wrong(1, f"{radix} is no radix", "use 2 to 36")
    digits = _DIGITS[:radix]
    # Beyond 64 bits `conv` returns all bits set, which is no long either.
    shape, prefix = text(rf"(?i)\A[+-]?[{digits}]+\z"), text(r"\A0[xX]")

    def read(raw: str) -> str:
        return (
            f"CASE WHEN {raw} RLIKE {shape} THEN CAST(concat("
            f"CASE WHEN startswith({raw}, '-') THEN '-' ELSE '' END, "
            f"conv(regexp_replace({raw}, '^[+-]', ''), {radix}, 10)) AS BIGINT) END"
        )

    raw = given.text(0)
    return of_long(
        let(f"regexp_replace({raw}, {prefix}, '')" if radix == _HEXADECIMAL else raw, read)
    )


def _only(given: Given) -> str:
    """Return the first argument, which must be a text: for other types Druid fails the row.

    Raises:
        ExpressionError: the argument is never a text.
    """
    value = given.values[0]
    if value.texts and not value.string:
        raise given.wrong(0, f"{given.name} needs a text", "cast it: cast(x, 'STRING')")
    return value.string or "CAST(NULL AS STRING)"


def _int(sql: str) -> str:
    return f"CAST(least({sql}, {_INT_MAX}L) AS INT)"


FUNCTIONS = table(
    Function("concat(text, ...)", 0, None, _concat),
    Function("strlen(text)", 1, 1, _strlen),
    Function("strpos(text, part[, from])", 2, 3, _strpos),
    Function("substring(text, index, length)", 3, 3, _substring),
    Function("left(text, length)", 2, 2, _left),
    Function("right(text, length)", 2, 2, _right),
    Function("repeat(text, times)", 2, 2, _repeat),
    Function("reverse(text)", 1, 1, _reverse),
    Function("lpad(text, length, chars)", 3, 3, _pad("lpad")),
    Function("rpad(text, length, chars)", 3, 3, _pad("rpad")),
    Function("trim(text[, chars])", 1, 2, _trim("BOTH")),
    Function("ltrim(text[, chars])", 1, 2, _trim("LEADING")),
    Function("rtrim(text[, chars])", 1, 2, _trim("TRAILING")),
    Function("replace(text, part, replacement)", 3, 3, _replace),
    Function("lower(text)", 1, 1, _plain("lower")),
    Function("upper(text)", 1, 1, _plain("upper")),
    Function("contains_string(text, part)", 2, 2, _contains),
    Function("icontains_string(text, part)", 2, 2, _icontains),
    Function("parse_long(text[, radix])", 1, 2, _parse_long),
)
